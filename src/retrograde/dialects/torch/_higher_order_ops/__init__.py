"""`torch._higher_order_ops`: branches and loops whose functions become part of a compiled one."""

from .cond import cond
from .scan import scan
from .while_loop import while_loop

__all__ = ["cond", "scan", "while_loop"]
