"""The datasets that read images from folders on this machine: the MNIST and CIFAR formats, and folders named by classes."""

from __future__ import annotations

import importlib
import io
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ._sources import GeneratorDataset

_USAGES = ("train", "test", "all")


def _folder(op: str, path: Any) -> str:
    if not isinstance(path, (str, os.PathLike)) or not os.path.isdir(path):
        raise ValueError(f"{op}: dataset_dir must be a folder on this machine, got {path!r}")
    return os.fspath(path)


def _parts(op: str, usage: Any, train: Sequence[str], test: Sequence[str]) -> list[str]:
    """The names that belong to a usage."""
    usage = "all" if usage is None else usage
    if usage not in _USAGES:
        raise ValueError(f"{op}: usage must be one of {_USAGES}, got {usage!r}")
    return [*(train if usage != "test" else ()), *(test if usage != "train" else ())]


def _file(op: str, folder: str, name: str) -> str:
    path = os.path.join(folder, name)
    if not os.path.isfile(path):
        raise RuntimeError(f"{op}: there is no file {name!r} in {folder!r}; download and unpack the data set there")
    return path


class _Arrays:
    """Rows of arrays."""

    def __init__(self, *columns: np.ndarray) -> None:
        self._columns = columns

    def __len__(self) -> int:
        return len(self._columns[0])

    def __getitem__(self, i: int) -> tuple[np.ndarray, ...]:
        return tuple(np.asarray(column[i]) for column in self._columns)


def _idx(path: str) -> np.ndarray:
    """The array of bytes in a file of the IDX format: two zeros, the kind, the number of axes, the lengths, the elements."""
    with open(path, "rb") as file:
        content = file.read()
    if content[:3] != b"\0\0\x08":
        raise RuntimeError(f"{path}: no file of bytes in the IDX format")
    axes = content[3]
    shape = np.frombuffer(content, ">u4", axes, 4)
    return np.frombuffer(content, np.uint8, offset=4 + 4 * axes).reshape(shape.tolist())


class _Local(GeneratorDataset):
    """A dataset of images and labels in local files, which `_read` makes a source of rows of."""

    _names_of_columns: tuple[str, ...] = ("image", "label")

    def __init__(
        self, dataset_dir: Any, usage: str | None = None, num_samples: int | None = None, num_parallel_workers: int | None = None,
        shuffle: bool | None = None, sampler: Any = None, num_shards: int | None = None, shard_id: int | None = None,
        cache: Any = None,
    ) -> None:  # fmt: skip
        source = self._read(type(self).__name__, _folder(type(self).__name__, dataset_dir), usage)
        super().__init__(source, list(self._names_of_columns), num_samples=num_samples, shuffle=shuffle, sampler=sampler,
                         num_shards=num_shards, shard_id=shard_id)  # fmt: skip

    def _read(self, op: str, folder: str, usage: Any) -> Any:
        raise NotImplementedError


class MnistDataset(_Local):
    """The images (28, 28, 1) and labels of the four files of MNIST in a folder; usage: "train", "test" or "all"."""

    def _read(self, op: str, folder: str, usage: Any) -> Any:
        images, labels = [], []
        for part in _parts(op, usage, ["train"], ["t10k"]):
            images.append(_idx(_file(op, folder, f"{part}-images-idx3-ubyte"))[..., None])
            labels.append(_idx(_file(op, folder, f"{part}-labels-idx1-ubyte")).astype(np.uint32))
        return _Arrays(np.concatenate(images), np.concatenate(labels))


class FashionMnistDataset(MnistDataset):
    """The images and labels of Fashion-MNIST, whose files are those of MNIST."""


class KMnistDataset(MnistDataset):
    """The images and labels of Kuzushiji-MNIST, whose files are those of MNIST."""


class Cifar10Dataset(_Local):
    """The images (32, 32, 3) and labels of the binary files of CIFAR-10; usage: "train", "test" or "all"."""

    _files = [f"data_batch_{i}.bin" for i in range(1, 6)], ["test_batch.bin"]
    _labels = 1

    def _read(self, op: str, folder: str, usage: Any) -> Any:
        rows = [np.fromfile(_file(op, folder, name), np.uint8) for name in _parts(op, usage, *self._files)]
        table = np.concatenate(rows).reshape(-1, self._labels + 3072)
        images = table[:, self._labels :].reshape(-1, 3, 32, 32).transpose(0, 2, 3, 1)
        return _Arrays(images, *(table[:, k].astype(np.uint32) for k in reversed(range(self._labels))))


class Cifar100Dataset(Cifar10Dataset):
    """The images and the fine and coarse labels of the binary files of CIFAR-100; usage: "train", "test" or "all"."""

    _names_of_columns = ("image", "fine_label", "coarse_label")
    _files = ["train.bin"], ["test.bin"]
    _labels = 2


def _decoded(content: np.ndarray) -> np.ndarray:
    """The pixels (height, width, 3) of an encoded image, through Pillow."""
    try:
        pillow = importlib.import_module("PIL.Image")
    except ImportError:
        raise RuntimeError("decode=True needs Pillow: install it (`pip install pillow`), or decode the bytes in a map") from None
    return np.asarray(pillow.open(io.BytesIO(content.tobytes())).convert("RGB"))


class _Files:
    """Rows of the bytes of a file (or its pixels) and a label."""

    def __init__(self, entries: list[tuple[str, int]], decode: Callable[[np.ndarray], np.ndarray] | None) -> None:
        self._entries, self._decode = entries, decode

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, i: int) -> tuple[np.ndarray, np.ndarray]:
        path, label = self._entries[i]
        content = np.fromfile(path, np.uint8)
        return content if self._decode is None else self._decode(content), np.asarray(label, np.int32)


class ImageFolderDataset(GeneratorDataset):
    """The images below a folder that has one for each class: their bytes, or with `decode` their pixels, and the number of
    the class.

    class_indexing: the numbers by names of classes; without, they are counted in alphabetical order. extensions: the endings
    of files to take. Raises ValueError for a wrong folder or class, RuntimeError where there is no image.
    """

    def __init__(
        self, dataset_dir: Any, num_samples: int | None = None, num_parallel_workers: int | None = None,
        shuffle: bool | None = None, sampler: Any = None, extensions: Any = None, class_indexing: dict[str, int] | None = None,
        decode: bool = False, num_shards: int | None = None, shard_id: int | None = None, cache: Any = None, decrypt: Any = None,
    ) -> None:  # fmt: skip
        op = "ImageFolderDataset"
        folder = _folder(op, dataset_dir)
        if decrypt is not None:
            raise NotImplementedError(f"{op}: decrypt is not supported; decrypt the files first")
        endings = tuple(e.lower() for e in extensions or (".jpg", ".jpeg", ".png", ".bmp"))
        found = sorted(entry.name for entry in os.scandir(folder) if entry.is_dir())
        numbers = {name: i for i, name in enumerate(found)} if class_indexing is None else class_indexing
        for name in numbers:
            if name not in found:
                raise ValueError(f"{op}: there is no folder of the class {name!r} in {folder!r}")
        entries = [
            (os.path.join(folder, name, file), label) for name, label in numbers.items()
            for file in sorted(os.listdir(os.path.join(folder, name))) if file.lower().endswith(endings)
        ]  # fmt: skip
        if not entries:
            raise RuntimeError(f"{op}: there is no image with an ending of {endings} in the folders of {folder!r}")
        super().__init__(_Files(entries, _decoded if decode else None), ["image", "label"], num_samples=num_samples,
                         shuffle=shuffle, sampler=sampler, num_shards=num_shards, shard_id=shard_id)  # fmt: skip
        self._numbers = numbers

    def get_class_indexing(self) -> dict[str, int]:
        """The numbers of the classes by their names."""
        return dict(self._numbers)
