"""What is kept of the operations of a program, so that their graph can be drawn when arrays and nodes are gone."""

from __future__ import annotations

import weakref
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from ...core.node import Accumulate, Slot, producer
from ..arrays import inside, owner_of
from ..seeing.calls import Call, Place
from ..seeing.figures import Extent, Figures, dtype_name
from ..seeing.watch import saved_arrays


class Operand(NamedTuple):
    """What an operation was called with: what has made it (None for a value without history), as which output, and its looks."""

    source: Operation | Leaf | None
    output: int
    shape: tuple[int, ...]
    dtype: str


class Operation:
    """One recorded operation."""

    number: int
    name: str
    place: Place = ("", 0)
    call: Call | None = None
    operands: list[Operand]
    outs: Sequence[tuple[tuple[int, ...], str]] = ()
    """Shape and dtype of each output."""
    params: dict[str, Any] = {}
    values: Sequence[Figures | None] = ()
    """Of each output; nothing where it was not looked at when it was computed."""
    gradients: Sequence[Figures | None] = ()
    """What has arrived for each output in the last backward pass through it."""
    toward: dict[int, Extent]
    """What the rule gave for each operand, by its position."""
    forward: float = 0.0
    backward: float = 0.0
    """Seconds in the kernel and in the derivative rule, in the last pass."""
    saved: Sequence[tuple[int, int]] = ()
    """The memory that was kept for the rule: the identity of what owns it, and its bytes."""
    alive: Any = None
    """The memory that whoever watched has followed (`Alive`)."""
    derivative: bool = False
    """Whether it was recorded in a backward pass, as part of a derivative."""

    def __init__(self, number: int, name: str) -> None:
        self.number, self.name = number, name
        self.operands, self.toward = [], {}


class Leaf:
    """A value that gradients arrive at."""

    gradient: Figures | None = None

    def __init__(self, edge: Accumulate) -> None:
        self.number, self.shape, self.dtype = edge.seq, tuple(edge.shape), dtype_name(edge.dtype)
        self.name = ""
        value = edge.leaf()
        array = None if value is None else inside(value)[0]
        self.value = None if array is None else Figures(array)
        self.owner = 0 if array is None else id(owner_of(array))
        self.leaf = edge.leaf


class Records:
    """The records of nodes and leaves, as long as those are there."""

    def __init__(self) -> None:
        self._of: weakref.WeakKeyDictionary[Any, Operation | Leaf] = weakref.WeakKeyDictionary()

    def known(self, node: Any) -> Operation | Leaf | None:
        """The record of a node or leaf that was looked at."""
        return self._of.get(node)

    def of(self, node: Any) -> Operation | Leaf:
        """The record of a node or leaf, and of all that it is computed from."""
        found = self._of.get(node)
        if found is not None:
            return found
        unknown, stack = [], [node]
        met = set[int]()
        while stack:
            at = stack.pop()
            if id(at) in met or at in self._of:
                continue
            met.add(id(at))
            unknown.append(at)
            stack += [producer(e) for e in at.edges if e is not None]
        for at in sorted(unknown, key=lambda n: n.seq):
            self._of[at] = Leaf(at) if type(at) is Accumulate else self._operation(at)
        return self._of[node]

    def _operation(self, node: Any) -> Operation:
        record = Operation(node.seq, getattr(node, "shown_as", None) or node.prim.name)
        looks = [(tuple(e.shape), dtype_name(e.dtype)) if e is not None else ((), "") for e in node.edges]
        record.operands = [self._operand(e, *look) for e, look in zip(node.edges, looks)]
        outs = node.outs if hasattr(node, "outs") else ((node.shape, node.dtype),)
        record.outs = tuple([(tuple(shape), dtype_name(dtype)) for shape, dtype in outs])
        record.params = {k: v for k, v in node.params.items() if _is_simple(v)}
        self.keep(record, node)
        return record

    def _operand(self, edge: Any, shape: tuple[int, ...], dtype: str) -> Operand:
        if edge is None:
            return Operand(None, 0, shape, dtype)
        return Operand(self.of(producer(edge)), edge.index if type(edge) is Slot else 0, shape, dtype)

    def keep(self, record: Operation, node: Any) -> None:
        """Note the memory that a node keeps now."""
        kept = []
        for x in saved_arrays(node):
            owner = owner_of(inside(x)[0])
            kept.append((id(owner), int(owner.nbytes)))
        record.saved = tuple(kept)

    def add(self, node: Any, operands: Sequence[Any]) -> Operation:
        """The record of an operation that was just evaluated on these arrays (None where there is none)."""
        record = self._operation(node)
        for i, (old, x) in enumerate(zip(record.operands, operands)):
            if x is not None:
                record.operands[i] = old._replace(shape=tuple(x.shape), dtype=dtype_name(x.dtype))
        self._of[node] = record
        return record


def _is_simple(x: Any) -> bool:
    return (
        x is None
        or type(x) in (bool, int, float, str)
        or (type(x) is tuple and len(x) <= 16 and all(map(_is_simple, x)))
    )


def behind(root: Operation | Leaf) -> Iterator[Operation | Leaf]:
    """A record and all that it is computed from, once each."""
    met, stack = {id(root)}, [root]
    while stack:
        at = stack.pop()
        yield at
        if type(at) is Operation:
            for operand in at.operands:
                source = operand.source
                if source is not None and id(source) not in met:
                    met.add(id(source))
                    stack.append(source)
