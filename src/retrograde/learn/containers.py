"""What lists, chains and dicts of modules do as Python containers: `Listed` and `Named`.

Dialects put their names and checks over them.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from typing import Any

from .modules import Tree


def position(owner: str, index: Any, n: int) -> int:
    """An index into n entries as a non-negative one; raises IndexError outside."""
    i = operator.index(index)
    if not -n <= i < n:
        raise IndexError(f"{owner}: index {i} is out of range for {n} entries")
    return i % n


def pairs(owner: str, given: Any, error: type[Exception] = TypeError) -> list[tuple[Any, Any]]:
    """The entries of a mapping, or of what holds pairs; raises `error` for what is neither, and for an entry that is no pair
    TypeError or ValueError."""
    if hasattr(given, "items"):
        return list(given.items())
    if not isinstance(given, Iterable):
        raise error(f"{owner}: wanted a mapping or pairs, got {type(given).__name__}")
    found = []
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise TypeError(f"{owner}: entry {i} is no pair but {type(pair).__name__}")
        parts = tuple(pair)
        if len(parts) != 2:
            raise ValueError(f"{owner}: entry {i} has {len(parts)} parts, wanted a name and a value")
        found.append(parts)
    return found


class Listed(Tree):
    """A module whose children stand in order, under their positions as names or under names of their own."""

    @property
    def _listed(self) -> dict[str, Any]:
        return self.__dict__[self._tree_kinds.children.table]

    def _renumber(self, children: Iterable[Any]) -> None:
        """These are the children, and their names their positions."""
        self.__dict__[self._tree_kinds.children.table] = {str(i): child for i, child in enumerate(children)}

    def _key(self, index: Any) -> str:
        """The name of the child at a position; raises IndexError outside."""
        return list(self._listed)[position(type(self).__name__, index, len(self._listed))]

    def _slice(self, named: dict[str, Any]) -> Any:
        """What `self[a:b]` gives for the children in it."""
        return type(self)(list(named.values()))  # type: ignore[call-arg]

    def __len__(self) -> int:
        return len(self._listed)

    def __iter__(self) -> Iterator[Any]:
        return iter(self._listed.values())

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return self._slice(dict(list(self._listed.items())[index]))
        return self._listed[self._key(index)]

    def __setitem__(self, index: Any, child: Any) -> None:
        setattr(self, self._key(index), child)

    def __delitem__(self, index: Any) -> None:
        for key in list(self._listed)[index] if isinstance(index, slice) else [self._key(index)]:
            delattr(self, key)
        self._renumber(self._listed.values())

    def insert(self, index: int, child: Any) -> Any:
        """Add a module before the one at `index`, as `list.insert` does."""
        children = list(self._listed.values())
        children.insert(index, child)
        self._renumber(children)
        return self

    def append(self, child: Any) -> Any:
        """Add a module (or None) at the end; returns this one. Raises TypeError for anything else."""
        kind = self._tree_kinds.children
        if child is None:
            self._listed[str(len(self._listed))] = None
        elif isinstance(child, kind.types):
            self._tree_enter(kind, str(len(self._listed)), child)
        else:
            raise TypeError(f"{type(self).__name__}: wanted a {kind.types[0].__name__}, got {type(child).__name__}")
        return self

    def extend(self, children: Iterable[Any]) -> Any:
        """Add several modules at the end; returns this one."""
        for child in list(children):
            self.append(child)
        return self

    def pop(self, key: Any) -> Any:
        """Take a module out and return it."""
        child = self[key]
        del self[key]
        return child


class Named(Tree):
    """A module that is a dict of its children, in the order in which they were put in."""

    @property
    def _named(self) -> dict[str, Any]:
        return self.__dict__[self._tree_kinds.children.table]

    def __len__(self) -> int:
        return len(self._named)

    def __iter__(self) -> Iterator[str]:
        return iter(self._named)

    def __contains__(self, key: object) -> bool:
        return key in self._named

    def __getitem__(self, key: str) -> Any:
        return self._named[key]

    def __delitem__(self, key: str) -> None:
        del self._named[key]

    def keys(self) -> Any:
        """The names."""
        return self._named.keys()

    def values(self) -> Any:
        """The modules."""
        return self._named.values()

    def items(self) -> Any:
        """The names with the modules."""
        return self._named.items()

    def pop(self, key: str) -> Any:
        """Take the module of a name out and return it; raises KeyError where there is none."""
        return self._named.pop(key)

    def clear(self) -> None:
        """Take all modules out."""
        self._named.clear()
