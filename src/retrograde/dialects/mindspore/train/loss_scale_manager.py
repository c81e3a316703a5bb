"""How a loss scale is kept through a training: fixed, or moved with overflows."""

from __future__ import annotations

from typing import Any

from ..nn.wrap import DynamicLossScaleUpdateCell, FixedLossScaleUpdateCell


class LossScaleManager:
    """Base of loss scale managers."""

    def get_loss_scale(self) -> Any:
        """The loss scale; None where a subclass does not say."""

    def update_loss_scale(self, overflow: bool) -> None:
        """Move the scale as a step went."""

    def get_update_cell(self) -> Any:
        """The cell that moves the scale in training; None where none is needed."""


class FixedLossScaleManager(LossScaleManager):
    """A loss scale that stays; steps with an overflow are left out where `drop_overflow_update`."""

    def __init__(self, loss_scale: float = 128.0, drop_overflow_update: bool = True) -> None:
        if loss_scale < 1:
            raise ValueError(f"FixedLossScaleManager: loss_scale must be 1 or more, got {loss_scale}")
        self._loss_scale, self._drop_overflow_update = loss_scale, drop_overflow_update

    def get_loss_scale(self) -> float:
        return self._loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether steps with an overflow are left out."""
        return self._drop_overflow_update

    def update_loss_scale(self, overflow: bool) -> None:
        return None

    def get_update_cell(self) -> Any:
        return FixedLossScaleUpdateCell(self._loss_scale) if self._drop_overflow_update else None


class DynamicLossScaleManager(LossScaleManager):
    """A loss scale divided by `scale_factor` on overflow, and times it after `scale_window` steps without."""

    def __init__(self, init_loss_scale: float = 2**24, scale_factor: int = 2, scale_window: int = 2000) -> None:
        if init_loss_scale < 1:
            raise ValueError(f"DynamicLossScaleManager: init_loss_scale must be 1 or more, got {init_loss_scale}")
        for name, value in (("scale_factor", scale_factor), ("scale_window", scale_window)):
            if not isinstance(value, int) or isinstance(value, bool) or value <= 0:
                raise ValueError(f"DynamicLossScaleManager: {name} must be an int above 0, got {value!r}")
        self.loss_scale, self.scale_factor, self.scale_window = float(init_loss_scale), scale_factor, scale_window
        self.cur_iter, self.last_overflow = 1, 0

    def get_loss_scale(self) -> float:
        return self.loss_scale

    def get_drop_overflow_update(self) -> bool:
        """Whether steps with an overflow are left out: they are."""
        return True

    def update_loss_scale(self, overflow: bool) -> None:
        if overflow:
            self.loss_scale = max(self.loss_scale / self.scale_factor, 1.0)
            self.last_overflow = self.cur_iter
        elif self.cur_iter - self.last_overflow >= self.scale_window:
            self.loss_scale *= self.scale_factor
            self.last_overflow = self.cur_iter
        self.cur_iter += 1

    def get_update_cell(self) -> Any:
        return DynamicLossScaleUpdateCell(self.loss_scale, self.scale_factor, self.scale_window)
