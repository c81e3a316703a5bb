"""Samplers: the order in which a dataset is read, and its cutting into batches.

Random order comes from NumPy's global stream, as in PaddlePaddle: `numpy.random.seed` repeats it, `paddle.seed` does not.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ....backend import launch
from ....core.value import Value
from ..._shared.checks import check
from ..random import default_generator
from .dataset import IterableDataset


class Sampler:
    """Base of samplers: define `__iter__`, which gives indices."""

    def __init__(self, data_source: Any = None) -> None:
        self.data_source = data_source

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} defines no __iter__")


class SequenceSampler(Sampler):
    """0, 1, 2, ..."""

    def __iter__(self) -> Iterator[int]:
        return iter(range(len(self.data_source)))

    def __len__(self) -> int:
        return len(self.data_source)


class RandomSampler(Sampler):
    """All indices in random order, or random ones with replacement."""

    def __init__(
        self, data_source: Any, replacement: bool = False, num_samples: int | None = None, generator: Any = None
    ) -> None:
        super().__init__(data_source)
        check("RandomSampler", "replacement: bool", locals())
        if num_samples is not None and not replacement and num_samples > len(data_source):
            raise ValueError(
                f"RandomSampler: num_samples {num_samples} exceeds the {len(data_source)} samples; use replacement=True"
            )
        self.replacement, self._num_samples, self.generator = replacement, num_samples, generator

    @property
    def num_samples(self) -> int:
        """How many indices are drawn."""
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self) -> Iterator[int]:
        n = len(self.data_source)
        if self.generator is not None:
            yield from itertools.islice(iter(self.generator), self.num_samples)
        else:
            yield from np.random.choice(np.arange(n), self.num_samples, replace=self.replacement).tolist()

    def __len__(self) -> int:
        return self.num_samples


class WeightedRandomSampler(Sampler):
    """Indices drawn in proportion to weights."""

    def __init__(self, weights: Any, num_samples: int, replacement: bool = True) -> None:
        super().__init__()
        if not isinstance(num_samples, int) or num_samples <= 0:
            raise ValueError(f"WeightedRandomSampler: num_samples must be a positive int, got {num_samples!r}")
        if not isinstance(replacement, bool):
            raise ValueError(f"WeightedRandomSampler: replacement must be a bool, got {replacement!r}")
        plain = np.asarray(weights.numpy() if isinstance(weights, Value) else weights, np.float64)
        if plain.ndim != 1 or (plain < 0).any() or not plain.sum() > 0:
            raise AssertionError("WeightedRandomSampler: weights must be one row of numbers that are not all 0")
        if not replacement and num_samples > int((plain > 0).sum()):
            raise AssertionError("WeightedRandomSampler: fewer positive weights than samples; use replacement=True")
        self.weights, self.num_samples, self.replacement = weights, num_samples, replacement
        self._share = plain / plain.sum()

    def __iter__(self) -> Iterator[int]:
        return iter(np.random.choice(len(self._share), self.num_samples, self.replacement, self._share).tolist())

    def __len__(self) -> int:
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Given indices in random order."""

    def __init__(self, indices: Sequence[int]) -> None:
        super().__init__()
        if not len(indices):
            raise ValueError("SubsetRandomSampler: indices must not be empty")
        self.indices = indices

    def __iter__(self) -> Iterator[int]:
        return iter([self.indices[i] for i in default_generator.draw.permutation(len(self.indices))])

    def __len__(self) -> int:
        return len(self.indices)


class BatchSampler(Sampler):
    """Indices in batches, of a dataset or of a sampler."""

    def __init__(
        self, dataset: Any = None, sampler: Any = None, shuffle: bool = False, batch_size: int = 1,
        drop_last: bool = False,
    ) -> None:  # fmt: skip
        if dataset is None and sampler is None:
            raise AssertionError("BatchSampler: a dataset or a sampler is needed")
        if isinstance(dataset, IterableDataset):
            raise AssertionError("BatchSampler: an IterableDataset has no indices")
        if sampler is not None and shuffle:
            raise AssertionError("BatchSampler: a sampler decides the order; shuffle goes with a dataset")
        check("BatchSampler", "shuffle: bool; drop_last: bool", locals(), AssertionError)
        check_batch_size("BatchSampler", batch_size)
        super().__init__(dataset)
        order = RandomSampler(dataset) if shuffle and sampler is None else SequenceSampler(dataset)
        self.sampler = order if sampler is None else sampler
        self.batch_size, self.shuffle, self.drop_last = batch_size, shuffle, drop_last

    def __iter__(self) -> Iterator[list[int]]:
        yield from batched(self.sampler, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        return batch_count(len(self.sampler), self.batch_size, self.drop_last)


def check_batch_size(owner: str, batch_size: Any) -> None:
    """Raise AssertionError for what is no positive int."""
    if isinstance(batch_size, bool) or not isinstance(batch_size, int) or batch_size <= 0:
        raise AssertionError(f"{owner}: batch_size must be a positive int, got {batch_size!r}")


def batched(items: Any, size: int, drop_last: bool) -> Iterator[list[Any]]:
    """Items in lists of one size; the last may be shorter."""
    source = iter(items)
    while batch := list(itertools.islice(source, size)):
        if len(batch) == size or not drop_last:
            yield batch


def batch_count(n: int, size: int, drop_last: bool) -> int:
    """How many batches n items make."""
    return n // size if drop_last else math.ceil(n / size)


class DistributedBatchSampler(BatchSampler):
    """The batches of one of several processes: the share of `rank` among `num_replicas`, those that were started together where
    they are not given."""

    def __init__(
        self, dataset: Any, batch_size: int, num_replicas: int | None = None, rank: int | None = None,
        shuffle: bool = False, drop_last: bool = False,
    ) -> None:  # fmt: skip
        super().__init__(dataset, None, shuffle, batch_size, drop_last)
        here, count = launch.started()
        self.nranks, self.local_rank = num_replicas or count, here if rank is None else rank
        self.epoch = 0
        self.num_samples = math.ceil(len(dataset) / self.nranks)
        self.total_size = self.num_samples * self.nranks

    def set_epoch(self, epoch: int) -> None:
        """Shuffle differently from now on."""
        self.epoch = epoch

    def __iter__(self) -> Iterator[list[int]]:
        indices = np.resize(np.arange(len(self.data_source)), self.total_size)
        if self.shuffle:
            np.random.RandomState(self.epoch).shuffle(indices)
            self.epoch += 1
        # Whole batches go round; what is left is divided evenly.
        left = self.total_size % (self.batch_size * self.nranks)
        whole, rest = indices[: len(indices) - left], indices[len(indices) - left :]
        own = [*whole.reshape(-1, self.nranks, self.batch_size)[:, self.local_rank].ravel().tolist(),
               *rest.reshape(self.nranks, -1)[self.local_rank].tolist()]
        yield from batched(own, self.batch_size, self.drop_last)

    def __len__(self) -> int:
        return batch_count(self.num_samples, self.batch_size, self.drop_last)
