"""Docstrings of the dialects' classes, put together when somebody asks: what a class is, its options, checks and an example.

`Document` takes the place of a class's `__doc__`; what it says comes from the class's signature, from the row that made it, and
from the tables of `vocabulary.py`. Functions' docstrings are plain text: theirs are put together at import (`shown`; 3 ms of 240
for torch). Examples are doctests; a test runs all of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from types import FunctionType
from typing import Any

_PACKAGES = {
    "torch": ("nn", "optim", "optim.lr_scheduler"),
    "paddle": ("nn", "optimizer", "optimizer.lr"),
    "mindspore": ("nn", "mint.nn", "experimental.optim", "experimental.optim.lr_scheduler"),
}
"""Where users find the classes of each dialect."""


class Document:
    """The docstring of a class, written when it is first read. summary: what stands in front."""

    __slots__ = ("_owner", "_text", "summary")

    def __init__(self, summary: str) -> None:
        self.summary, self._text, self._owner = summary, "", None

    def __get__(self, instance: Any, owner: Any) -> str:
        if self._owner is not owner:
            self._text, self._owner = written(owner, self.summary), owner
        return self._text


def documented(namespace: dict[str, Any], names: Iterable[str], base: type) -> None:
    """Give the classes of a package that derive from `base` docstrings that are written when they are read."""
    for name in names:
        cls = namespace[name]
        if isinstance(cls, type) and issubclass(cls, base):
            doc = vars(cls).get("__doc__")
            if isinstance(doc, str):
                cls.__doc__ = Document(doc)  # type: ignore[assignment]


def written(cls: Any, summary: str) -> str:
    """The docstring of a class."""
    import inspect  # here, since programs that ask for no docstring need not load it

    summary = inspect.cleandoc(summary)
    try:
        signature = inspect.signature(cls)
    except (TypeError, ValueError):
        return summary
    parts = [summary, *_of_row(vars(cls).get("_row")), _options(cls.__name__, summary, signature.parameters)]
    if (found := home(cls)) is not None:
        parts.append(example(cls, *found))
    return "\n\n".join(filter(None, parts)) + "\n"


def home(cls: Any) -> tuple[str, str, str] | None:
    """The dialect of a class, the package in which users find it and its name there; None where nobody offers it."""
    dialect = next((part for part in cls.__module__.split(".") if part in _PACKAGES), "")
    import importlib

    for package in _PACKAGES.get(dialect, ()):
        module = importlib.import_module(f"retrograde.dialects.{dialect}.{package}")
        for name in (cls.__name__, *dir(module)):  # some are offered under another name only
            if getattr(module, name, None) is cls:
                return dialect, package, name
    return None


def example(cls: Any, dialect: str, package: str, name: str) -> str:
    """The example of a class: of an optimiser a step, of a schedule a rate, of a layer what it takes and the shape of what it
    gives."""
    from . import vocabulary

    steps, scheduled = (any(c.__name__ == base for c in cls.__mro__) for base in ("Optimizer", "LRScheduler"))
    scheduled |= package == "nn" and "_row" in vars(cls) and hasattr(cls._row, "closed")
    kind = vocabulary.optimiser if steps else vocabulary.schedule if scheduled else vocabulary.layer
    lines = kind(dialect, package, name)
    text = "\n".join([f">>> from retrograde.dialects import {dialect}", *lines]) if lines else ""
    return text and f"Example:\n\n{text}"


def _options(owner: str, summary: str, names: Iterable[str]) -> str:
    """What the options mean that the vocabulary knows and the summary does not say."""
    from . import vocabulary

    asked = [name for name in names if f" {name}: " not in summary]
    lines = [f"    {name}: {meaning}" for name in asked if (meaning := vocabulary.option(owner, name))]
    return "\n".join(["Options:", "", *lines]) if lines else ""


def _of_row(row: Any) -> list[str]:
    """What the row of an optimiser or a schedule adds: where the formula stands and what it is, and what is refused."""
    if row is None:
        return []
    import inspect
    import textwrap

    parts = []
    function = row.formula
    if function is not None:
        place = f"{function.__module__}.{function.__name__}"
        said = " ".join((inspect.getdoc(function) or "").partition("\n\n")[0].split())
        parts.append(textwrap.fill(f"The formula is that of `{place}`: {said}" if said else f"The formula is `{place}`.", 100))
    if row.state:
        parts.append(textwrap.fill(f"Each parameter has: {row.state}.", 100))
    errors: dict[str, list[str]] = {}
    for clause, error in row.clauses:
        errors.setdefault(error.__name__, []).append(str(clause))
    parts += [textwrap.fill(f"Raises {error} unless {', '.join(said)}.", 100) for error, said in errors.items()]
    return parts


def said(f: Any) -> str:
    """What a function is, without what `shown` has added."""
    return (f.__doc__ or "").partition("\n\n    Options:\n")[0].partition("\n\n    Example:\n")[0]  # type: ignore[no-any-return]


def shown(functions: dict[str, Any], dialect: str, package: str) -> None:
    """Add the examples of the vocabulary to the docstrings of a package's functions."""
    from . import vocabulary

    for name, f in functions.items():
        if name[0] == "_" or not isinstance(f, FunctionType) or ">>>" in (doc := f.__doc__ or ""):
            continue
        if lines := vocabulary.function(dialect, package, name):
            code = getattr(f, "__wrapped__", f).__code__
            options = _options(name, doc, code.co_varnames[: code.co_argcount + code.co_kwonlyargcount])
            more = "\n\n".join(filter(None, [options, "Example:", *lines])).replace("\n", "\n    ").replace("\n    \n", "\n\n")
            f.__doc__ = f"{doc.rstrip()}\n\n    {more}\n    "
