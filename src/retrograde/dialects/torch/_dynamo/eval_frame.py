"""`torch._dynamo.eval_frame`: where packages look for `OptimizedModule`."""

from __future__ import annotations

from .._api import attributes
from .._optimized_module import OptimizedModule as OptimizedModule

__getattr__ = attributes(globals())
