"""`torch.utils.dlpack`: tensors from and for other array libraries, sharing memory."""

from typing import Any

from .._memory import from_dlpack
from .._tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A capsule through which another library shares a tensor's memory, once."""
    return tensor.__dlpack__()
