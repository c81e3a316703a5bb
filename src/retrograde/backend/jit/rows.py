"""Functions of contiguous rows as generated code (float32, float64): the softmax family and layer normalisation, forward and
backward.

NumPy takes 6 to 12 passes over the memory for each of them; here a row is read as often as the formula needs it, from the
nearest cache.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from . import functions, llvm
from .operands import FLOAT32, FLOAT64, LEAST, aligned
from .threads import tiles
from .vectors import LANES, SUMMED, Part, Vectors

BLOCK = 32  # rows whose sums are added up before they are added to the others', so that the rounding errors stay small
PARTIAL = 64  # sums of parts of the rows at most, which threads compute side by side
_POWER = 8  # what an exponential costs, in steps of work


def suited(x: np.ndarray, least: int = LEAST) -> bool:
    """Whether an array is large enough, of float32 or float64, and contiguous."""
    return x.size >= least and (x.dtype == FLOAT32 or x.dtype == FLOAT64) and x.flags.c_contiguous


def softmax(x: np.ndarray, least: int = LEAST) -> np.ndarray | None:
    """The softmax along the last axis of a contiguous array of `least` numbers, which are some; None where it is the caller's
    affair."""
    return _of_rows("softmax", x, least)


def log_softmax(x: np.ndarray) -> np.ndarray | None:
    """The logarithm of the softmax; None where it is the caller's affair."""
    return _of_rows("log_softmax", x)


def _of_rows(name: str, x: np.ndarray, least: int = LEAST) -> np.ndarray | None:
    if not suited(x, least):
        return None
    width = x.shape[-1]
    function = _generated(name, x, width)
    if function is None:
        return None
    x, out = aligned(x), np.empty_like(x)
    function(*tiles(x.size // width, _POWER * x.size), out, x, width)
    return out


def logsumexp(x: np.ndarray) -> np.ndarray | None:
    """log(sum(exp)) of each row of a contiguous array, as a vector; None where it is the caller's affair."""
    if not suited(x):
        return None
    width = x.shape[-1]
    function = _generated("logsumexp", x, width)
    if function is None:
        return None
    x, out = aligned(x), np.empty(x.size // width, x.dtype)
    function(*tiles(out.size, _POWER * x.size), out, x, width)
    return out


def softmax_pull(g: np.ndarray, out: np.ndarray, least: int = LEAST) -> np.ndarray | None:
    """The cotangent of softmax's operand for the cotangent g of its result; None where it is the caller's affair."""
    return _pulled("softmax_pull", g, out, least)


def log_softmax_pull(g: np.ndarray, out: np.ndarray) -> np.ndarray | None:
    """The cotangent of log_softmax's operand for the cotangent g of its result; None where it is the caller's affair."""
    return _pulled("log_softmax_pull", g, out)


def _pulled(name: str, g: np.ndarray, out: np.ndarray, least: int = LEAST) -> np.ndarray | None:
    if not (suited(out, least) and suited(g, least) and g.shape == out.shape and g.dtype == out.dtype):
        return None
    width = out.shape[-1]
    function = _generated(name, out, width)
    if function is None:
        return None
    g, out, result = aligned(g), aligned(out), np.empty_like(out)
    work = 2 if name == "softmax_pull" else _POWER
    function(*tiles(out.size // width, work * out.size), result, g, out, width)
    return result


def layer_norm(
    x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, width: int, eps: float
) -> np.ndarray | None:  # fmt: skip
    """Rows of `width` less their mean over their deviation, times w, plus b, of any number of rows; None where it is the
    caller's affair."""
    if not (_rows(x) and _vector(w, width, x) and _vector(b, width, x)):
        return None
    function = _generated("layer_norm", x, width, w is not None, b is not None)
    if function is None:
        return None
    x, size = aligned(x), x.size
    out = np.empty(x.shape, x.dtype)
    w, b = x if w is None else aligned(w), x if b is None else aligned(b)  # for none any array, which is not read
    function(*tiles(size // width, 3 * size), out, x, w, b, width, eps)
    return out


def layer_norm_pull(
    g: np.ndarray, x: np.ndarray, w: np.ndarray | None, width: int, eps: float, *, summed: bool = True
) -> tuple[np.ndarray, np.ndarray | None, np.ndarray | None] | None:
    """The cotangents of `layer_norm`'s x, w and b, the last two as vectors, if they are wanted (`summed`); None where it is the
    caller's affair."""
    if not (_rows(x) and _rows(g) and g.shape == x.shape and g.dtype == x.dtype and _vector(w, width, x)):
        return None
    function = _generated("layer_norm_pull", x, width, w is not None, summed)
    if function is None:
        return None
    g, x, size = aligned(g), aligned(x), x.size
    rows = size // width
    together = max(BLOCK, -(-rows // PARTIAL))
    units = -(-rows // together)
    dx, sums = np.empty(x.shape, x.dtype), np.zeros((units, 4, width) if summed else (0,), x.dtype)
    w = x if w is None else aligned(w)
    function(*tiles(units, 5 * size), dx, sums, g, x, w, rows, together, width, eps)
    if not summed:
        return dx, None, None
    total = sums[0] if units == 1 else sums[:, :2].sum(0)
    return dx, total[0], total[1]


def _rows(x: np.ndarray) -> bool:
    """Whether an array has numbers, of float32 or float64, and is contiguous: as few as there are, since a normalisation is six
    functions of NumPy's forward and a dozen backward, of 1 to 3 µs each."""
    return (x.dtype == FLOAT32 or x.dtype == FLOAT64) and x.size > 0 and x.flags.c_contiguous


def _vector(w: np.ndarray | None, width: int, x: np.ndarray) -> bool:
    return w is None or (w.size == width and w.dtype == x.dtype and w.flags.c_contiguous)


def _generated(name: str, x: np.ndarray, width: int, *variant: bool) -> Callable[..., None] | None:
    single = x.dtype == FLOAT32
    return _function(name, "float" if single else "double", single and width > SUMMED, *variant)


@functools.cache
def _function(name: str, number: str, long: bool, *variant: bool) -> Callable[..., None] | None:
    """long: single numbers are added up in parts, for rows are long."""
    operands, body = _TEXTS[name]
    lanes = LANES if number == "float" else LANES // 2
    return llvm.shared(
        name, operands.replace("number", number), lambda code: body(Vectors(code, lanes, number), long, *variant)
    )  # fmt: skip


# ------------------------------------------------------------------------------------------ their code


def _each_row(v: Vectors, names: str, row: Callable[..., None]) -> None:
    """row(*pointers): for each row of the tile, those to its part of the arrays."""
    code = v.code

    def one(i: str) -> None:
        start = code.mul(i, "%width")
        row(*(code.at(v.number, f"%{name}", start) for name in names.split()))

    code.loop("%first", "%last", 1, one)


def _decay(v: Vectors, x: str) -> str:
    """exp(x) for x up to 0."""
    return v.decay(x) if v.number == "float" else functions.exp(v, x)


def _largest(v: Vectors, x: str) -> str:
    """The largest element of a row, in every lane."""

    def largest(i: str, part: Part, top: str) -> list[str]:
        here = part.load(v, x, i, -math.inf)
        return [v.choose("fcmp ogt", here, top, here, top)]

    return v.largest(v.over("%width", largest, [v.constant(-math.inf)])[0])


def _softmax(v: Vectors, long: bool) -> None:
    def row(out: str, x: str) -> None:
        top = _largest(v, x)

        def power(i: str, part: Part, total: str) -> list[str]:
            e = _decay(v, v.subtract(part.load(v, x, i), top))
            part.store(v, e, out, i)
            return [v.add(total, part.keep(v, e))]

        (total,) = v.sums("%width", power, long=long)
        v.over("%width", lambda i, part: part.store(v, v.divide(part.load(v, out, i), total), out, i))

    _each_row(v, "out x", row)


def _log_softmax(v: Vectors, long: bool) -> None:
    def row(out: str, x: str) -> None:
        top = _largest(v, x)

        def power(i: str, part: Part, total: str) -> list[str]:
            less = v.subtract(part.load(v, x, i), top)
            part.store(v, less, out, i)
            return [v.add(total, part.keep(v, _decay(v, less)))]

        (total,) = v.sums("%width", power, long=long)
        rest = functions.log(v, total)
        v.over("%width", lambda i, part: part.store(v, v.subtract(part.load(v, out, i), rest), out, i))

    _each_row(v, "out x", row)


def _log_softmax_pull(v: Vectors, long: bool) -> None:
    def row(result: str, g: str, out: str) -> None:
        (total,) = v.sums("%width", lambda i, part, t: [v.add(t, part.load(v, g, i))], long=long)

        def pulled(i: str, part: Part) -> None:
            share = v.multiply(functions.exp(v, part.load(v, out, i)), total)
            part.store(v, v.subtract(part.load(v, g, i), share), result, i)

        v.over("%width", pulled)

    _each_row(v, "result g out", row)


def _logsumexp(v: Vectors, long: bool) -> None:
    code = v.code

    def row(r: str) -> None:
        x = code.at(v.number, "%x", code.mul(r, "%width"))
        top = _largest(v, x)
        top = v.choose("fcmp oeq", v.call("fabs", top), math.inf, 0.0, top)  # an infinite one is not taken off

        def power(i: str, part: Part, total: str) -> list[str]:
            return [v.add(total, part.keep(v, functions.exp(v, v.subtract(part.load(v, x, i), top))))]

        (total,) = v.sums("%width", power, long=long)
        found = v.add(functions.log(v, total), top)
        one = code.value(f"extractelement {v.type} {found}, i64 0")
        code.do(f"store {v.number} {one}, ptr {code.at(v.number, '%out', r)}")

    code.loop("%first", "%last", 1, row)


def _softmax_pull(v: Vectors, long: bool) -> None:
    def row(result: str, g: str, out: str) -> None:
        def inner(i: str, part: Part, total: str) -> list[str]:
            return [v.call("fma", part.load(v, g, i), part.load(v, out, i), total)]

        (total,) = v.sums("%width", inner, long=long)

        def pulled(i: str, part: Part) -> None:
            part.store(v, v.multiply(v.subtract(part.load(v, g, i), total), part.load(v, out, i)), result, i)

        v.over("%width", pulled)

    _each_row(v, "result g out", row)


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


def _layer_norm(v: Vectors, long: bool, weighted: bool, shifted: bool) -> None:
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

    _each_row(v, "out x", row)


def _layer_norm_pull(v: Vectors, long: bool, weighted: bool, summed: bool) -> None:
    """A unit is `together` rows. sums, of each, if they are made: the cotangents of w and of b, and room for those of a block of
    rows."""
    code = v.code
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def unit(n: str) -> None:
        start = code.mul(n, "%together")
        end = code.least(code.add(start, "%together"), "%rows")
        if not summed:
            code.loop(start, end, 1, lambda r: _layer_norm_row(v, r, [], long, weighted))
            return
        sums = [code.at(v.number, "%sums", code.mul("%width", code.add(code.mul(n, 4), k))) for k in range(4)]
        code.loop(start, end, BLOCK, lambda first: _layer_norm_block(v, first, end, sums[:2], sums[2:], long, weighted))

    code.loop("%first", "%last", 1, unit)


def _layer_norm_row(v: Vectors, r: str, block: list[str], long: bool, weighted: bool) -> None:
    """The cotangent of row r of x; what the row adds to those of w and of b is added to those of its block, if there is one."""
    code = v.code
    start = code.mul(r, "%width")
    dx, g, x = (code.at(v.number, name, start) for name in ("%dx", "%g", "%x"))
    mean, factor, width = _statistics(v, x, long)

    def read(i: str, part: Part) -> tuple[str, str, str]:
        here = part.load(v, g, i)
        standard = v.multiply(v.subtract(part.load(v, x, i), mean), factor)
        return here, standard, v.multiply(here, part.load(v, "%w", i)) if weighted else here

    def gather(i: str, part: Part, total: str, along: str) -> list[str]:
        here, standard, scaled = read(i, part)
        if block:
            part.store(v, v.call("fma", here, standard, part.load(v, block[0], i)), block[0], i)
            part.store(v, v.add(here, part.load(v, block[1], i)), block[1], i)
        return [v.add(total, scaled), v.call("fma", scaled, standard, along)]

    total, along = (v.divide(t, width) for t in v.sums("%width", gather, 2, long=long))

    def pulled(i: str, part: Part) -> None:
        _, standard, scaled = read(i, part)
        rest = v.subtract(v.subtract(scaled, total), v.multiply(standard, along))
        part.store(v, v.multiply(rest, factor), dx, i)

    v.over("%width", pulled)


def _layer_norm_block(
    v: Vectors, first: str, end: str, whole: list[str], block: list[str], long: bool, weighted: bool
) -> None:  # fmt: skip
    code = v.code
    code.loop(
        first, code.least(code.add(first, BLOCK), end), 1, lambda r: _layer_norm_row(v, r, block, long, weighted)
    )  # fmt: skip

    def add(i: str, part: Part) -> None:
        for mine, theirs in zip(block, whole):
            part.store(v, v.add(part.load(v, mine, i), part.load(v, theirs, i)), theirs, i)
            part.store(v, v.constant(0.0), mine, i)

    v.over("%width", add)


# By name: operands, and what is done for the rows (or parts of them) from %first to %last.
_TEXTS: dict[str, tuple[str, Callable[..., None]]] = {
    "log_softmax": ("array out, array x, i64 width", _log_softmax),
    "log_softmax_pull": ("array result, array g, array out, i64 width", _log_softmax_pull),
    "logsumexp": ("array out, array x, i64 width", _logsumexp),
    "softmax": ("array out, array x, i64 width", _softmax),
    "softmax_pull": ("array result, array g, array out, i64 width", _softmax_pull),
    "layer_norm": ("array out, array x, array w, array b, i64 width, number eps", _layer_norm),
    "layer_norm_pull": (
        "array dx, array sums, array g, array x, array w, i64 rows, i64 together, i64 width, number eps", _layer_norm_pull
    ),
}  # fmt: skip
