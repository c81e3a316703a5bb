"""`paddle.device`: the CPU, and questions about devices that are not there."""

from __future__ import annotations

from typing import Any

from . import cuda
from .._api import attributes as _attributes
from .._device import (
    CPUPlace, CUDAPlace, IPUPlace, XPUPlace, check_device, get_cudnn_version, get_device, is_compiled_with_cinn,
    is_compiled_with_cuda, is_compiled_with_custom_device, is_compiled_with_distribute, is_compiled_with_ipu,
    is_compiled_with_rocm, is_compiled_with_xpu, set_device,
)  # fmt: skip

__all__ = [
    "CPUPlace", "CUDAPlace", "IPUPlace", "XPUPlace", "cuda", "device_count", "get_all_custom_device_type",
    "get_all_device_type", "get_available_custom_device", "get_available_device", "get_cudnn_version", "get_device",
    "is_compiled_with_cinn", "is_compiled_with_cuda", "is_compiled_with_custom_device", "is_compiled_with_distribute",
    "is_compiled_with_ipu", "is_compiled_with_rocm", "is_compiled_with_xpu", "set_device", "synchronize",
]  # fmt: skip


def device_count() -> int:
    """The number of GPUs: 0."""
    return 0


def get_all_device_type() -> list[str]:
    """The kinds of devices beside the CPU: none."""
    return []


get_all_custom_device_type = get_available_device = get_available_custom_device = get_all_device_type


def synchronize(device: Any = None) -> None:
    """Wait for a device; the CPU is never behind."""
    check_device("synchronize", device)


__getattr__ = _attributes(globals())
