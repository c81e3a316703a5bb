"""blitz-bayesian-pytorch: Bayesian convolution, LSTM and GRU trained by samples of the evidence bound."""
# packages: blitz-bayesian-pytorch==0.2.8
import torch
from blitz.losses import kl_divergence_from_nn
from blitz.modules import BayesianConv2d, BayesianGRU, BayesianLinear, BayesianLSTM
from blitz.utils import variational_estimator


@variational_estimator
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv, self.lstm, self.gru, self.out = (
            BayesianConv2d(1, 2, (3, 3)),
            BayesianLSTM(12, 8),
            BayesianGRU(8, 6),
            BayesianLinear(6, 1),
        )

    def forward(self, x):
        h = torch.relu(self.conv(x)).flatten(1, 1).permute(0, 2, 1, 3).flatten(2)
        h, _ = self.gru(self.lstm(h)[0])
        return self.out(h[:, -1])


torch.manual_seed(0)
net, x, y = Net(), torch.randn(8, 1, 8, 8), torch.randn(8, 1)
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
for step in range(4):
    loss = net.sample_elbo(inputs=x, labels=y, criterion=torch.nn.MSELoss(), sample_nbr=2, complexity_cost_weight=1e-4)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}", f"{kl_divergence_from_nn(net).item():.4f}")
net.freeze_()
print(torch.equal(net(x), net(x)))
mean, std = net.mfvi_forward(x, sample_nbr=3)
print(f"{mean.sum().item():.5f} {std.sum().item():.5f}")
