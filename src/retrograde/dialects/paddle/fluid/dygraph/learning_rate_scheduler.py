"""The learning rates of old programs: those that go on by themselves with every step of the optimiser, and by the epoch."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Sequence
from typing import Any

from ....paddle.optimizer import lr as _lr
from ..._api import attributes as _attributes


class LearningRateDecay(_lr.LRScheduler):
    """Base of the rates that go on with every step: `step()` gives the rate of step `step_num`.

    begin: the number of the first step. step: by how much the number grows.
    """

    def __init__(self, begin: int = 0, step: int = 1, dtype: Any = "float32") -> None:
        self.step_num, self.step_size, self.dtype = begin, step, dtype
        self.last_lr = self._rate()

    def _rate(self) -> float:
        rate = self.step()
        return float(rate() if isinstance(rate, _lr.LRScheduler) else rate)

    def advance(self) -> float:
        """The rate of this step, after which the next one is due."""
        self.last_lr = self._rate()
        self.step_num += self.step_size
        return self.last_lr

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`; a rate of one's own defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no step")

    def state_keys(self) -> None:
        """Name in `self.keys` the attributes that belong to the state."""
        self.keys = ["step_num"]


class PiecewiseDecay(LearningRateDecay):
    """The first of `values` before the first of `boundaries`, the second before the second, and so on."""

    def __init__(self, boundaries: Sequence[int], values: Sequence[float], begin: int, step: int = 1,
                 dtype: Any = "float32") -> None:  # fmt: skip
        if len(values) != len(boundaries) + 1:
            raise ValueError(
                f"PiecewiseDecay: {len(boundaries)} boundaries take {len(boundaries) + 1} values, got {len(values)}"
            )
        self.boundaries, self.values = list(boundaries), list(values)
        super().__init__(begin, step, dtype)

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        return self.values[bisect.bisect_right(self.boundaries, self.step_num)]


class _Falling(LearningRateDecay):
    """A rate that falls with the number of steps over `decay_steps`; with `staircase` that is rounded down."""

    def __init__(
        self, learning_rate: float, decay_steps: int, decay_rate: float, staircase: bool = False, begin: int = 0,
        step: int = 1, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        self.learning_rate, self.decay_steps, self.decay_rate = float(learning_rate), decay_steps, decay_rate
        self.staircase = staircase
        super().__init__(begin, step, dtype)

    def _part(self) -> float:
        return self.step_num // self.decay_steps if self.staircase else self.step_num / self.decay_steps


class NaturalExpDecay(_Falling):
    """The base rate times exp(-decay_rate step / decay_steps)."""

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        return self.learning_rate * math.exp(-self.decay_rate * self._part())


class ExponentialDecay(_Falling):
    """The base rate times decay_rate^(step / decay_steps)."""

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        return float(self.learning_rate * self.decay_rate ** self._part())


class InverseTimeDecay(_Falling):
    """The base rate over 1 + decay_rate step / decay_steps."""

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        return self.learning_rate / (1 + self.decay_rate * self._part())


class PolynomialDecay(LearningRateDecay):
    """From the base rate to `end_learning_rate` in `decay_steps`, as a power of what is left; with `cycle` repeatedly."""

    def __init__(
        self, learning_rate: float, decay_steps: int, end_learning_rate: float = 0.0001, power: float = 1.0,
        cycle: bool = False, begin: int = 0, step: int = 1, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        self.learning_rate, self.decay_steps = float(learning_rate), decay_steps
        self.end_learning_rate, self.power, self.cycle = end_learning_rate, power, cycle
        super().__init__(begin, step, dtype)

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        steps, now = self.decay_steps, self.step_num
        if self.cycle:
            steps *= max(1, math.ceil(now / steps))
        left = (1 - min(now, steps) / steps) ** self.power
        return float((self.learning_rate - self.end_learning_rate) * left + self.end_learning_rate)


class CosineDecay(LearningRateDecay):
    """Along half a cosine from the base rate to 0 in `epochs` of `step_each_epoch` steps."""

    def __init__(
        self, learning_rate: float, step_each_epoch: int, epochs: int, begin: int = 0, step: int = 1,
        dtype: Any = "float32",
    ) -> None:  # fmt: skip
        self.learning_rate, self.step_each_epoch, self.epochs = float(learning_rate), step_each_epoch, epochs
        super().__init__(begin, step, dtype)

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        now = self.step_num // self.step_each_epoch
        return self.learning_rate * 0.5 * (math.cos(now * math.pi / self.epochs) + 1)


class NoamDecay(LearningRateDecay):
    """Rising linearly for `warmup_steps`, then falling with the root of the step (Vaswani et al. 2017)."""

    def __init__(
        self, d_model: int, warmup_steps: int, begin: int = 1, step: int = 1, dtype: Any = "float32",
        learning_rate: float = 1.0,
    ) -> None:  # fmt: skip
        self.d_model, self.warmup_steps, self.learning_rate = d_model, warmup_steps, float(learning_rate)
        super().__init__(begin, step, dtype)

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        falling = self.step_num**-0.5 if self.step_num else math.inf
        return float(self.learning_rate * self.d_model**-0.5 * min(falling, self.warmup_steps**-1.5 * self.step_num))


class LinearLrWarmup(LearningRateDecay):
    """From `start_lr` to `end_lr` in `warmup_steps`, then a rate or one that goes on by itself."""

    def __init__(
        self, learning_rate: Any, warmup_steps: int, start_lr: float, end_lr: float, begin: int = 1, step: int = 1,
        dtype: Any = "float32",
    ) -> None:  # fmt: skip
        if not isinstance(learning_rate, (LearningRateDecay, float, int)):
            raise TypeError(
                f"LinearLrWarmup: learning_rate must be a number or a LearningRateDecay, got {type(learning_rate).__name__}"
            )
        self.learning_rate, self.warmup_steps, self.start_lr = learning_rate, warmup_steps, start_lr
        if not end_lr > start_lr:
            raise AssertionError(f"LinearLrWarmup: end_lr must exceed start_lr, got {end_lr} and {start_lr}")
        self.lr_ratio_before_warmup = (float(end_lr) - float(start_lr)) / float(warmup_steps)
        super().__init__(begin, step, dtype)

    def advance(self) -> float:
        """The rate of this step, after which the next one is due, here and in the rate behind the warm-up."""
        rate = super().advance()
        if isinstance(self.learning_rate, LearningRateDecay):
            self.learning_rate.advance()
        return rate

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        if self.step_num < self.warmup_steps:
            return self.lr_ratio_before_warmup * self.step_num + self.start_lr
        rate = self.learning_rate
        return rate._rate() if isinstance(rate, LearningRateDecay) else float(rate)


class _ByEpoch(_lr.LRScheduler):
    """Mixed in before a schedule that goes on when `epoch()` is called."""

    def epoch(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to a given one."""
        self.step(epoch)


class StepDecay(_ByEpoch, _lr.StepDecay):
    """The base rate times `decay_rate` for every `step_size` epochs."""

    def __init__(self, learning_rate: float, step_size: int, decay_rate: float = 0.1) -> None:
        super().__init__(learning_rate, step_size, decay_rate)


class MultiStepDecay(_ByEpoch, _lr.MultiStepDecay):
    """The base rate times `decay_rate` for each milestone that is reached."""

    def __init__(self, learning_rate: float, milestones: Sequence[int], decay_rate: float = 0.1) -> None:
        super().__init__(learning_rate, milestones, decay_rate)


class LambdaDecay(_ByEpoch, _lr.LambdaDecay):
    """The base rate times a function of the epoch."""

    def __init__(self, learning_rate: float, lr_lambda: Callable[[int], float]) -> None:
        super().__init__(learning_rate, lr_lambda)


class ReduceLROnPlateau(_lr.ReduceOnPlateau):
    """The base rate, times `decay_rate` whenever `step(loss)` has seen no better loss for `patience` epochs."""

    def __init__(
        self, learning_rate: float, mode: str = "min", decay_rate: float = 0.1, patience: int = 10,
        verbose: bool = False, threshold: float = 1e-4, threshold_mode: str = "rel", cooldown: int = 0,
        min_lr: float = 0, eps: float = 1e-8, dtype: Any = "float32",
    ) -> None:  # fmt: skip
        super().__init__(
            learning_rate, mode, decay_rate, patience, threshold, threshold_mode, cooldown, min_lr, eps, verbose
        )


__all__ = [
    "CosineDecay", "ExponentialDecay", "InverseTimeDecay", "LambdaDecay", "LearningRateDecay", "LinearLrWarmup",
    "MultiStepDecay", "NaturalExpDecay", "NoamDecay", "PiecewiseDecay", "PolynomialDecay", "ReduceLROnPlateau", "StepDecay",
]  # fmt: skip

__getattr__ = _attributes(globals())
