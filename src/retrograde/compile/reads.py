"""What a function reads besides its arguments: the tensors and generators that it can reach, and everything that decides what it
does with them.

From its closure, its defaults, the globals that its code names and the object that it is a method of, through functions of the
user, containers and attributes. `Reads` finds the holders, whose arrays a trace takes the place of, and writes the check that
all else is as it was (the guard of a version). Called by version.py before a trace.
"""

from __future__ import annotations

import dis
import functools
import operator
import os
import re
import sys
import types
import weakref
from collections.abc import Iterable
from typing import Any

import numpy as np

from ..core.value import LevelArray, Value

_OURS = (__name__.partition(".")[0], "torch", "paddle", "mindspore")
"""The packages whose code is not the program's: what it reads beside its arguments is looked after by the dialects."""
_FOLDER = os.path.dirname(os.path.dirname(__file__))
_NUMBERS = (int, float, complex, bool, str, bytes)
_LEAVES = (
    *_NUMBERS, type(None), np.ndarray, np.generic, np.dtype, LevelArray, type, types.ModuleType, types.BuiltinFunctionType,
    types.CodeType, property,
)  # fmt: skip
_TRANSPARENT = (slice, range, type(Ellipsis), type(NotImplemented), operator.itemgetter, operator.attrgetter, re.Pattern)
MOST = 20_000
"""Things that a function may lead to. What leads to more (a data set that is held in lists) is looked at no further, and the
function is not compiled once and for all."""


_GONE = "(IndexError, KeyError, ValueError, AttributeError)"
"""What a condition raises where the place that it looks at is not there any more."""


class TooMuch(Exception):
    """A function reads more than can be looked at before each call."""


class Reads:
    """What some roots (functions, bound methods, modules) lead to."""

    def __init__(self, *roots: Any) -> None:
        self.holders: list[Any] = []
        """Whatever holds its array in `_a`, each once, in the order in which it was met."""
        self.arrays: list[np.ndarray] = []
        """NumPy's arrays among what was met: no guard sees whether their elements change."""
        self.functions: list[types.FunctionType] = []
        """The user's functions among what was met."""
        self.opaque: set[type] = set()
        """The types of objects that nothing can be said of: iterators, files, what comes from compiled modules."""
        self._seen: dict[int, Any] = {}  # by id, and kept, so that no id comes again
        self._unlike: list[str] = []
        """The conditions of which each says that something is not as it was."""
        self._scope: dict[str, Any] = {"same": _same}
        self._names: dict[int, str] = {}
        self._todo: list[Any] = list(roots)
        while self._todo:
            x = self._todo.pop()
            if isinstance(x, np.ndarray):
                self.arrays.append(x)
            if not isinstance(x, _LEAVES) and id(x) not in self._seen:
                self._seen[id(x)] = x
                if len(self._seen) > MOST:
                    raise TooMuch(f"more than {MOST} objects can be reached from it")
                self._open(x)

    def snapshot(self) -> Snapshot:
        """What all that was met holds now."""
        return Snapshot(self._seen.values())

    def check(self) -> Any:
        """A function that says whether everything but the holders' arrays is as it is now. What the function itself has changed
        since it was looked at does not count: it would never be the same again."""
        self._scope["changed"] = changed = list[int]()
        tried = "".join(
            f"    try:\n        if {unlike}: changed.append({i})\n    except {_GONE}: changed.append({i})\n"
            for i, unlike in enumerate(self._unlike)
        )  # fmt: skip
        self._written(f"def check():\n{tried}    return True\n")()
        lines = "".join(f"        if {x}: return False\n" for i, x in enumerate(self._unlike) if i not in set(changed))
        return self._written(f"def check():\n    try:\n{lines}        return True\n    except {_GONE}:\n        return False\n")

    def _written(self, source: str) -> Any:
        exec(compile(source, "<retrograde guard>", "exec"), self._scope)  # noqa: S102 - our own source
        return self._scope["check"]

    # ---------------------------------------------------------------------------------------- the walk

    def _open(self, x: Any) -> None:
        if isinstance(x, Value):
            self.holders.append(x)
            self._todo += [y for y in (x._base, x._grad) if y is not None]
        elif isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, types.MethodType):
            self._todo += (x.__self__, x.__func__)
        elif isinstance(x, functools.partial):
            self._todo += (x.func, x.args, x.keywords)
        elif isinstance(x, dict):
            self._entries(x, list(x.items()), "{0}.get({1})")
            self._expect(f"len({self._name(x)}) != {len(x)}")
        elif isinstance(x, (list, tuple)):
            if type(x) is not tuple:
                self._expect(f"len({self._name(x)}) != {len(x)}")
            self._entries(x, list(enumerate(x)), "{0}[{1}]", fixed=type(x) is tuple)
        elif isinstance(x, (set, frozenset)):
            self._expect(f"len({self._name(x)}) != {len(x)}")
            self._todo += x
        elif isinstance(x, types.CellType):
            self._cell(x)
        else:
            self._object(x)

    def _function(self, f: types.FunctionType) -> None:
        self._todo += f.__closure__ or ()
        self._todo += f.__defaults__ or ()
        self._todo += (f.__kwdefaults__ or {}).values()
        self._todo += f.__dict__.values()
        if f.__code__.co_filename.startswith((_FOLDER, "<retrograde")) or _standard(f.__module__):
            return
        self.functions.append(f)
        names, attributes, written = _names_in(f.__code__)
        read = [(n, f.__globals__[n]) for n in names if n in f.__globals__ and n not in written]
        self._entries(f.__globals__, read, "{0}.get({1})")
        for _, x in read:
            if isinstance(x, types.ModuleType) and _of_the_user(x):
                inside = vars(x)
                self._entries(inside, [(n, inside[n]) for n in attributes if n in inside], "{0}.get({1})")

    def _cell(self, cell: types.CellType) -> None:
        try:
            x = cell.cell_contents
        except ValueError:  # empty yet
            return
        self._equal(f"{self._name(cell)}.cell_contents", x)
        self._todo.append(x)

    def _object(self, x: Any) -> None:
        own = getattr(x, "__dict__", None)
        if type(x).__module__.startswith(__package__):  # a compiled function: what it keeps for itself changes at every call
            self._todo += [x.__dict__[key] for key in ("_f", "root") if key in x.__dict__]
            return
        if "_a" in (own or ()) or hasattr(type(x), "_a"):
            self.holders.append(x)
            return
        if type(own) is dict:
            self._entries(own, list(own.items()), "{0}.get({1})")
        elif isinstance(x, weakref.ref):
            self._todo.append(x())
        elif not isinstance(x, _TRANSPARENT) and not _ours(type(x)):
            self.opaque.add(type(x))
        self._todo += [getattr(x, slot) for slot in _slots_of(type(x)) if hasattr(x, slot)]
        for cls in type(x).__mro__:
            if not _ours(cls) and not _standard(cls.__module__):  # what the methods of a user's class read
                for f in vars(cls).values():
                    f = f.__func__ if isinstance(f, (staticmethod, classmethod)) else f
                    f = f.fget if isinstance(f, property) else f
                    if isinstance(f, types.FunctionType):
                        self._todo.append(f)

    # ---------------------------------------------------------------------------------------- the check

    def _name(self, x: Any) -> str:
        name = self._names.get(id(x))
        if name is None:
            name = self._names[id(x)] = f"o{len(self._names)}"
            self._scope[name] = x
        return name

    def _expect(self, unlike: str) -> None:
        self._unlike.append(unlike)

    def _equal(self, place: str, x: Any) -> None:
        if type(x) in _NUMBERS:
            self._expect(f"not same({place}, {self._name(x)})" if type(x) is not bool else f"{place} is not {x}")
        else:
            self._expect(f"{place} is not {self._name(x)}")

    def _entries(self, owner: Any, entries: Iterable[tuple[Any, Any]], place: str, *, fixed: bool = False) -> None:
        """The entries of a container: each is to be the same thing, or an equal number."""
        for key, x in entries:
            if not fixed:
                shown = repr(key) if type(key) in (str, int) else self._name(key)
                self._equal(place.format(self._name(owner), shown), x)
            self._todo.append(x)


def _same(x: Any, y: Any) -> bool:
    return x is y or (type(x) is type(y) and x == y)


def _slots_of(cls: type) -> tuple[str, ...]:
    """The names of the slots of a class's objects."""
    found = _SLOTS.get(cls)
    if found is None:
        found = _SLOTS[cls] = _slots(cls)
    return found


_SLOTS: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()


def _slots(cls: type) -> tuple[str, ...]:
    found: list[str] = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        found += (slots,) if isinstance(slots, str) else slots
    return tuple([slot for slot in found if slot not in ("__dict__", "__weakref__")])


def _ours(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in _OURS


def _standard(module: str | None) -> bool:
    return (module or "").partition(".")[0] in sys.stdlib_module_names and module != "__main__"


def _of_the_user(module: types.ModuleType) -> bool:
    """Whether a module is part of the program, not one of Python's, of an installed package or of ours."""
    file = getattr(module, "__file__", None) or ""
    return bool(file) and not file.startswith(_FOLDER) and "site-packages" not in file and not _standard(module.__name__)


@functools.lru_cache(4096)
def _names_in(code: types.CodeType) -> tuple[tuple[str, ...], tuple[str, ...], frozenset[str]]:
    """The names of the globals that a function and those defined in it read, of attributes, and of the globals they store."""
    names, attributes, written = dict[str, None](), dict[str, None](), set()
    for instruction in dis.get_instructions(code):
        if instruction.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            names[instruction.argval] = None
        elif instruction.opname in ("LOAD_ATTR", "LOAD_METHOD"):
            attributes[instruction.argval] = None
        elif instruction.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
            written.add(instruction.argval)
    for x in code.co_consts:
        if isinstance(x, types.CodeType):
            for mine, inner in zip((names, attributes), _names_in(x)):
                mine.update(dict.fromkeys(inner))
            written |= _names_in(x)[2]
    return tuple(names), tuple(attributes), frozenset(written)


class Snapshot:
    """The containers, attributes and variables of some objects as they are now, to be put back."""

    def __init__(self, objects: Iterable[Any]) -> None:
        self._copies: list[tuple[Any, Any]] = []
        self._slots: list[tuple[Any, str, Any]] = []
        for x in objects:
            if isinstance(x, types.CellType):
                try:
                    self._copies.append((x, x.cell_contents))
                except ValueError:  # empty yet
                    continue
            elif isinstance(x, (list, dict, set)):
                self._copies.append((x, x.copy()))
            elif not isinstance(x, Value):
                if type(getattr(x, "__dict__", None)) is dict:
                    self._copies.append((x.__dict__, x.__dict__.copy()))
                for slot in _slots_of(type(x)):
                    if hasattr(x, slot):
                        self._slots.append((x, slot, getattr(x, slot)))

    def changed(self) -> bool:
        """Whether anything is not as it was."""
        for x, before in self._copies:
            if not (x.cell_contents is before if isinstance(x, types.CellType) else _alike(x, before)):
                return True
        return any(getattr(x, slot, None) is not before for x, slot, before in self._slots)

    def restore(self) -> bool:
        """Put back what has changed; whether anything had."""
        changed = False
        for x, before in self._copies:
            if isinstance(x, types.CellType):
                if x.cell_contents is not before:
                    x.cell_contents, changed = before, True
            elif not _alike(x, before):
                changed = True
                x.clear()
                x.extend(before) if isinstance(x, list) else x.update(before)
        for x, slot, before in self._slots:
            if getattr(x, slot, None) is not before:
                setattr(x, slot, before)
                changed = True
        return changed


def _alike(x: Any, y: Any) -> bool:
    """Whether two containers hold the same objects in the same order."""
    if len(x) != len(y):
        return False
    if isinstance(x, dict):
        return all(a is c and b is d for (a, b), (c, d) in zip(x.items(), y.items()))
    return all(a is b for a, b in zip(x, y))
