"""`torch.utils.dlpack`: tensors from and for other array libraries, sharing memory."""

from .._memory import from_dlpack, to_dlpack

__all__ = ["from_dlpack", "to_dlpack"]
