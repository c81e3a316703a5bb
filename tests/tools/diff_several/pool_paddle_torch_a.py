import numpy as np
import paddle
import paddle.nn.functional as F

rng = np.random.default_rng(24)
q = paddle.to_tensor((rng.standard_normal((1, 6))).astype("float32"), stop_gradient=False)
w = paddle.to_tensor((rng.standard_normal((6, 2)) * 0.5).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(rng.standard_normal((4, 7, 6)).astype("float32"))
y = paddle.to_tensor(rng.standard_normal((4, 2)).astype("float32"))
scores = (x * q).sum(-1)
weights = F.softmax(scores, axis=1)
pooled = (weights.unsqueeze(-1) * x).sum(1)
out = paddle.matmul(pooled, w)
loss = F.l1_loss(out, y)
loss.backward()
