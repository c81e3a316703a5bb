"""The schedules that are functions of the epoch: by steps, linear, exponential, polynomial, cosine, or the user's."""

from __future__ import annotations

import types
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ....learn import schedules
from .optimizer import Optimizer
from .scheduler_base import LRScheduler, Rate, check_optimizer, option_per_group


def _function_states(functions: Iterable[Any]) -> list[dict[str, Any] | None]:
    """What can be saved of functions: the attributes of callable objects."""
    return [None if isinstance(f, types.FunctionType) else f.__dict__.copy() for f in functions]


class _Lambdas(LRScheduler):
    """What LambdaLR and MultiplicativeLR share: a function of the epoch per parameter group."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Any, last_epoch: int = -1) -> None:
        self.optimizer = optimizer
        check_optimizer(optimizer)
        self.lr_lambdas: list[Callable[[int], float]] = option_per_group("lr_lambda", lr_lambda, optimizer)
        if not all(map(callable, self.lr_lambdas)):
            raise TypeError(f"{type(self).__name__}: lr_lambda must be a function of the epoch, or a list of such")
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser and plain functions; of callable objects the attributes."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "lr_lambdas")}
        state["lr_lambdas"] = _function_states(self.lr_lambdas)
        return state

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; functions stay those of this scheduler."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for function, state in zip(self.lr_lambdas, state_dict["lr_lambdas"]):
            if state is not None:
                function.__dict__.update(state)


class LambdaLR(_Lambdas):
    """The base rate times a function of the epoch."""

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        self._current()
        return [base * function(self.last_epoch) for function, base in zip(self.lr_lambdas, self.base_lrs)]


class MultiplicativeLR(_Lambdas):
    """The rate of the epoch before times a function of the epoch."""

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates = self._current()
        if self._is_initial:
            return rates
        return [rate * function(self.last_epoch) for function, rate in zip(self.lr_lambdas, rates)]


class StepLR(LRScheduler):
    """Multiplies the rate by `gamma` every `step_size` epochs."""

    def __init__(self, optimizer: Optimizer, step_size: int, gamma: float = 0.1, last_epoch: int = -1) -> None:
        self.step_size, self.gamma = step_size, gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates = self._current()
        if self.last_epoch == 0 or self.last_epoch % self.step_size != 0:
            return rates
        return [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma ** (self.last_epoch // self.step_size) for base in self.base_lrs]


class MultiStepLR(LRScheduler):
    """Multiplies the rate by `gamma` at each milestone (twice where it is given twice)."""

    def __init__(
        self, optimizer: Optimizer, milestones: Iterable[int], gamma: float = 0.1, last_epoch: int = -1
    ) -> None:
        self.milestones, self.gamma = Counter(milestones), gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates = self._current()
        times = next((n for epoch, n in self.milestones.items() if self.last_epoch == epoch), 0)  # a traced epoch has no hash
        return [rate * self.gamma**times for rate in rates] if times else rates

    def _get_closed_form_lr(self) -> list[Rate]:
        passed = bisect_right(sorted(self.milestones.elements()), self.last_epoch)
        return [base * self.gamma**passed for base in self.base_lrs]


class ConstantLR(LRScheduler):
    """The base rate times `factor` until epoch `total_iters`.

    Raises:
        ValueError: `factor` is outside [0, 1].
    """

    def __init__(
        self, optimizer: Optimizer, factor: float = 1.0 / 3, total_iters: int = 5, last_epoch: int = -1
    ) -> None:
        if factor > 1.0 or factor < 0:
            raise ValueError(f"ConstantLR: factor is {factor}; wanted 0 <= factor <= 1")
        self.factor, self.total_iters = factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates = self._current()
        if self.last_epoch == 0:
            return [rate * self.factor for rate in rates]
        if self.last_epoch != self.total_iters:
            return rates
        return [rate * (1.0 / self.factor) for rate in rates]

    def _get_closed_form_lr(self) -> list[Rate]:
        factor = self.factor + (self.last_epoch >= self.total_iters) * (1 - self.factor)
        return [base * factor for base in self.base_lrs]


class LinearLR(LRScheduler):
    """The base rate times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs.

    Raises:
        ValueError: `start_factor` is outside (0, 1], or `end_factor` outside [0, 1].
    """

    def __init__(
        self,
        optimizer: Optimizer,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        total_iters: int = 5,
        last_epoch: int = -1,
    ) -> None:
        if start_factor > 1.0 or start_factor <= 0:
            raise ValueError(f"LinearLR: start_factor is {start_factor}; wanted 0 < start_factor <= 1")
        if end_factor > 1.0 or end_factor < 0:
            raise ValueError(f"LinearLR: end_factor is {end_factor}; wanted 0 <= end_factor <= 1")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates = self._current()
        if self.last_epoch == 0:
            return [rate * self.start_factor for rate in rates]
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates
        ratio = schedules.linear_ratio(self.start_factor, self.end_factor, self.last_epoch, self.total_iters)
        return [rate * ratio for rate in rates]

    def _get_closed_form_lr(self) -> list[Rate]:
        factor = schedules.linear_factor(self.start_factor, self.end_factor, self.last_epoch, self.total_iters)
        return [base * factor for base in self.base_lrs]


class ExponentialLR(LRScheduler):
    """Multiplies the rate by `gamma` every epoch."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates = self._current()
        return rates if self._is_initial else [rate * self.gamma for rate in rates]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [base * self.gamma**self.last_epoch for base in self.base_lrs]


class PolynomialLR(LRScheduler):
    """Lets the rate fall to 0 in `total_iters` epochs, as a power of what is left of them."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates = self._current()
        if self._is_initial or self.last_epoch > self.total_iters:
            return rates
        ratio = schedules.polynomial_ratio(self.last_epoch, self.total_iters, self.power)
        return [rate * ratio for rate in rates]

    def _get_closed_form_lr(self) -> list[Rate]:
        factor = schedules.polynomial_factor(self.last_epoch, self.total_iters, self.power)
        return [base * factor for base in self.base_lrs]


class CosineAnnealingLR(LRScheduler):
    """Half a cosine wave from the base rate to `eta_min` in `T_max` epochs, and up again."""

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates = self._current()
        if self._is_initial:
            return rates
        return [
            schedules.cosine_next(rate, base, self.eta_min, self.last_epoch, self.T_max)
            for base, rate in zip(self.base_lrs, rates)
        ]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [schedules.cosine(base, self.eta_min, self.last_epoch, self.T_max) for base in self.base_lrs]
