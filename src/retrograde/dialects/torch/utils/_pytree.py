"""`torch.utils._pytree`: nested containers, as packages take them apart."""

from __future__ import annotations

import dataclasses
import operator
from collections import OrderedDict, defaultdict, deque, namedtuple
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...._tree import LEAF, TreeDef, flatten, map_structure, register, registered, unflatten

PyTree = Any
TreeSpec = TreeDef


class _OfLeaves(type):
    def __instancecheck__(cls, x: object) -> bool:
        return isinstance(x, TreeDef) and x.kind is None


class LeafSpec(TreeDef, metaclass=_OfLeaves):
    """The structure of a leaf."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(None, None, ())


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


# ------------------------------------------------------------------------------------------ the parts of a container


def _key(name: str, field: str, doc: str, get: Callable[[Any, Any], Any], text: str = "[{!r}]") -> Any:
    """The class of what says where in a container a leaf is."""
    read = operator.attrgetter(field)
    own = {
        "__doc__": doc, "__module__": __name__, "__str__": lambda self: text.format(read(self)),
        "get": lambda self, container: get(container, read(self)),
    }  # fmt: skip
    return dataclasses.make_dataclass(name, [(field, Any)], namespace=own, frozen=True)


MappingKey = _key("MappingKey", "key", "The place of a leaf in a dict.", operator.getitem)
SequenceKey = _key("SequenceKey", "idx", "The place of a leaf in a sequence.", operator.getitem)
GetAttrKey = _key("GetAttrKey", "name", "The place of a leaf in a named tuple or an object.", getattr, ".{}")

Context = Any
KeyPath = tuple[Any, ...]


class NodeDef(NamedTuple):
    """How a type of containers is taken apart and built: (children, context), and back."""

    type: Any
    flatten_fn: Callable[[Any], tuple[list[Any], Any]]
    unflatten_fn: Callable[[Iterable[Any], Any], Any]


def _one_level(x: Any) -> tuple[list[Any], TreeDef]:
    return flatten(x, lambda y: y is not x, sort_keys=False)


def _node_of(kind: Any) -> NodeDef:
    def apart(x: Any) -> tuple[list[Any], Any]:
        children, structure = _one_level(x)
        return children, (structure.kind if kind is namedtuple else structure.aux)

    def together(children: Iterable[Any], context: Any) -> Any:
        values = list(children)
        if kind is namedtuple:
            return context(*values)
        return unflatten(TreeDef(kind, context, (LEAF,) * len(values)), values)

    return NodeDef(kind, apart, together)


class _Nodes(Mapping[Any, NodeDef]):
    """The types that are containers, Python's and those registered."""

    _PYTHONS = (tuple, list, dict, namedtuple, OrderedDict, defaultdict)

    def __getitem__(self, kind: Any) -> NodeDef:
        if kind not in self._PYTHONS and kind not in registered():
            raise KeyError(kind)
        return _node_of(kind)

    def __iter__(self) -> Iterator[Any]:
        yield from self._PYTHONS
        yield from registered()

    def __len__(self) -> int:
        return len(self._PYTHONS) + len(registered())


SUPPORTED_NODES = _Nodes()


def _is_namedtuple_instance(tree: Any) -> bool:
    return isinstance(tree, tuple) and hasattr(type(tree), "_fields")


def _get_node_type(tree: Any) -> Any:
    """The type of a container as `SUPPORTED_NODES` has it."""
    return namedtuple if _is_namedtuple_instance(tree) else type(tree)


def tree_is_leaf(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> bool:
    """Whether an object is a leaf."""
    return (is_leaf is not None and is_leaf(tree)) or _get_node_type(tree) not in SUPPORTED_NODES


def _dict_flatten(d: dict[Any, Any]) -> tuple[list[Any], Any]:
    return list(d.values()), list(d)


def _dict_unflatten(values: Iterable[Any], context: Any) -> dict[Any, Any]:
    return dict(zip(context, values))


def _dict_flatten_with_keys(d: dict[Any, Any]) -> tuple[list[tuple[Any, Any]], Any]:
    return [(MappingKey(k), v) for k, v in d.items()], list(d)


def _list_flatten(d: list[Any]) -> tuple[list[Any], None]:
    return d, None


def _list_unflatten(values: Iterable[Any], context: None) -> list[Any]:
    return list(values)


def _list_flatten_with_keys(d: Iterable[Any]) -> tuple[list[tuple[Any, Any]], None]:
    return [(SequenceKey(i), v) for i, v in enumerate(d)], None


def is_structseq_instance(obj: Any) -> bool:
    """Whether an object is one of C's named sequences (`os.stat_result`), whose type makes one of a single sequence."""
    kind = type(obj)
    return isinstance(obj, tuple) and kind.__bases__ == (tuple,) and isinstance(getattr(kind, "n_fields", None), int)


def _broadcast_to_and_flatten(tree: Any, treespec: TreeDef, is_leaf: Callable[[Any], bool] | None = None) -> list[Any] | None:
    """The leaves of a container spread over those of a structure that begins like it; None where it does not."""
    leaves, structure = tree_flatten(tree, is_leaf)
    if structure == treespec:
        return leaves
    if isinstance(structure, LeafSpec):
        return leaves * treespec.leaves
    if (structure.kind, structure.aux) != (treespec.kind, treespec.aux) or len(structure.children) != len(treespec.children):
        return None
    spread: list[Any] = []
    for child, below in zip(structure.children, treespec.children):
        part, leaves = unflatten(child, leaves[: child.leaves]), leaves[child.leaves :]
        found = _broadcast_to_and_flatten(part, below, is_leaf)
        if found is None:
            return None
        spread += found
    return spread


def register_pytree_node(
    cls: type, flatten_fn: Callable[[Any], tuple[Iterable[Any], Any]], unflatten_fn: Callable[[Any, Any], Any], *,
    flatten_with_keys_fn: Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]] | None = None, **_: Any,
) -> None:  # fmt: skip
    """Make a type a container: `flatten_fn(x) -> (children, context)`, `unflatten_fn(children, context) -> x`.

    `flatten_with_keys_fn(x) -> ((key, child) pairs, context)` says the places of the children. Raises ValueError for what is a
    container already.
    """
    if cls in SUPPORTED_NODES:
        raise ValueError(f"register_pytree_node: {cls.__name__} is a container already")
    register(cls, flatten_fn, lambda context, children: unflatten_fn(children, context))
    if flatten_with_keys_fn is not None:
        _WITH_KEYS[cls] = flatten_with_keys_fn


_WITH_KEYS: dict[type, Callable[[Any], tuple[Iterable[tuple[Any, Any]], Any]]] = {}
"""How containers of registered types are taken apart with the places of their parts."""


def _entries(tree: Any) -> Iterable[tuple[Any, Any]]:
    """The parts of a container with their places."""
    kind = _get_node_type(tree)
    if kind in _WITH_KEYS:
        return _WITH_KEYS[kind](tree)[0]
    if kind is namedtuple:
        return [(GetAttrKey(name), getattr(tree, name)) for name in tree._fields]
    if isinstance(tree, dict):
        return _dict_flatten_with_keys(tree)[0]
    if isinstance(tree, (tuple, list, deque)):
        return _list_flatten_with_keys(tree)[0]
    raise ValueError(
        f"{kind.__name__} was registered without flatten_with_keys_fn: the places of its parts are not known"
    )


def tree_leaves_with_path(tree: Any, is_leaf: Callable[[Any], bool] | None = None) -> list[tuple[KeyPath, Any]]:
    """The leaves, each with its place: a key for each container around it."""
    if tree_is_leaf(tree, is_leaf):
        return [((), tree)]
    return [((key, *path), x) for key, part in _entries(tree) for path, x in tree_leaves_with_path(part, is_leaf)]


def tree_flatten_with_path(
    tree: Any, is_leaf: Callable[[Any], bool] | None = None
) -> tuple[list[tuple[KeyPath, Any]], TreeDef]:
    """The leaves with their places, and the structure."""
    return tree_leaves_with_path(tree, is_leaf), tree_structure(tree, is_leaf)


def tree_map_with_path(
    func: Callable[..., Any], tree: Any, *rests: Any, is_leaf: Callable[[Any], bool] | None = None
) -> Any:
    """A container with `func(place, leaf, ...)` of every leaf."""
    leaves, structure = tree_flatten_with_path(tree, is_leaf)
    others = [tree_flatten(rest, is_leaf) for rest in rests]
    for _, found in others:
        if found != structure:
            raise ValueError(f"tree_map_with_path: structures differ: {structure} and {found}")
    return unflatten(structure, [func(*leaf, *more) for leaf, *more in zip(leaves, *(found for found, _ in others))])


def keystr(kp: KeyPath) -> str:
    """A place as text, as it is written behind a variable."""
    return "".join(map(str, kp))


def key_get(obj: Any, kp: KeyPath) -> Any:
    """What is in a place."""
    for key in kp:
        obj = key.get(obj)
    return obj
