import numpy as np
import paddle
import paddle.nn.functional as F

r = np.random.default_rng(7)
W = paddle.to_tensor(r.standard_normal((4, 4)).astype("float32"), stop_gradient=False)
b = paddle.to_tensor(r.standard_normal(4).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(r.standard_normal((6, 4)).astype("float32"))
y = paddle.to_tensor(r.standard_normal((6, 4)).astype("float32"))
t = paddle.to_tensor(r.integers(0, 4, 6))
h = x @ W + b
loss = F.smooth_l1_loss(h, y)  # parts
loss.backward()
