"""Named tensors in files of the safetensors format: no pickle, one header, raw bytes. The dialects use this, too."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from typing import IO, Any

import ml_dtypes
import numpy as np
import safetensors
import safetensors.numpy

from ..core.unwrap import concrete
from ..core.value import Value
from ._values import new

# NumPy's names of the dtypes, and those that files hold.
_CODES = {
    "float64": "F64", "float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "int32": "I32",
    "int16": "I16", "int8": "I8", "uint64": "U64", "uint32": "U32", "uint16": "U16", "uint8": "U8", "bool": "BOOL",
    "float8_e4m3fn": "F8_E4M3", "float8_e5m2": "F8_E5M2", "complex64": "C64",
}  # fmt: skip
_NAMES = {code: name for name, code in _CODES.items()}

File = str | os.PathLike[str] | IO[bytes]


def write_safetensors(file: File, tensors: Mapping[str, np.ndarray], metadata: Mapping[str, str] | None = None) -> None:
    """Write named arrays of any shape and a dictionary of text; each array gets data of its own.

    Raises TypeError where an array has a dtype that the format lacks, such as complex128.

    Examples
    --------
    >>> import io
    >>> buffer = io.BytesIO()
    >>> write_safetensors(buffer, {"w": np.zeros((2, 3), np.float32)})
    >>> read_safetensors(io.BytesIO(buffer.getvalue()))[0]["w"].shape
    (2, 3)
    """
    dense = {}
    for name, array in tensors.items():
        if array.dtype.name not in _CODES or not array.dtype.isnative:
            raise TypeError(
                f"safetensors: tensor {name!r} is of dtype {array.dtype}, which the format lacks; convert it"
            )
        # The library writes the memory of an array, whatever its strides.
        dense[name] = np.asarray(array, order="C")
    data = safetensors.numpy.save(dense, dict(metadata) if metadata is not None else None)
    if isinstance(file, (str, os.PathLike)):
        with open(file, "wb") as stream:
            stream.write(data)
    else:
        file.write(data)


def read_safetensors(file: File) -> tuple[dict[str, np.ndarray], dict[str, str]]:
    """Return the named arrays, writable, and the metadata of a file.

    Raises safetensors.SafetensorError where the file is damaged, cut short or of another format, TypeError for a dtype
    that is not supported here.
    """
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as stream:
            data = stream.read()
    else:
        data = file.read()
    tensors = {}
    for name, entry in safetensors.deserialize(data):
        if entry["dtype"] not in _NAMES:
            raise TypeError(f"safetensors: tensor {name!r} is of dtype {entry['dtype']}, which is not supported here")
        name_of_dtype = _NAMES[entry["dtype"]]
        dtype = np.dtype(getattr(ml_dtypes, name_of_dtype, name_of_dtype))
        tensors[name] = np.frombuffer(bytearray(entry["data"]), dtype).reshape(entry["shape"])
    header = json.loads(data[8 : 8 + int.from_bytes(data[:8], "little")])
    return tensors, header.get("__metadata__", {})


def save(file: File, tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> None:
    """Write a dictionary of tensors (or arrays) by name to a file, in the safetensors format; history is left out.

    Raises TypeError for a name that is no text, a value that is no array, or a dtype that the format lacks.

    Examples
    --------
    >>> import io
    >>> import retrograde as rg
    >>> buffer = io.BytesIO()
    >>> rg.save(buffer, {"w": rg.ones((2,))})
    >>> rg.load(io.BytesIO(buffer.getvalue()))
    {'w': Tensor([1., 1.])}
    """
    arrays = {}
    for name, x in tensors.items():
        if not isinstance(name, str):
            raise TypeError(f"save: a tensor's name must be a string, got {name!r}")
        if not isinstance(x, (Value, np.ndarray, np.generic)):
            raise TypeError(f"save: {name!r} is {type(x).__name__}, wanted a tensor; nested containers are not written")
        arrays[name] = concrete("save", x) if isinstance(x, Value) else np.asarray(x)
    write_safetensors(file, arrays, metadata)


def load(file: File) -> dict[str, Any]:
    """Read the tensors of a safetensors file, by name.

    Raises safetensors.SafetensorError where the file is damaged, cut short or of another format.

    Examples
    --------
    >>> import io
    >>> import retrograde as rg
    >>> buffer = io.BytesIO()
    >>> rg.save(buffer, {"b": rg.zeros((3,))})
    >>> rg.load(io.BytesIO(buffer.getvalue()))["b"].shape
    (3,)
    """
    return {name: new(array) for name, array in read_safetensors(file)[0].items()}
