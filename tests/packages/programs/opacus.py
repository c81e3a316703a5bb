"""Opacus: a network trained with DP-SGD, per-sample gradients clipped, noise from a seed, the privacy spent."""
# packages: opacus==1.6.0
# needs: numpy, scipy, opt_einsum
import torch
from opacus import GradSampleModule, PrivacyEngine
from opacus.validators import ModuleValidator
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
net = nn.Sequential(
    nn.Conv2d(1, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.AvgPool2d(2), nn.Flatten(),
    nn.Linear(36, 16), nn.Tanh(), nn.Linear(16, 3),
)  # fmt: skip
print("valid", ModuleValidator.is_valid(net), len(ModuleValidator.validate(net, strict=False)))
net = ModuleValidator.fix(net)
print("fixed", type(net[1]).__name__)
data = TensorDataset(torch.randn(24, 1, 8, 8), torch.randint(0, 3, (24,)))
loader = DataLoader(data, batch_size=8)
wrapped = GradSampleModule(net)
x, y = next(iter(loader))
nn.functional.cross_entropy(wrapped(x), y).backward()
for name, parameter in wrapped.named_parameters():
    print(name, tuple(parameter.grad_sample.shape), f"{parameter.grad_sample.flatten(1).norm(dim=1).mean().item():.6f}")
net = wrapped.to_standard_module()
net.zero_grad()
engine = PrivacyEngine(accountant="rdp")
net, optimizer, loader = engine.make_private(
    module=net, optimizer=torch.optim.SGD(net.parameters(), lr=0.1), data_loader=loader, noise_multiplier=1.1, max_grad_norm=1.0,
    poisson_sampling=False, noise_generator=torch.Generator().manual_seed(1),
)  # fmt: skip
for epoch in range(3):
    for x, y in loader:
        optimizer.zero_grad()
        loss = nn.functional.cross_entropy(net(x), y)
        loss.backward()
        optimizer.step()
    print("epoch", epoch, f"{loss.item():.6f}", f"{engine.get_epsilon(1e-5):.5f}")
print("weights", [f"{p.norm().item():.6f}" for p in net.parameters()])
