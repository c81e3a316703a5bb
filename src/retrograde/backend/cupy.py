"""CuPy: NumPy's functions on a GPU. Its arrays have NumPy's dtypes and methods, so kernels run as they are.

CuPy computes on the current device and refuses arrays of others, so an operation makes its operands' device the current
one where it is not.
"""

from __future__ import annotations

from typing import Any

import array_api_compat.cupy as compat
import cupy
import numpy as np

from .._errors import UnsupportedError
from .devices import Accelerator
from .lookup import Backend, register_backend


class CupyBackend(Backend):
    """Evaluates kernels on the array's device."""

    name = "cupy"
    xp = compat

    def device_of(self, array: Any) -> Any:
        return array.device

    def on_host(self, array: Any) -> bool:
        return False

    def evaluate(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        places = {x.device.id for x in arrays if isinstance(x, cupy.ndarray)}
        if len(places) > 1:
            named = ", ".join(f"cuda:{i}" for i in sorted(places))
            raise ValueError(f"{prim.name}: the operands are on several devices, {named}")
        (place,) = places
        if place == cupy.cuda.runtime.getDevice():
            return super().evaluate(prim, arrays, params)
        with cupy.cuda.Device(place):
            return super().evaluate(prim, arrays, params)

    def snapshot(self, array: Any) -> Any:
        with array.device:
            return array.copy()

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
        with like.device:
            return cupy.full(shape, value, dtype)

    def from_host(self, array: np.ndarray, like: Any) -> Any:
        return self.placed(array, like.device)

    def placed(self, host: Any, device: Any) -> Any:
        if host.dtype.name == "bfloat16":
            raise UnsupportedError("CuPy's arrays know no bfloat16; convert with float16 or float32 before moving to a GPU")
        with device:
            return cupy.asarray(host)

    def storage_order(self, array: Any) -> tuple[int, ...] | None:
        if array.flags.c_contiguous:
            return None
        return tuple(sorted(range(array.ndim), key=lambda axis: -array.strides[axis]))

    def to_host(self, array: Any) -> np.ndarray:
        return cupy.asnumpy(array)

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        return cupy.asarray(value, dtype=dtype)


class CupyDevices(Accelerator):
    """NVIDIA's devices, as CuPy's runtime tells of them."""

    kind = "cuda"

    def __init__(self, backend: CupyBackend) -> None:
        self.backend = backend

    def count(self) -> int:
        try:
            return int(cupy.cuda.runtime.getDeviceCount())
        except cupy.cuda.runtime.CUDARuntimeError:  # there is no driver, or no device
            return 0

    def current(self) -> int:
        return int(cupy.cuda.runtime.getDevice())

    def use(self, index: int) -> None:
        cupy.cuda.Device(index).use()

    def at(self, index: int) -> Any:
        return cupy.cuda.Device(index)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, index: int) -> Any:
        with cupy.cuda.Device(index):
            return cupy.full(shape, value, dtype)

    def index_of(self, array: Any) -> int:
        return int(array.device.id)

    def synchronize(self, index: int) -> None:
        cupy.cuda.Device(index).synchronize()

    def properties(self, index: int) -> dict[str, Any]:
        found = dict(cupy.cuda.runtime.getDeviceProperties(index))
        return {**found, "name": found["name"].decode()}

    def free_and_total(self, index: int) -> tuple[int, int]:
        free, total = cupy.cuda.Device(index).mem_info
        return int(free), int(total)

    def allocated(self, index: int) -> tuple[int, int]:
        with cupy.cuda.Device(index):
            pool = cupy.get_default_memory_pool()
            return int(pool.used_bytes()), int(pool.total_bytes())

    def release(self) -> None:
        cupy.get_default_memory_pool().free_all_blocks()

    @property
    def streams(self) -> Any:
        return cupy.cuda

    def from_dlpack(self, exporter: Any) -> Any:
        return cupy.from_dlpack(exporter)


BACKEND = CupyBackend()
register_backend(cupy.ndarray, BACKEND)
DEVICES = CupyDevices(BACKEND)
