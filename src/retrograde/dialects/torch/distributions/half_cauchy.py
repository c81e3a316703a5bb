"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

from ... import torch
from ._half import Half
from .cauchy import Cauchy

__all__ = ["HalfCauchy"]


class HalfCauchy(Half):
    """Absolute values of Cauchy numbers around 0, of the given `scale`."""

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        self._take(Cauchy(0, scale, validate_args=False), validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        return super().expand(batch_shape, _instance=self._get_checked_instance(HalfCauchy, _instance))

    @property
    def mean(self) -> Any:
        return torch.full(self._extended_shape(), math.inf, dtype=self.scale.dtype)

    @property
    def variance(self) -> Any:
        return self.base_dist.variance

    def _log_prob(self, value: Any) -> Any:
        return super()._log_prob(torch.as_tensor(value, dtype=self.scale.dtype))
