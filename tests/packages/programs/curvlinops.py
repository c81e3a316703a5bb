"""curvlinops-for-pytorch: Hessian, Gauss-Newton and empirical Fisher of a network as linear operators."""
# packages: curvlinops-for-pytorch==3.0.1, backpack-for-pytorch==1.7.1, einops==0.8.2, einconv==0.1.0
# needs: numpy, scipy, tqdm
import torch
from curvlinops import (
    EFLinearOperator,
    GGNLinearOperator,
    HessianLinearOperator,
)
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(12, 4).double(), torch.randint(0, 3, (12,))
net, loss = nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 3)).double(), nn.CrossEntropyLoss()
params, data = list(net.parameters()), [(x[:6], y[:6]), (x[6:], y[6:])]
total = sum(p.numel() for p in params)
v = torch.linspace(-1, 1, total).double()
names = dict(net.named_parameters())
for kind in (HessianLinearOperator, GGNLinearOperator, EFLinearOperator):
    try:
        op = kind(net, loss, names, data)
    except Exception:
        op = kind(net, loss, params, data)
    print(kind.__name__, f"{(op @ v).norm().item():.8f} {(v @ (op @ v)).item():.8f}")
