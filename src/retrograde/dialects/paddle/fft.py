"""`paddle.fft`: discrete Fourier transforms of real and complex tensors, and the frequencies of their results."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import dtype_of, shape_of
from ...ops import fft as op
from ...tensor import fft as native
from .._shared.axes import axes_of, axis_of, integer, integers
from .._shared.registry import defined
from ._api import attributes, write_out
from ._device import check_device
from ._dtype import FROM_NUMPY, as_dtype, default_dtype, float32
from ._promote import single, to_dtype
from ._tensor import from_array

_NORMS = ("forward", "backward", "ortho")

_REAL = ("rfft", "ihfft")


def _checked(name: str, x: Any, norm: str, family: str) -> Any:
    x = single(name, x)
    if norm not in _NORMS:
        raise ValueError(f"fft.{name}: norm must be forward, backward or ortho, got {norm!r}")
    if dtype_of(x).kind in "iub":
        x = to_dtype(x, float32)
    if family in _REAL and dtype_of(x).kind == "c":
        raise RuntimeError(f"fft.{name}: wanted a real tensor, got {FROM_NUMPY[dtype_of(x)]}")
    return x


def _one(name: str, f: Any) -> Any:
    def function(x: Any, n: int | None = None, axis: int = -1, norm: str = "backward", name: Any = None, *,
                 out: Any = None) -> Any:  # fmt: skip
        """The transform along an axis, of n elements: cut, or filled up with zeros."""
        op_name = function.__name__
        x = _checked(op_name, x, norm, op_name)
        if n is not None and integer(op_name, "n", n) < 1:
            raise ValueError(f"fft.{op_name}: n must be positive, got {n}")
        if not shape_of(x):
            raise ValueError(f"fft.{op_name}: a 0-d tensor has no axis to transform")
        found = f(x, n=n, axis=axis_of(op_name, axis, len(shape_of(x))), norm=norm)
        if op_name == "ihfft":
            found = found + 0.0  # imaginary parts of 0 are positive, as PaddlePaddle prints them
        return found if out is None else write_out(op_name, found, out)

    return defined(name, function)


def _lengths(op_name: str, x: Any, s: Any, axes: Any) -> tuple[Any, tuple[int, ...]]:
    n = len(shape_of(x))
    sizes = None if s is None else integers(op_name, "s", s)
    if axes is None:
        axes = range(n) if sizes is None else range(n - len(sizes), n)
    order = tuple(axis_of(op_name, a, n) for a in integers(op_name, "axes", tuple(axes)))
    if len(set(order)) != len(order) or (sizes is not None and len(sizes) != len(order)):
        raise ValueError(f"fft.{op_name}: lengths {s} and axes {list(order)} do not fit")
    if sizes is not None and any(k < 1 for k in sizes):
        raise ValueError(f"fft.{op_name}: lengths must be positive, got {list(sizes)}")
    return sizes, order


def _several(name: str, f: Any, *, two: bool) -> Any:
    default: Any = (-2, -1) if two else None

    def function(x: Any, s: Any = None, axes: Any = default, norm: str = "backward", name: Any = None, *,
                 out: Any = None) -> Any:  # fmt: skip
        """The transform along several axes, of the lengths s: cut, or filled up with zeros."""
        op_name = function.__name__
        x = _checked(op_name, x, norm, op_name.rstrip("n2"))
        if two and axes is not None and len(axes) != 2:
            raise ValueError(f"fft.{op_name}: wanted two axes, got {list(axes)}")
        sizes, order = _lengths(op_name, x, s, axes)
        if not order and "hfft" in op_name:
            raise ValueError(f"fft.{op_name}: there is no axis to transform")
        found = f(x, s=sizes, axes=order, norm=norm)
        if op_name[:2] == "ih":
            found = found + 0.0  # as above
        return found if out is None else write_out(op_name, found, out)

    return defined(name, function)


fft, ifft, rfft = _one("fft", native.fft), _one("ifft", native.ifft), _one("rfft", native.rfft)
irfft, hfft, ihfft = _one("irfft", native.irfft), _one("hfft", native.hfft), _one("ihfft", native.ihfft)
fft2, ifft2 = _several("fft2", native.fftn, two=True), _several("ifft2", native.ifftn, two=True)
rfft2, irfft2 = _several("rfft2", native.rfftn, two=True), _several("irfft2", native.irfftn, two=True)
hfft2, ihfft2 = _several("hfft2", native.hfftn, two=True), _several("ihfft2", native.ihfftn, two=True)
fftn, ifftn = _several("fftn", native.fftn, two=False), _several("ifftn", native.ifftn, two=False)
rfftn, irfftn = _several("rfftn", native.rfftn, two=False), _several("irfftn", native.irfftn, two=False)
hfftn, ihfftn = _several("hfftn", native.hfftn, two=False), _several("ihfftn", native.ihfftn, two=False)


def _frequencies(name: str, f: Any) -> Any:
    def function(n: int, d: float = 1.0, dtype: Any = None, name: Any = None, *, out: Any = None, device: Any = None,
                 requires_grad: bool = False) -> Any:  # fmt: skip
        """The frequencies of a transform of n elements, d apart."""
        check_device(function.__name__, device)
        wanted = default_dtype() if dtype is None else as_dtype(function.__name__, dtype)
        found = from_array(np.asarray(f(n, d)).astype(wanted.np), not requires_grad)
        return found if out is None else write_out(function.__name__, found, out)

    return defined(name, function)


fftfreq, rfftfreq = _frequencies("fftfreq", np.fft.fftfreq), _frequencies("rfftfreq", np.fft.rfftfreq)


def _shifted(name: str, inverse: bool) -> Any:
    def function(x: Any, axes: Any = None, name: Any = None) -> Any:
        """The tensor with frequency 0 moved to the middle of axes (all, if none is given), or back."""
        x = single(function.__name__, x)
        return op.fftshift(x, axes=axes_of(function.__name__, axes, len(shape_of(x))), inverse=inverse)

    return defined(name, function)


fftshift, ifftshift = _shifted("fftshift", False), _shifted("ifftshift", True)

__all__ = [
    "fft", "fft2", "fftfreq", "fftn", "fftshift", "hfft", "hfft2", "hfftn", "ifft", "ifft2", "ifftn", "ifftshift",
    "ihfft", "ihfft2", "ihfftn", "irfft", "irfft2", "irfftn", "rfft", "rfft2", "rfftfreq", "rfftn",
]  # fmt: skip

__getattr__ = attributes(globals())
