"""Which values of two records are the same: by how they were computed, else by what they are.

`Alignment` numbers the values of both records. Two operations of one kind with the same parameters on the same values
give the same value, whatever rounding has made of it; what was computed differently is recognised by its content, in
any layout. Values that say little by themselves (a round number, a mask) are the same only where they were computed
alike. Called by explain.py.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np

from .kinds import ACCUMULATE, OP, SOURCE, UPDATE, WRITE
from .leaves import LeafPairs
from .memory import changes
from .record import ABSENT, Event, Record
from .side import GRADIENTS, MAKERS, Side
from .values import Distance, Values, as_wide, default_rtol, distance

GROWN = 1e-2
"""What rounding may grow to where one program does with its values what the other does."""

_OPTION = re.compile(r"(\w+)=")

RATES = 4 * 2.0**-23
"""What becomes of a step's length by rounding where a dialect computes the rate, or its moments' correction, in float32."""

COMMUTATIVE = frozenset(("add", "multiply", "maximum", "minimum", "equal", "not_equal"))
"""Operations that do not care which operand comes first."""


def paired_passes(a: Side, b: Side) -> tuple[list[tuple[int, int]], bool]:
    """The backward passes that belong together, and whether all do that count.

    Where one program runs more, those count whose gradients are not differentiated again: the others are steps on the
    way, and dialects need more or fewer of them for the same derivative.
    """
    if len(a.passes) == len(b.passes):
        return [(i, i) for i in range(len(a.passes))], True
    last_a, last_b = ([i for i, n in enumerate(side.passes) if not side.events[n].detail[1]] for side in (a, b))
    return list(zip(last_a, last_b)), len(last_a) == len(last_b)


class Match(NamedTuple):
    """A value of B and what it is in A."""

    value: int
    distance: Distance
    alike: bool
    """Whether both were computed in the same way, not only found equal."""


class Alignment:
    """The values that A and B have in common."""

    def __init__(
        self, a: Record, b: Record, leaves: LeafPairs, rtol: float | None = None,
        progress: Callable[[int, int], None] | None = None, slack: float = 1.0,
        originals: tuple[Record, Record] | None = None, assumed: Mapping[int, int] | None = None,
    ) -> None:  # fmt: skip
        """assumed: values of B that have been put there (replay.py), and what they are in A."""
        self.a, self.b = Side(a), Side(b)
        self.widened = originals is not None
        """Whether these are records of what the programs would compute in double precision (wide.py)."""
        if originals is not None:
            self.a.original, self.b.original = map(Values, originals)
        self.leaves = leaves
        self._assumed = assumed or {}
        self.a.again, self.b.again = leaves.again_a, leaves.again_b
        self._rtol, self._slack = rtol, slack
        dtypes = {record.values[leaf.value].dtype for record in (a, b) for leaf in record.leaves}
        self.working = default_rtol(*dtypes) if dtypes else math.inf
        """What counts as rounding in the coarsest precision of a parameter: to go below that on the way is a difference."""
        self.partner: dict[int, Match] = {}
        """A value of B -> its match in A."""
        self.classes_a: dict[int, int] = {}
        """A value of A -> the first value of A that is the same."""
        self.classes_b: dict[int, int] = {}
        """A value of B -> a value of A that is the same, or a negative number of its own."""
        self.found: dict[int, list[int]] = {}
        """A class -> the values of B in it."""
        self.members: dict[int, list[int]] = {}
        """A class -> the values of A in it."""
        self.drift: dict[int, float] = {}
        """A value of B -> the largest relative difference from A among it and what it was computed from."""
        self._computed: dict[Any, int] = {}
        self._content: dict[Any, list[int]] = {}
        self._largest: dict[Any, float] = {}
        """Where a loss or gradient comes from -> its largest norm so far."""
        self._given: dict[Any, int] = {}
        """Content -> the first value of A that comes from outside and has it."""
        self._of_size: dict[int, list[int]] = {}
        self._by_norm: dict[int, tuple[list[float], list[int]]] = {}
        self.passes, self.all_passes = paired_passes(self.a, self.b)
        """The backward passes that belong together, by their places; and whether there are no others that count."""
        self._forget_what_nobody_reads()
        self.noise: set[int] = set()
        """Gradients of B that are nothing but rounding, as those of A are, and what an optimiser has made of them."""
        self.astray = 0.0
        """How far optimisers have taken parameters apart that follow such gradients."""
        self.covered_a: set[int] = set()
        self.covered_b: set[int] = set()
        """Values that the other program has in parts."""
        self._number_a()
        self._number_b(progress)

    def tolerance(self, va: int, vb: int) -> float:
        """The relative difference that counts as rounding between two values."""
        if self._rtol is not None:
            return self._rtol
        p, q = self.a.values.kept(va).dtype, self.b.values.kept(vb).dtype
        rtol = default_rtol(p, q)
        # In a widened record, single precision beside double is what could not be followed; it stands for what it is there.
        return self._slack * (rtol if p == q else min(rtol, default_rtol("float32") if self.widened else self.working))

    def _tolerance_of(self, e: Event, va: int, vb: int) -> float:
        """The tolerance for what an event of B gives: dialects hand over rates that they have computed in single precision."""
        within = self.tolerance(va, vb)
        if not self.widened or e.kind != UPDATE:
            return within
        other = self.a.maker(va)
        alike = other is not None and other.name == e.name and _OPTION.findall(other.params) == _OPTION.findall(e.params)
        return within if alike and other is not None and other.params != e.params else max(within, RATES)

    def matched_a(self, value: int) -> bool:
        """Whether B has this value of A."""
        return self.classes_a.get(value, value) in self.found or value in self.covered_a

    def matched_b(self, value: int) -> bool:
        """Whether A has this value of B."""
        return value in self.partner or value in self.covered_b

    def agree(self, va: int, vb: int, distance: Distance | None = None) -> bool:
        """Whether a value of A and one of B are the same up to rounding."""
        distance = distance or self.distance(va, vb)
        if distance.relative <= self.tolerance(va, vb):
            return True
        match = self.partner.get(vb)
        return match is not None and self.classes_a.get(va, va) == self.classes_a.get(match.value)

    def agree_in_part(self, va: int, vb: int, event_b: int, distance: Distance | None = None) -> bool:
        """The same for rows of a value of one program and a value of the other, made by an event of B, which can only be
        found to be the same by what they are."""
        e = self.b.events[event_b]
        before = max((self.drift.get(v, 0.0) for v in (*e.ins, *(e.outs if e.kind in GRADIENTS else ()))), default=0.0)
        return (distance or self.distance(va, vb)).relative <= self.tolerance(va, vb) + 4 * before

    def distance(self, va: int, vb: int) -> Distance:
        """How far a value of A and one of B are apart."""
        return distance(self.a.values, va, self.b.values, vb, self.tolerance(va, vb))

    # ------------------------------------------------------------------------------------------ numbering A

    def _number_a(self) -> None:
        side, values, classes = self.a, self.a.values, self.classes_a
        for e in side.events:
            if e.kind not in MAKERS:
                continue
            ins = tuple([classes.get(v, v) for v in e.ins])
            for position, v in enumerate(e.outs):
                key = _way(e, ins, position)
                content = values.key(v)
                known = None
                if key is not None:
                    known = self._computed.get(key)
                    if known is not None and values.key(known) != content:
                        known = None
                if e.kind == WRITE and len(ins) > 1 and values.key(e.ins[1]) == content:
                    known = ins[1]
                if known is None and e.kind == OP and values.telling(v):  # x + 0 and x are one value, x * x and x**2
                    alike = self._content.get(content, ()) if values.size(v) > 1 else ()
                    same = alike[-1:] or [x for x in e.ins if x in classes and values.key(x) == content]
                    known = classes[same[0]] if same else None
                    if known is not None and key is not None:
                        self._computed.setdefault(key, v)
                if known is None and _is_given(e):
                    known = self._given.setdefault(content, v)
                if known is None:
                    known = v
                    if key is not None:
                        self._computed.setdefault(key, v)
                classes[v] = known
                self.members.setdefault(known, []).append(v)
                if content is not None:
                    self._content.setdefault(content, []).append(v)
                self._of_size.setdefault(values.size(v), []).append(v)

    # ------------------------------------------------------------------------------------------ numbering B

    def _number_b(self, progress: Callable[[int, int], None] | None) -> None:
        side, classes = self.b, self.classes_b
        self._expected = 0
        starts = [(self.a.record.leaves[i].value, self.b.record.leaves[j].value) for i, j in self.leaves.pairs]
        start = {vb: va for va, vb in starts if va in self.classes_a}
        self._facing = {**start, **self._accumulations(), **self._roots(), **self.changed(), **self._assumed}
        for v, known in self._assumed.items():
            if v not in side.producer:  # read in the place of another value
                self.partner[v] = Match(known, Distance(0.0, 0.0), True)
                classes[v] = self.classes_a[known]
        recent, pulled = 0.0, False  # the largest drift since the last backward pass: what its gradients start from
        for number, e in enumerate(side.events):
            if progress is not None and not number % 512:
                progress(number, len(side.events))
            if e.kind not in MAKERS:
                continue
            ins = tuple([classes.get(v, v) for v in e.ins])
            before = max([self.drift.get(v, 0.0) for v in e.ins], default=0.0)
            if e.kind in GRADIENTS:
                before, pulled = 16 * recent, True
            elif e.kind == OP and pulled:
                recent, pulled = 0.0, False
            for position, v in enumerate(e.outs):
                match = self._match(e, ins, position, v, before)
                if match is None:
                    classes[v] = -2 - v
                    self.drift[v] = before
                    continue
                self.partner[v] = match
                classes[v] = known = self.classes_a[match.value]
                self.found.setdefault(known, []).append(v)
                self.drift[v] = max(match.distance.relative, before if e.kind == WRITE else 0.0)
                self._expected = match.value
                if e.kind not in GRADIENTS and self.drift[v] < GROWN:
                    recent = max(recent, self.drift[v])

    def _forget_what_nobody_reads(self) -> None:
        """Let sums in `.grad` that nothing reads stand for what was added to them last.

        What a discriminator's parameters get from the generator's loss is such: whether the program has cleared what
        was there before makes no difference.
        """
        of_a, of_b = self.a.gradients(), self.b.gradients()
        for leaf_a, leaf_b in self.leaves.pairs:
            for i, j in self.facing_gradients(of_a.get(leaf_a, []), of_b.get(leaf_b, [])):
                if i < 0 or j < 0:
                    continue
                sums = [(side, n) for side, n in ((self.a, i), (self.b, j))
                        if side.events[n].kind == ACCUMULATE and side.events[n].detail[2]]  # fmt: skip
                if all(n in side.unread for side, n in sums):
                    for side, n in sums:
                        e = side.events[n]
                        side.events[n] = e._replace(outs=e.ins)
                        side.producer.setdefault(e.ins[0], n)

    def _accumulations(self) -> dict[int, int]:
        """Gradients of B -> those of A at the same leaf, or returned, in order."""
        of_a, of_b = self.a.gradients(), self.b.gradients()
        pairs: dict[int, int] = {}
        for leaf_a, leaf_b in (*self.leaves.pairs, (-1, -1)):
            for i, j in self.facing_gradients(of_a.get(leaf_a, []), of_b.get(leaf_b, [])):
                if i >= 0 and j >= 0:
                    pairs[self.b.events[j].outs[0]] = self.a.events[i].outs[0]
        return pairs

    def facing_gradients(self, left: list[int], right: list[int]) -> list[tuple[int, int]]:
        """The gradients of one leaf that belong together: by their passes where those can be paired, else in order.

        -1 where one program has none in a pass that both run.
        """
        if len(left) == len(right) and (not self.all_passes or len(self.a.passes) == len(self.b.passes)):
            return list(zip(left, right))
        found = []
        for p, q in self.passes:
            mine = [n for n in left if self.a.place(n) == p]
            yours = [n for n in right if self.b.place(n) == q]
            found += [(mine[n] if n < len(mine) else -1, yours[n] if n < len(yours) else -1)
                      for n in range(max(len(mine), len(yours)))]  # fmt: skip
        return found

    def _roots(self) -> dict[int, int]:
        """Roots of B's backward passes -> those of A's."""
        pairs: dict[int, int] = {}
        for i, j in self.passes if self.all_passes else ():
            for va, vb in zip(self.a.roots(self.a.passes[i]), self.b.roots(self.b.passes[j])):
                pairs.update({vb: va} if va is not None and vb is not None else {})
        return pairs

    def changed(self) -> dict[int, int]:
        """What B's parameters hold after each change -> the same of A, where both change them as often."""
        of_a, of_b = changes(self.a)[0], changes(self.b)[0]
        pairs: dict[int, int] = {}
        for i, j in self.leaves.pairs:
            left, right = of_a.get(i, []), of_b.get(j, [])
            if len(left) == len(right):
                pairs.update(zip(right, left))
        return pairs

    def _match(self, e: Event, ins: tuple[int, ...], position: int, v: int, before: float) -> Match | None:
        values = self.b.values
        key = _way(e, ins, position)
        if key is not None:
            known = self._computed.get(key)
            if known is not None:
                known = self._nearest(self.members.get(self.classes_a[known], [known]))
                found = self.distance(known, v)
                if e.kind == UPDATE and not self.noise.isdisjoint(e.ins):
                    self.noise.add(v)
                    self.astray = max(self.astray, found.relative)
                    return Match(known, found, True)
                if e.kind == UPDATE and found.relative > GROWN and self._but_for_noise(e, known, v):
                    self.noise.add(v)
                    self.astray = max(self.astray, found.relative)
                    return Match(known, found, True)
                # The same operation on the same operands may make more of what rounding has made of them: the first
                # step of Adam makes the sign of a gradient that is nothing but rounding into a whole step.
                within = self._tolerance_of(e, known, v)
                if found.relative <= (max(within, GROWN) if before else within):
                    return Match(known, found, True)
        if v in self._facing:
            known = self._facing[v]
            found = self.distance(known, v)
            found = found._replace(relative=found.relative * self._shrunk(known, v, e))
            if found.relative > self.tolerance(known, v) and e.kind in GRADIENTS and self.only_rounding(
                self.a.producer[known], known, self.b.producer[v], v
            ):  # fmt: skip
                self.noise.add(v)
                return Match(known, found._replace(relative=0.0), False)
            if found.relative <= self._tolerance_of(e, known, v) + 4 * before:
                return Match(known, found, e.kind != OP)
        if e.kind == WRITE and len(e.ins) > 1 and e.ins[1] in self.partner:
            source = self.partner[e.ins[1]]
            if self.distance(source.value, v).relative <= source.distance.relative + self.tolerance(source.value, v):
                return source
        content = values.key(v)
        if _is_given(e) and content in self._given:
            return Match(self._given[content], Distance(0.0, 0.0), False)
        telling = _is_given(e) or values.telling(v)
        exact = self._content.get(content, ())
        for known in self._in_order(exact):
            if telling or self._alike(e, known):
                return Match(known, Distance(0.0, 0.0), False)
        before = before if values.size(v) > 1 else 0.0  # two of many numbers are close to each other by chance
        for known in self._near(v, before):
            if telling or self._alike(e, known):
                found = self.distance(known, v)
                if found.relative <= self.tolerance(known, v) + 4 * before:
                    return Match(known, found, False)
        return None

    def _but_for_noise(self, e: Event, known: int, v: int) -> bool:
        """Whether what a step of B makes differs from what A's makes only where the gradients are nothing but rounding.

        As for the keys' share of a bias that holds those of queries, keys and values.
        """
        maker = self.a.maker(known)
        if maker is None or maker.kind != UPDATE:
            return False
        arrays = [side.array(n) for side, ns in ((self.a.values, (maker.ins[1], known)), (self.b.values, (e.ins[1], v)))
                  for n in ns]  # fmt: skip
        if any(x is None for x in arrays):
            return False
        ga, pa, gb, pb = (as_wide(x) for x in arrays if x is not None)
        if ga.shape != gb.shape and ga.shape == gb.T.shape:
            gb, pb = gb.T, pb.T
        if not ga.shape == pa.shape == gb.shape == pb.shape:
            return False
        noise = np.abs(ga - gb) > GROWN * np.maximum(np.abs(ga), np.abs(gb))
        off = np.where(noise, 0.0, np.abs(pa - pb))
        return bool(noise.any()) and float(off.max()) <= GROWN * float(max(np.abs(pa).max(), np.abs(pb).max()))

    def _shrunk(self, known: int, v: int, e: Event) -> float:
        """How large a loss or gradient is beside the largest of its kind so far.

        As training converges they are small differences of what stays large, and rounding does not shrink with them.
        """
        if e.kind in (UPDATE, WRITE):
            return 1.0
        key = (e.kind, e.file, e.line, *e.detail[1:2]) if e.kind in GRADIENTS else (e.kind, e.file, e.line)
        norm = max(self.a.values.norm(known), self.b.values.norm(v))
        if not 0.0 < norm < math.inf:
            return 1.0
        largest = self._largest[key] = max(norm, self._largest.get(key, 0.0))
        return norm / largest

    def only_rounding(self, ea: int, va: int, eb: int, vb: int) -> bool:
        """Whether gradients at two events are next to nothing beside what they are sums of, in both programs.

        A bias in front of a batch norm has such gradients, and that of the keys in attention.
        """
        pairs = ((self.a, ea, va), (self.b, eb, vb))
        sums = []
        for side, number, _ in pairs:
            leaf = side.events[number].detail[1]
            sums.append(side.summed(leaf, side.place(number)) if leaf >= 0 else 0.0)
        if 0 in (self.a.operations, self.b.operations):  # on the installed framework: nobody knows what it sums
            sums = [max(sums)] * 2
        return all(
            side.values.norm(value) <= 4 * self.tolerance(va, vb) * summed for (side, _, value), summed in zip(pairs, sums)
        )

    def _alike(self, e: Event, known: int) -> bool:
        """Whether a value of A that says little was at least made by the same operation, or is one to begin with."""
        maker = self.a.maker(known)
        return maker is not None and maker.kind == e.kind and maker.name == e.name and maker.params == e.params

    def _nearest(self, candidates: list[int]) -> int:
        """The candidate that is closest to where A is expected to be."""
        return next(self._in_order(candidates))

    def _in_order(self, candidates: Any) -> Iterator[int]:
        """A few candidates (numbers in ascending order), those close to where A is expected to be first."""
        at = bisect.bisect_left(candidates, self._expected)
        low, high = at - 1, at
        for _ in range(8):
            if high < len(candidates) and (low < 0 or candidates[high] - self._expected <= self._expected - candidates[low]):
                yield candidates[high]
                high += 1
            elif low >= 0:
                yield candidates[low]
                low -= 1
            else:
                return

    def _near(self, v: int, before: float) -> list[int]:
        """The values of A that may be equal to one of B, by their norms."""
        values = self.b.values
        norm, size = values.norm(v), values.size(v)
        if norm != norm or size not in self._of_size:
            return []
        if size not in self._by_norm:
            of_a = self.a.values
            pairs = sorted((n, x) for x in self._of_size[size] if (n := of_a.norm(x)) == n)
            self._by_norm[size] = ([n for n, _ in pairs], [x for _, x in pairs])
        norms, numbers = self._by_norm[size]
        rtol = self._rtol if self._rtol is not None else default_rtol(values.kept(v).dtype, "float32")
        window = norm * min((rtol + 4 * before) * min(size, 1024) ** 0.5, 0.1)
        low, high = bisect.bisect_left(norms, norm - window), bisect.bisect_right(norms, norm + window)
        if high - low > 64:
            middle = bisect.bisect_left(norms, norm)
            low, high = max(low, middle - 32), min(high, middle + 32)
        return list(self._in_order(sorted(numbers[low:high])))


def _way(e: Event, ins: tuple[int, ...], position: int) -> Any:
    """How a value was computed, as a key; None where that says nothing."""
    if e.kind == OP or e.kind == UPDATE:
        return e.name, e.params, tuple(sorted(ins)) if e.name in COMMUTATIVE else ins, position
    return None


def _is_given(e: Event) -> bool:
    """Whether a value comes from outside: all there is to say of it is its content."""
    if e.kind == OP:
        return e.name == "fill"
    return e.kind == SOURCE or (e.kind == WRITE and tuple(e.ins) == (ABSENT,))
