"""Window functions."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._shared.axes import integer
from ._api import api
from ._device import check_device
from ._dtype import as_dtype
from ._tensor import Tensor, from_array


def _window(name: str, shape: Any) -> None:
    @api(name, method=False)
    def f(window_length: int, periodic: bool = True, *args: Any, dtype: Any = "float32", layout: Any = None,
          device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
          **options: Any) -> Tensor:  # fmt: skip
        """A window of samples that falls off to both ends."""
        op = f.__name__
        check_device(op, device)
        n = integer(op, "window_length", window_length)
        if n < 1:
            raise ValueError(f"{op}: window_length must be positive, got {n}")
        if n == 1:
            return from_array(np.ones(1, as_dtype(op, dtype).np), not requires_grad)
        full = shape(n + bool(periodic), *args, **options)
        return from_array(full[:n].astype(as_dtype(op, dtype).np), not requires_grad)

    f.__name__ = f.__qualname__ = name


def _hamming(n: int, alpha: float = 0.54, beta: float = 0.46) -> np.ndarray:
    return np.asarray(alpha - beta * np.cos(2 * np.pi * np.arange(n) / (n - 1)))


def _kaiser(n: int, beta: float = 12.0) -> np.ndarray:
    return np.kaiser(n, beta)

_window("hann_window", np.hanning)

_window("hamming_window", _hamming)

_window("blackman_window", np.blackman)

_window("kaiser_window", _kaiser)

_window("bartlett_window", np.bartlett)
