"""The schedules that let a rate decay."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

from ....core.number import as_float
from ....learn import schedules
from .scheduler_base import LRScheduler, check_positive, check_type


class NoamDecay(LRScheduler):
    """Rising linearly for `warmup_steps`, then falling with the root of the step (Vaswani et al. 2017)."""

    def __init__(
        self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        check_positive("NoamDecay", "d_model", d_model)
        self.d_model, self.warmup_steps = d_model, warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        falling = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        rising = self.warmup_steps**-1.5 * self.last_epoch
        return self.base_lr * (self.d_model**-0.5) * min(falling, rising)


class PiecewiseDecay(LRScheduler):
    """The first of `values` before the first of `boundaries`, the second before the second, and so on."""

    def __init__(
        self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        check_type("PiecewiseDecay", "boundaries", boundaries, list, tuple)
        check_type("PiecewiseDecay", "values", values, list, tuple)
        if not boundaries:
            raise ValueError("PiecewiseDecay: boundaries must not be empty")
        if len(values) <= len(boundaries):
            raise ValueError(
                f"PiecewiseDecay: {len(boundaries)} boundaries take {len(boundaries) + 1} values, got {len(values)}"
            )
        self.boundaries, self.values = boundaries, values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        return self.values[bisect.bisect_right(list(self.boundaries), self.last_epoch)]


class NaturalExpDecay(LRScheduler):
    """The base rate times exp(-gamma epoch)."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        check_positive("NaturalExpDecay", "gamma", gamma, AssertionError)
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """The base rate over 1 + gamma epoch."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        return self.base_lr / (1 + self.gamma * self.last_epoch)


class PolynomialDecay(LRScheduler):
    """From the base rate to `end_lr` in `decay_steps`, as a power of what is left; with `cycle` again and again."""

    def __init__(
        self, learning_rate: float, decay_steps: int, end_lr: float = 0.0001, power: float = 1.0, cycle: bool = False,
        last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        if not isinstance(decay_steps, int):
            raise AssertionError(f"PolynomialDecay: decay_steps must be int, got {type(decay_steps).__name__}")
        check_positive("PolynomialDecay", "decay_steps", decay_steps, AssertionError)
        check_positive("PolynomialDecay", "power", power, AssertionError)
        self.decay_steps, self.end_lr, self.power, self.cycle = decay_steps, end_lr, power, cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        steps = self.decay_steps
        if self.cycle:
            steps *= max(1, math.ceil(as_float(self.last_epoch) / self.decay_steps))
        left = schedules.polynomial_factor(self.last_epoch, steps, self.power)
        return (self.base_lr - self.end_lr) * left + self.end_lr


class ExponentialDecay(LRScheduler):
    """The base rate times gamma^epoch."""

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        if not 0 < gamma < 1:
            raise AssertionError(f"ExponentialDecay: gamma must be between 0 and 1, got {gamma}")
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        return self.base_lr * (self.gamma**self.last_epoch)


class MultiStepDecay(LRScheduler):
    """The base rate times gamma for each milestone that is reached."""

    def __init__(
        self, learning_rate: float, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        check_type("MultiStepDecay", "milestones", milestones, tuple, list)
        if any(a >= b for a, b in itertools.pairwise(milestones)):
            raise ValueError(f"MultiStepDecay: milestones must increase, got {milestones}")
        _check_gamma("MultiStepDecay", gamma)
        self.milestones, self.gamma = milestones, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        return self.base_lr * (self.gamma ** bisect.bisect_right(list(self.milestones), self.last_epoch))


class StepDecay(LRScheduler):
    """The base rate times gamma for every `step_size` epochs."""

    def __init__(
        self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        check_type("StepDecay", "step_size", step_size, int)
        _check_gamma("StepDecay", gamma)
        check_positive("StepDecay", "step_size", step_size, AssertionError)
        self.step_size, self.gamma = step_size, gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        return self.base_lr * (self.gamma ** (self.last_epoch // self.step_size))


def _check_gamma(scheduler: str, gamma: float) -> None:
    if gamma >= 1.0:
        raise ValueError(f"{scheduler}: gamma must be below 1, got {gamma}")


class LambdaDecay(LRScheduler):
    """The base rate times a function of the epoch."""

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check_function("LambdaDecay", lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """The base rate times the product of a function over the epochs so far."""

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check_function("MultiplicativeDecay", lr_lambda)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`."""
        rate = self.base_lr
        for epoch in range(1, self.last_epoch + 1):
            rate = rate * self.lr_lambda(epoch)
        return rate


def _check_function(scheduler: str, f: Any) -> None:
    if not callable(f):
        raise TypeError(f"{scheduler}: lr_lambda must be a function of the epoch, got {type(f).__name__}")


class LinearWarmup(LRScheduler):
    """From `start_lr` to `end_lr` in `warmup_steps`, then a rate or another schedule."""

    def __init__(
        self, learning_rate: float | LRScheduler, warmup_steps: int, start_lr: float, end_lr: float,
        last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        check_type("LinearWarmup", "learning_rate", learning_rate, float, int, LRScheduler)
        if not isinstance(warmup_steps, int) or warmup_steps <= 0:
            raise AssertionError(f"LinearWarmup: warmup_steps must be a positive int, got {warmup_steps!r}")
        if not end_lr > start_lr:
            raise AssertionError(f"LinearWarmup: end_lr must exceed start_lr, got {end_lr} and {start_lr}")
        self.learning_rate = learning_rate
        self.warmup_steps, self.start_lr, self.end_lr = warmup_steps, start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`; after the warm-up the inner schedule moves along."""
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * as_float(self.last_epoch) / as_float(self.warmup_steps) + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate

    def state_dict(self) -> dict[str, Any]:
        """The state; of an inner schedule as "LinearWarmup_LR"."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])

    set_dict = set_state_dict


class LinearLR(LRScheduler):
    """The base rate times a factor that moves from `start_factor` to `end_factor` in `total_steps`."""

    def __init__(
        self, learning_rate: float, total_steps: int, start_factor: float = 1.0 / 3, end_factor: float = 1.0,
        last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1.0:
            raise ValueError(f"LinearLR: start_factor must be above 0 and at most 1, got {start_factor}")
        if not 0 <= end_factor <= 1.0:
            raise ValueError(f"LinearLR: end_factor must be between 0 and 1, got {end_factor}")
        check_positive("LinearLR", "total_steps", total_steps)
        self.start_factor, self.end_factor, self.total_steps = start_factor, end_factor, total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`, from the one before."""
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        return self.last_lr * schedules.linear_ratio(
            self.start_factor, self.end_factor, self.last_epoch, self.total_steps
        )
