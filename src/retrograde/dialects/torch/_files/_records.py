"""What a saved tensor consists of, and the names that PyTorch's files give to dtypes and places.

`TensorRecord` is what the dialect's callbacks exchange with readers and writers; `Storage` is one block of
bytes of a file while it is read.
"""

from __future__ import annotations

import operator
import pickle
from collections.abc import Mapping
from typing import Any, NamedTuple

import ml_dtypes
import numpy as np

from ....backend.devices import accelerator
from ..._shared.unpickling import Internal

STORAGE_CLASSES = {
    "float64": "torch.DoubleStorage",
    "float32": "torch.FloatStorage",
    "float16": "torch.HalfStorage",
    "bfloat16": "torch.BFloat16Storage",
    "int64": "torch.LongStorage",
    "int32": "torch.IntStorage",
    "int16": "torch.ShortStorage",
    "int8": "torch.CharStorage",
    "uint8": "torch.ByteStorage",
    "bool": "torch.BoolStorage",
    "complex64": "torch.ComplexFloatStorage",
    "complex128": "torch.ComplexDoubleStorage",
}
# Dtypes younger than the storage classes are kept in a storage of bytes, and the tensor names the dtype.
UNTYPED_STORAGE = "torch.storage.UntypedStorage"
_DTYPES: dict[str, np.dtype] = {
    **{name: np.dtype(name) for name in [*STORAGE_CLASSES, "uint16", "uint32", "uint64"] if name != "bfloat16"},
    **{
        name: np.dtype(getattr(ml_dtypes, name))
        for name in ["bfloat16", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz"]
    },
}
DTYPE_NAMES = frozenset(_DTYPES)


class GlobalName:
    """A name to be written into a file where an object stands."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class TensorRecord(NamedTuple):
    """A tensor as files keep it: a view, counted in elements, of a storage that other tensors may share.

    Tensors share a storage in the file when their `storage` arrays are the same memory, and are rebuilt
    with the same `storage` object. `attributes` are those that a user put on the tensor.
    """

    storage: np.ndarray
    dtype_name: str
    offset: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    requires_grad: bool
    is_parameter: bool
    attributes: Mapping[str, Any] | None = None
    kind: type | None = None
    """The program's own class of tensors that this one is of."""
    location: str = "cpu"
    """The device that it belongs on; its elements are in `storage` all the same."""


def dtype_of_name(name: str) -> np.dtype:
    """Return the NumPy dtype of a PyTorch dtype given without its module; raises KeyError for one without."""
    return _DTYPES[name]


def fits(length: int, offset: int, shape: tuple[int, ...], strides: tuple[int, ...]) -> bool:
    """Tell whether every element of a view lies in a storage of `length` elements."""
    if len(shape) != len(strides) or offset < 0 or any(size < 0 for size in shape) or any(s < 0 for s in strides):
        return False
    if 0 in shape:
        return True
    return offset + sum((size - 1) * stride for size, stride in zip(shape, strides)) < length


def checked_record(record: TensorRecord) -> TensorRecord:
    """Return the record with plain integers in it, as files hold them.

    Raises TypeError or ValueError where the dialect describes a tensor that its storage cannot hold.
    """
    record = TensorRecord(*record)
    storage = record.storage
    if record.dtype_name not in DTYPE_NAMES:
        raise TypeError(f"torch.save: a tensor of dtype {record.dtype_name} cannot be stored; convert it first")
    if storage.ndim != 1 or not storage.flags.c_contiguous or storage.dtype != dtype_of_name(record.dtype_name):
        raise ValueError(
            f"torch.save: the storage of a {record.dtype_name} tensor came as {storage.dtype} of shape "
            f"{storage.shape}, wanted one contiguous axis of the tensor's dtype"
        )
    offset = operator.index(record.offset)
    shape = tuple(operator.index(size) for size in record.shape)
    strides = tuple(operator.index(stride) for stride in record.strides)
    if not fits(storage.size, offset, shape, strides):
        raise ValueError(
            f"torch.save: shape {shape}, strides {strides} and offset {offset} leave a storage of {storage.size}"
        )
    return record._replace(
        offset=offset,
        shape=shape,
        strides=strides,
        requires_grad=bool(record.requires_grad),
        is_parameter=bool(record.is_parameter),
    )


class Storage(Internal):
    """The bytes of one storage, and the arrays that view them: one per dtype, so that sharing is identity."""

    __slots__ = ("_arrays", "dtype_name", "location", "raw", "swapped")

    def __init__(self, raw: np.ndarray, dtype_name: str | None, *, swapped: bool = False) -> None:
        super().__init__("a storage outside a tensor")
        self.raw = raw
        self.dtype_name = dtype_name
        self.swapped = swapped
        self.location = "cpu"
        self._arrays: dict[str, np.ndarray] = {}

    def array(self, dtype_name: str) -> np.ndarray:
        """Return the storage as an array of the dtype, in the byte order of this machine."""
        array = self._arrays.get(dtype_name)
        if array is None:
            dtype = dtype_of_name(dtype_name)
            if self.raw.size % dtype.itemsize:
                raise pickle.UnpicklingError(
                    f"torch.load: a storage of {self.raw.size} bytes cannot hold {dtype_name}; the file is damaged"
                )
            raw = self.raw
            if self.swapped:
                # Complex numbers are two numbers to a byte swap; the types of ml_dtypes have none of their own.
                unit = dtype.itemsize // 2 if dtype.kind == "c" else dtype.itemsize
                raw = raw.view(f"u{unit}").byteswap().view(np.uint8)
            array = self._arrays[dtype_name] = raw.view(dtype)
        return array


def storage_bytes(dtype_name: str | None, count: int) -> int:
    """Return how many bytes a storage of `count` elements takes; without a dtype it counts bytes."""
    return count * (1 if dtype_name is None else dtype_of_name(dtype_name).itemsize)


def check_location(storage: Storage, location: str, map_location: Any) -> None:
    """Note where a storage saved from `location` is to be; raises RuntimeError for a device that is not here."""
    if callable(map_location):
        if map_location(storage.array(storage.dtype_name or "uint8"), location) is not None:
            return
    elif isinstance(map_location, Mapping):
        location = str(map_location.get(location, location))
    elif map_location is not None:
        location = str(map_location)
    kind, _, number = location.partition(":")
    if kind != "cpu":
        served = accelerator(kind)
        if served is None or int(number or 0) >= served.count():
            there = "there is only 'cpu'" if served is None else f"there are {served.count()} of them"
            raise RuntimeError(
                f"torch.load: a tensor belongs on {location!r}, and {there} here; "
                "pass map_location='cpu' to place it there"
            )
        storage.location = location
