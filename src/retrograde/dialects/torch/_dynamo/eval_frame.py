"""`torch._dynamo.eval_frame`: where packages look for `OptimizedModule`."""

from __future__ import annotations

from typing import Any

from .._api import missing
from .._optimized_module import OptimizedModule as OptimizedModule


def __getattr__(name: str) -> Any:
    raise missing("torch._dynamo.eval_frame", name, globals())
