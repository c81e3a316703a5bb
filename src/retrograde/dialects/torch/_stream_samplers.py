"""Rejection samplers, value by value, over a source of unit doubles; called by `_stream.Stream` only.

Each consumes as many draws as its rejections ask for, so it cannot be vectorised without changing the stream.
Poisson: multiplication below 10, else Hoermann's PTRS (1993). Binomial: inversion below 10 expected successes, else
Hoermann's BTRS (1993). Gamma: Marsaglia and Tsang (2000). Where Python raises and C gives inf or nan, C is followed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

_INT64_MIN = -(2.0**63)
_THIRD = float(np.float32(1.0) / np.float32(3.0))  # the reference rounds this constant to float32, in float64 too

# log(k!) less Stirling's leading terms, for k = 0..9; beyond that the asymptotic series serves.
_STIRLING_TAIL = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.010411265261972, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def poisson(rate: float, uniforms: Iterator[float]) -> float:
    """Draw one Poisson count for `rate` >= 0."""
    if rate >= 10.0:
        return _poisson_large(rate, uniforms)
    if rate == 0.0:
        return 0.0
    floor = math.exp(-rate)
    product, count = 1.0, 0
    while True:
        product *= next(uniforms)
        if product <= floor:
            return float(count)
        count += 1


def _poisson_large(rate: float, uniforms: Iterator[float]) -> float:
    root, log_rate = math.sqrt(rate), math.log(rate)
    b = 0.931 + 2.53 * root
    a = -0.059 + 0.02483 * b
    log_inverse_alpha = math.log(1.1239 + 1.1328 / (b - 3.4))
    quick = 0.9277 - 3.6224 / (b - 2.0)
    while True:
        u = next(uniforms) - 0.5
        v = next(uniforms)
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        k = _to_int64((2.0 * a / us + b) * u + rate + 0.43)
        if us >= 0.07 and v <= quick:
            return k
        if k < 0.0 or (us < 0.013 and v > us):
            continue
        bound = k * log_rate - rate - math.lgamma(k + 1.0)
        if _log(v) + log_inverse_alpha - math.log(a / (us * us) + b) <= bound:
            return k


def binomial(count: float, probability: float, uniforms: Iterator[float]) -> float:
    """Draw one number of successes in `count` trials; a nan in either argument gives nan."""
    if math.isnan(count) or math.isnan(probability):
        return math.nan
    if count <= 0.0 or probability <= 0.0:
        return 0.0
    if probability >= 1.0:
        return count
    if probability > 0.5:
        return count - _binomial_low(count, 1.0 - probability, uniforms)
    return _binomial_low(count, probability, uniforms)


def _binomial_low(count: float, p: float, uniforms: Iterator[float]) -> float:
    if count * p >= 10.0:
        return _binomial_large(count, p, uniforms)
    log_miss = math.log1p(-p)
    trials, successes = 0.0, 0
    while True:
        trials += _ceil(_log(next(uniforms)) / log_miss) if log_miss else math.inf
        if trials > count:
            return float(successes)
        successes += 1


def _binomial_large(count: float, p: float, uniforms: Iterator[float]) -> float:
    deviation = math.sqrt(count * p * (1.0 - p))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * p
    c = count * p + 0.5
    quick = 0.92 - 4.2 / b
    odds = p / (1.0 - p)
    alpha = (2.83 + 5.1 / b) * deviation
    mode = _floor((count + 1.0) * p)
    while True:
        u = next(uniforms) - 0.5
        v = next(uniforms)
        us = 0.5 - abs(u)
        if us == 0.0:
            continue
        k = _floor((2.0 * a / us + b) * u + c)
        if us >= 0.07 and v <= quick:
            return k
        if k < 0.0 or k > count:
            continue
        bound = (
            (mode + 0.5) * _log((mode + 1.0) / (odds * (count - mode + 1.0)))
            + (count + 1.0) * _log((count - mode + 1.0) / (count - k + 1.0))
            + (k + 0.5) * _log(odds * (count - k + 1.0) / (k + 1.0))
            + _stirling(mode)
            + _stirling(count - mode)
            - _stirling(k)
            - _stirling(count - k)
        )
        if _log(v * alpha / (a / (us * us) + b)) <= bound:
            return k


def gamma(alpha: float, uniforms: Iterator[float], normal: Callable[[], float], single: bool) -> float:
    """Draw one standard gamma value; `single` rounds the arithmetic on `alpha` to float32, as float32 tensors do."""
    scale = 1.0
    if alpha < 1.0:
        if alpha == 0.0:
            return 0.0
        power = 1.0 / alpha
        if single:
            power = float(np.float32(power))
        try:
            scale = (1.0 - next(uniforms)) ** power
        except OverflowError:
            scale = math.inf
        alpha += 1.0
        if single:
            alpha = float(np.float32(alpha))
    d = alpha - _THIRD
    if single:
        d = float(np.float32(d))
    c = 1.0 / math.sqrt(9.0 * d) if d > 0.0 else (math.nan if d else math.inf)
    while True:
        x = normal()
        y = 1.0 + c * x
        if y <= 0.0:
            continue
        v = y * y * y
        u = 1.0 - next(uniforms)
        xx = x * x
        if u < 1.0 - 0.0331 * xx * xx or math.log(u) < 0.5 * xx + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _stirling(k: float) -> float:
    if k <= 9.0:
        return _STIRLING_TAIL[int(k)]
    square = (k + 1.0) * (k + 1.0)
    return (1.0 / 12.0 - (1.0 / 360.0 - 1.0 / 1260.0 / square) / square) / (k + 1.0)


def _log(x: float) -> float:
    if x > 0.0:
        return math.log(x)
    return -math.inf if x == 0.0 else math.nan


def _floor(x: float) -> float:
    return float(math.floor(x)) if math.isfinite(x) else x


def _ceil(x: float) -> float:
    return float(math.ceil(x)) if math.isfinite(x) else x


def _to_int64(x: float) -> float:
    """Floor as a cast to int64 does, which answers its smallest value when out of range."""
    return float(math.floor(x)) if -(2.0**63) <= x < 2.0**63 else _INT64_MIN
