"""torchdiffeq: a neural equation fitted through odeint and odeint_adjoint, each method, an event."""
# packages: torchdiffeq==0.2.5
import torch
from torch import nn
from torchdiffeq import odeint, odeint_adjoint, odeint_event

torch.manual_seed(0)
times = torch.linspace(0.0, 2.0, 15)
start = torch.tensor([[2.0, 0.0]])
matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]])


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 20), nn.Tanh(), nn.Linear(20, 2))

    def forward(self, t, y):
        return self.net(y**3)


with torch.no_grad():
    true = odeint(lambda t, y: y**3 @ matrix, start, times, method="dopri5")
print("true", [f"{v:.6f}" for v in true[-1, 0].tolist()])
field = Field()
optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
for step in range(6):
    solve = odeint if step % 2 else odeint_adjoint
    loss = (solve(field, start, times, rtol=1e-5, atol=1e-6) - true).abs().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(solve.__name__, f"{loss.item():.6f}")
for method in ("euler", "midpoint", "rk4", "explicit_adams", "implicit_adams", "bosh3", "adaptive_heun", "fehlberg2", "dopri8"):
    y0 = torch.tensor([1.0, 0.5], dtype=torch.float64, requires_grad=True)
    end = odeint(lambda t, y: torch.stack([y[1], -torch.sin(y[0])]), y0, times.double(), method=method)[-1]
    (slope,) = torch.autograd.grad(end.sum(), y0)
    print(method, [f"{v:.8f}" for v in [*end.tolist(), *slope.tolist()]])
height = torch.tensor([10.0, 0.0], requires_grad=True)
t, states = odeint_event(
    lambda t, y: torch.stack([y[1], -9.81 * torch.ones_like(y[1])]), height, torch.tensor(0.0),
    event_fn=lambda t, y: y[0], atol=1e-7, rtol=1e-7,
)  # fmt: skip
print("event", f"{t.item():.6f}", [f"{v:.6f}" for v in torch.autograd.grad(t, height)[0].tolist()])
