"""Classes and functions that a program vouches for, so that files may name them although only weights are read."""

from __future__ import annotations

import pickletools
import zipfile
from collections.abc import Iterable
from typing import Any

_safe: dict[str, Any] = {}


def _named(entry: Any) -> tuple[str, Any]:
    """The full name of an entry, which is a class or function, or a pair of one and its name."""
    if isinstance(entry, tuple):
        found, name = entry
        return name, found
    return f"{entry.__module__}.{entry.__qualname__}", entry


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


def named_in(f: Any) -> list[str]:
    """The full names of what the pickle in a zip archive (path or stream) names."""
    with zipfile.ZipFile(f) as archive:
        (place,) = (name for name in archive.namelist() if name.endswith("/data.pkl"))
        data = archive.read(place)
    return [arg.replace(" ", ".", 1) for op, arg, _ in pickletools.genops(data) if op.name == "GLOBAL" and arg]
