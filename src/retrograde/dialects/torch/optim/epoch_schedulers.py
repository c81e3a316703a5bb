"""The schedules that are functions of the epoch: by steps, linear, exponential, polynomial, cosine, or the user's."""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from ....learn import schedules
from ..._shared.option_rows import Schedules
from .optimizer import Optimizer
from .scheduler_base import Formula, LRScheduler, Rate, check_optimizer, option_per_group


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


schedule = Schedules(
    Formula, types={"optimizer": "Optimizer", "step_size": "int", "gamma": "float", "factor": "float", "T_max": "int",
                    "start_factor": "float"},
)  # fmt: skip
StepLR = schedule(
    "StepLR", "optimizer, step_size, gamma=0.1, last_epoch=-1", schedules.step,
    "Multiplies the rate by `gamma` every `step_size` epochs.", chained=schedules.step_next, _resumes=True,
)  # fmt: skip


def _count_milestones(self: Any) -> None:
    self.milestones = Counter(self.milestones)


MultiStepLR = schedule(
    "MultiStepLR", "optimizer, milestones: Iterable[int], gamma=0.1, last_epoch=-1", schedules.multi_step,
    "Multiplies the rate by `gamma` at each milestone (twice where it is given twice).",
    chained=schedules.multi_step_next, _resumes=True, then=_count_milestones,
)  # fmt: skip
ConstantLR = schedule(
    "ConstantLR", "optimizer, factor=1.0 / 3, total_iters=5, last_epoch=-1", schedules.constant,
    "The base rate times `factor` until epoch `total_iters`.", chained=schedules.constant_next,
    checks="factor in [0, 1]", _resumes=True,
)  # fmt: skip
LinearLR = schedule(
    "LinearLR", "optimizer, start_factor=1.0 / 3, end_factor=1.0, total_iters=5, last_epoch=-1", schedules.linear,
    "The base rate times a factor that goes from `start_factor` to `end_factor` in `total_iters` epochs.",
    chained=schedules.linear_next, checks="start_factor in (0, 1]; end_factor in [0, 1]",
)  # fmt: skip
ExponentialLR = schedule(
    "ExponentialLR", "optimizer, gamma, last_epoch=-1", schedules.exponential,
    "Multiplies the rate by `gamma` every epoch.", chained=schedules.exponential_next,
)  # fmt: skip
PolynomialLR = schedule(
    "PolynomialLR", "optimizer, total_iters=5, power=1.0, last_epoch=-1", schedules.polynomial,
    "Lets the rate fall to 0 in `total_iters` epochs, as a power of what is left of them.", chained=schedules.polynomial_next,
)  # fmt: skip
CosineAnnealingLR = schedule(
    "CosineAnnealingLR", "optimizer, T_max, eta_min=0.0, last_epoch=-1", schedules.cosine,
    "Half a cosine wave from the base rate to `eta_min` in `T_max` epochs, and up again.", chained=schedules.cosine_next,
)  # fmt: skip
