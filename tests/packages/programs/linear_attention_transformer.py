"""linear-attention-transformer: linear attention, causal language model with local heads trained, images attended."""
# packages: linear-attention-transformer==0.19.1, axial-positional-embedding==0.3.12, local-attention==1.11.2
# packages: product-key-memory==0.3.0, linformer==0.2.3, hyper-connections==0.4.9, colt5-attention==0.11.2
# needs: einops, numpy
import torch
from linear_attention_transformer import LinearAttentionTransformerLM
from linear_attention_transformer.images import ImageLinearAttention

torch.manual_seed(0)
net = LinearAttentionTransformerLM(
    num_tokens=30,
    dim=16,
    heads=2,
    depth=2,
    max_seq_len=32,
    causal=True,
    n_local_attn_heads=1,
    local_attn_window_size=8,
    blindspot_size=1,
)
tokens = torch.randint(0, 30, (2, 32))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
for step in range(4):
    loss = torch.nn.functional.cross_entropy(net(tokens[:, :32]).transpose(1, 2)[:, :, :-1], tokens[:, 1:])
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
print(f"{ImageLinearAttention(chan=4, heads=2, key_dim=4)(torch.randn(1, 4, 9, 9)).sum().item():.6f}")
