"""One dialect's tensors are refused by another's functions, with the remedy.

An operation on tensors of two dialects is refused where the class of its result is chosen (`core.value.result_class`).
What that cannot see is a function all of whose tensors are of another dialect: `paddle.exp(torch_tensor)`. A process that
has one dialect pays nothing for it: only when a second one is imported are the public functions of all put behind a
check of their arguments.
"""

from __future__ import annotations

import functools
import importlib
import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

from ...core.value import Value

_present: dict[str, tuple[str, ...]] = {}
"""The dialects' packages that have been imported, each with the modules in it whose functions take tensors."""

several = False
"""Whether this process has imported more than one dialect."""

_TAKES_ANY = frozenset({"from_dlpack", "is_tensor", "to_dlpack"})
"""Functions that another dialect's tensors may be given to."""


def enter(package: str, modules: tuple[str, ...]) -> None:
    """Note that a dialect is there; called at the end of its package's import.

    modules: the modules, by their path below the package, whose functions take tensors ("" is the package itself). Those
    that are imported later are checked when they are (`loaded`).
    """
    global several
    _present[package] = modules
    several = len(_present) > 1
    if several:
        for known in _present:
            for path in _present[known]:
                module = sys.modules.get(f"{known}.{path}" if path else known)
                if module is not None:
                    _check(module, known)


def loaded(module: ModuleType) -> None:
    """Check the functions of a module that has just been imported, and of those below it, if more dialects are there."""
    if not several:
        return
    for package, modules in _present.items():
        for path in modules:
            name = f"{package}.{path}"
            if path and (name == module.__name__ or name.startswith(f"{module.__name__}.")) and name in sys.modules:
                _check(sys.modules[name], package)


def _check(module: ModuleType, package: str) -> None:
    dialect = package.rpartition(".")[2]
    for name, f in list(vars(module).items()):
        if isinstance(f, FunctionType) and name[0] != "_" and name not in _TAKES_ANY and not hasattr(f, "_checks_dialect"):
            setattr(module, name, standing_before(f, checked(f, dialect), module, name))


def at_home(f: Any, module: ModuleType, name: str) -> Any:
    """A function that a module offers, with a name under which pickle finds it: its own, or the one it is offered under."""
    if isinstance(f, FunctionType):
        home = sys.modules.get(f.__module__)
        if home is None or vars(home).get(f.__qualname__) is not f:
            f.__module__, f.__qualname__ = module.__name__, name
    return f


def standing_before(f: FunctionType, made: Any, module: ModuleType, name: str) -> Any:
    """`made`, which takes the place of a function in a module; pickle finds both."""
    made.__module__, made.__qualname__, made._stands_before = module.__name__, name, f
    if f.__module__ == module.__name__ and f.__qualname__ == name and f.__module__.startswith(_DIALECTS):
        f.__module__, f.__qualname__ = __name__, f"{module.__name__.removeprefix(_DIALECTS)}.{name}"
    return made


_DIALECTS = __name__.partition("_shared")[0]


class _Places:
    """Where pickle finds the functions that others stand before: the dialects' modules, by dotted name."""

    def __init__(self, module: ModuleType) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        while hasattr(found, "_stands_before"):
            found = found._stands_before
        return _Places(found) if isinstance(found, ModuleType) else found


def __getattr__(name: str) -> Any:
    if name in ("torch", "paddle", "mindspore"):
        return _Places(importlib.import_module(_DIALECTS + name))
    raise AttributeError(name)


def checked(f: Callable[..., Any], dialect: str) -> Any:
    """The function behind a check that its tensors are of its dialect."""

    @functools.wraps(f)
    def function(*args: Any, **kwargs: Any) -> Any:
        for x in (*args, *kwargs.values()) if kwargs else args:
            refuse_foreign(dialect, f.__name__, x if type(x) is list or type(x) is tuple else (x,))
        return f(*args, **kwargs)

    function._checks_dialect = True  # type: ignore[attr-defined]
    return function


def check_call(dialect: str, layer: Any, args: tuple[Any, ...]) -> None:
    """Refuse tensors of another dialect that a layer of the dialect's own is called with; users' may take what they like."""
    module = getattr(type(layer), "__module__", None) or ""  # a class has none that is made in a program without a name
    if module.partition(".")[0] in (dialect, "retrograde"):
        refuse_foreign(dialect, type(layer).__name__, args)


def kind_of(x: Any) -> str:
    """What an argument of the wrong kind is, for an error message: its type, or whose tensor it is."""
    if not isinstance(x, Value):
        return type(x).__name__
    return f"a tensor of the {x._dialect} dialect" if x._dialect else "a tensor of retrograde's own namespace"


def refuse_foreign(dialect: str, name: str, operands: Iterable[Any]) -> None:
    """Raise TypeError where one of the operands is a tensor of another dialect."""
    for x in operands:
        if isinstance(x, Value) and x._dialect and x._dialect != dialect:
            way = ".asnumpy()" if x._dialect == "mindspore" else ".numpy()"
            raise TypeError(
                f"{dialect}: {name}() got a tensor of the {x._dialect} dialect; make one of its own from it first, "
                f"through {way} or, to share the memory, from_dlpack()"
            )
