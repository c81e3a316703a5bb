"""`torch._dynamo._trace_wrapped_higher_order_op`: indexing by mapped tensors, which needs nothing special here."""

from __future__ import annotations

import contextlib

from .._api import attributes


class TransformGetItemToIndex(contextlib.nullcontext[None]):
    """A context in which `x[i]` with an i that `vmap` maps over is an index, as it always is here."""


__getattr__ = attributes(globals())
