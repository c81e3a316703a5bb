"""What the dialects' operations between processes share: the handle of one that has begun, and how programs are started."""

from __future__ import annotations

import argparse
import datetime
import sys
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from ...backend import launch, processes


class Begun:
    """A collective operation that has begun; its tensors have their values after `wait`.

    pending: the operation. finish: gets what it gives, once, and makes the handle's result of it.
    """

    def __init__(self, pending: processes.Pending, finish: Callable[[Any], Any] = lambda found: None) -> None:
        self._pending, self._finish, self._result, self._written = pending, finish, None, False

    def wait(self, timeout: datetime.timedelta | float | None = None) -> bool:
        """Wait for the other processes; raises RuntimeError after the group's time-out, or this one."""
        found = self._pending.wait(timeout.total_seconds() if isinstance(timeout, datetime.timedelta) else timeout)
        if not self._written:
            self._written = True
            self._result = self._finish(found)
        return True

    def is_completed(self) -> bool:
        """Whether all processes have done their part."""
        if self._pending.done():
            self.wait()
        return self._written


def launcher(prog: str) -> argparse.ArgumentParser:
    """The parser of what starts several processes of a program, without the options of its own."""
    return argparse.ArgumentParser(prog=prog, description="Start several processes of a program as one MPI job.")


def parsed(parser: argparse.ArgumentParser, args: Sequence[str] | None) -> argparse.Namespace:
    """The options, the program and its arguments; raises SystemExit for several machines."""
    parser.add_argument("training_script")
    parser.add_argument("training_script_args", nargs=argparse.REMAINDER)
    given = parser.parse_args(args)
    if (given.nnodes or "1").split(":")[-1] != "1" or getattr(given, "no_python", False):
        raise SystemExit(
            f"{parser.prog}: this starts processes of Python programs on this machine; several machines are started by their "
            "MPI: mpiexec --hostfile HOSTS -n N retrograde run SCRIPT"
        )
    return given


def start(count: int, given: argparse.Namespace) -> NoReturn:
    """Start the processes of a program, and become what waits for them."""
    program = ["-m", given.training_script] if getattr(given, "module", False) else [given.training_script]
    whole = launch.command(count, [sys.executable, "-m", "retrograde", "run", *program, *given.training_script_args])
    sys.stdout.flush()
    launch.become(whole)
