import numpy as np
import paddle
import paddle.nn.functional as F

rng = np.random.default_rng(24)
w1 = paddle.to_tensor((rng.normal(size=(6, 9)) * 0.5).astype("float32"), stop_gradient=False)
b1 = paddle.to_tensor((rng.normal(size=9) * 0.1).astype("float32"), stop_gradient=False)
w2 = paddle.to_tensor((rng.normal(size=(9, 4)) * 0.5).astype("float32"), stop_gradient=False)
x = paddle.to_tensor(rng.normal(size=(10, 6)).astype("float32"))
y = paddle.to_tensor(rng.integers(0, 4, 10))
opt = paddle.optimizer.Adagrad(0.05, epsilon=1e-10, parameters=[w1, b1, w2], initial_accumulator_value=0.1)
for _ in range(3):
    h = x @ w1 + b1
    h = F.hardswish(h)  # parts 1
    logp = F.log_softmax(h @ w2, 1)
    lp = paddle.take_along_axis(logp, y.unsqueeze(1), 1).squeeze(1)
    focal = -(1 - lp.exp()) * lp  # parts 2
    loss = focal.mean()
    loss.backward()
    opt.step()  # parts 3
    opt.clear_grad()
