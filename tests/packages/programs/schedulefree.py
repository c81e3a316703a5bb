"""schedulefree: schedule-free SGD, AdamW, RAdam and their closures, parameters at the two points."""
# packages: schedulefree==1.4.1
# needs: typing_extensions
import schedulefree
import torch
from torch import nn

for kind, options in (
    ("SGDScheduleFree", {"lr": 0.5}),
    ("AdamWScheduleFree", {"lr": 0.02, "warmup_steps": 4, "weight_decay": 0.01}),
    ("RAdamScheduleFree", {"lr": 0.02}),
):
    for foreach in (True, False):
        torch.manual_seed(0)
        net = nn.Sequential(nn.Linear(4, 10), nn.Tanh(), nn.Linear(10, 2))
        x, y = torch.randn(30, 4), torch.randint(0, 2, (30,))
        optimizer = getattr(schedulefree, kind)(net.parameters(), foreach=foreach, **options)
        optimizer.train()
        for _ in range(10):
            loss = nn.functional.cross_entropy(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        optimizer.eval()
        print(kind, foreach, f"{loss.item():.7f}", f"{nn.functional.cross_entropy(net(x), y).item():.7f}")
