"""`paddle.audio.functional`: frequencies on the mel scale, filter banks, windows, decibels, the discrete cosine transform."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....core.value import Value
from .. import _binary, _reductions, _unary
from .._api import attributes as _attributes
from .._dtype import as_dtype
from .._tensor import from_array

_LOG_FROM, _MELS_THERE, _STEP = 1000.0, 15.0, math.log(6.4) / 27.0
"""The scale is linear up to 1000 Hz, which are 15 mels, and logarithmic from there."""
_LINEAR = 200.0 / 3.0


def _each(x: Any, f: Any) -> Any:
    if isinstance(x, Value):
        return from_array(np.asarray(f(x.numpy().astype(np.float64))).astype(x.numpy().dtype))
    return float(f(np.float64(x)))


def hz_to_mel(freq: Any, htk: bool = False) -> Any:
    """Hertz in mels, by Slaney's scale or that of HTK."""
    if htk:
        return _each(freq, lambda f: 2595.0 * np.log10(1.0 + f / 700.0))
    return _each(freq, lambda f: np.where(
        f >= _LOG_FROM, _MELS_THERE + np.log(np.maximum(f, 1e-10) / _LOG_FROM) / _STEP, f / _LINEAR
    ))  # fmt: skip


def mel_to_hz(mel: Any, htk: bool = False) -> Any:
    """Mels in Hertz."""
    if htk:
        return _each(mel, lambda m: 700.0 * (10.0 ** (m / 2595.0) - 1.0))
    return _each(mel, lambda m: np.where(m >= _MELS_THERE, _LOG_FROM * np.exp(_STEP * (m - _MELS_THERE)), _LINEAR * m))


def mel_frequencies(
    n_mels: int = 64, f_min: float = 0.0, f_max: float = 11025.0, htk: bool = False, dtype: str = "float32"
) -> Any:
    """Frequencies that are evenly spaced in mels."""
    mels = np.linspace(hz_to_mel(f_min, htk), hz_to_mel(f_max, htk), n_mels).astype(as_dtype("mel_frequencies", dtype).np)
    return mel_to_hz(from_array(mels), htk)


def fft_frequencies(sr: int, n_fft: int, dtype: str = "float32") -> Any:
    """The frequencies of the bins of a transform of real numbers."""
    return from_array(np.linspace(0, float(sr) / 2, 1 + n_fft // 2).astype(as_dtype("fft_frequencies", dtype).np))


def compute_fbank_matrix(
    sr: int, n_fft: int, n_mels: int = 64, f_min: float = 0.0, f_max: float | None = None, htk: bool = False,
    norm: Any = "slaney", dtype: str = "float32",
) -> Any:  # fmt: skip
    """Triangular filters (n_mels, bins) on the mel scale; "slaney" gives each the area 1, a number the norm of that order."""
    ends = mel_frequencies(n_mels + 2, f_min, float(sr) / 2 if f_max is None else f_max, htk, "float64").numpy()
    bins = fft_frequencies(sr, n_fft, "float64").numpy()
    widths, ramps = np.diff(ends), ends[:, None] - bins
    weights = np.maximum(0.0, np.minimum(-ramps[:-2] / widths[:-1, None], ramps[2:] / widths[1:, None]))
    if norm == "slaney":
        weights *= (2.0 / (ends[2:] - ends[:-2]))[:, None]
    elif isinstance(norm, (int, float)):
        weights /= np.maximum(np.linalg.norm(weights, norm, axis=-1, keepdims=True), 1e-12)
    return from_array(weights.astype(as_dtype("compute_fbank_matrix", dtype).np))


def power_to_db(spect: Any, ref_value: float = 1.0, amin: float = 1e-10, top_db: float | None = 80.0) -> Any:
    """Power in decibels beside a reference, none further than `top_db` below the largest."""
    if amin <= 0:
        raise ValueError(f"power_to_db: amin must be positive, got {amin}")
    if ref_value <= 0:
        raise ValueError(f"power_to_db: ref_value must be positive, got {ref_value}")
    found = 10.0 * _unary.log10(_binary.maximum(spect, from_array(np.full((), amin, spect.numpy().dtype))))
    found = found - 10.0 * math.log10(max(ref_value, amin))
    if top_db is None:
        return found
    if top_db < 0:
        raise ValueError(f"power_to_db: top_db must not be negative, got {top_db}")
    return _binary.maximum(found, _reductions.max(found) - top_db)


def create_dct(n_mfcc: int, n_mels: int, norm: str | None = "ortho", dtype: str = "float32") -> Any:
    """The matrix (n_mels, n_mfcc) of the discrete cosine transform of the second kind."""
    at = np.arange(n_mels) + 0.5
    table = np.cos(np.pi / n_mels * at * np.arange(n_mfcc)[:, None])
    if norm is None:
        table *= 2.0
    elif norm == "ortho":
        table[0] *= 1.0 / math.sqrt(2.0)
        table *= math.sqrt(2.0 / n_mels)
    else:
        raise AssertionError(f"create_dct: norm must be 'ortho' or None, got {norm!r}")
    return from_array(table.T.astype(as_dtype("create_dct", dtype).np).copy())


def get_window(window: Any, win_length: int, fftbins: bool = True, dtype: str = "float64") -> Any:
    """A window by its name ('hann', 'hamming', ...), or by its name and parameters (('gaussian', 7)).

    Raises ValueError for one that there is not.
    """
    from scipy.signal import windows

    name, *parameters = (window,) if isinstance(window, str) else window
    known = {"hamming", "hann", "gaussian", "general_gaussian", "exponential", "triang", "bohman", "blackman", "cosine", "tukey",
             "taylor", "kaiser", "bartlett", "nuttall"}  # fmt: skip
    if name not in known:
        raise ValueError(f"get_window: the window must be one of {', '.join(sorted(known))}, got {name!r}")
    if name == "exponential":
        parameters = [None, *parameters] if len(parameters) < 2 else parameters
    found = np.asarray(getattr(windows, name)(win_length, *parameters, sym=not fftbins))
    return from_array(found.astype(as_dtype("get_window", dtype).np))


__all__ = [
    "compute_fbank_matrix", "create_dct", "fft_frequencies", "get_window", "hz_to_mel", "mel_frequencies", "mel_to_hz",
    "power_to_db",
]  # fmt: skip

__getattr__ = _attributes(globals())
