"""Results of chosen operations that are kept in one call of a function and given again, not computed, in the next."""

from __future__ import annotations

import contextlib
import functools
import threading
from collections import deque
from collections.abc import Callable
from typing import Any

from .._errors import MutationError, RecomputeError
from ..core.node import tick
from ..core.primitive import PRIMITIVES
from ..core.record import Primitive
from ..core.specialise import swap_kernel
from ..core.value import Value, error_type
from ..tape import mutation


class _Thread(threading.local):
    at_work: tuple[Callable[..., Any], ...] = ()
    """What stands in front of the kernels in this thread, innermost last."""


_here = _Thread()
_lock = threading.Lock()
_users = 0
_kernels: dict[str, Any] = {}


class Selection:
    """What one checkpointed call keeps.

    chosen(prim, arrays) says of each operation of the first call whether its result is kept. changes: whether kept results
    may be written in place afterwards; otherwise that raises MutationError when they are asked for. Each result is given
    once, so that its memory goes with the backward pass that needed it. Errors are those of the class of values.
    """

    def __init__(
        self, chosen: Callable[[Primitive, tuple[Any, ...]], bool], changes: bool = False, cls: type[Value] = Value
    ) -> None:  # fmt: skip
        self._chosen, self._changes, self._cls = chosen, changes, cls
        self._kept: dict[str, deque[tuple[Any, int] | None]] = {}
        """By primitive, in the order of the calls: a result with the clock's reading, None for one that is computed again."""

    def first(self) -> contextlib.AbstractContextManager[None]:
        """Around the first call: the chosen results are kept."""
        return _InFront(self._keep)

    def again(self) -> contextlib.AbstractContextManager[None]:
        """Around the second: they are there already."""
        return _InFront(self._give)

    def _keep(self, prim: Primitive, kernel: Callable[..., Any], arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        out = kernel(*arrays, **params)
        kept = (out, tick()) if self._chosen(prim, arrays) else None
        self._kept.setdefault(prim.name, deque()).append(kept)
        return out

    def _give(self, prim: Primitive, kernel: Callable[..., Any], arrays: tuple[Any, ...], params: dict[str, Any]) -> Any:
        entries = self._kept.get(prim.name)
        if not entries:
            raise error_type(self._cls, RecomputeError)(
                f"checkpoint: there is no result of {prim.name} left from the first call; a selective checkpoint is computed "
                "again once only, and must do then what it did first"
            )
        kept = entries.popleft()
        if kept is None:
            return kernel(*arrays, **params)
        out, time = kept
        if not self._changes and any(mutation.changed_after(a, time) for a in (out if type(out) in (tuple, list) else (out,))):
            raise error_type(self._cls, MutationError)(
                f"checkpoint: a kept result of {prim.name} was changed in place; change a clone() of it instead, or allow it"
            )
        return out


def _run(prim: Primitive, kernel: Callable[..., Any], /, *arrays: Any, **params: Any) -> Any:
    work = _here.at_work
    return work[-1](prim, kernel, arrays, params) if work else kernel(*arrays, **params)


class _InFront:
    """A context, to be entered any number of times, in which this thread's kernels run through `work`."""

    def __init__(self, work: Callable[..., Any]) -> None:
        self._work = work

    def __enter__(self) -> None:
        _install(1)
        _here.at_work = (*_here.at_work, self._work)

    def __exit__(self, *error: object) -> None:
        _here.at_work = _here.at_work[:-1]
        _install(-1)


def _install(change: int) -> None:
    """Count who needs something in front of the kernels, and put it there or take it away."""
    global _users
    with _lock:
        _users += change
        if change == 1 and _users == 1:
            for name, prim in PRIMITIVES.items():
                kernel = _kernels[name] = prim.numpy_kernel
                swap_kernel(prim, functools.partial(_run, prim, kernel))
                if prim.large is not None:
                    swap_kernel(prim, functools.partial(_run, prim, prim.large), "LARGE")
        elif not _users:
            for name, kernel in _kernels.items():
                swap_kernel(PRIMITIVES[name], kernel)
                if PRIMITIVES[name].large is not None:
                    swap_kernel(PRIMITIVES[name], PRIMITIVES[name].large, "LARGE")
