"""`activate`: make `import torch` (or another framework's name) give retrograde's dialect of it, in this process.

Owns the import hook. Called by users (`retrograde.activate`) and by
`retrograde run`. A dialect is the package of that name in `retrograde.dialects`; both names are one module object.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType, TracebackType
from typing import Any

from ._collection import Paused
from ._version import __version__

DIALECTS = "retrograde.dialects"
_COMPANIONS = {"functorch": "torch._functorch"}
"""Packages that come with a framework under a name of their own, and where its dialect has them."""


def available() -> tuple[str, ...]:
    """The names of the dialects that this version of retrograde has, in alphabetical order."""
    try:
        folder = importlib.import_module(DIALECTS).__path__
    except ModuleNotFoundError:
        return ()
    return tuple(sorted(info.name for info in pkgutil.iter_modules(folder) if info.ispkg and not info.name.startswith("_")))


def own_name(name: str) -> str:
    """The name of a module of an active dialect in this package, which has its code; of another one the name itself."""
    place = _COMPANIONS.get(name.partition(".")[0], name.partition(".")[0]) + "".join(name.partition(".")[1:])
    return f"{DIALECTS}.{place}" if place.partition(".")[0] in active() else name


def activate(*dialects: str) -> None:
    """Make `import NAME`, and every `import NAME.x.y`, resolve to retrograde's dialect, for each name given.

    It holds for the whole process and cannot be taken back. An installed framework of that name, or a folder of that
    name on the path, changes nothing. `sys.excepthook` is wrapped, so that the report of a name that a
    tensor or module has not says who answers, and tracebacks show the program's frames (`RETROGRADE_TRACEBACK=full` shows
    the package's, too). Importing `mindspore` makes NumPy's scalars print as in NumPy 1, which
    MindSpore needs.

    Raises:
        ValueError: no name was given, or one that is not a dialect of this version.
        RuntimeError: the real framework has been imported already; call this before the first import of it.

    Example:
        >>> import retrograde
        >>> retrograde.activate("torch")
        >>> import torch
        >>> torch is retrograde.dialects.torch
        True
    """
    take_over(dialects)
    _explain_missing_names()


def take_over(dialects: Sequence[str]) -> None:
    """What `activate` does to imports, and nothing else to the process; raises what it does."""
    known = available()
    if not dialects:
        raise ValueError(f"activate: name at least one dialect; there is {_listed(known)}")
    for name in dialects:
        if name not in known:
            raise ValueError(f"activate: retrograde {__version__} has no dialect {name!r}; there is {_listed(known)}")
        _refuse_beside_the_real_one(name)
    _finder.active.update(dialects)
    for finder in (_finder, _last):
        if finder in sys.meta_path:
            sys.meta_path.remove(finder)
    sys.meta_path.insert(0, _finder)
    sys.meta_path.append(_last)


def stand_in(name: str) -> None:
    """What an installed shim calls when a program imports the framework's name: the dialect takes the shim's place.

    Raises:
        ModuleNotFoundError: the process was told to use the frameworks themselves (`retrograde run --real`).
    """
    if _finder.only_real:
        raise ModuleNotFoundError(
            f"No module named {name!r}: what is installed under that name is retrograde's shim (`retrograde install-shim`), "
            f"not the framework; `pip uninstall {name}`, then install the framework",
            name=name,
        )
    del sys.modules[name]  # the shim, which is being imported
    activate(name)
    importlib.import_module(name)


def only_real() -> None:
    """Let shims raise in this process, since it is to run on the frameworks themselves."""
    _finder.only_real = True


def active() -> tuple[str, ...]:
    """The names that this process's imports resolve to dialects, in alphabetical order."""
    return tuple(sorted(_finder.active))


def say_who_answers(error: BaseException) -> None:
    """Add to an error for a name that a dialect's tensor or module has not who answers and what is near, and to others what
    helps (`explain`)."""
    from .dialects._shared.explained import explain

    explain(error)
    if isinstance(error, AttributeError):
        from .dialects._shared.tensor_class import note_missing

        note_missing(error)
    elif isinstance(error, ImportError) and (error.name or "").startswith(f"{DIALECTS}."):
        module, name = sys.modules.get(error.name or ""), str(error).partition("cannot import name '")[2].partition("'")[0]
        try:
            if name:
                getattr(module, name)
        except AttributeError as missing:  # `from torch import x` drops what the module says about x
            if str(missing) not in str(error):
                error.add_note(str(missing))


def _explain_missing_names() -> None:
    """Let the report of an error that nobody catches say which dialect's tensor or module has no such name, and show the
    program's frames rather than the package's."""
    before = sys.excepthook
    if getattr(before, "_of_retrograde", False):
        return

    def report(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        from ._traceback import shorten

        say_who_answers(error)
        shorten(error)
        before(kind, error, error.__traceback__)

    report._of_retrograde = True  # type: ignore[attr-defined]
    sys.excepthook = report


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _refuse_beside_the_real_one(dialect: str) -> None:
    """Raise RuntimeError where a module of the real framework is loaded: both would work on, each on its own tensors."""
    for name, module in list(sys.modules.items()):
        if (name == dialect or name.startswith(f"{dialect}.")) and module is not sys.modules.get(f"{DIALECTS}.{name}"):
            where = getattr(sys.modules.get(dialect, module), "__file__", None) or "without a file"
            raise RuntimeError(
                f"activate: the real {dialect!r} has been imported already ({where}), and modules that hold it would go on "
                f"with it; call retrograde.activate({dialect!r}) before anything imports {dialect}, start the program with "
                f"`retrograde run`, or import the dialect under its own name: from {DIALECTS} import {dialect}"
            )


class _DialectFinder:
    """A meta-path finder that answers for the active dialects' names and for nothing else."""

    def __init__(self) -> None:
        self.active: set[str] = set()
        self.only_real = False

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        first, dot, rest = fullname.partition(".")
        place = _COMPANIONS.get(first, first) + dot + rest
        dialect = place.partition(".")[0]
        if dialect not in self.active:
            return self._own(fullname, path) if fullname.startswith(f"{DIALECTS}.") else None
        ours = f"{DIALECTS}.{place}"
        found = importlib.util.find_spec(ours)
        if found is None:
            # `importlib.util.find_spec("torch.x")` asks whether there is such a module: that is None. An import
            # statement gets an error that says who answers, which plain None would not.
            if _importing():
                raise _missing(fullname, ours)
            return None
        is_package = found.submodule_search_locations is not None
        loader: Any = _AliasLoader(ours)  # a Loader by its methods: the base class costs more to import than this file
        return ModuleSpec(fullname, loader, origin=found.origin, is_package=is_package)

    def _own(self, fullname: str, path: Sequence[str] | None) -> ModuleSpec | None:
        """A dialect's module under its own name, which `from torch import x` looks for where torch has no x."""
        program_s = fullname.removeprefix(f"{DIALECTS}.")
        if program_s.partition(".")[0] not in self.active or "." not in program_s or not _in_from_import():
            return None
        found = PathFinder.find_spec(fullname, path)
        if found is None:
            raise _missing(program_s, fullname)
        return found

    def find_distributions(self, context: Any) -> list[Any]:
        """Answer `importlib.metadata.version("torch")` as `import torch` is answered."""
        from ._distribution import DialectDistribution

        found = [DialectDistribution(name) for name in sorted(self.active)]
        return [distribution for distribution in found if context.name in (None, distribution.name)]


class _LastFinder:
    """A meta-path finder that is asked when no other has found a package that goes with an active dialect's framework."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        dialect = next((name for name in active() if fullname.startswith(name) and "." not in fullname), None)
        if dialect is not None and _importing():
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: it is not installed, and in this process {dialect!r} is retrograde's dialect, "
                f"which has nothing of it. If {fullname} is Python only, install it, and it will use the dialect; if it brings "
                "compiled code for the framework, write out what the program takes from it, or run the program with the "
                "framework itself (`retrograde run --real`)",
                name=fullname,
            )
        return None


def _importing() -> bool:
    """Whether the finder that calls this is asked by an import, not by `importlib.util.find_spec`."""
    return sys._getframe(3).f_code.co_name == "_find_and_load_unlocked"


class _AliasLoader:
    """Loads a module under a second name: imports it under its own, and gives that same object."""

    def __init__(self, ours: str) -> None:
        self.ours = ours

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = sys.modules.get(self.ours)
        if module is None:
            with Paused(lasting=self.ours.count(".") == DIALECTS.count(".") + 1):  # a whole dialect
                module = importlib.import_module(self.ours)
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It has run under its own name. The import system has just put the alias's spec on it: put its own back.
        module.__spec__ = self.own_spec
        dialect = self.ours.removeprefix(f"{DIALECTS}.")
        if "." not in dialect:
            module.__name__ = dialect  # programs ask; `__package__` and `__spec__` go on saying whose it is
        for name, loaded in list(sys.modules.items()):
            if name != self.ours and not name.startswith(f"{self.ours}."):
                continue
            if sys.modules.setdefault(name.removeprefix(f"{DIALECTS}."), loaded) is loaded:
                _name_classes(name, loaded)
        settle = vars(module).get("_as_framework")  # what a process has to have for programs of the framework
        if settle is not None:
            settle()


def _name_classes(name: str, module: ModuleType) -> None:
    """Let the classes of a dialect's module print and pickle under the name that programs know, where it finds them."""
    parts = name.split(".")[2:]
    private = next((i for i, part in enumerate(parts) if part.startswith("_")), len(parts))
    public = ".".join(parts[:private])  # what stands in a private file is offered by the package above
    offered = vars(sys.modules[public]) if public in sys.modules else {}
    for x in list(vars(module).values()):
        if isinstance(x, type) and x.__module__ == name and offered.get(x.__qualname__) is x:
            x.__module__ = public


_finder, _last = _DialectFinder(), _LastFinder()


def _missing(fullname: str, ours: str) -> ImportError:
    """The error for a module that a dialect has not, or, in `from PARENT import NAME`, for a name that it has not."""
    from .dialects._shared.registry import near_names  # only an error needs it

    dialect = fullname.partition(".")[0]
    parent, _, last = fullname.rpartition(".")
    package = sys.modules.get(ours.rpartition(".")[0])
    siblings = sorted(info.name for info in pkgutil.iter_modules(getattr(package, "__path__", ())) if info.name[0] != "_")
    remedy = "do without it, or run the program with the framework itself (`retrograde run --real`)"
    if _in_from_import():
        try:
            getattr(package, last)
            why = f"{parent} has no such name"
        except AttributeError as missing:
            why = str(missing)
        return ImportError(
            f"cannot import name {last!r} from {parent!r}: {why}; in this process {dialect!r} is retrograde's dialect: {remedy}",
            name=parent, path=getattr(package, "__file__", None),
        )  # fmt: skip
    found = near_names(last, siblings)
    there = f"near: {', '.join(f'{parent}.{name}' for name in found)}" if found else f"{parent} has {_listed(siblings)}"
    return ModuleNotFoundError(
        f"No module named {fullname!r}: in this process {dialect!r} is retrograde's dialect, which has no such module; {there}; "
        + remedy,
        name=fullname,
    )


def _in_from_import() -> bool:
    """Whether the import system looks for a module because `from PACKAGE import NAME` found no attribute."""
    frame = sys._getframe(2)
    for _ in range(14):
        if frame is None:
            return False
        if frame.f_code.co_name == "_handle_fromlist":
            return True
        frame = frame.f_back  # type: ignore[assignment]
    return False
