"""e3nn: spherical harmonics, tensor products, a gated equivariant layer trained, equivariance checked."""
# packages: e3nn==0.6.0, opt_einsum_fx==0.1.4
# needs: sympy, opt_einsum
import torch
from e3nn import o3
from e3nn.math import soft_one_hot_linspace
from e3nn.nn import FullyConnectedNet, Gate

torch.manual_seed(0)
irreps_in, irreps_sh, irreps_out = o3.Irreps("4x0e + 2x1o"), o3.Irreps.spherical_harmonics(2), o3.Irreps("3x0e + 2x1o")
gate = Gate("3x0e", [torch.relu], "2x0e", [torch.sigmoid], "2x1o")
product = o3.FullyConnectedTensorProduct(irreps_in, irreps_sh, gate.irreps_in, shared_weights=False)
radial = FullyConnectedNet([6, 16, product.weight_numel], torch.nn.functional.silu)
mix = o3.Linear(irreps_out, "0e + 1o")
points, values = torch.randn(10, 3), irreps_in.randn(10, -1)


def layer(points, values):
    edges = o3.spherical_harmonics(irreps_sh, points, normalize=True, normalization="component")
    weights = radial(soft_one_hot_linspace(points.norm(dim=1), 0.0, 3.0, 6, basis="gaussian", cutoff=False))
    return mix(gate(product(values, edges, weights)))


print(product, mix.irreps_out.dim)
rotation = o3.rand_matrix()
d_in, d_out = irreps_in.D_from_matrix(rotation), mix.irreps_out.D_from_matrix(rotation)
turned, straight = layer(points @ rotation.T, values @ d_in.T), layer(points, values) @ d_out.T
print("equivariant", bool((turned - straight).abs().max() < 1e-4), f"{straight.norm().item():.5f}")
target = torch.randn(10, 4)
optimizer = torch.optim.Adam([*radial.parameters(), *mix.parameters()], lr=0.01)
for step in range(15):
    loss = (layer(points, values) - target).pow(2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        print(step, f"{loss.item():.6f}")
x = torch.randn(4, 3, requires_grad=True)
o3.spherical_harmonics("1o + 2e + 3o", x, normalize=False).pow(2).sum().backward()
print([f"{v:.5f}" for v in x.grad.flatten().tolist()])
print([f"{v:.6f}" for v in o3.wigner_3j(1, 2, 1).flatten()[:9].tolist()])
