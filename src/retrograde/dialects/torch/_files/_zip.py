"""PyTorch's zip archives: `data.pkl`, one record per storage, and small records that describe the format.

Records are stored uncompressed and start at multiples of 64 bytes, so that a storage can be mapped into memory.
"""

from __future__ import annotations

import errno
import hashlib
import io
import os
import pickle
import struct
import sys
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

import numpy as np

from ..._shared.file_budget import Budget, stream_size
from ._legacy import read_legacy
from ._objects import Resolve
from ._pickle import Describe, Pickler, Reduce
from ._records import Storage, check_location, storage_bytes
from ._unpickle import Rebuild, Unpickler

File = str | os.PathLike[str] | IO[bytes]

_ALIGNMENT = 64
_LOCAL_HEADER = 30  # bytes before the name in the header of a record
_ZIP64_EXTRA = 20  # what zipfile adds to that header for a record that needs 64-bit sizes
_LARGE = 2**31 - 1  # bytes from which a record does
_CHUNK = 2**20  # bytes read at a time: what is checked and copied is still in the cache
_MADE_OF_A_BYTE = 64  # what an instruction of one byte makes, an empty dictionary for example
_SIGNATURE = b"PK\x03\x04"


def write_zip(
    file: File, obj: Any, describe: Describe, *, reduce: Reduce | None = None, resolve: Resolve | None = None
) -> None:
    """Write `obj` as `torch.save` does: numbers, text, plain containers, NumPy values and tensors.

    The file is not touched unless all of `obj` can be stored.

    Args:
        file: a path, or an object with a `write` method.
        describe: returns the TensorRecord of a tensor and None for any other object.
        reduce: returns, for an object of the dialect such as a dtype or a Size, the full name of a constant
            ("torch.float32") or a name and arguments (("torch.Size", ((2, 3),))), and None for any other.
        resolve: finds classes and functions by module and name; with it objects of any class can be written.

    Raises:
        PicklingError: something else is in `obj`, or a class that cannot be found; the message names it.
        RuntimeError: one storage is used with two dtypes, or the folder of the path does not exist.
        AttributeError: `file` is neither a path nor writable.
    """
    pickler = Pickler(describe, reduce, resolve)
    data = pickler.dumps(obj)
    if isinstance(file, (str, os.PathLike)):
        path = Path(file)
        if not path.parent.is_dir():
            raise RuntimeError(f"torch.save: there is no folder {str(path.parent)!r} to write to")
        with open(path, "wb") as stream:
            _write_records(stream, path.stem or "archive", data, pickler.storages)
    elif callable(getattr(file, "write", None)):
        _write_records(file, "archive", data, pickler.storages)
    else:
        raise AttributeError(f"torch.save: got {type(file).__name__}, wanted a path or an object with a write method")


class _Sink:
    """Makes zipfile count from where writing starts and never seek, whatever stream the user passed."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self.position = 0

    def write(self, data: Any) -> int:
        view = memoryview(data).cast("B")
        done = 0
        while done < len(view):
            count = self._stream.write(view[done:])
            if count is None:  # a stream that does not say how much it took took all
                break
            done += count
        self.position += len(view)
        return len(view)

    def flush(self) -> None:
        flush = getattr(self._stream, "flush", None)
        if flush is not None:
            flush()


def _write_records(stream: IO[bytes], name: str, data: bytes, storages: list[np.ndarray]) -> None:
    records: list[tuple[str, Any]] = [
        ("data.pkl", data),
        (".format_version", b"1"),
        (".storage_alignment", str(_ALIGNMENT).encode()),
        ("byteorder", sys.byteorder.encode()),
        *((f"data/{key}", array.view(np.uint8).data) for key, array in enumerate(storages)),
        ("version", b"3\n"),
    ]
    digest = hashlib.sha256()
    sink = _Sink(stream)
    with zipfile.ZipFile(sink, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
        for record, content in records:
            info = _write_record(archive, sink.position, f"{name}/{record}", content)
            digest.update(struct.pack("<I", info.CRC))
        identity = int.from_bytes(digest.digest(), "little") % 10**40
        _write_record(archive, sink.position, f"{name}/.data/serialization_id", f"{identity:040}".encode())


def _write_record(archive: zipfile.ZipFile, position: int, name: str, content: Any) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(name)  # dated 1980, so that equal objects give equal files
    large = len(content) >= _LARGE
    start = position + _LOCAL_HEADER + len(name.encode()) + 4 + (_ZIP64_EXTRA if large else 0)
    padding = -start % _ALIGNMENT
    info.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
    with archive.open(info, "w", force_zip64=large) as record:
        record.write(content)
    return info


def read(
    file: File, rebuild: Rebuild, *, map_location: Any = None, mmap: bool = False, **admitted: Any,
) -> Any:  # fmt: skip
    """Read what `torch.save` wrote, in the zip format or in the one before PyTorch 1.6.

    Args:
        file: a path, or a binary stream that can seek, positioned at the start.
        rebuild: called with storage (a 1-D array; the same object for tensors that share it), dtype name, offset,
            shape, strides, requires_grad and is_parameter; returns a tensor.
        map_location: where storages of other devices go: "cpu", a device, a dict from location to location, or a
            function of storage and location that returns None to decline; as for `torch.load`.
        mmap: map the storages from the file (which must be a path to a zip archive) instead of reading them.
        admitted: what the file may name beside tensors and plain data: `constants`, `functions`, `is_own` and `trust`
            of the Unpickler.

    Raises:
        UnpicklingError: the file asks for something else, which the message names, for more memory than is in
            proportion to it, or its pickle is damaged.
        RuntimeError: the archive is damaged or cut short, or a tensor belongs on a device that is not here.
        EOFError: the file is empty.
        FileNotFoundError: there is no such file.
        AttributeError: `file` is neither a path nor a stream that can read and seek.
        ValueError: `mmap` without a path.
    """
    with _opened(file) as stream:
        start = stream.read(len(_SIGNATURE))
        stream.seek(-len(start), os.SEEK_CUR)
        if not start:
            raise EOFError("torch.load: the file is empty")
        if start == _SIGNATURE:
            source = stream if not isinstance(file, (str, os.PathLike)) else file
            return read_zip(source, rebuild, mmap=mmap, map_location=map_location, **admitted)
        if mmap:
            raise RuntimeError("torch.load: only zip archives can be mapped; load without mmap and save again")
        return read_legacy(stream, rebuild, map_location=map_location, **admitted)


@contextmanager
def _opened(file: File) -> Iterator[IO[bytes]]:
    if isinstance(file, (str, os.PathLike)):
        with open(file, "rb") as stream:
            yield stream
        return
    for method in ("read", "readline", "seek", "tell"):
        if not callable(getattr(file, method, None)):
            raise AttributeError(
                f"torch.load: {type(file).__name__} has no method {method!r}; pass a path or a stream that can seek, "
                "such as io.BytesIO(data)"
            )
    yield file


def read_zip(file: File, rebuild: Rebuild, *, map_location: Any = None, mmap: bool = False, **admitted: Any) -> Any:
    """Read an archive that `torch.save` or `write_zip` wrote; arguments and errors are those of `read`."""
    is_path = isinstance(file, (str, os.PathLike))
    if mmap and not is_path:
        raise ValueError("torch.load: mmap needs a path, and a stream was passed")
    with _archive(file) as archive:
        stream = io.BytesIO(archive.data_pickle())
        storages = _Storages(archive, map_location, file if mmap else None)
        return Unpickler(stream, storages.load, rebuild, budget=archive.budget, **admitted).load()


def read_pickle(file: File) -> bytes:
    """The pickle in an archive; errors are those of `read`."""
    with _archive(file) as archive:
        return archive.data_pickle()


@contextmanager
def _archive(file: File) -> Iterator[_Archive]:
    with _reported():
        opened = zipfile.ZipFile(file)
    with opened:
        yield _Archive(opened)


@contextmanager
def _reported() -> Iterator[None]:
    """Turn what zipfile raises for a damaged archive into one RuntimeError."""
    try:
        yield
    except (
        zipfile.BadZipFile,
        EOFError,
        NotImplementedError,
        OverflowError,
        ValueError,
        struct.error,
        zlib.error,
        OSError,
    ) as error:
        if isinstance(error, OSError) and error.errno != errno.EINVAL:
            raise  # not the archive's doing: a place in it that is none is an invalid argument to seek
        raise RuntimeError(f"torch.load: the archive is damaged or cut short: {error}") from error


class _Archive:
    """The records of an archive, read within its budget."""

    def __init__(self, archive: zipfile.ZipFile) -> None:
        assert archive.fp is not None
        self._archive = archive
        self._size = stream_size(archive.fp)
        self.budget = Budget("torch.load", self._size)
        names = archive.namelist()
        roots = [
            name.removesuffix("/data.pkl") for name in names if name.endswith("/data.pkl") and name.count("/") == 1
        ]
        if len(roots) != 1:
            raise RuntimeError(
                "torch.load: the zip archive holds no data.pkl in a folder at its top, so torch.save did not write it"
            )
        self._root = roots[0]
        if self.find("constants.pkl") is not None:
            raise RuntimeError(
                "torch.load: the archive holds a TorchScript program; save the module's state_dict instead"
            )

    def find(self, record: str) -> zipfile.ZipInfo | None:
        """The entry of a record, None where there is none."""
        try:
            return self._archive.getinfo(f"{self._root}/{record}")
        except KeyError:
            return None

    def data_pickle(self) -> bytes:
        """The pickle of the object."""
        info = self._archive.getinfo(f"{self._root}/data.pkl")
        # What compression hides can be instructions that make something of each byte.
        self.budget.spend(_MADE_OF_A_BYTE * max(0, info.file_size - info.compress_size))
        return self.content(info).tobytes()

    def is_big_endian(self) -> bool:
        """Whether the archive says of its storages that their highest bytes come first."""
        info = self.find("byteorder")
        order = "little"
        if info is not None:
            order = "too long" if info.file_size > 16 else self.content(info).tobytes().decode("ascii", "replace")
        if order.strip() not in ("little", "big"):
            raise RuntimeError(f"torch.load: the archive gives its byte order as {order!r}; it is damaged")
        return order.strip() == "big"

    def content(self, info: zipfile.ZipInfo) -> np.ndarray:
        """The bytes of a record."""
        stored = info.compress_type == zipfile.ZIP_STORED
        if not stored and info.compress_type != zipfile.ZIP_DEFLATED:
            raise RuntimeError(
                f"torch.load: the record {info.filename!r} is compressed in another way than deflate; store it"
            )
        if info.compress_size > self._size or (stored and info.file_size != info.compress_size):
            raise RuntimeError(f"torch.load: the record {info.filename!r} gives an impossible size; it is damaged")
        self.budget.spend(info.file_size)
        raw = np.empty(info.file_size, np.uint8)
        checksum = filled = 0
        with self._data(info) as stream:
            while filled < raw.size:
                chunk = stream.read(min(raw.size - filled, _CHUNK))
                if not chunk:
                    raise RuntimeError(f"torch.load: the record {info.filename!r} is cut short")
                raw[filled : filled + len(chunk)] = np.frombuffer(chunk, np.uint8)
                checksum = zlib.crc32(chunk, checksum)
                filled += len(chunk)
        if checksum != info.CRC:
            raise RuntimeError(f"torch.load: the record {info.filename!r} does not match its checksum; it is damaged")
        return raw

    @contextmanager
    def _data(self, info: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
        with _reported():
            if info.compress_type != zipfile.ZIP_STORED:
                with self._archive.open(info) as stream:
                    yield stream
            else:
                # 2 GiB take 3.5 s this way and 8.6 s through zipfile, which copies each piece twice more.
                assert self._archive.fp is not None
                self._archive.fp.seek(self._start(info))
                yield self._archive.fp

    def mapped(self, info: zipfile.ZipInfo, path: str | os.PathLike[str]) -> np.ndarray:
        """The bytes of a record, mapped from the file at a path."""
        if info.compress_type != zipfile.ZIP_STORED:
            raise RuntimeError(f"torch.load: the record {info.filename!r} is compressed; load it without mmap")
        with _reported():
            start = self._start(info)
        if start + info.file_size > self._size:
            raise RuntimeError(f"torch.load: the record {info.filename!r} is cut short")
        # Copy on write: changing a loaded tensor must not change the file.
        return np.memmap(path, np.uint8, "c", start, (info.file_size,)).view(np.ndarray)

    def _start(self, info: zipfile.ZipInfo) -> int:
        stream = self._archive.fp
        assert stream is not None
        stream.seek(info.header_offset)
        header = stream.read(_LOCAL_HEADER)
        if len(header) != _LOCAL_HEADER or not header.startswith(_SIGNATURE):
            raise RuntimeError(f"torch.load: the record {info.filename!r} has no header; the archive is damaged")
        name_length, extra_length = struct.unpack("<HH", header[26:])
        return info.header_offset + _LOCAL_HEADER + name_length + extra_length


class _Storages:
    """The storages of an archive, each read when a tensor first names it."""

    def __init__(self, archive: _Archive, map_location: Any, mapped_path: str | os.PathLike[str] | None) -> None:
        self._archive = archive
        self._map_location = map_location
        self._mapped_path = mapped_path
        self._known: dict[str, Storage] = {}
        self._swapped = archive.is_big_endian() != (sys.byteorder == "big")

    def load(self, dtype_name: str | None, key: str, location: str, count: int, view: Any) -> Storage:
        storage = self._known.get(key)
        if storage is None:
            raw = self._raw(key)
            storage = self._known[key] = Storage(raw, dtype_name, swapped=self._swapped)
            if raw.size == storage_bytes(dtype_name, count):
                check_location(storage, location, self._map_location)
        if storage.raw.size != storage_bytes(dtype_name, count) or storage.dtype_name != dtype_name:
            raise pickle.UnpicklingError(
                f"torch.load: storage {key!r} has {storage.raw.size} bytes of {storage.dtype_name or 'no dtype'}, "
                f"and a tensor counts on {count} elements of {dtype_name or 'bytes'}; the file is damaged"
            )
        return storage

    def _raw(self, key: str) -> np.ndarray:
        info = self._archive.find(f"data/{key}")
        if info is None:
            raise RuntimeError(f"torch.load: the archive lacks the record 'data/{key}'; it is damaged")
        if self._mapped_path is not None and info.file_size:
            return self._archive.mapped(info, self._mapped_path)
        return self._archive.content(info)
