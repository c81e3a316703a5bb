"""Floor 7: the compiler. `jit` traces a function into a graph (graph.py) and runs it as generated code."""

from importlib import import_module as _import_module
from typing import TYPE_CHECKING as _TYPE_CHECKING
from typing import Any as _Any

from .jit import jit

if _TYPE_CHECKING:
    from .compiled import report as compile_report
    from .loops.control import cond, scan, while_loop
    from .minify import compile_minify

__all__ = ["compile_minify", "compile_report", "cond", "jit", "scan", "while_loop"]

_HOMES = {
    "compile_minify": ("minify", "compile_minify"), "compile_report": ("compiled", "report"), "cond": ("loops.control", "cond"),
    "scan": ("loops.control", "scan"), "while_loop": ("loops.control", "while_loop"),
}  # fmt: skip
"""Where the rest is, and as what: it is imported when it is asked for, which many programs that compile never do. (`jit` cannot
be: it has the name of its file.)"""


def __getattr__(name: str) -> _Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    file, own = _HOMES[name]
    found = globals()[name] = getattr(_import_module(f"{__name__}.{file}"), own)
    return found
