"""Rearrangements of channels and patches of images."""

from __future__ import annotations

import math
from typing import Any

from .....core.value import ndim_of, shape_of
from .....learn.layers import shuffles
from .....ops import manipulation as mp
from .....ops import structural as st
from ..._api import aliases
from ._arguments import channels_first, floating, paddings, per_axis, tensor_argument
from ._padding import pad

# ------------------------------------------------------------------------------------------ channels and space


def _layout(op: str, x: Any, data_format: str) -> bool:
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"{op}: data_format must be 'NCHW' or 'NHWC', got {data_format!r}")
    if ndim_of(tensor_argument(op, x)) != 4:
        raise ValueError(f"{op}: wanted 4 dimensions, got shape {list(shape_of(x))}")
    return data_format == "NHWC"


def pixel_shuffle(x: Any, upscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Channels moved into space: (N, C r², H, W) to (N, C, H r, W r)."""
    r = upscale_factor
    if not isinstance(r, int):
        raise TypeError(f"pixel_shuffle: upscale_factor must be an int, got {type(r).__name__}")

    def compute(x: Any) -> Any:
        c = shape_of(x)[1]
        if c % (r * r):
            raise ValueError(f"pixel_shuffle: {c} channels are no multiple of the square of {r}")
        return shuffles.pixel_shuffle(x, r)

    return channels_first(compute, x, _layout("pixel_shuffle", x, data_format))


def pixel_unshuffle(x: Any, downscale_factor: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Space moved into channels: (N, C, H r, W r) to (N, C r², H, W)."""
    r = downscale_factor
    if not isinstance(r, int):
        raise TypeError(f"pixel_unshuffle: downscale_factor must be an int, got {type(r).__name__}")

    def compute(x: Any) -> Any:
        h, w = shape_of(x)[2:]
        if r <= 0 or h % r or w % r:
            raise ValueError(f"pixel_unshuffle: an image of {h} by {w} is no multiple of {r}")
        return shuffles.pixel_unshuffle(x, r)

    return channels_first(compute, x, _layout("pixel_unshuffle", x, data_format))


def channel_shuffle(x: Any, groups: int, data_format: str = "NCHW", name: str | None = None) -> Any:
    """The channels of `groups` groups dealt out in turn."""
    if not isinstance(groups, int):
        raise TypeError(f"channel_shuffle: groups must be an int, got {type(groups).__name__}")

    def compute(x: Any) -> Any:
        c = shape_of(x)[1]
        if groups <= 0 or c % groups:
            raise ValueError(f"channel_shuffle: {c} channels cannot be divided into {groups} groups")
        return shuffles.channel_shuffle(x, groups)

    return channels_first(compute, x, _layout("channel_shuffle", x, data_format))


def temporal_shift(
    x: Any, seg_num: int, shift_ratio: float = 0.25, name: str | None = None, data_format: str = "NCHW"
) -> Any:
    """The first channels from the next, the following ones from the previous of `seg_num` frames; zeros at the ends."""

    def compute(x: Any) -> Any:
        nt, c, h, w = shape_of(x)
        if nt % seg_num:
            raise ValueError(f"temporal_shift: a batch of {nt} is no multiple of seg_num {seg_num}")
        first, second = int(c * shift_ratio), int(c * 2 * shift_ratio)
        frames = st.reshape(x, shape=(nt // seg_num, seg_num, c, h, w))
        wide = mp.pad_constant(frames, widths=((0, 0), (1, 1), (0, 0), (0, 0), (0, 0)), value=0.0)
        every = slice(None)
        parts = (
            st.getitem(wide, index=(every, slice(0, seg_num), slice(0, first))),
            st.getitem(wide, index=(every, slice(2, seg_num + 2), slice(first, second))),
            st.getitem(wide, index=(every, slice(1, seg_num + 1), slice(second, None))),
        )
        return st.reshape(st.concatenate(*parts, axis=2), shape=(nt, c, h, w))

    return channels_first(compute, x, _layout("temporal_shift", x, data_format))


def _geometry(op: str, kernel_sizes: Any, strides: Any, paddings_: Any, dilations: Any) -> tuple[dict[str, Any], Any]:
    kernel, stride = per_axis(op, "kernel_sizes", kernel_sizes, 2), per_axis(op, "strides", strides, 2)
    if isinstance(paddings_, (list, tuple)) and len(paddings_) == 4:  # top, left, bottom, right
        top, left, bottom, right = paddings_
        pads: Any = ((top, bottom), (left, right))
    else:
        pads = paddings(op, paddings_, 2)
    return {"kernel": kernel, "dilation": per_axis(op, "dilations", dilations, 2), "stride": stride}, pads


def unfold(
    x: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1, name: str | None = None
) -> Any:
    """The patches of images (N, C, H, W) as columns (N, C kh kw, number of patches)."""
    x = floating("unfold", x)
    if ndim_of(x) != 4:
        raise AssertionError(f"unfold: wanted images (N, C, H, W), got shape {list(shape_of(x))}")
    given, (rows, columns) = _geometry("unfold", kernel_sizes, strides, paddings, dilations)
    if any((*rows, *columns)):
        x = pad(x, [*columns, *rows])
    counts = [mp.window_count(n, k, s, d) for n, k, s, d in zip(
        shape_of(x)[2:], given["kernel"], given["stride"], given["dilation"])]  # fmt: skip
    if min(counts) < 1:
        raise ValueError(f"unfold: windows of {list(given['kernel'])} do not fit images of {list(shape_of(x)[2:])}")
    return mp.im2col(x, padding=(0, 0), **given)


@aliases(input="x")
def fold(
    x: Any, output_sizes: Any, kernel_sizes: Any, strides: Any = 1, paddings: Any = 0, dilations: Any = 1,
    name: str | None = None,
) -> Any:  # fmt: skip
    """Columns of patches (N, C kh kw, number of patches) added up to images (N, C, *output_sizes)."""
    x = floating("fold", x)
    if ndim_of(x) != 3:
        raise AssertionError(f"fold: wanted columns (N, C kh kw, patches), got shape {list(shape_of(x))}")
    given, (rows, columns) = _geometry("fold", kernel_sizes, strides, paddings, dilations)
    size = per_axis("fold", "output_sizes", output_sizes, 2)
    whole = (size[0] + sum(rows), size[1] + sum(columns))
    counts = [mp.window_count(n, k, s, d) for n, k, s, d in zip(
        whole, given["kernel"], given["stride"], given["dilation"])]  # fmt: skip
    shape = tuple(shape_of(x))
    area = math.prod(given["kernel"])
    if shape[1] % area or counts[0] * counts[1] != shape[2]:
        raise ValueError(f"fold: columns of shape {list(shape)} do not fit images of {list(size)}")
    out = mp.col2im(x, size=whole, padding=(0, 0), **given)
    if whole == size:
        return out
    index = (..., slice(rows[0], rows[0] + size[0]), slice(columns[0], columns[0] + size[1]))
    return st.getitem(out, index=(slice(None), slice(None), *index[1:]))
