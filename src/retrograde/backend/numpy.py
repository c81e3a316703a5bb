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


def _keep_memory() -> None:
    """Let the C library's allocator keep freed memory for the next array instead of handing it back page by page.

    glibc learns from the largest block that was freed: after one of 16 MiB (never touched, so it costs nothing), smaller
    arrays come from the heap, and up to 32 MiB stay there. Without it a network with second derivatives on 256 points may
    take 176 page faults a step, depending on where the heap happens to end (1.29 ms instead of 1.0).
    """
    np.empty(1 << 24, np.uint8)


_keep_memory()
