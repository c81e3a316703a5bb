"""torch-optimizer: 26 optimisers for ten steps each on one network."""
# packages: torch-optimizer==0.3.0, pytorch-ranger==0.1.1
import torch
import torch_optimizer
from torch import nn

names = [
    "A2GradExp",
    "A2GradInc",
    "A2GradUni",
    "AccSGD",
    "AdaBelief",
    "AdaBound",
    "AdaMod",
    "AdamP",
    "AggMo",
    "Apollo",
    "DiffGrad",
    "LARS",
    "Lamb",
    "MADGRAD",
    "NovoGrad",
    "PID",
    "QHAdam",
    "QHM",
    "RAdam",
    "Ranger",
    "RangerQH",
    "RangerVA",
    "SGDP",
    "SGDW",
    "SWATS",
    "Yogi",
    "Adafactor",
    "Adahessian",
    "Shampoo",
]
for name in names:
    torch.manual_seed(0)
    net = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 3))
    x, y = torch.randn(20, 4), torch.randint(0, 3, (20,))
    optimizer = getattr(torch_optimizer, name)(
        net.parameters(), **({} if name.startswith(("A2Grad", "Adafactor")) else {"lr": 0.02})
    )
    for _ in range(10):
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward(create_graph=name == "Adahessian")
        optimizer.step()
    print(name, f"{loss.item():.6f}")
