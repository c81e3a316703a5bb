"""`Collecting`: watches a program and keeps a record of each operation; `collected` makes records of a graph that is there."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..._errors import FreedGraphError
from ..._state import observe
from ...core.node import FREED, Accumulate, producer
from ...core.value import Value
from ...tape import engine
from ..arrays import inside
from ..diff.places import names_in_sight
from ..nan.graph import Again, order_of, place_of
from ..seeing.calls import Call, Place
from ..seeing.figures import Figures, extent
from ..seeing.watch import WATCHING, Watch, dense
from .records import Leaf, Operation, Records, behind

RECORDS = Records()
"""Of everything that any watch has seen and that is still there."""

NAMINGS = 20
"""How many times it is asked what the program calls its leaves: new ones may come at each step."""


class Collecting(Watch):
    """A watch that keeps a record of each operation, and of the values that backward passes began at."""

    def __init__(self) -> None:
        super().__init__()
        self.backward: Operation | Leaf | None = None
        """What the last backward pass began at that gave leaves their gradients, as `backward()` does."""
        self.asked: Operation | Leaf | None = None
        """What the last one began at that gave gradients which were asked for."""
        self.passes = 0
        self._namings = 0

    def evaluated(
        self, prim: Any, operands: Sequence[Any], params: Any, results: Sequence[Any], node: Any, call: Call | None,
        place: Place, seconds: float,
    ) -> None:  # fmt: skip
        """An operation has been evaluated."""
        if node is None:
            return
        record = RECORDS.add(node, operands)
        record.call, record.place, record.forward = call, place, seconds
        record.derivative, record.alive = self.depth > 0, self.alive
        record.values = tuple([Figures(a) for a in results])

    def pass_begins(self, run: Any, roots: Any, gradients: Any, inputs: Any) -> None:
        """A backward pass begins at these edges."""
        super().pass_begins(run, roots, gradients, inputs)
        if self.depth > 1 or not roots:
            return
        self.passes += 1
        root = RECORDS.of(producer(roots[0]))
        if run.accumulate:
            self.backward = root
        else:
            self.asked = root
        if self._namings < NAMINGS:
            self.name_leaves(root)

    def name_leaves(self, root: Operation | Leaf) -> None:
        """Give the leaves behind a record the names that the program has for them now."""
        nameless = [x for x in behind(root) if type(x) is Leaf and not x.name]
        if nameless:
            self._namings += 1
            names = names_in_sight(lambda y: isinstance(y, Value), 2)
            for leaf in nameless:
                value = leaf.leaf()
                leaf.name = names.get(id(value), "") if value is not None else ""

    def pulled(self, run: Any, node: Any, g: Any) -> None:
        """The gradient with respect to an operation's results has arrived."""
        record = RECORDS.of(node)
        assert type(record) is Operation
        record.gradients = tuple([None if x is None else Figures(dense(x)) for x in (g if type(g) is list else (g,))])
        record.toward = {}
        super().pulled(run, node, g)

    def differentiated(self, node: Any, needs: Any, results: Any, seconds: float) -> None:
        """An operation's rule has run."""
        record = RECORDS.of(node)
        assert type(record) is Operation
        record.backward = seconds
        record.toward = {
            i: extent(dense(r)) for i, (e, r) in enumerate(zip(needs, results)) if e is not None and r is not None
        }

    def arriving(self, run: Any, target: Any, g: Any) -> None:
        """A gradient is about to be added to a leaf's."""
        leaf = RECORDS.of(target._node) if type(target._node) is Accumulate else None
        if type(leaf) is Leaf and g is not None:
            leaf.gradient = Figures(dense(g))

    def pass_ends(self, run: Any, inputs: Any) -> None:
        """A backward pass has ended."""
        super().pass_ends(run, inputs)
        for edge in inputs or ():
            g = run.captured.get(edge)
            leaf = RECORDS.known(edge) if type(edge) is Accumulate else None
            if g is not None and type(leaf) is Leaf and not run.accumulate:
                leaf.gradient = Figures(dense(g))


def collected(value: Any, what: str) -> Operation | Leaf:
    """The record of what has made a tensor. What no watch has seen is computed again, as far as its graph has kept what that
    takes; if no backward pass went through it, one does that leaves every `.grad` as it is.

    Raises TypeError for what is no tensor, ValueError for a tensor without history.
    """
    if not isinstance(value, Value):
        raise TypeError(f"{what}: wanted a tensor, got {type(value).__name__}")
    if value._node is None:
        raise ValueError(
            f"{what}: this tensor has no history: it was not computed from anything that requires a gradient"
        )
    root = RECORDS.of(producer(value._node))
    if type(root) is Leaf:
        return root
    found = list(behind(root))
    freed = False
    if any(type(x) is Operation and not x.values for x in found):
        freed = not _computed_again(value)
    if not freed and not any(type(x) is Operation and x.gradients for x in found):
        _passed(value)
    names = names_in_sight(lambda y: isinstance(y, Value), 2)
    for leaf in found:
        if type(leaf) is Leaf and not leaf.name:
            leaf.name = names.get(id(leaf.leaf()), "")
    return root


def _computed_again(value: Any) -> bool:
    """Look at the values of what no watch has seen; whether the graph is there to do so."""
    try:
        order = order_of(value._node)
    except FreedGraphError:
        return False
    again = Again(order)
    for node in order:
        record = RECORDS.known(node)
        if type(record) is Operation and not record.values:
            arrays = [again.values.get((node, i)) for i in range(len(record.outs))]
            record.values = tuple([None if a is None else Figures(a) for a in arrays])
            if not record.place[0]:
                record.place = place_of(node)
    return True


def _passed(value: Any) -> None:
    """A backward pass from ones that adds to no `.grad`."""
    order, leaves = engine.discover([value._node], frozenset())
    if any(node.saved is FREED for node in order):
        return
    array = inside(value)[0]
    if array.dtype.kind not in "fcV":
        return
    running = [w for w in WATCHING if isinstance(w, Collecting)]
    watch = running[-1] if running else Collecting()
    kept = watch.backward, watch.asked, watch.passes
    with observe(watch) if not running else contextlib.nullcontext():
        engine.run(
            [value._node], [np.ones(array.shape, array.dtype)], cls=type(value)._gradient, inputs=list(leaves),
            retain_graph=True, accumulate=False,
        )  # fmt: skip
    watch.backward, watch.asked, watch.passes = kept
