"""NumPy: the backend that is always there. Kernels run on it directly; 0-d results are kept as arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit import copies
from .lookup import Backend, register_backend

_NUMBERS = (np.generic, np.ndarray, bool, int, float, complex)
"""What kernels give for an array without axes, but for another library's array, which what moves elements to a device gives."""


class NumpyBackend(Backend):
    """Evaluates kernels with `numpy` itself as the namespace."""

    name = "numpy"
    xp = np

    def evaluate(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        out = prim.numpy_kernel(*arrays, **params)
        if type(out) is tuple:
            return tuple(x if type(x) is np.ndarray else np.asarray(x) for x in out)
        return out if type(out) is np.ndarray or not isinstance(out, _NUMBERS) else np.asarray(out)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> np.ndarray:
        return np.full(shape, value, dtype)

    def write(self, target: np.ndarray, new: Any) -> np.ndarray:
        large = target.size >= copies.MOVED and type(new) is np.ndarray and new.shape == target.shape
        if not (large and not np.may_share_memory(target, new) and copies.copy(target, new)):
            np.copyto(target, new, casting="unsafe")
        return target

    def snapshot(self, array: np.ndarray) -> np.ndarray:
        return array.copy()

    def from_host(self, array: np.ndarray, like: Any) -> np.ndarray:
        return array

    def asarray(self, value: Any, dtype: Any = None) -> np.ndarray:
        return np.asarray(value, dtype=dtype)


NUMPY = NumpyBackend()
register_backend(np.ndarray, NUMPY)
register_backend(np.generic, NUMPY)


class Silent:
    """NumPy says nothing of floating-point errors inside: `np.errstate(all="ignore")`, which takes 0.7 µs, in 0.2.

    That computes anew each time what it puts into NumPy's context variable, and what that is never changes.
    """

    __slots__ = ("_token",)

    def __enter__(self) -> None:
        self._token = FLOAT_ERRORS.set(IGNORED)

    def __exit__(self, *exception: object) -> None:
        FLOAT_ERRORS.reset(self._token)


class _ErrorState:
    """`np.seterr` by the names of a context variable's methods, for a NumPy that keeps this elsewhere."""

    @staticmethod
    def set(new: dict[str, Any]) -> dict[str, Any]:
        return dict(np.seterr(**new))

    reset = set


_UMATH: Any = getattr(getattr(np, "_core", None), "umath", None)
FLOAT_ERRORS: Any = getattr(_UMATH, "_extobj_contextvar", _ErrorState)
"""NumPy's context variable that says what it does about floating-point errors."""
IGNORED: Any = {"all": "ignore"} if FLOAT_ERRORS is _ErrorState else _UMATH._make_extobj(all="ignore")
"""What the variable holds where they are ignored."""


def _keep_memory() -> None:
    """Let the C library's allocator keep freed memory for the next array instead of handing it back page by page.

    glibc learns from the largest block that was freed: after one of 16 MiB (never touched, so it costs nothing), smaller
    arrays come from the heap, and up to 32 MiB stay there. Without it a network with second derivatives on 256 points may
    take 176 page faults a step, depending on where the heap happens to end (1.29 ms instead of 1.0).
    """
    np.empty(1 << 24, np.uint8)


_keep_memory()
