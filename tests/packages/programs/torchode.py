"""torchode: a batch of Van der Pol equations in parallel, tolerances, gradients through a neural field."""
# packages: torchode==1.0.1, torchtyping==0.1.5
# needs: typeguard<3, sympy
import torch
import torchode

torch.manual_seed(0)


def oscillator(t, y, mu):
    x, v = y[..., 0], y[..., 1]
    return torch.stack((v, mu * (1 - x**2) * v - x), dim=-1)


y0 = torch.randn((5, 2), dtype=torch.float64)
t_eval = torch.stack((torch.linspace(0, 5, 10), torch.linspace(3, 4, 10))).repeat(3, 1)[:5].double()
term = torchode.ODETerm(oscillator, with_args=True)
for method in (torchode.Dopri5, torchode.Tsit5, torchode.Heun):
    controller = torchode.IntegralController(atol=1e-6, rtol=1e-3, term=term)
    solver = torchode.AutoDiffAdjoint(method(term=term), controller)
    solution = solver.solve(torchode.InitialValueProblem(y0=y0, t_eval=t_eval), args=2.0)
    print(method.__name__, solution.stats["n_steps"].tolist(), [f"{v:.5f}" for v in solution.ys[:, -1].flatten().tolist()])


class Field(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.net = torch.nn.Sequential(torch.nn.Linear(2, 16), torch.nn.Softplus(), torch.nn.Linear(16, 2))

    def forward(self, t, y):
        return self.net(y) * torch.cos(t)[:, None]


field = Field()
y0 = y0.float()
term = torchode.ODETerm(field)
controller = torchode.PIDController(1e-5, 1e-4, 0.2, 0.5, 0.0, term=term)
solver = torchode.AutoDiffAdjoint(torchode.Dopri5(term=term), controller)
optimizer = torch.optim.Adam(field.parameters(), lr=0.02)
for step in range(5):
    solution = solver.solve(torchode.InitialValueProblem(y0=y0, t_eval=torch.linspace(0, 1, 6).repeat(5, 1)))
    loss = (solution.ys[:, -1] - 1).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print("field", step, f"{loss.item():.6f}", f"{field.net[0].weight.grad.norm().item():.6f}")
