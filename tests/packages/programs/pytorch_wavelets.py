"""pytorch-wavelets: discrete and dual-tree complex transforms forth and back, scattering, gradients through them."""
# packages: pytorch-wavelets==1.3.0
# needs: PyWavelets, numpy, setuptools<81
import torch
from pytorch_wavelets import DTCWTForward, DTCWTInverse, DWT1DForward, DWTForward, DWTInverse, ScatLayer

torch.manual_seed(0)
x = torch.randn(2, 3, 32, 32, requires_grad=True)
for wave, mode in (("haar", "zero"), ("db3", "symmetric"), ("bior2.2", "periodization")):
    low, high = DWTForward(J=2, wave=wave, mode=mode)(x)
    back = DWTInverse(wave=wave, mode=mode)((low, high))
    (g,) = torch.autograd.grad(low.square().sum() + high[0].abs().sum(), x)
    print(
        wave,
        tuple(low.shape),
        f"{low.sum().item():.5f}",
        f"{(back - x).abs().max().item():.4f}",
        f"{g.norm().item():.5f}",
    )
low, high = DTCWTForward(J=3, biort="near_sym_b", qshift="qshift_b")(x)
back = DTCWTInverse(biort="near_sym_b", qshift="qshift_b")((low, high))
print([tuple(h.shape) for h in high], f"{low.sum().item():.5f}", f"{(back - x).abs().max().item():.4f}")
(g,) = torch.autograd.grad(high[1].square().sum(), x)
print(f"{g.norm().item():.5f}")
low, high = DWT1DForward(J=3, wave="db2")(torch.randn(2, 3, 40))
print(tuple(low.shape), [f"{h.sum().item():.5f}" for h in high])
print(f"{ScatLayer()(x).sum().item():.4f}")
