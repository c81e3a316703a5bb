"""What the namespace can do, as the array API standard lets programs ask."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.dtypes import NAMES
from . import dtypes as dt
from ._values import check_device
from .dtypes import isdtype

_NAMES = tuple(name for name in NAMES if name not in ("float16", "bfloat16"))


class NamespaceInfo:
    """Answers about defaults, dtypes and devices; `__array_namespace_info__()` makes one."""

    def capabilities(self) -> dict[str, Any]:
        """What depends on values is there: boolean indexing, and functions whose shapes do."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 64}

    def default_device(self) -> str:
        """Where tensors are created."""
        return "cpu"

    def devices(self) -> list[str]:
        """Where tensors can be created."""
        return ["cpu"]

    def default_dtypes(self, *, device: Any = None) -> dict[str, np.dtype]:
        """What Python's numbers and positions become."""
        check_device("default_dtypes", device)
        return {
            "real floating": dt.float64, "complex floating": dt.complex128, "integral": dt.int64, "indexing": dt.int64,
        }  # fmt: skip

    def dtypes(self, *, device: Any = None, kind: Any = None) -> dict[str, np.dtype]:
        """The standard's dtypes by name, those of a kind (or a tuple of kinds) only if one is given."""
        check_device("dtypes", device)
        return {name: np.dtype(name) for name in _NAMES if kind is None or isdtype(np.dtype(name), kind)}


def __array_namespace_info__() -> NamespaceInfo:
    """What the namespace can do.

    Examples
    --------
    >>> __array_namespace_info__().default_dtypes()["real floating"]
    dtype('float64')
    """
    return NamespaceInfo()
