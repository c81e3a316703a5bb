"""`torch.fft`: discrete Fourier transforms."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import fft as ops
from ...ops import structural as st
from . import _dtype
from ._api import attributes, with_out
from ._axes import axes_of, axis_of, integer
from ._data import np_dtype_of
from ._dtype import FROM_NUMPY
from ._graph_nodes import NAMES, show_as
from ._size import check_device
from ._tensor import Tensor, from_array

NAMES.update(fft_c2c="FftC2CBackward0", fft_r2c="FftR2CBackward0", fft_c2r="FftC2RBackward0")

_NORMS = (None, "backward", "ortho", "forward")


def _norm(op: str, norm: str | None) -> str:
    if norm not in _NORMS:
        raise RuntimeError(f"{op}: norm must be 'backward', 'ortho' or 'forward', got {norm!r}")
    return norm or "backward"


def _input(op: str, x: Any, *, real: bool = False) -> Any:
    """The operand in a floating dtype that has a transform."""
    if not isinstance(x, Value):
        raise TypeError(f"{op}: wanted a tensor, got {type(x).__name__}")
    d = FROM_NUMPY[dtype_of(x)]
    if real and d.is_complex:
        raise RuntimeError(f"{op}: wanted a real tensor, got {d}")
    if d.category < 2:
        return st.cast(x, dtype=_dtype.get_default_dtype().np)
    if d.itemsize == 2:
        raise RuntimeError(f"{op}: there is no transform of {d}; convert to float32")
    return x


def _one(op: str, x: Any, n: Any, dim: int) -> tuple[int, int]:
    """The axis and the number of elements along it."""
    shape = shape_of(x)
    axis = axis_of(op, dim, len(shape))
    if not shape:
        raise IndexError(f"{op}: dim {dim} was given for a 0-d tensor, which has no dimension to transform")
    n = shape[axis] if n is None else integer(op, "n", n)
    if n < 1:
        raise RuntimeError(f"{op}: the number of points must be at least 1, got {n}")
    return axis, n


def _several(op: str, x: Any, s: Any, dim: Any) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes and the numbers of elements along them."""
    shape = tuple(shape_of(x))
    if dim is not None:
        axes = axes_of(op, dim, len(shape))
    elif s is not None:
        count = 1 if isinstance(s, int) else len(s)
        if count > len(shape):
            raise RuntimeError(f"{op}: {count} sizes were given for a tensor of {len(shape)} dimensions")
        axes = tuple(range(len(shape) - count, len(shape)))
    else:
        axes = tuple(range(len(shape)))
    if s is None:
        sizes = tuple(shape[a] for a in axes)
    else:
        given = (s,) if isinstance(s, int) else tuple(s)
        if len(given) != len(axes):
            raise RuntimeError(f"{op}: {len(given)} sizes were given for {len(axes)} dimensions")
        sizes = tuple(shape[a] if n == -1 else n for a, n in zip(axes, given))
    if any(n < 1 for n in sizes):
        raise RuntimeError(f"{op}: the number of points must be at least 1, got {list(sizes)}")
    return axes, sizes


def _public(f: Callable[..., Any]) -> Callable[..., Any]:
    return functools.wraps(f)(with_out(f"fft.{f.__name__}", f))


def _complex(op: str, x: Any, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None, inverse: bool) -> Any:
    given = _norm(op, norm)
    x = ops.resized(x, axes, sizes)
    if not axes:
        return ops.as_complex(x)
    return ops.fftn(x, axes=axes, norm=given, inverse=inverse)


def _real_inverse(op: str, x: Any, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None) -> Any:
    given = _norm(op, norm)
    if not axes:
        raise RuntimeError(f"{op}: at least one dimension must be transformed")
    half = (*sizes[:-1], sizes[-1] // 2 + 1)
    return ops.irfftn(ops.resized(x, axes, half), axes=axes, n=sizes[-1], norm=given)


def _last(op: str, x: Any, s: Any, axes: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of a real result: unless given, the last one is that of an even signal."""
    last_given = s is not None and (s if isinstance(s, int) else (*s, -1)[len(s) - 1]) != -1
    if last_given or not axes:
        return sizes
    n = 2 * (shape_of(x)[axes[-1]] - 1)
    if n < 1:
        raise RuntimeError(f"{op}: the number of points must be at least 1, got {n}; pass it")
    return (*sizes[:-1], n)


@_public
def fft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The discrete Fourier transform along a dimension, of n points."""
    x = _input("fft.fft", input)
    axis, n = _one("fft.fft", x, n, dim)
    out = _complex("fft.fft", x, (axis,), (n,), norm, False)
    return out if dtype_of(x).kind == "c" else show_as(out, "FftR2CBackward0")


@_public
def ifft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `fft`."""
    x = _input("fft.ifft", input)
    axis, n = _one("fft.ifft", x, n, dim)
    out = _complex("fft.ifft", x, (axis,), (n,), norm, True)
    return out if dtype_of(x).kind == "c" else show_as(out, "ConjBackward0")


@_public
def rfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform of a real signal: the frequencies that are not negative."""
    x = _input("fft.rfft", input, real=True)
    axis, n = _one("fft.rfft", x, n, dim)
    return ops.rfftn(ops.resized(x, (axis,), (n,)), axes=(axis,), norm=_norm("fft.rfft", norm))


@_public
def irfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `rfft`: n real numbers, an even number unless given."""
    x = _input("fft.irfft", input)
    shape = shape_of(x)
    axis = axis_of("fft.irfft", dim, len(shape))
    axis, n = _one("fft.irfft", x, 2 * (shape[axis] - 1) if n is None and shape else n, dim)
    return _real_inverse("fft.irfft", x, (axis,), (n,), norm)


@_public
def hfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The transform of a Hermitian signal, given by its half: n real numbers."""
    x = _input("fft.hfft", input)
    shape = shape_of(x)
    axis = axis_of("fft.hfft", dim, len(shape))
    axis, n = _one("fft.hfft", x, 2 * (shape[axis] - 1) if n is None and shape else n, dim)
    return ops.hfftn(ops.resized(x, (axis,), (n // 2 + 1,)), axes=(axis,), n=n, norm=_norm("fft.hfft", norm))


@_public
def ihfft(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
    """The inverse of `hfft`."""
    x = _input("fft.ihfft", input, real=True)
    axis, n = _one("fft.ihfft", x, n, dim)
    out = ops.ihfftn(ops.resized(x, (axis,), (n,)), axes=(axis,), norm=_norm("fft.ihfft", norm))
    return show_as(out, "ConjBackward0")


def _of_two(name: str, f: Callable[..., Any]) -> Callable[..., Any]:
    """The form of a transform that is over the last two dimensions unless told otherwise."""

    def function(
        input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None
    ) -> Tensor:
        return f(input, s, dim, norm, out=out)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"As `{name[:-1]}n` over two dimensions."
    return function


@_public
def fftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The transform over several dimensions (all, unless given)."""
    x = _input("fft.fftn", input)
    return _complex("fft.fftn", x, *_several("fft.fftn", x, s, dim), norm, False)


@_public
def ifftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `fftn`."""
    x = _input("fft.ifftn", input)
    return _complex("fft.ifftn", x, *_several("fft.ifftn", x, s, dim), norm, True)


@_public
def rfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The transform of a real signal over several dimensions, half of it along the last."""
    x = _input("fft.rfftn", input, real=True)
    axes, sizes = _several("fft.rfftn", x, s, dim)
    if not axes:
        raise RuntimeError("fft.rfftn: at least one dimension must be transformed")
    return ops.rfftn(ops.resized(x, axes, sizes), axes=axes, norm=_norm("fft.rfftn", norm))


@_public
def irfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `rfftn`."""
    x = _input("fft.irfftn", input)
    axes, sizes = _several("fft.irfftn", x, s, dim)
    return _real_inverse("fft.irfftn", x, axes, _last("fft.irfftn", x, s, axes, sizes), norm)


@_public
def hfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The transform of a Hermitian signal over several dimensions, given by half of the last one."""
    x = _input("fft.hfftn", input)
    axes, sizes = _several("fft.hfftn", x, s, dim)
    if not axes:
        raise RuntimeError("fft.hfftn: at least one dimension must be transformed")
    sizes = _last("fft.hfftn", x, s, axes, sizes)
    x = ops.resized(x, axes, (*sizes[:-1], sizes[-1] // 2 + 1))
    return ops.hfftn(x, axes=axes, n=sizes[-1], norm=_norm("fft.hfftn", norm))


@_public
def ihfftn(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
    """The inverse of `hfftn`."""
    x = _input("fft.ihfftn", input, real=True)
    axes, sizes = _several("fft.ihfftn", x, s, dim)
    if not axes:
        raise RuntimeError("fft.ihfftn: at least one dimension must be transformed")
    return ops.ihfftn(ops.resized(x, axes, sizes), axes=axes, norm=_norm("fft.ihfftn", norm))


fft2, ifft2 = _of_two("fft2", fftn), _of_two("ifft2", ifftn)
rfft2, irfft2 = _of_two("rfft2", rfftn), _of_two("irfft2", irfftn)
hfft2, ihfft2 = _of_two("hfft2", hfftn), _of_two("ihfft2", ihfftn)

# ------------------------------------------------------------------------------------------ frequencies


def _shift(op: str, input: Tensor, dim: Any, inverse: bool) -> Tensor:
    n = len(shape_of(input))
    axes = tuple(range(n)) if dim is None else axes_of(op, dim, n)
    if not axes or not math.prod(shape_of(input)):
        return st.copy(input)
    return ops.fftshift(input, axes=axes, inverse=inverse)


def fftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The spectrum with frequency 0 in the middle."""
    return _shift("fft.fftshift", input, dim, False)


def ifftshift(input: Tensor, dim: Any = None) -> Tensor:
    """The inverse of `fftshift`."""
    return _shift("fft.ifftshift", input, dim, True)


def _frequencies(op: str, f: Any, n: int, d: float, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    check_device(op, device)
    if n == 0:
        return from_array(np.zeros(0, np_dtype_of(op, dtype)), requires_grad)
    return from_array(f(n, d).astype(np_dtype_of(op, dtype)), requires_grad)


@_public
def fftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of a transform of n points that are d apart."""
    return _frequencies("fft.fftfreq", np.fft.fftfreq, n, d, dtype, device, requires_grad)


@_public
def rfftfreq(
    n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """The frequencies of a real transform of n points that are d apart."""
    return _frequencies("fft.rfftfreq", np.fft.rfftfreq, n, d, dtype, device, requires_grad)


__getattr__ = attributes(globals())
