import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(50)
table = nn.Embedding(20, 4)
first = nn.Embedding(20, 1)
deep = nn.Sequential(nn.Linear(12, 8), nn.ReLU(), nn.Linear(8, 1))
modules = nn.LayerList([table, first, deep])
for name, p in modules.named_parameters():
    if p.ndim == 2 and name.startswith("2"):
        p.set_value((rng.normal(size=tuple(p.shape)[::-1]) * 0.4).astype("float32").T)
    else:
        p.set_value((rng.normal(size=tuple(p.shape)) * 0.4).astype("float32"))
ids = paddle.to_tensor(rng.integers(0, 20, (9, 3)))
y = paddle.to_tensor(rng.integers(0, 2, 9).astype("float32"))
opt = paddle.optimizer.Adam(0.01, parameters=modules.parameters(), epsilon=1e-4)
for _ in range(2):
    v = table(ids)
    linear = first(ids).sum(1)[:, 0]
    square_of_sum = v.sum(1) ** 2
    sum_of_square = (v**2).sum(1)
    fm = (square_of_sum - sum_of_square).sum(1)  # parts 1
    logit = linear + fm + deep(v.transpose([0, 2, 1]).flatten(1))[:, 0]  # parts 2
    loss = nn.functional.binary_cross_entropy_with_logits(logit, y)
    loss.backward()
    opt.step()  # parts 3
    opt.clear_grad()
