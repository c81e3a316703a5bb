import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn


class UNet(nn.Layer):
    def __init__(self):
        super().__init__()
        self.down1 = nn.Conv2D(1, 4, 3, padding=1)
        self.norm1 = nn.GroupNorm(2, 4)
        self.down2 = nn.Conv2D(4, 8, 3, stride=2, padding=1)
        self.up = nn.Conv2DTranspose(8, 4, 2, stride=2)
        self.out = nn.Conv2D(8, 1, 1)

    def forward(self, x):
        a = F.swish(self.norm1(self.down1(x)))
        b = F.swish(self.down2(a))
        c = self.up(F.avg_pool2d(b, 3, stride=1, padding=1))  # parts
        return self.out(paddle.concat([a, c], axis=1))


rng = np.random.default_rng(14)
net = UNet()
for name, p in net.named_parameters():
    if "norm" not in name:
        p.set_value((rng.standard_normal(p.shape) * 0.4).astype("float32"))
image = paddle.to_tensor(rng.standard_normal((2, 1, 8, 8)).astype("float32"))
truth = paddle.to_tensor((rng.random((2, 1, 8, 8)) > 0.6).astype("float32"))
optimizer = paddle.optimizer.Adagrad(0.05, epsilon=1e-10, parameters=net.parameters())
for _step in range(3):
    logits = net(image)
    p = F.sigmoid(logits)
    dice = 1 - (2 * (p * truth).sum([1, 2, 3]) + 1) / (p.sum([1, 2, 3]) + truth.sum([1, 2, 3]) + 1)
    p_t = truth * p + (1 - truth) * (1 - p)
    focal = -(1 - p_t) ** 2 * paddle.log(p_t)
    loss = dice.mean() + focal.mean()
    loss.backward()
    optimizer.step()
    optimizer.clear_grad()
    print(loss.item())
