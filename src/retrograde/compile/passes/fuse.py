"""Which equations become one loop over memory.

`partition` puts the equations of a graph into a list of steps: a `Group` is computed by one kernel, an equation that stands by
itself by its primitive. A group goes over rows of elements. In it are elementwise equations on all of these elements, sums
and extremes along the rows, what is computed with one number for each row, and, at its end, reductions over all elements and
down the columns, whose results only later groups may take. Views (reshape, broadcast_to, a sum of one element) are no work:
who takes one reads what it is a view of.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple

from ..graph import Equation, Graph, Variable, uniform

WIDEST = 1 << 12
"""Elements of a row at most whose reduction is taken again in the same kernel: several passes go over the row in the cache."""

COLUMNS = 8
"""Reductions down the columns in a kernel at most: each has a row of its own on the stack."""

MOST = 600
"""Equations of a group: a kernel of more is slow to translate, and its values do not stay in registers anyway."""

APART = 16
"""Arrays of different sizes that are put side by side by machine code at most: each has lines of its own."""

REDUCTIONS = {"sum": "sum", "mean": "sum", "amax": "max", "amin": "min"}
"""The reductions that a kernel computes, and how."""


def contiguous(shape: Sequence[int]) -> tuple[int, ...]:
    """The strides, in elements, of an array in C's order; 0 for axes of one element."""
    strides, step = [], 1
    for n in reversed(shape):
        strides.append(0 if n == 1 else step)
        step *= n
    return tuple(reversed(strides))


class Access(NamedTuple):
    """A variable as a view of an array in C's order: strides count elements of that."""

    base: Variable
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    @property
    def plain(self) -> bool:
        """Whether it is all of the base's elements, in order."""
        return self.strides == contiguous(self.shape) and math.prod(self.shape) == self.base.size

    def reshaped(self, shape: tuple[int, ...]) -> Access | None:
        """The same elements in another shape; None where that is no view."""
        if self.strides == contiguous(self.shape):
            return Access(self.base, shape, contiguous(shape))
        if [n for n in self.shape if n != 1] != [n for n in shape if n != 1]:
            return None
        rest = iter([s for n, s in zip(self.shape, self.strides) if n != 1])
        return Access(self.base, shape, tuple([0 if n == 1 else next(rest) for n in shape]))

    def spread(self, shape: tuple[int, ...]) -> Access:
        """Broadcast to a shape."""
        more = len(shape) - len(self.shape)
        strides = [0] * more + [0 if n == 1 else s for n, s in zip(self.shape, self.strides)]
        return Access(self.base, shape, tuple(strides))


class Place(NamedTuple):
    """How the elements of an operand go with rows of a width. kind: "all" (one after the other), "one" (the same for all),
    "rows" (element r for all of row r), "part" (row by row: `outer`, the sizes and strides of the axes that rows have, and
    along the row 1 or 0)."""

    kind: str
    outer: tuple[tuple[int, int], ...] = ()
    inner: int = 1


def place(access: Access, width: int | None) -> Place | None:
    """The place of an operand for rows of a width; None where there is none. None for the width: only for what goes with any."""
    shape = [n for n in access.shape if n != 1]
    strides = [s for n, s in zip(access.shape, access.strides) if n != 1]
    if not any(strides):
        return Place("one")
    if tuple(strides) == contiguous(shape):
        return Place("all")
    if width is None:
        return None
    k = _split(shape, width)
    if k is None:
        return None
    inner, outer = strides[k:], strides[:k]
    if any(inner):
        if tuple(inner) != contiguous(shape[k:]):
            return None
        return Place("part", _joined(shape[:k], outer), 1)
    if tuple(outer) == contiguous(shape[:k]):
        return Place("rows")
    return Place("part", _joined(shape[:k], outer), 0)


def _split(shape: Sequence[int], width: int) -> int | None:
    """The axis that a row begins with."""
    k, have = len(shape), 1
    while have < width and k:
        k -= 1
        have *= shape[k]
    return k if have == width else None


def _joined(shape: Sequence[int], strides: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """Sizes and strides of axes, neighbours that are one put together."""
    found: list[tuple[int, int]] = []
    for n, s in zip(shape, strides):
        if found and found[-1][1] == s * n:
            found[-1] = found[-1][0] * n, s
        else:
            found.append((n, s))
    return tuple(found)


def widths(access: Access) -> list[int]:
    """The widths of rows, the largest first, for which an operand that goes not with any has a place."""
    shape = [n for n in access.shape if n != 1]
    found = []
    for k in range(1, len(shape)):
        width = math.prod(shape[k:])
        if place(access, width) is not None:
            found.append(width)
    return found


class Reduced(NamedTuple):
    """A reduction: of what, "all" elements, "rows" or "columns", how, and of how many
    elements each result is."""

    over: str
    width: int | None
    how: str
    of: int
    mean: bool


def reduced(e: Equation) -> Reduced | None:
    """The reduction that an equation is; None for what no kernel computes."""
    how = REDUCTIONS.get(e.prim.name)
    x = e.inputs[0]
    if how is None or x is None or not x.size or x.dtype.kind == "c" or x.dtype.kind in "iub":
        return None
    axes = [a for a, n in enumerate(x.shape) if n != 1]
    over = [a for a in axes if a in e.params["axis"]]
    count = math.prod([x.shape[a] for a in over])
    mean = e.prim.name == "mean"
    if over == axes:
        return Reduced("all", None, how, count, mean)
    if over == axes[len(axes) - len(over) :]:
        return Reduced("rows", count, how, count, mean)
    if over == axes[: len(over)]:
        return Reduced("columns", x.size // count, how, count, mean)
    return None


def joins(e: Equation) -> bool:
    """Whether an equation puts arrays side by side in a way that there is machine code for, within that of the groups around."""
    sizes = {v.size for v in e.inputs if v is not None}
    alike = all(v is not None and v.dtype == e.outputs[0].dtype for v in e.inputs)
    return e.prim.name in ("concatenate", "stack") and alike and 0 not in sizes and (len(sizes) == 1 or len(e.inputs) <= APART)


class Group:
    """Equations of one kernel, over `size` elements in rows of `width` (None: any)."""

    def __init__(self, size: int) -> None:
        self.size = size
        self.width: int | None = None
        self.equations: list[Equation] = []
        self.made: dict[Variable, str] = {}
        """What each of its values is: "all" elements, "rows" (one number for each), or an "end"."""
        self.places: dict[tuple[Equation, int], Place] = {}
        self.reductions: dict[Equation, Reduced] = {}
        self.operands = dict[Equation, Sequence[Access | None]]()
        """What its equations read, as long as none of them wants rows of one width."""

    @property
    def rows(self) -> int:
        return self.size // (self.width or self.size)


Step = Group | Equation


class Partition(NamedTuple):
    """steps: in order. accesses: what each variable is a view of. views: the equations that are no work, and `home`, the step
    that each base is given by."""

    steps: list[Step]
    accesses: dict[Variable, Access]
    views: dict[Variable, Equation]
    home: dict[Variable, int]


def partition(graph: Graph, expressible: Callable[[Equation], bool]) -> Partition:
    """The steps of a graph. expressible: whether there is machine code for an elementwise equation, or for the
    numbers of a reduction."""
    return _Partition(graph, expressible).found()


class _Partition:
    def __init__(self, graph: Graph, expressible: Callable[[Equation], bool]) -> None:
        self.graph, self.expressible = graph, expressible
        self.accesses = {v: Access(v, v.shape, contiguous(v.shape)) for v in (*graph.inputs, *graph.constants)}
        for v, array in graph.constants.items():
            if uniform(array):
                self.accesses[v] = Access(v, v.shape, (0,) * v.ndim)
        self.views: dict[Variable, Equation] = {}
        self.home: dict[Variable, int] = {}
        self.after: dict[Variable, int] = {}
        """The step after which those that take a view come, where an equation says so."""
        self.steps: list[Step] = []
        self.of_size: dict[int, list[int]] = {}

    def found(self) -> Partition:
        for e in self.graph.equations:
            if not self._view(e):
                self._put(e)
        return Partition(self.steps, self.accesses, self.views, self.home)

    def _view(self, e: Equation) -> bool:
        x, out = e.inputs[0] if e.inputs else None, e.outputs[0]
        if x is None or 0 in out.shape:
            return False
        how = reduced(e)
        later = e.prim.name == "later"
        if e.prim.name not in ("reshape", "broadcast_to") and not later and (how is None or how.of != 1):  # of one: itself
            return False
        have = self.accesses[x]
        access = have.spread(out.shape) if e.prim.name == "broadcast_to" else have.reshaped(out.shape)
        if access is None:
            return False
        self.accesses[out], self.views[out] = access, e
        after = max(map(self._home, e.inputs), default=0) if later else self.after.get(x, 0)
        if after:
            self.after[out] = after
        return True

    def _home(self, v: Variable | None) -> int:
        """The step that a variable comes from, or may be taken after."""
        return 0 if v is None else max(self.home.get(self.accesses[v].base, 0), self.after.get(v, 0))

    def _put(self, e: Equation) -> None:
        for v in e.outputs:
            self.accesses[v] = Access(v, v.shape, contiguous(v.shape))
        floor = max(map(self._home, e.inputs), default=0)
        k = self._group(e, floor)
        if k is None:
            k = len(self.steps)
            self.steps.append(e)
        else:
            self.steps[k].equations.append(e)  # type: ignore[union-attr]
        self.home.update((v, k) for v in e.outputs)

    def _group(self, e: Equation, floor: int) -> int | None:
        """The group that takes an equation, which knows its places by then; None where there is none."""
        x, out, how = e.inputs[0] if e.inputs else None, e.outputs[0], reduced(e)
        if 0 in out.shape or any(v is not None and 0 in v.shape for v in e.inputs):
            return None
        if not self.expressible(e):
            return None
        if how is not None:
            assert x is not None
            return self._first(x.size, floor, lambda g: self._reduces(g, e, how))
        if e.prim.kind == "reduction" or e.prim.multi:
            return None
        g = self.steps[floor] if self.steps else None
        if isinstance(g, Group) and self._of_rows(g, e):  # one number for each row
            return floor
        return self._first(out.size, floor, lambda g: self._elementwise(g, e))

    def _first(self, size: int, floor: int, takes: Callable[[Group], bool]) -> int | None:
        """The first group of so many elements, from a step on, that takes something; a new one else."""
        known = self.of_size.setdefault(size, [])
        for k in known:
            g = self.steps[k]
            if k >= floor and isinstance(g, Group) and len(g.equations) < MOST and takes(g):
                return k
        g = Group(size)
        if not takes(g):
            return None
        known.append(len(self.steps))
        self.steps.append(g)
        return len(self.steps) - 1

    def _elementwise(self, g: Group, e: Equation) -> bool:
        shape = e.outputs[0].shape
        return self._takes(g, e, [None if v is None else self.accesses[v].spread(shape) for v in e.inputs], None, "all")

    def _reduces(self, g: Group, e: Equation, how: Reduced) -> bool:
        x = e.inputs[0]
        assert x is not None
        if how.over == "columns" and sum(r.over == "columns" for r in g.reductions.values()) == COLUMNS:
            return False
        ends = how.over != "rows" or how.of > WIDEST
        if not self._takes(g, e, [self.accesses[x]], how.width, "end" if ends else "rows"):
            return False
        g.reductions[e] = how
        return True

    def _takes(self, g: Group, e: Equation, operands: Sequence[Access | None], width: int | None, gives: str) -> bool:
        """Whether a group can read the operands of an equation, in rows of a width if one is named."""
        pinned = width is not None
        if g.width is not None:
            if width not in (None, g.width) and not self._narrowed(g, width):
                return False
            width = g.width
        given = [x for x in operands if x is not None]
        if width is None:
            several = [set(widths(x)) for x in given if place(x, None) is None]
            if several:
                width = max(set.intersection(*several), default=None)
                if width is None:
                    return False
        places = [None if x is None else place(x, width) for x in operands]
        for x, at in zip(operands, places):
            if x is not None and (at is None or g.made.get(x.base, at.kind) != at.kind):
                return False
        g.width = width
        g.made[e.outputs[0]] = gives
        g.places.update(((e, i), at) for i, at in enumerate(places) if at is not None)
        if pinned:
            g.operands.clear()
        elif len(g.operands) == len(g.equations):
            g.operands[e] = operands
        return True

    def _narrowed(self, g: Group, width: int | None) -> bool:
        """Whether all that a group reads goes with rows of another width, too; they are of that then."""
        if width is None or g.size % width or len(g.operands) != len(g.equations):
            return False
        found: dict[tuple[Equation, int], Place] = {}
        for e, operands in g.operands.items():
            for i, x in enumerate(operands):
                at = None if x is None else place(x, width)
                if x is not None and (at is None or g.made.get(x.base, at.kind) != at.kind):
                    return False
                if at is not None:
                    found[e, i] = at
        g.width, g.places = width, found
        return True

    def _of_rows(self, g: Group, e: Equation) -> bool:
        out = e.outputs[0]
        if g.width is None or out.size != g.rows or g.rows == 1 or "rows" not in g.made.values():
            return False
        places, own = [], False
        for v in e.inputs:
            x = None if v is None else self.accesses[v].spread(out.shape)
            at = None if x is None else place(x, None)
            if x is not None:
                if at is None or (x.base in g.made and (g.made[x.base] != "rows" or at.kind != "all")):
                    return False
                own = own or x.base in g.made
            places.append(at)
        if not own:
            return False
        g.made[out] = "rows"
        g.places.update(((e, i), at) for i, at in enumerate(places) if at is not None)
        return True
