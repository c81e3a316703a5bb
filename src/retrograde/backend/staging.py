"""Reductions between the processes of one machine, through memory that they share (a window of MPI's).

Each process has a few slots, which all can read. It copies a piece of its arrays into a slot, enters a barrier, and combines
everybody's slots as soon as that is complete, in the order of the processes: so all have the same bits. Slots are small, so
that they stay in the caches, and three, so that a piece is copied before the one before it is combined: who is through
barrier k knows that all have entered it, which they do after they have combined piece k - 2.
"""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

SLOT = 1 << 19
"""Bytes of a slot."""
SLOTS = 3
MOST = 8
"""Processes at most: each reads what all have written."""
HEADER = 512
"""Bytes in which a process says what it is about to do."""
_CACHED = 1 << 17  # bytes of what is combined at once, which then lie in a cache when they are divided
_MEMORY = "/dev/shm"  # where an MPI keeps shared memory on Linux

RUNNING: list[Staging] = []
"""Those with reductions that are not complete."""


class Disagreement(RuntimeError):
    """The processes of a group are about to do different things."""


def told(*said: object) -> np.ndarray:
    """What a process is about to do, as others compare it."""
    text = " ".join(map(str, said)).encode()[:HEADER]
    return np.frombuffer(text.ljust(HEADER, b"\0"), np.uint8)


def compare(name: str, ranks: Sequence[int], every: np.ndarray) -> None:
    """Raise Disagreement, with what each of the processes has told, where that is not the same."""
    if (every == every[0]).all():
        return
    texts = [bytes(row).rstrip(b"\0").decode(errors="replace") for row in every]
    found = "; ".join(f"process {rank}: {text}" for rank, text in zip(ranks, texts))
    raise Disagreement(f"{name}: the processes do not do the same: {found}")


def divide(array: np.ndarray, by: int) -> None:
    """Divide in place, integers without rest."""
    if by == 1:
        return
    if array.dtype.kind in "iu":
        array //= by
    elif by & (by - 1) == 0:
        array *= array.dtype.type(1 / by)  # the same bits in a tenth of the time
    else:
        array /= by


def open_staging(comm: Any, mpi: Any) -> Staging | None:
    """The slots of the processes of a communicator, at which all of them are; None for processes of several machines, for many,
    and where there is no room for them."""
    if not 1 < comm.size <= MOST:
        return None
    node = comm.Split_type(mpi.COMM_TYPE_SHARED)
    size = SLOTS * (HEADER + SLOT)
    # An MPI that finds no room says so to one process only, and the others wait for ever.
    mine = node.size == comm.size and _room() > 2 * size * comm.size
    every = np.array([mine], np.int32)
    comm.Allreduce(mpi.IN_PLACE, every, mpi.MIN)
    if not every[0]:
        node.Free()
        return None
    window = mpi.Win.Allocate_shared(size, 1, comm=node)
    window.Lock_all(mpi.MODE_NOCHECK)
    slots = [np.frombuffer(window.Shared_query(k)[0], np.uint8, size).reshape(SLOTS, HEADER + SLOT) for k in range(comm.size)]
    return Staging(node, window, slots)


def _room() -> float:
    try:
        found = os.statvfs(_MEMORY)
    except (OSError, AttributeError):  # a system on which it is elsewhere
        return float("inf")
    return found.f_bavail * found.f_frsize


class Staging:
    """Reductions of some processes of one machine, one after the other.

    comm: theirs, of which nobody else makes use. window, slots: the memory that they share, and each one's part of it.
    """

    def __init__(self, comm: Any, window: Any, slots: Sequence[np.ndarray]) -> None:
        self._comm, self._window, self._slots = comm, window, list(slots)
        self._mine = self._slots[comm.rank]
        self._pieces = 0
        self._sums = np.empty(SLOT, np.uint8)  # of many small parts, which are added up at once
        self._waiting: deque[Staged] = deque()
        self._lock = threading.Lock()

    def reduce(
        self, name: str, ranks: Sequence[int], arrays: Sequence[np.ndarray], function: np.ufunc, divisor: int, said: np.ndarray
    ) -> Staged:  # fmt: skip
        """Begin to combine arrays of one dtype, which lie without gaps, with those of the others, in place; the results are
        divided by `divisor`. said: what all have to say that they do."""
        flat = [a.reshape(-1) for a in arrays]
        begun = Staged(self, self._steps(lambda every: compare(name, ranks, every), flat, function, divisor, said))
        self._waiting.append(begun)
        if self not in RUNNING:
            RUNNING.append(self)
        self.advance()
        return begun

    def advance(self) -> None:
        """Go on with what there is to do, as far as that is possible without waiting."""
        if not self._lock.acquire(blocking=False):
            return  # another thread is at it
        try:
            while self._waiting and self._waiting[0].advance():
                self._waiting.popleft()
            if not self._waiting and self in RUNNING:
                RUNNING.remove(self)
        finally:
            self._lock.release()

    def _steps(
        self, check: Callable[[np.ndarray], None], arrays: Sequence[np.ndarray], function: np.ufunc, divisor: int,
        said: np.ndarray,
    ) -> Iterator[None]:  # fmt: skip
        """One reduction; yields where it has to wait."""
        copied: tuple[list[tuple[np.ndarray, int]], int] | None = None
        for first, parts in enumerate(_pieces(arrays)):
            k = self._pieces % SLOTS
            self._pieces += 1
            slot = self._mine[k]
            if first == 0:
                slot[:HEADER] = said
            elements = slot[HEADER:].view(arrays[0].dtype)
            for part, at in parts:
                elements[at : at + part.size] = part
            self._window.Sync()
            barrier = self._comm.Ibarrier()
            if copied is not None:
                self._combine(*copied, function, divisor)
            while not barrier.Test():
                yield
            self._window.Sync()
            if first == 0:
                check(np.stack([slots[k, :HEADER] for slots in self._slots]))
            copied = parts, k
        assert copied is not None
        self._combine(*copied, function, divisor)

    def _combine(self, parts: Sequence[tuple[np.ndarray, int]], k: int, function: np.ufunc, divisor: int) -> None:
        if not parts:
            return
        every = [slots[k, HEADER:].view(parts[0][0].dtype) for slots in self._slots]
        if len(parts) > 1:
            last, at = parts[-1]
            total = self._sums.view(last.dtype)[: at + last.size]
            _combine(total, [x[: total.size] for x in every], function, divisor)
            for part, at in parts:
                part[...] = total[at : at + part.size]
        else:
            (part, at), = parts  # fmt: skip
            _combine(part, [x[at : at + part.size] for x in every], function, divisor)


def _combine(found: np.ndarray, arrays: Sequence[np.ndarray], function: np.ufunc, divisor: int) -> None:
    """Combine arrays in another one, as much at once as stays in a cache until it is divided."""
    step = _CACHED // found.itemsize
    for begin in range(0, found.size, step):
        first, second, *others = (x[begin : begin + step] for x in arrays)
        out = function(first, second, out=found[begin : begin + step])
        for other in others:
            function(out, other, out=out)
        divide(out, divisor)


class Staged:
    """A reduction that has begun: a request, as MPI's are."""

    def __init__(self, staging: Staging, steps: Iterator[None]) -> None:
        self._staging, self._steps = staging, steps
        self._complete = False
        self._error: RuntimeError | None = None

    def advance(self) -> bool:
        """Go on until it has to wait: whether it is at its end."""
        try:
            for _ in self._steps:
                return False
        except Disagreement as error:
            self._error = error
        except BaseException:  # Ctrl-C, an MPI that fails: what was to come will not
            self._error, self._complete = RuntimeError("this reduction was interrupted: its result is not complete"), True
            raise
        self._complete = True
        return True

    def Test(self) -> bool:
        """Whether it is complete. Raises Disagreement where the processes differ, RuntimeError after an interruption."""
        if not self._complete:
            self._staging.advance()
        if self._error is not None:
            raise self._error
        return self._complete


def advance() -> None:
    """Go on with the reductions of all groups: others may wait for them while this process waits for something else."""
    for staging in [*RUNNING]:
        staging.advance()


def _pieces(arrays: Sequence[np.ndarray]) -> Iterator[list[tuple[np.ndarray, int]]]:
    """Flat arrays in pieces of a slot's size: the parts of each, with their places. One piece at least."""
    room = SLOT // arrays[0].itemsize
    piece: list[tuple[np.ndarray, int]] = []
    filled = 0
    for a in arrays:
        begin = 0
        while begin < a.size:
            part = a if a.size <= room - filled else a[begin : begin + room - filled]
            piece.append((part, filled))
            begin, filled = begin + part.size, filled + part.size
            if filled == room:
                yield piece
                piece, filled = [], 0
    if piece or not any(a.size for a in arrays):
        yield piece
