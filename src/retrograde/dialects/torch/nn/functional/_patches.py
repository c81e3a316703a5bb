"""Rearrangements of channels and patches of images."""

from __future__ import annotations

from typing import Any

from .....core.value import shape_of
from .....learn.layers import shuffles
from .....ops import manipulation as mp
from .....ops import structural as st
from ..._api import api
from ..._axes import integer
from ..._graph_nodes import NAMES, show_as
from ..._tensor import Tensor

NAMES.update(im2col="Im2ColBackward0", col2im="Col2ImBackward0")


@api(method=False)
def pixel_shuffle(input: Tensor, upscale_factor: int) -> Tensor:
    """Channels moved into space: (..., c·r², h, w) to (..., c, h·r, w·r)."""
    shape, r = tuple(shape_of(input)), upscale_factor
    if len(shape) < 3:
        raise RuntimeError(f"pixel_shuffle: wanted at least 3 dimensions, got {len(shape)}")
    if r <= 0 or shape[-3] % (r * r):
        raise RuntimeError(f"pixel_shuffle: {shape[-3]} channels are no multiple of the square of {r}")
    return show_as(shuffles.pixel_shuffle(input, r), "PixelShuffleBackward0")


@api(method=False)
def pixel_unshuffle(input: Tensor, downscale_factor: int) -> Tensor:
    """Space moved into channels: (..., c, h·r, w·r) to (..., c·r², h, w)."""
    shape, r = tuple(shape_of(input)), downscale_factor
    if len(shape) < 3:
        raise RuntimeError(f"pixel_unshuffle: wanted at least 3 dimensions, got {len(shape)}")
    if r <= 0 or shape[-1] % r or shape[-2] % r:
        raise RuntimeError(f"pixel_unshuffle: an image of {shape[-2]} by {shape[-1]} is no multiple of {r}")
    return show_as(shuffles.pixel_unshuffle(input, r), "PixelUnshuffleBackward0")


@api(method=False)
def channel_shuffle(input: Tensor, groups: int) -> Tensor:
    """The channels (dimension 1) of `groups` groups dealt out in turn."""
    shape = tuple(shape_of(input))
    if len(shape) < 3:
        raise RuntimeError(f"channel_shuffle: wanted at least 3 dimensions, got {len(shape)}")
    if groups <= 0 or shape[1] % groups:
        raise RuntimeError(f"channel_shuffle: {shape[1]} channels cannot be divided into {groups} groups")
    return show_as(shuffles.channel_shuffle(input, groups), "ChannelShuffleBackward0")

api("native_channel_shuffle", method=False)(channel_shuffle)

native_channel_shuffle = channel_shuffle


def _pair(op: str, name: str, x: Any) -> tuple[int, int]:
    pair = (x, x) if isinstance(x, int) else tuple(x)
    if len(pair) == 1:
        pair = pair * 2
    if len(pair) != 2:
        raise RuntimeError(f"{op}: {name} must be an int or two, got {x!r}")
    return integer(op, name, pair[0]), integer(op, name, pair[1])


def _geometry(op: str, kernel_size: Any, dilation: Any, padding: Any, stride: Any) -> dict[str, tuple[int, int]]:
    given = {
        "kernel": _pair(op, "kernel_size", kernel_size), "dilation": _pair(op, "dilation", dilation),
        "padding": _pair(op, "padding", padding), "stride": _pair(op, "stride", stride),
    }  # fmt: skip
    for name, pair in given.items():
        if min(pair) < (0 if name == "padding" else 1):
            wanted = "not negative" if name == "padding" else "positive"
            raise RuntimeError(f"{op}: {name} must be {wanted}, got {pair}")
    return given


def unfold(input: Tensor, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Tensor:
    """The patches of images (n, c, h, w) as columns (n, c·kh·kw, number of patches); `n` may be absent."""
    given = _geometry("unfold", kernel_size, dilation, padding, stride)
    shape = tuple(shape_of(input))
    if len(shape) not in (3, 4) or 0 in shape[-3:]:
        raise RuntimeError(f"unfold: wanted images (n, c, h, w) or one (c, h, w), got shape {list(shape)}")
    counts = _patches(shape[-2:], given)
    if min(counts) < 1:
        raise RuntimeError(f"unfold: windows of {given['kernel']} do not fit images of {shape[-2]} by {shape[-1]}")
    if len(shape) == 3:
        out = mp.im2col(st.reshape(input, shape=(1, *shape)), **given)
        return show_as(st.reshape(out, shape=tuple(shape_of(out))[1:]), "Im2ColBackward0")
    return mp.im2col(input, **given)


def _patches(size: tuple[int, ...], given: dict[str, tuple[int, int]]) -> tuple[int, int]:
    first, second = (
        mp.window_count(size[i] + 2 * given["padding"][i], given["kernel"][i], given["stride"][i], given["dilation"][i])
        for i in (0, 1)
    )
    return first, second


def fold(
    input: Tensor, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1
) -> Tensor:
    """Columns of patches (n, c·kh·kw, number of patches) added up to images (n, c, *output_size); `n` may be absent."""
    given = _geometry("fold", kernel_size, dilation, padding, stride)
    size = _pair("fold", "output_size", output_size)
    shape = tuple(shape_of(input))
    if len(shape) not in (2, 3):
        raise RuntimeError(f"fold: wanted columns (n, c·kh·kw, patches) or without n, got shape {list(shape)}")
    area = given["kernel"][0] * given["kernel"][1]
    if shape[-2] % area:
        raise RuntimeError(f"fold: {shape[-2]} rows are no multiple of the {area} elements of a window")
    counts = _patches(size, given)
    if min(counts) < 1 or counts[0] * counts[1] != shape[-1]:
        raise RuntimeError(f"fold: images of {size} have {counts[0] * counts[1]} patches, got {shape[-1]} columns")
    if len(shape) == 2:
        out = mp.col2im(st.reshape(input, shape=(1, *shape)), size=size, **given)
        return show_as(st.reshape(out, shape=tuple(shape_of(out))[1:]), "Col2ImBackward0")
    return mp.col2im(input, size=size, **given)
