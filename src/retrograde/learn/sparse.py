"""The mathematics of sparse tensors: what is computed with the values at some places, the places being plain integer arrays.

Places have a row for each sparse axis and a column for each value, as in the coordinate form. Values are differentiated;
where they stand is not.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence

import numpy as np

from ..core.unwrap import constant
from ..core.value import Value, shape_of
from ..ops import elementwise as ew
from ..ops import indexing as ix
from ..ops import scatter_reduce as sr
from ..ops import structural as st

Places = np.ndarray


def flat(places: Places, sizes: Sequence[int]) -> np.ndarray:
    """Where each value stands when the sparse axes are one."""
    return (
        np.ravel_multi_index(tuple(places), tuple(sizes[: len(places)]))
        if len(places)
        else np.zeros(places.shape[1], int)
    )


def coalesced(places: Places, values: Value, sizes: Sequence[int]) -> tuple[Places, Value]:
    """Each place once, in order, the values of equal ones added."""
    unique, inverse = np.unique(flat(places, sizes), return_inverse=True)
    there = np.stack(np.unravel_index(unique, tuple(sizes[: len(places)]))).astype(np.int64)
    return there, added(values, inverse.reshape(-1), len(unique))


def added(values: Value, groups: np.ndarray, count: int) -> Value:
    """The sum of the values of each of `count` groups."""
    return ix.take_add(values, groups, shape=(count, *shape_of(values)[1:]), axis=0)


def dense(places: Places, values: Value, sizes: Sequence[int]) -> Value:
    """The tensor with all its elements."""
    if not len(places):
        return added(values, np.zeros(places.shape[1], np.int64), 1)
    return ix.advanced_add(values, *places, shape=tuple(sizes), axes=tuple(range(len(places))))


def picked(x: Value, places: Places) -> Value:
    """The elements of a dense tensor at some places."""
    return ix.advanced_index(x, *places, axes=tuple(range(len(places))))


def row_starts(rows: np.ndarray, count: int) -> np.ndarray:
    """Where each of `count` rows begins among values that are sorted by rows, and their number."""
    return np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=count))]).astype(np.int64)


def rows_of(starts: np.ndarray) -> np.ndarray:
    """The row of each value: the way back."""
    return np.repeat(np.arange(len(starts) - 1), np.diff(starts)).astype(np.int64)


def product(places: Places, values: Value, other: Value, rows: int) -> Value:
    """A sparse matrix, of so many rows, times a dense matrix or vector."""
    among = ix.take(other, places[1], axis=0)
    scale = st.reshape(values, shape=(places.shape[1], *(1,) * (len(shape_of(other)) - 1)))
    return added(ew.multiply(scale, among), places[0], rows)


def softmax(groups: np.ndarray, count: int, values: Value, logarithm: bool = False) -> Value:
    """The softmax over the values of each of `count` groups, or its logarithm."""
    shape, fixed = tuple(shape_of(values)), constant(values)
    at = np.broadcast_to(groups.reshape(-1, *(1,) * (len(shape) - 1)), shape).astype(np.int64)
    top = sr.scatter_reduce(
        added(fixed, groups, count), at, fixed, axis=0, reduce=sr.AMAX, include_self=False, x_ties=False
    )
    shifted = ew.subtract(values, ix.take(top, groups, axis=0))
    powers = ew.exp(shifted)
    total = ix.take(added(powers, groups, count), groups, axis=0)
    return ew.subtract(shifted, ew.log(total)) if logarithm else ew.divide(powers, total)


def summed(
    places: Places, shape: Sequence[int], axes: Collection[int], keepdims: bool = False
) -> tuple[Places, list[int], list[int]]:
    """How sums over axes are taken: where the values stand then, the axes that are summed within each value, the new shape."""
    kept = len(places)
    inner = [axis - kept + 1 for axis in sorted(axes) if axis >= kept]
    sizes = [1 if axis in axes else n for axis, n in enumerate(shape) if keepdims or axis not in axes]
    if keepdims:
        return np.where(np.isin(np.arange(kept), list(axes))[:, None], 0, places), inner, sizes
    return places[[axis for axis in range(kept) if axis not in axes]], inner, sizes


def joined(parts: Sequence[Places], shapes: Sequence[Sequence[int]], axis: int) -> tuple[Places, list[int]]:
    """Where values stand when tensors come one after the other along a sparse axis, and the shape of the whole."""
    starts = np.cumsum([0, *(shape[axis] for shape in shapes)])
    step = np.arange(len(parts[0]))[:, None] == axis
    whole = [int(starts[-1]) if i == axis else n for i, n in enumerate(shapes[0])]
    return np.concatenate([places + start * step for places, start in zip(parts, starts)], axis=1), whole


def groups_beside(places: Places, axis: int) -> tuple[np.ndarray, int]:
    """Which values differ in their place along an axis only: the number of each one's group, and how many groups there are."""
    others = np.delete(places, axis, 0)
    if not len(others):
        return np.zeros(places.shape[1], np.int64), 1
    _, group = np.unique(others, axis=1, return_inverse=True)
    group = group.reshape(-1).astype(np.int64)
    return group, int(group.max(initial=-1)) + 1


def common(first: np.ndarray, second: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which of two lists of places (`flat`, each place once) are in both: where in either."""
    _, mine, yours = np.intersect1d(first, second, assume_unique=True, return_indices=True)
    return mine.astype(np.int64), yours.astype(np.int64)


def nonzero(x: np.ndarray, sparse_axes: int) -> Places:
    """The places along the first axes at which an array has an element that is not zero."""
    there = x != 0
    if sparse_axes < x.ndim:
        there = there.any(axis=tuple(range(sparse_axes, x.ndim)))
    return np.stack(np.nonzero(there)).astype(np.int64)


__all__ = [
    "added", "coalesced", "common", "dense", "flat", "groups_beside", "joined", "nonzero", "picked", "product", "row_starts",
    "rows_of", "softmax", "summed",
]  # fmt: skip
