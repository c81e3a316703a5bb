"""What LLVM says of this processor, kept on disk: so machine code that is there already is found and run without LLVM.

The entry's key is what LLVM is asked with: the file that LLVM is in, and what NumPy and the system have found of the
processor. On another processor, under an emulator or with another llvmlite there is no such entry.
"""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
from typing import Any, NamedTuple

from . import cache

_SAME = "vendor_id", "cpu family", "model", "model name", "stepping", "flags"
"""What the system says of a processor that is true of all of them, and at all times."""


class Host(NamedTuple):
    """cpu, features, triple: as LLVM names them. version: of LLVM."""

    cpu: str
    features: str
    triple: str
    version: str

    def has(self) -> dict[str, bool]:
        """Each feature that LLVM knows, and whether it is there."""
        return {x[1:]: x[0] == "+" for x in self.features.split(",") if x}


def described(llvm: Any) -> Host:
    """What llvmlite's module says."""
    features = llvm.get_host_cpu_features().flatten()
    return Host(llvm.get_host_cpu_name(), features, llvm.get_process_triple(), ".".join(map(str, llvm.llvm_version_info)))


def known() -> Host | None:
    """What was said earlier, in another process; None where nothing was, or it may be another processor."""
    key = _key()
    found = None if key is None else cache.read("host", key)
    parts = () if found is None else found.decode().split("\0")
    return Host(*parts) if len(parts) == len(Host._fields) else None


def keep(host: Host) -> None:
    """Keep it for `known`."""
    key = _key()
    if key is not None:
        cache.write("host", key, "\0".join(host).encode())


@functools.cache
def _key() -> str | None:
    library, found = _library(), _processor()
    if library is None or found is None:
        return None
    import hashlib  # 1 ms

    return hashlib.sha256(f"{library}\0{found}".encode()).hexdigest()


def _library() -> str | None:
    """The file that LLVM is in: its place, size and time."""
    try:
        spec = importlib.util.find_spec("llvmlite")
        if spec is None or spec.origin is None:
            return None
        place = os.path.join(os.path.dirname(spec.origin), "binding", "libllvmlite.so")
        state = os.stat(place)
    except (OSError, ValueError):  # ValueError: the import is forbidden
        return None
    return f"{place}\0{state.st_size}\0{state.st_mtime_ns}"


def _processor() -> str | None:
    """What the system says of the first processor, and NumPy has asked of the one that it runs on, which may be emulated."""
    if sys.platform != "linux":
        return None
    import numpy as np

    core: Any = getattr(np, "_core", None) or getattr(np, "core", None)
    features: Any = getattr(core._multiarray_umath, "__cpu_features__", None)
    if not isinstance(features, dict):
        return None
    said = []
    with open("/proc/cpuinfo") as file:
        for line in file:
            name, _, value = line.partition(":")
            if not name.strip():
                break
            if name.strip() in _SAME:
                said.append(f"{name.strip()}:{value.strip()}")
    return "\0".join([*said, *(f"{name}={has}" for name, has in sorted(features.items()))]) if len(said) == len(_SAME) else None
