import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.first = torch.nn.Linear(4, 4)
        self.out = torch.nn.Linear(4, 1)

    def forward(self, x):
        return self.out(torch.relu(self.first(x)))


def train():
    torch.manual_seed(0)
    net = Net()
    x = torch.randn(8, 4)
    net(x).mean().backward()


if __name__ == "__main__":
    train()
