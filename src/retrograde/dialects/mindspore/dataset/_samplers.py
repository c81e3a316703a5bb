"""Samplers: which rows of a source come, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._shared.checks import check
from .config import generator


class Sampler:
    """Base of samplers: `__iter__` gives the indices; a user's own may use `self.dataset_size`."""

    def __init__(self, num_samples: int | None = None) -> None:
        check(type(self).__name__, "num_samples: int | None >= 0", locals())
        self.dataset_size = 0
        self.num_samples = num_samples

    def __iter__(self) -> Iterator[int]:
        raise NotImplementedError(f"{type(self).__name__}: __iter__ has to be defined; it gives the rows' numbers")

    def indices(self, size: int) -> list[int]:
        """The rows to take of a source of a size."""
        self.dataset_size = size
        found = [int(i) for i in self]
        return found if self.num_samples is None else found[: self.num_samples]

    def _drawn(self) -> int:
        """How many rows an epoch draws: as many as are asked for, and no more than there are."""
        return min(self.num_samples or self.dataset_size, self.dataset_size)


class SequentialSampler(Sampler):
    """`num_samples` rows in order from `start_index` on."""

    def __init__(self, start_index: int | None = None, num_samples: int | None = None) -> None:
        check("SequentialSampler", "start_index: int | None", locals())
        super().__init__(num_samples)
        self.start_index = start_index or 0

    def __iter__(self) -> Iterator[int]:
        if not 0 <= self.start_index < max(self.dataset_size, 1):
            raise RuntimeError(f"SequentialSampler: start_index {self.start_index} is none of {self.dataset_size} rows")
        return iter(range(self.start_index, self.dataset_size))


class RandomSampler(Sampler):
    """Rows in random order, with repetition where `replacement`."""

    def __init__(self, replacement: bool = False, num_samples: int | None = None) -> None:
        check("RandomSampler", "replacement: bool", locals())
        super().__init__(num_samples)
        self.replacement = replacement

    def __iter__(self) -> Iterator[int]:
        draw = generator()
        if self.replacement:
            return iter(draw.randint(0, self.dataset_size, self._drawn()))
        return iter(draw.permutation(self.dataset_size))


class SubsetSampler(Sampler):
    """The rows that are named, in that order."""

    def __init__(self, indices: Sequence[int] | int, num_samples: int | None = None) -> None:
        name = type(self).__name__
        if not isinstance(indices, (int, Sequence, np.ndarray)) or isinstance(indices, str):
            raise TypeError(f"{name}: indices must be an int or a list of them, got {type(indices).__name__}")
        super().__init__(num_samples)
        self._chosen = [indices] if isinstance(indices, int) else list(indices)
        for i in self._chosen:
            if not isinstance(i, (int, np.integer)):
                raise TypeError(f"{name}: indices must be ints, got {i!r}")

    def __iter__(self) -> Iterator[int]:
        return iter(self._chosen)


class SubsetRandomSampler(SubsetSampler):
    """The rows that are named, in random order."""

    def __iter__(self) -> Iterator[int]:
        return iter(generator().permutation(self._chosen))


class WeightedRandomSampler(Sampler):
    """Rows drawn with probabilities in proportion to weights."""

    def __init__(self, weights: Sequence[float], num_samples: int | None = None, replacement: bool = True) -> None:
        check("WeightedRandomSampler", "replacement: bool", locals())
        super().__init__(num_samples)
        for w in weights:
            if not isinstance(w, (int, float)):
                raise TypeError(f"WeightedRandomSampler: weights must be numbers, got {w!r}")
        self.weights, self.replacement = np.asarray(weights, float), replacement

    def __iter__(self) -> Iterator[int]:
        n, weights = self._drawn(), self.weights
        if not len(weights) <= self.dataset_size or weights.min(initial=0) < 0 or not weights.any():
            raise RuntimeError(
                f"WeightedRandomSampler: the weights {weights.tolist()} of {self.dataset_size} rows must be 0 or more, one of "
                "them more, and not more than there are rows"
            )
        draw, p = generator(), weights / weights.sum()
        if self.replacement:
            return iter(draw.choice(len(p), n, p=p))
        likely = draw.choice(len(p), min(n, np.count_nonzero(p)), replace=False, p=p).tolist()
        never = draw.permutation(np.flatnonzero(p == 0)).tolist()  # rows of no weight come when there are no others
        return iter((likely + never)[:n])


class DistributedSampler(Sampler):
    """The rows of one of `num_shards` shards of one size, for which the first rows come again at the end."""

    def __init__(
        self, num_shards: int, shard_id: int, shuffle: bool = True, num_samples: int | None = None, offset: int = -1
    ) -> None:  # fmt: skip
        super().__init__(num_samples)
        check("DistributedSampler", "num_shards: int; shard_id: int", locals())
        if num_shards < 1 or not 0 <= shard_id < num_shards:
            raise RuntimeError(f"DistributedSampler: shard_id must be from 0 to before {num_shards}, got {shard_id}")
        if offset != -1:
            raise NotImplementedError("DistributedSampler: offset is not supported; leave it out")
        self.num_shards, self.shard_id, self.shuffle = num_shards, shard_id, shuffle

    def __iter__(self) -> Iterator[int]:
        rows = generator().permutation(self.dataset_size) if self.shuffle else np.arange(self.dataset_size)
        return iter(shard(rows, self.num_shards, self.shard_id))


def shard(rows: Any, count: int, which: int) -> Any:
    """The rows of one of `count` shards; all get as many, the last ones from the beginning again."""
    size = -(-len(rows) // count)
    return np.resize(rows, size * count)[which::count] if len(rows) else rows


def chosen_rows(
    op: str, size: int, shuffle: bool | None, sampler: Any, num_samples: int | None, shards: tuple[Any, Any]
) -> list[int]:  # fmt: skip
    """The rows of a source of `size` that a dataset takes, in order: shuffled unless it says otherwise."""
    if sampler is not None and shuffle is not None:
        raise RuntimeError(f"{op}: give either sampler or shuffle")
    if sampler is not None:
        try:
            rows = sampler.indices(size) if isinstance(sampler, Sampler) else [int(i) for i in sampler]
        except Exception as error:
            raise RuntimeError(f"{op}: the sampler failed: {type(error).__name__}: {error}") from error
    else:
        rows = list(range(size)) if shuffle is False else generator().permutation(size).tolist()
    if sampler is not None and any(not 0 <= i < size for i in rows):
        raise RuntimeError(f"{op}: the sampler gives {rows}; the rows are numbered from 0 to before {size}")
    count, which = shards
    if count is not None:
        rows = [int(i) for i in shard(rows, count, which)]
    return rows if num_samples is None or num_samples == 0 else rows[:num_samples]
