"""torchbnn: a Bayesian convolution network trained with its divergence, frozen."""
# packages: torchbnn==1.2
import torch
import torchbnn as bnn
from torch import nn

torch.manual_seed(0)
x, y = torch.randn(64, 1, 8, 8), torch.randint(0, 3, (64,))
net = nn.Sequential(
    bnn.BayesConv2d(prior_mu=0, prior_sigma=0.1, in_channels=1, out_channels=4, kernel_size=3),
    bnn.BayesBatchNorm2d(prior_mu=0, prior_sigma=0.1, num_features=4),
    nn.ReLU(),
    nn.Flatten(),
    bnn.BayesLinear(prior_mu=0, prior_sigma=0.1, in_features=144, out_features=3),
)
kl = bnn.BKLLoss(reduction="mean", last_layer_only=False)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(6):
    cost = nn.functional.cross_entropy(net(x), y) + 0.1 * kl(net)
    optimizer.zero_grad()
    cost.backward()
    optimizer.step()
    print(step, f"{cost.item():.6f}")
bnn.utils.freeze(net)
print(f"{net(x[:4]).sum().item():.5f}", torch.equal(net(x[:4]), net(x[:4])))
