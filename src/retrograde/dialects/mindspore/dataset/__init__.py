"""`mindspore.dataset`: arrays, Python sources and folders of images as datasets, with the usual steps, in this process.

Readers of other files are not here: read the file in Python and hand the arrays to NumpySlicesDataset or a generator to
GeneratorDataset.
"""

from __future__ import annotations

from typing import Any

from .._api import attributes
from . import config, transforms
from ._dataset import BatchInfo, Dataset
from ._samplers import (
    DistributedSampler, RandomSampler, Sampler, SequentialSampler, SubsetRandomSampler, SubsetSampler,
    WeightedRandomSampler,
)  # fmt: skip
from ._sources import GeneratorDataset, NumpySlicesDataset
from .config import Shuffle
from .._paths import offer_paths


def zip(datasets: Any) -> Dataset:
    """The columns of several datasets beside one another, as long as the shortest. Raises TypeError for no tuple of
    datasets, ValueError for fewer than two."""
    if not isinstance(datasets, tuple) or not all(isinstance(d, Dataset) for d in datasets):
        raise TypeError(f"zip: wanted a tuple of datasets, got {datasets!r}")
    if len(datasets) < 2:
        raise ValueError("zip: wanted two datasets or more")
    return datasets[0].zip(tuple(datasets[1:]))


_FOLDERS = (
    "Cifar100Dataset", "Cifar10Dataset", "FashionMnistDataset", "ImageFolderDataset", "KMnistDataset", "MnistDataset",
)  # fmt: skip

__getattr__ = attributes(globals(), "vision", **dict.fromkeys(_FOLDERS, "_folders"))

offer_paths(__name__)
