"""Run on any number of processes: 8 steps of data-parallel training from a checkpoint, which process 0 writes. Prints losses.

`restarting.py FILE`: goes on from FILE if it is there. The data's order is a function of the step alone.
"""

import os
import sys

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

path = sys.argv[1]
dist.init_process_group("gloo")
rank, count = dist.get_rank(), dist.get_world_size()
torch.manual_seed(7 + rank)  # process 0's network is everybody's
net = nn.Sequential(nn.Linear(5, 7), nn.Tanh(), nn.BatchNorm1d(7), nn.Linear(7, 1))
optimizer = torch.optim.AdamW(net.parameters(), lr=0.02)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 3, 0.7)
begun = 0
if os.path.exists(path):
    saved = torch.load(path)
    net.load_state_dict(saved["net"])
    optimizer.load_state_dict(saved["optimizer"])
    schedule.load_state_dict(saved["schedule"])
    begun = saved["step"]
model = DistributedDataParallel(nn.SyncBatchNorm.convert_sync_batchnorm(net))
generator = torch.Generator().manual_seed(0)
x = torch.randn(64, 5, generator=generator)
y = x[:, :1] * x[:, 1:2]
losses = []
for step in range(begun, begun + 8):
    rows = torch.randperm(64, generator=torch.Generator().manual_seed(step))[:16].chunk(count)[rank]
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
    schedule.step()
    total = loss.detach()
    dist.all_reduce(total, dist.ReduceOp.AVG)
    losses.append(total.item())
dist.barrier()
if rank == 0:
    state = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "schedule": schedule.state_dict(), "step": begun + 8}
    torch.save(state, path)
    print(*[loss.hex() for loss in losses])
dist.destroy_process_group()
