"""`rg.fft`: discrete Fourier transforms along the last axis, or along several.

n, s: the lengths to which the operand is cut off or filled up with zeros. norm: "backward" (the inverse is divided by
n), "forward" (the transform is), or "ortho" (both by the root of n). Integers and real numbers become complex.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.value import dtype_of, shape_of
from ..ops import fft as op
from ._values import axes_of, axis_of, check_device, new, rank
from .conversion import value
from .dtypes import as_dtype
from .promotion import double

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip


def _operand(name: str, x: Any, norm: str, *, real: bool = False) -> Any:
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f"fft.{name}: norm is 'backward', 'ortho' or 'forward', not {norm!r}")
    x = double(value(x))
    if real and dtype_of(x).kind == "c":
        raise TypeError(f"fft.{name}: wanted real numbers, got dtype {dtype_of(x)}")
    return x


def _one(name: str, x: Any, n: int | None, axis: int, *, half: bool = False) -> tuple[Any, tuple[int, ...], int]:
    """The operand at its length along an axis, the axis, and the length of the (whole) signal."""
    i = axis_of(f"fft.{name}", axis, rank(x))
    have = shape_of(x)[i]
    length = n if n is not None else 2 * (have - 1) if half else have
    if length < 1:
        raise ValueError(f"fft.{name}: a transform has at least 1 element, got {length}")
    return op.resized(x, (i,), (length // 2 + 1 if half else length,)), (i,), length


def _several(name: str, x: Any, s: Any, axes: Any, *, half: bool = False) -> tuple[Any, tuple[int, ...], int]:
    n = rank(x)
    if axes is None:
        axes = range(n) if s is None else range(n - len(s), n)
    order = tuple(axis_of(f"fft.{name}", a, n) for a in axes)
    axes_of(f"fft.{name}", order, n)  # refuses an axis given twice
    if s is not None and len(s) != len(order):
        raise ValueError(f"fft.{name}: {len(s)} lengths for {len(order)} axes")
    shape = shape_of(x)
    given = s if s is not None else [-1] * len(order)
    sizes = [shape[a] if k in (-1, None) else k for a, k in zip(order, given)]
    length = sizes[-1] if sizes else 1
    if half and order:
        length = 2 * (shape[order[-1]] - 1) if given[-1] in (-1, None) else given[-1]
        sizes[-1] = length // 2 + 1
    if any(k < 1 for k in (*sizes, length)):
        raise ValueError(f"fft.{name}: a transform has at least 1 element, got lengths {sizes}")
    return op.resized(x, order, tuple(sizes)), order, length


def fft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The transform along an axis.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.fft.fft(rg.asarray([1.0, 0.0]))
    Tensor([1.+0.j, 1.+0.j])
    """
    x, axes, _ = _one("fft", _operand("fft", x, norm), n, axis)
    return op.fftn(x, axes=axes, norm=norm)


def ifft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `fft`."""
    x, axes, _ = _one("ifft", _operand("ifft", x, norm), n, axis)
    return op.fftn(x, axes=axes, norm=norm, inverse=True)


def fftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The transform along several axes (None: all, or the last ones that `s` has lengths for)."""
    x, axes, _ = _several("fftn", _operand("fftn", x, norm), s, axes)
    return op.fftn(x, axes=axes, norm=norm)


def ifftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The inverse of `fftn`."""
    x, axes, _ = _several("ifftn", _operand("ifftn", x, norm), s, axes)
    return op.fftn(x, axes=axes, norm=norm, inverse=True)


def rfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The first half of the transform of real numbers; the other half is its mirror image."""
    x, axes, _ = _one("rfft", _operand("rfft", x, norm, real=True), n, axis)
    return op.rfftn(x, axes=axes, norm=norm)


def irfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `rfft`: n real numbers, 2 (m - 1) for m of the operand unless given."""
    x, axes, length = _one("irfft", _operand("irfft", x, norm), n, axis, half=True)
    return op.irfftn(x, axes=axes, n=length, norm=norm)


def rfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The transform of real numbers along several axes, half of it along the last one."""
    x, axes, _ = _several("rfftn", _operand("rfftn", x, norm, real=True), s, axes)
    return op.rfftn(x, axes=axes, norm=norm)


def irfftn(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
    """The inverse of `rfftn`."""
    x, axes, length = _several("irfftn", _operand("irfftn", x, norm), s, axes, half=True)
    return op.irfftn(x, axes=axes, n=length, norm=norm)


def hfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The real transform of a signal that is the mirror image of its conjugate, given by its first half."""
    x, axes, length = _one("hfft", _operand("hfft", x, norm), n, axis, half=True)
    return op.hfftn(x, axes=axes, n=length, norm=norm)


def ihfft(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
    """The inverse of `hfft`."""
    x, axes, _ = _one("ihfft", _operand("ihfft", x, norm, real=True), n, axis)
    return op.ihfftn(x, axes=axes, norm=norm)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of a transform of n elements, `d` apart: 0, positive ones, negative ones.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.fft.fftfreq(4)
    Tensor([ 0.  ,  0.25, -0.5 , -0.25])
    """
    check_device("fft.fftfreq", device)
    out = np.fft.fftfreq(n, d)
    return new(out if dtype is None else out.astype(as_dtype(dtype)))


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Any:
    """The frequencies of `rfft` of n elements, `d` apart."""
    check_device("fft.rfftfreq", device)
    out = np.fft.rfftfreq(n, d)
    return new(out if dtype is None else out.astype(as_dtype(dtype)))


def fftshift(x: Any, /, *, axes: Any = None) -> Any:
    """With frequency 0 in the middle of `axes` (None: all)."""
    x = value(x)
    return op.fftshift(x, axes=axes_of("fft.fftshift", axes, rank(x)))


def ifftshift(x: Any, /, *, axes: Any = None) -> Any:
    """The inverse of `fftshift`."""
    x = value(x)
    return op.fftshift(x, axes=axes_of("fft.ifftshift", axes, rank(x)), inverse=True)
