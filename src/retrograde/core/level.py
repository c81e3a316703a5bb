"""Levels: each functional transform that is running has one, numbered upwards and never numbered again.

An operation takes place at the highest level among its operands. A level that records its own tape (`tape=True`:
reverse mode) has its own grad mode: no_grad() inside it leaves the tapes below as they are.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from collections.abc import Iterator
from typing import Any

from .. import _errors
from .._state import OPENED, Switched, recording, state

_ids = itertools.count(1).__next__  # odd ids are tapes, even ones other transforms, so that an id tells by itself
_names: dict[int, str] = {}
_open_in: dict[int, int] = {}  # level -> the thread in which it is open: only for a message, too


class Level:
    """A functional transform, open inside `with level.open():`, for the first time or again (a pullback called later)."""

    __slots__ = ("id", "name", "tape", "mode", "batch_size", "randomness", "adopt", "lifts", "lifted")

    def __init__(self, name: str, *, tape: bool = False) -> None:
        self.name, self.tape = name, tape
        self.id = 2 * _ids() + (1 if tape else 0)
        _names[self.id] = name
        if len(_names) > 4096:  # the names only serve an error message: keep the recent ones
            del _names[next(iter(_names))]
        self.mode = recording(True)
        self.batch_size: int | None = None
        self.randomness = "same"
        self.adopt: Any = None
        """What is done with each value that is created inside, if anything."""
        self.lifts: Any = None
        """Of a level whose values may be written into tensors from outside: the two functions of `Value._outer`."""
        self.lifted: list[Any] = []
        """Weak references to the values that hold something of the level until it ends."""

    def open(self) -> Opened:
        """A context in which this level is open; nothing is changed where it is open already."""
        return Opened(self)


class Opened(Switched):
    """See `Level.open`."""

    __slots__ = ("level", "_before")

    def __init__(self, level: Level) -> None:
        self.level = level

    def __enter__(self) -> Level:
        before, level = state.levels, self.level
        self._before = before
        self.entering()
        if level not in before:
            levels = (*before, level)
            if before and before[-1].id > level.id:  # one that is opened again
                levels = tuple(sorted(levels, key=lambda level: level.id))
            _set_levels(levels)
        return level

    def __exit__(self, *exception: object) -> None:
        _set_levels(self._before)
        self.left()


@contextlib.contextmanager
def exactly(levels: tuple[Level, ...]) -> Iterator[None]:
    """A context in which these levels are open, some of them closed since, and no others."""
    before = state.levels
    _set_levels(levels)
    try:
        yield
    finally:
        _set_levels(before)


def _set_levels(levels: tuple[Level, ...]) -> None:
    before = state.levels
    for level in before:
        if level not in levels:
            _open_in.pop(level.id, None)
    if levels:
        thread = threading.get_ident()
        for level in levels:
            _open_in[level.id] = thread
        if not before:
            OPENED.append(1)
    state.levels = levels
    state.tapes = tapes = {level.id: level for level in levels if level.tape}
    state.tape = next(reversed(tapes.values()), None)
    if before and not levels:
        OPENED.pop()


def is_tape(level: int) -> bool:
    """Whether a level is a tape whose arrays need no transform: the everyday one, or reverse mode's."""
    return level == 0 or bool(level & 1)


def innermost() -> int:
    """The id of the innermost open level, 0 if none is open."""
    levels = state.levels
    return levels[-1].id if levels else 0


def born(x: Any) -> None:
    """Mark a value as created where this thread is; called while a level is open."""
    x._born = innermost()
    for level in reversed(state.levels):
        if level.adopt is not None:
            level.adopt(x)
            return


def innermost_of_values() -> int:
    """The id of the innermost open level that values can be of: a trace's level only adopts what is created in it."""
    for level in reversed(state.levels):
        if level.adopt is None:
            return level.id
    return 0


def tape_of(level: int) -> Any:
    """What holds the grad mode of a level: the highest tape at or below it (`state` is the everyday one)."""
    for open_level in reversed(state.levels):
        if open_level.tape and open_level.id <= level:
            return open_level
    return state


def mode_at(level: int) -> int:
    """The grad mode that holds at a level."""
    return tape_of(level).mode if state.levels else state.mode


def is_open(level: int) -> bool:
    """Whether a level is open in this thread."""
    return level in [open_level.id for open_level in state.levels]


def check_open(level: int) -> None:
    """Raise LevelError when a value's level is not open in this thread."""
    if is_open(level):
        return
    name = _names.get(level, "a functional transform")
    if level in _open_in:
        raise _errors.LevelError(
            f"a value created inside {name} (level {level}) was used in another thread than {name} runs in; give the "
            "thread plain values, or call the transform inside it"
        )
    raise _errors.LevelError(
        f"a value created inside {name} (level {level}) was used after {name} had returned; "
        "return it from the transformed function (or through has_aux) instead of storing it outside"
    )
