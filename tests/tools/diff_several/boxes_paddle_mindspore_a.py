import numpy as np
import paddle
import paddle.nn.functional as F

rng = np.random.default_rng(47)
w = paddle.to_tensor((rng.normal(size=(6, 3, 1, 1)) * 0.4).astype("float32"), stop_gradient=False)
b = paddle.to_tensor((rng.normal(size=6) * 0.4).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(rng.normal(size=(2, 3, 4, 4)).astype("float32"))
has = paddle.to_tensor(rng.integers(0, 2, (2, 4, 4)).astype("float32"))
box = paddle.to_tensor(rng.uniform(size=(2, 4, 4, 4)).astype("float32"))
opt = paddle.optimizer.Momentum(0.1, 0.9, parameters=[w, b])
for _ in range(2):
    p = F.conv2d(x, w, b)
    xy = F.sigmoid(p[:, 0:2])
    wh = paddle.exp(p[:, 2:4])
    conf = p[:, 4]
    lxy = ((xy - box[:, 0:2]) ** 2 * has.unsqueeze(1)).sum()
    lwh = ((wh - box[:, 2:4]) ** 2 * has.unsqueeze(1)).sum()
    lobj = F.binary_cross_entropy_with_logits(conf, has, reduction="sum")
    loss = (5.0 * (lxy + lwh) + lobj) / 2
    loss.backward()
    opt.step()
    opt.clear_grad()
