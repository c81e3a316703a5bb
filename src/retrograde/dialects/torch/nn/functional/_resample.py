"""Interpolation, grid sampling and affine grids."""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from .....core.value import dtype_of, shape_of
from .....ops import grid_sample as gs
from .....ops import resample as rs
from ..._api import FUNCTIONS, api
from ..._axes import integer
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES
from ..._memory import in_format_of
from ._pooling import adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d
from ._sizes import check_kind, planned

_AXES_OF = {"linear": (3,), "bilinear": (4,), "bicubic": (4,), "trilinear": (5,)}
_NUMBERS = frozenset((int, float))
_LINEAR = {1: "Linear", 2: "Bilinear", 3: "Trilinear"}


def _shown(node: Any) -> str:
    maps = node.params["maps"]
    first, axes = maps[0], len(maps)
    if first.mode == rs.MEAN:
        return f"AdaptiveAvgPool{axes}DBackward0"
    stem = {rs.NEAREST: "Nearest", rs.NEAREST_EXACT: "NearestExact", rs.CUBIC: "Bicubic"}.get(first.mode, _LINEAR[axes])
    return f"Upsample{stem}{axes}D{'Aa' if first.antialias else ''}Backward0"


NAMES.update(
    resample=_shown, affine_grid="AffineGridGeneratorBackward0",
    grid_sample=lambda node: f"GridSampler{node.edges[0].shape.__len__() - 2 if node.edges[0] is not None else 2}DBackward0",
)  # fmt: skip


def _per_axis(op: str, name: str, value: Any, axes: int) -> list[Any]:
    if isinstance(value, (list, tuple)):
        if len(value) != axes:
            raise ValueError(
                f"{op}: {name} must have one entry for each of the {axes} axes of space, got {tuple(value)}"
            )
        return list(value)
    return [value] * axes


def interpolate(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
                align_corners: bool | None = None, recompute_scale_factor: bool | None = None,
                antialias: bool = False) -> Any:  # fmt: skip
    """(N, C, *size) resampled to a size or by a factor.

    Modes: nearest, nearest-exact, linear (1 axis), bilinear and bicubic (2), trilinear (3), area.
    Raises ValueError for arguments that contradict each other, NotImplementedError for a mode that does not fit the
    axes.
    """
    shape = tuple(shape_of(tensor_argument("interpolate", input)))
    given = scale_factor if size is None else size
    # What is no plain number may be another one next time, though it is the same object.
    exact = type(given) in _NUMBERS or (type(given) is tuple and _NUMBERS.issuperset(map(type, given)))
    maps = _maps if exact else _maps.__wrapped__  # type: ignore[attr-defined]
    found = maps(shape, size, scale_factor, mode, align_corners, recompute_scale_factor, antialias)
    if mode == "area":
        return in_format_of(
            input, (adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d)[len(found) - 1](input, found)
        )
    check_kind("interpolate", input, integers=dtype_of(input) == np.uint8)
    return in_format_of(input, rs.resample(input, maps=found))


@planned
def _maps(
    shape: tuple[int, ...], size: Any, scale_factor: Any, mode: str, align_corners: bool | None,
    recompute_scale_factor: bool | None, antialias: bool,
) -> Any:  # fmt: skip
    """The map of each axis of space, or, for the mode "area", the sizes that come of it."""
    op, axes = "interpolate", len(shape) - 2
    if mode in ("nearest", "area", "nearest-exact"):
        if align_corners is not None:
            raise ValueError(
                f"{op}: align_corners is only for linear, bilinear, bicubic and trilinear, not for {mode!r}"
            )
        align = False
    else:
        align = bool(align_corners)
    if axes not in (1, 2, 3):
        raise NotImplementedError(
            f"{op}: wanted 3 to 5 dimensions (batch, channels, 1 to 3 of space), got {len(shape)}"
        )
    if size is not None and scale_factor is not None:
        raise ValueError(f"{op}: only one of size and scale_factor can be given")
    factors: list[Any] | None = None
    if size is not None:
        out = [integer(op, "size", n) for n in _per_axis(op, "size", size, axes)]
    elif scale_factor is not None:
        factors = [float(f) for f in _per_axis(op, "scale_factor", scale_factor, axes)]
        out = [math.floor(n * f) for n, f in zip(shape[2:], factors)]
    else:
        raise ValueError(f"{op}: size or scale_factor is needed")
    if recompute_scale_factor:
        if factors is None:
            raise ValueError(f"{op}: recompute_scale_factor is only possible with scale_factor")
        factors = None
    if antialias and mode not in ("bilinear", "bicubic"):
        raise ValueError(f"{op}: antialias is only possible with bilinear and bicubic, not with {mode!r}")
    if mode in _AXES_OF and len(shape) not in _AXES_OF[mode]:
        raise NotImplementedError(f"{op}: {mode!r} is for {_AXES_OF[mode][0]} dimensions, got {len(shape)}")
    if any(n <= 0 for n in out) or any(n <= 0 for n in shape[2:]):
        raise RuntimeError(f"{op}: sizes must be positive, got {shape[2:]} to {tuple(out)}")
    if mode == "area":
        return tuple(out)
    kinds = {
        "nearest": rs.NEAREST, "nearest-exact": rs.NEAREST_EXACT, "linear": rs.LINEAR, "bilinear": rs.LINEAR,
        "trilinear": rs.LINEAR, "bicubic": rs.CUBIC,
    }  # fmt: skip
    if mode not in kinds:
        raise NotImplementedError(f"{op}: mode {mode!r} is not known; there are {', '.join(kinds)} and area")
    return _resampling(shape[2:], kinds[mode], out, factors, align, antialias)


def _resampling(
    size: tuple[int, ...], kind: str, out: Sequence[int], factors: Sequence[Any] | None, align: bool, antialias: bool
) -> tuple[rs.Map, ...]:
    """The maps of axes of these sizes."""
    # By the nearest element in two dimensions, linearly, and with antialiasing, an axis of the same size stays as it is.
    if (kind == rs.LINEAR or antialias) and factors is not None:
        factors = [None if n == m else f for n, m, f in zip(size, out, factors)]
    elif kind == rs.NEAREST and factors is not None and len(size) == 2:
        factors = [None if m in (n, 2 * n) else f for n, m, f in zip(size, out, factors)]
    steps = [None if f is None or f <= 0 else 1.0 / f for f in factors or [None] * len(size)]
    return tuple(rs.Map(kind, n, m, None if align else step, align, antialias) for n, m, step in zip(size, out, steps))


def upsample(input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest",
             align_corners: bool | None = None) -> Any:  # fmt: skip
    """The old name of `interpolate`."""
    warnings.warn("nn.functional.upsample is now nn.functional.interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode, align_corners)


def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` by the nearest element."""
    warnings.warn("nn.functional.upsample_nearest is now nn.functional.interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="nearest")


def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` bilinearly with aligned corners."""
    warnings.warn("nn.functional.upsample_bilinear is now nn.functional.interpolate", stacklevel=2)
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)


# ------------------------------------------------------------------------------------------ grids

_MODES = {"bilinear": gs.LINEAR, "nearest": gs.NEAREST, "bicubic": gs.CUBIC}
_PADDINGS = ("zeros", "border", "reflection")


def _grid_sample(op: str, input: Any, grid: Any, mode: str, padding_mode: str, align: bool) -> Any:
    x, g = tuple(shape_of(tensor_argument(op, input))), tuple(shape_of(tensor_argument(op, grid, "grid")))
    if len(x) not in (4, 5) or len(g) != len(x):
        raise RuntimeError(f"{op}: input and grid must both have 4 or both 5 dimensions, got shapes {x} and {g}")
    if x[0] != g[0]:
        raise RuntimeError(f"{op}: input and grid must have one batch size, got shapes {x} and {g}")
    if g[-1] != len(x) - 2:
        raise RuntimeError(f"{op}: the last dimension of the grid must have size {len(x) - 2}, got shape {g}")
    if any(n == 0 for n in x[2:]):
        raise RuntimeError(f"{op}: the input must not be empty in space, got shape {x}")
    check_kind(op, input)
    if len(x) == 5 and mode == gs.CUBIC:
        raise RuntimeError(f"{op}: bicubic sampling is for 4 dimensions only")
    if dtype_of(input) != dtype_of(grid):
        raise RuntimeError(f"{op}: input and grid must have one dtype, got {input.dtype} and {grid.dtype}")
    return gs.grid_sample(input, grid, mode=mode, padding=padding_mode, align=bool(align))


def grid_sample(input: Any, grid: Any, mode: str = "bilinear", padding_mode: str = "zeros",
                align_corners: bool | None = None) -> Any:  # fmt: skip
    """`input` (N, C, H, W) read at the places `grid` (N, h, w, 2), in coordinates (x, y) from -1 to 1; 5-d likewise.

    Raises ValueError for a mode or padding that is not known.
    """
    if mode not in _MODES:
        raise ValueError(f"grid_sample: mode must be one of {', '.join(_MODES)}, got {mode!r}")
    if padding_mode not in _PADDINGS:
        raise ValueError(f"grid_sample: padding_mode must be one of {', '.join(_PADDINGS)}, got {padding_mode!r}")
    if align_corners is None:
        warnings.warn("grid_sample: align_corners is False unless it is given (it was True long ago)", stacklevel=2)
    return _grid_sample("grid_sample", input, grid, _MODES[mode], padding_mode, bool(align_corners))


def _sampler(name: str) -> None:
    def sampler(
        input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool
    ) -> Any:
        return _grid_sample(
            name, input, grid, list(_MODES.values())[interpolation_mode], _PADDINGS[padding_mode], align_corners
        )

    sampler.__name__ = sampler.__qualname__ = name
    sampler.__doc__ = "`nn.functional.grid_sample` with numbers for mode (bilinear 0) and padding (zeros 0)."
    FUNCTIONS[name] = sampler


for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
    _sampler(_name)


def affine_grid(theta: Any, size: Sequence[int], align_corners: bool | None = None) -> Any:
    """The grid (N, H, W, 2) that maps theta (N, 2, 3) over the centres of an image of `size`; 3-d likewise.

    Raises ValueError for a `size` of other than 4 or 5 entries or that does not fit theta.
    """
    if align_corners is None:
        warnings.warn("affine_grid: align_corners is False unless it is given (it was True long ago)", stacklevel=2)
    shape, size = tuple(shape_of(tensor_argument("affine_grid", theta))), tuple(int(n) for n in size)
    if not theta.is_floating_point():
        raise ValueError(f"affine_grid: theta must be floating, got {theta.dtype}")
    axes = len(size) - 2
    if axes not in (2, 3):
        raise NotImplementedError(f"affine_grid: size must have 4 or 5 entries, got {size}")
    if len(shape) != 3 or shape[1:] != (axes, axes + 1):
        raise ValueError(f"affine_grid: a size {size} needs theta of shape (N, {axes}, {axes + 1}), got {shape}")
    if min(size) <= 0:
        raise ValueError(f"affine_grid: sizes must be positive, got {size}")
    return _affine_grid("affine_grid", theta, size, bool(align_corners))


@api("affine_grid_generator", method=False)
def _affine_grid_generator(theta: Any, size: Sequence[int], align_corners: bool) -> Any:
    """`nn.functional.affine_grid`."""
    return _affine_grid("affine_grid_generator", theta, tuple(int(n) for n in size), bool(align_corners))


def _affine_grid(op: str, theta: Any, size: tuple[int, ...], align: bool) -> Any:
    if shape_of(theta)[0] != size[0]:
        raise RuntimeError(f"{op}: theta has a batch of {shape_of(theta)[0]}, size one of {size[0]}")
    return gs.affine_grid(theta, size=size[2:], align=align)
