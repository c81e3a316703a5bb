"""Functions started in several processes of one MPI job: what the dialects' `spawn` is.

The function and its arguments travel by pickle, as multiprocessing's `spawn` has it: the program's main module is imported in
each process under another name. What a process raises comes back as text.
"""

from __future__ import annotations

import os
import pickle
import shutil
import subprocess
import sys
import tempfile
import weakref
from collections.abc import Sequence
from multiprocessing import spawn as _spawn
from typing import Any

from ...backend import launch


class Started:
    """Processes that have been started together."""

    def __init__(self, function: Any, arguments: Sequence[Any], count: int, *, numbered: bool) -> None:
        """numbered: whether the function gets the process's number in front of its arguments."""
        if launch.started()[1] > 1:
            raise RuntimeError("spawn: this process is one of several already, which start no further ones")
        if count < 1:
            raise ValueError(f"spawn: wanted a number of processes above 0, got {count}")
        self._folder = tempfile.mkdtemp(prefix="retrograde-spawn-")
        weakref.finalize(self, shutil.rmtree, self._folder, ignore_errors=True)
        self.count = count
        with open(os.path.join(self._folder, "main"), "wb") as file:
            prepared = _spawn.get_preparation_data("spawned")
            prepared.pop("authkey", None)  # which leaves no process through a file
            pickle.dump(prepared, file)
        with open(os.path.join(self._folder, "work"), "wb") as file:
            pickle.dump((function, tuple(arguments), numbered), file)
        whole = launch.command(count, [sys.executable, "-m", "retrograde.tools.spawned", self._folder])
        sys.stdout.flush()
        sys.stderr.flush()
        self._job = subprocess.Popen(whole, env=launch.environment(), stdin=subprocess.DEVNULL)

    @property
    def pid(self) -> int:
        """The number that the system has for the job."""
        return self._job.pid

    def wait(self, timeout: float | None = None) -> tuple[int, str] | None:
        """Wait for all: None where they have ended well, else the number of the first that raised something, and its traceback.

        Raises subprocess.TimeoutExpired after `timeout` seconds.
        """
        try:
            status = self._job.wait(timeout)
        except KeyboardInterrupt:
            self.end()
            raise
        if not status:
            return None
        for rank in range(self.count):
            path = os.path.join(self._folder, f"{rank}.txt")
            if os.path.exists(path):
                with open(path, encoding="utf-8") as file:
                    return rank, file.read()
        return -1, f"the job ended with status {status}"

    def end(self) -> None:
        """End them."""
        self._job.terminate()
