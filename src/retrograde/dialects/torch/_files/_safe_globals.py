"""Classes and functions that files may name: those that a program vouches for, and the dialect's own."""

from __future__ import annotations

import pickletools
import sys
from collections.abc import Iterable
from types import FunctionType
from typing import Any

from ._objects import module_in_files

_safe: dict[str, Any] = {}


def _named(entry: Any) -> tuple[str, Any]:
    """The full name of an entry, which is a class or function, or a pair of one and its name."""
    if isinstance(entry, tuple):
        found, name = entry
        return name, found
    return f"{module_in_files(entry.__module__)}.{entry.__qualname__}", entry


def add_safe_globals(safe_globals: Iterable[Any]) -> None:
    """Let files name these classes and functions, each given as itself or as (itself, "module.name")."""
    _safe.update(_named(entry) for entry in safe_globals)


def get_safe_globals() -> list[Any]:
    """The classes and functions that files may name."""
    return list(_safe.values())


def clear_safe_globals() -> None:
    """Let files name nothing beyond tensors and plain data again."""
    _safe.clear()


def safe_functions() -> dict[str, Any]:
    """The classes and functions that files may name, by full name."""
    return dict(_safe)


class safe_globals:
    """A context in which files may name these classes and functions too."""

    def __init__(self, safe_globals: Iterable[Any]) -> None:
        self._entries = list(safe_globals)

    def __enter__(self) -> None:
        self._before = dict(_safe)
        add_safe_globals(self._entries)

    def __exit__(self, *exception: object) -> None:
        _safe.clear()
        _safe.update(self._before)


def is_own(name: str) -> bool:
    """Whether a full name is that of a layer of `torch.nn`, or of a function of `torch.nn.functional`; nothing is imported."""
    from .. import nn

    place, _, last = name.rpartition(".")
    if place in ("torch.nn.functional", "torch._C._nn"):
        return not last.startswith("_") and isinstance(getattr(nn.functional, last, None), FunctionType)
    if place != "torch.nn" and not place.startswith("torch.nn."):
        return False
    found = getattr(sys.modules.get(nn.__name__ + place[8:]), last, None)
    return isinstance(found, type) and issubclass(found, nn.Module)


def named_in(data: bytes) -> list[str]:
    """The full names of what a pickle of protocol 2 names; ValueError for what is no pickle."""
    return [arg.replace(" ", ".", 1) for op, arg, _ in pickletools.genops(data) if op.name == "GLOBAL" and arg]
