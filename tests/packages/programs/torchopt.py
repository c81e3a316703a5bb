"""TorchOpt: functional optimisers, a differentiable inner loop (MAML), implicit gradients."""
# packages: torchopt==0.7.3, optree==0.20.0
# needs: graphviz, typing_extensions, numpy
import torch
import torchopt
from torch import nn

torch.manual_seed(0)
x = torch.randn(20, 3)
y = x @ torch.tensor([[1.0], [-2.0], [0.5]])
net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))
params = dict(net.named_parameters())
optimizer = torchopt.chain(torchopt.clip.clip_grad_norm(1.0), torchopt.adam(lr=0.02))
state = optimizer.init(params)
for step in range(6):
    loss = nn.functional.mse_loss(torch.func.functional_call(net, params, x), y)
    grads = dict(zip(params, torch.autograd.grad(loss, list(params.values()))))
    updates, state = optimizer.update(grads, state, params=params)
    params = torchopt.apply_updates(params, updates)
    print(step, f"{loss.item():.6f}")
torch.manual_seed(1)
meta = nn.Linear(3, 1)
outer = torchopt.Adam(meta.parameters(), lr=0.05)
inner = torchopt.MetaSGD(meta, lr=0.1)
start, begin = torchopt.extract_state_dict(meta, by="reference"), torchopt.extract_state_dict(inner, by="reference")
for step in range(3):
    for _ in range(2):
        inner.step(nn.functional.mse_loss(meta(x[:10]), y[:10]))
    loss = nn.functional.mse_loss(meta(x[10:]), y[10:])
    torchopt.recover_state_dict(meta, start)
    torchopt.recover_state_dict(inner, begin)
    outer.zero_grad()
    loss.backward()
    outer.step()
    print("maml", step, f"{loss.item():.6f}", [f"{v:.6f}" for v in meta.weight[0].tolist()])
    start, begin = torchopt.extract_state_dict(meta, by="reference"), torchopt.extract_state_dict(inner, by="reference")


def stationary(w, scale):
    return 2 * (w - scale**2) + 0.2 * w


@torchopt.diff.implicit.custom_root(stationary, argnums=1)
def solve(w, scale):
    return scale**2 / 1.1


scale = torch.tensor(1.5, requires_grad=True)
solve(torch.tensor(0.0), scale).backward()
print("implicit", f"{scale.grad.item():.6f}")
