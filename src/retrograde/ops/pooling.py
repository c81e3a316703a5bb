"""Pooling over windows of the last axes: maxima with their places, averages, and what transposes them.

The windows of one axis are a list of taps: for each element of a window, where in the (padded) axis it is taken from,
for all windows at once. A tap is a slice for windows at regular distances, an index array for adaptive ones. So every
reduction goes axis by axis: k + k passes for a k x k window, not k².
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, device_in, is_floating, is_integer, numpy_dtype
from ..backend.jit import windows as generated
from ..core.aval import Aval
from ..core.primitive import NOT_DIFFERENTIABLE, primitive
from ..core.value import shape_of
from .convolution import Pads, Sizes, output_size, padded, spaced
from .grouping import add, latest, reduce_by_number
from .indexing import along_add, take_along_axis
from .kernels import constant, elements, in_single, widened, widened_numpy
from .rules import batch_leading, linear
from .samples import distinct, normal, sample
from .shapes import at_least, matching
from .structural import reshape, zeros_like

Taps = list[list[Any]]
"""For each pooled axis its taps."""


class Windows:
    """The windows of a call: taps in the padded array, padding, and where each tap of a window comes from."""

    __slots__ = ("size", "out", "padding", "taps", "sources", "_tables")

    def __init__(self, size: Sizes, out: Sizes, padding: Pads, taps: Taps, sources: list[np.ndarray]) -> None:
        self.size, self.out, self.padding, self.taps = size, out, padding, taps
        self.sources = sources
        """For each axis an array (taps, windows) of places in the operand; negative or too large in the padding."""
        self._tables: Any = ()

    @property
    def tables(self) -> Any:
        """The rows' and the columns' windows as generated code takes them; None where it does not."""
        if self._tables == ():
            found = [
                generated.table(n, _inside(n, places)) for n, places in zip(self.size, self.sources)
            ]
            if len(found) == 1:
                found.insert(0, generated.every(1))
            self._tables = None if len(found) != 2 or None in found else found
        return self._tables


def _inside(n: int, places: np.ndarray) -> list[list[int]]:
    """The places of each window that there are, each once."""
    return [sorted({p for p in window if 0 <= p < n}) for window in places.T.tolist()]


def _planes(x: Any, axes: int) -> Any:
    """An array with two pooled axes: of one, it becomes the columns."""
    return x if axes == 2 else x.reshape(*x.shape[:-1], 1, x.shape[-1])


# Made once for each geometry (8 µs), of which a network has a few.
@functools.lru_cache(maxsize=256)
def _regular(size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes) -> Windows:
    out = output_size(size, kernel, stride, padding, dilation)
    taps: Taps = []
    sources = []
    for n, k, s, (lo, _), d in zip(out, kernel, stride, padding, dilation):
        taps.append([slice(t * d, t * d + s * (n - 1) + 1, s) for t in range(k)])
        sources.append(np.arange(n) * s + (np.arange(k) * d - lo)[:, None])
    return Windows(size, out, padding, taps, sources)


def adaptive_bounds(n: int, out: int) -> tuple[np.ndarray, np.ndarray]:
    """First and past-last place of each of `out` windows that together cover n places."""
    i = np.arange(out)
    return i * n // out, -(-(i + 1) * n // out)


@functools.lru_cache(maxsize=256)
def _adaptive(size: Sizes, parts: Sizes) -> Windows:
    """Windows of different lengths: short ones repeat their last place, which no maximum and no first place minds."""
    if all(m and n % m == 0 for n, m in zip(size, parts)):
        step = tuple(n // m for n, m in zip(size, parts))
        return _regular(size, step, step, ((0, 0),) * len(size), (1,) * len(size))
    sources = []
    for n, m in zip(size, parts):
        first, end = adaptive_bounds(n, m)
        longest = int((end - first).max(initial=1))
        sources.append(np.minimum(first + np.arange(longest)[:, None], np.maximum(end - 1, 0)))
    return Windows(size, parts, ((0, 0),) * len(size), [list(s) for s in sources], sources)


def _along(axis: int, tap: Any) -> tuple[Any, ...]:
    """An index for the axis counted from the end."""
    return (..., tap, *(slice(None),) * (-axis - 1))


def _padded(x: Any, padding: Pads, value: Any) -> Any:
    if not any(any(pair) for pair in padding):
        return x
    lead, size = x.shape[: -len(padding)], x.shape[-len(padding) :]
    out: Any = np.full((*lead, *(n + lo + hi for n, (lo, hi) in zip(size, padding))), value, dtype=x.dtype)
    out[(..., *(slice(lo, lo + n) for n, (lo, _) in zip(size, padding)))] = x
    return out


def _lowest(dtype: Any) -> Any:
    return int(np.iinfo(numpy_dtype(dtype)).min) if is_integer(dtype) else -math.inf


def _tapped(xp: Any, x: Any, axis: int, tap: Any) -> Any:
    """The elements that a tap takes along an axis counted from the end."""
    return x[_along(axis, tap)] if isinstance(tap, slice) else xp.take(x, constant(xp, tap, x), axis=axis)


# ------------------------------------------------------------------------------------------ maxima, in the standard


def _maxima(xp: Any, x: Any, windows: Windows) -> Any:
    best = padded(xp, x, windows.padding, _lowest(x.dtype))
    for axis in range(-len(windows.out), 0):
        first, *others = windows.taps[axis]
        source, best = best, _tapped(xp, best, axis, first)
        for tap in others:
            best = xp.maximum(best, _tapped(xp, source, axis, tap))
    return xp.asarray(best, copy=True)


def _winners(xp: Any, x: Any, windows: Windows) -> list[Any]:
    """For each axis, which tap of its window each maximum is: the first of equal ones, the last NaN.

    The last axis goes first, so that "first" means the order in memory. Padding never wins.
    """
    best = padded(xp, x, windows.padding, _lowest(x.dtype))
    places: list[Any] = []
    for axis in range(-1, -len(windows.out) - 1, -1):
        taps, sources = windows.taps[axis], windows.sources[axis]
        source, best = best, _tapped(xp, best, axis, taps[0])
        behind, places = places, [_tapped(xp, p, axis, taps[0]) for p in places]
        inside = (sources >= 0).argmax(axis=0).astype(np.int64).reshape(-1, *(1,) * (-axis - 1))
        here = xp.broadcast_to(constant(xp, inside, x), best.shape)
        for t, tap in enumerate(taps[1:], 1):
            other = _tapped(xp, source, axis, tap)
            better = other > best
            if is_floating(x):
                better = better | xp.isnan(other)
            here = xp.where(better, t, here)
            places = [xp.where(better, _tapped(xp, p, axis, tap), q) for p, q in zip(behind, places)]
            best = xp.maximum(best, other)
        places.insert(0, here)
    return places


def _flat_places(xp: Any, x: Any, windows: Windows) -> Any:
    """The place of each maximum, counted in the pooled axes of the operand flattened."""
    flat: Any = 0
    for axis, (n, here, sources) in enumerate(zip(windows.size, _winners(xp, x, windows), windows.sources)):
        behind = len(windows.size) - axis - 1
        columns = np.arange(sources.shape[1], dtype=np.int64).reshape(-1, *(1,) * behind)
        at = xp.reshape(here * sources.shape[1] + constant(xp, columns, x), (-1,))
        found = xp.take(constant(xp, sources.reshape(-1).astype(np.int64), x), at)
        flat = flat * n + xp.reshape(found, here.shape)
    return flat


def _gathered(xp: Any, t: Any, x: Any, windows: Windows) -> Any:
    """Of `t`, shaped as `x`, what stands where the maxima of `x` are."""
    places = _flat_places(xp, x, windows)
    return _read(xp, t, places, len(windows.out))


def _scattered(xp: Any, g: Any, x: Any, windows: Windows) -> Any:
    """Zeros in the shape of `x`, with `g` added where its maxima are."""
    return _write(xp, add, g, _flat_places(xp, x, windows), tuple(x.shape), len(windows.out))


def _read(xp: Any, x: Any, places: Any, axes: int) -> Any:
    """The elements at places in the last axes flattened."""
    flat = xp.reshape(x, (*x.shape[: x.ndim - axes], math.prod(x.shape[x.ndim - axes :])))
    index = xp.reshape(places, (*places.shape[: places.ndim - axes], math.prod(places.shape[places.ndim - axes :])))
    index = xp.broadcast_to(index, (*flat.shape[:-1], index.shape[-1]))
    return xp.reshape(xp.take_along_axis(flat, index, axis=-1), (*flat.shape[:-1], *places.shape[places.ndim - axes :]))


def _write(xp: Any, f: Any, g: Any, places: Any, shape: Sizes, axes: int) -> Any:
    """Zeros in a shape with the elements of g at places in its last axes flattened, reduced by f where several meet."""
    lead, length = math.prod(shape[: len(shape) - axes]), math.prod(shape[len(shape) - axes :])
    rows = xp.reshape(xp.arange(lead, dtype=xp.int64, device=device_in(g)) * length, (*shape[: len(shape) - axes], *(1,) * axes))
    numbers = xp.reshape(xp.broadcast_to(places + rows, g.shape), (-1,))
    return xp.reshape(reduce_by_number(xp, f, xp.reshape(g, (-1,)), numbers, lead * length, 0), shape)


# ------------------------------------------------------------------------------------------ maxima, by NumPy


def _maxima_numpy(x: Any, windows: Windows) -> Any:
    axes = len(windows.out)
    if x.size >= generated.LEAST and windows.tables is not None:
        found = generated.maxima(_planes(x, axes), *windows.tables)
        if found is not None:
            return found.reshape(*x.shape[: x.ndim - axes], *windows.out)
    best = _padded(x, windows.padding, _lowest(x.dtype))
    for axis in range(-axes, 0):
        first, *others = windows.taps[axis]
        source, best = best, best[_along(axis, first)]
        for i, tap in enumerate(others):
            other = source[_along(axis, tap)]
            best = np.maximum(best, other, out=best if i else None)
    return np.ascontiguousarray(best) if best.base is None else np.array(best, order="C")


def _winners_numpy(x: Any, windows: Windows) -> list[np.ndarray]:
    """For each axis, which tap of its window each maximum is: the first of equal ones, the last NaN.

    The last axis goes first, so that "first" means the order in memory. Padding never wins.
    """
    axes = len(windows.out)
    best = _padded(x, windows.padding, _lowest(x.dtype))
    nan = x.dtype.kind == "f" and bool(np.isnan(x).any())
    places: list[np.ndarray] = []
    for axis in range(-1, -axes - 1, -1):
        taps, sources = windows.taps[axis], windows.sources[axis]
        source, best = best, best[_along(axis, taps[0])]
        behind, places = places, [p[_along(axis, taps[0])] for p in places]
        inside = (sources >= 0).argmax(axis=0).astype(np.int32 if len(taps) > 127 else np.int8)
        here = np.empty(best.shape, inside.dtype)
        here[...] = inside.reshape(-1, *(1,) * (-axis - 1))
        for t in range(1, len(taps)):
            other = source[_along(axis, taps[t])]
            better = other > best
            if nan:
                better |= np.isnan(other)
            here[better] = t
            places = [np.where(better, p[_along(axis, taps[t])], q) for p, q in zip(behind, places)]
            best = np.maximum(best, other)
        places.insert(0, here)
    return places


def _flat_places_numpy(x: Any, windows: Windows) -> np.ndarray:
    """The place of each maximum, counted in the pooled axes of the operand flattened."""
    found = _generated_places(x, windows)
    if found is not None:
        return found.reshape(*x.shape[: x.ndim - len(windows.out)], *windows.out)
    flat: Any = 0
    for axis, (n, here, sources) in enumerate(zip(windows.size, _winners_numpy(x, windows), windows.sources)):
        behind = len(windows.size) - axis - 1
        columns = np.arange(sources.shape[1]).reshape(-1, *(1,) * behind)
        flat = flat * n + sources[here, columns]
    return flat


def _generated_places(x: Any, windows: Windows) -> np.ndarray | None:
    """The same by generated code, with two pooled axes at least; None where that does not apply."""
    if x.size < generated.LEAST or windows.tables is None:
        return None
    return generated.places(_planes(x, len(windows.out)), *windows.tables)


def _flattened(x: Any, axes: int) -> Any:
    """The pooled axes as one."""
    lead = x.shape[: x.ndim - axes]
    return x.reshape(*lead, math.prod(x.shape[len(lead) :]))


def _gathered_numpy(t: Any, x: Any, windows: Windows) -> Any:
    """Of `t`, shaped as `x`, what stands where the maxima of `x` are."""
    axes = len(windows.out)
    places = _flat_places_numpy(x, windows)
    return np.take_along_axis(_flattened(t, axes), _flattened(places, axes), -1).reshape(places.shape)


_FEW = 9
"""Up to this many taps a pass for each is faster than finding all places (2x2 on 32x8x24x24: 0.25 ms against 1.5)."""


def _scattered_numpy(g: Any, x: Any, windows: Windows) -> Any:
    """Zeros in the shape of `x`, with `g` added where its maxima are."""
    axes = len(windows.out)
    at = _generated_places(x, windows)
    if at is not None and g.dtype == x.dtype:
        spread = generated.scattered(g.reshape(at.shape), at, _planes(x, axes).shape)
        if spread is not None:
            return spread.reshape(x.shape)
    if windows.taps and isinstance(windows.taps[0][0], slice) and math.prod(map(len, windows.taps)) <= _FEW:
        found = _scattered_by_taps(g, x, windows)
        if found is not None:
            return found
    lead = x.shape[: x.ndim - axes]
    size = math.prod(windows.size)
    flat = _flat_places_numpy(x, windows).reshape(math.prod(lead), math.prod(windows.out))
    flat = flat + np.arange(flat.shape[0])[:, None] * size
    total = np.bincount(flat.reshape(-1), g.reshape(-1).astype(np.float64, copy=False), flat.shape[0] * size)
    return total.astype(x.dtype).reshape(x.shape)


def _scattered_by_taps(g: Any, x: Any, windows: Windows) -> Any:
    """The same for few taps: of each window the first tap, in the order in memory, that equals the maximum.

    None where equality does not tell the place: for NaN, and where padding may equal -inf; and where a product with 0
    would not be 0.
    """
    if not np.isfinite(g).all():
        return None
    padding = windows.padding
    source = _padded(x, padding, _lowest(x.dtype))
    best = _maxima_numpy(x, windows)
    padded = source is not x
    if best.dtype.kind != "f" or (not np.isfinite(best).all() if padded else np.isnan(best).any()):
        return None
    result = np.zeros(source.shape, x.dtype)
    apart = all(len(t) == 1 or t[0].step >= t[-1].start + 1 for t in windows.taps)
    left: Any = None  # the windows whose maximum has not been met yet
    for tap in np.ndindex(*map(len, windows.taps)):
        index = (..., *(taps[t] for taps, t in zip(windows.taps, tap)))
        hit = source[index] == best
        if left is None:
            left = ~hit
        else:
            hit &= left
            left ^= hit
        target = result[index]
        if apart:
            np.multiply(g, hit, out=target)
        else:
            target += g * hit
    if not padded:
        return result
    crop: Any = (..., *(slice(lo, lo + n) for n, (lo, _) in zip(windows.size, padding)))
    return np.ascontiguousarray(result[crop])


def _max_family(name: str, params: tuple[str, ...], windows_of: Any, axes_of: Any, samples: Any) -> Any:
    """A pooling by maxima: the maxima, their places, and the two linear maps along them."""

    def infer(avals: Any, p: dict[str, Any]) -> Aval:
        shape, axes = avals[-1].shape, axes_of(p)
        at_least(axes, avals[-1])
        return Aval((*shape[: len(shape) - axes], *windows_of(shape[len(shape) - axes :], **p).out), avals[0].dtype)

    def infer_scatter(avals: Any, p: dict[str, Any]) -> Aval:
        matching("what is spread over the maxima", avals[0].shape, infer(avals[1:], p).shape)
        return Aval(avals[1].shape, avals[0].dtype)

    def infer_gather(avals: Any, p: dict[str, Any]) -> Aval:
        matching("what is read at the maxima", avals[0].shape, avals[1].shape)
        return infer(avals, p)

    def windows(x: Any, p: dict[str, Any]) -> Windows:
        return windows_of(tuple(x.shape[x.ndim - axes_of(p) :]), **p)

    def standard(f: Any) -> Any:
        return widened(lambda xp, *arrays, **p: f(xp, *arrays, windows(arrays[-1], p)))

    def by_numpy(f: Any) -> Any:
        """In single precision for halves (bincount and isnan need it)."""
        return widened_numpy(lambda *arrays, **p: f(*arrays, windows(arrays[-1], p)))

    def pair_samples() -> Any:
        for (x,), p in samples():
            shape = infer([Aval(x.shape, x.dtype)], p).shape
            yield sample(normal(*shape, seed=3), x, **p)

    scatter = primitive(
        f"{name}_scatter", kernel=standard(_scattered), numpy=by_numpy(_scattered_numpy), operands=("g", "x"), params=params,
        vjps=[lambda g, _out, _g, x, **p: gather(g, x, **p), lambda h, _out, _g, x_, **p: zeros_like(x_, h)],
        jvp=lambda tangents, out, g, x, **p: None if tangents[0] is None else scatter(tangents[0], x, **p),
        batch=batch_leading, infer=infer_scatter, samples=pair_samples,
    )  # fmt: skip
    gather = primitive(
        f"{name}_gather", kernel=standard(_gathered), numpy=by_numpy(_gathered_numpy), operands=("t", "x"), params=params,
        vjps=[lambda g, _out, _t, x, **p: scatter(g, x, **p), lambda g, _out, _t, x_, **p: zeros_like(x_, g)],
        jvp=lambda tangents, out, t, x, **p: None if tangents[0] is None else gather(tangents[0], x, **p),
        batch=batch_leading, infer=infer_gather,
        samples=lambda: [sample(normal(*x.shape, seed=2), x, **p) for (x,), p in samples()],
    )  # fmt: skip
    places = primitive(
        f"{name}_places", kernel=standard(_flat_places), operands=("x",),
        numpy=by_numpy(lambda x, w: _flat_places_numpy(x, w).astype(np.int64)),
        params=params, vjps=NOT_DIFFERENTIABLE, batch=batch_leading,
        infer=lambda avals, p: Aval(infer(avals, p).shape, np.dtype(np.int64)), samples=samples,
    )  # fmt: skip
    pool = primitive(
        name, kernel=lambda xp, x, **p: _maxima(xp, x, windows(x, p)), operands=("x",), params=params,
        numpy=lambda x, **p: _maxima_numpy(x, windows(x, p)),
        vjps=[lambda g, _out, x, **p: scatter(g, x, **p)],
        jvp=lambda tangents, out, x, **p: gather(tangents[0], x, **p),
        batch=batch_leading, infer=infer, samples=samples,
    )  # fmt: skip
    return pool, places


def _max_samples() -> Any:
    plain = {"padding": ((0, 0),), "dilation": (1,)}
    yield sample(distinct(2, 3, 6), kernel=(2,), stride=(2,), **plain)
    yield sample(distinct(7), kernel=(3,), stride=(1,), padding=((1, 0),), dilation=(2,))
    two = {"dilation": (1, 1)}
    yield sample(distinct(1, 2, 4, 6), kernel=(2, 2), stride=(2, 2), padding=((0, 0), (0, 0)), **two)
    yield sample(distinct(2, 5, 4), kernel=(3, 2), stride=(2, 1), padding=((1, 1), (1, 0)), **two)
    yield sample(distinct(2, 5, 5), kernel=(4, 3), stride=(1, 2), padding=((1, 1), (1, 1)), **two)
    yield sample(distinct(1, 3, 4, 4), kernel=(2, 1, 2), stride=(1, 2, 2), padding=((0, 0),) * 3, dilation=(1, 1, 1))


def _adaptive_samples() -> Any:
    yield sample(distinct(2, 6), parts=(3,))
    yield sample(distinct(1, 5, 4), parts=(3, 2))
    yield sample(distinct(2, 3, 4), parts=(2, 6))
    yield sample(distinct(1, 2, 3, 5), parts=(1, 2, 3))


_WINDOW = ("kernel", "stride", "padding", "dilation")

# The largest element of each window; `padding` (before, after) counts as lower than anything. The places are those of
# the maxima in the pooled axes flattened.
max_pool, max_pool_places = _max_family("max_pool", _WINDOW, _regular, lambda p: len(p["kernel"]), _max_samples)

# The same over windows that divide the axes into `parts`, overlapping where they do not go into them evenly.
adaptive_max_pool, adaptive_max_pool_places = _max_family(
    "adaptive_max_pool", ("parts",), _adaptive, lambda p: len(p["parts"]), _adaptive_samples
)

# ------------------------------------------------------------------------------------------ averages


def _divisors(size: Sizes, out: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, counted: Pads, divisor: Any,
              dtype: Any) -> Any:  # fmt: skip
    """What the sum of each window is divided by: NumPy's number, or array over the windows where they differ.

    `counted` is the part of the padding that counts as elements.
    """
    if divisor is not None:
        return dtype.type(divisor)
    counts = _counts(size, out, kernel, stride, padding, counted)
    if all((c == k).all() for c, k in zip(counts, kernel)):
        return dtype.type(math.prod(kernel))
    total: Any = np.ones((), np.int64)
    for c in counts:
        total = total[..., None] * c
    return total.astype(dtype)


def _counts(size: Sizes, out: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, counted: Pads) -> list[np.ndarray]:
    """How many elements each window has, along each axis."""
    counts = []
    for n, m, k, s, (lo, _), (before, after) in zip(size, out, kernel, stride, padding, counted):
        start = np.arange(m) * s - lo
        counts.append(np.minimum(start + k, n + after) - np.maximum(start, -before))
    return counts


@functools.lru_cache(maxsize=256)
def _axis_divisors(size: Sizes, out: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, counted: Pads, divisor: Any,
                   dtype: Any) -> tuple[np.ndarray, np.ndarray]:  # fmt: skip
    """For windows along one or two axes, numbers of the rows and the columns of which the divisors are products."""
    counts = _counts(size, out, kernel, stride, padding, counted)
    if divisor is not None:
        counts = [np.full(len(c), 1 if i else divisor) for i, c in enumerate(counts)]
    if len(counts) == 1:
        counts.insert(0, np.ones(1))
    rows, columns = (c.astype(dtype) for c in counts)
    return rows, columns


@functools.lru_cache(maxsize=256)
def _transposed_tables(size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads) -> Any:
    """For each element of one or two axes, the windows that hold it; None where generated code does not take them."""
    windows = _regular(size, kernel, stride, padding, (1,) * len(size))
    found = []
    for n, m, places in zip(size, windows.out, windows.sources):
        holding: list[list[int]] = [[] for _ in range(n)]
        for window, held in enumerate(_inside(n, places)):
            for p in held:
                holding[p].append(window)
        found.append(generated.table(m, holding, empty=True))
    if len(found) == 1:
        found.insert(0, generated.every(1))
    return None if len(found) != 2 or None in found else found


@widened
def _avg_kernel(
    xp: Any, x: Any, *, kernel: Sizes, stride: Sizes, padding: Pads, counted: Pads, divisor: Any
) -> Any:
    axes = len(kernel)
    size = tuple(x.shape[x.ndim - axes :])
    windows = _regular(size, kernel, stride, padding, (1,) * axes)
    total = padded(xp, x, padding)
    for axis in range(-axes, 0):
        first, *others = windows.taps[axis]
        source, total = total, total[_along(axis, first)]
        for tap in others:
            total = total + source[_along(axis, tap)]
    divisors = _divisors(size, windows.out, kernel, stride, padding, counted, divisor, numpy_dtype(x.dtype))
    divisors = constant(xp, np.asarray(divisors), x)
    if not is_integer(x):
        return total / divisors
    rest = total - total // divisors * divisors
    ups = ((total < 0) != (divisors < 0)) & (rest != 0)
    return total // divisors + astype(xp, ups, x.dtype)  # rounded towards zero


@widened_numpy
def _avg_numpy(x: Any, *, kernel: Sizes, stride: Sizes, padding: Pads, counted: Pads, divisor: Any) -> Any:
    axes = len(kernel)
    size = tuple(x.shape[x.ndim - axes :])
    windows = _regular(size, kernel, stride, padding, (1,) * axes)
    if x.size >= generated.LEAST and windows.tables is not None:
        by = _axis_divisors(size, windows.out, kernel, stride, padding, counted, divisor, x.dtype)
        rows, columns = windows.tables
        found = generated.weighted(_planes(x, axes), rows, columns, by)
        if found is not None:
            return found.reshape(*x.shape[: x.ndim - axes], *windows.out)
    total = _padded(x, padding, 0)
    for axis in range(-axes, 0):
        first, *others = windows.taps[axis]
        source, total = total, total[_along(axis, first)]
        for i, tap in enumerate(others):
            other = source[_along(axis, tap)]
            total = np.add(total, other, out=total if i else None)
    divisors = _divisors(size, windows.out, kernel, stride, padding, counted, divisor, x.dtype)
    if x.dtype.kind in "iu":  # whole numbers, rounded towards zero
        return (total // divisors) + (((total < 0) != (divisors < 0)) & (total % divisors != 0))
    return total / divisors


@widened
def _avg_spread_kernel(
    xp: Any, g: Any, *, size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, counted: Pads, divisor: Any
) -> Any:
    axes = len(kernel)
    out = output_size(size, kernel, stride, padding, (1,) * axes)
    divisors = _divisors(size, out, kernel, stride, padding, counted, divisor, numpy_dtype(g.dtype))
    spread = g / constant(xp, np.asarray(divisors), g)
    for axis in range(-1, -axes - 1, -1):
        spread = spaced(xp, spread, g.ndim + axis, stride[axis])
        behind = ((0, 0),) * (-axis - 1)
        room = size[axis] + padding[axis][0] - spread.shape[axis]
        total: Any = 0
        for t in range(kernel[axis]):
            total = total + padded(xp, spread, ((t - padding[axis][0], room - t), *behind))
        spread = total
    return spread


@widened_numpy
def _avg_spread_numpy(
    g: Any, *, size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, counted: Pads, divisor: Any
) -> Any:
    axes = len(kernel)
    windows = _regular(size, kernel, stride, padding, (1,) * axes)
    if g.size * math.prod(stride) >= generated.LEAST:
        transposed = _transposed_tables(size, kernel, stride, padding)
        if transposed is not None:
            by = _axis_divisors(size, windows.out, kernel, stride, padding, counted, divisor, g.dtype)
            rows, columns = transposed
            found = generated.weighted(_planes(g, axes), rows, columns, by, before=True)
            if found is not None:
                return found.reshape(*g.shape[: g.ndim - axes], *size)
    spread = g / _divisors(size, windows.out, kernel, stride, padding, counted, divisor, g.dtype)
    for axis in range(-1, -axes - 1, -1):
        full = size[axis] + sum(padding[axis])
        shape = (*spread.shape[:axis], full, *spread.shape[spread.ndim + axis + 1 :])
        wider = np.zeros(shape, dtype=g.dtype)
        for tap in windows.taps[axis]:
            wider[_along(axis, tap)] += spread
        spread = wider
    if not any(any(pair) for pair in padding):
        return spread
    crop = tuple(slice(lo, lo + n) for n, (lo, _) in zip(size, padding))
    return np.asarray(spread[(..., *crop)], copy=True)


def _infer_avg(avals: Any, p: dict[str, Any]) -> Aval:
    shape, axes = avals[0].shape, len(p["kernel"])
    at_least(axes, avals[0])
    lead, size = shape[: len(shape) - axes], shape[len(shape) - axes :]
    return Aval((*lead, *output_size(size, p["kernel"], p["stride"], p["padding"], (1,) * axes)), avals[0].dtype)


def _avg_samples() -> Any:
    yield sample(normal(2, 6), kernel=(2,), stride=(2,), padding=((0, 0),), counted=((0, 0),), divisor=None)
    yield sample(normal(1, 2, 5, 4), kernel=(3, 2), stride=(2, 1), padding=((1, 1), (1, 0)), counted=((1, 1), (1, 0)),
                 divisor=None)  # fmt: skip
    yield sample(normal(5, 5), kernel=(2, 3), stride=(1, 2), padding=((1, 1), (1, 2)), counted=((0, 0), (0, 0)),
                 divisor=None)  # fmt: skip
    yield sample(normal(1, 3, 4, 4), kernel=(2, 1, 2), stride=(1, 2, 2), padding=((0, 0),) * 3,
                 counted=((0, 0),) * 3, divisor=3)  # fmt: skip


# The mean of each window: its sum over the number of its elements, of which `counted` padding is part, or `divisor`.
avg_pool = linear(
    "avg_pool", kernel=_avg_kernel, numpy=_avg_numpy,
    transpose=lambda g, x_, *, kernel, stride, padding, counted, divisor: avg_pool_spread(
        g, size=tuple(shape_of(x_)[-len(kernel) :]), kernel=kernel, stride=stride, padding=padding, counted=counted,
        divisor=divisor),
    batch=batch_leading, infer=_infer_avg, samples=_avg_samples,
)  # fmt: skip

def _infer_avg_spread(avals: Any, p: dict[str, Any]) -> Aval:
    (shape, dtype), axes = avals[0], len(p["size"])
    out = output_size(p["size"], p["kernel"], p["stride"], p["padding"], (1,) * axes)
    matching("the means", shape[len(shape) - axes :], out)
    return Aval((*shape[: len(shape) - axes], *p["size"]), dtype)


# The transpose: each mean spread over its window, in axes of the lengths `size`.
avg_pool_spread = linear(
    "avg_pool_spread", kernel=_avg_spread_kernel, numpy=_avg_spread_numpy,
    transpose=lambda g, _x, *, size, kernel, stride, padding, counted, divisor: avg_pool(
        g, kernel=kernel, stride=stride, padding=padding, counted=counted, divisor=divisor),
    batch=batch_leading, infer=_infer_avg_spread,
    samples=lambda: [
        sample(normal(*_infer_avg([Aval(x.shape, x.dtype)], p).shape, seed=4), size=x.shape[-len(p["kernel"]) :], **p)
        for (x,), p in _avg_samples()],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ by given places


def _joined(x: Any, axes: int) -> Any:
    """The last `axes` axes as one, recorded."""
    shape = tuple(shape_of(x))
    return reshape(x, shape=(*shape[: len(shape) - axes], math.prod(shape[len(shape) - axes :])))


def _taken(x: Any, places: Any, axes: int) -> Any:
    flat = _joined(x, axes)
    found = take_along_axis(flat, _joined(places, axes), axis=len(shape_of(flat)) - 1)
    return reshape(found, shape=tuple(shape_of(places)))


def _added(g: Any, x: Any, places: Any, axes: int) -> Any:
    shape = tuple(shape_of(x))
    lead = shape[: len(shape) - axes]
    total = along_add(
        _joined(g, axes), _joined(places, axes), shape=(*lead, math.prod(shape[len(lead) :])), axis=len(lead)
    )
    return reshape(total, shape=shape)


def _at_numpy(x: Any, places: Any, *, axes: int) -> Any:
    index = places.reshape(*places.shape[: places.ndim - axes], math.prod(places.shape[places.ndim - axes :]))
    return np.take_along_axis(_flattened(x, axes), index, axis=-1).reshape(places.shape)


def _unpool_kernel(xp: Any, x: Any, places: Any, *, size: Sizes) -> Any:
    axes = len(size)
    if elements(places):
        _check_places(int(xp.min(places)), int(xp.max(places)), size)
    return _write(xp, latest, x, astype(xp, places, xp.int64), (*x.shape[: x.ndim - axes], *size), axes)


def _check_places(low: int, high: int, size: Sizes) -> None:
    if low < 0 or high >= math.prod(size):
        raise ValueError(f"places from {low} to {high} do not lie in axes of the lengths {tuple(size)}")


def _unpool_numpy(x: Any, places: Any, *, size: Sizes) -> Any:
    axes = len(size)
    lead, length = x.shape[: x.ndim - axes], math.prod(size)
    if places.size:
        _check_places(int(places.min()), int(places.max()), size)
    rows = np.arange(math.prod(lead)).reshape(*lead, *(1,) * axes) * length
    out = np.zeros(math.prod(lead) * length, x.dtype)
    out[(places + rows).reshape(-1)] = x.reshape(-1)
    return out.reshape(*lead, *size)


_PLACES = np.array([[0, 3, 5], [1, 2, 4]])

def _infer_at(avals: Any, p: dict[str, Any]) -> Aval:
    x, places = avals
    at_least(p["axes"], x, places)
    matching("the leading axes of the places", places.shape[: -p["axes"]], x.shape[: -p["axes"]])
    return Aval(places.shape, x.dtype)


def _infer_unpool(avals: Any, p: dict[str, Any]) -> Aval:
    x, places = avals
    at_least(len(p["size"]), x)
    matching("the places", places.shape, x.shape)
    return Aval((*x.shape[: -len(p["size"])], *p["size"]), x.dtype)


# What stands at the given places of the last `axes` axes flattened: a pooling whose maxima have been found.
pool_at = linear(
    "pool_at", kernel=lambda xp, x, places, *, axes: _read(xp, x, places, axes), numpy=_at_numpy,
    transpose=lambda g, x_, places, *, axes: _added(g, x_, places, axes),
    others=1, batch=batch_leading, infer=_infer_at,
    samples=lambda: [sample(normal(2, 6), _PLACES % 4, axes=1),
                     sample(normal(1, 2, 3), np.array([[[5], [0]]]), axes=2)],
)  # fmt: skip

# Zeros in the axes `size`, with each element at its place of them flattened (the last one, where several meet).
unpool = linear(
    "unpool", kernel=_unpool_kernel, numpy=_unpool_numpy, transpose=lambda g, _x, places, *, size: _taken(g, places, len(size)),
    others=1, batch=batch_leading,
    infer=_infer_unpool,
    samples=lambda: [sample(normal(2, 3), _PLACES, size=(6,)),
                     sample(normal(2, 1, 3), _PLACES.reshape(2, 1, 3), size=(2, 3))],
)  # fmt: skip


def _interval_starts(xp: Any, n: int, out: int, kernel: int, u: Any) -> Any:
    """Where `out` windows of `kernel` elements begin along n places, for a uniform number each (Graham, 2014)."""
    if out == 1:
        return xp.full((*u.shape, 1), n - kernel, dtype=xp.int64, device=device_in(u))
    i = constant(xp, np.arange(out, dtype=numpy_dtype(u.dtype)), u)
    alpha = (n - kernel) / (out - 1)
    starts = xp.trunc((i + u[..., None]) * alpha) - xp.trunc(u[..., None] * alpha)
    return xp.where(i == out - 1, n - kernel, astype(xp, starts, xp.int64))


@widened
def _fractional_kernel(xp: Any, x: Any, u: Any, *, kernel: Sizes, parts: Sizes) -> Any:
    axes = len(parts)
    size, lead = tuple(x.shape[x.ndim - axes :]), tuple(x.shape[: x.ndim - axes])
    flat: Any = 0
    for i, (n, m, k) in enumerate(zip(size, parts, kernel)):
        starts = _interval_starts(xp, n, m, k, u[..., i])
        shape = [1] * (2 * axes)
        shape[i], shape[axes + i] = m, k
        taps = xp.arange(k, dtype=xp.int64, device=device_in(u))
        flat = flat * n + xp.reshape(starts[..., None] + taps, (*lead, *shape))
    windows = xp.reshape(flat, (*lead, math.prod(parts), math.prod(kernel)))
    reach = xp.reshape(windows, (*lead, math.prod(windows.shape[-2:])))
    values = xp.reshape(xp.take_along_axis(xp.reshape(x, (*lead, math.prod(size))), reach, axis=-1), windows.shape)
    best = xp.argmax(values, axis=-1)
    return xp.reshape(xp.take_along_axis(windows, best[..., None], axis=-1), (*lead, *parts))


def _starts_numpy(n: int, out: int, kernel: int, u: np.ndarray) -> np.ndarray:
    i = np.arange(out)
    if out == 1:
        return np.full((*u.shape, 1), n - kernel)
    alpha = (n - kernel) / (out - 1)
    starts = np.trunc((i + u[..., None]) * alpha).astype(np.int64) - np.trunc(u[..., None] * alpha).astype(np.int64)
    starts[..., -1] = n - kernel
    return starts


def _fractional_numpy(x: Any, u: Any, *, kernel: Sizes, parts: Sizes) -> Any:
    x = in_single(x)
    axes = len(parts)
    size = x.shape[x.ndim - axes :]
    lead = x.shape[: x.ndim - axes]
    flat: Any = np.zeros((*lead, *(1,) * (2 * axes)), np.int64)
    for i, (n, m, k) in enumerate(zip(size, parts, kernel)):
        starts = _starts_numpy(n, m, k, u[..., i])
        shape = [1] * (2 * axes)
        shape[i], shape[axes + i] = m, k
        flat = flat * n + (starts[..., None] + np.arange(k)).reshape(*lead, *shape)
    windows = flat.reshape(*lead, math.prod(parts), math.prod(kernel))
    reach = windows.reshape(*lead, math.prod(windows.shape[-2:]))
    values = np.take_along_axis(x.reshape(*lead, math.prod(size)), reach, -1).reshape(windows.shape)
    return np.take_along_axis(windows, values.argmax(axis=-1)[..., None], -1).reshape(*lead, *parts)


def _infer_fractional(avals: Any, p: dict[str, Any]) -> Aval:
    (shape, _), axes = avals[0], len(p["parts"])
    at_least(axes, avals[0])
    matching("the random numbers", avals[1].shape, (*shape[:-axes], axes))
    return Aval((*shape[:-axes], *p["parts"]), np.dtype(np.int64))


# The places of the maxima over windows at pseudorandom distances; u holds a number in [0, 1) per plane and axis.
fractional_max_pool_places = primitive(
    "fractional_max_pool_places", kernel=_fractional_kernel, numpy=_fractional_numpy, vjps=NOT_DIFFERENTIABLE,
    batch=batch_leading,
    infer=_infer_fractional,
    samples=lambda: [sample(distinct(1, 2, 5, 6), np.array([[[0.3, 0.8], [0.5, 0.1]]]), kernel=(2, 2), parts=(3, 2))],
)  # fmt: skip
