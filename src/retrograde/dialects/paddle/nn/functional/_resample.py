"""Interpolation, grid sampling and affine grids."""

from __future__ import annotations

import math
from typing import Any

from .....core.unwrap import concrete
from .....core.value import Value, ndim_of, shape_of
from .....ops import grid_sample as gs
from .....ops import resample as rs
from ..._api import aliases
from ._arguments import channels_first, floating

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
