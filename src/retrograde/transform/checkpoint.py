"""`checkpoint`: compute again in the backward pass instead of keeping what the forward pass saved."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable
from typing import Any

from .._errors import GradError
from .._state import grad_mode, refresh, state
from ..core.value import Value, content, error_type, make


class _Frame:
    """One checkpointed call: counts what it would have saved, and computes it again on demand."""

    def __init__(self, run: Callable[[], Any], recompute_context: Callable[[], Any]) -> None:
        self._run, self._context = run, recompute_context
        self.count = 0
        self._again: dict[int, Value] = {}
        self._shapes: list[Any] = []

    def pack(self, x: Value) -> int:
        self._shapes.append((tuple(x._a.shape), x._a.dtype))
        self.count += 1
        return self.count - 1

    def unpack(self, index: int) -> Value:
        if index not in self._again:
            self._recompute()
        x = self._again.pop(index)
        if (tuple(x._a.shape), x._a.dtype) != self._shapes[index]:
            raise error_type(type(x), GradError)(
                f"checkpoint: computed again, saved value {index} has shape {tuple(x._a.shape)} and dtype "
                f"{x._a.dtype}, the "
                f"first time {self._shapes[index]}; the function must do the same each time it is called"
            )
        return x

    def _recompute(self) -> None:
        kept: list[Value] = []

        def keep(x: Value) -> int:
            kept.append(make(type(x), content(x), None, 0))
            return len(kept) - 1

        with self._context(), saved_hooks(keep, kept.__getitem__), grad_mode(True):
            self._run()
        if len(kept) != self.count:
            raise GradError(
                f"checkpoint: the function saved {self.count} values the first time and {len(kept)} when computed "
                "again; "
                "it must do the same each time it is called (random draws and outer state included)"
            )
        self._again = dict(enumerate(kept))


@contextlib.contextmanager
def saved_hooks(pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> Any:
    """Inside, saved values are kept as `pack(value)` and restored with `unpack`."""
    before = state.saved_hooks
    state.saved_hooks = (*before, (pack, unpack))
    refresh()
    try:
        yield
    finally:
        state.saved_hooks = before
        refresh()


def checkpoint(
    f: Callable[..., Any], *, recompute_context: Callable[[], Any] = contextlib.nullcontext
) -> Callable[..., Any]:
    """`f` with its saved values dropped after the forward pass and computed again in the backward pass.

    Memory for time. `f` must do the same when called again; `recompute_context` makes a context manager for the second
    call (to restore a random state, say). Derivatives of any order work. Raises GradError when the second call saves
    something else than the first.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray(2.0, requires_grad=True)
    >>> rg.checkpoint(lambda x: x * x * x)(x).backward()
    >>> x.grad
    Tensor(12.)
    """

    @functools.wraps(f)
    def checkpointed(*args: Any, **kwargs: Any) -> Any:
        frame = _Frame(lambda: f(*args, **kwargs), recompute_context)
        with saved_hooks(frame.pack, frame.unpack):
            return f(*args, **kwargs)

    return checkpointed
