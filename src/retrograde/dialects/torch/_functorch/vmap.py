"""`torch._functorch.vmap`: what packages take from the inside of vmap to map over containers of their own; that is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .._api import attributes
from .._C._functorch import _add_batch_dim
from .._C._functorch import _remove_batch_dim as _maybe_remove_batch_dim
from .._tensor import Tensor
from ..func import vmap
from ..utils._pytree import _broadcast_to_and_flatten, tree_flatten, tree_unflatten

__all__ = [
    "Tensor", "_add_batch_dim", "_broadcast_to_and_flatten", "_get_name", "_maybe_remove_batch_dim", "tree_flatten",
    "tree_unflatten", "vmap",
]  # fmt: skip


def _get_name(func: Callable[..., Any]) -> str:
    """What a function is called, for messages."""
    return getattr(func, "__name__", None) or repr(func)


__getattr__ = attributes(globals())
