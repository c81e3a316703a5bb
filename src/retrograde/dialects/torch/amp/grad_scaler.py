"""`GradScaler`: scales losses so that small gradients survive a low precision, and skips steps that overflowed."""

from __future__ import annotations

import warnings
import weakref
from typing import Any

import numpy as np

from ....backend.devices import accelerator
from ....tensor.promotion import constant
from .._size import device as device_of
from .._tensor import Tensor, beside

_FLOAT32 = np.dtype(np.float32)


class GradScaler:
    """Multiplies losses by a scale, which halves when gradients overflow and doubles after `growth_interval` good steps.

    A device that is not there switches the scaler off with a warning, as in PyTorch; then every method passes its
    argument on.
    """

    def __init__(
        self, device: str = "cuda", init_scale: float = 2.0**16, growth_factor: float = 2.0, backoff_factor: float = 0.5,
        growth_interval: int = 2000, enabled: bool = True,
    ) -> None:  # fmt: skip
        kind = device_of(device).type
        if enabled and kind != "cpu" and accelerator(kind) is None:
            warnings.warn(f"GradScaler: there is no device {device!r} here; the scaler is switched off", stacklevel=2)
            enabled = False
        if enabled and growth_factor <= 1.0:
            raise AssertionError(f"GradScaler: growth_factor must be over 1, got {growth_factor}")
        if enabled and not backoff_factor < 1.0:
            raise AssertionError(f"GradScaler: backoff_factor must be under 1, got {backoff_factor}")
        self._enabled, self._scale, self._tracker = enabled, float(init_scale), 0
        self._growth_factor, self._backoff_factor = growth_factor, backoff_factor
        self._growth_interval = growth_interval
        self._begun = False
        """Whether anything has been scaled."""
        self._overflow: weakref.WeakKeyDictionary[Any, bool] = weakref.WeakKeyDictionary()
        self._stepped: weakref.WeakSet[Any] = weakref.WeakSet()

    def is_enabled(self) -> bool:
        """Whether losses are scaled."""
        return self._enabled

    def scale(self, outputs: Any) -> Any:
        """A tensor, or those in a list or tuple, times the scale."""
        if not self._enabled:
            return outputs
        self._begun = True
        if isinstance(outputs, Tensor):
            return outputs * beside(constant(self._scale, _FLOAT32), outputs).to(outputs.dtype)
        if isinstance(outputs, (list, tuple)):
            return type(outputs)(self.scale(x) for x in outputs)
        raise ValueError(f"scale: wanted a tensor or a list of tensors, got {type(outputs).__name__}")

    def _check_begun(self, op: str) -> None:
        if not self._begun:
            raise AssertionError(f"{op}: this scaler has scaled no loss; call scale(loss).backward() in place of loss.backward()")

    def unscale_(self, optimizer: Any) -> None:
        """Divide the gradients of an optimizer's parameters by the scale, once before a step (to clip them)."""
        if not self._enabled:
            return
        self._check_begun("unscale_")
        if optimizer in self._overflow:
            raise RuntimeError("unscale_: the gradients of this optimizer are unscaled already since the last update()")
        if optimizer in self._stepped:
            raise RuntimeError("unscale_: step() of this optimizer has been called already since the last update()")
        overflow = False
        for group in optimizer.param_groups:
            for parameter in group["params"]:
                if parameter.grad is not None:
                    gradient = parameter.grad.detach()
                    if gradient.is_sparse:
                        gradient = gradient._values()
                    gradient.mul_(1.0 / self._scale)
                    overflow = overflow or not bool(gradient.isfinite().all())
        self._overflow[optimizer] = overflow

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimizer's step, unless a gradient is inf or nan; unscales the gradients where that was not done."""
        if not self._enabled:
            return optimizer.step(*args, **kwargs)
        self._check_begun("step")
        if "closure" in kwargs:
            raise RuntimeError("step: a closure cannot be used with a GradScaler that is switched on")
        if optimizer in self._stepped:
            raise RuntimeError("step: it has been called already for this optimizer since the last update()")
        if optimizer not in self._overflow:
            self.unscale_(optimizer)
        self._stepped.add(optimizer)
        return None if self._overflow[optimizer] else optimizer.step(*args, **kwargs)

    def update(self, new_scale: float | Tensor | None = None) -> None:
        """Adapt the scale to what the steps since the last update met, or set it."""
        if not self._enabled:
            return
        self._check_begun("update")
        if new_scale is not None:
            self._scale = float(new_scale)
        elif not self._overflow:
            raise AssertionError("update: no step() or unscale_() since the last update()")
        elif any(self._overflow.values()):
            self._scale, self._tracker = self._scale * self._backoff_factor, 0
        else:
            self._tracker += 1
            if self._tracker == self._growth_interval:
                self._scale, self._tracker = self._scale * self._growth_factor, 0
        self._overflow.clear()
        self._stepped.clear()

    def get_scale(self) -> float:
        """The scale, 1.0 where the scaler is switched off."""
        return self._scale if self._enabled else 1.0

    def get_growth_factor(self) -> float:
        """By how much the scale grows."""
        return self._growth_factor

    def get_backoff_factor(self) -> float:
        """By how much the scale shrinks after an overflow."""
        return self._backoff_factor

    def get_growth_interval(self) -> int:
        """After how many good steps the scale grows."""
        return self._growth_interval

    def state_dict(self) -> dict[str, Any]:
        """The scale and what governs it; empty where the scaler is switched off."""
        if not self._enabled:
            return {}
        return {
            "scale": self._scale, "growth_factor": self._growth_factor, "backoff_factor": self._backoff_factor,
            "growth_interval": self._growth_interval, "_growth_tracker": self._tracker,
        }  # fmt: skip

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on from a state that `state_dict` gave; raises RuntimeError for an empty one."""
        if not self._enabled:
            return
        if not state_dict:
            raise RuntimeError("load_state_dict: the state is empty: it is that of a GradScaler that was switched off")
        self._scale, self._tracker = float(state_dict["scale"]), int(state_dict["_growth_tracker"])
        self._growth_factor, self._backoff_factor = state_dict["growth_factor"], state_dict["backoff_factor"]
        self._growth_interval = state_dict["growth_interval"]
