"""Indexing with arrays: reading, writing and adding at positions that integer arrays name.

Indices are integers and count from the end when negative; masks become positions above, as their number depends on
values.
What reads has the adding operation beside it, since each is the other's transpose.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype
from ..backend.jit import gathers
from ..core.arrays import from_host, full
from ..core.aval import Aval
from ..core.large import copied
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from .grouping import add, flat_positions, latest, reduce_by_number
from .indexed import forward, index_place, indexed
from .rules import (
    batch_loop,
    batch_size,
    checked_axes,
    infer_unknown,
    linear,
    materialise_batch,
    move_batch,
    nondifferentiable,
)
from .samples import complex_normal, normal, sample
from .shapes import demand, matching
from .structural import inverse, reshape, transpose, zeros_like

# ------------------------------------------------------------------------------------------ adding rows

SPARSE_FROM = 1 << 15
"""Elements from which rows are added by a sparse matrix product: 7 to 25 times faster than np.add.at, whose import of
scipy.sparse (0.1 s, once) a few elements are not worth."""


def _wrapped(indices: np.ndarray, n: int) -> np.ndarray:
    """Indices without negative ones, as np.intp."""
    indices = indices.astype(np.intp, copy=False)
    if indices.size and np.minimum.reduce(indices, None) < 0:
        indices = np.where(indices < 0, indices + n, indices)
    return indices


def add_rows(rows: np.ndarray, indices: np.ndarray, n: int) -> np.ndarray:
    """n rows of zeros to which `rows` (k, d) are added at `indices` (k, non-negative); half precision in single."""
    d = rows.shape[1]
    dtype = rows.dtype
    if dtype.itemsize <= 2 and dtype.kind not in "iub":
        return add_rows(rows.astype(np.float32), indices, n).astype(dtype)
    found = gathers.take_add(rows, indices, (n, d), 0)
    if found is not None:
        return found
    if d > 1 and rows.size >= SPARSE_FROM and dtype.kind in "fc":
        from scipy.sparse import csr_array

        if indices.size and indices.max() >= n:
            raise IndexError(f"index {int(indices.max())} is out of bounds for an axis of size {n}")
        count = len(indices)
        chosen = csr_array((np.ones(count, dtype), indices, np.arange(count + 1)), shape=(count, n))
        return np.ascontiguousarray(chosen.T @ rows)
    out = np.zeros((n, d), dtype)
    if d != 1:
        indices = (indices[:, None] * d + _columns(d)).reshape(-1)
    np.add.at(out.reshape(-1), indices, rows.reshape(-1))
    return out


_columns = functools.lru_cache(64)(np.arange)


# ------------------------------------------------------------------------------------------ one index array, one axis


def _latest_at(xp: Any, base: Any, values: Any, numbers: Any) -> Any:
    """`base` (n, d) with the rows of `values` (k, d) at `numbers` (k): of several for one place the last."""
    n, k = base.shape[0], values.shape[0]
    if not k:
        return base
    order = xp.arange(k, dtype=numbers.dtype, device=numbers.device)
    last = reduce_by_number(xp, latest, order, numbers, n, -1)
    rows = xp.take(values, xp.where(last < 0, 0, last), axis=0)
    return xp.where(xp.reshape(last >= 0, (n, 1)), astype(xp, rows, base.dtype), base)


def _take_kernel(xp: Any, x: Any, indices: Any, *, axis: int) -> Any:
    out = xp.take(x, forward(xp, indices, x.shape[axis]), axis=axis)
    return xp.reshape(out, (*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :]))


def _take_add_kernel(xp: Any, g: Any, indices: Any, *, shape: tuple[int, ...], axis: int) -> Any:
    n, k = shape[axis], indices.ndim
    rest = (*shape[:axis], *shape[axis + 1 :])
    front = xp.permute_dims(g, (*range(axis, axis + k), *range(axis), *range(axis + k, g.ndim)))
    rows = xp.reshape(front, (math.prod(indices.shape), math.prod(rest)))
    out = reduce_by_number(xp, add, rows, forward(xp, indices, n), n, 0)
    return xp.moveaxis(xp.reshape(out, (n, *rest)), 0, axis)


def _take_numpy(x: Any, indices: Any, *, axis: int) -> Any:
    found = gathers.take(x, indices, axis)
    return x.take(indices, axis) if found is None else found


def _take_add_numpy(g: Any, indices: Any, *, shape: tuple[int, ...], axis: int) -> Any:
    found = gathers.take_add(g, indices, shape, axis)
    if found is not None:
        return found
    n, k = shape[axis], indices.ndim
    if k == 1 and g.size <= _FEW and g.dtype.itemsize > 2:
        inner, column, other = _kept_slices(shape, axis)
        at = indices.astype(np.intp, copy=False) if axis == 0 else _wrapped(indices, n)  # along the first axis -1 is the last
        at = at if inner == 1 else at * inner
        out = np.zeros(shape, g.dtype)
        np.add.at(out.reshape(-1), (at.reshape(column) + other).reshape(-1), g.reshape(-1))
        return out
    rest = (*shape[:axis], *shape[axis + 1 :])
    if axis:
        g = np.moveaxis(g, range(axis, axis + k), range(k))
    rows = np.asarray(g).reshape(indices.size, math.prod(rest))
    out = add_rows(rows, _wrapped(indices.reshape(-1), n), n).reshape(n, *rest)
    return _dense(np.moveaxis(out, 0, axis)) if axis else out


def _batch_take(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    (x, indices), (dx, di), axis = arrays, dims, params["axis"]
    if di is None:
        return op(move_batch(x, dx), indices, axis=axis + 1), 0
    indices = move_batch(indices, di)
    if dx is None:
        return op(x, indices, axis=axis), axis
    x, k = move_batch(x, dx), ndim_of(indices) - 1
    size = shape_of(x)[0]
    rows = from_host(np.arange(size).reshape(size, *(1,) * k), indices)
    out = _advanced_index(x, rows, indices, axes=(0, axis + 1), unique=False)  # the indices' axes come first
    order = (0, *range(k + 1, k + 1 + axis), *range(1, k + 1), *range(k + 1 + axis, ndim_of(out)))
    return transpose(out, axes=order), 0


def _batch_take_add(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    (g, indices), (dg, di), shape, axis = arrays, dims, params["shape"], params["axis"]
    if di is None:
        return op(move_batch(g, dg), indices, shape=(shape_of(g)[dg], *shape), axis=axis + 1), 0
    size = batch_size(arrays, dims)
    g, indices = materialise_batch(g, dg, size), move_batch(indices, di)
    k = ndim_of(indices) - 1
    order = (0, *range(axis + 1, axis + 1 + k), *range(1, axis + 1), *range(axis + 1 + k, ndim_of(g)))
    rows = from_host(np.arange(size).reshape(size, *(1,) * k), indices)
    return _advanced_add(transpose(g, axes=order), rows, indices, shape=(size, *shape), axes=(0, axis + 1),
                         unique=False), 0  # fmt: skip


def _taken_shape(shape: tuple[int, ...], indices: tuple[int, ...], axis: int) -> tuple[int, ...]:
    checked_axes(shape, axis)
    return (*shape[:axis], *indices, *shape[axis + 1 :])


def _infer_take(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(_taken_shape(avals[0].shape, avals[1].shape, params["axis"]), avals[0].dtype)


def _infer_take_add(avals: Any, params: dict[str, Any]) -> Aval:
    matching("take_add", avals[0].shape, _taken_shape(params["shape"], avals[1].shape, params["axis"]))
    return Aval(params["shape"], avals[0].dtype)


# The slices of `x` along an axis that the integers `indices` (any shape) name; their axes stand in its place.
take = linear(
    "take", kernel=_take_kernel, numpy=_take_numpy, others=1, kind="structural",
    transpose=lambda g, x_, indices, *, axis: take_add(g, indices, shape=tuple(shape_of(x_)), axis=axis),
    batch=_batch_take, infer=_infer_take,
    samples=lambda: [sample(normal(4, 3), np.array([2, 0, 2]), axis=0), sample(normal(4), np.array(1), axis=0),
                     sample(normal(2, 3), np.array([[2, -1]]), axis=1),
                     sample(complex_normal(3), np.array([1, 1]), axis=0)],
)  # fmt: skip

# The transpose: zeros of `shape` to which slices are added.
take_add = linear(
    "take_add", kernel=_take_add_kernel, numpy=_take_add_numpy, others=1,
    transpose=lambda g, _x, indices, *, shape, axis: take(g, indices, axis=axis),
    batch=_batch_take_add, infer=_infer_take_add,
    samples=lambda: [sample(normal(3, 2), np.array([2, 0, 2]), shape=(4, 2), axis=0),
                     sample(normal(2, 2, 2), np.array([[2, -1], [0, 2]]), shape=(2, 3), axis=1)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ several index arrays


def index_key(ndim: int, indices: Any, axes: tuple[int, ...]) -> tuple[Any, ...]:
    """The NumPy index with `indices` at `axes` and full slices elsewhere."""
    key: list[Any] = [slice(None)] * ndim
    for index, axis in zip(indices, axes):
        key[axis] = index
    return tuple(key)


def indexed_shape(shape: tuple[int, ...], index_shapes: Any, axes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape of an array of `shape` indexed at `axes` by arrays of these shapes."""
    checked_axes(shape, *axes)
    common = index_shapes[0] if len(index_shapes) == 1 else np.broadcast_shapes(*index_shapes)
    place = index_place(axes)
    rest = [n for i, n in enumerate(shape) if i not in axes]
    return (*rest[:place], *common, *rest[place:])


def _advanced_add_kernel(
    xp: Any, g: Any, *indices: Any, shape: tuple[int, ...], axes: tuple[int, ...], unique: bool
) -> Any:
    seen = indexed(shape, indices, axes)
    rows = reduce_by_number(xp, add, seen.named_rows(xp, g), seen.numbers(xp, indices), seen.height, 0)
    return seen.array(xp, rows)


def _advanced_add_numpy(
    g: Any, *indices: Any, shape: tuple[int, ...], axes: tuple[int, ...], unique: bool
) -> Any:
    if unique:
        out = np.zeros(shape, dtype=g.dtype)
        out[index_key(len(shape), indices, axes)] = g
        return out
    if len(axes) == 1:
        return _take_add_numpy(g, indices[0], shape=shape, axis=axes[0])
    indices = tuple(_wrapped(index, shape[axis]) for index, axis in zip(indices, axes))
    common = np.broadcast_shapes(*(index.shape for index in indices))
    k, place = len(common), index_place(axes)
    if place:
        g = np.moveaxis(g, range(place, place + k), range(k))
    indexed = [shape[axis] for axis in axes]
    others = [axis for axis in range(len(shape)) if axis not in axes]
    rest = [shape[axis] for axis in others]
    flat = np.zeros(common, np.intp)
    for index, n in zip(indices, indexed):
        flat = flat * n + index
    rows = g.reshape(math.prod(common), math.prod(rest))
    out = add_rows(rows, flat.reshape(-1), math.prod(indexed)).reshape(*indexed, *rest)
    order = [*axes, *others]
    return out if order == list(range(len(shape))) else _dense(out.transpose(inverse(order)))


def _batch_indices(arrays: Any, dims: Any, first: int) -> tuple[list[Any], int, bool]:
    """Index arrays with their batch in front of aligned axes, the size of the batch, and whether any has one."""
    size = batch_size(arrays, dims)
    given = arrays[first:]
    rank = max(ndim_of(x) - (d is not None) for x, d in zip(given, dims[first:]))
    batched = any(d is not None for d in dims[first:])
    out = []
    for x, d in zip(given, dims[first:]):
        if d is not None:
            x = move_batch(x, d)
            x = reshape(x, shape=(size, *(1,) * (rank - ndim_of(x) + 1), *tuple(shape_of(x))[1:]))
        out.append(x)
    if batched:
        out.insert(0, from_host(np.arange(size).reshape(size, *(1,) * rank), out[0]))
    return out, size, batched


def _to_front(x: Any, place: int, count: int, lead: int) -> Any:
    """`count` axes that stand at `place` behind `lead` moved to directly behind it."""
    order = (*range(lead), *range(lead + place, lead + place + count), *range(lead, lead + place),
             *range(lead + place + count, ndim_of(x)))  # fmt: skip
    return transpose(x, axes=order)


def _from_front(x: Any, place: int, count: int, lead: int) -> Any:
    """The reverse of `_to_front`."""
    order = (*range(lead), *range(lead + count, lead + count + place), *range(lead, lead + count),
             *range(lead + count + place, ndim_of(x)))  # fmt: skip
    return transpose(x, axes=order)


def _batch_advanced_index(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    axes, unique = params["axes"], params["unique"]
    indices, size, batched = _batch_indices(arrays, dims, 1)
    place = index_place(axes)
    up = tuple(a + 1 for a in axes)
    if not batched:
        out = op(move_batch(arrays[0], dims[0]), *indices, axes=up, unique=unique)
        # Separated index arrays put their axes before the batch.
        count = len(np.broadcast_shapes(*(tuple(shape_of(i)) for i in indices)))
        return out, 0 if index_place(up) else count
    x = materialise_batch(arrays[0], dims[0], size)
    out = op(x, *indices, axes=(0, *up), unique=unique)
    if not place:
        return out, 0
    count = len(np.broadcast_shapes(*(tuple(shape_of(i)) for i in indices))) - 1
    # Index arrays at 0 and behind an axis that is sliced: their axes are in front.
    return _from_front(out, place, count, 1), 0


def _batch_advanced_add(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    axes, unique, shape = params["axes"], params["unique"], params["shape"]
    indices, size, batched = _batch_indices(arrays, dims, 1)
    g, place, up = materialise_batch(arrays[0], dims[0], size), index_place(axes), tuple(a + 1 for a in axes)
    shape = (size, *shape)
    if not batched:
        if index_place(up) == 0:
            count = len(np.broadcast_shapes(*(tuple(shape_of(i)) for i in indices)))
            g = move_batch(g, 0, count)
        return op(g, *indices, shape=shape, axes=up, unique=unique), 0
    if place:
        g = _to_front(g, place, len(np.broadcast_shapes(*(tuple(shape_of(i)) for i in indices))) - 1, 1)
    return op(g, *indices, shape=shape, axes=(0, *up), unique=unique), 0


def _nothing(count: int) -> tuple[None, ...]:
    return (None,) * count


def _advanced_kernel(xp: Any, x: Any, *indices: Any, axes: tuple[int, ...], unique: bool) -> Any:
    seen = indexed(x.shape, indices, axes)
    return seen.laid_out(xp, xp.take(seen.rows(xp, x), seen.numbers(xp, indices), axis=0))


def _advanced_numpy(x: Any, *indices: Any, axes: tuple[int, ...], unique: bool) -> Any:
    if len(axes) == 1:
        return _take_numpy(x, indices[0], axis=axes[0])
    return _dense(x[index_key(x.ndim, indices, axes)])


def _dense(x: Any) -> Any:
    """An array in C order, which NumPy's indexing and transposes do not give by themselves."""
    return x.copy() if type(x) is np.ndarray and not x.flags.c_contiguous else x


# `x` with an index array at each of `axes` and full slices elsewhere. The arrays broadcast; their axes come first in
# the result where they are separated by a slice, in place where not. `unique`: no position is named twice.
_advanced_index = primitive(
    "advanced_index", kernel=_advanced_kernel, numpy=_advanced_numpy, kind="structural",
    vjp=lambda needs, g, _out, x_, *indices, axes, unique: (
        _advanced_add(g, *indices, shape=tuple(shape_of(x_)), axes=axes, unique=unique), *_nothing(len(indices))),
    jvp=lambda tangents, out, x, *indices, axes, unique: _advanced_index(
        tangents[0], *indices, axes=axes, unique=unique),
    batch=_batch_advanced_index, params=("axes", "unique"),
    infer=lambda avals, p: Aval(
        indexed_shape(avals[0].shape, [a.shape for a in avals[1:]], p["axes"]), avals[0].dtype),
    samples=lambda: [
        sample(normal(3, 4), np.array([2, 0, 2]), np.array([1, 1, 1]), axes=(0, 1), unique=False),
        sample(normal(2, 3, 4), np.array([[0], [-1]]), np.array([1, 2, 1]), axes=(0, 2), unique=False),
        sample(normal(2, 3, 4), np.array([2, 0]), np.array([1, 2]), axes=(1, 2), unique=True),
        sample(normal(2, 3, 2), np.array([2, 0]), axes=(1,), unique=True)],
)  # fmt: skip

def _infer_advanced_add(avals: Any, params: dict[str, Any]) -> Aval:
    part = indexed_shape(params["shape"], [a.shape for a in avals[1:]], params["axes"])
    if params["unique"]:
        fits = np.broadcast_shapes(avals[0].shape, part) == part
    else:
        fits = avals[0].shape == part
    demand(fits, f"advanced_add: shape {avals[0].shape} is not what the index arrays point at, {part}")
    return Aval(params["shape"], avals[0].dtype)


# The transpose: zeros of `shape` to which elements are added where the index arrays say.
_advanced_add = primitive(
    "advanced_add", kernel=_advanced_add_kernel, numpy=_advanced_add_numpy, kind="linear",
    vjp=lambda needs, g, _out, _g, *indices, shape, axes, unique: (
        _advanced_index(g, *indices, axes=axes, unique=unique), *_nothing(len(indices))),
    jvp=lambda tangents, out, g, *indices, shape, axes, unique: _advanced_add(
        tangents[0], *indices, shape=shape, axes=axes, unique=unique),
    batch=_batch_advanced_add, params=("shape", "axes", "unique"), infer=_infer_advanced_add,
    samples=lambda: [
        sample(normal(3), np.array([2, 0, 2]), np.array([1, 1, 1]), shape=(3, 4), axes=(0, 1), unique=False),
        sample(normal(2, 3, 3), np.array([[0], [-1]]), np.array([1, 2, 1]), shape=(2, 3, 4), axes=(0, 2), unique=False),
        sample(normal(2, 2), np.array([2, 0]), np.array([1, 2]), shape=(2, 3, 4), axes=(1, 2), unique=True)],
)  # fmt: skip


def advanced_index(x: Any, *indices: Any, axes: tuple[int, ...], unique: bool = False) -> Any:
    """`x` indexed by integer arrays at `axes` (ascending), as NumPy orders the result."""
    return _advanced_index(x, *indices, axes=axes, unique=unique)


def advanced_add(x: Any, *indices: Any, shape: tuple[int, ...], axes: tuple[int, ...], unique: bool = False) -> Any:
    """Zeros of a shape to which the elements of `x` are added where `advanced_index` would pick them."""
    return _advanced_add(x, *indices, shape=shape, axes=axes, unique=unique)


def _put_kernel(
    xp: Any, x: Any, values: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool, unique: bool
) -> Any:
    values = xp.broadcast_to(values, indexed_shape(x.shape, [i.shape for i in indices], axes))
    if accumulate:
        return x + _advanced_add_kernel(xp, values, *indices, shape=x.shape, axes=axes, unique=unique)
    seen = indexed(x.shape, indices, axes)
    rows = _latest_at(xp, seen.rows(xp, x), seen.named_rows(xp, values), seen.numbers(xp, indices))
    return seen.array(xp, rows)


def _put_numpy(
    x: Any, values: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool, unique: bool
) -> Any:
    if accumulate and not unique:
        shape = indexed_shape(x.shape, [i.shape for i in indices], axes)
        values = values if values.shape == shape else np.broadcast_to(values, shape)
        found = gathers.take_add(values, indices[0], x.shape, axes[0], x) if len(axes) == 1 else None
        if found is not None:
            return found
        return x + _advanced_add_numpy(values, *indices, shape=x.shape, axes=axes, unique=False)
    out = copied(x) if x.flags.c_contiguous else np.asarray(x, copy=True)
    key = index_key(x.ndim, indices, axes)
    if accumulate:
        out[key] += values
    else:
        out[key] = values
    return out


def _put_vjp(
    needs: Any, g: Any, _out: Any, _x: Any, values_: Any, *indices: Any, axes: Any, accumulate: bool, unique: bool
) -> Any:
    grad_x = None
    plain = type(indices[0]) is np.ndarray if len(indices) == 1 else all(type(index) is np.ndarray for index in indices)
    if plain and type(g) is np.ndarray:
        if needs[0]:
            grad_x = g if accumulate else _put_numpy(g, 0, *indices, axes=axes, accumulate=False, unique=unique)
        grad_values = _advanced_numpy(g, *indices, axes=axes, unique=unique) if needs[1] else None
        return (grad_x, grad_values, *_nothing(len(indices)))
    if needs[0]:
        zero = full((), 0, dtype_of(g), g)
        grad_x = g if accumulate else _index_put(g, zero, *indices, axes=axes, accumulate=False, unique=unique)
    grad_values = _advanced_index(g, *indices, axes=axes, unique=unique) if needs[1] else None
    return (grad_x, grad_values, *_nothing(len(indices)))


def _put_jvp(
    tangents: Any, out: Any, x: Any, values: Any, *indices: Any, axes: Any, accumulate: bool, unique: bool
) -> Any:
    dx = zeros_like(x) if tangents[0] is None else tangents[0]
    dv = full((), 0, dtype_of(x), x) if tangents[1] is None else tangents[1]
    return _index_put(dx, dv, *indices, axes=axes, accumulate=accumulate, unique=unique)


def _batch_put(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    axes, rest = params["axes"], {k: params[k] for k in ("accumulate", "unique")}
    indices, size, batched = _batch_indices(arrays, dims, 2)
    x = materialise_batch(arrays[0], dims[0], size)
    values, dv = arrays[1], dims[1]
    up, place = tuple(a + 1 for a in axes), index_place(axes)
    shape = indexed_shape(tuple(shape_of(x))[1:], [tuple(shape_of(i))[batched:] for i in indices[batched:]], axes)
    count = len(np.broadcast_shapes(*(tuple(shape_of(i))[batched:] for i in indices[batched:])))
    lead = 0 if dv is None else 1
    values = move_batch(values, dv)
    own = tuple(shape_of(values))[lead:]
    values = reshape(values, shape=(*((size,) if lead else (1,)), *(1,) * (len(shape) - len(own)), *own))
    if not batched:
        if index_place(up) == 0:
            values = move_batch(values, 0, count)
        return op(x, values, *indices, axes=up, **rest), 0
    if place:
        values = _to_front(values, place, count, 1)
    return op(x, values, *indices, axes=(0, *up), **rest), 0


def _infer_put(avals: Any, params: dict[str, Any]) -> Aval:
    part = indexed_shape(avals[0].shape, [a.shape for a in avals[2:]], params["axes"])
    fits = np.broadcast_shapes(avals[1].shape, part) == part
    demand(fits, f"index_put: values of shape {avals[1].shape} do not broadcast to what is written, {part}")
    return Aval(*avals[0])


# `x` with `values` (which broadcast) written, or with `accumulate` added, where the index arrays say.
_index_put = primitive(
    "index_put", kernel=_put_kernel, numpy=_put_numpy, kind="structural",
    vjp=_put_vjp, jvp=_put_jvp, batch=_batch_put, infer=_infer_put,
    params=("axes", "accumulate", "unique"),
    samples=lambda: [
        sample(normal(3, 4), normal(2), np.array([2, 0]), np.array([1, 1]), axes=(0, 1), accumulate=False, unique=True),
        sample(normal(3, 4), normal(3), np.array([2, 0, 2]), np.array([1, 1, 1]), axes=(0, 1), accumulate=True,
               unique=False),
        sample(normal(2, 3, 4), normal(), np.array([[0], [-1]]), np.array([1, 2]), axes=(0, 2), accumulate=False,
               unique=True),
        sample(normal(2, 3, 2), normal(2, 1, seed=1), np.array([2, 0]), axes=(1,), accumulate=True, unique=False),
        sample(normal(4), normal(2), np.array([1, 2]), axes=(0,), accumulate=True, unique=True)],
)  # fmt: skip


def index_put(
    x: Any, values: Any, *indices: Any, axes: tuple[int, ...], accumulate: bool = False, unique: bool = False
) -> Any:
    """`x` with `values` written (added, with `accumulate`) at the positions that integer arrays name."""
    return _index_put(x, values, *indices, axes=axes, accumulate=accumulate, unique=unique)


index_put.prim = _index_put.prim  # type: ignore[attr-defined]


def put_params(axis: int) -> dict[str, Any]:
    """The parameters of `index_put` that writes slices along one axis."""
    return {"axes": (axis,), "accumulate": False, "unique": False}


# ------------------------------------------------------------------------------------------ along an axis


_SCALARS = 8
_UNSIGNED = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


def outside(indices: np.ndarray, n: int) -> int | None:
    """An index that is negative, or not below n, if there is one."""
    if indices.size <= _SCALARS:  # of few, Python's numbers take a third of the time
        listed = indices.reshape(-1).tolist()
        if listed and (bad := min(listed)) < 0:
            return bad
        return bad if listed and (bad := max(listed)) >= n else None
    # Seen as unsigned, a negative index is larger than any axis: one pass instead of two.
    if np.maximum.reduce(indices.view(_UNSIGNED[indices.itemsize]), None) >= n:
        return int(indices.min()) if indices.min() < 0 else int(indices.max())
    return None


def _check_along(indices: Any, n: int, axis: int) -> None:
    if (bad := outside(indices, n)) is not None:
        raise ValueError(f"index {bad} is out of bounds for axis {axis} with size {n}")


def offsets(shape: tuple[int, ...], indices: np.ndarray, axis: int) -> np.ndarray:
    """For each element of `indices`, its place in an array of `shape` in C order; raises ValueError for one out of range."""
    _check_along(indices, shape[axis] if shape else 1, axis)
    return places(shape, indices, axis)


def places(shape: tuple[int, ...], indices: np.ndarray, axis: int) -> np.ndarray:
    """As `offsets`, of indices that are known to lie in the array."""
    if len(shape) < 2:
        return indices.reshape(-1)
    if indices.size <= _FEWER:
        stride, other = _kept_whole(shape, indices.shape, axis)
        indices = indices.reshape(-1)
    else:
        stride, other = (_kept_steps if indices.size <= _FEW else _steps)(shape, indices.shape, axis)
    if indices.itemsize < 8:
        indices = indices.astype(np.int64)
    found = (indices if stride == 1 else indices * stride) + other
    return found if found.ndim == 1 else found.reshape(-1)


_FEW = 4096
"""Elements up to which it is remembered where rows begin."""

_FEWER = 256
"""Elements up to which that is remembered for each of them: NumPy broadcasts in 0.75 µs, and adds arrays of one shape in 0.24."""


def _others(shape: tuple[int, ...], within: tuple[int, ...], axis: int) -> np.ndarray:
    """The places of the first elements along an axis in an array of `shape`, for as many rows as `within` has."""
    stride, total = 1, np.zeros((1,) * len(shape), np.int64)
    for i in reversed(range(len(shape))):
        if i != axis:
            total = total + stride * np.arange(within[i]).reshape((-1,) + (1,) * (len(shape) - 1 - i))
        stride *= shape[i]
    return total


def _steps(shape: tuple[int, ...], within: tuple[int, ...], axis: int) -> tuple[int, np.ndarray]:
    """How far apart the elements along an axis stand, and `_others` for the rows of positions of the shape `within`."""
    return math.prod(shape[axis + 1 :]), _others(shape, within[:axis] + (1,) + within[axis + 1 :], axis)


_kept_steps = functools.lru_cache(256)(_steps)


@functools.lru_cache(256)
def _kept_whole(shape: tuple[int, ...], within: tuple[int, ...], axis: int) -> tuple[int, np.ndarray]:
    """As `_steps`, in one line: for each of the positions by itself."""
    stride, other = _steps(shape, within, axis)
    return stride, np.broadcast_to(other, within).reshape(-1)


@functools.lru_cache(256)
def _kept_slices(shape: tuple[int, ...], axis: int) -> tuple[int, tuple[int, ...], np.ndarray]:
    """How far apart slices along an axis stand, the shape in which places of slices meet the others', and these."""
    column = (-1, *(1,) * (len(shape) - axis - 1))
    return math.prod(shape[axis + 1 :]), column, _others(shape, (*shape[:axis], 1, *shape[axis + 1 :]), axis)


def _along_kernel(xp: Any, x: Any, indices: Any, *, axis: int) -> Any:
    if not x.ndim:
        return xp.broadcast_to(x, indices.shape)
    x = x[tuple(slice(None) if i == axis else slice(n) for i, n in enumerate(indices.shape))]
    return xp.take_along_axis(x, indices, axis=axis)


def _along_numpy(x: Any, indices: Any, *, axis: int) -> Any:
    if not x.ndim:
        _check_along(indices, 1, 0)
        return np.broadcast_to(x, indices.shape).copy()
    if x.size > 8 * indices.size and 0 in x.strides:
        _check_along(indices, x.shape[axis], axis)
        return _along_expanded(x, indices, axis)
    found = gathers.along(x, indices, axis)
    if found is not None:
        return found
    return x.reshape(-1).take(offsets(x.shape, indices, axis)).reshape(indices.shape)


def _along_expanded(x: np.ndarray, indices: np.ndarray, axis: int) -> np.ndarray:
    """Elements along an axis of what was expanded along others, of which no copy is made: each stands there once."""
    once = x[tuple([slice(0, 1) if step == 0 and i != axis else slice(None) for i, step in enumerate(x.strides)])]
    at: Any = 0
    stride = 1
    for i in reversed(range(x.ndim)):
        if i == axis:
            at = at + stride * indices
        elif once.shape[i] > 1:
            at = at + stride * np.arange(indices.shape[i]).reshape((-1,) + (1,) * (x.ndim - 1 - i))
        stride *= once.shape[i]
    return once.reshape(-1).take(at)


def _along_add_kernel(xp: Any, g: Any, indices: Any, *, shape: tuple[int, ...], axis: int) -> Any:
    numbers = xp.reshape(flat_positions(xp, shape, indices, axis), (-1,))
    g = xp.broadcast_to(g, indices.shape)
    out = reduce_by_number(xp, add, xp.reshape(g, (-1,)), numbers, math.prod(shape), 0)
    return xp.reshape(out, shape)


def _along_add_numpy(g: Any, indices: Any, *, shape: tuple[int, ...], axis: int) -> Any:
    found = gathers.along_add(g, indices, shape, axis)
    if found is not None:
        return found
    _check_along(indices, shape[axis] if shape else 1, axis)
    return _added_along(np.zeros(shape, g.dtype), np.asarray(g), indices, axis)


def _added_along(out: np.ndarray, g: np.ndarray, indices: np.ndarray, axis: int) -> np.ndarray:
    """`out`, in C order, to which g has been added at positions along an axis that lie in it; half precision in single."""
    if g.itemsize <= 2 and g.dtype.kind not in "iub":
        return _added_along(out.astype(np.float32), g.astype(np.float32), indices, axis).astype(g.dtype)
    if out.shape and indices.shape[axis] == 1:
        out.reshape(-1)[places(out.shape, indices, axis)] += g.reshape(-1)  # no place is named twice
    else:
        np.add.at(out.reshape(-1), places(out.shape, indices, axis), g.reshape(-1))
    return out


def along_add_known(g: Any, indices: Any, *, shape: tuple[int, ...], axis: int) -> Any:
    """`along_add` at positions that are known to lie in the array, as what has been read there does."""
    if type(g) is not np.ndarray or type(indices) is not np.ndarray:
        return along_add(g, indices, shape=shape, axis=axis)
    found = gathers.along_add(g, indices, shape, axis)
    return _added_along(np.zeros(shape, g.dtype), g, indices, axis) if found is None else found


def batch_along(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    """The batching rule of operations along `axis` whose operands have one rank."""
    size = batch_size(arrays, dims)
    given = {**params, "axis": params["axis"] + 1}
    if "shape" in given:
        given["shape"] = (size, *given["shape"])
    moved = [materialise_batch(x, d, size) for x, d in zip(arrays, dims)]
    if ndim_of(moved[1]) == 1:  # 0-d indices count as one
        out = op(*(x if ndim_of(x) > 1 else reshape(x, shape=(size, 1)) for x in moved), **{
            **given, **({"shape": (size, 1)} if "shape" in given else {})})  # fmt: skip
        return reshape(out, shape=(size, *params["shape"]) if "shape" in params else (size,)), 0
    return op(*moved, **given), 0


def _check_within(shape: tuple[int, ...], indices: tuple[int, ...], axis: int) -> None:
    """Positions along an axis have the operand's rank, and are nowhere larger off the axis; a number counts as one of each."""
    if not shape:
        return
    checked_axes(shape, axis)
    fits = len(indices) == len(shape) and all(n <= m for i, (n, m) in enumerate(zip(indices, shape)) if i != axis)
    demand(fits, f"positions of shape {tuple(indices)} do not lie in an operand of shape {tuple(shape)} along axis {axis}")


def _infer_along(avals: Any, params: dict[str, Any]) -> Aval:
    _check_within(avals[0].shape, avals[1].shape, params["axis"])
    return Aval(avals[1].shape, avals[0].dtype)


def _infer_along_add(avals: Any, params: dict[str, Any]) -> Aval:
    _check_within(params["shape"], avals[1].shape, params["axis"])
    matching("along_add", avals[0].shape, avals[1].shape)
    return Aval(params["shape"], avals[0].dtype)


def _infer_scattered(avals: Any, params: dict[str, Any]) -> Aval:
    x, indices, values = avals
    _check_within(x.shape, indices.shape, params["axis"])
    fits = np.broadcast_shapes(values.shape, indices.shape) == tuple(indices.shape)
    demand(fits, f"values of shape {values.shape} do not broadcast to the positions', {indices.shape}")
    return Aval(*x)


# For each element of `indices` (of the operand's rank, nowhere larger off the axis) the element of `x` in the same
# place off the axis, and where it says along it. Negative indices are refused.
take_along_axis = linear(
    "take_along_axis", kernel=_along_kernel, numpy=_along_numpy, others=1, kind="structural",
    transpose=lambda g, x_, indices, *, axis: along_add_known(g, indices, shape=tuple(shape_of(x_)), axis=axis),
    batch=batch_along, infer=_infer_along,
    samples=lambda: [sample(normal(3, 2), np.array([[2, 0], [2, 1]]), axis=0),
                     sample(normal(2, 3), np.array([[2, 0, 2, 1]]), axis=1), sample(normal(), np.array(0), axis=0)],
)  # fmt: skip

# The transpose: zeros of `shape` to which each element is added.
along_add = linear(
    "along_add", kernel=_along_add_kernel, numpy=_along_add_numpy, others=1,
    transpose=lambda g, _x, indices, *, shape, axis: take_along_axis(g, indices, axis=axis),
    batch=batch_along, infer=_infer_along_add,
    samples=lambda: [sample(normal(2, 2), np.array([[2, 0], [2, 1]]), shape=(3, 2), axis=0)],
)  # fmt: skip


def _scatter_kernel(xp: Any, x: Any, indices: Any, values: Any, *, axis: int) -> Any:
    numbers = xp.reshape(flat_positions(xp, x.shape, indices, axis), (-1,))
    values = xp.reshape(xp.broadcast_to(values, indices.shape), (-1, 1))
    return xp.reshape(_latest_at(xp, xp.reshape(x, (-1, 1)), values, numbers), x.shape)


def _scatter_numpy(x: Any, indices: Any, values: Any, *, axis: int) -> Any:
    found = gathers.along_put(x, indices, values, axis)
    if found is not None:
        return found
    out = np.array(x, order="C")
    out.reshape(-1)[offsets(out.shape, indices, axis)] = np.broadcast_to(values, indices.shape).reshape(-1)
    return out


def _scatter_jvp(tangents: Any, out: Any, x: Any, indices: Any, values: Any, *, axis: int) -> Any:
    dx = zeros_like(x) if tangents[0] is None else tangents[0]
    dv = full((), 0, dtype_of(x), x) if tangents[2] is None else tangents[2]
    return scatter(dx, indices, dv, axis=axis)


def _batch_scatter(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    values = arrays[2]
    if ndim_of(values) - (dims[2] is not None) < ndim_of(arrays[1]) - (dims[1] is not None):  # a number for all
        shape = (*tuple(shape_of(move_batch(arrays[1], dims[1])))[dims[1] is not None :],)
        values = move_batch(values, dims[2])
        lead = tuple(shape_of(values))[: dims[2] is not None]
        values = reshape(values, shape=(*lead, *(1,) * len(shape)))
        arrays, dims = (arrays[0], arrays[1], values), (dims[0], dims[1], 0 if lead else None)
    return batch_along(op, arrays, dims, params)


# `x` with `values` (of the indices' shape, or 0-d) written where `indices` say along an axis; of several values for one
# place the last one stays.
scatter = primitive(
    "scatter", kernel=_scatter_kernel, numpy=_scatter_numpy, kind="structural",
    vjps=[lambda g, _out, _x, indices, _values, *, axis: scatter(
              g, indices, full((), 0, dtype_of(g), g), axis=axis), None,
          lambda g, _out, _x, indices, _values, *, axis: take_along_axis(g, indices, axis=axis)],
    jvp=_scatter_jvp, batch=_batch_scatter, infer=_infer_scattered,
    samples=lambda: [sample(normal(3, 2), np.array([[2, 0], [1, 1]]), normal(2, 2), axis=0),
                     sample(normal(2, 4), np.array([[2, 0, 3]]), normal(), axis=1)],
)  # fmt: skip

def _scatter_add_numpy(x: Any, indices: Any, values: Any, *, axis: int) -> Any:
    found = gathers.along_add(values, indices, x.shape, axis, x)
    if found is not None:
        return found
    if x.dtype != values.dtype or x.dtype.itemsize <= 2:
        return x + _along_add_numpy(values, indices, shape=x.shape, axis=axis)
    _check_along(indices, x.shape[axis] if x.shape else 1, axis)
    return _added_along(np.array(x, order="C"), values, indices, axis)


def _infer_scatter_add(avals: Any, params: dict[str, Any]) -> Aval:
    x, indices, values = avals
    _check_within(x.shape, indices.shape, params["axis"])
    demand(math.prod(values.shape) == math.prod(indices.shape), f"{values.shape} values for {indices.shape} positions")
    return Aval(*x)


# `x` with `values` added where `indices` say along an axis.
scatter_add = primitive(
    "scatter_add",
    kernel=lambda xp, x, indices, values, *, axis: x + _along_add_kernel(xp, values, indices, shape=x.shape, axis=axis),
    numpy=_scatter_add_numpy,
    vjps=[lambda g, _out, _x, _indices, _values, *, axis: g, None,
          lambda g, _out, _x, indices, _values, *, axis: take_along_axis(g, indices, axis=axis)],
    jvp=lambda tangents, out, x, indices, values, *, axis: (
        tangents[0] if tangents[2] is None else scatter_add(
            zeros_like(x) if tangents[0] is None else tangents[0], indices, tangents[2], axis=axis)),
    batch=batch_along, infer=_infer_scatter_add,
    samples=lambda: [sample(normal(3, 2), np.array([[2, 0], [2, 1]]), normal(2, 2), axis=0),
                     sample(normal(2, 3), np.array([[2, 0, 2, 1]]), normal(1, 4), axis=1)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ positions


# The positions of the elements that are not zero, one row each, in C order.
argwhere = nondifferentiable(
    "argwhere", kernel=lambda xp, x: xp.stack(xp.nonzero(x), axis=1), numpy=np.argwhere, operands=("x",),
    kind="data_dependent", batch=batch_loop, infer=infer_unknown("argwhere"),
    samples=lambda: [sample(np.zeros((2, 3)))],
)  # fmt: skip
