"""soft-moe-pytorch: soft mixtures of experts, gated, with slots that follow the length, trained."""
# packages: soft-moe-pytorch==0.1.9, einops==0.8.2
import torch
from soft_moe_pytorch import DynamicSlotsSoftMoE, SoftMoE

torch.manual_seed(0)
x = torch.randn(2, 24, 32)
for model in (
    SoftMoE(dim=32, seq_len=24, num_experts=4),
    SoftMoE(dim=32, num_slots=3, num_experts=2, geglu=True),
    DynamicSlotsSoftMoE(dim=32, num_experts=3),
):
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05)
    for step in range(3):
        out = x + model(x)
        loss = (out.cumsum(1).tanh() - 0.1).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        print(type(model).__name__, step, f"{loss.item():.6f}")
