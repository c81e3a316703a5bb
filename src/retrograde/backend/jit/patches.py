"""The patches of images as columns, and their sum back into images, as generated code. A plane is a unit."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm, threads
from .copies import packed
from .lines import either
from .processor import AVX512
from .vectors import LANES, Part, Vectors

Pair = tuple[int, int]

LEAST = 1 << 10
"""Fewer numbers are left to NumPy: the first call loads llvmlite, 50 ms."""


def columns(x: np.ndarray, counts: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair) -> np.ndarray | None:
    """Patches of x (n, c, h, w) as columns (n, c·kh·kw, patches); None where it is the caller's affair."""
    size, places = x.shape[2:], math.prod(kernel)
    out = np.empty((x.shape[0], x.shape[1] * places, math.prod(counts)), x.dtype)
    done = _run("patches", x, x, out, size, counts, kernel, dilation, padding, stride)
    return out if done else None


def images(
    x: np.ndarray, size: Pair, counts: Pair, kernel: Pair, dilation: Pair, padding: Pair, stride: Pair
) -> np.ndarray | None:  # fmt: skip
    """The sum of the patches in columns (n, c·kh·kw, patches) as images (n, c, *size); None where it is the caller's affair."""
    out = np.empty((x.shape[0], x.shape[1] // math.prod(kernel), *size), x.dtype)
    done = _run("unpatched", out, x, out, size, counts, kernel, dilation, padding, stride)
    return out if done else None


def _run(
    name: str, image: np.ndarray, x: np.ndarray, out: np.ndarray, size: Any, counts: Pair, kernel: Pair, dilation: Pair,
    padding: Pair, stride: Pair,
) -> bool:  # fmt: skip
    if x.dtype.char not in "fd" or not x.dtype.isnative or max(x.size, out.size) < LEAST or not min(x.size, out.size):
        return False
    function = _generated(name, x.dtype.char, min(stride[1], 3))
    if function is None:
        return False
    planes = image.shape[0] * image.shape[1]
    function(
        *threads.tiles(planes, max(x.size, out.size)), out, packed(x), *size, *counts, *kernel, *dilation, *padding, *stride
    )
    return True


_NAMES = "h w rows columns kh kw dh dw above before sh sw"


@functools.cache
def _generated(name: str, dtype: str, apart: int) -> Callable[..., None] | None:
    number = {"f": "float", "d": "double"}[dtype]
    operands = "array out, array x, " + ", ".join(f"i64 {n}" for n in _NAMES.split())
    return llvm.shared(name, operands, lambda code: _TEXTS[name](code, number, apart))


# ------------------------------------------------------------------------------------------ their code


def within(code: Any, first: str, count: str, n: str, step: str) -> tuple[str, str]:
    """Of the elements first, first + step... the numbers, from 0 to n, between which they lie in a row of `count`."""
    code.declare("declare i64 @llvm.smax.i64(i64, i64)")

    def passed(limit: str, least: str) -> str:
        """How many lie before `limit`, as a number between `least` and n."""
        gap = code.add(code.value(f"sub i64 {limit}, {first}"), code.add(step, -1))
        found = code.least(code.value(f"sdiv i64 {gap}, {step}"), n)
        return str(code.value(f"call i64 @llvm.smax.i64(i64 {found}, i64 {least})"))

    begin = passed("0", "0")
    return begin, passed(count, begin)


def every(
    v: Vectors, source: str, first: str, count: str, apart: int, step: str, target: str, n: str, inside: str,
    bounds: tuple[str, str], write: Callable[[Part, str, str], None] | None = None,
) -> None:  # fmt: skip
    """Write n elements first, first + step... of a row of `count` numbers; 0 where it has none, and if not `inside`.

    apart: the step where it is 1 or 2, which vectors read, and 3 for others, which are read one by one: a vector put
    together from single numbers, each of which is asked for being there, takes four times as long. bounds: see `within`.
    write: how the vector of a part is written at number m, if not by the part's own store.
    """
    code, index = v.code, Vectors(v.code, v.lanes, "i64")
    numbers = "<" + ", ".join(f"i64 {k}" for k in range(v.lanes)) + ">"
    present = code.value(f"select i1 {inside}, i64 {count}, i64 0")

    last = code.value(f"sub i64 {present}, {apart * v.lanes}")

    def read(at: str) -> str:
        here = index.add(code.spread(v.lanes, "i64", at), numbers)
        return Part(index.two("icmp ult", here, code.spread(v.lanes, "i64", present))).load(v, source, at)

    def some(m: str, part: Part) -> None:
        at = code.add(code.mul(m, step), first)

        def put(read: Callable[[str], str]) -> None:
            found = read(at) if apart == 1 else v.pick(read(at), read(code.add(at, v.lanes)), range(0, 2 * v.lanes, 2))
            if write is None:
                part.store(v, found, target, m)
            else:
                write(part, found, m)

        if llvm.processor() is AVX512:
            put(read)
            return
        # Masks are made of many instructions: with AVX2 what reads without them where it can takes 0.4 of the time.
        begun = code.value(f"icmp sge i64 {at}, 0")
        whole = code.value(f"and i1 {begun}, {code.value(f'icmp sle i64 {at}, {last}')}")
        either(code, whole, lambda: put(lambda i: v.load(source, i)), lambda: put(read))

    if apart < 3:
        v.over(n, some)
        return
    begin = code.value(f"select i1 {inside}, i64 {bounds[0]}, i64 {n}")
    end = code.value(f"select i1 {inside}, i64 {bounds[1]}, i64 {n}")

    def zero(m: str) -> None:
        code.do(f"store {v.number} 0.0, ptr {code.at(v.number, target, m)}")

    def one(m: str) -> None:
        found = code.value(f"load {v.number}, ptr {code.at(v.number, source, code.add(code.mul(m, step), first))}")
        code.do(f"store {v.number} {found}, ptr {code.at(v.number, target, m)}")

    code.loop(0, begin, 1, zero)
    code.loop(begin, end, 1, one)
    code.loop(end, n, 1, zero)


def _rows(
    code: Any, number: str, row: Callable[[str, str, str, str], None], prepare: Callable[[str], None] | None = None
) -> None:  # fmt: skip
    """row(q, image, patches, first) for each row of patches at each place of the kernel of each plane: the number of its row
    in the image, the addresses of this row and of that of the patches, and the column of the first element.

    %image and %patches are where they begin. prepare(image): what is done before, for each plane.
    """

    def plane(p: str) -> None:
        size = code.mul("%rows", "%columns")
        image = code.at(number, "%image", code.mul(p, code.mul("%h", "%w")))
        patches = code.at(number, "%patches", code.mul(p, code.mul(size, code.mul("%kh", "%kw"))))
        if prepare is not None:
            prepare(image)

        def place(a: str, b: str) -> None:
            start = code.mul(code.add(code.mul(a, "%kw"), b), size)
            first = code.value(f"sub i64 {code.mul(b, '%dw')}, %before")
            above = code.value(f"sub i64 {code.mul(a, '%dh')}, %above")

            def line(r: str) -> None:
                q = code.add(code.mul(r, "%sh"), above)
                target = code.at(number, patches, code.add(start, code.mul(r, "%columns")))
                row(q, code.at(number, image, code.mul(q, "%w")), target, first)

            code.loop(0, "%rows", 1, line)

        code.loop(0, "%kh", 1, lambda a: code.loop(0, "%kw", 1, lambda b: place(a, b)) and None)

    code.loop("%first", "%last", 1, plane)


def _patches(code: Any, number: str, apart: int) -> None:
    v = Vectors(code, LANES if number == "float" else LANES // 2, number)
    code.value("getelementptr i8, ptr %x, i64 0", "%image")
    code.value("getelementptr i8, ptr %out, i64 0", "%patches")

    def row(q: str, source: str, target: str, first: str) -> None:
        inside = code.value(f"icmp ult i64 {q}, %h")
        bounds = within(code, first, "%w", "%columns", "%sw")
        every(v, source, first, "%w", apart, "%sw", target, "%columns", inside, bounds)

    _rows(code, number, row)


def _unpatched(code: Any, number: str, apart: int) -> None:
    v = Vectors(code, LANES if number == "float" else LANES // 2, number)
    code.value("getelementptr i8, ptr %out, i64 0", "%image")
    code.value("getelementptr i8, ptr %x, i64 0", "%patches")
    index = Vectors(code, v.lanes, "i64")
    numbers = "<" + ", ".join(f"i64 {k}" for k in range(v.lanes)) + ">"

    def zeros(image: str) -> None:
        v.over(code.mul("%h", "%w"), lambda i, part: part.store(v, v.constant(0.0), image, i))

    def row(q: str, target: str, source: str, first: str) -> None:
        def vectors(j: str, part: Part) -> None:
            at = code.add(j, first)
            here = index.add(code.spread(v.lanes, "i64", at), numbers)
            mask = index.two("icmp ult", here, code.spread(v.lanes, "i64", "%w"))
            if part.mask is not None:
                mask = code.value(f"and {v.mask} {mask}, {part.mask}")
            there = Part(mask)
            there.store(v, v.add(there.load(v, target, at), part.load(v, source, j)), target, at)

        def one(j: str) -> None:
            at = code.add(code.mul(j, "%sw"), first)

            def add() -> None:
                place = code.at(number, target, at)
                both = [code.value(f"load {number}, ptr {a}") for a in (place, code.at(number, source, j))]
                code.do(f"store {number} {code.value(f'fadd {number} {both[0]}, {both[1]}')}, ptr {place}")

            code.when(code.value(f"icmp ult i64 {at}, %w"), add)

        def all_of_it() -> None:
            if apart == 1:
                v.over("%columns", vectors)
            else:
                code.loop(0, "%columns", 1, one)

        code.when(code.value(f"icmp ult i64 {q}, %h"), all_of_it)

    _rows(code, number, row, zeros)


_TEXTS: dict[str, Callable[..., None]] = {"patches": _patches, "unpatched": _unpatched}
