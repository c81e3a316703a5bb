import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(28)
body = nn.Sequential(nn.Linear(4, 12), nn.Tanh())
pi, vf = nn.Linear(12, 2), nn.Linear(12, 1)
params = [*body.parameters(), *pi.parameters(), *vf.parameters()]
for p in params:
    p.set_value((rng.normal(size=tuple(p.shape)[::-1]) * 0.5).astype("float32").T)
obs = paddle.to_tensor(rng.normal(size=(16, 4)).astype("float32"))
act = paddle.to_tensor(rng.integers(0, 2, 16))
old = paddle.to_tensor((rng.normal(size=16) * 0.2 - 0.7).astype("float32"))
adv = paddle.to_tensor(rng.normal(size=16).astype("float32"))
ret = paddle.to_tensor(rng.normal(size=16).astype("float32"))
clip = nn.ClipGradByNorm(0.5)
opt = paddle.optimizer.Adam(3e-3, epsilon=1e-5, parameters=params, grad_clip=clip)
for _ in range(3):
    h = body(obs)
    logits = pi(h)
    logp_all = nn.functional.log_softmax(logits, -1)
    logp = paddle.take_along_axis(logp_all, act.unsqueeze(1), 1)[:, 0]
    ratio = paddle.exp(logp - old)
    a = (adv - adv.mean()) / (adv.std() + 1e-8)
    surrogate = paddle.maximum(ratio * a, paddle.clip(ratio, 0.8, 1.2) * a)  # parts 1
    value = vf(h)[:, 0]
    entropy = -(logp_all.exp() * logp_all).sum(-1).mean()
    loss = -surrogate.mean() + 0.5 * ((value - ret) ** 2).mean() + 0.01 * entropy  # parts 2
    loss.backward()
    opt.step()  # parts 3
    opt.clear_grad()
