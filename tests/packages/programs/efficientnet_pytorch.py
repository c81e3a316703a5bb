"""efficientnet-pytorch: EfficientNet-B0 forward, its endpoints, one training step."""
# packages: efficientnet-pytorch==0.7.1
import torch
from efficientnet_pytorch import EfficientNet

torch.manual_seed(0)
net = EfficientNet.from_name("efficientnet-b0", num_classes=7, image_size=64, dropout_rate=0.0, drop_connect_rate=0.0)
x, y = torch.randn(2, 3, 64, 64), torch.tensor([1, 4])
net.eval()
print([f"{v:.6f}" for v in net(x)[0].tolist()])
print({k: tuple(v.shape) for k, v in net.extract_endpoints(x).items()})
net.train()
optimizer = torch.optim.SGD(net.parameters(), lr=0.01, momentum=0.9)
for step in range(2):
    loss = torch.nn.functional.cross_entropy(net(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}", f"{net._conv_head.weight.grad.norm().item():.6f}")
