"""piq: image quality by eleven measures, their gradients, a VIF loss minimised."""
# packages: piq==0.8.0, torchvision==0.28.0
# note: In float64, in which both sides agree: the gradients of FSIM and VSI pass through roots of what is nearly 0, and in
# note: float32 PyTorch's own change by 0.9 % where the image changes by the last bit.
# note: PyTorch's side ran without the registration of torchvision's native operators, which its wheel at hand does not load.
import piq
import torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
a = torch.rand(2, 3, 96, 96)
b = (a + 0.15 * torch.randn_like(a)).clamp(0, 1)
b.requires_grad_()
for f in (
    piq.ssim,
    piq.vif_p,
    piq.fsim,
    piq.gmsd,
    piq.multi_scale_gmsd,
    piq.vsi,
    piq.haarpsi,
    piq.mdsi,
    piq.dss,
    piq.srsim,
    piq.psnr,
):
    value = f(b, a, data_range=1.0)
    (g,) = torch.autograd.grad(value.sum(), b)
    print(f.__name__, f"{value.item():.5f}", f"{g.norm().item():.5f}")
print(f"{piq.total_variation(b).item():.4f}", f"{piq.SSIMLoss()(b, a).item():.6f}")
x = b.detach()[:, :, :48, :48].clone().requires_grad_()
optimizer, loss = torch.optim.Adam([x], lr=0.01), piq.VIFLoss(sigma_n_sq=2.0, data_range=1.0)
for step in range(3):
    value = loss(x.clamp(0, 1), a[:, :, :48, :48])
    optimizer.zero_grad()
    value.backward()
    optimizer.step()
    print(step, f"{value.item():.6f}")
