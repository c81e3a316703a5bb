"""The module of `linear_cross_entropy`, and the options of how PyTorch splits its computation.

Here the result comes out the same either way, so the options are checked and change nothing.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

from ... import _dtype
from ..._tensor import Tensor
from .. import functional as F
from .linear import Linear
from .loss import _WeightedLoss

_METHODS = ("auto", None)
_POLICIES = ("accurate", "balanced", "compact", "auto")
_DTYPES = (None, _dtype.float16, _dtype.bfloat16, _dtype.float32, _dtype.float64)

__all__ = ["LinearCrossEntropyLoss", "LinearCrossEntropyOptions"]


@dataclasses.dataclass(frozen=True)
class LinearCrossEntropyOptions:
    """Settings of `torch.nn.functional.linear_cross_entropy`; raises ValueError for those PyTorch does not know."""

    allow_retain_graph: bool = False
    batch_chunk_size: int | None = None
    chunking_method: str | None = "auto"
    acc_policy: str = "auto"
    acc_dtype: Any = None

    def __post_init__(self) -> None:
        name = type(self).__name__
        if self.chunking_method not in _METHODS:
            raise ValueError(f"{name}: chunking_method must be 'auto' or None, got {self.chunking_method!r}")
        if self.batch_chunk_size is not None and self.batch_chunk_size <= 0:
            raise ValueError(f"{name}: batch_chunk_size must be positive or None, got {self.batch_chunk_size}")
        if self.acc_policy not in _POLICIES:
            raise ValueError(f"{name}: acc_policy must be one of {_POLICIES}, got {self.acc_policy!r}")
        if self.acc_dtype not in _DTYPES:
            raise ValueError(f"{name}: acc_dtype must be a floating dtype or None, got {self.acc_dtype!r}")


class LinearCrossEntropyLoss(_WeightedLoss):
    """A linear layer into classes, and the cross entropy of its outputs."""

    def __init__(
        self, in_features: int, num_classes: int, *, out_features: tuple[int, ...] = (), bias: bool = False,
        device: Any = None, dtype: Any = None, reduction: str = "mean", weight: Tensor | None = None,
        ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(weight, None, None, reduction)
        self.in_features, self.num_classes, self.out_features = in_features, num_classes, tuple(out_features)
        self.bias, self.ignore_index, self.label_smoothing, self.options = bias, ignore_index, label_smoothing, options
        outputs = num_classes * math.prod(self.out_features)
        self.linear = Linear(in_features, outputs, bias=bias, device=device, dtype=dtype)

    def forward(self, input: Tensor, target: Tensor) -> Tensor:
        """The loss of inputs (in,) or (N, in) and class numbers or probabilities."""
        shape = (self.num_classes, *self.out_features)
        bias = self.linear.bias
        return F.linear_cross_entropy(
            input, self.linear.weight.reshape(*shape, self.in_features), target,
            linear_bias=None if bias is None else bias.reshape(shape), weight=self.weight, reduction=self.reduction,
            ignore_index=self.ignore_index, label_smoothing=self.label_smoothing, options=self.options,
        )  # fmt: skip

    def extra_repr(self) -> str:
        """The settings, as they are printed."""
        names = ("in_features", "num_classes", "out_features", "bias", "reduction", "ignore_index", "label_smoothing")
        return ", ".join(f"{name}={getattr(self, name)}" for name in (*names, "options"))
