"""PyTorch's format before 1.6, still written with `_use_new_zipfile_serialization=False`: five pickles, then bytes.

In order: a magic number, a protocol version, facts about the machine, the object, the keys of the storages; then
for each key the number of elements (int64) and the elements.
"""

from __future__ import annotations

import pickle
import sys
from typing import IO, Any

import numpy as np

from ..._shared.file_budget import Budget, stream_size
from ._records import Storage, check_location, storage_bytes
from ._unpickle import Rebuild, Unpickler

_MAGIC = 0x1950A86A20F9469CFC6C
_PROTOCOL = 1001


def read_legacy(stream: IO[bytes], rebuild: Rebuild, *, map_location: Any = None, **admitted: Any) -> Any:
    """Read one object in the old format and leave the stream behind it; arguments and errors are those of `read`."""
    budget = Budget("torch.load", stream_size(stream))
    _refuse_tar(stream)
    try:
        magic = Unpickler(stream, budget=budget).load()
    except pickle.UnpicklingError as error:
        raise pickle.UnpicklingError(
            "torch.load: the file was not written by torch.save, or is damaged; read as any pickle, "
            + str(error).removeprefix("torch.load: ")
        ) from error
    if magic != _MAGIC:
        raise pickle.UnpicklingError("torch.load: the file was not written by torch.save")
    version = Unpickler(stream, budget=budget).load()
    if version != _PROTOCOL:
        raise RuntimeError(f"torch.load: the file has protocol version {version!r}, and {_PROTOCOL} is the one known")
    facts = Unpickler(stream, budget=budget).load()
    little = facts.get("little_endian", True) if isinstance(facts, dict) else True
    # The elements follow the object that is made of them, so the object is run twice: first for its storages only.
    # What a trusted one names does nothing in the first run.
    start = stream.tell()
    storages = _Storages(stream, swapped=little != (sys.byteorder == "little"), map_location=map_location)
    trust = admitted.get("trust")
    first = admitted if trust is None else {**admitted, "trust": trust.inert()}
    Unpickler(stream, storages.load, _no_tensor, budget=budget, **first).load()
    storages.fill(Unpickler(stream, budget=budget).load())
    end = stream.tell()
    stream.seek(start)
    value = Unpickler(stream, storages.load, rebuild, budget=budget, **admitted).load()
    stream.seek(end)
    return value


class _Placeholder:
    """Stands for a tensor in the first run; each is an object of its own, and takes any attribute."""


def _no_tensor(*fields: Any) -> _Placeholder:
    return _Placeholder()


def _refuse_tar(stream: IO[bytes]) -> None:
    start = stream.tell()
    head = stream.read(263)
    stream.seek(start)
    if head[257:262] == b"ustar":
        raise RuntimeError(
            "torch.load: the file is a tar archive from before PyTorch 0.1.10; save it again with a newer one"
        )


class _Storages:
    """The storages of a file: empty when a tensor first names them, filled once the object has been run."""

    def __init__(self, stream: IO[bytes], *, swapped: bool, map_location: Any) -> None:
        self._left = stream_size(stream)
        self._stream = stream
        self._swapped = swapped
        self._map_location = map_location
        self._declared: dict[str, tuple[str | None, int, str]] = {}
        self._known: dict[str, Storage] = {}
        self._views: dict[tuple[str, str], Storage] = {}

    def load(self, dtype_name: str | None, key: str, location: str, count: int, view: Any) -> Storage:
        declared = (dtype_name, count, location)
        if self._declared.setdefault(key, declared) != declared:
            raise pickle.UnpicklingError(f"torch.load: storage {key!r} is declared in two ways; the file is damaged")
        storage = self._known.get(key)
        if storage is None:
            size = storage_bytes(dtype_name, count)
            self._left -= size
            if self._left < 0:
                raise RuntimeError(f"torch.load: the file ends before storage {key!r}; it is damaged or cut short")
            storage = self._known[key] = Storage(np.zeros(size, np.uint8), dtype_name, swapped=self._swapped)
        return storage if view is None else self._view(storage, key, view)

    def _view(self, storage: Storage, key: str, view: Any) -> Storage:
        try:
            name, offset, length = view
            first, size = storage_bytes(storage.dtype_name, offset), storage_bytes(storage.dtype_name, length)
            inside = 0 <= first <= first + size <= storage.raw.size
        except (TypeError, ValueError) as error:
            raise pickle.UnpicklingError(
                f"torch.load: a view of storage {key!r} is no view; the file is damaged"
            ) from error
        if not inside:
            raise pickle.UnpicklingError(f"torch.load: a view leaves storage {key!r}; the file is damaged")
        if (key, name) not in self._views:
            raw = storage.raw[first : first + size]
            self._views[key, name] = Storage(raw, storage.dtype_name, swapped=self._swapped)
        return self._views[key, name]

    def fill(self, keys: Any) -> None:
        is_list = isinstance(keys, list) and all(isinstance(key, str) for key in keys)
        if not is_list or sorted(keys) != sorted(self._declared):
            raise pickle.UnpicklingError(
                "torch.load: the list of storages does not match those in use; the file is damaged"
            )
        order = "big" if self._swapped == (sys.byteorder == "little") else "little"
        for key in keys:
            dtype_name, count, location = self._declared[key]
            header = self._stream.read(8)
            raw = self._known[key].raw
            data = self._stream.read(raw.size)
            if len(header) != 8 or len(data) != raw.size:
                raise RuntimeError(f"torch.load: the file ends within storage {key!r}; it is damaged or cut short")
            if int.from_bytes(header, order) != count:  # type: ignore[arg-type]
                raise RuntimeError(f"torch.load: storage {key!r} does not have {count} elements; the file is damaged")
            raw[:] = np.frombuffer(data, np.uint8)
            # A new Storage: the arrays of the old one may be swapped copies of the zeros.
            self._known[key] = Storage(raw, dtype_name, swapped=self._swapped)
            check_location(self._known[key], location, self._map_location)
        self._views.clear()
