"""The wire format of protocol buffers, which several frameworks' files are in: a field is a key, `number << 3 | kind`, and its
content; kind 0 is a varint (7 bits a byte, the lowest first), kind 2 a varint length and that many bytes. Raises IndexError or
ValueError for what is cut off or in no such format."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


def key(number: int, kind: int) -> bytes:
    """The beginning of a field."""
    return varint(number << 3 | kind)


def varint(n: int) -> bytes:
    """A number of 0 or more."""
    out = bytearray()
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    out.append(n)
    return bytes(out)


def bytes_field(number: int, content: bytes) -> bytes:
    """A field of bytes."""
    return key(number, 2) + varint(len(content)) + content


def read_varint(data: memoryview, at: int) -> tuple[int, int]:
    """The number at a place, and the place behind it; raises ValueError where it does not end."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at += 1
        if byte < 128:
            return value, at
        shift += 7
        if shift > 63:
            raise ValueError("a number does not end")


def varints(data: memoryview) -> list[int]:
    """Numbers one behind the other."""
    found, at = [], 0
    while at < len(data):
        value, at = read_varint(data, at)
        found.append(value)
    return found


def fields(data: memoryview) -> Iterator[tuple[int, Any]]:
    """The fields of a message: number, and an int or the bytes."""
    at = 0
    while at < len(data):
        head, at = read_varint(data, at)
        number, kind = head >> 3, head & 7
        if kind == 0:
            value, at = read_varint(data, at)
            yield number, value
        elif kind == 2:
            size, at = read_varint(data, at)
            if at + size > len(data):
                raise ValueError("it is cut off")
            yield number, data[at : at + size]
            at += size
        else:
            raise ValueError(f"field {number} is of kind {kind}")
