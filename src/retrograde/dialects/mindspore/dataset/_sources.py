"""The datasets that rows come from: arrays and Python objects."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..._shared.checks import check
from .._dtype import Number
from ._dataset import Dataset, Row, as_array, named_columns
from ._samplers import chosen_rows
from .config import Shuffle


def _choice(op: str, shuffle: Any, sampler: Any, num_samples: Any, num_shards: Any, shard_id: Any) -> tuple[Any, ...]:
    """What says which rows are taken (see `chosen_rows`); raises TypeError or ValueError."""
    check(op, "num_samples: int | None >= 0", locals())
    if shuffle is not None and not isinstance(shuffle, (bool, Shuffle)):
        raise TypeError(f"{op}: shuffle must be a bool, got {type(shuffle).__name__}")
    if sampler is not None and shuffle is not None:
        raise ValueError(f"{op}: give either sampler or shuffle")
    if (num_shards is None) != (shard_id is None):
        raise ValueError(f"{op}: num_shards and shard_id go together")
    if num_shards is not None and not 0 <= shard_id < num_shards:
        raise ValueError(f"{op}: shard_id must lie in [0, {num_shards}), got {shard_id}")
    return shuffle, sampler, num_samples, (num_shards, shard_id)


class NumpySlicesDataset(Dataset):
    """The rows of arrays: of one, of a tuple of several, or of a dict by column name. Shuffled unless `shuffle=False`.

    Raises:
        ValueError: columns of different lengths. TypeError: content of another kind.
    """

    def __init__(
        self, data: Any, column_names: Any = None, num_samples: int | None = None, num_parallel_workers: int = 1,
        shuffle: bool | None = None, sampler: Any = None, num_shards: int | None = None, shard_id: int | None = None,
    ) -> None:  # fmt: skip
        op = "NumpySlicesDataset"
        if isinstance(data, dict):
            columns, names = list(data.values()), [str(name) for name in data]
        elif isinstance(data, (list, tuple, np.ndarray)):
            columns, names = list(data) if isinstance(data, tuple) else [data], []
        else:
            raise TypeError(f"{op}: data must be an array, a list, a tuple or a dict of them, got {type(data).__name__}")
        if column_names is not None:
            names = named_columns(op, column_names)
        names = names or [f"column_{i}" for i in range(len(columns))]
        if len(names) != len(columns):
            raise ValueError(f"{op}: {len(columns)} columns have {len(names)} names")
        self._columns = [as_array(column) for column in columns]
        if not self._columns or not len(self._columns[0]):
            raise ValueError(f"{op}: the columns have no rows")
        if len({len(column) for column in self._columns}) != 1:
            raise ValueError(f"{op}: the columns have {[len(c) for c in self._columns]} rows; they must be of one length")
        super().__init__(names)
        self._choice = _choice(op, shuffle, sampler, num_samples, num_shards, shard_id)

    def _chosen(self) -> list[int]:
        return chosen_rows("NumpySlicesDataset", len(self._columns[0]), *self._choice)

    def _rows(self) -> Iterator[Row]:
        for i in self._chosen():
            yield tuple(np.asarray(column[i]) for column in self._columns)

    def _size(self) -> int:
        return len(self._chosen())


class GeneratorDataset(Dataset):
    """The rows of a Python source: an object with `__getitem__` and `__len__`, an iterable, or a function that makes one.

    A source with `__getitem__` is shuffled unless `shuffle=False`. column_types: the dtypes of the columns.

    Raises:
        TypeError: a source of another kind. RuntimeError, on iteration: a row with another number of columns.
    """

    def __init__(
        self, source: Any, column_names: Any = None, column_types: Sequence[Any] | None = None, schema: Any = None,
        num_samples: int | None = None, num_parallel_workers: int = 1, shuffle: bool | None = None, sampler: Any = None,
        num_shards: int | None = None, shard_id: int | None = None, python_multiprocessing: bool = True,
        max_rowsize: Any = None, batch_sampler: Any = None, collate_fn: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        op = "GeneratorDataset"
        if not (callable(source) or hasattr(source, "__iter__") or hasattr(source, "__getitem__")):
            raise TypeError(
                f"{op}: the source must have __getitem__ or __iter__, or be a function that makes an iterable, got "
                f"{type(source).__name__}"
            )
        if column_names is None:
            raise ValueError(f"{op}: column_names must name the columns of the source's rows")
        if schema is not None or batch_sampler is not None or collate_fn is not None:
            raise NotImplementedError(f"{op}: schema, batch_sampler and collate_fn are not supported; use map and batch")
        super().__init__(named_columns(op, column_names))
        self.source = source
        self._indexed = hasattr(source, "__getitem__") and hasattr(source, "__len__")
        if sampler is not None and not self._indexed:
            raise ValueError(f"{op}: a sampler goes with a source that has __getitem__ and __len__")
        self._types = None if column_types is None else [t.np if isinstance(t, Number) else t for t in column_types]
        self._choice = _choice(op, shuffle, sampler, num_samples, num_shards, shard_id)
        self._counted: int | None = None

    def _rows(self) -> Iterator[Row]:
        for row in self._source_rows():
            row = row if isinstance(row, tuple) else (row,)
            if len(row) != len(self._names):
                raise RuntimeError(
                    f"GeneratorDataset: a row has {len(row)} values, there are {len(self._names)} column names"
                )
            arrays = [as_array(x) for x in row]
            if self._types is not None:
                arrays = [a if t is None else a.astype(t) for a, t in zip(arrays, self._types)]
            yield tuple(arrays)

    def _source_rows(self) -> Iterable[Any]:
        if self._indexed:
            size = len(self.source)
            return (self.source[i] for i in chosen_rows("GeneratorDataset", size, *self._choice))
        rows: Any = self.source() if callable(self.source) else iter(self.source)
        _, _, limit, (count, which) = self._choice
        if count is not None:
            rows = (row for i, row in enumerate(rows) if i % count == which)
        return rows if not limit else (row for row, _ in zip(rows, range(limit)))

    def _size(self) -> int:
        if self._indexed:
            return len(chosen_rows("GeneratorDataset", len(self.source), *self._choice))
        if self._counted is None:
            self._counted = sum(1 for _ in self._source_rows())
        return self._counted


