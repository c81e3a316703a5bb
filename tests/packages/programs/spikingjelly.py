"""SpikingJelly: a convolutional spiking network over time steps, arctangent surrogate, one with a learned time constant."""
# packages: spikingjelly==0.0.0.0.14
# needs: matplotlib, tqdm
import torch
from spikingjelly.activation_based import encoding, functional, layer, neuron, surrogate
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(
    layer.Conv2d(1, 6, 3, padding=1, bias=False),
    layer.BatchNorm2d(6),
    neuron.IFNode(surrogate_function=surrogate.ATan()),
    layer.MaxPool2d(2),
    layer.Flatten(),
    layer.Linear(6 * 16, 10),
    neuron.ParametricLIFNode(init_tau=2.0, surrogate_function=surrogate.Sigmoid()),
)
functional.set_step_mode(net, step_mode="m")
images, labels = torch.rand(8, 1, 8, 8), torch.randint(0, 10, (8,))
encoder = encoding.PoissonEncoder()
optimizer = torch.optim.Adam(net.parameters(), lr=0.02)
for step in range(6):
    spikes = torch.stack([encoder(images) for _ in range(6)])
    rate = net(spikes).mean(0)
    loss = nn.functional.mse_loss(rate, nn.functional.one_hot(labels, 10).float())
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    functional.reset_net(net)
    print(step, f"{loss.item():.6f}", f"{rate.mean().item():.6f}", f"{net[0].weight.grad.norm().item():.6f}")
print("tau", f"{1 / net[-1].w.sigmoid().item():.6f}")
single = neuron.LIFNode(tau=2.0)
drive = torch.tensor([0.6, 1.4], requires_grad=True)
train = [single(drive) for _ in range(8)]
torch.stack(train).sum().backward()
print("spikes", torch.stack(train).tolist(), [f"{v:.6f}" for v in drive.grad.tolist()], [f"{v:.6f}" for v in single.v.tolist()])
