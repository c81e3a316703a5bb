"""`mindspore.numpy.fft`: the Fourier transforms of `mindspore.ops` with NumPy's names of their arguments."""

from __future__ import annotations

from ..._shared.registry import aliases as _aliases
from .._api import FUNCTIONS as _F
from .._api import attributes as _attributes

_NAMES = (
    "fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "ifft2", "rfft2", "irfft2", "hfft2", "ihfft2", "fftn", "ifftn",
    "rfftn", "irfftn", "hfftn", "ihfftn", "fftshift", "ifftshift",
)  # fmt: skip
globals().update({name: _aliases(a="input", x="input", axis="dim", axes="dim")(_F[name]) for name in _NAMES})
fftfreq, rfftfreq = _F["fftfreq"], _F["rfftfreq"]

__getattr__ = _attributes(globals())
