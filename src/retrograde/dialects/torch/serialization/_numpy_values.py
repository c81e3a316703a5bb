"""NumPy scalars, arrays and dtypes inside PyTorch's files, without NumPy's own (unrestricted) constructors.

A caller that admits them passes `NUMPY_FUNCTIONS` and `NUMPY_CONSTANTS` to a reader; PyTorch itself refuses
them while `weights_only` is on, unless the user registers them.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ._records import GlobalName

# Numbers, bools and text of fixed length; objects and records would bring Python objects with them.
_KINDS = "biufcSU"


def _dtype(code: Any, align: Any = False, copy: Any = True) -> np.dtype:
    dtype = np.dtype(code) if isinstance(code, str) else None
    if dtype is None or dtype.kind not in _KINDS:
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
    if not isinstance(dtype, np.dtype) or dtype.kind not in _KINDS or not isinstance(data, bytes):
        raise TypeError("a NumPy array that is not its shape, dtype and bytes")
    complete: Any = (1, shape, dtype, bool(in_fortran_order), data)
    target.__setstate__(complete)


NUMPY_FUNCTIONS: Mapping[str, Callable[..., Any]] = {
    "numpy.dtype": _dtype,
    **{f"numpy.{core}.multiarray.scalar": _scalar for core in ("_core", "core")},
    **{f"numpy.{core}.multiarray._reconstruct": _array for core in ("_core", "core")},
}
NUMPY_CONSTANTS: Mapping[str, Any] = {"numpy.ndarray": np.ndarray}


def numpy_parts(value: np.generic | np.ndarray | np.dtype) -> tuple[str, tuple[Any, ...], Any]:
    """Return name, arguments and state that rebuild a NumPy value; raises TypeError for one of Python objects."""
    dtype = value if isinstance(value, np.dtype) else value.dtype
    if dtype.kind not in _KINDS or not dtype.isnative:
        raise TypeError(f"torch.save: NumPy values of dtype {dtype} cannot be stored; convert them to numbers first")
    if isinstance(value, np.dtype):
        reduced: Any = value.__reduce__()
        return "numpy.dtype", reduced[1], reduced[2]
    if isinstance(value, np.generic):
        return "numpy._core.multiarray.scalar", (dtype, value.tobytes()), None
    data = np.ascontiguousarray(value).tobytes()
    args = (GlobalName("numpy.ndarray"), (0,), b"b")
    return "numpy._core.multiarray._reconstruct", args, (1, value.shape, dtype, False, data)
