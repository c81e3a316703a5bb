"""What a function reads and changes besides its arguments: whatever holds its array in `_a` (tensors, parameters, generators)
and can be reached from it.

Its closure, its defaults, the globals that its code names, the object that it is a method of, and what these lead to, through
functions of the user, containers and attributes. Called by jit.py before a trace.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..core.value import LevelArray, Value

_PACKAGE = __name__.partition(".")[0]
_ATOMS = (
    str, bytes, int, float, complex, bool, type(None), np.ndarray, np.generic, np.dtype, LevelArray, type, types.ModuleType,
    types.BuiltinFunctionType, types.CodeType,
)  # fmt: skip


def reachable(*roots: Any) -> list[Any]:
    """The holders that can be reached, in the order in which they are met, each once."""
    found: dict[int, Any] = {}
    seen: dict[int, Any] = {}  # by id, and kept, so that no id comes again
    stack = list(reversed(roots))
    while stack:
        x = stack.pop()
        if isinstance(x, _ATOMS) or id(x) in seen:
            continue
        seen[id(x)] = x
        if hasattr(type(x), "_a") or "_a" in getattr(x, "__dict__", ()):
            found[id(x)] = x
        stack.extend(reversed(list(_inside(x))))
    return list(found.values())


def _inside(x: Any) -> Iterator[Any]:
    if isinstance(x, Value):
        yield from (x.__dict__.get("_base"), x.__dict__.get("_grad"))
    elif isinstance(x, types.FunctionType):
        yield from _read_by(x)
    elif isinstance(x, types.MethodType):
        yield from (x.__self__, x.__func__)
    elif isinstance(x, functools.partial):
        yield from (x.func, x.args, x.keywords)
    elif isinstance(x, dict):
        yield from x.values()
    elif isinstance(x, (list, tuple, set, frozenset)):
        yield from x
    elif isinstance(x, types.CellType):
        try:
            yield x.cell_contents
        except ValueError:  # empty yet
            return
    else:
        yield from vars(x).values() if hasattr(x, "__dict__") else ()
        for cls in type(x).__mro__:
            for slot in getattr(cls, "__slots__", ()) if not cls.__module__.startswith(_PACKAGE) else ():
                if slot not in ("__dict__", "__weakref__") and hasattr(x, slot):
                    yield getattr(x, slot)
        if type(x).__module__.partition(".")[0] != _PACKAGE:  # the methods of a user's class
            for cls in type(x).__mro__:
                if cls.__module__.partition(".")[0] not in (_PACKAGE, "builtins"):
                    yield from (f for f in vars(cls).values() if isinstance(f, types.FunctionType))


def _read_by(f: types.FunctionType) -> Iterator[Any]:
    yield from f.__closure__ or ()
    yield from f.__defaults__ or ()
    yield from (f.__kwdefaults__ or {}).values()
    yield from (x for key, x in f.__dict__.items() if key != "__wrapped__")
    yield f.__dict__.get("__wrapped__")
    if f.__module__ is not None and f.__module__.partition(".")[0] == _PACKAGE:
        return  # of our own code: what it reads from its module is not the program's
    for name in _names(f.__code__):
        if name in f.__globals__:
            yield f.__globals__[name]


@functools.lru_cache(4096)
def _names(code: types.CodeType) -> tuple[str, ...]:
    """The names of globals and attributes in a function and in those that are defined in it."""
    found = list(code.co_names)
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            found += _names(x)
    return tuple(dict.fromkeys(found))
