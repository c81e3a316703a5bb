"""rtdl_num_embeddings: linear, piecewise-linear and periodic embeddings of numbers before a trained perceptron."""
# packages: rtdl-num-embeddings==0.0.12
# needs: scikit-learn, tqdm
import torch
from rtdl_num_embeddings import (
    LinearReLUEmbeddings,
    PeriodicEmbeddings,
    PiecewiseLinearEmbeddings,
    PiecewiseLinearEncoding,
    compute_bins,
)
from torch import nn

torch.manual_seed(0)
x = torch.randn(60, 4)
y = x[:, :1] * (x[:, 1:2] > 0)
bins = compute_bins(x, n_bins=6)
print([b.numel() for b in bins], f"{PiecewiseLinearEncoding(bins)(x).sum().item():.6f}")
for embed in (
    LinearReLUEmbeddings(4, 8),
    PeriodicEmbeddings(4, 8, lite=False),
    PiecewiseLinearEmbeddings(bins, 8, activation=False, version="B"),
):
    net = nn.Sequential(embed, nn.Flatten(), nn.Linear(32, 16), nn.ReLU(), nn.Linear(16, 1))
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.01)
    for _ in range(8):
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(type(embed).__name__, f"{loss.item():.6f}")
