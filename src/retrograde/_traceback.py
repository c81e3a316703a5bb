"""Tracebacks as a user wants them: the program's own frames, and the last of the package's.

`RETROGRADE_TRACEBACK=full` shows all frames. What is not printed because nobody catches it is left as it is.
"""

from __future__ import annotations

import contextlib
import itertools
import linecache
import os
import sys
import traceback as stacks
from types import CodeType, FrameType, TracebackType
from typing import Any

PACKAGE = os.path.dirname(__file__) + os.sep
OWN = (PACKAGE, "<retrograde ", "<frozen ")
"""How the names of files begin that are no program's: the package's own, code that it has generated, the interpreter's."""
LEFT = 2
"""How many frames of the package are shown below the last frame of the program."""


def program_frames() -> list[stacks.FrameSummary]:
    """The stack as it is now without the package's own frames, the innermost last."""
    return [frame for frame in stacks.extract_stack() if not frame.filename.startswith(OWN)]


def program_frame() -> FrameType | None:
    """The innermost frame of the program; None where there is none."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return frame


def program_line() -> str:
    """What the program is doing now: the expression that it is in, with its place."""
    frame = program_frame()
    return "" if frame is None else f"`{expression_at(frame)}` ({frame.f_code.co_filename}:{frame.f_lineno})"


def operator_expression() -> str:
    """The expression that the program is in, where it is an operator (`x - y`, `x[3]`, `x += y`) on one line; else ""."""
    frame = program_frame()
    if frame is None:
        return ""
    import opcode  # only an error needs it

    operation = opcode.opname[frame.f_code.co_code[frame.f_lasti]]
    found = expression_at(frame) if operation.startswith(_OPERATORS) else ""
    return found if len(found) < 80 else ""


def called_function() -> str:
    """The name of the package's function that the program has called; "" where it is one of the package's ways of calling
    something (a layer, a decorated function) and what that calls has no name of its own."""
    frame: FrameType | None = sys._getframe(1)
    name = ""
    while frame is not None and (code := frame.f_code).co_filename.startswith(OWN):
        if code.co_name == "__init__":  # of a layer, an optimiser
            name = type(frame.f_locals.get("self")).__name__
        elif code.co_name.isidentifier() and code.co_name[0] != "_" and code.co_name not in _WAYS:
            name = code.co_name
        frame = frame.f_back
    return name


_WAYS = frozenset(["forward", "construct", "function", "method", "apply", "operand", "fail", "evaluate", "f", "run", "call"])
"""Names of functions that say nothing of what they compute."""

_OPERATORS = ("BINARY_", "UNARY_", "COMPARE_", "STORE_SUBSCR", "STORE_SLICE")
"""How the interpreter's instructions begin that operators are translated to."""


def expression_at(frame: FrameType, at: int | None = None) -> str:
    """The text of what a frame computes now, or did at an instruction; of several lines the first, and the whole line where the
    columns are not known."""
    code, (line, last, begin, end) = frame.f_code, (frame.f_lineno, None, None, None)
    with contextlib.suppress(StopIteration):
        line, last, begin, end = next(itertools.islice(code.co_positions(), (frame.f_lasti if at is None else at) // 2, None))
    text = linecache.getline(code.co_filename, line or frame.f_lineno, frame.f_globals)
    if begin is None or end is None:
        return text.strip()
    if last != line:
        return text.encode()[begin:].decode().rstrip() + " ..."
    return text.encode()[begin:end].decode()


def returned_at(function: Any) -> str:
    """Where a function of the program returns what it returns, as " (FILE:LINE)"; of several places, where it begins. "" for
    what is no function of the program."""
    while (inner := getattr(function, "__wrapped__", None) or getattr(function, "__func__", None)) is not None:
        function = inner
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename.startswith(OWN):
        return ""
    import dis  # only an error needs it

    returns = {i.positions.lineno for i in dis.get_instructions(code) if i.opname.startswith("RETURN_") and i.positions}
    line = returns.pop() if len(returns) == 1 else None
    return f" ({code.co_filename}:{line or code.co_firstlineno})"


def shortened(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the package's frames between the program's, and with the last ones of those below them.

    What the package itself gets wrong is seen in these; generated code, and the function that words the errors of operations, say
    nothing. A traceback without a frame of the program is left whole.
    """
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    own = [not frame.tb_frame.f_code.co_filename.startswith(OWN) for frame in frames]
    if os.environ.get("RETROGRADE_TRACEBACK") == "full" or True not in own:
        return frames[0] if frames else None
    last = len(own) - 1 - own[::-1].index(True)
    below = [x for x in frames[last + 1 :] if not _silent(x.tb_frame.f_code)]
    kept = [frame for frame, is_own in zip(frames[: last + 1], own) if is_own] + below[max(0, len(below) - LEFT) :]
    shown: TracebackType | None = None
    for frame in reversed(kept):
        shown = TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shown


def _silent(code: CodeType) -> bool:
    return code.co_filename.startswith("<retrograde ") or (code.co_name == "fail" and code.co_filename.endswith("bind.py"))


def _inside(error: BaseException) -> bool:
    """Whether an error came and went within the package, so that its traceback has no frame of the program."""
    entry = error.__traceback__
    while entry is not None:
        if not entry.tb_frame.f_code.co_filename.startswith(OWN):
            return False
        entry = entry.tb_next
    return True


def shorten(error: BaseException) -> None:
    """Shorten the tracebacks of an error that is about to be printed, and of those that it came of."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        of = waiting.pop()
        if of is not None and id(of) not in seen:
            seen.add(id(of))
            if os.environ.get("RETROGRADE_TRACEBACK") != "full":
                if of.__cause__ is not None and _inside(of.__cause__):  # what `of` says in better words
                    of.__cause__ = None
                elif of.__context__ is not None and _inside(of.__context__):
                    of.__suppress_context__ = True
            of.__traceback__ = shortened(of.__traceback__)
            waiting += [of.__cause__, of.__context__, *(of.exceptions if isinstance(of, BaseExceptionGroup) else ())]
