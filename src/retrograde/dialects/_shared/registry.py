"""How a dialect's names come about, and what a name that it does not have is answered.

A dialect owns one `Registry`. Its topic files define plain functions over tensors and register them with
`registry.api`; the package's `__init__` and the tensor class collect what is there. One definition serves the
function, the method and the in-place form.
"""

from __future__ import annotations

import difflib
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any, TypeVar

from ..._state import SWITCHED, state
from ...tape import inplace
from . import guard

F = TypeVar("F", bound=Callable[..., Any])


class Registry:
    """The names of one dialect: `functions` are what its module offers, `methods` what its tensor offers.

    dialect: the name of the module ("torch"). framework: the name of what it stands for ("PyTorch").
    check_cast: `check_cast(name, result, target)` raises where an in-place result would not fit its target's dtype; it may
    give the target the result's dtype instead, and returns True then.
    write_out: `write_out(name, result, out)` writes a result into the tensor given as `out=` and returns it.
    in_place_functions: whether the module offers the in-place forms too. second_names: parameters that functions which
    have them take under another name as well, as {"dim": "axis"}; methods then take `out=` too. tensor_class: the
    dialect's tensor, set by the file that defines it, for files that it builds on. path: `path(owner, name)` gives what
    stands for a module that is no file of its own, or None.
    """

    def __init__(
        self, dialect: str, framework: str, check_cast: Callable[[str, Any, Any], bool | None],
        write_out: Callable[[str, Any, Any], Any] | None = None, in_place_functions: bool = False,
        second_names: dict[str, str] | None = None,
    ) -> None:  # fmt: skip
        self.dialect, self.framework = dialect, framework
        self.functions: dict[str, Any] = {}
        self.methods: dict[str, Any] = {}
        self._check_cast, self._write_out = check_cast, write_out
        self._in_place_functions = in_place_functions
        self._second_names = second_names or {}
        self.tensor_class: Any = None
        self.path: Callable[[str, str], Any] | None = None

    def api(
        self, *names: str, function: bool = True, method: bool = True, in_place: bool = False, out: bool = False,
        seconds: dict[str, str] | None = None,
    ) -> Callable[[F], F]:  # fmt: skip
        """Register a function under its own name (or `names`, the first being the main one).

        function: as a function of the module. method: as a method (the first parameter is the tensor). in_place: the
        method `NAME_` as well. out: the function takes `out=`. seconds: second names that its arguments have beside those
        that all functions of the dialect take, as in `aliases`.
        """

        def register(f: F) -> F:
            for name in names or (f.__name__,):
                offered = self.with_out(name, f, seconds) if out else self.renaming(f, seconds)
                if function:
                    self.functions[name] = offered
                if method:
                    self.methods[name] = offered if self._second_names or seconds else f
                if in_place:
                    self.methods[name + "_"] = form = self.in_place_form(name + "_", self.renaming(f, seconds))
                    if self._in_place_functions:
                        self.functions[name + "_"] = form
            return f

        return register

    def row(self, names: str, f: Callable[..., Any], doc: str, **options: bool) -> Any:
        """Register a function that one expression says: its names (with spaces between), the lambda, what it is.

        options: as `api` takes them.
        """
        first, *others = names.split()
        return self.api(first, *others, **options)(defined(first, f, doc))  # type: ignore[arg-type]

    def in_place_form(self, name: str, f: Callable[..., Any]) -> Callable[..., Any]:
        """The method that computes `f(self, ...)` and writes it into `self`."""
        check_cast = self._check_cast

        def method(self: Any, *args: Any, **kwargs: Any) -> Any:
            start = inplace.begin(name, self)
            if SWITCHED and state.saved_hooks:
                result = inplace.unpacked(f, self, *args, **kwargs)
            else:
                result = f(self, *args, **kwargs)
            return self if check_cast(name, result, self) else inplace.assign(name, self, result, start)

        method.__name__ = method.__qualname__ = name
        method.__doc__ = f"`{name[:-1]}` written into this tensor; returns it."
        return method

    def offered(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """What the module offers for a function that has been registered: with `out=` and second names."""
        return self.functions[f.__name__]  # type: ignore[no-any-return]

    def in_place(self, f: Callable[..., Any]) -> Callable[..., Any]:
        """The in-place method of a function that has been registered."""
        return self.methods[f.__name__ + "_"]  # type: ignore[no-any-return]

    def with_out(self, name: str, f: F, own: dict[str, str] | None = None) -> F:
        """The function with `out=`: the result is written there, history and all, and `out` returned."""
        write_out = self._write_out
        assert write_out is not None, f"the {self.dialect} dialect has no rule for out="

        seconds = self._seconds(f, own)

        @functools.wraps(f)
        def function(*args: Any, out: Any = None, **kwargs: Any) -> Any:
            if kwargs and seconds:
                _rename(f, kwargs, seconds)
            if out is None:
                return f(*args, **kwargs)
            return write_out(name, f(*args, **kwargs), out)

        return function  # type: ignore[return-value]

    def renaming(self, f: F, own: dict[str, str] | None = None) -> F:
        """The function that takes its arguments under their second names too; `f` itself where it has none."""
        seconds = self._seconds(f, own)
        return aliases(**seconds)(f) if seconds else f

    def _seconds(self, f: Any, own: dict[str, str] | None) -> dict[str, str]:
        """The second names of the parameters that a function has: the dialect's, and those of its own."""
        own = own or {}
        code = getattr(getattr(f, "__wrapped__", f), "__code__", None)
        if not self._second_names or code is None:
            return own
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        return {
            second: first for second, first in self._second_names.items()
            if first in parameters and second not in parameters and first not in own.values()
        } | own  # fmt: skip

    def missing(
        self, owner: str, name: str, known: Iterable[str] | Callable[[], Iterable[str]]
    ) -> AttributeError:  # fmt: skip
        """The error for a name that the dialect does not have; `known` are the names there are, or a function for them."""
        error = AttributeError(Message(lambda: (
            f"retrograde's {self.dialect} dialect has no {owner}.{name}"
            f"{near(name, known() if callable(known) else known)} (this is retrograde answering, not {self.framework})"
        )))  # fmt: skip
        error.name = name
        return error

    def attributes(
        self, module: dict[str, Any], *submodules: str, known: Iterable[str] | None = None, **elsewhere: str
    ) -> Callable[[str], Any]:  # fmt: skip
        """The `__getattr__` of a module, given its `globals()`: what a program that does not ask for it need not load.

        submodules: those that are imported when they are asked for. elsewhere: names, and the submodule that has each.
        known: the names that there are, to say what is near another one: `__all__`, or all of the module.
        """
        package: str = module["__name__"]
        owner = package.removeprefix("retrograde.dialects.")

        def __getattr__(name: str) -> Any:
            if name in submodules:
                return submodule(package, name)
            if name in elsewhere:
                return getattr(submodule(package, elsewhere[name]), name)
            if self.path is not None and (found := self.path(owner, name)) is not None:
                return found
            there = known or module.get("__all__") or module
            raise self.missing(owner, name, lambda: (*there, *submodules, *elsewhere))

        return __getattr__


def owned(namespace: dict[str, Any], names: Iterable[str]) -> None:
    """Let classes that a module offers print and pickle as its own, in whichever private file they stand."""
    for name in names:
        if isinstance(x := namespace[name], type):
            x.__module__ = namespace["__name__"]


def aliases(**seconds: str) -> Callable[[F], F]:
    """Let a function take arguments under second names as well: `aliases(input="x", dim="axis")`.

    Raises TypeError when an argument comes under both.
    """

    def decorate(f: F) -> F:
        @functools.wraps(f)
        def function(*args: Any, **kwargs: Any) -> Any:
            if kwargs:
                _rename(f, kwargs, seconds)
            return f(*args, **kwargs)

        return function  # type: ignore[return-value]

    return decorate


def _rename(f: Any, kwargs: dict[str, Any], seconds: dict[str, str]) -> None:
    """Give keyword arguments that came under second names their first ones; raises TypeError for both at once."""
    for second, first in seconds.items():
        if second in kwargs:
            if first in kwargs:
                raise TypeError(f"{f.__name__}: {second!r} and {first!r} are the same argument; give one")
            kwargs[first] = kwargs.pop(second)


class Message:
    """A text that is made when somebody reads it: `hasattr` asks for errors that nobody sees (200 µs with what is near)."""

    __slots__ = ("_make",)

    def __init__(self, make: Callable[[], str]) -> None:
        self._make = make

    def __str__(self) -> str:
        return self._make()

    def __repr__(self) -> str:
        return repr(str(self))


def near(name: str, known: Iterable[str]) -> str:
    """The clause of an error message that names what is near a name that does not exist."""
    found = near_names(name, known)
    return f"; near it are {', '.join(found)}" if found else ""


def near_names(name: str, known: Iterable[str]) -> list[str]:
    """The names that `name` may be a slip for: up to three, the nearest first.

    One letter in four may be wrong, missing or too many (one at least); capitals and underscores do not count.
    """
    folded = {k: k.replace("_", "").casefold() for k in known if not k.startswith("_")}
    meant = name.replace("_", "").casefold()
    likely = set(difflib.get_close_matches(meant, set(folded.values()), n=12, cutoff=0.6))
    distances = {k: _edits(meant, text) for k, text in folded.items() if text in likely}
    close = [k for k, distance in distances.items() if distance <= max(1, len(meant) // 4)]
    return sorted(close, key=lambda k: (distances[k], k))[:3]


def misspelt(obj: Any, wanted: str) -> str:
    """The clause of an error message for a method that a program's class is to have and has not: what it has in its place."""
    own = {k for c in type(obj).__mro__ for k in vars(c) if k != wanted}
    found = near_names(wanted, own) or [k for k in ("forward", "construct", "call") if k in own]
    return f"; it defines {found[0]}: call that {wanted}" if found else f"; define {wanted}(self, ...)"


def _edits(a: str, b: str) -> int:
    """How many letters have to be put in, taken out or changed to make one text of another."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        before, row = row, [i]
        for j, y in enumerate(b, 1):
            row.append(min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (x != y)))
    return row[-1]


def defined(name: str, f: Any, doc: str | None = None) -> Any:
    """A function that is made in another one, or that one expression says, with its name and what it is."""
    f.__name__ = f.__qualname__ = name
    if doc is not None:
        f.__doc__ = doc
    return f


def named(f: Any, name: str) -> Any:
    """A function whose `__name__` is the one it is offered under: itself, or a copy where one stands for several
    names."""
    if not isinstance(f, types.FunctionType) or f.__name__ == name:
        return f
    copy = types.FunctionType(f.__code__, f.__globals__, name, f.__defaults__, f.__closure__)
    copy.__kwdefaults__, copy.__doc__, copy.__annotations__ = f.__kwdefaults__, f.__doc__, f.__annotations__
    copy.__dict__.update(f.__dict__)
    copy.__qualname__, copy.__module__ = name, f.__module__
    return copy


def submodule(package: str, name: str) -> Any:
    """A module of a dialect that is imported when it is asked for, under the name that programs know if it is active."""
    public = package.removeprefix("retrograde.dialects.")
    active = sys.modules.get(public) is not None and sys.modules.get(public) is sys.modules.get(package)
    module = importlib.import_module(f"{public if active else package}.{name}")
    guard.loaded(module)
    return module
