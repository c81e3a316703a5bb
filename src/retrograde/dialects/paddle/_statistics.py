"""Covariances, distances, and slices scaled to a norm."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import dtype_of, shape_of
from ...ops import distance
from ...ops import elementwise as ew
from ...ops import reduction as red
from ...ops import structural as st
from ...tensor.covariances import correlations, covariance
from .._shared.axes import axis_of
from ._api import api
from ._binary import same_dtype
from ._matmul import _ranks
from ._promote import FLOATED, pair, single, to_dtype

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


# ------------------------------------------------------------------------------------------ distances


@api()
def dist(x: Any, y: Any, p: float = 2, name: Any = None) -> Any:
    """The p-norm of the difference of two tensors."""
    same_dtype("dist", x, y)
    x, y = pair("dist", x, y, FLOATED)
    if math.isinf(p):  # equal extremes get the whole gradient each
        apart = ew.absolute_stopped(ew.subtract(x, y))
        axes = tuple(range(len(shape_of(apart))))
        return (red.amax if p > 0 else red.amin)(apart, axis=axes, keepdims=False, ties="all")
    return distance.dist(x, y, ord=float(p))


@api()
def cdist(x: Any, y: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
          name: Any = None) -> Any:  # fmt: skip
    """The p-norm distances of each row of x (..., P, M) and each of y (..., R, M), as (..., P, R)."""
    same_dtype("cdist", x, y)
    s1, s2 = tuple(shape_of(x)), tuple(shape_of(y))
    if min(len(s1), len(s2)) < 2 or s1[-1] != s2[-1] or not p >= 0:
        raise AssertionError(
            f"cdist: wanted rows of one length in at least 2 axes and p >= 0, got {list(s1)}, {list(s2)}, p={p}"
        )
    lead = np.broadcast_shapes(s1[:-2], s2[:-2])
    x, y = st.broadcast_to(x, shape=(*lead, *s1[-2:])), st.broadcast_to(y, shape=(*lead, *s2[-2:]))
    return distance.cdist(x, y, ord=float(p))


@api(method=False)
def pdist(x: Any, p: float = 2.0, name: Any = None) -> Any:
    """The p-norm distances of all pairs of rows of a matrix, those of the first row first."""
    _ranks("pdist", (2,), x)
    if not p >= 0:
        raise ValueError(f"pdist: p must not be negative, got {p}")
    return distance.pdist(x, ord=float(p))


@api(in_place=True)
def renorm(x: Any, p: float, axis: int, max_norm: float) -> Any:
    """Each slice along an axis, scaled down to the p-norm `max_norm` where it exceeds it."""
    x = single("renorm", x)
    i = axis_of("renorm", axis, len(shape_of(x)))
    if len(shape_of(x)) < 2 or p <= 0 or max_norm < 0:
        raise ValueError(f"renorm: wanted 2 axes at least, p > 0 and max_norm >= 0, got p={p}, max_norm={max_norm}")
    return distance.renorm(x, ord=float(p), axis=i, bound=float(max_norm))
