"""`torch._higher_order_ops.while_loop`: where PyTorch defines the function."""

from .._control import while_loop

__all__ = ["while_loop"]
