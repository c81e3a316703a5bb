"""What the graph behind a value keeps alive: bytes by line and by operation, and the peak where a run was watched."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

from ...core.node import Accumulate, producer
from ...core.value import Value
from ...tape import engine
from ..arrays import inside, owner_of
from ..nan.graph import place_of
from ..seeing.calls import Place
from ..seeing.watch import WATCHING, Alive, saved_arrays
from .collect import RECORDS
from .fold import said
from .records import Operation

SHOWN = 20
"""How many rows are printed."""


@dataclass
class Memory:
    """Bytes that a graph holds; `str` of it is a table. Memory that several operations hold counts once, at the first."""

    total: int
    """Of all arrays that the graph holds for derivatives, without those of leaves."""
    of_leaves: int
    """Of leaves that it holds: they are there anyway, as long as whoever made them."""
    rows: list[tuple[Place, str, int, int]]
    """Place, operation, number of arrays, bytes: the largest first."""
    freed: int = 0
    """How many operations hold nothing any more, since a backward pass has freed them."""
    peak: int | None = None
    """The most bytes that results of operations, gradients and optimisers' state took together; None where nobody watched."""
    at_peak: list[tuple[Place, str, int]] = field(default_factory=list)

    def by_line(self) -> dict[str, int]:
        """Bytes for each FILE:LINE."""
        return _sums((_name(place), size) for place, _, _, size in self.rows)

    def by_operation(self) -> dict[str, int]:
        """Bytes for each operation's name."""
        return _sums((name, size) for _, name, _, size in self.rows)

    def __str__(self) -> str:
        of_leaves = f", and {shown(self.of_leaves)} of leaves" if self.of_leaves else ""
        lines = [f"{shown(self.total)} kept for derivatives{of_leaves}"]
        width = max([len(_name(place)) for place, *_ in self.rows[:SHOWN]], default=0)
        for place, name, number, size in self.rows[:SHOWN]:
            arrays = f"{number} array{'s' * (number != 1)}"
            lines.append(f"  {shown(size):>10}  {_name(place):{width}}  {name}, {arrays}")
        if len(self.rows) > SHOWN:
            rest = sum(size for *_, size in self.rows[SHOWN:])
            lines.append(f"  {shown(rest):>10}  {len(self.rows) - SHOWN} more")
        if self.freed:
            lines.append(f"  {self.freed} operations hold nothing any more: a backward pass has freed them")
        if self.peak is not None:
            lines.append(f"{shown(self.peak)} at the peak: results of operations, gradients and optimisers' state")
            lines += [f"  {shown(size):>10}  {_name(place)}  {name}" for place, name, size in self.at_peak[:SHOWN]]
        return "\n".join(lines)

    __repr__ = __str__


def _sums(entries: Any) -> dict[str, int]:
    found: dict[str, int] = defaultdict(int)
    for key, size in entries:
        found[key] += size
    return dict(sorted(found.items(), key=lambda entry: -entry[1]))


def _name(place: Place) -> str:
    return said(place) or "line not known"


def shown(size: float) -> str:
    """A number of bytes as people read it."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if size < 1024 or unit == "GiB":
            break
        size /= 1024
    return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"


def memory(value: Any) -> Memory:
    """What the graph behind a tensor keeps alive for its derivatives, by line and operation.

    Lines, and the peak, are known of what was computed within `with rg.watch():` or under `retrograde graph` and
    `retrograde run --report`. Where several operations hold one piece of memory, or views of it, it counts once.

    Raises TypeError for what is no tensor.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> rg.memory(rg.sum(rg.sin(rg.exp(x))))
    16 B kept for derivatives
            16 B  line not known  exp, 1 array
    """
    if not isinstance(value, Value):
        raise TypeError(f"memory: wanted a tensor, got {type(value).__name__}")
    order, leaves = ([], {}) if value._node is None else engine.discover([value._node], frozenset())
    owned = {
        id(owner_of(inside(x)[0])) for leaf in leaves if type(leaf) is Accumulate and (x := leaf.leaf()) is not None
    }
    met, total, of_leaves, freed = set[int](), 0, 0, 0
    held: dict[tuple[Place, str], list[int]] = defaultdict(list)
    for node in reversed(order):
        if node.saved is engine.FREED:
            freed += 1
        place = _place(node)
        for x in saved_arrays(node):
            owner = owner_of(inside(x)[0])
            if id(owner) in met:
                continue
            met.add(id(owner))
            if id(owner) in owned:
                of_leaves += int(owner.nbytes)
            else:
                total += int(owner.nbytes)
                held[place, node.prim.name].append(int(owner.nbytes))
    rows = sorted(((p, name, len(sizes), sum(sizes)) for (p, name), sizes in held.items()), key=lambda row: -row[3])
    found = Memory(total, of_leaves, rows, freed)
    record = RECORDS.known(producer(value._node)) if value._node is not None else None
    alive: Alive | None = record.alive if type(record) is Operation else None
    if alive is None and WATCHING:
        alive = WATCHING[-1].alive
    if alive is not None:
        found.peak = alive.peak
        found.at_peak = sorted(
            ((p, name, size) for (p, name), size in alive.at_peak().items()), key=lambda row: -row[2]
        )
    return found


def _place(node: Any) -> Place:
    """The line where an operation was called, if anybody has seen it."""
    for watch in WATCHING:
        row = watch.of.get(node)
        if row is not None:
            return row.place
    record = RECORDS.known(node)
    return record.place if type(record) is Operation and record.place[0] else place_of(node)
