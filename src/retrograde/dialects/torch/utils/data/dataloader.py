"""`DataLoader`: batches of a dataset, in this process.

`num_workers` starts no processes: batches are made here, in the order and with the random numbers that worker processes
would have given them (each worker has its own random state, seeded as PyTorch seeds it).
"""

from __future__ import annotations

import copy
import functools
import itertools
import random
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

import numpy as np

from .... import torch
from ...._shared.checks import check
from ...random import drawn_seed
from .collate import default_collate, default_convert
from .dataset import IterableDataset, TensorDataset
from .sampler import BatchSampler, RandomSampler, Sampler, SequentialSampler

T_co = TypeVar("T_co", covariant=True)
_collate_fn_t = Callable[[list[Any]], Any]


class WorkerInfo:
    """What `get_worker_info()` tells while a worker makes a batch: id, num_workers, seed, dataset."""

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.id, self.num_workers, self.seed, self.dataset = id, num_workers, seed, dataset

    def __repr__(self) -> str:
        return f"WorkerInfo(id={self.id}, num_workers={self.num_workers}, seed={self.seed}, dataset={self.dataset})"


_worker_info: WorkerInfo | None = None


class _DatasetKind:
    """How a dataset is read: by index, or one element after the other."""

    Map, Iterable = 0, 1


def get_worker_info() -> WorkerInfo | None:
    """The worker that is making a batch, None outside of one."""
    return _worker_info


class _InfiniteConstantSampler(Sampler[None]):
    """The sampler of iterable datasets: nothing, for ever."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class DataLoader(Generic[T_co]):
    """An iterable over the batches of a dataset.

    Args:
        dataset: indexable, or an IterableDataset.
        batch_size: samples in a batch; None gives the samples themselves.
        shuffle: draw a new order in every epoch.
        sampler: an iterable of indices, in place of `shuffle`.
        batch_sampler: an iterable of lists of indices, in place of `batch_size`, `shuffle`, `sampler` and `drop_last`.
        num_workers: how many workers to imitate (see the module).
        collate_fn: makes a batch of a list of samples.
        drop_last: leave out the last batch where it is shorter.
        generator: where shuffling draws from.

    Raises:
        ValueError: options out of range, or that exclude each other.
    """

    dataset: Any
    batch_size: int | None
    drop_last: bool
    sampler: Any
    _iterator: Any = None
    _initialized = False

    def __init__(
        self, dataset: Any, batch_size: int | None = 1, shuffle: bool | None = None, sampler: Iterable[Any] | None =
        None, batch_sampler: Iterable[Any] | None = None, num_workers: int = 0, collate_fn: Callable[[list[Any]], Any] |
        None = None, pin_memory: bool = False, drop_last: bool = False, timeout: float = 0, worker_init_fn:
        Callable[[int], None] | None = None, multiprocessing_context: Any = None, generator: Any = None, *,
        prefetch_factor: int | None = None, persistent_workers: bool = False, pin_memory_device: str = "", in_order:
        bool = True,
    ) -> None:  # fmt: skip
        _check_worker_options(num_workers, timeout, prefetch_factor, persistent_workers, multiprocessing_context)
        iterable = isinstance(dataset, IterableDataset)
        if iterable:
            for name, value in (("shuffle", shuffle), ("sampler", sampler), ("batch_sampler", batch_sampler)):
                if value not in (None, False):
                    raise ValueError(f"DataLoader: {name} with an IterableDataset, which sets its own order")
            sampler = _InfiniteConstantSampler()
        elif sampler is not None and shuffle:
            raise ValueError("DataLoader: shuffle and sampler exclude each other")
        if batch_sampler is not None:
            if batch_size != 1 or shuffle or (sampler is not None and not iterable) or drop_last:
                raise ValueError("DataLoader: batch_sampler excludes batch_size, shuffle, sampler and drop_last")
            batch_size, drop_last = None, False
        elif batch_size is None and drop_last:
            raise ValueError("DataLoader: drop_last with batch_size=None, which makes no batches")
        if sampler is None:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_size is not None and batch_sampler is None:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        if num_workers > 0:
            warnings.warn(
                f"DataLoader: num_workers={num_workers} starts no processes; the batches are made in this one, "
                "as that many workers would make them",
                stacklevel=2,
            )
        self.dataset = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory, self.pin_memory_device = pin_memory, pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = multiprocessing_context
        self.in_order = in_order
        self.batch_size, self.drop_last = batch_size, drop_last
        self.sampler, self.batch_sampler = sampler, batch_sampler
        self.generator = generator
        if collate_fn is None:
            collate_fn = default_convert if batch_sampler is None else default_collate
        self.collate_fn = collate_fn
        self.persistent_workers = persistent_workers
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        fixed = ("batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers")
        if self._initialized and name in fixed:
            raise ValueError(f"DataLoader: {name} cannot be changed; make a new DataLoader")
        super().__setattr__(name, value)

    def __iter__(self) -> _SingleProcessDataLoaderIter:
        if self.num_workers == 0:
            return _SingleProcessDataLoaderIter(self)
        if not self.persistent_workers or self._iterator is None:
            iterator = _MultiProcessingDataLoaderIter(self)
            if self.persistent_workers:
                self._iterator = iterator
            return iterator
        self._iterator.restart()
        return self._iterator

    def __len__(self) -> int:
        if isinstance(self.dataset, IterableDataset):
            n = len(self.dataset)  # type: ignore[arg-type]
            if self.batch_size is None:
                return n
            return n // self.batch_size if self.drop_last else -(-n // self.batch_size)
        return len(self._index_sampler)

    @property
    def _index_sampler(self) -> Any:
        return self.sampler if self.batch_sampler is None else self.batch_sampler


def _check_worker_options(
    num_workers: int, timeout: float, prefetch_factor: int | None, persistent_workers: bool, context: Any
) -> None:
    check("DataLoader", "num_workers >= 0; timeout >= 0", locals())
    if prefetch_factor is not None and (num_workers == 0 or prefetch_factor < 0):
        raise ValueError(f"DataLoader: prefetch_factor is {prefetch_factor} with num_workers={num_workers}")
    if persistent_workers and num_workers == 0:
        raise ValueError("DataLoader: persistent_workers needs num_workers above 0")
    if context is not None:
        if num_workers == 0:
            raise ValueError("DataLoader: multiprocessing_context needs num_workers above 0")
        if isinstance(context, str) and context not in ("fork", "spawn", "forkserver"):
            raise ValueError(f"DataLoader: multiprocessing_context is {context!r}; wanted fork, spawn or forkserver")


class _Fetcher:
    """Makes one batch (or sample) of a dataset from what the index sampler gave."""

    def __init__(self, dataset: Any, loader: DataLoader[Any]) -> None:
        self.dataset, self.collate = dataset, loader.collate_fn
        self.batched = loader.batch_sampler is not None
        self.drop_last = loader.drop_last
        self.samples = iter(dataset) if isinstance(dataset, IterableDataset) else None
        # Batches of plain tensors are gathered at once: what stacking the samples gives, without indexing each of them.
        self.gathers = type(dataset) is TensorDataset and self.batched and self.collate is default_collate

    def fetch(self, index: Any) -> Any:
        """The batch; raises StopIteration at the end of an iterable dataset."""
        if self.samples is not None:
            if not self.batched:
                return self.collate(next(self.samples))
            data = list(itertools.islice(self.samples, len(index)))
            if not data or (self.drop_last and len(data) < len(index)):
                raise StopIteration
        elif not self.batched:
            return self.collate(self.dataset[index])
        elif self.gathers and self._can_gather(index):
            return [tensor[index] for tensor in self.dataset.tensors]
        elif callable(getattr(self.dataset, "__getitems__", None)):
            data = self.dataset.__getitems__(index)
        else:
            data = [self.dataset[i] for i in index]
        return self.collate(data)

    def _can_gather(self, index: Any) -> bool:
        plain = type(index) is list and all(type(i) is int for i in index)
        return plain and not any(tensor.requires_grad for tensor in self.dataset.tensors)


class _SingleProcessDataLoaderIter:
    """The iterator of a DataLoader without workers."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        self._loader = loader
        self._indices = iter(loader._index_sampler)
        # Drawn in any case, since PyTorch does; it seeds workers.
        self._base_seed = drawn_seed("DataLoader", loader.generator)
        self._fetcher = self._make_fetcher()

    def _make_fetcher(self) -> _Fetcher | None:
        return _Fetcher(self._loader.dataset, self._loader)

    def __iter__(self) -> _SingleProcessDataLoaderIter:
        return self

    def __next__(self) -> Any:
        assert self._fetcher is not None
        return self._fetcher.fetch(next(self._indices))

    def __len__(self) -> int:
        return len(self._loader._index_sampler)


_BaseDataLoaderIter = _SingleProcessDataLoaderIter  # of which the other is one, too


class _Worker:
    """One imitated worker: its copy of an iterable dataset and its random states."""

    def __init__(self, number: int, loader: DataLoader[Any], base_seed: int) -> None:
        self.loader = loader
        dataset = loader.dataset
        if isinstance(dataset, IterableDataset):
            dataset = copy.copy(dataset)
        self.info = WorkerInfo(number, loader.num_workers, base_seed + number, dataset)
        self.states: tuple[Any, Any, Any] | None = None
        self.fetcher: _Fetcher | None = None
        entropy = [number, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
        self.numpy_seed = np.random.SeedSequence(entropy).generate_state(4)

    def run(self, work: Callable[[], Any]) -> Any:
        """Do some work with the worker's random states and `get_worker_info()`."""
        global _worker_info
        outside, outside_info = _random_states(), _worker_info
        if self.states is None:
            random.seed(self.info.seed)
            torch.manual_seed(self.info.seed)
            np.random.seed(self.numpy_seed)
        else:
            _set_random_states(self.states)
        _worker_info = self.info
        try:
            return work()
        finally:
            self.states = _random_states()
            _set_random_states(outside)
            _worker_info = outside_info

    def start(self) -> None:
        """Call the user's `worker_init_fn` and open the dataset."""
        if self.loader.worker_init_fn is not None:
            self.loader.worker_init_fn(self.info.id)
        self.open()

    def open(self) -> None:
        """Begin an epoch."""
        self.fetcher = _Fetcher(self.info.dataset, self.loader)

    def fetch(self, index: Any) -> Any:
        """One batch."""
        assert self.fetcher is not None
        return self.fetcher.fetch(index)


def _random_states() -> tuple[Any, Any, Any]:
    return random.getstate(), torch.get_rng_state(), np.random.get_state()


def _set_random_states(states: tuple[Any, Any, Any]) -> None:
    random.setstate(states[0])
    torch.set_rng_state(states[1])
    np.random.set_state(states[2])


class _MultiProcessingDataLoaderIter(_SingleProcessDataLoaderIter):
    """The iterator of a DataLoader that imitates workers: they take turns, until each has come to its end."""

    def __init__(self, loader: DataLoader[Any]) -> None:
        super().__init__(loader)
        self._workers = [_Worker(i, loader, self._base_seed) for i in range(loader.num_workers)]
        for worker in self._workers:
            worker.run(worker.start)
        self._begin()

    def _make_fetcher(self) -> None:
        return None

    def restart(self) -> None:
        """Begin another epoch with the same workers."""
        self._indices = iter(self._loader._index_sampler)
        for worker in self._workers:
            worker.run(worker.open)
        self._begin()

    def _begin(self) -> None:
        self._turns = deque(self._workers)
        # Workers get their first indices when they start, so that is when a sampler begins to draw.
        ahead = (self._loader.prefetch_factor or 0) * len(self._workers)
        self._ahead = deque(itertools.islice(self._indices, ahead))

    def __next__(self) -> Any:
        while self._turns:
            if self._ahead:
                index = self._ahead.popleft()
                self._ahead.extend(itertools.islice(self._indices, 1))
            else:
                index = next(self._indices)
            worker = self._turns[0]
            self._turns.rotate(-1)
            try:
                return worker.run(functools.partial(worker.fetch, index))
            except StopIteration:
                self._turns.remove(worker)
        raise StopIteration
