"""diffusers: a U-Net trained to denoise, three samplers, one with text, an autoencoder."""
# packages: diffusers==0.42.1
# needs: numpy, pillow, regex, requests, filelock, huggingface_hub, safetensors, importlib_metadata, httpx
import torch
from diffusers import (
    AutoencoderKL,
    DDIMScheduler,
    DDPMScheduler,
    DPMSolverMultistepScheduler,
    UNet2DConditionModel,
    UNet2DModel,
)
from diffusers.optimization import get_cosine_schedule_with_warmup

torch.manual_seed(0)
net = UNet2DModel(
    sample_size=16,
    in_channels=1,
    out_channels=1,
    layers_per_block=1,
    block_out_channels=(16, 32),
    norm_num_groups=4,
    down_block_types=("DownBlock2D", "AttnDownBlock2D"),
    up_block_types=("AttnUpBlock2D", "UpBlock2D"),
    attention_head_dim=8,
)
noise_of, x = DDPMScheduler(num_train_timesteps=50), torch.rand(2, 1, 16, 16) * 2 - 1
optimizer = torch.optim.AdamW(net.parameters(), lr=1e-3)
rate = get_cosine_schedule_with_warmup(optimizer, 2, 6)
for step in range(4):
    noise, t = torch.randn_like(x), torch.randint(0, 50, (2,))
    loss = torch.nn.functional.mse_loss(net(noise_of.add_noise(x, noise, t), t).sample, noise)
    loss.backward()
    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    optimizer.step()
    rate.step()
    optimizer.zero_grad()
    print(step, f"{loss.item():.6f}")
net.eval()
for kind in (DDIMScheduler, DPMSolverMultistepScheduler, DDPMScheduler):
    schedule, y = kind(num_train_timesteps=50), torch.randn(1, 1, 16, 16, generator=torch.Generator().manual_seed(1))
    schedule.set_timesteps(4)
    for t in schedule.timesteps:
        with torch.no_grad():
            y = schedule.step(
                net(y, t).sample,
                t,
                y,
                **({"generator": torch.Generator().manual_seed(int(t))} if kind is DDPMScheduler else {}),
            ).prev_sample
    print(kind.__name__, f"{y.mean().item():.6f} {y.std().item():.6f}")
torch.manual_seed(1)
text = UNet2DConditionModel(
    sample_size=8,
    in_channels=4,
    out_channels=4,
    layers_per_block=1,
    block_out_channels=(16, 32),
    norm_num_groups=4,
    cross_attention_dim=24,
    attention_head_dim=4,
    down_block_types=("CrossAttnDownBlock2D", "DownBlock2D"),
    up_block_types=("UpBlock2D", "CrossAttnUpBlock2D"),
)
out = text(torch.randn(1, 4, 8, 8), 7, encoder_hidden_states=torch.randn(1, 5, 24)).sample
out.sum().backward()
print(f"{out.sum().item():.5f}", f"{sum(p.grad.norm() for p in text.parameters() if p.grad is not None).item():.4f}")
vae = AutoencoderKL(
    block_out_channels=(8, 16),
    norm_num_groups=4,
    latent_channels=2,
    down_block_types=("DownEncoderBlock2D",) * 2,
    up_block_types=("UpDecoderBlock2D",) * 2,
)
z = vae.encode(torch.rand(1, 3, 16, 16)).latent_dist
print(f"{z.kl().item():.5f}", f"{vae.decode(z.mode()).sample.sum().item():.5f}")
