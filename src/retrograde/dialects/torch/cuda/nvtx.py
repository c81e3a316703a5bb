"""`torch.cuda.nvtx`: marks in profiles of NVIDIA's tools, which nobody reads here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .._api import attributes
from . import _served

_depth = 0


def _checked(name: str) -> None:
    _served(f"nvtx.{name}", RuntimeError)


@contextlib.contextmanager
def range(msg: str, *args: Any, **kwargs: Any) -> Iterator[None]:
    """A span of a profile: raises where it begins, as in PyTorch without CUDA, unless there is a GPU."""
    _checked("range")
    yield


def range_push(msg: str) -> int:
    """A span begins; returns how deep it is."""
    global _depth
    _checked("range_push")
    _depth += 1
    return _depth - 1


def range_pop() -> int:
    """A span ends; returns how deep it was."""
    global _depth
    _checked("range_pop")
    _depth -= 1
    return _depth


def mark(msg: str) -> None:
    """A point in a profile."""
    _checked("mark")


__all__ = ["mark", "range", "range_pop", "range_push"]
__getattr__ = attributes(globals())
