"""egnn-pytorch: an equivariant graph layer with edges and neighbours, a network trained on points, equivariance checked."""
# packages: egnn-pytorch==0.2.8, einops==0.8.2
import torch
from egnn_pytorch import EGNN, EGNN_Network

torch.manual_seed(0)
feats, coors, edges = torch.randn(1, 12, 16), torch.randn(1, 12, 3), torch.randn(1, 12, 12, 4)
layer = EGNN(dim=16, edge_dim=4, num_nearest_neighbors=4, norm_coors=True)
f, c = layer(feats, coors, edges)
(f.sum() + c.pow(2).sum()).backward()
print(
    f"{f.sum().item():.5f} {c.sum().item():.5f}",
    f"{sum(p.grad.norm() for p in layer.parameters() if p.grad is not None).item():.5f}",
)
turn = torch.linalg.qr(torch.randn(3, 3))[0]
other = layer(feats, coors @ turn, edges)
print("equivariant", torch.allclose(other[1], c @ turn, atol=1e-4), torch.allclose(other[0], f, atol=1e-4))
net = EGNN_Network(
    num_tokens=9, num_positions=12, dim=16, depth=2, num_nearest_neighbors=6, coor_weights_clamp_value=2.0
)
optimizer = torch.optim.Adam(net.parameters(), lr=1e-3)
tokens, mask = torch.randint(0, 9, (2, 12)), torch.arange(12) < torch.tensor([[12], [9]])
place, target = torch.randn(2, 12, 3), torch.randn(2, 12, 3)
for step in range(4):
    _, moved = net(tokens, place, mask=mask)
    loss = ((moved - target) ** 2)[mask].mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
