"""torch-kmeans: k-means in batches from two starts, a soft one with gradients, one with sizes given."""
# packages: torch-kmeans==0.2.0
import torch
from torch_kmeans import ConstrainedKMeans, KMeans, SoftKMeans

torch.manual_seed(0)
x = torch.randn(2, 40, 3) + 3 * torch.randint(0, 3, (2, 40, 1))
for model in (
    KMeans(n_clusters=3, seed=1, verbose=False),
    KMeans(n_clusters=3, init_method="k-means++", seed=1, verbose=False),
    SoftKMeans(n_clusters=3, seed=1, verbose=False),
):
    x.requires_grad_(isinstance(model, SoftKMeans))
    result = model(x)
    print(type(model).__name__, f"{result.inertia.sum().item():.5f}", f"{result.centers.sum().item():.5f}")
    if result.soft_assignment is not None:
        result.soft_assignment.pow(2).sum().backward()
        print(f"{x.grad.norm().item():.6f}")
model = ConstrainedKMeans(n_clusters=3, seed=1, verbose=False)
print(model(x.detach(), weights=torch.full((2, 40), 1 / 16)).labels.sum().item())
