"""`torch._C._functorch`: questions about the tensors of functional transforms."""

from __future__ import annotations

from typing import Any

from ....core.batched import BatchedArray
from .._api import missing


def is_batchedtensor(tensor: Any) -> bool:
    """Whether a tensor is mapped over by a `vmap` that is open."""
    return isinstance(getattr(tensor, "_a", None), BatchedArray)


def is_legacy_batchedtensor(tensor: Any) -> bool:
    """Whether it is so by the first form of vmap, which is the same here: no."""
    return False


def __getattr__(name: str) -> Any:
    raise missing("torch._C._functorch", name, globals())
