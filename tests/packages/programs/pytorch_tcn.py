"""pytorch-tcn: causal and non-causal temporal convolution networks trained, streaming inference."""
# packages: pytorch-tcn==1.2.3
import torch
from pytorch_tcn import TCN

torch.manual_seed(0)
x = torch.randn(4, 3, 40)
y = x.cumsum(-1)[:, :1].tanh()
for options in (
    {"causal": True},
    {"causal": False, "use_norm": "layer_norm"},
    {"causal": True, "use_skip_connections": True, "use_norm": "batch_norm", "kernel_initializer": "kaiming_normal"},
    {"use_gate": True},
):
    net = TCN(3, [8, 8, 1], kernel_size=3, dropout=0.0, **options)
    optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
    for _ in range(5):
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(sorted(options), f"{loss.item():.6f}")
net = TCN(3, [6, 2], kernel_size=3, causal=True).eval()
net.reset_buffers()
with torch.no_grad():
    parts = torch.cat([net(x[:1, :, i : i + 10], inference=True) for i in range(0, 40, 10)], -1)
    print(f"{(parts - net(x[:1])).abs().max().item():.4f}", f"{parts.sum().item():.6f}")
