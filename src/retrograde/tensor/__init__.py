"""Floor 5: the native Tensor and the array-API namespace, by topic."""

from .core import Tensor
from .conversion import asarray

__all__ = ["Tensor", "asarray"]
