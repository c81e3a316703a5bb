"""Polynomials of `mindspore.numpy`, given by their coefficients, the highest first."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ....ops import structural as st
from .. import _arithmetic, _joining, _padding
from .._dtype import float32
from .._promote import to_dtype
from .._tensor import from_array
from . import _functions as f


def _coefficients(op: str, p: Any) -> Any:
    p = f.asarray(p)
    if p.ndim > 1:
        raise ValueError(f"{op}: the coefficients of a polynomial are a vector, got shape {p.shape}")
    return st.reshape(p, shape=(-1,))


def _aligned(op: str, a1: Any, a2: Any) -> tuple[Any, Any]:
    """Two polynomials with leading zeros, as long as each other."""
    a1, a2 = _coefficients(op, a1), _coefficients(op, a2)
    n = max(a1.size, a2.size)
    return _padding.pad(a1, (n - a1.size, 0)), _padding.pad(a2, (n - a2.size, 0))


def polyadd(a1: Any, a2: Any) -> Any:
    """The sum of two polynomials, whose highest coefficients come first."""
    return _arithmetic.add_ext(*_aligned("polyadd", a1, a2))


def polysub(a1: Any, a2: Any) -> Any:
    """The difference of two polynomials."""
    return _arithmetic.sub_ext(*_aligned("polysub", a1, a2))


def polymul(a1: Any, a2: Any) -> Any:
    """The product of two polynomials."""
    a1, a2 = _coefficients("polymul", a1), _coefficients("polymul", a2)
    rows = [_padding.pad(a2 * a1[i], (i, a1.size - 1 - i)) for i in range(a1.size)]
    return functools.reduce(_arithmetic.add_ext, rows)


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
        p = _joining.concat((to_dtype(p / f.arange(p.size, 0, -1), float32), f.asarray([constant], float32)))
    return p
