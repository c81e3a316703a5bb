"""Rearrangements: flips, rolls, tiles, padding, windows, strided views, splitting.

All are linear, so each stands beside its transpose. Axis parameters are non-negative. Views wherever memory allows.
"""

from __future__ import annotations

import functools
import itertools
import math
from typing import Any

import numpy as np

from ..backend.dtypes import device_in, real_of
from ..backend.jit import patches
from ..core.arrays import full
from ..core.aval import Aval
from ..core.large import copied, framed
from ..core.primitive import primitive
from ..core.value import dtype_of, shape_of
from .kernels import complex_from, constant
from .placement import added_at, places_of, taken
from .reduction import sum as reduce_sum
from .rules import (
    batch_axes,
    batch_leading,
    batch_loop,
    batch_size,
    checked_axes,
    infer_along,
    linear,
    materialise_batch,
)
from .samples import complex_normal, normal, sample
from .shapes import demand, matching
from .structural import concatenate, concatenate_numpy, embed, reshape, stack

# ------------------------------------------------------------------------------------------ order of elements


@functools.cache
def _backwards(rank: int, axes: tuple[int, ...]) -> tuple[slice, ...]:
    turned = {axis % rank for axis in axes if -rank <= axis < rank}
    if len(turned) < len(axes):
        raise ValueError(f"flip: axes {axes} are not {len(axes)} of the {rank} axes")
    return tuple(slice(None, None, -1 if i in turned else 1) for i in range(rank))


def _flip_numpy(x: Any, *, axes: tuple[int, ...]) -> Any:
    turned = x[_backwards(x.ndim, axes)]  # a view with negative strides is no tensor in PyTorch
    return copied(turned) if x.flags.c_contiguous else turned.copy("K")


flip = linear(
    "flip", kernel=lambda xp, x, *, axes: xp.flip(x, axis=axes), numpy=_flip_numpy, kind="structural",
    transpose=lambda g, _x, *, axes: flip(g, axes=axes), batch=batch_axes("axes"), infer=infer_along("axes"),
    samples=lambda: [sample(normal(2, 3), axes=(0,)), sample(normal(2, 3), axes=(0, 1)), sample(normal(), axes=())],
)  # fmt: skip


def _roll_numpy(x: Any, *, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    if not x.flags.c_contiguous:
        x = np.ascontiguousarray(x)  # the result lies in C order whatever the operand does
    if len(axes) != 1 or not x.size:
        return np.roll(x, shifts, axis=axes)
    (axis,), n = axes, x.shape[axes[0]]
    cut = -shifts[0] % n
    before = (slice(None),) * axis
    parts = x[(*before, slice(cut, None))], x[(*before, slice(None, cut))]
    return concatenate_numpy(*parts, axis=axis, sizes=(n - cut, cut))


roll = linear(
    "roll", kernel=lambda xp, x, *, shifts, axes: xp.roll(x, shifts, axis=axes), numpy=_roll_numpy, kind="structural",
    transpose=lambda g, _x, *, shifts, axes: roll(g, shifts=tuple(-s for s in shifts), axes=axes),
    batch=batch_axes("axes"), infer=infer_along("axes"),
    samples=lambda: [sample(normal(2, 3), shifts=(1,), axes=(1,)), sample(normal(2, 3), shifts=(1, -2), axes=(0, 1))],
)  # fmt: skip


def _rot90_kernel(xp: Any, x: Any, *, k: int, axes: tuple[int, int]) -> Any:
    a, b = axes
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    k %= 4
    if k == 1:
        x = xp.flip(x, axis=b)
    elif k == 2:
        x = xp.flip(x, axis=axes)
    elif k == 3:
        x = xp.flip(x, axis=a)
    if k % 2:
        x = xp.permute_dims(x, tuple(order))
    return xp.asarray(x, copy=True)


def _infer_rot90(avals: Any, params: dict[str, Any]) -> Aval:
    checked_axes(avals[0].shape, *params["axes"])
    shape, (a, b) = list(avals[0].shape), params["axes"]
    if params["k"] % 2:
        shape[a], shape[b] = shape[b], shape[a]
    return Aval(tuple(shape), avals[0].dtype)


# A quarter turn from the first axis towards the second, k times.
rot90 = linear(
    "rot90", kernel=_rot90_kernel, kind="structural", transpose=lambda g, _x, *, k, axes: rot90(g, k=-k, axes=axes),
    batch=batch_axes("axes"), infer=_infer_rot90,
    samples=lambda: [sample(normal(2, 3), k=k, axes=(0, 1)) for k in (0, 1, 2, 3)]
    + [sample(normal(2, 3, 2), k=-1, axes=(2, 0))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ repetition


def _untile(g: Any, x: Any, *, reps: tuple[int, ...]) -> Any:
    shape = tuple(shape_of(x))
    split, axes = _repeated(shape, reps)
    return reshape(reduce_sum(reshape(g, shape=split), axis=axes, keepdims=False), shape=shape)


@functools.lru_cache(256)
def _repeated(have: tuple[int, ...], reps: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The shape of an array that was repeated, with an axis for the repetitions before each that has some, and these axes."""
    split: list[int] = []
    axes = []
    for times, n in zip(reps, (1,) * (len(reps) - len(have)) + have):
        if times != 1:
            axes.append(len(split))
            split.append(times)
        split.append(n)
    return tuple(split), tuple(axes)


def _batch_tile(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = materialise_batch(arrays[0], dims[0], batch_size(arrays, dims))
    size, *rest = shape_of(x)
    reps = params["reps"]
    return op(reshape(x, shape=(size, *(1,) * (len(reps) - len(rest)), *rest)), reps=(1, *reps)), 0


def _infer_tile(avals: Any, params: dict[str, Any]) -> Aval:
    (shape, dtype), reps = avals[0], params["reps"]
    demand(len(reps) >= len(shape), f"tile: {len(reps)} repetitions for the {len(shape)} axes of shape {tuple(shape)}")
    shape = (1,) * (len(reps) - len(shape)) + tuple(shape)
    return Aval(tuple(r * n for r, n in zip(reps, shape)), dtype)


def _tile_kernel(xp: Any, x: Any, *, reps: tuple[int, ...]) -> Any:
    _infer_tile([Aval(x.shape, x.dtype)], {"reps": reps})
    return xp.tile(x, reps)


def _tile_numpy(x: Any, *, reps: tuple[int, ...]) -> Any:
    shape, spread, together = _tiled(x.shape, reps)
    return copied(np.broadcast_to(x.reshape(shape), spread)).reshape(together)


@functools.lru_cache(256)
def _tiled(have: tuple[int, ...], reps: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...], tuple[int, ...]]:
    """A shape with an axis of length 1 before each of its own, with these as long as the repetitions, and the result's."""
    together = _infer_tile([Aval(have, np.dtype(bool))], {"reps": reps}).shape
    have = (1,) * (len(reps) - len(have)) + have
    return (
        tuple(n for m in have for n in (1, m)), tuple(n for pair in zip(reps, have) for n in pair), together
    )  # fmt: skip


# `reps` has one entry per axis of the result.
tile = linear(
    "tile", kernel=_tile_kernel, numpy=_tile_numpy, kind="structural",
    transpose=lambda g, x_, *, reps: _untile(g, x_, reps=reps),
    batch=_batch_tile,
    infer=_infer_tile,
    samples=lambda: [sample(normal(2, 3), reps=(2, 1)), sample(normal(3), reps=(2, 2)), sample(normal(), reps=(3,))],
)  # fmt: skip


def _unrepeat(g: Any, x: Any, *, repeats: int, axis: int) -> Any:
    shape = tuple(shape_of(x))
    split = reshape(g, shape=(*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    return reduce_sum(split, axis=(axis + 1,), keepdims=False)


def _infer_repeat(avals: Any, params: dict[str, Any]) -> Aval:
    checked_axes(avals[0].shape, params["axis"])
    shape = tuple(n * params["repeats"] if i == params["axis"] else n for i, n in enumerate(avals[0].shape))
    return Aval(shape, avals[0].dtype)


# Each element `repeats` times in a row.
repeat_elements = linear(
    "repeat_elements", kernel=lambda xp, x, *, repeats, axis: xp.repeat(x, repeats, axis=axis), kind="structural",
    transpose=lambda g, x_, *, repeats, axis: _unrepeat(g, x_, repeats=repeats, axis=axis),
    batch=batch_axes("axis"), infer=_infer_repeat,
    samples=lambda: [sample(normal(2, 3), repeats=2, axis=1), sample(normal(2), repeats=3, axis=0)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ padding


def _cropped(x: Any, widths: tuple[tuple[int, int], ...]) -> Any:
    """`x` without what negative widths take away."""
    if any(w < 0 for pair in widths for w in pair):
        return x[tuple(slice(max(0, -lo), n - max(0, -hi)) for n, (lo, hi) in zip(x.shape, widths))]
    return x


def _padded_shape(shape: tuple[int, ...], widths: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    if len(widths) != len(shape):
        raise ValueError(f"{len(widths)} pairs of widths were given for the {len(shape)} axes of shape {tuple(shape)}")
    padded = tuple(n + lo + hi for n, (lo, hi) in zip(shape, widths))
    if any(n < 0 for n in padded):
        raise ValueError(f"widths {widths} take away more than there is of shape {tuple(shape)}")
    return padded


def _padded_by_constant(shape: tuple[int, ...], widths: tuple[tuple[int, int], ...]) -> tuple[int, ...]:
    """The same where elements are taken away first: what they do not have to be added again is not there to be taken."""
    for axis, (n, (lo, hi)) in enumerate(zip(shape, widths)):
        if n + min(lo, 0) + min(hi, 0) < 0:
            raise ValueError(f"pad_constant: widths {lo} and {hi} take away more than there is of dimension {axis} with size {n}")
    return _padded_shape(shape, widths)


def _pad_kernel(xp: Any, x: Any, *, widths: tuple[tuple[int, int], ...], value: Any) -> Any:
    _padded_by_constant(x.shape, widths)
    x = _cropped(x, widths)
    for axis, given in enumerate(widths):
        edges = [xp.full((*x.shape[:axis], max(0, n), *x.shape[axis + 1 :]), value, dtype=x.dtype, device=device_in(x))
                 for n in given]  # fmt: skip
        if any(n > 0 for n in given):
            x = xp.concat([edges[0], x, edges[1]], axis=axis)
    return x


Index = tuple[slice, ...]


@functools.lru_cache(256)
def _kept_part(shape: tuple[int, ...], widths: tuple[tuple[int, int], ...]) -> tuple[tuple[int, ...], Index | None, Index | None]:
    """The padded shape, the part of an array of `shape` that is kept, and where it stands in the result; None for all."""
    padded = _padded_by_constant(shape, widths)
    kept = tuple(slice(max(0, -lo), n - max(0, -hi)) for n, (lo, hi) in zip(shape, widths))
    place = tuple(slice(max(0, lo), max(0, lo) + max(0, k.stop - k.start)) for k, (lo, _) in zip(kept, widths))
    crops, grows = any(w < 0 for pair in widths for w in pair), any(w > 0 for pair in widths for w in pair)
    return padded, kept if crops else None, place if grows else None


def _pad_numpy(x: Any, *, widths: tuple[tuple[int, int], ...], value: Any) -> Any:
    shape, kept, place = _kept_part(x.shape, widths)
    if kept is not None:
        x = x[kept]
    return copied(x) if place is None else framed(x, shape, place, value)


def _batch_widths(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = materialise_batch(arrays[0], dims[0], batch_size(arrays, dims))
    given = {**params, "widths": ((0, 0), *params["widths"])}
    if "shape" in given:
        given["shape"] = (shape_of(x)[0], *given["shape"])
    return op(x, **given), 0


def _infer_pad_constant(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(_padded_by_constant(avals[0].shape, params["widths"]), avals[0].dtype)


def _infer_pad(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(_padded_shape(avals[0].shape, params["widths"]), avals[0].dtype)


# `widths` holds (before, after) per axis; a negative width takes elements away.
pad_constant = primitive(
    "pad_constant", kernel=_pad_kernel, numpy=_pad_numpy, kind="structural",
    vjps=[lambda g, _out, _x, *, widths, value: pad_constant(
        g, widths=tuple((-lo, -hi) for lo, hi in widths), value=0)],
    jvp=lambda tangents, out, x, *, widths, value: pad_constant(tangents[0], widths=widths, value=0),
    batch=_batch_widths, infer=_infer_pad_constant,
    samples=lambda: [sample(normal(2, 3), widths=((1, 0), (2, 1)), value=1.5), sample(normal(), widths=(), value=0),
                     sample(normal(4), widths=((-1, 2),), value=0),
                     sample(complex_normal(2), widths=((1, 1),), value=0)],
)  # fmt: skip

MODES = REFLECT, REPLICATE, CIRCULAR = "reflect", "replicate", "circular"


def _sources(n: int, lo: int, hi: int, mode: str) -> np.ndarray:
    """For each position of a padded axis, the position it is copied from."""
    i = np.arange(-lo, n + hi)
    if mode == REPLICATE:
        return np.clip(i, 0, n - 1)
    if mode == CIRCULAR:  # what negative widths leave is wrapped around
        first = max(0, -lo)
        return first + (i - first) % (n - first - max(0, -hi))
    if n == 1:
        return np.zeros_like(i)
    i = np.abs(i) % (2 * n - 2)
    return np.minimum(i, 2 * n - 2 - i)


def _pad_edges_kernel(xp: Any, x: Any, *, widths: tuple[tuple[int, int], ...], mode: str) -> Any:
    _padded_shape(x.shape, widths)
    for axis, (lo, hi) in enumerate(widths):
        if lo or hi:
            x = xp.take(x, constant(xp, _sources(x.shape[axis], lo, hi, mode), x), axis=axis)
    return x


def _unpad_edges_kernel(xp: Any, g: Any, *, shape: tuple[int, ...], widths: Any, mode: str) -> Any:
    places = places_of(shape)
    for axis, (lo, hi) in enumerate(widths):
        places = np.take(places, _sources(shape[axis], lo, hi, mode), axis=axis)
    return added_at(xp, g, places, shape)


def _unpad_edges_numpy(g: Any, *, shape: tuple[int, ...], widths: Any, mode: str) -> Any:
    for axis in reversed(range(len(widths))):
        lo, hi = widths[axis]
        if not (lo or hi):
            continue
        n = shape[axis]
        before: tuple[Any, ...] = (slice(None),) * axis
        out = np.zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), dtype=g.dtype)
        first, last = max(0, -lo), n - max(0, -hi)
        out[(*before, slice(first, last))] = g[(*before, slice(first + lo, last + lo))]
        source = _sources(n, lo, hi, mode)
        for j in (*range(max(0, lo)), *range(max(0, lo) + last - first, n + lo + hi)):
            out[(*before, int(source[j]))] += g[(*before, j)]
        g = out
    return g


# Padded with the operand's own elements: mirrored without the edge, the edge repeated, or wrapped around.
pad_edges = linear(
    "pad_edges", kernel=_pad_edges_kernel, kind="structural",
    transpose=lambda g, x_, *, widths, mode: unpad_edges(g, shape=tuple(shape_of(x_)), widths=widths, mode=mode),
    batch=_batch_widths, infer=_infer_pad,
    samples=lambda: [sample(normal(4, 3), widths=((2, 1), (1, 2)), mode=mode) for mode in MODES]
    + [sample(normal(5), widths=((-1, 2),), mode=REPLICATE), sample(normal(5), widths=((2, -2),), mode=CIRCULAR)],
)  # fmt: skip

def _infer_unpad(avals: Any, params: dict[str, Any]) -> Aval:
    shape = params["shape"]
    matching("unpad_edges", avals[0].shape, _padded_shape(shape, params["widths"]))
    return Aval(shape, avals[0].dtype)


unpad_edges = linear(
    "unpad_edges", kernel=_unpad_edges_kernel, numpy=_unpad_edges_numpy,
    transpose=lambda g, _x, *, shape, widths, mode: pad_edges(g, widths=widths, mode=mode),
    batch=_batch_widths, infer=_infer_unpad,
    samples=lambda: [sample(normal(7), shape=(4,), widths=((2, 1),), mode=mode) for mode in MODES],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ windows


def window_count(n: int, size: int, step: int, dilation: int = 1) -> int:
    """How many windows of `size` (elements `dilation` apart) lie along an axis of n elements, `step` apart."""
    reach = dilation * (size - 1) + 1
    return (n - reach) // step + 1 if n >= reach else 0


def _windows_kernel(xp: Any, x: Any, *, axis: int, size: int, step: int, dilation: int) -> Any:
    n = window_count(x.shape[axis], size, step, dilation)
    if not size or not n:
        return xp.zeros((*x.shape[:axis], n, *x.shape[axis + 1 :], size), dtype=x.dtype, device=device_in(x))
    before = (slice(None),) * axis
    reach = step * (n - 1) + 1
    parts = [x[(*before, slice(k * dilation, k * dilation + reach, step), Ellipsis)] for k in range(size)]
    return xp.stack(parts, axis=-1)


def _windows_numpy(x: Any, *, axis: int, size: int, step: int, dilation: int) -> Any:
    n = window_count(x.shape[axis], size, step, dilation)
    shape = (*x.shape[:axis], n, *x.shape[axis + 1 :], size)
    s = x.strides
    strides = (*s[:axis], s[axis] * step, *s[axis + 1 :], s[axis] * dilation)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def _spread(xp: Any, x: Any, axis: int, first: int, step: int, n: int) -> Any:
    """Zeros, n of them along the axis, in which the slices of `x` stand `step` apart from `first` on."""
    count = x.shape[axis]
    if step > 1 and count:
        apart = xp.expand_dims(x, axis=axis + 1)
        shape = (*apart.shape[: axis + 1], step - 1, *apart.shape[axis + 2 :])
        x = xp.concat([apart, xp.zeros(shape, dtype=x.dtype, device=device_in(x))], axis=axis + 1)
        x = xp.reshape(x, (*x.shape[:axis], count * step, *x.shape[axis + 2 :]))
        x = x[(*(slice(None),) * axis, slice(0, (count - 1) * step + 1), Ellipsis)]
    widths = [(0, 0)] * x.ndim
    widths[axis] = (first, n - first - x.shape[axis])
    return _pad_kernel(xp, x, widths=tuple(widths), value=0)


def _unwindows_kernel(xp: Any, g: Any, *, shape: Any, axis: int, size: int, step: int, dilation: int) -> Any:
    out = xp.zeros(shape, dtype=g.dtype, device=device_in(g))
    if g.shape[axis]:
        for k in range(size):
            out = out + _spread(xp, g[..., k], axis, k * dilation, step, shape[axis])
    return out


def _unwindows_numpy(g: Any, *, shape: Any, axis: int, size: int, step: int, dilation: int) -> Any:
    matching("sum_windows", g.shape, _windows_shape(shape, axis, size, step, dilation))
    out = np.zeros(shape, dtype=g.dtype)
    n = g.shape[axis]
    if n:
        before = (slice(None),) * axis
        reach = step * (n - 1) + 1
        for k in range(size):
            out[(*before, slice(k * dilation, k * dilation + reach, step))] += g[..., k]
    return out


def _batch_shape_axis(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = materialise_batch(arrays[0], dims[0], batch_size(arrays, dims))
    return op(x, **{**params, "shape": (shape_of(x)[0], *params["shape"]), "axis": params["axis"] + 1}), 0


def _windows_shape(shape: tuple[int, ...], axis: int, size: int, step: int, dilation: int) -> tuple[int, ...]:
    checked_axes(shape, axis)
    return (*shape[:axis], window_count(shape[axis], size, step, dilation), *shape[axis + 1 :], size)


def _infer_windows(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(_windows_shape(avals[0].shape, **params), avals[0].dtype)


def _infer_unwindows(avals: Any, params: dict[str, Any]) -> Aval:
    windows = {name: params[name] for name in ("axis", "size", "step", "dilation")}
    matching("sum_windows", avals[0].shape, _windows_shape(params["shape"], **windows))
    return Aval(params["shape"], avals[0].dtype)


# A view of the windows along an axis: their number in its place, the elements of each as a new last axis.
sliding_windows = linear(
    "sliding_windows", kernel=_windows_kernel, numpy=_windows_numpy, kind="structural",
    transpose=lambda g, x_, *, axis, size, step, dilation: sum_windows(
        g, shape=tuple(shape_of(x_)), axis=axis, size=size, step=step, dilation=dilation),
    batch=batch_axes("axis"), infer=_infer_windows,
    samples=lambda: [sample(normal(5), axis=0, size=2, step=1, dilation=1),
                     sample(normal(2, 7), axis=1, size=3, step=2, dilation=2)],
)  # fmt: skip

# The transpose: each window's elements added where they came from.
sum_windows = linear(
    "sum_windows", kernel=_unwindows_kernel, numpy=_unwindows_numpy,
    transpose=lambda g, _x, *, shape, axis, size, step, dilation: sliding_windows(
        g, axis=axis, size=size, step=step, dilation=dilation),
    batch=_batch_shape_axis, infer=_infer_unwindows,
    samples=lambda: [sample(normal(4, 2), shape=(5,), axis=0, size=2, step=1, dilation=1)],
)  # fmt: skip

Pair = tuple[int, int]


def _im2col_counts(shape: Any, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Pair:
    return (
        window_count(shape[-2] + 2 * padding[0], kernel[0], stride[0], dilation[0]),
        window_count(shape[-1] + 2 * padding[1], kernel[1], stride[1], dilation[1]),
    )


def _im2col_by(
    xp: Any, pad: Any, windows: Any, x: Any, *, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> Any:
    """Patches as columns, by a function that pads and one that gives windows."""
    n, c = x.shape[:2]
    h, w = _im2col_counts(x.shape, kernel, dilation, padding, stride)
    if any(padding):
        x = pad(x, widths=((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2), value=0)
    x = windows(x, axis=2, size=kernel[0], step=stride[0], dilation=dilation[0])
    x = windows(x, axis=3, size=kernel[1], step=stride[1], dilation=dilation[1])
    return xp.reshape(xp.permute_dims(x, (0, 1, 4, 5, 2, 3)), (n, c * kernel[0] * kernel[1], h * w))


def _im2col_kernel(xp: Any, x: Any, *, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Any:
    pad, windows = functools.partial(_pad_kernel, xp), functools.partial(_windows_kernel, xp)
    return _im2col_by(xp, pad, windows, x, kernel=kernel, dilation=dilation, padding=padding, stride=stride)


def _im2col_numpy(x: Any, **params: Any) -> Any:
    if x.size >= patches.LEAST:
        found = patches.columns(x, _im2col_counts(x.shape, **params), **params)
        if found is not None:
            return found
    return _im2col_by(np, _pad_numpy, _windows_numpy, x, **params)


def _col2im_kernel(xp: Any, x: Any, *, size: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Any:
    h, w = _im2col_counts(size, kernel, dilation, padding, stride)
    n, channels = x.shape[0], x.shape[1] // (kernel[0] * kernel[1])
    x = xp.permute_dims(xp.reshape(x, (n, channels, *kernel, h, w)), (0, 1, 4, 5, 2, 3))
    tall, wide = size[0] + 2 * padding[0], size[1] + 2 * padding[1]
    x = _unwindows_kernel(
        xp, x, shape=(n, channels, h, wide, kernel[0]), axis=3, size=kernel[1], step=stride[1], dilation=dilation[1]
    )
    out = _unwindows_kernel(
        xp, x, shape=(n, channels, tall, wide), axis=2, size=kernel[0], step=stride[0], dilation=dilation[0]
    )
    return out[..., padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]


def _col2im_numpy(x: Any, *, size: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Any:
    h, w = _im2col_counts(size, kernel, dilation, padding, stride)
    channels = x.shape[1] // (kernel[0] * kernel[1])
    if x.size >= patches.LEAST:
        found = patches.images(x, size, (h, w), kernel, dilation, padding, stride)
        if found is not None:
            return found
    x = x.reshape((x.shape[0], channels, *kernel, h, w))
    out = np.zeros((x.shape[0], channels, size[0] + 2 * padding[0], size[1] + 2 * padding[1]), dtype=x.dtype)
    for i in range(kernel[0]):
        top = i * dilation[0]
        for j in range(kernel[1]):
            left = j * dilation[1]
            out[:, :, top : top + stride[0] * h : stride[0], left : left + stride[1] * w : stride[1]] += x[:, :, i, j]
    if not any(padding):
        return out
    return out[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]].copy()


def _batch_columns(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = materialise_batch(arrays[0], dims[0], batch_size(arrays, dims))
    shape = tuple(shape_of(x))
    out = op(reshape(x, shape=(shape[0] * shape[1], *shape[2:])), **params)
    return reshape(out, shape=(shape[0], shape[1], *tuple(shape_of(out))[1:])), 0


def _infer_im2col(avals: Any, params: dict[str, Any]) -> Aval:
    (shape, dtype), kernel = avals[0], params["kernel"]
    demand(len(shape) == 4, f"im2col: wanted images of four axes, got shape {tuple(shape)}")
    return Aval((shape[0], shape[1] * math.prod(kernel), math.prod(_im2col_counts(shape, **params))), dtype)


def _infer_col2im(avals: Any, params: dict[str, Any]) -> Aval:
    (shape, dtype), size, patch = avals[0], params["size"], math.prod(params["kernel"])
    options = {name: params[name] for name in ("kernel", "dilation", "padding", "stride")}
    demand(
        len(shape) == 3 and shape[1] % patch == 0 and shape[2] == math.prod(_im2col_counts(size, **options)),
        f"col2im: columns of shape {tuple(shape)} do not come from images of size {tuple(size)}",
    )
    return Aval((shape[0], shape[1] // patch, *size), dtype)


# Patches of images (n, c, h, w) as columns (n, c·kh·kw, number of patches).
im2col = linear(
    "im2col", kernel=_im2col_kernel, numpy=_im2col_numpy, kind="structural",
    transpose=lambda g, x_, *, kernel, dilation, padding, stride: col2im(
        g, size=tuple(shape_of(x_))[-2:], kernel=kernel, dilation=dilation, padding=padding, stride=stride),
    batch=_batch_columns,
    infer=_infer_im2col,
    samples=lambda: [sample(normal(1, 2, 3, 4), kernel=(2, 2), dilation=(1, 1), padding=(0, 1), stride=(1, 2)),
                     sample(normal(1, 1, 4, 4), kernel=(2, 1), dilation=(2, 1), padding=(0, 0), stride=(1, 1))],
)  # fmt: skip

# The transpose: columns added up to images of the spatial `size`.
col2im = linear(
    "col2im", kernel=_col2im_kernel, numpy=_col2im_numpy,
    transpose=lambda g, _x, *, size, kernel, dilation, padding, stride: im2col(
        g, kernel=kernel, dilation=dilation, padding=padding, stride=stride),
    batch=_batch_columns,
    infer=_infer_col2im,
    samples=lambda: [
        sample(normal(1, 4, 4), size=(3, 3), kernel=(2, 2), dilation=(1, 1), padding=(0, 0), stride=(1, 1))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ strided views


def positions(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> np.ndarray:
    """The places in memory, counted in elements, that a strided view has."""
    out = np.full((1,) * len(shape), offset, np.intp)
    for axis, (n, stride) in enumerate(zip(shape, strides)):
        out = out + (np.arange(n) * stride).reshape((1,) * axis + (n,) + (1,) * (len(shape) - axis - 1))
    return out


def _check_reach(count: int, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> None:
    if any(n == 0 for n in shape):
        return
    reach = offset + sum((n - 1) * s for n, s in zip(shape, strides))
    if offset < 0 or any(s < 0 for s in strides) or reach >= count:
        raise ValueError(
            f"a view of shape {shape} with strides {strides} and offset {offset} reaches past the {count} elements"
        )


def _as_strided_kernel(xp: Any, x: Any, *, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    _check_reach(math.prod(x.shape), shape, strides, offset)
    return taken(xp, x, positions(shape, strides, offset))


def _as_strided_numpy(x: Any, *, shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    _check_reach(math.prod(x.shape), shape, strides, offset)
    flat = np.ascontiguousarray(x).reshape(-1)  # a 1-d view may have gaps, or stride 0
    item = x.dtype.itemsize
    return np.lib.stride_tricks.as_strided(flat[offset:], shape, tuple(s * item for s in strides))


def _infer_strided(avals: Any, params: dict[str, Any]) -> Aval:
    shape = tuple(params["shape"])
    _check_reach(math.prod(avals[0].shape), shape, params["strides"], params["offset"])
    return Aval(shape, avals[0].dtype)


def _add_strided_kernel(xp: Any, g: Any, *, size: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    return added_at(xp, g, positions(g.shape, strides, offset), size)


def _add_strided_numpy(g: Any, *, size: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    demand(len(strides) == g.ndim, f"{len(strides)} strides for the axes of shape {g.shape}")
    places = positions(g.shape, strides, offset).reshape(-1)
    out = np.zeros(math.prod(size), dtype=g.dtype)
    np.add.at(out, places, g.reshape(-1))
    return out.reshape(size)


def _infer_add_strided(avals: Any, params: dict[str, Any]) -> Aval:
    size, strides = params["size"], params["strides"]
    demand(len(strides) == len(avals[0].shape), f"{len(strides)} strides for the axes of shape {tuple(avals[0].shape)}")
    _check_reach(math.prod(size), avals[0].shape, strides, params["offset"])
    return Aval(size, avals[0].dtype)


# The elements of `x` in C order are the memory that shape, strides and offset (in elements) look at; a view for
# contiguous `x`. The caller checks the bounds.
as_strided = linear(
    "as_strided", kernel=_as_strided_kernel, numpy=_as_strided_numpy, kind="structural",
    transpose=lambda g, x_, *, shape, strides, offset: add_strided(
        g, size=tuple(shape_of(x_)), strides=strides, offset=offset),
    batch=batch_loop, infer=_infer_strided,
    samples=lambda: [sample(normal(6), shape=(2, 3), strides=(1, 2), offset=0),
                     sample(normal(2, 3), shape=(3, 2), strides=(0, 2), offset=1)],
)  # fmt: skip

# The transpose: zeros of shape `size` to which each element of the view is added.
add_strided = linear(
    "add_strided", kernel=_add_strided_kernel, numpy=_add_strided_numpy,
    transpose=lambda g, x_, *, size, strides, offset: as_strided(
        g, shape=tuple(shape_of(x_)), strides=strides, offset=offset),
    batch=batch_loop, infer=_infer_add_strided,
    samples=lambda: [sample(normal(2, 3), size=(6,), strides=(1, 1), offset=1)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ complex as pairs


def _view_as_complex_numpy(x: Any) -> Any:
    if x.shape[-1:] != (2,):
        _infer_as_complex([Aval(x.shape, x.dtype)], {})
    if x.strides[-1] == x.dtype.itemsize:
        return x.view(np.complex64 if x.dtype == np.float32 else np.complex128)[..., 0]
    return x[..., 0] + 1j * x[..., 1]


def _infer_as_complex(avals: Any, params: dict[str, Any]) -> Aval:
    shape, dtype = avals[0]
    demand(len(shape) > 0 and shape[-1] == 2, f"view_as_complex: wanted a last axis of two parts, got shape {tuple(shape)}")
    return Aval(shape[:-1], np.dtype(f"c{dtype.itemsize * 2}"))


# A complex array as a real one with a last axis of two (a view), and back.
view_as_real = linear(
    "view_as_real", kernel=lambda xp, x: xp.stack([xp.real(x), xp.imag(x)], axis=-1),
    numpy=lambda x: x[..., None].view(x.real.dtype), kind="structural",
    transpose=lambda g, _x: view_as_complex(g), batch=batch_leading,
    infer=lambda avals, p: Aval((*avals[0].shape, 2), real_of(avals[0].dtype)),
    samples=lambda: [sample(complex_normal(2, 2)), sample(complex_normal())],
)  # fmt: skip

view_as_complex = linear(
    "view_as_complex", kernel=lambda xp, x: complex_from(xp, x[..., 0], x[..., 1]), numpy=_view_as_complex_numpy,
    kind="structural", transpose=lambda g, _x: view_as_real(g), batch=batch_leading,
    infer=_infer_as_complex,
    samples=lambda: [sample(normal(2, 2)), sample(normal(2))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ splitting


@functools.lru_cache(256)
def split_indices(axis: int, sizes: tuple[int, ...]) -> tuple[tuple[Any, ...], ...]:
    """The indices of consecutive parts of some sizes along an axis."""
    before, ends = (slice(None),) * axis, itertools.accumulate(sizes)
    return tuple([(*before, slice(end - n, end)) for n, end in zip(sizes, ends)])


def _unsplit(g: Any, x: Any, *, axis: int, sizes: tuple[int, ...]) -> Any:
    for part in g:
        if type(part) is not np.ndarray:
            break
    else:
        return concatenate_numpy(*g, axis=axis)
    given = [i for i, part in enumerate(g) if part is not None]
    shape, d, like = tuple(shape_of(x)), dtype_of(x), g[given[0]]
    if len(given) == 1:
        return embed(like, shape=shape, index=split_indices(axis, sizes)[given[0]])
    return concatenate(
        *(full((*shape[:axis], n, *shape[axis + 1 :]), 0, d, like) if part is None else part
          for part, n in zip(g, sizes)),
        axis=axis,
    )  # fmt: skip


def _infer_split(avals: Any, params: dict[str, Any]) -> Any:
    (shape, dtype), axis = avals[0], params["axis"]
    checked_axes(shape, axis)
    sizes, left = [], shape[axis]
    for n in params["sizes"]:  # as slices do, no part reaches past the end
        sizes.append(min(n, left))
        left -= sizes[-1]
    return tuple(Aval((*shape[:axis], n, *shape[axis + 1 :]), dtype) for n in sizes)


def _infer_unstack(avals: Any, params: dict[str, Any]) -> Any:
    (shape, dtype), axis = avals[0], params["axis"]
    checked_axes(shape, axis)
    return (Aval((*shape[:axis], *shape[axis + 1 :]), dtype),) * shape[axis]


# Views of consecutive parts along an axis.
split = linear(
    "split", kernel=lambda xp, x, *, axis, sizes: tuple(
        x[(*index, Ellipsis)] for index in split_indices(axis, sizes)), multi=True, kind="structural",
    numpy=lambda x, *, axis, sizes: tuple([x[index] for index in split_indices(axis, sizes)]),
    transpose=lambda g, x_, *, axis, sizes: _unsplit(g, x_, axis=axis, sizes=sizes), batch=batch_axes("axis"),
    infer=_infer_split,
    samples=lambda: [sample(normal(5), axis=0, sizes=(2, 2, 1)), sample(normal(2, 3), axis=1, sizes=(1, 2))],
)  # fmt: skip


def _restack(g: Any, x: Any, *, axis: int) -> Any:
    shape, d, like = tuple(shape_of(x)), dtype_of(x), next(part for part in g if part is not None)
    rest = (*shape[:axis], *shape[axis + 1 :])
    return stack(*(full(rest, 0, d, like) if part is None else part for part in g), axis=axis)


# Views of the slices along an axis, without it.
unstack = linear(
    "unstack", kernel=lambda xp, x, *, axis: tuple(
        x[(*(slice(None),) * axis, i, Ellipsis)] for i in range(x.shape[axis])), multi=True, kind="structural",
    transpose=lambda g, x_, *, axis: _restack(g, x_, axis=axis), batch=batch_axes("axis"),
    infer=_infer_unstack,
    samples=lambda: [sample(normal(3), axis=0), sample(normal(2, 3), axis=1)],
)  # fmt: skip
