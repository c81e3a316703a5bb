"""torchquad: five rules of integration in two dimensions, VEGAS, the gradient of an integral by its bounds."""
# packages: torchquad==0.6.0, autoray==0.11.0
# needs: numpy, scipy, tqdm, loguru, matplotlib
import torch
from torchquad import VEGAS, Boole, GaussLegendre, MonteCarlo, Simpson, Trapezoid, set_log_level, set_up_backend

set_log_level("ERROR")
set_up_backend("torch", data_type="float64")


def f(x):
    return torch.sin(x[:, 0]) + torch.exp(x[:, 1])


for rule, n in ((Trapezoid, 101**2), (Simpson, 101**2), (Boole, 101**2), (GaussLegendre, 101**2)):
    print(
        rule.__name__,
        f"{rule().integrate(f, dim=2, N=n, integration_domain=[[0, 1], [-1, 1]], backend='torch').item():.9f}",
    )
torch.manual_seed(0)
print(
    f"{MonteCarlo().integrate(f, dim=2, N=2000, integration_domain=[[0, 1], [-1, 1]], seed=3, backend='torch').item():.6f}"
)
bounds = torch.tensor([[0.0, 1.0], [-1.0, 1.0]], dtype=torch.float64, requires_grad=True)
Simpson().integrate(f, dim=2, N=51**2, integration_domain=bounds).backward()
print(bounds.grad)
print(
    f"{VEGAS().integrate(f, dim=2, N=3000, integration_domain=[[0, 1], [-1, 1]], seed=3, backend='torch').item():.2f}"
)
