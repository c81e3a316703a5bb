"""Differences, integrals, covariances, counts in bins, Vandermonde matrices, windows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import counting, scan
from ...ops import structural as st
from ...ops.reduction import sum as sum_op
from ...tensor import manipulation
from ...tensor import numpy_shapes as nps
from ...tensor.covariances import correlations, covariance
from .._shared.axes import axis_of, count, integer
from ._api import api
from ._data import number
from ._device import check_device
from ._dtype import as_dtype, float32, float64
from ._promote import single, to_dtype
from ._tensor import Tensor, from_array

# ------------------------------------------------------------------------------------------ differences, integrals


@api(out=True)
def diff(x: Any, n: int = 1, axis: Any = -1, prepend: Any = None, append: Any = None, name: Any = None) -> Any:
    """The differences of neighbours along an axis, taken n times; of booleans, whether they differ."""
    x = single("diff", x)
    if n < 1:
        raise ValueError(f"diff: n must be positive, got {n}")
    if not shape_of(x):
        raise IndexError("diff: a 0-d tensor has no neighbours")
    i = axis_of("diff", axis, len(shape_of(x)), error=IndexError)
    return manipulation.diff(x, axis=i, n=n, prepend=prepend, append=append)


def _samples(op: str, y: Any, x: Any, dx: Any, axis: Any) -> tuple[Any, int, Any]:
    """The sums of neighbours along an axis, the axis, and how far they are apart."""
    y = single(op, y)
    if dtype_of(y).kind not in "fc":
        raise TypeError(f"{op}: wanted floating samples, got {y.dtype}")
    if x is not None and dx is not None:
        raise ValueError(f"{op}: give either x or dx")
    i = axis_of(op, axis, len(shape_of(y)))
    before = (slice(None),) * i
    if x is None:
        width: Any = 1.0 if dx is None else number(op, "dx", dx)
    else:
        points = single(op, x)
        if len(shape_of(points)) == 1:
            points = st.reshape(points, shape=(shape_of(points)[0], *(1,) * (len(shape_of(y)) - i - 1)))
        width = manipulation.diff(points, axis=len(shape_of(points)) - (len(shape_of(y)) - i))
    sums = st.getitem(y, index=(*before, slice(1, None))) + st.getitem(y, index=(*before, slice(None, -1)))
    return sums, i, width


@api()
def trapezoid(y: Any, x: Any = None, dx: Any = None, axis: Any = -1, name: Any = None) -> Any:
    """The integral of samples along an axis by the trapezoidal rule; at points x, or at distances dx (1)."""
    sums, i, width = _samples("trapezoid", y, x, dx, axis)
    return sum_op(sums * width, axis=(i,), keepdims=False) * 0.5


@api()
def cumulative_trapezoid(y: Any, x: Any = None, dx: Any = None, axis: Any = -1, name: Any = None) -> Any:
    """The integrals up to each sample but the first along an axis by the trapezoidal rule."""
    sums, i, width = _samples("cumulative_trapezoid", y, x, dx, axis)
    return scan.cumsum(sums * width, axis=i, reverse=False) * 0.5


@api()
def vander(x: Any, n: int | None = None, increasing: bool = False, name: Any = None) -> Any:
    """The powers of the elements of a vector, in rows: n of them, the highest first unless `increasing`."""
    x = single("vander", x)
    if len(shape_of(x)) != 1:
        raise ValueError(f"vander: wanted a vector, got shape {list(shape_of(x))}")
    if n is not None and count("vander", "n", n) < 0:
        raise ValueError(f"vander: n must not be negative, got {n}")
    if n == 0:
        return from_array(np.zeros((shape_of(x)[0], 0), dtype_of(x)))
    return nps.vander(x, n, bool(increasing))


# ------------------------------------------------------------------------------------------ covariance


def _weights(op: str, name: str, w: Any, n: int) -> Any:
    if len(shape_of(single(op, w))) != 1 or shape_of(w)[0] != n:
        raise ValueError(f"{op}: {name} must hold one weight for each of {n} observations, got {list(shape_of(w))}")
    if (concrete(op, w) < 0).any():
        raise ValueError(f"{op}: {name} must not be negative")
    return w


@api(function=False)
def cov(x: Any, rowvar: bool = True, ddof: bool = True, fweights: Any = None, aweights: Any = None,
        name: Any = None) -> Any:  # fmt: skip
    """The covariance matrix of variables in rows (in columns without `rowvar`); a number for one variable.

    fweights: how often each observation counts; aweights: how important it is. ddof: divide by n - 1.
    """
    x = single("cov", x)
    ndim = len(shape_of(x))
    if not 1 <= ndim <= 2:
        raise ValueError(f"cov: wanted a vector or a matrix, got {ndim} axes")
    if dtype_of(x).kind not in "f":
        raise TypeError(f"cov: wanted a floating tensor, got {x.dtype}")
    rows = st.reshape(x, shape=(1, shape_of(x)[0])) if ndim == 1 else x if rowvar else x.T
    n = shape_of(rows)[1]
    weights = importance = None
    if fweights is not None:
        weights = to_dtype(_weights("cov", "fweights", fweights, n), x.dtype)
    if aweights is not None:
        importance = to_dtype(_weights("cov", "aweights", aweights, n), x.dtype)
        weights = importance if weights is None else weights * importance
    products, freedom = covariance(rows, weights, importance, int(bool(ddof)))
    found = products / freedom
    return st.reshape(found, shape=()) if shape_of(found) == (1, 1) else found


@api(function=False)
def corrcoef(x: Any, rowvar: bool = True, name: Any = None) -> Any:
    """The matrix of correlation coefficients of variables in rows (in columns without `rowvar`)."""
    c = correlations(cov(x, rowvar))
    return c.clip(-1, 1) if shape_of(c) else c


# ------------------------------------------------------------------------------------------ counts


def _limits(op: str, array: np.ndarray, low: Any, high: Any) -> tuple[float, float]:
    low, high = float(number(op, "min", low)), float(number(op, "max", high))
    if high < low:
        raise ValueError(f"{op}: max must not be less than min, got {low} and {high}")
    if low == 0 and high == 0 and array.size:
        low, high = float(array.min()), float(array.max())
    if not (math.isfinite(low) and math.isfinite(high)):
        raise ValueError(f"{op}: the range of bins must be finite, got {low} to {high}")
    return (low - 0.5, high + 0.5) if low == high else (low, high)


def _bins(op: str, bins: Any) -> int:
    if integer(op, "bins", bins) < 1:
        raise ValueError(f"{op}: wanted a positive number of bins, got {bins}")
    return int(bins)


@api()
def histogram(input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, weight: Any = None,
              density: bool = False, name: Any = None) -> Any:  # fmt: skip
    """How many elements (or how much weight) fall into each of equal bins between min and max, or the data's own ends.

    Whole numbers, unless there are weights or the density is asked for.
    """
    array = concrete("histogram", single("histogram", input))
    low, high = _limits("histogram", array, min, max)
    weights = None if weight is None else concrete("histogram", weight).reshape(-1)
    counts, _ = np.histogram(array.reshape(-1), _bins("histogram", bins), (low, high), bool(density), weights)
    return from_array(counts.astype(np.float32 if density or weights is not None else np.int64))


@api()
def histogram_bin_edges(input: Any, bins: int = 100, min: float = 0.0, max: float = 0.0, name: Any = None) -> Any:
    """The ends of the bins that `histogram` counts in."""
    array = concrete("histogram_bin_edges", single("histogram_bin_edges", input))
    low, high = _limits("histogram_bin_edges", array, min, max)
    return from_array(np.linspace(low, high, _bins("histogram_bin_edges", bins) + 1, dtype=np.float32))


@api()
def histogramdd(x: Any, bins: Any = 10, ranges: Any = None, density: bool = False, weights: Any = None,
                name: Any = None) -> Any:  # fmt: skip
    """The histogram of points (the last axis holds coordinates) on a grid of bins, and the edges of each coordinate."""
    array = concrete("histogramdd", single("histogramdd", x))
    if array.ndim < 2:
        raise ValueError(f"histogramdd: wanted points in the last of at least 2 axes, got {array.ndim}")
    points = array.reshape(-1, array.shape[-1])
    per = [concrete("histogramdd", b) if isinstance(b, Value) else b for b in bins] if isinstance(bins, (list, tuple)) \
        else bins  # fmt: skip
    limits = None if ranges is None else list(zip(ranges[::2], ranges[1::2]))
    w = None if weights is None else concrete("histogramdd", weights).reshape(-1)
    counts, edges = np.histogramdd(points, per, limits, bool(density), w)
    return from_array(counts.astype(array.dtype)), [from_array(e.astype(array.dtype)) for e in edges]


@api()
def bincount(x: Any, weights: Any = None, minlength: int = 0, name: Any = None) -> Any:
    """How often each number occurs in a vector of non-negative ints, or the sums of their weights."""
    x = single("bincount", x)
    if dtype_of(x).kind not in "iu":
        raise TypeError(f"bincount: wanted integers, got {x.dtype}")
    least = integer("bincount", "minlength", minlength)
    if len(shape_of(x)) != 1 or least < 0 or (shape_of(x)[0] and int(concrete("bincount", x).min()) < 0):
        raise ValueError("bincount: wanted a vector without negative numbers, and minlength >= 0")
    if weights is None:
        return counting.bincount(x, None, minlength=least)
    if tuple(shape_of(weights)) != tuple(shape_of(x)):
        raise ValueError(f"bincount: {list(shape_of(weights))} weights for {list(shape_of(x))} numbers")
    found = counting.bincount(x, weights, minlength=least)
    return to_dtype(found, float64 if dtype_of(weights) == float64.np else float32)


# ------------------------------------------------------------------------------------------ windows


def _window(name: str, shape: Any) -> None:
    @api(name, method=False)
    def f(window_length: int, periodic: bool = True, *args: Any, dtype: Any = "float32", layout: Any = None,
          device: Any = None, pin_memory: bool = False, requires_grad: bool = False,
          **options: Any) -> Tensor:  # fmt: skip
        """A window of samples that falls off to both ends."""
        op = f.__name__
        check_device(op, device)
        n = integer(op, "window_length", window_length)
        if n < 1:
            raise ValueError(f"{op}: window_length must be positive, got {n}")
        if n == 1:
            return from_array(np.ones(1, as_dtype(op, dtype).np), not requires_grad)
        full = shape(n + bool(periodic), *args, **options)
        return from_array(full[:n].astype(as_dtype(op, dtype).np), not requires_grad)

    f.__name__ = f.__qualname__ = name


def _hamming(n: int, alpha: float = 0.54, beta: float = 0.46) -> np.ndarray:
    return np.asarray(alpha - beta * np.cos(2 * np.pi * np.arange(n) / (n - 1)))


def _kaiser(n: int, beta: float = 12.0) -> np.ndarray:
    return np.kaiser(n, beta)


_window("hann_window", np.hanning)
_window("hamming_window", _hamming)
_window("blackman_window", np.blackman)
_window("kaiser_window", _kaiser)
_window("bartlett_window", np.bartlett)
