"""`Watch` observes the engine and follows values that are not finite: where each was made, of what, and what it reaches.

A nan that nothing comes to depend on (behind a mask, say) is no finding: what counts is what reaches the root of a
backward pass, a leaf's gradient or a parameter, or is left at the end. From there the way leads back to the first
operation that made something not finite of what was finite.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from ..._state import Observer
from ...core.node import Accumulate, Node, Slot, producer
from ...core.value import Value
from ..arrays import inside, owner_of
from ..diff import places
from .made import BACKWARD, FORWARD, UPDATE, Made, Place, is_finite, seen

GIVING = frozenset(["fill"])
"""Operations whose results are what the user wrote, not computed: an infinite one is meant."""

LEFT = 1000
"""How many values that nothing has used are remembered, of those that are not finite."""


class Watch(Observer):
    """Follows what is not finite until the first nan that counts; `finding()` is what to say of it."""

    def __init__(self) -> None:
        self._of: dict[int, tuple[Any, Made]] = {}
        """id(array) -> weak reference, how it came to be."""
        self._written: dict[int, tuple[Any, Made]] = {}
        """id(owner of memory) -> weak reference, what was written into it last that is not finite."""
        self._incoming: dict[int, Made | None] = {}
        """id(array) -> what is about to be written into it; None for what is finite."""
        self._nodes: weakref.WeakKeyDictionary[Any, tuple[Place, dict[int, Made]]] = weakref.WeakKeyDictionary()
        """Node -> where its operation was called, and its outputs that are not finite."""
        self._toward: dict[Any, list[Made]] = {}
        """Node or leaf -> the cotangents on their way to it that are not finite."""
        self._left: dict[int, Made] = {}
        """id -> what is not finite and was used by nothing yet, the first ones."""
        self._updating: tuple[str, Any, list[list[Made]]] | None = None
        self._pulling: tuple[Place, Made | None] | None = None
        """During a backward pass, the operation whose rule runs: its place, and its cotangent if that is not finite."""
        self._arriving: Made | None = None
        """The gradient that is about to be added to a leaf's, if it is not finite."""
        self._call: Place = ("", 0)
        """Where the backward pass was called that runs."""
        self._thread = threading.get_ident()
        self.judged: tuple[Made, str, Place] | None = None
        """What reached something that counts: what that is, and where."""
        self.done = False
        """Whether a nan was found that counts; nothing is followed any more."""

    def finding(self) -> tuple[Made, str, Place] | None:
        """The value that is not finite and counts, what it has reached, and where; None where everything is finite."""
        if self.judged is not None:
            return self.judged
        left = sorted((x for x in self._left.values() if not x.given), key=lambda x: not x.nan)
        return (left[0], "a value that is left at the end", left[0].place) if left else None

    # ------------------------------------------------------------------------------------------ keeping

    def _foreign(self) -> bool:
        return self.done or threading.get_ident() != self._thread

    def recorded(self, node: Any, place: Place) -> None:
        """An operation was recorded there; of one recorded before the watch began, whoever knows it says so."""
        self._nodes[node] = place, {}

    def holds(self, a: Any, made: Made) -> None:
        """This array is not finite, and came to be so."""
        self._of[id(a)] = (weakref.ref(a), made)
        if len(self._of) > 4096:
            self._of = {key: entry for key, entry in self._of.items() if entry[0]() is not None}

    def _known(self, a: Any) -> Made | None:
        entry = self._of.get(id(a))
        if entry is not None and entry[0]() is a:
            return entry[1]
        owner = owner_of(a)
        for table in (self._of, self._written):
            entry = table.get(id(owner))
            if entry is not None and entry[0]() is owner:
                return entry[1]
        return None

    def _how(self, a: Any) -> Made:
        """How an array that is not finite came to be; one that no operation made was given."""
        known = self._known(a)
        if known is None:
            known = Made("", places.user_line(3), FORWARD, bool(np.isnan(a).any()), given=True, operands=(seen(a),))
            self.holds(a, known)
        return known

    def _used(self, made: Made) -> Made:
        self._left.pop(id(made), None)
        return made

    def _judge(self, made: Made, what: str, place: Place) -> None:
        """Something that counts is not finite: the first nan ends the search, the first infinity is kept until one comes."""
        self._left.pop(id(made), None)
        if made.nan:
            self.judged, self.done = (made, what, place), True
            for table in (self._of, self._written, self._incoming, self._toward, self._left):
                table.clear()
        elif self.judged is None:
            self.judged = made, what, place

    # ------------------------------------------------------------------------------------------ forward

    def operation(self, prim: Any, operands: Any, params: Any, results: Any, node: Any) -> None:
        """An operation has been evaluated."""
        if self._foreign():
            return
        place = None
        if node is not None:
            place = self._place()
            self.recorded(node, place)
        parts = results if type(results) in (tuple, list) else (results,)
        arrays = [inside(y)[0] for y in parts]
        operands = [None if x is None else inside(x)[0] for x in operands]
        questions = all(a.dtype.kind in "biu" for a in arrays)
        if self._left and not questions:  # what is not finite may be made finite here, but not by asking whether it is
            for x in operands:
                known = None if x is None else self._known(x)
                if known is not None:
                    self._used(known)
        for i, a in enumerate(arrays):
            if is_finite(a):
                self._of.pop(id(a), None)
                continue
            parents = [self._used(self._how(x)) for x in operands if x is not None and not is_finite(x)]
            phase = FORWARD
            place = place or self._place()
            if self._pulling is not None:  # a rule that is recorded itself, or user code in a backward pass
                phase = BACKWARD
                if self._pulling[1] is not None and not parents:
                    parents = [self._pulling[1]]
            nan = bool(np.isnan(a).any())
            made = Made(prim.name, place, phase, nan, parents, prim.name in GIVING)
            if not any(p.nan for p in parents):
                made.operands = tuple([seen(x, a) for x in operands if x is not None])
            self.holds(a, made)
            self._left_over(made)
            if node is not None:
                self._nodes[node][1][i] = made

    def _place(self) -> Place:
        """The user's line of an operation; of one in a rule that is recorded itself, that of the operation whose rule it is."""
        place = places.user_line(3)
        return self._pulling[0] if self._pulling is not None and place == self._call else place

    def _left_over(self, made: Made) -> None:
        if not made.given and len(self._left) < LEFT:
            self._left[id(made)] = made

    def assigning(self, target: Any, new: Any) -> None:
        """An array is about to be written into another."""
        if self._foreign() or type(new) is not np.ndarray:
            return
        self._incoming[id(target)] = None if is_finite(new) else self._used(self._how(new))

    def changed(self, array: Any) -> None:
        """Memory is being written."""
        if self._foreign() or type(array) is not np.ndarray:
            return
        made = self._incoming.pop(id(array), None)
        self._of.pop(id(array), None)
        if made is not None:
            self.holds(array, made)
            owner = owner_of(array)
            self._written[id(owner)] = (weakref.ref(owner), made)

    def moved(self, old: Any, new: Any) -> None:
        """The elements of a value have gone to another array."""
        if not self._foreign() and type(old) is np.ndarray and type(new) is np.ndarray:
            known = self._known(old)
            if known is not None and not is_finite(new):
                self.holds(new, known)

    # ------------------------------------------------------------------------------------------ backward passes

    def pass_begins(self, run: Any, roots: Sequence[Any], gradients: Sequence[Any], inputs: Any) -> None:
        """A backward pass begins at these edges."""
        if self._foreign():
            return
        self._toward.clear()
        self._call = places.user_line(2)
        for root, g in zip(roots, gradients):
            known = self._nodes.get(producer(root))
            made = known[1].get(root.index if type(root) is Slot else 0) if known else None
            if made is not None:
                self._judge(made, "the value that a backward pass starts from", self._call)
            if self.done:
                return
            start = inside(g)[0]
            if not is_finite(start):
                self._toward.setdefault(producer(root), []).append(self._how(start))

    def pulled(self, run: Any, node: Any, g: Any) -> None:
        """The gradient with respect to an operation's results has arrived; its rule is about to run."""
        if self._foreign():
            return
        place = self._nodes.get(node, (self._call,))[0]
        arrived = self._toward.pop(node, [])
        parts = [inside(x)[0] for x in (g if type(g) is list else (g,)) if x is not None]
        bad = [x for x in parts if not is_finite(x)]
        cotangent = None
        if bad:
            nan = any(bool(np.isnan(x).any()) for x in bad)
            arrived = arrived or [m for m in map(self._known, bad) if m is not None]
            if not arrived:
                cotangent = Made("", self._call, BACKWARD, nan, given=True, operands=tuple([seen(x) for x in bad]))
            elif nan and not any(m.nan for m in arrived):  # infinities of both signs met in a sum
                cotangent = Made("add", place, BACKWARD, True, arrived, operands=tuple([seen(x) for x in bad]))
            else:
                cotangent = next((m for m in arrived if m.nan == nan), arrived[0])
        self._pulling = place, cotangent

    def gave(self, run: Any, node: Any, needs: Iterable[Any], results: Iterable[Any]) -> None:
        """An operation's rule has run."""
        if self._foreign() or self._pulling is None:
            return
        place, cotangent = self._pulling
        self._pulling = None
        for i, (edge, r) in enumerate(zip(needs, results)):
            if edge is None or r is None or hasattr(r, "indices"):
                continue
            a = inside(r)[0]
            if is_finite(a):
                continue
            made = self._known(a)  # of a rule written by the user
            if made is None:
                saved = self._saved(node)
                parents = [cotangent] if cotangent is not None else []
                parents += self._nodes[node][1].values() if node in self._nodes else ()
                parents += [known for x in saved if not is_finite(x) and (known := self._known(x)) is not None]
                made = Made(node.prim.name, place, BACKWARD, bool(np.isnan(a).any()), parents)
                if not any(p.nan for p in parents):
                    made.operands = tuple([seen(x, a, i == j) for j, x in enumerate(saved)])
            self._used(made)
            self._toward.setdefault(producer(edge), []).append(made)

    @staticmethod
    def _saved(node: Any) -> list[np.ndarray]:
        """The arrays that an operation has kept for its rule."""
        if type(node) is not Node or node.packed is not None or type(node.saved) is not tuple:
            return []
        flat = [y for x in node.saved for y in (x if type(x) is tuple else (x,))]
        return [inside(x)[0] for x in flat if isinstance(x, (np.ndarray, Value))]

    def arriving(self, run: Any, target: Any, g: Any) -> None:
        """A gradient is about to be added to `target.grad`."""
        if self._foreign() or g is None or hasattr(g, "indices"):
            return
        a = inside(g)[0]
        if is_finite(a):
            return
        arrived = self._toward.get(target._node, [])
        nan = bool(np.isnan(a).any())
        made = next((m for m in arrived if m.nan == nan), None) or self._known(a)
        if made is None:
            made = Made("add", self._call, BACKWARD, nan, arrived)
        self._arriving = made
        names = places.names_in_sight(lambda y: isinstance(y, Value), 2)
        name = names.get(id(target)) or getattr(target, "name", None)
        self._judge(made, f"the gradient of {name}" if isinstance(name, str) and name else "a leaf's gradient", self._call)

    def arrived(self, run: Any, target: Any) -> None:
        """It has been added."""
        made, self._arriving = self._arriving, None
        if made is not None and not self._foreign() and target._grad is not None:
            self.holds(inside(target._grad)[0], made)

    def pass_ends(self, run: Any, inputs: Any) -> None:
        """A backward pass has ended."""
        self._pulling = None
        if self._foreign() or inputs is None or run.accumulate:
            return
        for edge in inputs:
            g = run.captured.get(edge)
            if g is None or hasattr(g, "indices"):
                continue
            a = inside(g)[0]
            if is_finite(a):
                continue
            nan = bool(np.isnan(a).any())
            arrived = self._toward.get(producer(edge), [])
            made = next((m for m in arrived if m.nan == nan), None) or self._known(a)
            if made is None and type(edge) is not Accumulate:
                continue
            self._judge(made or Made("add", self._call, BACKWARD, nan, arrived), "a gradient that was asked for", self._call)
            if self.done:
                return

    # ------------------------------------------------------------------------------------------ optimisers

    def updating(self, rule: str, columns: Any, options: Any) -> None:
        """An optimiser's rule is about to run on parameters, gradients and state (a column each)."""
        if self._foreign():
            return
        rows = zip(*(c or [None] * len(columns[0]) for c in columns))
        bad = [[self._how(a) for x in row if x is not None and not is_finite(a := inside(x)[0])] for row in rows]
        self._updating = rule, columns, bad

    def updated(self) -> None:
        """The rule has run."""
        if self._foreign() or self._updating is None:
            return
        (rule, columns, bad), self._updating = self._updating, None
        place = places.user_line(2)
        for row, before in zip(columns[0], bad):
            a = inside(row)[0]
            if is_finite(a):
                continue
            made = Made(rule.lstrip("_"), place, UPDATE, bool(np.isnan(a).any()), before)
            self.holds(a, made)
            owner = owner_of(a)
            self._written[id(owner)] = (weakref.ref(owner), made)
            self._judge(made, "a parameter", place)
            if self.done:
                return
