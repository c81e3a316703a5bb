"""Where in the user's program something happens, and what the user calls a tensor: questions to the stack of frames.

Imports nothing of retrograde: the side that runs on an installed framework (real.py) loads this file by its path.
"""

from __future__ import annotations

import importlib.util
import os
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any

_LIBRARIES = tuple({
    os.path.realpath(path) + os.sep
    for path in (
        *(sysconfig.get_path(name) for name in ("stdlib", "platstdlib", "purelib", "platlib")),
        os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__)))),
    )
})  # fmt: skip
_library: dict[str, bool] = {}
_watched: list[str] = []
"""Where the packages lie whose lines are the user's, too."""


def watch(packages: Sequence[str]) -> None:
    """Let the lines of installed packages count as the user's; those that are not installed are left out."""
    for package in packages:
        spec = importlib.util.find_spec(package)
        if spec is not None:
            folders = [os.path.join(os.path.realpath(folder), "") for folder in spec.submodule_search_locations or ()]
            _watched.extend(folders or [os.path.realpath(spec.origin or package)])
    _library.clear()


def is_library(filename: str) -> bool:
    """Whether a file belongs to Python, to an installed package or to retrograde, or is no file."""
    known = _library.get(filename)
    if known is None:
        path = os.path.realpath(filename)
        known = filename.startswith("<") or (path.startswith(_LIBRARIES) and not path.startswith(tuple(_watched)))
        _library[filename] = known
    return known


def packaged(filename: str) -> str:
    """What a file of an installed package is called there, from the package on; "" for any other file."""
    path = os.path.realpath(filename)
    folder = next((folder for folder in _LIBRARIES if os.path.basename(folder[:-1]).endswith("-packages")
                   and path.startswith(folder)), None)  # fmt: skip
    return path[len(folder) :] if folder else ""


def _users(frame: Any) -> Any:
    """This frame, or the innermost above it that is the user's; None where there is none."""
    library = _library
    while frame is not None:
        filename = frame.f_code.co_filename
        inside = library.get(filename)
        if inside is None:
            inside = is_library(filename)
        if not inside:
            return frame
        frame = frame.f_back
    return None


def user_line(depth: int = 1) -> tuple[str, int]:
    """File and line of the innermost frame that is the user's; an empty name where there is none."""
    frame = _users(sys._getframe(depth))
    return ("", 0) if frame is None else (frame.f_code.co_filename, frame.f_lineno)


def user_lines(depth: int = 1) -> tuple[str, int, str, int]:
    """The same, then file and line of the user's frame that has called it; an empty name where none has."""
    frame = _users(sys._getframe(depth))
    if frame is None:
        return "", 0, "", 0
    caller = _users(frame.f_back)
    above = ("", 0) if caller is None else (caller.f_code.co_filename, caller.f_lineno)
    return frame.f_code.co_filename, frame.f_lineno, *above


def names_in_sight(is_tensor: Callable[[Any], bool], depth: int = 1) -> dict[int, str]:
    """id -> name of the tensors and parameters that the user's frames hold, the outermost frame's names first."""
    frames = []
    frame: Any = sys._getframe(depth)
    while frame is not None:
        if not is_library(frame.f_code.co_filename):
            frames.append(frame)
        frame = frame.f_back
    found: dict[int, str] = {}
    seen: set[int] = set()
    for frame in reversed(frames):
        for scope in (frame.f_globals, frame.f_locals):
            for name, x in list(scope.items()):
                if not name.startswith("__"):
                    _collect(name, x, is_tensor, found, seen, 0)
    return found


_MODULE_PARAMETERS = ("named_parameters", "parameters_and_names")
"""What modules of the frameworks call the method that gives names with parameters."""


def _collect(
    name: str, x: Any, is_tensor: Callable[[Any], bool], found: dict[int, str], seen: set[int], depth: int
) -> None:
    if is_tensor(x):
        found.setdefault(id(x), name)
        return
    kind = type(x)
    if kind in (int, float, str, bool, bytes) or x is None or isinstance(x, type) or id(x) in seen:
        return
    seen.add(id(x))
    for method in _MODULE_PARAMETERS:
        if hasattr(kind, method):
            for inner, parameter in getattr(x, method)():
                if is_tensor(parameter):
                    found.setdefault(id(parameter), inner if name == "self" else f"{name}.{inner}")
            break
    if depth > 2:
        return
    if kind in (list, tuple) and len(x) <= 4096:
        for i, entry in enumerate(x):
            _collect(f"{name}[{i}]", entry, is_tensor, found, seen, depth + 1)
    elif kind is dict and len(x) <= 4096:
        for key, entry in x.items():
            _collect(f"{name}[{key!r}]", entry, is_tensor, found, seen, depth + 1)
    elif not is_library(getattr(sys.modules.get(kind.__module__), "__file__", None) or "<none>") or (
        kind.__module__ == "__main__"
    ):
        for key, entry in list(getattr(x, "__dict__", {}).items()):
            if not key.startswith("_"):
                _collect(key if name == "self" else f"{name}.{key}", entry, is_tensor, found, seen, depth + 1)
