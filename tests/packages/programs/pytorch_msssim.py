"""pytorch-msssim: SSIM and MS-SSIM of images and volumes, a noisy image restored by gradients."""
# packages: pytorch-msssim==1.0.0
import torch
from pytorch_msssim import MS_SSIM, SSIM, ms_ssim, ssim

torch.manual_seed(0)
a = torch.rand(2, 3, 180, 180)
b = (a + 0.1 * torch.randn_like(a)).clamp(0, 1)
print(
    f"{ssim(a, b, data_range=1).item():.6f}",
    [f"{v:.6f}" for v in ms_ssim(a, b, data_range=1, size_average=False).tolist()],
)
volumes = [x[:, :, None, :20, :20].repeat(1, 1, 20, 1, 1) for x in (a, b)]
print(f"{ssim(*volumes, data_range=1).item():.6f}")
measure = SSIM(data_range=1.0, channel=3, nonnegative_ssim=True)
x = b[:, :, :32, :32].clone().requires_grad_()
optimizer = torch.optim.Adam([x], lr=0.02)
for step in range(5):
    loss = 1 - measure(x, a[:, :, :32, :32])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
z = b.clone().requires_grad_()
loss = 1 - MS_SSIM(data_range=1.0, channel=3)(z, a)
loss.backward()
print(f"{loss.item():.6f}", f"{z.grad.norm().item():.7f}")
