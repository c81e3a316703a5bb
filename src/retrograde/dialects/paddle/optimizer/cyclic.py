"""The schedules that move a rate in cycles or by what a metric does."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ....core.value import Value
from ....learn import schedules
from .scheduler_base import LRScheduler, check_positive, check_type


class CosineAnnealingDecay(LRScheduler):
    """Along a cosine from the base rate to `eta_min` in `T_max` epochs and back (Loshchilov and Hutter 2017)."""

    def __init__(
        self, learning_rate: float, T_max: int, eta_min: float = 0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        check_type("CosineAnnealingDecay", "T_max", T_max, int)
        check_type("CosineAnnealingDecay", "eta_min", eta_min, float, int)
        check_positive("CosineAnnealingDecay", "T_max", T_max, AssertionError)
        self.T_max, self.eta_min = T_max, float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`, from the one before."""
        if self.last_epoch == 0:
            return self.base_lr
        return schedules.cosine_next(self.last_lr, self.base_lr, self.eta_min, self.last_epoch, self.T_max)

    def _get_closed_form_lr(self) -> float:
        return schedules.cosine(self.base_lr, self.eta_min, self.last_epoch, self.T_max)


class CosineAnnealingWarmRestarts(LRScheduler):
    """Cosine annealing that starts anew after T_0, T_0 T_mult, T_0 T_mult²... epochs (Loshchilov and Hutter 2017)."""

    def __init__(
        self, learning_rate: float, T_0: int, T_mult: int = 1, eta_min: float = 0, last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        if T_0 <= 0 or not isinstance(T_0, int):
            raise ValueError(f"CosineAnnealingWarmRestarts: T_0 must be a positive int, got {T_0!r}")
        if T_mult < 1 or not isinstance(T_mult, int):
            raise ValueError(f"CosineAnnealingWarmRestarts: T_mult must be an int of at least 1, got {T_mult!r}")
        self.T_0 = self.T_i = T_0
        self.T_mult, self.eta_min = T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate at `T_cur` epochs after the last restart."""
        return schedules.cosine(self.base_lr, self.eta_min, self.T_cur, self.T_i)

    def step(self, epoch: float | None = None) -> None:  # type: ignore[override]
        """Go on by an epoch, or to a given one, which may be a fraction; ValueError for a negative one."""
        if epoch is None:
            epoch = self.last_epoch + 1
            self.T_cur, self.T_i = schedules.restarting(self.T_cur, self.T_i, self.T_mult)
        else:
            if epoch < 0:
                raise ValueError(f"CosineAnnealingWarmRestarts.step: epoch must not be negative, got {epoch}")
            self.T_cur, self.T_i = schedules.warm_restart(epoch, self.T_0, self.T_mult)
        self.last_epoch = math.floor(epoch)
        self.last_lr = self.get_lr()
        self._announce()


class OneCycleLR(LRScheduler):
    """One cycle up to `max_learning_rate` and down to `end_learning_rate` in `total_steps` (Smith and Topin 2018)."""

    def __init__(
        self, max_learning_rate: float, total_steps: int, divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001, phase_pct: float = 0.3, anneal_strategy: str = "cos",
        three_phase: bool = False, last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        check_type("OneCycleLR", "max_learning_rate", max_learning_rate, float, int)
        check_type("OneCycleLR", "total_steps", total_steps, int)
        check_type("OneCycleLR", "end_learning_rate", end_learning_rate, float, int)
        check_type("OneCycleLR", "phase_pct", phase_pct, float)
        for name, value in (("max_learning_rate", max_learning_rate), ("end_learning_rate", end_learning_rate)):
            if value < 0:
                raise ValueError(f"OneCycleLR: {name} must not be negative, got {value}")
        check_positive("OneCycleLR", "total_steps", total_steps)
        if not 0 <= phase_pct <= 1:
            raise ValueError(f"OneCycleLR: phase_pct must be between 0 and 1, got {phase_pct}")
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(f"OneCycleLR: anneal_strategy must be 'cos' or 'linear', got {anneal_strategy!r}")
        if three_phase and phase_pct >= 0.5:
            raise ValueError(f"OneCycleLR: with three_phase, phase_pct must be below 0.5, got {phase_pct}")
        initial = max_learning_rate / float(divide_factor)
        rates = [initial, max_learning_rate, *([initial] if three_phase else []), end_learning_rate]
        peak = phase_pct * total_steps - 1
        ends = [peak, *([2 * phase_pct * total_steps - 2] if three_phase else []), total_steps - 1]
        self.total_steps = total_steps
        self._phases = list(zip([0.0, *ends[:-1]], ends, rates, rates[1:]))
        cosine = anneal_strategy == "cos"
        self._interpolate = schedules.interpolate_cosine if cosine else schedules.interpolate_linear
        super().__init__(initial, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of step `last_epoch`; ValueError beyond the cycle."""
        step = self.last_epoch
        if step > self.total_steps:
            raise ValueError(f"OneCycleLR: step {step} of a cycle that has {self.total_steps} steps")
        for phase in self._phases:
            start, end, low, high = phase
            if step <= end or phase is self._phases[-1]:
                return self._interpolate(low, high, (step - start) / (end - start))
        raise AssertionError("a cycle has phases")


class CyclicLR(LRScheduler):
    """A triangular wave between two rates (Smith 2017)."""

    def __init__(
        self, base_learning_rate: float, max_learning_rate: float, step_size_up: int,
        step_size_down: int | None = None, mode: str = "triangular", exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:  # fmt: skip
        check_type("CyclicLR", "max_learning_rate", max_learning_rate, float, int)
        check_type("CyclicLR", "base_learning_rate", base_learning_rate, float, int)
        if max_learning_rate < 0:
            raise ValueError(f"CyclicLR: max_learning_rate must not be negative, got {max_learning_rate}")
        check_type("CyclicLR", "step_size_up", step_size_up, int)
        check_type("CyclicLR", "step_size_down", step_size_down, int, type(None))
        check_positive("CyclicLR", "step_size_up", step_size_up)
        if step_size_down is not None:
            check_positive("CyclicLR", "step_size_down", step_size_down)
        if mode not in ("triangular", "triangular2", "exp_range") and scale_fn is None:
            raise ValueError(f"CyclicLR: mode must be 'triangular', 'triangular2' or 'exp_range', got {mode!r}")
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(f"CyclicLR: scale_mode must be 'cycle' or 'iterations', got {scale_mode!r}")
        rising = float(step_size_up)
        self.cycle_size = rising + float(step_size_up if step_size_down is None else step_size_down)
        self.step_up_pct = rising / self.cycle_size
        self.max_lr, self.amplitude = float(max_learning_rate), max_learning_rate - base_learning_rate
        if scale_fn is not None:
            self.scale_fn, self.scale_mode = scale_fn, scale_mode
        else:
            self.scale_fn = {
                "triangular": lambda _x: 1.0, "triangular2": lambda x: 1 / (2.0 ** (x - 1)),
                "exp_range": lambda x: exp_gamma**x,
            }[mode]  # fmt: skip
            self.scale_mode = "iterations" if mode == "exp_range" else "cycle"
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of iteration `last_epoch`."""
        cycle, height = schedules.triangle(self.last_epoch, self.cycle_size, self.step_up_pct)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        return self.base_lr + self.amplitude * height * scale


class ReduceOnPlateau(LRScheduler):
    """The rate times `factor` whenever a metric has not improved for `patience` epochs."""

    def __init__(
        self, learning_rate: float, mode: str = "min", factor: float = 0.1, patience: int = 10,
        threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0, min_lr: float = 0,
        epsilon: float = 1e-8, verbose: bool = False,
    ) -> None:  # fmt: skip
        mode, threshold_mode = mode.lower(), threshold_mode.lower()
        if mode not in ("min", "max"):
            raise ValueError(f"ReduceOnPlateau: mode must be 'min' or 'max', got {mode!r}")
        if factor >= 1.0:
            raise ValueError(f"ReduceOnPlateau: factor must be below 1, got {factor}")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(f"ReduceOnPlateau: threshold_mode must be 'rel' or 'abs', got {threshold_mode!r}")
        check_type("ReduceOnPlateau", "learning_rate", learning_rate, float, int)
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
        if self.best is None or schedules.improved(
            number, self.best, self.threshold, self.mode, self.threshold_mode
        ):
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
            raise AssertionError(
                f"ReduceOnPlateau.step: wanted one number, got the shape {list(metrics.shape)}"
            )
        return float(metrics.item())
    if isinstance(metrics, (bool, str)) or not hasattr(metrics, "__float__"):
        raise TypeError(f"ReduceOnPlateau.step: metrics must be a number, a tensor or an array, got {type(metrics).__name__}")
    return float(metrics)
