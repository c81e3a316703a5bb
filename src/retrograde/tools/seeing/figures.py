"""What is kept of an array when the array itself is not: its extremes, its norm, how many elements are no numbers, a sample."""

from __future__ import annotations

import functools
import math
from typing import Any, NamedTuple

import numpy as np

SAMPLE = 512
"""How many elements a histogram is made of, at most."""
FIRST = 6
"""How many elements are shown."""
BINS = 24
SMALL = 1024
"""Up to so many elements an array is copied, and looked at when somebody asks."""


class Figures:
    """Of one array; of complex numbers, of their magnitudes. `least`, `most` and `norm` are of the finite elements."""

    __slots__ = (
        "shape", "dtype", "norm", "least", "most", "mean", "nans", "infinities", "zeros", "sample", "first", "_copy",
    )  # fmt: skip

    first: tuple[Any, ...]
    _copy: np.ndarray

    def __init__(self, a: np.ndarray) -> None:
        self.shape, self.dtype = a.shape, dtype_name(a.dtype)
        if a.size <= SMALL:
            self._copy = a.copy()
        else:
            self._look(a)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(f"Figures have no {name}")
        self._look(self._copy)
        del self._copy
        return object.__getattribute__(self, name)

    def _look(self, a: np.ndarray) -> None:
        self.nans = self.infinities = 0
        flat = a.ravel(order="K")
        kind = flat.dtype.kind
        if kind == "c":
            flat = np.abs(flat)
        elif kind not in "fiu" or flat.dtype.itemsize < 4:
            flat = flat.astype(np.float32)
        if not flat.size:
            self.norm = self.least = self.most = self.mean = math.nan
            self.zeros, self.sample, self.first = 0, flat, ()
            return
        self.first = tuple(a.flat[:FIRST].tolist())
        self.zeros = int(flat.size - np.count_nonzero(flat))
        self.sample = flat[:: -(-flat.size // SAMPLE)].astype(np.float64)
        with np.errstate(all="ignore"):
            total = float(flat.sum(dtype=np.float64))
            if kind in "fcV" and not math.isfinite(total):
                finite = np.isfinite(flat)
                self.nans = int(np.isnan(flat).sum())
                self.infinities = flat.size - int(finite.sum()) - self.nans
                flat = flat[finite]
                total = float(flat.sum(dtype=np.float64))
            self.norm = norm(flat)
        self.mean = total / flat.size if flat.size else math.nan
        self.least, self.most = (float(flat.min()), float(flat.max())) if flat.size else (math.nan, math.nan)

    def histogram(self) -> tuple[float, float, list[int]] | None:
        """The least and the largest of the sample's finite elements and how many fall into each of equal intervals; None of
        nothing."""
        finite = self.sample[np.isfinite(self.sample)]
        if not finite.size:
            return None
        low, high = float(finite.min()), float(finite.max())
        span = high / 2 - low / 2  # halves, since the whole may be too large for a float
        if not span:
            return low, high, [int(finite.size)]
        places = np.minimum((finite / 2 - low / 2) / span * BINS, BINS - 1).astype(np.int64)
        return low, high, np.bincount(places, minlength=BINS).tolist()


@functools.cache
def dtype_name(dtype: np.dtype) -> str:
    """The name of a dtype, which NumPy puts together anew each time."""
    return dtype.name


class Extent(NamedTuple):
    """How large an array is, and how many of its elements are no numbers: all that is known of what passes by."""

    norm: float
    """Of the finite elements."""
    nans: int
    infinities: int


def extent(a: np.ndarray) -> Extent:
    """The extent of an array."""
    with np.errstate(all="ignore"):
        found = norm(a)
        if math.isfinite(found):
            return Extent(found, 0, 0)
        finite = np.isfinite(a)
        nans = int(np.isnan(a).sum())
        return Extent(norm(a[finite]), nans, a.size - int(finite.sum()) - nans)


def norm(a: np.ndarray) -> float:
    """The root of the sum of squares, in float64 where the array's own dtype overflows."""
    flat = a.reshape(-1)
    if flat.dtype.kind not in "fc" or flat.dtype.itemsize < 4:
        flat = flat.astype(np.float64)
    found = math.sqrt(abs(np.vdot(flat, flat)))
    if not math.isfinite(found) and flat.dtype.itemsize < 16:
        flat = flat.astype(np.complex128 if flat.dtype.kind == "c" else np.float64)
        found = math.sqrt(abs(np.vdot(flat, flat)))
    return found
