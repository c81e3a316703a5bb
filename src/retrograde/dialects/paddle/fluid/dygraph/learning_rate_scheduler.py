"""The learning rates of old programs: those that go on by themselves with every step of the optimiser, and by the epoch."""

from __future__ import annotations

from collections.abc import Callable as Callable
from collections.abc import Sequence as Sequence
from typing import Any, ClassVar

from .....learn import schedules as _schedules
from ...._shared.option_rows import ScheduleRow
from ...._shared.option_rows import Schedules as _Schedules
from ....paddle.optimizer import lr as _lr
from ..._api import attributes as _attributes
from ...optimizer import scheduler_base as _scheduler_base
from ...optimizer.decay import check_pieces as _check_pieces


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


class _Formula(LearningRateDecay):
    """A rate that is a row: a formula of the number of the step."""

    _row: ClassVar[ScheduleRow]
    _closed: ClassVar[Any]

    def _set_up(self, row: ScheduleRow, options: dict[str, Any]) -> None:
        if "learning_rate" in options:
            options["learning_rate"] = float(options["learning_rate"])
        given = [options.pop(name) for name in ("begin", "step", "dtype")]
        self.__dict__.update(options)
        if row.then is not None:
            row.then(self)
        LearningRateDecay.__init__(self, *given)

    def _passed(self) -> float:
        """How far the rate has gone."""
        return self.step_num

    def step(self, epoch: int | None = None) -> Any:
        """The rate of step `step_num`."""
        return float(self._closed(getattr(self, "learning_rate", 0.0), self._passed()))


def _periods(self: Any) -> float:
    return self.step_num // self.decay_steps if self.staircase else self.step_num / self.decay_steps


def _epochs(self: Any) -> float:
    return self.step_num // self.step_each_epoch


_old = _Schedules(_Formula, called={"gamma": "decay_rate", "total_iters": "decay_steps", "end": "end_learning_rate"})
_FALLING = 'learning_rate: float, decay_steps: int, decay_rate: float, staircase=False, begin=0, step=1, dtype="float32"'
PiecewiseDecay = _old(
    "PiecewiseDecay", 'boundaries: Sequence[int], values: Sequence[float], begin: int, step=1, dtype="float32"',
    _schedules.piecewise, _lr.PiecewiseDecay.__doc__, then=_check_pieces,
)  # fmt: skip
NaturalExpDecay = _old(
    "NaturalExpDecay", _FALLING, _schedules.natural,
    "The base rate times exp(-decay_rate step / decay_steps), the quotient rounded down with `staircase`.", _passed=_periods,
)  # fmt: skip
ExponentialDecay = _old(
    "ExponentialDecay", _FALLING, _schedules.exponential,
    "The base rate times decay_rate^(step / decay_steps), the exponent rounded down with `staircase`.", _passed=_periods,
)  # fmt: skip
InverseTimeDecay = _old(
    "InverseTimeDecay", _FALLING, _schedules.inverse,
    "The base rate over 1 + decay_rate step / decay_steps, the quotient rounded down with `staircase`.", _passed=_periods,
)  # fmt: skip
PolynomialDecay = _old(
    "PolynomialDecay",
    "learning_rate: float, decay_steps: int, end_learning_rate=0.0001, power=1.0, cycle=False, begin=0, step=1, "
    'dtype="float32"', _schedules.polynomial,
    "From the base rate to `end_learning_rate` in `decay_steps`, as a power of what is left; with `cycle` repeatedly.",
)  # fmt: skip
CosineDecay = _old(
    "CosineDecay", 'learning_rate: float, step_each_epoch: int, epochs: int, begin=0, step=1, dtype="float32"',
    _schedules.cosine, "Along half a cosine from the base rate to 0 in `epochs` of `step_each_epoch` steps.",
    called={"T_max": "epochs"}, _passed=_epochs,
)  # fmt: skip
NoamDecay = _old(
    "NoamDecay", 'd_model: int, warmup_steps: int, begin=1, step=1, dtype="float32", learning_rate=1.0',
    _schedules.noam, _lr.NoamDecay.__doc__,
)  # fmt: skip


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


class _ByEpoch(_scheduler_base.Formula):
    """A schedule that goes on when `epoch()` is called."""

    def epoch(self, epoch: int | None = None) -> None:
        """Go on to the next epoch, or to a given one."""
        self.step(epoch)


_by_epoch = _Schedules(_ByEpoch, called={"gamma": "decay_rate"}, checks="lr_lambda: function; decay_rate < 1")
StepDecay = _by_epoch(
    "StepDecay", "learning_rate: float, step_size: int, decay_rate=0.1", _schedules.step,
    "The base rate times `decay_rate` for every `step_size` epochs.", checks="step_size: int", asserts="step_size > 0",
)  # fmt: skip
MultiStepDecay = _by_epoch(
    "MultiStepDecay", "learning_rate: float, milestones: Sequence[int], decay_rate=0.1", _schedules.multi_step,
    "The base rate times `decay_rate` for each milestone that is reached.", checks="milestones: list rising",
)  # fmt: skip
LambdaDecay = _by_epoch(
    "LambdaDecay", "learning_rate: float, lr_lambda: Callable[[int], float]", _schedules.scaled, _lr.LambdaDecay.__doc__
)  # fmt: skip


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
