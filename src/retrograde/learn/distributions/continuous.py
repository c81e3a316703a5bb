"""Families of distributions over the real numbers, parts of them, and vectors of them."""

from __future__ import annotations

import math

from .family import EULER, HALF_LOG_TAU, F, Family, V

# ------------------------------------------------------------------------------------------ a place and a scale

Normal = Family(
    "Normal", "Normal numbers of mean `loc` and standard deviation `scale`.", "loc scale",
    mean=lambda f, loc, scale: loc,
    mode=lambda f, loc, scale: loc,
    stddev=lambda f, loc, scale: scale,
    variance=lambda f, loc, scale: scale**2,
    log_prob=lambda f, x, loc, scale: -0.5 * ((x - loc) / scale) ** 2 - f.log(scale) - HALF_LOG_TAU,
    cdf=lambda f, x, loc, scale: 0.5 * (1 + f.erf((x - loc) * f.reciprocal(scale) / math.sqrt(2))),
    icdf=lambda f, p, loc, scale: loc + scale * f.erfinv(2 * p - 1) * math.sqrt(2),
    entropy=lambda f, loc, scale: 0.5 + 0.5 * math.log(2 * math.pi) + f.log(scale),
    natural=lambda f, loc, scale: (loc / scale**2, -0.5 * f.reciprocal(scale**2)),
    log_normaliser=lambda f, x, y: -0.25 * x**2 / y + 0.5 * f.log(-math.pi / y),
)  # fmt: skip


def _log_normal_variance(f: F, loc: V, scale: V) -> V:
    square = scale**2
    return f.expm1(square) * f.exp(2 * loc + square)


def _log_normal_log_prob(f: F, x: V, loc: V, scale: V) -> V:
    logs = f.log(x)
    return Normal.log_prob(f, logs, loc, scale) - logs


LogNormal = Family(
    "LogNormal", "Exponentials of normal numbers, of which `loc` and `scale` are mean and standard deviation.", "loc scale",
    mean=lambda f, loc, scale: f.exp(loc + scale**2 / 2),
    mode=lambda f, loc, scale: f.exp(loc - scale**2),
    variance=_log_normal_variance,
    log_prob=_log_normal_log_prob,
    entropy=lambda f, loc, scale: Normal.entropy(f, loc, scale) + loc,
)  # fmt: skip
HalfNormal = Family(
    "HalfNormal", "Absolute values of normal numbers around 0, of the standard deviation `scale`.", "scale",
    mean=lambda f, scale: scale * math.sqrt(2 / math.pi),
    variance=lambda f, scale: scale**2 * (1 - 2 / math.pi),
)  # fmt: skip
HalfCauchy = Family("HalfCauchy", "Absolute values of Cauchy numbers around 0, of the given `scale`.", "scale")
LogisticNormal = Family("LogisticNormal", "Points of the simplex from normal vectors by stick breaking.", "loc scale")


def _laplace_cdf(f: F, x: V, loc: V, scale: V) -> V:
    d = x - loc
    return 0.5 - 0.5 * f.sign(d) * f.expm1(-f.abs(d) / scale)


def _laplace_icdf(f: F, p: V, loc: V, scale: V) -> V:
    t = p - 0.5
    return loc - scale * f.sign(t) * f.log1p(-2 * f.abs(t))


Laplace = Family(
    "Laplace", "Differences of exponential numbers, around `loc` with the given `scale`.", "loc scale",
    mean=lambda f, loc, scale: loc,
    mode=lambda f, loc, scale: loc,
    stddev=lambda f, loc, scale: (2**0.5) * scale,
    variance=lambda f, loc, scale: 2 * scale**2,
    log_prob=lambda f, x, loc, scale: -f.log(2 * scale) - f.abs(x - loc) / scale,
    cdf=_laplace_cdf,
    icdf=_laplace_icdf,
    entropy=lambda f, loc, scale: 1 + f.log(2 * scale),
)  # fmt: skip


def _logistic_log_prob(f: F, x: V, loc: V, scale: V) -> V:
    z = (x - loc) / scale
    return -z - 2 * f.softplus(-z) - f.log(scale)


Logistic = Family(
    "Logistic", "Log odds of uniform numbers, moved by `loc` and stretched by `scale`.", "loc scale",
    mean=lambda f, loc, scale: loc,
    mode=lambda f, loc, scale: loc,
    stddev=lambda f, loc, scale: scale * (math.pi / math.sqrt(3)),
    log_prob=_logistic_log_prob,
    cdf=lambda f, x, loc, scale: f.sigmoid((x - loc) / scale),
    entropy=lambda f, loc, scale: f.log(scale) + 2,
)  # fmt: skip
Cauchy = Family(
    "Cauchy", "Ratios of normal numbers, with the median `loc` and half width at half maximum `scale`; there are no moments.",
    "loc scale",
    mode=lambda f, loc, scale: loc,
    log_prob=lambda f, x, loc, scale: -math.log(math.pi) - f.log(scale) - f.log1p(((x - loc) / scale) ** 2),
    cdf=lambda f, x, loc, scale: f.atan((x - loc) / scale) / math.pi + 0.5,
    icdf=lambda f, p, loc, scale: f.tan(math.pi * (p - 0.5)) * scale + loc,
    entropy=lambda f, loc, scale: math.log(4 * math.pi) + f.log(scale),
)  # fmt: skip


def _student_log_prob(f: F, x: V, df: V, loc: V, scale: V) -> V:
    y = (x - loc) / scale
    normaliser = (
        f.log(scale) + 0.5 * f.log(df) + 0.5 * math.log(math.pi) + f.lgamma(0.5 * df) - f.lgamma(0.5 * (df + 1.0))
    )
    return -0.5 * (df + 1.0) * f.log1p(y**2 / df) - normaliser


def _student_variance(f: F, df: V, loc: V, scale: V) -> V:
    finite = scale**2 * df / (df - 2)
    return f.where(df <= 1, math.nan, f.where(df > 2, finite, math.inf))


def _student_entropy(f: F, df: V, loc: V, scale: V) -> V:
    log_beta = f.lgamma(0.5 * df) + math.lgamma(0.5) - f.lgamma(0.5 * (df + 1))
    spread = 0.5 * (df + 1) * (f.digamma(0.5 * (df + 1)) - f.digamma(0.5 * df))
    return f.log(scale) + spread + 0.5 * f.log(df) + log_beta


StudentT = Family(
    "StudentT", "Student's t with `df` degrees of freedom, moved by `loc` and stretched by `scale`.", "df loc scale",
    mean=lambda f, df, loc, scale: f.where(df <= 1, math.nan, loc),
    mode=lambda f, df, loc, scale: loc,
    variance=_student_variance,
    log_prob=_student_log_prob,
    entropy=_student_entropy,
)  # fmt: skip


def _gumbel_log_prob(f: F, x: V, loc: V, scale: V) -> V:
    y = (loc - x) / scale
    return (y - f.exp(y)) - f.log(scale)


Gumbel = Family(
    "Gumbel", "The limit of maxima, around `loc` with the given `scale`.", "loc scale",
    mean=lambda f, loc, scale: loc + scale * EULER,
    mode=lambda f, loc, scale: loc,
    stddev=lambda f, loc, scale: (math.pi / math.sqrt(6)) * scale,
    variance=lambda f, loc, scale: ((math.pi / math.sqrt(6)) * scale) ** 2,
    log_prob=_gumbel_log_prob,
    cdf=lambda f, x, loc, scale: f.exp(-f.exp((loc - x) / scale)),
    entropy=lambda f, loc, scale: f.log(scale) + (1 + EULER),
)  # fmt: skip


def _von_mises_log_prob(f: F, x: V, loc: V, concentration: V) -> V:
    log_i0 = f.log(f.i0e(concentration)) + concentration
    return concentration * f.cos(x - loc) - math.log(2 * math.pi) - log_i0


VonMises = Family(
    "VonMises", "Angles around `loc`, the more concentrated the larger `concentration` is; the variance is the circular one.",
    "loc concentration",
    mean=lambda f, loc, concentration: loc,
    mode=lambda f, loc, concentration: loc,
    variance=lambda f, loc, concentration: 1 - f.i1e(concentration) / f.i0e(concentration),
    log_prob=_von_mises_log_prob,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ positive numbers

Exponential = Family(
    "Exponential", "Waiting times at the given `rate`.", "rate",
    mean=lambda f, rate: f.reciprocal(rate),
    mode=lambda f, rate: f.full_like(rate, 0),
    stddev=lambda f, rate: f.reciprocal(rate),
    variance=lambda f, rate: rate**-2,
    log_prob=lambda f, x, rate: f.log(rate) - rate * x,
    cdf=lambda f, x, rate: -f.expm1(-rate * x),
    icdf=lambda f, p, rate: -f.log1p(-p) / rate,
    entropy=lambda f, rate: 1.0 - f.log(rate),
    natural=lambda f, rate: (-rate,),
    log_normaliser=lambda f, x: -f.log(-x),
)  # fmt: skip
Gamma = Family(
    "Gamma", "Gamma numbers of shape `concentration` and inverse scale `rate`.", "concentration rate",
    mean=lambda f, c, rate: c / rate,
    mode=lambda f, c, rate: f.clamp((c - 1) / rate, 0, None),
    variance=lambda f, c, rate: c / rate**2,
    log_prob=lambda f, x, c, rate: f.times_log(c, rate) + f.times_log(c - 1, x) - rate * x - f.lgamma(c),
    cdf=lambda f, x, c, rate: f.gammainc(c, rate * x),
    entropy=lambda f, c, rate: c - f.log(rate) + f.lgamma(c) + (1.0 - c) * f.digamma(c),
    natural=lambda f, c, rate: (c - 1, -rate),
    log_normaliser=lambda f, x, y: f.lgamma(x + 1) + (x + 1) * f.log(-f.reciprocal(y)),
)  # fmt: skip
Chi2 = Family("Chi2", "Sums of squares of `df` standard normal numbers.", "df")
InverseGamma = Family(
    "InverseGamma", "Reciprocals of gamma numbers.", "concentration rate",
    mean=lambda f, c, rate: f.where(c > 1, rate / (c - 1), math.inf),
    mode=lambda f, c, rate: rate / (c + 1),
    variance=lambda f, c, rate: f.where(c > 2, rate**2 / ((c - 1) ** 2 * (c - 2)), math.inf),
    entropy=lambda f, c, rate: c + f.log(rate) + f.lgamma(c) - (1 + c) * f.digamma(c),
)  # fmt: skip


def _fisher_mean(f: F, df1: V, df2: V) -> V:
    df2 = f.where(df2 <= 2, math.nan, df2)
    return df2 / (df2 - 2)


def _fisher_variance(f: F, df1: V, df2: V) -> V:
    df2 = f.where(df2 <= 4, math.nan, df2)
    return 2 * df2**2 * (df1 + df2 - 2) / (df1 * (df2 - 2) ** 2 * (df2 - 4))


def _fisher_log_prob(f: F, x: V, df1: V, df2: V) -> V:
    half1, half2, ratio = df1 * 0.5, df2 * 0.5, df1 / df2
    normaliser = f.lgamma(half1 + half2) - f.lgamma(half1) - f.lgamma(half2)
    shape = half1 * f.log(ratio) + (half1 - 1) * f.log(x)
    return normaliser + shape - (half1 + half2) * f.log1p(ratio * x)


FisherSnedecor = Family(
    "FisherSnedecor", "Ratios of chi-squared numbers per degree of freedom.", "df1 df2",
    mean=_fisher_mean,
    mode=lambda f, df1, df2: f.where(df1 <= 2, math.nan, (df1 - 2) / df1 * df2 / (df2 + 2)),
    variance=_fisher_variance,
    log_prob=_fisher_log_prob,
)  # fmt: skip
Weibull = Family(
    "Weibull", "Powers of exponential numbers.", "scale concentration concentration_reciprocal",
    mean=lambda f, scale, k, inverse: scale * f.exp(f.lgamma(1 + inverse)),
    mode=lambda f, scale, k, inverse: scale * ((k - 1) / k) ** f.reciprocal(k),
    variance=lambda f, scale, k, inverse: (
        scale**2 * (f.exp(f.lgamma(1 + 2 * inverse)) - f.exp(2 * f.lgamma(1 + inverse)))),
    entropy=lambda f, scale, k, inverse: EULER * (1 - inverse) + f.log(scale * inverse) + 1,
)  # fmt: skip


def _pareto_mean(f: F, scale: V, alpha: V) -> V:
    a = f.clamp(alpha, 1, None)
    return a * scale / (a - 1)


def _pareto_variance(f: F, scale: V, alpha: V) -> V:
    a = f.clamp(alpha, 2, None)
    return scale**2 * a / ((a - 1) ** 2 * (a - 2))


Pareto = Family(
    "Pareto", "Numbers from `scale` on whose tail falls as a power `alpha`.", "scale alpha",
    mean=_pareto_mean,
    mode=lambda f, scale, alpha: scale,
    variance=_pareto_variance,
    entropy=lambda f, scale, alpha: f.log(scale / alpha) + (1 + f.reciprocal(alpha)),
)  # fmt: skip


def _excess_mean(f: F, loc: V, scale: V, c: V) -> V:
    finite = c < 1
    return f.where(finite, loc + scale / (1 - f.where(finite, c, 0.5)), math.nan)


def _excess_variance(f: F, loc: V, scale: V, c: V) -> V:
    finite = c < 0.5
    safe = f.where(finite, c, 0.25)
    return f.where(finite, scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.nan)


def _split(f: F, c: V) -> V:
    """Where the concentration is 0, and the concentration with 1 in these places."""
    zero = f.isclose(c, f.full_like(c, 0))
    return zero, f.where(zero, 1, c)


def _excess_log_prob(f: F, x: V, loc: V, scale: V, c: V) -> V:
    z = (x - loc) / scale
    zero, safe = _split(f, c)
    y = 1 / safe + f.full_like(z, 1)
    return -f.log(scale) - f.where(zero, z, f.where(y == 0, y, y * f.log1p(safe * z)))


def _excess_log_survival(f: F, x: V, loc: V, scale: V, c: V) -> V:
    z = (x - loc) / scale
    zero, safe = _split(f, c)
    return f.where(zero, -z, -f.log1p(safe * z) / safe)


def _excess_icdf(f: F, p: V, loc: V, scale: V, c: V) -> V:
    zero, safe = _split(f, c)
    logs = f.log1p(-p)
    return f.where(zero, loc - scale * logs, loc + scale / safe * f.expm1(-safe * logs))


GeneralizedPareto = Family(
    "GeneralizedPareto",
    "Excesses over `loc`: exponential for `concentration` 0, with a power tail above it and bounded below it.",
    "loc scale concentration",
    mean=_excess_mean,
    mode=lambda f, loc, scale, c: loc,
    variance=_excess_variance,
    log_prob=_excess_log_prob,
    log_survival=_excess_log_survival,
    icdf=_excess_icdf,
    entropy=lambda f, loc, scale, c: f.log(scale) + c + 1,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ intervals, the simplex

Uniform = Family(
    "Uniform", "Numbers in [low, high).", "low high",
    mean=lambda f, low, high: (high + low) / 2,
    mode=lambda f, low, high: math.nan * high,
    stddev=lambda f, low, high: (high - low) / 12**0.5,
    variance=lambda f, low, high: (high - low) ** 2 / 12,
    cdf=lambda f, x, low, high: f.clamp((x - low) / (high - low), 0, 1),
    icdf=lambda f, p, low, high: p * (high - low) + low,
    entropy=lambda f, low, high: f.log(high - low),
)  # fmt: skip


def _log_beta(f: F, a: V, b: V) -> V:
    return f.lgamma(a) + f.lgamma(b) - f.lgamma(a + b)


def _beta_variance(f: F, a: V, b: V) -> V:
    total = a + b
    return a * b / (total**2 * (total + 1))


def _beta_entropy(f: F, a: V, b: V) -> V:
    total, ends = a + b, (a - 1) * f.digamma(a) + (b - 1) * f.digamma(b)
    return _log_beta(f, a, b) - (2.0 - total) * f.digamma(total) - ends


Beta = Family(
    "Beta", "Numbers in [0, 1] with the concentrations of one and of zero.", "concentration1 concentration0",
    mean=lambda f, a, b: a / (a + b),
    variance=_beta_variance,
    log_prob=lambda f, x, a, b: f.times_log(a - 1, x) + f.times_log1p(b - 1, -x) - _log_beta(f, a, b),
    entropy=_beta_entropy,
    natural=lambda f, a, b: (a, b),
    log_normaliser=_log_beta,
)  # fmt: skip


def _dirichlet_variance(f: F, c: V) -> V:
    total = f.sum(c, True)
    return c * (total - c) / (total**2 * (total + 1))


def _dirichlet_entropy(f: F, c: V) -> V:
    k, total = c.shape[-1], f.sum(c)
    normaliser = f.sum(f.lgamma(c)) - f.lgamma(total)
    return normaliser - (k - total) * f.digamma(total) - f.sum((c - 1.0) * f.digamma(c))


Dirichlet = Family(
    "Dirichlet", "Points of the simplex with the given `concentration`.", "concentration",
    mean=lambda f, c: c / f.sum(c, True),
    variance=_dirichlet_variance,
    log_prob=lambda f, x, c: f.sum(f.times_log(c - 1.0, x)) + f.lgamma(f.sum(c)) - f.sum(f.lgamma(c)),
    entropy=_dirichlet_entropy,
    natural=lambda f, c: (c,),
    log_normaliser=lambda f, c: f.sum(f.lgamma(c)) - f.lgamma(f.sum(c)),
)  # fmt: skip


def _moment(f: F, a: V, b: V, n: int) -> V:
    """The n-th moment of a Kumaraswamy distribution."""
    arg = 1 + n / a
    return f.exp(f.lgamma(arg) + f.lgamma(b) - f.lgamma(arg + b)) * b


def _kumaraswamy_mode(f: F, a: V, b: V) -> V:
    logs = f.reciprocal(a) * f.log1p(-b) - f.log1p(-a * b)
    return f.exp(f.where((b < 1) | (a < 1), math.nan, logs))


def _kumaraswamy_entropy(f: F, a: V, b: V) -> V:
    t1, t0 = 1 - f.reciprocal(a), 1 - f.reciprocal(b)
    return t0 + t1 * (f.digamma(b + 1) + EULER) - f.log(a) - f.log(b)


Kumaraswamy = Family(
    "Kumaraswamy", "Numbers in [0, 1] with a cdf in closed form, much like the beta distribution.",
    "concentration1 concentration0",
    mean=lambda f, a, b: _moment(f, a, b, 1),
    mode=_kumaraswamy_mode,
    variance=lambda f, a, b: _moment(f, a, b, 2) - _moment(f, a, b, 1) ** 2,
    entropy=_kumaraswamy_entropy,
)  # fmt: skip


def _near_and_away(f: F, odds: V, near: V) -> tuple[V, V]:
    """The log odds for the series and for the formulas, with a number at which they are harmless in the others' places."""
    return f.where(near, odds, 0.0), f.where(near, 1.0, odds)


def _log_mass(f: F, odds: V, near: V) -> V:
    """The log of the integral of e^(ax) over [0, 1]."""
    s, a = _near_and_away(f, odds, near)
    size = f.abs(a)
    mass = f.clamp(a, 0, None) + f.log(-f.expm1(-size) / size)
    return f.where(near, s / 2 + s**2 / 24 - s**4 / 2880, mass)


def _tilted_mean(f: F, odds: V, near: V) -> V:
    s, a = _near_and_away(f, odds, near)
    bounded = f.clamp(a, -80.0, 80.0)  # where the exponential has long ceased to matter, but is still finite
    return f.where(near, 0.5 + s / 12 - s**3 / 720, -f.reciprocal(f.expm1(-bounded)) - f.reciprocal(a))


def _tilted_variance(f: F, odds: V, near: V) -> V:
    s, a = _near_and_away(f, odds, near)
    bounded = f.clamp(a, -80.0, 80.0)
    spread = f.reciprocal(f.expm1(bounded)) * f.reciprocal(f.expm1(-bounded))
    return f.where(near, 1 / 12 - s**2 / 240 + s**4 / 6048, f.reciprocal(a**2) + spread)


def _tilted_cdf(f: F, x: V, odds: V, near: V) -> V:
    a, x = _near_and_away(f, odds, near)[1], f.clamp(x, 0.0, 1.0)
    size = f.abs(a)
    return f.where(near, x, f.exp(-f.clamp(a, 0, None) * (1 - x)) * f.expm1(-size * x) / f.expm1(-size))


def _tilted_icdf(f: F, p: V, odds: V, near: V) -> V:
    a = _near_and_away(f, odds, near)[1]
    return f.where(near, p, f.log1p(p * f.expm1(a)) / a)


ContinuousBernoulli = Family(
    "ContinuousBernoulli",
    """Numbers in [0, 1] with a density proportional to probs^x (1 - probs)^(1 - x): to e^(ax) for the log odds a
    (Loaiza-Ganem and Cunningham 2019).

    Between the limits `lims`, next to probs of 1/2, series in a stand for formulas that are 0 / 0 there.
    """,
    # What dialects derive of probs and lims and keep to themselves: the log odds, and where probs is between the limits.
    "_odds _near",
    mean=_tilted_mean,
    variance=_tilted_variance,
    log_mass=_log_mass,
    log_prob=lambda f, x, odds, near: odds * x - _log_mass(f, odds, near),
    cdf=_tilted_cdf,
    icdf=_tilted_icdf,
    entropy=lambda f, odds, near: _log_mass(f, odds, near) - odds * _tilted_mean(f, odds, near),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ vectors, matrices


def _half_log_det(f: F, factor: V) -> V:
    """Half the logarithm of the determinant of the covariance with this factor."""
    return f.sum(f.log(f.diagonal(factor)))


def _multivariate_log_prob(f: F, x: V, loc: V, factor: V) -> V:
    squares = f.mahalanobis(factor, x - loc)
    return -0.5 * (loc.shape[-1] * math.log(2 * math.pi) + squares) - _half_log_det(f, factor)


def _multivariate_entropy(f: F, loc: V, factor: V) -> V:
    return 0.5 * loc.shape[-1] * (1.0 + math.log(2 * math.pi)) + _half_log_det(f, factor)


MultivariateNormal = Family(
    "MultivariateNormal",
    """Normal vectors with the mean `loc` and a covariance that is given as such, or by its inverse, or by its lower Cholesky
    factor `scale_tril`.""", "loc scale_tril",
    half_log_det=_half_log_det,
    log_prob=_multivariate_log_prob,
    entropy=_multivariate_entropy,
)  # fmt: skip


def _lkj_log_prob(f: F, x: V, dim: int, concentration: V) -> V:
    diagonal = f.diagonal(x)[..., 1:]
    order = 2 * f.column(concentration - 1) + dim - f.arange(2, dim + 1, concentration)
    less = dim - 1
    alpha = concentration + 0.5 * less
    normaliser = 0.5 * less * math.log(math.pi) + f.mvlgamma(alpha - 0.5, less) - f.lgamma(alpha) * less
    return f.sum(order * f.log(diagonal)) - normaliser


LKJCholesky = Family(
    "LKJCholesky",
    """Lower Cholesky factors of correlation matrices with a density proportional to det^(concentration - 1) (Lewandowski,
    Kurowicka and Joe 2009).""", "dim concentration",
    log_prob=_lkj_log_prob,
)  # fmt: skip
