"""`torch.utils.flop_counter`: refused when used, since operations are not counted here."""

from __future__ import annotations

from typing import Any

from .._api import attributes


class FlopCounterMode:
    """A context that would count floating-point operations; raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError(
            "FlopCounterMode: retrograde's torch dialect does not count operations; torch.profiler says what took time"
        )


__getattr__ = attributes(globals())
