"""`paddle.vision.datasets`: images of folders. Those that PaddlePaddle fetches are refused by name."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

from ..._api import missing as _missing
from ...io import Dataset

IMG_EXTENSIONS = (".jpg", ".jpeg", ".png", ".ppm", ".bmp", ".pgm", ".tif", ".tiff", ".webp")


def _loaded(path: str) -> Any:
    from .. import get_image_backend, image_load

    image = image_load(path)
    return image.convert("RGB") if get_image_backend() == "pil" else image


def _files(root: str, is_valid: Callable[[str], bool]) -> list[str]:
    return [
        path
        for folder, _, names in sorted(os.walk(root, followlinks=True))
        for path in (os.path.join(folder, name) for name in sorted(names))
        if is_valid(path)
    ]


def _validity(op: str, extensions: Sequence[str] | None, is_valid_file: Callable[[str], bool] | None) -> Callable[[str], bool]:
    if extensions is not None and is_valid_file is not None:
        raise ValueError(f"{op}: give extensions or is_valid_file, not both")
    if is_valid_file is not None:
        return is_valid_file
    endings = tuple(e.lower() for e in (extensions or IMG_EXTENSIONS))
    return lambda path: path.lower().endswith(endings)


class DatasetFolder(Dataset):
    """The images of the folders in a folder, each with the number of its folder, in the order of their names.

    Raises RuntimeError where there is no image.
    """

    def __init__(
        self, root: str, loader: Any = None, extensions: Any = None, transform: Any = None, is_valid_file: Any = None
    ) -> None:
        self.root, self.transform, self.loader = root, transform, loader or _loaded
        valid = _validity("DatasetFolder", extensions, is_valid_file)
        self.extensions = extensions or (None if is_valid_file else IMG_EXTENSIONS)
        self.classes = sorted(entry.name for entry in os.scandir(root) if entry.is_dir())
        self.class_to_idx = {name: k for k, name in enumerate(self.classes)}
        self.samples = [
            (path, k) for name, k in self.class_to_idx.items() for path in _files(os.path.join(root, name), valid)
        ]
        if not self.samples:
            raise RuntimeError(f"DatasetFolder: there is no image in the folders of {root!r}")
        self.targets = [target for _, target in self.samples]
        self.dtype = "float32"

    def __getitem__(self, index: int) -> tuple[Any, int]:
        path, target = self.samples[index]
        sample = self.loader(path)
        return (sample if self.transform is None else self.transform(sample)), target

    def __len__(self) -> int:
        return len(self.samples)


class ImageFolder(Dataset):
    """The images of a folder and of those in it, without labels; raises RuntimeError where there is none."""

    def __init__(
        self, root: str, loader: Any = None, extensions: Any = None, transform: Any = None, is_valid_file: Any = None
    ) -> None:
        self.root, self.transform, self.loader = root, transform, loader or _loaded
        self.samples = _files(root, _validity("ImageFolder", extensions, is_valid_file))
        if not self.samples:
            raise RuntimeError(f"ImageFolder: there is no image in {root!r}")

    def __getitem__(self, index: int) -> list[Any]:
        sample = self.loader(self.samples[index])
        return [sample if self.transform is None else self.transform(sample)]

    def __len__(self) -> int:
        return len(self.samples)


_FETCHED = ("Cifar10", "Cifar100", "FashionMNIST", "Flowers", "MNIST", "VOC2012")
__all__ = ["DatasetFolder", "ImageFolder"]


def __getattr__(name: str) -> Any:
    if name in _FETCHED:
        raise AttributeError(
            f"paddle.vision.datasets.{name} fetches its images, which retrograde does not; read your own files with "
            "DatasetFolder, ImageFolder or a Dataset of yours"
        )
    raise _missing("paddle.vision.datasets", name, __all__)
