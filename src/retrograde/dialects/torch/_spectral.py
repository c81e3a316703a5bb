"""Window functions, and short-time Fourier transforms."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import fft as ops
from ...ops import manipulation as mp
from ...ops import structural as st
from ._api import api
from ._data import np_dtype_of
from ._dtype import FROM_NUMPY
from ._graph_nodes import show_as
from ._size import check_device
from ._tensor import Tensor, beside, from_array

# ------------------------------------------------------------------------------------------ windows


def _window(op: str, n: int, periodic: bool, f: Callable[[np.ndarray, int], np.ndarray], dtype: Any, device: Any,
            requires_grad: bool) -> Tensor:  # fmt: skip
    """A window of n points from its formula over 0 ... m - 1; a periodic one is the start of one of n + 1 points."""
    check_device(op, device)
    d = np_dtype_of(op, dtype)
    if n < 0:
        raise RuntimeError(f"{op}: the length must not be negative, got {n}")
    if FROM_NUMPY[d].category != 2:
        raise RuntimeError(f"{op}: wanted a floating dtype, got {FROM_NUMPY[d]}")
    if n <= 1:
        return from_array(np.ones(n, d), requires_grad, device)
    m = n + 1 if periodic else n
    steps = np.arange(m, dtype=np.float64 if d.itemsize == 8 else np.float32)  # rounded as the window is: ends of -3e-8
    return from_array(f(steps, m)[:n].astype(d), requires_grad, device)


@api(method=False)
def hann_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None,
                device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """(1 - cos(2πk / (m - 1))) / 2."""
    return hamming_window(
        window_length, periodic, 0.5, 0.5, dtype=dtype, device=device, requires_grad=requires_grad
    )


@api(method=False)
def hamming_window(window_length: int, periodic: bool = True, alpha: float = 0.54, beta: float = 0.46, *,
                   dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
                   requires_grad: bool = False) -> Tensor:  # fmt: skip
    """alpha - beta cos(2πk / (m - 1))."""

    def formula(k: np.ndarray, m: int) -> np.ndarray:
        return alpha - beta * np.cos(k * (2 * np.pi / (m - 1)))

    return _window("hamming_window", window_length, periodic, formula, dtype, device, requires_grad)


@api(method=False)
def blackman_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None,
                    device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """0.42 - 0.5 cos(2πk / (m - 1)) + 0.08 cos(4πk / (m - 1))."""

    def formula(k: np.ndarray, m: int) -> np.ndarray:
        w = k * (2 * np.pi / (m - 1))
        return 0.08 * np.cos(2 * w) - 0.5 * np.cos(w) + 0.42

    return _window("blackman_window", window_length, periodic, formula, dtype, device, requires_grad)


@api(method=False)
def bartlett_window(window_length: int, periodic: bool = True, *, dtype: Any = None, layout: Any = None,
                    device: Any = None, pin_memory: bool = False, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """1 - |2k / (m - 1) - 1|."""
    return _window("bartlett_window", window_length, periodic,
                   lambda k, m: 1 - np.abs(2 * k / (m - 1) - 1), dtype, device, requires_grad)  # fmt: skip


@api(method=False)
def kaiser_window(window_length: int, periodic: bool = True, beta: float = 12.0, *, dtype: Any = None,
                  layout: Any = None, device: Any = None, pin_memory: bool = False,
                  requires_grad: bool = False) -> Tensor:  # fmt: skip
    """I₀(beta sqrt(1 - (2k / (m - 1) - 1)²)) / I₀(beta)."""

    def formula(k: np.ndarray, m: int) -> np.ndarray:
        return np.i0(beta * np.sqrt(np.maximum(1 - (2 * k / (m - 1) - 1) ** 2, 0.0))) / np.i0(beta)

    return _window("kaiser_window", window_length, periodic, formula, dtype, device, requires_grad)


# ------------------------------------------------------------------------------------------ short-time transforms


def _framing(op: str, x: Any, n: int, hop: int | None, length: int | None, window: Any) -> tuple[int, Any]:
    """The hop, and the window centred in n points."""
    hop = n // 4 if hop is None else hop
    length = n if length is None else length
    if hop <= 0:
        raise RuntimeError(f"{op}: hop_length must be positive, got {hop}")
    if not 0 < length <= n:
        raise RuntimeError(f"{op}: win_length must lie in (0, {n}], got {length}")
    if window is not None:
        if tuple(shape_of(window)) != (length,):
            raise RuntimeError(f"{op}: the window must have shape [{length}], got {list(shape_of(window))}")
        if dtype_of(window).kind in "iub":
            window = st.cast(window, dtype=_real(dtype_of(x)))
    elif length < n:
        window = beside(np.ones(length, _real(dtype_of(x))), x)
    if window is not None and length < n:
        left = (n - length) // 2
        window = mp.pad_constant(window, widths=((left, n - length - left),), value=0)
    return hop, window


def _real(d: np.dtype) -> np.dtype:
    return np.dtype(f"f{d.itemsize // 2}") if d.kind == "c" else d


@api()
def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
    center: bool = True, pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None,
    return_complex: bool | None = None, align_to_window: bool | None = None,
) -> Tensor:  # fmt: skip
    """The Fourier transforms of windowed frames of a signal (..., length): (..., frequencies, frames)."""
    shape = tuple(shape_of(input))
    d = dtype_of(input)
    if len(shape) not in (1, 2):
        raise RuntimeError(f"stft: wanted a signal of 1 or 2 dimensions, got shape {list(shape)}")
    if FROM_NUMPY[d].category < 2:
        raise RuntimeError(f"stft: wanted a floating or complex tensor, got {FROM_NUMPY[d]}")
    is_complex = d.kind == "c" or (window is not None and dtype_of(window).kind == "c")
    if return_complex is None:
        if not is_complex:
            raise RuntimeError("stft: pass return_complex=True (or False for pairs of real numbers)")
        return_complex = True
    if onesided is None:
        onesided = not is_complex
    if onesided and is_complex:
        raise RuntimeError("stft: a complex signal or window has no one-sided transform; pass onesided=False")
    if window is None:
        warnings.warn("stft: without a window the spectrum leaks; pass one, such as hann_window()", UserWarning,
                      stacklevel=2)  # fmt: skip
    padded = shape[-1] + (2 * (n_fft // 2) if center else 0)
    if not 0 < n_fft <= padded:
        raise RuntimeError(f"stft: n_fft must lie in (0, {padded}], got {n_fft}")
    if center and pad_mode == "reflect" and n_fft // 2 >= shape[-1]:
        raise RuntimeError(f"stft: a signal of {shape[-1]} elements is too short to be reflected by {n_fft // 2}")
    hop, window = _framing("stft", input, n_fft, hop_length, win_length, window)
    if pad_mode not in ("constant", *mp.MODES):
        raise NotImplementedError(f"stft: pad_mode must be constant, {', '.join(mp.MODES)}, got {pad_mode!r}")
    norm = "ortho" if normalized else "backward"
    out = ops.stft(input, window, n=n_fft, hop=hop, center=center, pad_mode=pad_mode, norm=norm, onesided=onesided)
    show_as(out, "SqueezeBackward4" if len(shape) == 1 else "TransposeBackward1")
    return out if return_complex else mp.view_as_real(out)


@api()
def istft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None,
    center: bool = True, normalized: bool = False, onesided: bool | None = None, length: int | None = None,
    return_complex: bool = False,
) -> Tensor:  # fmt: skip
    """The signal of which `stft` gives the transform (..., frequencies, frames)."""
    if not isinstance(input, Value) or dtype_of(input).kind != "c":
        raise RuntimeError("istft: wanted a complex tensor; use view_as_complex() for pairs of real numbers")
    shape = tuple(shape_of(input))
    if len(shape) not in (2, 3) or 0 in shape:
        raise RuntimeError(f"istft: wanted (frequencies, frames) with or without a batch, got shape {list(shape)}")
    if onesided is None:
        onesided = shape[-2] != n_fft
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if shape[-2] != wanted:
        raise RuntimeError(f"istft: {wanted} frequencies belong to n_fft={n_fft}, got {shape[-2]}")
    if return_complex and onesided:
        raise RuntimeError("istft: a one-sided transform has a real signal; pass return_complex=False")
    if not return_complex and window is not None and dtype_of(window).kind == "c":
        raise RuntimeError("istft: a complex window has a complex signal; pass return_complex=True")
    hop, window = _framing("istft", input, n_fft, hop_length, win_length, window)
    start = n_fft // 2 if center else 0
    total = n_fft + hop * (shape[-1] - 1)
    end = start + length if length is not None else total - start if center else total
    weights = np.ones(n_fft) if window is None else concrete("istft", window)
    if not ops.covered(weights, n=n_fft, hop=hop, frames=shape[-1], start=start, end=end):
        raise RuntimeError("istft: the windows leave a part of the signal without weight; choose a smaller hop_length")
    if length is not None and end > total:
        warnings.warn(f"istft: the signal has {total - start} elements, padded with zeros to {length}", UserWarning,
                      stacklevel=2)  # fmt: skip
    norm = "ortho" if normalized else "backward"
    out = ops.istft(input, window, n=n_fft, hop=hop, center=center, norm=norm, length=length,
                    real=not return_complex)  # fmt: skip
    return show_as(out, "SqueezeBackward1") if len(shape) == 2 else out
