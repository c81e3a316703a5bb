"""`paddle.audio.features`: spectrograms as layers, plain, on the mel scale, in decibels, and their cosine transforms."""

from __future__ import annotations

from typing import Any

from .. import _arithmetic, _shape, _unary
from .._api import attributes as _attributes
from ..nn import Layer
from ..signal import stft
from . import functional as A


class Spectrogram(Layer):
    """The power of the short-time Fourier transform of waves (N, T): (N, bins, frames)."""

    def __init__(
        self, n_fft: int = 512, hop_length: int | None = 512, win_length: int | None = None, window: Any = "hann",
        power: float = 1.0, center: bool = True, pad_mode: str = "reflect", dtype: str = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if power <= 0:
            raise AssertionError(f"Spectrogram: power must be positive, got {power}")
        self.power = power
        self._options = {
            "n_fft": n_fft, "hop_length": hop_length, "win_length": win_length or n_fft, "center": center, "pad_mode": pad_mode,
        }  # fmt: skip
        self.register_buffer("fft_window", A.get_window(window, win_length or n_fft, True, dtype))

    def forward(self, x: Any) -> Any:
        """The spectrogram."""
        return _arithmetic.pow(_unary.absolute(stft(x, window=self.fft_window, **self._options)), self.power)


class MelSpectrogram(Layer):
    """A spectrogram through filters on the mel scale: (N, n_mels, frames)."""

    def __init__(
        self, sr: int = 22050, n_fft: int = 2048, hop_length: int | None = 512, win_length: int | None = None,
        window: Any = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: Any = "slaney", dtype: str = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        self._spectrogram = Spectrogram(n_fft, hop_length, win_length, window, power, center, pad_mode, dtype)
        self.register_buffer("fbank_matrix", A.compute_fbank_matrix(sr, n_fft, n_mels, f_min, f_max, htk, norm, dtype))

    def forward(self, x: Any) -> Any:
        """The spectrogram."""
        return _arithmetic.matmul(self.fbank_matrix, self._spectrogram(x))


class LogMelSpectrogram(Layer):
    """A mel spectrogram in decibels."""

    def __init__(
        self, sr: int = 22050, n_fft: int = 512, hop_length: int | None = None, win_length: int | None = None,
        window: Any = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: Any = "slaney", ref_value: float = 1.0,
        amin: float = 1e-10, top_db: float | None = None, dtype: str = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        self._melspectrogram = MelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm, dtype
        )
        self.ref_value, self.amin, self.top_db = ref_value, amin, top_db

    def forward(self, x: Any) -> Any:
        """The spectrogram."""
        return A.power_to_db(self._melspectrogram(x), self.ref_value, self.amin, self.top_db)


class MFCC(Layer):
    """The cosine transform of a mel spectrogram in decibels: (N, n_mfcc, frames)."""

    def __init__(
        self, sr: int = 22050, n_mfcc: int = 40, n_fft: int = 512, hop_length: int | None = None, win_length: int | None = None,
        window: Any = "hann", power: float = 2.0, center: bool = True, pad_mode: str = "reflect", n_mels: int = 64,
        f_min: float = 50.0, f_max: float | None = None, htk: bool = False, norm: Any = "slaney", ref_value: float = 1.0,
        amin: float = 1e-10, top_db: float | None = None, dtype: str = "float32",
    ) -> None:  # fmt: skip
        super().__init__()
        if n_mfcc > n_mels:
            raise AssertionError(f"MFCC: n_mfcc must not be above n_mels, got {n_mfcc} and {n_mels}")
        self._log_melspectrogram = LogMelSpectrogram(
            sr, n_fft, hop_length, win_length, window, power, center, pad_mode, n_mels, f_min, f_max, htk, norm, ref_value, amin,
            top_db, dtype,
        )  # fmt: skip
        self.register_buffer("dct_matrix", A.create_dct(n_mfcc, n_mels, dtype=dtype))

    def forward(self, x: Any) -> Any:
        """The coefficients."""
        found = _arithmetic.matmul(_shape.transpose(self._log_melspectrogram(x), [0, 2, 1]), self.dct_matrix)
        return _shape.transpose(found, [0, 2, 1])


__all__ = ["LogMelSpectrogram", "MFCC", "MelSpectrogram", "Spectrogram"]

__getattr__ = _attributes(globals())
