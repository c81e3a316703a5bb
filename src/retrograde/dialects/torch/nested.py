"""`torch.nested`: batches of tensors of different sizes; what they can do stands in _nested_tensor.py."""

from __future__ import annotations

import sys

from ._api import attributes
from ._nested_tensor import (
    LAYOUTS,
    as_nested_tensor,
    masked_select,
    narrow,
    nested_tensor,
    nested_tensor_from_jagged,
    to_padded_tensor,
)  # fmt: skip

__all__ = [
    "as_nested_tensor", "masked_select", "narrow", "nested_tensor", "nested_tensor_from_jagged", "to_padded_tensor",
]  # fmt: skip

_torch = sys.modules[__package__]
LAYOUTS[:] = [_torch.strided, _torch.jagged]

__getattr__ = attributes(globals())
