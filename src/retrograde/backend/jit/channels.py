"""Batch, group and instance normalisation of images as generated code (float32), forward and backward.

The elements that share a mean and a deviation lie in a block of images by a block of channels: all images and one channel
(batch), one image and several channels (group), one and one (instance). Each block stays in the cache for all passes.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from . import llvm
from .operands import address, aligned, suited
from .vectors import LANES, SUMMED, Part, Vectors


class Blocks(NamedTuple):
    """How x (images, channels, length) falls into blocks: how many in a block, and how many blocks, of either."""

    images: int
    image_blocks: int
    channels: int
    channel_blocks: int
    length: int


def blocks_of(shape: tuple[int, ...], axis: tuple[int, ...], x: tuple[int, ...], affine: tuple[int, ...]) -> Blocks | None:
    """The blocks of the statistics over `axis` of x taken in `shape`, with weights of the shape `affine` if any.

    None for other layouts than (images, channels, ..), and for rows that are too short to be worth it.
    """
    if len(x) < 3 or affine != (1, x[1], *(1,) * (len(x) - 2)):
        return None
    images, channels, *size = x
    length = int(np.prod(size))
    if length < LANES:
        return None
    if shape == x and axis == (0, *range(2, len(x))):
        return Blocks(images, 1, 1, channels, length)
    lead = shape[: -len(axis)]
    if axis == tuple(range(len(lead), len(shape))) and int(np.prod(lead)) % images == 0 and lead[:1] == (images,):
        groups = int(np.prod(lead)) // images
        if channels % groups == 0 and len(lead) <= 2:
            return Blocks(1, images, channels // groups, groups, length)
    return None


def normalize(
    x: np.ndarray, w: np.ndarray | None, b: np.ndarray | None, blocks: Blocks, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """x less the mean over the deviation of its block, times w plus b of its channel; the means; one over the deviations.

    None where it is the caller's affair.
    """
    if not (suited(x) and _per_channel(w, x) and _per_channel(b, x)):
        return None
    function = _generated("normalize", blocks.length > SUMMED, w is not None, b is not None)
    if function is None:
        return None
    x, w, b, out = aligned(x), aligned(w), aligned(b), np.empty_like(x)
    stats = np.empty((2, blocks.image_blocks * blocks.channel_blocks), np.float32)
    function(out.ctypes.data, stats.ctypes.data, x.ctypes.data, address(w), address(b), *blocks, eps)
    return out, stats[0], stats[1]


def normalize_pull(
    g: np.ndarray, x: np.ndarray, w: np.ndarray | None, blocks: Blocks, eps: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """The cotangents of `normalize`'s x, w and b for that of its first result; None where it is the caller's affair."""
    if not (suited(x) and suited(g) and g.shape == x.shape and _per_channel(w, x)):
        return None
    function = _generated("normalize_pull", blocks.length > SUMMED, w is not None)
    if function is None:
        return None
    g, x, w = aligned(g), aligned(x), aligned(w)
    dx, sums = np.empty_like(x), np.zeros((2, x.shape[1]), np.float32)
    function(dx.ctypes.data, sums.ctypes.data, g.ctypes.data, x.ctypes.data, address(w), *blocks, eps)
    return dx, sums[0], sums[1]


def _per_channel(w: np.ndarray | None, x: np.ndarray) -> bool:
    return w is None or (w.size == x.shape[1] and w.dtype == x.dtype and w.flags.c_contiguous)


@functools.cache
def _generated(name: str, *variant: bool) -> Callable[..., None] | None:
    text: Callable[..., str] = _normalize if name == "normalize" else _normalize_pull
    operands = (*(ctypes.c_void_p,) * 5, *(ctypes.c_int64,) * 5, ctypes.c_float)
    return llvm.function(f"{name}_blocks", lambda code: text(code, *variant), *operands)


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


def _every_block(code: Any, long: bool, body: Callable[[_Block, Vectors, str], None]) -> None:
    """body(block, v, number) for each block of images by channels."""
    v = Vectors(code, LANES)
    code.value("mul i64 %channels, %channel_blocks", "%all")

    def images(m: str) -> None:
        def channels(k: str) -> None:
            block = _Block(code, v, long, code.mul(m, "%images"), code.mul(k, "%channels"))
            body(block, v, code.add(code.mul(m, "%channel_blocks"), k))

        code.loop(0, "%channel_blocks", 1, channels)

    code.loop(0, "%image_blocks", 1, images)


def _statistics(block: _Block, v: Vectors) -> tuple[str, str, str]:
    """The mean of a block, one over its deviation, and one over the count of its numbers."""
    code = v.code
    count = code.mul(code.mul("%images", "%channels"), "%length")
    share = v.divide(1.0, code.spread(v.lanes, v.number, code.value(f"sitofp i64 {count} to {v.number}")))
    mean = v.multiply(block.sum(lambda part, at, total: v.add(total, part.load(v, "%x", at))), share)

    def square(part: Part, at: str, total: str) -> str:
        d = part.keep(v, v.subtract(part.load(v, "%x", at), mean))
        return v.call("fma", d, d, total)

    variance = v.add(v.multiply(block.sum(square), share), code.spread(v.lanes, v.number, "%eps"))
    return mean, v.divide(1.0, v.call("sqrt", variance)), share


def _scalar(v: Vectors, pointer: str, c: str) -> str:
    """The number of a channel, in every lane."""
    return v.code.spread(v.lanes, v.number, v.code.value(f"load {v.number}, ptr {v.code.at(v.number, pointer, c)}"))


_SIZES = "i64 %images, i64 %image_blocks, i64 %channels, i64 %channel_blocks, i64 %length, float %eps"


def _normalize(code: Any, long: bool, weighted: bool, shifted: bool) -> str:
    def body(block: _Block, v: Vectors, number: str) -> None:
        mean, factor, _ = _statistics(block, v)
        for k, x in ((0, mean), (1, factor)):
            place = code.add(number, code.mul(code.mul("%image_blocks", "%channel_blocks"), k))
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

    _every_block(code, long, body)
    return str(code.module(f"define void @normalize_blocks(ptr %out, ptr %stats, ptr %x, ptr %w, ptr %b, {_SIZES})"))


def _normalize_pull(code: Any, long: bool, weighted: bool) -> str:
    """sums: the cotangents of w and of b."""

    def body(block: _Block, v: Vectors, number_: str) -> None:
        wide = block.wide
        mean, factor, share = _statistics(block, v)

        def gather(c: str, offset: str, total: str, along: str) -> list[str]:
            def numbers(i: str, part: Part, sum_: str, dot: str) -> list[str]:
                at = code.add(offset, i)
                g = part.load(v, "%g", at)
                return [v.add(sum_, g), v.call("fma", g, part.keep(v, v.subtract(part.load(v, "%x", at), mean)), dot)]

            of_g, of_gd = v.sums("%length", numbers, 2, long=long)
            of_gd = v.multiply(of_gd, factor)
            for k, x in ((0, of_gd), (1, of_g)):
                target = code.at(v.number, "%sums", code.add(c, code.mul("%all", k)))
                one = code.value(f"extractelement {v.type} {x}, i64 0")
                before = code.value(f"load {v.number}, ptr {target}")
                code.do(f"store {v.number} {code.value(f'fadd {v.number} {before}, {one}')}, ptr {target}")
            w = _scalar(v, "%w", c) if weighted else v.constant(1.0)
            return [
                wide.add(t, v.convert("fpext", v.multiply(x, w), wide)) for t, x in ((total, of_g), (along, of_gd))
            ]

        total, along = (v.multiply(wide.convert("fptrunc", t, v), share) for t in block.rows(gather, 2))
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

    _every_block(code, long, body)
    return str(code.module(f"define void @normalize_pull_blocks(ptr %dx, ptr %sums, ptr %g, ptr %x, ptr %w, {_SIZES})"))
