"""All differences, one by one: after each, B goes on from A's values, and the records are compared again.

What B would have computed then is found by computing its record anew (replay.py), with what repairs.py says in place of its own.
Once what is left may be rounding, the records of double precision (wide.py) take over. Each difference is told by what it makes
of the result that differs most: by itself, with all others mended, and how many times less that differs without it. Called by
compare.py.
"""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Collection

from .align import Alignment, align
from .answer import Difference
from .belongs import BELONGINGS, THEMSELVES, Apart, Found, lines_of
from .chance import Chance
from .events import Pass
from .forward import Finding
from .judge import Judgement, key
from .leaves import LeafPairs
from .policy import POLICY, Policy
from .record import Record
from .repairs import Repairs
from .replay import Changes, Replay
from .results import BUFFER, LOSS, Result
from .values import FAR, Values, distance

ROUNDS, EVENTS = 32, 200_000
"""How often the records are compared again at most, and how many events are looked at in all: a long run is not looked at as
often as a short one, but twice in any case."""

ROOM = 2**28
"""The bytes of values, in double precision, that are computed anew at most: of a longer run what comes before a later backward
pass."""


def _passes_within(record: Record, after: int) -> int | None:
    """How many backward passes of a program there is room for, two at least and those up to an event; None for all."""
    size = passes = 0
    for at, e in enumerate(record.events):
        if isinstance(e, Pass):
            passes += 1
            if size > ROOM and at > after and passes > 2:
                return passes - 1
        size += 8 * sum(math.prod(record.values[v].shape) for v in e.outs)
    return None


def _begun(record: Record, passes: int | None) -> Record:
    """A record up to the backward pass that comes after so many; as it is where none does, or for None."""
    at = [n for n, e in enumerate(record.events) if isinstance(e, Pass)]
    if passes is None or len(at) <= passes:
        return record
    found = copy.copy(record)
    found.events = record.events[: at[passes]]
    return found


class Onward:
    """The differences between two records."""

    def __init__(
        self, a: Record, b: Record, judged: Judgement, shown: Callable[[Alignment, Finding, str], Difference],
        widened: Callable[[], tuple[Record, Record, LeafPairs] | None] | None, chance: Chance | None = None,
    ) -> None:  # fmt: skip
        """judged: the records as they are, of double precision or not.

        widened: gives the records of double precision, None where they cannot be had; it is None itself where they are not to be.
        """
        self._a, self._b, self._judged, self._shown = a, b, judged, shown
        self._widen = None if judged.alignment.widened else widened
        self._chance = chance
        self._leaves, self._policy = judged.alignment.leaves, judged.alignment.policy
        self._originals = (a, b) if judged.alignment.widened else None
        if judged.alignment.widened:
            self._a, self._b = judged.alignment.a.record, judged.alignment.b.record
        self._changes = Changes()
        self._tried: set[object] = set()
        self.found: list[Apart] = []
        self.notes: list[str] = []
        self._passes = _passes_within(self._b, judged.explained()[0].events[1])
        """How many backward passes of the programs are looked at; None for all of them."""
        self._lost: set[str] = set()
        self._loose: Apart | None = None
        """The last difference, where what comes right behind it is known to differ, too."""
        self._first = judged
        if self._passes is not None:
            self._shorten()

    def _within(self, record: Record) -> Record:
        """What of a record there is room for."""
        return _begun(record, self._passes)

    def _shorten(self) -> None:
        """Go on with the beginning of both programs only."""
        self._a, self._b = self._within(self._a), self._within(self._b)
        if self._originals is not None:
            self._originals = self._within(self._originals[0]), self._within(self._originals[1])
        self._first = self._judged = Judgement(self._aligned(self._b))
        self.notes.append(f"further differences were looked for up to backward pass {self._passes}: more takes too much memory")

    def search(self) -> None:
        """Find them."""
        for done in range(max(2, min(ROUNDS, EVENTS // max(1, len(self._a.events) + len(self._b.events))))):
            bad = self._judged.bad
            if self._widen is not None and done and self._is_close(bad):
                self._to_double()
                continue
            if bad is None:
                break
            if not self._mended(bad):
                break
            for more in self._judged.buffers if bad.kind == BUFFER else ():  # nothing follows from them
                if more is not bad:
                    self._mended(more)
            self._again()
        else:
            if self._judged.bad is not None:
                self.notes.append("there may be more differences: the programs are too long to be compared again more often")
        if self._lost and len(self.found) > 1:
            self.notes.append(f"after the first difference, not computed anew in B: {', '.join(sorted(self._lost))}")
        self._without_consequences()
        self._weigh()

    def _without_consequences(self) -> None:
        """Leave out differences that are none once all others are mended: what only comes of them."""
        for one in self.found[:0:-1]:
            others = set[object]().union(*(other.settled for other in self.found if other is not one))
            if not one.changes.is_empty and self._judgement(self._others(one), others).bad is None:
                self.found.remove(one)

    def _others(self, one: Apart) -> Changes:
        """What mends all differences but one."""
        found = Changes()
        for other in self.found:
            if other is not one:
                found.update(other.changes)
        return found

    def _is_close(self, bad: Result | None) -> bool:
        if bad is None:
            return self._judged.largest > 0
        return bad.distance is not None and bad.distance.relative < self._policy.close

    def _to_double(self) -> None:
        assert self._widen is not None
        records, self._widen = self._widen(), None
        if records is not None:
            self._originals = (self._a, self._b)
            self._a, self._b, self._leaves = self._within(records[0]), self._within(records[1]), records[2]
        self._again()

    def _mended(self, bad: Result) -> bool:
        """Tell why a result differs, and let it not differ for that reason any more; False where nothing can follow."""
        finding, explanation = self._judged.explained(bad)
        alignment = self._judged.alignment
        found = Found(alignment, finding)
        apart, elsewhere = self._known(found)
        if apart is None:
            shown = self._shown(alignment, finding, bad.title)
            apart = Apart(shown, Changes(), found.identity, found.names, found.leaves)
            self.found.append(apart)
        else:
            apart.times += 1
            if elsewhere and found.pair not in apart.pairs:
                shown = self._shown(alignment, finding, bad.title)
                apart.difference.also.append([None if step is None else step.place for step in (shown.a, shown.b)])
        apart.pairs.add(found.pair)
        apart.options |= found.options
        if "backward pass" in finding.reason and len(alignment.a.passes) != len(alignment.b.passes):
            self.notes.append("the programs run different numbers of backward passes: what comes after that is not looked at")
            return False
        repairs = Repairs(alignment, explanation, self._b)
        met = (key(bad), finding.events)
        changes = Changes() if met in self._tried else repairs.after(finding, bad)
        self._tried.add(met)
        if changes.is_empty:
            changes = repairs.result(bad)
            apart.settled.add(key(bad))
            if min(bad.leaf) >= 0 and bad.known is None:
                apart.settled.update(key(r) for r in self._judged.results if r.leaf == bad.leaf and r.kind == bad.kind)
        self._loose = apart if repairs.loose else None
        apart.lines.update(found.pair, lines_of(repairs.touched))
        apart.changes.update(changes)
        self._changes.update(changes)
        return True

    def _known(self, found: Found) -> tuple[Apart | None, bool]:
        """The difference that is known to which a finding belongs, and whether it is of that itself, not what comes of it."""
        for rule in BELONGINGS:
            for one in self.found:
                if rule.apply(one, found):
                    return one, rule.apply in THEMSELVES
        if self._loose is not None and len(found.pair) == 2 and self._loose.lines.issuperset(found.pair):
            return self._loose, False  # of one line, one after the other
        return None, False

    def _again(self) -> None:
        before, self._judged = self._judged, self._first
        if before is not self._first:  # sides know each other, and nobody collects what is in a circle here
            for side in before.alignment.sides:
                del side.other
        self._judged = self._judgement(self._changes, set[object]().union(*(one.settled for one in self.found)))

    def _judgement(self, changes: Changes, settled: Collection[object]) -> Judgement:
        """The results with B as it is after some changes. settled: those that are not looked at."""
        replay = self._replayed(changes)
        self._lost |= replay.lost

        alignment = self._aligned(replay.record, replay.assumed)
        if self._chance is not None and self._originals is None:
            found = self._chance.among(
                alignment, lambda a, b: Replay(self._within(b), changes, Values(a), widened=True).record
            )  # fmt: skip
            alignment = self._aligned(replay.record, replay.assumed, found) if found else alignment
        return Judgement(alignment, settled=settled)

    def _aligned(self, b: Record, assumed: dict[int, int] | None = None, chance: Collection[tuple[int, int]] = ()) -> Alignment:
        return align(
            self._a, b, self._leaves, self._policy if self._originals is None else Policy(),
            originals=self._originals, assumed=assumed, chance=chance,
        )  # fmt: skip

    def _replayed(self, changes: Changes, until: int | None = None) -> Replay:
        return Replay(self._b, changes, Values(self._a), widened=self._originals is not None, until=until)

    # ------------------------------------------------------------------------------------------ by how much

    def _weigh(self) -> None:
        """Say of each difference what it makes of the result that differs most."""
        known = [r for r in self._first.results if r.distance is not None and 0.0 < r.distance.relative < math.inf
                 and all(v in side.producer for side, v in zip(self._first.alignment.sides, r.values))]  # fmt: skip
        # A loss, if one differs: gradients are put in the place of others where differences are mended.
        most = max(known, key=lambda r: (r.kind == LOSS, r.distance.relative if r.distance is not None else 0.0), default=None)
        if most is None or len(self.found) < 2:
            return
        whole = self._off(most, Changes())
        for one in self.found:
            one.difference.times, one.difference.contributes_to = one.times, most.title
            one.difference.alone = self._off(most, self._others(one))
            without = self._off(most, one.changes)
            one.difference.factor = whole / without if without > 0 else None
        self.found.sort(key=lambda one: -(one.difference.alone or 0.0))

    def _off(self, result: Result, changes: Changes) -> float:
        """How far a result is apart after some changes."""
        assert result.known is not None
        va, vb = result.known
        until = self._first.alignment.b.producer[vb] + 1
        found = distance(Values(self._a), va, Values(self._replayed(changes, until).record), vb, POLICY.exact)
        return 0.0 if found is FAR else found.relative

