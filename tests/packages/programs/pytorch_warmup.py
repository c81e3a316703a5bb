"""pytorch-warmup: five warm-ups of the rate of AdamW and Adam, beside a cosine schedule."""
# packages: pytorch-warmup==0.2.0
import pytorch_warmup as warmup
import torch

torch.manual_seed(0)
x, y = torch.randn(32, 4), torch.randn(32, 1)
for make in (warmup.LinearWarmup, warmup.ExponentialWarmup):
    net = torch.nn.Linear(4, 1)
    optimizer = torch.optim.AdamW(net.parameters(), lr=0.05)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, T_max=12)
    damp = make(optimizer, warmup_period=5)
    for step in range(8):
        loss = (net(x) - y).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        with damp.dampening():
            schedule.step()
        print(step, f"{loss.item():.6f} {optimizer.param_groups[0]['lr']:.8f}")
for make in (warmup.UntunedLinearWarmup, warmup.UntunedExponentialWarmup, warmup.RAdamWarmup):
    optimizer = torch.optim.Adam(torch.nn.Linear(2, 2).parameters(), lr=0.1)
    damp = make(optimizer)
    for _ in range(4):
        optimizer.step()
        with damp.dampening():
            pass
    print(f"{optimizer.param_groups[0]['lr']:.9f}", sorted(damp.state_dict()))
