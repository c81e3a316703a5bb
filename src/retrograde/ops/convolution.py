"""Convolution in any number of spatial axes, and the two maps that transpose it.

With x (N, C, *size), w (O, C / groups, *kernel) and y (N, O, *out), the sum of x w y over all places where they meet
is linear in each of the three. Leaving one out gives `convolve` (y from x and w), `convolve_transpose` (x from y and w:
the layer of that name, and the derivative by the input) and `convolve_weight` (w from x and y). They are each other's
derivatives, so none lacks a derivative of any order. `padding` holds (before, after) per axis. The first two add a bias
per output channel, or None.

The standard kernels are a product for each place in the kernel. NumPy's products go to the BLAS over a matrix of the
windows (im2col), a few megabytes of it at a time, or to generated code that needs no such matrix.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..backend.dtypes import device_in
from ..backend.jit import convolutions, products
from ..core.aval import Aval
from ..core.primitive import PRIMITIVES, primitive
from ..core.value import ndim_of, shape_of
from .kernels import widened, widened_numpy
from .manipulation import window_count
from .reduction import sum as reduce_sum
from .rules import batch_empty, batch_size, bilinear, conj, move_batch, sum_tangents
from .samples import complex_normal, normal, sample
from .shapes import demand, matching
from .structural import broadcast_like, getitem, reshape

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]

_BUDGET = 4 << 20
"""Bytes of windows that are unfolded at a time: 1 to 4 MiB was fastest (16x32x32x32 by 3x3: 4.3 ms, whole 5.5)."""
_SHORT = 48
"""Below this many results per image, the images share one product (64x128x6x6 by 3x3: 3.9 ms against 5.5)."""

# ------------------------------------------------------------------------------------------ shapes


@functools.lru_cache(1024)
def output_size(size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes) -> Sizes:
    """How many windows lie along each spatial axis."""
    return tuple(
        window_count(n + lo + hi, k, s, d) for n, k, s, (lo, hi), d in zip(size, kernel, stride, padding, dilation)
    )


def _check_layer(x: Aval, w: Aval, groups: int, have: int, want: int, b: Aval | None, outputs: int) -> None:
    demand(len(x.shape) == len(w.shape) > 2, f"one number of axes, above 2, is wanted, got {x.shape} and {w.shape}")
    demand(have == want and w.shape[0] % groups == 0, f"the channels of {x.shape}, {w.shape} and {groups} groups do not fit")
    if b is not None:
        matching("the bias", b.shape, (outputs,))


def _infer_convolve(avals: Any, p: dict[str, Any]) -> Aval:
    x, w, b = avals
    _check_layer(x, w, p["groups"], x.shape[1] if len(x.shape) > 1 else 0, w.shape[1] * p["groups"], b, w.shape[0])
    out = output_size(x.shape[2:], w.shape[2:], p["stride"], p["padding"], p["dilation"])
    return Aval((x.shape[0], w.shape[0], *out), x.dtype)


def _infer_transpose(avals: Any, p: dict[str, Any]) -> Aval:
    y, w, b = avals
    channels = w.shape[1] * p["groups"]
    _check_layer(y, w, p["groups"], y.shape[1] if len(y.shape) > 1 else 0, w.shape[0], b, channels)
    room = output_size(p["size"], w.shape[2:], p["stride"], p["padding"], p["dilation"])
    demand(all(n <= most for n, most in zip(y.shape[2:], room)), f"there is room for {room} windows, got {y.shape[2:]}")
    return Aval((y.shape[0], w.shape[1] * p["groups"], *p["size"]), y.dtype)


def _check_windows(x: Sizes, y: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes) -> None:
    """That x, of one shape, has the windows of which y, of the other, holds the products; raises ValueError."""
    room = output_size(x[2:], kernel, stride, padding, dilation)
    if y[0] != x[0] or any(n > most for n, most in zip(y[2:], room, strict=True)):
        raise ValueError(f"{x[0]} images have room for {room} windows each, but the products are {y}; pass as many")


def _infer_weight(avals: Any, p: dict[str, Any]) -> Aval:
    x, y = avals
    demand(len(x.shape) == len(y.shape) == len(p["kernel"]) + 2, f"{len(p['kernel'])} spatial axes are wanted")
    demand(x.shape[1] % p["groups"] == y.shape[1] % p["groups"] == 0, f"channels in {p['groups']} groups are wanted")
    _check_windows(x.shape, y.shape, p["kernel"], p["stride"], p["padding"], p["dilation"])
    return Aval((y.shape[1], x.shape[1] // p["groups"], *p["kernel"]), x.dtype)


# ------------------------------------------------------------------------------------------ in the standard


def padded(xp: Any, x: Any, padding: Pads, value: Any = 0) -> Any:
    """`x` with a number around its last axes; negative widths cut elements off."""
    for axis, (lo, hi) in enumerate(padding, x.ndim - len(padding)):
        if lo < 0 or hi < 0:
            n = x.shape[axis]
            x = x[(*(slice(None),) * axis, slice(max(-lo, 0), n - max(-hi, 0)), ...)]
        parts = [x]
        for at, width in ((0, lo), (2, hi)):
            if width > 0:
                edge = (*x.shape[:axis], width, *x.shape[axis + 1 :])
                parts.insert(at, xp.full(edge, value, dtype=x.dtype, device=device_in(x)))
        x = xp.concat(parts, axis=axis) if len(parts) > 1 else x
    return x


def spaced(xp: Any, x: Any, axis: int, step: int) -> Any:
    """`x` with zeros between its elements along an axis, so that `step` lies from one to the next."""
    n = x.shape[axis]
    if step == 1 or not n:
        return x
    gaps = xp.zeros((*x.shape[: axis + 1], step - 1, *x.shape[axis + 1 :]), dtype=x.dtype, device=device_in(x))
    wide = xp.concat([xp.expand_dims(x, axis=axis + 1), gaps], axis=axis + 1)
    wide = xp.reshape(wide, (*x.shape[:axis], n * step, *x.shape[axis + 1 :]))
    return wide[(*(slice(None),) * axis, slice(0, (n - 1) * step + 1), ...)]


def _with_bias(xp: Any, out: Any, b: Any) -> Any:
    return out if b is None else out + xp.reshape(b, (-1, *(1,) * (out.ndim - 2)))


@widened
def _convolve_kernel(
    xp: Any, x: Any, w: Any, b: Any, *, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> Any:
    out = output_size(tuple(x.shape[2:]), tuple(w.shape[2:]), stride, padding, dilation)
    x = padded(xp, x, padding)
    return _with_bias(xp, _by_taps(xp, x, w, out, _taps(tuple(w.shape[2:]), out, stride, dilation), groups), b)


def _by_taps(xp: Any, x: Any, w: Any, out: Sizes, taps: Any, groups: int) -> Any:
    """The sum over taps of the products of w, there (O, C / groups), with what it meets of x."""
    images, channels = x.shape[:2]
    outputs, length = w.shape[0], math.prod(out)
    total = xp.zeros((images, groups, outputs // groups, length), dtype=x.dtype, device=device_in(x))
    for tap, index in taps:
        part = xp.reshape(x[index], (images, groups, channels // groups, length))
        total = total + xp.matmul(xp.reshape(w[(..., *tap)], (groups, outputs // groups, channels // groups)), part)
    return xp.reshape(total, (images, outputs, *out))


@widened
def _transpose_kernel(
    xp: Any, y: Any, w: Any, b: Any, *, size: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> Any:
    """As a convolution of y, with zeros between and around its elements, by the mirrored kernel."""
    outputs, per_group, *kernel = w.shape
    for axis, step in enumerate(stride, 2):
        y = spaced(xp, y, axis, step)
    reach = [(k - 1) * d for k, d in zip(kernel, dilation)]
    y = padded(xp, y, tuple(
        (r - lo, n + lo - m) for r, n, m, (lo, _) in zip(reach, size, y.shape[2:], padding)
    ))  # fmt: skip
    side = xp.reshape(w, (groups, outputs // groups, per_group, *kernel))
    side = xp.permute_dims(side, (0, 2, 1, *range(3, 3 + len(kernel))))
    side = xp.reshape(side, (groups * per_group, outputs // groups, *kernel))
    taps = (
        (tap, (..., *(slice(r - t * d, r - t * d + n) for r, t, d, n in zip(reach, tap, dilation, size))))
        for tap in itertools.product(*map(range, kernel))
    )
    return _with_bias(xp, _by_taps(xp, y, side, size, taps, groups), b)


@widened
def _weight_kernel(
    xp: Any, x: Any, y: Any, *, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> Any:
    _check_windows(tuple(x.shape), tuple(y.shape), kernel, stride, padding, dilation)
    images, channels = x.shape[:2]
    outputs, out = y.shape[1], tuple(y.shape[2:])
    length = math.prod(out)
    x = padded(xp, x, padding)
    side = xp.reshape(y, (images, groups, outputs // groups, length))
    found = []
    for _, index in _taps(kernel, out, stride, dilation):
        part = xp.reshape(x[index], (images, groups, channels // groups, length))
        found.append(xp.sum(xp.matmul(side, xp.matrix_transpose(part)), axis=0, dtype=x.dtype))
    return xp.reshape(xp.stack(found, axis=-1), (outputs, channels // groups, *kernel))


def _taps(kernel: Sizes, out: Sizes, stride: Sizes, dilation: Sizes) -> Iterator[tuple[Sizes, tuple[Any, ...]]]:
    """Each place in the kernel, and the index of the elements of a padded array that it meets."""
    for tap in itertools.product(*map(range, kernel)):
        reach = (
            slice(t * d, t * d + s * (n - 1) + 1 if n else t * d, s)
            for t, d, s, n in zip(tap, dilation, stride, out)
        )
        yield tap, (..., *reach)


# ------------------------------------------------------------------------------------------ by NumPy


@functools.lru_cache(1024)
def _pointwise(kernel: Sizes, stride: Sizes, padding: Pads) -> bool:
    """Whether each result comes from the one place where it stands: a product over the channels."""
    return math.prod(kernel) == math.prod(stride) == 1 and not _pads(padding)


@functools.lru_cache(1024)
def _pads(padding: Pads) -> bool:
    return any(any(pair) for pair in padding)


def _padded(x: Any, padding: Pads) -> Any:
    """`x` with zeros around its spatial axes."""
    if not _pads(padding):
        return x
    out: Any = np.zeros((*x.shape[:2], *(n + lo + hi for n, (lo, hi) in zip(x.shape[2:], padding))), dtype=x.dtype)
    out[(..., *(slice(lo, lo + n) for n, (lo, _) in zip(x.shape[2:], padding)))] = x
    return out


def _windows(x: Any, kernel: Sizes, out: Sizes, stride: Sizes, dilation: Sizes) -> Any:
    """A view (N, C, *kernel, *out) of a padded NumPy array."""
    first, second, *rest = x.strides
    strides = (*(a * d for a, d in zip(rest, dilation)), *(a * s for a, s in zip(rest, stride)))
    return _strided(x, (*x.shape[:2], *kernel, *out), (first, second, *strides))


def _strided(x: Any, shape: Sizes, strides: Sizes) -> Any:
    """The view of a NumPy array with a shape and strides: 0.4 µs for contiguous ones, where as_strided takes 3.6."""
    if x.flags.c_contiguous:
        return np.ndarray(shape, x.dtype, x, 0, strides)
    return np.lib.stride_tricks.as_strided(x, shape, strides)


def _step(images: int, per_image: int, itemsize: int) -> int:
    """How many images are unfolded at a time."""
    return max(1, min(images, _BUDGET // max(1, per_image * itemsize)))


def _add_bias(out: Any, b: Any) -> Any:
    if b is not None:
        out += b.reshape(-1, *(1,) * (out.ndim - 2))
    return out


@functools.lru_cache(1024)
def _matrix(x: Sizes, y: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, groups: int) -> Sizes | None:
    """Images, channels, outputs and places of a convolution that is one small matrix product an image, which BLAS does at
    once; None for any other."""
    if groups != 1 or not _pointwise(kernel, stride, padding) or x[:1] + x[2:] != y[:1] + y[2:]:
        return None
    images, channels, outputs, length = x[0], x[1], y[1], math.prod(x[2:])
    if not 0 < images * channels * outputs * length < convolutions.LEAST_PLAIN:
        return None
    return images, channels, outputs, length


def _whole(size: Sizes, kernel: Sizes, padding: Pads, groups: int) -> bool:
    """Whether the kernel lies on all of an image, once: a layer of which the images are vectors."""
    return size == kernel and groups == 1 and not _pads(padding)


@widened_numpy
def _convolve_numpy(x: Any, w: Any, b: Any, *, stride: Sizes, padding: Pads, dilation: Sizes, groups: int) -> Any:
    few = _matrix(x.shape, (len(x), len(w), *x.shape[2:]), w.shape[2:], stride, padding, groups)
    if few is not None:
        images, channels, outputs, length = few
        product = np.matmul(w.reshape(outputs, channels), x.reshape(images, channels, length))
        return _add_bias(product.reshape(images, outputs, *x.shape[2:]), b)
    out = output_size(x.shape[2:], w.shape[2:], stride, padding, dilation)
    found = convolutions.convolve(x, w, b, stride, padding, dilation, groups, out)
    return _add_bias(_convolved(x, w, stride, padding, dilation, groups, out), b) if found is None else found


def _convolved(x: Any, w: Any, stride: Sizes, padding: Pads, dilation: Sizes, groups: int, out: Sizes) -> Any:
    images, channels = x.shape[:2]
    outputs, _, *kernel = w.shape
    if _pointwise(w.shape[2:], stride, padding):
        columns = x.reshape(images, groups, channels // groups, math.prod(out))
        return np.matmul(w.reshape(groups, outputs // groups, channels // groups), columns).reshape(images, outputs, *out)
    x = _padded(x, padding)
    depth, length = channels // groups * math.prod(kernel), math.prod(out)
    result = np.empty((images, outputs, *out), x.dtype)
    if not result.size:
        return result
    wide = result.reshape(images, groups, outputs // groups, length)
    matrix = w.reshape(groups, outputs // groups, depth)
    step = _step(images, groups * depth * length, x.itemsize)
    axes = len(out)
    if length < _SHORT and images > 1:
        for start in range(0, images, step):
            part = _windows(x[start : start + step], kernel, out, stride, dilation)
            columns = part.transpose(*range(1, 2 + axes), 0, *range(2 + axes, 2 + 2 * axes)).reshape(groups, depth, -1)
            product = np.matmul(matrix, columns).reshape(groups, outputs // groups, len(part), length)
            wide[start : start + step] = product.transpose(2, 0, 1, 3)
        return result
    columns = np.empty((step, channels, *kernel, *out), x.dtype)
    for start in range(0, images, step):
        part = _windows(x[start : start + step], kernel, out, stride, dilation)
        here = columns[: len(part)]
        np.copyto(here, part)
        if groups == 1:
            np.matmul(matrix[0], here.reshape(-1, depth, length), out=wide[start : start + step, 0])
        else:
            np.matmul(matrix, here.reshape(-1, groups, depth, length), out=wide[start : start + step])
    return result


@widened_numpy
def _transpose_numpy(
    y: Any, w: Any, b: Any, *, size: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> Any:
    few = _matrix((len(y), w.shape[1], *size), y.shape, w.shape[2:], stride, padding, groups)
    if few is not None:
        images, channels, outputs, length = few
        product = np.matmul(w.reshape(outputs, channels).T, y.reshape(images, outputs, length))
        return _add_bias(product.reshape(images, channels, *size), b)
    if _whole(size, w.shape[2:], padding, groups) and y.size and w.size:
        product = products.product(y.reshape(len(y), len(w)), w.reshape(len(w), -1))
        return _add_bias(product.reshape(len(y), w.shape[1], *size), b)
    found = convolutions.convolve_transpose(y, w, b, size, stride, padding, dilation, groups)
    return _add_bias(_transposed(y, w, size, stride, padding, dilation, groups), b) if found is None else found


def _transposed(y: Any, w: Any, size: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int) -> Any:
    images, outputs, *out = y.shape
    per_group, kernel = w.shape[1], w.shape[2:]
    channels, places = per_group * groups, math.prod(kernel)
    full = tuple(n + lo + hi for n, (lo, hi) in zip(size, padding))
    # The rows of the matrix are (channel, place): what one output channel adds to the windows it comes from.
    matrix = w.reshape(groups, outputs // groups, per_group * places).transpose(0, 2, 1)
    if places == 1 and math.prod(stride) == 1 and full == tuple(out):
        product = np.matmul(matrix, y.reshape(images, groups, outputs // groups, -1)).reshape(images, channels, *full)
    else:
        product = np.zeros((images, channels, *full), dtype=y.dtype)
        if product.size and y.size:
            rows = tuple(math.prod(full[i + 1 :]) for i in range(len(full)))
            extent = sum((n - 1) * r for n, r in zip(out, rows)) + 1
            if math.prod(stride) == 1 and extent <= 2 * math.prod(out):
                _add_rows(y, matrix, product, rows, extent, kernel, dilation)
            else:
                _add_taps(y, matrix, product, kernel, stride, dilation)
    if full == tuple(size):
        return product
    return np.asarray(product[(..., *(slice(lo, lo + n) for n, (lo, _) in zip(size, padding)))], copy=True)


def _add_rows(y: Any, matrix: Any, result: Any, rows: Sizes, extent: int, kernel: Sizes, dilation: Sizes) -> None:
    """Add to `result` what each place in the kernel contributes, for stride 1.

    y is laid out with the rows of `result` (zeros between), so that each place adds one contiguous piece per image and
    channel: 32x16x8x8 by 5x5 takes 0.5 ms, and 1.1 with the rows of y as they are.
    """
    images, outputs, *out = y.shape
    groups, depth, _ = matrix.shape
    places = math.prod(kernel)
    flat = result.reshape(images, result.shape[1], -1).transpose(1, 0, 2)
    offsets = [sum(t * d * r for t, d, r in zip(tap, dilation, rows)) for tap in itertools.product(*map(range, kernel))]
    step = _step(images, groups * depth * extent, y.itemsize)
    for start in range(0, images, step):
        part = y[start : start + step]
        laid = np.zeros((outputs, len(part), extent), y.dtype)
        place = _strided(laid, (*laid.shape[:2], *out), (*laid.strides[:2], *(r * y.itemsize for r in rows)))
        place[...] = part.swapaxes(0, 1)
        product = np.matmul(matrix, laid.reshape(groups, outputs // groups, -1))
        product = product.reshape(-1, places, len(part), extent)
        for i, offset in enumerate(offsets):
            flat[:, start : start + step, offset : offset + extent] += product[:, i]


def _add_taps(y: Any, matrix: Any, result: Any, kernel: Sizes, stride: Sizes, dilation: Sizes) -> None:
    """Add to `result` what each place in the kernel contributes, for any stride."""
    images, outputs, *out = y.shape
    groups, depth, _ = matrix.shape
    places, length = math.prod(kernel), math.prod(out)
    step = _step(images, groups * depth * length, y.itemsize)
    for start in range(0, images, step):
        part = y[start : start + step]
        laid = part.swapaxes(0, 1).reshape(groups, outputs // groups, -1)
        product = np.matmul(matrix, laid).reshape(groups * depth // places, places, part.shape[0], *out)
        for i, (_, index) in enumerate(_taps(kernel, out, stride, dilation)):
            target = result[start : start + step][index]
            target += product[:, i].swapaxes(0, 1)


@widened_numpy
def _weight_numpy(
    x: Any, y: Any, *, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> Any:
    few = _matrix(x.shape, y.shape, kernel, stride, padding, groups)
    if few is not None:
        images, channels, outputs, length = few
        each = np.matmul(y.reshape(images, outputs, length), x.reshape(images, channels, length).swapaxes(1, 2))
        return np.add.reduce(each, 0).reshape(outputs, channels, *kernel)
    if _whole(x.shape[2:], kernel, padding, groups) and x.size and y.size:
        return products.product(y.reshape(y.shape[:2]).T, x.reshape(len(x), -1)).reshape(y.shape[1], *x.shape[1:])
    images, channels = x.shape[:2]
    outputs, out = y.shape[1], tuple(y.shape[2:])
    per_group, length = channels // groups, math.prod(out)
    depth = per_group * math.prod(kernel)
    _check_windows(x.shape, y.shape, kernel, stride, padding, dilation)
    found = convolutions.convolve_weight(x, y, kernel, stride, padding, dilation, groups)
    if found is not None:
        return found
    if x.size and y.size and _pointwise(kernel, stride, padding):
        side = y.reshape(images, groups, outputs // groups, length)
        each = np.matmul(side, x.reshape(images, groups, per_group, length).swapaxes(2, 3))
        return np.add.reduce(each, 0).reshape(outputs, per_group, *kernel)
    x = _padded(x, padding)
    total = np.zeros((groups, outputs // groups, depth), x.dtype)
    if not total.size or not y.size:
        return total.reshape(outputs, per_group, *kernel)
    step = _step(images, groups * depth * length, x.itemsize)
    axes = len(out)
    # One product for several images, too, where those of each would be larger than its windows (16x128x8x8 by 3x3 to as many
    # channels: 3.9 ms and 6.6 MB against 4.4 and 14.4).
    short = length < _SHORT or outputs // groups > length
    columns = None if short else np.empty((step, channels, *kernel, *out), x.dtype)
    for start in range(0, images, step):
        part = _windows(x[start : start + step], kernel, out, stride, dilation)
        cotangent = y[start : start + step]
        if columns is None:
            matrix = part.transpose(*range(1, 2 + axes), 0, *range(2 + axes, 2 + 2 * axes)).reshape(groups, depth, -1)
            side = cotangent.swapaxes(0, 1).reshape(groups, outputs // groups, -1)
            total += np.matmul(side, matrix.transpose(0, 2, 1))
        else:
            here = columns[: len(part)]
            np.copyto(here, part)
            matrix = here.reshape(-1, groups, depth, length)
            side = cotangent.reshape(-1, groups, outputs // groups, length)
            total += np.add.reduce(np.matmul(side, matrix.transpose(0, 1, 3, 2)), 0)
    return total.reshape(outputs, per_group, *kernel)


# ------------------------------------------------------------------------------------------ batching


def _fold(x: Any, dim: int, axis: int, groups: int) -> Any:
    """The batch axis merged into `axis`, inside its `groups`: (B, .., C, ..) to (.., groups B C / groups, ..)."""
    x = move_batch(x, dim)
    size, *shape = shape_of(x)
    x = reshape(x, shape=(size, *shape[:axis], groups, shape[axis] // groups, *shape[axis + 1 :]))
    return reshape(move_batch(x, 0, axis + 1), shape=(*shape[:axis], shape[axis] * size, *shape[axis + 1 :]))


def _unfold(x: Any, size: int, axis: int, groups: int) -> Any:
    """The batch axis taken out of `axis` again, to the front."""
    shape = tuple(shape_of(x))
    inner = shape[axis] // size
    x = move_batch(
        reshape(x, shape=(*shape[:axis], groups, size, inner // groups, *shape[axis + 1 :])), axis + 1
    )
    return reshape(x, shape=(size, *shape[:axis], inner, *shape[axis + 1 :]))


def _batch_by_axes(first: tuple[int, ...], second: tuple[int, ...], both: tuple[int, int, int]) -> Any:
    """The batching rule from the axes into which a batch is merged.

    first, second: for a batch on that operand only, (axis of the operand, inside its groups or not, axis of the
    result, inside its groups or not). both: the axes of both operands and of the result when the batch becomes groups.
    """

    def rule(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
        (a, b), (da, db) = arrays[:2], dims[:2]
        size, groups = batch_size(arrays[:2], dims[:2]), params["groups"]
        if not size:
            return batch_empty(op, arrays, dims, params)
        if da is not None and db is not None:
            out = op(_fold(a, da, both[0], 1), _fold(b, db, both[1], 1), **{**params, "groups": groups * size})
            return _unfold(out, size, both[2], 1), 0
        axis, grouped, target, target_grouped = first if da is not None else second
        if da is not None:
            a = _fold(a, da, axis, groups if grouped else 1)
        else:
            b = _fold(b, db, axis, groups if grouped else 1)
        return _unfold(op(a, b, **params), size, target, groups if target_grouped else 1), 0

    return rule


_batch_convolve = _batch_by_axes(first=(0, 0, 0, 0), second=(0, 1, 1, 1), both=(1, 0, 1))
_batch_transpose = _batch_by_axes(first=(0, 0, 0, 0), second=(1, 0, 1, 1), both=(1, 0, 1))
_batch_weight = _batch_by_axes(first=(1, 1, 1, 0), second=(1, 1, 0, 1), both=(1, 1, 0))


def _batch_layer(rule: Any) -> Any:
    """The batching rule of an operation with a bias: it is added afterwards."""

    def batch(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
        if not batch_size(arrays, dims):
            return batch_empty(op, arrays, dims, params)
        (a, w, b), (da, dw, db) = arrays, dims

        def plain(a: Any, w: Any, **p: Any) -> Any:
            return op(a, w, None, **p)

        if da is None and dw is None:
            out, dim = plain(a, w, **params), None
        else:
            out, dim = rule(plain, (a, w), (da, dw), params)
        if b is None:
            return out, dim
        b = move_batch(b, db)
        *lead, channels = shape_of(b)
        axes = ndim_of(out) - (dim is not None) - 2
        return out + reshape(b, shape=(*lead, *(1,) * len(lead), channels, *(1,) * axes)), 0

    return batch


# ------------------------------------------------------------------------------------------ the primitives


def _cases() -> Iterator[tuple[dict[str, Sizes], dict[str, Any]]]:
    """Small cases: (shapes, parameters)."""
    one = {"stride": (1,), "padding": ((0, 0),), "dilation": (1,), "groups": 1}
    yield {"x": (2, 3, 5), "w": (2, 3, 2)}, one
    yield {"x": (1, 2, 7), "w": (4, 1, 3)}, {"stride": (2,), "padding": ((1, 0),), "dilation": (2,), "groups": 2}
    two = {"stride": (1, 1), "padding": ((1, 1), (0, 1)), "dilation": (1, 1), "groups": 1}
    yield {"x": (2, 2, 4, 3), "w": (3, 2, 3, 2)}, two
    yield {"x": (1, 2, 5, 4), "w": (2, 1, 2, 2)}, {
        "stride": (2, 1), "padding": ((0, 0), (1, 0)), "dilation": (1, 2), "groups": 2}  # fmt: skip
    yield {"x": (2, 2, 3, 3), "w": (3, 2, 1, 1)}, {**two, "padding": ((0, 0), (0, 0))}
    yield {"x": (1, 1, 3, 3, 3), "w": (1, 1, 2, 2, 1)}, {
        "stride": (1, 2, 1), "padding": ((0, 0),) * 3, "dilation": (1, 1, 1), "groups": 1}  # fmt: skip
    yield {"x": (1, 1, 8, 8), "w": (1, 1, 2, 2)}, {**two, "padding": ((0, 0), (0, 0))}


def _samples(form: str) -> Any:
    def make() -> Any:
        for number, (shapes, params) in enumerate(_cases()):
            x, w = shapes["x"], shapes["w"]
            y = (x[0], w[0], *output_size(x[2:], w[2:], params["stride"], params["padding"], params["dilation"]))
            draw = complex_normal if number == 2 else normal
            biased = number in (0, 2, 3)
            if form == "convolve":
                b = draw(w[0], seed=5) if biased else None
                yield sample(draw(*x), draw(*w, seed=1), b, **params)
            elif form == "convolve_transpose":
                b = draw(w[1] * params["groups"], seed=5) if biased else None
                yield sample(draw(*y), draw(*w, seed=1), b, size=x[2:], **params)
                if not number:  # room for another window
                    yield sample(draw(*y), draw(*w, seed=1), b, size=(x[2] + 1,), **params)
            else:
                yield sample(draw(*x), draw(*y, seed=1), kernel=w[2:], **params)

    return make


def _first(found: Any, like: Any) -> Any:
    """As many windows as `like` has: an output padding of a stride or more leaves room for further ones."""
    have, want = shape_of(found), tuple(shape_of(like))
    if have == want:
        return found
    return getitem(found, index=(slice(None), slice(None), *(slice(0, n) for n in want[2:])))


def _over_channels(g: Any) -> Any:
    """The cotangent of a bias."""
    return reduce_sum(g, axis=(0, *range(2, ndim_of(g))), keepdims=False)


def _layer_jvp(name: str) -> Any:
    def jvp(tangents: Any, out: Any, x: Any, w: Any, b: Any, **p: Any) -> Any:
        op = PRIMITIVES[name].op
        dx, dw, db = tangents
        if db is not None:
            db = broadcast_like(reshape(db, shape=(*shape_of(db), *(1,) * (ndim_of(out) - 2))), out)
        return sum_tangents([
            None if dx is None else op(dx, w, None, **p), None if dw is None else op(x, dw, None, **p), db,
        ])  # fmt: skip

    return jvp


convolve = primitive(
    "convolve", kernel=_convolve_kernel, numpy=_convolve_numpy,
    vjps=[
        lambda g, _out, x_, w, _b, **p: convolve_transpose(g, conj(w), None, size=tuple(shape_of(x_)[2:]), **p),
        lambda g, _out, x, w_, _b, **p: convolve_weight(conj(x), g, kernel=tuple(shape_of(w_)[2:]), **p),
        lambda g, _out, _x, _w, _b, **p: _over_channels(g),
    ],
    jvp=_layer_jvp("convolve"), batch=_batch_layer(_batch_convolve), infer=_infer_convolve,
    samples=_samples("convolve"),
)  # fmt: skip

# `size` are the spatial sizes of the result: a stride above 1 leaves several possible.
convolve_transpose = primitive(
    "convolve_transpose", kernel=_transpose_kernel, numpy=_transpose_numpy,
    vjps=[
        lambda g, _out, y_, w, _b, *, size, **p: _first(convolve(g, conj(w), None, **p), y_),
        lambda g, _out, y, w_, _b, *, size, **p: convolve_weight(g, conj(y), kernel=tuple(shape_of(w_)[2:]), **p),
        lambda g, _out, _y, _w, _b, *, size, **p: _over_channels(g),
    ],
    jvp=_layer_jvp("convolve_transpose"), batch=_batch_layer(_batch_transpose), infer=_infer_transpose,
    samples=_samples("convolve_transpose"),
)  # fmt: skip

# `kernel` are the spatial sizes of the result.
convolve_weight = bilinear(
    "convolve_weight", kernel=_weight_kernel, numpy=_weight_numpy,
    transposes=[
        lambda g, _out, x_, y, *, kernel, **p: convolve_transpose(conj(y), g, None, size=tuple(shape_of(x_)[2:]), **p),
        lambda g, _out, x, y_, *, kernel, **p: _first(convolve(conj(x), g, None, **p), y_),
    ],
    batch=_batch_weight, infer=_infer_weight, samples=_samples("convolve_weight"),
)  # fmt: skip
