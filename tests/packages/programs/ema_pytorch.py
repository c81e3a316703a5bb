"""ema-pytorch: an averaged copy of a network with batch norm, warm-up of the decay, post-hoc averages left out."""
# packages: ema-pytorch==0.8.3
import torch
from ema_pytorch import EMA
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(4, 12), nn.BatchNorm1d(12), nn.ReLU(), nn.Linear(12, 1))
ema = EMA(net, beta=0.95, update_after_step=2, update_every=2, inv_gamma=1.0, power=2 / 3)
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
x = torch.randn(32, 4)
y = x.prod(1, keepdim=True)
for step in range(12):
    loss = (net(x) - y).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    ema.update()
    print(step, f"{loss.item():.6f}", f"{ema.get_current_decay():.6f}")
with torch.no_grad():
    print(f"{ema(x).sum().item():.6f}", f"{ema.ema_model[1].running_var.sum().item():.6f}")
ema.update_model_with_ema(0.5)
print(f"{net[0].weight.sum().item():.6f}", len(ema.state_dict()))
