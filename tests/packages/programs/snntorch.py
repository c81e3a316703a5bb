"""snnTorch: a leaky integrate-and-fire network of two layers, surrogate gradients, rate-coded input, Adam."""
# packages: snntorch==1.0.0
# needs: matplotlib
import snntorch as snn
import torch
from snntorch import functional as SF
from snntorch import spikegen, surrogate
from torch import nn

torch.manual_seed(0)
gradient = surrogate.fast_sigmoid(slope=25)


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.fc1, self.lif1 = nn.Linear(16, 24), snn.Leaky(beta=0.9, spike_grad=gradient)
        self.fc2, self.lif2 = nn.Linear(24, 4), snn.Synaptic(alpha=0.8, beta=0.9, spike_grad=surrogate.atan(), learn_beta=True)

    def forward(self, spikes):
        mem1 = self.lif1.init_leaky()
        syn2, mem2 = self.lif2.init_synaptic()
        out, voltages = [], []
        for step in range(spikes.size(0)):
            spk1, mem1 = self.lif1(self.fc1(spikes[step]), mem1)
            spk2, syn2, mem2 = self.lif2(self.fc2(spk1), syn2, mem2)
            out.append(spk2)
            voltages.append(mem2)
        return torch.stack(out), torch.stack(voltages)


net = Net()
loss_fn, rate_fn = SF.ce_count_loss(), SF.mse_count_loss(correct_rate=0.8, incorrect_rate=0.2)
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
x, labels = torch.rand(12, 16), torch.randint(0, 4, (12,))
for step in range(8):
    spikes = spikegen.rate(x, num_steps=20)
    out, voltages = net(spikes)
    loss = loss_fn(out, labels) + rate_fn(out, labels)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(step, f"{loss.item():.6f}", int(spikes.sum()), int(out.sum()), f"{SF.accuracy_rate(out, labels):.4f}")
print("voltage", f"{voltages.mean().item():.6f}", f"{net.lif2.beta.item():.6f}", f"{net.fc1.weight.grad.norm().item():.6f}")
print("latency", spikegen.latency(x[0, :5], num_steps=6, normalize=True, linear=True).sum(0).tolist())
