"""Maps with their inverses and the logarithms of their slopes, for flows and constrained parameters.

Like the families, maps are classes that are never instantiated: `forward(f, x, *parameters)`, `inverse(f, y, *parameters)`
and `log_slope(f, x, y, *parameters)`, of a dialect's vocabulary, a value, a function that gives its image, and the parameters.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from .family import F, V

Image = Callable[[], V]


class Map:
    """A map's formulas."""

    parameters: tuple[str, ...] = ()


class Exp(Map):
    """y = exp(x)."""

    def forward(f: F, x: V) -> V:
        return f.exp(x)

    def inverse(f: F, y: V) -> V:
        return f.log(y)

    def log_slope(f: F, x: V, y: Image) -> V:
        return x


class Power(Map):
    """y = x ** exponent for positive x."""

    parameters = ("exponent",)

    def forward(f: F, x: V, exponent: V) -> V:
        return x**exponent

    def inverse(f: F, y: V, exponent: V) -> V:
        return y ** (1 / exponent)

    def log_slope(f: F, x: V, y: Image, exponent: V) -> V:
        return f.log(f.abs(exponent * y() / x))


class Sigmoid(Map):
    """y = 1 / (1 + exp(-x))."""

    def forward(f: F, x: V) -> V:
        return f.sigmoid(x)

    def inverse(f: F, y: V) -> V:
        return f.log(y) - f.log1p(-y)

    def log_slope(f: F, x: V, y: Image) -> V:
        return -f.softplus(-x) - f.softplus(x)


class Softplus(Map):
    """y = log(1 + exp(x))."""

    def forward(f: F, x: V) -> V:
        return f.softplus(x)

    def inverse(f: F, y: V) -> V:
        return f.log(-f.expm1(-y)) + y

    def log_slope(f: F, x: V, y: Image) -> V:
        return -f.softplus(-x)


class Tanh(Map):
    """y = tanh(x)."""

    def forward(f: F, x: V) -> V:
        return f.tanh(x)

    def inverse(f: F, y: V) -> V:
        return f.atanh(y)

    def log_slope(f: F, x: V, y: Image) -> V:
        # log(1 - tanh(x)^2) without cancellation for large |x|
        return 2.0 * (math.log(2.0) - x - f.softplus(-2.0 * x))


class Abs(Map):
    """y = |x|; its inverse returns y."""

    def forward(f: F, x: V) -> V:
        return f.abs(x)

    def inverse(f: F, y: V) -> V:
        return y


class Affine(Map):
    """y = loc + scale * x."""

    parameters = ("loc", "scale")

    def forward(f: F, x: V, loc: V, scale: V) -> V:
        return loc + scale * x

    def inverse(f: F, y: V, loc: V, scale: V) -> V:
        return (y - loc) / scale

    def log_slope(f: F, x: V, y: Image, loc: V, scale: V) -> V:
        return f.log(f.abs(scale))


class StickBreaking(Map):
    """Vectors of n entries to points of the simplex with n + 1: each breaks its share off what is left of a stick."""

    def moved(f: F, x: V) -> V:
        """The log odds of the shares: those of equal parts for x = 0."""
        n = x.shape[-1]
        return x - f.log(f.arange(n, 0, x))

    def forward(f: F, x: V) -> V:
        shares = f.unit_sigmoid(StickBreaking.moved(f, x))
        return f.pad(shares, 0, 1) * f.pad(f.cumprod(1 - shares), 1, 0)

    def inverse(f: F, y: V) -> V:
        kept = y[..., :-1]
        left = f.positive(1 - f.cumsum(kept))
        return f.log(kept) - f.log(left) + f.log(f.arange(kept.shape[-1], 0, kept))

    def log_slope(f: F, x: V, y: Image) -> V:
        moved = StickBreaking.moved(f, x)
        return f.sum(-moved + f.log_sigmoid(moved) + f.log(y()[..., :-1]))
