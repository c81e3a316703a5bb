"""`torch.multiprocessing`: Python's own, through which tensors travel by value (shared memory is not offered)."""

from __future__ import annotations

import multiprocessing as _multiprocessing
import subprocess as _subprocess
from multiprocessing import *  # noqa: F403 - the names of the standard module are the dialect's
from multiprocessing.reduction import ForkingPickler as _ForkingPickler
from typing import Any as _Any

from .._shared.spawning import Started as _Started
from ._tensor import Tensor as _Tensor
from .nn.parameter import Parameter as _Parameter


def get_sharing_strategy() -> str:
    """How tensors are shared: PyTorch's default name; here they are copied."""
    return "file_descriptor"


def get_all_sharing_strategies() -> set[str]:
    """The strategies there are."""
    return {"file_descriptor"}


def set_sharing_strategy(new_strategy: str) -> None:
    """Accept the one strategy there is."""
    if new_strategy not in get_all_sharing_strategies():
        raise AssertionError(f"set_sharing_strategy: wanted 'file_descriptor', got {new_strategy!r}")


def _sent(x: _Tensor) -> _Any:
    """How a tensor travels to another process: as it is pickled, but not without its history in silence."""
    if not x.is_leaf:
        raise RuntimeError(
            "multiprocessing: this tensor was computed by recorded operations, and a history does not leave its process; "
            "send a detach() of it"
        )
    return x.__reduce_ex__(2)


for _kind in (_Tensor, _Parameter):
    _ForkingPickler.register(_kind, _sent)


class ProcessException(Exception):
    """A process that `spawn` has started has failed: error_index is its number, error_pid the job's at the system."""

    def __init__(self, msg: str, error_index: int, pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, pid

    def __reduce__(self) -> _Any:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """It has raised an exception, whose traceback is the message."""


class ProcessExitedException(ProcessException):
    """It has ended without one."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int = 1, signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name


class ProcessContext:
    """The processes that `spawn` has started."""

    def __init__(self, started: _Started) -> None:
        self._started = started

    def pids(self) -> list[int]:
        """The job's number at the system, for each process."""
        return [self._started.pid] * self._started.count

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait for all: whether they have ended; raises what tells of one that failed."""
        try:
            failed = self._started.wait(timeout)
        except _subprocess.TimeoutExpired:
            return False
        if failed is None:
            return True
        rank, text = failed
        if rank < 0:
            raise ProcessExitedException(f"spawn: {text}", 0, self._started.pid)
        raise ProcessRaisedException(f"\n\nprocess {rank} ended with this exception:\n{text}", rank, self._started.pid)


SpawnContext = ProcessContext


def spawn(
    fn: _Any, args: tuple[_Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
) -> ProcessContext | None:
    """Call `fn(i, *args)` in `nprocs` processes of one MPI job, whose numbers are those of torch.distributed as well.

    Raises ProcessRaisedException with the traceback of the first process that raised something, unless join is False: then a
    context is returned, whose `join` does.
    """
    context = ProcessContext(_Started(fn, args, nprocs, numbered=True))
    if not join:
        return context
    while not context.join():
        pass
    return None


def start_processes(
    fn: _Any, args: tuple[_Any, ...] = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
) -> ProcessContext | None:
    """As `spawn`, whatever the start method: the processes are begun afresh."""
    return spawn(fn, args, nprocs, join)


def __getattr__(name: str) -> _Any:
    return getattr(_multiprocessing, name)
