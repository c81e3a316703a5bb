"""siren-pytorch: a SIREN fitted to an image, its gradient, a network modulated by a latent vector."""
# packages: siren-pytorch==0.1.7
# needs: einops
import torch
from siren_pytorch import SirenNet, SirenWrapper

torch.manual_seed(0)
net = SirenNet(dim_in=2, dim_hidden=32, dim_out=3, num_layers=3, w0_initial=30.0)
wrapper = SirenWrapper(net, image_width=12, image_height=10, latent_dim=6)
image = torch.rand(1, 3, 10, 12)
latent = torch.zeros(6).normal_(0, 0.01).requires_grad_()
optimizer = torch.optim.Adam([latent, *wrapper.parameters()], lr=1e-3)
for step in range(6):
    loss = wrapper(image, latent=latent)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}", f"{latent.grad.norm().item():.7f}")
x = torch.rand(5, 2, requires_grad=True)
(g,) = torch.autograd.grad(net(x).sum(), x, create_graph=True)
(gg,) = torch.autograd.grad(g.square().sum(), x)
print(f"{g.sum().item():.5f}", f"{gg.norm().item():.4f}", tuple(wrapper(latent=latent).shape))
