"""`torch._utils`: several tensors in one vector and back, and the devices that there are, as packages import them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from . import _joining
from ._api import submodule


def _flatten_dense_tensors(tensors: Sequence[Any]) -> Any:
    """The elements of all tensors in one 1-d tensor."""
    return _joining.cat([t.reshape(-1) for t in tensors])


def _unflatten_dense_tensors(flat: Any, tensors: Sequence[Any]) -> tuple[Any, ...]:
    """The parts of a 1-d tensor in the shapes of others, as views."""
    parts, start = [], 0
    for t in tensors:
        n = t.numel()
        parts.append(flat[start : start + n].view(t.shape))
        start += n
    return tuple(parts)


def _get_available_device_type() -> str | None:
    """The kind of accelerator that is at hand: None."""
    return None


def _get_device_module(device_type: str) -> Any:
    """The module of a kind of device, `torch.cpu`; raises RuntimeError for a kind that is not there."""
    if device_type != "cpu":
        raise RuntimeError(f"_get_device_module: wanted 'cpu', the device of this dialect, got {device_type!r}")
    return submodule(__package__, device_type)
