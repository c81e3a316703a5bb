"""`paddle.audio`: what is computed of waves. Reading files and fetching data sets is left to other packages."""

from __future__ import annotations

from .._api import attributes as _attributes
from . import features as features
from . import functional as functional

__all__ = ["features", "functional"]

__getattr__ = _attributes(globals())
