"""Distinct elements. Their number depends on values, so these need elements with one value each: not inside vmap.

Every nan is distinct. The distinct values carry the gradient to the first place where each occurs.
"""

from __future__ import annotations

import math
from collections import namedtuple
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.unwrap import concrete, elsewhere
from ..core.value import dtype_of, shape_of
from ..ops import counting
from ..ops import indexing as ix
from ..ops import structural as st
from . import elementwise, manipulation, reductions, searching
from ._values import new
from .conversion import value

if TYPE_CHECKING:
    from .core import Tensor

# What the functions of these names return.
UniqueAll = namedtuple("UniqueAll", "values indices inverse_indices counts")
UniqueCounts = namedtuple("UniqueCounts", "values counts")
UniqueInverse = namedtuple("UniqueInverse", "values inverse_indices")


def unique_of(name: str, x: Any, *, equal_nan: bool = False) -> tuple[Any, Any, Any, Any]:
    """The sorted distinct elements, where each occurs first, which of them each element is, and how often they occur."""
    x = value(x)
    shape = tuple(shape_of(x))
    array = elsewhere(x)
    if array is not None:
        first, inverse, counts = _where_it_is(array, equal_nan)
    else:
        _, first, inverse, counts = np.unique(
            concrete(name, x), return_index=True, return_inverse=True, return_counts=True, equal_nan=equal_nan
        )
        inverse = inverse.reshape(shape)
    values = ix.take(st.reshape(x, shape=(math.prod(shape),)), first, axis=0)
    return values, first, inverse, counts


def _where_it_is(array: Any, equal_nan: bool) -> tuple[Any, Any, Any]:
    """What `unique_of` returns but for the values, computed by the library that holds the elements."""
    values, inverse, counts = map(new, counting.unique(array, axis=None))
    if equal_nan and dtype_of(values).kind in "fc" and (nans := int(reductions.sum(elementwise.isnan(values))._a)) > 1:
        others = shape_of(values)[0] - nans  # they come last
        inverse = elementwise.minimum(inverse, others)
        counts = manipulation.concat([counts[:others], reductions.sum(counts[others:], keepdims=True)])
    first = searching.argsort(manipulation.reshape(inverse, (-1,)))[reductions.cumulative_sum(counts) - counts]
    return first._a, inverse._a, counts._a


def unique_all(x: Any, /) -> UniqueAll:
    """The sorted distinct elements, where each occurs first, which of them each element is, and how often they occur.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.unique_all(rg.asarray([3, 1, 3])).counts
    Tensor([1, 2])
    """
    values, first, inverse, counts = unique_of("unique_all", x)
    return UniqueAll(values, new(first), new(inverse), new(counts))


def unique_counts(x: Any, /) -> UniqueCounts:
    """The sorted distinct elements and how often they occur.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.unique_counts(rg.asarray([3, 1, 3])).counts
    Tensor([1, 2])
    """
    values, _, _, counts = unique_of("unique_counts", x)
    return UniqueCounts(values, new(counts))


def unique_inverse(x: Any, /) -> UniqueInverse:
    """The sorted distinct elements and which of them each element is.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.unique_inverse(rg.asarray([3, 1, 3])).inverse_indices
    Tensor([1, 0, 1])
    """
    values, _, inverse, _ = unique_of("unique_inverse", x)
    return UniqueInverse(values, new(inverse))


def unique_values(x: Any, /) -> Tensor:
    """The sorted distinct elements.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.unique_values(rg.asarray([3, 1, 3]))
    Tensor([1, 3])
    """
    return unique_of("unique_values", x)[0]
