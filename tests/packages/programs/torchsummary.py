"""torchsummary: the table of a convolution network's layers, output shapes and parameters."""
# packages: torchsummary==1.5.1
from torch import nn
from torchsummary import summary

net = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(8, 16, 3, stride=2), nn.ReLU(), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(16, 5),
)  # fmt: skip
summary(net, (3, 32, 32), device="cpu")
summary(net, (3, 17, 20), batch_size=4, device="cpu")


class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.left, self.right = nn.Linear(4, 3), nn.Sequential(nn.Linear(6, 3), nn.Tanh())

    def forward(self, a, b):
        return self.left(a) * self.right(b)


summary(Two(), [(4,), (6,)], device="cpu")
