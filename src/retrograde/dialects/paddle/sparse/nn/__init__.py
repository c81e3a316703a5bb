"""`paddle.sparse.nn`: layers for sparse tensors, which keep their zeros."""

from __future__ import annotations

from typing import Any

from ..._api import missing as _missing
from ..._sparse_tensor import SparseTensor
from ...nn.layer._row import layer
from ...nn.layer.norm import BatchNorm1D
from . import functional as functional
from . import functional as F

ReLU = layer("ReLU", "", F.relu, "max(x, 0) of the values.")
ReLU6 = layer("ReLU6", "", F.relu6, "min(max(x, 0), 6) of the values.")
LeakyReLU = layer("LeakyReLU", "negative_slope=0.01", F.leaky_relu, "x where it is positive, slope * x elsewhere.")
Softmax = layer("Softmax", "axis=-1", F.softmax, "The softmax over the values of each row.")


class BatchNorm(BatchNorm1D):
    """Batch normalisation of the values of a sparse tensor (..., C) with one dense axis."""

    def __init__(
        self, num_features: int, momentum: float = 0.9, epsilon: float = 1e-05, weight_attr: Any = None,
        bias_attr: Any = None, data_format: str = "NDHWC", use_global_stats: bool | None = None, name: str | None = None,
    ) -> None:  # fmt: skip
        super().__init__(num_features, momentum, epsilon, weight_attr, bias_attr, "NC", use_global_stats, name)

    def forward(self, input: Any) -> Any:
        """The tensor with normalised values; raises ValueError for a dense one."""
        if not isinstance(input, SparseTensor) or input.dense_dim() != 1:
            raise ValueError("BatchNorm: wanted a sparse tensor with one dense axis, the channels")
        return input.with_values(super().forward(input.values()))


class SyncBatchNorm(BatchNorm):
    """Batch normalisation over all processes, of which there is one."""


__all__ = ["BatchNorm", "LeakyReLU", "ReLU", "ReLU6", "Softmax", "SyncBatchNorm", "functional"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.sparse.nn", name, globals())
