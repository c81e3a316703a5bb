"""What weight_norm and spectral_norm share in their old and new forms, and the hooks of pruning with them."""

from __future__ import annotations

from typing import Any

from .....core.value import shape_of
from .....learn.layers import reparametrise as layers
from ..._api import api
from ..._graph_nodes import show_as


def hook_of(module: Any, kind: type, name: str) -> tuple[Any, Any]:
    """The pre-hook of a kind for a parameter of a module, with its key; None twice where there is none."""
    for key, hook in module._forward_pre_hooks.items():
        if isinstance(hook, kind) and getattr(hook, "_tensor_name", None) == name:
            return key, hook
    return None, None


def check_free(op: str, module: Any, kind: type, name: str) -> None:
    """Raise RuntimeError where a parameter has a hook of a kind."""
    if hook_of(module, kind, name)[1] is not None:
        raise RuntimeError(f"{op}: parameter {name!r} has a {op} hook already")


def take_away(op: str, module: Any, kind: type, name: str, state: str) -> Any:
    """Undo a hook of a kind, by its `remove`; returns the module. Raises ValueError where the parameter has none."""
    key, hook = hook_of(module, kind, name)
    if hook is None:
        raise ValueError(f"{op}: {name!r} of {type(module).__name__} {state}")
    hook.remove(module)
    del module._forward_pre_hooks[key]
    return module


def norm_without(v: Any, dim: int, power: float = 2) -> Any:
    """The norm over all axes but one, which are kept with length 1; over all axes for dim = -1."""
    return layers.norm_without(v, None if dim == -1 else dim % len(shape_of(v)), power)


@api(method=False)
def norm_except_dim(v: Any, pow: float = 2, dim: int = 0) -> Any:
    """The norm of `v` over all dimensions but `dim`, which keep length 1."""
    if not shape_of(v):
        raise IndexError("norm_except_dim: wanted a tensor with at least one dimension, got a 0-d one")
    return norm_without(v, dim, pow)


@api(method=False)
def _weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """g v / |v|, the norm taken over all dimensions but `dim`."""
    rank = len(shape_of(v))
    out = layers.weight_norm(v, g, None if dim == -1 else dim % rank)
    return show_as(out, "WeightNormInterfaceBackward0") if dim in (0, rank - 1) else out
