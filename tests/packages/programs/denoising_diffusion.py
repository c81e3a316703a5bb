"""denoising-diffusion-pytorch: a U-Net trained as a diffusion model of images, samples by DDIM, one in one dimension."""
# packages: denoising-diffusion-pytorch==2.3.4, einops==0.8.2, accelerate==1.15.0, ema-pytorch==0.8.3, torchvision==0.28.0
# needs: numpy, pillow, tqdm, scipy, packaging, psutil, pyyaml, huggingface_hub, safetensors
import torch
from denoising_diffusion_pytorch import GaussianDiffusion, GaussianDiffusion1D, Unet, Unet1D

torch.manual_seed(0)
net = Unet(dim=16, dim_mults=(1, 2), flash_attn=False, channels=1)
model = GaussianDiffusion(net, image_size=16, timesteps=20, sampling_timesteps=4)
images = torch.rand(2, 1, 16, 16)
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(3):
    loss = model(images)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
out = model.sample(batch_size=1)
print(tuple(out.shape), f"{out.mean().item():.5f} {out.std().item():.5f}")
model = GaussianDiffusion1D(
    Unet1D(dim=16, dim_mults=(1, 2), channels=4), seq_length=32, timesteps=10, objective="pred_v"
)
loss = model(torch.rand(2, 4, 32))
loss.backward()
print(f"{loss.item():.6f}", f"{sum(p.grad.norm() for p in model.parameters()).item():.5f}")
