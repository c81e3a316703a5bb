"""NumPy's functions of shapes on Tensors: rearranging, joining, splitting, padding, creating alike."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from ..core.unwrap import concrete
from ..core.value import Value, dtype_of, shape_of
from ..ops import indexing as ix
from ..ops import manipulation as mani
from ..ops import structural as st
from ..ops import triangular
from . import conversion, creation, elementwise, manipulation, reductions
from ._values import axis_of, rank, shape_tuple
from .conversion import value
from .numpy_protocol import implements, same, unsupported
from .promotion import double

same(creation, "empty_like zeros_like ones_like full_like tril triu")
same(conversion, "astype")
same(manipulation, "matrix_transpose swapaxes moveaxis expand_dims squeeze broadcast_to unstack flip roll tile repeat diff")
same(manipulation, "concatenate=concat concat stack transpose=permute_dims permute_dims")
same(manipulation, "matrix_transpose", "linalg.")

# ------------------------------------------------------------------------------------------ created alike


@implements("linspace")
def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, dtype: Any = None, axis: int = 0) -> Any:
    return manipulation.moveaxis(creation.linspace(start, stop, num, endpoint=endpoint, dtype=dtype), 0, axis)


@implements("meshgrid")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    return tuple(creation.meshgrid(*map(manipulation.flatten, xi), sparse=sparse, indexing=indexing))


@implements("diag")
def diag(v: Any, k: int = 0) -> Any:
    v = value(v)
    if rank(v) == 2:
        return diagonal(v, k)
    if rank(v) != 1:
        raise ValueError(f"np.diag: wanted a vector or a matrix, got shape {tuple(shape_of(v))}")
    n = shape_of(v)[0] + abs(k)
    return triangular.diagonal_embed(v, shape=(n, n), offset=k, axis1=0, axis2=1)


diagflat = implements("diagflat")(lambda v, k=0: diag(manipulation.flatten(v), k))


@implements("diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    a = value(a)
    i, j = axis_of("diagonal", axis1, rank(a)), axis_of("diagonal", axis2, rank(a))
    return triangular.diagonal(a, offset=offset, axis1=i, axis2=j)


@implements("vander")
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = value(x)
    n = shape_of(x)[0] if N is None else operator.index(N)
    powers = [elementwise.pow(x, k) for k in range(n)]
    return manipulation.stack(powers if increasing else powers[::-1], axis=1)


# ------------------------------------------------------------------------------------------ shape


@implements("reshape", newshape="shape")
def reshape(a: Any, shape: Any, order: str = "C", copy: Any = None) -> Any:
    wanted = shape_tuple(shape)
    if order != "F":
        return manipulation.reshape(a, wanted, copy=copy)
    return manipulation.permute_dims(manipulation.reshape(manipulation.permute_dims(a), wanted[::-1], copy=copy))


@implements("ravel")
def ravel(a: Any, order: str = "C") -> Any:
    a = value(a)
    return reshape(a, (math.prod(shape_of(a)),), order)


@implements("rollaxis")
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    a = value(a)
    i = axis_of("rollaxis", axis, rank(a))
    to = start + rank(a) if start < 0 else start
    return manipulation.moveaxis(a, i, to - 1 if i < to else to)


def _with_axes(x: Any, n: int) -> Any:
    """With n axes at least: a vector becomes a row, a matrix gets new axes behind."""
    x = value(x)
    shape = (1,) * (min(n, 2) - rank(x)) + tuple(shape_of(x))
    return x if rank(x) >= n else manipulation.reshape(x, shape + (1,) * (n - len(shape)))


def _at_least(n: int) -> Any:
    def at_least(*arys: Any) -> Any:
        found = tuple(_with_axes(x, n) for x in arys)
        return found[0] if len(found) == 1 else found

    return implements(f"atleast_{n}d")(at_least)


atleast_1d, atleast_2d, atleast_3d = _at_least(1), _at_least(2), _at_least(3)
broadcast_arrays = implements("broadcast_arrays")(lambda *args: tuple(manipulation.broadcast_arrays(*args)))


# ------------------------------------------------------------------------------------------ joining, splitting


@implements("vstack", "row_stack")
def vstack(tup: Any, dtype: Any = None) -> Any:
    return manipulation.concat([_with_axes(x, 2) for x in tup], dtype=dtype)


@implements("hstack")
def hstack(tup: Any, dtype: Any = None) -> Any:
    parts = [_with_axes(x, 1) for x in tup]
    return manipulation.concat(parts, axis=0 if rank(parts[0]) == 1 else 1, dtype=dtype)


@implements("dstack")
def dstack(tup: Any) -> Any:
    return manipulation.concat([_with_axes(x, 3) for x in tup], axis=2)


@implements("column_stack")
def column_stack(tup: Any) -> Any:
    return manipulation.concat([manipulation.reshape(x, (-1, 1)) if rank(value(x)) < 2 else x for x in tup], axis=1)


@implements("block")
def block(arrays: Any) -> Any:
    def depth(x: Any) -> int:
        return 1 + max(depth(y) for y in x) if isinstance(x, list) else 0

    def most(x: Any) -> int:
        return max(most(y) for y in x) if isinstance(x, list) else rank(value(x))

    deep = depth(arrays)
    n = max(most(arrays), deep)

    def joined(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            x = value(x)
            return manipulation.reshape(x, (1,) * (n - rank(x)) + tuple(shape_of(x)))
        return manipulation.concat([joined(y, level + 1) for y in x], axis=n - deep + level)

    return joined(arrays, 0)


implements("append")(lambda arr, values, axis=None: manipulation.concat([arr, values], axis=axis))
implements("array_split")(manipulation.split)


@implements("split")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    n = shape_of(ary)[axis_of("split", axis, rank(ary))]
    if hasattr(indices_or_sections, "__index__") and n % operator.index(indices_or_sections):
        raise ValueError(
            f"np.split: {n} elements cannot be divided into {indices_or_sections} equal parts; use array_split"
        )
    return manipulation.split(ary, indices_or_sections, axis=axis)


implements("hsplit")(lambda ary, indices_or_sections: split(ary, indices_or_sections, 0 if rank(ary) == 1 else 1))
implements("vsplit")(lambda ary, indices_or_sections: split(ary, indices_or_sections, 0))
implements("dsplit")(lambda ary, indices_or_sections: split(ary, indices_or_sections, 2))

# ------------------------------------------------------------------------------------------ rearranging, repeating

implements("flipud")(lambda m: manipulation.flip(m, 0))
implements("fliplr")(lambda m: manipulation.flip(m, 1))


@implements("rot90")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    m = value(m)
    a, b = (axis_of("rot90", i, rank(m)) for i in axes)
    return mani.rot90(m, k=int(k), axes=(a, b))


@implements("delete")
def delete(arr: Any, obj: Any, axis: Any = None) -> Any:
    arr = value(arr)
    if axis is None:
        arr, axis = manipulation.flatten(arr), 0
    i = axis_of("delete", axis, rank(arr))
    kept = np.delete(np.arange(shape_of(arr)[i]), concrete("np.delete", obj) if isinstance(obj, Value) else obj)
    return ix.take(arr, kept, axis=i)


_EDGES = {"edge": "replicate", "wrap": "circular", "reflect": "reflect"}


@implements("pad")
def pad(
    array: Any, pad_width: Any, mode: str = "constant", *, constant_values: Any = 0, reflect_type: str = "even"
) -> Any:
    """The elements with others around them, as NumPy's function of the name: a number, or the edge, its image, the other end.

    pad_width: how many before and behind along each axis, as a pair each, one pair for all, or a number.

    Raises ValueError for a negative width, TypeError for other modes and for several constants.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.pad(rg.asarray([1.0, 2.0]), (1, 2), constant_values=9)
    Tensor([9., 1., 2., 9., 9.])
    """
    x = value(array)
    widths = tuple((int(a), int(b)) for a, b in np.broadcast_to(np.asarray(pad_width), (rank(x), 2)))
    if any(w < 0 for pair in widths for w in pair):
        raise ValueError(f"np.pad: widths must not be negative, got {widths}")
    if mode in _EDGES and reflect_type == "even":
        return mani.pad_edges(x, widths=widths, mode=_EDGES[mode])
    if mode != "constant":
        raise unsupported(f"np.pad(mode={mode!r})")
    if np.ndim(constant_values):
        raise unsupported("np.pad with several constant_values")
    return mani.pad_constant(x, widths=widths, value=constant_values)


@implements("ediff1d")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    parts = to_begin, manipulation.diff(manipulation.flatten(ary)), to_end
    return manipulation.concat([p for p in parts if p is not None], axis=None)


# ------------------------------------------------------------------------------------------ slopes, areas


def _strided(x: Any, i: int, start: Any, stop: Any) -> Any:
    return st.getitem(x, index=((slice(None),) * i + (slice(start, stop),)))


def _along(x: Any, i: int, n: int) -> Any:
    """A vector as an operand along axis i of n."""
    return manipulation.reshape(x, tuple(-1 if j == i else 1 for j in range(n)))


@implements("gradient")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    if edge_order != 1:
        raise unsupported("np.gradient(edge_order=2)")
    f = double(value(f))
    n = rank(f)
    given = range(n) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [axis_of("gradient", a, n) for a in given]
    spacing = list(varargs) or [1.0]
    if len(spacing) == 1:
        spacing *= len(axes)
    if len(spacing) != len(axes):
        raise TypeError(f"np.gradient: {len(spacing)} spacings for {len(axes)} axes")
    found = [_slopes(f, i, h) for i, h in zip(axes, spacing)]
    return found[0] if len(found) == 1 else tuple(found)


def _slopes(f: Any, i: int, h: Any) -> Any:
    """Second-order differences inside, first-order ones at both ends, along one axis."""
    n = shape_of(f)[i]
    if n < 2:
        raise ValueError(f"np.gradient: at least 2 elements are needed along axis {i}, there are {n}")
    steps, before, after = h, 1.0, 1.0  # numbers give way to the dtype of f
    if not isinstance(h, (int, float)) and rank(h := value(h)):
        steps = _along(double(manipulation.diff(h if dtype_of(h).kind == "b" else double(h))), i, rank(f))
        before, after = _strided(steps, i, None, -1), _strided(steps, i, 1, None)
    slopes = manipulation.diff(f, axis=i) / steps
    left, right = _strided(slopes, i, None, -1), _strided(slopes, i, 1, None)
    inner = (left * after + right * before) / (before + after)
    return manipulation.concat([_strided(slopes, i, 0, 1), inner, _strided(slopes, i, n - 2, n - 1)], axis=i)


@implements("trapezoid", "trapz")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = value(y)
    i = axis_of("trapezoid", axis, rank(y))
    steps: Any = dx
    if x is not None:
        x = value(x)
        steps = manipulation.diff(x, axis=0 if rank(x) == 1 else i)
        if rank(x) == 1:
            steps = _along(steps, i, rank(y))
    return reductions.sum((_strided(y, i, 1, None) + _strided(y, i, None, -1)) * steps, axis=i) / 2
