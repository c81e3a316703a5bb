"""perceiver-pytorch: Perceiver on images and Perceiver IO with queries, two training steps of each."""
# packages: perceiver-pytorch==0.11.0
# needs: einops
import torch
from perceiver_pytorch import Perceiver, PerceiverIO

torch.manual_seed(0)
net = Perceiver(
    input_channels=3,
    input_axis=2,
    num_freq_bands=4,
    max_freq=8.0,
    depth=2,
    num_latents=8,
    latent_dim=16,
    cross_dim_head=8,
    latent_heads=2,
    latent_dim_head=8,
    num_classes=5,
    self_per_cross_attn=1,
    weight_tie_layers=True,
)
io = PerceiverIO(
    dim=12,
    queries_dim=6,
    logits_dim=4,
    depth=1,
    num_latents=8,
    latent_dim=16,
    latent_heads=2,
    latent_dim_head=8,
    cross_dim_head=8,
)
image, target = torch.randn(2, 10, 12, 3), torch.tensor([1, 3])
sequence, queries = torch.randn(2, 20, 12), torch.randn(7, 6)
optimizer = torch.optim.Adam([*net.parameters(), *io.parameters()], lr=1e-2)
for step in range(3):
    loss = torch.nn.functional.cross_entropy(net(image), target) + io(sequence, queries=queries).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
