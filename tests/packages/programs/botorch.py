"""BoTorch: two rounds of Bayesian optimisation, SingleTaskGP fitted by L-BFGS, (q)LogEI optimised from restarts."""
# packages: botorch==0.18.1, gpytorch==1.15.2, linear_operator==0.6.1, pyro-ppl==1.9.2, pyro-api==0.1.2
# needs: scikit-learn, jaxtyping, pyre-extensions, threadpoolctl, typing_extensions, multipledispatch, opt_einsum, tqdm
import torch
from botorch.acquisition import LogExpectedImprovement, UpperConfidenceBound, qExpectedImprovement
from botorch.fit import fit_gpytorch_mll
from botorch.models import SingleTaskGP
from botorch.models.transforms import Normalize, Standardize
from botorch.optim import optimize_acqf
from botorch.sampling import SobolQMCNormalSampler
from botorch.test_functions import Branin
from gpytorch.mlls import ExactMarginalLogLikelihood

torch.manual_seed(0)
problem = Branin(negate=True)
bounds = problem.bounds.double()
x = bounds[0] + (bounds[1] - bounds[0]) * torch.rand(8, 2, dtype=torch.float64)
y = problem(x).unsqueeze(-1)
for _turn in range(2):
    model = SingleTaskGP(x, y, outcome_transform=Standardize(m=1), input_transform=Normalize(d=2, bounds=bounds))
    mll = fit_gpytorch_mll(ExactMarginalLogLikelihood(model.likelihood, model))
    with torch.no_grad():
        print("evidence", f"{mll(model(*model.train_inputs), model.train_targets).item():.4f}")
    acquisition = LogExpectedImprovement(model, best_f=y.max())
    point, value = optimize_acqf(
        acquisition, bounds=bounds, q=1, num_restarts=3, raw_samples=32, options={"maxiter": 50}
    )
    print("LogEI", [f"{v:.3f}" for v in point[0].tolist()], f"{value.item():.4f}")
    x, y = torch.cat([x, point]), torch.cat([y, problem(point).unsqueeze(-1)])
posterior = model.posterior(bounds.mean(0, keepdim=True))
print("posterior", f"{posterior.mean.item():.4f}", f"{posterior.variance.item():.4f}")
pairs = torch.tensor([[[0.0, 5.0], [3.0, 3.0]]], dtype=torch.float64, requires_grad=True)
sampler = SobolQMCNormalSampler(torch.Size([64]), seed=1)
for name, one in (
    ("qEI", qExpectedImprovement(model, best_f=y.max() - 20, sampler=sampler)), ("UCB", UpperConfidenceBound(model, beta=0.2))
):  # fmt: skip
    value = one(pairs if name == "qEI" else pairs[:, :1])
    (slope,) = torch.autograd.grad(value.sum(), pairs)
    print(name, f"{value.item():.4f}", [f"{v:.4f}" for v in slope.flatten().tolist()])
