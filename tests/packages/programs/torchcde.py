"""torchcde: natural cubic, linear and Hermite paths, a neural controlled equation trained, log signatures left out."""
# packages: torchcde==0.2.5, torchdiffeq==0.2.5, torchsde==0.2.6, trampoline==0.1.2
import torch
import torchcde
from torch import nn

torch.manual_seed(0)
times = torch.linspace(0, 1, 9)
data = torch.cat([times.view(1, 9, 1).expand(6, 9, 1), torch.randn(6, 9, 2).cumsum(1)], -1)
labels = (data[:, -1, 1] > 0).float()


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(5, 16), nn.Tanh(), nn.Linear(16, 15), nn.Tanh())

    def forward(self, t, z):
        return self.net(z).view(*z.shape[:-1], 5, 3)


start, field, read = nn.Linear(3, 5), Field(), nn.Linear(5, 1)
coefficients = torchcde.hermite_cubic_coefficients_with_backward_differences(data)
path = torchcde.CubicSpline(coefficients)
optimizer = torch.optim.Adam([*start.parameters(), *field.parameters(), *read.parameters()], lr=0.02)
for step in range(4):
    z = torchcde.cdeint(
        path, field, start(path.evaluate(path.interval[0])), path.interval, method="rk4", options={"step_size": 0.125}
    )
    loss = nn.functional.binary_cross_entropy_with_logits(read(z[:, -1])[:, 0], labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
holes = data.clone()
holes[0, 3, 1] = holes[2, 5, 2] = float("nan")
natural = torchcde.CubicSpline(torchcde.natural_cubic_coeffs(holes))
linear = torchcde.LinearInterpolation(torchcde.linear_interpolation_coeffs(holes, rectilinear=0))
print(
    f"{natural.evaluate(torch.tensor(0.4)).sum().item():.6f}",
    f"{natural.derivative(torch.tensor(0.4)).sum().item():.5f}",
)
print(f"{linear.evaluate(torch.tensor(3.3)).sum().item():.6f}", tuple(linear.grid_points.shape))
