"""The schedules that move rate and momentum in cycles: CyclicLR, OneCycleLR, CosineAnnealingWarmRestarts."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ....learn import schedules
from ..._shared.checks import check
from .optimizer import Optimizer
from .scheduler_base import LRScheduler, Rate, check_optimizer, option_per_group, set_option


def _uses_beta1(scheduler: str, optimizer: Optimizer) -> bool:
    """Whether the momentum of this optimiser is the first of its betas."""
    if "momentum" not in optimizer.defaults and "betas" not in optimizer.defaults:
        raise ValueError(
            f"{scheduler}: {type(optimizer).__name__} has no momentum or betas to cycle; pass cycle_momentum=False"
        )
    return "betas" in optimizer.defaults


def _cycled(this: Any, name: str, lowest: Any, highest: Any, last_epoch: int) -> tuple[list[Any], list[Any]]:
    """Let the groups begin with the highest momentum; the lowest and the highest, one each per group."""
    this.use_beta1 = _uses_beta1(name, this.optimizer)
    lows = option_per_group("base_momentum", lowest, this.optimizer)
    highs = option_per_group("max_momentum", highest, this.optimizer)
    if last_epoch == -1:
        for high, low, group in zip(highs, lows, this.optimizer.param_groups):
            _set_momentum(group, this.use_beta1, high)
            group["max_momentum"], group["base_momentum"] = high, low
    return lows, highs


def _set_momentum(group: dict[str, Any], use_beta1: bool, momentum: float) -> None:
    if use_beta1:
        group["betas"] = (momentum, *group["betas"][1:])
    else:
        group["momentum"] = momentum


class CyclicLR(LRScheduler):
    """A triangular wave between `base_lr` and `max_lr` (Smith 2017), the momentum running against it.

    Raises:
        ValueError: an unknown mode, lists of the wrong length, or no momentum to cycle.
    """

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: float = 2000,
        step_size_down: float | None = None, mode: str = "triangular", gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle", cycle_momentum: bool = True,
        base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        base_lrs = option_per_group("base_lr", base_lr, optimizer)
        if last_epoch == -1:
            for rate, group in zip(base_lrs, optimizer.param_groups):
                set_option(group, "lr", rate)
        self.max_lrs = option_per_group("max_lr", max_lr, optimizer)
        self.total_size, self.step_ratio, by = schedules.wave(step_size_up, step_size_down, mode, scale_fn, scale_mode)
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = by
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.base_momentums, self.max_momentums = _cycled(self, "CyclicLR", base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """The share of the full height in cycle (or iteration) `x`."""
        custom = self._scale_fn_custom
        return schedules.triangle_scale(self.mode, self.gamma, x) if custom is None else custom(x)

    def get_lr(self) -> list[Rate]:
        """The rates of iteration `last_epoch`; sets the momenta."""
        self._current()
        wave = self.total_size, self.step_ratio, self.scale_fn, self.scale_mode
        height, scale = schedules.triangle(self.last_epoch, *wave)
        rates = [base + (top - base) * height * scale for base, top in zip(self.base_lrs, self.max_lrs)]
        if self.cycle_momentum:
            for low, high, group in zip(self.base_momentums, self.max_momentums, self.optimizer.param_groups):
                _set_momentum(group, self.use_beta1, high - (high - low) * height * scale)
        return rates

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser and a plain scale function; of a callable object the attributes."""
        state = super().state_dict()
        custom = state.pop("_scale_fn_custom")
        state["_scale_fn_custom"] = None
        if custom is not None and not isinstance(custom, types.FunctionType):
            state["_scale_fn_custom"] = custom.__dict__.copy()
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; a scale function stays that of this scheduler."""
        state = dict(state_dict)
        attributes = state.pop("_scale_fn_custom")
        super().load_state_dict(state)
        if attributes is not None:
            self._scale_fn_custom.__dict__.update(attributes)


class OneCycleLR(LRScheduler):
    """One cycle up to `max_lr` and down to nearly nothing (Smith and Topin 2018), the momentum running against it.

    Raises:
        ValueError: neither `total_steps` nor `epochs` and `steps_per_epoch`, options out of range, no momentum to
            cycle; in `step`, more steps than the cycle has.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None,
        steps_per_epoch: int | None = None, pct_start: float = 0.3, anneal_strategy: str = "cos",
        cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95, div_factor: float = 25.0,
        final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        if total_steps is None:
            if epochs is None or steps_per_epoch is None:
                raise ValueError("OneCycleLR: give total_steps, or both epochs and steps_per_epoch")
            total_steps = _whole("epochs", epochs) * _whole("steps_per_epoch", steps_per_epoch)
        self.total_steps = _whole("total_steps", total_steps)
        if not isinstance(pct_start, float):
            raise ValueError(f"OneCycleLR: pct_start is {pct_start!r}; wanted a float between 0 and 1")
        check("OneCycleLR", "pct_start in [0, 1]; anneal_strategy in {cos, linear}",
              {"pct_start": pct_start, "anneal_strategy": anneal_strategy})  # fmt: skip
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        max_lrs = option_per_group("max_lr", max_lr, optimizer)
        if last_epoch == -1:
            for group, top in zip(optimizer.param_groups, max_lrs):
                group["initial_lr"] = top / div_factor
                group["max_lr"] = top
                group["min_lr"] = group["initial_lr"] / final_div_factor
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            _cycled(self, "OneCycleLR", base_momentum, max_momentum, last_epoch)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of step `last_epoch`; sets the momenta."""
        self._current()
        i, share = schedules.phase([phase["end_step"] for phase in self._schedule_phases], self.last_epoch)
        phase, interpolate = self._schedule_phases[i], schedules.INTERPOLATIONS[self._anneal_func_type]
        rates = []
        for group in self.optimizer.param_groups:
            rates.append(interpolate(group[phase["start_lr"]], group[phase["end_lr"]], share))
            if self.cycle_momentum:
                momentum = interpolate(group[phase["start_momentum"]], group[phase["end_momentum"]], share)
                _set_momentum(group, self.use_beta1, momentum)
        return rates


def _whole(name: str, value: Any) -> int:
    if not isinstance(value, int) or value <= 0:
        raise ValueError(f"OneCycleLR: {name} is {value!r}; wanted a positive integer")
    return value


def _phases(total_steps: int, pct_start: float, three_phase: bool) -> list[dict[str, Any]]:
    momentum = {"initial": "max_momentum", "max": "base_momentum", "min": "max_momentum"}
    return [
        {"end_step": end, "start_lr": f"{start}_lr", "end_lr": f"{stop}_lr", "start_momentum": momentum[start],
         "end_momentum": momentum[stop]}
        for end, start, stop in schedules.one_cycle(total_steps, pct_start, three_phase)
    ]  # fmt: skip


class CosineAnnealingWarmRestarts(schedules.Restarts, LRScheduler):
    """Cosine annealing that starts anew after `T_0` epochs, then `T_0 * T_mult`, ... (Loshchilov and Hutter 2017).

    Raises:
        ValueError: `T_0` is no positive integer, `T_mult` no integer from 1, `eta_min` no number.
    """

    def __init__(
        self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1
    ) -> None:
        self._set_periods(T_0, T_mult)
        if not isinstance(eta_min, (float, int)):
            raise ValueError(f"CosineAnnealingWarmRestarts: eta_min is {eta_min!r}; wanted a number")
        self.eta_min, self.T_cur = eta_min, last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of the present place in the cycle."""
        self._current()
        return [schedules.cosine(base, self.T_cur, T_max=self.T_i, eta_min=self.eta_min) for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go on by one epoch, or to `epoch`, which may be fractional and is counted from the very start.

        Raises:
            ValueError: `epoch` is negative.
        """
        self._go_to(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)
