"""Pyro: NUTS and HMC on the eight schools and on a logistic regression, with diagnostics."""
# packages: pyro-ppl==1.9.2, pyro-api==0.1.2
# needs: opt_einsum, tqdm
import pyro
import pyro.distributions as dist
import torch
from pyro.infer import HMC, MCMC, NUTS

pyro.set_rng_seed(1)
torch.set_default_dtype(torch.float64)
effects = torch.tensor([28.0, 8.0, -3.0, 7.0, -1.0, 1.0, 18.0, 12.0])
errors = torch.tensor([15.0, 10.0, 16.0, 11.0, 9.0, 11.0, 10.0, 18.0])


def schools():
    mu, tau = pyro.sample("mu", dist.Normal(0.0, 5.0)), pyro.sample("tau", dist.HalfCauchy(5.0))
    with pyro.plate("schools", 8):
        z = pyro.sample("z", dist.Normal(0.0, 1.0))
        pyro.sample("y", dist.Normal(mu + tau * z, errors), obs=effects)


mcmc = MCMC(NUTS(schools, max_tree_depth=4), num_samples=15, warmup_steps=15, disable_progbar=True)
mcmc.run()
samples = mcmc.get_samples()
for name in sorted(samples):
    print(name, [f"{v:.5f}" for v in samples[name].mean(0).flatten().tolist()])
print("last", f"{samples['mu'][-1].item():.6f}", f"{samples['tau'][-1].item():.6f}")
x, labels = torch.randn(30, 2), (torch.rand(30) > 0.5).double()


def logistic(x, labels):
    w = pyro.sample("w", dist.Normal(torch.zeros(2), 1.0).to_event(1))
    with pyro.plate("data", len(x)):
        pyro.sample("label", dist.Bernoulli(logits=x @ w), obs=labels)


kernel = HMC(logistic, step_size=0.1, num_steps=5, adapt_step_size=False)
mcmc = MCMC(kernel, num_samples=15, warmup_steps=5, disable_progbar=True)
mcmc.run(x, labels)
print("hmc", [f"{v:.6f}" for v in mcmc.get_samples()["w"].mean(0).tolist()])
print("size", f"{mcmc.diagnostics()['w']['n_eff'][0].item():.4f}", mcmc.diagnostics()["acceptance rate"])
