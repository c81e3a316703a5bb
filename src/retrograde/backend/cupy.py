"""CuPy: NumPy's functions on a GPU. Its arrays have NumPy's dtypes and methods, so kernels run as they are."""

from __future__ import annotations

from typing import Any

import array_api_compat.cupy as compat
import cupy
import numpy as np

from .lookup import Backend, register_backend


class CupyBackend(Backend):
    """Evaluates kernels on the array's device."""

    name = "cupy"
    xp = compat

    def device_of(self, array: Any) -> Any:
        return array.device

    def on_host(self, array: Any) -> bool:
        return False

    def snapshot(self, array: Any) -> Any:
        return array.copy()

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
        with like.device:
            return cupy.full(shape, value, dtype)

    def from_host(self, array: np.ndarray, like: Any) -> Any:
        return self.placed(array, like.device)

    def placed(self, host: np.ndarray, device: Any) -> Any:
        with device:
            return cupy.asarray(host)

    def to_host(self, array: Any) -> np.ndarray:
        return cupy.asnumpy(array)

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        return cupy.asarray(value, dtype=dtype)


register_backend(cupy.ndarray, CupyBackend())
