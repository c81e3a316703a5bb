import numpy as np
import paddle

rng = np.random.RandomState(19)
a = paddle.to_tensor(rng.randn(4).astype("f4"), stop_gradient=False)
x = paddle.to_tensor(rng.randn(9, 4).astype("f4"), stop_gradient=False)
u = paddle.sin(paddle.matmul(x, a)).sum()
(g,) = paddle.grad(u, x, create_graph=True)
s = -paddle.sin(paddle.matmul(x, a))
loss = (g * g).sum() + (s * (a.sum() ** 2)).sum()
loss.backward()
