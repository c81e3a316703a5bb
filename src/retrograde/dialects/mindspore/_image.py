"""Padding, pixels and channels moved about, patches, resampling: functions of `mindspore.ops` on images."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.value import Value
from ...learn.deformable import deformable_convolution, result_size
from ...learn.layers import shuffles
from ...ops import manipulation as mp
from ...ops import resample as rs
from ...ops import structural as st
from .._shared.axes import integer, integers
from ._api import FUNCTIONS, api
from ._promote import FLOATING, single, tensor_argument

# ------------------------------------------------------------------------------------------ padding

_MODES = {"reflect": mp.REFLECT, "replicate": mp.REPLICATE, "circular": mp.CIRCULAR}


@api(method=False)
def pad(input_x: Any, padding: Any, mode: str = "constant", value: Any = None) -> Any:
    """Elements added at the ends of the last axes (the last one first in `padding`); negative widths take some away.

    mode: "constant" (`value`, 0 if not given), "reflect", "replicate" or "circular".
    """
    x = tensor_argument("pad", input_x, "input_x")
    widths = integers("pad", "padding", padding)
    if len(widths) % 2 or len(widths) // 2 > x.ndim:
        raise ValueError(f"pad: padding must hold two widths for each of at most {x.ndim} axes, got {widths}")
    pairs = tuple(zip(widths[::2], widths[1::2]))[::-1]
    full = ((0, 0),) * (x.ndim - len(pairs)) + pairs
    if any(n + a + b < 0 for n, (a, b) in zip(x.shape, full)):
        raise ValueError(f"pad: widths {widths} leave nothing of an axis of {x.shape}")
    if mode == "constant":
        if value is not None and (isinstance(value, bool) or not isinstance(value, (int, float, complex))):
            raise TypeError(f"pad: value must be a number, got {type(value).__name__}")
        return mp.pad_constant(x, widths=full, value=0 if value is None else value)
    if mode not in _MODES:
        raise ValueError(f"pad: mode must be 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}")
    if value is not None and value != 0:
        raise ValueError(f"pad: mode {mode!r} takes no value")
    for n, (a, b) in zip(x.shape, full):
        most = {"reflect": n - 1, "circular": n}.get(mode)
        if most is not None and max(a, b) > most:
            raise ValueError(f"pad: widths {(a, b)} do not fit an axis of {n} with mode {mode!r}")
    return mp.pad_edges(x, widths=full, mode=_MODES[mode])


@api(method=False)
def mirror_pad(input_x: Any, paddings: Any, mode: str) -> Any:
    """Elements added at the ends by mirroring: without (REFLECT) or with (SYMMETRIC) the last element itself."""
    from ...ops.indexing import take

    x = tensor_argument("mirror_pad", input_x, "input_x")
    rows = np.asarray(paddings._concrete("mirror_pad") if isinstance(paddings, Value) else paddings)
    if rows.shape != (x.ndim, 2):
        raise ValueError(f"mirror_pad: paddings must hold two widths for each of {x.ndim} axes, got shape {rows.shape}")
    if mode not in ("REFLECT", "SYMMETRIC"):
        raise ValueError(f"mirror_pad: mode must be 'REFLECT' or 'SYMMETRIC', got {mode!r}")
    for axis, (before, after) in enumerate(rows.tolist()):
        n = x.shape[axis]
        if max(before, after) > n - (mode == "REFLECT"):
            raise ValueError(f"mirror_pad: widths {(before, after)} do not fit an axis of {n} with mode {mode!r}")
        if before or after:
            kind = "reflect" if mode == "REFLECT" else "symmetric"
            x = take(x, np.pad(np.arange(n), (before, after), mode=kind), axis=axis)
    return x


# ------------------------------------------------------------------------------------------ pixels and channels


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


# ------------------------------------------------------------------------------------------ resampling

_KINDS = {
    "nearest": (rs.NEAREST, (1, 2, 3)), "linear": (rs.LINEAR, (1,)), "bilinear": (rs.LINEAR, (2,)),
    "trilinear": (rs.LINEAR, (3,)), "bicubic": (rs.CUBIC, (2,)), "nearest-exact": (rs.NEAREST_EXACT, (1, 2)),
    "area": (None, (1, 2, 3)),
}  # fmt: skip


def _sizes(op: str, x: Any, size: Any, scale_factor: Any, axes: int) -> tuple[tuple[int, ...], Any]:
    if (size is None) == (scale_factor is None):
        raise ValueError(f"{op}: give either size or scale_factor")
    if size is not None:
        out = integers(op, "size", size)
        return (out * axes if len(out) == 1 else out), None
    factors = tuple(scale_factor) if isinstance(scale_factor, (tuple, list)) else (scale_factor,) * axes
    if any(isinstance(f, bool) or not isinstance(f, (int, float)) for f in factors):
        raise TypeError(f"{op}: scale_factor must hold floats, got {scale_factor}")
    return tuple(math.floor(n * f) for n, f in zip(x.shape[2:], factors)), factors


@api(method=False)
def interpolate(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: Any = None, recompute_scale_factor: Any = None) -> Any:  # fmt: skip
    """(N, C, *size) resampled to a size or by a factor.

    Modes: nearest, nearest-exact, linear (one axis), bilinear and bicubic (two), trilinear (three), area.
    """
    if scale_factor is not None and not recompute_scale_factor and mode in ("bilinear", "linear", "trilinear", "bicubic"):
        raise ValueError(f"interpolate: scale_factor with mode {mode!r} needs recompute_scale_factor=True; or give size")
    return resized(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


def resized(input: Any, size: Any, scale_factor: Any, mode: str, align_corners: Any, recompute_scale_factor: Any = None,
            corner: bool = False) -> Any:  # fmt: skip
    """`interpolate`; a scale factor goes with every mode, and `corner` measures from the first elements' centres."""
    op = "interpolate"
    x = single(op, input, FLOATING)
    axes = x.ndim - 2
    if mode not in _KINDS or axes not in _KINDS[mode][1]:
        raise ValueError(f"{op}: mode {mode!r} is not possible for a tensor of shape {x.shape}")
    if align_corners is not None and mode in ("nearest", "area", "nearest-exact"):
        raise ValueError(f"{op}: align_corners is only for linear, bilinear, bicubic and trilinear, not for {mode!r}")
    out, factors = _sizes(op, x, size, scale_factor, axes)
    if len(out) != axes or any(n < 1 for n in out):
        raise ValueError(f"{op}: size must hold {axes} positive numbers, got {out}")
    if mode == "area":
        from ...learn.layers.windows import adaptive_avg_pool

        return adaptive_avg_pool(x, out)
    steps: list[Any] = [None] * axes
    if factors is not None and not recompute_scale_factor:
        steps = [1.0 / f for f in factors]
    align = bool(align_corners)
    kind = rs.KEYS if mode == "bicubic" and not align and not corner else _KINDS[mode][0]
    return rs.resample(x, maps=tuple(
        rs.Map(kind, n, m, None if align else step, align, False, corner)
        for n, m, step in zip(x.shape[2:], out, steps)))  # fmt: skip


def resizing(mode: str) -> Any:
    """The function of a Resize Primitive: images resampled to a size."""

    def resize(x: Any, size: Any, *, align_corners: bool, half_pixel_centers: bool) -> Any:
        corner = not (align_corners or half_pixel_centers)
        return resized(x, integers("Resize", "size", size), None, mode, align_corners, corner=corner)

    return resize


@api(method=False)
def upsample(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: Any = None,
             recompute_scale_factor: Any = None) -> Any:  # fmt: skip
    """Another name of `interpolate`."""
    return interpolate(input, size, scale_factor, mode, align_corners, recompute_scale_factor)


@api(method=False)
def grid_sample(input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: Any = None) -> Any:  # fmt: skip
    """The input sampled at places in [-1, 1], the last axis of the grid giving x, y (and z)."""
    from ...ops import grid_sample as gs

    x, places = single("grid_sample", input, FLOATING), single("grid_sample", grid, FLOATING)
    if mode not in ("bilinear", "nearest", "bicubic"):
        raise ValueError(f"grid_sample: mode must be 'bilinear', 'nearest' or 'bicubic', got {mode!r}")
    if padding_mode not in ("zeros", "border", "reflection"):
        raise ValueError(f"grid_sample: padding_mode must be 'zeros', 'border' or 'reflection', got {padding_mode!r}")
    if x.ndim not in (4, 5) or places.ndim != x.ndim or places.shape[-1] != x.ndim - 2:
        raise ValueError(f"grid_sample: a grid of shape {places.shape} does not go with an input of shape {x.shape}")
    kind = {"bilinear": gs.LINEAR, "nearest": gs.NEAREST, "bicubic": gs.CUBIC}[mode]
    return gs.grid_sample(x, places, mode=kind, padding=padding_mode, align=bool(align_corners))


@api(method=False)
def affine_grid(theta: Any, size: Any, align_corners: bool = False) -> Any:
    """The places that affine maps (N, 2, 3) or (N, 3, 4) take the pixels of an image of a size to."""
    from ...ops.grid_sample import affine_grid as primitive

    sizes = integers("affine_grid", "size", size)
    t = single("affine_grid", theta, FLOATING)
    if not sizes or t.shape != (sizes[0], len(sizes) - 2, len(sizes) - 1):
        raise ValueError(f"affine_grid: theta {t.shape} does not go with the size {sizes}")
    return primitive(t, size=tuple(sizes[2:]), align=bool(align_corners))


@api()
def col2im(input_x: Any, output_size: Any, kernel_size: Any, dilation: Any, padding_value: Any, stride: Any) -> Any:
    """Columns of patches (n, c, kh kw, number of patches) added up to images."""
    return FUNCTIONS["fold"](input_x, output_size, kernel_size, dilation, padding_value, stride)


@api(method=False)
def iou(anchor_boxes: Any, gt_boxes: Any, mode: str = "iou") -> Any:
    """For every pair of boxes (x0, y0, x1, y1) their common area over the area of both ("iou") or of the second ("iof")."""
    a, b = single("iou", anchor_boxes, FLOATING), single("iou", gt_boxes, FLOATING)
    if mode not in ("iou", "iof"):
        raise ValueError(f"iou: mode must be 'iou' or 'iof', got {mode!r}")
    # As MindSpore counts: a box has its last pixel too.
    low, high = FUNCTIONS["maximum"](a[None, :, :2], b[:, None, :2]), FUNCTIONS["minimum"](a[None, :, 2:], b[:, None, 2:])
    sides = FUNCTIONS["relu"](high - low + 1.0)
    common = sides[..., 0] * sides[..., 1]
    first, second = ((x[:, 2] - x[:, 0] + 1.0) * (x[:, 3] - x[:, 1] + 1.0) for x in (a, b))
    return common / (first[None, :] + second[:, None] - common if mode == "iou" else second[:, None])


@api(method=False)
def deformable_conv2d(
    x: Any, weight: Any, offsets: Any, kernel_size: Any, strides: Any, padding: Any, bias: Any = None,
    dilations: Any = (1, 1, 1, 1), groups: int = 1, deformable_groups: int = 1, modulated: bool = True,
) -> Any:  # fmt: skip
    """A convolution that reads beside its grid: `offsets` (N, 3 · deformable_groups · kh · kw, h, w) say how far across and
    down, and with which weight.

    Raises ValueError for padding that differs between the sides of an axis, and for offsets of another shape.
    """
    op = "deformable_conv2d"
    x, weight, moved = (single(op, v, FLOATING) for v in (x, weight, offsets))
    if modulated is not True:
        raise ValueError(f"{op}: modulated must be True, got {modulated!r}")
    kernel, steps, apart = (integers(op, "kernel_size", kernel_size), integers(op, "strides", strides)[2:],
                            integers(op, "dilations", dilations)[2:])  # fmt: skip
    top, bottom, left, right = integers(op, "padding", padding)
    if top != bottom or left != right:
        raise ValueError(f"{op}: padding must be the same on both sides of an axis, got {padding}")
    pads, taps = (top, left), kernel[0] * kernel[1]
    size = result_size(x.shape[2:], kernel, steps, pads, apart)
    wanted = (x.shape[0], 3 * deformable_groups * taps, *size)
    if moved.shape != wanted:
        raise ValueError(f"{op}: offsets must have the shape {wanted}, got {moved.shape}")
    parts = st.reshape(moved, shape=(x.shape[0], 3, deformable_groups * taps, *size))
    across, down, mask = (st.getitem(parts, index=(slice(None), k)) for k in range(3))
    pairs = st.reshape(st.stack(down, across, axis=2), shape=(x.shape[0], 2 * deformable_groups * taps, *size))
    out = deformable_convolution(x, pairs, weight, mask, steps, pads, apart, groups, deformable_groups)
    return out if bias is None else out + st.reshape(bias, shape=(1, bias.size, 1, 1))
