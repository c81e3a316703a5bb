"""`mindspore.dataset`: arrays and Python sources as datasets, with the usual steps, in this process.

Readers of files and public data sets are not here: read the file in Python and hand the arrays to NumpySlicesDataset or
a generator to GeneratorDataset.
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


def zip(datasets: Any) -> Dataset:
    """The columns of several datasets beside one another, as long as the shortest."""
    return datasets[0].zip(tuple(datasets[1:]))


def __getattr__(name: str) -> Any:
    if name == "vision":
        return submodule(__name__, name)
    raise missing("mindspore.dataset", name, globals())
