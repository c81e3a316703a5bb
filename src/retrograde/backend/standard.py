"""Any array library that follows the array-API standard: what has `__array_namespace__` computes.

Kernels run on the library's own arrays with its own namespace. Around them stands a `StandardArray`, which tells dtype and
shape as ours; it computes nothing itself, since derivative rules go on values.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .dtypes import dtype_in, numpy_dtype, register_dtypes
from .lookup import Backend, register_backend


class StandardArray:
    """An array of a library with its shape and NumPy's dtype. Shares its memory."""

    __slots__ = ("array", "shape", "dtype", "__weakref__")

    __array_ufunc__ = None  # NumPy leaves operators to these
    backend: StandardBackend

    def __init__(self, array: Any) -> None:
        self.array = array
        self.shape: tuple[int, ...] = tuple(array.shape)
        self.dtype: np.dtype = numpy_dtype(array.dtype)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return int(np.prod(self.shape, dtype=np.int64))

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    @property
    def device(self) -> Any:
        """Where the elements are."""
        return self.array.device

    def astype(self, dtype: Any, copy: bool = True) -> StandardArray:
        """The elements in another dtype."""
        xp = self.backend.xp
        return type(self)(xp.astype(self.array, dtype_in(xp, np.dtype(dtype)), copy=copy))

    def __getitem__(self, index: Any) -> StandardArray:
        return type(self)(self.array[index])

    def item(self) -> Any:
        """The only element."""
        return self.backend.to_host(self).item()

    def __bool__(self) -> bool:
        return bool(self.array)

    def __int__(self) -> int:
        return int(self.array)

    def __float__(self) -> float:
        return float(self.array)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # Converted in silence, an array could be written to in vain, or moved off its device.
        raise TypeError("this operation is written for NumPy arrays only; convert the array with numpy() first")

    def __repr__(self) -> str:
        return repr(self.array)


class StandardBackend(Backend):
    """Evaluates kernels with a library's namespace."""

    def __init__(self, xp: Any, name: str = "") -> None:
        """`name`: the library's, if it is not the namespace's."""
        self.xp = xp
        self.name = name or xp.__name__.partition(".")[0]
        self.array_type: type[StandardArray] = type(
            f"{self.name}_array", (StandardArray,), {"__slots__": (), "backend": self}
        )
        register_dtypes(xp)
        register_backend(self.array_type, self)

    def wrap(self, array: Any) -> Any:
        return array if isinstance(array, StandardArray) else self.array_type(array)

    def unwrap(self, array: Any) -> Any:
        return array.array

    def on_host(self, array: Any) -> bool:
        place: tuple[int, int] = array.array.__dlpack_device__()
        return place[0] == 1  # DLPack's number for the CPU

    def evaluate(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        kind = self.array_type
        given = [
            x.array if type(x) is kind
            else None if x is None
            else self.beside(prim, x, arrays).array if isinstance(x, (np.ndarray, np.generic))
            else x
            for x in arrays
        ]  # fmt: skip
        out = self.compute(prim, given, params)
        return tuple([kind(x) for x in out]) if isinstance(out, tuple) else kind(out)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
        return self.array_type(self.xp.full(shape, value, dtype=dtype_in(self.xp, dtype), device=like.device))

    def device_of(self, array: Any) -> Any:
        return array.device

    def snapshot(self, array: Any) -> Any:
        return self.array_type(self.xp.asarray(array.array, copy=True))

    def to_host(self, array: Any) -> np.ndarray:
        return np.asarray(array.array)

    def from_host(self, array: np.ndarray, like: Any) -> Any:
        return self.placed(array, like.device)

    def placed(self, host: np.ndarray, device: Any) -> Any:
        return self.array_type(self.moved(host, device))

    def moved(self, host: np.ndarray, device: Any) -> Any:
        """NumPy's array as one of the library's on a device, None for the default one."""
        return self.xp.asarray(host, dtype=dtype_in(self.xp, host.dtype), device=device)

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        if isinstance(value, StandardArray):
            return value if dtype is None else value.astype(dtype)
        return self.array_type(self.moved(np.asarray(value, dtype=dtype), None))


_BACKENDS: dict[Any, StandardBackend] = {}


def register(array: Any) -> None:
    """Let arrays of the type of `array`, which names its namespace, compute with that."""
    xp = array.__array_namespace__()
    if xp not in _BACKENDS:
        _BACKENDS[xp] = StandardBackend(xp)
    register_backend(type(array), _BACKENDS[xp])
