"""torchsde: a stochastic equation with learned drift and diffusion, sdeint and its adjoint, 5 steps of Adam."""
# packages: torchsde==0.2.6, trampoline==0.1.2
import torch
import torchsde
from torch import nn


class Equation(nn.Module):
    noise_type = "diagonal"
    sde_type = "ito"

    def __init__(self):
        super().__init__()
        self.drift = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))
        self.spread = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3), nn.Sigmoid())

    def f(self, t, y):
        return self.drift(y)

    def g(self, t, y):
        return 0.3 * self.spread(y)


torch.manual_seed(0)
equation = Equation()
start, times = torch.full((8, 3), 0.5), torch.linspace(0, 1, 6)
optimizer = torch.optim.Adam(equation.parameters(), lr=0.02)
for solver in (torchsde.sdeint, torchsde.sdeint_adjoint):
    for step in range(5):
        noise = torchsde.BrownianInterval(0.0, 1.0, size=(8, 3), entropy=step)
        path = solver(equation, start, times, bm=noise, method="euler", dt=0.1)
        loss = (path[-1] - 1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(solver.__name__, step, f"{loss.item():.7f}")
for method in ("milstein", "srk"):
    noise = torchsde.BrownianInterval(0.0, 1.0, size=(8, 3), entropy=9, levy_area_approximation="space-time")
    with torch.no_grad():
        path = torchsde.sdeint(equation, start, times, bm=noise, method=method, dt=0.1)
    print(method, [f"{x:.6f}" for x in path[-1].mean(0).tolist()])
