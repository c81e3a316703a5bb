"""What is switched on in this thread: grad mode, inference mode, saved-tensor hooks, anomaly mode, open levels.

Everything that `bind` has to ask per operation is folded into one integer, `mode`, so that the everyday
path reads one attribute. Whoever changes a switch restores it in `finally` (or through `Switch`).
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

OFF, ON, WATCHED = 0, 1, 2


class State(threading.local):
    """The switches of one thread; a new thread starts with gradients on and nothing else."""

    mode: int = ON
    """Of the everyday tape. OFF: nothing is recorded. ON: recorded. WATCHED: recorded, and each node is shown to
    `annotate`."""
    inference: bool = False
    anomaly: bool = False
    check_nan: bool = True
    saved_hooks: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = ()
    saved_hooks_disabled: str | None = None
    levels: tuple[Any, ...] = ()
    tape: Any = None
    """The innermost open level that is a tape; its mode is what no_grad() switches inside it."""
    run: Any = None
    """The backward pass that this thread is in."""


state = State()

INFERENCE: list[int] = []
"""Non-empty while some thread is in inference mode: what `bind` asks before it asks its own thread."""


INFERRED: list[int] = []
"""Non-empty once inference mode has been used: only then can an operand be an inference tensor."""

SWITCHED: list[int] = []
"""Non-empty while the everyday tape of some thread is not simply ON: what `bind` asks before it asks its own thread."""


def set_mode(tape: Any, mode: int) -> None:
    """Set the mode of a tape (`state` is the everyday one)."""
    if tape is state:
        if mode != ON and state.mode == ON:
            SWITCHED.append(1)
        elif mode == ON and state.mode != ON:
            SWITCHED.pop()
    tape.mode = mode


def recording(enabled: bool) -> int:
    """The mode in which operations are (or are not) recorded, given the other switches."""
    return (WATCHED if state.anomaly or state.saved_hooks else ON) if enabled else OFF


def set_grad_enabled(enabled: bool) -> None:
    """Switch recording on or off, on the innermost tape: the everyday one, or that of the transform that is running."""
    set_mode(state if state.tape is None else state.tape, recording(enabled))


def grad_mode_now() -> int:
    """The mode of the innermost tape."""
    return (state if state.tape is None else state.tape).mode


def is_grad_enabled() -> bool:
    """Whether operations on the innermost tape are recorded in this thread."""
    return grad_mode_now() != OFF


def refresh() -> None:
    """Recompute the modes after anomaly mode or the saved-tensor hooks have changed."""
    for tape in (state, *(level for level in state.levels if level.tape)):
        if tape.mode != OFF:
            set_mode(tape, recording(True))


class grad_mode:
    """Context manager that sets grad mode and restores the previous one: `with grad_mode(False): ...`."""

    __slots__ = ("_enabled", "_before")

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def __enter__(self) -> None:
        self._before = is_grad_enabled()
        set_grad_enabled(self._enabled)

    def __exit__(self, *exception: object) -> None:
        set_grad_enabled(self._before)
