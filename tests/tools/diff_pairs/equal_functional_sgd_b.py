import numpy as np
import paddle
import paddle.nn.functional as F

rng = np.random.default_rng(106)
net = paddle.nn.Sequential(paddle.nn.Linear(4, 6), paddle.nn.ReLU(), paddle.nn.Linear(6, 3))
for p in net.parameters():
    p.set_value(rng.normal(0, 0.5, tuple(p.shape)[::-1]).astype("float32").T)
x = paddle.to_tensor(rng.normal(size=(7, 4)).astype("float32"))
y = paddle.to_tensor(rng.integers(0, 3, 7))
opt = paddle.optimizer.Momentum(learning_rate=0.1, momentum=0.9, parameters=net.parameters())
for _ in range(3):
    loss = F.cross_entropy(net(x), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(float(loss))
