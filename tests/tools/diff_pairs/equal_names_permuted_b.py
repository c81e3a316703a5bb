import numpy as np
import paddle
from paddle import nn

rng = np.random.default_rng(205)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc2 = nn.Linear(4, 4)
        self.fc1 = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc1(paddle.tanh(self.fc2(x)))


net = Net()
W = [rng.normal(size=(4, 4)).astype("float32") for _ in range(2)]
net.fc2.weight.set_value(W[0].T)
net.fc1.weight.set_value(W[1].T)
x = paddle.to_tensor(rng.normal(size=(5, 4)).astype("float32"))
opt = paddle.optimizer.SGD(0.1, parameters=net.parameters())
for _ in range(2):
    loss = (net(x) ** 2).mean()
    loss.backward()
    opt.step()
    opt.clear_grad()
    print(float(loss))
