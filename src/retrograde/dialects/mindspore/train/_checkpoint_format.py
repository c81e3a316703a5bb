"""MindSpore's checkpoint files (.ckpt): a protocol-buffers message, written and read here without the protobuf package.

The wire format is the public one of protocol buffers (`_shared/wire.py`). What a file holds was found by writing known
parameters and looking at the bytes:

    file    = field 1, repeated: entry
    entry   = field 1: name (UTF-8), field 2: tensor
    tensor  = field 1, repeated: the size along each axis (none for 0-d)
              field 2: the dtype's name ("Float32", "Int64", "Bool", "BFloat16", "Complex64"; "str" for a text)
              field 3: the elements in C order, little-endian

A text has the one size 0 and holds UTF-32 code points. Entries of one name that follow one another are pieces of one
tensor. A checked file ends in `crc_num` and the CRC-32 of what stands before it, as ten bytes, the highest first.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable

import numpy as np

from ..._shared.wire import bytes_field, fields, key, varint, varints
from .._dtype import BY_NAME, FROM_NUMPY

_CRC_MARK, _CRC_BYTES = b"crc_num", 10


def encode(entries: Iterable[tuple[str, np.ndarray | str]], checked: bool = False) -> bytes:
    """The bytes of a checkpoint of arrays and texts by name; with a checksum at the end where `checked`."""
    parts = []
    for name, value in entries:
        tensor = _text(value) if isinstance(value, str) else _array(value)
        parts.append(bytes_field(1, bytes_field(1, name.encode()) + bytes_field(2, tensor)))
    data = b"".join(parts)
    if checked:
        data += _CRC_MARK + zlib.crc32(data).to_bytes(_CRC_BYTES, "big")
    return data


def decode(data: bytes, checked: bool = False) -> dict[str, np.ndarray | str]:
    """The arrays and texts of a checkpoint by name.

    Raises ValueError for what is no checkpoint, or, where `checked`, does not agree with its checksum.
    """
    mark = len(data) - _CRC_BYTES - len(_CRC_MARK)
    if mark >= 0 and data[mark : mark + len(_CRC_MARK)] == _CRC_MARK:
        found = int.from_bytes(data[-_CRC_BYTES:], "big")
        data = data[:mark]
        if checked and zlib.crc32(data) != found:
            raise ValueError("the checksum does not agree with the content; the file is damaged")
    pieces: dict[str, list[tuple[list[int], str, bytes]]] = {}
    try:
        for number, entry in fields(memoryview(data)):
            if number != 1 or isinstance(entry, int):
                raise ValueError("it holds a field that no checkpoint has")
            name, tensor = "", None
            for part, content in fields(entry):
                if part == 1 and not isinstance(content, int):
                    name = bytes(content).decode()
                elif part == 2 and not isinstance(content, int):
                    tensor = _tensor(content)
            if tensor is None:
                raise ValueError(f"the entry {name!r} has no content")
            pieces.setdefault(name, []).append(tensor)
        return {name: _joined(name, found) for name, found in pieces.items()}
    except (IndexError, UnicodeDecodeError) as error:
        raise ValueError(f"it is no checkpoint: {error}") from None


# ------------------------------------------------------------------------------------------ tensors


def _array(value: np.ndarray) -> bytes:
    dtype = FROM_NUMPY.get(value.dtype)
    if dtype is None:
        raise TypeError(f"a checkpoint holds no elements of dtype {value.dtype}")
    sizes = b"".join(key(1, 0) + varint(n) for n in value.shape)
    little = value.astype(value.dtype.newbyteorder("<"), copy=False) if value.dtype.byteorder == ">" else value
    return sizes + bytes_field(2, str(dtype).encode()) + bytes_field(3, np.ascontiguousarray(little).tobytes())


def _text(value: str) -> bytes:
    return key(1, 0) + varint(0) + bytes_field(2, b"str") + bytes_field(3, value.encode("utf-32-le"))


def _tensor(data: memoryview) -> tuple[list[int], str, bytes]:
    sizes: list[int] = []
    kind, content = "", b""
    for number, value in fields(data):
        if number == 1:
            if isinstance(value, int):
                sizes.append(value)
            else:  # sizes packed into one field, as newer writers of the format do
                sizes += varints(value)
        elif number == 2 and not isinstance(value, int):
            kind = bytes(value).decode()
        elif number == 3 and not isinstance(value, int):
            content = bytes(value)
    return sizes, kind, content


def _joined(name: str, found: list[tuple[list[int], str, bytes]]) -> np.ndarray | str:
    sizes, kind, _ = found[0]
    content = b"".join(piece for _, _, piece in found)
    if kind == "str":
        return content.decode("utf-32-le")
    dtype = BY_NAME.get(kind.lower().rstrip("_"))
    if dtype is None:
        raise ValueError(f"{name} has elements of type {kind!r}, which no tensor has")
    array = np.frombuffer(content, dtype.np).copy()
    # A tensor of one element without sizes is 0-d; pieces carry the sizes of the whole.
    if array.size != int(np.prod(sizes, dtype=np.int64)):
        raise ValueError(f"{name} of shape {tuple(sizes)} holds {array.size} elements")
    return array.reshape(sizes)
