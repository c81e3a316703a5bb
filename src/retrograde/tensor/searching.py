"""Positions and choices: extremes' positions, nonzero, counts, sorted sequences, elements at positions.

What has a shape that depends on values (nonzero) needs elements with one value each: not inside vmap.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.value import Value, dtype_of, shape_of
from ..ops import counting
from ..ops import indexing as ix
from ..ops import reduction as red
from ..ops import sorting as order
from ..ops import structural as st
from ._values import axis_of, in_order, new, only_axis, positions, rank
from .conversion import value
from .operators import described
from .reductions import reduction

if TYPE_CHECKING:
    from .core import Tensor

_EXAMPLES = {
    "argmax": "rg.asarray([1.0, 3.0, 2.0]) -> Tensor(1)",
    "count_nonzero": "rg.asarray([[0, 1], [2, 3]]), axis=1 -> Tensor([1, 2])",
    "argmin": "rg.asarray([[2.0, 1.0], [0.0, 5.0]]), axis=1 -> Tensor([1, 0])",
}  # fmt: skip
"""What functions that are made below do to a few numbers, for their documentation."""


_POSITION = """The result has the shape of `x` without `axis`, or with length 1 there where `keepdims` is True, and no
derivative. Raises ShapeError for no elements."""


def _position(name: str, op: Any, doc: str) -> Callable[..., Tensor]:
    def f(x: Any, /, axis: int | None = None, keepdims: bool = False) -> Any:
        x = in_order(name, value(x))
        if axis is not None:
            return op(x, axis=axis_of(name, axis, rank(x)), keepdims=keepdims)
        shape = tuple(shape_of(x))
        out = op(st.reshape(x, shape=(math.prod(shape),)), axis=0, keepdims=False)
        return st.reshape(out, shape=(1,) * len(shape)) if keepdims else out

    return described(f, name, doc, _POSITION)


argmax = _position("argmax", red.argmax, "The position of the first greatest element along `axis` (None: of all in C order).")
argmin = _position("argmin", red.argmin, "The position of the first smallest element along `axis` (None: of all in C order).")
count_nonzero = reduction("count_nonzero", red.count_nonzero, "How many elements over `axis` are not zero.")


def nonzero(x: Any, /) -> tuple[Tensor, ...]:
    """The positions of the elements that are not zero, one tensor per axis; raises ValueError for a 0-d one.

    Examples
    --------
    >>> import retrograde as rg
    >>> nonzero(rg.asarray([0.0, 2.0, 3.0]))
    (Tensor([1, 2]),)
    """
    x = value(x)
    if not rank(x):
        raise ValueError("nonzero: a 0-d tensor has no positions; compare it with 0")
    return tuple(map(new, positions("nonzero", x)))


def searchsorted(x1: Any, x2: Any, /, *, side: str = "left", sorter: Any = None) -> Tensor:
    """Where each element of `x2` would be inserted into the sorted vector `x1`: before equal ones ("left") or behind.

    sorter: positions that sort `x1`, if it is not.

    The result has the shape of `x2` and no derivative.

    Raises ValueError for another `side` and for an `x1` that is no vector.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.searchsorted(rg.asarray([1.0, 3.0, 5.0]), rg.asarray([0.0, 4.0, 5.0]))
    Tensor([0, 2, 2])
    """
    if side not in ("left", "right"):
        raise ValueError(f"searchsorted: side is 'left' or 'right', not {side!r}")
    x1 = value(x1)
    if rank(x1) != 1:
        raise ValueError(f"searchsorted: wanted a vector to search in, got shape {tuple(shape_of(x1))}")
    if sorter is not None:
        x1 = ix.take(x1, value(sorter), axis=0)
    return counting.searchsorted(x1, value(x2), right=side == "right")


# ------------------------------------------------------------------------------------------ elements at positions


def take(x: Any, indices: Any, /, *, axis: int | None = None) -> Tensor:
    """The elements (slices) at integer positions along `axis`, which may be left out for one axis only.

    The result has the shape of `indices` in the place of `axis`. Raises TypeError for positions that are no
    integers, IndexError for one beyond the end.

    Examples
    --------
    >>> import retrograde as rg
    >>> take(rg.asarray([1.0, 2.0, 3.0]), rg.asarray([2, 0]))
    Tensor([3., 1.])
    """
    x, indices = value(x), value(indices)
    i = only_axis("take", axis, x)
    if dtype_of(indices).kind not in "iu":
        raise TypeError(f"take: wanted integers as positions, got dtype {dtype_of(indices)}")
    return ix.take(x, indices, axis=i)


def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Tensor:
    """For each position of `indices`, the element of `x` at the same place but along `axis` where it says.

    The other axes of the two broadcast. Negative positions count from the end.

    `indices` has as many axes as `x`; along `axis` the result is as long as `indices`. Raises TypeError for positions that
    are no integers, ValueError for another number of axes.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.take_along_axis(rg.asarray([[3.0, 1.0], [2.0, 4.0]]), rg.asarray([[1], [0]]), axis=1)
    Tensor([[1.],
            [2.]])
    """
    x, indices = value(x), value(indices)
    if dtype_of(indices).kind not in "iu":
        raise TypeError(f"take_along_axis: wanted integers as positions, got dtype {dtype_of(indices)}")
    i = axis_of("take_along_axis", axis, rank(x))
    if rank(indices) != rank(x):
        raise ValueError(f"take_along_axis: indices of {rank(indices)} axes for a tensor of {rank(x)}")
    n = shape_of(x)[i]
    have, places = list(shape_of(x)), list(shape_of(indices))
    have[i] = places[i] = 1
    common = np.broadcast_shapes(tuple(have), tuple(places))
    if dtype_of(indices).kind == "i":
        indices = indices + (indices < 0) * n
    x = st.broadcast_to(x, shape=(*common[:i], n, *common[i + 1 :]))
    indices = st.broadcast_to(indices, shape=(*common[:i], shape_of(indices)[i], *common[i + 1 :]))
    return ix.take_along_axis(x, indices, axis=i)


# ------------------------------------------------------------------------------------------ order


def argsort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The positions that sort `x` along an axis; equal elements stay in order, whatever `stable` says; nan last.

    The result has the shape of `x` and no derivative.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.argsort(rg.asarray([3.0, 1.0, 2.0]))
    Tensor([1, 2, 0])
    """
    x = _ordered("argsort", x)
    return order.argsort(x, axis=axis_of("argsort", axis, rank(x)), descending=descending, ties="stable")


def sort(x: Any, /, *, axis: int = -1, descending: bool = False, stable: bool = True) -> Tensor:
    """The elements in order along an axis; the gradient goes where each element came from.

    Examples
    --------
    >>> import retrograde as rg
    >>> sort(rg.asarray([2.0, 3.0, 1.0]), descending=True)
    Tensor([3., 2., 1.])
    """
    x = _ordered("sort", x)
    i = axis_of("sort", axis, rank(x))
    return order.pick(x, order.argsort(x, axis=i, descending=descending, ties="stable"), axis=i, of="sort")


def _ordered(name: str, x: Any) -> Value:
    x = in_order(name, value(x))
    if not rank(x):
        raise ValueError(f"{name}: a 0-d tensor has no axis to sort along")
    return x
