"""`torch.return_types`: the named tuples that operations with several results return."""

from __future__ import annotations

from typing import Any

from ._return_types import TYPES, return_type

for _name in ("cummax", "cummin", "kthvalue", "max", "median", "min", "mode", "nanmedian", "sort", "topk"):
    return_type(_name, "values", "indices")  # their operations make them at the first call

def __getattr__(name: str) -> Any:
    if name in TYPES:
        return TYPES[name]
    raise AttributeError(f"torch.return_types has no {name!r}")


def __dir__() -> list[str]:
    return sorted(TYPES)
