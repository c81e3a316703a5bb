"""Quantiles and medians along the last axis, with the choices that frameworks differ in; no rules of any dialect."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.value import dtype_of, shape_of
from ..ops import reduction as red
from ..ops import sorting
from ..ops.comparison import less
from ..ops.elementwise import lerp, multiply, subtract
from ..ops.selection import ceil, clip, floor, rint, where
from ..ops.structural import cast, reshape, transpose

ROUNDED = {"lower": floor, "higher": ceil, "nearest": rint}
INTERPOLATIONS = ("linear", "midpoint", *ROUNDED)
"""How a quantile between two elements comes about."""

_INT64 = np.dtype(np.int64)


def as_rows(x: Any, axes: tuple[int, ...]) -> Any:
    """The operand with `axes` (non-negative) as one axis at its end."""
    shape = tuple(shape_of(x))
    rest = [i for i in range(len(shape)) if i not in axes]
    if (*rest, *axes) != tuple(range(len(shape))):
        x = transpose(x, axes=(*rest, *axes))
    return x if len(axes) == 1 else reshape(x, shape=(*(shape[i] for i in rest), math.prod(shape[i] for i in axes)))


def interpolated(rows: Any, q: Any, interpolation: str, ignore_nan: bool, ties: str = "introsort") -> Any:
    """Quantiles along the last axis, those of `q` (one dimension) in front; nan where there is one, unless ignored."""
    last = len(shape_of(rows)) - 1
    n = shape_of(rows)[last]
    kind = dtype_of(rows)
    order = sorting.argsort(rows, axis=last, descending=False, ties=ties)
    ordered = sorting.pick(rows, order, axis=last, of="sort")
    numbers = red.sum(red.is_number(rows), axis=(last,), keepdims=False)
    points = reshape(q, shape=(*shape_of(q), *(1,) * last))
    if ignore_nan:
        ranks = multiply(points, clip(subtract(numbers, np.ones((), kind)), low=0.0, high=None))
    else:
        end = np.full((), n - 1, kind)  # where NaN is, if there is one
        ranks = where(less(numbers, np.full((), n, kind)), end, multiply(points, end))
    if interpolation in ROUNDED:
        ranks = ROUNDED[interpolation](ranks)
    ranks = ranks if last == 0 else transpose(ranks, axes=(*range(1, last + 1), 0))
    below = floor(ranks)
    out = sorting.pick(ordered, cast(below, dtype=_INT64), axis=last, of="quantile")
    if interpolation not in ROUNDED:
        above = sorting.pick(ordered, cast(ceil(ranks), dtype=_INT64), axis=last, of="quantile")
        weight = subtract(ranks, below) if interpolation == "linear" else np.full((), 0.5, kind)
        out = lerp(out, above, weight)
    return out if last == 0 else transpose(out, axes=(last, *range(last)))
