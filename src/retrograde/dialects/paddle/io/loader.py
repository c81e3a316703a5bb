"""`DataLoader`: batches of a dataset, made in this process."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from ....core.value import Value
from ....ops.structural import stack
from ..._shared.checks import check
from .._tensor import from_array
from .dataset import IterableDataset
from .sampler import BatchSampler, batched, check_batch_size


def default_collate_fn(batch: list[Any]) -> Any:
    """Samples as one batch: arrays, tensors and numbers stacked, dicts and sequences by field, text as it is."""
    first = batch[0]
    if isinstance(first, np.ndarray):
        return np.stack(batch, axis=0)
    if isinstance(first, Value):
        return stack(*batch, axis=0)
    if isinstance(first, (int, float, np.generic)):
        return np.array(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, dict):
        return {key: default_collate_fn([sample[key] for sample in batch]) for key in first}
    if isinstance(first, (list, tuple)):
        if any(len(sample) != len(first) for sample in batch):
            raise RuntimeError("DataLoader: the samples of a batch have different numbers of fields")
        return [default_collate_fn(list(fields)) for fields in zip(*batch)]
    raise TypeError(
        f"DataLoader: samples are tensors, arrays, numbers, text, dicts or lists, got {type(first).__name__}"
    )


def default_convert_fn(sample: Any) -> Any:
    """A sample that is not batched: arrays become tensors, all else stays."""
    return sample


def _tensors(value: Any) -> Any:
    """Arrays in a batch as tensors."""
    if isinstance(value, np.ndarray):
        return from_array(value)
    if isinstance(value, dict):
        return {key: _tensors(x) for key, x in value.items()}
    if isinstance(value, (list, tuple)):
        made = [_tensors(x) for x in value]
        return made if isinstance(value, list) or not hasattr(value, "_make") else type(value)(*made)
    return value


class DataLoader:
    """The batches of a dataset as tensors. They are made in this process whatever `num_workers` says.

    Raises AssertionError or ValueError for options that contradict each other.
    """

    def __init__(
        self, dataset: Any, feed_list: Any = None, places: Any = None, return_list: bool = True,
        batch_sampler: Any = None, batch_size: int | None = 1, shuffle: bool = False, drop_last: bool = False,
        collate_fn: Callable[[list[Any]], Any] | None = None, num_workers: int = 0, use_buffer_reader: bool = True,
        reader_buffer_size: int = 2, prefetch_factor: int = 2, use_shared_memory: bool = True, timeout: int = 0,
        worker_init_fn: Callable[[int], None] | None = None, persistent_workers: bool = False,
    ) -> None:  # fmt: skip
        check("DataLoader", "num_workers >= 0; timeout >= 0", locals(), AssertionError)
        self.dataset, self.return_list, self.collate_fn = dataset, return_list, collate_fn
        self.num_workers, self.drop_last = num_workers, drop_last
        self._iterable = isinstance(dataset, IterableDataset)
        if self._iterable:
            if shuffle:
                raise ValueError("DataLoader: an IterableDataset has its own order; shuffle must be False")
            if batch_sampler is not None:
                raise ValueError("DataLoader: an IterableDataset takes no batch_sampler")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or drop_last:
                raise AssertionError("DataLoader: batch_sampler replaces batch_size, shuffle and drop_last")
            self.batch_sampler, self.batch_size = batch_sampler, None
        elif batch_size is None:
            self.batch_sampler, self.batch_size = None, None
        else:
            check_batch_size("DataLoader", batch_size)
            self.batch_size = batch_size
            self.batch_sampler = None if self._iterable else BatchSampler(
                dataset, None, shuffle, batch_size, drop_last
            )  # fmt: skip
        self._single = batch_sampler is None and batch_size is None

    def __len__(self) -> int:
        if self._iterable:
            raise ValueError("DataLoader: an IterableDataset has no length")
        return len(self.dataset) if self.batch_sampler is None else len(self.batch_sampler)

    def __iter__(self) -> Iterator[Any]:
        if self._single:
            source = self.dataset if self._iterable else (self.dataset[i] for i in range(len(self.dataset)))
            convert = default_convert_fn if self.collate_fn is None else self.collate_fn
            for sample in source:
                converted = convert(sample)
                yield _tensors(list(converted) if isinstance(converted, tuple) else converted)
            return
        collate = default_collate_fn if self.collate_fn is None else self.collate_fn
        if self._iterable:
            assert self.batch_size is not None
            groups: Any = batched(self.dataset, self.batch_size, self.drop_last)
        else:
            groups = ([self.dataset[i] for i in indices] for indices in self.batch_sampler)
        for samples in groups:
            yield _tensors(collate(samples))

    def __call__(self) -> Iterator[Any]:
        return iter(self)

    @staticmethod
    def from_generator(*args: Any, **kwargs: Any) -> Any:
        """Raises NotImplementedError: the old reader interface is not offered; use an IterableDataset."""
        raise NotImplementedError("DataLoader.from_generator is not offered; wrap the generator in an IterableDataset")


def get_worker_info() -> None:
    """None: samples are made in this process."""
    return
