"""`torch.fx._compatibility`: the decorator by which PyTorch marks what it keeps stable, which packages put on theirs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def compatibility(is_backward_compatible: bool) -> Callable[[T], T]:
    """A decorator that gives what it is put on."""
    return lambda fn: fn
