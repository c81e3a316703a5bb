"""When memory was last changed in place: a clock per array owner, kept only for memory that has been changed.

A node carries a number from the same clock, so the backward pass can refuse a saved array that was changed after the
node was recorded, and recording itself pays nothing. Memory is told apart by the array that owns it.
"""

from __future__ import annotations

import functools
import sys
import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .._state import OBSERVERS, SWITCHED, state
from .._traceback import program_line
from ..backend.numpy import NUMPY
from ..core.node import tick
from ..core.value import Value

_ndarray = np.ndarray

MUTATED: dict[int, list[Any]] = {}
"""id(owner) -> [clock of the last change, number of changes, weak reference to the owner]."""

PLACES: dict[int, tuple[int, str]] = {}
"""id(owner) -> clock and line of the last change of this memory that happened under anomaly mode."""

latest = 0
"""The clock of the last change of any memory: a graph that is younger as a whole has nothing to check."""


def owner_of(array: Any) -> Any:
    """The array that owns the memory of `array`: itself, or the end of its chain of bases."""
    while isinstance(array, Value):
        array = array._a
    if type(array) is not _ndarray:
        array = getattr(array, "value", array)  # a deferred array that has its elements
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
    PLACES.pop(key, None)


def own_clock(array: Any) -> np.ndarray:
    """The same memory under an owner of its own, so that changes of either are not noticed for the other.

    What PyTorch's `.data` and `from_numpy` do. The detour over a memoryview ends the chain of bases.
    """
    if array.dtype.kind == "V" or array.dtype.isbuiltin != 1:  # NumPy's buffers know no bfloat16
        return np.asarray(memoryview(array.view(f"u{array.itemsize}"))).view(array.dtype)
    return np.asarray(memoryview(array))


class _Mirror:
    """Memory that holds the conjugates of what other memory holds: a view that NumPy has no strides for."""

    __slots__ = ("source", "image")

    def __init__(self, source: np.ndarray, image: np.ndarray, forget: Any) -> None:
        self.source, self.image = source, weakref.ref(image, forget)


MIRRORS: dict[int, list[_Mirror]] = {}
"""id(root) -> the mirrors of which this memory is the source or the image; they live as long as the image does."""


def _root_of(array: Any) -> Any:
    """The array that owns memory, also where a view has a clock of its own."""
    owner = owner_of(array)
    while type(owner) is _ndarray and isinstance(owner.base, memoryview):
        owner = owner_of(owner.base.obj)
    return owner


def mirror(source: np.ndarray, image: np.ndarray) -> np.ndarray:
    """The conjugates of an array, just computed, in memory that follows it from now on, and that it follows."""
    shared = overlapping(source)
    shape, strides = source.shape, source.strides
    if shared:
        source = source[tuple([slice(None) if s else slice(0, 1) for s in strides])]
        image = np.asarray(np.conjugate(source))
    keys = id(_root_of(source)), id(image)

    def forget(reference: Any) -> None:
        for key in keys:
            left = [m for m in MIRRORS.get(key, ()) if m.image is not reference]
            if left:
                MIRRORS[key] = left
            else:
                MIRRORS.pop(key, None)

    made = _Mirror(source, image, forget)
    for key in keys:
        MIRRORS.setdefault(key, []).append(made)
    known = MUTATED.get(id(owner_of(source)))
    if known is not None:
        MUTATED[keys[1]] = [known[0], known[1], weakref.ref(image, functools.partial(_forget, keys[1]))]
    if not shared:
        return image
    return np.lib.stride_tricks.as_strided(image, shape, [t if s else 0 for s, t in zip(strides, image.strides)])


def _reflect(array: Any, seen: tuple[int, ...]) -> None:
    """Memory has been written: let what mirrors it follow."""
    root = _root_of(array)
    for m in MIRRORS.get(id(root), ()):
        image = m.image()
        if image is not None:
            from_, to = (image, m.source) if root is image else (m.source, image)
            if id(_root_of(to)) not in seen:
                np.conjugate(from_, out=to)
                tell = note if owner_of(array) is root else _reflect  # what has a clock of its own is not noted here either
                tell(to, seen=(*seen, id(root)))


AWAITED: dict[int, tuple[weakref.ref[Any], Callable[[], None]]] = {}
"""id(owner) -> what is done once when the memory is written next; dropped with the memory."""


def when_written(array: Any, act: Callable[[], None]) -> None:
    """Call `act` when the memory of `array` is written next, just after that."""
    owner = owner_of(array)
    key = id(owner)
    AWAITED[key] = weakref.ref(owner, lambda _: AWAITED.pop(key, None)), act


def is_conjugate(array: Any) -> bool:
    """Whether memory holds the conjugates of other memory that it follows."""
    found = False
    root = _root_of(array)
    while (of := next((m for m in MIRRORS.get(id(root), ()) if m.image() is root), None)) is not None:
        found, root = not found, _root_of(of.source)
    return found


def note(array: Any, before: int = 0, now: int = 0, seen: tuple[int, ...] = ()) -> None:
    """Note that the memory of `array` has been changed in place now, or was at clock reading `now`; `before` changes count
    where none was known of it. `seen`: the memory that follows from has been noted already."""
    global latest
    if MIRRORS:
        _reflect(array, seen)
    owner = array if type(array) is _ndarray and array.base is None else owner_of(array)
    key = id(owner)
    if AWAITED and key in AWAITED:
        AWAITED.pop(key)[1]()
    entry = MUTATED.get(key)
    now = now or tick()
    if now > latest:
        latest = now
    for observer in OBSERVERS:
        observer.changed(array)
    if entry is not None and entry[2]() is owner:
        entry[0] = now
        entry[1] += 1
    else:
        _enter(owner, now, 1 + before)
    if SWITCHED and state.anomaly and key in MUTATED:
        PLACES[key] = now, program_line()


def _enter(owner: Any, now: int, count: int) -> None:
    key = id(owner)
    try:
        reference = weakref.ref(owner, functools.partial(_forget, key))
    except TypeError:  # a library whose arrays take no weak references cannot be watched
        return
    MUTATED[key] = [now, count, reference]


def note_all(arrays: Iterable[np.ndarray]) -> None:
    """`note` of several arrays that have been changed at one time."""
    global latest
    if MIRRORS or OBSERVERS or AWAITED or (SWITCHED and state.anomaly):
        for array in arrays:
            note(array)
        return
    latest = now = tick()
    for array in arrays:
        owner = array if array.base is None else owner_of(array)
        entry = MUTATED.get(id(owner))
        if entry is not None and entry[2]() is owner:
            entry[0] = now
            entry[1] += 1
        else:
            _enter(owner, now, 1)


def place_of_change(array: Any) -> str:
    """The line that changed memory last, "" where that is not known."""
    entry = MUTATED.get(key := id(owner := owner_of(array)))
    changed, line = PLACES.get(key, (0, ""))
    return line if entry is not None and entry[2]() is owner and entry[0] == changed else ""


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
    NUMPY.write(target, new)
    if noted:
        note(target, now=now)
    else:
        for observer in OBSERVERS:
            observer.changed(target)


def write_all(targets: Sequence[np.ndarray], arrays: Sequence[np.ndarray]) -> None:
    """`write` of several arrays, one after the other, at one time."""
    if OBSERVERS:
        for target, new in zip(targets, arrays):
            write(target, new)
        return
    for target, new in zip(targets, arrays):
        NUMPY.write(target, new)
    note_all(targets)


ADDRESSED: dict[int, weakref.ref[Any]] = {}
"""id(owner) -> a weak reference to memory whose address somebody has asked for."""


def address_of(array: np.ndarray) -> int:
    """Where the numbers of an array stand, for a program: it may look there later, so the memory is not `exchanged`."""
    owner = owner_of(array)
    if isinstance(owner, _ndarray):
        key = id(owner)
        ADDRESSED[key] = weakref.ref(owner, lambda _: ADDRESSED.pop(key, None))
    return int(array.ctypes.data)


def exchanged(value: Value, array: np.ndarray) -> bool:
    """Let a value hold an array that nobody else has in place of its own, as if that were written, where nobody could tell: its
    own is held by nothing else, no view and no saved operand. Whether that was so."""
    global latest
    if OBSERVERS or MIRRORS or _references(value) != _ALONE:
        return False
    old = value._a
    alike = old.strides == array.strides and old.dtype is array.dtype and old.flags.num == array.flags.num
    if not alike or old.base is not None or weakref.getweakrefcount(old) > 1 or id(old) in AWAITED or id(old) in ADDRESSED:
        return False
    entry = MUTATED.pop(id(old), None)
    before = entry[1] if entry is not None and entry[2]() is old else 0
    value._a = array
    latest = now = tick()
    _enter(array, now, before + 1)
    return True


def _references(value: Value) -> int:
    """How many references the interpreter counts to the array of a value."""
    return sys.getrefcount(value._a)


def _alone() -> int:
    value = object.__new__(Value)
    value._a = np.zeros(1)
    return _references(value)


_ALONE = _alone() if sys.implementation.name == "cpython" else -1
"""What `_references` gives for an array that only the value has."""


def changed_after(array: Any, seq: int) -> bool:
    """Whether the memory of `array` was changed after clock reading `seq`."""
    owner = owner_of(array)
    entry = MUTATED.get(id(owner))
    return entry is not None and entry[0] > seq and entry[2]() is owner


def with_count_of(array: Any, other: Any) -> Any:
    """The memory of `array` for who held `other` until now and counts its changes: as often changed as that, on a clock of its
    own where the two differ."""
    changes = count(other)
    if type(array) is not _ndarray or changes == count(array):
        return array
    own = own_clock(array)
    owner = owner_of(own)
    MUTATED[id(owner)] = [latest, changes, weakref.ref(owner, functools.partial(_forget, id(owner)))]
    return own


def count(array: Any) -> int:
    """How often the memory of `array` has been changed in place."""
    owner = owner_of(array)
    entry = MUTATED.get(id(owner))
    return entry[1] if entry is not None and entry[2]() is owner else 0
