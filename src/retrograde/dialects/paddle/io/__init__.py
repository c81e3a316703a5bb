"""`paddle.io`: datasets, samplers, loading in batches."""

from __future__ import annotations

from .._api import attributes
from .dataset import (
    ChainDataset, ComposeDataset, ConcatDataset, Dataset, IterableDataset, Subset, TensorDataset, random_split,
)  # fmt: skip
from .loader import DataLoader, get_worker_info
from .sampler import (
    BatchSampler, DistributedBatchSampler, RandomSampler, Sampler, SequenceSampler, SubsetRandomSampler,
    WeightedRandomSampler,
)  # fmt: skip

__all__ = [
    "BatchSampler", "ChainDataset", "ComposeDataset", "ConcatDataset", "DataLoader", "Dataset",
    "DistributedBatchSampler", "IterableDataset", "RandomSampler", "Sampler", "SequenceSampler", "Subset",
    "SubsetRandomSampler", "TensorDataset", "WeightedRandomSampler", "get_worker_info", "random_split",
]  # fmt: skip

__getattr__ = attributes(globals())
