"""`torch._vmap_internals`: where older programs find `vmap`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .func import vmap

__all__ = ["vmap"]


def _vmap(
    func: Callable[..., Any], in_dims: Any = 0, out_dims: Any = 0, allow_none_pass_through: bool = False
) -> Callable[..., Any]:
    """`vmap`, by which packages batch a backward pass; `allow_none_pass_through` is refused: a result must be a tensor."""
    if allow_none_pass_through:
        raise NotImplementedError("_vmap: allow_none_pass_through is not there; give zeros for what depends on nothing")
    return vmap(func, in_dims, out_dims)
