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


def _public(f: Callable[..., Any], name: str, doc: str) -> Any:
    """A function under its name, which takes `out=` as well."""
    f.__name__ = f.__qualname__ = name
    f.__doc__ = doc
    return functools.wraps(f)(with_out(f"fft.{name}", f))


def _needed(op: str, axes: tuple[int, ...]) -> None:
    if not axes:
        raise RuntimeError(f"{op}: at least one dimension must be transformed")


def _forward(op: str, x: Any, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None, inverse: bool = False) -> Any:
    given = _norm(op, norm)
    x = ops.resized(x, axes, sizes)
    return ops.fftn(x, axes=axes, norm=given, inverse=inverse) if axes else ops.as_complex(x)


def _inverse(op: str, x: Any, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None) -> Any:
    return _forward(op, x, axes, sizes, norm, True)


def _of_real(op: str, x: Any, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None) -> Any:
    _needed(op, axes)
    return ops.rfftn(ops.resized(x, axes, sizes), axes=axes, norm=_norm(op, norm))


def _to_real(op: str, x: Any, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None) -> Any:
    _needed(op, axes)
    half = (*sizes[:-1], sizes[-1] // 2 + 1)
    return ops.irfftn(ops.resized(x, axes, half), axes=axes, n=sizes[-1], norm=_norm(op, norm))


def _of_hermitian(op: str, x: Any, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None) -> Any:
    _needed(op, axes)
    half = (*sizes[:-1], sizes[-1] // 2 + 1)
    return ops.hfftn(ops.resized(x, axes, half), axes=axes, n=sizes[-1], norm=_norm(op, norm))


def _to_hermitian(op: str, x: Any, axes: tuple[int, ...], sizes: tuple[int, ...], norm: str | None) -> Any:
    _needed(op, axes)
    return ops.ihfftn(ops.resized(x, axes, sizes), axes=axes, norm=_norm(op, norm))


def _last(op: str, x: Any, s: Any, axes: tuple[int, ...], sizes: tuple[int, ...]) -> tuple[int, ...]:
    """The sizes of a real result: unless given, the last one is that of an even signal."""
    last_given = s is not None and (s if isinstance(s, int) else (*s, -1)[len(s) - 1]) != -1
    if last_given or not axes:
        return sizes
    n = 2 * (shape_of(x)[axes[-1]] - 1)
    if n < 1:
        raise RuntimeError(f"{op}: the number of points must be at least 1, got {n}; pass it")
    return (*sizes[:-1], n)


def _along(name: str, compute: Callable[..., Any], doc: str, real: bool, half: bool) -> Any:
    """The transform along one dimension; `real`: of real tensors only, `half`: what comes is half of a signal."""
    op = f"fft.{name}"
    shown = {"fft": "FftR2CBackward0", "ifft": "ConjBackward0", "ihfft": "ConjBackward0"}.get(name)

    def function(input: Tensor, n: int | None = None, dim: int = -1, norm: str | None = None) -> Tensor:
        x = _input(op, input, real=real)
        if half and n is None and (shape := shape_of(x)):
            n = 2 * (shape[axis_of(op, dim, len(shape))] - 1)
        axis, n = _one(op, x, n, dim)
        out = compute(op, x, (axis,), (n,), norm)
        return show_as(out, shown) if shown and dtype_of(x).kind != "c" else out  # type: ignore[no-any-return]

    return _public(function, name, doc)


def _over(name: str, compute: Callable[..., Any], doc: str, real: bool, half: bool) -> tuple[Any, Any]:
    """The transform over several dimensions, and the form that is over the last two unless told otherwise."""
    op = f"fft.{name}n"

    def function(input: Tensor, s: Any = None, dim: Any = None, norm: str | None = None) -> Tensor:
        x = _input(op, input, real=real)
        axes, sizes = _several(op, x, s, dim)
        return compute(op, x, axes, _last(op, x, s, axes, sizes) if half else sizes, norm)  # type: ignore[no-any-return]

    over = _public(function, f"{name}n", doc)

    def of_two(
        input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: str | None = None, *, out: Any = None
    ) -> Tensor:
        return over(input, s, dim, norm, out=out)  # type: ignore[no-any-return]

    of_two.__name__ = of_two.__qualname__ = f"{name}2"
    of_two.__doc__ = f"As `{name}n` over two dimensions."
    return over, of_two


# What each computes; whether it takes real tensors only; whether what it takes is half of a signal.
_KINDS = {
    "fft": (_forward, False, False), "ifft": (_inverse, False, False), "rfft": (_of_real, True, False),
    "irfft": (_to_real, False, True), "hfft": (_of_hermitian, False, True), "ihfft": (_to_hermitian, True, False),
}  # fmt: skip


def _both(name: str, along: str, over: str) -> tuple[Any, Any, Any]:
    compute, real, half = _KINDS[name]
    return (_along(name, compute, along, real, half), *_over(name, compute, over, real, half))


fft, fftn, fft2 = _both(
    "fft", "The discrete Fourier transform along a dimension, of n points.",
    "The transform over several dimensions (all, unless given).",
)  # fmt: skip
ifft, ifftn, ifft2 = _both("ifft", "The inverse of `fft`.", "The inverse of `fftn`.")
rfft, rfftn, rfft2 = _both(
    "rfft", "The transform of a real signal: the frequencies that are not negative.",
    "The transform of a real signal over several dimensions, half of it along the last.",
)  # fmt: skip
irfft, irfftn, irfft2 = _both(
    "irfft", "The inverse of `rfft`: n real numbers, an even number unless given.", "The inverse of `rfftn`."
)
hfft, hfftn, hfft2 = _both(
    "hfft", "The transform of a Hermitian signal, given by its half: n real numbers.",
    "The transform of a Hermitian signal over several dimensions, given by half of the last one.",
)  # fmt: skip
ihfft, ihfftn, ihfft2 = _both("ihfft", "The inverse of `hfft`.", "The inverse of `hfftn`.")

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


def _frequencies(name: str, f: Any, doc: str) -> Any:
    op = f"fft.{name}"

    def function(
        n: int, d: float = 1.0, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False
    ) -> Tensor:
        check_device(op, device)
        found = f(n, d) if n else np.zeros(0)
        return from_array(found.astype(np_dtype_of(op, dtype)), requires_grad, device)

    return _public(function, name, doc)


fftfreq = _frequencies("fftfreq", np.fft.fftfreq, "The frequencies of a transform of n points that are d apart.")
rfftfreq = _frequencies("rfftfreq", np.fft.rfftfreq, "The frequencies of a real transform of n points that are d apart.")

__getattr__ = attributes(globals())
