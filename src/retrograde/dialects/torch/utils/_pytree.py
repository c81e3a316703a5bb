"""`torch.utils._pytree`: nested containers, as packages take them apart."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from ...._tree import LEAF, TreeDef, flatten, map_structure, register, unflatten

PyTree = Any
TreeSpec = TreeDef
LeafSpec = type(LEAF)


def _stops(is_leaf: Callable[[Any], bool] | None) -> Callable[[Any], bool]:
    """None is a leaf of these containers, and what `is_leaf` says."""
    return (lambda x: x is None) if is_leaf is None else (lambda x: x is None or is_leaf(x))


def tree_flatten(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> tuple[list[Any], TreeDef]:
    """The leaves (dict entries as they stand) and the structure."""
    return flatten(tree, _stops(is_leaf), sort_keys=False)


def tree_unflatten(leaves: Iterable[Any], treespec: TreeDef) -> Any:
    """The container that `tree_flatten` took apart, with other leaves."""
    return unflatten(treespec, leaves)


def tree_leaves(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[Any]:
    """The leaves."""
    return flatten(tree, _stops(is_leaf), sort_keys=False)[0]


def tree_map(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """A container with `func` of every leaf."""
    if rests:
        return map_structure(func, tree, *rests, is_leaf=_stops(is_leaf))
    leaves, structure = tree_flatten(tree, is_leaf)
    return unflatten(structure, map(func, leaves))


def tree_map_only(kind: Any, func: Callable[[Any], Any], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """A container with `func` of every leaf of a type, the others as they are."""
    return tree_map(lambda x: func(x) if isinstance(x, kind) else x, tree, is_leaf=is_leaf)


def tree_all(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether `pred` holds for every leaf."""
    return all(map(pred, tree_leaves(tree, is_leaf)))


def tree_any(pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether `pred` holds for a leaf."""
    return any(map(pred, tree_leaves(tree, is_leaf)))


def tree_map_(func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Call `func` on every leaf, for what it does; returns the container."""
    tree_map(func, tree, *rests, is_leaf=is_leaf)
    return tree


def tree_all_only(
    kind: Any, pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> bool:
    """Whether `pred` holds for every leaf of a type."""
    return all(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, kind))


def tree_any_only(
    kind: Any, pred: Callable[[Any], bool], tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> bool:
    """Whether `pred` holds for a leaf of a type."""
    return any(pred(x) for x in tree_leaves(tree, is_leaf) if isinstance(x, kind))


def tree_structure(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> TreeDef:
    """The structure of a container."""
    return tree_flatten(tree, is_leaf)[1]


def tree_iter(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> Iterable[Any]:
    """The leaves, one after the other."""
    return iter(tree_leaves(tree, is_leaf))


def register_pytree_node(
    cls: type, flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]], unflatten_fn: Callable[[Any, Any], Any], **_: Any
) -> None:
    """Make a type a container: `flatten_fn(x) -> (children, context)`, `unflatten_fn(children, context) -> x`."""
    register(cls, flatten_fn, lambda context, children: unflatten_fn(children, context))
