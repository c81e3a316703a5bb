"""Discrete Fourier transforms: complex, real to half spectrum and back, and what is composed of them.

`norm` says which direction carries the factor 1/n: "backward" (the inverse), "forward", or "ortho" (both its root).
float32 gives complex64. NumPy's transforms take one thread; for many numbers SciPy's, which are the same algorithm, take all.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..backend.dtypes import complex_of, real_of
from ..backend.jit import threads
from ..core.arrays import from_host, full
from ..core.aval import Aval
from ..core.value import dtype_of, ndim_of, shape_of
from .manipulation import pad_constant, pad_edges, roll, sliding_windows, sum_windows
from .rules import batch_axes, checked_axes, conj, infer_along, linear
from .samples import complex_normal, normal, sample
from .structural import broadcast_to, cast, getitem, transpose

_TRANSPOSED = {"backward": "forward", "forward": "backward", "ortho": "ortho"}


def _c2c_kernel(xp: Any, x: Any, *, axes: tuple[int, ...], norm: str, inverse: bool) -> Any:
    if len(axes) == 1:
        return (xp.fft.ifft if inverse else xp.fft.fft)(x, axis=axes[0], norm=norm)
    return (xp.fft.ifftn if inverse else xp.fft.fftn)(x, axes=axes, norm=norm)


_SHARED = 1 << 16
"""Numbers from which on several threads are faster, and loading SciPy's transforms (0.1 s) is not much beside them."""


def _along(name: str, x: np.ndarray, axis: int, norm: str, n: int | None = None) -> Any:
    """A transform of NumPy's along one axis; by SciPy's algorithm, which is the same, and all threads if it is large."""
    if x.size < _SHARED or x.dtype.char not in "fdFD":
        return getattr(np.fft, name)(x, n, axis, norm)
    import scipy.fft

    # NumPy transforms single numbers in double precision unless there is a factor.
    scaled = norm == "ortho" or (norm == "backward") == (name in ("ifft", "irfft"))
    narrow = not scaled and x.dtype.char in "fF"
    x = _in_precision(x, np.float64) if narrow else x
    out = getattr(scipy.fft, name)(x, n, axis, norm, overwrite_x=narrow, workers=threads.count())
    return _in_precision(out, np.float32) if narrow else out


def _in_precision(x: np.ndarray, real: type) -> Any:
    """A copy in another precision: complex numbers as pairs of real ones, whose casts are shared out to the threads."""
    dtype = np.dtype(real)
    if x.dtype.kind == "f":
        return cast(x, dtype=dtype)
    return cast(np.ascontiguousarray(x).view(real_of(x.dtype)), dtype=dtype).view(complex_of(dtype))


def _c2c_numpy(x: Any, *, axes: tuple[int, ...], norm: str, inverse: bool) -> Any:
    for axis in reversed(axes):
        x = _along("ifft" if inverse else "fft", x, axis, norm)
    return x


# Complex to complex, over all of `axes`.
fft_c2c = linear(
    "fft_c2c", kernel=_c2c_kernel, numpy=_c2c_numpy,
    transpose=lambda g, _x, *, axes, norm, inverse: fft_c2c(
        g, axes=axes, norm=_TRANSPOSED[norm], inverse=not inverse),
    batch=batch_axes("axes"), infer=infer_along("axes"),
    samples=lambda: [sample(complex_normal(3), axes=(0,), norm="backward", inverse=False),
                     sample(complex_normal(3, 2), axes=(0, 1), norm="ortho", inverse=True),
                     sample(complex_normal(2, 3), axes=(1,), norm="forward", inverse=True)],
)  # fmt: skip


def _r2c_kernel(xp: Any, x: Any, *, axes: tuple[int, ...], norm: str) -> Any:
    if len(axes) == 1:
        return xp.fft.rfft(x, axis=axes[0], norm=norm)
    return xp.fft.rfftn(x, axes=axes, norm=norm)


def _c2r_kernel(xp: Any, x: Any, *, axes: tuple[int, ...], n: int, norm: str) -> Any:
    if len(axes) == 1:
        return xp.fft.irfft(x, n=n, axis=axes[0], norm=norm)
    return xp.fft.irfftn(x, s=(*(x.shape[a] for a in axes[:-1]), n), axes=axes, norm=norm)


def _r2c_numpy(x: Any, *, axes: tuple[int, ...], norm: str) -> Any:
    return _c2c_numpy(_along("rfft", x, axes[-1], norm), axes=axes[:-1], norm=norm, inverse=False)


def _c2r_numpy(x: Any, *, axes: tuple[int, ...], n: int, norm: str) -> Any:
    for axis in axes[:-1]:
        x = _along("ifft", x, axis, norm)
    return _along("irfft", x, axes[-1], norm, n)


def _weighted(g: Any, axis: int, n: int, inner: float) -> Any:
    """A half spectrum times `inner` where it stands for two frequencies: neither 0 nor, for even n, n/2."""
    weights = _weights(n, inner, real_of(dtype_of(g)), ndim_of(g) - axis - 1)
    return g * from_host(weights, g)


@functools.lru_cache(64)
def _weights(n: int, inner: float, dtype: np.dtype, behind: int) -> np.ndarray:
    """The weights, with so many axes of length 1 behind them."""
    weights = np.full(n // 2 + 1, inner, dtype)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    weights.flags.writeable = False
    return weights.reshape((-1,) + (1,) * behind)


def _half(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], shape[axis] // 2 + 1, *shape[axis + 1 :])


def _infer_r2c(avals: Any, params: dict[str, Any]) -> Aval:
    checked_axes(avals[0].shape, *params["axes"])
    return Aval(_half(avals[0].shape, params["axes"][-1]), complex_of(avals[0].dtype))


def _infer_c2r(avals: Any, params: dict[str, Any]) -> Aval:
    shape, last = avals[0].shape, params["axes"][-1]
    checked_axes(shape, *params["axes"])
    return Aval((*shape[:last], params["n"], *shape[last + 1 :]), real_of(avals[0].dtype))


# Real to the half spectrum of the last of `axes`; complex over the others.
fft_r2c = linear(
    "fft_r2c", kernel=_r2c_kernel, numpy=_r2c_numpy,
    transpose=lambda g, x_, *, axes, norm: fft_c2r(
        _weighted(g, axes[-1], shape_of(x_)[axes[-1]], 0.5), axes=axes, n=shape_of(x_)[axes[-1]],
        norm=_TRANSPOSED[norm]),
    batch=batch_axes("axes"),
    infer=_infer_r2c,
    samples=lambda: [sample(normal(4), axes=(0,), norm="backward"), sample(normal(3, 2), axes=(1, 0), norm="ortho"),
                     sample(normal(2, 5), axes=(1,), norm="forward")],
)  # fmt: skip

# A half spectrum of the last of `axes` to n real numbers; the imaginary parts that have no counterpart are not read.
fft_c2r = linear(
    "fft_c2r", kernel=_c2r_kernel, numpy=_c2r_numpy,
    transpose=lambda g, _x, *, axes, n, norm: _weighted(
        fft_r2c(g, axes=axes, norm=_TRANSPOSED[norm]), axes[-1], n, 2.0),
    batch=batch_axes("axes"),
    infer=_infer_c2r,
    samples=lambda: [sample(complex_normal(3), axes=(0,), n=4, norm="backward"),
                     sample(complex_normal(3), axes=(0,), n=5, norm="forward"),
                     sample(complex_normal(2, 3), axes=(1, 0), n=2, norm="ortho")],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ the family


def resized(x: Any, axes: tuple[int, ...], sizes: tuple[int, ...]) -> Any:
    """`x` cut off, or filled up with zeros, to `sizes` along `axes`."""
    shape = shape_of(x)
    if any(n < shape[a] for a, n in zip(axes, sizes)):
        index: list[Any] = [slice(None)] * len(shape)
        for a, n in zip(axes, sizes):
            if n < shape[a]:
                index[a] = slice(0, n)
        x = getitem(x, index=tuple(index))
        shape = shape_of(x)
    if any(n > shape[a] for a, n in zip(axes, sizes)):
        widths = [(0, 0)] * len(shape)
        for a, n in zip(axes, sizes):
            widths[a] = (0, n - shape[a])
        x = pad_constant(x, widths=tuple(widths), value=0)
    return x


def as_complex(x: Any) -> Any:
    """`x` in the complex dtype of its precision."""
    return x if dtype_of(x).kind == "c" else cast(x, dtype=complex_of(dtype_of(x)))


def fftn(x: Any, *, axes: tuple[int, ...], norm: str, inverse: bool = False) -> Any:
    """The transform over `axes`, of real or complex `x`."""
    return fft_c2c(as_complex(x), axes=axes, norm=norm, inverse=inverse)


def rfftn(x: Any, *, axes: tuple[int, ...], norm: str) -> Any:
    """The transform of real `x` over `axes`, half of it along the last one."""
    return fft_r2c(x, axes=axes, norm=norm)


def irfftn(x: Any, *, axes: tuple[int, ...], n: int, norm: str) -> Any:
    """The inverse of `rfftn` with n elements along the last axis."""
    return fft_c2r(as_complex(x), axes=axes, n=n, norm=norm)


def hfftn(x: Any, *, axes: tuple[int, ...], n: int, norm: str) -> Any:
    """The transform of a Hermitian `x`, of which the last axis holds half: n real numbers along it."""
    x = as_complex(x)
    if len(axes) > 1:
        x = fft_c2c(x, axes=axes[:-1], norm=norm, inverse=False)
    return fft_c2r(conj(x), axes=axes[-1:], n=n, norm=_TRANSPOSED[norm])


def ihfftn(x: Any, *, axes: tuple[int, ...], norm: str) -> Any:
    """The inverse of `hfftn`: half of the Hermitian inverse transform of real `x`."""
    out = conj(fft_r2c(x, axes=axes[-1:], norm=_TRANSPOSED[norm]))
    return fft_c2c(out, axes=axes[:-1], norm=norm, inverse=True) if len(axes) > 1 else out


def fftshift(x: Any, *, axes: tuple[int, ...], inverse: bool = False) -> Any:
    """The spectrum with frequency 0 in the middle (`inverse`: back)."""
    shifts = tuple((shape_of(x)[a] + inverse) // 2 for a in axes)
    return roll(x, shifts=shifts, axes=axes)


# ------------------------------------------------------------------------------------------ short-time transforms


def stft(
    x: Any, window: Any, *, n: int, hop: int, center: bool, pad_mode: str, norm: str, onesided: bool
) -> Any:
    """The transforms of windowed frames of `x` (..., length), `hop` apart: (..., frequencies, frames).

    window: n weights, or None. center: pad n // 2 at both ends ("constant" or a mode of pad_edges), so that frame t is
    centred at t · hop.
    """
    axis = ndim_of(x) - 1
    if center:
        widths = (*((0, 0),) * axis, (n // 2, n // 2))
        if pad_mode == "constant":
            x = pad_constant(x, widths=widths, value=0)
        else:
            x = pad_edges(x, widths=widths, mode=pad_mode)
    frames = sliding_windows(x, axis=axis, size=n, step=hop, dilation=1)
    if window is not None:
        frames = frames * window
    last = axis + 1
    out = rfftn(frames, axes=(last,), norm=norm) if onesided else fftn(frames, axes=(last,), norm=norm)
    return transpose(out, axes=(*range(axis), last, axis))


def istft(
    x: Any, window: Any, *, n: int, hop: int, center: bool, norm: str, length: int | None, real: bool
) -> Any:
    """The signal (..., length) whose short-time transform is nearest to `x` (..., frequencies, frames).

    `real`: the signal is, so that the frequencies up to n // 2 tell all and others are not read. The caller checks that
    the windows cover all of it (`covered`).
    """
    axis = ndim_of(x) - 2
    frames = transpose(x, axes=(*range(axis), axis + 1, axis))
    if real:
        frames = irfftn(resized(frames, (axis + 1,), (n // 2 + 1,)), axes=(axis + 1,), n=n, norm=norm)
    else:
        frames = fftn(frames, axes=(axis + 1,), norm=norm, inverse=True)
    if window is None:
        window = full((n,), 1, dtype_of(frames), frames)
    count = shape_of(frames)[axis]
    total = n + hop * (count - 1)
    frames = frames * window
    lead = tuple(shape_of(frames))[:axis]
    signal = sum_windows(frames, shape=(*lead, total), axis=axis, size=n, step=hop, dilation=1)
    power = broadcast_to(window * window, shape=(count, n))
    envelope = sum_windows(power, shape=(total,), axis=0, size=n, step=hop, dilation=1)
    start = n // 2 if center else 0
    end = start + length if length is not None else total - start if center else total
    cut = slice(start, min(end, total))
    signal = getitem(signal, index=(Ellipsis, cut))
    envelope = getitem(envelope, index=(cut,))
    signal = signal / envelope
    have = shape_of(signal)[axis]
    if length is not None and have < length:
        signal = pad_constant(signal, widths=(*((0, 0),) * axis, (0, length - have)), value=0)
    return signal


def covered(window: np.ndarray, *, n: int, hop: int, frames: int, start: int, end: int) -> bool:
    """Whether windows `hop` apart leave no element of [start, end) without weight."""
    total = n + hop * (frames - 1)
    power = np.broadcast_to(window * window, (frames, n))
    envelope = sum_windows(np.ascontiguousarray(power), shape=(total,), axis=0, size=n, step=hop, dilation=1)
    return bool((np.abs(envelope[start : min(end, total)]) > 1e-11).all())
