"""The memory of another library's arrays, through the DLPack protocol."""

from __future__ import annotations

from typing import Any

import numpy as np

CPU_DEVICE = (1, 0)
"""What `__dlpack_device__` answers for the CPU."""


CUDA_DEVICE = 2
"""The kind of an NVIDIA device, the first of what `__dlpack_device__` answers there."""


class _Exported:
    """A capsule of the DLPack protocol as the object that NumPy imports from."""

    def __init__(self, capsule: Any) -> None:
        self._capsule = capsule

    def __dlpack__(self, **options: Any) -> Any:
        return self._capsule

    def __dlpack_device__(self) -> tuple[int, int]:
        return CPU_DEVICE


def imported(exporter: Any) -> np.ndarray:
    """The memory of another library's array, or of a capsule that it exported, as a NumPy array."""
    return np.from_dlpack(exporter if hasattr(exporter, "__dlpack__") else _Exported(exporter))
