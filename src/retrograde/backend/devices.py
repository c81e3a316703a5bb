"""Devices by kind: which array library serves "cuda", and how a dialect asks it what is there."""

from __future__ import annotations

import functools
import importlib
from typing import Any

import numpy as np

from .lookup import Backend, backend_of

HOST = "cpu"
"""The kind of the device where NumPy computes."""

_SERVED = {"cuda": "cupy"}
"""The file that serves a kind of devices; its `DEVICES` is the accelerator."""

FOUND: list[str] = []
"""The kinds of devices that a program has asked for and that are there: where it is empty, all arrays are on the CPU."""

CROSSED: list[int] = []
"""Non-empty once an operation has been recorded that takes elements from a device to the CPU: a backward pass that begins with
NumPy's arrays may come to others then."""


class Accelerator:
    """Devices of one kind, counted from 0, and the backend of the arrays on them."""

    kind: str
    backend: Backend

    def count(self) -> int:
        """How many there are."""
        raise NotImplementedError

    def current(self) -> int:
        """The one that is used where none is named, in this thread."""
        raise NotImplementedError

    def use(self, index: int) -> None:
        """Make one the current one."""
        raise NotImplementedError

    def at(self, index: int) -> Any:
        """A device as its library has it."""
        raise NotImplementedError

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, index: int) -> Any:
        """An array on a device filled with a number."""
        raise NotImplementedError

    def index_of(self, array: Any) -> int:
        """On which an array is."""
        raise NotImplementedError

    def synchronize(self, index: int) -> None:
        """Wait until all work of a device is done."""
        raise NotImplementedError

    def properties(self, index: int) -> dict[str, Any]:
        """What the driver says of a device: `name`, `totalGlobalMem`, `major`, `minor`, `multiProcessorCount`."""
        raise NotImplementedError

    def free_and_total(self, index: int) -> tuple[int, int]:
        """The bytes of memory that are free, and all."""
        raise NotImplementedError

    def allocated(self, index: int) -> tuple[int, int]:
        """The bytes that arrays take, and those that the library holds for them."""
        raise NotImplementedError

    def release(self) -> None:
        """Give memory back that the library holds and no array takes."""
        raise NotImplementedError

    @property
    def streams(self) -> Any:
        """Where the library's `Stream`, `Event`, `get_current_stream` and `get_elapsed_time` are."""
        raise NotImplementedError

    def from_dlpack(self, exporter: Any) -> Any:
        """The memory of another library's array on such a device, shared."""
        raise NotImplementedError


@functools.cache
def accelerator(kind: str) -> Accelerator | None:
    """What serves a kind of devices; None where its library is not installed or finds no device.

    The one place where a kind of devices gets its library. The library is imported by the first call.
    """
    file = _SERVED.get(kind)
    if file is None:
        return None
    try:
        found: Accelerator = importlib.import_module(f"{__package__}.{file}").DEVICES
    except ImportError:
        return None
    if not found.count():
        return None
    FOUND.append(kind)
    return found


def kind_of_array(array: Any) -> tuple[str, int]:
    """The kind and the number of the device of a library's array."""
    if type(array) is np.ndarray:
        return HOST, 0
    backend = backend_of(array)
    if not backend.on_host(array):
        for kind, file in _SERVED.items():
            if backend.name == file and (found := accelerator(kind)) is not None:
                return kind, found.index_of(array)
    return HOST, 0


def placed(array: Any, kind: str, index: int) -> Any:
    """An array, of NumPy or of a device, on a device that is there: itself if it is there."""
    have = kind_of_array(array)
    if have == (kind, index):
        return array
    if kind == HOST:
        return backend_of(array).to_host(array)
    served = accelerator(kind)
    assert served is not None, f"asked of {kind} before it was known to be there"
    return served.backend.placed(array if have[0] in (kind, HOST) else backend_of(array).to_host(array), served.at(index))


def full(shape: tuple[int, ...], value: Any, dtype: np.dtype, kind: str, index: int) -> Any:
    """An array on a device that is there, filled with a number."""
    served = accelerator(kind)
    assert served is not None, f"asked of {kind} before it was known to be there"
    return served.full(shape, value, dtype, index)
