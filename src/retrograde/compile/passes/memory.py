"""What passes ask about memory: which results lie in their operand's, and what a caller could see and write through an output.

No pass may let an output share memory with an input, a constant or another output where it did not before.
"""

from __future__ import annotations

from collections.abc import Iterable

from ..graph import Equation, Graph, Variable

VIEWS = frozenset({
    "as_strided", "broadcast_to", "conj", "diagonal", "getitem", "im2col", "imag", "later", "real", "reshape", "sliding_windows",
    "split", "stop_gradient", "transpose", "unstack", "view_as_complex", "view_as_real",
})  # fmt: skip
"""Primitives whose result may lie in the memory of their first operand."""

ALWAYS = VIEWS - {"conj", "im2col", "imag", "reshape"}
"""Those whose result always does, where it has as many elements (a conjugate does where it is its operand: of real numbers)."""


class Memory:
    """The variables of a graph whose memory leaves it, kept up to date while a pass replaces some by others."""

    def __init__(self, graph: Graph) -> None:
        self._views = {v: e.inputs[0] for e in graph.equations if e.prim.name in VIEWS for v in e.outputs}
        self._copied = {v for e in graph.equations if e.prim.name not in ALWAYS for v in e.outputs}
        """What may be a copy, though it is a view."""
        self._outside = {*graph.inputs, *graph.constants}
        self._visible: set[Variable] = set()
        self.show(graph.outputs)

    def root(self, v: Variable) -> Variable:
        """The variable whose memory a variable may lie in."""
        while (below := self._views.get(v)) is not None:
            v = below
        return v

    def show(self, variables: Iterable[Variable]) -> None:
        """Note that the memory of these leaves the graph."""
        for v in variables:
            below: Variable | None = v
            while below is not None and below not in self._visible:
                self._visible.add(below)
                below = self._views.get(below)

    def visible(self, v: Variable) -> bool:
        """Whether the memory of a variable leaves the graph."""
        return v in self._visible

    def view(self, e: Equation) -> None:
        """Note an equation that is new."""
        if e.prim.name in VIEWS:
            assert e.inputs[0] is not None
            self._views.update((v, e.inputs[0]) for v in e.outputs)

    def may_stand(self, w: Variable, v: Variable) -> bool:
        """Whether `w` may stand in place of `v`, or `v` be a view of it; if so, this counts as done."""
        if v in self._visible and not (self._views.get(v) is w and v not in self._copied):
            root = self.root(w)
            if root in self._outside or root in self._visible:
                return False
            self.show([w])
        return True
