"""`paddle.framework`: the names of `paddle.base.framework`."""

from __future__ import annotations

from typing import Any

from .base import framework as _framework

globals().update({_name: getattr(_framework, _name) for _name in _framework.__all__})


def __getattr__(name: str) -> Any:
    return getattr(_framework, name)
