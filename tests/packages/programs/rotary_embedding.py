"""rotary-embedding-torch: rotary positions of queries and keys, of pixels, xpos, learned frequencies with gradients."""
# packages: rotary-embedding-torch==0.9.1
# needs: einops
import torch
from rotary_embedding_torch import RotaryEmbedding, apply_rotary_emb

torch.manual_seed(0)
rotary = RotaryEmbedding(dim=8, learned_freq=True)
q, k = torch.randn(1, 2, 10, 16), torch.randn(1, 2, 10, 16)
scores = rotary.rotate_queries_or_keys(q) @ rotary.rotate_queries_or_keys(k).transpose(-1, -2)
scores.softmax(-1).square().sum().backward()
print(f"{scores.norm().item():.6f}", [f"{v:.6f}" for v in rotary.freqs.grad.tolist()])
xpos = RotaryEmbedding(dim=8, use_xpos=True)
a, b = xpos.rotate_queries_and_keys(q, k)
print(f"{a.sum().item():.6f}", f"{b.sum().item():.6f}", f"{(a @ b.transpose(-1, -2)).norm().item():.5f}")
axial = RotaryEmbedding(dim=8, freqs_for="pixel", max_freq=16)
freqs = axial.get_axial_freqs(4, 5)
image = torch.randn(1, 4, 5, 16)
print(
    tuple(freqs.shape),
    f"{apply_rotary_emb(freqs, image).square().sum().item():.5f}",
    f"{apply_rotary_emb(freqs, image).sum():.5f}",
)
cached = RotaryEmbedding(dim=8, interpolate_factor=2.0)
q2, k2 = cached.rotate_queries_with_cached_keys(q[:, :, -1:], k)
print(f"{q2.sum().item():.6f}", f"{k2.sum().item():.6f}", sorted(cached.state_dict()))
