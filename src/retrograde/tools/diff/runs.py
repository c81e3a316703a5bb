"""A program's process that stops where the program first computes something: from there on each run is a fork.

What a program does before (mostly imports, which take longer than a small network's step) is done once, however often it is run.
`Stopped` observes in the program's process, `Runs` asks for runs in the one that compares. Where a fork would not be the same as
another run (other threads, open files, no fork at all) each run is a process of its own.
"""

from __future__ import annotations

import json
import os
import random
import select
import signal
import stat
import subprocess
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NoReturn

from ..._state import Observer

ENDED = b"."
"""What the process of a program says each time that a run has ended."""


class Stopped:
    """Observes in place of a recorder until the program computes something; then waits for runs, and records each in a fork."""

    def __init__(self, asked: int, told: int, recorder: Callable[[Sequence[str]], Observer], first: Sequence[str]) -> None:
        """asked, told: the pipes by which runs are asked for and their ends are told; -1 twice where there is to be one run.

        recorder: makes the recorder of a run from its arguments, of which the folder is the first. first: those of the first run.
        """
        self._asked, self._told, self._make, self._first = asked, told, recorder, first
        self.recorder: Any = None
        for number in (asked, told):
            if number >= 0:
                os.set_inheritable(number, False)

    def __getattr__(self, name: str) -> Any:
        def method(*what: Any) -> None:
            if self.recorder is None:
                self.begin()
            getattr(self, name)(*what)

        return method

    def begin(self) -> None:
        """Let the run begin: in this process, or in forks of it."""
        run = self._next_fork() if self._may_fork() else self._first
        self.recorder = self._make(run)
        for name in vars(Observer):
            if not name.startswith("_"):
                setattr(self, name, getattr(self.recorder, name))

    def _may_fork(self) -> bool:
        """Whether a fork here goes on as this process would: no other thread, nothing open of which both would read."""
        if self._told < 0 or not sys.platform.startswith("linux") or threading.active_count() > 1:
            return False
        for name in os.listdir("/proc/self/fd"):
            number = int(name)
            try:
                mode = os.fstat(number).st_mode
            except OSError:  # the folder itself, read a moment ago
                continue
            if number > 2 and number not in (self._asked, self._told) and not stat.S_ISCHR(mode) and not stat.S_ISDIR(mode):
                return False
        return True

    def _next_fork(self) -> Sequence[str]:
        """Fork for each run that is asked for; returns in the forks, with the arguments."""
        run: Sequence[str] = self._first
        drawn = random.getstate()  # which Python draws anew in a fork
        pid = 0

        def end(*_: Any) -> None:
            if pid:
                os.kill(pid, signal.SIGKILL)
            _leave()

        before = signal.signal(signal.SIGTERM, end)
        with os.fdopen(self._asked, "rb", closefd=False) as asked:
            while True:
                sys.stdout.flush()
                sys.stderr.flush()
                pid = os.fork()
                if not pid:
                    break
                os.waitpid(pid, 0)
                pid = 0
                os.write(self._told, ENDED)
                line = asked.readline()
                if not line:
                    _leave()
                run = json.loads(line)
        signal.signal(signal.SIGTERM, before)
        random.setstate(drawn)
        os.close(self._asked)
        os.close(self._told)
        if run is not self._first:
            for name, number in (("output", 1), ("errors", 2)):
                file = os.open(Path(run[0]) / name, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                os.dup2(file, number)
                os.close(file)
        return run


def _leave() -> NoReturn:
    """End a process without what the program wants done at its end: its runs have done that."""
    os._exit(0)


class Runs:
    """The runs of one program, one after the other."""

    def __init__(self, command: Callable[[Sequence[str], int, int], list[str]], environment: dict[str, str]) -> None:
        """command: what starts a process, for the arguments of its first run and the numbers of the pipes (see `Stopped`)."""
        self._command, self._environment = command, environment
        self._process: subprocess.Popen[bytes] | None = None
        self._ask = self._hear = -1
        self.forked = False
        """Whether the last run was a fork of a process that was there."""

    def start(self, arguments: Sequence[str]) -> None:
        """Let the next run begin; the folder of its record is the first argument."""
        self.forked = self._process is not None
        if self.forked:
            os.write(self._ask, json.dumps(list(arguments)).encode() + b"\n")
            return
        asked, self._ask = os.pipe()
        self._hear, told = os.pipe()
        out = Path(arguments[0])
        try:
            with open(out / "output", "wb") as output, open(out / "errors", "wb") as errors:
                self._process = subprocess.Popen(
                    self._command(arguments, asked, told), stdin=subprocess.DEVNULL, stdout=output, stderr=errors,
                    env=self._environment, pass_fds=(asked, told),
                )  # fmt: skip
        finally:
            os.close(asked)
            os.close(told)

    def ended(self, seconds: float | None) -> bool:
        """Whether the run has ended, after waiting for that as long (None: until it has)."""
        if not select.select([self._hear], [], [], seconds)[0]:
            return False
        if os.read(self._hear, 1) != ENDED:  # the process itself has ended, or is about to
            self._finish()
        return True

    def _finish(self) -> None:
        assert self._process is not None
        os.close(self._ask)
        os.close(self._hear)
        self._process.wait()
        self._process = None

    def close(self) -> None:
        """Let the process of the program end, and what it runs."""
        if self._process is not None:
            self._process.terminate()
            self._finish()
