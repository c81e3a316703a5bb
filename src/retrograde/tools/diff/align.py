"""Which values of two records are the same: by how they were computed, else by what they are.

`align` numbers the values of both records. Two operations of one kind with the same parameters on the same values give the same
value, whatever rounding has made of it; what was computed differently is recognised by its content, in any layout. Values that
say little by themselves (a round number, a mask) are the same only where they were computed alike. `MATCHERS` are the rules, in
the order in which they are asked. Called by compare.py and onward.py.
"""

from __future__ import annotations

import bisect
import math
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any, NamedTuple, TypeVar

import numpy as np

from .events import ABSENT, MAKERS, Accumulate, Event, Gradient, Operation, Source, Update, WithParameters, Write
from .leaves import LeafPairs
from .policy import Policy, rounding
from .record import Record
from .results import Result, in_parts
from .rules import Rules
from .side import Side
from .values import Distance, as_wide, distance

T = TypeVar("T")

_OPTION = re.compile(r"(\w+)=")

COMMUTATIVE = frozenset(("add", "multiply", "maximum", "minimum", "equal", "not_equal"))
"""Operations that do not care which operand comes first."""

NONE = Distance(0.0, 0.0)
"""No difference at all."""


class Match(NamedTuple):
    """A value of B and what it is in A."""

    value: int
    distance: Distance
    alike: bool
    """Whether both were computed in the same way, not only found equal."""
    rule: str = ""
    """The matcher that has found it."""


@dataclass(frozen=True, eq=False)
class Both:
    """Two records that are held against each other, before anything is known of their values."""

    a: Side
    b: Side
    leaves: LeafPairs
    policy: Policy
    widened: bool
    """Whether these are records of what the programs would compute in double precision (wide.py)."""
    working: float
    """What counts as rounding in the coarsest precision of a parameter: to go below that on the way is a difference."""
    passes: Sequence[tuple[int, int]]
    """The backward passes that belong together, by their places."""
    all_passes: bool
    """Whether there are no others that count."""

    @property
    def sides(self) -> tuple[Side, Side]:
        """A, then B."""
        return self.a, self.b

    def each(self, ask: Callable[..., T], *pairs: tuple[Any, Any]) -> tuple[T, T]:
        """What A and B answer, each asked with its own of some pairs."""
        return ask(self.a, *(pair[0] for pair in pairs)), ask(self.b, *(pair[1] for pair in pairs))

    def tolerance(self, va: int, vb: int) -> float:
        """The relative difference that counts as rounding between two values."""
        # In a widened record, single precision beside double is what could not be followed; it stands for what it is there.
        working = rounding("float32") if self.widened else self.working
        return self.policy.tolerance(self.a.values.kept(va).dtype, self.b.values.kept(vb).dtype, working)

    def distance(self, va: int, vb: int) -> Distance:
        """How far a value of A and one of B are apart."""
        return distance(self.a.values, va, self.b.values, vb, self.tolerance(va, vb))

    def facing_gradients(self, left: Sequence[int], right: Sequence[int], leaf: tuple[int, int]) -> list[tuple[int, int]]:
        """The gradients of one leaf that belong together: by their passes where those can be paired, by the steps of an optimiser
        that follow, else in order.

        -1 where one program has none in a pass that both run.
        """
        if len(left) == len(right) and (not self.all_passes or len(self.a.passes) == len(self.b.passes)):
            return list(zip(left, right))
        found = self.before_steps(left, right, leaf)
        if found:
            return found
        for p, q in self.passes:
            mine = [n for n in left if self.a.place(n) == p]
            yours = [n for n in right if self.b.place(n) == q]
            found += [(mine[n] if n < len(mine) else -1, yours[n] if n < len(yours) else -1)
                      for n in range(max(len(mine), len(yours)))]  # fmt: skip
        return found

    def before_steps(self, left: Sequence[int], right: Sequence[int], leaf: tuple[int, int]) -> list[tuple[int, int]]:
        """The last gradients before each change of a leaf, where the programs change it as often in other numbers of passes:
        what a pass over the whole batch gives is what several add up."""
        if self.all_passes or min(leaf) < 0:
            return []
        last = []
        for side, n, of in zip(self.sides, leaf, (left, right)):
            steps = [side.producer[v] for v in side.changes[0].get(n, [])]
            at = [bisect.bisect_left(of, step) - 1 for step in steps]
            last.append([of[i] for i in at if i >= 0])
        return list(zip(*last)) if len(last[0]) == len(last[1]) and all(sorted(set(of)) == of for of in last) else []

    def facing_events(self, *more: tuple[int, int]) -> Iterator[tuple[int, int]]:
        """The events of A and B at which gradients are known that belong together; more: pairs besides the leaves'."""
        of_a, of_b = self.a.gradients(), self.b.gradients()
        for i, j in (*self.leaves.pairs, *more):
            yield from (pair for pair in self.facing_gradients(of_a.get(i, []), of_b.get(j, []), (i, j)) if min(pair) >= 0)

    def changed(self) -> dict[int, int]:
        """What B's parameters hold after each change -> the same of A, where both change them as often."""
        of_a, of_b = self.a.changes[0], self.b.changes[0]
        pairs: dict[int, int] = {}
        for i, j in self.leaves.pairs:
            left, right = of_a.get(i, []), of_b.get(j, [])
            if len(left) == len(right):
                pairs.update(zip(right, left))
        return pairs

    def only_rounding(self, events: tuple[int, int], va: int, vb: int) -> bool:
        """Whether gradients at two events are next to nothing beside what they are sums of, in both programs.

        A bias in front of a batch norm has such gradients, and that of the keys in attention.
        """
        sums = []
        for side, number in zip(self.sides, events):
            e = side.events[number]  # an operation, where the gradient is one that was computed to be differentiated again
            sums.append(side.summed(e.leaf, side.place(number)) if isinstance(e, Gradient) and e.leaf >= 0 else 0.0)
        if 0 in (self.a.operations, self.b.operations):  # on the installed framework: nobody knows what it sums
            sums = [max(sums)] * 2
        within = self.policy.noise * self.tolerance(va, vb)
        return all(side.values.norm(v) <= within * summed for side, v, summed in zip(self.sides, (va, vb), sums))


@dataclass(frozen=True, eq=False)
class Alignment(Both):
    """The values that A and B have in common. Made by `align`, and never changed."""

    partner: Mapping[int, Match]
    """A value of B -> its match in A."""
    drift: Mapping[int, float]
    """A value of B -> the largest relative difference from A among it and what it was computed from."""
    noise: frozenset[int]
    """Gradients of B that are nothing but rounding, as those of A are, and what an optimiser has made of them."""
    astray: float
    """How far optimisers have taken parameters apart that follow such gradients."""
    chance: Collection[tuple[int, int]]
    """Numbers of A and B that are close to each other by chance."""
    assumed: Collection[int]
    """Values of B that have been put there."""
    strayed: float
    """The same, of their elements, not relative to the largest."""
    packed: Sequence[Result] = ()
    """What parameters that hold several of the other program have of these, part by part."""

    def agree(self, va: int, vb: int, distance: Distance | None = None) -> bool:
        """Whether a value of A and one of B are the same up to rounding."""
        distance = distance or self.distance(va, vb)
        if (va, vb) in self.chance:
            return False
        if distance.relative <= self.tolerance(va, vb):
            return True
        match = self.partner.get(vb)
        return match is not None and self.a.own(va) == self.a.classes.get(match.value)

    def agree_in_part(self, va: int, vb: int, event_b: int, distance: Distance | None = None) -> bool:
        """The same for rows of a value of one program and a value of the other, made by an event of B, which can only be
        found to be the same by what they are."""
        e = self.b.events[event_b]
        before = max((self.drift.get(v, 0.0) for v in (*e.ins, *(e.outs if isinstance(e, Gradient) else ()))), default=0.0)
        return (distance or self.distance(va, vb)).relative <= self.tolerance(va, vb) + self.policy.follows * before

    @property
    def doubtful(self) -> list[tuple[int, int]]:
        """Numbers of A and B that are the same by what they are, and not by how they were computed: it may be by chance."""
        return [
            (match.value, v) for v, match in self.partner.items() if match.rule in BY_CONTENT and v not in self.noise
            and self.b.values.size(v) == 1 and isinstance(self.b.maker(v), (Operation, Gradient))
        ]  # fmt: skip

    def same(self, va: int, vb: int) -> bool:
        """Whether a value of A and one of B are known to be the same."""
        return self.a.own(va) == self.b.own(vb)

    def counterpart(self, side: Side, value: int) -> int:
        """What a value of a side is in the other program; ABSENT where that has nothing of the kind."""
        if side.is_a:
            return next(iter(side.there(value)), ABSENT)
        match = self.partner.get(value)
        return ABSENT if match is None else match.value


def align(
    a: Record, b: Record, leaves: LeafPairs, policy: Policy | None = None, *, progress: Callable[[int, int], None] | None = None,
    originals: tuple[Record, Record] | None = None, assumed: Mapping[int, int] | None = None,
    chance: Collection[tuple[int, int]] = (),
) -> Alignment:  # fmt: skip
    """Find the values that two records have in common.

    originals: the programs' own records, where these are of double precision (wide.py).
    assumed: values of B that have been put there (replay.py), and what they are in A.
    chance: numbers of A and B that are known to be close to each other by chance only (chance.py).
    """
    side_a, side_b = (
        Side(record, is_a, again, original)
        for record, is_a, again, original in zip((a, b), (True, False), leaves.again, originals or (None, None))
    )
    side_a.other, side_b.other = side_b, side_a
    dtypes = {record.values[leaf.value].dtype for record in (a, b) for leaf in record.leaves}
    both = Both(side_a, side_b, leaves, policy or Policy(), originals is not None, rounding(*dtypes) if dtypes else math.inf,
                *paired_passes(side_a, side_b))  # fmt: skip
    _forget_what_nobody_reads(both)
    found = Matching(both, assumed or {}, chance)
    found.number_a()
    found.number_b(progress)
    for side, classes, members in ((side_a, found.classes_a, found.members), (side_b, found.classes_b, found.found)):
        side.classes, side.members = MappingProxyType(classes), MappingProxyType(members)
    partner, drift = MappingProxyType(found.partner), MappingProxyType(found.drift)
    alignment = Alignment(**vars(both), partner=partner, drift=drift, noise=frozenset(found.noise), astray=found.astray,
                          strayed=found.strayed, chance=chance, assumed=frozenset(assumed or ()))  # fmt: skip
    packed, covered = in_parts(alignment)
    for side, values in zip(both.sides, covered):
        side.covered = frozenset(values)
    return replace(alignment, packed=packed)


def paired_passes(a: Side, b: Side) -> tuple[list[tuple[int, int]], bool]:
    """The backward passes that belong together, and whether all do that count.

    Where one program runs more, those count whose gradients are not differentiated again: the others are steps on the
    way, and dialects need more or fewer of them for the same derivative.
    """
    if len(a.passes) == len(b.passes):
        return [(i, i) for i in range(len(a.passes))], True
    last_a, last_b = ([i for i, n in enumerate(side.passes) if not side.begins(n).again] for side in (a, b))
    return list(zip(last_a, last_b)), len(last_a) == len(last_b)


def _forget_what_nobody_reads(both: Both) -> None:
    """Let sums in `.grad` that nothing reads stand for what was added to them last.

    What a discriminator's parameters get from the generator's loss is such: whether the program has cleared what
    was there before makes no difference.
    """
    for pair in list(both.facing_events()):
        sums = [(side, n, e) for side, n in zip(both.sides, pair) if isinstance(e := side.events[n], Accumulate) and e.had]
        if all(n in side.unread for side, n, _ in sums):
            for side, n, e in sums:
                side.events[n] = replace(e, outs=e.ins)
                side.producer.setdefault(e.ins[0], n)


# ------------------------------------------------------------------------------------------ numbering


class Made(NamedTuple):
    """A value of B that is looked for in A."""

    e: Event
    """What makes it."""
    position: int
    value: int
    ins: tuple[int, ...]
    """What that reads, by classes."""
    before: float
    """The drift of that."""


class Matching:
    """The state of the search: what has been numbered so far."""

    def __init__(self, both: Both, assumed: Mapping[int, int], chance: Collection[tuple[int, int]]) -> None:
        self.both, self.a, self.b, self.policy = both, both.a.values, both.b.values, both.policy
        self.classes_a: dict[int, int] = {}
        self.classes_b: dict[int, int] = {}
        self.members: dict[int, list[int]] = {}
        """A class -> the values of A in it."""
        self.found: dict[int, list[int]] = {}
        """The same of B."""
        self.partner: dict[int, Match] = {}
        self.drift: dict[int, float] = {}
        self.noise: set[int] = set()
        self.astray = self.strayed = 0.0
        self.computed: dict[Any, int] = {}
        """How a value was computed -> the first value of A that was."""
        self.content: dict[Any, list[int]] = {}
        self.given: dict[Any, int] = {}
        """Content -> the first value of A that comes from outside and has it."""
        self._largest: dict[Any, float] = {}
        """Where a loss or gradient comes from -> its largest norm so far."""
        self._of_size: dict[int, list[int]] = {}
        self._by_norm: dict[int, tuple[list[float], list[int]]] = {}
        self._assumed, self._chance = assumed, chance
        self._expected = 0
        """Where A is expected to be by now."""
        self._measured = ((-1, -1), NONE)

    def number_a(self) -> None:
        """Give each value of A the first that is the same."""
        for e in self.both.a.events:
            if not isinstance(e, MAKERS):
                continue
            ins = self._classed(self.classes_a, e)
            for position, v in enumerate(e.outs):
                content = self.a.key(v)
                self.classes_a[v] = known = self._first(e, ins, v, _way(e, ins, position), content)
                self.members.setdefault(known, []).append(v)
                self.content.setdefault(content, []).append(v)
                self._of_size.setdefault(self.a.size(v), []).append(v)

    def _classed(self, classes: dict[int, int], e: Event) -> tuple[int, ...]:
        return tuple([classes.get(v, v) for v in e.ins])

    def _first(self, e: Event, ins: tuple[int, ...], v: int, way: Any, content: Any) -> int:
        """The first value of A that is this one."""
        known = self.computed.get(way) if way is not None else None
        if known is not None and self.a.key(known) == content:
            return known
        if isinstance(e, Write) and len(ins) > 1 and self.a.key(e.ins[1]) == content:
            return ins[1]
        if isinstance(e, Operation) and self.a.telling(v):  # x + 0 and x are one value, x * x and x**2
            alike = self.content.get(content, ()) if self.a.size(v) > 1 else ()
            same = alike[-1:] or [x for x in e.ins if x in self.classes_a and self.a.key(x) == content]
            if same:
                self.computed.setdefault(way, v)
                return self.classes_a[same[0]]
        if _is_given(e):
            return self.given.setdefault(content, v)
        if way is not None:
            self.computed.setdefault(way, v)
        return v

    def number_b(self, progress: Callable[[int, int], None] | None) -> None:
        """Find each value of B in A."""
        both, classes = self.both, self.classes_b
        starts = [(both.a.record.leaves[i].value, both.b.record.leaves[j].value) for i, j in both.leaves.pairs]
        start = {vb: va for va, vb in starts if va in self.classes_a}
        gradients = {both.b.made(j): both.a.made(i) for i, j in both.facing_events((-1, -1))}
        self.facing = {**start, **gradients, **self._roots(), **both.changed(), **self._assumed}
        """Values of B -> those of A with the same part in the program."""
        for v, known in self._assumed.items():
            if v not in both.b.producer:  # read in the place of another value
                self.partner[v] = Match(known, NONE, True, "assumed")
                classes[v] = self.classes_a[known]
        recent, pulled = 0.0, False  # the largest drift since the last backward pass: what its gradients start from
        for number, e in enumerate(both.b.events):
            if progress is not None and not number % 512:
                progress(number, len(both.b.events))
            if not isinstance(e, MAKERS):
                continue
            ins = self._classed(classes, e)
            before = max([self.drift.get(v, 0.0) for v in e.ins], default=0.0)
            if isinstance(e, Gradient):
                before, pulled = self.policy.pulled * recent, True
            elif isinstance(e, Operation) and pulled:
                recent, pulled = 0.0, False
            for position, v in enumerate(e.outs):
                found = MATCHERS.first(self, Made(e, position, v, ins, before))
                if found is None or (found[1].value, v) in self._chance:
                    classes[v] = -2 - v
                    self.drift[v] = before
                    continue
                self.partner[v] = match = found[1]._replace(rule=found[0])
                classes[v] = known = self.classes_a[match.value]
                self.found.setdefault(known, []).append(v)
                self.drift[v] = max(match.distance.relative, before if isinstance(e, Write) else 0.0)
                self._expected = match.value
                if not isinstance(e, Gradient) and self.drift[v] < self.policy.grown:
                    recent = max(recent, self.drift[v])

    def _roots(self) -> dict[int, int]:
        """Roots of B's backward passes -> those of A's."""
        pairs: dict[int, int] = {}
        for i, j in self.both.passes if self.both.all_passes else ():
            for va, vb in zip(self.both.a.roots(i), self.both.b.roots(j)):
                pairs.update({vb: va} if va is not None and vb is not None else {})
        return pairs

    # ------------------------------------------------------------------------------------------ what matchers ask

    def same_way(self, made: Made) -> int | None:
        """The value of A that was computed in the same way, the one that is closest to where A is expected to be."""
        way = _way(made.e, made.ins, made.position)
        known = self.computed.get(way) if way is not None else None
        return None if known is None else next(self._in_order(self.members.get(self.classes_a[known], [known])))

    def distance(self, known: int, v: int) -> Distance:
        """How far two values are apart, which several rules ask one after the other."""
        if self._measured[0] != (known, v):
            self._measured = (known, v), self.both.distance(known, v)
        return self._measured[1]

    def tolerance(self, e: Event, va: int, vb: int) -> float:
        """The tolerance for what an event of B gives: dialects hand over rates that they have computed in single precision."""
        within = self.both.tolerance(va, vb)
        if not self.both.widened or not isinstance(e, Update):
            return within
        other = self.both.a.maker(va)
        alike = other is not None and other.name == e.name and _OPTION.findall(other.text) == _OPTION.findall(e.text)
        return within if alike and other is not None and other.text != e.text else max(within, self.policy.rates)

    def but_for_noise(self, e: Event, known: int, v: int) -> bool:
        """Whether what a step of B makes differs from what A's makes only where the gradients are nothing but rounding.

        As for the keys' share of a bias that holds those of queries, keys and values.
        """
        maker, grown = self.both.a.maker(known), self.policy.grown
        if not isinstance(maker, Update):
            return False
        arrays = [self.a.array(maker.ins[1]), self.a.array(known), self.b.array(e.ins[1]), self.b.array(v)]
        if any(x is None for x in arrays):
            return False
        ga, pa, gb, pb = (as_wide(x) for x in arrays if x is not None)
        if ga.shape != gb.shape and ga.shape == gb.T.shape:
            gb, pb = gb.T, pb.T
        if not ga.shape == pa.shape == gb.shape == pb.shape:
            return False
        noise = np.abs(ga - gb) > grown * np.maximum(np.abs(ga), np.abs(gb))
        off = np.where(noise, 0.0, np.abs(pa - pb))
        return bool(noise.any()) and float(off.max()) <= grown * float(max(np.abs(pa).max(), np.abs(pb).max()))

    def shrunk(self, known: int, v: int, e: Event) -> float:
        """How large a loss or gradient is beside the largest of its kind so far.

        As training converges they are small differences of what stays large, and rounding does not shrink with them.
        """
        if isinstance(e, (Update, Write)):
            return 1.0
        key = (type(e), e.file, e.line, e.leaf if isinstance(e, Gradient) else None)
        norm = max(self.a.norm(known), self.b.norm(v))
        if not 0.0 < norm < math.inf:
            return 1.0
        largest = self._largest[key] = max(norm, self._largest.get(key, 0.0))
        return norm / largest

    def recognised(self, made: Made, candidates: Iterator[int]) -> Iterator[int]:
        """Those of some values of A with the content of one that say by themselves, or by who made them, that they are it."""
        telling = _is_given(made.e) or self.b.telling(made.value)
        for known in candidates:
            maker = self.both.a.maker(known)
            if self.b.size(made.value) == 1 and self._is_next(made, known):
                continue
            if telling or (maker is not None and maker.deed == made.e.deed):
                yield known

    def _is_next(self, made: Made, known: int) -> bool:
        """Whether A does with a number what B does to make the same number: that is one operation further in B, by chance, as 4
        times a mean of four is their sum."""
        if not isinstance(made.e, Operation) or len(made.ins) < 2:
            return False
        own = self.classes_a[known]
        for n, at in self.both.a.consumers.get(known, ()):
            f = self.both.a.events[n]
            if f.deed == made.e.deed and len(f.ins) == len(made.ins) and made.ins[at] != own:
                rest = [(v, w) for i, (v, w) in enumerate(zip(f.ins, made.ins)) if i != at]
                if all(w == self.classes_a.get(v, v) for v, w in rest):
                    return True
        return False

    def equal(self, v: int) -> Iterator[int]:
        """The values of A that hold the same, to the last bit."""
        return self._in_order(self.content.get(self.b.key(v), ()))

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

    def near(self, v: int, before: float) -> Iterator[int]:
        """The values of A that may be equal to one of B, by their norms."""
        norm, size = self.b.norm(v), self.b.size(v)
        if norm != norm or size not in self._of_size:
            return iter(())
        if size not in self._by_norm:
            pairs = sorted((n, x) for x in self._of_size[size] if (n := self.a.norm(x)) == n)
            self._by_norm[size] = ([n for n, _ in pairs], [x for _, x in pairs])
        norms, numbers = self._by_norm[size]
        rtol = self.policy.rtol if self.policy.rtol is not None else rounding(self.b.kept(v).dtype, "float32")
        window = norm * min((rtol + self.policy.follows * before) * min(size, 1024) ** 0.5, self.policy.window)
        low, high = bisect.bisect_left(norms, norm - window), bisect.bisect_right(norms, norm + window)
        if high - low > 64:
            middle = bisect.bisect_left(norms, norm)
            low, high = max(low, middle - 32), min(high, middle + 32)
        return self._in_order(sorted(numbers[low:high]))


def _way(e: Event, ins: tuple[int, ...], position: int) -> Any:
    """How a value was computed, as a key; None where that says nothing."""
    if isinstance(e, WithParameters):
        return e.name, e.text, tuple(sorted(ins)) if e.name in COMMUTATIVE else ins, position
    return None


def _is_given(e: Event) -> bool:
    """Whether a value comes from outside: all there is to say of it is its content."""
    if isinstance(e, Operation):
        return e.name == "fill"
    return isinstance(e, Source) or (isinstance(e, Write) and tuple(e.ins) == (ABSENT,))


# ------------------------------------------------------------------------------------------ the matchers

MATCHERS: Rules[Callable[[Matching, Made], Match | None]] = Rules()
"""How a value of B is found in A, in the order in which it is tried."""


@MATCHERS
def step_along_noise(m: Matching, made: Made) -> Match | None:
    """An optimiser's step of the same kind that follows a gradient which is nothing but rounding, in all or in some elements."""
    known = m.same_way(made) if isinstance(made.e, Update) else None
    if known is None:
        return None
    found = m.distance(known, made.value)
    if not m.noise.isdisjoint(made.e.ins) or (
        found.relative > m.policy.grown and m.but_for_noise(made.e, known, made.value)
    ):  # fmt: skip
        m.noise.add(made.value)
        m.astray, m.strayed = max(m.astray, found.relative), max(m.strayed, found.absolute)
        return Match(known, found, True)
    return None


@MATCHERS
def same_operation(m: Matching, made: Made) -> Match | None:
    """The same operation, or step, with the same parameters on the same operands; rounding in these may have grown."""
    known = m.same_way(made)
    if known is None:
        return None
    found, within = m.distance(known, made.value), m.tolerance(made.e, known, made.value)
    return Match(known, found, True) if found.relative <= (max(within, m.policy.grown) if made.before else within) else None


@MATCHERS
def same_part(m: Matching, made: Made) -> Match | None:
    """The same part in the program: a loss, a gradient of one parameter, what a parameter holds after a change; not where a
    gradient is nothing but rounding."""
    known, (e, _, v, _, before) = m.facing.get(made.value), made
    if known is None:
        return None
    found = m.distance(known, v)
    found = found._replace(relative=found.relative * m.shrunk(known, v, e))
    if found.relative > m.both.tolerance(known, v) and isinstance(e, Gradient) and m.both.only_rounding(
        (m.both.a.producer[known], m.both.b.producer[v]), known, v
    ):  # fmt: skip
        m.noise.add(v)
        return Match(known, found._replace(relative=0.0), False)
    if found.relative <= m.tolerance(e, known, v) + m.policy.follows * before:
        return Match(known, found, not isinstance(e, Operation))
    return None


@MATCHERS
def written(m: Matching, made: Made) -> Match | None:
    """Memory that was filled with a value which A has."""
    source = m.partner.get(made.e.ins[1]) if isinstance(made.e, Write) and len(made.e.ins) > 1 else None
    if source is None:
        return None
    within = source.distance.relative + m.both.tolerance(source.value, made.value)
    return source if m.both.distance(source.value, made.value).relative <= within else None


@MATCHERS
def same_input(m: Matching, made: Made) -> Match | None:
    """A value from outside that A has been given, too."""
    known = m.given.get(m.b.key(made.value)) if _is_given(made.e) else None
    return None if known is None else Match(known, NONE, False)


@MATCHERS
def equal_content(m: Matching, made: Made) -> Match | None:
    """The same to the last bit, of content that says which value it is, or made by the same operation."""
    known = next(m.recognised(made, m.equal(made.value)), None)
    return None if known is None else Match(known, NONE, False)


@MATCHERS
def close_content(m: Matching, made: Made) -> Match | None:
    """The same up to rounding, in any layout, of content that says which value it is, or made by the same operation."""
    before = made.before if m.b.size(made.value) > 1 else 0.0  # two of many numbers are close to each other by chance
    for known in m.recognised(made, m.near(made.value, before)):
        found = m.both.distance(known, made.value)
        if found.relative <= m.both.tolerance(known, made.value) + m.policy.follows * before:
            return Match(known, found, False)
    return None

BY_CONTENT = frozenset(rule.name for rule in MATCHERS if rule.apply in (same_part, equal_content, close_content))
"""The rules that ask what a value is, and not how it was computed."""
