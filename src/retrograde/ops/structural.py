"""Shape and layout: reshape, transpose, broadcasting, casts, basic indexing, joining. Views wherever NumPy has them."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend.dtypes import device_in, dtype_in, is_complex, is_floating, kind_of, real_of
from ..backend.jit import threads
from ..backend.jit.halves import converted
from ..core.arrays import full
from ..core.aval import Aval
from ..core.large import CHEAP_LEAST, LEAST, SHARED_LEAST, Large, copied, framed, write, zeros
from ..core.number import of_a_trace
from ..core.primitive import PRIMITIVES, primitive
from ..core.value import dtype_of, shape_of
from .kernels import in_c_order
from .placement import places_of, taken, written_at
from .rules import (
    batch_leading,
    batch_loop,
    batch_size,
    elementwise,
    infer_same,
    linear,
    materialise_batch,
    move_batch,
    nondifferentiable,
)
from .samples import complex_normal, normal, sample
from .shapes import length_of_slice

# ------------------------------------------------------------------------------------------ shape


def _batch_reshape(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = move_batch(arrays[0], dims[0])
    return op(x, shape=(shape_of(x)[0], *params["shape"])), 0


def _infer_reshape(avals: Any, params: dict[str, Any]) -> Aval:
    (have, dtype), shape = avals[0], tuple(params["shape"])
    if math.prod(have) != math.prod(shape) or any(n < 0 for n in shape):
        raise ValueError(f"reshape: an array of shape {have} has no shape {shape}")
    return Aval(shape, dtype)


def _reshape_numpy(x: Any, *, shape: tuple[int, ...]) -> Any:
    if x.size >= SHARED_LEAST and not x.flags.c_contiguous:
        try:
            return x.reshape(shape, copy=False)
        except ValueError:
            if x.size == math.prod(shape):
                x = copied(x)
    return x.reshape(shape)


reshape = linear(
    "reshape", kernel=lambda xp, x, *, shape: xp.reshape(x, shape), numpy=_reshape_numpy,
    transpose=lambda g, x_, *, shape: reshape(g, shape=tuple(shape_of(x_))),
    batch=_batch_reshape, infer=_infer_reshape, kind="structural",
    samples=lambda: [sample(normal(2, 3), shape=(3, 2)), sample(normal(), shape=(1, 1)), sample(normal(4), shape=(2, 2))],
)  # fmt: skip


def inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """The permutation that undoes one."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def _batch_transpose(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = move_batch(arrays[0], dims[0])
    return op(x, axes=(0, *(a + 1 for a in params["axes"]))), 0


def _infer_transpose(avals: Any, params: dict[str, Any]) -> Aval:
    (shape, dtype), axes = avals[0], params["axes"]
    if sorted(a + len(shape) if a < 0 else a for a in axes) != list(range(len(shape))):
        raise ValueError(f"transpose: axes {axes} are no order of the {len(shape)} axes")
    return Aval(tuple(shape[a] for a in axes), dtype)


transpose = linear(
    "transpose", kernel=lambda xp, x, *, axes: xp.permute_dims(x, axes), numpy=lambda x, *, axes: x.transpose(axes),
    transpose=lambda g, _x, *, axes: transpose(g, axes=inverse(axes)),
    batch=_batch_transpose, infer=_infer_transpose, kind="structural",
    samples=lambda: [sample(normal(2, 3, 4), axes=(2, 0, 1)), sample(normal(2, 3), axes=(1, 0)), sample(normal(), axes=())],
)  # fmt: skip


def _batch_rearrange(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = move_batch(arrays[0], dims[0])
    size, axes = shape_of(x)[0], (0, *(a + 1 for a in params["axes"]))
    return op(x, shape=(size, *params["shape"]), axes=axes, result=(size, *params["result"])), 0


def _infer_rearrange(avals: Any, params: dict[str, Any]) -> Aval:
    seen = _infer_reshape(avals, {"shape": params["shape"]})
    return _infer_reshape([_infer_transpose([seen], {"axes": params["axes"]})], {"shape": params["result"]})


# x in a shape, its axes in another order, and that in the shape `result`: a copy.
rearrange = linear(
    "rearrange", kind="structural",
    kernel=lambda xp, x, *, shape, axes, result: xp.reshape(xp.permute_dims(xp.reshape(x, shape), axes), result, copy=True),
    numpy=lambda x, *, shape, axes, result: np.array(x.reshape(shape).transpose(axes), order="C").reshape(result),
    transpose=lambda g, x_, *, shape, axes, result: rearrange(
        g, shape=tuple(shape[a] for a in axes), axes=inverse(axes), result=tuple(shape_of(x_))),
    batch=_batch_rearrange, infer=_infer_rearrange,
    samples=lambda: [sample(normal(2, 6), shape=(2, 3, 2), axes=(1, 0, 2), result=(3, 4)),
                     sample(normal(4), shape=(2, 2), axes=(1, 0), result=(4,))],
)  # fmt: skip


def _broadcast_numpy(x: Any, *, shape: tuple[int, ...]) -> Any:
    """Stride 0 along the new axes: 0.3 µs where np.broadcast_to takes 1.9, and the view may be written through."""
    if not x.flags.c_contiguous:
        out = np.broadcast_to(x, shape)
        if x.flags.writeable:
            out.flags.writeable = True
        return out
    have, extra = x.shape, len(shape) - x.ndim
    if not have:
        return np.ndarray(shape, x.dtype, x, 0, (0,) * extra)
    strides = [0] * len(shape)
    for i, (n, stride) in enumerate(zip(have, x.strides), extra):
        if n == shape[i]:
            strides[i] = stride
        elif n != 1:
            raise ValueError(f"an array of shape {have} does not broadcast to {shape}")
    if extra < 0:
        raise ValueError(f"an array of shape {have} has more axes than {shape}")
    return np.ndarray(shape, x.dtype, x, 0, strides)


def spread(x: Any, shape: tuple[int, ...]) -> np.ndarray:
    """An array or a number of NumPy's in another shape, for the use of rules: a view, whose strides users see in hooks."""
    found: np.ndarray = _broadcast_numpy(np.asarray(x), shape=shape)
    return found


def _batch_broadcast(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x, shape = move_batch(arrays[0], dims[0]), params["shape"]
    have = shape_of(x)
    if len(have) - 1 < len(shape):
        x = reshape(x, shape=(have[0], *(1,) * (len(shape) - len(have) + 1), *have[1:]))
    return op(x, shape=(have[0], *shape)), 0


def sum_to_shape(g: Any, shape: tuple[int, ...]) -> Any:
    """The transpose of broadcasting: sum the axes that were added or stretched."""
    have = shape_of(g)
    extra = len(have) - len(shape)
    axes = (*range(extra), *(i + extra for i, n in enumerate(shape) if n == 1 and have[i + extra] != 1))
    g = PRIMITIVES["sum"].op(g, axis=axes, keepdims=False) if axes else g
    return g if shape_of(g) == shape else reshape(g, shape=shape)


def _infer_broadcast(avals: Any, params: dict[str, Any]) -> Aval:
    shape = tuple(params["shape"])
    if np.broadcast_shapes(avals[0].shape, shape) != shape:
        raise ValueError(f"an array of shape {avals[0].shape} does not broadcast to {shape}")
    return Aval(shape, avals[0].dtype)


broadcast_to = linear(
    "broadcast_to", kernel=lambda xp, x, *, shape: xp.broadcast_to(x, shape), numpy=_broadcast_numpy,
    transpose=lambda g, x_, *, shape: sum_to_shape(g, tuple(shape_of(x_))),
    batch=_batch_broadcast, infer=_infer_broadcast, kind="structural",
    samples=lambda: [sample(normal(3), shape=(2, 3)), sample(normal(2, 1), shape=(2, 3)), sample(normal(), shape=(2,))],
)  # fmt: skip


def broadcast_like(x: Any, like: Any) -> Any:
    """`x` broadcast to the shape of `like`; None stays None."""
    if x is None or shape_of(x) == shape_of(like):
        return x
    return broadcast_to(x, shape=tuple(shape_of(like)))


# ------------------------------------------------------------------------------------------ dtype and complex parts


def _cast_kernel(xp: Any, x: Any, *, dtype: Any) -> Any:
    if is_complex(x) and kind_of(dtype) not in "cb":
        x = xp.real(x)
    if is_complex(x) and kind_of(dtype) == "b":
        return x != 0
    return xp.astype(x, dtype_in(xp, dtype))


def _cast_numpy(x: Any, *, dtype: Any) -> Any:
    if x.dtype.kind == "c" and np.dtype(dtype).kind not in "cb":
        x = x.real
    if 0 in x.strides:
        return x.astype(dtype, "C")  # NumPy would put that axis last
    return converted(x, np.dtype(dtype))


def _uncast(g: Any, x: Any) -> Any:
    """A cotangent in the dtype of the operand; the real part where that is real."""
    want = dtype_of(x)
    if dtype_of(g).kind == "c" and want.kind != "c":
        g = real(g)
    if dtype_of(g) == want:
        return g
    return carry(g, dtype=want, came=False)[0] if want.kind in "iub" else cast(g, dtype=want)


class _LargeCast(Large):
    """Half precision has a loop of its own (backend/jit/halves.py), with less around it; else NumPy is not slow at few."""

    def __init__(self, prim: Any) -> None:
        super().__init__(prim)
        self._loops: dict[tuple[np.dtype, np.dtype], Any] = {}

    def __call__(self, x: Any, *, dtype: Any) -> Any:
        dtype = np.dtype(dtype)
        if x.size < CHEAP_LEAST or x.itemsize == 2 or dtype.itemsize == 2:
            return _cast_numpy(x, dtype=dtype)
        loop = self._loops.get((x.dtype, dtype))
        if loop is None:
            loop = self._loops[x.dtype, dtype] = self.fused((x,), {"dtype": dtype})
        found = loop(x) if loop else None
        return _cast_numpy(x, dtype=dtype) if found is None else found[0]

    def pulled(self, g: Any, edges: Any, saved: Any, params: dict[str, Any]) -> Any:
        """A cast again, between real floating numbers."""
        edge = edges[0]
        if edge is None or not (is_floating(g) and is_floating(edge.dtype)):
            return super().pulled(g, edges, saved, params)
        return [(edge, g if g.dtype is edge.dtype else self(g, dtype=edge.dtype))]


cast = linear(
    "cast", kernel=_cast_kernel, numpy=_cast_numpy, generated=_LargeCast, kind="elementwise",
    transpose=lambda g, x_, *, dtype: _uncast(g, x_),
    batch=lambda op, arrays, dims, params: (op(arrays[0], **params), dims[0]),
    infer=lambda avals, p: Aval(avals[0].shape, np.dtype(p["dtype"])),
    samples=lambda: [sample(normal(3), dtype=np.dtype(np.float64)), sample(normal(3), dtype=np.dtype(np.complex128))],
)  # fmt: skip


# x in another dtype, in a tuple of one: unlike those of `cast`, results of integers and truths carry gradients too. They
# are in the dtype of the result, so whatever comes back loses its fraction there (as MindSpore differentiates casts). It
# returns to the dtype of x, unless it is to stay as it `came`.
carry = primitive(
    "carry", kernel=lambda xp, x, *, dtype, came: (_cast_kernel(xp, x, dtype=dtype),),
    numpy=lambda x, *, dtype, came: (_cast_numpy(x, dtype=dtype),), kind="elementwise",
    vjps=[lambda g, _out, x_, *, dtype, came: g[0] if came else _uncast(g[0], x_)],
    jvp=lambda tangents, out, x, *, dtype, came: (cast(tangents[0], dtype=dtype),),
    multi=True, diff_outs=(True,), batch=lambda op, arrays, dims, params: (op(arrays[0], **params), (dims[0],)),
    infer=lambda avals, p: (Aval(avals[0].shape, np.dtype(p["dtype"])),),
    samples=lambda: [sample(normal(3), dtype=np.dtype(d), came=False) for d in (np.float64, np.complex128)],
)  # fmt: skip


def _infer_real(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(avals[0].shape, real_of(avals[0].dtype))


def _as_complex(g: Any, x: Any) -> Any:
    return cast(g, dtype=dtype_of(x)) if dtype_of(x).kind == "c" and dtype_of(g).kind != "c" else g


conj = elementwise(
    "conj", kernel=lambda xp, x: xp.conj(x) if is_complex(x) else x,
    numpy=lambda x: np.conj(x) if x.dtype.kind == "c" else x,
    vjps=[lambda g, _out, _x: conj(g)], jvp=lambda tangents, out, x: conj(tangents[0]), infer=infer_same,
    samples=lambda: [sample(complex_normal(3)), sample(normal(2))],
)  # fmt: skip

real = elementwise(
    "real", kernel=lambda xp, x: xp.real(x) if is_complex(x) else x, numpy=lambda x: x.real,
    vjps=[lambda g, _out, x_: _as_complex(g, x_)],
    jvp=lambda tangents, out, x: real(tangents[0]), infer=_infer_real,
    samples=lambda: [sample(complex_normal(3)), sample(normal(2))],
)  # fmt: skip

imag = elementwise(
    "imag", kernel=lambda xp, x: xp.imag(x) if is_complex(x) else xp.zeros_like(x), numpy=lambda x: x.imag,
    vjps=[lambda g, _out, x_: _as_complex(g, x_) * 1j if dtype_of(x_).kind == "c" else g * 0],
    jvp=lambda tangents, out, x: imag(tangents[0]), infer=_infer_real,
    samples=lambda: [sample(complex_normal(3))],
)  # fmt: skip



def _copied(x: Any) -> Any:
    if x.size >= LEAST and (x.flags.c_contiguous or 0 in x.strides):
        return copied(x)
    return x.copy("C" if 0 in x.strides else "K")  # as _cast_numpy


copy = linear(
    "copy", kernel=lambda xp, x: xp.asarray(x, copy=True), numpy=_copied, transpose=lambda g, _x: g,
    batch=lambda op, arrays, dims, params: (op(arrays[0]), dims[0]), infer=infer_same, kind="structural",
    samples=lambda: [sample(normal(3))],
)  # fmt: skip

# The same elements, of which every derivative is zero: what a trace writes where a value loses its history.
stop_gradient = nondifferentiable(
    "stop_gradient", kernel=lambda xp, x: x, infer=infer_same, kind="structural",
    batch=lambda op, arrays, dims, params: (op(arrays[0]), dims[0]), samples=lambda: [sample(normal(3))],
)  # fmt: skip

# `new` in place of `x`: what an overwritten operand becomes. Its gradient is zero, not absent, as in PyTorch.
replace = primitive(
    "replace", kernel=lambda xp, x, new: xp.asarray(new, copy=True),
    vjps=[lambda g, _out, _x, _new: zeros_like(g), lambda g, _out, _x, _new: g],
    jvp=lambda tangents, out, x, new: zeros_like(out) if tangents[1] is None else tangents[1],
    batch=batch_leading, infer=lambda avals, p: avals[1],
    samples=lambda: [sample(normal(3), normal(3, seed=1))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ basic indexing


def _embed_kernel(xp: Any, x: Any, *, shape: tuple[int, ...], index: Any) -> Any:
    return written_at(xp, xp.zeros(shape, dtype=x.dtype, device=device_in(x)), x, places_of(shape)[index])


def _embed_numpy(x: Any, *, shape: tuple[int, ...], index: Any) -> Any:
    if len(index) <= len(shape) and math.prod(shape) >= CHEAP_LEAST:
        slices = _forward_slices(shape, index)
        if slices is not None:
            # An axis that an integer takes away is one of one element here.
            axes = [i for i, k in enumerate(index) if type(k) is not slice]
            return framed(np.expand_dims(x, axes) if axes else x, shape, slices)
    out = zeros(shape, x.dtype)
    out[index] = x
    return out


def _forward_slices(shape: tuple[int, ...], index: Any) -> tuple[slice, ...] | None:
    """An index of slices that go forward and integers as a slice for each axis; None for another one."""
    found = []
    for n, k in zip(shape, index):
        if type(k) is slice and (k.step is None or k.step > 0):
            found.append(slice(*k.indices(n)))
        elif isinstance(k, (int, np.integer)) and not isinstance(k, (bool, np.bool)):
            found.append(slice(int(k) % n, int(k) % n + 1))
        else:
            return None
    return (*found, *[slice(0, n, 1) for n in shape[len(found) :]])


def full_index(index: tuple[Any, ...], ndim: int) -> tuple[Any, ...]:
    """An index with an Ellipsis where it names fewer than all axes, as the standard asks."""
    named = sum(i is not None and i is not Ellipsis for i in index)
    return index if named == ndim or Ellipsis in index else (*index, Ellipsis)


def _getitem_kernel(xp: Any, x: Any, *, index: Any) -> Any:
    if any(isinstance(i, slice) and i.step is not None and i.step < 0 for i in index):
        return taken(xp, x, places_of(x.shape)[index])  # bounds of slices that go back are not the standard's
    return x[full_index(index, x.ndim)]


def _getitem_numpy(x: Any, *, index: Any) -> Any:
    out = x[index]
    if type(out) is np.ndarray or not isinstance(out, np.generic):
        return out
    return x[(*index, Ellipsis)]  # a full set of integers gives a scalar that shares no memory; this is a 0-d view


def _index_shape(shape: tuple[int, ...], index: Any) -> tuple[int, ...]:
    if of_a_trace(*shape, *(n for k in index for n in _bounds(k))):
        return _index_shape_of_sizes(shape, index)
    try:
        return np.broadcast_to(np.zeros(()), shape)[index].shape
    except IndexError as error:
        raise ValueError(str(error)) from error


def _bounds(k: Any) -> tuple[Any, ...]:
    return (k.start, k.stop, k.step) if isinstance(k, slice) else (k,)


def _index_shape_of_sizes(shape: tuple[int, ...], index: Any) -> tuple[int, ...]:
    """The same where sizes of a trace are in it: what decides is asked of them one by one."""
    missing = len(shape) - sum(k is not None and k is not Ellipsis for k in index)
    if missing < 0:
        raise ValueError(f"{len(index)} indices for {len(shape)} axes")
    found: list[int] = []
    rest = iter(shape)
    for k in index if any(k is Ellipsis for k in index) else (*index, Ellipsis):
        if k is None:
            found.append(1)
        elif k is Ellipsis:
            found += [next(rest) for _ in range(missing)]
        elif isinstance(k, slice):
            found.append(length_of_slice(k, next(rest)))
        else:
            n = next(rest)
            if not -n <= k < n:
                raise ValueError(f"index {k} is out of range for {n} elements")
    return tuple(found)


def _infer_embed(avals: Any, params: dict[str, Any]) -> Aval:
    shape = tuple(params["shape"])
    part = _index_shape(shape, params["index"])
    if np.broadcast_shapes(avals[0].shape, part) != part:
        raise ValueError(f"embed: an array of shape {avals[0].shape} does not broadcast to {part}")
    return Aval(shape, avals[0].dtype)


# An index is a tuple of ints, slices, None and at most one Ellipsis.
getitem = linear(
    "getitem", kernel=_getitem_kernel, numpy=_getitem_numpy, kind="structural",
    transpose=lambda g, x_, *, index: embed(g, shape=tuple(shape_of(x_)), index=index),
    batch=lambda op, arrays, dims, params: (
        op(move_batch(arrays[0], dims[0]), index=(slice(None), *params["index"])), 0),
    infer=lambda avals, p: Aval(_index_shape(avals[0].shape, p["index"]), avals[0].dtype),
    samples=lambda: [sample(normal(4, 3), index=(slice(1, 3), 0)), sample(normal(4), index=(slice(None, None, 2),)),
                     sample(normal(2, 3), index=(None, Ellipsis, -1)), sample(normal(4), index=(2,))],
)  # fmt: skip

embed = linear(
    "embed", kernel=_embed_kernel, numpy=_embed_numpy, kind="structural",
    transpose=lambda g, _x, *, shape, index: getitem(g, index=index),
    batch=lambda op, arrays, dims, params: (
        op(move_batch(arrays[0], dims[0]), shape=(batch_size(arrays, dims), *params["shape"]),
           index=(slice(None), *params["index"])), 0),
    infer=_infer_embed,
    samples=lambda: [sample(normal(2), shape=(4, 3), index=(slice(1, 3), 0)), sample(normal(), shape=(3,), index=(1,))],
)  # fmt: skip


def select(x: Any, *, axis: int, index: int) -> Any:
    """The slice of `x` at a position along an axis, without that axis."""
    return getitem(x, index=(slice(None),) * axis + (index,))


# ------------------------------------------------------------------------------------------ joining


def _all_batched(arrays: Any, dims: Any) -> list[Any]:
    size = batch_size(arrays, dims)
    return [materialise_batch(x, d, size) for x, d in zip(arrays, dims)]


def _split_cotangent(needs: Any, g: Any, axis: int, sizes: tuple[int, ...]) -> tuple[Any, ...]:
    grads, start = [], 0
    for size, need in zip(sizes, needs):
        index = (slice(None),) * axis + (slice(start, start + size),)
        grads.append(getitem(g, index=index) if need else None)
        start += size
    return tuple(grads)


def _tangent_or_zero(t: Any, x: Any) -> Any:
    return zeros_like(x) if t is None else t


def _infer_concatenate(avals: Any, params: dict[str, Any]) -> Aval:
    axis, shape = params["axis"], avals[0].shape
    if not 0 <= axis < len(shape):
        raise ValueError(f"concatenate: axis {axis} is out of range for arrays of {len(shape)} axes")
    for a in avals:
        if len(a.shape) != len(shape) or any(n != m for i, (n, m) in enumerate(zip(a.shape, shape)) if i != axis):
            raise ValueError(f"concatenate: shapes {shape} and {tuple(a.shape)} differ off axis {axis}")
    n = sum(a.shape[axis] for a in avals)
    return Aval((*shape[:axis], n, *shape[axis + 1 :]), np.result_type(*(a.dtype for a in avals)))


def _infer_stack(avals: Any, params: dict[str, Any]) -> Aval:
    axis, shape = params["axis"], avals[0].shape
    if not 0 <= axis <= len(shape):
        raise ValueError(f"stack: axis {axis} is out of range for results of {len(shape) + 1} axes")
    for a in avals:
        if a.shape != shape:
            raise ValueError(f"stack: shapes {shape} and {tuple(a.shape)} differ")
    return Aval((*shape[:axis], len(avals), *shape[axis:]), np.result_type(*(a.dtype for a in avals)))


_joined: Any = getattr(np.concatenate, "_implementation", np.concatenate)
"""NumPy's, where it can be had without its look for arrays of other libraries: 0.15 µs of 0.6."""


def _together(shape: tuple[int, ...], parts: Sequence[Any], places: Sequence[Any]) -> Any:
    """A large array made of parts of one dtype, each written in its place, on all cores; None where the dtypes differ, or NumPy
    does it as fast."""
    dtype = parts[0].dtype
    if math.prod(shape) < SHARED_LEAST or threads.count() == 1 or any(x.dtype != dtype for x in parts):
        return None
    out = np.empty(shape, dtype)
    for x, place in zip(parts, places):
        write(out[place], x)
    return out


def concatenate_numpy(*xs: Any, axis: int, sizes: Any = None) -> Any:
    """NumPy arrays, of some sizes along an axis if they are known, joined along it."""
    x = xs[0]
    if x.size * len(xs) >= SHARED_LEAST or xs[-1].size >= SHARED_LEAST:
        sizes = sizes or [part.shape[axis] for part in xs]
        ends = list(itertools.accumulate(sizes))
        places = [(slice(None),) * axis + (slice(end - n, end),) for end, n in zip(ends, sizes)]
        found = _together((*x.shape[:axis], ends[-1], *x.shape[axis + 1 :]), xs, places)
        if found is not None:
            return found
    out = _joined(xs, axis)
    return out if out.flags.c_contiguous else np.ascontiguousarray(out)  # see in_c_order


# The sizes along the axis are a parameter, since operands without a gradient carry no shape to the derivative rule.
_concatenate = primitive(
    "concatenate",
    kernel=lambda xp, *xs, axis, sizes: xp.concat(xs, axis=axis), kind="structural",
    numpy=concatenate_numpy,
    vjp=lambda needs, g, _out, *xs_, axis, sizes: _split_cotangent(needs, g, axis, sizes),
    jvp=lambda tangents, out, *xs, axis, sizes: _concatenate(
        *(_tangent_or_zero(t, x) for t, x in zip(tangents, xs)), axis=axis, sizes=sizes),
    batch=lambda op, arrays, dims, p: (
        op(*_all_batched(arrays, dims), axis=p["axis"] + 1, sizes=p["sizes"]), 0),
    infer=_infer_concatenate,
    params=("axis", "sizes"),
    samples=lambda: [sample(normal(2, 3), normal(1, 3), axis=0, sizes=(2, 1)), sample(normal(2), axis=0, sizes=(2,))],
)  # fmt: skip


def concatenate(*xs: Any, axis: int) -> Any:
    """Arrays joined along an axis that they have."""
    return _concatenate(*xs, axis=axis, sizes=tuple(shape_of(x)[axis] for x in xs))


def _stack_numpy(*xs: Any, axis: int) -> Any:
    x = xs[0]
    if x.size * len(xs) >= SHARED_LEAST and all(y.shape == x.shape for y in xs):
        places = [(slice(None),) * axis + (k,) for k in range(len(xs))]
        found = _together((*x.shape[:axis], len(xs), *x.shape[axis:]), xs, places)
        if found is not None:
            return found
    if not axis:  # NumPy's own discovery: 0.6 µs instead of 1.0 for two arrays, 6 instead of 16 for fifty
        try:
            return np.array(xs)
        except ValueError:
            raise ValueError(f"stack: the shapes differ, {', '.join(map(str, {x.shape for x in xs}))}") from None
    index = (slice(None),) * axis + (None,)
    return in_c_order(_joined([x[index] for x in xs], axis))  # 3 µs sooner than np.stack, which does the same


stack = primitive(
    "stack",
    kernel=lambda xp, *xs, axis: xp.stack(xs, axis=axis), numpy=_stack_numpy, kind="structural",
    vjp=lambda needs, g, _out, *xs_, axis: tuple(
        select(g, axis=axis, index=i) if need else None for i, need in enumerate(needs)),
    jvp=lambda tangents, out, *xs, axis: stack(*(_tangent_or_zero(t, x) for t, x in zip(tangents, xs)), axis=axis),
    batch=lambda op, arrays, dims, p: (op(*_all_batched(arrays, dims), axis=p["axis"] + 1), 0),
    infer=_infer_stack,
    params=("axis",),
    samples=lambda: [sample(normal(2, 3), normal(2, 3, seed=1), axis=1), sample(normal(), normal(seed=1), axis=0)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ views written in place


def _view_of(x: Any, steps: Any) -> Any:
    for op, params in steps:
        x = op(x, **dict(params))
    return x


def _write_view(x: Any, steps: Any, part: Any) -> None:
    """Write `part` into the view that `steps` make of NumPy's array; conj is the one step that shares no memory."""
    for i, (op, params) in enumerate(steps):
        if op is conj:
            inner = np.asarray(np.conj(x))
            _write_view(inner, steps[i + 1 :], part)
            x[...] = np.conj(inner)
            return
        x = op(x, **dict(params))
    x[...] = part


def _scatter_kernel(xp: Any, base: Any, part: Any, *, steps: Any) -> Any:
    # Where elements go does not depend on conjugation, what goes there does.
    turned = sum(op is conj for op, _ in steps) % 2
    places = _view_of(places_of(base.shape), [step for step in steps if step[0] is not conj])
    return written_at(xp, base, xp.conj(part) if turned else part, places)


def _scatter_numpy(base: Any, part: Any, *, steps: Any) -> Any:
    # C order, where every step gives a view: as_strided counts in it, a reshape may copy in others.
    out = copied(base)
    _write_view(out, steps, part)
    return out


def _without_view(g: Any, steps: Any) -> Any:
    """`g` with zeros in the view that `steps` make of it."""
    if type(g) is np.ndarray:
        return _scatter_numpy(g, 0, steps=steps)
    return view_scatter(g, zeros_like(_view_of(g, steps)), steps=steps)


def _infer_scatter(avals: Any, params: dict[str, Any]) -> Aval:
    base, part = avals
    view = base
    for op, given in params["steps"]:
        view = op.prim.infer([view], dict(given))
    if np.broadcast_shapes(part.shape, view.shape) != tuple(view.shape):
        raise ValueError(f"view_scatter: shape {part.shape} does not broadcast to the view's, {view.shape}")
    return Aval(*base)


# Steps know nothing of a batch axis, so under vmap each entry is written by itself.
# The base with the view that `steps` (operations with parameters) make of it replaced by `part`.
view_scatter = primitive(
    "view_scatter", kernel=_scatter_kernel, numpy=_scatter_numpy, kind="structural",
    vjps=[lambda g, _out, _base, _part, *, steps: _without_view(g, steps),
          lambda g, _out, _base, _part, *, steps: _view_of(g, steps)],
    jvp=lambda tangents, out, base, part, *, steps: view_scatter(
        _tangent_or_zero(tangents[0], base), _tangent_or_zero(tangents[1], part), steps=steps),
    batch=batch_loop, infer=_infer_scatter,
    samples=lambda: [sample(normal(3, 2), normal(2), steps=((getitem, (("index", (1,)),)),)),
                     sample(normal(3, 2), normal(3), steps=((transpose, (("axes", (1, 0)),)), (getitem, (("index", (0,)),))))],
)  # fmt: skip


def zeros_like(like: Any, beside: Any = None) -> Any:
    """Zeros of the shape and dtype of an array or value, the derivative where there is none; `beside` says of which library,
    where `like` only has a shape and a dtype."""
    return full(tuple(shape_of(like)), 0, dtype_of(like), like if beside is None else beside)
