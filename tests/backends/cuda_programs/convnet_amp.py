"""A small convolution network in mixed precision: autocast, GradScaler, clipping, an EMA of the weights, a checkpoint."""

import io

import torch
from torch import nn
from torch.optim.swa_utils import AveragedModel, get_ema_multi_avg_fn

device = torch.device("cuda:0" if torch.cuda.is_available() else "cpu")
half = torch.float16
torch.manual_seed(1)


class Block(nn.Module):
    def __init__(self, channels):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels), nn.ReLU(inplace=True),
            nn.Conv2d(channels, channels, 3, padding=1, bias=False), nn.BatchNorm2d(channels),
        )  # fmt: skip

    def forward(self, x):
        return torch.relu(x + self.body(x))


model = nn.Sequential(
    nn.Conv2d(3, 8, 3, padding=1), nn.ReLU(), Block(8), nn.MaxPool2d(2), Block(8), nn.AdaptiveAvgPool2d(1), nn.Flatten(),
    nn.Linear(8, 4),
).to(device)  # fmt: skip
centres = torch.randn(4, 3, 1, 1)
targets = torch.randint(0, 4, (96,))
inputs = centres[targets] + 0.7 * torch.randn(96, 3, 12, 12)

criterion = nn.CrossEntropyLoss(label_smoothing=0.05)
optimizer = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9, nesterov=True)
scaler = torch.amp.GradScaler(device.type, init_scale=1024.0)
average = AveragedModel(model, multi_avg_fn=get_ema_multi_avg_fn(0.8))
for epoch in range(3):
    order = torch.randperm(96)
    losses = []
    for start in range(0, 96, 32):
        picked = order[start : start + 32]
        x, y = inputs[picked].to(device), targets[picked].to(device)
        with torch.autocast(device_type=device.type, dtype=half):
            out = model(x)
            loss = criterion(out, y)
        optimizer.zero_grad(set_to_none=True)
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        average.update_parameters(model)
        losses.append(loss.detach())
    print(f"epoch {epoch} loss {torch.stack(losses).mean().item():.2f} dtype {out.dtype} scale {scaler.get_scale():.0f}")
file = io.BytesIO()
torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(), "scaler": scaler.state_dict()}, file)
file.seek(0)
checkpoint = torch.load(file, map_location=device)
model.load_state_dict(checkpoint["model"])
optimizer.load_state_dict(checkpoint["optimizer"])
average.eval()
with torch.inference_mode():
    found = average(inputs.to(device)).argmax(1).cpu()
print("accuracy", round((found == targets).float().mean().item(), 1))
