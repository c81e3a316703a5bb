"""`rg.fft`: discrete Fourier transforms along the last axis, or along several.

n, s: the lengths to which the operand is cut off or filled up with zeros. norm: "backward" (the inverse is divided by
n), "forward" (the transform is), or "ortho" (both by the root of n). Integers and real numbers become complex.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.value import dtype_of, shape_of
from ..ops import fft as op
from ._values import axes_of, axis_of, check_device, made, rank
from .conversion import value
from .dtypes import as_dtype
from .operators import described
from .promotion import double

if TYPE_CHECKING:
    from .core import Tensor

__all__ = [
    "fft", "fftfreq", "fftn", "fftshift", "hfft", "ifft", "ifftn", "ifftshift", "ihfft", "irfft", "irfftn", "rfft",
    "rfftfreq", "rfftn",
]  # fmt: skip

_EXAMPLES = {
    "fft": "rg.asarray([1.0, 0.0]) -> Tensor([1.+0.j, 1.+0.j])",
    "ifft": "rg.asarray([1.0, 1.0]) -> Tensor([1.+0.j, 0.+0.j])",
    "fftn": "rg.asarray([[1.0, 2.0], [3.0, 4.0]]) -> Tensor([[10.+0.j, -2.+0.j],\n        [-4.+0.j,  0.+0.j]])",
    "ifftn": "rg.asarray([[10.0, -2.0], [-4.0, 0.0]]) -> Tensor([[1.+0.j, 2.+0.j],\n        [3.+0.j, 4.+0.j]])",
    "rfft": "rg.asarray([1.0, 2.0, 3.0, 4.0]) -> Tensor([10.+0.j, -2.+2.j, -2.+0.j])",
    "irfft": "rg.asarray([10.0, -2.0, -2.0]) -> Tensor([1., 3., 3., 3.])",
    "rfftn": "rg.asarray([[1.0, 2.0], [3.0, 4.0]]) -> Tensor([[10.+0.j, -2.+0.j],\n        [-4.+0.j,  0.+0.j]])",
    "irfftn": "rg.asarray([[10.0, -2.0], [-4.0, 0.0]]) -> Tensor([[1., 2.],\n        [3., 4.]])",
    "hfft": "rg.asarray([1.0, 2.0, 3.0]) -> Tensor([ 8., -2.,  0., -2.])",
    "ihfft": "rg.asarray([1.0, 2.0, 3.0, 4.0]) -> Tensor([ 2.5-0.j , -0.5-0.5j, -0.5-0.j ])",
}  # fmt: skip
"""What functions that are made below do to a few numbers, for their documentation."""


_ONE_AXIS = """`x` is cut off or filled up with zeros to length `n` along `axis` first; `norm` is "backward", "ortho" or
"forward". The result has the shape of `x` otherwise. Raises ValueError for another norm and a length below 1."""
_SEVERAL_AXES = """`x` is cut off or filled up with zeros to the lengths `s` along `axes` first; `norm` is "backward",
"ortho" or "forward". The result has the shape of `x` otherwise. Raises ValueError for another norm and for lengths that
are not one for each axis."""


def _transformed(
    name: str, transform: Any, x: Any, lengths: Sequence[int | None], axes: Any, norm: str, *, real: bool = False,
    half: bool = False, **params: Any,
) -> Any:  # fmt: skip
    """A transform of the operand, brought to lengths (None: its own) along axes.

    `real`: of real numbers only; `half`: of the first half of a signal, whose length the transform is given.
    """
    if norm not in ("backward", "ortho", "forward"):
        raise ValueError(f"fft.{name}: norm is 'backward', 'ortho' or 'forward', not {norm!r}")
    x = double(value(x))
    if real and dtype_of(x).kind == "c":
        raise TypeError(f"fft.{name}: wanted real numbers, got dtype {dtype_of(x)}")
    order = tuple(axis_of(f"fft.{name}", a, rank(x)) for a in axes)
    axes_of(f"fft.{name}", order, rank(x))  # refuses an axis given twice
    if len(lengths) != len(order):
        raise ValueError(f"fft.{name}: {len(lengths)} lengths for {len(order)} axes")
    sizes = [shape_of(x)[a] if n is None else n for a, n in zip(order, lengths)]
    if half:
        params["n"] = 1
        if order:
            params["n"] = 2 * (sizes[-1] - 1) if lengths[-1] is None else sizes[-1]
            sizes[-1] = params["n"] // 2 + 1
    if (least := min((*sizes, params.get("n", 1)), default=1)) < 1:
        raise ValueError(f"fft.{name}: a transform has at least 1 element, got {least}")
    return transform(op.resized(x, order, tuple(sizes)), axes=order, norm=norm, **params)


def _along(name: str, transform: Any, doc: str, **kind: Any) -> Callable[..., Tensor]:
    def f(x: Any, /, *, n: int | None = None, axis: int = -1, norm: str = "backward") -> Any:
        return _transformed(name, transform, x, (n,), (axis,), norm, **kind)

    return described(f, name, doc, _ONE_AXIS)


def _over(name: str, transform: Any, doc: str, **kind: Any) -> Callable[..., Tensor]:
    def f(x: Any, /, *, s: Any = None, axes: Any = None, norm: str = "backward") -> Any:
        x = value(x)
        if axes is None:
            axes = range(rank(x)) if s is None else range(rank(x) - len(s), rank(x))
        lengths = [None] * len(axes) if s is None else [None if n == -1 else n for n in s]
        return _transformed(name, transform, x, lengths, axes, norm, **kind)

    return described(f, name, doc, _SEVERAL_AXES)


fft = _along("fft", op.fftn, "The transform along an axis.")
ifft = _along("ifft", op.fftn, "The inverse of `fft`.", inverse=True)
fftn = _over("fftn", op.fftn, "The transform along several axes (None: all, or the last ones that `s` has lengths for).")
ifftn = _over("ifftn", op.fftn, "The inverse of `fftn`.", inverse=True)
rfft = _along(
    "rfft", op.rfftn,
    "The first n // 2 + 1 elements of the transform of n real numbers; the others are their mirror image.", real=True,
)  # fmt: skip
irfft = _along(
    "irfft", op.irfftn, "The inverse of `rfft`: n real numbers, 2 (m - 1) for m of the operand unless given.", half=True
)
rfftn = _over(
    "rfftn", op.rfftn,
    "The transform of real numbers along several axes, n // 2 + 1 elements of it along the last one.", real=True,
)  # fmt: skip
irfftn = _over("irfftn", op.irfftn, "The inverse of `rfftn`.", half=True)
hfft = _along(
    "hfft", op.hfftn, "The real transform of a signal that is the mirror image of its conjugate, given by its first half.",
    half=True,
)  # fmt: skip
ihfft = _along("ihfft", op.ihfftn, "The inverse of `hfft`.", real=True)
hfftn = _over("hfftn", op.hfftn, "As `hfft` along several axes, given by half of the last one; for the dialects.", half=True)
ihfftn = _over("ihfftn", op.ihfftn, "The inverse of `hfftn`; for the dialects.", real=True)


def fftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of a transform of n elements, `d` apart: 0, positive ones, negative ones.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.fft.fftfreq(4)
    Tensor([ 0.  ,  0.25, -0.5 , -0.25])
    """
    check_device("fft.fftfreq", device)
    out = np.fft.fftfreq(n, d)
    return made(out if dtype is None else out.astype(as_dtype(dtype)), device)


def rfftfreq(n: int, /, *, d: float = 1.0, dtype: Any = None, device: Any = None) -> Tensor:
    """The frequencies of `rfft` of n elements, `d` apart.

    The result has the shape (n // 2 + 1,).

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.fft.rfftfreq(4)
    Tensor([0.  , 0.25, 0.5 ])
    """
    check_device("fft.rfftfreq", device)
    out = np.fft.rfftfreq(n, d)
    return made(out if dtype is None else out.astype(as_dtype(dtype)), device)


def fftshift(x: Any, /, *, axes: Any = None) -> Tensor:
    """With frequency 0 in the middle of `axes` (None: all).

    The result has the shape of `x`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.fft.fftshift(rg.fft.fftfreq(4))
    Tensor([-0.5 , -0.25,  0.  ,  0.25])
    """
    x = value(x)
    return op.fftshift(x, axes=axes_of("fft.fftshift", axes, rank(x)))


def ifftshift(x: Any, /, *, axes: Any = None) -> Tensor:
    """The inverse of `fftshift`.

    The result has the shape of `x`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.fft.ifftshift(rg.fft.fftshift(rg.asarray([1, 2, 3])))
    Tensor([1, 2, 3])
    """
    x = value(x)
    return op.fftshift(x, axes=axes_of("fft.ifftshift", axes, rank(x)), inverse=True)
