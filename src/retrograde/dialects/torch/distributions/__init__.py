"""`torch.distributions`: densities, samples that gradients pass through, divergences, transforms and constraints."""

from __future__ import annotations

import sys as _sys
import types as _types
from typing import Any as _Any

from .._api import missing as _missing
from . import _divergences as _divergences  # they register themselves
from . import constraints as constraints
from . import transforms as transforms
from ._continuous import (
    Beta, Cauchy, Chi2, Dirichlet, Exponential, FisherSnedecor, Gamma, GeneralizedPareto, Gumbel,
    HalfCauchy, HalfNormal, InverseGamma, Kumaraswamy, Laplace, LogisticNormal, LogNormal, Normal, Pareto, StudentT, Uniform,
    VonMises, Weibull,
)  # fmt: skip
from ._discrete import (
    Bernoulli, Binomial, Categorical, ContinuousBernoulli, Geometric, Multinomial, NegativeBinomial, OneHotCategorical,
    OneHotCategoricalStraightThrough, Poisson, RelaxedBernoulli, RelaxedOneHotCategorical,
)  # fmt: skip
from ._matrices import LKJCholesky, LowRankMultivariateNormal, MultivariateNormal, Wishart
from .constraint_registry import biject_to, transform_to
from .distribution import Distribution
from .exp_family import ExponentialFamily
from .independent import Independent
from .kl import _KL_REGISTRY as _KL_REGISTRY
from .kl import kl_divergence, register_kl
from .mixture_same_family import MixtureSameFamily
from .transformed_distribution import TransformedDistribution
from .transforms import (
    AbsTransform, AffineTransform, CatTransform, ComposeTransform, CorrCholeskyTransform, CumulativeDistributionTransform,
    ExpTransform, IndependentTransform, LowerCholeskyTransform, PositiveDefiniteTransform, PowerTransform, ReshapeTransform,
    SigmoidTransform, SoftmaxTransform, SoftplusTransform, StackTransform, StickBreakingTransform, TanhTransform, Transform,
    identity_transform,
)  # fmt: skip

__all__ = [
    "Bernoulli", "Beta", "Binomial", "Categorical", "Cauchy", "Chi2", "ContinuousBernoulli", "Dirichlet",
    "Distribution", "Exponential", "ExponentialFamily", "FisherSnedecor", "Gamma", "GeneralizedPareto", "Geometric",
    "Gumbel", "HalfCauchy", "HalfNormal", "Independent", "InverseGamma", "Kumaraswamy", "LKJCholesky", "Laplace",
    "LogNormal", "LogisticNormal", "LowRankMultivariateNormal", "MixtureSameFamily", "Multinomial",
    "MultivariateNormal", "NegativeBinomial", "Normal", "OneHotCategorical", "OneHotCategoricalStraightThrough",
    "Pareto", "RelaxedBernoulli", "RelaxedOneHotCategorical", "StudentT", "Poisson", "Uniform", "VonMises", "Weibull",
    "Wishart", "TransformedDistribution", "biject_to", "kl_divergence", "register_kl", "transform_to", "AbsTransform",
    "AffineTransform", "CatTransform", "ComposeTransform", "CorrCholeskyTransform", "CumulativeDistributionTransform",
    "ExpTransform", "IndependentTransform", "LowerCholeskyTransform", "PositiveDefiniteTransform", "PowerTransform",
    "ReshapeTransform", "SigmoidTransform", "SoftmaxTransform", "SoftplusTransform", "StackTransform",
    "StickBreakingTransform", "TanhTransform", "Transform", "identity_transform",
]  # fmt: skip


_MODULES = {
    "_continuous": {
        "beta": "Beta", "cauchy": "Cauchy", "chi2": "Chi2",
        "dirichlet": "Dirichlet", "exponential": "Exponential", "fishersnedecor": "FisherSnedecor", "gamma": "Gamma",
        "generalized_pareto": "GeneralizedPareto", "gumbel": "Gumbel", "half_cauchy": "HalfCauchy",
        "half_normal": "HalfNormal", "inverse_gamma": "InverseGamma", "kumaraswamy": "Kumaraswamy", "laplace": "Laplace",
        "log_normal": "LogNormal", "logistic_normal": "LogisticNormal", "normal": "Normal", "pareto": "Pareto",
        "studentT": "StudentT", "uniform": "Uniform", "von_mises": "VonMises", "weibull": "Weibull",
    },
    "_discrete": {
        "bernoulli": "Bernoulli", "binomial": "Binomial", "categorical": "Categorical",
        "continuous_bernoulli": "ContinuousBernoulli", "geometric": "Geometric",
        "multinomial": "Multinomial", "negative_binomial": "NegativeBinomial", "poisson": "Poisson",
        "one_hot_categorical": "OneHotCategorical OneHotCategoricalStraightThrough",
        "relaxed_bernoulli": "LogitRelaxedBernoulli RelaxedBernoulli",
        "relaxed_categorical": "ExpRelaxedCategorical RelaxedOneHotCategorical",
    },
    "_matrices": {
        "lkj_cholesky": "LKJCholesky", "lowrank_multivariate_normal": "LowRankMultivariateNormal",
        "multivariate_normal": "MultivariateNormal", "wishart": "Wishart",
    },
}  # fmt: skip
"""PyTorch's modules, which are one per distribution, by the file in which theirs stand; imports and pickles name them."""


def _offer(file: str, name: str, classes: list[str]) -> None:
    module = _types.ModuleType(f"{__name__}.{name}", f"`torch.distributions.{name}`.")
    own = {key: value for key, value in vars(_sys.modules[f"{__name__}.{file}"]).items() if not key.startswith("__")}
    vars(module).update(own, __all__=classes, constraints=constraints)
    for cls in classes:
        own[cls].__module__ = module.__name__
    globals()[name] = _sys.modules[module.__name__] = module


for _file, _names in _MODULES.items():
    for _name, _classes in _names.items():
        _offer(_file, _name, _classes.split())


def __getattr__(name: str) -> _Any:
    raise _missing("torch.distributions", name, __all__)
