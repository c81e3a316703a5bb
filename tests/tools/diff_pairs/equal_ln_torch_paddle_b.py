import numpy as np
import paddle

r = np.random.default_rng(7)
W = paddle.to_tensor(r.standard_normal((4, 4)).astype("float32"), stop_gradient=False)
b = paddle.to_tensor(r.standard_normal(4).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(r.standard_normal((6, 4)).astype("float32"))
y = paddle.to_tensor(r.standard_normal((6, 4)).astype("float32"))
t = paddle.to_tensor(r.integers(0, 4, 6))
h = x @ W + b
m = h.mean(1, keepdim=True)
v = ((h - m) ** 2).mean(1, keepdim=True)
n = (h - m) / paddle.sqrt(v + 1e-5)
loss = (n**3).sum()
loss.backward()
