"""`mindspore.scipy.fft`: cosine transforms."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import dtype_of
from ..._shared.axes import axis_of, integers
from .. import _arithmetic, _padding, _shape
from .._api import attributes
from .._dtype import float32
from .._spectral import _spectral
from .._tensor import from_array


def _cosines(n: int) -> np.ndarray:
    """The orthogonal matrix whose product with a column is its cosine transform."""
    rows = np.cos(np.pi * np.arange(n)[:, None] * (2 * np.arange(n) + 1) / (2 * n)) * np.sqrt(2 / n)
    rows[:1] /= np.sqrt(2)
    return rows


def _transformed(op: str, x: Any, type: int, sizes: Any, axes: Any, norm: Any, inverse: bool) -> Any:
    if type != 2:
        raise ValueError(f"{op}: type must be 2, got {type!r}")
    if norm not in (None, "ortho"):
        raise ValueError(f"{op}: norm must be 'ortho', got {norm!r}")
    x = _spectral(op, x)
    x = x.astype(float32) if dtype_of(x) == np.float16 else x
    last = [axis_of(op, a, x.ndim, "axes") for a in (range(x.ndim) if axes is None else axes)]
    for axis, n in zip(last, (None,) * len(last) if sizes is None else sizes):
        x = _shape.swapaxes(x, axis, -1)
        if n is not None and n != x.shape[-1]:
            x = x[..., :n] if n < x.shape[-1] else _padding.pad(x, [0, n - x.shape[-1]])
        matrix = _cosines(x.shape[-1]).astype(dtype_of(x))
        x = _shape.swapaxes(_arithmetic.matmul(x, from_array(matrix if inverse else matrix.T.copy())), axis, -1)
    return x


def dct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """The cosine transform along an axis, cut or padded to n; orthogonal, as the only norm there is."""
    return _transformed("dct", x, type, None if n is None else (n,), (axis,), norm, False)


def idct(x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: Any = None) -> Any:
    """The inverse of `dct`."""
    return _transformed("idct", x, type, None if n is None else (n,), (axis,), norm, True)


def dctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The cosine transform along several axes (all, if none are given), cut or padded to s."""
    return _several("dctn", x, type, s, axes, norm, False)


def idctn(x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: Any = None) -> Any:
    """The inverse of `dctn`."""
    return _several("idctn", x, type, s, axes, norm, True)


def _several(op: str, x: Any, type: int, s: Any, axes: Any, norm: Any, inverse: bool) -> Any:
    sizes = None if s is None else integers(op, "s", s)
    if axes is None and sizes is not None:
        axes = range(-len(sizes), 0)
    return _transformed(op, x, type, sizes, axes, norm, inverse)


__getattr__ = attributes(globals())
