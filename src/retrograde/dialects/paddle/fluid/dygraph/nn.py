"""`paddle.fluid.dygraph.nn`: the layers of old programs."""

from __future__ import annotations

from typing import Any

from ..._api import missing as _missing
from .._layers import (
    BatchNorm,
    BilinearTensorProduct,
    Conv2D,
    Conv2DTranspose,
    Conv3D,
    Conv3DTranspose,
    Dropout,
    Embedding,
    Flatten,
    GroupNorm,
    GRUUnit,
    InstanceNorm,
    LayerNorm,
    Linear,
    Pool2D,
    PRelu,
    SpectralNorm,
)

__all__ = [
    "BatchNorm", "BilinearTensorProduct", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dropout", "Embedding",
    "Flatten", "GRUUnit", "GroupNorm", "InstanceNorm", "LayerNorm", "Linear", "PRelu", "Pool2D", "SpectralNorm",
]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.fluid.dygraph.nn", name, globals())
