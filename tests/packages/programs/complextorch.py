"""complextorch: a network of complex numbers trained, convolution, modReLU."""
# packages: complextorch==2.1.1
# needs: numpy
import complextorch as cvtorch
import torch

torch.manual_seed(0)
net = torch.nn.Sequential(cvtorch.nn.Linear(6, 8), cvtorch.nn.CTanh(), cvtorch.nn.Linear(8, 3))
x, y = torch.randn(16, 6, dtype=torch.complex64), torch.randn(16, 3, dtype=torch.complex64)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(5):
    loss = (net(x) - y).abs().square().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}")
z = torch.randn(2, 2, 8, dtype=torch.complex64)
for layer in (cvtorch.nn.Conv1d(2, 3, 3), cvtorch.nn.modReLU(), cvtorch.nn.CTanh()):
    print(type(layer).__name__, f"{layer(z).abs().sum().item():.5f}")
