"""pytorch-minimize: Rosenbrock by seven methods, a constrained problem, least squares."""
# packages: pytorch-minimize==0.1.0
import torch
from torchmin import least_squares, minimize, minimize_constr

torch.set_default_dtype(torch.float64)


def rosen(x):
    return (100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2).sum()


start = torch.tensor([1.3, 0.7, 0.8, 1.9, 1.2])
for method in ("bfgs", "l-bfgs", "cg", "newton-cg", "newton-exact", "trust-ncg", "trust-exact"):
    result = minimize(rosen, start, method=method, max_iter=30)
    print(method, f"{result.fun.item():.8f}", [f"{v:.6f}" for v in result.x.tolist()], result.nit)
result = minimize_constr(
    rosen, start, max_iter=30, constr={"fun": lambda x: x.square().sum(), "ub": 2.0}, bounds=(0.0, 1.1)
)
print("constrained", f"{result.fun.item():.6f}", [f"{v:.5f}" for v in result.x.tolist()])
torch.manual_seed(0)
t = torch.linspace(0, 4, 30)
seen = 2.0 * torch.exp(-0.7 * t) + 0.5 + 0.05 * torch.randn(30)
fit = least_squares(lambda p: p[0] * torch.exp(-p[1] * t) + p[2] - seen, torch.tensor([1.0, 1.0, 0.0]))
print("fit", [f"{v:.7f}" for v in fit.x.tolist()], f"{fit.cost.item():.8f}")
