"""Tracebacks as a user wants them: the program's own frames, and the last of the package's.

`RETROGRADE_TRACEBACK=full` shows all frames. What is not printed because nobody catches it is left as it is.
"""

from __future__ import annotations

import os
import traceback as stacks
from types import TracebackType

PACKAGE = os.path.dirname(__file__) + os.sep
OWN = (PACKAGE, "<retrograde ", "<frozen ")
"""How the names of files begin that are no program's: the package's own, code that it has generated, the interpreter's."""
LEFT = 2
"""How many frames of the package are shown below the last frame of the program."""


def program_frames() -> list[stacks.FrameSummary]:
    """The stack as it is now without the package's own frames, the innermost last."""
    return [frame for frame in stacks.extract_stack() if not frame.filename.startswith(OWN)]


def program_line() -> str:
    """What the program is doing now: the text of its innermost line, with its place."""
    frames = program_frames()
    return f"`{frames[-1].line}` ({frames[-1].filename}:{frames[-1].lineno})" if frames else ""


def shortened(traceback: TracebackType | None) -> TracebackType | None:
    """The traceback without the package's frames between the program's, and with the last ones of those below them.

    What the package itself gets wrong is seen in these. A traceback without a frame of the program is left whole.
    """
    frames = []
    while traceback is not None:
        frames.append(traceback)
        traceback = traceback.tb_next
    own = [not frame.tb_frame.f_code.co_filename.startswith(OWN) for frame in frames]
    if os.environ.get("RETROGRADE_TRACEBACK") == "full" or True not in own:
        return frames[0] if frames else None
    last = len(own) - 1 - own[::-1].index(True)
    below = frames[last + 1 :]
    kept = [frame for frame, is_own in zip(frames[: last + 1], own) if is_own] + below[max(0, len(below) - LEFT) :]
    shown: TracebackType | None = None
    for frame in reversed(kept):
        shown = TracebackType(shown, frame.tb_frame, frame.tb_lasti, frame.tb_lineno)
    return shown


def shorten(error: BaseException) -> None:
    """Shorten the tracebacks of an error that is about to be printed, and of those that it came of."""
    seen: set[int] = set()
    waiting: list[BaseException | None] = [error]
    while waiting:
        of = waiting.pop()
        if of is not None and id(of) not in seen:
            seen.add(id(of))
            of.__traceback__ = shortened(of.__traceback__)
            waiting += [of.__cause__, of.__context__, *(of.exceptions if isinstance(of, BaseExceptionGroup) else ())]
