"""Batch, group and instance normalisation of images as generated code, forward and backward.

The elements that share a mean and a deviation lie in a block of images by a block of channels: all images and one channel
(batch), one image and several channels (group), one and one (instance). Each block stays in the cache for all passes; blocks
are shared out. Channels of one number each, as a batch of vectors has them, are the lanes of vectors instead.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import llvm, threads
from .copies import packed
from .vectors import LANES, SUMMED, Part, Vectors

LEAST = 1
"""Fewer numbers are left to NumPy. A call takes 3 µs, NumPy's passes 10 forward and 20 backward."""

SHORT = 4
"""Channels of fewer numbers in each image are left to NumPy, but for one alone: most lanes would be empty."""


class Blocks(NamedTuple):
    """How x (images, channels, length) falls into blocks: how many in a block, and how many blocks, of either."""

    images: int
    image_blocks: int
    channels: int
    channel_blocks: int
    length: int


@functools.lru_cache(512)
def blocks_of(shape: tuple[int, ...], axis: tuple[int, ...], x: tuple[int, ...], affine: tuple[int, ...]) -> Blocks | None:
    """The blocks of the statistics over `axis` of x taken in `shape`, with weights of the shape `affine` if any.

    None for other layouts than (images, channels, ..), without elements, and for rows that are too short to be worth it.
    """
    if len(x) < 2 or 0 in x or affine != (1, x[1], *(1,) * (len(x) - 2)):
        return None
    images, channels, *size = x
    length = int(np.prod(size))
    if shape == x and axis == (0, *range(2, len(x))):
        return Blocks(images, 1, 1, channels, length) if length == 1 or length >= SHORT else None
    lead = shape[: -len(axis)]
    if axis == tuple(range(len(lead), len(shape))) and int(np.prod(lead)) % images == 0 and lead[:1] == (images,):
        groups = int(np.prod(lead)) // images
        if channels % groups == 0 and len(lead) <= 2 and length >= SHORT:
            return Blocks(1, images, channels // groups, groups, length)
    return None


def normalize(
    x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, blocks: Blocks, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """x less the mean over the deviation of its block, times w plus b of its channel; the means; one over the deviations.

    None where it is the caller's affair.
    """
    if not (_suited(x) and _per_channel(w, x) and _per_channel(b, x)):
        return None
    function = _function("normalize", blocks, x, w is not None, b is not None)
    if function is None:
        return None
    x = packed(x)
    out, stats = np.empty_like(x), np.empty((2, blocks.image_blocks * blocks.channel_blocks), x.dtype)
    function(*_units(x, blocks), out, stats, x, _or(w, x), _or(b, x), *blocks, eps)
    return out, stats[0], stats[1]


def normalize_pull(
    g: np.ndarray, x: np.ndarray, w: np.ndarray | None, blocks: Blocks, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The cotangents of `normalize`'s x, w and b for that of its first result; None where it is the caller's affair."""
    if not (_suited(x) and g.dtype == x.dtype and g.shape == x.shape and _per_channel(w, x)):
        return None
    function = _function("normalize_pull", blocks, x, w is not None)
    if function is None:
        return None
    g, x = packed(g), packed(x)
    dx, sums = np.empty_like(x), np.zeros((blocks.image_blocks, 2, x.shape[1]), x.dtype)
    function(*_units(x, blocks), dx, sums, g, x, _or(w, x), *blocks, eps)
    total = sums[0] if len(sums) == 1 else np.add.reduce(sums, 0)
    return dx, total[0], total[1]


def scaled(x: np.ndarray, scale: np.ndarray, shift: np.ndarray) -> np.ndarray | None:
    """x times a number of its channel, plus another; None where it is the caller's affair."""
    length = x.size // max(1, x.shape[0] * x.shape[1])
    if not (_suited(x) and length >= LANES // 2 and _per_channel(scale, x) and _per_channel(shift, x)):
        return None
    function = _generated("scaled", x.dtype.char)
    if function is None:
        return None
    x = packed(x)
    out, planes = np.empty_like(x), x.shape[0] * x.shape[1]
    function(*threads.tiles(planes, x.size), out, x, packed(scale), packed(shift), x.shape[1], length)
    return out


def moved(
    running: tuple[np.ndarray, np.ndarray], mean: np.ndarray, scale: np.ndarray, share: float, eps: float, factor: float
) -> bool:  # fmt: skip
    """Let running means and variances take in `share` of a batch's, in place, by NumPy's operations one after another: 1 µs
    instead of 8. scale: one over the deviations; factor: what the variance is multiplied with. Whether it was done."""
    dtype, count = mean.dtype, mean.size
    if not _suited(mean) or scale.dtype != dtype or scale.size != count:
        return False
    for x in running:  # which are written where they stand
        flags = x.flags
        if x.dtype != dtype or x.size != count or not (flags.carray and x.dtype.isnative):
            return False
    function = _generated("moved", dtype.char)
    if function is None:
        return False
    function(*threads.tiles(1, 1), *running, packed(mean), packed(scale), count, 1 - share, share, eps, factor)
    return True


def _suited(x: np.ndarray) -> bool:
    return x.size >= LEAST and x.dtype.char in "fd" and x.dtype.isnative


def _per_channel(w: np.ndarray | None, x: np.ndarray) -> bool:
    return w is None or (w.size == x.shape[1] and w.dtype == x.dtype)


def _or(w: np.ndarray | None, x: np.ndarray) -> np.ndarray:
    """Weights as they are read; for none any array, which is not read."""
    return x if w is None else packed(w)


def _units(x: np.ndarray, blocks: Blocks) -> tuple[int, int, int]:
    count = blocks.image_blocks * blocks.channel_blocks
    if blocks.length == 1:
        lanes = LANES if x.itemsize == 4 else LANES // 2
        count = -(-blocks.channel_blocks // lanes)
    return threads.tiles(count, 3 * x.size)


def _function(name: str, blocks: Blocks, x: np.ndarray, *variant: bool) -> Callable[..., None] | None:
    if blocks.length == 1 and blocks.channels == 1 and blocks.image_blocks == 1:
        return _generated(f"{name}_columns", x.dtype.char, *variant)
    return _generated(name, x.dtype.char, blocks.length > SUMMED, *variant)


_SIZES = "i64 images, i64 image_blocks, i64 channels, i64 channel_blocks, i64 length, double eps"


@functools.cache
def _generated(name: str, dtype: str, *variant: bool) -> Callable[..., None] | None:
    number = {"f": "float", "d": "double"}[dtype]
    kind = name.removesuffix("_columns")
    operands = {
        "normalize": f"array out, array stats, array x, array w, array b, {_SIZES}",
        "normalize_pull": f"array dx, array sums, array g, array x, array w, {_SIZES}",
        "scaled": "array out, array x, array scale, array shift, i64 channels, i64 length",
        "moved": "array means, array variances, array mean, array scale, i64 count, double left, double taken, double eps, "
                 "double factor",
    }[kind]
    return llvm.shared(name, operands, lambda code: _TEXTS[name](code, number, *variant))


# ------------------------------------------------------------------------------------------ their code


class _Block:
    """Loops over the rows of one block; long: of more than SUMMED numbers."""

    def __init__(self, code: Any, v: Vectors, long: bool, image: str, channel: str) -> None:
        self.code, self.v, self.long = code, v, long
        self.wide = Vectors(code, v.lanes, "double")
        self.images = image, code.add(image, "%images")
        self.channels = channel, code.add(channel, "%channels")

    def rows(self, row: Callable[..., list[str] | None], carried: int = 0) -> list[str]:
        """row(channel, offset, *values) for each row of numbers; `carried` vectors of doubles begin as zeros."""
        code, type = self.code, self.wide.type

        def image(n: str, *values: str) -> list[str]:
            start = code.mul(n, "%all")

            def channel(c: str, *values: str) -> list[str] | None:
                return row(c, code.mul(code.add(start, c), "%length"), *values)

            return list(code.loop(*self.channels, 1, channel, carried=[(type, x) for x in values]))

        return list(code.loop(*self.images, 1, image, carried=[(type, "zeroinitializer")] * carried))

    def sum(self, number: Callable[[Part, str, str], str]) -> str:
        """A sum over the block's numbers, in every lane; number(part, at, sum) returns the next one."""

        def row(c_: str, offset: str, before: str) -> list[str]:
            def step(i: str, part: Part, now: str) -> list[str]:
                return [number(part, self.code.add(offset, i), now)]

            return self.v.added("%length", step, [before], long=self.long)

        return self.v.single_total(*self.rows(row, 1))


def _numbers(code: Any, number: str) -> Vectors:
    return Vectors(code, LANES if number == "float" else LANES // 2, number)


def _every_block(code: Any, number: str, long: bool, body: Callable[[_Block, Vectors, str, str], None]) -> None:
    """body(block, v, number, m) for each block of images (the m-th) by channels."""
    v = _numbers(code, number)
    code.value("mul i64 %channels, %channel_blocks", "%all")

    def unit(u: str) -> None:
        m, k = code.value(f"sdiv i64 {u}, %channel_blocks"), code.value(f"srem i64 {u}, %channel_blocks")
        body(_Block(code, v, long, code.mul(m, "%images"), code.mul(k, "%channels")), v, u, m)

    code.loop("%first", "%last", 1, unit)


def _eps(v: Vectors) -> str:
    eps = "%eps" if v.number == "double" else v.code.value("fptrunc double %eps to float")
    return str(v.code.spread(v.lanes, v.number, eps))


def _statistics(block: _Block, v: Vectors) -> tuple[str, str, str]:
    """The mean of a block, one over its deviation, and one over the count of its numbers."""
    code = v.code
    count = code.mul(code.mul("%images", "%channels"), "%length")
    share = v.divide(1.0, code.spread(v.lanes, v.number, code.value(f"sitofp i64 {count} to {v.number}")))
    mean = v.multiply(block.sum(lambda part, at, total: v.add(total, part.load(v, "%x", at))), share)

    def square(part: Part, at: str, total: str) -> str:
        d = part.keep(v, v.subtract(part.load(v, "%x", at), mean))
        return v.call("fma", d, d, total)

    variance = v.add(v.multiply(block.sum(square), share), _eps(v))
    return mean, v.divide(1.0, v.call("sqrt", variance)), share


def _scalar(v: Vectors, pointer: str, c: str) -> str:
    """The number of a channel, in every lane."""
    return v.code.spread(v.lanes, v.number, v.code.value(f"load {v.number}, ptr {v.code.at(v.number, pointer, c)}"))


def _normalize(code: Any, number: str, long: bool, weighted: bool, shifted: bool) -> None:
    def body(block: _Block, v: Vectors, unit: str, m_: str) -> None:
        mean, factor, _ = _statistics(block, v)
        for k, x in ((0, mean), (1, factor)):
            place = code.add(unit, code.mul(code.mul("%image_blocks", "%channel_blocks"), k))
            one = code.value(f"extractelement {v.type} {x}, i64 0")
            code.do(f"store {v.number} {one}, ptr {code.at(v.number, '%stats', place)}")

        def row(c: str, offset: str) -> None:
            scale = v.multiply(factor, _scalar(v, "%w", c)) if weighted else factor
            shift = _scalar(v, "%b", c) if shifted else v.constant(0.0)

            def scaled(i: str, part: Part) -> None:
                at = code.add(offset, i)
                y = v.call("fma", v.subtract(part.load(v, "%x", at), mean), scale, shift)
                part.store(v, y, "%out", at)

            v.over("%length", scaled)

        block.rows(row)

    _every_block(code, number, long, body)


def _normalize_pull(code: Any, number: str, long: bool, weighted: bool) -> None:
    """sums: the cotangents of w and of b, for each block of images."""

    def body(block: _Block, v: Vectors, unit_: str, m: str) -> None:
        wide = block.wide
        row_of_sums = code.mul(code.mul(m, 2), "%all")
        mean, factor, share = _statistics(block, v)

        def gather(c: str, offset: str, total: str, along: str) -> list[str]:
            def numbers(i: str, part: Part, sum_: str, dot: str) -> list[str]:
                at = code.add(offset, i)
                g = part.load(v, "%g", at)
                return [v.add(sum_, g), v.call("fma", g, part.keep(v, v.subtract(part.load(v, "%x", at), mean)), dot)]

            of_g, of_gd = v.sums("%length", numbers, 2, long=long)
            of_gd = v.multiply(of_gd, factor)
            for k, x in ((0, of_gd), (1, of_g)):
                target = code.at(v.number, "%sums", code.add(code.add(row_of_sums, c), code.mul("%all", k)))
                one = code.value(f"extractelement {v.type} {x}, i64 0")
                before = code.value(f"load {v.number}, ptr {target}")
                code.do(f"store {v.number} {code.value(f'fadd {v.number} {before}, {one}')}, ptr {target}")
            w = _scalar(v, "%w", c) if weighted else v.constant(1.0)
            return [wide.add(t, v.widened(v.multiply(x, w))) for t, x in ((total, of_g), (along, of_gd))]

        total, along = (v.multiply(v.narrowed(t), share) for t in block.rows(gather, 2))
        along = v.multiply(along, factor)

        def row(c: str, offset: str) -> None:
            w = _scalar(v, "%w", c) if weighted else v.constant(1.0)

            def pulled(i: str, part: Part) -> None:
                at = code.add(offset, i)
                d = v.subtract(part.load(v, "%x", at), mean)
                rest = v.subtract(v.call("fma", part.load(v, "%g", at), w, v.multiply(d, v.subtract(0.0, along))), total)
                part.store(v, v.multiply(rest, factor), "%dx", at)

            v.over("%length", pulled)

        block.rows(row)

    _every_block(code, number, long, body)


def _scaled(code: Any, number: str) -> None:
    """A unit is a plane."""
    v = _numbers(code, number)

    def plane(p: str) -> None:
        c, start = code.value(f"srem i64 {p}, %channels"), code.mul(p, "%length")
        scale, shift = _scalar(v, "%scale", c), _scalar(v, "%shift", c)

        def step(i: str, part: Part) -> None:
            at = code.add(start, i)
            part.store(v, v.add(v.multiply(part.load(v, "%x", at), scale), shift), "%out", at)

        v.over("%length", step)

    code.loop("%first", "%last", 1, plane)


def _moved(code: Any, number: str) -> None:
    """One unit has all channels."""
    v = _numbers(code, number)

    def given(name: str) -> str:
        x = f"%{name}" if number == "double" else code.value(f"fptrunc double %{name} to float")
        return str(code.spread(v.lanes, v.number, x))

    left, taken, eps, factor = map(given, ("left", "taken", "eps", "factor"))

    def unit(u_: str) -> None:
        def step(i: str, part: Part) -> None:
            scale = part.load(v, "%scale", i, 1)
            variance = v.multiply(v.subtract(v.divide(1.0, v.multiply(scale, scale)), eps), factor)
            for running, fresh in (("%means", part.load(v, "%mean", i)), ("%variances", variance)):
                moved = v.add(v.multiply(part.load(v, running, i), left), v.multiply(fresh, taken))
                part.store(v, moved, running, i)

        v.over("%count", step)

    code.loop("%first", "%last", 1, unit)


class _Columns:
    """Channels of one number each, as many as a vector has lanes: sums over the images, in double precision."""

    def __init__(self, code: Any, v: Vectors, unit: str) -> None:
        self.code, self.v, self.wide = code, v, Vectors(code, v.lanes, "double")
        self.first = code.mul(unit, v.lanes)
        self.part = Part(v.below(code.value(f"sub i64 %channel_blocks, {self.first}")))
        count = code.value(f"sitofp i64 %images to {v.number}")
        self.share = v.divide(1.0, code.spread(v.lanes, v.number, count))

    def load(self, pointer: str, n: str | int) -> str:
        """The numbers of image n."""
        return self.part.load(self.v, pointer, self.at(n))

    def at(self, n: str | int) -> str:
        """Where they stand."""
        return str(self.code.add(self.code.mul("%channel_blocks", n), self.first))

    def sums(self, step: Callable[[str], Sequence[str]], count: int) -> list[str]:
        """The sums of the vectors that step(n) gives for each image."""

        def image(n: str, *before: str) -> list[str]:
            return [self.wide.add(t, self.v.widened(x)) for t, x in zip(before, step(n), strict=True)]

        zeros = [(self.wide.type, "zeroinitializer")] * count
        return [self.v.narrowed(t) for t in self.code.loop(0, "%images", 1, image, carried=zeros)]

    def statistics(self) -> tuple[str, str]:
        """The means, and one over the deviations."""
        v = self.v
        mean = v.multiply(self.sums(lambda n: [self.load("%x", n)], 1)[0], self.share)

        def square(n: str) -> list[str]:
            d = v.subtract(self.load("%x", n), mean)
            return [v.multiply(d, d)]

        variance = v.add(v.multiply(self.sums(square, 1)[0], self.share), _eps(v))
        return mean, v.divide(1.0, v.call("sqrt", variance))


def _normalize_columns(code: Any, number: str, weighted: bool, shifted: bool) -> None:
    v = _numbers(code, number)

    def unit(u: str) -> None:
        c = _Columns(code, v, u)
        mean, factor = c.statistics()
        c.part.store(v, mean, "%stats", c.at(0))
        c.part.store(v, factor, "%stats", c.at(1))
        scale = v.multiply(factor, c.load("%w", 0)) if weighted else factor
        shift = c.load("%b", 0) if shifted else v.constant(0.0)

        def image(n: str) -> None:
            c.part.store(v, v.call("fma", v.subtract(c.load("%x", n), mean), scale, shift), "%out", c.at(n))

        code.loop(0, "%images", 1, image)

    code.loop("%first", "%last", 1, unit)


def _normalize_pull_columns(code: Any, number: str, weighted: bool) -> None:
    v = _numbers(code, number)

    def unit(u: str) -> None:
        c = _Columns(code, v, u)
        mean, factor = c.statistics()

        def both(n: str) -> list[str]:
            g = c.load("%g", n)
            return [g, v.multiply(g, v.subtract(c.load("%x", n), mean))]

        total, along = c.sums(both, 2)
        along = v.multiply(along, factor)
        c.part.store(v, along, "%sums", c.at(0))
        c.part.store(v, total, "%sums", c.at(1))
        total, along = v.multiply(total, c.share), v.multiply(v.multiply(along, factor), c.share)
        scale = v.multiply(factor, c.load("%w", 0)) if weighted else factor

        def image(n: str) -> None:
            d = v.subtract(c.load("%x", n), mean)
            rest = v.subtract(v.subtract(c.load("%g", n), v.multiply(d, along)), total)
            c.part.store(v, v.multiply(rest, scale), "%dx", c.at(n))

        code.loop(0, "%images", 1, image)

    code.loop("%first", "%last", 1, unit)


_TEXTS: dict[str, Callable[..., None]] = {
    "normalize": _normalize, "normalize_pull": _normalize_pull, "scaled": _scaled, "moved": _moved,
    "normalize_columns": _normalize_columns, "normalize_pull_columns": _normalize_pull_columns,
}  # fmt: skip
