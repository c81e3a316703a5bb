"""`torch.utils.benchmark`: timing of statements."""

from __future__ import annotations

import statistics
import timeit
from collections.abc import Callable
from typing import Any


class Measurement:
    """The times of repeated runs of a statement: `times` in seconds per run."""

    def __init__(self, number_per_run: int, raw_times: list[float], task: dict[str, Any]) -> None:
        self.number_per_run, self.raw_times, self.task = number_per_run, raw_times, task
        self.times = [t / number_per_run for t in raw_times]

    @property
    def mean(self) -> float:
        """The mean time of one run, in seconds."""
        return statistics.fmean(self.times)

    @property
    def median(self) -> float:
        """The median time of one run, in seconds."""
        return statistics.median(self.times)

    @property
    def iqr(self) -> float:
        """The distance of the quartiles, in seconds."""
        if len(self.times) < 2:
            return 0.0
        low, _, high = statistics.quantiles(self.times, n=4, method="inclusive")
        return high - low

    @property
    def title(self) -> str:
        """What was measured."""
        label = self.task["label"] or self.task["stmt"]
        return ": ".join(part for part in (label, self.task["sub_label"]) if part)

    def __repr__(self) -> str:
        unit, scale = next((u, s) for u, s in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 0.0)) if self.median >= s)
        scale = scale or 1e-9
        many = len(self.times) > 1
        lines = [
            f"<{type(self).__module__}.{type(self).__name__} object at {id(self):#x}>", self.title,
            *([f"  {self.task['description']}"] if self.task["description"] else []),
            f"  {'Median' if many else ''}{': ' if many else ''}{self.median / scale:.2f} {unit}",
        ]  # fmt: skip
        runs = f"  {len(self.times)} measurement{'s' if many else ''}, {self.number_per_run} runs per measurement"
        threads = f"{self.task['num_threads']} thread{'s' if self.task['num_threads'] > 1 else ''}"
        return "\n".join([*lines, f"{runs}, {threads}"])


class Timer:
    """Times a statement as `timeit.Timer` does; `num_threads` is noted only, BLAS keeps its own setting."""

    def __init__(
        self, stmt: str = "pass", setup: str = "pass", global_setup: str = "",
        timer: Callable[[], float] = timeit.default_timer, globals: dict[str, Any] | None = None,
        label: str | None = None, sub_label: str | None = None, description: str | None = None, env: str | None = None,
        num_threads: int = 1, language: Any = "python",
    ) -> None:  # fmt: skip
        if str(language).lower() not in ("python", "py", "language.python", "0"):
            raise NotImplementedError(f"Timer: only Python statements can be timed, got language={language!r}")
        if global_setup:
            raise ValueError("Timer: global_setup is for C++ statements, which cannot be timed here; use setup")
        from ... import torch

        self._timer = timeit.Timer(stmt, setup, timer, {"torch": torch, **(globals or {})})
        self._task = {
            "stmt": stmt, "setup": setup, "label": label, "sub_label": sub_label, "description": description, "env": env,
            "num_threads": num_threads,
        }  # fmt: skip

    def timeit(self, number: int = 1000000) -> Measurement:
        """One measurement of `number` runs, after a short warm-up."""
        self._timer.timeit(max(number // 100, 2))
        return Measurement(number, [self._timer.timeit(number)], self._task)

    def blocked_autorange(self, callback: Any = None, min_run_time: float = 0.2) -> Measurement:
        """Measurements of blocks of runs, until `min_run_time` seconds are spent."""
        number = 1
        while True:
            spent = self._timer.timeit(number)
            if spent >= min(min_run_time / 1000, 0.01) or number > 10**8:
                break
            number *= 10
        times: list[float] = []
        while sum(times) < min_run_time:
            times.append(self._timer.timeit(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task)

    def adaptive_autorange(
        self, threshold: float = 0.1, *, min_run_time: float = 0.01, max_run_time: float = 10.0, callback: Any = None
    ) -> Measurement:
        """As `blocked_autorange`, until the quartiles lie within `threshold` of the median or time is up."""
        found = self.blocked_autorange(callback, min_run_time)
        while sum(found.raw_times) < max_run_time and (len(found.times) < 4 or found.iqr / found.median > threshold):
            more = self.blocked_autorange(callback, min_run_time)
            found = Measurement(found.number_per_run, found.raw_times + [
                t * found.number_per_run for t in more.times
            ], self._task)  # fmt: skip
        return found
