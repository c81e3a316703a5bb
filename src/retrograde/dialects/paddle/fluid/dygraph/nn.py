"""`paddle.fluid.dygraph.nn`: the layers of old programs."""

from __future__ import annotations

from ..._api import attributes as _attributes
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
)  # fmt: skip

__all__ = [
    "BatchNorm", "BilinearTensorProduct", "Conv2D", "Conv2DTranspose", "Conv3D", "Conv3DTranspose", "Dropout", "Embedding",
    "Flatten", "GRUUnit", "GroupNorm", "InstanceNorm", "LayerNorm", "Linear", "PRelu", "Pool2D", "SpectralNorm",
]

__getattr__ = _attributes(globals())
