"""vector-quantize-pytorch: VQ with EMA codebooks, residual VQ, FSQ, LFQ and rotation trick, in a trained autoencoder."""
# packages: vector-quantize-pytorch==1.32.0, einx==0.4.3, torch-einops-utils==0.2.0
# needs: einops, frozendict, sympy
import torch
from torch import nn
from vector_quantize_pytorch import FSQ, LFQ, ResidualVQ, VectorQuantize

torch.manual_seed(0)
x = torch.randn(4, 16, 8)
for name, layer in {
    "VQ": VectorQuantize(dim=8, codebook_size=12, decay=0.8, commitment_weight=1.0),
    "cosine": VectorQuantize(dim=8, codebook_size=12, use_cosine_sim=True, codebook_dim=4),
    "k-means": VectorQuantize(dim=8, codebook_size=12, kmeans_init=True, kmeans_iters=4),
    "learned": VectorQuantize(dim=8, codebook_size=12, learnable_codebook=True, ema_update=False),
    "residual": ResidualVQ(dim=8, codebook_size=12, num_quantizers=3),
}.items():
    encode, decode = nn.Linear(8, 8), nn.Linear(8, 8)
    optimizer = torch.optim.Adam([*encode.parameters(), *decode.parameters(), *layer.parameters()], lr=0.01)
    for _step in range(3):
        quantized, indices, commitment = layer(encode(x))
        loss = (decode(quantized) - x).square().mean() + commitment.sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(name, f"{loss.item():.6f}", indices.sum().item(), f"{encode.weight.grad.norm().item():.6f}")
fsq = FSQ([5, 5, 4, 3], dim=8)
out, indices = fsq(x)
print(
    "FSQ",
    f"{out.sum().item():.6f}",
    indices.sum().item(),
    f"{(fsq.indices_to_codes(indices) - out).abs().max().item():.4f}",
)
lfq = LFQ(codebook_size=16, dim=8, entropy_loss_weight=0.02)
out, indices, entropy = lfq(x)
print("LFQ", f"{out.sum().item():.6f}", indices.sum().item(), f"{entropy.item():.6f}")
