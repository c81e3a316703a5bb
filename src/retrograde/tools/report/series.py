"""`Series`: numbers over the steps of a run in bounded memory: neighbouring steps are put together, least and largest kept."""

from __future__ import annotations

import math
from typing import Any

from ..graph.model import number

KEPT = 1024
"""How many intervals are kept, at most."""


class _Interval:
    """What came in some steps that follow each other."""

    __slots__ = ("least", "most", "sum", "number", "nans")

    def __init__(self) -> None:
        self.least, self.most = math.inf, -math.inf
        self.sum = 0.0
        self.number = self.nans = 0

    def add(self, other: _Interval) -> None:
        self.least, self.most = min(self.least, other.least), max(self.most, other.most)
        self.sum += other.sum
        self.number += other.number
        self.nans += other.nans


class Series:
    """Numbers, each at a step; steps may have several numbers, or none, and come in any order."""

    def __init__(self, kept: int = KEPT) -> None:
        self._kept = kept
        self.width = 1
        """How many steps an interval has."""
        self.first = self.last = math.nan
        self.intervals: dict[int, _Interval] = {}

    def add(self, step: int, x: float) -> None:
        """A number has come."""
        if not self.intervals:
            self.first = x
        self.last = x
        key = step // self.width
        interval = self.intervals.get(key)
        if interval is None:
            interval = self.intervals[key] = _Interval()
            if len(self.intervals) > self._kept:
                self._widen()
                interval = self.intervals.setdefault(step // self.width, _Interval())
        if math.isfinite(x):
            interval.least, interval.most = min(interval.least, x), max(interval.most, x)
            interval.sum += x
            interval.number += 1
        else:
            interval.nans += 1

    def _widen(self) -> None:
        self.width *= 2
        merged: dict[int, _Interval] = {}
        for key, interval in self.intervals.items():
            merged.setdefault(key // 2, _Interval()).add(interval)
        self.intervals = merged

    @property
    def most(self) -> float:
        """The largest finite number."""
        return max((x.most for x in self.intervals.values()), default=-math.inf)

    @property
    def mean(self) -> float:
        """The mean of the finite numbers."""
        count = sum(x.number for x in self.intervals.values())
        return sum(x.sum for x in self.intervals.values()) / count if count else math.nan

    def as_json(self, most: int) -> dict[str, Any]:
        """As at most so many intervals: `w` their width, `x` their numbers, `m` means, `l` and `h` least and largest where an
        interval has several numbers, `n` those in which something was not finite."""
        while len(self.intervals) > most:
            self._widen()
        keys = sorted(self.intervals)
        entries = [self.intervals[k] for k in keys]
        dense = keys == list(range(keys[0], keys[0] + len(keys))) if keys else True
        found: dict[str, Any] = {
            "w": self.width, "x": keys[:1] if dense else keys,
            "m": [number(e.sum / e.number) if e.number else None for e in entries],
        }  # fmt: skip
        if any(e.number > 1 for e in entries):
            found["l"] = [number(e.least) if e.number else None for e in entries]
            found["h"] = [number(e.most) if e.number else None for e in entries]
        if any(e.nans for e in entries):
            found["n"] = [i for i, e in enumerate(entries) if e.nans]
        return found
