"""A folded graph as plain data: what the page, the picture and tests read.

`nodes` are groups, operations and leaves, each at the index by which others name it; keys are one letter, since there are
thousands: `k` kind ("op", "leaf" or a group's), `n` name, `y` type of a module or its path, `b` the
module that an operation is all of, `l` [file, line], `c` members of a
group, `o` [shape, dtype] of each output, `i` [source or -1, output, shape, dtype] of each operand, `p` parameters, `t`
microseconds forward and backward, `m` bytes, `v` and `g` figures of values and gradients, `w` [operand, norm, nans, infinities]
of what the derivative rule gave. Figures are [norm, least, most, mean, nans, infinities, zeros, histogram, first elements].
"""

from __future__ import annotations

import linecache
import math
from typing import Any

from ..seeing.calls import Place
from ..seeing.figures import Extent, Figures
from .fold import MODULE, Group, said
from .records import Leaf, Operation


class Places:
    """Files and the lines of them that are named, once each."""

    def __init__(self) -> None:
        self.files: list[str] = []
        self.lines: list[dict[str, str]] = []
        self._index: dict[str, int] = {}

    def of(self, place: Place) -> list[int] | None:
        file, line = place
        if not file:
            return None
        index = self._index.setdefault(file, len(self.files))
        if index == len(self.files):
            self.files.append(said((file, 0)).rpartition(":")[0])
            self.lines.append({})
        if str(line) not in self.lines[index]:
            self.lines[index][str(line)] = linecache.getline(file, line).strip()[:160]
        return [index, line]


def modelled(top: Group, root: Operation | Leaf, note: str = "") -> dict[str, Any]:
    """The graph as what `json` writes."""
    places = Places()
    nodes: list[dict[str, Any]] = []
    index: dict[int, int] = {}

    alone: dict[int, str] = {}

    def number(member: Group | Operation | Leaf, around: frozenset[Any]) -> int:
        own = index[id(member)] = len(nodes)
        nodes.append({})
        if type(member) is Group:
            nodes[own] = _group(member, places)
            nodes[own]["c"] = [number(m, around | {member.call}) for m in member.members]
        elif (
            type(member) is Operation
            and (call := member.call) is not None
            and call.kind == MODULE
            and call not in around
        ):
            alone[own] = call.name
        return own

    def members(group: Group) -> list[Any]:
        return [x for m in group.members for x in (members(m) if type(m) is Group else [m])]

    number(top, frozenset())
    order = members(top)
    kept = _kept(order)
    for member in order:
        own = index[id(member)]
        nodes[own] = (
            _leaf(member) if type(member) is Leaf else _operation(member, index, places, kept.get(id(member), 0))
        )
        if own in alone:
            nodes[own]["b"] = alone[own]
    return {
        "title": top.name, "note": note, "files": places.files, "lines": places.lines, "nodes": nodes,
        "open": [i for g, i in _groups(top, index) if g.open], "root": index[id(root)],
    }  # fmt: skip


def _groups(group: Group, index: dict[int, int]) -> list[tuple[Group, int]]:
    found = [(group, index[id(group)])]
    for member in group.members:
        if type(member) is Group:
            found += _groups(member, index)
    return found


def _kept(members: list[Any]) -> dict[int, int]:
    """The bytes that each operation keeps for its derivative: memory is counted at the first operation that keeps it, and that
    of leaves not at all."""
    met = {x.owner for x in members if type(x) is Leaf}
    found: dict[int, int] = {}
    for operation in sorted((x for x in members if type(x) is Operation), key=lambda x: x.number):
        for owner, size in operation.saved:
            if owner not in met:
                met.add(owner)
                found[id(operation)] = found.get(id(operation), 0) + size
    return found


def _group(group: Group, places: Places) -> dict[str, Any]:
    return _without_empty({"k": group.kind, "n": group.name, "y": group.type, "l": places.of(group.place)})


def _leaf(leaf: Leaf) -> dict[str, Any]:
    return _without_empty({
        "k": "leaf", "n": leaf.name or "leaf", "o": [[list(leaf.shape), leaf.dtype]],
        "v": _all([leaf.value]), "g": _all([leaf.gradient]),
    })  # fmt: skip


def _operation(x: Operation, index: dict[int, int], places: Places, kept: int) -> dict[str, Any]:
    operands = [
        [index[id(o.source)] if o.source is not None else -1, o.output, list(o.shape), o.dtype] for o in x.operands
    ]
    return _without_empty({
        "k": "op", "n": x.name, "y": x.call.path() if x.call is not None else "", "l": places.of(x.place),
        "o": [[list(shape), dtype] for shape, dtype in x.outs], "i": operands,
        "p": {k: v if type(v) in (int, str, bool) else repr(v) for k, v in x.params.items()},
        "t": [round(x.forward * 1e6, 1), round(x.backward * 1e6, 1)], "m": kept, "v": _all(x.values), "g": _all(x.gradients),
        "w": [_toward(i, f) for i, f in x.toward.items()], "d": int(x.derivative),
    })  # fmt: skip


def _toward(operand: int, f: Extent) -> list[Any]:
    return [operand, number(f.norm), *([f.nans, f.infinities] if f.nans or f.infinities else [])]


def _without_empty(entries: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in entries.items() if v not in (None, "", [], {}, 0)}


def _all(figures: Any) -> list[Any]:
    found = [None if f is None else figures_as_json(f) for f in figures]
    return found if any(f is not None for f in found) else []


def figures_as_json(f: Figures) -> list[Any]:
    """Figures as a list (see the file's beginning)."""
    bins = f.histogram()
    return [
        number(f.norm), number(f.least), number(f.most), number(f.mean), f.nans, f.infinities, f.zeros,
        None if bins is None else [number(bins[0]), number(bins[1]), bins[2]],
        [_element(x) for x in f.first],
    ]  # fmt: skip


def _element(x: Any) -> Any:
    return number(x, 5) if type(x) is float else str(x) if type(x) is complex else x


def number(x: Any, digits: int = 4) -> float | str:
    """A number with so many digits; what JSON has no number for, as text."""
    x = float(x)
    return float(f"{x:.{digits}g}") if math.isfinite(x) else str(x)
