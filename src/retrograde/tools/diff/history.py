"""What came before in one record: what a value is made of, what it shared its memory with, who cleared a gradient."""

from __future__ import annotations

from collections.abc import Sequence

from .events import ABSENT, Accumulate, Clear, Event, Operation, Reread, Write
from .side import LAYOUT_ONLY, Side


def operands(e: Event) -> Sequence[int]:
    """What an event's results are made of: not what memory held that is filled with something else."""
    return e.ins[1:] if isinstance(e, Write) and len(e.ins) > 1 else e.ins


def is_computed(side: Side, value: int) -> bool:
    """Whether a value was computed from others that are not its memory before, as a state that is passed on is."""
    maker = side.maker(value)
    return maker is not None and isinstance(maker, Operation) and maker.name not in LAYOUT_ONLY


def moved(side: Side, value: int) -> bool:
    """Whether memory held a value because it was changed before, and not because it was filled with it."""
    maker = side.maker(value)
    return maker is not None and isinstance(maker, Write) and len(maker.ins) == 1 and maker.ins[0] != ABSENT


def aliases(side: Side, value: int) -> set[int]:
    """A value and what it was before views: the same elements."""
    found = {value}
    e = side.maker(value)
    while e is not None and isinstance(e, (Operation, Reread, Write)) and e.ins and len(found) < 16:
        if isinstance(e, Operation) and side.values.size(e.outs[0]) != side.values.size(e.ins[0]):
            break
        found.add(e.ins[0])
        e = side.maker(e.ins[0])
    return found


def previous(side: Side, number: int) -> int:
    """The accumulation into the same leaf before this one."""
    leaf = side.gradient(number).leaf
    return next((n for n in range(number - 1, -1, -1)
                 if isinstance(e := side.events[n], Accumulate) and e.leaf == leaf), -1)  # fmt: skip


def cleared(side: Side, number: int) -> int:
    """Where the gradient was cleared before this accumulation; the accumulation itself if that was not seen."""
    leaf = side.gradient(number).leaf
    last = previous(side, number)
    memory = set(side.events[last].outs) if last >= 0 else set()
    for n in range(number - 1, last, -1):
        e: Event = side.events[n]
        if (isinstance(e, Clear) and e.leaf == leaf) or (isinstance(e, Write) and e.ins[0] in memory):
            return n
    return number
