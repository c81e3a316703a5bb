"""torchjd: two losses of one trunk by Jacobian descent with five aggregators."""
# packages: torchjd==0.18.0
# needs: quadprog, qpsolvers, numpy
import torch
from torch import nn
from torchjd.aggregation import IMTLG, MGDA, Mean, PCGrad, UPGrad
from torchjd.autojac import backward, jac_to_grad, mtl_backward

torch.manual_seed(0)
x, y, z = torch.randn(16, 4), torch.randn(16, 1), torch.randn(16, 1)
for aggregator in (UPGrad(), MGDA(), PCGrad(), IMTLG(), Mean()):
    torch.manual_seed(1)
    trunk, one, two = nn.Sequential(nn.Linear(4, 8), nn.Tanh()), nn.Linear(8, 1), nn.Linear(8, 1)
    params = [*trunk.parameters(), *one.parameters(), *two.parameters()]
    optimizer = torch.optim.SGD(params, lr=0.1)
    for _ in range(3):
        h = trunk(x)
        losses = [(one(h) - y).square().mean(), (two(h) - z).abs().mean()]
        optimizer.zero_grad()
        mtl_backward(losses, features=h)
        jac_to_grad(trunk.parameters(), aggregator)
        optimizer.step()
    print(type(aggregator).__name__, *[f"{loss.item():.6f}" for loss in losses])
w = torch.tensor([1.0, 2.0], requires_grad=True)
backward([(w**2).sum(), (w[0] * w[1]) ** 2])
jac_to_grad([w], UPGrad())
print(w.grad)
