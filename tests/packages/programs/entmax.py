"""entmax: sparsemax, entmax15, entmax_bisect with a learned alpha, their losses, attention trained with them."""
# packages: entmax==1.3
import torch
from entmax import EntmaxBisect, entmax15, entmax15_loss, entmax_bisect, normmax_bisect, sparsemax, sparsemax_loss
from torch import nn

torch.manual_seed(0)
x = torch.randn(4, 9, requires_grad=True)
for f in (
    sparsemax,
    entmax15,
    lambda x, dim: entmax_bisect(x, alpha=1.3, dim=dim),
    lambda x, dim: normmax_bisect(x, 2.0, dim),
):
    p = f(2 * x, dim=-1)
    (g,) = torch.autograd.grad((p * torch.arange(9.0)).sum(), x)
    print([f"{v:.6f}" for v in p[0].tolist()], [f"{v:.6f}" for v in g[1].tolist()])
target = torch.tensor([0, 3, 8, 2])
for loss in (sparsemax_loss, entmax15_loss):
    value = loss(x, target).sum()
    (g,) = torch.autograd.grad(value, x)
    print(f"{value.item():.6f}", f"{g.norm().item():.6f}")
alpha = torch.tensor(1.5, requires_grad=True)
layer = EntmaxBisect(alpha, n_iter=30)
query, keys = nn.Linear(5, 4), nn.Linear(5, 4)
optimizer = torch.optim.SGD([alpha, *query.parameters(), *keys.parameters()], lr=0.1)
tokens = torch.randn(7, 5)
for step in range(5):
    weights = layer(query(tokens) @ keys(tokens).T)
    loss = (weights @ tokens - tokens.flip(0)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}", f"{alpha.item():.6f}", (weights == 0).sum().item())
