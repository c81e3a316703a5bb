"""`torch._higher_order_ops.scan`: where PyTorch defines the function."""

from .._control import scan

__all__ = ["scan"]
