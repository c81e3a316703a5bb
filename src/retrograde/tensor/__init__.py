"""Floor 5: the native Tensor and the array-API namespace."""

from .core import Tensor, asarray

__all__ = ["Tensor", "asarray"]
