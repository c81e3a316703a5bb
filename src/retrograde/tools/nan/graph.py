"""`explained`: a graph that was recorded, computed again from what it has kept, to see where it stops being finite."""

from __future__ import annotations

import re
from typing import Any

import numpy as np

from ..._errors import FreedGraphError
from ..._state import observe
from ...core.bind import KERNEL_ERRORS, evaluate
from ...core.node import FREED, Accumulate, Slot, producer
from ...core.record import Primitive
from ...core.value import Value
from ...tape import engine
from ..arrays import inside
from ..diff.places import is_library
from . import Report, report_of
from .made import FORWARD, Made, Place, is_finite, seen
from .watch import GIVING, Watch

_FRAME = re.compile(r'File "([^"]+)", line (\d+)')

UNKNOWN_LINES = "record within `with autograd.detect_anomaly():`, or use `retrograde run --nan`, to know the line"
UNKNOWN_OPERANDS = "not all operands of this operation were kept: it may have begun in one of them"


def explained(value: Any) -> Report:
    """See `explain_nan`."""
    if not isinstance(value, Value):
        raise TypeError(f"explain_nan: wanted a tensor, got {type(value).__name__}")
    order = order_of(value._node)
    found = Again(order)
    array = inside(value)[0]
    if not is_finite(array):
        made = found.of(value._node) if value._node is not None else None
        if made is None:
            bad = bool(np.isnan(array).any())
            made = Made("", ("", 0), FORWARD, bad, given=True, operands=(seen(array),))
        report = report_of((made, "this tensor", ("", 0)))
        report.note = UNKNOWN_OPERANDS if made.origin()[-1] in found.unsure else ""
    elif not order:
        return Report(False, note="this tensor is finite, and has no history")
    else:
        watch = Watch()
        for node in order:
            watch.recorded(node, place_of(node))
        for key, made in found.made.items():
            watch.holds(found.values[key], made)
        leaves = [edge for edge in dict.fromkeys(e for n in order for e in n.edges) if type(edge) is Accumulate]
        with observe(watch):
            engine.run(
                [value._node], [np.ones(array.shape, array.dtype)], cls=type(value)._gradient, inputs=leaves,
                retain_graph=True, accumulate=False,
            )  # fmt: skip
        report = report_of(watch.finding() if watch.judged is not None else None)
        report.note = "" if report.found else "this tensor and the gradients from it are finite"
    if report.found and not report.place and report.operation:
        report.note = "; ".join(filter(None, (report.note, UNKNOWN_LINES)))
    return report


def order_of(edge: Any) -> list[Any]:
    """The nodes behind an edge in the order in which they were recorded."""
    nodes, stack = set[Any](), [] if edge is None else [producer(edge)]
    while stack:
        node = stack.pop()
        if node in nodes or type(node) is Accumulate:
            continue
        if node.saved is FREED:
            raise FreedGraphError(
                "explain_nan: a backward pass has freed this graph; ask before it, or pass retain_graph=True to it"
            )
        nodes.add(node)
        stack += [producer(e) for e in node.edges if e is not None]
    return sorted(nodes, key=lambda node: node.seq)


def place_of(node: Any) -> Place:
    """Where an operation was called, if anomaly mode has noted it."""
    frames = [(file, int(line)) for file, line in _FRAME.findall(node.trace or "") if not is_library(file)]
    return frames[-1] if frames else ("", 0)


def _key(edge: Any) -> tuple[Any, int]:
    return producer(edge), edge.index if type(edge) is Slot else 0


class Again:
    """The values of a graph, as far as they can be known, and how those that are not finite came to be."""

    def __init__(self, order: list[Any]) -> None:
        self.values: dict[tuple[Any, int], np.ndarray] = {}
        self.made: dict[tuple[Any, int], Made] = {}
        self.unsure: set[Made] = set()
        """Those made of operands of which not all are known."""
        for node in order:
            for edge, x in zip(node.edges, self._kept(node)):
                if edge is not None and x is not None:
                    self.values.setdefault(_key(edge), x)
        with np.errstate(all="ignore"):
            for node in order:
                self._compute(node)

    def of(self, edge: Any) -> Made | None:
        return self.made.get(_key(edge))

    @staticmethod
    def _kept(node: Any) -> list[np.ndarray | None]:
        """The operands that a node has kept."""
        saved = node.saved if type(node.saved) is tuple and node.packed is None else ()
        return [inside(x)[0] if isinstance(x, (np.ndarray, Value)) else None for x in (*saved, *[None] * len(node.edges))]

    def _compute(self, node: Any) -> None:
        operands: list[np.ndarray | None] = []
        parents = []
        for edge, kept in zip(node.edges, self._kept(node)):
            x, made = kept, None
            if edge is not None:
                leaf = edge.leaf() if type(edge) is Accumulate else None
                x = inside(leaf)[0] if leaf is not None else self.values.get(_key(edge), kept)
                made = self.of(edge)
            if x is not None and not is_finite(x):
                parents.append(made or Made("", ("", 0), FORWARD, bool(np.isnan(x).any()), given=True, operands=(seen(x),)))
            operands.append(x)
        results: Any = None
        sure = all(x is not None for x in operands)
        if sure and isinstance(node.prim, Primitive):
            try:
                results = evaluate(node.prim, operands, node.params)
            except KERNEL_ERRORS:  # an operand that holds something else by now
                sure = False
        several = hasattr(node, "outs")
        for i in range(len(node.outs) if several else 1):
            a = results[i] if several and results is not None else results
            a = self.values.setdefault((node, i), np.asarray(a)) if a is not None else self.values.get((node, i))
            if a is None or is_finite(a):
                continue
            made = Made(node.prim.name, place_of(node), FORWARD, bool(np.isnan(a).any()), parents, node.prim.name in GIVING)
            if not any(p.nan for p in parents):
                made.operands = tuple([seen(x, a) for x in operands if x is not None])
            if not sure:
                self.unsure.add(made)
            self.made[node, i] = made
