"""Histograms of `mindspore.numpy`: how many elements or points lie in each cell; in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import Value
from .._tensor import from_array
from . import _functions as f


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


def histogram(a: Any, bins: Any = 10, range: Any = None, weights: Any = None, density: bool = False) -> tuple[Any, Any]:
    """How many elements lie in each bin, and the edges of the bins; in float32."""
    given = (v._concrete("histogram") if isinstance(v, Value) else v for v in (f.asarray(a), bins, weights))
    x, edges, w = given
    counts, found = np.histogram(x, edges, range, density=density, weights=w)
    return from_array(counts.astype(np.float32)), from_array(found.astype(np.float32))
