"""`torch.functional`: names that also stand in `torch`."""

from __future__ import annotations

from typing import Any as _Any

from ._api import FUNCTIONS as _FUNCTIONS
from ._api import missing as _missing


def __getattr__(name: str) -> _Any:
    if name in _FUNCTIONS:
        return _FUNCTIONS[name]
    raise _missing("torch.functional", name, _FUNCTIONS)
