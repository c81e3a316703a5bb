"""Object files put into memory and linked without LLVM: 0.2 ms, where loading llvmlite takes 50, and 40 MB.

What LLVM makes of a module on Linux for x86-64 is an ELF file of code and constants, whose only references are whole addresses
of its own sections and of a few functions of C's library. That, and nothing else, is understood here; of whatever else is in
a file `loaded` gives nothing, and LLVM links it.
"""

from __future__ import annotations

import ctypes
import functools
import mmap
import platform
import struct
import sys
from typing import Any, NamedTuple

_HEADER = struct.Struct("<16sHHIQQQIHHHHHH")
_SECTION = struct.Struct("<IIQQQQIIQQ")
_SYMBOL = struct.Struct("<IBBHQQ")
_RELOCATION = struct.Struct("<QQq")
_ADDRESS = struct.Struct("<Q")

_ELF = b"\x7fELF\x02\x01\x01"
"""Of 64 bits, the least significant byte first."""
_RELOCATABLE, _X86_64 = 1, 62
_PROGBITS, _SYMTAB, _RELA, _REL = 1, 2, 4, 9
_UNWINDING = 0x70000001
"""How to leave a function by an exception, which nothing here raises."""
_WRITE, _ALLOC = 1, 2
_UNDEFINED, _SECTION_ITSELF = 0, 3
_WHOLE_ADDRESS = 1
"""R_X86_64_64."""

_CALLED = frozenset({"memcpy", "memmove", "memset"})
"""What LLVM calls of C's library without being asked."""


class _Section(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entry: int


@functools.cache
def understood() -> bool:
    """Whether object files are understood here: on Linux for x86-64, which says what they look like."""
    return sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 1 << 32


def loaded(name: str, file: bytes) -> tuple[int, Any] | None:
    """The address of function `name` of an object file in executable memory, and the memory, which has to be kept; None of a
    file that has no such function, or anything that is not understood."""
    if not understood():
        return None
    try:
        return _linked(name, file)
    except (_Unknown, struct.error, ValueError, LookupError, OverflowError, OSError):
        return None


class _Unknown(Exception):
    """Something in a file is not understood."""


def _linked(name: str, file: bytes) -> tuple[int, Any]:
    sections = _sections(file)
    places, size = _layout(sections, len(file))
    memory = mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
    begin = ctypes.addressof(ctypes.c_char.from_buffer(memory))
    for k, at in places.items():
        s = sections[k]
        memory[at : at + s.size] = file[s.offset : s.offset + s.size]
    found: int | None = None
    for table in (s for s in sections if s.type == _SYMTAB):
        symbols = [_SYMBOL.unpack_from(file, table.offset + k * _SYMBOL.size) for k in range(table.size // _SYMBOL.size)]
        names = sections[table.link].offset
        addresses = []
        for word, info, _, section, value, _ in symbols:
            label = file[names + word : file.index(b"\0", names + word)].decode()
            if section in places:
                addresses.append(begin + places[section] + value)
                if label == name and info & 15 != _SECTION_ITSELF:
                    found = addresses[-1]
            else:
                addresses.append(_outside(label) if section == _UNDEFINED and label else 0)
        for s in (s for s in sections if s.type == _RELA and s.info in places):
            _relocate(memory, places[s.info], file, s, addresses)
    if found is None:
        raise _Unknown
    if _protect()(begin, size, mmap.PROT_READ | mmap.PROT_EXEC):  # from here on nobody writes there
        raise _Unknown
    return found, memory


def _sections(file: bytes) -> list[_Section]:
    ident, kind, machine, _, _, _, table, _, _, _, _, entry, count, _ = _HEADER.unpack_from(file)
    if not ident.startswith(_ELF) or (kind, machine, entry) != (_RELOCATABLE, _X86_64, _SECTION.size):
        raise _Unknown
    return [_Section(*_SECTION.unpack_from(file, table + k * entry)) for k in range(count)]


def _layout(sections: list[_Section], length: int) -> tuple[dict[int, int], int]:
    """Where in memory each section goes that is there while code runs, and the size of all."""
    places, size = dict[int, int](), 0
    for k, s in enumerate(sections):
        if s.flags & _ALLOC and s.size and s.type != _UNWINDING:
            if s.type != _PROGBITS or s.flags & _WRITE or s.alignment > mmap.PAGESIZE or s.offset + s.size > length:
                raise _Unknown  # variables, threads' own memory, half a file
            size = -(-size // (s.alignment or 1)) * (s.alignment or 1)
            places[k] = size
            size += s.size
        elif s.type == _REL:
            raise _Unknown
    if not size:
        raise _Unknown
    return places, -(-size // mmap.PAGESIZE) * mmap.PAGESIZE


def _relocate(memory: mmap.mmap, begin: int, file: bytes, table: _Section, addresses: list[int]) -> None:
    """Write the addresses that a section refers to."""
    for k in range(table.size // _RELOCATION.size):
        offset, info, more = _RELOCATION.unpack_from(file, table.offset + k * _RELOCATION.size)
        address = addresses[info >> 32]
        if info & 0xFFFFFFFF != _WHOLE_ADDRESS or not address or begin + offset + _ADDRESS.size > len(memory):
            raise _Unknown
        _ADDRESS.pack_into(memory, begin + offset, (address + more) & 0xFFFFFFFFFFFFFFFF)


@functools.cache
def _outside(name: str) -> int:
    """The address of a function of C's library that code calls."""
    if name not in _CALLED:
        raise _Unknown
    found = ctypes.cast(getattr(ctypes.CDLL(None), name), ctypes.c_void_p).value
    if found is None:
        raise _Unknown
    return found


@functools.cache
def _protect() -> Any:
    """C's mprotect."""
    function = ctypes.CDLL(None).mprotect
    function.argtypes = ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int
    return function
