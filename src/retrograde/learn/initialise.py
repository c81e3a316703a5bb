"""Initial values of parameters: fans, gains, and the distributions that are made of draws.

Draws come in as callables, since each dialect has its own stream: `uniform(low, high)` and `normal(mean, std)` give an
array of the parameter's shape, drawn anew at each call. Shapes are (out, in, *field) unless a dialect says otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..ops.kernels import in_single

Draw = Callable[[float, float], Any]

GAINS: dict[str, float] = {
    "linear": 1, "conv1d": 1, "conv2d": 1, "conv3d": 1, "conv_transpose1d": 1, "conv_transpose2d": 1,
    "conv_transpose3d": 1, "sigmoid": 1, "tanh": 5.0 / 3, "relu": math.sqrt(2.0), "selu": 3.0 / 4,
}  # fmt: skip
"""The recommended factor for the deviation of weights before a nonlinearity; `leaky_relu_gain` gives leaky_relu's."""


def leaky_relu_gain(slope: float) -> float:
    """The factor for weights before a leaky_relu."""
    return math.sqrt(2.0 / (1 + slope**2))


def fans(shape: tuple[int, ...], out_first: bool = True) -> tuple[int, int]:
    """How many inputs an output has and how many outputs an input has, of a weight with 2 axes or more.

    (out, in, *field), or (in, out, *field) where not `out_first`.

    >>> fans((8, 3, 5, 5))
    (75, 200)
    """
    field = math.prod(shape[2:])
    first, second = shape[0] * field, shape[1] * field
    return (second, first) if out_first else (first, second)


def scaling_std(fan: float, gain: float = 1.0) -> float:
    """The deviation gain / sqrt(fan): for `fan` the fan-in or fan-out (He et al. 2015), or the mean of both (Glorot and
    Bengio 2010)."""
    return gain / math.sqrt(fan)


def glorot_std(fan_in: float, fan_out: float, gain: float = 1.0) -> float:
    """The deviation gain * sqrt(2 / (fan_in + fan_out)) (Glorot and Bengio 2010)."""
    return gain * math.sqrt(2.0 / float(fan_in + fan_out))


def uniform_bound(std: float) -> float:
    """The bound b for which U(-b, b) has a deviation."""
    return math.sqrt(3.0) * std


def truncated_normal(
    normal: Draw, uniform: Draw, mean: float, std: float, low: float, high: float
) -> np.ndarray:  # fmt: skip
    """Draws from the normal distribution cut to [low, high].

    Whole arrays are drawn until every element has met the bounds: normal numbers where more than 3 in 10 do, else
    uniform ones that are accepted with the ratio of their density to the largest (Robert 1995).
    """

    def cdf(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    by_normal = cdf((high - mean) / std) - cdf((low - mean) / std) > 0.3
    top = ((min(max(mean, low), high) - mean) / std) ** 2

    def draw() -> tuple[np.ndarray, np.ndarray]:
        if by_normal:
            x = np.asarray(normal(mean, std))
            return x, (x >= low) & (x <= high)
        x = np.asarray(uniform(low, high))
        return x, np.asarray(uniform(0, 1)) <= np.exp((top - ((x - mean) / std) ** 2) / 2)

    values, found = draw()
    while not found.all():
        x, accepted = draw()
        values = np.where(found, values, x)
        found = found | accepted
    return values


def orthogonal(drawn: np.ndarray, gain: float = 1.0) -> np.ndarray:
    """A matrix whose rows (columns, if there are fewer) are orthonormal times `gain`, from normal draws of its shape.

    Saxe, McClelland and Ganguli 2014. Half precision is computed in float32.
    """
    rows, columns = drawn.shape
    wide = in_single(drawn)
    q, r = np.linalg.qr(wide.T if rows < columns else wide)
    q = q * np.sign(np.diag(r))
    return gain * (q.T if rows < columns else q)


def dirac(shape: tuple[int, ...], groups: int = 1) -> np.ndarray:
    """Convolution weights (out, in / groups, *field) that pass as many channels as possible on unchanged, per group."""
    array = np.zeros(shape)
    per_group = shape[0] // groups
    centre = tuple(n // 2 for n in shape[2:])
    for g in range(groups):
        for d in range(min(per_group, shape[1])):
            array[(g * per_group + d, d, *centre)] = 1
    return array


def bilinear(shape: tuple[int, ...]) -> np.ndarray:
    """Weights (out, in, k, k) of a transposed convolution that magnifies nearly bilinearly.

    Of an element the row counts with its fraction, as in PaddlePaddle, so that the weights drift along each row.
    """
    size = shape[-1]
    factor = math.ceil(size / 2.0)
    centre = (2 * factor - 1 - factor % 2) / (2.0 * factor)
    at = np.arange(size * size).reshape(size, size)
    columns, rows = (1 - np.abs(place / factor - centre) for place in (at % size, at / size))
    return np.broadcast_to(columns * rows, shape).copy()
