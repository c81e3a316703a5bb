"""dtypes by identity: for each there is one object here, and every array that comes in gets it.

NumPy has equal dtypes as different objects: those of arrays that were unpickled, `newbyteorder("=")`, `longlong` beside
`int64`. An operation's result takes the object of its operand, and what is fast here asks `a.dtype is b.dtype`, which takes
half the time of `==`. So arrays are made canonical where they enter, and nowhere else.
"""

from __future__ import annotations

import numpy as np

_OWN = {
    np.dtype(name): np.dtype(name)
    for name in (
        "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
        "longdouble", "complex64", "complex128", "clongdouble",
    )
}  # fmt: skip
_FIRST_OF_USERS = 256
"""The number of the first dtype that other packages have registered, such as bfloat16."""


def canonical_dtype(dtype: np.dtype) -> np.dtype:
    """The one object for a dtype of numbers, in this machine's byte order; others as they are."""
    found = _OWN.get(dtype)
    if found is not None:
        return found
    if dtype.num >= _FIRST_OF_USERS:
        own = np.dtype(dtype.type)
        return own if own in (dtype, dtype.newbyteorder("=")) else dtype
    return dtype if dtype.isnative else _OWN.get(dtype.newbyteorder("="), dtype)


def canonical(array: np.ndarray) -> np.ndarray:
    """An array whose dtype is the one object for it: itself, a view of it, or, of another byte order, a copy."""
    have = array.dtype
    own = _OWN.get(have)
    if own is None:
        own = canonical_dtype(have)
    if own is have:
        return array
    return array.view(own) if own == have else array.astype(own)
