import paddle
import paddle.nn as nn

paddle.seed(3)
body, pi, vf = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 1)
params = body.parameters() + pi.parameters() + vf.parameters()
opt = paddle.optimizer.RMSProp(0.01, parameters=params)
s, a, R = paddle.randn([12, 4]), paddle.randint(0, 3, [12]), paddle.randn([12])
for _ in range(2):
    h = paddle.tanh(body(s))
    logp = nn.functional.log_softmax(pi(h), axis=1)
    v = vf(h).squeeze(1)
    lp = paddle.take_along_axis(logp, a.unsqueeze(1), 1).squeeze(1)
    adv = R - v  # parts
    loss = -(lp * adv).mean() + 0.5 * ((R - v) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
