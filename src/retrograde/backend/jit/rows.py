"""Functions of contiguous rows as generated code (float32): softmax and layer normalisation, forward and backward.

NumPy takes 6 to 12 passes over the memory for each of them; here a row is read as often as the formula needs it, from the
nearest cache.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm
from .operands import FLOAT32, address, aligned, suited
from .threads import tiles
from .vectors import LANES, SUMMED, Part, Vectors

BLOCK = 32  # rows whose sums are added up before they are added to the others', so that the rounding errors stay small
PARTIAL = 64  # sums of parts of the rows at most, which threads compute side by side
_POWER = 8  # what an exponential costs, in steps of work


def softmax(x: np.ndarray) -> np.ndarray | None:
    """The softmax along the last axis of a contiguous float32 array; None where it is the caller's affair."""
    if not suited(x):
        return None
    function = _generated("softmax", x.shape[-1] > SUMMED)
    if function is None:
        return None
    x, out = aligned(x), np.empty_like(x)
    width = x.shape[-1]
    function(*tiles(x.size // width, _POWER * x.size), out.ctypes.data, x.ctypes.data, width)
    return out


def softmax_pull(g: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    """The cotangent of softmax's operand for the cotangent g of its result; None where it is the caller's affair."""
    if not (suited(out) and suited(g) and g.shape == out.shape):
        return None
    function = _generated("softmax_pull", out.shape[-1] > SUMMED)
    if function is None:
        return None
    g, out, result = aligned(g), aligned(out), np.empty_like(out)
    width = out.shape[-1]
    function(*tiles(out.size // width, 2 * out.size), result.ctypes.data, g.ctypes.data, out.ctypes.data, width)
    return result


def layer_norm(
    x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, width: int, eps: float
) -> np.ndarray | None:  # fmt: skip
    """Rows of `width` less their mean over their deviation, times w, plus b; None where it is the caller's affair."""
    if not (suited(x) and _vector(w, width) and _vector(b, width)):
        return None
    function = _generated("layer_norm", width > SUMMED, w is not None, b is not None)
    if function is None:
        return None
    x, w, b, out = aligned(x), aligned(w), aligned(b), np.empty_like(x)
    rows = x.size // width
    function(*tiles(rows, 3 * x.size), out.ctypes.data, x.ctypes.data, address(w), address(b), width, eps)
    return out


def layer_norm_pull(
    g: np.ndarray, x: np.ndarray, w: np.ndarray | None, width: int, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The cotangents of `layer_norm`'s x, w and b, the last two as vectors; None where it is the caller's affair."""
    if not (suited(x) and suited(g) and g.shape == x.shape and _vector(w, width)):
        return None
    function = _generated("layer_norm_pull", width > SUMMED, w is not None)
    if function is None:
        return None
    g, x, w = aligned(g), aligned(x), aligned(w)
    rows = x.size // width
    together = max(BLOCK, -(-rows // PARTIAL))
    units = -(-rows // together)
    dx, sums = np.empty_like(x), np.zeros((units, 4, width), np.float32)
    function(
        *tiles(units, 5 * x.size), dx.ctypes.data, sums.ctypes.data, g.ctypes.data, x.ctypes.data, address(w),
        rows, together, width, eps,
    )  # fmt: skip
    of_w, of_b = sums[0, :2] if units == 1 else sums[:, :2].sum(0)
    return dx, of_w, of_b


def _vector(w: np.ndarray | None, width: int) -> bool:
    return w is None or (w.size == width and w.dtype == FLOAT32 and w.flags.c_contiguous)


@functools.cache
def _generated(name: str, *variant: bool) -> Callable[..., None] | None:
    operands, body = _TEXTS[name]
    return llvm.shared(name, operands, lambda code: body(code, *variant))


# ------------------------------------------------------------------------------------------ their code


def _each_row(code: Any, names: str, row: Callable[..., None]) -> None:
    """row(*pointers): for each row of the tile, those to its part of the arrays."""

    def one(i: str) -> None:
        start = code.mul(i, "%width")
        row(*(code.at("float", f"%{name}", start) for name in names.split()))

    code.loop("%first", "%last", 1, one)


def _softmax(code: Any, long: bool) -> None:
    v = Vectors(code, LANES)

    def row(out: str, x: str) -> None:
        def largest(i: str, part: Part, top: str) -> list[str]:
            here = part.load(v, x, i, -math.inf)
            return [v.choose("fcmp ogt", here, top, here, top)]

        top = v.largest(v.over("%width", largest, [v.constant(-math.inf)])[0])

        def power(i: str, part: Part, total: str) -> list[str]:
            e = v.decay(v.subtract(part.load(v, x, i), top))
            part.store(v, e, out, i)
            return [v.add(total, part.keep(v, e))]

        (total,) = v.sums("%width", power, long=long)
        v.over("%width", lambda i, part: part.store(v, v.divide(part.load(v, out, i), total), out, i))

    _each_row(code, "out x", row)


def _softmax_pull(code: Any, long: bool) -> None:
    v = Vectors(code, LANES)

    def row(result: str, g: str, out: str) -> None:
        def inner(i: str, part: Part, total: str) -> list[str]:
            return [v.call("fma", part.load(v, g, i), part.load(v, out, i), total)]

        (total,) = v.sums("%width", inner, long=long)

        def pulled(i: str, part: Part) -> None:
            part.store(v, v.multiply(v.subtract(part.load(v, g, i), total), part.load(v, out, i)), result, i)

        v.over("%width", pulled)

    _each_row(code, "result g out", row)


def _statistics(v: Vectors, x: str, long: bool) -> tuple[str, str, str]:
    """The mean of a row, one over its deviation, and one over its width."""
    code = v.code
    width = v.constant(code.spread(v.lanes, v.number, code.value(f"sitofp i64 %width to {v.number}")))
    (total,) = v.sums("%width", lambda i, part, t: [v.add(t, part.load(v, x, i))], long=long)
    mean = v.divide(total, width)

    def square(i: str, part: Part, total: str) -> list[str]:
        d = part.keep(v, v.subtract(part.load(v, x, i), mean))
        return [v.call("fma", d, d, total)]

    (total,) = v.sums("%width", square, long=long)
    variance = v.divide(total, width)
    deviation = v.call("sqrt", v.add(variance, code.spread(v.lanes, v.number, "%eps")))
    return mean, v.divide(1.0, deviation), width


def _layer_norm(code: Any, long: bool, weighted: bool, shifted: bool) -> None:
    v = Vectors(code, LANES)

    def row(out: str, x: str) -> None:
        mean, factor, _ = _statistics(v, x, long)

        def scaled(i: str, part: Part) -> None:
            y = v.multiply(v.subtract(part.load(v, x, i), mean), factor)
            if weighted:
                y = v.multiply(y, part.load(v, "%w", i))
            if shifted:
                y = v.add(y, part.load(v, "%b", i))
            part.store(v, y, out, i)

        v.over("%width", scaled)

    _each_row(code, "out x", row)


def _layer_norm_pull(code: Any, long: bool, weighted: bool) -> None:
    """A unit is `together` rows. sums, of each: the cotangents of w and of b, and room for those of a block of rows."""
    v = Vectors(code, LANES)
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def unit(n: str) -> None:
        sums = [code.at("float", "%sums", code.mul("%width", code.add(code.mul(n, 4), k))) for k in range(4)]
        start = code.mul(n, "%together")
        end = code.least(code.add(start, "%together"), "%rows")
        code.loop(start, end, BLOCK, lambda first: _layer_norm_block(v, first, end, sums[:2], sums[2:], long, weighted))

    code.loop("%first", "%last", 1, unit)


def _layer_norm_block(
    v: Vectors, first: str, end: str, whole: list[str], block: list[str], long: bool, weighted: bool
) -> None:  # fmt: skip
    code = v.code

    def row(r: str) -> None:
        start = code.mul(r, "%width")
        dx, g, x = (code.at("float", name, start) for name in ("%dx", "%g", "%x"))
        mean, factor, width = _statistics(v, x, long)

        def read(i: str, part: Part) -> tuple[str, str, str]:
            here = part.load(v, g, i)
            standard = v.multiply(v.subtract(part.load(v, x, i), mean), factor)
            return here, standard, v.multiply(here, part.load(v, "%w", i)) if weighted else here

        def gather(i: str, part: Part, total: str, along: str) -> list[str]:
            here, standard, scaled = read(i, part)
            part.store(v, v.call("fma", here, standard, part.load(v, block[0], i)), block[0], i)
            part.store(v, v.add(here, part.load(v, block[1], i)), block[1], i)
            return [v.add(total, scaled), v.call("fma", scaled, standard, along)]

        total, along = (v.divide(t, width) for t in v.sums("%width", gather, 2, long=long))

        def pulled(i: str, part: Part) -> None:
            _, standard, scaled = read(i, part)
            rest = v.subtract(v.subtract(scaled, total), v.multiply(standard, along))
            part.store(v, v.multiply(rest, factor), dx, i)

        v.over("%width", pulled)

    code.loop(first, code.least(code.add(first, BLOCK), end), 1, row)

    def add(i: str, part: Part) -> None:
        for mine, theirs in zip(block, whole):
            part.store(v, v.add(part.load(v, mine, i), part.load(v, theirs, i)), theirs, i)
            part.store(v, v.constant(0.0), mine, i)

    v.over("%width", add)


# By name: operands, and what is done for the rows (or parts of them) from %first to %last.
_TEXTS: dict[str, tuple[str, Callable[..., None]]] = {
    "softmax": ("ptr out, ptr x, i64 width", _softmax),
    "softmax_pull": ("ptr result, ptr g, ptr out, i64 width", _softmax_pull),
    "layer_norm": ("ptr out, ptr x, ptr w, ptr b, i64 width, float eps", _layer_norm),
    "layer_norm_pull": (
        "ptr dx, ptr sums, ptr g, ptr x, ptr w, i64 rows, i64 together, i64 width, float eps", _layer_norm_pull
    ),
}  # fmt: skip
