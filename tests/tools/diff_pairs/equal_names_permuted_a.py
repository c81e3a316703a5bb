import numpy as np
import torch
from torch import nn

rng = np.random.default_rng(205)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1 = nn.Linear(4, 4)
        self.fc2 = nn.Linear(4, 4)

    def forward(self, x):
        return self.fc2(torch.tanh(self.fc1(x)))


net = Net()
W = [rng.normal(size=(4, 4)).astype("float32") for _ in range(2)]
net.fc1.weight.data = torch.tensor(W[0])
net.fc2.weight.data = torch.tensor(W[1])
net.fc1.bias.data.zero_()
net.fc2.bias.data.zero_()
x = torch.tensor(rng.normal(size=(5, 4)).astype("float32"))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for _ in range(2):
    loss = net(x).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    print(loss.item())
