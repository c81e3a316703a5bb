"""higher: MAML on sines, inner steps through diffopt, a network with an LSTM adapted as well."""
# packages: higher==0.2.1
import higher
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(1, 20), nn.Tanh(), nn.Linear(20, 20), nn.Tanh(), nn.Linear(20, 1))
outer = torch.optim.Adam(net.parameters(), lr=0.01)
inner = torch.optim.SGD(net.parameters(), lr=0.05, momentum=0.5)
for step in range(5):
    outer.zero_grad()
    total = 0.0
    for _ in range(3):
        amplitude, phase = 0.5 + torch.rand(1), 3.0 * torch.rand(1)
        x, x_test = 4 * torch.rand(10, 1) - 2, 4 * torch.rand(10, 1) - 2
        y, y_test = amplitude * torch.sin(x + phase), amplitude * torch.sin(x_test + phase)
        with higher.innerloop_ctx(net, inner, copy_initial_weights=False) as (fast, diffopt):
            for _ in range(3):
                diffopt.step(nn.functional.mse_loss(fast(x), y))
            loss = nn.functional.mse_loss(fast(x_test), y_test)
            loss.backward()
            total += loss.item()
    outer.step()
    print("maml", step, f"{total:.7f}", f"{net[0].weight.grad.norm().item():.7f}")


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(4, 8, batch_first=True)
        self.head = nn.Linear(8, 1)

    def forward(self, x):
        return self.head(self.lstm(x)[0][:, -1])


reader = Reader()
rate = torch.tensor([0.1], requires_grad=True)
x, y = torch.randn(6, 5, 4), torch.randn(6, 1)
sgd = torch.optim.SGD(reader.parameters(), lr=0.1)
with higher.innerloop_ctx(reader, sgd, override={"lr": [rate]}) as (fast, diffopt):
    for step in range(3):
        loss = nn.functional.mse_loss(fast(x), y)
        diffopt.step(loss)
        print("lstm", step, f"{loss.item():.7f}")
    final = nn.functional.mse_loss(fast(x), y)
    print("rate", f"{final.item():.7f}", f"{torch.autograd.grad(final, rate)[0].item():.7f}")
adam = torch.optim.Adam(net.parameters(), lr=0.01)
with higher.innerloop_ctx(net, adam, track_higher_grads=False) as (fast, diffopt):
    for _ in range(3):
        diffopt.step(fast(torch.linspace(-1, 1, 7)[:, None]).square().mean())
    print("adam", [f"{p.norm().item():.6f}" for p in fast.parameters()])
