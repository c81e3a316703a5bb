"""What memory holds after each change in place: that of parameters, and other memory that lives on (buffers)."""

from __future__ import annotations

from .events import ABSENT, Event, Operation, Source, Update, Write
from .side import Side


def changes(side: Side) -> tuple[dict[int, list[int]], list[list[int]]]:
    """What each leaf's memory holds after each change since it was first seen, and the same of other memory that no
    operation made."""
    leaf_of = {leaf.value: number for number, leaf in enumerate(side.record.leaves)}
    leaves: dict[int, list[int]] = {}
    open_chains: dict[int, list[int]] = {}
    for e in side.events:
        if not isinstance(e, (Write, Update)):
            continue
        before, after = e.ins[0], e.outs[0]
        leaf = leaf_of.get(before)
        if leaf is not None:
            leaf_of[after] = leaf
            leaves.setdefault(leaf, []).append(after)
            continue
        if isinstance(e, Update):
            continue
        chain = open_chains.pop(before, None)
        if chain is None:
            maker = side.maker(before)
            if before != ABSENT and maker is not None and not isinstance(maker, Source):
                continue
            chain = []
        if chain or not _fills(side, e):
            chain.append(after)
        open_chains[after] = chain
    # Memory that became a leaf later was only being filled; so was what was written once before any backward pass.
    first_pass = side.passes[0] if side.passes else len(side.events)
    initial = {leaf.value for leaf in side.record.leaves}

    def is_buffer(chain: list[int]) -> bool:
        if not chain or initial.intersection(chain):
            return False
        return len(chain) > 1 or side.producer[chain[0]] > first_pass or not side.consumers.get(chain[0])

    return leaves, [chain for chain in open_chains.values() if is_buffer(chain)]


def _fills(side: Side, e: Event) -> bool:
    """Whether a write only puts something new into memory, whatever it held."""
    if len(e.ins) == 1:
        return e.ins[0] == ABSENT
    maker = side.maker(e.ins[1])
    return maker is None or not isinstance(maker, Operation) or maker.name == "fill" or e.ins[0] not in maker.ins
