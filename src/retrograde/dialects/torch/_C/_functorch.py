"""`torch._C._functorch`: questions about the tensors of functional transforms."""

from __future__ import annotations

from typing import Any, NoReturn

from ....core.batched import BatchedArray
from .._api import attributes


def is_batchedtensor(tensor: Any) -> bool:
    """Whether a tensor is mapped over by a `vmap` that is open."""
    return isinstance(getattr(tensor, "_a", None), BatchedArray)


def is_legacy_batchedtensor(tensor: Any) -> bool:
    """Whether it is so by the first form of vmap, which is the same here: no."""
    return False


def get_unwrapped(tensor: Any) -> NoReturn:
    """Raises NotImplementedError, as the other two below: a package's own containers are not mapped over."""
    raise _no_containers("get_unwrapped")


def _add_batch_dim(tensor: Any, in_dim: int, level: int) -> NoReturn:
    raise _no_containers("_add_batch_dim")


def _remove_batch_dim(tensor: Any, level: int, batch_size: int, out_dim: int) -> NoReturn:
    raise _no_containers("_remove_batch_dim")


def _no_containers(name: str) -> NotImplementedError:
    return NotImplementedError(f"{name}: vmap maps over tensors in tuples, lists and dicts here; give it those of the container")


__getattr__ = attributes(globals())
