"""Distributions that are asked the same on PyTorch (record_distributions.py) and here (test_distributions.py)."""

from __future__ import annotations

import numpy as np


def builders(torch):
    """Name, constructor and parameters (numbers in nested lists) of each distribution."""
    d = torch.distributions
    v, w, probabilities = [0.3, 1.2, 2.5], [[0.5], [2.0]], [0.2, 0.7, 0.5]
    anywhere, shifted = [-1.0, 0.3, 2.0], [-0.7, 0.2, 1.5]
    simplex = [[0.2, 0.3, 0.5], [0.6, 0.3, 0.1]]
    scores = [[0.1, -1.0, 2.0], [0.0, 0.0, 1.0]]
    factor = [[1.2, 0.0, 0.0], [0.3, 0.8, 0.0], [-0.2, 0.4, 1.5]]
    covariance = (np.array(factor) @ np.array(factor).T).tolist()
    normal = d.Normal
    number = torch.tensor
    yield "Normal", lambda a, b: normal(a, b), [shifted, w]
    yield "Normal of numbers", lambda: normal(0, 1), []
    yield "Bernoulli", lambda p: d.Bernoulli(p), [probabilities]
    yield "Bernoulli logits", lambda p: d.Bernoulli(logits=p), [anywhere]
    yield "Beta", lambda a, b: d.Beta(a, b), [v, w]
    yield "Binomial", lambda p: d.Binomial(40, probs=p), [probabilities]
    yield "Binomial logits", lambda p: d.Binomial(number([3.0, 4.0, 20.0]), logits=p), [anywhere]
    yield "Categorical", lambda p: d.Categorical(p), [simplex]
    yield "Categorical logits", lambda p: d.Categorical(logits=p), [scores]
    yield "Cauchy", lambda a, b: d.Cauchy(a, b), [shifted, w]
    yield "Chi2", lambda a: d.Chi2(a), [[0.6, 2.4, 5.0]]
    yield "ContinuousBernoulli", lambda p: d.ContinuousBernoulli(p), [[0.2, 0.4999, 0.7]]
    yield "Dirichlet", lambda a: d.Dirichlet(a), [[[0.5, 1.5, 3.0], [2.0, 2.0, 2.0]]]
    yield "Exponential", lambda a: d.Exponential(a), [v]
    yield "FisherSnedecor", lambda a, b: d.FisherSnedecor(a, b), [[0.9, 3.6, 7.5], [[2.0], [8.0]]]
    yield "Gamma", lambda a, b: d.Gamma(a, b), [v, w]
    yield "GeneralizedPareto", lambda a, b, c: d.GeneralizedPareto(a, b, c), [0.5, v, [0.3, 0.0, -0.4]]
    yield "Geometric", lambda p: d.Geometric(p), [probabilities]
    yield "Gumbel", lambda a, b: d.Gumbel(a, b), [shifted, w]
    yield "HalfCauchy", lambda a: d.HalfCauchy(a), [v]
    yield "HalfNormal", lambda a: d.HalfNormal(a), [v]
    yield "Independent", lambda a, b: d.Independent(normal(a, b), 1), [shifted, w]
    yield "InverseGamma", lambda a, b: d.InverseGamma(a, b), [[2.3, 3.2, 4.5], w]
    yield "Kumaraswamy", lambda a, b: d.Kumaraswamy(a, b), [v, w]
    yield "Laplace", lambda a, b: d.Laplace(a, b), [shifted, w]
    yield "LKJCholesky", lambda a: d.LKJCholesky(3, a), [[0.8, 2.0]]
    yield "LogNormal", lambda a, b: d.LogNormal(a, b), [shifted, w]
    yield "LogisticNormal", lambda a, b: d.LogisticNormal(a, b), [shifted, w]
    yield "LowRank", lambda a, b, c: d.LowRankMultivariateNormal(a, b, c), [
        v, [[1.0, 0.5], [0.2, -1.0], [0.0, 0.3]], [0.5, 1.0, 2.0]]  # fmt: skip
    yield "Mixture", lambda a, b, c: d.MixtureSameFamily(d.Categorical(logits=a), normal(b, c)), [
        anywhere, v, [0.5, 1.0, 0.2]]  # fmt: skip
    yield "Multinomial", lambda p: d.Multinomial(6, p), [simplex]
    yield "MultivariateNormal", lambda a, b: d.MultivariateNormal(a, scale_tril=b), [[[0.0, 1.0, 2.0], v], factor]
    yield "MultivariateNormal covariance", lambda a, b: d.MultivariateNormal(a, b), [v, covariance]
    yield "MultivariateNormal precision", lambda a, b: d.MultivariateNormal(a, precision_matrix=b), [v, covariance]
    yield "NegativeBinomial", lambda p: d.NegativeBinomial(3.0, p), [probabilities]
    yield "OneHotCategorical", lambda p: d.OneHotCategorical(p), [simplex]
    yield "StraightThrough", lambda p: d.OneHotCategoricalStraightThrough(logits=p), [scores]
    yield "Pareto", lambda a, b: d.Pareto(a, b), [v, [[1.5], [3.0]]]
    yield "Poisson", lambda a: d.Poisson(a), [[0.5, 3.0, 20.0]]
    yield "RelaxedBernoulli", lambda p: d.RelaxedBernoulli(number(0.7), p), [probabilities]
    yield "RelaxedOneHot", lambda p: d.RelaxedOneHotCategorical(number(0.5), logits=p), [scores]
    yield "StudentT", lambda a, b, c: d.StudentT(a, b, c), [[2.3, 3.2, 4.5], v, w]
    yield "Uniform", lambda a, b: d.Uniform(a, b), [v, [[3.0], [4.5]]]
    yield "VonMises", lambda a, b: d.VonMises(a, b), [v, w]
    yield "Weibull", lambda a, b: d.Weibull(a, b), [v, w]
    yield "Wishart", lambda b: d.Wishart(number(5.0), b), [covariance]
    yield "Transformed", lambda a, b: d.TransformedDistribution(
        normal(a, b), [d.AffineTransform(1.0, 2.0), d.SigmoidTransform()]), [v, w]  # fmt: skip


def transforms(torch):
    """Transforms with something to apply them to, a matrix of real numbers, or the absolute values of its entries."""
    d = torch.distributions
    c = d.constraints
    number = torch.tensor
    yield d.ExpTransform(), False
    yield d.PowerTransform(number(1.7)), True
    yield d.SigmoidTransform(), False
    yield d.SoftplusTransform(), False
    yield d.TanhTransform(), False
    yield d.AffineTransform(number([1.0, 0.0, 2.0]), number([1.0, 3.0, -2.0]), event_dim=1), False
    yield d.StickBreakingTransform(), False
    yield d.CorrCholeskyTransform(), False
    yield d.ComposeTransform([d.ExpTransform(), d.AffineTransform(0.0, 2.0)]), False
    yield d.ReshapeTransform((3,), (3, 1)), False
    yield d.CatTransform([d.ExpTransform(), d.TanhTransform()], dim=-1, lengths=[1, 2]), False
    yield d.StackTransform([d.ExpTransform(), d.TanhTransform()], dim=0), False
    yield d.CumulativeDistributionTransform(d.Normal(0.0, 1.0)), False
    yield d.biject_to(c.simplex), False
    yield d.biject_to(c.interval(-1.0, 3.0)), False
    yield d.biject_to(c.independent(c.positive, 1)), False
    yield d.transform_to(c.less_than(1.0)), False


def divergence_families(torch, s):
    """Distributions of all families with a divergence, with parameters that depend on a number."""
    d, number = torch.distributions, torch.tensor
    a, b, p = number([0.7, 1.5]) * s, number([1.2, 0.4]) + s, number([0.2, 0.6]) / s
    simplex = number([[0.2, 0.3, 0.5], [0.1, 0.1, 0.8]]) ** s
    return [
        d.Bernoulli(p), d.Beta(a, b), d.Binomial(4, p), d.Categorical(simplex), d.Cauchy(a, b),
        d.ContinuousBernoulli(p), d.Dirichlet(number([[0.5, 1.5, 3.0], [2.0, 2, 2]]) * s),
        d.Exponential(a), d.Gamma(a, b), d.Geometric(p),
        d.Gumbel(a, b), d.HalfNormal(a), d.Independent(d.Normal(a, b), 1), d.Laplace(a, b),
        d.LowRankMultivariateNormal(a, number([[1.0, 0.5], [0.2, -1]]) * s, b),
        d.MultivariateNormal(a, number([[2.0, 0.3], [0.3, 1]]) * s), d.Normal(a, b), d.OneHotCategorical(simplex),
        d.Pareto(a, b + 2), d.Poisson(a), d.Uniform(a * 0.1, a * 0.1 + 0.5 * s), d.LogNormal(a, b),
    ]  # fmt: skip


def numbers(x):
    """A tensor as its shape and values."""
    return [list(x.shape), x.detach().double().flatten().tolist()]


def attempt(f):
    """What a call gives, or the type of the exception that it raises."""
    try:
        return f()
    except Exception as error:
        return type(error).__name__


def describe(torch, build, parameters):
    """Everything that a distribution is asked."""
    inputs = [torch.tensor(p).requires_grad_() for p in parameters]
    dist = build(*inputs)
    found = {
        "repr": repr(dist), "shapes": [list(dist.batch_shape), list(dist.event_shape)],
        "rsample": bool(dist.has_rsample), "support": None if "tensor" in repr(dist.support) else repr(dist.support),
    }  # fmt: skip
    for name in ("mean", "variance", "mode"):
        found[name] = attempt(lambda name=name: numbers(getattr(dist, name)))
    found["entropy"] = attempt(lambda: numbers(dist.entropy()))
    torch.manual_seed(3)
    x = dist.sample((2,))
    found["sample"], found["next"] = numbers(x), numbers(torch.rand(1))
    found["cdf"] = attempt(lambda: numbers(dist.cdf(x)))
    found["icdf"] = attempt(lambda: numbers(dist.icdf(torch.tensor([0.1, 0.5, 0.9]))))
    found["values"] = attempt(lambda: numbers(dist.enumerate_support()))
    found["outside"] = attempt(lambda: numbers(dist.log_prob(torch.full_like(x, -7.5))))
    log_prob = dist.log_prob(x)
    found["log_prob"] = numbers(log_prob)
    if inputs:
        grads = torch.autograd.grad(log_prob.sum(), inputs, allow_unused=True, retain_graph=True)
        found["log_prob grads"] = [None if g is None else numbers(g) for g in grads]
    if inputs and dist.has_rsample and not isinstance(dist, torch.distributions.Wishart):
        torch.manual_seed(5)
        y = dist.rsample((2,))
        grads = torch.autograd.grad(y.atan().sum(), inputs, allow_unused=True)
        found["rsample grads"] = [None if g is None else numbers(g) for g in grads]
    torch.manual_seed(7)
    wide = dist.expand((2, *dist.batch_shape))
    found["expanded"] = [repr(wide), numbers(wide.sample())]
    return found


def record(torch):
    """All of it."""
    document = {"distributions": {}, "transforms": [], "divergences": {}}
    for name, build, parameters in builders(torch):
        document["distributions"][name] = describe(torch, build, parameters)
    x = torch.tensor([[0.3, -0.7, 1.1], [0.2, 0.5, -1.5]])
    for transform, positive in transforms(torch):
        value = x.abs() if positive else x
        y = transform(value)
        jacobian = transform.log_abs_det_jacobian(value, y)
        document["transforms"].append([repr(transform), numbers(y), numbers(jacobian), repr(transform.domain)])
    left, right = divergence_families(torch, 1.0), divergence_families(torch, 1.3)
    for p in left:
        for q in right:
            key = f"{type(p).__name__} {type(q).__name__}"
            document["divergences"][key] = attempt(
                lambda p=p, q=q: numbers(torch.distributions.kl_divergence(p, q)))  # fmt: skip
    return document
