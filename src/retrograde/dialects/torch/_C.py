"""`torch._C`: the few names of PyTorch's binary module that packages reach for."""

from __future__ import annotations

from typing import Any

from ._api import missing
from ._linalg_error import _LinAlgError
from .random import Generator

__all__ = ["Generator", "_LinAlgError", "_log_api_usage_once"]


def _log_api_usage_once(event: str) -> None:
    """Nothing: no usage is logged."""


def __getattr__(name: str) -> Any:
    raise missing("torch._C", name, globals())
