"""The base class of learning-rate schedules and what they share; `lr_scheduler` gathers the schedules."""

from __future__ import annotations

import functools
import warnings
import weakref
from collections.abc import Iterable
from typing import Any, ClassVar

from ....learn import schedules
from ..._shared.option_rows import ScheduleRow
from .._tensor import Tensor
from .optimizer import Optimizer

Rate = Any
"""A float, or a 0-d tensor where the optimiser was given one."""


def check_optimizer(optimizer: Any) -> None:
    """Raise TypeError for anything but an optimiser."""
    if not isinstance(optimizer, Optimizer):
        raise TypeError(
            f"lr_scheduler: optimizer is a {type(optimizer).__name__}; wanted an Optimizer: make that of the parameters first"
        )


def copied(value: Rate) -> Rate:
    """A value of its own: tensors are cloned."""
    return value.clone() if isinstance(value, Tensor) else value


def set_option(group: dict[str, Any], key: str, value: Any) -> None:
    """Set an option of a parameter group, in place where it is a tensor."""
    if isinstance(group[key], Tensor):
        if isinstance(value, Tensor):
            group[key].copy_(value.detach().reshape(group[key].shape))
        else:
            group[key].fill_(value)
    else:
        group[key] = value


def option_per_group(name: str, value: Any, optimizer: Optimizer) -> list[Any]:
    """An option given once for all parameter groups, or as a list with one entry for each."""
    groups = optimizer.param_groups
    if not isinstance(value, (list, tuple)):
        return [value] * len(groups)
    if len(value) != len(groups):
        raise ValueError(f"lr_scheduler: {name} has {len(value)} values for {len(groups)} parameter groups")
    return list(value)


def rates_of(optimizer: Optimizer) -> list[Rate]:
    """The present learning rates, one per parameter group."""
    return [copied(group["lr"]) for group in optimizer.param_groups]


def _note_steps(optimizer: Optimizer) -> None:
    """Make the optimiser remember that it has stepped, so that schedules can tell when they come too early."""
    if hasattr(optimizer.step, "_wrapped_by_lr_sched"):
        return
    present = optimizer.step
    # The wrapper hangs on the optimiser, so it must not hold it: of a method it keeps the function only.
    method = getattr(present, "__func__", None)
    function: Any = present if method is None else method
    reference = weakref.ref(optimizer)

    @functools.wraps(function)
    def step(*args: Any, **kwargs: Any) -> Any:
        this: Any = reference()
        this._opt_called = True
        return function(*args, **kwargs) if method is None else function(this, *args, **kwargs)

    step._wrapped_by_lr_sched = True  # type: ignore[attr-defined]
    optimizer.step = step  # type: ignore[method-assign]


class LRScheduler:
    """Base class of schedules: a subclass's `get_lr` gives the rates of epoch `last_epoch`, one per parameter group.

    Raises:
        TypeError: `optimizer` is none.
        KeyError: `last_epoch` is given, but the parameter groups have no "initial_lr" to go on from.
    """

    _get_lr_called_within_step = False
    _is_initial = False

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for i, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", copied(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"lr_scheduler: going on from last_epoch={last_epoch} needs 'initial_lr' in parameter group {i}; "
                    "load the optimizer's state first, or set it"
                )
        self.base_lrs: list[Rate] = [copied(group["initial_lr"]) for group in optimizer.param_groups]
        self.last_epoch = last_epoch
        _note_steps(optimizer)
        self._initial_step()

    def _initial_step(self) -> None:
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """Everything but the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key != "optimizer"}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Rate]:
        """The rates that were set last, one per parameter group."""
        return self._last_lr

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`, which `step` sets."""
        raise NotImplementedError(f"{type(self).__name__} defines no get_lr()")

    def step(self, epoch: float | None = None) -> None:
        """Go on to the next epoch (or the one given, by the closed form where there is one) and set its rates."""
        if self._step_count == 1:
            if not hasattr(self.optimizer.step, "_wrapped_by_lr_sched"):
                warnings.warn(
                    "lr_scheduler: optimizer.step was replaced after the scheduler was made; "
                    "its steps cannot be seen, so make the scheduler after replacing it",
                    UserWarning,
                    stacklevel=2,
                )
            elif not getattr(self.optimizer, "_opt_called", False):
                warnings.warn(
                    "lr_scheduler.step() was called before optimizer.step(); call the optimizer first, "
                    "or the first value of the schedule is skipped",
                    UserWarning,
                    stacklevel=2,
                )
        self._step_count += 1
        if epoch is not None:
            warnings.warn(
                "lr_scheduler.step(epoch): the epoch is no longer needed; call step() once per epoch",
                UserWarning,
                stacklevel=2,
            )
        self._update_lr(epoch)

    def _update_lr(self, epoch: float | None = None) -> None:
        self._get_lr_called_within_step = True
        try:
            if epoch is None:
                self.last_epoch += 1
                rates = self.get_lr()
            else:
                self.last_epoch = epoch  # type: ignore[assignment]
                rates = self._get_closed_form_lr() if hasattr(self, "_get_closed_form_lr") else self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._set(rates)

    def _set(self, rates: Iterable[Rate]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates):
            set_option(group, "lr", rate)
        self._last_lr: list[Rate] = rates_of(self.optimizer)

    def _current(self) -> list[Rate]:
        """The rates to go on from; a `get_lr` starts here, which warns when a user calls it."""
        if not self._get_lr_called_within_step:
            warnings.warn(
                "lr_scheduler: get_lr() computes the next rates from the present ones; "
                "use get_last_lr() for the present ones",
                UserWarning,
                stacklevel=3,
            )
        return rates_of(self.optimizer)


class Formula(LRScheduler):
    """A schedule that is a row: the rates are a formula of the rates before, or of the epoch (epoch_schedulers.py)."""

    _row: ClassVar[ScheduleRow]
    _closed: ClassVar[Any]
    _chained: ClassVar[Any]
    _resumes = False
    """Whether a schedule that is made with `last_epoch` changes the rates at once."""

    def _set_up(self, row: ScheduleRow, options: dict[str, Any]) -> None:
        """Make the schedule of a row."""
        row.check(options)
        optimizer, last_epoch = options.pop("optimizer"), options.pop("last_epoch")
        self.__dict__.update(options)
        if row.then is not None:
            row.then(self)
        LRScheduler.__init__(self, optimizer, last_epoch)

    def get_lr(self) -> list[Rate]:
        """The rates of epoch `last_epoch`."""
        rates, epoch = self._current(), self.last_epoch
        if self._is_initial and not self._resumes and not (epoch == 0 and self._row.chained in schedules.AT_ONCE):
            return rates
        return [self._chained(rate, epoch, base) for rate, base in zip(rates, self.base_lrs)]

    def _get_closed_form_lr(self) -> list[Rate]:
        return [self._closed(base, self.last_epoch) for base in self.base_lrs]


class _LRScheduler(LRScheduler):
    """The older name of the base class."""
