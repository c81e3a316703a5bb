"""Rearrangements of channels and patches of images."""

from __future__ import annotations

from typing import Any

from ...learn.layers import shuffles
from ...ops import manipulation as mp
from ...ops import structural as st
from .._shared.axes import integer, integers
from ._api import api
from ._promote import tensor_argument


def _image(op: str, x: Any) -> tuple[Any, tuple[int, ...]]:
    x = tensor_argument(op, x)
    if x.ndim < 3:
        raise ValueError(f"{op}: wanted at least 3 axes, got shape {x.shape}")
    return x, x.shape


@api(method=False)
def pixel_shuffle(input: Any, upscale_factor: int) -> Any:
    """Channels moved into space: (..., c r², h, w) to (..., c, h r, w r)."""
    x, (*_, c, _h, _w) = _image("pixel_shuffle", input)
    r = integer("pixel_shuffle", "upscale_factor", upscale_factor)
    if r < 1 or c % (r * r):
        raise ValueError(f"pixel_shuffle: {c} channels are no multiple of the square of {r}")
    return shuffles.pixel_shuffle(x, r)


@api(method=False)
def pixel_unshuffle(input: Any, downscale_factor: int) -> Any:
    """Space moved into channels: (..., c, h r, w r) to (..., c r², h, w)."""
    x, (*_, h, w) = _image("pixel_unshuffle", input)
    r = integer("pixel_unshuffle", "downscale_factor", downscale_factor)
    if r < 1 or h % r or w % r:
        raise ValueError(f"pixel_unshuffle: an image of {h} by {w} is no multiple of {r}")
    return shuffles.pixel_unshuffle(x, r)


@api(method=False)
def channel_shuffle(x: Any, groups: int) -> Any:
    """The channels (axis 1) of `groups` groups dealt out in turn."""
    x, shape = _image("channel_shuffle", x)
    if integer("channel_shuffle", "groups", groups) < 1 or shape[1] % groups:
        raise ValueError(f"channel_shuffle: {shape[1]} channels cannot be divided into {groups} groups")
    return shuffles.channel_shuffle(x, groups)


def _geometry(op: str, **given: Any) -> dict[str, tuple[int, int]]:
    out = {}
    for name, value in given.items():
        found = integers(op, name, value)
        found = found * 2 if len(found) == 1 else found
        if len(found) != 2 or min(found) < (name != "padding"):
            raise ValueError(f"{op}: {name} must be a positive int or two, got {value}")
        out[name] = (found[0], found[1])
    return out


@api()
def unfold(input: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """The patches of images (n, c, h, w) as columns (n, c kh kw, number of patches)."""
    x = tensor_argument("unfold", input)
    if x.ndim != 4:
        raise ValueError(f"unfold: wanted images (n, c, h, w), got shape {x.shape}")
    return mp.im2col(x, **_geometry("unfold", kernel=kernel_size, dilation=dilation, padding=padding, stride=stride))


@api()
def fold(input: Any, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> Any:
    """Columns of patches (n, c kh kw, number of patches) added up to images (n, c, *output_size)."""
    x = tensor_argument("fold", input)
    size = integers("fold", "output_size", output_size)
    given = _geometry("fold", kernel=kernel_size, dilation=dilation, padding=padding, stride=stride)
    if x.ndim == 4:  # (n, c, kh kw, patches), as Col2Im has it
        x = st.reshape(x, shape=(x.shape[0], x.shape[1] * x.shape[2], x.shape[3]))
    area = given["kernel"][0] * given["kernel"][1]
    if x.ndim != 3 or x.shape[1] % area:
        raise ValueError(f"fold: wanted columns (n, c kh kw, patches) for windows of {given['kernel']}, got {x.shape}")
    return mp.col2im(x, size=size, **given)


@api()
def col2im(input_x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any) -> Any:
    """Columns of patches (n, c, kh kw, number of patches) added up to images."""
    return fold(input_x, output_size, kernel_size, dilation, padding_value, stride)
