"""torchviz: graphs of a loss, of a second derivative and of a custom function: their leaves and operations."""
# packages: torchviz==0.0.3
# needs: graphviz
import re

import torch
from torch import nn
from torchviz import make_dot


class Cube(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**3

    @staticmethod
    def backward(ctx, grad):
        (x,) = ctx.saved_tensors
        return 3 * x**2 * grad


def described(dot):
    """How many boxes there are of each leaf, of each saved tensor and of some operations."""
    labels = re.findall(r'label="?([\w.]+)', dot.source)
    leaves = sorted(label for label in set(labels) if "Backward" not in label and label != "AccumulateGrad")
    operations = {name: labels.count(name) for name in sorted(set(labels)) if re.match("Tanh|Exp|Cube|Mean|Sum|Native|Pow", name)}
    return leaves, operations, dot.source.count("fillcolor=lightblue")


torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.LayerNorm(4), nn.Linear(4, 1))
x = torch.randn(2, 3, requires_grad=True)
print(*described(make_dot(net(x).mean(), params={**dict(net.named_parameters()), "x": x})))
net = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
(slope,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
print(*described(make_dot(slope.square().sum(), params=dict(net.named_parameters()))))
print(*described(make_dot(Cube.apply(x).exp().sum(), params={"x": x}, show_attrs=True, show_saved=True)))
