"""The schedules that let a rate decay: a row each, over the formulas of `retrograde.learn.schedules`."""

from __future__ import annotations

from collections.abc import Callable as Callable
from collections.abc import Sequence as Sequence
from typing import Any

from ....core.number import as_float
from ....learn import schedules
from ..._shared.checks import check
from ..._shared.option_rows import Schedules
from .scheduler_base import Formula, LRScheduler

schedule = Schedules(
    Formula, checks="lr_lambda: function",
    types={"learning_rate": "float", "gamma": "float", "lr_lambda": "Callable[[int], float]"},
)  # fmt: skip

NoamDecay = schedule(
    "NoamDecay", "d_model: int, warmup_steps: int, learning_rate=1.0, last_epoch=-1, verbose=False", schedules.noam,
    "Rising linearly for `warmup_steps`, then falling with the root of the step (Vaswani et al. 2017).",
    checks="d_model > 0",
)  # fmt: skip


def check_pieces(self: Any) -> None:
    """Raise ValueError unless there is one value more than there are boundaries."""
    if not self.boundaries or len(self.values) <= len(self.boundaries):
        n = len(self.boundaries)
        raise ValueError(f"PiecewiseDecay: {n} boundaries take {n + 1} values, and one at least; got {len(self.values)} values")


PiecewiseDecay = schedule(
    "PiecewiseDecay", "boundaries: Sequence[int], values: Sequence[float], last_epoch=-1, verbose=False",
    schedules.piecewise, "The first of `values` before the first of `boundaries`, the second before the second, and so on.",
    checks="boundaries: list; values: list", then=check_pieces,
)  # fmt: skip
NaturalExpDecay = schedule(
    "NaturalExpDecay", "learning_rate, gamma, last_epoch=-1, verbose=False", schedules.natural,
    "The base rate times exp(-gamma epoch).", asserts="gamma > 0",
)  # fmt: skip
InverseTimeDecay = schedule(
    "InverseTimeDecay", "learning_rate, gamma, last_epoch=-1, verbose=False", schedules.inverse,
    "The base rate over 1 + gamma epoch.",
)  # fmt: skip
PolynomialDecay = schedule(
    "PolynomialDecay",
    "learning_rate, decay_steps: int, end_lr=0.0001, power=1.0, cycle=False, last_epoch=-1, verbose=False",
    schedules.polynomial,
    "From the base rate to `end_lr` in `decay_steps`, as a power of what is left; with `cycle` again and again.",
    asserts="decay_steps: int > 0; power > 0", called={"total_iters": "decay_steps", "end": "end_lr"},
)  # fmt: skip
ExponentialDecay = schedule(
    "ExponentialDecay", "learning_rate, gamma, last_epoch=-1, verbose=False", schedules.exponential,
    "The base rate times gamma^epoch.", asserts="gamma in (0, 1)",
)  # fmt: skip
MultiStepDecay = schedule(
    "MultiStepDecay", "learning_rate, milestones: Sequence[int], gamma=0.1, last_epoch=-1, verbose=False",
    schedules.multi_step, "The base rate times gamma for each milestone that is reached.",
    checks="milestones: list rising; gamma < 1",
)  # fmt: skip
StepDecay = schedule(
    "StepDecay", "learning_rate, step_size: int, gamma=0.1, last_epoch=-1, verbose=False", schedules.step,
    "The base rate times gamma for every `step_size` epochs.", checks="step_size: int; gamma < 1", asserts="step_size > 0",
)  # fmt: skip
LambdaDecay = schedule(
    "LambdaDecay", "learning_rate, lr_lambda, last_epoch=-1, verbose=False", schedules.scaled,
    "The base rate times a function of the epoch.",
)  # fmt: skip
MultiplicativeDecay = schedule(
    "MultiplicativeDecay", "learning_rate, lr_lambda, last_epoch=-1, verbose=False", schedules.multiplied,
    "The base rate times the product of a function over the epochs so far.",
)  # fmt: skip
LinearLR = schedule(
    "LinearLR",
    "learning_rate, total_steps: int, start_factor: float = 1.0 / 3, end_factor=1.0, last_epoch=-1, verbose=False",
    None, "The base rate times a factor that moves from `start_factor` to `end_factor` in `total_steps`.",
    chained=schedules.linear_next, checks="start_factor in (0, 1]; end_factor in [0, 1]; total_steps > 0",
    called={"total_iters": "total_steps"},
)  # fmt: skip
CosineAnnealingDecay = schedule(
    "CosineAnnealingDecay", "learning_rate, T_max: int, eta_min: float = 0, last_epoch=-1, verbose=False",
    schedules.cosine,
    "Along a cosine from the base rate to `eta_min` in `T_max` epochs and back (Loshchilov and Hutter 2017).",
    chained=schedules.cosine_next, checks="T_max: int; eta_min: number", asserts="T_max > 0",
)  # fmt: skip


class LinearWarmup(LRScheduler):
    """From `start_lr` to `end_lr` in `warmup_steps`, then a rate or another schedule."""

    def __init__(
        self, learning_rate: float | LRScheduler, warmup_steps: int, start_lr: float, end_lr: float,
        last_epoch: int = -1, verbose: bool = False,
    ) -> None:  # fmt: skip
        if not isinstance(learning_rate, LRScheduler):
            check("LinearWarmup", "learning_rate: number", {"learning_rate": learning_rate})
        check("LinearWarmup", "warmup_steps: int > 0", {"warmup_steps": warmup_steps}, AssertionError)
        if not end_lr > start_lr:
            raise AssertionError(f"LinearWarmup: end_lr must exceed start_lr, got {end_lr} and {start_lr}")
        self.learning_rate = learning_rate
        self.warmup_steps, self.start_lr, self.end_lr = warmup_steps, start_lr, end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def get_lr(self) -> float:
        """The rate of `last_epoch`; after the warm-up the inner schedule moves along."""
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * as_float(self.last_epoch) / as_float(self.warmup_steps) + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return self.learning_rate

    def state_dict(self) -> dict[str, Any]:
        """The state; of an inner schedule as "LinearWarmup_LR"."""
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        super().set_state_dict(state_dict)
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])

    set_dict = set_state_dict
