"""performer-pytorch: FAVOR+ attention with ReLU and softmax kernels, a language model trained, local heads."""
# packages: performer-pytorch==1.1.4, axial-positional-embedding==0.3.12, local-attention==1.11.2
# packages: einops==0.8.2, hyper-connections==0.4.11
import torch
from performer_pytorch import FastAttention, PerformerLM, SelfAttention

torch.manual_seed(0)
model = PerformerLM(num_tokens=64, max_seq_len=32, dim=32, depth=2, heads=2, dim_head=16, causal=False, nb_features=24)
x, mask = torch.randint(0, 64, (2, 32)), torch.ones(2, 32).bool()
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
for step in range(4):
    loss = torch.nn.functional.cross_entropy(model(x, mask=mask).transpose(1, 2), x)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
q, k, v = (torch.randn(1, 2, 24, 16, requires_grad=True) for _ in range(3))
for options in ({}, {"generalized_attention": True}, {"nb_features": 20}):
    out = FastAttention(dim_heads=16, **({"nb_features": 32} | options))(q, k, v)
    print(f"{out.sum().item():.6f}", f"{torch.autograd.grad(out.sin().sum(), q)[0].norm().item():.6f}")
local = SelfAttention(dim=32, heads=4, causal=False, dim_head=8, local_heads=2, local_window_size=8)
print(f"{local(torch.randn(1, 32, 32)).abs().sum().item():.5f}")
