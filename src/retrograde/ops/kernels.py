"""What kernels of several files share: half precision computed in single, and SciPy's special functions."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np

Kernel = Callable[..., Any]

# Array libraries with a special-function module of their own; the others' arrays go through SciPy's ufuncs.
_SPECIAL_MODULES = {"cupy": "cupyx.scipy.special"}
_loaded: dict[str, Any] = {}


def is_half(dtype: np.dtype) -> bool:
    """Whether a dtype is float16 or bfloat16 (whose kind NumPy calls V)."""
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def in_single(x: Any) -> Any:
    """A half-precision array in single precision; any other as it is."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def widened(kernel: Kernel) -> Kernel:
    """A kernel of several steps: in half precision it computes in single and rounds once, at the end."""

    @functools.wraps(kernel)
    def wide(xp: Any, *arrays: Any, **params: Any) -> Any:
        dtype = arrays[0].dtype
        if dtype.itemsize != 2 or dtype.kind in "iu":
            return kernel(xp, *arrays, **params)
        given = (x.astype(np.float32) if x is not None and x.dtype == dtype else x for x in arrays)
        out = kernel(xp, *given, **params)
        return out.astype(dtype) if out.dtype == np.float32 else out

    return wide


def special_functions(xp: Any) -> Any:
    """The module of special functions for arrays of a namespace; imported when it is first asked for."""
    library = xp.__name__.rpartition(".")[2]
    found = _loaded.get(library)
    if found is None:
        found = _loaded[library] = importlib.import_module(_SPECIAL_MODULES.get(library, "scipy.special"))
    return found


def special(name: str) -> Kernel:
    """The kernel that is the function `name` of SciPy's special module; name its operands at registration."""

    def kernel(xp: Any, *arrays: Any) -> Any:
        return getattr(special_functions(xp), name)(*arrays)

    return widened(kernel)


def zero_of(x: Any) -> Any:
    """The scalar 0 in the dtype of an array: beside a bfloat16 array a Python number would widen the result."""
    return x.dtype.type(0)
