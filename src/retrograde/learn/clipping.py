"""Keeping gradients within bounds: norms of several values together, and scaling them in place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .._state import OBSERVERS, grad_mode
from ..core.value import dtype_of, ndim_of
from ..ops.elementwise import add, divide, multiply
from ..ops.norms import vector_norm
from ..ops.selection import clip
from ..ops.structural import cast, stack
from ..tape import inplace, mutation


def norm(x: Any, ord: float = 2.0) -> Any:
    """The norm of all elements of a value."""
    return vector_norm(x, ord=float(ord), axis=tuple(range(ndim_of(x))), keepdims=False)


def total_norm(xs: Sequence[Any], ord: float = 2.0) -> Any:
    """The norm of all elements of several values, or arrays, together: that of their norms, in the widest of their dtypes."""
    if ord == 2.0:
        found = _lengths(xs)
        if found is not None:
            return norm(found, ord)
    norms = [norm(x, ord) for x in xs]
    widest = np.result_type(*{dtype_of(n) for n in norms})
    if type(norms[0]) is np.ndarray:
        return norm(np.array(norms, widest), ord)
    return norm(stack(*(n if dtype_of(n) == widest else cast(n, dtype=widest) for n in norms), axis=0), ord)


def _lengths(xs: Sequence[Any]) -> np.ndarray | None:
    """The norms of order 2 of arrays, where all are NumPy's, of one dtype of numbers that BLAS knows and several elements."""
    dtype = dtype_of(xs[0])
    if dtype.char not in "fd":
        return None
    squares = []
    for x in xs:
        if type(x) is not np.ndarray or x.dtype is not dtype or x.size < 2:
            return None
        flat = x.ravel()
        squares.append(flat.dot(flat))
    return np.sqrt(np.array(squares, dtype))


def scale_(x: Any, factor: Any) -> None:
    """Multiply a value in place and unrecorded, by an array or a value of one element."""
    a = x._a
    if type(a) is np.ndarray and type(factor) is np.ndarray and not OBSERVERS:
        np.multiply(a, factor if factor.dtype is a.dtype else factor.astype(a.real.dtype), a)
        mutation.note(a)
        return
    by = float(factor) if type(factor) is np.ndarray else factor
    with grad_mode(False):
        inplace.update("clip", x, lambda: cast(multiply(x, by), dtype=dtype_of(x)))


def clip_(x: Any, low: float | None, high: float | None) -> None:
    """Limit the elements of a value to `low ... high`, in place and unrecorded."""
    with grad_mode(False):
        inplace.update("clip", x, lambda: clip(x, low=low, high=high))


def clip_total_(xs: Sequence[Any], total: Any, bound: float, eps: float = 0.0) -> None:
    """Scale values in place by bound / (total + eps) where that is below 1; `total` is their common norm, a value."""
    if OBSERVERS or type(total._a) is not np.ndarray:  # what computes later, or elsewhere, is not asked for its elements
        with grad_mode(False):
            by = clip(divide(float(bound), add(total, float(eps))), low=None, high=1.0)
        for x in xs:
            scale_(x, by)
        return
    found = total._a
    kind = found.dtype.type
    factor = np.asarray(np.minimum(kind(bound) / (found + kind(eps)), 1), found.dtype)
    arrays = [x._a for x in xs]
    if {*map(type, arrays)} != {np.ndarray} or {a.dtype for a in arrays} != {factor.dtype}:
        for x in xs:
            scale_(x, factor)
        return
    for a in arrays:
        np.multiply(a, factor, a)
    mutation.note_all(arrays)
