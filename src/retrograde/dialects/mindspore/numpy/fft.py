"""`mindspore.numpy.fft`: the Fourier transforms of `mindspore.ops` with NumPy's names of their arguments."""

from __future__ import annotations

from ..._shared.registry import aliases as _aliases
from .. import _spectral
from .._api import attributes as _attributes

_TRANSFORMS = (
    _spectral.fft, _spectral.ifft, _spectral.rfft, _spectral.irfft, _spectral.hfft, _spectral.ihfft, _spectral.fft2,
    _spectral.ifft2, _spectral.rfft2, _spectral.irfft2, _spectral.hfft2, _spectral.ihfft2, _spectral.fftn, _spectral.ifftn,
    _spectral.rfftn, _spectral.irfftn, _spectral.hfftn, _spectral.ihfftn, _spectral.fftshift, _spectral.ifftshift,
)  # fmt: skip
globals().update({f.__name__: _aliases(a="input", x="input", axis="dim", axes="dim")(f) for f in _TRANSFORMS})
fftfreq, rfftfreq = _spectral.fftfreq, _spectral.rfftfreq

__getattr__ = _attributes(globals())
