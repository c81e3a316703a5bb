"""A physics-informed network for the steady viscous Burgers equation, as a plain PyTorch program.

    u u' = nu u''  on [-1, 1],  u(-1) = a, u(1) = -a,   with the known solution  u(x) = -c tanh(c x / (2 nu))

The network only sees the equation at collocation points and the two boundary values. The loss contains u'' by
`torch.autograd.grad(..., create_graph=True)` twice, so each step differentiates through two derivatives.

    retrograde run examples/pinn.py            on retrograde
    python examples/pinn.py                    on PyTorch, where it is installed
"""

import argparse
import math
import os
import time

import torch
from torch import nn

NU, C = 0.3, 1.0


def solution(x):
    return -C * torch.tanh(C * x / (2 * NU))


def derivatives(u, x):
    """The first and second derivative of u, which is computed point by point, by x."""
    (du,) = torch.autograd.grad(u, x, torch.ones_like(u), create_graph=True)
    (ddu,) = torch.autograd.grad(du, x, torch.ones_like(du), create_graph=True)
    return du, ddu


class Network(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(1, width), nn.Tanh(), nn.Linear(width, width), nn.Tanh(), nn.Linear(width, 1)
        )

    def forward(self, x):
        return self.layers(x)


def residual(net, x):
    """How far the network is from satisfying the equation at the points x."""
    u = net(x)
    du, ddu = derivatives(u, x)
    return u * du - NU * ddu


def train(steps, on_step, points=256, seed=0):
    torch.manual_seed(seed)
    net = Network()
    x = torch.linspace(-1.0, 1.0, points).reshape(-1, 1).requires_grad_()
    ends = torch.tensor([[-1.0], [1.0]])
    values = solution(ends)
    optimizer = torch.optim.Adam(net.parameters(), lr=3e-3)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps, eta_min=1e-5)
    for step in range(steps):
        optimizer.zero_grad()
        loss = residual(net, x).pow(2).mean() + 10 * (net(ends) - values).pow(2).mean()
        loss.backward()
        norm = torch.sqrt(sum(p.grad.pow(2).sum() for p in net.parameters()))
        optimizer.step()
        scheduler.step()
        on_step(step, loss.item(), norm.item())
    with torch.no_grad():
        error = (net(x) - solution(x)).abs().max().item()
    return net, error


def draw(path, net, losses, norms):
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    x = torch.linspace(-1.0, 1.0, 401).reshape(-1, 1).requires_grad_()
    curves = {}
    for function in (solution, net):
        u = function(x)
        curves[function] = [y.detach().flatten().numpy() for y in (u, *derivatives(u, x))]
    points = x.detach().flatten().numpy()
    figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.2), constrained_layout=True)
    for name, color, exact, learned in zip(("u", "u'", "u''"), ("C3", "C1", "C4"), curves[solution], curves[net]):
        left.plot(points, exact, color="0.8", linewidth=6, label="exact" if name == "u" else None)
        left.plot(points, learned, color=color, linewidth=1.6, label=f"network's {name}")
    left.set(title="steady Burgers equation, viscosity 0.3", xlabel="x", xticks=(-1, -0.5, 0, 0.5, 1), ylim=(-4, 2.5))
    left.legend(frameon=False, fontsize="small", loc="lower center", ncols=2)
    middle.semilogy(losses, color="C0", linewidth=0.8)
    middle.set(title="loss", xlabel="step")
    right.semilogy(norms, color="C2", linewidth=0.8)
    right.set(title="norm of the gradient", xlabel="step")
    for axis in (left, middle, right):
        axis.grid(alpha=0.25)
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    figure.savefig(path, dpi=80, pil_kwargs={"optimize": True})


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3000)
    parser.add_argument("--png", default=os.path.join("out", "pinn.png"))
    options = parser.parse_args()
    losses, norms = [], []
    start = time.time()

    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("training"), BarColumn(), MofNCompleteColumn(), TextColumn("loss {task.fields[loss]:.2e}"),
               TimeRemainingColumn())
    with Progress(*columns) as progress:
        task = progress.add_task("", total=options.steps, loss=math.nan)

        def on_step(step, loss, norm):
            losses.append(loss)
            norms.append(norm)
            progress.update(task, advance=1, loss=loss)

        net, error = train(options.steps, on_step)
    seconds = time.time() - start
    draw(options.png, net, losses, norms)
    print(f"{options.steps} steps in {seconds:.1f} s; loss {losses[0]:.3g} -> {losses[-1]:.3g}; "
          f"largest error against the exact solution {error:.2e}")
    print(f"picture: {options.png}")


if __name__ == "__main__":
    main()
