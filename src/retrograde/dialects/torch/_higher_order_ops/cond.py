"""`torch._higher_order_ops.cond`: where PyTorch defines the function."""

from .._control import cond

__all__ = ["cond"]
