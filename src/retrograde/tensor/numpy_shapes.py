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
from . import conversion, creation, elementwise, manipulation
from ._values import axis_of, rank, shape_tuple
from .conversion import value
from .numpy_protocol import implements, unsupported

# ------------------------------------------------------------------------------------------ created alike


def _alike(a: Any, shape: Any, dtype: Any) -> tuple[Any, Any]:
    return (tuple(shape_of(a)) if shape is None else shape_tuple(shape)), dtype_of(a) if dtype is None else dtype


@implements("zeros_like")
def zeros_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    shape, dtype = _alike(a, shape, dtype)
    return creation.zeros(shape, dtype=dtype)


@implements("ones_like")
def ones_like(a: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    shape, dtype = _alike(a, shape, dtype)
    return creation.ones(shape, dtype=dtype)


@implements("empty_like")
def empty_like(prototype: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None) -> Any:
    shape, dtype = _alike(prototype, shape, dtype)
    return creation.empty(shape, dtype=dtype)


@implements("full_like")
def full_like(
    a: Any, fill_value: Any, dtype: Any = None, order: str = "K", subok: bool = True, shape: Any = None
) -> Any:
    shape, dtype = _alike(a, shape, dtype)
    return creation.full(shape, fill_value, dtype=dtype)


@implements("linspace")
def linspace(start: Any, stop: Any, num: int = 50, endpoint: bool = True, retstep: bool = False, dtype: Any = None,
             axis: int = 0) -> Any:  # fmt: skip
    if retstep:
        raise unsupported("np.linspace(retstep=True)")
    return manipulation.moveaxis(creation.linspace(start, stop, num, endpoint=endpoint, dtype=dtype), 0, axis)


@implements("meshgrid")
def meshgrid(*xi: Any, copy: bool = True, sparse: bool = False, indexing: str = "xy") -> Any:
    vectors = [manipulation.flatten(x) for x in xi]
    if not sparse:
        return tuple(creation.meshgrid(*vectors, indexing=indexing))
    if indexing not in ("xy", "ij"):
        raise ValueError(f"np.meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    places = list(range(len(vectors)))
    if indexing == "xy" and len(vectors) > 1:
        places[:2] = 1, 0
    return tuple(
        manipulation.reshape(x, tuple(-1 if j == place else 1 for j in range(len(vectors))))
        for x, place in zip(vectors, places)
    )


@implements("tril")
def tril(m: Any, k: int = 0) -> Any:
    return creation.tril(m, k=k)


@implements("triu")
def triu(m: Any, k: int = 0) -> Any:
    return creation.triu(m, k=k)


@implements("diag")
def diag(v: Any, k: int = 0) -> Any:
    v = value(v)
    if rank(v) == 2:
        return diagonal(v, k)
    if rank(v) != 1:
        raise ValueError(f"np.diag: wanted a vector or a matrix, got shape {tuple(shape_of(v))}")
    n = shape_of(v)[0] + abs(k)
    return triangular.diagonal_embed(v, shape=(n, n), offset=k, axis1=0, axis2=1)


@implements("diagflat")
def diagflat(v: Any, k: int = 0) -> Any:
    return diag(manipulation.flatten(v), k)


@implements("diagonal")
def diagonal(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    a = value(a)
    i, j = axis_of("diagonal", axis1, rank(a)), axis_of("diagonal", axis2, rank(a))
    return triangular.diagonal(a, offset=offset, axis1=i, axis2=j)


@implements("vander")
def vander(x: Any, N: Any = None, increasing: bool = False) -> Any:
    x = value(x)
    n = shape_of(x)[0] if N is None else operator.index(N)
    powers = [elementwise.pow(x, k) if k else elementwise.positive(x) * 0 + 1 for k in range(n)]
    return manipulation.stack(powers if increasing else powers[::-1], axis=1)


# ------------------------------------------------------------------------------------------ shape


@implements("reshape")
def reshape(a: Any, /, shape: Any = None, order: str = "C", *, newshape: Any = None, copy: Any = None) -> Any:
    wanted = shape_tuple(newshape if shape is None else shape)
    if order != "F":
        return manipulation.reshape(a, wanted, copy=copy)
    turned = manipulation.reshape(transpose(a), wanted[::-1], copy=copy)
    return transpose(turned)


@implements("ravel")
def ravel(a: Any, order: str = "C") -> Any:
    a = value(a)
    return reshape(a, (math.prod(shape_of(a)),), order)


@implements("transpose")
def transpose(a: Any, axes: Any = None) -> Any:
    return manipulation.permute_dims(a, tuple(range(rank(a)))[::-1] if axes is None else axes)


@implements("permute_dims")
def permute_dims(a: Any, axes: Any = None) -> Any:
    return transpose(a, axes)


@implements("matrix_transpose", "linalg.matrix_transpose")
def matrix_transpose(x: Any, /) -> Any:
    return manipulation.matrix_transpose(x)


@implements("swapaxes")
def swapaxes(a: Any, axis1: int, axis2: int) -> Any:
    return manipulation.swapaxes(a, axis1, axis2)


@implements("moveaxis")
def moveaxis(a: Any, source: Any, destination: Any) -> Any:
    return manipulation.moveaxis(a, source, destination)


@implements("rollaxis")
def rollaxis(a: Any, axis: int, start: int = 0) -> Any:
    a = value(a)
    i = axis_of("rollaxis", axis, rank(a))
    to = start + rank(a) if start < 0 else start
    return manipulation.moveaxis(a, i, to - 1 if i < to else to)


@implements("expand_dims")
def expand_dims(a: Any, axis: Any) -> Any:
    return manipulation.expand_dims(a, axis)


@implements("squeeze")
def squeeze(a: Any, axis: Any = None) -> Any:
    return manipulation.squeeze(a, axis)


def _at_least(x: Any, n: int) -> Any:
    x = value(x)
    shape = tuple(shape_of(x))
    if len(shape) >= n:
        return x
    if n == 3:
        shape = (1, 1, 1) if not shape else (1, *shape, 1) if len(shape) == 1 else (*shape, 1)
    else:
        shape = (1,) * (n - len(shape)) + shape
    return manipulation.reshape(x, shape)


@implements("atleast_1d")
def atleast_1d(*arys: Any) -> Any:
    found = tuple(_at_least(x, 1) for x in arys)
    return found[0] if len(found) == 1 else found


@implements("atleast_2d")
def atleast_2d(*arys: Any) -> Any:
    found = tuple(_at_least(x, 2) for x in arys)
    return found[0] if len(found) == 1 else found


@implements("atleast_3d")
def atleast_3d(*arys: Any) -> Any:
    found = tuple(_at_least(x, 3) for x in arys)
    return found[0] if len(found) == 1 else found


@implements("broadcast_to")
def broadcast_to(array: Any, shape: Any, subok: bool = False) -> Any:
    return manipulation.broadcast_to(array, shape)


@implements("broadcast_arrays")
def broadcast_arrays(*args: Any, subok: bool = False) -> Any:
    return tuple(manipulation.broadcast_arrays(*args))


# ------------------------------------------------------------------------------------------ joining, splitting


def _cast(found: Any, dtype: Any) -> Any:
    return found if dtype is None else conversion.astype(found, dtype, copy=False)


@implements("concatenate", "concat")
def concatenate(
    arrays: Any, /, axis: Any = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind"
) -> Any:
    return _cast(manipulation.concat(list(arrays), axis=axis), dtype)


@implements("stack")
def stack(arrays: Any, axis: int = 0, out: Any = None, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return _cast(manipulation.stack(list(arrays), axis=axis), dtype)


@implements("vstack", "row_stack")
def vstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    return _cast(manipulation.concat([_at_least(x, 2) for x in tup], axis=0), dtype)


@implements("hstack")
def hstack(tup: Any, *, dtype: Any = None, casting: str = "same_kind") -> Any:
    parts = [_at_least(x, 1) for x in tup]
    return _cast(manipulation.concat(parts, axis=0 if rank(parts[0]) == 1 else 1), dtype)


@implements("dstack")
def dstack(tup: Any) -> Any:
    return manipulation.concat([_at_least(x, 3) for x in tup], axis=2)


@implements("column_stack")
def column_stack(tup: Any) -> Any:
    columns = [manipulation.reshape(x, (math.prod(shape_of(value(x))), 1)) if rank(value(x)) < 2 else x for x in tup]
    return manipulation.concat(columns, axis=1)


@implements("block")
def block(arrays: Any) -> Any:
    def depth(x: Any) -> int:
        return 1 + max(depth(y) for y in x) if isinstance(x, list) else 0

    deep = depth(arrays)
    most = 0

    def visit(x: Any) -> None:
        nonlocal most
        if isinstance(x, list):
            for y in x:
                visit(y)
        else:
            most = max(most, rank(value(x)))

    visit(arrays)
    n = max(most, deep)

    def joined(x: Any, level: int) -> Any:
        if not isinstance(x, list):
            x = value(x)
            return manipulation.reshape(x, (1,) * (n - rank(x)) + tuple(shape_of(x)))
        return manipulation.concat([joined(y, level + 1) for y in x], axis=n - deep + level)

    return joined(arrays, 0)


@implements("append")
def append(arr: Any, values: Any, axis: Any = None) -> Any:
    if axis is None:
        return manipulation.concat([manipulation.flatten(arr), manipulation.flatten(values)])
    return manipulation.concat([arr, values], axis=axis)


@implements("array_split")
def array_split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    return manipulation.split(ary, indices_or_sections, axis=axis)


@implements("split")
def split(ary: Any, indices_or_sections: Any, axis: int = 0) -> Any:
    n = shape_of(ary)[axis_of("split", axis, rank(ary))]
    if hasattr(indices_or_sections, "__index__") and n % operator.index(indices_or_sections):
        raise ValueError(
            f"np.split: {n} elements cannot be divided into {indices_or_sections} equal parts; use array_split"
        )
    return manipulation.split(ary, indices_or_sections, axis=axis)


@implements("hsplit")
def hsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 0 if rank(ary) == 1 else 1)


@implements("vsplit")
def vsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 0)


@implements("dsplit")
def dsplit(ary: Any, indices_or_sections: Any) -> Any:
    return split(ary, indices_or_sections, 2)


@implements("unstack")
def unstack(x: Any, /, *, axis: int = 0) -> Any:
    return manipulation.unstack(x, axis=axis)


# ------------------------------------------------------------------------------------------ rearranging, repeating


@implements("flip")
def flip(m: Any, axis: Any = None) -> Any:
    return manipulation.flip(m, axis)


@implements("flipud")
def flipud(m: Any) -> Any:
    return manipulation.flip(m, 0)


@implements("fliplr")
def fliplr(m: Any) -> Any:
    return manipulation.flip(m, 1)


@implements("roll")
def roll(a: Any, shift: Any, axis: Any = None) -> Any:
    return manipulation.roll(a, shift, axis)


@implements("rot90")
def rot90(m: Any, k: int = 1, axes: Any = (0, 1)) -> Any:
    m = value(m)
    a, b = (axis_of("rot90", i, rank(m)) for i in axes)
    return mani.rot90(m, k=int(k), axes=(a, b))


@implements("tile")
def tile(A: Any, reps: Any) -> Any:
    return manipulation.tile(A, reps)


@implements("repeat")
def repeat(a: Any, repeats: Any, axis: Any = None) -> Any:
    return manipulation.repeat(a, repeats, axis=axis)


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


@implements("diff")
def diff(a: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    return manipulation.diff(a, n=n, axis=axis, prepend=prepend, append=append)


@implements("ediff1d")
def ediff1d(ary: Any, to_end: Any = None, to_begin: Any = None) -> Any:
    found = manipulation.diff(manipulation.flatten(ary))
    parts = [manipulation.flatten(p) for p in (to_begin, found, to_end) if p is not None]
    return parts[0] if len(parts) == 1 else manipulation.concat(parts)


@implements("astype")
def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Any:
    return conversion.astype(x, dtype, copy=copy)


def _strided(x: Any, i: int, part: slice) -> Any:
    return st.getitem(x, index=((slice(None),) * i + (part,)))


@implements("gradient")
def gradient(f: Any, *varargs: Any, axis: Any = None, edge_order: int = 1) -> Any:
    if edge_order != 1:
        raise unsupported("np.gradient(edge_order=2)")
    from .promotion import double

    f = double(value(f))
    axes = tuple(range(rank(f))) if axis is None else tuple(
        axis_of("gradient", a, rank(f)) for a in (axis if isinstance(axis, (tuple, list)) else (axis,)))  # fmt: skip
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
    if isinstance(h, (int, float)) or not rank(value(h)):  # a number gives way to the dtype of f
        inner = (_strided(f, i, slice(2, None)) - _strided(f, i, slice(None, -2))) / (h * 2)
        first = (_strided(f, i, slice(1, 2)) - _strided(f, i, slice(0, 1))) / h
        last = (_strided(f, i, slice(n - 1, n)) - _strided(f, i, slice(n - 2, n - 1))) / h
        return manipulation.concat([first, inner, last], axis=i)
    steps = manipulation.reshape(manipulation.diff(value(h)), tuple(-1 if j == i else 1 for j in range(rank(f))))
    slopes = manipulation.diff(f, axis=i) / steps
    before, after = _strided(steps, i, slice(None, -1)), _strided(steps, i, slice(1, None))
    left, right = _strided(slopes, i, slice(None, -1)), _strided(slopes, i, slice(1, None))
    inner = (left * after + right * before) / (before + after)
    return manipulation.concat(
        [_strided(slopes, i, slice(0, 1)), inner, _strided(slopes, i, slice(n - 2, n - 1))], axis=i
    )


@implements("trapezoid", "trapz")
def trapezoid(y: Any, x: Any = None, dx: Any = 1.0, axis: int = -1) -> Any:
    y = value(y)
    i = axis_of("trapezoid", axis, rank(y))
    if x is None:
        steps: Any = dx
    else:
        x = value(x)
        steps = manipulation.diff(x, axis=0 if rank(x) == 1 else i)
        if rank(x) == 1:
            steps = manipulation.reshape(steps, tuple(-1 if j == i else 1 for j in range(rank(y))))
    both = (_strided(y, i, slice(1, None)) + _strided(y, i, slice(None, -1))) * steps
    from .reductions import sum as add_up

    return add_up(both, axis=i) / 2
