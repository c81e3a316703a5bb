"""`torch.signal`: windows."""

from __future__ import annotations

from typing import Any as _Any

from .._api import missing as _missing
from . import windows

__all__ = ["windows"]


def __getattr__(name: str) -> _Any:
    raise _missing("torch.signal", name, globals())
