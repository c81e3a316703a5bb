"""laplace-torch: the last-layer and the full Laplace approximation of a trained network, evidence, predictive variance."""
# packages: laplace-torch==0.3, backpack-for-pytorch==1.7.1, unfoldNd==0.2.3, torchmetrics==1.9.0
# packages: lightning-utilities==0.15.3, asdfghjkl==0.1a4
# packages: curvlinops-for-pytorch==2.0.1, einconv==0.1.0
# needs: opt_einsum, einops, tqdm, packaging, typing_extensions
import torch
from laplace import Laplace
from laplace.curvature import BackPackGGN
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

torch.manual_seed(0)
x = torch.linspace(-2, 2, 40)[:, None]
y = torch.sin(2 * x) + 0.1 * torch.randn(40, 1)
net = nn.Sequential(nn.Linear(1, 12), nn.Tanh(), nn.Linear(12, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=0.05)
for _ in range(60):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    loss.backward()
    optimizer.step()
print("trained", f"{loss.item():.7f}")
loader = DataLoader(TensorDataset(x, y), batch_size=10)
at = torch.tensor([[-3.0], [0.3], [2.5]])
for subset, structure in (("all", "full"), ("all", "diag"), ("last_layer", "full"), ("last_layer", "diag")):
    la = Laplace(net, "regression", subset_of_weights=subset, hessian_structure=structure, backend=BackPackGGN)
    la.fit(loader)
    evidence = la.log_marginal_likelihood(torch.tensor([1.0]), torch.tensor([0.2]))
    mean, variance = la(at)
    predicted = torch.cat([mean.flatten(), variance.flatten()])
    print(subset, structure, f"{evidence.item():.4f}", [f"{v:.6f}" for v in predicted.tolist()])
la = Laplace(net, "regression", subset_of_weights="all", hessian_structure="full", backend=BackPackGGN)
la.fit(loader)
precision, noise = torch.ones(1, requires_grad=True), torch.tensor([0.2], requires_grad=True)
rise = torch.optim.Adam([precision, noise], lr=0.05)
for _ in range(10):
    rise.zero_grad()
    loss = -la.log_marginal_likelihood(precision.exp(), noise.exp())
    loss.backward()
    rise.step()
print("evidence", f"{loss.item():.5f}", f"{precision.item():.6f}", f"{noise.item():.6f}")
