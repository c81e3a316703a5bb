"""Resampling of images, grids, and the exchange of channels and space."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....core.unwrap import concrete
from .....core.value import Value, ndim_of, shape_of
from .....learn.layers import shuffles
from .....ops import grid_sample as gs
from .....ops import manipulation as mp
from .....ops import resample as rs
from .....ops import structural as st
from ..._api import aliases
from ._arguments import channels_first, floating, paddings, per_axis, tensor_argument
from .common import pad

_KINDS = {
    "nearest": rs.NEAREST, "linear": rs.LINEAR, "bilinear": rs.LINEAR, "trilinear": rs.LINEAR, "bicubic": rs.CUBIC,
    "area": rs.MEAN,
}  # fmt: skip
_AXES = {"linear": 1, "bilinear": 2, "bicubic": 2, "trilinear": 3}


def _numbers(name: str, value: Any, axes: int) -> list[float]:
    """A number for all axes, or a list of one per axis, of tensors too."""
    if isinstance(value, Value):
        found = concrete("interpolate", value)
        value = found.reshape(-1).tolist() if found.size > 1 else [found.item()] * axes
    if isinstance(value, (list, tuple)):
        numbers = [v.item() if isinstance(v, Value) else v for v in value]
    elif name == "size":
        raise TypeError(f"interpolate: size must be a list of ints or a tensor, got {type(value).__name__}")
    else:
        numbers = [value] * axes
    if len(numbers) != axes:
        raise ValueError(f"interpolate: {name} must have one entry for each of the {axes} axes of space, got {numbers}")
    return numbers


@aliases(input="x")
def interpolate(
    x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool = False,
    align_mode: int = 0, data_format: str | None = None, recompute_scale_factor: bool | None = None,
    antialias: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """(N, C, *space) resampled to a size or by a factor.

    Modes: nearest, linear (1 axis), bilinear and bicubic (2), trilinear (3), area. align_mode 1 puts the corners of
    elements, not their centres, onto each other. Raises ValueError for arguments that contradict each other.
    """
    op = "interpolate"
    x, mode = floating(op, x), mode.lower()
    axes = ndim_of(x) - 2
    if mode not in _KINDS:
        raise ValueError(f"{op}: mode must be one of {', '.join(_KINDS)}, got {mode!r}")
    if axes not in (1, 2, 3):
        raise ValueError(f"{op}: wanted 3 to 5 dimensions (batch, channels, 1 to 3 of space), got {ndim_of(x)}")
    if mode in _AXES and axes != _AXES[mode]:
        raise ValueError(f"{op}: {mode!r} is for {_AXES[mode] + 2} dimensions, got {ndim_of(x)}")
    if align_corners not in (0, 1) or align_mode not in (0, 1):
        raise ValueError(f"{op}: align_mode must be 0 or 1 and align_corners a bool, got {align_mode}, {align_corners}")
    if align_corners and mode == "nearest":
        raise ValueError(f"{op}: align_corners is only for linear, bilinear, bicubic and trilinear, not {mode!r}")
    if size is None and scale_factor is None:
        raise ValueError(f"{op}: one of size and scale_factor is needed")
    if mode == "area":  # means of what lies in each place of the result, whatever is said of corners
        size, scale_factor = [size] * axes if isinstance(size, int) else size, None if size is not None else scale_factor
    elif size is not None and scale_factor is not None:
        raise ValueError(f"{op}: only one of size and scale_factor can be given")
    formats = {1: ("NCW", "NWC", "NCL", "NLC"), 2: ("NCHW", "NHWC"), 3: ("NCDHW", "NDHWC")}[axes]
    if data_format is not None and data_format not in formats:
        raise ValueError(f"{op}: data_format must be one of {formats}, got {data_format!r}")
    last = data_format is not None and data_format.endswith("C")

    def compute(x: Any) -> Any:
        space = tuple(shape_of(x))[2:]
        steps: list[float | None] = [None] * axes
        if size is not None:
            out = [int(n) for n in _numbers("size", size, axes)]
        else:
            factors = [float(f) for f in _numbers("scale_factor", scale_factor, axes)]
            if any(f <= 0 for f in factors):
                raise ValueError(f"{op}: scale_factor must be positive, got {factors}")
            out = [math.floor(n * f) for n, f in zip(space, factors)]
            if not recompute_scale_factor:
                steps = [1.0 / f for f in factors]
        if any(n <= 0 for n in out):
            raise ValueError(f"{op}: sizes must be positive, got {out}")
        corner = mode in ("linear", "bilinear", "trilinear") and align_mode == 1 and not align_corners
        kind, whole = _KINDS[mode], bool(align_corners) and mode != "area"
        return rs.resample(x, maps=tuple(
            rs.Map(kind, n, m, None if whole else step, whole, bool(antialias), corner)
            for n, m, step in zip(space, out, steps)))  # fmt: skip

    return channels_first(compute, x, last)


def upsample(
    x: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool = False,
    align_mode: int = 0, data_format: str | None = None, name: str | None = None,
) -> Any:  # fmt: skip
    """`interpolate`."""
    return interpolate(x, size, scale_factor, mode, align_corners, align_mode, data_format)


# ------------------------------------------------------------------------------------------ grids

_MODES = {"bilinear": gs.LINEAR, "nearest": gs.NEAREST}


@aliases(input="x")
def grid_sample(
    x: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = True,
    name: str | None = None,
) -> Any:  # fmt: skip
    """`x` (N, C, H, W) read at the places `grid` (N, h, w, 2), in coordinates from -1 to 1; 5-d likewise."""
    op = "grid_sample"
    x, grid = floating(op, x), floating(op, grid, "grid")
    if mode not in _MODES:
        raise ValueError(f"{op}: mode must be one of {', '.join(_MODES)}, got {mode!r}")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"{op}: padding_mode must be 'zeros', 'border' or 'reflection', got {padding_mode!r}")
    a, b = tuple(shape_of(x)), tuple(shape_of(grid))
    if len(a) not in (4, 5) or len(a) != len(b) or a[0] != b[0] or b[-1] != len(a) - 2:
        raise ValueError(f"{op}: a grid of shape {list(b)} does not fit an input of shape {list(a)}")
    return gs.grid_sample(x, grid, mode=_MODES[mode], padding=padding_mode, align=bool(align_corners))


def affine_grid(theta: Any, out_shape: Any, align_corners: bool = True, name: str | None = None) -> Any:
    """The grid (N, H, W, 2) that maps theta (N, 2, 3) over an image of `out_shape`; 3-d likewise."""
    floating("affine_grid", theta, "theta")
    size = tuple(
        concrete("affine_grid", out_shape).tolist() if isinstance(out_shape, Value) else out_shape
    )
    axes = len(size) - 2
    if axes not in (2, 3) or tuple(shape_of(theta)) != (size[0], axes, axes + 1):
        raise ValueError(f"affine_grid: theta of shape {list(shape_of(theta))} does not fit out_shape {list(size)}")
    return gs.affine_grid(theta, size=tuple(int(n) for n in size[2:]), align=bool(align_corners))


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
    area = int(np.prod(given["kernel"]))
    if shape[1] % area or counts[0] * counts[1] != shape[2]:
        raise ValueError(f"fold: columns of shape {list(shape)} do not fit images of {list(size)}")
    out = mp.col2im(x, size=whole, padding=(0, 0), **given)
    if whole == size:
        return out
    index = (..., slice(rows[0], rows[0] + size[0]), slice(columns[0], columns[0] + size[1]))
    return st.getitem(out, index=(slice(None), slice(None), *index[1:]))
