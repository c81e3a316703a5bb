"""Sequences of numbers as the frameworks compute them."""

from __future__ import annotations

from typing import Any

import numpy as np


def evenly_spaced(start: Any, end: Any, steps: int, np_dtype: np.dtype) -> np.ndarray:
    """`steps` numbers from `start` to `end`, both included.

    Both halves are counted from their own end, so that the sequence is exact at both ends and symmetric.
    """
    if steps < 2:
        return np.full(steps, start, dtype=np_dtype)
    wide = np_dtype.kind in "fc" and np_dtype.itemsize >= 4
    work = np_dtype if wide else np.dtype(np.float32 if np_dtype.kind == "f" else np.float64)
    step = work.type((end - start) / (steps - 1)) if work.kind != "c" else (end - start) / (steps - 1)
    half = steps // 2
    way = step * np.arange(steps - half).astype(work)
    array = np.empty(steps, way.dtype)
    np.add(work.type(start), way[:half], array[:half])
    np.subtract(work.type(end), way[::-1], array[half:])
    return array.astype(np_dtype, copy=False)
