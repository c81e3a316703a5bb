"""`paddle.nn.init`: initialisers as functions that fill a tensor in place and return it."""

from __future__ import annotations

from typing import Any

import numpy as np

from .initializer import (
    Constant,
    Dirac,
    KaimingNormal,
    KaimingUniform,
    Normal,
    Orthogonal,
    TruncatedNormal,
    Uniform,
    XavierNormal,
    XavierUniform,
    calculate_gain,
)  # fmt: skip

__all__ = [
    "calculate_gain", "constant_", "dirac_", "eye_", "kaiming_normal_", "kaiming_uniform_", "normal_", "ones_",
    "orthogonal_", "trunc_normal_", "uniform_", "xavier_normal_", "xavier_uniform_", "zeros_",
]  # fmt: skip


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0) -> Any:
    """Uniform numbers in [a, b)."""
    return Uniform(a, b)(tensor)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0) -> Any:
    """Normal numbers."""
    return Normal(mean, std)(tensor)


def trunc_normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0) -> Any:
    """Normal numbers within [a, b]."""
    return TruncatedNormal(mean, std, a, b)(tensor)


def constant_(tensor: Any, val: float) -> Any:
    """One value everywhere."""
    return Constant(val)(tensor)


def ones_(tensor: Any) -> Any:
    """Ones."""
    return Constant(1.0)(tensor)


def zeros_(tensor: Any) -> Any:
    """Zeros."""
    return Constant(0.0)(tensor)


def eye_(tensor: Any) -> Any:
    """Ones on the diagonal of a matrix, zeros elsewhere; ValueError for another number of dimensions."""
    if tensor.ndim != 2:
        raise ValueError(f"eye_: wanted a matrix, got shape {list(tensor.shape)}")
    tensor.set_value(np.eye(*tensor.shape, dtype=tensor.numpy().dtype))
    return tensor


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """Convolution weights that pass channels on unchanged."""
    return Dirac(groups)(tensor)


def orthogonal_(tensor: Any, gain: float = 1) -> Any:
    """A matrix with orthonormal rows or columns times a gain."""
    return Orthogonal(gain)(tensor)


def xavier_uniform_(tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None) -> Any:
    """Uniform numbers whose variance is 2 / (fan_in + fan_out)."""
    return XavierUniform(fan_in, fan_out, gain)(tensor)


def xavier_normal_(tensor: Any, gain: float = 1.0, fan_in: float | None = None, fan_out: float | None = None) -> Any:
    """Normal numbers whose variance is 2 / (fan_in + fan_out)."""
    return XavierNormal(fan_in, fan_out, gain)(tensor)


def kaiming_uniform_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Uniform numbers whose variance is gain² / fan."""
    return KaimingUniform(None, a, nonlinearity, mode)(tensor)


def kaiming_normal_(tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu") -> Any:
    """Normal numbers whose variance is gain² / fan."""
    return KaimingNormal(None, a, nonlinearity, mode)(tensor)
