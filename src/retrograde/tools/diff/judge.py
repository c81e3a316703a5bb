"""Which results of two programs are the same, and the first that is not. Called by compare.py and onward.py."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from .align import Alignment
from .events import ABSENT
from .explain import Explanation
from .forward import Finding
from .results import BUFFER, GRADIENT, PARAMETER, RETURNED, Result, paired_results
from .values import RESHAPED, Distance


class Judgement:
    """The results of two programs in an alignment, each with its distance."""

    def __init__(self, alignment: Alignment, gradients_only: bool = False, settled: Collection[object] = ()) -> None:
        """settled: results (`key`) that are not looked at again."""
        self.alignment, self.gradients_only = alignment, gradients_only
        found, self.notes = paired_results(alignment, gradients_only)
        self.results = [replace(result, distance=_distance(alignment, result)) for result in found]
        self._explained: dict[object, tuple[Finding, Explanation]] = {}
        """What has been found of results by their keys."""
        self.bad: Result | None = None
        """The first that is not the same; a buffer only where nothing else is: what buffers do is seen elsewhere."""
        self.buffers: list[Result] = []
        """The buffers that are not the same."""
        self.largest, self.largest_in = 0.0, ""
        """The largest relative difference among those that are the same, and where that is."""
        strays = alignment.astray > alignment.policy.astray
        for result in self.results:
            off = result.distance
            if not agrees(alignment, result):
                if key(result) in settled:
                    continue
                if self.bad is None or (self.bad.kind == BUFFER and result.kind != BUFFER):
                    self.bad = result
                if result.kind == BUFFER:
                    self.buffers.append(result)
            elif result.values[1] in alignment.noise or (result.kind == BUFFER and strays):
                continue
            elif off is not None and off.relative > self.largest:
                self.largest, self.largest_in = off.relative, where(result, off)

    def explained(self, result: Result | None = None) -> tuple[Finding, Explanation]:
        """Why a result that is not the same differs; the first one, unless another is asked for."""
        result = result or self.bad
        assert result is not None
        known = self._explained.get(key(result))
        if known is None:
            explanation = Explanation(self.alignment)
            known = only_one_differentiates(self.alignment) or explanation.of(result), explanation
            self._explained[key(result)] = known
        return known

    def finding(self) -> Finding:
        """The same where there may be nothing but gradients, of which no more is known than that they differ."""
        if not self.gradients_only:
            return self.explained()[0]
        assert self.bad is not None
        p, q = self.bad.values
        values = (ABSENT if p is None else p, ABSENT if q is None else q)
        events = (-1 if p is None else self.bad.events[0], -1 if q is None else self.bad.events[1])
        reason = "the gradients differ" if self.bad.known is not None else "only one side has this gradient"
        return Finding(reason, events, values, rules=("only gradients",))

    def nothing_in_common(self) -> Finding | None:
        """The finding for programs of which only one computes anything, or gradients, that could be compared."""
        a, b = self.alignment.sides
        only = only_one_differentiates(self.alignment)
        if only is not None:
            return only
        if not self.results and (a.operations or b.operations):
            i, j = (next((n for n in range(len(side.events)) if side.operation(n) is not None), -1) for side in (a, b))
            return Finding("the programs have no result in common", (i, j), rules=("nothing in common",))
        return None


def key(result: Result) -> object:
    """What a result is known by when the programs are compared again."""
    return result.kind, result.name, result.leaf, result.events[0]


def only_one_differentiates(alignment: Alignment) -> Finding | None:
    """The finding where one program has no backward pass."""
    a, b = alignment.sides
    if bool(a.passes) == bool(b.passes):
        return None
    events = (a.passes or [-1])[0], (b.passes or [-1])[0]
    return Finding(f"only {'A' if a.passes else 'B'} runs a backward pass", events, rules=("only one differentiates",))


def _distance(alignment: Alignment, result: Result) -> Distance | None:
    if result.known is None:
        return None
    va, vb = result.known
    match = alignment.partner.get(vb)
    return match.distance if match is not None and match.value == va else alignment.distance(va, vb)


def agrees(alignment: Alignment, result: Result) -> bool:
    """Whether a result is the same in both programs."""
    off = result.distance
    if result.known is None or off is None:  # of a gradient that only one program has: whether it is nothing but zeros
        return any(v is not None and side.values.norm(v) == 0.0 for side, v in zip(alignment.sides, result.values))
    va, vb = result.known
    if off.layout == RESHAPED and result.kind in (GRADIENT, RETURNED, PARAMETER):
        return alignment.a.values.size(va) == 1 and off.relative <= alignment.tolerance(va, vb)
    if result.kind == BUFFER and alignment.astray > alignment.policy.astray:  # the running mean of what such a bias is added to
        return off.relative <= alignment.policy.buffers or off.absolute <= alignment.strayed
    if va not in alignment.a.producer or vb not in alignment.b.producer:  # rows of one
        return alignment.agree_in_part(va, vb, result.events[1], off)
    return alignment.agree(va, vb, off)


def where(result: Result, distance: Distance) -> str:
    """Where a difference is, in words."""
    at = f" at {list(distance.at)}" if distance.at else ""
    return f"{result.title}{at}"
