"""local-attention: windows that look back, with rotary positions, a local transformer trained as a language model."""
# packages: local-attention==1.11.2, hyper-connections==0.4.9
# needs: einops
import torch
from local_attention import LocalAttention
from local_attention.transformer import LocalTransformer

torch.manual_seed(0)
q, k, v = (torch.randn(2, 4, 32, 8, requires_grad=True) for _ in range(3))
for options in ({"causal": True}, {"look_forward": 1}, {"causal": True, "exact_windowsize": True, "use_xpos": True}):
    attention = LocalAttention(dim=8, window_size=8, look_backward=1, autopad=True, **options)
    out = attention(q, k, v, mask=torch.ones(2, 32).bool())
    grads = torch.autograd.grad(out.square().sum(), (q, k, v))
    print(sorted(options), f"{out.sum().item():.6f}", [f"{g.norm().item():.6f}" for g in grads])
net = LocalTransformer(num_tokens=20, dim=16, depth=2, max_seq_len=32, local_attn_window_size=8, heads=2, dim_head=8)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
tokens = torch.randint(0, 20, (3, 24))
for step in range(4):
    loss = net(tokens, return_loss=True)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
