"""Rearrangements: flips, rolls, tiles, padding, windows, strided views, splitting.

All are linear, so each stands beside its transpose. Axis parameters are non-negative. Views wherever memory allows.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, shape_of
from .reduction import sum as reduce_sum
from .rules import batch_axes, batch_leading, batch_loop, batch_size, infer_same, linear, materialise_batch
from .samples import complex_normal, normal, sample
from .structural import concatenate, reshape, stack

# ------------------------------------------------------------------------------------------ order of elements


def _flip_kernel(xp: Any, x: Any, *, axes: tuple[int, ...]) -> Any:
    out = xp.flip(x, axis=axes)
    return out.copy() if xp is np else out  # a view with negative strides is no tensor in PyTorch


flip = linear(
    "flip", kernel=_flip_kernel, transpose=lambda g, _x, *, axes: flip(g, axes=axes),
    batch=batch_axes("axes"), infer=infer_same,
    samples=lambda: [sample(normal(2, 3), axes=(0,)), sample(normal(2, 3), axes=(0, 1)), sample(normal(), axes=())],
)  # fmt: skip

def _roll_kernel(xp: Any, x: Any, *, shifts: tuple[int, ...], axes: tuple[int, ...]) -> Any:
    if xp is not np or len(axes) != 1 or not x.size:
        return xp.roll(x, shifts, axis=axes)
    (axis,), n = axes, x.shape[axes[0]]
    cut = -shifts[0] % n
    before = (slice(None),) * axis
    return np.concatenate((x[(*before, slice(cut, None))], x[(*before, slice(None, cut))]), axis=axis)


roll = linear(
    "roll", kernel=_roll_kernel,
    transpose=lambda g, _x, *, shifts, axes: roll(g, shifts=tuple(-s for s in shifts), axes=axes),
    batch=batch_axes("axes"), infer=infer_same,
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
        return xp.asarray(xp.flip(x, axis=axes), copy=True)
    elif k == 3:
        x = xp.flip(x, axis=a)
    if k:
        x = xp.permute_dims(x, tuple(order))
    return xp.asarray(x, copy=True)


def _infer_rot90(avals: Any, params: dict[str, Any]) -> Aval:
    shape, (a, b) = list(avals[0].shape), params["axes"]
    if params["k"] % 2:
        shape[a], shape[b] = shape[b], shape[a]
    return Aval(tuple(shape), avals[0].dtype)


# A quarter turn from the first axis towards the second, k times.
rot90 = linear(
    "rot90", kernel=_rot90_kernel, transpose=lambda g, _x, *, k, axes: rot90(g, k=-k, axes=axes),
    batch=batch_axes("axes"), infer=_infer_rot90,
    samples=lambda: [sample(normal(2, 3), k=k, axes=(0, 1)) for k in (0, 1, 2, 3)]
    + [sample(normal(2, 3, 2), k=-1, axes=(2, 0))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ repetition


def _untile(g: Any, x: Any, *, reps: tuple[int, ...]) -> Any:
    have = tuple(shape_of(x))
    have = (1,) * (len(reps) - len(have)) + have
    split = reshape(g, shape=tuple(n for pair in zip(reps, have) for n in pair))
    return reshape(reduce_sum(split, axis=tuple(range(0, 2 * len(reps), 2)), keepdims=False), shape=tuple(shape_of(x)))


def _batch_tile(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = materialise_batch(arrays[0], dims[0], batch_size(arrays, dims))
    size, *rest = shape_of(x)
    reps = params["reps"]
    return op(reshape(x, shape=(size, *(1,) * (len(reps) - len(rest)), *rest)), reps=(1, *reps)), 0


# `reps` has one entry per axis of the result.
tile = linear(
    "tile", kernel=lambda xp, x, *, reps: xp.tile(x, reps), transpose=lambda g, x_, *, reps: _untile(g, x_, reps=reps),
    batch=_batch_tile,
    infer=lambda avals, p: Aval(
        tuple(r * n for r, n in zip(p["reps"], (1,) * (len(p["reps"]) - len(avals[0].shape)) + tuple(avals[0].shape))),
        avals[0].dtype),
    samples=lambda: [sample(normal(2, 3), reps=(2, 1)), sample(normal(3), reps=(2, 2)), sample(normal(), reps=(3,))],
)  # fmt: skip


def _unrepeat(g: Any, x: Any, *, repeats: int, axis: int) -> Any:
    shape = tuple(shape_of(x))
    split = reshape(g, shape=(*shape[: axis + 1], repeats, *shape[axis + 1 :]))
    return reduce_sum(split, axis=(axis + 1,), keepdims=False)


# Each element `repeats` times in a row.
repeat_elements = linear(
    "repeat_elements", kernel=lambda xp, x, *, repeats, axis: xp.repeat(x, repeats, axis=axis),
    transpose=lambda g, x_, *, repeats, axis: _unrepeat(g, x_, repeats=repeats, axis=axis),
    batch=batch_axes("axis"),
    infer=lambda avals, p: Aval(
        tuple(n * p["repeats"] if i == p["axis"] else n for i, n in enumerate(avals[0].shape)), avals[0].dtype),
    samples=lambda: [sample(normal(2, 3), repeats=2, axis=1), sample(normal(2), repeats=3, axis=0)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ padding


def _cropped(x: Any, widths: tuple[tuple[int, int], ...]) -> Any:
    """`x` without what negative widths take away."""
    if any(w < 0 for pair in widths for w in pair):
        return x[tuple(slice(max(0, -lo), n - max(0, -hi)) for n, (lo, hi) in zip(x.shape, widths))]
    return x


def _pad_kernel(xp: Any, x: Any, *, widths: tuple[tuple[int, int], ...], value: Any) -> Any:
    shape = tuple(n + lo + hi for n, (lo, hi) in zip(x.shape, widths))
    if any(n < 0 for n in shape):
        raise ValueError(f"widths {widths} take away more than there is of shape {tuple(x.shape)}")
    out = xp.zeros(shape, dtype=x.dtype) if value == 0 else xp.full(shape, value, dtype=x.dtype)
    kept = _cropped(x, widths)
    out[tuple(slice(max(0, lo), max(0, lo) + n) for n, (lo, _) in zip(kept.shape, widths))] = kept
    return out


def _batch_widths(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = materialise_batch(arrays[0], dims[0], batch_size(arrays, dims))
    given = {**params, "widths": ((0, 0), *params["widths"])}
    if "shape" in given:
        given["shape"] = (shape_of(x)[0], *given["shape"])
    return op(x, **given), 0


def _infer_pad(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(tuple(n + lo + hi for n, (lo, hi) in zip(avals[0].shape, params["widths"])), avals[0].dtype)


# `widths` holds (before, after) per axis; a negative width takes elements away.
pad_constant = primitive(
    "pad_constant", kernel=_pad_kernel,
    vjps=[lambda g, _out, _x, *, widths, value: pad_constant(
        g, widths=tuple((-lo, -hi) for lo, hi in widths), value=0)],
    jvp=lambda tangents, out, x, *, widths, value: pad_constant(tangents[0], widths=widths, value=0),
    batch=_batch_widths, infer=_infer_pad,
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
    for axis, (lo, hi) in enumerate(widths):
        if lo or hi:
            x = xp.take(x, xp.asarray(_sources(x.shape[axis], lo, hi, mode)), axis=axis)
    return x


def _unpad_edges_kernel(xp: Any, g: Any, *, shape: tuple[int, ...], widths: Any, mode: str) -> Any:
    for axis in reversed(range(len(widths))):
        lo, hi = widths[axis]
        if not (lo or hi):
            continue
        n = shape[axis]
        before = (slice(None),) * axis
        out = xp.zeros((*g.shape[:axis], n, *g.shape[axis + 1 :]), dtype=g.dtype)
        first, last = max(0, -lo), n - max(0, -hi)
        out[(*before, slice(first, last))] = g[(*before, slice(first + lo, last + lo))]
        source = _sources(n, lo, hi, mode)
        for j in (*range(max(0, lo)), *range(max(0, lo) + last - first, n + lo + hi)):
            out[(*before, int(source[j]))] += g[(*before, j)]
        g = out
    return g


# Padded with the operand's own elements: mirrored without the edge, the edge repeated, or wrapped around.
pad_edges = linear(
    "pad_edges", kernel=_pad_edges_kernel,
    transpose=lambda g, x_, *, widths, mode: unpad_edges(g, shape=tuple(shape_of(x_)), widths=widths, mode=mode),
    batch=_batch_widths, infer=_infer_pad,
    samples=lambda: [sample(normal(4, 3), widths=((2, 1), (1, 2)), mode=mode) for mode in MODES]
    + [sample(normal(5), widths=((-1, 2),), mode=REPLICATE), sample(normal(5), widths=((2, -2),), mode=CIRCULAR)],
)  # fmt: skip

unpad_edges = linear(
    "unpad_edges", kernel=_unpad_edges_kernel,
    transpose=lambda g, _x, *, shape, widths, mode: pad_edges(g, widths=widths, mode=mode),
    batch=_batch_widths, infer=lambda avals, p: Aval(p["shape"], avals[0].dtype),
    samples=lambda: [sample(normal(7), shape=(4,), widths=((2, 1),), mode=mode) for mode in MODES],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ windows


def window_count(n: int, size: int, step: int, dilation: int = 1) -> int:
    """How many windows of `size` (elements `dilation` apart) lie along an axis of n elements, `step` apart."""
    reach = dilation * (size - 1) + 1
    return (n - reach) // step + 1 if n >= reach else 0


def _windows_kernel(xp: Any, x: Any, *, axis: int, size: int, step: int, dilation: int) -> Any:
    n = window_count(x.shape[axis], size, step, dilation)
    if xp is np:
        shape = (*x.shape[:axis], n, *x.shape[axis + 1 :], size)
        s = x.strides
        strides = (*s[:axis], s[axis] * step, *s[axis + 1 :], s[axis] * dilation)
        return np.lib.stride_tricks.as_strided(x, shape, strides)
    before = (slice(None),) * axis
    reach = step * (n - 1) + 1
    if not size:
        return xp.zeros((*x.shape[:axis], n, *x.shape[axis + 1 :], 0), dtype=x.dtype)
    return xp.stack([x[(*before, slice(k * dilation, k * dilation + reach, step))] for k in range(size)], axis=-1)


def _unwindows_kernel(xp: Any, g: Any, *, shape: Any, axis: int, size: int, step: int, dilation: int) -> Any:
    out = xp.zeros(shape, dtype=g.dtype)
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


# A view of the windows along an axis: their number in its place, the elements of each as a new last axis.
sliding_windows = linear(
    "sliding_windows", kernel=_windows_kernel,
    transpose=lambda g, x_, *, axis, size, step, dilation: sum_windows(
        g, shape=tuple(shape_of(x_)), axis=axis, size=size, step=step, dilation=dilation),
    batch=batch_axes("axis"),
    infer=lambda avals, p: Aval(
        (*avals[0].shape[: p["axis"]],
         window_count(avals[0].shape[p["axis"]], p["size"], p["step"], p["dilation"]),
         *avals[0].shape[p["axis"] + 1 :], p["size"]), avals[0].dtype),
    samples=lambda: [sample(normal(5), axis=0, size=2, step=1, dilation=1),
                     sample(normal(2, 7), axis=1, size=3, step=2, dilation=2)],
)  # fmt: skip

# The transpose: each window's elements added where they came from.
sum_windows = linear(
    "sum_windows", kernel=_unwindows_kernel,
    transpose=lambda g, _x, *, shape, axis, size, step, dilation: sliding_windows(
        g, axis=axis, size=size, step=step, dilation=dilation),
    batch=_batch_shape_axis, infer=lambda avals, p: Aval(p["shape"], avals[0].dtype),
    samples=lambda: [sample(normal(4, 2), shape=(5,), axis=0, size=2, step=1, dilation=1)],
)  # fmt: skip

Pair = tuple[int, int]


def _im2col_counts(shape: Any, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Pair:
    return (
        window_count(shape[-2] + 2 * padding[0], kernel[0], stride[0], dilation[0]),
        window_count(shape[-1] + 2 * padding[1], kernel[1], stride[1], dilation[1]),
    )


def _im2col_kernel(xp: Any, x: Any, *, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Any:
    n, c = x.shape[:2]
    h, w = _im2col_counts(x.shape, kernel, dilation, padding, stride)
    if any(padding):
        x = _pad_kernel(xp, x, widths=((0, 0), (0, 0), (padding[0],) * 2, (padding[1],) * 2), value=0)
    x = _windows_kernel(xp, x, axis=2, size=kernel[0], step=stride[0], dilation=dilation[0])
    x = _windows_kernel(xp, x, axis=3, size=kernel[1], step=stride[1], dilation=dilation[1])
    return xp.reshape(xp.permute_dims(x, (0, 1, 4, 5, 2, 3)), (n, c * kernel[0] * kernel[1], h * w))


def _col2im_kernel(xp: Any, x: Any, *, size: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> Any:
    h, w = _im2col_counts(size, kernel, dilation, padding, stride)
    channels = x.shape[1] // (kernel[0] * kernel[1])
    x = x.reshape((x.shape[0], channels, *kernel, h, w))
    out = xp.zeros((x.shape[0], channels, size[0] + 2 * padding[0], size[1] + 2 * padding[1]), dtype=x.dtype)
    for i in range(kernel[0]):
        top = i * dilation[0]
        for j in range(kernel[1]):
            left = j * dilation[1]
            out[:, :, top : top + stride[0] * h : stride[0], left : left + stride[1] * w : stride[1]] += x[:, :, i, j]
    if not any(padding):
        return out
    out = out[:, :, padding[0] : padding[0] + size[0], padding[1] : padding[1] + size[1]]
    return out.copy() if xp is np else out


def _batch_columns(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = materialise_batch(arrays[0], dims[0], batch_size(arrays, dims))
    shape = tuple(shape_of(x))
    out = op(reshape(x, shape=(shape[0] * shape[1], *shape[2:])), **params)
    return reshape(out, shape=(shape[0], shape[1], *tuple(shape_of(out))[1:])), 0


# Patches of images (n, c, h, w) as columns (n, c·kh·kw, number of patches).
im2col = linear(
    "im2col", kernel=_im2col_kernel,
    transpose=lambda g, x_, *, kernel, dilation, padding, stride: col2im(
        g, size=tuple(shape_of(x_))[-2:], kernel=kernel, dilation=dilation, padding=padding, stride=stride),
    batch=_batch_columns,
    infer=lambda avals, p: Aval(
        (avals[0].shape[0], avals[0].shape[1] * p["kernel"][0] * p["kernel"][1], math.prod(
            _im2col_counts(avals[0].shape, p["kernel"], p["dilation"], p["padding"], p["stride"]))), avals[0].dtype),
    samples=lambda: [sample(normal(1, 2, 3, 4), kernel=(2, 2), dilation=(1, 1), padding=(0, 1), stride=(1, 2)),
                     sample(normal(1, 1, 4, 4), kernel=(2, 1), dilation=(2, 1), padding=(0, 0), stride=(1, 1))],
)  # fmt: skip

# The transpose: columns added up to images of the spatial `size`.
col2im = linear(
    "col2im", kernel=_col2im_kernel,
    transpose=lambda g, _x, *, size, kernel, dilation, padding, stride: im2col(
        g, kernel=kernel, dilation=dilation, padding=padding, stride=stride),
    batch=_batch_columns,
    infer=lambda avals, p: Aval(
        (avals[0].shape[0], avals[0].shape[1] // (p["kernel"][0] * p["kernel"][1]), *p["size"]), avals[0].dtype),
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
    if xp is np:
        flat = np.ascontiguousarray(x).reshape(-1)  # a 1-d view may have gaps, or stride 0
        item = x.dtype.itemsize
        return np.lib.stride_tricks.as_strided(flat[offset:], shape, tuple(s * item for s in strides))
    flat = xp.reshape(x, (-1,))
    return xp.reshape(xp.take(flat, xp.asarray(positions(shape, strides, offset).reshape(-1)), axis=0), shape)


def _add_strided_kernel(xp: Any, g: Any, *, size: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    places = positions(g.shape, strides, offset).reshape(-1)
    out = np.zeros(math.prod(size), dtype=g.dtype)
    np.add.at(out, places, g.reshape(-1))
    return out.reshape(size)


# The elements of `x` in C order are the memory that shape, strides and offset (in elements) look at; a view for
# contiguous `x`. The caller checks the bounds.
as_strided = linear(
    "as_strided", kernel=_as_strided_kernel,
    transpose=lambda g, x_, *, shape, strides, offset: add_strided(
        g, size=tuple(shape_of(x_)), strides=strides, offset=offset),
    batch=batch_loop, infer=lambda avals, p: Aval(p["shape"], avals[0].dtype),
    samples=lambda: [sample(normal(6), shape=(2, 3), strides=(1, 2), offset=0),
                     sample(normal(2, 3), shape=(3, 2), strides=(0, 2), offset=1)],
)  # fmt: skip

# The transpose: zeros of shape `size` to which each element of the view is added.
add_strided = linear(
    "add_strided", kernel=_add_strided_kernel,
    transpose=lambda g, x_, *, size, strides, offset: as_strided(
        g, shape=tuple(shape_of(x_)), strides=strides, offset=offset),
    batch=batch_loop, infer=lambda avals, p: Aval(p["size"], avals[0].dtype),
    samples=lambda: [sample(normal(2, 3), size=(6,), strides=(1, 1), offset=1)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ complex as pairs


def _view_as_real_kernel(xp: Any, x: Any) -> Any:
    if xp is np:
        return x[..., None].view(x.real.dtype)
    return xp.stack([xp.real(x), xp.imag(x)], axis=-1)


def _view_as_complex_kernel(xp: Any, x: Any) -> Any:
    if xp is np and x.strides[-1] == x.dtype.itemsize:
        return x.view(np.complex64 if x.dtype == np.float32 else np.complex128)[..., 0]
    return x[..., 0] + 1j * x[..., 1]


# A complex array as a real one with a last axis of two (a view), and back.
view_as_real = linear(
    "view_as_real", kernel=_view_as_real_kernel, transpose=lambda g, _x: view_as_complex(g), batch=batch_leading,
    infer=lambda avals, p: Aval((*avals[0].shape, 2), np.dtype(f"f{avals[0].dtype.itemsize // 2}")),
    samples=lambda: [sample(complex_normal(2, 2)), sample(complex_normal())],
)  # fmt: skip

view_as_complex = linear(
    "view_as_complex", kernel=_view_as_complex_kernel, transpose=lambda g, _x: view_as_real(g), batch=batch_leading,
    infer=lambda avals, p: Aval(avals[0].shape[:-1], np.dtype(f"c{avals[0].dtype.itemsize * 2}")),
    samples=lambda: [sample(normal(2, 2)), sample(normal(2))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ splitting


def _parts(axis: int, sizes: tuple[int, ...]) -> list[tuple[Any, ...]]:
    indices, start = [], 0
    for n in sizes:
        indices.append((slice(None),) * axis + (slice(start, start + n),))
        start += n
    return indices


def _unsplit(g: Any, x: Any, *, axis: int, sizes: tuple[int, ...]) -> Any:
    shape, d = tuple(shape_of(x)), dtype_of(x)
    return concatenate(
        *(np.zeros((*shape[:axis], n, *shape[axis + 1 :]), d) if part is None else part for part, n in zip(g, sizes)),
        axis=axis,
    )


# Views of consecutive parts along an axis.
split = linear(
    "split", kernel=lambda xp, x, *, axis, sizes: tuple(x[index] for index in _parts(axis, sizes)), multi=True,
    transpose=lambda g, x_, *, axis, sizes: _unsplit(g, x_, axis=axis, sizes=sizes), batch=batch_axes("axis"),
    infer=lambda avals, p: tuple(
        Aval((*avals[0].shape[: p["axis"]], n, *avals[0].shape[p["axis"] + 1 :]), avals[0].dtype) for n in p["sizes"]),
    samples=lambda: [sample(normal(5), axis=0, sizes=(2, 2, 1)), sample(normal(2, 3), axis=1, sizes=(1, 2))],
)  # fmt: skip


def _restack(g: Any, x: Any, *, axis: int) -> Any:
    shape, d = tuple(shape_of(x)), dtype_of(x)
    rest = (*shape[:axis], *shape[axis + 1 :])
    return stack(*(np.zeros(rest, d) if part is None else part for part in g), axis=axis)


# Views of the slices along an axis, without it.
unstack = linear(
    "unstack", kernel=lambda xp, x, *, axis: tuple(
        x[(*(slice(None),) * axis, i, Ellipsis)] for i in range(x.shape[axis])), multi=True,
    transpose=lambda g, x_, *, axis: _restack(g, x_, axis=axis), batch=batch_axes("axis"),
    infer=lambda avals, p: tuple(
        Aval((*avals[0].shape[: p["axis"]], *avals[0].shape[p["axis"] + 1 :]), avals[0].dtype)
        for _ in range(avals[0].shape[p["axis"]])),
    samples=lambda: [sample(normal(3), axis=0), sample(normal(2, 3), axis=1)],
)  # fmt: skip
