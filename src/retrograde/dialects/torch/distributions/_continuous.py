"""Distributions over the real numbers, parts of them, and points of the simplex."""

from __future__ import annotations

import math
from typing import Any

from ....learn.distributions import HALF_LOG_TAU
from ....learn.distributions import continuous as families
from ... import torch
from .._graph_nodes import NAMES
from . import constraints as c
from ._rows import F, checked, extended, row
from .exp_family import ExponentialFamily
from .transformed_distribution import TransformedDistribution
from .transforms import AbsTransform, AffineTransform, ExpTransform, PowerTransform, StickBreakingTransform
from .utils import Number, alike, broadcast_all, standard_normal

NAMES.update(dirichlet_sample="_DirichletBackward", gamma_sample="StandardGammaBackward0")

EXPONENTIAL = (ExponentialFamily,)
TRANSFORMED = (TransformedDistribution,)
MOMENTS = "mean mode stddev variance entropy"
LOCATION_SCALE = {"loc": c.real, "scale": c.positive}
CONCENTRATIONS = {"concentration1": c.positive, "concentration0": c.positive}


def _full(value: float, parameter: str) -> property:
    """A moment that is the same number for all parameters."""
    return property(lambda self: torch.full(self._extended_shape(), value, **alike(getattr(self, parameter))))


# ------------------------------------------------------------------------------------------ a place and a scale


def _normal(self: Any, shape: Any) -> Any:
    with torch.no_grad():
        return torch.normal(self.loc.expand(shape), self.scale.expand(shape))


@checked
def _normal_log_prob(self: Any, value: Any) -> Any:
    # In PyTorch's order of operations.
    scale = self.scale
    return -((value - self.loc) ** 2) / (2 * scale**2) - scale.log() - HALF_LOG_TAU


def _laplace(self: Any, shape: Any) -> Any:
    u = torch.empty(shape, **alike(self.loc)).uniform_(torch.finfo(self.loc.dtype).eps - 1, 1)
    return self.loc - self.scale * u.sign() * torch.log1p(-u.abs())


def _student(self: Any, sample_shape: Any = ()) -> Any:
    x = standard_normal(self._extended_shape(sample_shape), **alike(self.df))
    return self.loc + self.scale * (x * torch.rsqrt(self._chi2.rsample(sample_shape) / self.df))


Normal = row(
    families.Normal, "loc, scale", LOCATION_SCALE, c.real, bases=EXPONENTIAL, has_rsample=True, _mean_carrier_measure=0,
    sample=extended(_normal), log_prob=_normal_log_prob,
    rsample=extended(lambda self, shape: self.loc + standard_normal(shape, **alike(self.loc)) * self.scale),
)  # fmt: skip
Laplace = row(families.Laplace, "loc, scale", LOCATION_SCALE, c.real, has_rsample=True, rsample=extended(_laplace))
Cauchy = row(
    families.Cauchy, "loc, scale", LOCATION_SCALE, c.real, has_rsample=True, mean=_full(math.nan, "loc"),
    variance=_full(math.inf, "loc"),
    rsample=extended(lambda self, shape: self.loc + torch.empty(shape, **alike(self.loc)).cauchy_() * self.scale),
)  # fmt: skip
StudentT = row(
    families.StudentT, "df, loc=0.0, scale=1.0", {"df": c.positive, **LOCATION_SCALE}, c.real, has_rsample=True,
    parts={"_chi2": lambda self: Chi2(self.df)}, rsample=_student,
)  # fmt: skip


def _von_mises_expand(self: Any, batch_shape: Any, _instance: Any = None) -> Any:
    given = self.__dict__.get("_validate_args")
    return type(self)(self.loc.expand(batch_shape), self.concentration.expand(batch_shape), validate_args=given)


def _von_mises_sample(self: Any, sample_shape: Any = ()) -> Any:
    """Samples by rejection from a wrapped Cauchy distribution (Best and Fisher 1979), computed in float64."""
    with torch.no_grad():
        shape, kappa = self._extended_shape(sample_shape), self.concentration.to(torch.double)
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        # The first terms of the series for small concentrations, where rho is 0 / 0.
        r = torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))
        x = torch.empty(shape, dtype=torch.double, device=kappa.device)
        done = torch.zeros(shape, dtype=torch.bool, device=kappa.device)
        while not done.all():
            u1, u2, u3 = torch.rand(torch.Size((3,)) + shape, dtype=torch.double, device=kappa.device).unbind()
            z = torch.cos(math.pi * u1)
            f = (1 + r * z) / (r + z)
            d = kappa * (r - f)
            accept = ((d * (2 - d) - u2) > 0) | ((d / u2).log() + 1 - d >= 0)
            x = torch.where(accept, (u3 - 0.5).sign() * f.acos(), x)
            done = done | accept
        return ((x + math.pi + self.loc.to(torch.double)) % (2 * math.pi) - math.pi).to(self.loc.dtype)


VonMises = row(
    families.VonMises, "loc, concentration", {"loc": c.real, "concentration": c.positive}, c.real,
    sample=_von_mises_sample, expand=_von_mises_expand,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ intervals


def _in_order(self: Any) -> None:
    if not torch.lt(self.low, self.high).all():
        raise ValueError("Uniform: low must be less than high everywhere")


@checked
def _uniform_log_prob(self: Any, value: Any) -> Any:
    inside = self.low.le(value).type_as(self.low) * self.high.gt(value).type_as(self.low)
    return torch.log(inside) - torch.log(self.high - self.low)


Uniform = row(
    families.Uniform, "low, high", property(lambda self: {"low": c.less_than(self.high), "high": c.greater_than(self.low)}),
    c.dependent_property(lambda self: c.interval(self.low, self.high), is_discrete=False, event_dim=0), has_rsample=True,
    then=_in_order, log_prob=_uniform_log_prob,
    rsample=extended(lambda self, shape: self.low + torch.rand(
        shape, **alike(self.low)) * (self.high - self.low)),
)  # fmt: skip


def _beta_take(self: Any, concentration1: Any, concentration0: Any, validate_args: Any) -> Any:
    if isinstance(concentration1, Number) and isinstance(concentration0, Number):
        both = torch.tensor([float(concentration1), float(concentration0)])
    else:
        both = torch.stack(broadcast_all(concentration1, concentration0), -1)
    self._dirichlet = Dirichlet(both, validate_args=validate_args)
    return (self._dirichlet._batch_shape,)


Beta = row(
    families.Beta, "concentration1, concentration0", CONCENTRATIONS, c.unit_interval, bases=EXPONENTIAL, has_rsample=True,
    take=_beta_take, parts={"_dirichlet": lambda self: self._dirichlet},
    concentration1=property(lambda self: self._dirichlet.concentration[..., 0], doc="The concentration of one."),
    concentration0=property(lambda self: self._dirichlet.concentration[..., 1], doc="The concentration of zero."),
    mode=property(lambda self: self._dirichlet.mode[..., 0]), entropy=lambda self: self._dirichlet.entropy(),
    rsample=lambda self, sample_shape=(): self._dirichlet.rsample(sample_shape).select(-1, 0),
)  # fmt: skip


def _by_icdf(parameter: str) -> Any:
    """Samples from uniform numbers of a parameter's dtype by the inverse of the cdf."""
    return extended(lambda self, shape: self.icdf(torch.rand(shape, **alike(getattr(self, parameter)))))


def _dirichlet_take(self: Any, concentration: Any, _: Any) -> Any:
    if concentration.dim() < 1:
        raise ValueError("Dirichlet: concentration must have at least 1 dimension, got a single number")
    self.concentration = concentration
    return concentration.shape[:-1], concentration.shape[-1:]


def _dirichlet_mode(self: Any) -> Any:
    above = (self.concentration - 1).clamp(min=0.0)
    mode = above / above.sum(-1, True)
    edge = (self.concentration < 1).all(dim=-1)
    corner = torch.nn.functional.one_hot(mode.argmax(dim=-1), mode.shape[-1]).to(mode)
    return torch.where(edge.unsqueeze(-1), corner, mode)


Dirichlet = row(
    families.Dirichlet, "concentration", {"concentration": c.independent(c.positive, 1)}, c.simplex, bases=EXPONENTIAL,
    take=_dirichlet_take, has_rsample=True, mode=property(_dirichlet_mode),
    rsample=extended(lambda self, shape: torch._sample_dirichlet(self.concentration.expand(shape))),
    expand=lambda self, batch_shape, _instance=None: self._expanded(
        Dirichlet, batch_shape, _instance, ("concentration",), self._event_shape),
)  # fmt: skip


def _stick(self: Any, loc: Any, scale: Any, validate_args: Any) -> Any:
    base = Normal(loc, scale, validate_args=validate_args)
    return base if base.batch_shape else base.expand([1]), StickBreakingTransform()


LogisticNormal = row(
    families.LogisticNormal, "loc, scale", LOCATION_SCALE, c.simplex, bases=TRANSFORMED, build=_stick,
    of_base="base_dist.base_dist", has_rsample=True,
)  # fmt: skip


def _between(self: Any, a: Any, b: Any, validate_args: Any) -> Any:
    base = Uniform(torch.full_like(self.concentration0, 0), torch.full_like(self.concentration0, 1),
                   validate_args=validate_args)  # fmt: skip
    return base, [
        PowerTransform(exponent=self.concentration0.reciprocal()), AffineTransform(loc=1.0, scale=-1.0),
        PowerTransform(exponent=self.concentration1.reciprocal()),
    ]  # fmt: skip


Kumaraswamy = row(
    families.Kumaraswamy, "concentration1, concentration0", CONCENTRATIONS, c.unit_interval, bases=TRANSFORMED,
    build=_between, has_rsample=True,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ positive numbers


def _gamma(self: Any, shape: Any) -> Any:
    value = torch._standard_gamma(self.concentration.expand(shape)) / self.rate.expand(shape)
    # Kept off zero so that logarithms stay finite; the gradient passes as if it had not been moved.
    moved = value.detach().clamp(min=torch.finfo(value.dtype).tiny)
    return value + (moved - value.detach())


_gamma_log_prob = checked(lambda self, value: families.Gamma.log_prob(F, value, self.concentration, self.rate))


def _ratio(self: Any, sample_shape: Any = ()) -> Any:
    shape = self._extended_shape(sample_shape)
    x1, x2 = self._gamma1.rsample(sample_shape).view(shape), self._gamma2.rsample(sample_shape).view(shape)
    tiny = torch.finfo(x2.dtype).tiny
    return (x1 / x2.clamp(min=tiny)).clamp(min=tiny)


Exponential = row(
    families.Exponential, "rate", {"rate": c.positive}, c.nonnegative, bases=EXPONENTIAL, has_rsample=True,
    _mean_carrier_measure=0,
    rsample=extended(lambda self, shape: torch.empty(shape, **alike(self.rate)).exponential_() / self.rate),
)  # fmt: skip
Gamma = row(
    families.Gamma, "concentration, rate", {"concentration": c.positive, "rate": c.positive}, c.nonnegative,
    bases=EXPONENTIAL, has_rsample=True, _mean_carrier_measure=0, rsample=extended(_gamma),
    log_prob=lambda self, value: _gamma_log_prob(self, torch.as_tensor(value, **alike(self.rate))),
)  # fmt: skip


def _chi2_take(self: Any, df: Any, _: Any) -> Any:
    (df,) = broadcast_all(df)
    return 0.5 * df, df.new_tensor(0.5)


Chi2 = row(
    families.Chi2, "df", {"df": c.positive}, bases=(Gamma,), take=_chi2_take, formulas="",
    df=property(lambda self: self.concentration * 2, doc="The degrees of freedom."),
    expand=lambda self, batch_shape, _instance=None: Gamma.expand(
        self, batch_shape, self._get_checked_instance(Chi2, _instance)),
)  # fmt: skip
FisherSnedecor = row(
    families.FisherSnedecor, "df1, df2", {"df1": c.positive, "df2": c.positive}, c.positive, has_rsample=True,
    parts={"_gamma1": lambda self: Gamma(self.df1 * 0.5, self.df1), "_gamma2": lambda self: Gamma(self.df2 * 0.5, self.df2)},
    rsample=_ratio,
)  # fmt: skip
LogNormal = row(
    families.LogNormal, "loc, scale", LOCATION_SCALE, c.positive, bases=TRANSFORMED, of_base="base_dist", formulas=MOMENTS,
    build=lambda self, loc, scale, valid: (Normal(loc, scale, validate_args=valid), ExpTransform()), has_rsample=True,
)  # fmt: skip


def _reciprocal(self: Any, concentration: Any, rate: Any, validate_args: Any) -> Any:
    base = Gamma(concentration, rate, validate_args=validate_args)
    return base, PowerTransform(-base.rate.new_ones(()))


InverseGamma = row(
    families.InverseGamma, "concentration, rate", {"concentration": c.positive, "rate": c.positive}, c.positive,
    bases=TRANSFORMED, of_base="base_dist", build=_reciprocal, has_rsample=True,
)  # fmt: skip


class Half(TransformedDistribution):
    """Absolute values of numbers drawn symmetrically around 0 from the base."""

    def log_prob(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        value = self._as_value(value)
        log_prob = self.base_dist.log_prob(value) + math.log(2)
        return torch.where(value >= 0, log_prob, -math.inf)

    def _as_value(self, value: Any) -> Any:
        return value

    def cdf(self, value: Any) -> Any:
        if self._validate_args:
            self._validate_sample(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Any) -> Any:
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Any:
        return self.base_dist.entropy() - math.log(2)

    @property
    def mode(self) -> Any:
        return torch.zeros_like(self.scale)


HalfNormal = row(
    families.HalfNormal, "scale", {"scale": c.positive}, c.nonnegative, bases=(Half,), of_base="base_dist",
    build=lambda self, scale, _: (Normal(0, scale, validate_args=False), AbsTransform()), has_rsample=True,
)  # fmt: skip
HalfCauchy = row(
    families.HalfCauchy, "scale", {"scale": c.positive}, c.nonnegative, bases=(Half,), of_base="base_dist",
    build=lambda self, scale, _: (Cauchy(0, scale, validate_args=False), AbsTransform()), has_rsample=True,
    mean=_full(math.inf, "scale"), variance=property(lambda self: self.base_dist.variance),
    _as_value=lambda self, value: torch.as_tensor(value, **alike(self.scale)),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ extremes


def _extreme(self: Any, loc: Any, scale: Any, validate_args: Any) -> Any:
    limits = torch.finfo(self.loc.dtype)
    base = Uniform(torch.full_like(self.loc, limits.tiny), torch.full_like(self.loc, 1 - limits.eps),
                   validate_args=validate_args)  # fmt: skip
    return base, [
        ExpTransform().inv, AffineTransform(loc=0, scale=-torch.ones_like(self.scale)), ExpTransform().inv,
        AffineTransform(loc=self.loc, scale=-self.scale),
    ]  # fmt: skip


def _tail(self: Any, scale: Any, alpha: Any, validate_args: Any) -> Any:
    transforms = [ExpTransform(), AffineTransform(loc=0, scale=self.scale)]
    return Exponential(self.alpha, validate_args=validate_args), transforms


Gumbel = row(
    families.Gumbel, "loc, scale", LOCATION_SCALE, c.real, bases=TRANSFORMED, build=_extreme,
    formulas=MOMENTS + " log_prob",
)  # fmt: skip
Pareto = row(
    families.Pareto, "scale, alpha", {"alpha": c.positive, "scale": c.positive},
    c.dependent_property(lambda self: c.greater_than_eq(self.scale), is_discrete=False, event_dim=0), bases=TRANSFORMED,
    build=_tail,
)  # fmt: skip


def _powers(self: Any) -> list[Any]:
    self.concentration_reciprocal = self.concentration.reciprocal()
    return [PowerTransform(exponent=self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]


def _weibull(self: Any, scale: Any, concentration: Any, validate_args: Any) -> Any:
    return Exponential(torch.ones_like(self.scale), validate_args=validate_args), _powers(self)


def _weibull_expand(self: Any, batch_shape: Any, _instance: Any = None) -> Any:
    new = self._get_checked_instance(Weibull, _instance)
    new.scale, new.concentration = self.scale.expand(batch_shape), self.concentration.expand(batch_shape)
    base, transforms = self.base_dist.expand(batch_shape), _powers(new)
    super(Weibull, new).__init__(base, transforms, validate_args=False)
    new._validate_args = self._validate_args
    return new


Weibull = row(
    families.Weibull, "scale, concentration", {"scale": c.positive, "concentration": c.positive}, c.positive,
    bases=TRANSFORMED, build=_weibull, expand=_weibull_expand,
)  # fmt: skip


def _excess_support(self: Any) -> Any:
    """Numbers from loc on, up to the bound that a negative concentration sets."""
    upper = torch.where(self.concentration < 0, self.loc - self.scale / self.concentration, torch.inf)
    return c.interval(self.loc, upper)


@checked
def _log_survival(self: Any, value: Any) -> Any:
    return families.GeneralizedPareto.log_survival(F, value, self.loc, self.scale, self.concentration)


GeneralizedPareto = row(
    families.GeneralizedPareto, "loc, scale, concentration", {**LOCATION_SCALE, "concentration": c.real},
    c.dependent_property(_excess_support, is_discrete=False, event_dim=0), has_rsample=True, rsample=_by_icdf("loc"),
    log_survival_function=_log_survival, log_cdf=lambda self, value: torch.log1p(-torch.exp(_log_survival(self, value))),
    cdf=lambda self, value: torch.exp(self.log_cdf(value)),
)  # fmt: skip
