"""`torch._subclasses`: where packages look for tensors without data, of which there are none."""

from __future__ import annotations

from .._api import attributes
from .fake_tensor import FakeTensor, FakeTensorMode

__getattr__ = attributes(globals())
