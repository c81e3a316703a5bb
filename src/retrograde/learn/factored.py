"""The update rules that look at a parameter as a matrix: Adafactor and Muon.

They need norms and products of whole arrays, so they take NumPy arrays only; 16-bit floats are computed in float32.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, TypeVar

import ml_dtypes
import numpy as np

from .._errors import UnsupportedError
from ..ops.samples import normal, sample, uniform
from .rules import rule_of_one
from .statements import Array, Native, lerp_weight

R = TypeVar("R", bound=Callable[..., None])


def _in_single(rule: R) -> R:
    """A rule on NumPy's arrays, whose 16-bit floats are computed in float32 and rounded at the end."""

    @functools.wraps(rule)
    def wide(p: Array, g: Array, *state: Array | None, **options: Any) -> None:
        if not isinstance(p, np.ndarray):
            raise UnsupportedError(f"{rule.__name__}: the parameter is a {type(p).__qualname__}; it has to be a NumPy array")
        if p.dtype.itemsize > 2:
            rule(p, g, *state, **options)
            return
        narrow = (p, *state)
        copies = [None if a is None else a.astype(np.float32) for a in narrow]
        rule(copies[0], g.astype(np.float32), *copies[1:], **options)
        for a, b in zip(narrow, copies):
            if a is not None:
                a[...] = b

    return wide  # type: ignore[return-value]


def _root_mean_square(x: Array) -> float:
    return float(np.linalg.norm(x)) / math.sqrt(x.size)


def _adafactor_samples() -> Any:
    options = (("step", 2), ("lr", 0.1), ("eps", (1e-8, 1e-3)))
    state = (uniform(0.1, 1, 3, 1), uniform(0.1, 1, 1, 2), None)
    yield sample(normal(3, 2), normal(3, 2, seed=1), *state, count=5, options=options)
    yield sample(normal(3), normal(3, seed=1), None, None, uniform(0.1, 1, 3), count=5, options=options)


def _averaged_samples() -> Any:
    options = (("lr", 0.1), ("keep", 0.9))
    yield sample(normal(3, 2), normal(3, 2, seed=1), uniform(0.1, 1, 3), uniform(0.1, 1, 2), None, normal(3, 2, seed=2),
                 count=6, options=options)  # fmt: skip


def _muon_samples() -> Any:
    options = (("lr", 0.1), ("step_size", 0.2))
    yield sample(*(normal(3, 2, seed=i).astype(np.float32) for i in range(3)), count=3, options=options)


@rule_of_one(_adafactor_samples, lambda s: ((*s[:-1], 1), (*s[:-2], 1, *s[-1:]), s))
@_in_single
def adafactor(
    p: Array, g: Array, rows: Array | None, columns: Array | None, variance: Array | None, *, step: float, lr: float,
    beta2_decay: float = -0.8, eps: tuple[float, float], d: float = 1.0, weight_decay: float = 0.0,
    maximize: bool = False,
) -> None:  # fmt: skip
    """Adafactor (Shazeer and Stern 2018) in place.

    Arrays of two and more axes keep `rows` (..., m, 1) and `columns` (..., 1, n), the factors of the squared gradient's
    moving average; others keep the average itself, `variance`.
    """
    if maximize:
        g = -g
    weight = lerp_weight(step**beta2_decay)
    alpha = max(eps[1], _root_mean_square(p)) * min(lr, 1 / math.sqrt(step))
    if weight_decay != 0:
        np.multiply(p, 1 - lr * weight_decay, p)
    if rows is not None and columns is not None:
        for factor, axis in ((rows, -1), (columns, -2)):
            norm = np.linalg.norm(g, axis=axis, keepdims=True)
            mean = np.square(norm, norm)
            np.divide(mean, g.shape[axis], mean)
            Native.lerp(factor, mean, *weight, np.empty_like(mean))
        estimate = rows @ columns
        np.divide(estimate, np.maximum(rows.mean(axis=-2, keepdims=True), eps[0]), estimate)
    else:
        assert variance is not None
        Native.lerp(variance, g * g, *weight, np.empty_like(g))
        estimate = variance.copy()
    update = np.maximum(estimate, eps[0] * eps[0], out=estimate)
    np.sqrt(update, update)
    np.divide(1.0, update, update)
    np.multiply(update, g, update)
    clipping = max(1.0, _root_mean_square(update) / d)
    Native.axpy(p, -alpha / clipping, update, np.empty_like(update))


@rule_of_one(_averaged_samples, lambda s: (s[:-1], (*s[:-2], *s[-1:]), s, s))
@_in_single
def adafactor_averaged(
    p: Array, g: Array, rows: Array | None, columns: Array | None, variance: Array | None, average: Array | None, *,
    lr: float, keep: float, eps: tuple[float, float] = (1e-30, 1e-3), d: float = 1.0, beta1: float = 0.9,
    scaled: bool = True, weight_decay: float = 0.0,
) -> None:  # fmt: skip
    """Adafactor in place with an `average` of the updates, and `keep` and `lr` of this step given by the caller.

    `rows` (..., m) and `columns` (..., n), or `variance`. scaled: the rate is relative to the parameter's size.
    """
    step_size = lr * max(eps[1], _root_mean_square(p)) if scaled else lr
    square = g * g + g.dtype.type(eps[0])
    if rows is not None and columns is not None:
        for factor, axis in ((rows, -1), (columns, -2)):
            factor *= keep
            factor += (1 - keep) * square.mean(axis=axis)
        update = g / np.sqrt((rows / rows.mean(axis=-1, keepdims=True))[..., None] * columns[..., None, :])
    else:
        assert variance is not None
        variance *= keep
        variance += (1 - keep) * square
        update = g / np.sqrt(variance)
    update *= step_size / max(1.0, _root_mean_square(update) / d)
    if average is not None:
        average *= beta1
        average += (1 - beta1) * update
        update = average
    p *= 1 - weight_decay * step_size
    p -= update


def _short(x: Array) -> Array:
    """Rounded to bfloat16 and back to float32."""
    return x.astype(ml_dtypes.bfloat16).astype(np.float32)


def orthogonalized(g: Array, coefficients: tuple[float, float, float], steps: int, eps: float) -> Array:
    """Nearly the orthogonal factor of a matrix, by a quintic Newton-Schulz iteration rounded to bfloat16 throughout.

    Singular values end near 1, not at it: the coefficients favour speed (Jordan et al. 2024).
    """
    a, b, c = coefficients
    x = _short(g)
    tall = x.shape[0] > x.shape[1]
    if tall:
        x = x.T
    x = _short(x / max(_short(np.linalg.norm(x)), np.float32(eps)))
    for _ in range(steps):
        gram = _short(x @ x.T)
        polynomial = _short(b * gram + c * (gram @ gram))
        x = _short(a * x + polynomial @ x)
    return x.T if tall else x


@rule_of_one(_muon_samples)
@_in_single
def muon(
    p: Array, g: Array, buffer: Array, *, lr: float, step_size: float, weight_decay: float = 0.1,
    momentum: float = 0.95, nesterov: bool = True, coefficients: tuple[float, float, float] = (3.4445, -4.775, 2.0315),
    eps: float = 1e-7, steps: int = 5,
) -> None:  # fmt: skip
    """Muon (Jordan et al. 2024) in place on a matrix: momentum, then a step along its orthogonal factor.

    `step_size` is `lr` after any adjustment for the matrix's shape; the decay of the weights uses `lr` itself.
    """
    t = np.empty_like(p)
    Native.lerp(buffer, g, *lerp_weight(1 - momentum), t)
    update = buffer
    if nesterov:
        update = g.copy()
        Native.lerp(update, buffer, *lerp_weight(momentum), t)
    direction = orthogonalized(update, coefficients, steps, eps).astype(p.dtype)
    np.multiply(p, 1 - lr * weight_decay, p)
    Native.axpy(p, -step_size, direction, t)
