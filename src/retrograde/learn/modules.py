"""`Tree`: what the modules of every framework have in common: parameters, buffers and children by attribute.

A dialect's module class derives from `Tree`, says with `define_kinds` what its three tables are called and which types
enter them, and puts its own names over the functions here: registration and removal, walks with paths and
de-duplication, what a state dict holds, `apply`, the indented text. Nothing here knows a dialect; which values are
accepted and which exceptions are raised is up to the `_tree_` methods, which a dialect may override. All else are
functions, so that users' modules may call their attributes what they like.

    class Module(Tree):
        def __init__(self): init_tables(self)
    define_kinds(Module, Kinds(
        Kind("_parameters", "parameter", (Parameter,), (Parameter,)),
        Kind("_modules", "submodule", (Module,), (Module,)),
        Kind("_buffers", "buffer", (), (Tensor,)),
    ))
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable, Iterator
from typing import Any, ClassVar, NamedTuple, TypeVar

T = TypeVar("T", bound="Tree")


class Kind(NamedTuple):
    """One kind of member: the table (a dict in the instance's dictionary) and what goes into it."""

    table: str
    word: str
    """What error messages call it."""
    types: tuple[type, ...]
    """Values of these types enter the table by being set as an attribute."""
    fits: tuple[type, ...]
    """Values of these types may take the place of an entry; None always may."""


class Kinds(NamedTuple):
    """The kinds of members, in the order in which names are looked up."""

    parameters: Kind
    children: Kind
    buffers: Kind


class Tree:
    """Base of module classes: a node of a tree whose parameters, buffers and children are set as attributes."""

    _tree_kinds: ClassVar[Kinds]
    _tree_tables: ClassVar[tuple[str, str, str]]
    """The tables of the kinds, in their order."""
    _tree_transient: ClassVar[str] = "_non_persistent_buffers_set"
    """The name of the set of buffers that a state dict leaves out."""

    def __setattr__(self, name: str, value: Any) -> None:
        own = self.__dict__
        if type(value) in _NO_MEMBERS:  # asking for the types of members takes 1.5 µs, for a parameter alone 0.5
            for kind in self._tree_kinds:
                if name in own.get(kind.table, ()):
                    break
            else:
                super().__setattr__(name, value)
                return
        for kind in self._tree_kinds:
            table = own.get(kind.table)
            if isinstance(value, kind.types):
                if table is None:
                    raise self._tree_too_early(kind)
                self._tree_enter(kind, name, value)
                return
            if table is not None and name in table:
                self._tree_replace(kind, name, value)
                return
        super().__setattr__(name, value)

    def __getattr__(self, name: str) -> Any:
        own, (parameters, children, buffers) = self.__dict__, self._tree_tables
        if parameters in own and name in (table := own[parameters]):
            return table[name]
        if children in own and name in (table := own[children]):
            return table[name]
        if buffers in own and name in (table := own[buffers]):
            return table[name]
        raise self._tree_absent(name)

    def __delattr__(self, name: str) -> None:
        own = self.__dict__
        for kind in self._tree_kinds:
            if name in own.get(kind.table, ()):
                del own[kind.table][name]
                own[self._tree_transient].discard(name)
                return
        super().__delattr__(name)

    def __dir__(self) -> list[str]:
        return sorted(n for n in {*super().__dir__(), *known_names(self)} if not n[:1].isdigit())

    def apply(self: T, fn: Callable[[T], Any]) -> T:
        """Call `fn` on everything below and then on this module; returns this module."""
        for _, child in named_children(self):
            child.apply(fn)
        fn(self)
        return self

    # -------------------------------------------------------------------- for dialects to override

    def _tree_enter(self, kind: Kind, name: str, value: Any) -> None:
        """Take in a value of one of the kind's types; the name leaves everything else that had it."""
        forget(self, name, kind)
        self.__dict__[kind.table][name] = value

    def _tree_replace(self, kind: Kind, name: str, value: Any) -> None:
        """Put a value in the place of an entry; raises TypeError unless it fits or is None."""
        if value is not None and not isinstance(value, kind.fits):
            wanted = " or ".join(dict.fromkeys(t.__name__ for t in kind.fits))
            raise TypeError(
                f"{type(self).__name__}.{name} is a {kind.word}; it can be set to a {wanted} or None, not to "
                f"{type(value).__name__}; take another name, or delete the {kind.word} first (del)"
            )
        self.__dict__[kind.table][name] = value

    def _tree_too_early(self, kind: Kind) -> Exception:
        """The error for a member that is set before the tables are there."""
        base = next(c for c in reversed(type(self).__mro__) if "_tree_kinds" in c.__dict__)
        return AttributeError(
            f"{type(self).__name__}: a {kind.word} can only be set after {base.__name__}.__init__() has been called; let "
            f"{type(self).__name__}.__init__ begin with super().__init__()"
        )

    def _tree_absent(self, name: str) -> AttributeError:
        """The error for an attribute that there is not (`known_names` gives those that there are)."""
        return AttributeError(f"{type(self).__name__} has no attribute {name!r}")


_NO_MEMBERS = frozenset((type(None), bool, int, float, complex, str, bytes, list, tuple, dict, set, types.FunctionType))
"""What no dialect takes as a member of a module."""

# ------------------------------------------------------------------------------------------ members


def define_kinds(cls: type[Tree], kinds: Kinds) -> None:
    """Say what the tables of a class of modules are called and what goes into them."""
    cls._tree_kinds = kinds
    cls._tree_tables = kinds.parameters.table, kinds.children.table, kinds.buffers.table


def init_tables(tree: Tree) -> None:
    """Make the empty tables of a module; to be called before any member is set."""
    own = tree.__dict__
    for kind in tree._tree_kinds:
        own[kind.table] = {}
    own[tree._tree_transient] = set()


def forget(tree: Tree, name: str, kept: Kind) -> None:
    """Take a name out of everything but the table that is to have it, where it keeps its place."""
    own = tree.__dict__
    own.pop(name, None)
    for kind in tree._tree_kinds:
        if kind is not kept:
            own[kind.table].pop(name, None)
    own[tree._tree_transient].discard(name)


def taken(tree: Tree, name: str, kind: Kind) -> bool:
    """Whether a name stands for something other than an entry of the kind's table."""
    own = tree.__dict__
    if name in own[kind.table]:
        return False
    if type(tree).__getattr__ is not Tree.__getattr__:
        return hasattr(tree, name)
    # A missing attribute costs 2 µs where it is asked for, since __getattr__ makes an error for it.
    if name in own or (hasattr(type(tree), name) and hasattr(tree, name)):  # a property that raises stands for nothing yet
        return True
    for other in tree._tree_kinds:  # noqa: SIM110 - any() takes 0.5 µs to begin
        if name in own[other.table]:
            return True
    return False


def known_names(tree: Tree) -> list[str]:
    """The names of all attributes, for error messages that name what is near."""
    own = tree.__dict__
    members = (str(key) for kind in tree._tree_kinds for key in own.get(kind.table, ()))
    return [*members, *own, *dir(type(tree))]


# ------------------------------------------------------------------------------------------ walking the tree


def walk(tree: T, prefix: str = "", unique: bool = True, seen: set[Any] | None = None) -> Iterator[tuple[str, T]]:
    """A module and all below in depth-first order with their paths; each once where `unique`.

    `seen` are modules to leave out with what is below them; those walked over are added where `unique`.
    """
    seen = set() if seen is None else seen
    children = tree._tree_kinds.children.table
    stack = [(prefix, tree)]
    while stack:
        path, node = stack.pop()
        if node in seen:
            continue
        if unique:
            seen.add(node)
        yield path, node
        below = [(f"{path}.{name}" if path else str(name), x) for name, x in node.__dict__[children].items()]
        stack.extend((p, x) for p, x in reversed(below) if x is not None)


def named_children(tree: T) -> Iterator[tuple[str, T]]:
    """The direct children, each once, with their names."""
    seen: set[Any] = set()
    for name, child in tree.__dict__[tree._tree_kinds.children.table].items():
        if child is not None and child not in seen:
            seen.add(child)
            yield name, child


def below(tree: Tree, path: str) -> Any:
    """The module at a path of names with dots, the module itself for no path; raises AttributeError where there is none."""
    kind, found = tree._tree_kinds.children, tree
    for part in path.split(".") if path else ():
        found = getattr(found, part)
        if not isinstance(found, kind.fits):
            raise AttributeError(f"{type(tree).__name__}: {part!r} in the path {path!r} is no {kind.fits[0].__name__}")
    return found


def members(
    tree: Tree, kind: Kind, prefix: str = "", recurse: bool = True, unique: bool = True
) -> Iterator[tuple[str, Any]]:  # fmt: skip
    """The entries of a kind's table in a module and, where `recurse`, below, with paths; each once where `unique`."""
    seen: set[int] = set()
    nodes: Iterable[tuple[str, Tree]] = walk(tree, prefix, unique) if recurse else [(prefix, tree)]
    for path, node in nodes:
        for name, x in node.__dict__[kind.table].items():
            if x is None or id(x) in seen:
                continue
            if unique:
                seen.add(id(x))
            yield (f"{path}.{name}" if path else name), x


def entries(tree: Tree, kind: Kind) -> list[Any]:
    """The entries of a kind's table in a module and below, each once, as `members` has them but without paths.

    A third of the time: it is asked for in every training step.
    """
    found: dict[int, Any] = {}
    seen: set[int] = set()
    children, table = tree._tree_kinds.children.table, kind.table
    stack = [tree]
    while stack:
        node = stack.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        own = node.__dict__
        for x in own[table].values():
            if x is not None:
                found.setdefault(id(x), x)
        below = own[children]
        if below:
            stack.extend([x for x in reversed(below.values()) if x is not None])
    return list(found.values())


def own_state(tree: Tree) -> Iterator[tuple[str, Any]]:
    """What a state dict holds of a module alone: its parameters, then its persistent buffers."""
    own, kinds = tree.__dict__, tree._tree_kinds
    for name, x in own[kinds.parameters.table].items():
        if x is not None:
            yield name, x
    transient = own[tree._tree_transient]
    for name, x in own[kinds.buffers.table].items():
        if x is not None and name not in transient:
            yield name, x


def tree_state(tree: Tree, prefix: str = "") -> Iterator[tuple[str, Any]]:
    """What a state dict holds of a module and all below, with paths; what is shared stands under each of its paths."""
    for path, node in walk(tree, prefix, unique=False):
        for name, x in own_state(node):
            yield (f"{path}.{name}" if path else name), x


# ------------------------------------------------------------------------------------------ text


def described(name: str, extra: str, children: Iterable[tuple[Any, Any]]) -> str:
    """The text of a module: its name, what it says of itself, and its children (or their texts) indented below.

    >>> print(described("Pair", "", [("a", "One()"), ("b", "Two()")]))
    Pair(
      (a): One()
      (b): Two()
    )
    """
    lines = extra.split("\n") if extra else []
    below = [f"({key}): {indented(child if isinstance(child, str) else repr(child))}" for key, child in children]
    if not below and len(lines) <= 1:
        return f"{name}({extra})"
    return name + "(\n  " + "\n  ".join([*lines, *below]) + "\n)"


def indented(text: str, spaces: int = 2) -> str:
    """A text with all lines but the first indented."""
    return text.replace("\n", "\n" + " " * spaces)
