"""`torch.ao`: quantisation, as modules that are imported and refuse when used."""

from __future__ import annotations

from typing import Any

from .._api import missing
from . import quantization


def __getattr__(name: str) -> Any:
    raise missing("torch.ao", name, globals())
