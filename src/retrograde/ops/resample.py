"""Linear maps along axes that make them longer or shorter: interpolation in all modes, and means over adaptive parts.

A map of one axis is a table of taps: for each place of the result up to K places of the operand with weights. Its
transpose is such a table again, so both directions are K gathers per axis (a matrix product where K is large). Elements
outside a window never enter, as 0 times infinity would.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

from ..backend.dtypes import astype, device_in, is_integer, numpy_dtype
from ..backend.jit import windows
from ..core.aval import Aval
from .kernels import constant, widened, widened_numpy
from .pooling import adaptive_bounds
from .rules import batch_leading, linear
from .samples import normal, sample
from .shapes import matching

NEAREST, NEAREST_EXACT, LINEAR, CUBIC, KEYS, MEAN = "nearest", "nearest-exact", "linear", "cubic", "keys", "mean"

_GATHER = 8
"""Up to this many taps gathering is faster than the product with a dense matrix."""


class Map(NamedTuple):
    """How an axis of length n becomes one of length m.

    `step` is the distance of the result's places in the operand's, n / m unless a caller knows it better. `align` puts
    the centres of the first and last elements onto each other, `corner` (linear and cubic) measures from the first
    elements' centres. `antialias` widens the window when m is smaller. CUBIC has Keys's parameter -0.75 and repeats the
    elements at the ends; KEYS has -0.5, and weighs only elements that there are.
    """

    mode: str
    n: int
    m: int
    step: float | None = None
    align: bool = False
    antialias: bool = False
    corner: bool = False


def _step(spec: Map, kind: Any) -> Any:
    if spec.align:
        return kind(spec.n - 1) / kind(spec.m - 1) if spec.m > 1 else kind(0)
    return kind(spec.n) / kind(spec.m) if spec.step is None else kind(spec.step)


def _cubic(t: np.ndarray, a: float) -> np.ndarray:
    """The cubic convolution kernel (Keys, 1981) at distances t."""
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((t - 5) * t + 8) * t * a - 4 * a
    return np.where(t <= 1, near, np.where(t < 2, far, 0.0))


def _nearest_places(spec: Map) -> np.ndarray:
    # In single precision, as the frameworks have it: the whole part is sensitive to rounding.
    i = np.arange(spec.m, dtype=np.float32)
    if spec.mode == NEAREST_EXACT:
        i = i + np.float32(0.5)
    return np.minimum(np.floor(i * _step(spec, np.float32)).astype(np.intp), spec.n - 1)


def _antialiased(spec: Map) -> tuple[np.ndarray, np.ndarray]:
    step = float(_step(spec, np.float64))
    width = 2 if spec.mode == LINEAR else 4
    support = width * 0.5 * max(step, 1.0)
    inverse = 1 / step if step >= 1 else 1.0
    center = step * (np.arange(spec.m) + 0.5)
    first = np.maximum((center - support + 0.5).astype(np.int64), 0)
    count = np.minimum((center + support + 0.5).astype(np.int64), spec.n) - first
    j = np.arange(max(int(count.max(initial=1)), 1))[:, None]
    t = (j + first - center + 0.5) * inverse
    weights = np.where(np.abs(t) < 1, 1 - np.abs(t), 0.0) if spec.mode == LINEAR else _cubic(t, -0.5)
    weights = np.where(j < count, weights, 0.0)
    total = weights.sum(axis=0)
    return np.minimum(first + j, first + np.maximum(count, 1) - 1), weights / np.where(total == 0, 1, total)


def _table(spec: Map, kind: Any) -> tuple[np.ndarray, np.ndarray | None]:
    """The places (K, m) in the operand and their weights (None: 1)."""
    n, m = spec.n, spec.m
    if spec.mode in (NEAREST, NEAREST_EXACT):
        return _nearest_places(spec)[None], None
    if spec.mode == MEAN:
        first, end = adaptive_bounds(n, m)
        j = np.arange(int((end - first).max(initial=1)))[:, None]
        weights = np.where(j < end - first, 1.0 / np.maximum(end - first, 1), 0.0)
        return np.minimum(first + j, np.maximum(end - 1, 0)), weights
    if spec.antialias:
        return _antialiased(spec)
    step = _step(spec, kind)
    i = np.arange(m).astype(kind)
    place = i * step if spec.align or spec.corner else (i + kind(0.5)) * step - kind(0.5)
    if spec.mode == LINEAR:
        place = np.maximum(place, 0)
        low = np.minimum(np.floor(place).astype(np.intp), n - 1)
        t = np.clip((place - low).astype(np.float64), 0, 1)
        return np.stack([low, np.minimum(low + 1, n - 1)]), np.stack([1 - t, t])
    low = np.floor(place).astype(np.intp)
    t = (place - low).astype(np.float64)
    j = np.arange(-1, 3)[:, None]
    places = np.clip(low + j, 0, n - 1)
    if spec.mode == CUBIC:
        return places, _cubic(t - j, -0.75)
    weights = np.where(places == low + j, _cubic(t - j, -0.5), 0.0)
    return places, weights / weights.sum(axis=0)


def _transposed(places: np.ndarray, weights: np.ndarray | None, n: int) -> tuple[np.ndarray, np.ndarray]:
    """The table of the transpose: for each place of the operand, which places of the result it went to."""
    m = places.shape[1]
    given = np.ones(places.shape) if weights is None else weights
    source, target = places.T.reshape(-1), np.repeat(np.arange(m), places.shape[0])
    values = given.T.reshape(-1)
    used = values != 0
    source, target, values = source[used], target[used], values[used]
    order = np.argsort(source, kind="stable")
    source, target, values = source[order], target[order], values[order]
    counts = np.bincount(source, minlength=n)
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    rank = np.arange(len(source)) - starts[source]
    table = np.zeros((max(int(counts.max(initial=1)), 1), n), np.intp)
    factors = np.zeros(table.shape)
    table[:, source[rank == 0]] = target[rank == 0]
    table[rank, source], factors[rank, source] = target, values
    return table, factors


@functools.lru_cache(maxsize=256)
def _taps(spec: Map, char: str, transposed: bool) -> tuple[Any, Any, Any]:
    """Places, weights and, where there are many of them, the dense matrix (result by operand) of a map."""
    kind = np.dtype(char).type
    coordinates = np.float32 if char in "fF" else np.float64
    places, weights = _table(spec, coordinates)
    n, m = spec.n, spec.m
    if transposed:
        places, weights = _transposed(places, weights, n)
        n, m = m, n
    if len(places) <= _GATHER:
        return places, None if weights is None else weights.astype(kind), None
    matrix = np.zeros((m, n))
    np.add.at(matrix, (np.broadcast_to(np.arange(m), places.shape), places), 1.0 if weights is None else weights)
    return None, None, matrix.astype(kind)


def _applied(xp: Any, x: Any, axis: int, spec: Map, transposed: bool) -> Any:
    """One axis, counted from the end."""
    places, weights, matrix = _taps(spec, numpy_dtype(x.dtype).char, transposed)
    behind = -axis - 1
    if matrix is not None:
        matrix = constant(xp, matrix, x)
        if axis == -1:
            return xp.matmul(x, xp.matrix_transpose(matrix))
        lead, tail = x.shape[: x.ndim + axis], x.shape[x.ndim + axis + 1 :]
        flat = xp.reshape(x, (*lead, x.shape[axis], math.prod(tail)))
        return xp.reshape(xp.matmul(matrix, flat), (*lead, matrix.shape[0], *tail))
    total = None
    for k in range(len(places)):
        part = xp.take(x, constant(xp, places[k], x), axis=x.ndim + axis)
        if weights is not None:
            part = part * constant(xp, weights[k].reshape(-1, *(1,) * behind), x)
        total = part if total is None else total + part
    return total


def _resampled(xp: Any, x: Any, maps: tuple[Map, ...], transposed: bool) -> Any:
    order = range(-len(maps), 0)
    if not math.prod(x.shape):
        lead = x.shape[: x.ndim - len(maps)]
        return xp.zeros((*lead, *(spec.n if transposed else spec.m for spec in maps)), dtype=x.dtype, device=device_in(x))
    result = x
    # Axes that shrink go first: then the others have less to do.
    for axis in sorted(order, key=lambda a: (maps[a].m - maps[a].n) * (-1 if transposed else 1)):
        result = _applied(xp, result, axis, maps[axis], transposed)
    return xp.asarray(result, copy=True) if result is x else result


@functools.lru_cache(maxsize=64)
def _fixed_point(spec: Map) -> tuple[np.ndarray, int]:
    """The dense matrix of a map in whole numbers of 16 bits, and how many of the bits are behind the point."""
    places, weights = _table(spec, np.float64)
    assert weights is not None, "of a linear or cubic map"
    matrix = np.zeros((spec.m, spec.n))
    np.add.at(matrix, (np.broadcast_to(np.arange(spec.m), places.shape), places), weights)
    most = np.abs(weights).max(initial=0)
    bits = next((b for b in range(22) if int(0.5 + most * (1 << (b + 1))) >= 1 << 15), 22)
    scaled = matrix * (1 << bits)
    return np.trunc(scaled + np.copysign(0.5, scaled)).astype(np.int64), bits


def _bytes_resampled(xp: Any, x: Any, maps: tuple[Map, ...]) -> Any:
    """An image of bytes, rounded to bytes between the axes, the last of which goes first."""
    x = astype(xp, x, np.int64)
    for axis in range(-1, -len(maps) - 1, -1):
        matrix, bits = _fixed_point(maps[axis])
        moved = xp.matmul(xp.moveaxis(x, axis, -1), xp.matrix_transpose(constant(xp, matrix, x)))
        x = xp.moveaxis(xp.clip((moved + (1 << (bits - 1))) >> bits, 0, 255), -1, axis)
    return astype(xp, x, np.uint8)


@widened
def _resample_kernel(xp: Any, x: Any, *, maps: tuple[Map, ...]) -> Any:
    if is_integer(x):
        bounds = np.iinfo(numpy_dtype(x.dtype))
        if bounds.dtype == np.uint8 and len(maps) == 2 and all(spec.mode in (LINEAR, CUBIC) for spec in maps):
            return _bytes_resampled(xp, x, maps)
        if maps[0].mode not in (NEAREST, NEAREST_EXACT):
            wide = _resampled(xp, astype(xp, x, np.float64), maps, False)
            return astype(xp, xp.clip(xp.floor(wide + 0.5), int(bounds.min), int(bounds.max)), x.dtype)
    return _resampled(xp, x, maps, False)


@widened
def _spread_kernel(xp: Any, g: Any, *, maps: tuple[Map, ...]) -> Any:
    return _resampled(xp, g, maps, True)


# ------------------------------------------------------------------------------------------ by generated code


@functools.lru_cache(maxsize=256)
def _window_table(spec: Map, char: str, transposed: bool, weighted: bool) -> windows.Table | None:
    """The windows of a map, with their weights if there are any or they are wanted."""
    places, weights = _table(spec, np.float32 if char == "f" else np.float64)
    n, m = spec.n, spec.m
    if transposed:
        places, factors = _transposed(places, weights, n)
        weights = factors if weights is not None else None
        used = factors != 0
        n, m = m, n
    elif weights is None or (spec.mode in (LINEAR, CUBIC) and not spec.antialias):
        used = np.ones(places.shape, bool)  # 0 times an infinity is nan, as it is elsewhere
    else:
        used = weights != 0
    if weighted and weights is None:
        weights = np.ones(places.shape)
    held = [places[used[:, j], j].tolist() for j in range(m)]
    given = None if weights is None else [weights[used[:, j], j].tolist() for j in range(m)]
    return windows.table(n, held, given, char, empty=True)


@functools.lru_cache(maxsize=256)
def _window_tables(
    maps: tuple[Map, ...], char: str, transposed: bool
) -> tuple[tuple[windows.Table, ...], str | None, tuple[int, ...]] | None:
    """The windows of each of one to three maps, of two at least; the dtype of their weights, if any; and the sizes that come
    of them. None where generated code does not take them."""
    if not 1 <= len(maps) <= 3:
        return None
    weighted = any(spec.mode not in (NEAREST, NEAREST_EXACT) for spec in maps)
    found = [_window_table(spec, char, transposed, weighted) for spec in maps]
    tables = [table for table in found if table is not None]
    if len(tables) != len(maps):
        return None
    kind = char if weighted else None
    if len(maps) == 1:
        tables.insert(0, windows.every(1, kind))
    return tuple(tables), kind, tuple(s.n if transposed else s.m for s in maps)


def _generated(x: Any, maps: tuple[Map, ...], transposed: bool) -> Any:
    """The map of NumPy arrays as generated code; None where that does not apply."""
    if not x.size or x.dtype.char not in "fd" or not x.dtype.isnative:
        return None
    found = _window_tables(maps, x.dtype.char, transposed)
    if found is None:
        return None
    tables, char, sizes = found
    lead, size = x.shape[: x.ndim - len(maps)], x.shape[x.ndim - len(maps) :]
    if len(maps) == 3:  # the first axis by itself: the others are the columns
        x = windows.weighted(x.reshape(*lead, size[0], -1), tables[0], windows.every(size[1] * size[2], char))
    if len(maps) == 1:
        size = (1, *size)
    result = None if x is None else windows.weighted(x.reshape(-1, *size[-2:]), tables[-2], tables[-1])
    return None if result is None else result.reshape(*lead, *sizes)


@widened_numpy
def _resample_numpy(x: Any, *, maps: tuple[Map, ...]) -> Any:
    found = _generated(x, maps, False)
    return _resample_kernel(np, x, maps=maps) if found is None else found


@widened_numpy
def _spread_numpy(g: Any, *, maps: tuple[Map, ...]) -> Any:
    found = _generated(g, maps, True)
    return _spread_kernel(np, g, maps=maps) if found is None else found


def _infer(which: str) -> Any:
    def infer(avals: Any, p: dict[str, Any]) -> Aval:
        shape, maps = avals[0].shape, p["maps"]
        given = "n" if which == "m" else "m"
        matching("the axes that are mapped", shape[-len(maps) :], tuple(getattr(spec, given) for spec in maps))
        return Aval((*shape[: len(shape) - len(maps)], *(getattr(s, which) for s in maps)), avals[0].dtype)

    return infer


def _cases() -> Any:
    yield (2, 3), (Map(LINEAR, 3, 5),)
    yield (1, 4, 3), (Map(LINEAR, 4, 6, align=True), Map(CUBIC, 3, 4))
    yield (4, 4), (Map(NEAREST, 4, 6), Map(NEAREST_EXACT, 4, 3))
    yield (2, 5, 12), (Map(MEAN, 5, 3), Map(MEAN, 12, 1))
    yield (6, 5), (Map(LINEAR, 6, 3, antialias=True), Map(CUBIC, 5, 2, antialias=True))
    yield (5,), (Map(CUBIC, 5, 7, step=0.7),)
    yield (4, 3), (Map(KEYS, 4, 6), Map(CUBIC, 3, 5, corner=True))
    yield (4,), (Map(LINEAR, 4, 6, corner=True),)


# The last axes of x, each through its map.
resample = linear(
    "resample", kernel=_resample_kernel, numpy=_resample_numpy, transpose=lambda g, _x, *, maps: resample_spread(g, maps=maps),
    batch=batch_leading, infer=_infer("m"), samples=lambda: [sample(normal(*s), maps=maps) for s, maps in _cases()],
)  # fmt: skip

# The transpose.
resample_spread = linear(
    "resample_spread", kernel=_spread_kernel, numpy=_spread_numpy, transpose=lambda g, _x, *, maps: resample(g, maps=maps),
    batch=batch_leading, infer=_infer("n"),
    samples=lambda: [
        sample(normal(*s[: len(s) - len(maps)], *(spec.m for spec in maps)), maps=maps) for s, maps in _cases()],
)  # fmt: skip
