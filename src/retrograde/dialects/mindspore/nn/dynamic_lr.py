"""Learning rates as lists of one rate per step: `nn.piecewise_constant_lr`, `nn.cosine_decay_lr` and their like.

The formulas are those of the schedules that compute a rate when it is needed (learning_rate_schedule.py).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..._shared.checks import check
from . import learning_rate_schedule as formulas


def piecewise_constant_lr(milestone: Sequence[int], learning_rates: Sequence[float]) -> list[float]:
    """`learning_rates[i]` for the steps before `milestone[i]` that the milestones before leave.

    Raises:
        TypeError: the arguments are no lists or tuples; a milestone is no int, a rate no float.
        ValueError: different lengths, an empty list, milestones that do not rise.
    """
    op = "piecewise_constant_lr"
    check(op, "milestone: list; learning_rates: list", locals())
    if not milestone or len(milestone) != len(learning_rates):
        raise ValueError(
            f"{op}: wanted one rate for each of the milestones, got {len(milestone)} milestones and "
            f"{len(learning_rates)} rates"
        )
    rates: list[float] = []
    for until, rate in zip(milestone, learning_rates):
        check(op, "milestone: int > 0; learning_rates: float", {"milestone": until, "learning_rates": rate})
        rates += [rate] * (until - len(rates))
    check(op, "milestone: list rising", {"milestone": milestone})
    return rates


def _listed(op: str, options: dict[str, Any], formula: Callable[..., Any]) -> list[float]:
    """The rates of `total_step` steps, which are those of their epochs."""
    check(op, formulas.CHECKS, options)
    formulas.check_order(op, options)
    steps, length = options.pop("total_step"), options.pop("step_per_epoch")
    renamed = {name.replace("_epoch", "_steps"): value for name, value in options.items()}
    return [float(formula(step // length, **renamed)) for step in range(steps)]


def cosine_decay_lr(
    min_lr: float, max_lr: float, total_step: int, step_per_epoch: int, decay_epoch: int
) -> list[float]:  # fmt: skip
    """Half a cosine wave from `max_lr` down to `min_lr` in `decay_epoch` epochs."""
    return _listed("cosine_decay_lr", locals(), formulas.cosine)


def exponential_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False
) -> list[float]:  # fmt: skip
    """`learning_rate * decay_rate ** (epoch / decay_epoch)`, the exponent a whole number where `is_stair`."""
    return _listed("exponential_decay_lr", locals(), formulas.exponential)


def natural_exp_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False
) -> list[float]:  # fmt: skip
    """`learning_rate * exp(-decay_rate * epoch)`, the epoch a multiple of `decay_epoch` where `is_stair`."""
    return _listed("natural_exp_decay_lr", locals(), formulas.natural)


def inverse_decay_lr(
    learning_rate: float, decay_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int, is_stair: bool = False
) -> list[float]:  # fmt: skip
    """`learning_rate / (1 + decay_rate * epoch / decay_epoch)`, the quotient a whole number where `is_stair`."""
    return _listed("inverse_decay_lr", locals(), formulas.inverse)


def polynomial_decay_lr(
    learning_rate: float, end_learning_rate: float, total_step: int, step_per_epoch: int, decay_epoch: int,
    power: float, update_decay_epoch: bool = False,
) -> list[float]:  # fmt: skip
    """From `learning_rate` to `end_learning_rate` as a power of the epochs left; again and again, each time over a
    longer stretch, where `update_decay_epoch`."""
    return _listed("polynomial_decay_lr", locals(), formulas.polynomial)


def warmup_lr(learning_rate: float, total_step: int, step_per_epoch: int, warmup_epoch: int) -> list[float]:
    """From 0 up to `learning_rate` in `warmup_epoch` epochs, then constant."""
    return _listed("warmup_lr", locals(), formulas.warm_up)
