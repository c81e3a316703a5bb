"""Families of distributions over the real numbers, parts of them, and vectors of them."""

from __future__ import annotations

import math

from .family import EULER, HALF_LOG_TAU, F, Family, V


class LocationScale(Family):
    """Families of loc + scale times a standard variable that is symmetric around 0."""

    parameters = ("loc", "scale")

    def mean(f: F, loc: V, scale: V) -> V:
        return loc

    mode = mean


class Normal(LocationScale):
    """Normal numbers of mean `loc` and standard deviation `scale`."""

    def stddev(f: F, loc: V, scale: V) -> V:
        return scale

    def variance(f: F, loc: V, scale: V) -> V:
        return scale**2

    def log_prob(f: F, x: V, loc: V, scale: V) -> V:
        return -0.5 * ((x - loc) / scale) ** 2 - f.log(scale) - HALF_LOG_TAU

    def cdf(f: F, x: V, loc: V, scale: V) -> V:
        return 0.5 * (1 + f.erf((x - loc) * f.reciprocal(scale) / math.sqrt(2)))

    def icdf(f: F, p: V, loc: V, scale: V) -> V:
        return loc + scale * f.erfinv(2 * p - 1) * math.sqrt(2)

    def entropy(f: F, loc: V, scale: V) -> V:
        return 0.5 + 0.5 * math.log(2 * math.pi) + f.log(scale)

    def natural(f: F, loc: V, scale: V) -> V:
        return loc / scale**2, -0.5 * f.reciprocal(scale**2)

    def log_normaliser(f: F, x: V, y: V) -> V:
        return -0.25 * x**2 / y + 0.5 * f.log(-math.pi / y)


class LogNormal(Family):
    """Exponentials of normal numbers, of which `loc` and `scale` are mean and standard deviation."""

    parameters = ("loc", "scale")

    def mean(f: F, loc: V, scale: V) -> V:
        return f.exp(loc + scale**2 / 2)

    def mode(f: F, loc: V, scale: V) -> V:
        return f.exp(loc - scale**2)

    def variance(f: F, loc: V, scale: V) -> V:
        square = scale**2
        return f.expm1(square) * f.exp(2 * loc + square)

    def log_prob(f: F, x: V, loc: V, scale: V) -> V:
        logs = f.log(x)
        return Normal.log_prob(f, logs, loc, scale) - logs

    def entropy(f: F, loc: V, scale: V) -> V:
        return Normal.entropy(f, loc, scale) + loc


class HalfNormal(Family):
    """Absolute values of normal numbers around 0, of the standard deviation `scale`."""

    parameters = ("scale",)

    def mean(f: F, scale: V) -> V:
        return scale * math.sqrt(2 / math.pi)

    def variance(f: F, scale: V) -> V:
        return scale**2 * (1 - 2 / math.pi)


class HalfCauchy(Family):
    """Absolute values of Cauchy numbers around 0, of the given `scale`."""

    parameters = ("scale",)


class LogisticNormal(Family):
    """Points of the simplex from normal vectors by stick breaking."""

    parameters = ("loc", "scale")


class Laplace(LocationScale):
    """Differences of exponential numbers, around `loc` with the given `scale`."""

    def stddev(f: F, loc: V, scale: V) -> V:
        return (2**0.5) * scale

    def variance(f: F, loc: V, scale: V) -> V:
        return 2 * scale**2

    def log_prob(f: F, x: V, loc: V, scale: V) -> V:
        return -f.log(2 * scale) - f.abs(x - loc) / scale

    def cdf(f: F, x: V, loc: V, scale: V) -> V:
        d = x - loc
        return 0.5 - 0.5 * f.sign(d) * f.expm1(-f.abs(d) / scale)

    def icdf(f: F, p: V, loc: V, scale: V) -> V:
        t = p - 0.5
        return loc - scale * f.sign(t) * f.log1p(-2 * f.abs(t))

    def entropy(f: F, loc: V, scale: V) -> V:
        return 1 + f.log(2 * scale)


class Logistic(LocationScale):
    """Log odds of uniform numbers, moved by `loc` and stretched by `scale`."""

    def stddev(f: F, loc: V, scale: V) -> V:
        return scale * (math.pi / math.sqrt(3))

    def log_prob(f: F, x: V, loc: V, scale: V) -> V:
        z = (x - loc) / scale
        return -z - 2 * f.softplus(-z) - f.log(scale)

    def cdf(f: F, x: V, loc: V, scale: V) -> V:
        return f.sigmoid((x - loc) / scale)

    def entropy(f: F, loc: V, scale: V) -> V:
        return f.log(scale) + 2


class Cauchy(LocationScale):
    """Ratios of normal numbers, with the median `loc` and half width at half maximum `scale`; there are no moments."""

    def log_prob(f: F, x: V, loc: V, scale: V) -> V:
        return -math.log(math.pi) - f.log(scale) - f.log1p(((x - loc) / scale) ** 2)

    def cdf(f: F, x: V, loc: V, scale: V) -> V:
        return f.atan((x - loc) / scale) / math.pi + 0.5

    def icdf(f: F, p: V, loc: V, scale: V) -> V:
        return f.tan(math.pi * (p - 0.5)) * scale + loc

    def entropy(f: F, loc: V, scale: V) -> V:
        return math.log(4 * math.pi) + f.log(scale)


class StudentT(Family):
    """Student's t with `df` degrees of freedom, moved by `loc` and stretched by `scale`."""

    parameters = ("df", "loc", "scale")

    def mean(f: F, df: V, loc: V, scale: V) -> V:
        return f.where(df <= 1, math.nan, loc)

    def mode(f: F, df: V, loc: V, scale: V) -> V:
        return loc

    def variance(f: F, df: V, loc: V, scale: V) -> V:
        finite = scale**2 * df / (df - 2)
        return f.where(df <= 1, math.nan, f.where(df > 2, finite, math.inf))

    def log_prob(f: F, x: V, df: V, loc: V, scale: V) -> V:
        y = (x - loc) / scale
        normaliser = (
            f.log(scale) + 0.5 * f.log(df) + 0.5 * math.log(math.pi) + f.lgamma(0.5 * df) - f.lgamma(0.5 * (df + 1.0))
        )
        return -0.5 * (df + 1.0) * f.log1p(y**2 / df) - normaliser

    def entropy(f: F, df: V, loc: V, scale: V) -> V:
        log_beta = f.lgamma(0.5 * df) + math.lgamma(0.5) - f.lgamma(0.5 * (df + 1))
        spread = 0.5 * (df + 1) * (f.digamma(0.5 * (df + 1)) - f.digamma(0.5 * df))
        return f.log(scale) + spread + 0.5 * f.log(df) + log_beta


class Gumbel(Family):
    """The limit of maxima, around `loc` with the given `scale`."""

    parameters = ("loc", "scale")

    def mean(f: F, loc: V, scale: V) -> V:
        return loc + scale * EULER

    def mode(f: F, loc: V, scale: V) -> V:
        return loc

    def stddev(f: F, loc: V, scale: V) -> V:
        return (math.pi / math.sqrt(6)) * scale

    def variance(f: F, loc: V, scale: V) -> V:
        return Gumbel.stddev(f, loc, scale) ** 2

    def log_prob(f: F, x: V, loc: V, scale: V) -> V:
        y = (loc - x) / scale
        return (y - f.exp(y)) - f.log(scale)

    def cdf(f: F, x: V, loc: V, scale: V) -> V:
        return f.exp(-f.exp((loc - x) / scale))

    def entropy(f: F, loc: V, scale: V) -> V:
        return f.log(scale) + (1 + EULER)


class Uniform(Family):
    """Numbers in [low, high)."""

    parameters = ("low", "high")

    def mean(f: F, low: V, high: V) -> V:
        return (high + low) / 2

    def mode(f: F, low: V, high: V) -> V:
        return math.nan * high

    def stddev(f: F, low: V, high: V) -> V:
        return (high - low) / 12**0.5

    def variance(f: F, low: V, high: V) -> V:
        return (high - low) ** 2 / 12

    def cdf(f: F, x: V, low: V, high: V) -> V:
        return f.clamp((x - low) / (high - low), 0, 1)

    def icdf(f: F, p: V, low: V, high: V) -> V:
        return p * (high - low) + low

    def entropy(f: F, low: V, high: V) -> V:
        return f.log(high - low)


class Exponential(Family):
    """Waiting times at the given `rate`."""

    parameters = ("rate",)

    def mean(f: F, rate: V) -> V:
        return f.reciprocal(rate)

    stddev = mean

    def mode(f: F, rate: V) -> V:
        return f.full_like(rate, 0)

    def variance(f: F, rate: V) -> V:
        return rate**-2

    def log_prob(f: F, x: V, rate: V) -> V:
        return f.log(rate) - rate * x

    def cdf(f: F, x: V, rate: V) -> V:
        return -f.expm1(-rate * x)

    def icdf(f: F, p: V, rate: V) -> V:
        return -f.log1p(-p) / rate

    def entropy(f: F, rate: V) -> V:
        return 1.0 - f.log(rate)

    def natural(f: F, rate: V) -> V:
        return (-rate,)

    def log_normaliser(f: F, x: V) -> V:
        return -f.log(-x)


class Gamma(Family):
    """Gamma numbers of shape `concentration` and inverse scale `rate`."""

    parameters = ("concentration", "rate")

    def mean(f: F, concentration: V, rate: V) -> V:
        return concentration / rate

    def mode(f: F, concentration: V, rate: V) -> V:
        return f.clamp((concentration - 1) / rate, 0, None)

    def variance(f: F, concentration: V, rate: V) -> V:
        return concentration / rate**2

    def log_prob(f: F, x: V, concentration: V, rate: V) -> V:
        return f.xlogy(concentration, rate) + f.xlogy(concentration - 1, x) - rate * x - f.lgamma(concentration)

    def cdf(f: F, x: V, concentration: V, rate: V) -> V:
        return f.gammainc(concentration, rate * x)

    def entropy(f: F, concentration: V, rate: V) -> V:
        c = concentration
        return c - f.log(rate) + f.lgamma(c) + (1.0 - c) * f.digamma(c)

    def natural(f: F, concentration: V, rate: V) -> V:
        return concentration - 1, -rate

    def log_normaliser(f: F, x: V, y: V) -> V:
        return f.lgamma(x + 1) + (x + 1) * f.log(-f.reciprocal(y))


class Chi2(Gamma):
    """Sums of squares of `df` standard normal numbers."""


class InverseGamma(Family):
    """Reciprocals of gamma numbers."""

    parameters = ("concentration", "rate")

    def mean(f: F, concentration: V, rate: V) -> V:
        return f.where(concentration > 1, rate / (concentration - 1), math.inf)

    def mode(f: F, concentration: V, rate: V) -> V:
        return rate / (concentration + 1)

    def variance(f: F, concentration: V, rate: V) -> V:
        finite = rate**2 / ((concentration - 1) ** 2 * (concentration - 2))
        return f.where(concentration > 2, finite, math.inf)

    def entropy(f: F, concentration: V, rate: V) -> V:
        c = concentration
        return c + f.log(rate) + f.lgamma(c) - (1 + c) * f.digamma(c)


class FisherSnedecor(Family):
    """Ratios of chi-squared numbers per degree of freedom."""

    parameters = ("df1", "df2")

    def mean(f: F, df1: V, df2: V) -> V:
        df2 = f.where(df2 <= 2, math.nan, df2)
        return df2 / (df2 - 2)

    def mode(f: F, df1: V, df2: V) -> V:
        return f.where(df1 <= 2, math.nan, (df1 - 2) / df1 * df2 / (df2 + 2))

    def variance(f: F, df1: V, df2: V) -> V:
        df2 = f.where(df2 <= 4, math.nan, df2)
        return 2 * df2**2 * (df1 + df2 - 2) / (df1 * (df2 - 2) ** 2 * (df2 - 4))

    def log_prob(f: F, x: V, df1: V, df2: V) -> V:
        half1, half2, ratio = df1 * 0.5, df2 * 0.5, df1 / df2
        normaliser = f.lgamma(half1 + half2) - f.lgamma(half1) - f.lgamma(half2)
        shape = half1 * f.log(ratio) + (half1 - 1) * f.log(x)
        return normaliser + shape - (half1 + half2) * f.log1p(ratio * x)


class Beta(Family):
    """Numbers in [0, 1] with the concentrations of one and of zero."""

    parameters = ("concentration1", "concentration0")

    def mean(f: F, a: V, b: V) -> V:
        return a / (a + b)

    def variance(f: F, a: V, b: V) -> V:
        total = a + b
        return a * b / (total**2 * (total + 1))

    def log_prob(f: F, x: V, a: V, b: V) -> V:
        return f.xlogy(a - 1, x) + f.xlog1py(b - 1, -x) - Beta.log_normaliser(f, a, b)

    def entropy(f: F, a: V, b: V) -> V:
        total = a + b
        ends = (a - 1) * f.digamma(a) + (b - 1) * f.digamma(b)
        return Beta.log_normaliser(f, a, b) - (2.0 - total) * f.digamma(total) - ends

    def natural(f: F, a: V, b: V) -> V:
        return a, b

    def log_normaliser(f: F, x: V, y: V) -> V:
        return f.lgamma(x) + f.lgamma(y) - f.lgamma(x + y)


class Dirichlet(Family):
    """Points of the simplex with the given `concentration`."""

    parameters = ("concentration",)

    def mean(f: F, concentration: V) -> V:
        return concentration / f.sum(concentration, True)

    def variance(f: F, concentration: V) -> V:
        total = f.sum(concentration, True)
        return concentration * (total - concentration) / (total**2 * (total + 1))

    def log_prob(f: F, x: V, concentration: V) -> V:
        c = concentration
        return f.sum(f.xlogy(c - 1.0, x)) + f.lgamma(f.sum(c)) - f.sum(f.lgamma(c))

    def entropy(f: F, concentration: V) -> V:
        c, k, total = concentration, concentration.shape[-1], f.sum(concentration)
        normaliser = f.sum(f.lgamma(c)) - f.lgamma(total)
        return normaliser - (k - total) * f.digamma(total) - f.sum((c - 1.0) * f.digamma(c))

    def natural(f: F, concentration: V) -> V:
        return (concentration,)

    def log_normaliser(f: F, x: V) -> V:
        return f.sum(f.lgamma(x)) - f.lgamma(f.sum(x))


class ContinuousBernoulli(Family):
    """Numbers in [0, 1] with a density proportional to probs^x (1 - probs)^(1 - x): to e^(ax) for the log odds a
    (Loaiza-Ganem and Cunningham 2019).

    Where `near` says that probs is next to 1/2, series in a stand for formulas that are 0 / 0 there.
    """

    parameters = ("_odds", "_near")

    def away(f: F, odds: V, near: V) -> V:
        return f.where(near, 1.0, odds)

    def log_mass(f: F, odds: V, near: V) -> V:
        """The log of the integral of e^(ax) over [0, 1]."""
        a = ContinuousBernoulli.away(f, odds, near)
        size = f.abs(a)
        mass = f.clamp(a, 0, None) + f.log(-f.expm1(-size) / size)
        return f.where(near, odds / 2 + odds**2 / 24 - odds**4 / 2880, mass)

    def mean(f: F, odds: V, near: V) -> V:
        a = ContinuousBernoulli.away(f, odds, near)
        return f.where(near, 0.5 + odds / 12 - odds**3 / 720, -f.reciprocal(f.expm1(-a)) - f.reciprocal(a))

    def variance(f: F, odds: V, near: V) -> V:
        a = ContinuousBernoulli.away(f, odds, near)
        spread = f.reciprocal(f.expm1(a)) * f.reciprocal(f.expm1(-a))
        return f.where(near, 1 / 12 - odds**2 / 240 + odds**4 / 6048, f.reciprocal(a**2) + spread)

    def log_prob(f: F, x: V, odds: V, near: V) -> V:
        return odds * x - ContinuousBernoulli.log_mass(f, odds, near)

    def cdf(f: F, x: V, odds: V, near: V) -> V:
        a, x = ContinuousBernoulli.away(f, odds, near), f.clamp(x, 0.0, 1.0)
        return f.where(near, x, f.expm1(a * x) / f.expm1(a))

    def icdf(f: F, p: V, odds: V, near: V) -> V:
        a = ContinuousBernoulli.away(f, odds, near)
        return f.where(near, p, f.log1p(p * f.expm1(a)) / a)

    def entropy(f: F, odds: V, near: V) -> V:
        return ContinuousBernoulli.log_mass(f, odds, near) - odds * ContinuousBernoulli.mean(f, odds, near)


class GeneralizedPareto(Family):
    """Excesses over `loc`: exponential for `concentration` 0, with a power tail above it and bounded below it."""

    parameters = ("loc", "scale", "concentration")

    def mean(f: F, loc: V, scale: V, concentration: V) -> V:
        finite = concentration < 1
        return f.where(finite, loc + scale / (1 - f.where(finite, concentration, 0.5)), math.nan)

    def mode(f: F, loc: V, scale: V, concentration: V) -> V:
        return loc

    def variance(f: F, loc: V, scale: V, concentration: V) -> V:
        finite = concentration < 0.5
        safe = f.where(finite, concentration, 0.25)
        return f.where(finite, scale**2 / ((1 - safe) ** 2 * (1 - 2 * safe)), math.nan)

    def split(f: F, concentration: V) -> V:
        """Where the concentration is 0, and the concentration with 1 in these places."""
        zero = f.isclose(concentration, f.full_like(concentration, 0))
        return zero, f.where(zero, 1, concentration)

    def log_prob(f: F, x: V, loc: V, scale: V, concentration: V) -> V:
        z = (x - loc) / scale
        zero, safe = GeneralizedPareto.split(f, concentration)
        y = 1 / safe + f.full_like(z, 1)
        return -f.log(scale) - f.where(zero, z, f.where(y == 0, y, y * f.log1p(safe * z)))

    def log_survival(f: F, x: V, loc: V, scale: V, concentration: V) -> V:
        """The logarithm of the probability of larger values."""
        z = (x - loc) / scale
        zero, safe = GeneralizedPareto.split(f, concentration)
        return f.where(zero, -z, -f.log1p(safe * z) / safe)

    def icdf(f: F, p: V, loc: V, scale: V, concentration: V) -> V:
        zero, safe = GeneralizedPareto.split(f, concentration)
        logs = f.log1p(-p)
        return f.where(zero, loc - scale * logs, loc + scale / safe * f.expm1(-safe * logs))

    def entropy(f: F, loc: V, scale: V, concentration: V) -> V:
        return f.log(scale) + concentration + 1


class Pareto(Family):
    """Numbers from `scale` on whose tail falls as a power `alpha`."""

    parameters = ("scale", "alpha")

    def mean(f: F, scale: V, alpha: V) -> V:
        a = f.clamp(alpha, 1, None)
        return a * scale / (a - 1)

    def mode(f: F, scale: V, alpha: V) -> V:
        return scale

    def variance(f: F, scale: V, alpha: V) -> V:
        a = f.clamp(alpha, 2, None)
        return scale**2 * a / ((a - 1) ** 2 * (a - 2))

    def entropy(f: F, scale: V, alpha: V) -> V:
        return f.log(scale / alpha) + (1 + f.reciprocal(alpha))


class Weibull(Family):
    """Powers of exponential numbers."""

    parameters = ("scale", "concentration", "concentration_reciprocal")

    def mean(f: F, scale: V, k: V, inverse: V) -> V:
        return scale * f.exp(f.lgamma(1 + inverse))

    def mode(f: F, scale: V, k: V, inverse: V) -> V:
        return scale * ((k - 1) / k) ** f.reciprocal(k)

    def variance(f: F, scale: V, k: V, inverse: V) -> V:
        return scale**2 * (f.exp(f.lgamma(1 + 2 * inverse)) - f.exp(2 * f.lgamma(1 + inverse)))

    def entropy(f: F, scale: V, k: V, inverse: V) -> V:
        return EULER * (1 - inverse) + f.log(scale * inverse) + 1


class Kumaraswamy(Family):
    """Numbers in [0, 1] with a cdf in closed form, much like the beta distribution."""

    parameters = ("concentration1", "concentration0")

    def moment(f: F, a: V, b: V, n: int) -> V:
        arg = 1 + n / a
        return f.exp(f.lgamma(arg) + f.lgamma(b) - f.lgamma(arg + b)) * b

    def mean(f: F, a: V, b: V) -> V:
        return Kumaraswamy.moment(f, a, b, 1)

    def mode(f: F, a: V, b: V) -> V:
        logs = f.reciprocal(a) * f.log1p(-b) - f.log1p(-a * b)
        return f.exp(f.where((b < 1) | (a < 1), math.nan, logs))

    def variance(f: F, a: V, b: V) -> V:
        return Kumaraswamy.moment(f, a, b, 2) - Kumaraswamy.moment(f, a, b, 1) ** 2

    def entropy(f: F, a: V, b: V) -> V:
        t1, t0 = 1 - f.reciprocal(a), 1 - f.reciprocal(b)
        return t0 + t1 * (f.digamma(b + 1) + EULER) - f.log(a) - f.log(b)


class VonMises(Family):
    """Angles around `loc`, the more concentrated the larger `concentration` is; the variance is the circular one."""

    parameters = ("loc", "concentration")

    def mean(f: F, loc: V, concentration: V) -> V:
        return loc

    mode = mean

    def variance(f: F, loc: V, concentration: V) -> V:
        return 1 - f.i1e(concentration) / f.i0e(concentration)

    def log_prob(f: F, x: V, loc: V, concentration: V) -> V:
        log_i0 = f.log(f.i0e(concentration)) + concentration
        return concentration * f.cos(x - loc) - math.log(2 * math.pi) - log_i0


class MultivariateNormal(Family):
    """Normal vectors with the mean `loc`, of a covariance with the lower Cholesky factor `scale_tril`."""

    parameters = ("loc", "scale_tril")

    def half_log_det(f: F, factor: V) -> V:
        """Half the logarithm of the determinant of the covariance with this factor."""
        return f.sum(f.log(f.diagonal(factor)))

    def log_prob(f: F, x: V, loc: V, factor: V) -> V:
        squares = f.mahalanobis(factor, x - loc)
        n = loc.shape[-1]
        return -0.5 * (n * math.log(2 * math.pi) + squares) - MultivariateNormal.half_log_det(f, factor)

    def entropy(f: F, loc: V, factor: V) -> V:
        n = loc.shape[-1]
        return 0.5 * n * (1.0 + math.log(2 * math.pi)) + MultivariateNormal.half_log_det(f, factor)


class LKJCholesky(Family):
    """Lower Cholesky factors of correlation matrices with a density proportional to det^(concentration - 1)
    (Lewandowski, Kurowicka and Joe 2009)."""

    parameters = ("dim", "concentration")

    def log_prob(f: F, x: V, dim: int, concentration: V) -> V:
        diagonal = f.diagonal(x)[..., 1:]
        order = 2 * f.column(concentration - 1) + dim - f.arange(2, dim + 1, concentration)
        less = dim - 1
        alpha = concentration + 0.5 * less
        normaliser = 0.5 * less * math.log(math.pi) + f.mvlgamma(alpha - 0.5, less) - f.lgamma(alpha) * less
        return f.sum(order * f.log(diagonal)) - normaliser
