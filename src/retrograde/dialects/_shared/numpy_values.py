"""NumPy scalars, arrays and dtypes inside pickles, without NumPy's own (unrestricted) constructors."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

# Numbers, bools and text of fixed length; objects and records would bring Python objects with them.
KINDS = "biufcSU"


def _dtype(code: Any, align: Any = False, copy: Any = True) -> np.dtype:
    dtype = np.dtype(code) if isinstance(code, str) else None
    if dtype is None or dtype.kind not in KINDS:
        raise ValueError(f"a NumPy dtype {code!r}")
    return dtype


def _scalar(dtype: Any, data: Any) -> Any:
    if not isinstance(dtype, np.dtype) or not isinstance(data, bytes) or len(data) != dtype.itemsize:
        raise ValueError("a NumPy scalar that is not its dtype and bytes")
    return np.frombuffer(data, dtype)[0]


def _array(kind: Any, shape: Any, code: Any) -> np.ndarray:
    if kind is not np.ndarray:
        raise TypeError(f"a NumPy array of class {kind!r}")
    return np.empty(0, np.int8)  # its shape, dtype and data follow


def set_numpy_state(target: np.ndarray | np.dtype, state: Any) -> None:
    """Complete an array or a dtype in place with the state that NumPy pickled for it.

    Raises TypeError or ValueError for a foreign byte order or a dtype that could hold objects.
    """
    if isinstance(target, np.dtype):
        native = "<" if sys.byteorder == "little" else ">"
        if not isinstance(state, tuple) or len(state) < 5 or state[1] not in ("|", "=", native):
            raise ValueError("a NumPy dtype of another byte order")
        if any(part is not None for part in state[2:5]):
            raise ValueError("a NumPy dtype with fields")
        return
    _version, shape, dtype, in_fortran_order, data = state
    if not isinstance(dtype, np.dtype) or dtype.kind not in KINDS or not isinstance(data, bytes):
        raise TypeError("a NumPy array that is not its shape, dtype and bytes")
    complete: Any = (1, shape, dtype, bool(in_fortran_order), data)
    target.__setstate__(complete)


NUMPY_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "numpy.dtype": _dtype,
    **{f"numpy.{core}.multiarray.scalar": _scalar for core in ("_core", "core")},
    **{f"numpy.{core}.multiarray._reconstruct": _array for core in ("_core", "core")},
}
NUMPY_CONSTANTS: Mapping[str, Any] = {"numpy.ndarray": np.ndarray}
