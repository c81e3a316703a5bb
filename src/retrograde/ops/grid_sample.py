"""Reading an array between its places: `grid_sample`, and `affine_grid`, which makes the places.

The coordinate of an axis decides on K places (2, or 4 for cubics) and their weights, which are polynomials of its
fractional part. `lattice_weights` has all derivatives of these polynomials, `lattice_places` the places, so the
derivatives of `grid_sample` are sums over the K^d corners, of any order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..backend.dtypes import astype, numpy_dtype
from ..backend.jit import sampling
from ..core.aval import Aval
from ..core.primitive import NOT_DIFFERENTIABLE, primitive
from ..core.value import shape_of
from .indexing import along_add, take_along_axis
from .kernels import constant, scalar, widened, widened_numpy
from .reduction import sum as reduce_sum
from .rules import batch_elementwise, batch_leading, linear, sum_tangents
from .samples import normal, sample, uniform
from .selection import keep
from .shapes import demand, matching
from .structural import broadcast_to, getitem, reshape, stack, zeros_like

Sizes = tuple[int, ...]

LINEAR, NEAREST, CUBIC = "linear", "nearest", "cubic"
ZEROS, BORDER, REFLECTION = "zeros", "border", "reflection"

# ------------------------------------------------------------------------------------------ coordinates


def _reflected(xp: Any, u: Any, n: int, align: bool) -> tuple[Any, Any]:
    """u folded into the axis, and the sign with which it moves then."""
    low, span = (0.0, n - 1.0) if align else (-0.5, float(n))
    if span == 0:
        return u * 0, u * 0
    side = xp.where(u < low, -xp.ones_like(u), xp.ones_like(u))
    distance = xp.abs(u - low)
    flips = xp.floor(distance / span)
    rest = xp.remainder(distance, span)
    odd = flips % 2 == 1
    return xp.where(odd, span - rest + low, rest + low), xp.where(odd, -side, side)


def _clipped(xp: Any, u: Any, n: int) -> tuple[Any, Any]:
    inside = (u > 0) & (u < n - 1)
    return xp.clip(xp.where(xp.isnan(u), scalar(0, u), u), 0, n - 1), astype(xp, inside, u.dtype)


def _coordinate(xp: Any, v: Any, n: int, padding: str, align: bool, cubic: bool) -> tuple[Any, Any]:
    """The place in elements that a coordinate in [-1, 1] means, and its derivative."""
    half = scalar((n - 1) / 2 if align else n / 2, v)
    u = (v + 1) * half if align else (v + 1) * half - scalar(0.5, v)
    slope = xp.full_like(u, (n - 1) / 2 if align else n / 2)
    if padding == ZEROS or cubic:  # cubics fold or clip each of their places instead
        return u, slope
    if padding == REFLECTION:
        u, sign = _reflected(xp, u, n, align)
        slope = slope * sign
    u, inside = _clipped(xp, u, n)
    return u, slope * inside


_AXIS: dict[str, Any] = {"n": 4, "padding": ZEROS, "align": False, "cubic": False}


def _axis_samples() -> Any:
    for padding in (ZEROS, BORDER, REFLECTION):
        yield sample(np.array([-1.3, -0.4, 0.3, 1.45]), **{**_AXIS, "padding": padding})
    yield sample(np.array([[-0.9], [0.21]]), **{**_AXIS, "align": True, "padding": REFLECTION})


grid_slope = primitive(
    "grid_slope", kernel=widened(lambda xp, v, **p: _coordinate(xp, v, **p)[1]),
    operands=("v",), params=tuple(_AXIS), vjps=[lambda g, _out, _v, **p: zeros_like(g)],
    jvp=lambda tangents, out, v, **p: None, kind="elementwise", batch=batch_elementwise, infer=lambda avals, p: avals[0],
    samples=_axis_samples,
)  # fmt: skip

# The place in an axis of n elements that a coordinate from -1 to 1 means.
grid_coordinate = primitive(
    "grid_coordinate",
    kernel=widened(lambda xp, v, **p: _coordinate(xp, v, **p)[0]),
    operands=("v",), params=tuple(_AXIS), vjps=[lambda g, _out, v, **p: g * grid_slope(v, **p)],
    jvp=lambda tangents, out, v, **p: tangents[0] * grid_slope(v, **p), kind="elementwise", batch=batch_elementwise,
    infer=lambda avals, p: avals[0], samples=_axis_samples,
)  # fmt: skip

_A = -0.75
# The weights of the places floor(u) + j as polynomials of t = u - floor(u), highest power first.
_POLYNOMIALS = {
    LINEAR: ((-1.0, 1.0), (1.0, 0.0)),
    CUBIC: (
        (_A, -2 * _A, _A, 0.0),
        (_A + 2, -(_A + 3), 0.0, 1.0),
        (-(_A + 2), 2 * _A + 3, -_A, 0.0),
        (-_A, _A, 0.0, 0.0),
    ),
    NEAREST: ((1.0,),),
}


@widened
def _weight(xp: Any, u: Any, *, kind: str, place: int, order: int) -> Any:
    polynomial = [float(c) for c in np.polyder(np.array(_POLYNOMIALS[kind][place]), order)] or [0.0]
    t = u - xp.floor(u)
    total = xp.full_like(t, polynomial[0])
    for coefficient in polynomial[1:]:
        total = total * t + scalar(coefficient, t)
    return total


# The weight of one of the places around u, or a derivative of it.
lattice_weight = primitive(
    "lattice_weight", kernel=_weight,
    vjps=[lambda g, _out, u, *, kind, place, order: g * lattice_weight(u, kind=kind, place=place, order=order + 1)],
    jvp=lambda tangents, out, u, *, kind, place, order: tangents[0] * lattice_weight(
        u, kind=kind, place=place, order=order + 1),
    kind="elementwise", batch=batch_elementwise, infer=lambda avals, p: avals[0],
    samples=lambda: [sample(np.array([0.3, 1.7, -0.6]), kind=kind, place=place, order=order)
                     for kind, place, order in ((LINEAR, 0, 0), (LINEAR, 1, 1), (CUBIC, 0, 0), (CUBIC, 2, 1))],
)  # fmt: skip


def _places(xp: Any, u: Any, n: int, kind: str, place: int, padding: str, align: bool) -> tuple[Any, Any]:
    """The place in the axis, and whether it lies in it."""
    u = xp.clip(xp.where(xp.isnan(u), scalar(-100, u), u), -(2.0**31), 2.0**31)
    if kind == NEAREST:
        i = xp.round(u)
    else:
        i = xp.floor(u) + (place - 1 if kind == CUBIC else place)
    if kind == CUBIC and padding != ZEROS:
        if padding == REFLECTION:
            i = _reflected(xp, i, n, align)[0]
        i = _clipped(xp, i, n)[0]
    inside = (i >= 0) & (i <= n - 1)
    return astype(xp, xp.where(inside, i, scalar(0, i)), np.int64), inside


@widened
def _corner_kernel(
    xp: Any, *us: Any, size: Sizes, kind: str, corner: Sizes, padding: str, align: bool
) -> tuple[Any, Any]:
    flat, inside = _places(xp, us[0], size[0], kind, corner[0], padding, align)
    for u, n, place in zip(us[1:], size[1:], corner[1:]):
        i, within = _places(xp, u, n, kind, place, padding, align)
        flat, inside = flat * n + i, inside & within
    return flat, inside


def _batch_places(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    out, dim = batch_elementwise(op, arrays, dims, params)
    return out, (dim, dim)


def _infer_places(avals: Any, p: dict[str, Any]) -> Any:
    shape = np.broadcast_shapes(*(a.shape for a in avals))
    return Aval(shape, np.dtype(np.int64)), Aval(shape, np.dtype(bool))


# For coordinates along each axis: where a corner of their cell lies in the axes flattened, and whether it does (else
# 0).
lattice_places = primitive(
    "lattice_places", kernel=_corner_kernel, multi=True, vjps=NOT_DIFFERENTIABLE,
    params=("size", "kind", "corner", "padding", "align"), batch=_batch_places,
    infer=_infer_places,
    samples=lambda: [sample(uniform(-1, 4, 3), uniform(-1, 4, 3, seed=1), size=(3, 4), kind=LINEAR, corner=(0, 1),
                            padding=ZEROS, align=False)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ sampling


class _Cell:
    """The corners of the cells that a grid meets: recorded, or plain, as the grid is."""

    def __init__(self, x: Any, grid: Any, mode: str, padding: str, align: bool) -> None:
        self.size = tuple(shape_of(x))[2:]
        self.mode, self.padding, self.align = mode, padding, align
        self.count = math.prod(shape_of(grid)[1:-1])
        batch = shape_of(grid)[0]
        # The last coordinate of the grid belongs to the first axis.
        flat = reshape(grid, shape=(batch, self.count, shape_of(grid)[-1]))
        self.axis_params = [{"n": n, "padding": padding, "align": align, "cubic": mode == CUBIC} for n in self.size]
        self.coordinates = [
            getitem(flat, index=(slice(None), slice(None), len(self.size) - 1 - i)) for i in range(len(self.size))
        ]
        self.us = [grid_coordinate(v, **p) for v, p in zip(self.coordinates, self.axis_params)]
        self.taps = len(_POLYNOMIALS[mode])

    def corners(self) -> Iterator[tuple[Sizes, Any, Any]]:
        """Each corner with its flattened places (N, 1, P) and the mask (N, 1, P) of those inside."""
        for corner in itertools.product(range(self.taps), repeat=len(self.size)):
            places, inside = lattice_places(
                *self.us, size=self.size, kind=self.mode, corner=corner, padding=self.padding, align=self.align
            )
            shape = (shape_of(places)[0], 1, self.count)
            yield corner, reshape(places, shape=shape), reshape(inside, shape=shape)

    def weight(self, corner: Sizes, skip: int | None = None) -> Any:
        """The weight of a corner (N, 1, P); with the derivative for the axis `skip`."""
        total = None
        for axis, (u, place) in enumerate(zip(self.us, corner)):
            w = lattice_weight(u, kind=self.mode, place=place, order=1 if axis == skip else 0)
            total = w if total is None else total * w
        return reshape(total, shape=(shape_of(total)[0], 1, self.count))

    def read(self, flat: Any, places: Any) -> Any:
        """The elements (N, C, P) of the flattened operand at a corner."""
        batch, channels, _ = shape_of(flat)
        return take_along_axis(flat, broadcast_to(places, shape=(batch, channels, self.count)), axis=2)


def _sampled(x: Any, grid: Any, mode: str, padding: str, align: bool) -> Any:
    """The result in sibling operations."""
    cell = _Cell(x, grid, mode, padding, align)
    batch, channels = shape_of(x)[:2]
    flat = reshape(x, shape=(batch, channels, math.prod(cell.size)))
    total = None
    for corner, places, inside in cell.corners():
        term = keep(cell.read(flat, places), inside) * cell.weight(corner)
        total = term if total is None else total + term
    return reshape(total, shape=(batch, channels, *tuple(shape_of(grid))[1:-1]))


@widened
def _grid_sample_kernel(xp: Any, x: Any, grid: Any, *, mode: str, padding: str, align: bool) -> Any:
    batch, channels, *size = x.shape
    count, axes = math.prod(grid.shape[1:-1]), len(size)
    flat = xp.reshape(x, (batch, channels, math.prod(size)))
    places = xp.reshape(grid, (batch, 1, count, axes))
    us = [_coordinate(xp, places[..., axes - 1 - i], n, padding, align, mode == CUBIC)[0] for i, n in enumerate(size)]
    total: Any = None
    for corner in itertools.product(range(len(_POLYNOMIALS[mode])), repeat=axes):
        at, inside = _corner_kernel(xp, *us, size=size, kind=mode, corner=corner, padding=padding, align=align)
        values = xp.take_along_axis(flat, xp.broadcast_to(at, (batch, channels, count)), axis=2)
        term = xp.where(inside, values, 0)
        for u, place in zip(us, corner):
            term = term * _weight(xp, u, kind=mode, place=place, order=0)
        total = term if total is None else total + term
    return xp.reshape(total, (batch, channels, *grid.shape[1:-1]))


@widened_numpy
def _grid_sample_numpy(x: Any, grid: Any, *, mode: str, padding: str, align: bool) -> Any:
    if sampling.suited(x, grid, mode):
        return sampling.sample(x, grid, mode, padding, align)
    return _sampled(x, grid, mode, padding, align)


def _arrays(*values: Any) -> bool:
    return all(type(x) is np.ndarray for x in values)


def _pull_x(g: Any, _out: Any, x_: Any, grid: Any, *, mode: str, padding: str, align: bool) -> Any:
    if _arrays(g, grid) and g.dtype == grid.dtype and sampling.suited(g, grid, mode):
        return sampling.sample_pull(g, tuple(shape_of(x_)), grid, mode, padding, align)
    cell = _Cell(x_, grid, mode, padding, align)
    batch, channels = shape_of(x_)[:2]
    g = reshape(g, shape=(batch, channels, cell.count))
    total = None
    for corner, places, inside in cell.corners():
        spread = along_add(
            keep(g, inside) * cell.weight(corner), broadcast_to(places, shape=(batch, channels, cell.count)),
            shape=(batch, channels, math.prod(cell.size)), axis=2,
        )  # fmt: skip
        total = spread if total is None else total + spread
    return reshape(total, shape=tuple(shape_of(x_)))


def _by_coordinate(g: Any, x: Any, grid: Any, mode: str, padding: str, align: bool) -> list[Any]:
    """For each axis the derivative of <g, result> by its coordinates (N, 1, P); without g, of the result (N, C, P)."""
    cell = _Cell(x, grid, mode, padding, align)
    batch, channels = shape_of(x)[:2]
    flat = reshape(x, shape=(batch, channels, math.prod(cell.size)))
    if g is not None:
        g = reshape(g, shape=(batch, channels, cell.count))
    totals: list[Any] = [None] * len(cell.size)
    for corner, places, inside in cell.corners():
        value = cell.read(flat, places)
        if g is not None:
            value = reduce_sum(value * g, axis=(1,), keepdims=True)
        value = keep(value, inside)
        for axis in range(len(cell.size)):
            term = value * cell.weight(corner, axis)
            totals[axis] = term if totals[axis] is None else totals[axis] + term
    slopes = [
        reshape(grid_slope(v, **p), shape=(batch, 1, cell.count)) for v, p in zip(cell.coordinates, cell.axis_params)
    ]
    return [t * s for t, s in zip(totals, slopes)]


def _pull_grid(g: Any, _out: Any, x: Any, grid: Any, *, mode: str, padding: str, align: bool) -> Any:
    if mode == NEAREST:
        return zeros_like(grid)
    if _arrays(g, x, grid) and g.dtype == x.dtype and sampling.suited(x, grid, mode):
        return sampling.grid_pull(g, x, grid, padding, align)
    parts = _by_coordinate(g, x, grid, mode, padding, align)
    return reshape(stack(*parts[::-1], axis=3), shape=tuple(shape_of(grid)))


def _grid_jvp(tangents: Any, out: Any, x: Any, grid: Any, *, mode: str, padding: str, align: bool) -> Any:
    dx, dgrid = tangents
    terms = [None if dx is None else _sampled(dx, grid, mode, padding, align)]
    if dgrid is not None and mode != NEAREST:
        parts = _by_coordinate(None, x, grid, mode, padding, align)[::-1]
        batch, count = shape_of(grid)[0], math.prod(shape_of(grid)[1:-1])
        moved = reshape(dgrid, shape=(batch, 1, count, len(parts)))
        for i, part in enumerate(parts):
            t = getitem(moved, index=(slice(None), slice(None), slice(None), i))
            terms.append(reshape(part * t, shape=tuple(shape_of(out))))
    return sum_tangents(terms)


def _batch_grid(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    out, dim = batch_leading(lambda x, grid, **p: _merged_call(op, x, grid, p), arrays, dims, params)
    return out, dim


def _merged_call(op: Any, x: Any, grid: Any, params: dict[str, Any]) -> Any:
    a, b = tuple(shape_of(x)), tuple(shape_of(grid))
    out = op(reshape(x, shape=(a[0] * a[1], *a[2:])), reshape(grid, shape=(b[0] * b[1], *b[2:])), **params)
    return reshape(out, shape=(a[0], a[1], *tuple(shape_of(out))[1:]))


def _grid_samples() -> Any:
    grid = uniform(-1.2, 1.2, 2, 2, 3, 2)
    for mode in (LINEAR, NEAREST, CUBIC):
        for padding, align in ((ZEROS, False), (BORDER, True), (REFLECTION, False)):
            yield sample(normal(2, 1, 3, 4), grid, mode=mode, padding=padding, align=align)
    yield sample(normal(1, 2, 2, 3, 3), uniform(-1, 1, 1, 1, 2, 2, 3), mode=LINEAR, padding=ZEROS, align=True)


def _infer_grid(avals: Any, p: dict[str, Any]) -> Aval:
    x, grid = avals
    demand(len(x.shape) == len(grid.shape) > 2, f"one number of axes, above 2, is wanted, got {x.shape} and {grid.shape}")
    matching("batch and coordinates of the grid", (grid.shape[0], grid.shape[-1]), (x.shape[0], len(x.shape) - 2))
    return Aval((*x.shape[:2], *grid.shape[1:-1]), x.dtype)


# x (N, C, *size) read at the places grid (N, *out, axes), in coordinates from -1 to 1 of which the first belongs to the
# last axis.
grid_sample = primitive(
    "grid_sample", kernel=_grid_sample_kernel, numpy=_grid_sample_numpy, vjps=[_pull_x, _pull_grid], jvp=_grid_jvp,
    batch=_batch_grid,
    infer=_infer_grid, samples=_grid_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ affine grids


def _base_grid(size: Sizes, align: bool, dtype: Any) -> np.ndarray:
    """Homogeneous coordinates (places, axes + 1) of the centres of the elements, the last axis first."""
    axes = []
    for n in size:
        line = np.linspace(-1, 1, n) if n > 1 else np.zeros(n)
        axes.append(line if align else line * ((n - 1) / n if n else 0))
    mesh = np.meshgrid(*axes, indexing="ij")
    return np.stack([*(m.reshape(-1) for m in mesh[::-1]), np.ones(math.prod(size))], axis=-1).astype(dtype)


@widened
def _affine_grid_kernel(xp: Any, theta: Any, *, size: Sizes, align: bool) -> Any:
    base = constant(xp, _base_grid(size, align, numpy_dtype(theta.dtype)), theta)
    out = xp.matmul(base, xp.matrix_transpose(theta))
    return xp.reshape(out, (*theta.shape[:-2], *size, len(size)))


@widened
def _affine_spread_kernel(xp: Any, g: Any, *, size: Sizes, align: bool) -> Any:
    base = constant(xp, _base_grid(size, align, numpy_dtype(g.dtype)), g)
    lead = g.shape[: g.ndim - len(size) - 1]
    flat = xp.reshape(g, (*lead, base.shape[0], len(size)))
    return xp.matmul(xp.matrix_transpose(flat), base)


def _infer_affine(avals: Any, p: dict[str, Any]) -> Aval:
    (shape, dtype), n = avals[0], len(p["size"])
    matching("the matrices", shape[-2:], (n, n + 1))
    return Aval((*shape[:-2], *p["size"], n), dtype)


def _infer_affine_spread(avals: Any, p: dict[str, Any]) -> Aval:
    (shape, dtype), n = avals[0], len(p["size"])
    matching("the places", shape[-n - 1 :], (*p["size"], n))
    return Aval((*shape[: -n - 1], n, n + 1), dtype)


# The places to which the matrices theta (..., axes, axes + 1) move the centres of an array of the given size.
affine_grid = linear(
    "affine_grid", kernel=_affine_grid_kernel,
    transpose=lambda g, _theta, *, size, align: affine_grid_spread(g, size=size, align=align), batch=batch_leading,
    infer=_infer_affine,
    samples=lambda: [sample(normal(2, 2, 3), size=(2, 3), align=False),
                     sample(normal(1, 3, 4), size=(2, 1, 2), align=True)],
)  # fmt: skip

affine_grid_spread = linear(
    "affine_grid_spread", kernel=_affine_spread_kernel,
    transpose=lambda g, _x, *, size, align: affine_grid(g, size=size, align=align), batch=batch_leading,
    infer=_infer_affine_spread,
    samples=lambda: [sample(normal(2, 2, 3, 2), size=(2, 3), align=False)],
)  # fmt: skip
