"""Learning rates as cells that compute the rate of a step: `nn.CosineDecayLR` and its like. All compute in float32."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._tensor import Tensor, from_array
from . import _decay
from ._checks import positive_float, positive_int
from .cell import Cell

_f32 = np.float32


class LearningRateSchedule(Cell):
    """Base of schedules: `construct(global_step)` gives the learning rate of a step, a 0-d tensor."""

    def __init__(self) -> None:
        super().__init__()

    def construct(self, global_step: Any) -> Any:
        """The learning rate of a step; a schedule defines it."""
        raise NotImplementedError(f"{type(self).__name__}: construct(global_step) has to be defined")


def _step(global_step: Any) -> Any:
    """A step (a tensor of one element or a number) as float32."""
    return _f32(global_step.asnumpy().item() if isinstance(global_step, Tensor) else global_step)


def _rate(value: Any) -> Tensor:
    return from_array(np.asarray(value, _f32))


class _Decay(LearningRateSchedule):
    """A schedule of a rate, a factor, a number of steps and whether it falls in stairs."""

    def __init__(self, learning_rate: float, decay_rate: float, decay_steps: int, is_stair: bool = False) -> None:
        super().__init__()
        name = type(self).__name__
        _decay.check_rates(name, learning_rate, decay_rate, is_stair)
        positive_int(name, "decay_steps", decay_steps)
        self.learning_rate, self.decay_rate, self.decay_steps = learning_rate, decay_rate, decay_steps
        self.is_stair = is_stair

    def construct(self, global_step: Any) -> Any:
        rates = _f32(self.learning_rate), _f32(self.decay_rate)
        return _rate(type(self)._formula(*rates, _step(global_step), _f32(self.decay_steps), self.is_stair))

    _formula: Any


class ExponentialDecayLR(_Decay):
    """`learning_rate * decay_rate ** (step / decay_steps)`, the exponent a whole number where `is_stair`."""

    _formula = staticmethod(_decay.exponential)


class NaturalExpDecayLR(_Decay):
    """`learning_rate * exp(-decay_rate * step)`, the step a multiple of `decay_steps` where `is_stair`."""

    _formula = staticmethod(_decay.natural)


class InverseDecayLR(_Decay):
    """`learning_rate / (1 + decay_rate * step / decay_steps)`, the quotient a whole number where `is_stair`."""

    _formula = staticmethod(_decay.inverse)


class CosineDecayLR(LearningRateSchedule):
    """Half a cosine wave from `max_lr` down to `min_lr` in `decay_steps` steps."""

    def __init__(self, min_lr: float, max_lr: float, decay_steps: int) -> None:
        super().__init__()
        _decay.check_cosine("CosineDecayLR", min_lr, max_lr)
        self.min_lr, self.max_lr = min_lr, max_lr
        self.decay_steps = positive_int("CosineDecayLR", "decay_steps", decay_steps)

    def construct(self, global_step: Any) -> Any:
        return _rate(_decay.cosine(_f32(self.min_lr), _f32(self.max_lr), _step(global_step), _f32(self.decay_steps)))


class PolynomialDecayLR(LearningRateSchedule):
    """From `learning_rate` to `end_learning_rate` as a power of the steps left."""

    def __init__(
        self, learning_rate: float, end_learning_rate: float, decay_steps: int, power: float,
        update_decay_steps: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        name = "PolynomialDecayLR"
        _decay.check_polynomial(name, learning_rate, end_learning_rate, power, update_decay_steps)
        self.learning_rate, self.end_learning_rate, self.power = learning_rate, end_learning_rate, power
        self.decay_steps, self.update_decay_steps = positive_int(name, "decay_steps", decay_steps), update_decay_steps

    def construct(self, global_step: Any) -> Any:
        return _rate(_decay.polynomial(
            _f32(self.learning_rate), _f32(self.end_learning_rate), _step(global_step), _f32(self.decay_steps),
            _f32(self.power), self.update_decay_steps,
        ))  # fmt: skip


class WarmUpLR(LearningRateSchedule):
    """From 0 up to `learning_rate` in `warmup_steps` steps, then constant."""

    def __init__(self, learning_rate: float, warmup_steps: int) -> None:
        super().__init__()
        self.learning_rate = positive_float("WarmUpLR", "learning_rate", learning_rate)
        self.warmup_steps = positive_int("WarmUpLR", "warmup_steps", warmup_steps)

    def construct(self, global_step: Any) -> Any:
        return _rate(_decay.warm_up(_f32(self.learning_rate), _step(global_step), _f32(self.warmup_steps)))
