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
from collections import OrderedDict
from collections.abc import Container, Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from ...core.node import Accumulate
from ...core.value import LevelArray, Value
from ..emit import shortcut
from ..trace.numbers import APPENDED, MISSING, Argument, Place, kinds, plain, same, tensors

_OURS = (__name__.partition(".")[0], "torch", "paddle", "mindspore")
"""The packages whose code is not the program's: what it reads beside its arguments is looked after by the dialects."""
_COMPILER = __name__.rpartition(".")[0].rpartition(".")[0]
_FOLDER = os.path.dirname(os.path.dirname(os.path.dirname(__file__)))
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
    """What some roots (functions, bound methods, modules) lead to.

    varying: the keys of the places whose numbers are no constants; given: of those whose tensors each call is given.
    """

    def __init__(self, *roots: Any, varying: Container[Any] = (), given: Container[Any] = ()) -> None:
        self.varying, self.given = varying, given
        self.places: list[Place] = []
        """Where numbers are read."""
        self.tensors: list[Place] = []
        """Where tensors are found, or containers of nothing else."""
        self.holders: list[Any] = []
        """Whatever holds its array in `_a`, each once, in the order in which it was met."""
        self.arrays: list[np.ndarray] = []
        """NumPy's arrays among what was met: no guard sees whether their elements change."""
        self.functions: list[types.FunctionType] = []
        """The user's functions among what was met."""
        self.opaque: set[type] = set()
        """The types of objects that nothing can be said of: iterators, files, what comes from compiled modules."""
        self._seen: dict[int, Any] = {}  # by id, and kept, so that no id comes again
        self.conditions: list[Condition] = []
        """What is to be as it was."""
        self._parents: dict[int, tuple[Any, Any]] = {}
        """Of what was met, by its id, what led to it, and by which name or key."""
        self.scope: dict[str, Any] = {"same": same, "kinds": kinds}
        """What the source of the check, and of all that reads a place, can name."""
        self._twice: set[int] = set()
        """What several things lead to."""
        self._names: dict[int, str] = {}
        self._named: set[str] = set()
        """The names of attributes that the functions take."""
        self._methods: list[types.FunctionType] = []
        """Methods of the user's classes, of which those run that are named somewhere."""
        self._stored: dict[tuple[int, str], tuple[dict[str, Any], str]] = {}
        """The globals that functions store."""
        self._classes: dict[int, type] = {}
        """The classes that were looked at."""
        self._todo: list[Any] = list(roots)
        while self._todo:
            x = self._todo.pop()
            if isinstance(x, np.ndarray):
                self.arrays.append(x)
            if id(x) not in self._seen and (isinstance(x, type) or not isinstance(x, _LEAVES)):
                self._seen[id(x)] = x
                if len(self._seen) > MOST:
                    raise TooMuch(f"more than {MOST} objects can be reached from it")
                self._open(x)
            if not self._todo:
                self._todo = [f for f in self._methods if f.__name__ in self._named]
                self._methods = [f for f in self._methods if f.__name__ not in self._named]

    def snapshot(self) -> Snapshot:
        """What all that was met holds now."""
        return Snapshot(self._seen.values(), self._stored.values())

    def check(self, further: Sequence[str] = (), scalars: Sequence[Any] = ()) -> Any:
        """A function that says whether everything but the holders' arrays is as it is now. What the function itself has changed
        since it was looked at does not count: it would never be the same again.

        scalars: the numbers among the arguments, which the function is given; further: lines that return False where numbers
        are not what they have to be.
        """
        self._further = further
        doubtful = [(i, c) for i, c in enumerate(self.conditions) if not c.seems_same()]
        if doubtful:
            self.scope["changed"] = changed = list[int]()
            tried = "".join(
                f"    try:\n        if {c.unlike}: changed.append({i})\n    except {_GONE}: changed.append({i})\n"
                for i, c in doubtful
            )  # fmt: skip
            self._written(f"def check(scalars):\n{tried}    return True\n")(scalars)
            gone = set(changed)
            self.conditions = [c for i, c in enumerate(self.conditions) if i not in gone]
        made: list[Any] = []

        def check(scalars: Sequence[Any] = ()) -> Any:
            if not made:  # machine code looks first (`looks`), and finds mostly that nothing has changed
                made.append(self._checking(self.conditions))
            return made[0](scalars)

        return check

    def _checking(self, conditions: Sequence[Condition]) -> Any:
        lines = "".join(f"        {x}\n" for x in (*[f"if {c.unlike}: return False" for c in conditions], *self._further))
        return self._written(
            f"def check(scalars=()):\n    try:\n{lines}        return True\n    except {_GONE}:\n        return False\n"
        )

    def met(self, x: Any) -> bool:
        """Whether something was there when it was looked."""
        return id(x) in self._seen

    def only_appended(self, x: list[Any]) -> bool:
        """Whether all that functions do with a list is to append to it; then what is in it is looked at no more."""
        owner, name = self._found_by(x)
        within = None
        if isinstance(owner, dict) and self._found_by(owner)[1] not in (_GLOBALS, _ATTRIBUTES):  # an entry of a dict with a name
            within, (_, name) = name, self._found_by(owner)
            if id(owner) in self._twice:
                return False
        if id(x) in self._twice or not isinstance(name, str):
            return False
        if not all(_appends(f.__code__, name, within) for f in self.functions):
            return False
        self.conditions = [c for c in self.conditions if c.owner is not x]
        return True

    def _found_by(self, x: Any) -> tuple[Any, Any]:
        """What leads to something, and by which name or key; of what a variable holds the variable's."""
        owner, key = self._parents.get(id(x), (None, None))
        return self._parents.get(id(owner), (None, None)) if isinstance(owner, types.CellType) else (owner, key)

    def looks(self) -> tuple[list[shortcut.Look], Any]:
        """The check as what machine code looks at, and as a function for the rest of it, None where there is no rest."""
        found, rest = [], list[Condition]()
        for c in self.conditions:
            look = c.look()
            if look is None:
                rest.append(c)
            else:
                found.append(look)
        return found, self._checking(rest) if rest or self._further else None

    def owns(self, owner: Any) -> bool:
        """Whether a container is among what was met, so that whoever looks there again finds the same one."""
        return id(owner) in self._names

    def missed(self, scalars: Sequence[Any]) -> Iterator[Place]:
        """The places where there are other numbers or tensors now. scalars: the numbers among the arguments."""
        for place in self.places:
            try:
                now = eval(place.text, self.scope, {"scalars": scalars})  # noqa: S307 - our own source
            except (IndexError, KeyError, ValueError, AttributeError):
                continue
            if plain(now) and (now is not place.value if type(now) is list else not same(now, place.value)):
                yield place
        for place in self.tensors:
            try:
                now = place.now()
            except (IndexError, KeyError, ValueError, AttributeError):
                continue
            if now is not place.value and tensors(now):
                yield place

    def _written(self, source: str) -> Any:
        exec(compile(source, "<retrograde guard>", "exec"), self.scope)  # noqa: S102 - our own source
        return self.scope["check"]

    def described(self) -> Iterator[str]:
        """What the check looks at, in words."""
        for c in self.conditions:
            yield f"{self._label(c)} is {_shown(c.was)}"

    def broken(self, scalars: Sequence[Any]) -> Iterator[str]:
        """What is not as it was, in words: the conditions are looked at one by one. scalars: the numbers among the arguments."""
        given = {"scalars": scalars}
        for c in self.conditions:
            try:
                if eval(c.unlike, self.scope, given):  # noqa: S307 - our own source
                    yield f"{self._label(c)} was {_shown(c.was)} and is {_shown(eval(c.now, self.scope, given))}"  # noqa: S307
            except (IndexError, KeyError, ValueError, AttributeError):
                yield f"{self._label(c)} was {_shown(c.was)} and is gone"

    def label(self, place: Place) -> str:
        """How the program comes to a number."""
        return self._entry(place.owner, place.entry)

    def _label(self, c: Condition) -> str:
        if c.key is not len:
            return self._entry(c.owner, c.key)
        holder, how = self._parents.get(id(c.owner), (None, None))
        if how is _ATTRIBUTES:
            return f"the number of attributes of {self._path(holder)}"
        return f"the length of {self._path(c.owner)}"

    def _path(self, x: Any) -> str:
        """How the program comes to an object."""
        owner, key = self._parents.get(id(x), (None, None))
        if owner is None:
            return getattr(x, "__qualname__", None) or type(x).__name__
        return self._path(owner) if key is _SELF else self._entry(owner, key)

    def _entry(self, owner: Any, key: Any) -> str:
        if isinstance(owner, Argument):
            return f"number {owner.n} of those among the arguments"
        if isinstance(owner, types.CellType):
            return self._path(owner)
        if isinstance(owner, types.FunctionType):
            return f"{key} of {self._path(owner)}"
        holder, how = self._parents.get(id(owner), (None, None))
        if how is _GLOBALS:
            return f"the global {key}"
        if how is _ATTRIBUTES:
            return f"{self._path(holder)}.{key}"
        return f"{self._path(owner)}[{_shown(key)}]" if isinstance(owner, (dict, list, tuple)) else f"{self._path(owner)}.{key}"

    # ---------------------------------------------------------------------------------------- the walk

    def _open(self, x: Any) -> None:
        if isinstance(x, type):
            self._class(x)
        elif isinstance(x, Value):
            self.holders.append(x)
            self._todo += [y for y in (x._base, x._grad) if y is not None]
            hooks = x._node.hooks if type(x._node) is Accumulate else None
            if hooks is not None:
                self._meet(x, _SELF, hooks.tensor, hooks.pre, hooks.post, hooks.accumulated)
        elif isinstance(x, types.FunctionType):
            self._function(x)
        elif isinstance(x, types.MethodType):
            self._meet(x, _SELF, x.__self__, x.__func__)
        elif isinstance(x, functools.partial):
            self._meet(x, _SELF, x.func, x.args, x.keywords)
        elif isinstance(x, dict):
            self._entries(x, list(x.items()), "{0}.get({1})" if hasattr(type(x), "__missing__") else "{0}[{1}]")
            self._long(x)
        elif isinstance(x, (list, tuple)):
            if type(x) is not tuple:
                self._long(x)
            self._entries(x, list(enumerate(x)), "{0}[{1}]", fixed=type(x) is tuple)
        elif isinstance(x, (set, frozenset)):
            self._long(x)
            self._meet(x, _SELF, *x)
        elif isinstance(x, types.CellType):
            self._cell(x)
        else:
            self._object(x)

    def _function(self, f: types.FunctionType) -> None:
        for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
            self._meet(f, name, cell)
        self._todo += f.__defaults__ or ()
        self._todo += (f.__kwdefaults__ or {}).values()
        self._todo += f.__dict__.values()
        if f.__code__.co_filename.startswith((_FOLDER, "<retrograde")) or _standard(f.__module__):
            return
        self.functions.append(f)
        self._parents.setdefault(id(f.__globals__), (f, _GLOBALS))
        names, attributes, written = _names_in(f.__code__)
        self._named.update(names, attributes)
        read = [(n, f.__globals__[n]) for n in names if n in f.__globals__]
        if written:
            self._name(f.__globals__)
            self._stored.update(((id(f.__globals__), n), (f.__globals__, n)) for n in written)
        self._entries(f.__globals__, read, "{0}[{1}]")
        for _, x in read:
            if isinstance(x, types.ModuleType) and _of_the_user(x):
                inside = vars(x)
                self._parents.setdefault(id(inside), (x, _ATTRIBUTES))
                self._entries(inside, [(n, inside[n]) for n in attributes if n in inside], "{0}[{1}]")

    def _cell(self, cell: types.CellType) -> None:
        try:
            x = cell.cell_contents
        except ValueError:  # empty yet
            return
        if self._equal(f"{self._name(cell)}.cell_contents", x, cell, None):
            self._meet(cell, _SELF, x)

    def _object(self, x: Any) -> None:
        own = getattr(x, "__dict__", None)
        if str(type(x).__module__).startswith(_COMPILER):  # a compiled function: what it keeps for itself changes at every call
            self._meet(x, _SELF, *[getattr(x, key) for key in ("_f", "root") if hasattr(x, key)])
            return
        if "_a" in (own or ()) or hasattr(type(x), "_a"):
            self.holders.append(x)
            return
        if type(own) is dict:
            self._parents.setdefault(id(own), (x, _ATTRIBUTES))
            self._entries(own, list(own.items()), "{0}[{1}]")
            self._long(own)  # a new attribute may hide one of the class
        elif isinstance(x, weakref.ref):
            self._todo.append(x())
        elif not isinstance(x, _TRANSPARENT) and not _ours(type(x)) and not _all_slots(type(x)):
            self.opaque.add(type(x))
        for slot in _slots_of(type(x)):
            y = getattr(x, slot, x)
            if y is not x and (_ours(type(x)) or self._equal(f"{self._name(x)}.{slot}", y, x, slot)):
                self._meet(x, slot, y)
        self._class(type(x))

    def _class(self, cls: type) -> None:
        """What a user's class holds, and what its methods read: of those that run."""
        for base in cls.__mro__:
            if id(base) in self._classes or _ours(base) or _standard(base.__module__):
                continue
            self._classes[id(base)] = base
            inside = vars(base)
            self._parents.setdefault(id(inside), (base, _ATTRIBUTES))
            place = self._name(inside)
            for name, f in inside.items():
                now = f"{place}.get({name!r})"
                if type(f) in _NUMBERS:
                    self._expect(f"not same({now}, {self._name(f)})", now, inside, name, f)
                elif isinstance(f, (Value, list, tuple, dict, set)) and not name.startswith("__"):
                    self._expect(f"{now} is not {self._name(f)}", now, inside, name, f)
                    self._meet(inside, name, f)
                elif isinstance(f, type):
                    self._todo.append(f)
                f = f.__func__ if isinstance(f, (staticmethod, classmethod)) else f
                f = f.func if isinstance(f, functools.cached_property) else f
                if isinstance(f, property):
                    self._todo += [g for g in (f.fget, f.fset) if g is not None]
                elif isinstance(f, types.FunctionType):
                    # What is named like something of a base of ours may be called by that.
                    others = (b for b in cls.__mro__ if _ours(b) or _standard(b.__module__))
                    known = name.startswith("__") or any(name in vars(b) for b in others)
                    (self._todo if known or f.__name__ != name else self._methods).append(f)
                elif isinstance(f, functools.partial) or str(type(f).__module__).startswith(_COMPILER):  # a compiled one
                    self._todo.append(f)

    # ---------------------------------------------------------------------------------------- the check

    def _name(self, x: Any) -> str:
        name = self._names.get(id(x))
        if name is None:
            name = self._names[id(x)] = f"o{len(self._names)}"
            self.scope[name] = x
        return name

    def _meet(self, owner: Any, key: Any, *met: Any) -> None:
        """Look at what an object leads to."""
        for x in met:
            known, by = self._parents.setdefault(id(x), (owner, key))
            if known is not owner or (by is not key and by != key):
                self._twice.add(id(x))
        self._todo += met

    def argument(self, n: int, x: Any) -> Place:
        """The place of the n-th number among the arguments."""
        place = Place(f"scalars[{n}]", Argument(n), None, x)
        self._number(place)
        return place

    def _number(self, place: Place) -> None:
        self.places.append(place)
        if place.key not in self.varying:
            self._unequal(place.text, place.value, place.owner, place.entry)
        else:
            now, was = f"kinds({place.text})", kinds(place.value)
            if type(was) is type:
                self._expect(f"type({place.text}) is not {self._name(was)}", now, place.owner, place.entry, was)
            else:
                self._expect(f"{now} != {self._name(was)}", now, place.owner, place.entry, was)

    def _equal(self, text: str, x: Any, owner: Any, entry: Any) -> bool:
        """Expect at a place, of which the source and the owner are given, the same thing, or an equal number. Whether there is
        more to be seen in it."""
        if plain(x) and isinstance(entry, (str, int, type(None))):
            place = Place(text, owner, entry, x)
            if type(x) is not list or place.key in self.varying:
                self._number(place)
                return False
            self.places.append(place)
        elif tensors(x) and isinstance(entry, (str, int, type(None))):
            place = Place(text, owner, entry, x)
            self.tensors.append(place)
            if place.key in self.given:
                return False
        if type(x) in _NUMBERS and type(x) is not bool:
            self._unequal(text, x, owner, entry)
        else:
            self._expect(f"{text} is not {x if type(x) is bool else self._name(x)}", text, owner, entry, x)
        return True

    def _unequal(self, text: str, x: Any, owner: Any, entry: Any) -> None:
        """Expect a number or a string that is equal: mostly it is the same object, which takes a fifth of the time to see."""
        name = self._name(x)
        self._expect(f"{text} is not {name} and not same({text}, {name})", text, owner, entry, x)

    def _long(self, x: Any) -> None:
        """Expect a container to have as many entries; most that are met are empty, and are to stay so."""
        length = f"len({self._name(x)})"
        self._expect(f"{length} != {len(x)}" if x else self._name(x), length, x, len, len(x))

    def _expect(self, unlike: str, now: str, owner: Any, key: Any, was: Any) -> None:
        self.conditions.append(Condition(unlike, now, owner, key, was))

    def _entries(self, owner: Any, entries: Iterable[tuple[Any, Any]], place: str, *, fixed: bool = False) -> None:
        """The entries of a container: each is to be the same thing, or an equal number."""
        for key, x in entries:
            if not fixed:
                shown = repr(key) if type(key) in (str, int) else self._name(key)
                if not self._equal(place.format(self._name(owner), shown), x, owner, key):
                    continue
            self._meet(owner, key, x)


class Condition(NamedTuple):
    """Something that is to be as it was. unlike: the expression that says that it is not; now: the one for what it is; owner,
    key: where it is found (`len`: it is the length); was: what it was."""

    unlike: str
    now: str
    owner: Any
    key: Any
    was: Any

    def look(self) -> shortcut.Look | None:
        """That it is the same object, for machine code; None where it takes Python to see it. What fails it may be as it was all
        the same: another number that is equal."""
        if self.key is len:
            return shortcut.length_is(self.owner, self.was)
        return None if self.now.startswith("kinds(") else shortcut.entry_is(self.owner, self.key, self.was)

    def seems_same(self) -> bool:
        """Whether it is the same object as far as can be said in no time; where it is not, it may be as it was all the same."""
        owner, key = self.owner, self.key
        try:
            if key is len:
                return bool(len(owner) == self.was)
            if self.now.startswith("kinds("):
                return False
            if type(owner) in (dict, OrderedDict, types.MappingProxyType):
                return owner.get(key, self) is self.was
            if type(owner) is list:
                return owner[key] is self.was
            return type(owner) is types.CellType and owner.cell_contents is self.was
        except (IndexError, ValueError):
            return False


class _How:
    """How an object leads to another, where no key says it."""


_SELF, _GLOBALS, _ATTRIBUTES = _How(), _How(), _How()


def _shown(x: Any) -> str:
    """A value in a message: short, and without what may run the program's code."""
    if type(x) in (*_NUMBERS, type(None), np.float64) or (type(x) in (tuple, list) and plain(x)):
        return repr(x) if len(repr(x)) < 60 else f"{repr(x)[:57]}..."
    return getattr(x, "__qualname__", None) or f"the {type(x).__name__} at {id(x):#x}"


def _slots_of(cls: type) -> tuple[str, ...]:
    """The names of the slots of a class's objects."""
    found = _SLOTS.get(cls)
    if found is None:
        found = _SLOTS[cls] = _slots(cls)
    return found


_SLOTS: weakref.WeakKeyDictionary[type, tuple[str, ...]] = weakref.WeakKeyDictionary()


def _all_slots(cls: type) -> bool:
    """Whether all that objects of a class of Python's hold is in its slots."""
    return all("__slots__" in base.__dict__ for base in cls.__mro__[:-1])


def _slots(cls: type) -> tuple[str, ...]:
    found: list[str] = []
    for base in cls.__mro__:
        slots = base.__dict__.get("__slots__", ())
        found += (slots,) if isinstance(slots, str) else slots
    return tuple([slot for slot in found if slot not in ("__dict__", "__weakref__")])


def _ours(cls: type) -> bool:
    return str(cls.__module__).partition(".")[0] in _OURS


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
        if isinstance(x, str) and x.isidentifier():
            attributes[x] = None  # for getattr
        elif isinstance(x, types.CodeType):
            for mine, inner in zip((names, attributes), _names_in(x)):
                mine.update(dict.fromkeys(inner))
            written |= _names_in(x)[2]
    return tuple(names), tuple(attributes), frozenset(written)


def _appends(code: types.CodeType, name: str, key: Any) -> bool:
    """Whether a function does nothing with what has a name (or with an entry of it) but to append to it."""
    idle = ("PUSH_NULL", "RESUME", "CACHE", "PRECALL", "NOP", "EXTENDED_ARG")
    steps = [i for i in dis.get_instructions(code) if i.opname not in idle]
    for at, step in enumerate(steps):
        if step.opname == "LOAD_CONST":
            if step.argval == name:
                return False  # for getattr, or a key
            continue
        local = step.opname.startswith("LOAD_FAST") or step.opname == "LOAD_CLOSURE"  # another thing, or for inner functions
        if step.argval != name or local or not step.opname.startswith("LOAD_"):
            continue
        after = steps[at + 1 :]
        if key is not None:
            if [i.opname for i in after[:2]] != ["LOAD_CONST", "BINARY_SUBSCR"]:
                return False
            after = after[2:]
        if not after or after[0].opname not in ("LOAD_ATTR", "LOAD_METHOD") or after[0].argval != "append":
            return False
    return all(_appends(x, name, key) for x in code.co_consts if isinstance(x, types.CodeType))


class Snapshot:
    """The containers, attributes and variables of some objects, and some globals, as they are now, to be put back."""

    def __init__(self, objects: Iterable[Any], names: Iterable[tuple[dict[str, Any], str]] = ()) -> None:
        self._copies: list[tuple[Any, Any]] = []
        self._globals = [(space, name, space.get(name, MISSING)) for space, name in names]
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

    def changes(self) -> tuple[list[tuple[Any, Any, Any, Any]], bool]:
        """The entries that hold something else now: the container or cell, the key, what was there (MISSING: nothing), and what
        is (of a list that got longer APPENDED, the length that it had and what is new); and whether anything else has changed."""
        found: list[tuple[Any, Any, Any, Any]] = []
        other = False
        for x, slot, before in self._slots:
            now = getattr(x, slot, None)
            if now is not before:
                found.append((x, slot, before, now))
                other = other or isinstance(x, (dict, list)) or _ours(type(x))
        for space, name, old in self._globals:
            now = space.get(name, MISSING)
            if now is MISSING and old is not MISSING:
                other = True
            elif now is not old:
                found.append((space, name, old, now))
        for x, before in self._copies:
            if isinstance(x, types.CellType):
                now = x.cell_contents
                if now is not before:
                    found.append((x, None, before, now))
            elif not _alike(x, before):
                if isinstance(x, set) or len(x) < len(before):
                    other = True
                elif isinstance(x, list):
                    found += [(x, i, y, x[i]) for i, y in enumerate(before) if x[i] is not y]
                    if len(x) > len(before):
                        found.append((x, APPENDED, len(before), x[len(before) :]))
                elif not all(map(operator.is_, x, before)):  # keys in another order, or gone
                    other = True
                else:  # new ones come last
                    found += [(x, key, y, x[key]) for key, y in before.items() if x[key] is not y]
                    found += [(x, key, MISSING, x[key]) for key in list(x)[len(before) :]]
        return found, other

    def restore(self) -> None:
        """Put back what has changed."""
        for x, before in self._copies:
            if isinstance(x, types.CellType):
                x.cell_contents = before
            elif not _alike(x, before):
                x.clear()
                x.extend(before) if isinstance(x, list) else x.update(before)
        for x, slot, before in self._slots:
            if getattr(x, slot, None) is not before:
                setattr(x, slot, before)
        for space, name, before in self._globals:
            if before is MISSING:
                space.pop(name, None)
            elif space.get(name, MISSING) is not before:
                space[name] = before


def _alike(x: Any, y: Any) -> bool:
    """Whether two containers hold the same objects in the same order."""
    if len(x) != len(y):
        return False
    if isinstance(x, dict):
        return all(a is c and b is d for (a, b), (c, d) in zip(x.items(), y.items()))
    return all(a is b for a, b in zip(x, y))
