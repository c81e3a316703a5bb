"""Instance normalisation."""

from __future__ import annotations

import warnings
from typing import Any

from ...._shared.spatial import classes_of_axes
from ..._tensor import Tensor
from .. import functional as F
from .batchnorm import _NormBase


class _InstanceNorm(_NormBase):
    _axes: int

    def __init__(
        self, num_features: int, eps: float = 1e-5, momentum: float = 0.1, affine: bool = False,
        track_running_stats: bool = False, device: Any = None, dtype: Any = None, *, bias: bool = True,
    ) -> None:  # fmt: skip
        super().__init__(num_features, eps, momentum, affine, track_running_stats, device, dtype, bias=bias)

    def _check_input_dim(self, input: Tensor) -> None:
        n = self._axes
        if input.ndim not in (n + 1, n + 2):
            raise ValueError(f"{type(self).__name__}: wanted {n + 1} or {n + 2} dimensions, got {input.ndim}")

    def forward(self, input: Tensor) -> Tensor:
        """The normalised input (N, C, *size) or (C, *size)."""
        self._check_input_dim(input)
        axis = input.ndim - self._axes - 1
        if input.shape[axis] != self.num_features:
            if self.affine:
                raise ValueError(
                    f"{type(self).__name__}: {self.num_features} channels are wanted along axis {axis}, got "
                    f"{input.shape[axis]}"
                )
            warnings.warn(
                f"{type(self).__name__}: num_features={self.num_features}, but the input has {input.shape[axis]} "
                "channels; without affine=True it makes no difference",
                stacklevel=2,
            )
        if axis:
            return self._normalised(input)
        return self._normalised(input.unsqueeze(0)).squeeze(0)

    def _normalised(self, input: Tensor) -> Tensor:
        return F.instance_norm(
            input, self.running_mean, self.running_var, self.weight, self.bias,
            self.training or not self.track_running_stats, self.momentum if self.momentum is not None else 0.0, self.eps,
        )  # fmt: skip


InstanceNorm1d, InstanceNorm2d, InstanceNorm3d = classes_of_axes(
    _InstanceNorm, "InstanceNorm{}d", "Instance normalisation of {x}, the batch left out or not (Ulyanov et al., 2016)."
)


__all__ = ["InstanceNorm1d", "InstanceNorm2d", "InstanceNorm3d"]
