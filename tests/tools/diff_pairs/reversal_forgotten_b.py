import torch
from torch import nn


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, lam):
        ctx.lam = lam
        return x.view_as(x)

    @staticmethod
    def backward(ctx, g):
        return ctx.lam * g, None  # parts


torch.manual_seed(1)
feat, cls, dom = nn.Linear(4, 8), nn.Linear(8, 3), nn.Linear(8, 2)
params = [p for m in (feat, cls, dom) for p in m.parameters()]
opt = torch.optim.SGD(params, lr=0.1)
x, y, d = torch.randn(10, 4), torch.randint(0, 3, (10,)), torch.randint(0, 2, (10,))
for _ in range(2):
    h = torch.relu(feat(x))
    loss = nn.functional.cross_entropy(cls(h), y) + nn.functional.cross_entropy(dom(Reverse.apply(h, 0.5)), d)
    opt.zero_grad()
    loss.backward()
    opt.step()
