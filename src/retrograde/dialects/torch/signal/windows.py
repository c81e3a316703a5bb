"""`torch.signal.windows`: window functions of M points, symmetric unless `sym=False` makes them periodic."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..._shared.checks import check
from .._data import np_dtype_of
from .._size import check_device
from .._tensor import Tensor, from_array


def _window(formula: Callable[..., np.ndarray]) -> Callable[..., Tensor]:
    """A window from its formula, which takes M (a periodic window's is one larger) and the options, and gives M points."""
    name = formula.__name__

    @functools.wraps(formula)
    def window(M: int, *, sym: bool = True, dtype: Any = None, layout: Any = None, device: Any = None,
               requires_grad: bool = False, **options: Any) -> Tensor:  # fmt: skip
        check(name, "M >= 0", locals())
        if layout is not None and repr(layout) != "torch.strided":
            raise ValueError(f"{name}: windows are strided tensors, got layout={layout!r}")
        if sym and options.get("center") is not None:
            raise ValueError(f"{name}: only a periodic window (sym=False) has a centre other than its middle")
        check_device(name, device)
        kind = np_dtype_of(name, dtype)
        if kind not in (np.float32, np.float64):
            raise ValueError(f"{name}: dtype must be torch.float32 or torch.float64, got {dtype!r}")
        if M < 2:
            formula(3, **options)  # for its checks
            points = np.ones(M)
        else:
            points = formula(M if sym else M + 1, **options)[:M]
        return from_array(points.astype(kind), requires_grad, device)

    return window


def _angles(M: int) -> np.ndarray:
    return np.arange(M) * (2 * math.pi / (M - 1))


@_window
def general_cosine(M: int, *, a: Iterable[float]) -> np.ndarray:
    """The sum of (-1)^i a_i cos(2πik / (M - 1))."""
    if not isinstance(a, Iterable):
        raise TypeError(f"general_cosine: a must be a list of coefficients, got {type(a).__name__}")
    weights = list(a)
    if not weights:
        raise ValueError("general_cosine: a must have a coefficient")
    return sum((-1) ** i * w * np.cos(i * _angles(M)) for i, w in enumerate(weights))  # type: ignore[return-value]


@_window
def general_hamming(M: int, *, alpha: float = 0.54) -> np.ndarray:
    """alpha - (1 - alpha) cos(2πk / (M - 1))."""
    return alpha - (1 - alpha) * np.cos(_angles(M))


@_window
def hamming(M: int) -> np.ndarray:
    """0.54 - 0.46 cos(2πk / (M - 1))."""
    return 0.54 - 0.46 * np.cos(_angles(M))


@_window
def hann(M: int) -> np.ndarray:
    """(1 - cos(2πk / (M - 1))) / 2."""
    return 0.5 - 0.5 * np.cos(_angles(M))


@_window
def blackman(M: int) -> np.ndarray:
    """0.42 - 0.5 cos(2πk / (M - 1)) + 0.08 cos(4πk / (M - 1))."""
    return 0.42 - 0.5 * np.cos(_angles(M)) + 0.08 * np.cos(2 * _angles(M))


@_window
def nuttall(M: int) -> np.ndarray:
    """The minimum 4-term Blackman-Harris window of Nuttall."""
    weights = (0.3635819, 0.4891775, 0.1365995, 0.0106411)
    return sum((-1) ** i * w * np.cos(i * _angles(M)) for i, w in enumerate(weights))  # type: ignore[return-value]


@_window
def bartlett(M: int) -> np.ndarray:
    """The triangle 1 - |2k / (M - 1) - 1|."""
    return 1 - np.abs(np.arange(M) * 2 / (M - 1) - 1)


@_window
def cosine(M: int) -> np.ndarray:
    """sin(π(k + 1/2) / M)."""
    return np.sin(math.pi / M * (np.arange(M) + 0.5))


@_window
def exponential(M: int, *, center: float | None = None, tau: float = 1.0) -> np.ndarray:
    """exp(-|k - center| / tau); only a periodic window may have a centre other than the middle."""
    check("exponential", "tau > 0", locals())
    return np.exp(-np.abs(np.arange(M) - ((M - 1) / 2 if center is None else center)) / tau)


@_window
def gaussian(M: int, *, std: float = 1.0) -> np.ndarray:
    """exp(-(k - (M - 1) / 2)² / (2 std²))."""
    check("gaussian", "std > 0", locals())
    return np.exp(-((np.arange(M) - (M - 1) / 2) ** 2) / (2 * std**2))


@_window
def kaiser(M: int, *, beta: float = 12.0) -> np.ndarray:
    """I₀(beta sqrt(1 - (2k / (M - 1) - 1)²)) / I₀(beta)."""
    check("kaiser", "beta >= 0", locals())
    return np.i0(beta * np.sqrt(np.maximum(1 - (np.arange(M) * 2 / (M - 1) - 1) ** 2, 0))) / np.i0(beta)


__all__ = [
    "bartlett", "blackman", "cosine", "exponential", "gaussian", "general_cosine", "general_hamming", "hamming", "hann",
    "kaiser", "nuttall",
]  # fmt: skip
