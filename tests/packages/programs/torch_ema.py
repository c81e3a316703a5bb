"""torch-ema: an exponential moving average of a trained network's parameters, stored, copied, restored."""
# packages: torch-ema==0.3
import torch
from torch import nn
from torch_ema import ExponentialMovingAverage

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 1))
x = torch.randn(50, 4)
y = x.sin().sum(1, keepdim=True)
optimizer, ema = torch.optim.Adam(net.parameters(), lr=0.05), ExponentialMovingAverage(net.parameters(), decay=0.9)
for step in range(20):
    loss = (net(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update()
    if step % 5 == 4:
        with ema.average_parameters():
            print(step, f"{loss.item():.6f}", f"{(net(x) - y).square().mean().item():.6f}")
ema.to(dtype=torch.float32)
ema.copy_to()
print(ema.num_updates, f"{net[0].weight.sum().item():.6f}")
