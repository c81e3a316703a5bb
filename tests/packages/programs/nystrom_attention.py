"""nystrom-attention: Nyström attention with a residual convolution, masks, a Nyströmformer trained."""
# packages: nystrom-attention==0.0.14
# needs: einops
import torch
from nystrom_attention import NystromAttention, Nystromformer

torch.manual_seed(0)
x = torch.randn(2, 37, 16)
attention = NystromAttention(dim=16, dim_head=8, heads=2, num_landmarks=8, pinv_iterations=6, residual=True)
out, weights = attention(x, mask=torch.arange(37)[None] < torch.tensor([[37], [20]]), return_attn=True)
print(f"{out.sum().item():.6f}", tuple(weights.shape))
net = Nystromformer(dim=16, dim_head=8, heads=2, depth=2, num_landmarks=8)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
for step in range(4):
    loss = (net(x) - x.flip(1)).square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
