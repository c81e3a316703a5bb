"""Dtypes across array libraries: what kernels and shape rules ask of one, and a library's dtype for one of ours.

Ours are NumPy's, with bfloat16 and the float8 of ml_dtypes. A library whose arrays have dtypes of its own makes them known
with `register_dtypes`; from then on the predicates, which take a dtype or anything that has one, understand its arrays, too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .jit.halves import converted

NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "bfloat16", "float32",
    "float64", "complex64", "complex128",
)  # fmt: skip

_OURS: dict[Any, np.dtype] = {}


def register_dtypes(xp: Any) -> None:
    """Make the dtypes of an array-API namespace known."""
    for name in NAMES:
        theirs = getattr(xp, name, None)
        if theirs is not None and not isinstance(theirs, (np.dtype, type)):
            _OURS[theirs] = _named(name)


def _named(name: str) -> np.dtype:
    if name == "bfloat16":
        import ml_dtypes

        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype(name)


def numpy_dtype(dtype: Any) -> np.dtype:
    """A library's dtype as one of ours; raises TypeError for one that is not known."""
    if isinstance(dtype, np.dtype):
        return dtype
    found = _OURS.get(dtype)
    if found is None:
        raise TypeError(f"the dtype {dtype!r} has no counterpart among NumPy's; cast the array to one that has")
    return found


def kind_of(x: Any) -> str:
    """The kind of the elements: b(ool), i(nteger), u(nsigned), f(loating) or c(omplex)."""
    dtype = getattr(x, "dtype", x)
    kind = dtype.kind if isinstance(dtype, np.dtype) else numpy_dtype(dtype).kind
    return "f" if kind == "V" else kind  # NumPy calls the kind of bfloat16 V


def is_boolean(x: Any) -> bool:
    """Whether the elements are truths."""
    return kind_of(x) == "b"


def is_integer(x: Any) -> bool:
    """Whether the elements are whole numbers, signed or not."""
    return kind_of(x) in "iu"


def is_unsigned(x: Any) -> bool:
    """Whether the elements are whole numbers without sign."""
    return kind_of(x) == "u"


def is_floating(x: Any) -> bool:
    """Whether the elements are real numbers that need not be whole."""
    return kind_of(x) == "f"


def is_complex(x: Any) -> bool:
    """Whether the elements are complex numbers."""
    dtype = getattr(x, "dtype", x)
    return (dtype if isinstance(dtype, np.dtype) else numpy_dtype(dtype)).kind == "c"


def is_inexact(x: Any) -> bool:
    """Whether the elements are real or complex numbers that need not be whole."""
    return kind_of(x) in "fc"


def is_half(x: Any) -> bool:
    """Whether the elements are of float16 or bfloat16."""
    dtype = getattr(x, "dtype", x)
    if not isinstance(dtype, np.dtype):
        dtype = numpy_dtype(dtype)
    return dtype.itemsize == 2 and dtype.kind not in "iu"


def real_of(dtype: Any) -> np.dtype:
    """The dtype of the parts of numbers of a dtype: float64 for complex128, a real dtype itself."""
    dtype = numpy_dtype(dtype)
    return np.dtype(f"f{dtype.itemsize // 2}") if dtype.kind == "c" else dtype


def complex_of(dtype: Any) -> np.dtype:
    """The complex dtype whose parts have a dtype: complex64 for float32 and what is narrower; a complex dtype itself."""
    dtype = numpy_dtype(dtype)
    if dtype.kind == "c":
        return dtype
    return np.dtype(np.complex64 if dtype.kind not in "iub" and dtype.itemsize <= 4 else np.complex128)


def dtype_in(xp: Any, dtype: Any) -> Any:
    """The dtype of a namespace for one of ours (or for its own); raises TypeError where it has none."""
    dtype = np.dtype(dtype) if isinstance(dtype, type) else numpy_dtype(dtype)
    if xp.__name__ == "numpy":
        return dtype
    found = getattr(xp, dtype.name, None)
    if found is None:
        raise TypeError(f"{xp.__name__} has no dtype {dtype.name}")
    return found


def device_in(x: Any) -> Any:
    """The device of an array as functions of the standard take it; None, which is theirs by default, of a library without any."""
    return getattr(x, "device", None)


def astype(xp: Any, x: Any, dtype: Any) -> Any:
    """The elements in another dtype, one of ours or of the namespace; `x` itself where it has it already."""
    if type(x) is np.ndarray:
        return x if x.dtype == dtype else converted(x, np.dtype(dtype))
    if isinstance(x, (np.ndarray, np.generic)):
        return x.astype(dtype, copy=False)
    wanted = dtype_in(xp, dtype)
    return x if x.dtype == wanted else xp.astype(x, wanted)
