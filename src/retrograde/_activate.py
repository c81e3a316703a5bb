"""`activate`: make `import torch` (or another framework's name) give retrograde's dialect of it, in this process.

Owns the import hook and the framework modules that it set aside. Called by users (`retrograde.activate`) and by
`retrograde run`. A dialect is the package of that name in `retrograde.dialects`; both names are one module object.
"""

from __future__ import annotations

import importlib
import importlib.util
import pkgutil
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType, TracebackType
from typing import Any

from ._version import __version__

DIALECTS = "retrograde.dialects"

real_modules: dict[str, ModuleType] = {}
"""The modules of a real framework that had been imported before its name was taken over, by their full names."""


def available() -> tuple[str, ...]:
    """The names of the dialects that this version of retrograde has, in alphabetical order."""
    try:
        folder = importlib.import_module(DIALECTS).__path__
    except ModuleNotFoundError:
        return ()
    return tuple(sorted(info.name for info in pkgutil.iter_modules(folder) if info.ispkg and not info.name.startswith("_")))


def activate(*dialects: str) -> None:
    """Make `import NAME`, and every `import NAME.x.y`, resolve to retrograde's dialect, for each name given.

    It holds for the whole process and cannot be taken back. An installed framework of that name, or a folder of that
    name on the path, changes nothing. If the real framework has already been imported, the modules that hold it keep
    it; whoever imports it from now on gets the dialect. `sys.excepthook` is wrapped, so that the report of a name that a
    tensor or module has not says who answers. Importing `mindspore` makes NumPy's scalars print as in NumPy 1, which
    MindSpore needs.

    Raises:
        ValueError: no name was given, or one that is not a dialect of this version.

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
    """What `activate` does to imports, and nothing else to the process; raises ValueError as it does."""
    known = available()
    if not dialects:
        raise ValueError(f"activate: name at least one dialect; there is {_listed(known)}")
    for name in dialects:
        if name not in known:
            raise ValueError(f"activate: retrograde {__version__} has no dialect {name!r}; there is {_listed(known)}")
    for name in dialects:
        if name not in _finder.active:
            _finder.active.add(name)
            _set_aside(name)
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
    sys.meta_path.insert(0, _finder)


def active() -> tuple[str, ...]:
    """The names that this process's imports resolve to dialects, in alphabetical order."""
    return tuple(sorted(_finder.active))


def say_who_answers(error: BaseException) -> None:
    """Add to an error for a name that a dialect's tensor or module has not who answers and what is near."""
    if isinstance(error, AttributeError):
        from .dialects._shared.tensor_class import note_missing

        note_missing(error)
    elif isinstance(error, ImportError) and (error.name or "").startswith(f"{DIALECTS}."):
        module, name = sys.modules.get(error.name or ""), str(error).partition("cannot import name '")[2].partition("'")[0]
        try:
            if name:
                getattr(module, name)
        except AttributeError as missing:  # `from torch import x` drops what the module says about x
            error.add_note(str(missing))


def _explain_missing_names() -> None:
    """Let the report of an error that nobody catches say which dialect's tensor or module has no such name."""
    before = sys.excepthook
    if getattr(before, "_of_retrograde", False):
        return

    def report(kind: type[BaseException], error: BaseException, traceback: TracebackType | None) -> None:
        say_who_answers(error)
        before(kind, error, traceback)

    report._of_retrograde = True  # type: ignore[attr-defined]
    sys.excepthook = report


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names)) or "none"


def _set_aside(dialect: str) -> None:
    for name in [name for name in sys.modules if name == dialect or name.startswith(f"{dialect}.")]:
        real_modules[name] = sys.modules.pop(name)


class _DialectFinder:
    """A meta-path finder that answers for the active dialects' names and for nothing else."""

    def __init__(self) -> None:
        self.active: set[str] = set()

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        dialect = fullname.partition(".")[0]
        if dialect not in self.active:
            return None
        ours = f"{DIALECTS}.{fullname}"
        found = importlib.util.find_spec(ours)
        if found is None:
            # `importlib.util.find_spec("torch.x")` asks whether there is such a module: that is None. An import
            # statement gets an error that says who answers, which plain None would not.
            if sys._getframe(2).f_code.co_name == "_find_and_load_unlocked":
                raise ModuleNotFoundError(_missing(fullname, ours), name=fullname)
            return None
        is_package = found.submodule_search_locations is not None
        loader: Any = _AliasLoader(ours)  # a Loader by its methods: the base class costs more to import than this file
        return ModuleSpec(fullname, loader, origin=found.origin, is_package=is_package)

    def find_distributions(self, context: Any) -> list[Any]:
        """Answer `importlib.metadata.version("torch")` as `import torch` is answered."""
        from ._distribution import DialectDistribution

        found = [DialectDistribution(name) for name in sorted(self.active)]
        return [distribution for distribution in found if context.name in (None, distribution.name)]


class _AliasLoader:
    """Loads a module under a second name: imports it under its own, and gives that same object."""

    def __init__(self, ours: str) -> None:
        self.ours = ours

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.ours)
        self.own_spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # It has run under its own name. The import system has just put the alias's spec on it: put its own back.
        module.__spec__ = self.own_spec
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


_finder = _DialectFinder()


def _missing(fullname: str, ours: str) -> str:
    import difflib  # only an error needs it, and importing it takes longer than importing this file

    dialect = fullname.partition(".")[0]
    parent, _, last = fullname.rpartition(".")
    folder = getattr(sys.modules.get(ours.rpartition(".")[0]), "__path__", ())
    siblings = sorted(info.name for info in pkgutil.iter_modules(folder) if not info.name.startswith("_"))
    near = difflib.get_close_matches(last, siblings, n=3)
    return (
        f"No module named {fullname!r}: in this process {dialect!r} is retrograde's dialect, which has no such module; "
        + (f"near: {', '.join(f'{parent}.{name}' for name in near)}" if near else f"{parent} has {_listed(siblings)}")
    )
