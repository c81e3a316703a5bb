"""`torch.optim.swa_utils`: averages of a model's weights (Izmailov et al. 2018) and the schedule for them."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterable
from typing import Any

from ....learn import schedules
from ... import torch
from ..._shared.checks import check
from .._grad_modes import no_grad
from ..nn import Module
from ..nn.modules.batchnorm import _BatchNorm
from .optimizer import Optimizer
from .scheduler_base import LRScheduler, Rate, option_per_group


def _of_lists(average: Callable[..., Any], share: Callable[[Any], float]) -> Callable[..., None]:
    """The update of lists of parameters: by the share of the present ones, or, of integers, by a function for one."""

    def update(averaged_param_list: list[Any], current_param_list: list[Any], num_averaged: Any) -> None:
        with no_grad():
            for mean, current in zip(averaged_param_list, current_param_list):
                if torch.is_floating_point(mean) or torch.is_complex(mean):
                    mean.lerp_(current, share(num_averaged))
                else:
                    mean.copy_(average(mean, current, num_averaged))

    return update


def get_ema_multi_avg_fn(decay: float = 0.999) -> Callable[..., None]:
    """The update of lists of parameters to their exponential moving average, for `AveragedModel(multi_avg_fn=...)`.

    Raises:
        ValueError: `decay` is outside [0, 1].
    """
    return _of_lists(get_ema_avg_fn(decay), lambda _: 1 - decay)


def get_swa_multi_avg_fn() -> Callable[..., None]:
    """The update of lists of parameters to their equally weighted mean, for `AveragedModel(multi_avg_fn=...)`."""
    return _of_lists(get_swa_avg_fn(), lambda count: float(1 / (count + 1)))


def get_ema_avg_fn(decay: float = 0.999) -> Callable[..., Any]:
    """The exponential moving average of one parameter, for `AveragedModel(avg_fn=...)`.

    Raises:
        ValueError: `decay` is outside [0, 1].
    """
    check("exponential moving average", "decay in [0, 1]", {"decay": decay})

    def ema_update(ema_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with no_grad():
            return decay * ema_param + (1 - decay) * current_param

    return ema_update


def get_swa_avg_fn() -> Callable[..., Any]:
    """The equally weighted mean of one parameter, for `AveragedModel(avg_fn=...)`."""

    def swa_update(averaged_param: Any, current_param: Any, num_averaged: Any) -> Any:
        with no_grad():
            return averaged_param + (current_param - averaged_param) / (num_averaged + 1)

    return swa_update


class AveragedModel(Module):
    """A copy of a model that holds the average of its parameters; equally weighted unless a function says otherwise.

    Args:
        avg_fn: `(averaged, current, num_averaged) -> averaged`, for one parameter.
        multi_avg_fn: the same for lists of parameters, in place.
        use_buffers: average the buffers as well, which are copied otherwise.
    """

    n_averaged: Any

    def __init__(
        self, model: Module, device: Any = None, avg_fn: Callable[..., Any] | None = None,
        multi_avg_fn: Callable[..., None] | None = None, use_buffers: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        if avg_fn is not None and multi_avg_fn is not None:
            raise AssertionError("AveragedModel: give avg_fn or multi_avg_fn, not both")
        self.module = copy.deepcopy(model)
        if device is not None:
            self.module = self.module.to(device)
        self.register_buffer("n_averaged", torch.tensor(0, dtype=torch.long, device=device))
        self.avg_fn, self.multi_avg_fn, self.use_buffers = avg_fn, multi_avg_fn, use_buffers

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """The averaged model's output."""
        return self.module(*args, **kwargs)

    def update_parameters(self, model: Module) -> None:
        """Take the present parameters of `model` into the average (the first time, copy them)."""
        if self.use_buffers:
            mine: Iterable[Any] = itertools.chain(self.module.parameters(), self.module.buffers())
            theirs: Iterable[Any] = itertools.chain(model.parameters(), model.buffers())
        else:
            mine, theirs = self.module.parameters(), model.parameters()
        averaged = [p.detach() for p in mine]
        current = [p.detach() for p in theirs]
        if int(self.n_averaged) == 0:
            for mean, now in zip(averaged, current):
                mean.copy_(now)
        elif self.multi_avg_fn is not None:
            self.multi_avg_fn(averaged, current, self.n_averaged)
        else:
            average = self.avg_fn or get_swa_avg_fn()
            for mean, now in zip(averaged, current):
                mean.copy_(average(mean, now, self.n_averaged))
        if not self.use_buffers:
            for mean, now in zip(self.module.buffers(), model.buffers()):
                mean.detach().copy_(now.detach())
        self.n_averaged += 1


def update_bn(loader: Iterable[Any], model: Module, device: Any = None) -> None:
    """Compute the running statistics of a model's batch-normalisation layers anew in one pass over the data.

    Of a batch that is a list or tuple the first entry is the input.
    """
    momenta: dict[Any, Any] = {}
    for module in model.modules():
        if isinstance(module, _BatchNorm):
            module.reset_running_stats()
            momenta[module] = module.momentum
    if not momenta:
        return
    training = model.training
    model.train()
    for module in momenta:
        module.momentum = None
    with no_grad():
        for batch in loader:
            x = batch[0] if isinstance(batch, (list, tuple)) else batch
            model(x if device is None else x.to(device))
    for module, momentum in momenta.items():
        module.momentum = momentum
    model.train(training)


class SWALR(LRScheduler):
    """Anneals the rate to `swa_lr` in `anneal_epochs` epochs and keeps it there.

    Raises:
        ValueError: an unknown strategy, or `anneal_epochs` is no integer from 0.
    """

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos",
        last_epoch: int = -1,
    ) -> None:  # fmt: skip
        for rate, group in zip(option_per_group("swa_lr", swa_lr, optimizer), optimizer.param_groups):
            group["swa_lr"] = rate
        check("SWALR", "anneal_strategy in {cos, linear}", {"anneal_strategy": anneal_strategy})
        self._anneal_strategy = anneal_strategy
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ValueError(f"SWALR: anneal_epochs is {anneal_epochs!r}; wanted an integer of at least 0")
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _share(self, step: int) -> float:
        """How far the rate has gone after `step` steps, from 0 to 1."""
        t = max(0.0, min(1.0, step / max(1, self.anneal_epochs)))
        return schedules.interpolate_cosine(0.0, 1.0, t) if self._anneal_strategy == "cos" else t

    def get_lr(self) -> list[Rate]:
        """The rates after the steps made so far."""
        rates = self._current()
        step = self._step_count - 1
        if self.anneal_epochs == 0:
            step = max(1, step)
        before, now = self._share(step - 1), self._share(step)
        groups = self.optimizer.param_groups
        return [schedules.blend(rate, group["swa_lr"], before, now) for rate, group in zip(rates, groups)]
