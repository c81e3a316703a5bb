"""`torch.signal`: windows."""

from __future__ import annotations

from .._api import attributes as _attributes
from . import windows

__all__ = ["windows"]

__getattr__ = _attributes(globals())
