"""`again`: elementwise results that lie in memory from a forward pass to its backward pass are computed a second time instead.

What a gradient takes of a forward pass, the activations and their slopes, is there until the backward pass comes to it, and is
most of a training step's memory. Much of it follows in a few elementwise steps from something else that has to be there
anyway, or from one array that can be kept in place of several: of gelu(x + b) the product x, of tanh(x) its result, of a
normalisation its operand and two numbers a row. The equations that lead there are put down again where the results are
taken, behind a product that has to be done by then (`later`), and so become part of the loop that takes them: no element is
read or written more often than before.

Time is counted in heavy equations, those that no fused loop computes: an array that is given before one and taken behind
another is in memory in between, and all that can be in one loop is taken to be (`Partition` puts it there).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Sequence
from typing import Any, NamedTuple

from ...core.record import NOT_DIFFERENTIABLE, Primitive
from ..graph import Equation, Graph, Variable
from .batches import PRODUCTS, multiplications
from .dead import dead
from .fuse import reduced
from .memory import ALWAYS, VIEWS
from .tiles import matrices

LARGE = 1 << 17
"""Bytes that an array has at least, to be worth it: what is smaller stays in the nearer caches."""

SMALL = 16
"""What is so many times smaller than an array, as one number for each of its rows, is kept for it."""

LONGEST = 12
"""Equations at most that are put down again for one array."""

GAP = 2
"""Heavy equations at least between which it is not there."""

ROUNDS = 8
"""How often what is left is looked at anew, at most."""

SHARE = 0.02
"""Of the multiplications of a graph's products, what computing again may take."""

LIGHT, FUNCTION = 8, 50
"""Multiplications in a product that take as long as an element of a few instructions, and one of exp, erf and the like."""

_LIGHT = frozenset({
    "abs", "add", "bitwise_and", "bitwise_not", "bitwise_or", "cast", "clip", "equal", "greater", "greater_equal", "less",
    "less_equal", "logical_and", "logical_not", "logical_or", "maximum", "minimum", "multiply", "negative", "not_equal",
    "relu", "sign", "square", "subtract", "where",
})  # fmt: skip


def _first(x: Any, _after: Any) -> Any:
    return x


LATER = Primitive(
    "later", kernel=lambda _xp, x, _after: x, operands=None, params=(), multi=False, vjps=NOT_DIFFERENTIABLE,
    vjp=None, jvp=None, batch=_first, infer=lambda avals, _params: avals[0], samples=None, diff_outs=None, used_outs=None,
    tolerances=None, kind="structural", numpy=None, saves="all", regional=(), texts=(), generated=False,
)  # fmt: skip
"""Its first operand, for what is not to be computed before the second one is there. Nothing after this pass differentiates or
batches it."""
LATER.op = _first


def again(graph: Graph, expressible: Callable[[Equation], bool]) -> Graph:
    """The graph with equations put down again where that keeps less in memory. expressible: as for `partition`."""
    if sum(_bytes(v) >= LARGE for e in graph.equations for v in e.outputs) < 3:
        return graph
    budget = SHARE * sum(map(_multiplications, graph.equations))
    for _ in range(ROUNDS):
        lives = _Lives(graph, expressible)
        chosen: list[_Choice] = []
        met: set[Variable] = set()
        for choice in sorted(lives.choices(), key=lambda c: (c.gain, c.written, -c.time), reverse=True):
            if met.isdisjoint(choice.meets) and choice.time <= budget:
                chosen.append(choice)
                met |= choice.meets
                budget -= choice.time
        if not chosen:
            break
        graph = dead(lives.without(chosen))
    return graph


def _bytes(v: Variable) -> int:
    return v.size * v.dtype.itemsize


def _multiplications(e: Equation) -> int:
    if e.prim is PRODUCTS:
        return multiplications(e.params["batch"])
    x = e.inputs[0] if e.inputs else None
    if e.prim.name == "affine" and x is not None:
        return e.outputs[0].size * x.shape[-1]
    sizes = matrices(e)
    return 0 if sizes is None else math.prod(sizes[0])


class _Gap(NamedTuple):
    """The time in which an array is not taken: after `begin`, and before `end`."""

    begin: int
    end: int


class _Choice(NamedTuple):
    """Arrays that are computed again, and when. gain: bytes times the heavy equations for which they are not there any more.
    written: whether what they are computed from is in memory as it is. time: in multiplications. equations: those that
    are put down again, in order. meets: the variables that it is about, of which another choice may not have one."""

    arrays: tuple[Variable, ...]
    gap: _Gap
    gain: int
    written: bool
    time: float
    equations: tuple[Equation, ...]
    meets: frozenset[Variable]


class _Lives:
    """When the arrays of a graph are there."""

    def __init__(self, graph: Graph, expressible: Callable[[Equation], bool]) -> None:
        self.graph = graph
        self.made = graph.producers()
        self.number = {e: i for i, e in enumerate(graph.equations)}
        self.outside = {*graph.inputs, *graph.constants}
        self.heavy: list[Equation] = []
        self.light: set[Equation] = set()
        self.given = dict.fromkeys(self.outside, 0)
        """The time at which each variable is there."""
        self.takes: dict[Equation, int] = {}
        """The time of each equation: of a heavy one its place in the list, of others as soon as what they take is there."""
        self.users: dict[Variable, list[Equation]] = {}
        for e in graph.equations:
            view = e.prim.name in ALWAYS or e.prim.name == "reshape" or e.prim is LATER
            fused = not e.prim.multi and expressible(e)
            time = max((self.given[v] for v in e.inputs if v is not None), default=0)
            if view or (fused and (e.prim.kind != "reduction" or reduced(e) is not None)):
                if e.prim.name in ("broadcast_to", "reshape") or (fused and e.prim.kind == "elementwise"):
                    self.light.add(e)
                self.takes[e] = time
            else:
                self.takes[e] = len(self.heavy)
                self.heavy.append(e)
                time = len(self.heavy)
            self.given.update((v, time) for v in e.outputs)
            for v in e.inputs:
                if v is not None:
                    self.users.setdefault(v, []).append(e)
        self.taken: dict[Variable, set[int]] = {v: {len(self.heavy)} for v in graph.outputs}
        """The times at which the memory of each is read."""
        for e in reversed(graph.equations):
            views = self._is_view(e)
            for k, v in enumerate(e.inputs):
                if v is not None:
                    times = self.taken.setdefault(v, set())
                    times.add(self.takes[e])
                    if views and not k:
                        times.update(*(self.taken.get(out, ()) for out in e.outputs))
        self.last = {v: max(times) for v, times in self.taken.items()}
        self.last.update(dict.fromkeys(self.outside, len(self.heavy)))

    @staticmethod
    def _is_view(e: Equation) -> bool:
        return e.prim.name in VIEWS or e.prim is LATER

    def gap(self, v: Variable) -> _Gap | None:
        """The longest time for which a variable is kept and not taken."""
        times = sorted({self.given[v], *self.taken.get(v, ())})
        found = max(map(_Gap, times, times[1:]), key=lambda g: g.end - g.begin, default=None)
        return found if found is not None and found.end - found.begin >= GAP else None

    def choices(self) -> list[_Choice]:
        """What could be computed again, for each array that it could be computed from."""
        shown = set(self.graph.outputs)
        roots: dict[Variable, dict[Variable, _Gap]] = {}
        for e in self.graph.equations:
            v = e.outputs[0]
            if e not in self.light or _bytes(v) < LARGE or v in shown or self._is_view(e):
                continue
            gap = self.gap(v)
            if gap is not None:
                for root in self._before(e):
                    roots.setdefault(root, {})[v] = gap
        found = [self._choice(root, arrays) for root, arrays in roots.items()]
        return [choice for choice in found if choice is not None]

    def _before(self, e: Equation) -> set[Variable]:
        """The large variables from which a few light equations lead to one."""
        found: set[Variable] = set()
        todo = [e]
        for x in todo:
            for v in x.inputs:
                if v is not None and v not in found and _bytes(v) >= LARGE and v not in self.graph.constants:
                    found.add(v)
                    before = self.made.get(v)
                    if before is not None and before in self.light and len(todo) < LONGEST:
                        todo.append(before)
        return found

    def _choice(self, root: Variable, arrays: dict[Variable, _Gap]) -> _Choice | None:
        """What of some arrays is computed from a root."""
        dropped: dict[Variable, None] = {}
        equations: set[Equation] = set()
        kept: set[Variable] = set()
        gap = _Gap(0, len(self.heavy) + 1)
        for v, own in arrays.items():
            both = _Gap(max(gap.begin, own.begin), min(gap.end, own.end))
            if v is root or both.end - both.begin < GAP:
                continue
            leads = self._leads(v, root, both, dropped)
            if leads is not None:
                dropped[v], gap = None, both
                equations |= leads[0]
                kept |= leads[1]
        if not dropped or not all(self._placed(v, gap) for v in kept):
            return None
        saved = sum(map(_bytes, dropped)) * (gap.end - gap.begin)
        longer = {v: max(0, gap.end - max(self.last.get(v, 0), gap.begin)) * _bytes(v) for v in kept}
        gain = saved - sum(longer.values())
        if gain < max(saved // 4, LARGE * GAP):
            return None
        ordered = sorted(equations, key=self.number.__getitem__)
        twice: set[Equation] = set()
        for e in reversed(ordered):  # what nothing takes any more where it was is not computed twice
            if any(self.takes[u] <= gap.begin and (u not in equations or u in twice) for u in self.users.get(e.outputs[0], ())):
                twice.add(e)
        meets = {v for e in ordered for v in e.outputs} | (kept - self.outside)
        moved = [e for e in ordered if e not in twice and e.prim.name not in _LIGHT]  # what it shared with others is done anew
        time = max(sum(map(_time, twice)), sum(map(_time, moved)))
        written = not longer.get(root) or self.made.get(root) not in self.light
        return _Choice(tuple(dropped), gap, gain, written, time, tuple(ordered), frozenset(meets))

    def _placed(self, v: Variable, gap: _Gap) -> bool:
        """Whether a variable is given before the place where equations are put down again."""
        e = self.made.get(v)
        return e is None or self.number[e] <= self.number[self.heavy[gap.end - 1]]

    def _leads(
        self, v: Variable, root: Variable, gap: _Gap, dropped: Container[Variable]
    ) -> tuple[set[Equation], set[Variable]] | None:  # fmt: skip
        """The equations that lead to an array, and what they take that is kept; None where they take what is not."""
        found: set[Equation] = set()
        kept: set[Variable] = set()
        todo = [v]
        while todo:
            x = todo.pop()
            e = self.made.get(x)
            if e in found or x in kept or x in dropped or x in self.graph.constants:
                continue
            there = x is root or self.last.get(x, 0) >= gap.end or _bytes(x) * SMALL <= _bytes(v)
            if x is not v and there and self._placed(x, gap):
                kept.add(x)
                continue
            if e is None or e not in self.light or len(found) == LONGEST:
                return None
            found.add(e)
            todo += [y for y in e.inputs if y is not None]
        return found, kept

    def without(self, choices: Sequence[_Choice]) -> Graph:
        """The graph in which choices are made."""
        graph = self.graph
        instead: dict[Variable, tuple[int, Variable]] = {}
        """What stands for each array from a time on."""
        more: dict[Equation, list[Equation]] = {}
        """What is put down behind heavy equations."""
        for choice in choices:
            behind = self.heavy[choice.gap.end - 1]
            inserted = more.setdefault(behind, [])
            place: dict[Variable, Variable] = {}
            for e in choice.equations:
                for v in e.inputs:
                    if v is not None and v not in place and v not in graph.constants:
                        place[v] = Variable(v.shape, v.dtype)
                        inserted.append(Equation(LATER, [v, behind.outputs[0]], {}, [place[v]], e.at))
                outputs = [Variable(v.shape, v.dtype) for v in e.outputs]
                inputs = [None if v is None else place.get(v, v) for v in e.inputs]
                inserted.append(Equation(e.prim, inputs, e.params, outputs, e.at))
                place.update(zip(e.outputs, outputs))
            for v in choice.arrays:
                instead[v] = choice.gap.end, place[v]
                self._views_again(v, choice.gap.end, instead, inserted)
        left: list[Equation] = []
        for e in graph.equations:
            time, new = self.takes[e], list[Variable | None]()
            for v in e.inputs:
                begin, other = instead.get(v, (0, v)) if v is not None else (0, None)
                new.append(other if time >= begin else v)
            left.append(e if tuple(new) == e.inputs else e.on(new))
            left += more.get(e, ())
        return graph.replaced(left)

    def _views_again(
        self, v: Variable, time: int, instead: dict[Variable, tuple[int, Variable]], inserted: list[Equation]
    ) -> None:  # fmt: skip
        """Put down the views of an array again that were there before a time and are taken later."""
        for e in self.users.get(v, ()):
            if self._is_view(e) and self.takes[e] < time and any(self.last.get(w, 0) >= time for w in e.outputs):
                outputs = [Variable(w.shape, w.dtype) for w in e.outputs]
                inserted.append(Equation(e.prim, [instead[v][1], *e.inputs[1:]], e.params, outputs, e.at))
                for w, other in zip(e.outputs, outputs):
                    instead[w] = time, other
                    self._views_again(w, time, instead, inserted)


def _time(e: Equation) -> float:
    if e.prim.kind != "elementwise":
        return 0
    return e.outputs[0].size * (LIGHT if e.prim.name in _LIGHT else FUNCTION)
