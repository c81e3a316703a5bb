"""`torch.distributed.algorithms.join`: training on uneven numbers of batches."""

from __future__ import annotations

import abc
import warnings
from types import TracebackType
from typing import Any, NamedTuple

import numpy as np

from ..._api import attributes

_MANY = 1000
"""Passes by which others may be longer before it is said."""


class JoinHook:
    """What a process does that has no more batches: `main_hook` for each pass of the others, `post_hook` when all are done."""

    def main_hook(self) -> None:
        """Take part in what the others' passes do together."""

    def post_hook(self, is_last_joiner: bool) -> None:
        """What is done when all are done; is_last_joiner: whether this process was among the last."""


class _JoinConfig(NamedTuple):
    enable: bool
    throw_on_early_termination: bool
    is_first_joinable: bool


class Joinable(abc.ABC):
    """What does things together with other processes in each pass, and can go on with some of them missing."""

    def __init__(self) -> None:
        self._join_config = _JoinConfig(False, False, False)
        self._join_hook_options: dict[str, Any] = {}

    @abc.abstractmethod
    def join_hook(self, **kwargs: Any) -> JoinHook:
        """What the process does when it has no more batches."""

    @property
    @abc.abstractmethod
    def join_device(self) -> Any:
        """Where its tensors are."""

    @property
    @abc.abstractmethod
    def join_process_group(self) -> Any:
        """The processes."""


class Join:
    """A context in which each process goes on taking part until the last has no more batches.

    joinables: of one process group, in the order of their collective operations in a pass. throw_on_early_termination: whether
    all processes raise RuntimeError as soon as one has no more batches, in place of going on without it.
    """

    def __init__(
        self, joinables: list[Any], enable: bool = True, throw_on_early_termination: bool = False, **kwargs: Any
    ) -> None:
        if not joinables:
            raise ValueError("Join: wanted one joinable at least")
        self._joinables, self._enable, self._throws = list(joinables), enable, throw_on_early_termination
        self._hooks = [j.join_hook(**kwargs) for j in joinables]
        groups = [j.join_process_group for j in joinables]
        if any(g is not groups[0] for g in groups):
            raise ValueError("Join: the joinables are of different process groups; give those of one")
        self._group = groups[0]
        for k, j in enumerate(joinables):
            j._join_config = _JoinConfig(enable, throw_on_early_termination, k == 0)

    def __enter__(self) -> None:
        return None

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            if self._enable and kind is None:
                self._go_on()
        finally:
            for j in self._joinables:
                j._join_config = _JoinConfig(False, False, False)

    def _go_on(self) -> None:
        passes, last = 0, True
        while True:
            if not _others(self._group, 0):
                break
            if self._throws:
                _throwing(self._group, True)
                raise RuntimeError("Join: this process has no more batches, so all processes stop")
            last = False
            passes += 1
            if passes == _MANY:
                warnings.warn(
                    f"Join: process {self._group.rank()} has taken part in {_MANY} passes of others without batches of its "
                    "own; the batches are very unevenly divided",
                    stacklevel=4,
                )
            for hook in self._hooks:
                hook.main_hook()
        for hook in self._hooks:
            hook.post_hook(last)

    @staticmethod
    def notify_join_context(joinable: Any) -> Any:
        """Tell the processes that have no more batches that this one begins a pass; called before its first collective operation.

        Raises RuntimeError where one has no more, and the context wants that.
        """
        config = joinable._join_config
        if not config.enable or not config.is_first_joinable:
            return None
        group = joinable.join_process_group
        _others(group, 1)
        if config.throw_on_early_termination and _throwing(group, False):
            raise RuntimeError("Join: another process has no more batches, so all processes stop")
        return None


def _others(group: Any, mine: int) -> int:
    """How many processes begin a pass."""
    return int(group._members.all_reduce(np.array([mine])).wait()[0])


def _throwing(group: Any, mine: bool) -> bool:
    return bool(group._members.all_reduce(np.array([int(mine)]), "max").wait()[0])


__getattr__ = attributes(globals())
