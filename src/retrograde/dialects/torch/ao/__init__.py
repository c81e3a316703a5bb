"""`torch.ao`: quantisation, as modules that are imported and refuse when used."""

from __future__ import annotations

from .._api import attributes
from . import quantization

__getattr__ = attributes(globals())
