"""Interpolation, grid sampling and affine grids."""

from __future__ import annotations

import math
from typing import Any

from ...ops import grid_sample as gs
from ...ops import resample as rs
from .._shared.axes import integers
from ._api import api
from ._promote import FLOATING, single

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
