"""Diagonals and triangles of matrices, and strided views."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import dtype_of, shape_of
from ...ops import manipulation as mani
from ...ops import structural as st
from ...ops import triangular as tri
from ...ops.selection import where
from ...tape import inplace
from ...tensor import numpy_shapes as nps
from .._shared.axes import axis_of, count, integer, integers
from .._shared.elementwise import constant
from ._api import api
from ._arguments import function
from ._joining import _replaced
from ._promote import single
from ._shape import flatten, view
from ._tensor import from_array

tril = function("tril", "x: Matrices, diagonal: Int = 0", tri.tril,
    "The elements of matrices below a diagonal and on it, zeros above.",
    called={"diagonal": "k"}, in_place=True, out=True)  # fmt: skip
triu = function("triu", "x: Matrices, diagonal: Int = 0", tri.triu,
    "The elements of matrices above a diagonal and on it, zeros below.",
    called={"diagonal": "k"}, in_place=True, out=True)  # fmt: skip


@api()
def diag(x: Any, offset: int = 0, padding_value: float = 0, name: Any = None) -> Any:
    """A matrix with a vector on a diagonal (and `padding_value` elsewhere), or the diagonal of a matrix."""
    x = single("diag", x)
    n = len(shape_of(x))
    if n > 2:
        raise ValueError(f"diag: wanted a vector or a matrix, got {n} axes")
    if n == 2:
        return tri.diagonal(x, offset=integer("diag", "offset", offset), axis1=0, axis2=1)
    out = nps.diag(st.reshape(x, shape=(1,)) if n == 0 else x, int(offset))
    if padding_value:
        on = np.eye(shape_of(out)[0], k=int(offset), dtype=bool)
        out = where(on, out, constant(padding_value, dtype_of(x)))
    return out


@api()
def diagflat(x: Any, offset: int = 0, name: Any = None) -> Any:
    """A matrix with the elements on a diagonal."""
    return diag(flatten(x), offset)


def _plane(op: str, x: Any, axis1: Any, axis2: Any) -> tuple[int, int]:
    n = len(shape_of(x))
    first, second = axis_of(op, axis1, n, error=IndexError), axis_of(op, axis2, n, error=IndexError)
    if n < 2 or first == second:
        raise ValueError(f"{op}: wanted two different axes, got {axis1} and {axis2} of {n}")
    return first, second


@api()
def diagonal(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: Any = None) -> Any:
    """The diagonal of two axes, as the last axis."""
    x = single("diagonal", x)
    first, second = _plane("diagonal", x, axis1, axis2)
    return view(tri.diagonal, x, offset=integer("diagonal", "offset", offset), axis1=first, axis2=second)


@api()
def trace(x: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: Any = None) -> Any:
    """The sum of a diagonal of two axes."""
    x = single("trace", x)
    if len(shape_of(x)) < 2:
        raise IndexError(f"trace: wanted at least 2 axes, got {len(shape_of(x))}")
    return diagonal(x, offset, axis1, axis2).sum(-1, dtype=None if dtype_of(x).kind == "b" else x.dtype)


@api()
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices, in two new axes, with the last axis on their diagonal."""
    x = single("diag_embed", input)
    shape = tuple(shape_of(x))
    first, second = (axis_of("diag_embed", d, len(shape) + 1) for d in (dim1, dim2))
    if first == second:
        raise ValueError(f"diag_embed: dim1 and dim2 are the same axis, {first}")
    n = shape[-1] + abs(offset)
    rest = iter(shape[:-1])
    whole = tuple(n if i in (first, second) else next(rest) for i in range(len(shape) + 1))
    return tri.diagonal_embed(x, shape=whole, offset=int(offset), axis1=first, axis2=second)


@api()
def diagonal_scatter(x: Any, y: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, name: Any = None) -> Any:
    """The tensor with a diagonal replaced by the elements of another."""
    x = single("diagonal_scatter", x)
    first, second = _plane("diagonal_scatter", x, axis1, axis2)
    params = {"offset": int(offset), "axis1": first, "axis2": second}
    return _replaced("diagonal_scatter", x, y, tri.diagonal, params, AssertionError)


@api("fill_diagonal_tensor", function=False, in_place=True)
def fill_diagonal_tensor(x: Any, y: Any, offset: int = 0, dim1: int = 0, dim2: int = 1, name: Any = None) -> Any:
    """The tensor with the diagonal of two axes replaced by the elements of another."""
    return diagonal_scatter(x, y, offset, dim1, dim2)


@api("fill_diagonal_", function=False)
def fill_diagonal_(x: Any, value: float, offset: int = 0, wrap: bool = False, name: Any = None) -> Any:
    """Fill the diagonal with a number, in place; with `wrap`, a tall matrix gets it again below each gap of one row."""
    shape = tuple(shape_of(x))
    if len(shape) < 2 or (len(shape) > 2 and len(set(shape)) > 1):
        raise ValueError(f"fill_diagonal_: wanted a matrix, or axes of one length, got shape {list(shape)}")
    mask = np.zeros(shape, bool)
    if len(shape) > 2 or wrap:
        np.fill_diagonal(mask, True, wrap=wrap)
    else:
        mask = np.eye(*shape, k=offset, dtype=bool)
    return inplace.update("fill_diagonal_", x, lambda: where(mask, constant(value, dtype_of(x)), x))


@api()
def as_strided(x: Any, shape: Any, stride: Any, offset: int = 0, name: Any = None) -> Any:
    """A view of the memory by a shape, strides and an offset, counted in elements."""
    x = single("as_strided", x)
    sizes, steps = integers("as_strided", "shape", shape), integers("as_strided", "stride", stride)
    if len(sizes) != len(steps):
        raise ValueError(f"as_strided: a stride for each of {len(sizes)} axes is needed, got {len(steps)}")
    start = integer("as_strided", "offset", offset)
    itemsize = dtype_of(x).itemsize
    if start % itemsize:
        raise ValueError(f"as_strided: the offset counts bytes and must be a multiple of {itemsize}, got {start}")
    return view(mani.as_strided, x, shape=sizes, strides=steps, offset=start // itemsize)


@api()
def vander(x: Any, n: int | None = None, increasing: bool = False, name: Any = None) -> Any:
    """The powers of the elements of a vector, in rows: n of them, the highest first unless `increasing`."""
    x = single("vander", x)
    if len(shape_of(x)) != 1:
        raise ValueError(f"vander: wanted a vector, got shape {list(shape_of(x))}")
    if n is not None and count("vander", "n", n) < 0:
        raise ValueError(f"vander: n must not be negative, got {n}")
    if n == 0:
        return from_array(np.zeros((shape_of(x)[0], 0), dtype_of(x)))
    return nps.vander(x, n, bool(increasing))
