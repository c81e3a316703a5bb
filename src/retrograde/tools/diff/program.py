"""Runs a program under a Recorder: in this process (`recorded`), or as the process that `retrograde diff` starts.

As a module it is called with the numbers of two pipes (runs.py), the folder for the record, the budget in bytes (`none` for a
record without values), `single` or `double`, the packages whose lines count as the program's, and the program. What parameters
start from may be said beside the folder, in a file of its name and `-starts` (given.py). It writes the events, the values, now
and then how far it is, and at the end how the program ended and the most memory that it held.
"""

from __future__ import annotations

import contextlib
import io
import json
import resource
import sys
import threading
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType

import numpy as np

from ... import _activate, _state
from ..._traceback import shorten
from ..run import prepare_script
from .constants import Constants
from .given import Given
from .places import is_library, watch
from .record import BUDGET, Record, Recorder
from .runs import Stopped


def recorded(
    path: str | Path, budget: int = BUDGET, widened: bool = False, given: Mapping[int, np.ndarray] | None = None
) -> Record:  # fmt: skip
    """Run a program in this process, its output discarded, and return what it computed.

    The dialects must have been activated. What the program leaves behind in the process stays.

    widened: what it would have computed in double precision (wide.py).
    given: as for a Recorder.
    """
    recorder = _recorder(widened)(budget=budget, given=given)
    main = ModuleType("__main__")
    main.__file__ = str(path)
    code = compile(Path(path).read_text(encoding="utf-8"), str(path), "exec", dont_inherit=True)
    with contextlib.redirect_stdout(io.StringIO()), recorder.constants, _state.observe(recorder, everywhere=True):
        exec(code, main.__dict__)  # noqa: S102 - this is what was asked for
    return recorder.record()


def _recorder(widened: bool) -> type[Recorder]:
    if not widened:
        return Recorder
    from .wide import WideRecorder

    return WideRecorder


class Progress:
    """Writes how many events there are, at most every 0.1 s, where the process that waits looks."""

    def __init__(self, path: Path) -> None:
        self._path, self._next, self._line = path, 0.0, 0

    def __call__(self, events: int, line: int) -> None:
        self._line = line or self._line
        now = time.monotonic()
        if now >= self._next:
            self._next = now + 0.1
            new = self._path.with_suffix(".new")
            new.write_text(f"{events} {self._line}")
            new.replace(self._path)


def main(arguments: list[str]) -> int:
    """The process of one side; its status says whether a record was written, not how the program ended."""
    asked, told, *first, inside, script = arguments[:7]
    rest = arguments[7:]
    out = Path()

    def begin(run: Sequence[str]) -> Recorder:
        nonlocal out
        out, (budget, precision) = Path(run[0]), run[1:]
        starts = out.parent / f"{out.name}-starts"
        given = Given(starts) if starts.exists() else None
        kept = None if budget == "none" else int(budget)
        recorder = _recorder(precision == "double")(
            out, kept, Progress(out / "progress"), given, threading.main_thread().ident
        )  # fmt: skip
        recorder.constants = constants
        return recorder

    constants = Constants()
    stopped = Stopped(int(asked), int(told), begin, first)
    watch(inside.split())
    _activate.take_over(_activate.available())
    module = ModuleType("__main__")
    module.__dict__["__builtins__"] = __builtins__
    sys.modules["__main__"] = module
    failure, exited = "", False
    try:
        code = prepare_script(module, script, rest)
        with constants, _state.observe(stopped, everywhere=True):
            exec(code, module.__dict__)  # noqa: S102 - this is what was asked for
    except SystemExit as stop:
        if stop.code not in (None, 0):
            failure, exited = f"it ended with exit status {stop.code!r}", True
    except BaseException as error:
        trace = error.__traceback__
        while trace is not None and is_library(trace.tb_frame.f_code.co_filename):
            trace = trace.tb_next
        _activate.say_who_answers(error)
        shorten(error.with_traceback(trace))
        failure = "".join(traceback.format_exception(error))
    if stopped.recorder is None:  # it computes nothing
        stopped.begin()
    recorder = stopped.recorder
    if not failure and recorder.refused:
        failure = f"{len(recorder.refused)} of its parameters cannot be given A's starting values where they are first seen"
    if not failure and recorder.elsewhere and not recorder.passes:
        failure = "it runs its backward passes in another thread than the main one, where nothing is recorded"
    recorder.close()
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)
    ended = {"failure": failure, "exited": exited, "remarks": recorder.remarks(), "peak": peak}
    (out / "ended").write_text(json.dumps(ended), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
