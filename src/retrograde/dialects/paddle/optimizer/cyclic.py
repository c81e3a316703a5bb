"""The schedules that move a rate in cycles or by what a metric does."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import Value
from ....learn import schedules
from ..._shared.checks import check
from .scheduler_base import LRScheduler


class CosineAnnealingWarmRestarts(schedules.Restarts, LRScheduler):
    """Cosine annealing that starts anew after T_0, T_0 T_mult, T_0 T_mult²... epochs (Loshchilov and Hutter 2017)."""

    def __init__(
        self, learning_rate: float, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        self._set_periods(T_0, T_mult)
        self.eta_min, self.T_cur = eta_min, last_epoch
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `T_cur` epochs after the last restart."""
        return schedules.cosine(self.base_lr, self.T_cur, T_max=self.T_i, eta_min=self.eta_min)

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]
        """Go on by an epoch, or to a given one, which may be a fraction; ValueError for a negative one."""
        self._go_to(epoch)
        self.last_lr = self.get_lr()
        self._announce()


class OneCycleLR(LRScheduler):
    """One cycle up to `max_learning_rate` and down to `end_learning_rate` in `total_steps` (Smith and Topin 2018)."""

    def __init__(
        self, max_learning_rate: float, total_steps: int, divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001, phase_pct: float = 0.3, anneal_strategy: str = "cos",
        three_phase: bool = False, last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        check(
            "OneCycleLR", "max_learning_rate: number >= 0; total_steps: int > 0; end_learning_rate: number >= 0; "
            "phase_pct: float in [0, 1]; anneal_strategy in {cos, linear}", locals(),
        )  # fmt: skip
        if three_phase and phase_pct >= 0.5:
            raise ValueError(f"OneCycleLR: with three_phase, phase_pct must be below 0.5, got {phase_pct}")
        initial = max_learning_rate / float(divide_factor)
        rates = {"initial": initial, "max": max_learning_rate, "min": end_learning_rate}
        self.total_steps = total_steps
        self._phases = schedules.one_cycle(total_steps, phase_pct, three_phase)
        self._rates, self._interpolate = rates, schedules.INTERPOLATIONS[anneal_strategy]
        super().__init__(initial, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of step `last_epoch`; ValueError beyond the cycle."""
        i, share = schedules.phase([end for end, _, _ in self._phases], self.last_epoch)
        _, start, end = self._phases[i]
        return self._interpolate(self._rates[start], self._rates[end], share)


class CyclicLR(LRScheduler):
    """A triangular wave between two rates (Smith 2017)."""

    def __init__(
        self, base_learning_rate: float, max_learning_rate: float, step_size_up: int,
        step_size_down: int | None = None, mode: str = "triangular", exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        check(
            "CyclicLR", "max_learning_rate: number >= 0; base_learning_rate: number; step_size_up: int > 0; "
            "step_size_down: int | None > 0; scale_mode in {cycle, iterations}", locals(),
        )  # fmt: skip
        wave = schedules.wave(step_size_up, step_size_down, mode, scale_fn, scale_mode)
        self.cycle_size, self.step_up_pct, self.scale_mode = wave
        self.max_lr, self.amplitude = float(max_learning_rate), max_learning_rate - base_learning_rate
        self.scale_fn = scale_fn or functools.partial(schedules.triangle_scale, mode, exp_gamma)
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of iteration `last_epoch`."""
        wave = self.cycle_size, self.step_up_pct, self.scale_fn, self.scale_mode
        height, scale = schedules.triangle(self.last_epoch, *wave)
        return self.base_lr + self.amplitude * height * scale


class ReduceOnPlateau(LRScheduler):
    """The rate times `factor` whenever a metric has not improved for `patience` epochs."""

    def __init__(
        self, learning_rate: float, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: float = 0,
        epsilon: float = 1e-8, verbose: bool = False,
    ) -> None:  # fmt: skip
        mode, threshold_mode = mode.lower(), threshold_mode.lower()
        check(
            "ReduceOnPlateau", "mode in {min, max}; factor < 1; threshold_mode in {rel, abs}; learning_rate: number", locals()
        )  # fmt: skip
        self.mode, self.factor = mode, factor
        self.threshold_mode, self.patience, self.threshold = threshold_mode, patience, threshold
        self.cooldown, self.min_lr, self.epsilon = cooldown, min_lr, epsilon
        self.cooldown_counter, self.num_bad_epochs = 0, 0
        self.best: float | None = None
        self.base_lr = self.last_lr = float(learning_rate)
        self.last_epoch = 0
        self.verbose = verbose
        self._var_name = None

    def state_keys(self) -> None:
        """Name the attributes that belong to the state."""
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Judge the metric of an epoch: a number or a tensor of one element."""
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        number = _one_number(metrics)
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or schedules.improved(number, self.best, self.threshold, self.mode, self.threshold_mode):
            self.best, self.num_bad_epochs = number, 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
            lower = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - lower > self.epsilon:
                self.last_lr = lower
                self._announce()


def _one_number(metrics: Any) -> float:
    if isinstance(metrics, (Value, np.ndarray)):
        if math.prod(metrics.shape) != 1:
            raise AssertionError(f"ReduceOnPlateau.step: wanted one number, got the shape {list(metrics.shape)}")
        return float(metrics.item())
    if isinstance(metrics, (bool, str)) or not hasattr(metrics, "__float__"):
        raise TypeError(f"ReduceOnPlateau.step: metrics must be a number, a tensor or an array, got {type(metrics).__name__}")
    return float(metrics)
