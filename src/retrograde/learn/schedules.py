"""Learning-rate schedules as formulas on numbers, which the schedules of all dialects share.

A closed form gives the rate of an epoch, counted from 0, from the base rate; a recursive one (`..._next`) from the rate of the
epoch before, so that several schedules may act on one rate. Options are given by keyword; a dialect's row says which of its own
they are (`dialects/_shared/option_rows.py`).
"""

from __future__ import annotations

import bisect
import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ..core.number import as_float

Rate = Any
"""A float (of NumPy where a dialect computes in float32), or a 0-d tensor where the rate is one."""


def _number(f: Callable[[Any], Any], x: Any) -> Any:
    """A function of `math`, in the precision of a number of NumPy."""
    return getattr(np, f.__name__)(x) if isinstance(x, np.floating) else f(x)


# ------------------------------------------------------------------------------------------ steps


def step(base: Rate, epoch: Any, *, step_size: int, gamma: float) -> Rate:
    """Times `gamma` for every `step_size` epochs."""
    return base * gamma ** (epoch // step_size)


def step_next(rate: Rate, epoch: Any, base: Rate, *, step_size: int, gamma: float) -> Rate:
    """As `step`."""
    return rate if epoch == 0 or epoch % step_size != 0 else rate * gamma


def _all(milestones: Iterable[int]) -> Iterable[int]:
    return milestones.elements() if isinstance(milestones, Counter) else milestones


def multi_step(base: Rate, epoch: Any, *, milestones: Iterable[int], gamma: float) -> Rate:
    """Times `gamma` for every milestone that is reached; a milestone may stand there twice."""
    return base * gamma ** sum(bool(m <= epoch) for m in _all(milestones))


def multi_step_next(rate: Rate, epoch: Any, base: Rate, *, milestones: Iterable[int], gamma: float) -> Rate:
    """As `multi_step`."""
    times = sum(bool(m == epoch) for m in _all(milestones))
    return rate * gamma**times if times else rate


def piecewise(base: Rate, epoch: Any, *, boundaries: Sequence[int], values: Sequence[float]) -> Rate:
    """The first of the values before the first boundary, the second before the second, and so on."""
    return values[bisect.bisect_right(list(boundaries), epoch)]


def constant(base: Rate, epoch: Any, *, factor: float, total_iters: int) -> Rate:
    """Times `factor` before epoch `total_iters`."""
    return base * (factor + (epoch >= total_iters) * (1 - factor))


def constant_next(rate: Rate, epoch: Any, base: Rate, *, factor: float, total_iters: int) -> Rate:
    """As `constant`."""
    return rate * factor if epoch == 0 else rate * (1.0 / factor) if epoch == total_iters else rate


# ------------------------------------------------------------------------------------------ curves


def linear(base: Rate, epoch: Any, *, start_factor: float, end_factor: float, total_iters: int) -> Rate:
    """Times a factor on a line from `start_factor` to `end_factor`, reached at epoch `total_iters`."""
    return base * (start_factor + (end_factor - start_factor) * min(total_iters, epoch) / total_iters)


def linear_next(
    rate: Rate, epoch: Any, base: Rate, *, start_factor: float, end_factor: float, total_iters: int
) -> Rate:  # fmt: skip
    """As `linear`."""
    if epoch == 0:
        return rate * start_factor
    slope = end_factor - start_factor
    return rate if epoch > total_iters else rate * (1.0 + slope / (total_iters * start_factor + (epoch - 1) * slope))


def exponential(base: Rate, epoch: Any, *, gamma: float) -> Rate:
    """Times `gamma` every epoch.

    >>> exponential(1.0, 3, gamma=0.5)
    0.125
    """
    return base * gamma**epoch


def exponential_next(rate: Rate, epoch: Any, base: Rate, *, gamma: float) -> Rate:
    """As `exponential`."""
    return rate * gamma


def natural(base: Rate, epoch: Any, *, gamma: float) -> Rate:
    """Times exp(-gamma epoch)."""
    return base * _number(math.exp, -gamma * epoch)


def inverse(base: Rate, epoch: Any, *, gamma: float) -> Rate:
    """Over 1 + gamma epoch."""
    return base / (1 + gamma * epoch)


def polynomial(
    base: Rate, epoch: Any, *, total_iters: int, power: float, end: float = 0.0, cycle: bool = False
) -> Rate:  # fmt: skip
    """Falling to `end` at epoch `total_iters`, as a power of what is left; with `cycle` once more as long whenever it is over."""
    if cycle:
        total_iters = total_iters * max(1, math.ceil(as_float(epoch) / total_iters))
    return (base - end) * (1 - min(total_iters, epoch) / total_iters) ** power + end


def polynomial_next(rate: Rate, epoch: Any, base: Rate, *, total_iters: int, power: float) -> Rate:
    """As `polynomial`."""
    if epoch > total_iters:
        return rate
    return rate * ((1.0 - epoch / total_iters) / (1.0 - (epoch - 1) / total_iters)) ** power


def cosine(base: Rate, epoch: Any, *, T_max: float, eta_min: float = 0.0) -> Rate:
    """Cosine annealing from the base rate at epoch 0 to `eta_min` at `T_max` (Loshchilov and Hutter 2017, equation 5)."""
    return eta_min + (base - eta_min) * (1 + math.cos(math.pi * epoch / T_max)) / 2


def cosine_next(rate: Rate, epoch: Any, base: Rate, *, T_max: int, eta_min: float) -> Rate:
    """As `cosine`; climbs again after `T_max`, and so on."""
    if (epoch - 1 - T_max) % (2 * T_max) == 0:
        return rate + (base - eta_min) * (1 - math.cos(math.pi / T_max)) / 2
    ratio = (1 + math.cos(math.pi * epoch / T_max)) / (1 + math.cos(math.pi * (epoch - 1) / T_max))
    return ratio * (rate - eta_min) + eta_min


def noam(base: Rate, epoch: Any, *, d_model: int, warmup_steps: int) -> Rate:
    """Rising linearly for `warmup_steps`, then falling with the root of the step (Vaswani et al. 2017)."""
    falling = 1 if epoch == 0 else epoch**-0.5
    return base * d_model**-0.5 * min(falling, warmup_steps**-1.5 * epoch)


AT_ONCE = frozenset({step_next, multi_step_next, constant_next, linear_next})
"""The recursive forms that give epoch 0 a rate of its own; with the others it has the base rate."""


# ------------------------------------------------------------------------------------------ the user's functions


def scaled(base: Rate, epoch: Any, *, lr_lambda: Callable[[Any], float]) -> Rate:
    """Times a function of the epoch."""
    return base * lr_lambda(epoch)


def multiplied(base: Rate, epoch: Any, *, lr_lambda: Callable[[Any], float]) -> Rate:
    """Times the product of a function over the epochs so far."""
    for e in range(1, epoch + 1):
        base = base * lr_lambda(e)
    return base


def multiplied_next(rate: Rate, epoch: Any, base: Rate, *, lr_lambda: Callable[[Any], float]) -> Rate:
    """As `multiplied`."""
    return rate * lr_lambda(epoch)


# ------------------------------------------------------------------------------------------ cycles


def interpolate_cosine(start: Rate, end: Rate, fraction: float) -> Rate:
    """From `start` (fraction 0) to `end` (1) along half a cosine wave.

    >>> interpolate_cosine(1.0, 0.0, 0.5)
    0.5
    """
    return end + (start - end) / 2.0 * (_number(math.cos, math.pi * fraction) + 1)


def interpolate_linear(start: Rate, end: Rate, fraction: float) -> Rate:
    """From `start` (fraction 0) to `end` (1) along a line."""
    return (end - start) * fraction + start


INTERPOLATIONS = {"cos": interpolate_cosine, "linear": interpolate_linear}


def one_cycle(total_steps: int, rising: float, three_phase: bool) -> list[tuple[float, str, str]]:
    """The phases of a cycle (Smith and Topin 2018): the step where each ends, and the rates that it leads from and to.

    rising: the share of the steps before the peak.
    """
    peak, end = float(rising * total_steps) - 1, total_steps - 1
    if not three_phase:
        return [(peak, "initial", "max"), (end, "max", "min")]
    return [(peak, "initial", "max"), (float(2 * rising * total_steps) - 2, "max", "initial"), (end, "initial", "min")]


def phase(ends: Sequence[float], step: Any) -> tuple[int, Any]:
    """The phase of a cycle that a step is in, by the steps where they end, and the share of it that is over.

    Raises ValueError for a step beyond the cycle.
    """
    if step > ends[-1] + 1:
        raise ValueError(f"OneCycleLR: step {step} of a cycle that has {ends[-1] + 1} steps")
    i, start = 0, 0.0
    while step > ends[i] and i < len(ends) - 1:
        start = float(ends[i])
        i += 1
    return i, (step - start) / (ends[i] - start)


def triangle(epoch: Any, length: float, rising: float, scale: Callable[[Any], float], by: str) -> tuple[Any, float]:
    """The height (0 to 1) of a triangular wave of period `length` (Smith 2017), and what scales it.

    rising: the share of a period before the peak. scale: a function of the number of the cycle (from 1), or where `by` is
    not "cycle" of the epoch.
    """
    cycle = math.floor(1 + epoch / length)
    x = 1.0 + epoch / length - cycle
    height = x / rising if x <= rising else (x - 1) / (rising - 1)
    return height, scale(cycle if by == "cycle" else epoch)


def wave(
    up: float, down: float | None, mode: str, scale: Callable[[Any], float] | None, by: str
) -> tuple[float, float, str]:  # fmt: skip
    """The length, the share before the peak and the `by` of a `triangle` that rises for `up` steps and falls for `down`.

    Raises ValueError for an unknown mode, where no function scales the height.
    """
    if scale is None and mode not in ("triangular", "triangular2", "exp_range"):
        raise ValueError(f"CyclicLR: mode is {mode!r}; wanted 'triangular', 'triangular2' or 'exp_range', or a function")
    length = float(up) + float(up if down is None else down)
    return length, float(up) / length, by if scale is not None else "iterations" if mode == "exp_range" else "cycle"


def triangle_scale(mode: str, gamma: float, x: Any) -> float:
    """The share of the full height in cycle (or iteration) `x`, for the modes "triangular", "triangular2", "exp_range"."""
    return 1.0 if mode == "triangular" else 1 / (2.0 ** (x - 1)) if mode == "triangular2" else gamma**x


def warm_restart(epoch: float, first: int, growth: int) -> tuple[float, int]:
    """The epochs since the last restart and the length of the present period.

    Periods last `first`, `first * growth`, `first * growth**2`... epochs (Loshchilov and Hutter 2017).

    >>> warm_restart(4, 3, 2)
    (1.0, 6)
    """
    if epoch < first:
        return epoch, first
    if growth == 1:
        return epoch % first, first
    n = int(math.log(epoch / first * (growth - 1) + 1, growth))
    return epoch - first * (growth**n - 1) / (growth - 1), first * growth**n


class Restarts:
    """Where a schedule with warm restarts stands, mixed into a dialect's schedule: epochs since the last one, the period."""

    T_0: int
    T_mult: int
    last_epoch: Any
    T_cur: Any
    T_i: Any

    def _set_periods(self, T_0: int, T_mult: int) -> None:
        """Set the first period and what the next ones grow by; raises ValueError unless both are integers above 0."""
        for name, value in (("T_0", T_0), ("T_mult", T_mult)):
            if isinstance(value, bool) or not isinstance(value, int) or value < 1:
                raise ValueError(f"CosineAnnealingWarmRestarts: {name} is {value!r}; wanted an integer above 0")
        self.T_0 = self.T_i = T_0
        self.T_mult = T_mult

    def _go_to(self, epoch: float | None) -> None:
        """Go on by an epoch (a new period starts when one has run out), or to one; raises ValueError for a negative one."""
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur, self.T_i = self.T_cur - self.T_i, self.T_i * self.T_mult
        else:
            if epoch < 0:
                raise ValueError(f"CosineAnnealingWarmRestarts: epoch is {epoch}; wanted at least 0")
            self.T_cur, self.T_i = warm_restart(epoch, self.T_0, self.T_mult)
        self.last_epoch = math.floor(epoch)


def blend(rate: Rate, target: float, before: float, now: float) -> Rate:
    """Move a rate from share `before` of the way to a target on to share `now`, without knowing where it started."""
    start = target if before == 1 else (rate - before * target) / (1 - before)
    return target * now + start * (1 - now)


def improved(current: float, best: float, threshold: float, mode: str, threshold_mode: str) -> bool:
    """Whether a metric is better than the best so far by a threshold: a share of the best ("rel") or a number ("abs").

    mode: "min" where a smaller metric is better, "max" where a larger one is.
    """
    sign = -1.0 if mode == "min" else 1.0
    wanted = best * (1.0 + sign * threshold) if threshold_mode == "rel" else best + sign * threshold
    return sign * current > sign * wanted


class Plateau:
    """What a rate that falls on a plateau counts, mixed into a dialect's schedule: epochs without improvement, rests."""

    mode: str
    threshold: float
    threshold_mode: str
    patience: int
    cooldown: int

    def _reset(self) -> None:
        """Forget what has been seen."""
        self.best = math.inf if self.mode == "min" else -math.inf
        self.cooldown_counter = self.num_bad_epochs = 0

    def _is_better(self, current: float, best: float) -> bool:
        return improved(current, best, self.threshold, self.mode, self.threshold_mode)

    @property
    def in_cooldown(self) -> bool:
        """Whether the epochs after a reduction, in which nothing is judged, are running."""
        return self.cooldown_counter > 0

    def _is_due(self, current: float) -> bool:
        """Count an epoch by its metric: whether the rate is to fall now, after which `_rest` begins the cooldown."""
        if self._is_better(current, self.best):
            self.best, self.num_bad_epochs = current, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        return self.num_bad_epochs > self.patience

    def _rest(self) -> None:
        self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
