"""Errors that compiled code raises: they say which operation of the user's function failed, and in which line.

Code that calls primitives one after the other is built by `function`, which knows the equation of each line. What such a line
raises gets a note with file and line; `as_eager` makes of it what the operation itself would have raised.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from types import CodeType, TracebackType
from typing import TYPE_CHECKING, Any

from ..core import bind
from ..core.aval import Aval
from ..core.value import Value, make

if TYPE_CHECKING:
    from .graph import Equation

_FAILED = "_retrograde_equation"
"""The attribute of an exception that holds the equation it is from."""


def code(lines: Sequence[str]) -> CodeType:
    """The code of a function whose first line is `def run(...):` and whose others are indented by four spaces, for `function`."""
    source = [lines[0], "    try:", *(f"    {line}" for line in lines[1:])]
    source += ["    except Exception as problem:", "        failed(problem)", "        raise"]
    return _code("\n".join(source))


@functools.lru_cache(64)
def _code(source: str) -> CodeType:
    """Graphs that differ in sizes alone have one source."""
    return compile(source, "<retrograde graph>", "exec")


def function(code: CodeType, scope: dict[str, Any], equations: Mapping[int, Equation]) -> Callable[..., Any]:
    """The function of such code. equations: those that lines compute, by the number of the line, the first being 0."""
    at = {number + 2: e for number, e in equations.items()}  # of the source, whose lines count from 1

    def failed(problem: Exception) -> None:
        trace: TracebackType | None = problem.__traceback__
        e = None if trace is None else at.get(trace.tb_lineno)
        if e is not None:
            note(problem, e)

    scope["failed"] = failed
    exec(code, scope)  # noqa: S102 - our own source
    found: Callable[..., Any] = scope["run"]
    return found


def note(problem: Exception, e: Equation) -> None:
    """Note on an exception which equation it is from."""
    if hasattr(problem, _FAILED):
        return
    setattr(problem, _FAILED, e)
    where = "" if e.at is None else f", called in {e.at[0]}:{e.at[1]}"
    problem.add_note(f"in compiled code, from {e.prim.name}{where}")


def as_eager(problem: Exception, cls: type[Value]) -> Exception:
    """What the operation that failed raises for values of a class: the type that its dialect's users expect, with the same
    notes. An exception of something else is given back as it is."""
    e: Equation | None = getattr(problem, _FAILED, None)
    if e is None or not isinstance(problem, bind.KERNEL_ERRORS):
        return problem
    operands = [None if v is None else make(cls, Aval(v.shape, v.dtype)) for v in e.inputs]
    try:
        bind.fail(e.prim, operands, e.params, problem)
    except Exception as found:
        if found is not problem:
            setattr(found, _FAILED, e)
            for line in getattr(problem, "__notes__", ()):
                found.add_note(line)
        return found
