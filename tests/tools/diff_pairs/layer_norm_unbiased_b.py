import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(201)


class Norm(nn.Layer):
    def __init__(self, size):
        super().__init__()
        self.weight = self.create_parameter([size])
        self.bias = self.create_parameter([size], is_bias=True)

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        centred = x - mean
        var = (centred ** 2).sum(-1, keepdim=True) / (x.shape[-1] - 1)  # parts
        return centred / paddle.sqrt(var + 1e-5) * self.weight + self.bias


fc1, norm, fc2 = nn.Linear(4, 6), Norm(6), nn.Linear(6, 2)
for m in (fc1, norm, fc2):
    for n, p in m.named_parameters():
        p.set_value(rng.normal(1.0 if m is norm and n == "weight" else 0.0, 0.3, p.shape[::-1]).astype("float32").T)
x = paddle.to_tensor(rng.normal(size=(5, 4)).astype("float32"))
y = paddle.to_tensor(rng.normal(size=(5, 2)).astype("float32"))
opt = paddle.optimizer.SGD(0.1, parameters=[*fc1.parameters(), *norm.parameters(), *fc2.parameters()])
for _ in range(2):
    h = norm(fc1(x))
    loss = nn.functional.mse_loss(fc2(nn.functional.relu(h)), y)
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(float(loss))
