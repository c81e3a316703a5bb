"""`Foresight`: the gradients of a loss, computed together with it where calls have shown that they are asked for.

The two need the same values, which one piece of code keeps in registers and in the cache; computed apart, the second has to
read or to find again what the first has known. That the gradients will be wanted, nobody says at the call: so it is expected
once so many calls one after the other were pulled back in the same way, from a single number and with the factor 1, and no
more after the first one that is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import pipeline
from ..emit import history
from ..graph import Graph

EARNED, FOR_EACH = 8, 4
"""Calls, one after the other, that have to be pulled back before the gradients of the next one are computed with it: so many, and
one for so many operations, since the code for that has to be made."""
_LONG = 1 << 12
"""Calls after which it is tried again where it failed."""


class Key(NamedTuple):
    """What a pass asks for: of which output it begins, and the gradients of which operands it wants."""

    output: int
    operands: tuple[int, ...]


class Joint:
    """What computes the outputs of a call and, behind them, gradients as a key says, from the factor 1. With what it has found it
    is `Node.ready`. The gradients are given away once: whoever gets them may change them.

    places: of which operand, and which of all that it gives. ordered: the latter for each of `operands` operands in a row; None
    where some have none, or two have one array.
    """

    __slots__ = ("_operands", "code", "foresight", "hand", "key", "ordered", "output", "places", "run")

    def __init__(
        self, foresight: Foresight, key: Key, code: Callable[..., Sequence[Any]], places: Sequence[tuple[int, int]],
        operands: int,
    ) -> None:  # fmt: skip
        self.foresight, self.key, self.output, self.code, self.places = foresight, key, key.output, code, places
        self._operands = operands
        self.ordered: tuple[int, ...] | None = None
        self.run = self._first
        """The code, once it has run."""
        self.hand: Callable[..., tuple[Any, ...] | None] | None = None
        """What does in machine code what `handed_out` of tape/engine.py does, where that may be."""

    def _first(self, *arrays: np.ndarray) -> Sequence[Any]:
        found = self.code(*arrays)
        apart = len({id(found[at]) for _, at in self.places}) == self._operands
        if apart and [i for i, _ in self.places] == list(range(self._operands)):
            self.ordered = tuple([at for _, at in self.places])
            self.hand = history.hand(Foresight, Joint)
        self.run = self.code
        return found

    def gradients(self, found: Sequence[Any], output: int, edges: Sequence[Any]) -> dict[Any, Any] | None:
        """The gradients along all edges of the operation, from one of its outputs and the factor 1; None where these are others,
        or where two of them are to be added up."""
        if output != self.output or len(self.key.operands) != len(edges) - edges.count(None):
            return None
        by_edge = {edges[i]: found[at] for i, at in self.places}
        if len(by_edge) < len(self.places):
            return None
        self.foresight.pulled = True
        return by_edge


class Foresight:
    """What is expected of the calls of a program.

    operations: how many it has; operands: how many it takes. joint: makes the graph of its outputs and, behind them, gradients as
    a key says, from the factor 1, and says of which operands at which places these are; None where there is no such graph.
    """

    __slots__ = ("_earned", "_graph", "_key", "_known", "_operands", "_row", "joint", "pulled")

    def __init__(
        self, operations: int, operands: int, joint: Callable[[Key], tuple[Graph, list[tuple[int, int]]] | None]
    ) -> None:  # fmt: skip
        self._graph, self._earned, self._operands = joint, max(EARNED, operations // FOR_EACH), operands
        self._key: Key | None = None
        self._row = 0
        """How many calls one after the other were pulled back in the same way."""
        self.pulled = True
        """Whether the last call was."""
        self.joint: Joint | None = None
        """What computes the gradients with the outputs, if the next call is to, and the last one was pulled back."""
        self._known: dict[Key, Joint | None] = {}

    def asked(self, key: Key) -> None:
        """Note that a pass has asked for gradients, with the factor 1."""
        if key != self._key:
            self._key, self._row, self.joint = key, 0, None
        self._row, self.pulled = self._row + 1, True

    def compute(self, arrays: Sequence[np.ndarray]) -> tuple[Joint, Sequence[Any]] | None:
        """The outputs of a call and its gradients, and what has computed them; None where it is to be computed without them."""
        if not self.pulled:
            self._row, self.joint = 0, None
        joint, self.pulled = self.joint, False
        if joint is None and self._row < self._earned:
            return None
        try:
            if joint is None:
                joint = self.joint = self._made()
            if joint is not None:
                return joint, joint.run(*arrays)
        except Exception:
            pass
        self.failed()
        return None

    def failed(self) -> None:
        """Note that there is no code for it, or an exception: of the derivative, perhaps, which nobody has asked for yet. Without
        it the call says what it is."""
        self.joint, self._row = None, -_LONG

    def _made(self) -> Joint | None:
        key = self._key
        assert key is not None
        if key not in self._known:
            found = self._graph(key)
            self._known[key] = None if found is None else Joint(self, key, pipeline.compiled(found[0]), found[1], self._operands)
        return self._known[key]
