"""When memory was last changed in place: a clock per array owner, kept only for memory that has been changed.

A node carries a number from the same clock, so the backward pass can refuse a saved array that was changed after the
node was recorded, and recording itself pays nothing. Memory is told apart by the array that owns it.
"""

from __future__ import annotations

import functools
import weakref
from typing import Any

import numpy as np

from .._state import OBSERVERS
from ..core.node import tick
from ..core.value import Value

_ndarray = np.ndarray

MUTATED: dict[int, list[Any]] = {}
"""id(owner) -> [clock of the last change, number of changes, weak reference to the owner]."""

latest = 0
"""The clock of the last change of any memory: a graph that is younger as a whole has nothing to check."""


def owner_of(array: Any) -> Any:
    """The array that owns the memory of `array`: itself, or the end of its chain of bases."""
    while isinstance(array, Value):
        array = array._a
    if type(array) is _ndarray:
        base = array.base
        while base is not None:
            if not isinstance(base, _ndarray):  # NumPy's as_strided puts an object between a view and its base
                base = getattr(base, "base", None)
                if not isinstance(base, _ndarray):
                    break
            array, base = base, base.base
    return array


def _forget(key: int, reference: Any) -> None:
    MUTATED.pop(key, None)


def own_clock(array: Any) -> np.ndarray:
    """The same memory under an owner of its own, so that changes of either are not noticed for the other.

    What PyTorch's `.data` and `from_numpy` do. The detour over a memoryview ends the chain of bases.
    """
    if array.dtype.kind == "V" or array.dtype.isbuiltin != 1:  # NumPy's buffers know no bfloat16
        return np.asarray(memoryview(array.view(f"u{array.itemsize}"))).view(array.dtype)
    return np.asarray(memoryview(array))


def note(array: Any, before: int = 0, now: int = 0) -> None:
    """Note that the memory of `array` is changed in place now, or was to be at clock reading `now`; `before` changes count
    where none was known of it."""
    global latest
    owner = owner_of(array)
    key = id(owner)
    entry = MUTATED.get(key)
    now = now or tick()
    latest = max(now, latest)
    for observer in OBSERVERS:
        observer.changed(array)
    if entry is not None and entry[2]() is owner:
        entry[0] = now
        entry[1] += 1
        return
    try:
        reference = weakref.ref(owner, functools.partial(_forget, key))
    except TypeError:  # a library whose arrays take no weak references cannot be watched
        return
    MUTATED[key] = [now, 1 + before, reference]


def overlapping(array: Any) -> bool:
    """Whether several elements of an array share one place in memory, since it was expanded: then none is written alone."""
    return 0 in array.strides and array.size > 1 and any(s == 0 and n > 1 for s, n in zip(array.strides, array.shape))


def rearrange(value: Value, array: np.ndarray) -> None:
    """Let a value, just made, hold the same elements in another array."""
    for observer in OBSERVERS:
        observer.moved(value._a, array)
    value._a = array


def write(target: np.ndarray, new: Any, noted: bool = True, now: int = 0) -> None:
    """Write an array into the memory of another and note it (see `note`), unless the framework lets it pass unnoticed."""
    for observer in OBSERVERS:
        observer.assigning(target, new)
    np.copyto(target, new, casting="unsafe")
    if noted:
        note(target, now=now)
    else:
        for observer in OBSERVERS:
            observer.changed(target)


def changed_after(array: Any, seq: int) -> bool:
    """Whether the memory of `array` was changed after clock reading `seq`."""
    owner = owner_of(array)
    entry = MUTATED.get(id(owner))
    return entry is not None and entry[0] > seq and entry[2]() is owner


def count(array: Any) -> int:
    """How often the memory of `array` has been changed in place."""
    owner = owner_of(array)
    entry = MUTATED.get(id(owner))
    return entry[1] if entry is not None and entry[2]() is owner else 0
