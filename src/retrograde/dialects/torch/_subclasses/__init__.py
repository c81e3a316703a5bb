"""`torch._subclasses`: where packages look for tensors without data, of which there are none."""

from __future__ import annotations

from typing import Any

from .._api import missing
from .fake_tensor import FakeTensor, FakeTensorMode


def __getattr__(name: str) -> Any:
    raise missing("torch._subclasses", name, globals())
