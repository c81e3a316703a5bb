"""torch-dct: cosine transforms in one, two and three dimensions, their inverses and gradients, one as a layer."""
# packages: torch-dct==0.1.6
import torch
import torch_dct as dct

torch.manual_seed(0)
x = torch.randn(3, 8, 6, 4, dtype=torch.float64, requires_grad=True)
for forth, back in ((dct.dct, dct.idct), (dct.dct_2d, dct.idct_2d), (dct.dct_3d, dct.idct_3d)):
    for norm in (None, "ortho"):
        y = forth(x, norm=norm)
        (g,) = torch.autograd.grad(y.sin().sum(), x)
        print(
            forth.__name__,
            norm,
            f"{y.abs().sum().item():.6f} {g.norm().item():.6f}",
            torch.allclose(back(y, norm=norm), x),
        )
print(f"{dct.dct1(x).sum().item():.6f}", torch.allclose(dct.idct1(dct.dct1(x)), x))
layer = dct.LinearDCT(4, "dct", norm="ortho")
print(f"{layer(x.float()).abs().sum().item():.5f}")
