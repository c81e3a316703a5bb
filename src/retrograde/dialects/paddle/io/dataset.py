"""Datasets: by index, by iteration, and what combines them."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

from ....core.value import shape_of


class Dataset:
    """Base of datasets by index: define `__getitem__` and `__len__`."""

    def __getitem__(self, idx: Any) -> Any:
        raise NotImplementedError(f"{type(self).__name__} defines no __getitem__")

    def __len__(self) -> int:
        raise NotImplementedError(f"{type(self).__name__} defines no __len__")


class IterableDataset(Dataset):
    """Base of datasets by iteration: define `__iter__`."""

    def __iter__(self) -> Iterator[Any]:
        raise NotImplementedError(f"{type(self).__name__} defines no __iter__")

    def __getitem__(self, idx: Any) -> Any:
        raise RuntimeError(f"{type(self).__name__}: an IterableDataset is read in order, not by index")

    def __len__(self) -> int:
        raise RuntimeError(f"{type(self).__name__}: an IterableDataset has no length")


class TensorDataset(Dataset):
    """The rows of tensors of one length, as tuples."""

    def __init__(self, tensors: Sequence[Any]) -> None:
        if any(shape_of(t)[0] != shape_of(tensors[0])[0] for t in tensors):
            lengths = [shape_of(t)[0] for t in tensors]
            raise AssertionError(f"TensorDataset: the tensors must have one length, got {lengths}")
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(t[index] for t in self.tensors)

    def __len__(self) -> int:
        return shape_of(self.tensors[0])[0]


def _listed(name: str, datasets: Iterable[Any]) -> list[Any]:
    found = list(datasets)
    if not found:
        raise AssertionError(f"{name}: datasets must not be empty")
    return found


class ComposeDataset(Dataset):
    """Datasets side by side: the fields of all, of one index."""

    def __init__(self, datasets: Iterable[Dataset]) -> None:
        self.datasets = _listed("ComposeDataset", datasets)
        for d in self.datasets:
            if not isinstance(d, Dataset) or isinstance(d, IterableDataset):
                raise AssertionError(f"ComposeDataset: wanted datasets by index, got {type(d).__name__}")
        if len({len(d) for d in self.datasets}) != 1:
            raise AssertionError(f"ComposeDataset: lengths differ: {[len(d) for d in self.datasets]}")

    def __len__(self) -> int:
        return len(self.datasets[0])

    def __getitem__(self, idx: int) -> tuple[Any, ...]:
        fields: list[Any] = []
        for d in self.datasets:
            sample = d[idx]
            fields.extend(sample if isinstance(sample, (list, tuple)) else [sample])
        return tuple(fields)


class ChainDataset(IterableDataset):
    """Datasets by iteration, one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = _listed("ChainDataset", datasets)
        for d in self.datasets:
            if not isinstance(d, IterableDataset):
                raise AssertionError(f"ChainDataset: wanted IterableDatasets, got {type(d).__name__}")

    def __iter__(self) -> Iterator[Any]:
        return itertools.chain.from_iterable(self.datasets)


class ConcatDataset(Dataset):
    """Datasets by index, one behind the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = _listed("ConcatDataset", datasets)
        if any(isinstance(d, IterableDataset) for d in self.datasets):
            raise AssertionError("ConcatDataset: an IterableDataset has no index; use ChainDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(d) for d in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, idx: int) -> Any:
        if not -len(self) <= idx < len(self):
            raise ValueError(f"ConcatDataset: index {idx} is out of range for {len(self)} samples")
        idx %= len(self)
        k = bisect.bisect_right(self.cumulative_sizes, idx)
        return self.datasets[k][idx - (self.cumulative_sizes[k - 1] if k else 0)]


class Subset(Dataset):
    """Some samples of a dataset."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, idx: Any) -> Any:
        return self.dataset[[self.indices[i] for i in idx] if isinstance(idx, list) else self.indices[idx]]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset]:
    """A dataset cut at random into parts of the given lengths, or shares that add up to 1; ValueError otherwise."""
    from ..random import randperm

    n = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        sizes = [math.floor(n * share) for share in lengths]
        for i in range(n - sum(sizes)):
            sizes[i % len(sizes)] += 1
    else:
        sizes = [int(k) for k in lengths]
    if sum(sizes) != n:
        raise ValueError(f"random_split: the lengths add up to {sum(sizes)}, the dataset has {n} samples")
    order = randperm(n).tolist() if n else []
    ends = itertools.accumulate(sizes)
    return [Subset(dataset, order[end - k : end]) for k, end in zip(sizes, ends)]
