"""BackPACK: per-sample gradients, variance, diagonals and Kronecker factors of the curvature in one backward pass."""
# packages: backpack-for-pytorch==1.7.1, unfoldNd==0.2.3
# needs: einops, packaging
import torch
from backpack import backpack, extend
from backpack.extensions import KFAC, BatchGrad, BatchL2Grad, DiagGGNExact, DiagHessian, SumGradSquared, Variance
from backpack.hessianfree.ggnvp import ggn_vector_product
from torch import nn

torch.manual_seed(0)
net = extend(
    nn.Sequential(nn.Conv2d(1, 3, 3), nn.Sigmoid(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(27, 8), nn.Tanh(), nn.Linear(8, 4))
)
loss_fn = extend(nn.CrossEntropyLoss())
x, y = torch.randn(6, 1, 8, 8), torch.randint(0, 4, (6,))
loss = loss_fn(net(x), y)
with backpack(BatchGrad(), BatchL2Grad(), SumGradSquared(), Variance(), DiagGGNExact(), DiagHessian()):
    loss.backward()
print("loss", f"{loss.item():.7f}")
for name, p in net.named_parameters():
    figures = p.grad, p.grad_batch, p.batch_l2, p.sum_grad_squared, p.variance, p.diag_ggn_exact, p.diag_h
    print(name, [f"{v.norm().item():.6e}" for v in figures])
torch.manual_seed(1)
loss = loss_fn(net(x), y)
with backpack(KFAC(mc_samples=1)):
    loss.backward()
for name, p in net.named_parameters():
    print(name, [f"{factor.norm().item():.6e}" for factor in p.kfac])
output = net(x)
loss = loss_fn(output, y)
vector = [torch.randn_like(p) for p in net.parameters()]
product = ggn_vector_product(loss, output, net, vector)
print("product", [f"{v.norm().item():.6e}" for v in product])
