"""`torch.nn.attention`: the choice of a kernel for attention, of which there is one here."""

from __future__ import annotations

import contextlib as _contextlib
import enum as _enum
from collections.abc import Iterator as _Iterator
from typing import Any as _Any

from ..._api import attributes as _attributes


class SDPBackend(_enum.Enum):
    """The kernels that PyTorch has for scaled_dot_product_attention."""

    ERROR = -1
    MATH = 0
    FLASH_ATTENTION = 1
    EFFICIENT_ATTENTION = 2
    CUDNN_ATTENTION = 3
    OVERRIDEABLE = 4


@_contextlib.contextmanager
def sdpa_kernel(backends: list[SDPBackend] | SDPBackend, set_priority: bool = False) -> _Iterator[_Any]:
    """A context in which attention is to use one of these kernels; all of them compute the same here."""
    given = [backends] if isinstance(backends, SDPBackend) else backends
    if not isinstance(given, list) or not all(isinstance(b, SDPBackend) for b in given):
        raise AssertionError(f"sdpa_kernel: backends must be a SDPBackend or a list of them, got {backends!r}")
    yield {}


__all__ = ["SDPBackend", "sdpa_kernel"]

__getattr__ = _attributes(globals())
