"""Convolutions as generated code: products with the matrix of the windows, which is never written down.

In an image whose rows lie one behind the other, the windows' elements at one place of the kernel are a contiguous row that
begins where that place is: the matrix of the windows is a list of offsets into the image. The columns between the end of
one row of windows and the begin of the next are computed and left out.

With a stride of s the image is laid out as s images along each axis, each of every s-th element: a place of the kernel
meets one of them, in which its windows lie side by side again. The transpose makes each of these images by itself, from the
places of the kernel that meet it. Groups are images of their own, with weights of their own.

Of small images, where half of the columns would lie between rows or behind the last one, the matrix is written down after all,
for several images side by side; their weights' cotangents are matrix products.

The work is shared out by images, groups and bands of rows; weights' cotangents by shares of the images, which depend on the
shapes alone, and tiles of weights. So sums have the same order whatever the number of threads.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import llvm, products, threads
from .copies import packed
from .patches import every, within
from .processor import AVX2, Processor
from .vectors import Part, Vectors

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]

LEAST = 1 << 11
"""Fewer multiplications are left to NumPy, which takes 1.5 times as long: the first call loads llvmlite, 50 ms."""

LEAST_PLAIN = 1 << 18
"""The same for kernels of one place, where BLAS has nothing to unfold."""

BAND = 512
"""Columns of a band at most: its results, for a tile's rows, lie in the nearest cache until they are written."""

_LAID = 1 << 20
"""Numbers of images that are laid out at a time: what a network without gradients keeps beside its activations."""

_TOGETHER = 1024  # columns, of several images, of which a tile of sums of products is made before the sums are written
_SHARES = 16  # of the images at most, each with sums of its own
_MANY = 1 << 16  # weights, of which BLAS makes the cotangent sooner

# ------------------------------------------------------------------------------------------ geometry


class Plan(NamedTuple):
    """Where the windows' elements and the results of a convolution lie."""

    full: Sizes
    """Of an image as it is laid out: its phases along each axis, then their sizes."""
    starts: np.ndarray
    """For each channel and place of the kernel, where its row of elements begins."""
    pieces: np.ndarray
    """Runs of contiguous results: the column of the first, how many, and where they are written."""
    bands: np.ndarray
    """Of pieces that are computed together: the number of the first one, and how many pieces there are."""
    columns: int
    """From the first window's to the last one's."""
    rows: tuple[int, int, int] | None
    """Rows of results, how many lie in each, and how far the windows of one row are from those of the row before; None where
    there are more axes."""


@functools.lru_cache(256)
def plan(
    channels: int, size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, out: Sizes
) -> Plan:
    """Of the convolution of images (channels, *size) by a kernel."""
    parts = tuple(-(-(n + lo + hi) // s) for n, s, (lo, hi) in zip(size, stride, padding))
    full, steps, image = (*stride, *parts), _steps(parts), math.prod(parts)
    phases = _steps(stride)
    places = []
    for tap in itertools.product(*map(range, kernel)):
        at = [t * d for t, d in zip(tap, dilation)]
        phase = sum(a % s * p for a, s, p in zip(at, stride, phases))
        places.append(phase * image + sum(a // s * step for a, s, step in zip(at, stride, steps)))
    return _planned(full, channels, places, steps, out)


class Phase(NamedTuple):
    """Every s-th element of a transposed convolution's result: by which places of the kernel, how many, and where."""

    taps: tuple[int, ...]
    results: Sizes
    plan: Plan


@functools.lru_cache(256)
def phases_of(
    outputs: int, size: Sizes, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, out: Sizes
) -> tuple[Pads, tuple[Phase, ...]]:
    """How images (outputs, *out) are padded for the transpose, and the phases of its result (.., *size)."""
    axes = [
        [_axis(*given, a) for a in range(given[2])] for given in zip(size, kernel, stride, padding, dilation)
    ]
    pads = tuple(
        (max(0, *(max(p.taps.values(), default=0) - p.first for p in axis)),
         max(0, *(p.first + p.results - m - min(p.taps.values(), default=0) for p in axis)))
        for axis, m in zip(axes, out)
    )  # fmt: skip
    full = tuple(m + lo + hi for m, (lo, hi) in zip(out, pads))
    steps, strides = _steps(full), _steps(kernel)
    found = []
    for parts in itertools.product(*axes):
        count = tuple(p.results for p in parts)
        if not math.prod(count):
            continue
        taps = list(itertools.product(*(p.taps.items() for p in parts)))
        numbers = [sum(t * n for (t, _), n in zip(tap, strides)) for tap in taps]
        places = [
            sum((p.first - e + lo) * step for p, (_, e), (lo, _), step in zip(parts, tap, pads, steps)) for tap in taps
        ]
        # In ascending order the images are read up to a third faster than in that of the kernel's places.
        pairs = sorted(zip(places, numbers))
        places, numbers = [place for place, _ in pairs], [number for _, number in pairs]
        written = tuple(range(p.begin, n, s) for p, n, s in zip(parts, size, stride))
        found.append(Phase(tuple(numbers), count, _planned(full, outputs, places, steps, count, (written, size))))
    return pads, tuple(found)


class _Axis(NamedTuple):
    """One axis of a phase: where it begins in the result, the window of its first element, how many elements, and the
    places of the kernel that meet it with how many windows later each does."""

    begin: int
    first: int
    results: int
    taps: dict[int, int]


def _axis(n: int, kernel: int, s: int, padding: tuple[int, int], d: int, a: int) -> _Axis:
    lo = padding[0]
    first, last = -(-(lo - a) // s), (lo + n - 1 - a) // s
    taps = {t: (t * d - a) // s for t in range(kernel) if (t * d - a) % s == 0}
    return _Axis(first * s + a - lo, first, max(0, last - first + 1), taps)


def _planned(
    full: Sizes, channels: int, places: Sequence[int], steps: Sizes, out: Sizes,
    written: tuple[tuple[range, ...], Sizes] | None = None,
) -> Plan:  # fmt: skip
    """written: the places of the results along each axis of an image, and its size, if they are not side by side."""
    starts = np.add.outer(np.arange(channels) * math.prod(full), np.array(places, np.int64))
    pieces: list[tuple[int, int, int]] = []
    bands = [0]
    *lead, width = out
    ranges, size = written or (tuple(map(range, out)), out)
    if size == out and not any((m - 1) * inner != outer - inner for m, inner, outer in zip(out[1:], steps[1:], steps)):
        lead, width, steps = [], math.prod(out), (1,)  # no gaps between the rows
        ranges, size = (range(width),), (width,)
    *above, row = ranges
    for at in itertools.product(*map(range, lead)):
        column = sum(i * step for i, step in zip(at, steps))
        target = sum(r[i] * step for r, i, step in zip(above, at, _steps(size))) + row.start
        for k in range(0, width, BAND):
            piece = column + k, min(BAND, width - k), target + k * row.step
            if pieces and piece[0] + piece[1] - pieces[bands[-1]][0] > BAND:
                bands.append(len(pieces))
            pieces.append(piece)
    columns = pieces[-1][0] + pieces[-1][1] if pieces else 0
    rows = (math.prod(lead), width, steps[0]) if len(lead) < 2 else None
    return Plan(full, np.ascontiguousarray(starts.ravel(), np.int64), np.array(pieces, np.int64),
                np.array([*bands, len(pieces)], np.int64), columns, rows)  # fmt: skip


def _steps(size: Sizes) -> Sizes:
    return tuple(math.prod(size[i + 1 :]) for i in range(len(size)))


# ------------------------------------------------------------------------------------------ images as they are laid out

# What depends on shapes alone is found once for each geometry, of which a network has a few: what is left of a call on few
# numbers is a third of it.


@functools.lru_cache(512)
def _layer(
    shape: Sizes, char: str, padding: Pads, stride: Sizes, parts: Sizes
) -> Callable[[np.ndarray], np.ndarray]:  # fmt: skip
    """Images (N, C, *size) with zeros around them as (N, C, *stride, *parts): the element at s m + a of a padded image is
    that at m of phase a. Contiguous; the images themselves where nothing changes."""
    lead, size = shape[:2], shape[2:]
    if not any(any(pair) for pair in padding) and math.prod(stride) == 1 and parts == size:
        return packed
    inner = 2 if len(size) > 1 else 1
    function = _generated("lay", char, min(stride[-1], 3))
    if function is None or any(any(pair) for pair in padding[:-inner]) or math.prod(stride[:-inner]) != 1:
        return lambda x: _laid(x, padding, stride, parts)
    whole, planes = (*lead, *stride, *parts), math.prod(lead) * math.prod(size[:-inner])
    (h, w), (sh, sw), (ph, pw) = ((1,) * (2 - inner) + given[-inner:] for given in (size, stride, parts))
    sizes = h, w, sh, sw, ph, pw, padding[-2][0] if inner > 1 else 0, padding[-1][0]
    work = math.prod(whole)

    def lay(x: np.ndarray) -> np.ndarray:
        out = np.empty(whole, char)
        function(*threads.tiles(planes, work), out, packed(x), *sizes)
        return out

    return lay


def _laid(x: np.ndarray, padding: Pads, stride: Sizes, parts: Sizes) -> np.ndarray:
    """The same by NumPy, for any number of axes."""
    out = np.zeros((*x.shape[:2], *stride, *parts), x.dtype)
    for phase in np.ndindex(*stride):
        index, target = [], []
        for a, n, s, (lo, _) in zip(phase, x.shape[2:], stride, padding):
            first = -(-max(lo - a, 0) // s)
            source = range(first * s + a - lo, n, s)
            index.append(slice(source.start, n, s))
            target.append(slice(first, first + len(source)))
        out[(slice(None), slice(None), *phase, *target)] = x[(slice(None), slice(None), *index)]
    return out


# ------------------------------------------------------------------------------------------ what is computed here

Run = Callable[..., np.ndarray]


def _suited(x: np.ndarray, other: np.ndarray, work: int, places: int) -> bool:
    """Whether so many multiplications of two arrays, for kernels of so many places, are done here."""
    dtype = x.dtype
    return (
        work >= (LEAST if places > 1 else LEAST_PLAIN)
        and dtype.char in "fd" and dtype.isnative and other.dtype == dtype and other.size > 0
        and _generated("lay", dtype.char, 1) is not None
    )  # fmt: skip


def convolve(
    x: np.ndarray, w: np.ndarray, b: np.ndarray | None, stride: Sizes, padding: Pads, dilation: Sizes, groups: int, out: Sizes
) -> np.ndarray | None:  # fmt: skip
    """The convolution of x (N, C, *size) by w (O, C / groups, *kernel), plus b: (N, O, *out). None where it is BLAS's."""
    shape, ws = x.shape, w.shape
    places = math.prod(ws[2:]) * math.prod(stride)
    if not _suited(x, w, shape[0] * math.prod(out) * w.size, places) or (b is not None and b.dtype != x.dtype):
        return None
    w, result = packed(w), np.empty((shape[0], ws[0], *out), x.dtype)
    bias, several = None if b is None else packed(b), _at_a_time(shape, padding)
    for first in range(0, shape[0], several):
        part = x if several >= shape[0] else x[first : first + several]
        lay, write, zeros = _forward(part.shape, ws, x.dtype.char, stride, padding, dilation, groups, out)
        write(lay(part), w, zeros if bias is None else bias, result if part is x else result[first : first + several])
    return result


@functools.lru_cache(256)
def _at_a_time(shape: Sizes, padding: Pads) -> int:
    """How many images of a shape are laid out at a time: as many each time, or nearly so."""
    count = shape[0]
    most = max(1, _LAID // max(1, shape[1] * math.prod([n + lo + hi for n, (lo, hi) in zip(shape[2:], padding)])))
    return max(1, count) if count <= most else -(-count // -(-count // most))


@functools.lru_cache(256)
def _forward(
    shape: Sizes, ws: Sizes, char: str, stride: Sizes, padding: Pads, dilation: Sizes, groups: int, out: Sizes
) -> tuple[Run, Run, np.ndarray]:
    p = plan(shape[1] // groups, shape[2:], ws[2:], stride, padding, dilation, out)
    laid = _layer(shape, char, padding, stride, p.full[len(out) :])
    results = shape[0], ws[0], math.prod(out)
    write = _products(results, results, 1, char, p, groups, shape[1] * math.prod(p.full) // groups)
    return laid, write, np.zeros(ws[0], char)


def _products(
    results: Sizes, images: Sizes, step: int, char: str, p: Plan, groups: int, x_image: int
) -> Run:  # fmt: skip
    """(x, w, bias, out): sums over d of w[o, d] times the rows of x[n] that begin at starts[d], plus bias[o].

    results, images: images, outputs, and results of each that are made, and that `out` has room for. step: from one result to
    the next in a row. x_image: the numbers of a group of an image as it is laid out.
    """
    count, outputs, length = images
    function = _generated("convolve", char, *_form(outputs // groups), int(step > 1))
    assert function is not None  # as `lay` was translated, which _suited asks for
    bands = len(p.bands) - 1
    units, work = count * groups * bands, math.prod(results) * max(8, len(p.starts)) // 8
    sizes = groups, outputs // groups, len(p.starts), bands, x_image, length, step, outputs // groups * length
    if _gapped(p, results, groups, _lanes(char)):
        return _gathered(function, results, images, step, char, p, x_image)

    def run(x: np.ndarray, w: np.ndarray, bias: np.ndarray, out: np.ndarray) -> np.ndarray:
        function(*threads.tiles(units, work), out, w, x, p.starts, p.pieces, p.bands, bias, *sizes)
        return out

    return run


_WRITTEN = 24
"""What writing the windows down costs, in outputs of which each window is multiplied with the weights."""
_ROOM = 1 << 17
"""Numbers of windows that are written down at a time, which stay in the second cache."""


def _gapped(p: Plan, results: Sizes, groups: int, lanes: int) -> bool:
    """Whether images are so small that writing their windows down costs less than computing what lies between their rows
    and behind the last one."""
    count, outputs, length = results
    if p.rows is None or not len(p.starts) or groups != 1 or count == 1 or not 0 < length <= p.columns <= BAND:
        return False
    return (lanes * -(-p.columns // lanes) - length) * outputs >= _WRITTEN * length


def _together_of(count: int, length: int, lanes: int) -> int:
    """How many of `count` images of so many results go together: few vectors should be partly empty."""
    most = max(1, min(count, BAND // length))
    least = min(most, -(-6 * lanes // length))
    return max(range(least, most + 1), key=lambda k: (min(0.95, k * length / (lanes * -(-k * length // lanes))), -k))


def _gathered(
    function: Callable[..., None], results: Sizes, images: Sizes, step: int, char: str, p: Plan, x_image: int
) -> Run:  # fmt: skip
    """`_products` of small images: the windows of several are written down side by side, without gaps.

    16x128x4x4 by 3x3 to as many channels: half of the lanes had no result.
    """
    (count, outputs, length), all_of, depth = results, images[2], len(p.starts)
    assert p.rows is not None
    windows = _windows_of(char, p, length, x_image)
    together = _together_of(count, length, _lanes(char))
    at_once = together * max(1, _ROOM // (depth * together * length))
    pieces = _merged_pieces(p, step)

    @functools.cache
    def layout(k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Of k images: the rows of their windows, where results are written, and the only band."""
        places = [(i * length + a, n, i * outputs * all_of + b) for i in range(k) for a, n, b in pieces]
        return np.arange(depth) * (k * length + _lanes(char)), np.array(places, np.int64), np.array([0, len(places)], np.int64)

    def run(x: np.ndarray, w: np.ndarray, bias: np.ndarray, out: np.ndarray) -> np.ndarray:
        first = 0
        while first < count:
            k = min(together, count - first)
            some = min(at_once, (count - first) // k * k)
            laid = windows(x[first : first + some], k)
            sizes = 1, outputs, depth, 1, laid[0].size, all_of, step, k * outputs * all_of
            units = threads.tiles(some // k, some * outputs * length * max(8, depth) // 8)
            function(*units, out[first:], w, laid, *layout(k), bias, *sizes)
            first += some
        return out

    return run


def _merged_pieces(p: Plan, step: int) -> list[tuple[int, int, int]]:
    """The pieces of a plan by the number of their first result in place of its column; one where they follow each other."""
    found: list[tuple[int, int, int]] = []
    at = 0
    for _, n, there in p.pieces.tolist():
        if found and step == 1 and found[-1][2] + found[-1][1] == there:
            found[-1] = (found[-1][0], found[-1][1] + n, found[-1][2])
        else:
            found.append((at, n, there))
        at += n
    return found


def _windows_of(char: str, p: Plan, length: int, x_image: int) -> Callable[[np.ndarray, int], np.ndarray]:
    """(x, k): the windows of images as they are laid out, k of them side by side, and a vector's room: (images / k, depth,
    k * length + lanes)."""
    assert p.rows is not None
    depth, rows, (count, width, apart) = len(p.starts), p.rows, p.rows
    most = _lanes(char)
    lanes = next((n for n in (4, 8) if width <= n < most), most)
    function = _generated("windows", char, lanes, int(width <= lanes))
    assert function is not None  # as `lay` was translated, which _suited asks for
    reach = (count - 1) * apart + lanes * -(-width // lanes)

    def run(x: np.ndarray, k: int) -> np.ndarray:
        out = np.empty((len(x) // k, depth, k * length + most), char)
        units = threads.tiles(len(out) * depth, out.size)
        function(*units, out, x, p.starts, depth, k, x_image, *rows, out.shape[2], reach, x.size)
        return out

    return run


def convolve_transpose(
    y: np.ndarray, w: np.ndarray, b: np.ndarray | None, size: Sizes, stride: Sizes, padding: Pads, dilation: Sizes,
    groups: int,
) -> np.ndarray | None:  # fmt: skip
    """The transpose of `convolve`, which makes images (N, C, *size) of y (N, O, *out), plus b.

    None where it is BLAS's, and for weights of which a product with 0 is not 0.
    """
    shape, ws = y.shape, w.shape
    places = math.prod(ws[2:]) * math.prod(stride)
    if not _suited(y, w, shape[0] * math.prod(shape[2:]) * w.size, places) or (b is not None and b.dtype != y.dtype):
        return None
    if not np.isfinite(w).all():
        return None
    lay, phases, mirrored, zeros = _backward(shape, ws, y.dtype.char, size, stride, padding, dilation, groups)
    laid, bias = lay(y), zeros if b is None else packed(b)
    matrix = w.reshape(groups, ws[0] // groups, ws[1], -1).swapaxes(1, 2)
    out = np.empty((shape[0], ws[1] * groups, *size), y.dtype)
    for phase, write in phases:
        met = matrix[..., ::-1] if phase.taps == mirrored else matrix[..., phase.taps]
        write(laid, np.ascontiguousarray(met), bias, out)
    return out


@functools.lru_cache(256)
def _backward(
    shape: Sizes, ws: Sizes, char: str, size: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> tuple[Run, tuple[tuple[Phase, Run], ...], tuple[int, ...], np.ndarray]:
    """What lays y out; the phases of the result; the places of the whole kernel from the last on; zeros in place of a bias."""
    out, channels = shape[2:], ws[1] * groups
    pads, phases = phases_of(shape[1] // groups, size, ws[2:], stride, padding, dilation, out)
    full = tuple(m + lo + hi for m, (lo, hi) in zip(out, pads))
    made, image = [], (shape[0], channels, math.prod(size))
    for phase in phases:
        results = (*image[:2], math.prod(phase.results))
        x_image = shape[1] // groups * math.prod(full)
        made.append((phase, _products(results, image, stride[-1], char, phase.plan, groups, x_image)))
    mirrored = tuple(range(math.prod(ws[2:])))[::-1]
    return _layer(shape, char, pads, (1,) * len(out), full), tuple(made), mirrored, np.zeros(channels, char)


def convolve_weight(
    x: np.ndarray, y: np.ndarray, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> np.ndarray | None:
    """The weights (O, C / groups, *kernel) of the sum of x w y over all images and windows. None where it is BLAS's."""
    shape, ys, places = x.shape, y.shape, math.prod(kernel)
    depth, many = shape[1] // groups * places, ys[1] * shape[1] * places > _MANY * groups * groups
    if not _suited(x, y, y.size * depth, places * math.prod(stride)):
        return None
    if many or products.generates(x.dtype.char):
        by_product = _weights_of_few(shape, ys, x.dtype.char, kernel, stride, padding, dilation, groups)
        if by_product is not None:
            return by_product(x, y)
    if many:
        return None
    lay_x, lay_y, sums, gaps = _weights(shape, ys, x.dtype.char, kernel, stride, padding, dilation, groups)
    found = sums(lay_x(x), lay_y(y))
    if gaps and not np.isfinite(found).all():  # the zeros between the rows may have met an infinity
        return None
    return found


_FEW = 128
"""Results of an image up to which weights' cotangents are a matrix product with the windows of many: half to nine tenths of the
time (16x128x4x4 by 3x3 to as many channels: 0.6 ms against 2.1)."""

_SUMMED = 256
"""Results that a product for them sums over at least."""


@functools.lru_cache(256)
def _weights_of_few(
    shape: Sizes, ys: Sizes, char: str, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> Callable[[np.ndarray, np.ndarray], np.ndarray] | None:
    """`convolve_weight` of x and y by the product of y's rows with windows that are written down; None for larger images."""
    (images, outputs, *_), out = ys, ys[2:]
    length, channels = math.prod(out), shape[1]
    if groups != 1 or images == 1 or length > _FEW or outputs < 32:
        return None
    p = plan(channels, shape[2:], kernel, stride, padding, dilation, out)
    if p.rows is None:
        return None
    lay, depth = _layer(shape, char, padding, stride, p.full[len(out) :]), len(p.starts)
    windows = _windows_of(char, p, length, channels * math.prod(p.full))
    # Windows that stay in the cache until they are multiplied, but so many that a product's sums are not added up for every few.
    most = max(2 * _ROOM // (depth * length), -(-_SUMMED // length))
    at_once = -(-images // -(-images // most))

    def run(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        laid, total = lay(x), None
        for first in range(0, images, at_once):
            k = min(at_once, images - first)
            rows = np.ascontiguousarray(y[first : first + k].swapaxes(0, 1)).reshape(outputs, k * length)
            found = products.product(rows, windows(laid[first : first + k], k)[0, :, : k * length].T)
            total = found if total is None else np.add(total, found, total)
        assert total is not None
        return np.reshape(total, (outputs, channels, *kernel))

    return run


@functools.lru_cache(256)
def _weights(
    shape: Sizes, ys: Sizes, char: str, kernel: Sizes, stride: Sizes, padding: Pads, dilation: Sizes, groups: int
) -> tuple[Run, Run, Run, bool]:
    images, outputs, out = shape[0], ys[1], ys[2:]
    channels, per_group = shape[1] // groups, outputs // groups
    p = plan(channels, shape[2:], kernel, stride, padding, dilation, out)
    depth, parts = len(p.starts), p.full[len(out) :]
    gaps = p.columns != math.prod(out)
    wider = (out[0], *parts[1:]) if gaps else out
    rows, places = _sums_form(per_group)
    function = _generated("convolve_weight", char, rows, places)
    assert function is not None  # as `lay` was translated, which _suited asks for
    work, most = math.prod(ys) * depth // 8, -(-depth // places)
    before = images, per_group, depth, p.columns, channels * math.prod(p.full), math.prod(wider), groups
    block = max(1, _TOGETHER // p.columns)
    # Images of which sums are made by themselves, to be added up in order: the shapes alone decide, and each is read once.
    share = -(-images // max(1, min(_SHARES, images * p.columns // (2 * _TOGETHER))))
    shares = -(-images // share)

    def run(x: np.ndarray, y: np.ndarray) -> np.ndarray:
        total = np.zeros((shares, outputs, channels, *kernel), char)
        # Places that go together, with all outputs. Each is a sum of its own, so the threads may decide: few read y seldom.
        chunks = min(most, max(1, 3 * threads.count() // (groups * shares)) if threads.pool(work) else 1)
        span = places * -(-most // chunks)
        chunks = -(-depth // span)
        units = threads.tiles(groups * shares * chunks, work)
        function(*units, total, y, x, p.starts, *before, chunks, span, block, shares, share)
        return total[0] if shares == 1 else np.add.reduce(total, 0)

    layer = _layer(ys, char, tuple((0, n - m) for m, n in zip(out, wider)), (1,) * len(out), wider)
    return _layer(shape, char, padding, stride, parts), layer, run, gaps


# ------------------------------------------------------------------------------------------ their code


def _processor() -> Processor:
    found = llvm.processor()
    assert found is not None  # code is `available`
    return found


def _lanes(char: str) -> int:
    return _processor().register // (4 if char == "f" else 8)


def _form(outputs: int) -> tuple[int, int]:
    """Rows by vectors of a tile of products, for so many outputs."""
    kind = _processor()
    rows, vectors = kind.tile()
    if outputs == 1:
        return 1, 8
    # 4 by 3 have as many sums in AVX2's registers as a product's 6 by 2, and read an image less often: 16x32x56x56 by 3x3 to as
    # many channels 12.6 and 11.2 ms.
    if kind is AVX2 and outputs > 3 and -outputs % 4 <= -outputs % rows:
        return 4, 3
    return (rows, vectors) if outputs > rows // 2 else (rows // 2, 6 if rows == 8 else 3)


def _sums_form(outputs: int) -> tuple[int, int]:
    """Rows by places of a tile of sums along the columns."""
    if outputs == 1:
        return 1, 9
    kind = _processor()
    if kind.registers == 32:
        return 4, 6
    return (4, 3) if kind is AVX2 and -outputs % 4 <= -outputs % 2 else (2, 5)


_NUMBERS = {"f": "float", "d": "double"}
_OPERANDS = {
    "convolve": "array out, array w, array x, array starts, array pieces, array bands, array bias, i64 groups, "
    "i64 outputs, i64 depth, i64 strips, i64 x_image, i64 length, i64 apart, i64 out_image",
    "convolve_weight": "array out, array y, array x, array starts, i64 images, i64 outputs, i64 depth, i64 columns, "
    "i64 x_group, i64 y_row, i64 groups, i64 chunks, i64 span, i64 block, i64 shares, i64 together",
    "windows": "array out, array x, array starts, i64 depth, i64 together, i64 x_image, i64 rows, i64 width, i64 apart, "
    "i64 pitch, i64 reach, i64 size",
    "lay": "array out, array x, i64 h, i64 w, i64 sh, i64 sw, i64 ph, i64 pw, i64 above, i64 before",
}  # fmt: skip


@functools.cache
def _generated(name: str, dtype: str, *form: int) -> Callable[..., None] | None:
    if not llvm.available():
        return None
    number, lanes = _NUMBERS[dtype], _lanes(dtype)
    body = functools.partial(_TEXTS[name], number=number, lanes=lanes, form=form)
    return llvm.shared(name, _OPERANDS[name], body, attributes='"prefer-vector-width"="512" "no-stack-arg-probe"')


def _row(code: Any, first: str, r: int, count: str) -> str:
    """The number of row `first + r`, or of the last one: beyond it, that one again is computed and not stored."""
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    return str(code.least(code.add(first, r), code.add(count, -1)))


def _number(code: Any, pointer: str, index: str) -> str:
    return str(code.value(f"load i64, ptr {code.at('i64', pointer, index)}"))


def _store(v: Vectors, part: Part, x: str, pointer: str, index: str, free: str) -> None:
    """Write a vector; where what lies behind it is `free`, being written later, all lanes: processors are slow with some."""
    if part.mask is None:
        v.store(x, pointer, index)
        return
    v.code.when(free, lambda: v.store(x, pointer, index))
    v.code.when(v.code.value(f"xor i1 {free}, true"), lambda: part.store(v, x, pointer, index))


def _convolve(code: Any, number: str, lanes: int, form: Sizes) -> None:
    """A unit is a band of an image's group. form: rows by vectors of a tile, and whether results are not side by side."""
    height, width, apart = form
    v = Vectors(code, lanes, number)
    pitch = BAND + width * lanes
    scratch = code.value(f"alloca [{height * pitch} x {number}], align 64")

    def unit(u: str) -> None:
        n, band = code.value(f"sdiv i64 {u}, %strips"), code.value(f"srem i64 {u}, %strips")
        first, last = _number(code, "%bands", band), _number(code, "%bands", code.add(band, 1))
        from_, end = code.mul(first, 3), code.mul(code.add(last, -1), 3)
        begin = _number(code, "%pieces", from_)
        until = code.add(_number(code, "%pieces", end), _number(code, "%pieces", code.add(end, 1)))
        columns = code.value(f"sub i64 {until}, {begin}")
        x = code.at(number, "%x", code.add(code.mul(n, "%x_image"), begin))
        place = code.mul(code.value(f"srem i64 {n}, %groups"), "%outputs")
        w, bias = code.at(number, "%w", code.mul(place, "%depth")), code.at(number, "%bias", place)
        out = code.at(number, "%out", code.mul(n, "%out_image"))

        def tile(o: str) -> None:
            rows = [code.at(number, w, code.mul(_row(code, o, r, "%outputs"), "%depth")) for r in range(height)]

            def vectors(j: str, parts: list[Part]) -> None:
                """The columns from j on, a vector for each part."""
                at = [code.add(j, k * lanes) for k in range(len(parts))]

                def step(d: str, *sums: str) -> list[str]:
                    source = code.at(number, x, _number(code, "%starts", d))
                    xs = [part.load(v, source, c) for part, c in zip(parts, at)]
                    after = []
                    for r, row in enumerate(rows):
                        weight = code.spread(lanes, number, code.value(f"load {number}, ptr {code.at(number, row, d)}"))
                        after += [v.call("fma", weight, y, sums[r * len(xs) + k]) for k, y in enumerate(xs)]
                    return after

                zeros = [(v.type, "zeroinitializer")] * (height * len(parts))

                def deep(start: str, *totals: str) -> list[str]:
                    stop = code.least(code.add(start, products.DEPTH), "%depth")
                    return [v.add(t, s) for t, s in zip(totals, code.loop(start, stop, 1, step, carried=zeros))]

                sums = code.loop(0, "%depth", products.DEPTH, deep, carried=zeros)
                for r in range(height):
                    for k, c in enumerate(at):
                        v.store(sums[r * len(parts) + k], scratch, code.add(c, r * pitch))

            span = width * lanes
            rest = code.value(f"srem i64 {columns}, {span}")
            complete = code.value(f"sub i64 {columns}, {rest}")
            code.loop(0, complete, span, lambda j: vectors(j, [Part()] * width))
            needed = code.value(f"sdiv i64 {code.add(rest, lanes - 1)}, {lanes}")
            for count in range(1, width + 1):

                def remaining(count: int = count) -> None:
                    left = code.value(f"sub i64 {rest}, {(count - 1) * lanes}")
                    vectors(complete, [*[Part()] * (count - 1), Part(v.below(left))])

                code.when(code.value(f"icmp eq i64 {needed}, {count}"), remaining)

            def next_is_beside(p: str, third: str, there: str, count: str) -> str:
                """Whether the piece after p is written behind it, by this unit, and is a vector long."""
                follows = code.value(f"icmp slt i64 {code.add(p, 1)}, {last}")
                third = code.value(f"select i1 {follows}, i64 {code.add(third, 3)}, i64 {third}")
                behind = code.value(f"icmp eq i64 {_number(code, '%pieces', code.add(third, 2))}, {code.add(there, count)}")
                enough = code.value(f"icmp sge i64 {_number(code, '%pieces', code.add(third, 1))}, {lanes}")
                return str(code.value(f"and i1 {behind}, {enough}"))

            def write(r: str) -> None:
                row = code.add(o, r)
                source = code.at(number, scratch, code.mul(r, pitch))
                target = code.at(number, out, code.mul(row, "%length"))
                one = code.value(f"load {number}, ptr {code.at(number, bias, row)}")
                shift = code.spread(lanes, number, one)

                def piece(p: str) -> None:
                    third = code.mul(p, 3)
                    here = code.value(f"sub i64 {_number(code, '%pieces', third)}, {begin}")
                    count = _number(code, "%pieces", code.add(third, 1))
                    there = _number(code, "%pieces", code.add(third, 2))
                    a, b = code.at(number, source, here), code.at(number, target, there)
                    if not apart:
                        free = next_is_beside(p, third, there, count)
                        v.over(count, lambda i, part: _store(v, part, v.add(part.load(v, a, i), shift), b, i, free))
                        return

                    def number_(i: str) -> None:
                        found = code.value(f"load {number}, ptr {code.at(number, a, i)}")
                        target = code.at(number, b, code.mul(i, "%apart"))
                        code.do(f"store {number} {code.value(f'fadd {number} {found}, {one}')}, ptr {target}")

                    code.loop(0, count, 1, number_)

                code.loop(first, last, 1, piece)

            code.loop(0, code.least(code.value(f"sub i64 %outputs, {o}"), height), 1, write)

        code.loop(0, "%outputs", height, tile)

    code.loop("%first", "%last", 1, unit)


def _convolve_weight(code: Any, number: str, lanes: int, form: Sizes) -> None:
    """A unit is a chunk of the places of a group, for a share of the images."""
    height, width = form
    v = Vectors(code, lanes, number)

    def unit(u: str) -> None:
        of_share, chunk = code.value(f"sdiv i64 {u}, %chunks"), code.value(f"srem i64 {u}, %chunks")
        share, group = code.value(f"sdiv i64 {of_share}, %groups"), code.value(f"srem i64 {of_share}, %groups")
        from_ = code.mul(share, "%together")
        images = code.least(code.add(from_, "%together"), "%images")
        begin = code.mul(chunk, "%span")
        until = code.least(code.add(begin, "%span"), "%depth")
        out = code.at(number, "%out", code.mul(code.mul(of_share, "%outputs"), "%depth"))

        def some(first: str) -> None:
            end = code.least(code.add(first, "%block"), images)

            def tile(o: str, d: str) -> None:
                ours = [code.mul(_row(code, o, r, "%outputs"), "%y_row") for r in range(height)]
                theirs = [_number(code, "%starts", _row(code, d, k, "%depth")) for k in range(width)]

                def image(n: str, *sums: str) -> list[str]:
                    one = code.add(code.mul(n, "%groups"), group)
                    x = code.at(number, "%x", code.mul(one, "%x_group"))
                    y = code.at(number, "%y", code.mul(code.mul(one, "%outputs"), "%y_row"))
                    x_rows, y_rows = ([code.at(number, a, at) for at in starts] for a, starts in ((x, theirs), (y, ours)))

                    def step(j: str, part: Part, *sums: str) -> list[str]:
                        xs = [part.load(v, row, j) for row in x_rows]
                        ys = [part.load(v, row, j) for row in y_rows]
                        return [v.call("fma", b, a, sums[r * width + k]) for r, b in enumerate(ys) for k, a in enumerate(xs)]

                    return v.over("%columns", step, sums)

                sums = code.loop(first, end, 1, image, carried=[(v.type, "zeroinitializer")] * (height * width))
                for r in range(height):
                    for k in range(width):
                        row, place = code.add(o, r), code.add(d, k)
                        inside = [code.value(f"icmp slt i64 {i}, {n}") for i, n in ((row, "%outputs"), (place, until))]

                        def add(row: str = row, place: str = place, total: str = sums[r * width + k]) -> None:
                            target = code.at(number, out, code.add(code.mul(row, "%depth"), place))
                            before = code.value(f"load {number}, ptr {target}")
                            more = code.value(f"fadd {number} {before}, {v.sum(total)}")
                            code.do(f"store {number} {more}, ptr {target}")

                        code.when(code.value(f"and i1 {inside[0]}, {inside[1]}"), add)

            code.loop(begin, until, width, lambda d: code.loop(0, "%outputs", height, lambda o: tile(o, d)) and None)

        code.loop(from_, images, "%block", some)

    code.loop("%first", "%last", 1, unit)


def _lay(code: Any, number: str, lanes: int, form: Sizes) -> None:
    """A unit is a plane, of which every phase is written. form: the distance of a phase's columns in it, 3 for more."""
    (apart,) = form
    v = Vectors(code, lanes, number)

    def plane(p: str) -> None:
        x = code.at(number, "%x", code.mul(p, code.mul("%h", "%w")))
        size = code.mul("%ph", "%pw")
        out = code.at(number, "%out", code.mul(p, code.mul(size, code.mul("%sh", "%sw"))))

        def phase(a: str, b: str) -> None:
            target = code.at(number, out, code.mul(code.add(code.mul(a, "%sw"), b), size))
            left = code.value(f"sub i64 {b}, %before")
            bounds = within(code, left, "%w", "%pw", "%sw")

            def row(r: str) -> None:
                q = code.value(f"sub i64 {code.add(code.mul(r, '%sh'), a)}, %above")
                inside = code.value(f"icmp ult i64 {q}, %h")
                source, goal = code.at(number, x, code.mul(q, "%w")), code.at(number, target, code.mul(r, "%pw"))

                def write(part: Part, found: str, m: str) -> None:
                    after = code.add(code.mul(r, "%pw"), code.add(m, lanes))
                    _store(v, part, found, goal, m, code.value(f"icmp sle i64 {after}, {size}"))

                every(v, source, left, "%w", apart, "%sw", goal, "%pw", inside, bounds, write)

            code.loop(0, "%ph", 1, row)

        code.loop(0, "%sh", 1, lambda a: code.loop(0, "%sw", 1, lambda b: phase(a, b)) and None)

    code.loop("%first", "%last", 1, plane)


def _windows(code: Any, number: str, lanes: int, form: Sizes) -> None:
    """A unit is the windows' elements at one place of the kernel, for images that go together. form: vectors of how many
    elements are copied, and whether a row has no more."""
    lanes, single = form
    v = Vectors(code, lanes, number)
    each = code.mul("%rows", "%width")

    def unit(u: str) -> None:
        block, d = code.value(f"sdiv i64 {u}, %depth"), code.value(f"srem i64 {u}, %depth")
        out = code.at(number, "%out", code.mul(u, "%pitch"))
        begin = code.add(code.mul(code.mul(block, "%together"), "%x_image"), _number(code, "%starts", d))

        def image(i: str) -> None:
            start, goal = code.add(begin, code.mul(i, "%x_image")), code.mul(i, each)

            def rows(masked: bool) -> None:
                def row(r_: str, a: str, b: str) -> list[str]:
                    def some(k: str) -> None:
                        # What is written behind the row is so again by the next one, or nobody reads it.
                        part = Part(v.below(code.value(f"sub i64 %width, {k}"))) if masked else Part()
                        v.store(part.load(v, "%x", code.add(a, k)), out, code.add(b, k))

                    if single:
                        some("0")
                    else:
                        code.loop(0, "%width", lanes, some)
                    return [code.add(a, "%apart"), code.add(b, "%width")]

                code.loop(0, "%rows", 1, row, carried=[("i64", start), ("i64", goal)])

            inside = code.value(f"icmp sle i64 {code.add(start, '%reach')}, %size")
            code.when(inside, lambda: rows(False))
            code.when(code.value(f"xor i1 {inside}, true"), lambda: rows(True))

        code.loop(0, "%together", 1, image)

    code.loop("%first", "%last", 1, unit)


_TEXTS: dict[str, Callable[..., None]] = {
    "convolve": _convolve, "convolve_weight": _convolve_weight, "lay": _lay, "windows": _windows,
}  # fmt: skip
