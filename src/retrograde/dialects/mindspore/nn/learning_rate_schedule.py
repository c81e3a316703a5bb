"""Learning rates as cells that compute the rate of a step: `nn.CosineDecayLR` and its like. All compute in float32."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from ....learn import schedules
from ..._shared.option_rows import ScheduleRow, Schedules
from .._tensor import Tensor, from_array
from .cell import Cell

_f32 = np.float32


class LearningRateSchedule(Cell):
    """Base of schedules: `construct(global_step)` gives the learning rate of a step, a 0-d tensor."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, global_step: Any) -> Any:
        """The learning rate of a step; a schedule defines it."""
        raise NotImplementedError(f"{type(self).__name__}: construct(global_step) has to be defined")


class _Formula(LearningRateSchedule):
    """A schedule that is a row."""

    _row: ClassVar[ScheduleRow]

    def _set_up(self, row: ScheduleRow, options: dict[str, Any]) -> None:
        Cell.__init__(self)
        row.check(options)
        for name, value in options.items():
            setattr(self, name, value)
        if row.then is not None:
            row.then(self)

    def construct(self, global_step: Any) -> Any:
        """The learning rate of a step."""
        step = _f32(global_step.asnumpy().item() if isinstance(global_step, Tensor) else global_step)
        options = {name: getattr(self, name) for name in self._row.names}
        given = {name: x if isinstance(x, bool) else _f32(x) for name, x in options.items()}
        return from_array(np.asarray(self._row.closed(step, **given), _f32))  # type: ignore[misc]  # each has one


# ------------------------------------------------------------------------------------------ formulas by MindSpore's options


def _periods(step: Any, length: Any, stair: bool) -> Any:
    return np.floor(step / length) if stair else step / length


def exponential(step: Any, learning_rate: Any, decay_rate: Any, decay_steps: Any, is_stair: bool) -> Any:
    """`learning_rate * decay_rate ** (step / decay_steps)`."""
    return schedules.exponential(learning_rate, _periods(step, decay_steps, is_stair), gamma=decay_rate)


def natural(step: Any, learning_rate: Any, decay_rate: Any, decay_steps: Any, is_stair: bool) -> Any:
    """`learning_rate * exp(-decay_rate * step)`; by whole periods where `is_stair`."""
    step = _periods(step, decay_steps, True) * decay_steps if is_stair else step
    return schedules.natural(learning_rate, step, gamma=decay_rate)


def inverse(step: Any, learning_rate: Any, decay_rate: Any, decay_steps: Any, is_stair: bool) -> Any:
    """`learning_rate / (1 + decay_rate * step / decay_steps)`."""
    return schedules.inverse(learning_rate, _periods(step, decay_steps, is_stair), gamma=decay_rate)


def cosine(step: Any, min_lr: Any, max_lr: Any, decay_steps: Any) -> Any:
    """Half a cosine wave from `max_lr` at step 0 to `min_lr` at `decay_steps`."""
    return schedules.interpolate_cosine(max_lr, min_lr, min(step, decay_steps) / decay_steps)


def polynomial(
    step: Any, learning_rate: Any, end_learning_rate: Any, decay_steps: Any, power: Any, update_decay_steps: bool
) -> Any:  # fmt: skip
    """From `learning_rate` to `end_learning_rate` as a power of the steps left."""
    return schedules.polynomial(
        learning_rate, step, total_iters=decay_steps, power=power, end=end_learning_rate, cycle=update_decay_steps
    )  # fmt: skip


def warm_up(step: Any, learning_rate: Any, warmup_steps: Any) -> Any:
    """From 0 up to `learning_rate` in `warmup_steps` steps, then constant."""
    return learning_rate * min(step, warmup_steps) / warmup_steps


CHECKS = (
    "learning_rate: float > 0; decay_rate: float > 0; is_stair: bool; min_lr: float >= 0; max_lr: float > 0; "
    "end_learning_rate: float >= 0; power: float > 0; decay_steps: int > 0; warmup_steps: int > 0; "
    "update_decay_steps: bool; update_decay_epoch: bool; total_step: int > 0; step_per_epoch: int > 0; decay_epoch: int > 0; "
    "warmup_epoch: int > 0"
)
"""What the options of the schedules, here and in dynamic_lr.py, have to be."""


def check_order(op: str, options: dict[str, Any]) -> None:
    """Raise ValueError where a rate is to fall to one that is not below it."""
    for low, high in (("min_lr", "max_lr"), ("end_learning_rate", "learning_rate")):
        if low in options and options[low] >= options[high]:
            raise ValueError(f"{op}: {low} must be below {high}, got {options[low]} and {options[high]}")


def _falls(self: Any) -> None:
    check_order(self._row.name, self.__dict__)


schedule = Schedules(_Formula, checks=CHECKS)
ExponentialDecayLR = schedule(
    "ExponentialDecayLR", "learning_rate: float, decay_rate: float, decay_steps: int, is_stair=False", exponential,
    "`learning_rate * decay_rate ** (step / decay_steps)`, the exponent a whole number where `is_stair`.",
)  # fmt: skip
NaturalExpDecayLR = schedule(
    "NaturalExpDecayLR", "learning_rate: float, decay_rate: float, decay_steps: int, is_stair=False", natural,
    "`learning_rate * exp(-decay_rate * step)`, the step a multiple of `decay_steps` where `is_stair`.",
)  # fmt: skip
InverseDecayLR = schedule(
    "InverseDecayLR", "learning_rate: float, decay_rate: float, decay_steps: int, is_stair=False", inverse,
    "`learning_rate / (1 + decay_rate * step / decay_steps)`, the quotient a whole number where `is_stair`.",
)  # fmt: skip
CosineDecayLR = schedule(
    "CosineDecayLR", "min_lr: float, max_lr: float, decay_steps: int", cosine,
    "Half a cosine wave from `max_lr` down to `min_lr` in `decay_steps` steps.", then=_falls,
)  # fmt: skip
PolynomialDecayLR = schedule(
    "PolynomialDecayLR",
    "learning_rate: float, end_learning_rate: float, decay_steps: int, power: float, update_decay_steps=False",
    polynomial, "From `learning_rate` to `end_learning_rate` as a power of the steps left.", then=_falls,
)  # fmt: skip
WarmUpLR = schedule("WarmUpLR", "learning_rate: float, warmup_steps: int", warm_up, warm_up.__doc__ or "")
