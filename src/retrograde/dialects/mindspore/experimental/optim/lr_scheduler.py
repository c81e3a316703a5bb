"""Schedulers of the learning rates of `experimental.optim` optimisers: `step()` sets the rates of the next epoch.

A schedule gives a rate from the one before, so that several may act on one optimiser.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .....learn import schedules
from ..._parameter import Parameter
from ..._tensor import Tensor, from_array
from .optimizer import Optimizer


class LRScheduler:
    """Base of schedulers: a subclass gives the rates of the groups in `get_lr()`, for `last_epoch`."""

    def __init__(self, optimizer: Any, last_epoch: int = -1) -> None:
        if not isinstance(optimizer, Optimizer):
            raise TypeError(
                f"{type(self).__name__}: wanted an optimizer of experimental.optim, got {type(optimizer).__name__}"
            )
        self.optimizer, self._epoch = optimizer, last_epoch
        for group in optimizer.param_groups:
            group.setdefault("initial_lr", float(group["lr"]))
        self.base_lrs = [group["initial_lr"] for group in optimizer.param_groups]
        self.step()
        for group in optimizer.param_groups:
            group.pop("initial_lr", None)

    @property
    def last_epoch(self) -> Parameter:
        """The epoch whose rates are set."""
        return Parameter(from_array(np.array(self._epoch, np.float32)), name=f"last_epoch_{type(self).__name__}")

    def get_lr(self) -> list[float]:
        """The rates of this epoch; a scheduler defines it."""
        raise NotImplementedError(f"{type(self).__name__}: get_lr() has to be defined")

    def get_last_lr(self) -> list[Tensor]:
        """The rates that are set."""
        return [from_array(np.asarray(group["lr"], np.float32)) for group in self.optimizer.param_groups]

    def step(self, epoch: Any = None) -> None:
        """Go on by an epoch."""
        self._epoch += 1
        for group, rate in zip(self.optimizer.param_groups, self.get_lr()):
            if isinstance(group["lr"], Tensor):
                group["lr"].set_data(Tensor(float(rate), group["lr"].dtype))
            else:
                group["lr"] = float(rate)

    def _rates(self) -> list[float]:
        return [float(group["lr"]) for group in self.optimizer.param_groups]


class _Factor(LRScheduler):
    """A scheduler whose rates are those of the epoch before times a factor."""

    def _factor(self, epoch: int) -> float:
        raise NotImplementedError

    def get_lr(self) -> list[float]:
        factor = self._factor(self._epoch)
        return [rate * factor for rate in self._rates()]


class StepLR(_Factor):
    """Times `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Any, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma if epoch and epoch % self.step_size == 0 else 1.0


class MultiStepLR(_Factor):
    """Times `gamma` at every milestone."""

    def __init__(self, optimizer: Any, milestones: Sequence[int], gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.milestones, self.gamma = list(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return float(self.gamma ** self.milestones.count(epoch))


class ExponentialLR(_Factor):
    """Times `gamma` every epoch."""

    def __init__(self, optimizer: Any, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.gamma if epoch else 1.0


class MultiplicativeLR(_Factor):
    """Times what a function of the epoch gives."""

    def __init__(self, optimizer: Any, lr_lambda: Callable[[int], float], last_epoch: int = -1) -> None:
        self.lr_lambda = lr_lambda
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.lr_lambda(epoch) if epoch else 1.0


class ConstantLR(_Factor):
    """Times `factor` for `total_iters` epochs."""

    def __init__(self, optimizer: Any, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1) -> None:
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return self.factor if epoch == 0 else 1 / self.factor if epoch == self.total_iters else 1.0


class LinearLR(_Factor):
    """Times a factor on a line from `start_factor` to `end_factor` in `total_iters` epochs."""

    def __init__(
        self, optimizer: Any, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        if epoch == 0:
            return self.start_factor
        if epoch > self.total_iters:
            return 1.0
        return schedules.linear_ratio(self.start_factor, self.end_factor, epoch, self.total_iters)


class PolynomialLR(_Factor):
    """Falling to 0 in `total_iters` epochs as a power of what is left."""

    def __init__(self, optimizer: Any, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _factor(self, epoch: int) -> float:
        return 1.0 if not 0 < epoch <= self.total_iters else schedules.polynomial_ratio(epoch, self.total_iters, self.power)


class LambdaLR(LRScheduler):
    """The first rates times what a function of the epoch gives, or one per group."""

    def __init__(self, optimizer: Any, lr_lambda: Any, last_epoch: int = -1) -> None:
        several = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else None
        self.lr_lambdas = several or [lr_lambda] * len(optimizer.param_groups)
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        return [base * f(self._epoch) for base, f in zip(self.base_lrs, self.lr_lambdas)]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave down to `eta_min` in `T_max` epochs, and up again."""

    def __init__(self, optimizer: Any, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[float]:
        if self._epoch == 0:
            return self._rates()
        return [
            schedules.cosine_next(rate, base, self.eta_min, self._epoch, self.T_max)
            for rate, base in zip(self._rates(), self.base_lrs)
        ]
