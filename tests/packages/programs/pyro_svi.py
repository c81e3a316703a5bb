"""Pyro: variational inference of a regression with AutoNormal and of a mixture enumerated in parallel."""
# packages: pyro-ppl==1.9.2, pyro-api==0.1.2
# needs: opt_einsum, tqdm
import pyro
import pyro.distributions as dist
import torch
from pyro.infer import SVI, Predictive, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoDiagonalNormal, AutoNormal
from pyro.optim import Adam, ClippedAdam

pyro.set_rng_seed(0)
x = torch.linspace(-1, 1, 40)
y = 1.5 * x - 0.3 + 0.1 * torch.randn(40)


def model(x, y=None):
    slope, offset = pyro.sample("slope", dist.Normal(0.0, 2.0)), pyro.sample("offset", dist.Normal(0.0, 2.0))
    scale = pyro.sample("scale", dist.HalfNormal(1.0))
    with pyro.plate("data", len(x)):
        return pyro.sample("y", dist.Normal(slope * x + offset, scale), obs=y)


for guide in (AutoNormal(model), AutoDiagonalNormal(model)):
    pyro.clear_param_store()
    svi = SVI(model, guide, Adam({"lr": 0.05}), Trace_ELBO(num_particles=2, vectorize_particles=False))
    losses = [svi.step(x, y) for _ in range(30)]
    print(type(guide).__name__, [f"{v:.4f}" for v in losses[::7]])
    print({name: f"{value.item():.5f}" for name, value in guide.median(x).items()})
drawn = Predictive(model, guide=guide, num_samples=5)(x[:3])
print("predictive", [f"{v:.4f}" for v in drawn["y"].mean(0).flatten().tolist()])

data = torch.cat([torch.randn(20) * 0.3 - 2, torch.randn(20) * 0.3 + 1])


@config_enumerate
def mixture(data):
    weights = pyro.sample("weights", dist.Dirichlet(0.5 * torch.ones(2)))
    with pyro.plate("components", 2):
        locs = pyro.sample("locs", dist.Normal(0.0, 3.0))
    with pyro.plate("data", len(data)):
        which = pyro.sample("which", dist.Categorical(weights))
        pyro.sample("x", dist.Normal(locs[which], 0.5), obs=data)


pyro.clear_param_store()
guide = AutoDiagonalNormal(pyro.poutine.block(mixture, hide=["which"]), init_scale=0.1)
svi = SVI(mixture, guide, ClippedAdam({"lr": 0.05}), TraceEnum_ELBO(max_plate_nesting=1))
losses = [svi.step(data) for _ in range(20)]
print("mixture", [f"{v:.3f}" for v in losses[::5]], [f"{v:.4f}" for v in guide.median(data)["locs"].tolist()])
