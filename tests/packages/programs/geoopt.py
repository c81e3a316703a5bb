"""geoopt: means on the Poincaré ball, an eigenvector on the sphere, a rotation on the Stiefel manifold."""
# packages: geoopt==0.5.1
import geoopt
import torch

torch.manual_seed(0)
ball = geoopt.PoincareBall(c=1.0)
points = ball.expmap0(0.4 * torch.randn(20, 2, dtype=torch.float64))
mean = geoopt.ManifoldParameter(ball.origin(2, dtype=torch.float64), manifold=ball)
optimizer = geoopt.optim.RiemannianAdam([mean], lr=0.05)
for step in range(20):
    optimizer.zero_grad()
    loss = ball.dist2(mean, points).mean()
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        print("ball", step, f"{loss.item():.8f}", [f"{v:.7f}" for v in mean.tolist()])
matrix = torch.randn(6, 6, dtype=torch.float64)
matrix = matrix @ matrix.T
vector = torch.randn(6, dtype=torch.float64)
vector = geoopt.ManifoldParameter(vector / vector.norm(), manifold=geoopt.Sphere())
optimizer = geoopt.optim.RiemannianSGD([vector], lr=0.02, momentum=0.5)
for step in range(30):
    optimizer.zero_grad()
    loss = -vector @ matrix @ vector
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        print("sphere", step, f"{loss.item():.7f}", f"{vector.norm().item():.7f}")
frame = geoopt.ManifoldParameter(torch.eye(4, 2, dtype=torch.float64), manifold=geoopt.EuclideanStiefel())
wanted = torch.linalg.qr(torch.randn(4, 2, dtype=torch.float64))[0]
optimizer = geoopt.optim.RiemannianSGD([frame], lr=0.1)
for _ in range(15):
    optimizer.zero_grad()
    loss = (frame - wanted).square().sum()
    loss.backward()
    optimizer.step()
print("stiefel", f"{loss.item():.8f}", f"{(frame.T @ frame - torch.eye(2)).abs().max().item() < 1e-9}")
spd = geoopt.SymmetricPositiveDefinite()
a, b = matrix + torch.eye(6), torch.eye(6, dtype=torch.float64)
print("spd", f"{spd.dist(a, b).item():.7f}")
net = torch.nn.Module()
net.point = geoopt.ManifoldParameter(torch.zeros(3), manifold=geoopt.Lorentz())
print(sorted(net.state_dict()), type(net.point).__name__, isinstance(net.point, torch.nn.Parameter))
