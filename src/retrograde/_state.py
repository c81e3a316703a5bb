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
    """OFF: nothing is recorded. ON: recorded. WATCHED: recorded, and each node is shown to `annotate`."""
    inference: bool = False
    anomaly: bool = False
    check_nan: bool = True
    saved_hooks: tuple[tuple[Callable[[Any], Any], Callable[[Any], Any]], ...] = ()
    saved_hooks_disabled: str | None = None
    levels: tuple[Any, ...] = ()
    run: Any = None
    """The backward pass that this thread is in."""


state = State()

INFERENCE: list[int] = []
"""Non-empty while some thread is in inference mode: what `bind` asks before it asks its own thread."""


def set_grad_enabled(enabled: bool) -> None:
    """Switch recording on or off for this thread."""
    state.mode = (WATCHED if state.anomaly or state.saved_hooks else ON) if enabled else OFF


def is_grad_enabled() -> bool:
    """Whether operations are recorded in this thread."""
    return state.mode != OFF


def refresh() -> None:
    """Recompute `mode` after anomaly mode or the saved-tensor hooks have changed."""
    if state.mode != OFF:
        set_grad_enabled(True)


class grad_mode:
    """Context manager that sets grad mode and restores the previous one: `with grad_mode(False): ...`."""

    __slots__ = ("_enabled", "_before")

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def __enter__(self) -> None:
        self._before = state.mode != OFF
        set_grad_enabled(self._enabled)

    def __exit__(self, *exception: object) -> None:
        set_grad_enabled(self._before)
