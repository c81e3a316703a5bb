"""einops: rearrange, reduce, repeat, einsum, pack, layers inside a trained network."""
# packages: einops==0.8.2
import torch
from einops import einsum, pack, parse_shape, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce

torch.manual_seed(0)
x = torch.randn(2, 3, 8, 8, requires_grad=True)
patches = rearrange(x, "b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4)
print(patches.shape, f"{reduce(patches, 'b n d -> b', 'max').sum().item():.6f}", parse_shape(x, "b c h w"))
(repeat(patches, "b n d -> b (n k) d", k=2).square().mean() + reduce(x, "b c (h 2) w -> h", "min").sum()).backward()
print(f"{x.grad.norm().item():.6f}")
a, b = torch.randn(4, 5), torch.randn(5, 6)
print(f"{einsum(a, b, 'i j, j k -> i k').sum().item():.6f}")
packed, shapes = pack([torch.ones(2, 3), torch.zeros(2, 4, 5)], "b *")
print(packed.shape, [tuple(t.shape) for t in unpack(packed, shapes, "b *")])
net = torch.nn.Sequential(
    Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4),
    torch.nn.Linear(48, 16),
    torch.nn.GELU(),
    EinMix("b n c -> b n d", weight_shape="c d", bias_shape="d", c=16, d=8),
    Reduce("b n c -> b c", "mean"),
    torch.nn.Linear(8, 2),
)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(5):
    loss = torch.nn.functional.cross_entropy(net(x.detach()), torch.tensor([0, 1]))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
print(net[3])
