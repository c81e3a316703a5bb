"""`mindspore.dataset`: arrays, Python sources and folders of images as datasets, with the usual steps, in this process.

Readers of other files are not here: read the file in Python and hand the arrays to NumpySlicesDataset or a generator to
GeneratorDataset.
"""

from __future__ import annotations

from typing import Any

from .._api import missing, submodule
from . import config, transforms
from ._dataset import BatchInfo, Dataset
from ._samplers import (
    DistributedSampler,
    RandomSampler,
    Sampler,
    SequentialSampler,
    SubsetRandomSampler,
    SubsetSampler,
    WeightedRandomSampler,
)
from ._sources import GeneratorDataset, NumpySlicesDataset
from .config import Shuffle
from .._paths import offer_paths


def zip(datasets: Any) -> Dataset:
    """The columns of several datasets beside one another, as long as the shortest."""
    return datasets[0].zip(tuple(datasets[1:]))


_FOLDERS = (
    "Cifar100Dataset", "Cifar10Dataset", "FashionMnistDataset", "ImageFolderDataset", "KMnistDataset", "MnistDataset",
)  # fmt: skip


def __getattr__(name: str) -> Any:
    if name == "vision":
        return submodule(__name__, name)
    if name in _FOLDERS:
        from . import _folders

        return getattr(_folders, name)
    raise missing("mindspore.dataset", name, globals())


offer_paths(__name__)
