"""Grids and triangles of places: what `mindspore.numpy` offers to index with."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....ops import structural as st
from . import _functions as f


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
