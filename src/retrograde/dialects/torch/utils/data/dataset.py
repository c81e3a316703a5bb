"""Datasets: the base classes, those made of tensors or of other datasets, and `random_split`."""

from __future__ import annotations

import bisect
import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar

from .... import torch

T_co = TypeVar("T_co", covariant=True)


class Dataset(Generic[T_co]):
    """A map from indices to samples: a subclass defines `__getitem__`, and `__len__` for most samplers.

    A subclass may define `__getitems__(indices) -> samples` to fetch a batch at once. Adding two concatenates them.
    """

    def __getitem__(self, index: Any) -> T_co:
        raise NotImplementedError(f"{type(self).__name__} defines no __getitem__()")

    def __add__(self, other: Dataset[T_co]) -> ConcatDataset[T_co]:
        return ConcatDataset([self, other])


class IterableDataset(Dataset[T_co], Iterable[T_co]):
    """Samples that come one after the other: a subclass defines `__iter__`. Adding two chains them."""

    def __add__(self, other: Dataset[T_co]) -> Any:
        return ChainDataset([self, other])


class TensorDataset(Dataset[tuple[Any, ...]]):
    """Tensors of equal length, sample i being the tuple of their i-th entries."""

    tensors: tuple[Any, ...]

    def __init__(self, *tensors: Any) -> None:
        if any(len(t) != len(tensors[0]) for t in tensors):
            raise AssertionError(
                f"TensorDataset: tensors of lengths {[len(t) for t in tensors]}; wanted equal lengths, an entry of each for a "
                "sample"
            )
        self.tensors = tensors

    def __getitem__(self, index: Any) -> tuple[Any, ...]:
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self) -> int:
        return len(self.tensors[0])


class StackDataset(Dataset[Any]):
    """Datasets of equal length side by side: samples are tuples, or dicts where the datasets are given by keyword.

    Raises:
        ValueError: none given, given in both ways, or of different lengths.
    """

    datasets: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if bool(args) == bool(kwargs):
            raise ValueError("StackDataset: give datasets either in order or by keyword, and at least one")
        every = list(args or kwargs.values())
        self._length = len(every[0])
        if any(len(dataset) != self._length for dataset in every):
            raise ValueError(f"StackDataset: lengths {[len(d) for d in every]}; wanted equal lengths")
        self.datasets = args or kwargs

    def __getitem__(self, index: int) -> Any:
        if isinstance(self.datasets, dict):
            return {key: dataset[index] for key, dataset in self.datasets.items()}
        return tuple(dataset[index] for dataset in self.datasets)

    def __getitems__(self, indices: Sequence[int]) -> list[Any]:
        return [self[index] for index in indices]

    def __len__(self) -> int:
        return self._length


class ConcatDataset(Dataset[T_co]):
    """Datasets one after the other, indexed as one; negative indices count from the end.

    Raises:
        AssertionError: none given, or one of them is an IterableDataset.
        ValueError: in indexing, an index before the beginning.
    """

    datasets: list[Any]
    cumulative_sizes: list[int]

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("ConcatDataset: no datasets; pass at least one")
        if any(isinstance(dataset, IterableDataset) for dataset in self.datasets):
            raise AssertionError("ConcatDataset: an IterableDataset has no indices; use ChainDataset")
        self.cumulative_sizes = list(itertools.accumulate(len(dataset) for dataset in self.datasets))

    def __len__(self) -> int:
        return self.cumulative_sizes[-1]

    def __getitem__(self, index: int) -> Any:
        if index < 0:
            if -index > len(self):
                raise ValueError(f"ConcatDataset: index {index} for {len(self)} samples")
            index += len(self)
        which = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[which][index - (self.cumulative_sizes[which - 1] if which else 0)]


class ChainDataset(IterableDataset[Any]):
    """Iterable datasets one after the other."""

    def __init__(self, datasets: Iterable[Any]) -> None:
        self.datasets = datasets

    def __iter__(self) -> Iterator[Any]:
        for dataset in self._checked():
            yield from dataset

    def __len__(self) -> int:
        return sum(len(dataset) for dataset in self._checked())

    def _checked(self) -> Iterator[Any]:
        for dataset in self.datasets:
            if not isinstance(dataset, IterableDataset):
                raise AssertionError(f"ChainDataset: {type(dataset).__name__} is no IterableDataset; use ConcatDataset")
            yield dataset


class Subset(Dataset[T_co]):
    """The samples of a dataset at the given indices."""

    def __init__(self, dataset: Any, indices: Sequence[int]) -> None:
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, list):
            return self.dataset[[self.indices[i] for i in index]]
        return self.dataset[self.indices[index]]

    def __getitems__(self, indices: list[int]) -> list[Any]:
        chosen = [self.indices[i] for i in indices]
        if callable(getattr(self.dataset, "__getitems__", None)):
            return self.dataset.__getitems__(chosen)
        return [self.dataset[i] for i in chosen]

    def __len__(self) -> int:
        return len(self.indices)


def random_split(dataset: Any, lengths: Sequence[float], generator: Any = None) -> list[Subset[Any]]:
    """Split a dataset at random into subsets of the given lengths, or fractions that add up to 1.

    Raises:
        ValueError: the lengths do not add up to that of the dataset, or a fraction is outside [0, 1].
    """
    total = len(dataset)
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        counts = []
        for i, fraction in enumerate(lengths):
            if fraction < 0 or fraction > 1:
                raise ValueError(f"random_split: fraction {i} is {fraction}; wanted 0 to 1")
            counts.append(math.floor(total * fraction))
        # What rounding down leaves over goes to the first ones, one each.
        for i in range(total - sum(counts)):
            counts[i % len(counts)] += 1
    else:
        counts = list(lengths)  # type: ignore[arg-type]
    if sum(counts) != total:
        raise ValueError(f"random_split: lengths {list(lengths)} for a dataset of {total} samples")
    order = torch.randperm(total, generator=generator).tolist()
    ends = itertools.accumulate(counts)
    return [Subset(dataset, order[end - count : end]) for end, count in zip(ends, counts)]
