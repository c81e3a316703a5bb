import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(43)
D = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
for p in D.parameters():
    p.set_value(rng.normal(0, 0.6, tuple(p.shape)[::-1]).astype("float32").T)
opt = paddle.optimizer.Adam(1e-3, beta1=0.0, beta2=0.9, parameters=D.parameters())
for it in range(2):
    real = paddle.to_tensor(rng.normal(size=(6, 3)).astype("float32"))
    fake = paddle.to_tensor(rng.normal(size=(6, 3)).astype("float32"))
    mix = paddle.to_tensor(rng.random((6, 1)).astype("float32"))
    inter = mix * real + (1 - mix) * fake
    inter.stop_gradient = False
    score = D(inter)
    g = paddle.grad(score.sum(), inter)[0]  # parts
    penalty = ((paddle.norm(g, p=2, axis=1) - 1) ** 2).mean()
    loss = D(fake).mean() - D(real).mean() + 10 * penalty
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(it, float(loss))
