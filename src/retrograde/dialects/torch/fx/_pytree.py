"""`torch.fx._pytree`: nested arguments taken apart by a structure that is known, as generated code does."""

from __future__ import annotations

from typing import Any

from ...._tree import TreeDef
from ..utils._pytree import tree_flatten


def tree_flatten_spec(pytree: Any, spec: TreeDef) -> list[Any]:
    """The leaves of a container; raises ValueError where its structure is another than `spec`."""
    leaves, found = tree_flatten(pytree)
    if found != spec:
        raise ValueError(f"the arguments have the structure {found}, the graph was traced with {spec}")
    return leaves
