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


class Ready:
    """Gradients that were computed with a call, and which of them that of each operand is: `Node.ready`. They are given away
    once: whoever gets them may change them."""

    __slots__ = ("foresight", "found", "key", "places")

    def __init__(self, foresight: Foresight, key: Key | None, found: Sequence[Any], places: Sequence[tuple[int, int]]) -> None:
        self.foresight, self.key, self.found, self.places = foresight, key, found, places

    def gradients(self, output: int, edges: Sequence[Any]) -> dict[Any, Any] | None:
        """The gradients along all edges of the operation, from one of its outputs and the factor 1; None where these are others,
        or where two of them are to be added up."""
        key, found = self.key, self.found
        if key is None or output != key.output or len(key.operands) != len(edges) - edges.count(None):
            return None
        by_edge = {edges[i]: found[at] for i, at in self.places}
        if len(by_edge) < len(self.places):
            return None
        self.foresight.pulled = True
        return by_edge


class Foresight:
    """What is expected of the calls of a program.

    operations: how many it has. joint: makes the graph of its outputs and, behind them, gradients as a key says, from the factor
    1, and says of which operands at which places these are; None where there is no such graph.
    """

    __slots__ = ("_code", "_earned", "_joint", "_key", "_known", "_row", "pulled")

    def __init__(self, operations: int, joint: Callable[[Key], tuple[Graph, list[tuple[int, int]]] | None]) -> None:
        self._joint, self._earned = joint, max(EARNED, operations // FOR_EACH)
        self._key: Key | None = None
        self._row = 0
        """How many calls one after the other were pulled back in the same way."""
        self.pulled = True
        """Whether the last call was."""
        self._code: tuple[Callable[..., Sequence[Any]], list[tuple[int, int]]] | None = None
        """What computes the gradients with the outputs, if the next call is to."""
        self._known: dict[Key, tuple[Callable[..., Sequence[Any]], list[tuple[int, int]]] | None] = {}

    def asked(self, key: Key) -> None:
        """Note that a pass has asked for gradients, with the factor 1."""
        if key != self._key:
            self._key, self._row, self._code = key, 0, None
        self._row, self.pulled = self._row + 1, True

    def compute(self, arrays: Sequence[np.ndarray]) -> Ready | None:
        """The outputs of a call and its gradients; None where it is to be computed without them."""
        if not self.pulled:
            self._row, self._code = 0, None
        code, self.pulled = self._code, False
        if code is None and self._row < self._earned:
            return None
        try:
            if code is None:
                code = self._code = self._made()
            if code is not None:
                return Ready(self, self._key, code[0](*arrays), code[1])
        except Exception:  # of the derivative, perhaps, which nobody has asked for yet: without it the call says what it is
            self._code = None
        self._row = -_LONG
        return None

    def _made(self) -> tuple[Callable[..., Sequence[Any]], list[tuple[int, int]]] | None:
        key = self._key
        assert key is not None
        if key not in self._known:
            joint = self._joint(key)
            self._known[key] = None if joint is None else (pipeline.compiled(joint[0]), joint[1])
        return self._known[key]
