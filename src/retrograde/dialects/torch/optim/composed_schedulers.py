"""The schedules that react or combine: ReduceLROnPlateau, SequentialLR, ChainedScheduler."""

from __future__ import annotations

import warnings
from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ....learn import schedules
from ..._shared.checks import check
from .optimizer import Optimizer
from .scheduler_base import LRScheduler, Rate, check_optimizer, option_per_group, rates_of, set_option


class ReduceLROnPlateau(schedules.Plateau, LRScheduler):
    """Multiplies the rate by `factor` when a metric has not improved for more than `patience` epochs.

    Raises:
        ValueError: `factor` is not below 1, an unknown mode, or lists of the wrong length.
        TypeError: `optimizer` is none.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        given = {"factor": factor, "mode": mode, "threshold_mode": threshold_mode}
        check("ReduceLROnPlateau", "factor < 1; mode in {min, max}; threshold_mode in {rel, abs}", given)
        self.factor = factor
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.default_min_lr = None if isinstance(min_lr, (list, tuple)) else min_lr
        self.min_lrs = option_per_group("min_lr", min_lr, optimizer)
        self.patience, self.cooldown, self.eps = patience, cooldown, eps
        self.last_epoch = 0
        self._last_lr = rates_of(optimizer)
        self.mode_worse = float("inf") if mode == "min" else -float("inf")
        self.mode, self.threshold, self.threshold_mode = mode, threshold, threshold_mode
        self._reset()

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at the metric of an epoch, and reduce the rate where it is due."""
        current = float(metrics)
        if epoch is None:
            epoch = self.last_epoch + 1
        else:
            warnings.warn(
                "ReduceLROnPlateau.step(metrics, epoch): the epoch is no longer needed; call step(metrics)",
                UserWarning,
                stacklevel=2,
            )
        self.last_epoch = epoch
        if self._is_due(current):
            self._reduce_lr(epoch)
            self._rest()
        self._last_lr = rates_of(self.optimizer)

    def _reduce_lr(self, epoch: int) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise RuntimeError(
                    f"ReduceLROnPlateau: min_lr has {len(self.min_lrs)} values, but the optimizer has "
                    f"{len(groups)} parameter groups; give one number, or set min_lrs"
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs):
            old = float(group["lr"])
            new = max(old * self.factor, least)
            if old - new > self.eps:
                set_option(group, "lr", new)


class _Combined(LRScheduler):
    """Several schedules whose states are kept together."""

    _schedulers: Sequence[LRScheduler]

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser, with the state of each schedule."""
        state = {key: value for key, value in self.__dict__.items() if key not in ("optimizer", "_schedulers")}
        return state | {"_schedulers": [scheduler.state_dict() for scheduler in self._schedulers]}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for scheduler, state in zip(self._schedulers, state_dict["_schedulers"]):
            scheduler.load_state_dict(state)


class SequentialLR(_Combined):
    """One schedule after the other; the epochs at which the next takes over are the milestones.

    Raises:
        ValueError: no schedules, schedules of another optimiser, one that needs a metric, or not one milestone less
            than schedules.
    """

    def __init__(
        self, optimizer: Optimizer, schedulers: list[LRScheduler], milestones: list[int], last_epoch: int = -1
    ) -> None:
        _check_combination("SequentialLR", optimizer, schedulers)
        if len(milestones) != len(schedulers) - 1:
            raise ValueError(
                f"SequentialLR: {len(schedulers)} schedulers with {len(milestones)} milestones; "
                "wanted one milestone less than schedulers"
            )
        self._schedulers = schedulers
        self._milestones = milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        # Making the schedules has moved rates and epochs on; only the first one is to act now.
        for group in optimizer.param_groups:
            set_option(group, "lr", group["initial_lr"])
        self.recursive_undo()
        self._schedulers[0]._initial_step()
        self._last_lr = schedulers[0].get_last_lr()

    def recursive_undo(self, sched: Any = None) -> None:
        """Take back the epoch that making the schedules has counted."""
        scheds = self if sched is None else sched
        if hasattr(scheds, "_schedulers"):
            for s in scheds._schedulers:
                self.recursive_undo(s)
        elif hasattr(scheds, "last_epoch"):
            scheds.last_epoch -= 1

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch."""
        self.last_epoch += 1
        index = bisect_right(self._milestones, self.last_epoch)
        scheduler = self._schedulers[index]
        if index > 0 and self._milestones[index - 1] == self.last_epoch:
            scheduler._update_lr(0)
        else:
            scheduler.step()
        self._last_lr = scheduler.get_last_lr()


class ChainedScheduler(_Combined):
    """Several schedules that act on the same rate, one after the other in every step.

    Raises:
        ValueError: no schedules, schedules of another optimiser, or one that needs a metric.
    """

    def __init__(self, schedulers: Sequence[LRScheduler], optimizer: Optimizer | None = None) -> None:
        if optimizer is None and len(schedulers):
            optimizer = schedulers[0].optimizer
        _check_combination("ChainedScheduler", optimizer, schedulers)
        assert optimizer is not None
        self._schedulers = schedulers
        self.optimizer = optimizer
        self._last_lr: list[Rate] = rates_of(optimizer)

    def step(self) -> None:  # type: ignore[override]
        """Go on to the next epoch with every schedule."""
        for scheduler in self._schedulers:
            scheduler.step()
        self._last_lr = rates_of(self.optimizer)


def _check_combination(name: str, optimizer: Any, schedulers: Sequence[Any]) -> None:
    if len(schedulers) < 1:
        raise ValueError(f"{name}: no schedulers; pass at least one")
    for i, scheduler in enumerate(schedulers):
        if not hasattr(scheduler, "optimizer"):
            raise TypeError(f"{name}: scheduler {i} is a {type(scheduler).__name__}, which has no optimizer")
        if isinstance(scheduler, ReduceLROnPlateau):
            raise ValueError(f"{name}: scheduler {i} is a ReduceLROnPlateau, which needs a metric in every step")
        if scheduler.optimizer is not optimizer:
            raise ValueError(f"{name}: scheduler {i}, a {type(scheduler).__name__}, belongs to another optimizer")
