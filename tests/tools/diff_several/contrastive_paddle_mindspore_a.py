import numpy as np
import paddle
import paddle.nn.functional as F

rng = np.random.default_rng(8)
wa = paddle.to_tensor((rng.standard_normal((6, 4)) * 0.5).astype("float32"), stop_gradient=False)
wb = paddle.to_tensor((rng.standard_normal((5, 4)) * 0.5).astype("float32"), stop_gradient=False)
a = paddle.to_tensor(rng.standard_normal((8, 6)).astype("float32"))
b = paddle.to_tensor(rng.standard_normal((8, 5)).astype("float32"))
p, q = paddle.matmul(a, wa), paddle.matmul(b, wb)
p = p / paddle.sqrt((p * p).sum(-1, keepdim=True))
q = q / paddle.sqrt((q * q).sum(-1, keepdim=True))
logits = paddle.matmul(p, q, transpose_y=True)
logits = logits * 5.0
labels = paddle.arange(8)
rows = F.cross_entropy(logits, labels)
columns = F.cross_entropy(logits.transpose([1, 0]), labels)
loss = (rows + columns) / 2
loss.backward()
