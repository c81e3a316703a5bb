"""Schedulers of the learning rates of `experimental.optim` optimisers: `step()` sets the rates of the next epoch.

A schedule gives a rate from the one before, so that several may act on one optimiser.
"""

from __future__ import annotations

import bisect
import functools
from collections.abc import Callable, Sequence
from typing import Any, ClassVar

import numpy as np

from .....learn import schedules
from ...._shared.checks import check
from ...._shared.option_rows import ScheduleRow, Schedules
from ..._parameter import Parameter
from ..._tensor import Tensor, from_array
from .optimizer import Optimizer


def rates_of(optimizer: Any) -> list[Tensor]:
    """The rates that the groups of an optimiser have."""
    return [from_array(np.asarray(group["lr"], np.float32)) for group in optimizer.param_groups]


def set_rate(group: dict[str, Any], rate: float) -> None:
    """Give a group another rate."""
    if isinstance(group["lr"], Tensor):
        group["lr"].set_data(Tensor(rate, group["lr"].dtype))
    else:
        group["lr"] = rate


def _check_optimizer(op: str, optimizer: Any) -> None:
    if not isinstance(optimizer, Optimizer):
        raise TypeError(f"{op}: wanted an optimizer of experimental.optim, got {type(optimizer).__name__}")


class LRScheduler:
    """Base of schedulers: a subclass gives the rates of the groups in `get_lr()`, for `last_epoch`."""

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        _check_optimizer(type(self).__name__, optimizer)
        check(type(self).__name__, "last_epoch: int >= -1", locals())
        self.optimizer, self._epoch = optimizer, last_epoch
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", from_array(np.array(float(group["lr"]), np.float32)))
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self._bases = [float(rate) for rate in self.base_lrs]
        self.step()

    @property
    def last_epoch(self) -> Parameter:
        """The epoch whose rates are set."""
        return Parameter(from_array(np.array(self._epoch, np.float32)), name=f"last_epoch_{type(self).__name__}")

    @property
    def _last_lr(self) -> list[Tensor]:
        """The rates that are set, under the name by which schedulers of programs know them."""
        return self.get_last_lr()

    def get_lr(self) -> list[float]:
        """The rates of this epoch; a scheduler defines it."""
        raise NotImplementedError(f"{type(self).__name__}: get_lr() has to be defined")

    def get_last_lr(self) -> list[Tensor]:
        """The rates that are set."""
        return rates_of(self.optimizer)

    def step(self, epoch: Any = None) -> None:
        """Go on by an epoch, or to one, starting from the first rates."""
        if epoch is None:
            self._epoch += 1
            self._set(self.get_lr())
            return
        self._set(self._bases)
        for self._epoch in range(int(epoch) + 1):
            self._set(self.get_lr())

    def _set(self, rates: Sequence[float]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_rate(group, float(rate))

    def _rates(self) -> list[float]:
        return [float(group["lr"]) for group in self.optimizer.param_groups]


class _Formula(LRScheduler):
    """A scheduler that is a row: the rates are a formula of those before."""

    _row: ClassVar[ScheduleRow]
    _chained: ClassVar[Any]

    def _set_up(self, row: ScheduleRow, options: dict[str, Any]) -> None:
        row.check(options)
        optimizer, last_epoch = options.pop("optimizer"), options.pop("last_epoch")
        self.__dict__.update(options)
        LRScheduler.__init__(self, optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        rates, epoch = self._rates(), self._epoch
        if epoch == 0 and self._row.chained not in schedules.AT_ONCE:
            return rates
        return [self._chained(rate, epoch, base) for rate, base in zip(rates, self._bases)]


schedule = Schedules(_Formula)
StepLR = schedule(
    "StepLR", "optimizer, step_size: int, gamma=0.1, last_epoch=-1", None, "Times `gamma` every `step_size` epochs.",
    chained=schedules.step_next, checks="step_size: int; gamma: float",
)  # fmt: skip
MultiStepLR = schedule(
    "MultiStepLR", "optimizer, milestones: Sequence[int], gamma=0.1, last_epoch=-1", None,
    "Times `gamma` at every milestone.", chained=schedules.multi_step_next,
    checks="milestones: list; gamma: number",
)  # fmt: skip
ExponentialLR = schedule(
    "ExponentialLR", "optimizer, gamma: float, last_epoch=-1", None, "Times `gamma` every epoch.",
    chained=schedules.exponential_next, checks="gamma: float",
)  # fmt: skip
MultiplicativeLR = schedule(
    "MultiplicativeLR", "optimizer, lr_lambda: Callable[[int], float], last_epoch=-1", None,
    "Times what a function of the epoch gives.", chained=schedules.multiplied_next,
)  # fmt: skip
ConstantLR = schedule(
    "ConstantLR", "optimizer, factor: float = 1.0 / 3, total_iters=5, last_epoch=-1", None,
    "Times `factor` for `total_iters` epochs.", chained=schedules.constant_next,
    checks="factor in [0, 1]; total_iters: int",
)  # fmt: skip
LinearLR = schedule(
    "LinearLR", "optimizer, start_factor: float = 1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1", None,
    "Times a factor on a line from `start_factor` to `end_factor` in `total_iters` epochs.", chained=schedules.linear_next,
    checks="start_factor in (0, 1]; end_factor in [0, 1]; total_iters: int",
)  # fmt: skip
PolynomialLR = schedule(
    "PolynomialLR", "optimizer, total_iters=5, power=1.0, last_epoch=-1", None,
    "Falling to 0 in `total_iters` epochs as a power of what is left.", chained=schedules.polynomial_next,
    checks="total_iters: int; power: float >= 0",
)  # fmt: skip
CosineAnnealingLR = schedule(
    "CosineAnnealingLR", "optimizer, T_max: int, eta_min=0.0, last_epoch=-1", None,
    "Half a cosine wave down to `eta_min` in `T_max` epochs, and up again.", chained=schedules.cosine_next,
    checks="T_max: int; eta_min: number",
)  # fmt: skip


class LambdaLR(LRScheduler):
    """The first rates times what a function of the epoch gives, or one per group."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        several = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else None
        self.lr_lambdas = several or [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [base * f(self._epoch) for base, f in zip(self._bases, self.lr_lambdas)]


def _per_group(op: str, name: str, value: Any, optimizer: Any) -> list[float]:
    """A number for all groups, or a list of one per group, as a list; raises TypeError or ValueError."""
    count = len(optimizer.param_groups)
    given = list(value) if isinstance(value, (list, tuple)) else [value] * count
    if len(given) != count:
        raise ValueError(f"{op}: {name} must be a number or {count} of them, one per group, got {len(given)}")
    for v in given:
        if isinstance(v, bool) or not isinstance(v, (int, float)):
            raise TypeError(f"{op}: {name} must be a number, got {type(v).__name__}")
    return [float(v) for v in given]


class CyclicLR(LRScheduler):
    """A triangular wave between two rates (Smith 2017), whose height `mode` or `scale_fn` lets fall."""

    def __init__(
        self, optimizer: Any, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[Any], float] | None = None,
        scale_mode: str = "cycle", last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self._low = low = _per_group("CyclicLR", "base_lr", base_lr, optimizer)
        self.max_lrs = _per_group("CyclicLR", "max_lr", max_lr, optimizer)
        wave = schedules.wave(step_size_up, step_size_down, mode, scale_fn, scale_mode)
        self.total_size, self.step_ratio, self.scale_mode = wave
        self.mode, self.gamma = mode, gamma
        self._scale = scale_fn or functools.partial(schedules.triangle_scale, mode, gamma)
        for group, rate in zip(optimizer.param_groups, low):
            group["initial_lr"] = from_array(np.array(rate, np.float32))
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        wave = self.total_size, self.step_ratio, self._scale, self.scale_mode
        height, scale = schedules.triangle(self._epoch, *wave)
        return [low + (high - low) * height * scale for low, high in zip(self._low, self.max_lrs)]


class CosineAnnealingWarmRestarts(schedules.Restarts, LRScheduler):
    """Half a cosine wave down to `eta_min`, then from the top again; periods grow by `T_mult` (Loshchilov, Hutter 2017)."""

    def __init__(self, optimizer: Any, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        check("CosineAnnealingWarmRestarts", "eta_min: number", locals())
        self._set_periods(T_0, T_mult)
        self.eta_min = eta_min
        super().__init__(optimizer, last_epoch)

    def step(self, epoch: Any = None) -> None:
        """Go on by an epoch, or to one, which may be a fraction."""
        if epoch is not None and epoch < 0:
            raise ValueError(f"CosineAnnealingWarmRestarts: epoch must not be negative, got {epoch}")
        self._epoch = self._epoch + 1 if epoch is None else epoch
        self._set(self.get_lr())

    def get_lr(self) -> list[float]:
        epoch, period = schedules.warm_restart(self._epoch, self.T_0, self.T_mult)
        return [schedules.cosine(base, epoch, T_max=period, eta_min=self.eta_min) for base in self._bases]


class SequentialLR:
    """Schedulers one after the other, each from its milestone on; raises ValueError for counts that do not fit."""

    def __init__(self, optimizer: Any, schedulers: Sequence[Any], milestones: Sequence[int], last_epoch: int = -1) -> None:
        if any(scheduler.optimizer is not optimizer for scheduler in schedulers):
            raise ValueError("SequentialLR: all schedulers must be of the optimizer that was given")
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(f"SequentialLR: {len(schedulers)} schedulers need {len(schedulers) - 1} milestones, "
                             f"got {len(milestones)}")  # fmt: skip
        self.optimizer, self._schedulers, self._milestones = optimizer, list(schedulers), list(milestones)
        self._epoch = last_epoch + 1
        self._schedulers[0].step(0)

    def step(self) -> None:
        """Go on by an epoch."""
        self._epoch += 1
        i = bisect.bisect_right(self._milestones, self._epoch)
        self._schedulers[i].step(0 if i and self._milestones[i - 1] == self._epoch else None)

    def get_last_lr(self) -> list[Tensor]:
        """The rates that are set."""
        return self._schedulers[0].get_last_lr()  # type: ignore[no-any-return]


class ReduceLROnPlateau(schedules.Plateau):
    """The rates times `factor` when a metric has not improved for more than `patience` epochs; `step(metrics)` judges it.

    Raises ValueError for a factor that is not below 1, and for unknown modes.
    """

    def __init__(
        self, optimizer: Any, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        _check_optimizer("ReduceLROnPlateau", optimizer)
        check("ReduceLROnPlateau", "factor < 1; mode in {min, max}; threshold_mode in {rel, abs}", locals())
        self.min_lrs = _per_group("ReduceLROnPlateau", "min_lr", min_lr, optimizer)
        self.optimizer, self.mode, self.factor, self.patience = optimizer, mode, factor, patience
        self.threshold, self.threshold_mode, self.cooldown, self.eps = threshold, threshold_mode, cooldown, eps
        self.last_epoch = 0
        self._reset()

    def step(self, metrics: Any) -> None:
        """Judge the metric of an epoch; raises TypeError for what is no number."""
        if not isinstance(metrics, (int, float, np.number, Tensor)):
            raise TypeError(f"ReduceLROnPlateau.step: wanted a number, got {type(metrics).__name__}")
        current = float(metrics)
        self.last_epoch += 1
        if self._is_due(current):
            self._rest()
            for group, least in zip(self.optimizer.param_groups, self.min_lrs):
                rate = float(group["lr"])
                lower = max(rate * self.factor, least)
                if rate - lower > self.eps:
                    set_rate(group, lower)

    def get_last_lr(self) -> list[Tensor]:
        """The rates that are set."""
        return rates_of(self.optimizer)
