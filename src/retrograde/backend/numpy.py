"""NumPy: the backend that is always there. Kernels run on it directly; 0-d results are kept as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .lookup import Backend, register_backend


class NumpyBackend(Backend):
    """Evaluates kernels with `numpy` itself as the namespace."""

    name = "numpy"
    xp = np

    def run(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        out = prim.numpy_kernel(*arrays, **params)
        if type(out) is tuple:
            return tuple(x if type(x) is np.ndarray else np.asarray(x) for x in out)
        return out if type(out) is np.ndarray else np.asarray(out)

    def to_numpy(self, array: Any) -> np.ndarray:
        return np.asarray(array)

    def asarray(self, value: Any, dtype: Any = None) -> np.ndarray:
        return np.asarray(value, dtype=dtype)


NUMPY = NumpyBackend()
register_backend(np.ndarray, NUMPY)
register_backend(np.generic, NUMPY)
