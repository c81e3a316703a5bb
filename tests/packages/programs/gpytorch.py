"""GPyTorch: exact regression with an RBF kernel, a sparse variational one with minibatches, a multitask kernel."""
# packages: gpytorch==1.15.2, linear_operator==0.6.1
# needs: scikit-learn, jaxtyping
import math

import gpytorch
import torch


class Exact(gpytorch.models.ExactGP):
    def __init__(self, x, y, likelihood):
        super().__init__(x, y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


class Sparse(gpytorch.models.ApproximateGP):
    def __init__(self, points):
        q = gpytorch.variational.CholeskyVariationalDistribution(points.size(0))
        super().__init__(gpytorch.variational.VariationalStrategy(self, points, q, learn_inducing_locations=True))
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(gpytorch.kernels.MaternKernel(nu=2.5))

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


torch.manual_seed(0)
x = torch.linspace(0, 1, 50)
y = torch.sin(2 * math.pi * x) + 0.2 * torch.randn(50)
likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Exact(x, y, likelihood)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
mll = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
for step in range(20):
    optimizer.zero_grad()
    loss = -mll(model(x), y)
    loss.backward()
    optimizer.step()
    if step % 5 == 4:
        print("exact", step, f"{loss.item():.6f}", f"{model.covar_module.base_kernel.lengthscale.item():.6f}")
model.eval()
likelihood.eval()
with torch.no_grad(), gpytorch.settings.fast_pred_var():
    seen = likelihood(model(torch.linspace(0, 1, 5) + 0.01))
    lower, upper = seen.confidence_region()
print("mean", [f"{v:.5f}" for v in seen.mean.tolist()], "width", [f"{v:.5f}" for v in (upper - lower).tolist()])

sparse, noise = Sparse(x[::5].clone()), gpytorch.likelihoods.GaussianLikelihood()
optimizer = torch.optim.Adam([*sparse.parameters(), *noise.parameters()], lr=0.05)
elbo = gpytorch.mlls.VariationalELBO(noise, sparse, num_data=50)
for step in range(10):
    rows = torch.randperm(50)[:25]
    optimizer.zero_grad()
    loss = -elbo(sparse(x[rows]), y[rows])
    loss.backward()
    optimizer.step()
    if step % 3 == 0:
        print("sparse", step, f"{loss.item():.6f}")
tasks = gpytorch.kernels.MultitaskKernel(gpytorch.kernels.RBFKernel(), num_tasks=2, rank=1)
covariance = tasks(x[:6])
print("tasks", tuple(covariance.shape), f"{covariance.add_jitter(0.1).logdet().item():.6f}")
