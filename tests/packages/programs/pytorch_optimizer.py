"""pytorch-optimizer: 22 optimisers for ten steps each on one network."""
# packages: pytorch-optimizer==4.1.0
# note: SOAP is left out. Its first step is Adam's on a gradient turned into its own singular vectors, a diagonal matrix
# note: but for rounding, which Adam scales up to its rate; of gradients of lower rank, LAPACK chooses the vectors as well.
# note: PyTorch ended at 0.4579, at 0.4576 with the data scaled by 1.000001, and we at 0.4572 (ten steps, a layer of 16x8).
import torch
from pytorch_optimizer import get_supported_optimizers, load_optimizer
from torch import nn

names = (
    "adabelief", "adabound", "adafactor", "adahessian", "adamp", "adan", "adopt", "came", "diffgrad", "lamb", "lion", "madgrad",
    "muon", "novograd", "prodigy", "radam", "ranger21", "sam", "scheduleFreeAdamW", "shampoo", "sophiah", "yogi",
)  # fmt: skip
known = set(get_supported_optimizers())
torch.manual_seed(0)
x = torch.randn(32, 8)
y = torch.sin(x @ torch.randn(8, 8))


def train(name, **options):
    """Ten steps of an optimiser on a network that is the same for each."""
    torch.manual_seed(1)
    net = nn.Sequential(nn.Linear(8, 8), nn.Tanh(), nn.Linear(8, 8))
    parameters = list(net.parameters())
    if name == "muon":
        parameters = [{"params": parameters[::2], "use_muon": True}, {"params": parameters[1::2], "use_muon": False}]
    optimizer = load_optimizer(name)(parameters, lr=1e-2, **options)

    def closure():
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(net(x), y)
        loss.backward(create_graph=name in ("adahessian", "sophiah"))
        return loss

    for _ in range(10):
        loss = closure()
        optimizer.step(closure) if name == "sam" else optimizer.step()
    print(name, f"{loss.item():.6f}", f"{net[0].weight.norm().item():.6f}")


for name in names:
    if name.lower() not in known:
        print(name, "is not there")
    elif name == "sam":
        train(name, base_optimizer=load_optimizer("adamw"))
    else:
        train(name, **({"num_iterations": 10} if name == "ranger21" else {}))
