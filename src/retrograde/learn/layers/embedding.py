"""Rows of tables by integers: what goes beyond the operation `ops.scatter_reduce.embedding`."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._errors import UnsupportedError
from ..._state import OBSERVERS, grad_mode
from ...core.arrays import on_host
from ...core.unwrap import bare, concrete
from ...core.value import LevelArray, dtype_of
from ...ops.comparison import greater
from ...ops.indexing import index_put, take
from ...ops.reduction import sum
from ...ops.selection import where
from ...ops.structural import cast
from ...tape import inplace, mutation


def renormalise(op: str, weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """Scale the rows of `weight` (n, d) that `indices` name down to a norm, in place and unrecorded.

    Raises UnsupportedError inside transforms, where values cannot be looked at.
    """
    table = weight._a
    if type(table) is not np.ndarray and not isinstance(bare(weight), LevelArray) and not on_host(weight):
        _renormalise_there(op, weight, indices, max_norm, norm_type)
        return
    if type(table) is not np.ndarray or type(indices) is not np.ndarray:
        raise UnsupportedError(f"{op}: max_norm changes the weight in place, which is not possible inside a transform")
    rows = np.unique(indices)
    norms = np.linalg.norm(table[rows].astype(np.float64), norm_type, axis=1)
    large = norms > max_norm
    if large.any():
        for observer in OBSERVERS:
            observer.reading(table)
        table[rows[large]] *= (max_norm / (norms[large] + 1e-7)).astype(table.dtype)[:, None]
        mutation.note(table)


def _renormalise_there(op: str, weight: Any, indices: Any, max_norm: float, norm_type: float) -> None:
    """`renormalise` of a table on a device, with operations."""
    rows = np.unique(indices if type(indices) is np.ndarray else concrete(op, indices))
    with grad_mode(False):
        part = take(weight, rows, axis=0)
        powers = cast(part, dtype=np.dtype(np.float64))
        norms = sum(abs(powers) ** norm_type, axis=(1,), keepdims=True) ** (1.0 / norm_type)
        shrunk = part * cast(max_norm / (norms + 1e-7), dtype=dtype_of(part))
        kept = where(greater(norms, max_norm), shrunk, part)
        inplace.update(op, weight, lambda: index_put(weight, kept, rows, axes=(0,), accumulate=False, unique=True))


def one_hot_rows(labels: np.ndarray, classes: int, dtype: Any) -> np.ndarray:
    """For each integer a vector of zeros with a one in its place; all zeros for those outside of the classes."""
    out = np.zeros((labels.size, classes), dtype)
    flat = labels.reshape(-1)
    inside = np.flatnonzero((flat >= 0) & (flat < classes))
    out[inside, flat[inside]] = 1
    return out.reshape(*labels.shape, classes)
