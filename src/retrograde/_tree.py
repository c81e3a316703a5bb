"""Nested containers: flatten to leaves and build again. Used by the functional transforms and the dialects.

Tuples, named tuples, lists, dicts (leaves in sorted key order where keys sort, insertion order otherwise; a dict that
is built again has its keys in their old order), deques, None and any type given to `register`. Everything else is a leaf.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

_REGISTRY: dict[type, tuple[Callable[[Any], tuple[Iterable[Any], Any]], Callable[[Any, list[Any]], Any]]] = {
    deque: (lambda x: (list(x), x.maxlen), lambda most, children: deque(children, most)),
}


class TreeDef:
    """The structure of a container without its leaves; hashable and comparable."""

    __slots__ = ("kind", "aux", "children", "leaves")

    def __init__(self, kind: type | None, aux: Any, children: tuple[TreeDef, ...]) -> None:
        self.kind, self.aux, self.children = kind, aux, children
        self.leaves: int = 1 if kind is None else sum([child.leaves for child in children])

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, TreeDef)
            and self.kind is other.kind
            and self.aux == other.aux
            and self.children == other.children
        )

    def __hash__(self) -> int:
        return hash((self.kind, self.children))

    @property
    def num_leaves(self) -> int:
        """How many leaves there are."""
        return self.leaves

    @property
    def num_children(self) -> int:
        """How many parts the outermost container has."""
        return len(self.children)

    @property
    def num_nodes(self) -> int:
        """How many containers and leaves there are."""
        return 1 + sum(child.num_nodes for child in self.children)

    def is_leaf(self) -> bool:
        """Whether it is no container."""
        return self.kind is None

    def __repr__(self) -> str:
        if self.kind is None:
            return "*"
        return f"{self.kind.__name__}({', '.join(map(repr, self.children))})"


LEAF = TreeDef(None, None, ())


def register(
    kind: type, flatten_one: Callable[[Any], tuple[Iterable[Any], Any]], build: Callable[[Any, list[Any]], Any]
) -> None:
    """Make a type a container: `flatten_one(x) -> (children, aux)`, `build(aux, children) -> x`."""
    _REGISTRY[kind] = (flatten_one, build)


def registered() -> tuple[type, ...]:
    """The types that are containers by `register`."""
    return tuple(_REGISTRY)


class _Keys(tuple[Any, ...]):
    """The keys of a dict in the order of its leaves; two dicts with the same keys in another order have equal ones."""

    order: tuple[Any, ...]  # as they stood in the dict

    @classmethod
    def of(cls, mapping: dict[Any, Any], sort: bool) -> _Keys:
        try:
            keys = cls(sorted(mapping) if sort else mapping)
        except TypeError:
            keys = cls(mapping)
        keys.order = tuple(mapping)
        return keys

    def filled(self, values: Iterable[Any]) -> dict[Any, Any]:
        found = dict(zip(self, values))
        return {key: found[key] for key in self.order}


def flatten(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None, *, sort_keys: bool = True
) -> tuple[list[Any], TreeDef]:
    """The leaves of a nested container, left to right, and its structure.

    Entries of dicts come by sorted key, so that dicts of one structure match, or else in the order of the dict.
    """
    leaves: list[Any] = []
    return leaves, _flatten(tree, leaves, is_leaf, sort_keys)


def _flatten(tree: Any, leaves: list[Any], is_leaf: Callable[[Any], bool] | None, sort_keys: bool) -> TreeDef:
    kind = type(tree)
    aux: Any = None
    if is_leaf is not None and is_leaf(tree):
        leaves.append(tree)
        return LEAF
    if kind is tuple or kind is list:
        children: Iterable[Any] = tree
    elif kind is dict or kind is OrderedDict or kind is defaultdict:
        aux = tuple(tree) if kind is OrderedDict else _Keys.of(tree, sort_keys)
        children = [tree[key] for key in aux]
        if kind is defaultdict:
            aux = (tree.default_factory, aux)
    elif tree is None:
        children = ()
    elif kind in _REGISTRY:
        children, aux = _REGISTRY[kind][0](tree)
    elif isinstance(tree, tuple):
        children = tree
    else:
        leaves.append(tree)
        return LEAF
    return TreeDef(kind, aux, tuple([_flatten(child, leaves, is_leaf, sort_keys) for child in children]))


def unflatten(treedef: TreeDef, leaves: Iterable[Any]) -> Any:
    """Build the container that `flatten` took apart, with other leaves; raises ValueError when the count differs."""
    if treedef.kind is None and type(leaves) is list and len(leaves) == 1:
        return leaves[0]
    iterator = iter(leaves)
    try:
        tree = _unflatten(treedef, iterator)
    except StopIteration:
        raise ValueError(f"unflatten: too few leaves for a structure of {treedef.leaves}") from None
    if next(iterator, iterator) is not iterator:
        raise ValueError(f"unflatten: more leaves than the {treedef.leaves} of the structure")
    return tree


def _unflatten(treedef: TreeDef, leaves: Any) -> Any:
    kind = treedef.kind
    if kind is None:
        return next(leaves)
    children = [_unflatten(child, leaves) for child in treedef.children]
    if kind is list:
        return children
    if kind is tuple:
        return tuple(children)
    if kind is type(None):
        return None
    if kind is dict:
        return treedef.aux.filled(children)
    if kind is OrderedDict:
        return OrderedDict(zip(treedef.aux, children))
    if kind is defaultdict:
        return defaultdict(treedef.aux[0], treedef.aux[1].filled(children))
    if kind in _REGISTRY:
        return _REGISTRY[kind][1](treedef.aux, children)
    if hasattr(kind, "_make"):
        return kind._make(children)
    return kind(children)


def map_structure(f: Callable[..., Any], tree: Any, *rest: Any, is_leaf: Callable[[Any], bool] | None = None) -> Any:
    """Apply `f` to the leaves of one or several containers of the same structure."""
    leaves, treedef = flatten(tree, is_leaf)
    columns = [leaves]
    for other in rest:
        other_leaves, other_def = flatten(other, is_leaf)
        if other_def != treedef:
            raise ValueError(f"map_structure: structures differ: {treedef} and {other_def}")
        columns.append(other_leaves)
    return unflatten(treedef, [f(*column) for column in zip(*columns)])
