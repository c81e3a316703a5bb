"""Which results of two programs are the same, and the first that is not. Called by compare.py and onward.py."""

from __future__ import annotations

from collections.abc import Collection

from .align import GROWN, Alignment
from .explain import Explanation
from .forward import Finding
from .kinds import OP
from .record import ABSENT
from .results import BUFFER, GRADIENT, PARAMETER, RETURNED, Result, paired_results
from .values import RESHAPED, Distance


class Judgement:
    """The results of two programs in an alignment, each with its distance."""

    def __init__(self, alignment: Alignment, gradients_only: bool = False, settled: Collection[object] = ()) -> None:
        """settled: results (`key`) that are not looked at again."""
        self.alignment, self.gradients_only = alignment, gradients_only
        self.results, self.notes = paired_results(alignment, gradients_only)
        self.bad: Result | None = None
        """The first that is not the same; a buffer only where nothing else is: what buffers do is seen elsewhere."""
        self.buffers: list[Result] = []
        """The buffers that are not the same."""
        self.largest, self.largest_in = 0.0, ""
        """The largest relative difference among those that are the same, and where that is."""
        for result in self.results:
            result.distance = found = _distance(alignment, result)
            if not agrees(alignment, result, found):
                if key(result) in settled:
                    continue
                if self.bad is None or (self.bad.kind == BUFFER and result.kind != BUFFER):
                    self.bad = result
                if result.kind == BUFFER:
                    self.buffers.append(result)
            elif result.b in alignment.noise or (result.kind == BUFFER and alignment.astray > GROWN / 100):
                continue
            elif found is not None and found.relative > self.largest:
                self.largest, self.largest_in = found.relative, where(result, found)

    def explained(self, result: Result) -> tuple[Finding, Explanation]:
        """Why a result that is not the same differs."""
        explanation = Explanation(self.alignment)
        return only_one_differentiates(self.alignment) or explanation.of(result), explanation

    def finding(self) -> Finding:
        """The same where there may be nothing but gradients, of which no more is known than that they differ."""
        assert self.bad is not None
        if not self.gradients_only:
            return self.explained(self.bad)[0]
        ends = (self.bad.a if self.bad.a is not None else ABSENT, self.bad.b if self.bad.b is not None else ABSENT)
        i, j = (-1 if v == ABSENT else e for v, e in zip(ends, (self.bad.event_a, self.bad.event_b)))
        return Finding("the gradients differ" if min(i, j) >= 0 else "only one side has this gradient", i, j, ends)

    def nothing_in_common(self) -> Finding | None:
        """The finding for programs of which only one computes anything, or gradients, that could be compared."""
        a, b = self.alignment.a, self.alignment.b
        only = only_one_differentiates(self.alignment)
        if only is not None:
            return only
        if not self.results and (a.operations or b.operations):
            first = [next((n for n, e in enumerate(side.events) if e.kind == OP), -1) for side in (a, b)]
            return Finding("the programs have no result in common", first[0], first[1])
        return None


def key(result: Result) -> object:
    """What a result is known by when the programs are compared again."""
    return result.kind, result.name, result.leaf, result.event_a


def only_one_differentiates(alignment: Alignment) -> Finding | None:
    """The finding where one program has no backward pass."""
    a, b = alignment.a, alignment.b
    if bool(a.passes) == bool(b.passes):
        return None
    who = "A" if a.passes else "B"
    return Finding(f"only {who} runs a backward pass", (a.passes or [-1])[0], (b.passes or [-1])[0])


def _distance(alignment: Alignment, result: Result) -> Distance | None:
    if result.a is None or result.b is None:
        return None
    match = alignment.partner.get(result.b)
    if match is not None and match.value == result.a:
        return match.distance
    return alignment.distance(result.a, result.b)


def agrees(alignment: Alignment, result: Result, distance: Distance | None) -> bool:
    """Whether a result is the same in both programs, given how far its values are apart."""
    if result.a is None or result.b is None or distance is None:
        return _is_zero(alignment, result)
    if distance.layout == RESHAPED and result.kind in (GRADIENT, RETURNED, PARAMETER):
        return alignment.a.values.size(result.a) == 1 and distance.relative <= alignment.tolerance(result.a, result.b)
    if result.kind == BUFFER and alignment.astray > GROWN / 100:  # the running mean of what such a bias is added to
        return distance.relative <= 5 * GROWN
    if result.a not in alignment.a.producer or result.b not in alignment.b.producer:  # rows of one
        return alignment.agree_in_part(result.a, result.b, result.event_b, distance)
    return alignment.agree(result.a, result.b, distance)


def _is_zero(alignment: Alignment, result: Result) -> bool:
    """Whether a gradient that only one program has is nothing but zeros."""
    side, value = (alignment.a, result.a) if result.a is not None else (alignment.b, result.b)
    return value is not None and side.values.norm(value) == 0.0


def where(result: Result, distance: Distance) -> str:
    """Where a difference is, in words."""
    at = f" at {list(distance.at)}" if distance.at else ""
    return f"{result.title}{at}"
