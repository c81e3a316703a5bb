"""Maps with their inverses and the logarithms of their slopes, for flows and constrained parameters."""

from __future__ import annotations

import math

from .family import F, Map, V

Exp = Map(
    "Exp", "y = exp(x).",
    forward=lambda f, x: f.exp(x),
    inverse=lambda f, y: f.log(y),
    log_slope=lambda f, x, y: x,
)  # fmt: skip
Power = Map(
    "Power", "y = x ** exponent for positive x.", "exponent",
    forward=lambda f, x, exponent: x**exponent,
    inverse=lambda f, y, exponent: y ** (1 / exponent),
    log_slope=lambda f, x, y, exponent: f.log(f.abs(exponent * y() / x)),
)  # fmt: skip
Sigmoid = Map(
    "Sigmoid", "y = 1 / (1 + exp(-x)).",
    forward=lambda f, x: f.sigmoid(x),
    inverse=lambda f, y: f.log(y) - f.log1p(-y),
    log_slope=lambda f, x, y: -f.softplus(-x) - f.softplus(x),
)  # fmt: skip
Softplus = Map(
    "Softplus", "y = log(1 + exp(x)).",
    forward=lambda f, x: f.softplus(x),
    inverse=lambda f, y: f.log(-f.expm1(-y)) + y,
    log_slope=lambda f, x, y: -f.softplus(-x),
)  # fmt: skip
Tanh = Map(
    "Tanh", "y = tanh(x).",
    forward=lambda f, x: f.tanh(x),
    inverse=lambda f, y: f.atanh(y),
    # log(1 - tanh(x)^2) without cancellation for large |x|
    log_slope=lambda f, x, y: 2.0 * (math.log(2.0) - x - f.softplus(-2.0 * x)),
)  # fmt: skip
Abs = Map("Abs", "y = |x|; its inverse returns y.", forward=lambda f, x: f.abs(x), inverse=lambda f, y: y)
Affine = Map(
    "Affine", "y = loc + scale * x.", "loc scale",
    forward=lambda f, x, loc, scale: loc + scale * x,
    inverse=lambda f, y, loc, scale: (y - loc) / scale,
    log_slope=lambda f, x, y, loc, scale: f.log(f.abs(scale)),
)  # fmt: skip


def _shares(f: F, x: V) -> V:
    """The log odds of the shares: those of equal parts for x = 0."""
    return x - f.log(f.arange(x.shape[-1], 0, x))


def _stick(f: F, x: V) -> V:
    shares = f.unit_sigmoid(_shares(f, x))
    return f.pad(shares, 0, 1) * f.pad(f.cumprod(1 - shares), 1, 0)


def _stick_inverse(f: F, y: V) -> V:
    kept = y[..., :-1]
    left = f.positive(1 - f.cumsum(kept))
    return f.log(kept) - f.log(left) + f.log(f.arange(kept.shape[-1], 0, kept))


def _stick_log_slope(f: F, x: V, y: V) -> V:
    shares = _shares(f, x)
    return f.sum(-shares + f.log_sigmoid(shares) + f.log(y()[..., :-1]))


StickBreaking = Map(
    "StickBreaking",
    "Vectors of n entries to points of the simplex with n + 1: each breaks its share off what is left of a stick.",
    forward=_stick, inverse=_stick_inverse, log_slope=_stick_log_slope,
)  # fmt: skip
