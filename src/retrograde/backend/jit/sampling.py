"""Reading images between their elements as generated code: `grid_sample`, linear and nearest, and its two cotangents.

Each coordinate is taken apart once for all channels: where the corners of its cell lie (-1: outside) and their weights, or
the derivatives of these. What reads an image, adds to one, or sums over channels then goes through these lists. Planes are
shared out, for the grid's cotangent blocks of its places.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import llvm, threads
from .copies import packed
from .vectors import LANES, Part, Vectors

LEAST = 1 << 8
"""Fewer results are left to NumPy, which takes some hundred passes."""

BORDER, REFLECTION = "border", "reflection"

_PLACES = 16  # vectors of places of a unit of the grid's cotangent


def suited(x: np.ndarray, grid: np.ndarray, mode: str) -> bool:
    """Whether images x (N, C, *size) are sampled here at a grid (N, *out, axes)."""
    return (
        mode in ("linear", "nearest") and x.shape[1] * grid.size >= LEAST and x.dtype.char in "fd" and x.dtype.isnative
        and grid.dtype == x.dtype and x.size > 0 and math.prod(x.shape[2:]) < 1 << 31
        and _generated("read", x.dtype.char) is not None
    )  # fmt: skip


def sample(x: np.ndarray, grid: np.ndarray, mode: str, padding: str, align: bool) -> np.ndarray:
    """x read at the grid: (N, C, *out)."""
    places, weights = _corners("corners", grid, x.shape[2:], mode, padding, align)
    out = np.empty((*x.shape[:2], *grid.shape[1:-1]), x.dtype)
    _call("read", out, packed(x), places, weights, out)
    return out


def sample_pull(g: np.ndarray, shape: tuple[int, ...], grid: np.ndarray, mode: str, padding: str, align: bool) -> np.ndarray:
    """The cotangent of x, of a shape, for that of the result."""
    places, weights = _corners("corners", grid, shape[2:], mode, padding, align)
    out = np.empty(shape, g.dtype)
    _call("spread", out, packed(g), places, weights, g)
    return out


def grid_pull(g: np.ndarray, x: np.ndarray, grid: np.ndarray, padding: str, align: bool) -> np.ndarray:
    """The cotangent of the grid for that of the result, where the mode is linear."""
    places, slopes = _corners("slopes", grid, x.shape[2:], "linear", padding, align)
    g, x, out = packed(g), packed(x), np.empty(grid.shape, grid.dtype)
    images, channels, count = x.shape[0], x.shape[1], places.shape[2]
    parts = -(-count // (_PLACES * _lanes(x)))
    function = _generated("along", x.dtype.char, x.ndim - 2)
    assert function is not None
    function(
        *threads.tiles(images * parts, g.size * places.shape[1]), out, g, x, places, slopes, parts, channels,
        math.prod(x.shape[2:]), count,
    )  # fmt: skip
    return out


def _lanes(x: np.ndarray) -> int:
    return LANES if x.itemsize == 4 else LANES // 2


def _corners(
    name: str, grid: np.ndarray, size: Sequence[int], mode: str, padding: str, align: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Places (N, corners, P) and their weights, or for each axis the derivatives of these (N, axes, corners, P)."""
    axes, grid = len(size), packed(grid)
    count = math.prod(grid.shape[1:-1])
    corners = 2**axes if mode == "linear" else 1
    places = np.empty((grid.shape[0], corners, count), np.int32)
    weights = np.empty((grid.shape[0], *((axes,) if name == "slopes" else ()), corners, count), grid.dtype)
    function = _generated(name, grid.dtype.char, axes, mode, padding, align)
    assert function is not None
    parts = -(-count // _lanes(grid))
    function(*threads.tiles(grid.shape[0] * parts, 8 * grid.size), places, weights, grid, _size(*size), parts, count)
    return places, weights


@functools.lru_cache(256)
def _size(*size: int) -> np.ndarray:
    return np.array(size, np.int64)


def _call(
    name: str, out: np.ndarray, given: np.ndarray, places: np.ndarray, weights: np.ndarray, results: np.ndarray
) -> None:  # fmt: skip
    """`read` or `spread`: a unit is a plane."""
    function = _generated(name, out.dtype.char)
    assert function is not None
    images, channels = out.shape[:2]
    image = given if name == "read" else out
    function(
        *threads.tiles(images * channels, 2 * results.size * places.shape[1]), out, given, places, weights, channels,
        math.prod(image.shape[2:]), places.shape[2], places.shape[1],
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ their code

_OPERANDS = {
    "corners": "array places, array weights, array grid, array size, i64 parts, i64 count",
    "slopes": "array places, array weights, array grid, array size, i64 parts, i64 count",
    "read": "array out, array x, array places, array weights, i64 channels, i64 size, i64 count, i64 corners",
    "spread": "array out, array x, array places, array weights, i64 channels, i64 size, i64 count, i64 corners",
    "along": "array out, array g, array x, array places, array slopes, i64 parts, i64 channels, i64 size, i64 count",
}


@functools.cache
def _generated(name: str, dtype: str, *form: Any) -> Callable[..., None] | None:
    number = {"f": "float", "d": "double"}[dtype]
    return llvm.shared(name, _OPERANDS[name], lambda code: _TEXTS[name](code, number, *form))


def _numbers(code: Any, number: str) -> Vectors:
    return Vectors(code, LANES if number == "float" else LANES // 2, number)


def _select(v: Vectors, mask: str, x: str, y: str) -> str:
    return str(v.code.value(f"select {v.mask} {mask}, {v.type} {x}, {v.type} {y}"))


def _coordinate(v: Vectors, x: str, n: str, padding: str, align: bool) -> tuple[str, str]:
    """The place in an axis of n elements that a coordinate from -1 to 1 means, and its derivative."""
    half = v.multiply(v.subtract(n, 1.0) if align else n, 0.5)
    u = v.multiply(v.add(x, 1.0), half)
    if not align:
        u = v.subtract(u, 0.5)
    slope, top = half, v.subtract(n, 1.0)
    if padding == REFLECTION:
        low, span = (0.0, top) if align else (-0.5, n)
        distance = v.call("fabs", v.subtract(u, low))
        flips = v.call("floor", v.divide(distance, span))
        rest = v.call("fma", v.subtract(0.0, flips), span, distance)
        halved = v.multiply(flips, 0.5)
        odd = v.two("fcmp one", v.call("floor", halved), halved)
        side = v.choose("fcmp olt", u, low, -1.0, 1.0)
        slope = v.multiply(slope, _select(v, odd, v.subtract(0.0, side), side))
        u = v.add(_select(v, odd, v.subtract(span, rest), rest), low)
        if align:  # an axis of one element
            u, slope = (v.choose("fcmp ogt", span, 0.0, y, 0.0) for y in (u, slope))
    if padding in (BORDER, REFLECTION):
        above, below = v.two("fcmp ogt", u, 0.0), v.two("fcmp olt", u, top)
        inside = v.code.value(f"and {v.mask} {above}, {below}")
        slope = _select(v, inside, slope, v.constant(0.0))
        u = v.choose("fcmp ogt", u, 0.0, u, 0.0)  # also for nan
        u = v.choose("fcmp olt", u, top, u, top)
    return u, slope


def _corners_text(derived: bool) -> Callable[..., None]:
    def text(code: Any, number: str, axes: int, mode: str, padding: str, align: bool) -> None:
        """A unit is a vector of places."""
        v = _numbers(code, number)
        index = Vectors(code, v.lanes, "i32")
        code.declare("declare i64 @llvm.smin.i64(i64, i64)")

        def unit(u: str) -> None:
            n, start = code.value(f"sdiv i64 {u}, %parts"), code.mul(code.value(f"srem i64 {u}, %parts"), v.lanes)
            grid = code.at(number, "%grid", code.mul(n, code.mul("%count", axes)))
            final = code.add("%count", -1)
            part = Part(v.below(code.value(f"sub i64 %count, {start}")))
            options = []  # for each axis its corners: place, whether it is inside, weight, derivative
            for axis in range(axes):
                x = v.constant(0.0)
                for k in range(v.lanes):
                    at = code.add(code.mul(code.least(code.add(start, k), final), axes), axes - 1 - axis)
                    one = code.value(f"load {number}, ptr {code.at(number, grid, at)}")
                    x = code.value(f"insertelement {v.type} {x}, {number} {one}, i64 {k}")
                length = code.value(f"load i64, ptr {code.at('i64', '%size', axis)}")
                size = code.spread(v.lanes, number, code.value(f"sitofp i64 {length} to {number}"))
                whole = code.spread(v.lanes, "i32", code.value(f"trunc i64 {length} to i32"))
                place, slope = _coordinate(v, x, size, padding, align)
                low = v.call("floor" if mode == "linear" else "rint", place)
                t = v.subtract(place, low)
                found = []
                for k in range(2 if mode == "linear" else 1):
                    i = v.add(low, float(k))
                    inside = [v.two("fcmp oge", i, 0.0), v.two("fcmp olt", i, size)]
                    mask = code.value(f"and {v.mask} {inside[0]}, {inside[1]}")
                    whole_i = v.convert("fptosi", _select(v, mask, i, v.constant(0.0)), index)
                    weight = v.constant(1.0) if mode != "linear" else t if k else v.subtract(1.0, t)
                    found.append((whole_i, mask, weight, slope if k else v.subtract(0.0, slope)))
                options.append((whole, found))
            for number_, corner in enumerate(itertools.product(*(range(len(o)) for _, o in options))):
                picked = [found[k] for (_, found), k in zip(options, corner, strict=True)]
                at, mask = picked[0][:2]
                for (whole, _), (i, inside, *_rest) in zip(options[1:], picked[1:], strict=True):
                    at = index.add(index.multiply(at, whole), i)
                    mask = code.value(f"and {v.mask} {mask}, {inside}")
                corners = math.prod(len(o) for _, o in options)
                row = code.mul(code.add(code.mul(n, corners), number_), "%count")
                at = code.value(f"select {v.mask} {mask}, {index.type} {at}, {index.type} {index.constant(-1)}")
                part.store(index, at, "%places", code.add(row, start))
                for axis in range(axes) if derived else [-1]:
                    factors = [p[3] if k == axis else p[2] for k, p in enumerate(picked)]
                    weight = functools.reduce(v.multiply, factors)
                    if derived:
                        line = code.add(code.mul(code.add(code.mul(n, axes), axis), corners), number_)
                        row = code.mul(line, "%count")
                    part.store(v, weight, "%weights", code.add(row, start))

        code.loop("%first", "%last", 1, unit)

    return text


def _gathered(v: Vectors, index: Vectors, base: str, at: str) -> str:
    """The numbers at places; 0 at -1."""
    code = v.code
    mask = index.two("icmp sge", at, 0)
    pointers = code.value(f"getelementptr {v.number}, ptr {base}, {index.type} {at}")
    name = f"@llvm.masked.gather.v{v.lanes}{'f32' if v.number == 'float' else 'f64'}.v{v.lanes}p0"
    code.declare(f"declare {v.type} {name}(<{v.lanes} x ptr>, i32, {v.mask}, {v.type})")
    return code.value(
        f"call {v.type} {name}(<{v.lanes} x ptr> {pointers}, i32 {v.size}, {v.mask} {mask}, {v.type} zeroinitializer)"
    )


def _read(code: Any, number: str) -> None:
    v = _numbers(code, number)
    index = Vectors(code, v.lanes, "i32")

    def plane(p: str) -> None:
        first = code.mul(code.mul(code.value(f"sdiv i64 {p}, %channels"), "%corners"), "%count")
        x, out = code.at(number, "%x", code.mul(p, "%size")), code.at(number, "%out", code.mul(p, "%count"))

        def some(i: str, part: Part) -> None:
            def corner(k: str, total: str) -> list[str]:
                at = code.add(code.add(first, code.mul(k, "%count")), i)
                value = _gathered(v, index, x, part.load(index, "%places", at, -1))
                return [v.call("fma", value, part.load(v, "%weights", at), total)]

            (total,) = code.loop(0, "%corners", 1, corner, carried=[(v.type, v.constant(0.0))])
            part.store(v, total, out, i)

        v.over("%count", some)

    code.loop("%first", "%last", 1, plane)


def _spread(code: Any, number: str) -> None:
    v = _numbers(code, number)

    def plane(p: str) -> None:
        first = code.mul(code.mul(code.value(f"sdiv i64 {p}, %channels"), "%corners"), "%count")
        out, g = code.at(number, "%out", code.mul(p, "%size")), code.at(number, "%x", code.mul(p, "%count"))
        v.over("%size", lambda i, part: part.store(v, v.constant(0.0), out, i))

        def corner(k: str) -> None:
            start = code.add(first, code.mul(k, "%count"))
            places, weights = code.at("i32", "%places", start), code.at(number, "%weights", start)

            def one(i: str) -> None:
                at = code.value(f"load i32, ptr {code.at('i32', places, i)}")

                def add() -> None:
                    target = code.at(number, out, code.value(f"sext i32 {at} to i64"))
                    given, weight, before = (
                        code.value(f"load {number}, ptr {a}")
                        for a in (code.at(number, g, i), code.at(number, weights, i), target)
                    )
                    more = code.value(f"fmul {number} {given}, {weight}")
                    code.do(f"store {number} {code.value(f'fadd {number} {before}, {more}')}, ptr {target}")

                code.when(code.value(f"icmp sge i32 {at}, 0"), add)

            code.loop(0, "%count", 1, one)

        code.loop(0, "%corners", 1, corner)

    code.loop("%first", "%last", 1, plane)


def _along(code: Any, number: str, axes: int) -> None:
    """A unit is a block of places of an image, over all channels."""
    v = _numbers(code, number)
    index = Vectors(code, v.lanes, "i32")
    corners = 2**axes
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def unit(u: str) -> None:
        n, start = code.value(f"sdiv i64 {u}, %parts"), code.mul(code.value(f"srem i64 {u}, %parts"), _PLACES * v.lanes)
        end = code.least(code.add(start, _PLACES * v.lanes), "%count")
        rows = [code.mul(code.add(code.mul(n, corners), k), "%count") for k in range(corners)]
        slopes = [
            [code.mul(code.add(code.mul(code.add(code.mul(n, axes), a), corners), k), "%count") for k in range(corners)]
            for a in range(axes)
        ]

        def some(i: str) -> None:
            part = Part(v.below(code.value(f"sub i64 %count, {i}")))
            places = [part.load(index, "%places", code.add(row, i), -1) for row in rows]
            weights = [[part.load(v, "%slopes", code.add(row, i)) for row in axis] for axis in slopes]

            def channel(c: str, *totals: str) -> list[str]:
                plane = code.add(code.mul(n, "%channels"), c)
                x = code.at(number, "%x", code.mul(plane, "%size"))
                g = part.load(v, "%g", code.add(code.mul(plane, "%count"), i))
                values = [_gathered(v, index, x, at) for at in places]
                found = []
                for total, axis in zip(totals, weights, strict=True):
                    change = v.constant(0.0)
                    for value, weight in zip(values, axis, strict=True):
                        change = v.call("fma", value, weight, change)
                    found.append(v.call("fma", change, g, total))
                return found

            zeros = [(v.type, v.constant(0.0))] * axes
            totals = code.loop(0, "%channels", 1, channel, carried=zeros)
            left = code.value(f"sub i64 %count, {i}")
            for k in range(v.lanes):

                def write(k: int = k) -> None:
                    line = code.mul(code.add(code.add(code.mul(n, "%count"), i), k), axes)
                    for a, total in enumerate(totals):
                        one = code.value(f"extractelement {v.type} {total}, i64 {k}")
                        code.do(f"store {number} {one}, ptr {code.at(number, '%out', code.add(line, axes - 1 - a))}")

                code.when(code.value(f"icmp sgt i64 {left}, {k}"), write)

        code.loop(start, end, v.lanes, some)

    code.loop("%first", "%last", 1, unit)


_TEXTS: dict[str, Callable[..., None]] = {
    "corners": _corners_text(False), "slopes": _corners_text(True), "read": _read, "spread": _spread, "along": _along,
}  # fmt: skip
