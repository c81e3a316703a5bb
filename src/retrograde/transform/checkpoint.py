"""`checkpoint`: compute again in the backward pass instead of keeping what the forward pass saved."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Callable, Iterator
from typing import Any

from .._errors import GradError, MutationError
from .._state import OFF, open_tapes, recording, refresh, set_mode, state
from .._tree import flatten
from ..core import level as levels
from ..core import value as values
from ..core.node import tick
from ..core.value import Value, dtype_of, error_type, shape_of
from ..tape import mutation


class _Complete(BaseException):
    """Everything that is to be computed again has been: ends the second call of the function."""


class _Kept:
    """Values saved in one call of the function, in the order in which they were saved; the call ends when there are `enough`."""

    def __init__(self, enough: int = -1) -> None:
        self.values: list[tuple[Value, int] | None] = []
        """Each with the clock's reading when it was saved."""
        self._enough = enough

    def pack(self, x: Value) -> int:
        """Keep a value: its number."""
        self.values.append((x, tick()))
        if len(self.values) == self._enough:
            raise _Complete
        return len(self.values) - 1

    def unpack(self, index: int) -> Value:
        """The value with this number; raises MutationError where its memory has been written since."""
        entry = self.values[index]
        assert entry is not None
        x, time = entry
        if mutation.changed_after(x._a, time):
            raise error_type(type(x), MutationError)(
                f"checkpoint: a value of shape {tuple(shape_of(x))} was changed in place inside the function after an "
                "operation had saved it; change a clone() instead"
            )
        return x


class _Frame:
    """One checkpointed call: what it saved while it runs, from then on only what that looked like, and how to compute it
    again: at the levels and in the grad modes in which it was computed first, from the same arguments."""

    def __init__(
        self, run: Callable[[], Any], given: Any, recompute_context: Callable[[], Any], early_stop: bool
    ) -> None:
        self._run, self._context, self._early_stop = run, recompute_context, early_stop
        self._given = [x for x in flatten(given)[0] if isinstance(x, Value)]
        self._begun = tick()
        self._levels = state.levels
        self._modes = [(tape, tape.mode != OFF) for tape in open_tapes()]
        self._first: _Kept | None = _Kept()
        self._looks: list[tuple[tuple[int, ...], Any]] = []
        self._again: dict[int, _Kept] = {}
        """By the number of a backward pass what was computed again for it."""

    def first(self) -> Any:
        """The function's result; gradients that the function takes of its own find what they need still there."""
        try:
            with saved_hooks(self._pack, self._unpack):
                return self._run()
        finally:
            self._first = None

    def _pack(self, x: Value) -> int:
        assert self._first is not None
        self._looks.append((tuple(shape_of(x)), dtype_of(x)))
        return self._first.pack(x)

    def _unpack(self, index: int) -> Value:
        if self._first is not None:
            return self._first.unpack(index)
        this = state.run
        kept = None if this is None else self._again.get(this.number)
        if kept is None or kept.values[index] is None:
            kept = self._recompute()
            if this is not None:
                self._again[this.number] = kept
                this.at_end.append(lambda: self._again.pop(this.number, None))
        x = kept.unpack(index)
        kept.values[index] = None
        looks = tuple(shape_of(x)), dtype_of(x)
        if looks != self._looks[index]:
            raise error_type(type(x), GradError)(
                f"checkpoint: computed again, saved value {index} has shape {looks[0]} and dtype {looks[1]}, the first time "
                f"{self._looks[index]}; the function must do the same each time it is called"
            )
        return x

    def _recompute(self) -> _Kept:
        for x in self._given:
            if mutation.changed_after(x._a, self._begun):
                raise error_type(type(x), MutationError)(
                    f"checkpoint: an argument of shape {tuple(shape_of(x))} was changed in place since the function was "
                    "called with it, so that it cannot be computed again; give it a clone(), or change one"
                )
        kept = _Kept(len(self._looks) if self._early_stop else -1)
        try:
            with self._as_then(), self._context(), saved_hooks(kept.pack, kept.unpack):
                out = self._run()
        except _Complete:
            return kept
        if len(kept.values) != len(self._looks):
            raise error_type(values.result_class(flatten(out)[0]), GradError)(
                f"checkpoint: the function saved {len(self._looks)} values the first time and {len(kept.values)} when "
                "computed again; it must do the same each time it is called (random draws and outer state included)"
            )
        return kept

    @contextlib.contextmanager
    def _as_then(self) -> Iterator[None]:
        """The levels that were open at the first call are, and the tapes record that did."""
        with levels.exactly(self._levels):
            modes = [(tape, tape.mode) for tape in open_tapes()]
            try:
                for tape, enabled in self._modes:
                    set_mode(tape, recording(enabled))
                yield
            finally:
                for tape, mode in modes:
                    set_mode(tape, mode)


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
    f: Callable[..., Any], *, recompute_context: Callable[[], Any] = contextlib.nullcontext, early_stop: bool = False
) -> Callable[..., Any]:
    """`f` with its saved values dropped when it returns and computed again in the backward pass.

    Memory for time. `f` must do the same when called again; `recompute_context` makes a context manager for the second
    call (to restore a random state, say); with `early_stop` that ends as soon as everything that the first one saved is there
    again. Derivatives of any order work, also where `f` takes gradients itself. Raises
    GradError when the second call saves something else than the first, MutationError for a value that is written after an
    operation has saved it, or for an argument that is written after `f` was called.

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
        return _Frame(lambda: f(*args, **kwargs), (args, kwargs), recompute_context, early_stop).first()

    return checkpointed
