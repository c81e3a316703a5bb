"""Accelerate: a training loop with prepare, gradient accumulation, clipping, gathering, checkpoints."""
# packages: accelerate==1.15.0
# needs: huggingface_hub, safetensors, pyyaml, psutil, packaging
import tempfile

import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

set_seed(0)
accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
x = torch.randn(64, 6)
y = x @ torch.randn(6, 1) + 0.1 * torch.randn(64, 1)
model = nn.Sequential(nn.Linear(6, 16), nn.GELU(), nn.Linear(16, 1))
optimizer = torch.optim.AdamW(model.parameters(), lr=0.02)
schedule = torch.optim.lr_scheduler.StepLR(optimizer, 4, 0.5)
loader = DataLoader(TensorDataset(x, y), batch_size=8, shuffle=True)
model, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
print(accelerator.device, accelerator.num_processes, accelerator.is_main_process, accelerator.distributed_type)
for epoch in range(3):
    total = 0.0
    for a, b in loader:
        with accelerator.accumulate(model):
            loss = nn.functional.mse_loss(model(a), b)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                norm = accelerator.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        total += accelerator.gather(loss.detach()).mean().item()
    print(epoch, f"{total / len(loader):.6f}", f"{norm.item():.6f}", f"{schedule.get_last_lr()[0]:.6f}")
with tempfile.TemporaryDirectory() as folder:
    accelerator.save_state(folder)
    before = model[0].weight.detach().clone()
    with torch.no_grad():
        model[0].weight.zero_()
    accelerator.load_state(folder)
    print("restored", torch.equal(before, model[0].weight))
plain = accelerator.unwrap_model(model)
with accelerator.autocast():
    print(type(plain).__name__, f"{plain(x[:4]).sum().item():.6f}")
a, b = accelerator.gather_for_metrics((torch.arange(3), torch.ones(2)))
print(a.tolist(), b.tolist())
