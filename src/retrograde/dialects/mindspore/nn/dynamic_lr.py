"""Learning rates as lists of one rate per step: `nn.piecewise_constant_lr`, `nn.cosine_decay_lr` and their like.

The formulas are those of the schedules that compute a rate when it is needed (learning_rate_schedule.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._shared.registry import defined
from . import _decay
from ._checks import positive_float, positive_int


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """`learning_rates[i]` for the steps before `milestone[i]` that the milestones before leave.

    Raises:
        TypeError: the arguments are no lists or tuples; a milestone is no int, a rate no float.
        ValueError: different lengths, an empty list, milestones that do not rise.
    """
    op = "piecewise_constant_lr"
    for name, given in (("milestone", milestone), ("learning_rates", learning_rates)):
        if not isinstance(given, (list, tuple)):
            raise TypeError(f"{op}: {name} must be a list or tuple, got {type(given).__name__}")
    if not milestone or len(milestone) != len(learning_rates):
        raise ValueError(
            f"{op}: wanted one rate for each of the milestones, got {len(milestone)} milestones and "
            f"{len(learning_rates)} rates"
        )
    rates: list[float] = []
    for i, (until, rate) in enumerate(zip(milestone, learning_rates)):
        positive_int(op, f"milestone[{i}]", until)
        if not isinstance(rate, float):
            raise TypeError(f"{op}: learning_rates[{i}] must be a float, got {type(rate).__name__}")
        if i and until <= milestone[i - 1]:
            raise ValueError(f"{op}: milestones must rise, but milestone[{i}] is {until} after {milestone[i - 1]}")
        rates += [rate] * (until - len(rates))
    return rates


def _per_epoch(op: str, total_step: int, step_per_epoch: int, epochs: int, rate: Callable[[int], Any]) -> list[float]:
    positive_int(op, "total_step", total_step)
    positive_int(op, "step_per_epoch", step_per_epoch)
    positive_int(op, "decay_epoch", epochs)
    return [float(rate(step // step_per_epoch)) for step in range(total_step)]


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:  # fmt: skip
    """Half a cosine wave from `max_lr` down to `min_lr` in `decay_epoch` epochs."""
    op = "cosine_decay_lr"
    _decay.check_cosine(op, min_lr, max_lr)
    return _per_epoch(
        op, total_step, step_per_epoch, decay_epoch, lambda n: _decay.cosine(min_lr, max_lr, n, decay_epoch)
    )


def _falling(op: str, formula: Callable[..., Any], doc: str) -> Callable[..., list[float]]:
    def rates(
        learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
        is_stair: bool = False,
    ) -> list[float]:  # fmt: skip
        _decay.check_rates(op, learning_rate, decay_rate, is_stair)
        return _per_epoch(op, total_step, step_per_epoch, decay_epoch,
                          lambda n: formula(learning_rate, decay_rate, n, decay_epoch, is_stair))  # fmt: skip

    return defined(op, rates, doc)


exponential_decay_lr = _falling(
    "exponential_decay_lr", _decay.exponential,
    "`learning_rate * decay_rate ** (epoch / decay_epoch)`, the exponent a whole number where `is_stair`.",
)  # fmt: skip
natural_exp_decay_lr = _falling(
    "natural_exp_decay_lr", _decay.natural,
    "`learning_rate * exp(-decay_rate * epoch)`, the epoch a multiple of `decay_epoch` where `is_stair`.",
)  # fmt: skip
inverse_decay_lr = _falling(
    "inverse_decay_lr", _decay.inverse,
    "`learning_rate / (1 + decay_rate * epoch / decay_epoch)`, the quotient a whole number where `is_stair`.",
)  # fmt: skip


def polynomial_decay_lr(
    learning_rate: float, end_learning_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
    power: float, update_decay_epoch: bool = False,
) -> list[float]:  # fmt: skip
    """From `learning_rate` to `end_learning_rate` as a power of the epochs left; again and again, each time over a
    longer stretch, where `update_decay_epoch`."""
    op = "polynomial_decay_lr"
    _decay.check_polynomial(op, learning_rate, end_learning_rate, power, update_decay_epoch)
    return _per_epoch(op, total_step, step_per_epoch, decay_epoch, lambda n: _decay.polynomial(
        learning_rate, end_learning_rate, n, decay_epoch, power, update_decay_epoch))  # fmt: skip


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """From 0 up to `learning_rate` in `warmup_epoch` epochs, then constant."""
    op = "warmup_lr"
    positive_float(op, "learning_rate", learning_rate)
    return _per_epoch(op, total_step, step_per_epoch, warmup_epoch,
                      lambda n: _decay.warm_up(learning_rate, n, warmup_epoch))  # fmt: skip
