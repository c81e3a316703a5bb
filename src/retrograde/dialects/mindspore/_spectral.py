"""Fourier transforms, of whole tensors and of short times, and window functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import dtype_of
from ...ops import fft as transforms
from ...ops import manipulation as mp
from ...ops import structural as st
from ...tensor import fft as native_fft
from .._shared.axes import axis_of, integer, integers
from .._shared.registry import defined
from . import _unary
from ._api import api
from ._creation import _given, number, sizes
from ._dtype import as_dtype, float32, float64
from ._promote import tensor_argument
from ._tensor import Tensor, from_array

Function = Callable[..., Any]


def _transform(name: str, one: Function) -> Function:
    """The transform along one axis."""

    def along(input: Any, n: Any = None, dim: int = -1, norm: Any = None) -> Any:
        x = _spectral(name, input)
        return one(x, n=n, axis=axis_of(name, dim, x.ndim, "dim"), norm=norm or "backward")

    return api(method=False)(defined(name, along, f"The `{name}` along an axis, cut or padded to n."))


def _spectral(op: str, x: Any) -> Any:
    x = tensor_argument(op, x)
    if dtype_of(x).kind in "iub":
        x = st.cast(x, dtype=np.dtype(np.float32))
    return x


fft, ifft = _transform("fft", native_fft.fft), _transform("ifft", native_fft.ifft)
rfft, irfft = _transform("rfft", native_fft.rfft), _transform("irfft", native_fft.irfft)
hfft, ihfft = _transform("hfft", native_fft.hfft), _transform("ihfft", native_fft.ihfft)


def _several(name: str, many: Function) -> tuple[Function, Function]:
    def over(input: Any, s: Any = None, dim: Any = None, norm: Any = None) -> Any:
        return _over(name, many, input, s, dim, norm)

    def over_two(input: Any, s: Any = None, dim: Any = (-2, -1), norm: Any = None) -> Any:
        return _over(f"{name}2", many, input, s, dim, norm)

    of_all = defined(f"{name}n", over, f"The `{name}n` over axes (all, if none are given), cut or padded to s.")
    of_two = defined(f"{name}2", over_two, f"The `{name}2` over two axes, cut or padded to s.")
    return api(method=False)(of_all), api(method=False)(of_two)


def _over(op: str, many: Function, input: Any, s: Any, dim: Any, norm: Any) -> Any:
    x = _spectral(op, input)
    axes = None if dim is None else tuple(axis_of(op, a, x.ndim, "dim") for a in integers(op, "dim", dim))
    return many(x, s=None if s is None else integers(op, "s", s), axes=axes, norm=norm or "backward")


(fftn, fft2), (ifftn, ifft2) = _several("fft", native_fft.fftn), _several("ifft", native_fft.ifftn)
(rfftn, rfft2), (irfftn, irfft2) = _several("rfft", native_fft.rfftn), _several("irfft", native_fft.irfftn)
(hfftn, hfft2), (ihfftn, ihfft2) = _several("hfft", native_fft.hfftn), _several("ihfft", native_fft.ihfftn)


def _shift(name: str, move: Function) -> Function:
    def f(input: Any, dim: Any = None) -> Any:
        x = tensor_argument(name, input)
        axes = None if dim is None else tuple(axis_of(name, a, x.ndim, "dim") for a in integers(name, "dim", dim))
        return move(x, axes=axes)

    where = "to the middle" if name == "fftshift" else "back to the start"
    return api(method=False)(defined(name, f, f"The zero frequency moved {where}."))


fftshift, ifftshift = _shift("fftshift", native_fft.fftshift), _shift("ifftshift", native_fft.ifftshift)


def _frequencies(name: str, make: Callable[..., np.ndarray]) -> Function:
    def f(n: int, d: float = 1.0, dtype: Any = None) -> Any:
        d_type = float32 if dtype is None else as_dtype(dtype, name)
        return from_array(make(integer(name, "n", n), d).astype(d_type.np))

    return api(method=False)(defined(name, f, f"The frequencies of the results of `{name.removesuffix('freq')}`."))


fftfreq, rfftfreq = _frequencies("fftfreq", np.fft.fftfreq), _frequencies("rfftfreq", np.fft.rfftfreq)


@api(method=False)
def stft(
    x: Any, n_fft: int, hop_length: Any = None, win_length: Any = None, window: Any = None, center: bool = True,
    pad_mode: str = "REFLECT", normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None,
) -> Any:  # fmt: skip
    """The transforms of windowed frames of a signal: (..., frequencies, frames), and the parts of the complex numbers in an
    axis of their own unless `return_complex` (or the signal or the window is complex)."""
    x = tensor_argument("stft", x, "x")
    if x.ndim not in (1, 2):
        raise ValueError(f"stft: x must have one or two axes, got shape {x.shape}")
    length = n_fft if win_length is None else win_length
    if window is not None and window.shape != (length,):
        raise ValueError(f"stft: window must have shape ({length},), got {window.shape}")
    if not 0 < length <= n_fft:
        raise ValueError(f"stft: win_length must lie in 1 to n_fft, {n_fft}, got {length}")
    weights = from_array(np.ones(length, np.float32)) if window is None else window
    if length < n_fft:
        left = (n_fft - length) // 2
        weights = mp.pad_constant(weights, widths=((left, n_fft - length - left),), value=0)
    is_complex = "c" in (dtype_of(x).kind, dtype_of(weights).kind)
    onesided = not is_complex if onesided is None else onesided
    modes = {"CONSTANT": "constant", "REFLECT": mp.REFLECT, "EDGE": mp.REPLICATE, "CIRCULAR": mp.CIRCULAR}
    if not isinstance(pad_mode, str) or pad_mode.upper() not in modes:
        raise ValueError(f"stft: pad_mode must be one of {tuple(modes)}, got {pad_mode!r}")
    out = transforms.stft(x, weights, n=n_fft, hop=n_fft // 4 if hop_length is None else hop_length, center=center,
                   pad_mode=modes[pad_mode.upper()], norm="ortho" if normalized else "backward", onesided=onesided)  # fmt: skip
    return out if is_complex or return_complex else _unary.view_as_real(out)


def _window(name: str, make: Callable[..., np.ndarray], default: Any, *options: tuple[str, float]) -> Function:
    """A window function of `(window_length, periodic=True, ...)`; options are further parameters with their defaults."""

    def f(window_length: Any, periodic: bool = True, *given: float, dtype: Any = None, **named: float) -> Tensor:
        n = sizes(name, (number(window_length),))[0]
        values = [named.get(key, given[i] if i < len(given) else value) for i, (key, value) in enumerate(options)]
        window = make(n + 1, *values)[:-1] if periodic and n > 1 else make(n, *values)
        return from_array(window.astype(_given(name, dtype, default)))

    doc = f"The {name.removesuffix('_window')} window of a length; one period of it, if `periodic`."
    return api(method=False)(defined(name, f, doc))


def _hamming(n: int, alpha: float, beta: float) -> np.ndarray:
    return alpha - beta * np.cos(2 * np.pi * np.arange(n) / max(n - 1, 1)) if n > 1 else np.ones(n)


hamming_window = _window("hamming_window", _hamming, float32, ("alpha", 0.54), ("beta", 0.46))
hann_window = _window("hann_window", np.hanning, float64)
bartlett_window = _window("bartlett_window", np.bartlett, float32)
blackman_window = _window("blackman_window", np.blackman, float32)
kaiser_window = _window("kaiser_window", np.kaiser, float64, ("beta", 12.0))
