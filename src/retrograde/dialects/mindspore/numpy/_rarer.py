"""Functions of `mindspore.numpy` that few programs use: polynomials, index grids, choices by piece, histograms of points."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ....core.value import Value
from ....ops import structural as st
from ....tensor import linalg
from ..._shared.axes import axis_of
from .._api import FUNCTIONS as _F
from .._dtype import float32
from .._promote import result_dtype, to_dtype
from .._tensor import from_array
from . import _functions as f

# ------------------------------------------------------------------------------------------ polynomials


def _coefficients(op: str, p: Any) -> Any:
    p = f.asarray(p)
    if p.ndim > 1:
        raise ValueError(f"{op}: the coefficients of a polynomial are a vector, got shape {p.shape}")
    return st.reshape(p, shape=(-1,))


def _aligned(op: str, a1: Any, a2: Any) -> tuple[Any, Any]:
    """Two polynomials with leading zeros, as long as each other."""
    a1, a2 = _coefficients(op, a1), _coefficients(op, a2)
    n = max(a1.size, a2.size)
    return _F["pad"](a1, (n - a1.size, 0)), _F["pad"](a2, (n - a2.size, 0))


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials, whose highest coefficients come first."""
    return _F["add"](*_aligned("polyadd", a1, a2))


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    return _F["sub"](*_aligned("polysub", a1, a2))


def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials."""
    a1, a2 = _coefficients("polymul", a1), _coefficients("polymul", a2)
    rows = [_F["pad"](a2 * a1[i], (i, a1.size - 1 - i)) for i in range(a1.size)]
    return functools.reduce(_F["add"], rows)


def polyder(p: Any, m: int = 1) -> Any:
    """The derivative of order m of a polynomial; raises ValueError for a negative order."""
    if m < 0:
        raise ValueError(f"polyder: the order m must not be negative, got {m}")
    p = _coefficients("polyder", p)
    for _ in range(m):
        if p.size <= 1:
            return from_array(np.zeros(0, np.float32))
        p = p[:-1] * f.arange(p.size - 1, 0, -1)
    return p


def polyint(p: Any, m: int = 1, k: Any = None) -> Any:
    """The antiderivative of order m of a polynomial, with the constants k (0 if not given); raises ValueError."""
    if m < 0:
        raise ValueError(f"polyint: the order m must not be negative, got {m}")
    constants = [0] * m if k is None else list(k) if isinstance(k, (list, tuple)) else [k]
    if len(constants) == 1:
        constants *= m
    if len(constants) < m:
        raise ValueError(f"polyint: k must hold {m} constants, got {len(constants)}")
    p = _coefficients("polyint", p)
    for constant in constants[:m]:
        p = _F["concat"]((to_dtype(p / f.arange(p.size, 0, -1), float32), f.asarray([constant], float32)))
    return p


def multi_dot(arrays: Sequence[Any]) -> Any:
    """The product of several matrices, in the order that costs least; vectors may stand at the ends."""
    return linalg.multi_dot([f.asarray(x) for x in arrays])


# ------------------------------------------------------------------------------------------ places


def diag_indices(n: int, ndim: int = 2) -> tuple[Any, ...]:
    """The places of the main diagonal of an array of ndim axes of length n."""
    return tuple(f.arange(n) for _ in range(ndim))


def tril_indices_from(arr: Any, k: int = 0) -> Any:
    """The places of the lower triangle of a matrix, one tensor per axis."""
    return f.tril_indices(*_matrix("tril_indices_from", arr, k))


def triu_indices_from(arr: Any, k: int = 0) -> Any:
    """The places of the upper triangle of a matrix, one tensor per axis."""
    return f.triu_indices(*_matrix("triu_indices_from", arr, k))


def _matrix(op: str, arr: Any, k: int) -> tuple[int, int, int]:
    if arr.ndim != 2:
        raise ValueError(f"{op}: wanted a matrix, got shape {arr.shape}")
    return arr.shape[0], k, arr.shape[1]


def ix_(*args: Any) -> tuple[Any, ...]:
    """Vectors, each along an axis of its own, which together index a grid; raises ValueError for other shapes."""
    found = []
    for i, x in enumerate(args):
        x = f.asarray(x)
        if x.ndim != 1:
            raise ValueError(f"ix_: argument {i} must be a vector, got shape {x.shape}")
        found.append(st.reshape(x, shape=(*(1,) * i, x.size, *(1,) * (len(args) - i - 1))))
    return tuple(found)


class _Grid:
    """`mgrid[a:b, ...]` and `ogrid[a:b, ...]`: the coordinates of a grid; a step such as 5j is a number of points."""

    def __init__(self, sparse: bool) -> None:
        self._sparse = sparse

    def __getitem__(self, key: Any) -> Any:
        found = (np.ogrid if self._sparse else np.mgrid)[key]
        if isinstance(found, (list, tuple)):
            return [f.asarray(axis.tolist()) for axis in found]
        return f.asarray(found.tolist())


mgrid, ogrid = _Grid(False), _Grid(True)


# ------------------------------------------------------------------------------------------ choices and pieces


def piecewise(x: Any, condlist: Any, funclist: Sequence[Any], *args: Any, **kw: Any) -> Any:
    """For each element what the function (or number) of the last condition that holds gives; 0, or that of the one
    function more, where none does. Raises ValueError for another number of functions."""
    x = f.asarray(x)
    conditions = [condlist] if isinstance(condlist, Value) and condlist.ndim == x.ndim else list(condlist)
    if len(funclist) not in (len(conditions), len(conditions) + 1):
        raise ValueError(f"piecewise: {len(conditions)} conditions need as many functions or one more, got {len(funclist)}")
    numbers = [g for g in funclist if not callable(g)]
    kind = functools.reduce(lambda d, g: result_dtype("piecewise", from_array(np.zeros(0, d.np)), g), numbers, x.dtype)
    if numbers and len(numbers) == len(funclist):
        kind = f.asarray(numbers).dtype

    def piece(g: Any) -> Any:
        return to_dtype(g(x, *args, **kw) if callable(g) else f.full_like(x, g, kind), kind)

    out = piece(funclist[-1]) if len(funclist) > len(conditions) else f.zeros_like(x, kind)
    for condition, g in zip(conditions, funclist):
        out = f.where(condition, piece(g), out)
    return out


def choose(a: Any, choices: Any, mode: str = "clip") -> Any:
    """For each place the element of the choice whose number stands in `a`; numbers beyond are clipped or wrapped.

    Raises ValueError for another mode.
    """
    if mode not in ("clip", "wrap", "raise"):
        raise ValueError(f"choose: mode must be 'raise', 'clip' or 'wrap', got {mode!r}")
    options = [f.asarray(c) for c in choices]
    which = f.asarray(a)
    shape = np.broadcast_shapes(which.shape, *(c.shape for c in options))
    numbers = np.broadcast_to(np.asarray(which), shape)
    numbers = numbers % len(options) if mode == "wrap" else np.clip(numbers, 0, len(options) - 1)
    together = _F["stack"]([_F["broadcast_to"](c, shape) for c in options])
    return _F["gather_elements"](together, 0, from_array(numbers[None].astype(np.int64)))[0]


def unwrap(p: Any, discont: float = math.pi, axis: int = -1) -> Any:
    """Angles with multiples of 2 pi added, so that neighbours along an axis differ by `discont` at most."""
    p = f._floated(p)
    values = p._concrete("unwrap")
    return p + from_array((np.unwrap(values, discont, axis) - values).astype(values.dtype))


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """A function `func(a, axis)` applied to one axis after the other, which stay as axes of length 1."""
    a = f.asarray(a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        i = axis_of("apply_over_axes", axis, a.ndim)
        found = func(a, i)
        a = found if found.ndim == a.ndim else st.reshape(found, shape=(*a.shape[:i], 1, *a.shape[i + 1 :]))
    return a


def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The sums of the elements so far with nan counted as 0."""
    a = f.asarray(a)
    return f.cumsum(f.where(_F["isnan"](a), f.zeros_like(a), a), axis, dtype)


def array_str(a: Any) -> str:
    """The text of a tensor."""
    return str(f.asarray(a))


# ------------------------------------------------------------------------------------------ histograms


def _plain(x: Any) -> Any:
    return [_plain(part) for part in x] if isinstance(x, (list, tuple)) else np.asarray(x) if isinstance(x, Value) else x


def histogram2d(
    x: Any, y: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Any, Any, Any]:  # fmt: skip
    """How many points lie in each cell of a grid, and the edges of the cells along both axes; in float32."""
    found = np.histogram2d(_plain(x), _plain(y), _plain(bins), range, density=density, weights=_plain(weights))
    counts, across, along = (from_array(part.astype(np.float32)) for part in found)
    return counts, across, along


def histogramdd(
    sample: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False
) -> tuple[Any, list[Any]]:  # fmt: skip
    """How many points (the rows) lie in each cell of a grid, and the edges of the cells along each axis; in float32."""
    points = np.asarray(sample) if isinstance(sample, Value) else np.stack([np.asarray(_plain(x)) for x in sample], -1)
    counts, edges = np.histogramdd(points, _plain(bins), range, density=density, weights=_plain(weights))
    return from_array(counts.astype(np.float32)), [from_array(e.astype(np.float32)) for e in edges]
