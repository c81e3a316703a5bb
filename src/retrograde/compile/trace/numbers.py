"""Numbers that vary from call to call: where a function reads them, and what it computes of them and stores, as Python's code.

A number is a constant of a version until it is found to vary: then, in the next version, it is a `Number` (core/number.py)
while the function is traced, and read from its `Place` at every call. `Written` makes the code of a version: what holds of
numbers (a part of its guard), the arrays in which they enter the graph, and what is stored and returned. Called by version.py.
"""

from __future__ import annotations

import contextlib
import dis
import functools
import math
import re
import types
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ...core.number import MATHEMATICS, TESTS, Number, Term, as_float, on_numbers
from ...core.value import Value
from .trace import Traced

PLAIN = (int, float)
"""The types of arguments that a version may read at each call."""
_NUMBERS = (*PLAIN, np.float64)
"""Those of numbers that it may read elsewhere: a schedule computes rates with NumPy, too."""
_MOST = 64
"""Numbers in a tuple or list that are looked at as one thing that varies."""
STORED = (*_NUMBERS, bool, str, type(None))
"""What a version can store besides tensors and numbers that it computes, and containers of them."""


class Argument:
    """A number among the arguments of a call: the n-th."""

    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n

    def __eq__(self, other: object) -> bool:
        return type(other) is Argument and self.n == other.n

    def __hash__(self) -> int:
        return hash((Argument, self.n))


@contextlib.contextmanager
def floats(functions: Sequence[types.FunctionType]) -> Iterator[None]:
    """A context in which `float(x)` of an array of a trace is a number of it, as `x.item()` is, in functions of the user's that
    do nothing else with `float`: Python itself insists on a value. Other threads find what does for numbers what it did."""
    used: dict[int, tuple[dict[str, Any], bool]] = {}
    for f in functions:
        calls = _calls_float(f.__code__)
        if calls is not None and "float" not in f.__globals__:
            used[id(f.__globals__)] = f.__globals__, calls and used.get(id(f.__globals__), (None, True))[1]
    spaces = [space for space, only_called in used.values() if only_called]
    for space in spaces:
        space["float"] = _float
    try:
        yield
    finally:
        for space in spaces:
            space.pop("float", None)


def _float(x: Any = 0.0) -> Any:
    if isinstance(x, Value) and type(x._a) is Traced and x._a.trace.leaves:
        x = x.item()
    return as_float(x)


@functools.lru_cache(4096)
def _calls_float(code: types.CodeType) -> bool | None:
    """Whether all that code does with `float` is to call it; None where it does not name it."""
    found = list[bool]()
    if "float" in code.co_names:  # to look at all instructions takes a hundred times as long
        named = (i.arg or 0 for i in dis.get_instructions(code) if i.opname == "LOAD_GLOBAL" and i.argval == "float")
        found = [bool(arg & 1) for arg in named]
    found += [x for c in code.co_consts if isinstance(c, types.CodeType) and (x := _calls_float(c)) is not None]
    return all(found) if found else None


class _Missing:
    """Stands for what is at a place where nothing is."""

    def __repr__(self) -> str:
        return "MISSING"


MISSING = _Missing()


class _Appended:
    """Stands for the key of what was appended to a list."""

    def __repr__(self) -> str:
        return "APPENDED"


APPENDED = _Appended()


class Kept:
    """Stands for a tensor in what is stored: the number of the result of the call that it is."""

    __slots__ = ("at",)

    def __init__(self, at: int) -> None:
        self.at = at


class Scratched:
    """The attributes of an object among the arguments that each call has another one of (`Scratch`): the n-th of those that a
    version reads at each call."""

    __slots__ = ("n",)

    def __init__(self, n: int) -> None:
        self.n = n


class Place:
    """Where a function reads a number, or a tuple or list of numbers: the entry of a container, a variable, an argument.

    key: by which it is known from one trace to the next; text: the source that reads it; owner and entry: the container and the
    key in it (an object's attributes are a dict; a variable is a cell without a key), or an object and its slot; value: what is
    there; of what is appended to a list (APPENDED) how many entries it had, and how many are new.
    """

    __slots__ = ("entry", "key", "owner", "text", "value")

    def __init__(self, text: str, owner: Any, entry: Any, value: Any) -> None:
        self.key: Any = owner if type(owner) is Argument else (id(owner), entry)
        self.text, self.owner, self.entry, self.value = text, owner, entry, value

    def put(self, x: Any) -> None:
        """Let something else be there, or nothing (MISSING)."""
        if self.entry is APPENDED:
            del self.owner[x[0] :]
        elif x is MISSING:
            del self.owner[self.entry]
        elif isinstance(self.owner, types.CellType):
            self.owner.cell_contents = x
        elif isinstance(self.owner, (dict, list)):
            self.owner[self.entry] = x
        elif type(self.owner) not in (Argument, Scratched):
            setattr(self.owner, self.entry, x)

    def there(self, scalars: Sequence[Any] = ()) -> bool:
        """Whether there is anything."""
        try:
            self.now(scalars)
        except (IndexError, KeyError, ValueError, AttributeError):
            return False
        return True

    def now(self, scalars: Sequence[Any] = ()) -> Any:
        """What is there now. scalars: what a version reads of the arguments."""
        if self.entry is APPENDED:
            return self.owner[-self.value[1] :]
        if type(self.owner) is Scratched:
            return vars(scalars[self.owner.n])[self.entry]
        if isinstance(self.owner, types.CellType):
            return self.owner.cell_contents
        return self.owner[self.entry] if isinstance(self.owner, (dict, list)) else getattr(self.owner, self.entry)

    def stored(self, value: str, owner: str, entry: str) -> str:
        """The statement that puts the value of an expression there; `entry` is the expression for the key."""
        if self.entry is APPENDED:
            return f"{owner}.extend({value})"
        if isinstance(self.owner, types.CellType):
            return f"{owner}.cell_contents = {value}"
        contained = isinstance(self.owner, (dict, list, Scratched))
        return f"{owner}[{entry}] = {value}" if contained else f"{owner}.{self.entry} = {value}"


def plain(x: Any) -> bool:
    """Whether something is a number that can vary, or a tuple or list of such ones."""
    if type(x) in _NUMBERS:
        return True
    return type(x) in (tuple, list) and 0 < len(x) <= _MOST and all(type(y) in _NUMBERS for y in x)


def same(x: Any, y: Any) -> bool:
    """Whether two numbers, strings, or containers of such are of one type and equal; nan is nan."""
    if x is y:
        return True
    if type(x) is not type(y):
        return False
    if type(x) in (tuple, list):
        return len(x) == len(y) and all(map(same, x, y))
    if x == y:
        return not isinstance(x, float) or x != 0 or math.copysign(1, x) == math.copysign(1, y)
    return isinstance(x, float) and x != x and y != y


def kinds(x: Any) -> Any:
    """The type of a number; of a tuple or list its type and those of its entries."""
    return (type(x), *map(type, x)) if type(x) in (tuple, list) else type(x)


def standing_for(trace: Any, place: Place) -> Any:
    """What stands for the number (or numbers) at a place while a function is traced."""
    if type(place.value) not in (tuple, list):
        return Number(trace, Term(place.text), place.value)
    return type(place.value)([Number(trace, Term(f"{place.text}[{i}]"), x) for i, x in enumerate(place.value)])


@contextlib.contextmanager
def mathematics(functions: Sequence[types.FunctionType]) -> Iterator[None]:
    """A context in which the functions of `math` take numbers of a trace: in the module, and where functions of the user's have
    them in a global. Other threads find the same functions, which do for numbers what they did."""
    spaces = [vars(math), *{id(f.__globals__): f.__globals__ for f in functions}.values()]
    new = {id(f): on_numbers(f) for f in (*MATHEMATICS.values(), *TESTS.values())}
    put = [(space, name, x) for space in spaces for name, x in list(space.items()) if id(x) in new]
    for space, name, x in put:
        space[name] = new[id(x)]
    try:
        yield
    finally:
        for space, name, x in put:
            space[name] = x


_NAMES = re.compile(r"\b[ok]\d+\b")
"""Names of objects in what `Written` and the check of a version write."""


class Written:
    """The code of what a version does with numbers.

    scope: what the code can name; outputs: where among the call's outputs the array of a late number is, by its term's id.
    """

    def __init__(self, scope: dict[str, Any], outputs: dict[int, int]) -> None:
        self._scope, self._outputs = scope, outputs
        self.written: list[str] = []
        """The source of each function."""

    def form(self) -> Any:
        """What was written, with whatever it does not depend on left out: which objects have names, but for functions."""
        names: dict[str, int] = {}
        texts = [_NAMES.sub(lambda m: f"v{names.setdefault(m[0], len(names))}", text) for text in self.written]
        known = [self._scope[name] for name in names]
        return *texts, tuple([x if callable(x) or isinstance(x, np.dtype) else type(x) for x in known])

    def named(self, x: Any) -> str:
        """A name for something in the code."""
        name = f"k{len(self._scope)}"
        self._scope[name] = x
        return name

    def constant(self, x: Any) -> str:
        if type(x) in (int, bool, str, type(None)) or (type(x) is float and math.isfinite(x)):
            return repr(x)
        return self.named(x)

    def outcomes(self, conditions: Sequence[tuple[Term, Any]], places: dict[int, str] | None = None) -> list[str]:
        """The lines that return False where numbers are not what a trace holds for. places: where terms are found."""
        lines: list[str] = []
        known = dict(places or {})
        for term, outcome in conditions:
            found = self._computed(term, lines, known)
            if outcome is True or outcome is False:
                lines.append(f"if ({found}) is not {outcome}: return False")
            elif isinstance(outcome, type):
                lines.append(f"if {found} is not {self.named(outcome)}: return False")
            else:
                lines.append(f"if not same({found}, {self.constant(outcome)}): return False")
        return lines

    def answer(self, term: Term, known: dict[int, str]) -> Callable[..., Any]:
        """A function of arrays and values that gives what a term comes to. known: where among the values other terms are."""
        lines: list[str] = []
        found = self._computed(term, lines, dict(known))
        return self._function("answer(found, given)", [*lines, f"return {found}"])

    def supposed(self, conditions: Sequence[tuple[Term, Any]], places: dict[int, str]) -> Callable[..., Any]:
        """A function of the call's outputs and of what is wanted early that says whether numbers are what a trace holds for."""
        return self._function("supposed(found, early)", [*self.outcomes(conditions, places), "return True"])

    def early(
        self, entries: Sequence[tuple[Term, np.dtype]], wanted: Sequence[Term]
    ) -> tuple[Callable[..., Any], dict[int, str]]:  # fmt: skip
        """A function of the arguments' numbers that gives the arrays that enter the graph, and a tuple of all else that is
        wanted; and where in that tuple the terms are."""
        lines: list[str] = []
        known: dict[int, str] = {}
        arrays = [f"array({self._computed(term, lines, known)}, {self.named(dtype)})" for term, dtype in entries]
        found = {id(term): self._computed(term, lines, known) for term in wanted}
        places = {key: f"early[{i}]" for i, key in enumerate(found)}
        self._scope["array"] = np.array
        result = f"return [{', '.join(arrays)}], ({''.join(f'{x}, ' for x in found.values())})"
        return self._function("early(scalars)", [*lines, result]), places

    def late(self, stores: Sequence[tuple[Place, Any]], results: Sequence[Term], places: dict[int, str]) -> Callable[..., Any]:
        """A function of the call's outputs and of what is wanted early that gives the numbers that are returned, and a function
        of the tensors that are returned or kept that gives what to store, each."""
        lines: list[str] = []
        known = dict(places)
        values = [self._built(new, lines, known) for _, new in stores]
        found = [self._computed(term, lines, known) for term in results]
        return self._function("late(found, early)", [*lines, f"return [{', '.join(found)}], lambda made: [{', '.join(values)}]"])

    def storing(self, stores: Sequence[tuple[Place, Any]]) -> Callable[..., Any]:
        """A function of values and of what a version reads of the arguments that puts each where it belongs."""
        lines = []
        for i, (place, _) in enumerate(stores):
            owner = f"vars(scalars[{place.owner.n}])" if type(place.owner) is Scratched else self.named(place.owner)
            lines.append(place.stored(f"values[{i}]", owner, self.constant(place.entry)))
        return self._function("store(values, scalars)", lines or ["pass"])

    def _function(self, head: str, lines: list[str]) -> Callable[..., Any]:
        source = f"def {head}:\n" + "".join(f"    {line}\n" for line in lines)
        self.written.append(source)
        exec(compile(source, "<retrograde numbers>", "exec"), self._scope)  # noqa: S102 - our own source
        found: Callable[..., Any] = self._scope[head.partition("(")[0]]
        return found

    def _built(self, x: Any, lines: list[str], known: dict[int, str]) -> str:
        if type(x) is Number:
            return self._computed(x.term, lines, known)
        if type(x) in (tuple, list):
            inner = "".join(f"{self._built(y, lines, known)}, " for y in x)
            return f"[{inner}]" if type(x) is list else f"({inner})"
        if type(x) is dict:
            inner = "".join(f"{self.constant(key)}: {self._built(y, lines, known)}, " for key, y in x.items())
            return f"{{{inner}}}"
        return f"made[{x.at}]" if type(x) is Kept else self.constant(x)

    def _computed(self, term: Any, lines: list[str], known: dict[int, str]) -> str:
        """The name of a term's value, computed by lines that come before."""
        if not isinstance(term, Term):
            return self.constant(term)
        stack = [term]
        while stack:  # as deep as the function's loop was long
            t = stack[-1]
            missing = [x for x in t.operands if isinstance(x, Term) and id(x) not in known]
            if id(t) in known or missing:
                stack.pop() if id(t) in known else stack.extend(missing)
                continue
            if t.array is not None:
                text = f"found[{self._outputs[id(t)]}].item()"
            else:
                given = [known[id(x)] if isinstance(x, Term) else f"({self.constant(x)})" for x in t.operands]
                text = t.text.replace("f(", f"{self.named(t.function)}(") if t.function is not None else t.text
                text = text.format(*given) if given else text
            name = f"n{len(known)}"
            lines.append(f"{name} = {text}")
            known[id(t)] = name
            stack.pop()
        return known[id(term)]


def terms_in(x: Any) -> list[Term]:
    """The terms of the numbers in something that is stored."""
    if type(x) is Number:
        return [x.term]
    inside = x.values() if type(x) is dict else x if type(x) in (tuple, list) else ()
    return [term for y in inside for term in terms_in(y)]


def storable(x: Any, known: Callable[[Any], bool] = lambda x: False) -> bool:
    """Whether every call can store what a trace has stored: tensors, numbers, names, containers of these, and what was there
    before (known)."""
    if type(x) in (tuple, list):
        return all(storable(y, known) for y in x)
    if type(x) is dict:
        return all(type(key) in STORED for key in x) and all(storable(y, known) for y in x.values())
    return type(x) is Number or type(x) in STORED or isinstance(x, Value) or _size(x) or known(x)


def _size(x: Any) -> bool:
    """Whether something is a dialect's tuple of sizes, which nobody can change."""
    return isinstance(x, tuple) and not hasattr(x, "__dict__") and all(type(y) is int for y in x)


def tensors(x: Any) -> bool:
    """Whether something is a tensor, or a tuple, list or dict of nothing but tensors."""
    if type(x) in (tuple, list, dict):
        inside = x.values() if type(x) is dict else x
        return 0 < len(x) <= _MOST and all(isinstance(y, Value) for y in inside)
    return isinstance(x, Value)


def late_leaves(terms: Sequence[Term]) -> list[Term]:
    """The terms that are taken from arrays, under some."""
    found: dict[int, Term] = {}
    seen: set[int] = set()
    stack = list(terms)
    while stack:
        t = stack.pop()
        if id(t) in seen or not t.late:
            continue
        seen.add(id(t))
        if t.array is not None:
            found[id(t)] = t
        stack += [x for x in t.operands if isinstance(x, Term)]
    return list(found.values())


def early_terms(terms: Sequence[Term]) -> list[Term]:
    """The terms that can be computed before a call, on which some depend."""
    found: dict[int, Term] = {}
    stack, seen = list(terms), set[int]()
    while stack:
        t = stack.pop()
        if id(t) in seen:
            continue
        seen.add(id(t))
        if not t.late:
            found[id(t)] = t
        else:
            stack += [x for x in t.operands if isinstance(x, Term)]
    return list(found.values())
