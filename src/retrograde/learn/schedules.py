"""Formulas of learning-rate schedules on numbers; an epoch is counted from 0 and may be fractional in closed forms.

A schedule has a closed form, from the base rate and the epoch, or a recursive one, from the rate of the epoch before
(which lets several schedules act on one rate), or both.
"""

from __future__ import annotations

import math
from typing import Any

Rate = Any
"""A float, or a 0-d tensor where the rate is one."""


def interpolate_cosine(start: Rate, end: Rate, fraction: float) -> Rate:
    """From `start` (fraction 0) to `end` (1) along half a cosine wave.

    >>> interpolate_cosine(1.0, 0.0, 0.5)
    0.5
    """
    return end + (start - end) / 2.0 * (math.cos(math.pi * fraction) + 1)


def interpolate_linear(start: Rate, end: Rate, fraction: float) -> Rate:
    """From `start` (fraction 0) to `end` (1) along a line."""
    return (end - start) * fraction + start


def cosine(base: Rate, least: float, epoch: float, period: float) -> Rate:
    """Cosine annealing from `base` at epoch 0 to `least` at `period` (Loshchilov and Hutter 2017, equation 5)."""
    return least + (base - least) * (1 + math.cos(math.pi * epoch / period)) / 2


def cosine_next(rate: Rate, base: Rate, least: float, epoch: int, period: int) -> Rate:
    """Cosine annealing at `epoch` from the rate of the epoch before; climbs again after `period`, and so on."""
    if (epoch - 1 - period) % (2 * period) == 0:
        return rate + (base - least) * (1 - math.cos(math.pi / period)) / 2
    ratio = (1 + math.cos(math.pi * epoch / period)) / (1 + math.cos(math.pi * (epoch - 1) / period))
    return ratio * (rate - least) + least


def linear_factor(start: float, end: float, epoch: float, total: int) -> float:
    """The factor of the base rate on a line from `start` to `end`, reached at epoch `total`."""
    return start + (end - start) * min(total, epoch) / total


def linear_ratio(start: float, end: float, epoch: int, total: int) -> float:
    """The factor of the rate of the epoch before that keeps it on the line of `linear_factor`."""
    return 1.0 + (end - start) / (total * start + (epoch - 1) * (end - start))


def polynomial_factor(epoch: float, total: int, power: float) -> float:
    """The factor of the base rate that falls to 0 at epoch `total` as a power of what is left."""
    return (1.0 - min(total, epoch) / total) ** power


def polynomial_ratio(epoch: int, total: int, power: float) -> float:
    """The factor of the rate of the epoch before that follows `polynomial_factor`."""
    return ((1.0 - epoch / total) / (1.0 - (epoch - 1) / total)) ** power


def triangle(epoch: float, length: float, rising: float) -> tuple[int, float]:
    """The number of the cycle (from 1) and the height (0 to 1) of a triangular wave of period `length`.

    `rising` is the share of a period before the peak (Smith 2017).
    """
    cycle = math.floor(1 + epoch / length)
    x = 1.0 + epoch / length - cycle
    return cycle, x / rising if x <= rising else (x - 1) / (rising - 1)


def restarting(epoch: float, period: int, growth: int) -> tuple[float, int]:
    """The epoch after `epoch` of a period, and the period it belongs to: the next one starts when this has run out."""
    epoch += 1
    return (epoch - period, period * growth) if epoch >= period else (epoch, period)


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
