"""`paddle.audio`: what is computed of waves. Reading files and fetching data sets is left to other packages."""

from __future__ import annotations

from typing import Any

from .._api import missing as _missing
from . import features as features
from . import functional as functional

__all__ = ["features", "functional"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.audio", name, __all__)
