"""`torch._dynamo._trace_wrapped_higher_order_op`: indexing by mapped tensors, which needs nothing special here."""

from __future__ import annotations

import contextlib
from typing import Any

from .._api import missing


class TransformGetItemToIndex(contextlib.nullcontext[None]):
    """A context in which `x[i]` with an i that `vmap` maps over is an index, as it always is here."""


def __getattr__(name: str) -> Any:
    raise missing("torch._dynamo._trace_wrapped_higher_order_op", name, globals())
