"""Run on one, two and four processes: data-parallel training of one network on one set of data. Prints the losses' bits."""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel
from torch.utils.data import DataLoader, DistributedSampler, TensorDataset

dist.init_process_group("gloo")
rank, count = dist.get_rank(), dist.get_world_size()
assert (rank, count) == (int(os.environ.get("RANK", 0)), int(os.environ.get("WORLD_SIZE", 1)))
torch.manual_seed(100 + rank)  # process 0's network is everybody's
net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.Linear(7, 7), nn.Tanh(), nn.Linear(7, 1))
if count == 1:
    torch.manual_seed(100)
model = DistributedDataParallel(net, bucket_cap_mb=1e-4)
assert len(model._reducer.buckets) > 2
optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
generator = torch.Generator().manual_seed(0)
x = torch.randn(64, 5, generator=generator, dtype=torch.float32)
data = TensorDataset(x, x[:, :1] * x[:, 1:2])
losses = []
loader = DataLoader(data, batch_size=16 // count, sampler=DistributedSampler(data, shuffle=False))
for _ in range(3):
    for a, b in loader:
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(a), b)
        half = loss / 2
        with model.no_sync():
            half.backward(retain_graph=True)
        model(a[:0])  # a pass without a backward one is no error
        (nn.functional.mse_loss(model(a), b) / 2).backward()
        optimizer.step()
        total = loss.detach()
        dist.all_reduce(total, dist.ReduceOp.AVG)
        losses.append(total.item())
if rank == 0:
    print(*[x.hex() for x in losses])
    sys.stdout.flush()

# a parameter that takes no part is said by name, unless it may
class Two(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.idle = nn.Linear(2, 1), nn.Linear(2, 1)

    def forward(self, x):
        return self.used(x)


strict, loose = DistributedDataParallel(Two()), DistributedDataParallel(Two(), find_unused_parameters=True)
for _ in range(2):
    loose(torch.ones(3, 2)).sum().backward()
assert loose.module.idle.weight.grad is None and loose.module.used.weight.grad is not None
strict(torch.ones(3, 2)).sum().backward()
try:
    strict(torch.ones(3, 2))
except RuntimeError as error:
    assert "idle.weight" in str(error) and "find_unused_parameters" in str(error)
else:
    raise AssertionError("nothing was said")

# statistics of all processes: the values, gradients and running statistics of the whole batch on one
torch.manual_seed(3)
whole, mine = nn.BatchNorm2d(3), nn.SyncBatchNorm.convert_sync_batchnorm(nn.Sequential(nn.BatchNorm2d(3)))[0]
assert type(mine) is nn.SyncBatchNorm
x = torch.randn(8, 3, 2, 2)
a, b = x.clone().requires_grad_(), x.chunk(count)[rank].clone().requires_grad_()
y, z = whole(a), mine(b)
weight = torch.arange(96.0).reshape(8, 3, 2, 2).sin()
(y * weight).sum().backward()
(z * weight.chunk(count)[rank]).sum().backward()
assert torch.allclose(z, y.chunk(count)[rank], atol=1e-5)
assert torch.allclose(b.grad, a.grad.chunk(count)[rank], atol=1e-5)
assert torch.allclose(mine.running_var, whole.running_var, atol=1e-6)
assert torch.allclose(mine.running_mean, whole.running_mean, atol=1e-6)
dist.destroy_process_group()
