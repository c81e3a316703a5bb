"""What whole numbers divided by zero give: the extremes of the dtype, as MindSpore has them, and no error."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, content, dtype_of
from ...ops import comparison as cmp
from ...ops import selection as sel
from .._shared.elementwise import constant
from ._dtype import FROM_NUMPY
from ._promote import to_dtype


def _divides_by_zero(out: Any, divisor: Any) -> bool:
    if dtype_of(out).kind not in "iu":
        return False
    array = content(divisor) if isinstance(divisor, Value) else np.asarray(divisor)
    return not isinstance(array, np.ndarray) or not array.all()


def _alike(out: Any, x: Any) -> Any:
    return to_dtype(x, FROM_NUMPY[dtype_of(out)])


def quotient(out: Any, x: Any, y: Any) -> Any:
    """A whole quotient with the largest number (of the sign of x) where y is 0, and 0 for 0 / 0."""
    if not _divides_by_zero(out, y):
        return out
    d = dtype_of(out)
    x, y, zero = _alike(out, x), _alike(out, y), constant(0, d)
    below = sel.where(cmp.less(x, zero), constant(int(np.iinfo(d).min), d), zero)
    extreme = sel.where(cmp.greater(x, zero), constant(int(np.iinfo(d).max), d), below)
    return sel.where(cmp.equal(y, zero), extreme, out)


def lost(out: Any, x: Any, y: Any) -> Any:
    """A result that was infinite or nan before it became whole: the smallest number where y is 0, 0 in 16 bits and less."""
    if not _divides_by_zero(out, y):
        return out
    d = dtype_of(out)
    least = int(np.iinfo(d).min) if d.kind == "i" and d.itemsize >= 4 else 0
    return sel.where(cmp.equal(_alike(out, y), constant(0, d)), constant(least, d), out)


def rest(out: Any, x: Any, y: Any) -> Any:
    """The rest of a division, x itself where y is 0."""
    if not _divides_by_zero(out, y):
        return out
    return sel.where(cmp.equal(_alike(out, y), constant(0, dtype_of(out))), _alike(out, x), out)
