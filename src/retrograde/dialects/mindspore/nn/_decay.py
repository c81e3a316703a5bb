"""The formulas of decaying learning rates, on Python floats or float32 alike, and the checks of their options."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ._checks import not_negative_float, positive_float


def _periods(step: Any, length: Any, stair: bool) -> Any:
    p = step / length
    return np.floor(p) if stair else p


def exponential(lr: Any, rate: Any, step: Any, length: Any, stair: bool) -> Any:
    """`lr * rate ** (step / length)`."""
    return lr * rate ** _periods(step, length, stair)


def natural(lr: Any, rate: Any, step: Any, length: Any, stair: bool) -> Any:
    """`lr * exp(-rate * step)`; by whole periods where `stair`."""
    return lr * np.exp(-rate * (_periods(step, length, True) * length if stair else step))


def inverse(lr: Any, rate: Any, step: Any, length: Any, stair: bool) -> Any:
    """`lr / (1 + rate * step / length)`."""
    return lr / (1 + rate * _periods(step, length, stair))


def cosine(low: Any, high: Any, step: Any, length: Any) -> Any:
    """Half a cosine wave from `high` at step 0 to `low` at `length`."""
    angle = np.cos((min(step, length) / length) * np.float32(math.pi) if isinstance(step, np.floating)
                   else min(step, length) / length * math.pi)  # fmt: skip
    return low + 0.5 * (high - low) * (1 + angle)


def polynomial(lr: Any, end: Any, step: Any, length: Any, power: Any, growing: bool) -> Any:
    """`end + (lr - end) * (1 - step / length) ** power`; where `growing` the length becomes a multiple of itself."""
    if growing:
        length = length * max(np.ceil(step / length), 1)
    return (lr - end) * (1 - min(step, length) / length) ** power + end


def warm_up(lr: Any, step: Any, length: Any) -> Any:
    """`lr * step / length` up to `lr`."""
    return lr * min(step, length) / length


# ------------------------------------------------------------------------------------------ options


def check_cosine(op: str, low: Any, high: Any) -> None:
    """Raise unless 0 <= low < high."""
    not_negative_float(op, "min_lr", low)
    positive_float(op, "max_lr", high)
    if low >= high:
        raise ValueError(f"{op}: max_lr must be greater than min_lr, got max_lr={high}, min_lr={low}")


def check_rates(op: str, lr: Any, rate: Any, stair: Any) -> None:
    """Raise unless both rates are positive floats and `stair` a bool."""
    positive_float(op, "learning_rate", lr)
    positive_float(op, "decay_rate", rate)
    if not isinstance(stair, bool):
        raise TypeError(f"{op}: is_stair must be a bool, got {type(stair).__name__}")


def check_polynomial(op: str, lr: Any, end: Any, power: Any, growing: Any) -> None:
    """Raise unless lr > end >= 0 and power > 0."""
    positive_float(op, "learning_rate", lr)
    not_negative_float(op, "end_learning_rate", end)
    positive_float(op, "power", power)
    if end >= lr:
        raise ValueError(f"{op}: end_learning_rate must be below learning_rate, got {end} and {lr}")
    if not isinstance(growing, bool):
        raise TypeError(f"{op}: the update flag must be a bool, got {type(growing).__name__}")
