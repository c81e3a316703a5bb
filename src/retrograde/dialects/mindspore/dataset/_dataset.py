"""`Dataset`: a source of rows and the steps that change them. A row is a tuple of NumPy arrays, one per column.

A step is a dataset over another one; iterating makes the rows one by one, so nothing is held but what a step needs
(shuffle: its buffer, batch: a batch). Datasets do not change when a step is put on them.
"""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from ....backend.canonical import canonical
from ..._shared.checks import check
from .._tensor import Tensor, from_array
from .config import generator

Row = tuple[np.ndarray, ...]


class BatchInfo:
    """Where a batch stands: what functions that are given to `batch` may ask."""

    def __init__(self, epoch: int, batch: int) -> None:
        self._epoch, self._batch = epoch, batch

    def get_epoch_num(self) -> int:
        """The epoch, from 0."""
        return self._epoch

    def get_batch_num(self) -> int:
        """The batch of the epoch, from 0."""
        return self._batch


def as_array(x: Any) -> np.ndarray:
    """A value of a row as an array."""
    return x.asnumpy() if isinstance(x, Tensor) else np.asarray(x)


def named_columns(op: str, columns: Any) -> list[str]:
    """One name or several as a list; raises TypeError for what is no name, ValueError for a name given twice."""
    names = [columns] if isinstance(columns, str) else list(columns)
    for name in names:
        if not isinstance(name, str):
            raise TypeError(f"{op}: a column name must be a string, got {type(name).__name__}")
    if len(set(names)) != len(names):
        raise ValueError(f"{op}: a column is named twice in {names}")
    return names


def _count(op: str, name: str, value: Any, least: int, endless: bool = False) -> int:
    if not isinstance(value, int) or isinstance(value, bool):
        raise TypeError(f"{op}: {name} must be an int, got {type(value).__name__}")
    if value < least and not (endless and value == -1):
        raise ValueError(f"{op}: {name} must be {least} or more{', or -1 for all' if endless else ''}, got {value}")
    return value


class Dataset:
    """Base of datasets: rows of named columns, and the steps that make new datasets of them."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._epoch = 0

    def _rows(self) -> Iterator[Row]:
        raise NotImplementedError

    def _size(self) -> int:
        return sum(1 for _ in self._rows())

    # -------------------------------------------------------------------- what it holds

    def get_col_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._names)

    @property
    def column_names(self) -> list[str]:
        """The names of the columns."""
        return list(self._names)

    def get_dataset_size(self) -> int:
        """The number of rows of an epoch: batches, where there are some."""
        return self._size()

    def __len__(self) -> int:
        return self._size()

    def output_shapes(self, estimate: bool = False) -> list[list[int]]:
        """The shapes of the columns in the first row."""
        return [list(x.shape) for x in next(iter(self._rows()))]

    def output_types(self) -> list[np.dtype]:
        """NumPy's dtypes of the columns in the first row."""
        return [x.dtype for x in next(iter(self._rows()))]

    def get_batch_size(self) -> int:
        """The rows of a batch; 1 where there are no batches."""
        return self._input.get_batch_size() if isinstance(self, _Step) else 1

    def get_repeat_count(self) -> int:
        """How often an epoch repeats the rows."""
        return self._input.get_repeat_count() if isinstance(self, _Step) else 1

    def reset(self) -> None:
        """Start anew; every iterator does so by itself."""

    # -------------------------------------------------------------------- iterating

    def create_tuple_iterator(
        self, columns: Any = None, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> _TupleIterator:  # fmt: skip
        """An iterator of lists of tensors (NumPy arrays where `output_numpy`), one epoch per loop over it."""
        chosen = self if columns is None else self.project(columns)
        return _TupleIterator(chosen, _count("create_tuple_iterator", "num_epochs", num_epochs, 1, True), output_numpy)

    def create_dict_iterator(
        self, num_epochs: int = -1, output_numpy: bool = False, do_copy: bool = False
    ) -> _DictIterator:  # fmt: skip
        """An iterator of dicts of tensors (NumPy arrays where `output_numpy`) by column, one epoch per loop over it."""
        return _DictIterator(self, _count("create_dict_iterator", "num_epochs", num_epochs, 1, True), output_numpy)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.create_tuple_iterator(num_epochs=1))

    # -------------------------------------------------------------------- steps

    def batch(
        self, batch_size: Any, drop_remainder: bool = False, num_parallel_workers: int | None = None, *,
        per_batch_map: Callable[..., Any] | None = None, input_columns: Any = None, output_columns: Any = None,
        python_multiprocessing: bool = False, max_rowsize: Any = None,
    ) -> Dataset:  # fmt: skip
        """Rows joined along a new first axis; the last batch may be smaller unless `drop_remainder`.

        batch_size: an int, or a function of a BatchInfo. per_batch_map with input_columns and output_columns: a
        function of the lists of the columns' values and a BatchInfo that gives the lists to join.
        """
        if not callable(batch_size):
            check("batch", "batch_size: int", locals())
            _count("batch", "batch_size", batch_size, 1)
        check("batch", "drop_remainder: bool", locals())
        return _Batch(self, batch_size, drop_remainder, per_batch_map, input_columns, output_columns)

    def padded_batch(
        self, batch_size: Any, drop_remainder: bool = False, num_parallel_workers: int | None = None,
        pad_info: dict[str, Any] | None = None,
    ) -> Dataset:  # fmt: skip
        """`batch` of rows padded to one shape. pad_info: (shape, value) by column; a None size is the batch's largest."""
        return _Batch(self, batch_size, drop_remainder, pad_info=pad_info or dict.fromkeys(self._names, (None, 0)))

    def map(
        self, operations: Any, input_columns: Any = None, output_columns: Any = None,
        num_parallel_workers: int | None = None, *, python_multiprocessing: bool = False, cache: Any = None,
        callbacks: Any = None, max_rowsize: Any = None, offload: bool | None = None,
    ) -> Dataset:  # fmt: skip
        """Functions, one after the other, of the columns `input_columns` (the first one or as many as the function takes).

        They give as many values as there are `output_columns`; those come first where the names change.
        """
        functions = list(operations) if isinstance(operations, (list, tuple)) else [operations]
        for f in functions:
            if not callable(f):
                raise ValueError(f"map: operations must be functions, got {f!r}")
        if callbacks is not None:
            raise NotImplementedError("map: callbacks= is not supported; call them where the rows are iterated over")
        return _Map(self, functions, input_columns, output_columns)

    def filter(self, predicate: Callable[..., Any], input_columns: Any = None, num_parallel_workers: Any = None) -> Dataset:
        """The rows for which a function of the columns is true."""
        check("filter", "predicate: function", locals())
        columns = self._names if input_columns is None else named_columns("filter", input_columns)
        return _Rows(self, lambda rows: (r for r in rows if bool(predicate(*_picked("filter", self, r, columns)))))

    def shuffle(self, buffer_size: int) -> Dataset:
        """Rows in random order, each drawn from the `buffer_size` rows that are next."""
        _count("shuffle", "buffer_size", buffer_size, 2)
        return _Rows(self, lambda rows: _shuffled(rows, buffer_size), same=True)

    def repeat(self, count: int | None = None) -> Dataset:
        """The rows `count` times over; without end where it is None or -1."""
        return _Repeat(self, -1 if count is None else _count("repeat", "count", count, 1, True))

    def skip(self, count: int) -> Dataset:
        """The rows after the first `count`."""
        _count("skip", "count", count, 0)
        return _Rows(self, lambda rows: itertools.islice(rows, count, None))

    def take(self, count: int = -1) -> Dataset:
        """The first `count` rows; all where it is -1."""
        _count("take", "count", count, 1, True)
        return _Rows(self, lambda rows: itertools.islice(rows, None if count == -1 else count))

    def project(self, columns: Any) -> Dataset:
        """These columns, in this order."""
        chosen = named_columns("project", columns)
        _known("project", self, chosen)
        return _Rows(self, lambda rows: (_picked("project", self, r, chosen) for r in rows), chosen, True)

    def rename(self, input_columns: Any, output_columns: Any) -> Dataset:
        """Columns under other names."""
        old, new = named_columns("rename", input_columns), named_columns("rename", output_columns)
        if len(old) != len(new):
            raise ValueError(f"rename: {len(old)} columns and {len(new)} new names")
        _known("rename", self, old)
        names = dict(zip(old, new))
        return _Rows(self, lambda rows: rows, [names.get(name, name) for name in self._names], True)

    def zip(self, datasets: Any) -> Dataset:
        """The columns of this dataset and others beside one another, as long as the shortest."""
        others = tuple(datasets) if isinstance(datasets, (list, tuple)) else (datasets,)
        for other in others:
            if not isinstance(other, Dataset):
                raise TypeError(f"zip: wanted datasets, got {type(other).__name__}")
        names = named_columns("zip", [*self._names, *(n for d in others for n in d._names)])
        return _Rows(
            self, lambda rows: (sum(r, ()) for r in zip(rows, *(d._rows() for d in others))), names
        )  # fmt: skip

    def concat(self, datasets: Any) -> Dataset:
        """The rows of this dataset, then those of others with the same columns."""
        others = list(datasets) if isinstance(datasets, (list, tuple)) else [datasets]
        for other in others:
            if not isinstance(other, Dataset):
                raise TypeError(f"concat: wanted datasets, got {type(other).__name__}")
        return _Rows(self, lambda rows: itertools.chain(rows, *(d._rows() for d in others)))

    def __add__(self, datasets: Any) -> Dataset:
        return self.concat(datasets)

    def split(self, sizes: Sequence[int | float], randomize: bool = True) -> tuple[Dataset, ...]:
        """Several datasets of the given numbers, or shares, of rows; of shuffled ones where `randomize`."""
        n = self._size()
        whole = [s if isinstance(s, int) else round(s * n) for s in sizes]
        if not whole or any(s <= 0 for s in whole) or sum(whole) != n:
            raise RuntimeError(f"split: the parts {list(sizes)} must be above 0 and make up the {n} rows")
        order = generator().permutation(n) if randomize else np.arange(n)
        parts, start = [], 0
        for size in whole:
            chosen = order[start : start + size]
            parts.append(_Rows(self, lambda rows, chosen=chosen: _rows_at(list(rows), chosen)))
            start += size
        return tuple(parts)

    def apply(self, apply_func: Callable[[Dataset], Dataset]) -> Dataset:
        """What a function makes of this dataset."""
        result = apply_func(self)
        if not isinstance(result, Dataset):
            raise TypeError(f"apply: the function must give a dataset, got {type(result).__name__}")
        return result

    def flat_map(self, func: Callable[..., Dataset]) -> Dataset:
        """The datasets that a function makes of the rows, behind one another."""
        made = [func(*row) for row in self.create_tuple_iterator(num_epochs=1)]
        if not made:
            raise ValueError("flat_map: there are no rows")
        if not isinstance(made[0], Dataset):
            raise TypeError(f"flat_map: the function must give a dataset, got {type(made[0]).__name__}")
        return made[0] if len(made) == 1 else made[0].concat(made[1:])


def _known(op: str, dataset: Dataset, columns: Sequence[str]) -> None:
    for name in columns:
        if name not in dataset._names:
            raise RuntimeError(f"{op}: there is no column {name!r}; the columns are {', '.join(dataset._names)}")


def _picked(op: str, dataset: Dataset, row: Row, columns: Sequence[str]) -> Row:
    _known(op, dataset, columns)
    return tuple(row[dataset._names.index(name)] for name in columns)


def _rows_at(rows: list[Row], places: Sequence[int]) -> Iterator[Row]:
    return (rows[i] for i in places)


def _shuffled(rows: Iterator[Row], size: int) -> Iterator[Row]:
    draw, buffer = generator(), []
    for row in rows:
        if len(buffer) < size:
            buffer.append(row)
            continue
        i = draw.randint(size)
        yield buffer[i]
        buffer[i] = row
    for i in draw.permutation(len(buffer)):
        yield buffer[i]


# ------------------------------------------------------------------------------------------ steps


class _Step(Dataset):
    def __init__(self, source: Dataset, names: list[str] | None = None) -> None:
        super().__init__(source._names if names is None else names)
        self._input = source


class _Rows(_Step):
    """A step that is a function of the rows. `same`: it leaves their number as it is."""

    def __init__(
        self, source: Dataset, f: Callable[[Iterator[Row]], Any], names: list[str] | None = None, same: bool = False
    ) -> None:  # fmt: skip
        super().__init__(source, names)
        self._f, self._same = f, same

    def _rows(self) -> Iterator[Row]:
        return iter(self._f(self._input._rows()))

    def _size(self) -> int:
        return self._input._size() if self._same else super()._size()


class _Repeat(_Step):
    def __init__(self, source: Dataset, count: int) -> None:
        super().__init__(source)
        self._times = count

    def _rows(self) -> Iterator[Row]:
        rounds = itertools.count() if self._times == -1 else range(self._times)
        return (row for _ in rounds for row in self._input._rows())

    def _size(self) -> int:
        return self._input._size() * max(self._times, 1)

    def get_repeat_count(self) -> int:
        return self._times


class _Map(_Step):
    def __init__(self, source: Dataset, functions: list[Callable[..., Any]], inputs: Any, outputs: Any) -> None:
        self._inputs = source._names[:1] if inputs is None else named_columns("map", inputs)
        self._outputs = self._inputs if outputs is None else named_columns("map", outputs)
        rest = [name for name in source._names if name not in self._inputs]
        in_place = self._outputs == self._inputs
        super().__init__(source, source._names if in_place else [*self._outputs, *rest])
        self._functions = functions

    def _rows(self) -> Iterator[Row]:
        source = self._input
        for row in source._rows():
            values: Any = _picked("map", source, row, self._inputs)
            for f in self._functions:
                try:
                    values = f(*values)
                except Exception as error:
                    raise RuntimeError(f"map: the operation failed: {type(error).__name__}: {error}") from error
                values = values if isinstance(values, tuple) else (values,)
            if len(values) != len(self._outputs):
                raise RuntimeError(
                    f"map: the operation gives {len(values)} values for the columns {', '.join(self._outputs)}; name "
                    "as many in output_columns"
                )
            columns = dict(zip(source._names, row)) | dict(zip(self._outputs, (as_array(v) for v in values)))
            yield tuple(columns[name] for name in self._names)

    def _size(self) -> int:
        return self._input._size()


class _Batch(_Step):
    def __init__(
        self, source: Dataset, size: Any, drop: bool, per_batch_map: Callable[..., Any] | None = None,
        input_columns: Any = None, output_columns: Any = None, pad_info: dict[str, Any] | None = None,
    ) -> None:  # fmt: skip
        self._inputs = source._names if input_columns is None else named_columns("batch", input_columns)
        self._outputs = self._inputs if output_columns is None else named_columns("batch", output_columns)
        rest = [name for name in source._names if name not in self._inputs]
        super().__init__(source, source._names if self._outputs == self._inputs else [*self._outputs, *rest])
        self._batch_size, self._drop, self._map, self._pad = size, drop, per_batch_map, pad_info or {}

    def _rows(self) -> Iterator[Row]:
        rows = iter(self._input._rows())
        for number in itertools.count():
            info = BatchInfo(self._epoch, number)
            size = self._batch_size(info) if callable(self._batch_size) else self._batch_size
            chosen = list(itertools.islice(rows, size))
            if not chosen or (self._drop and len(chosen) < size):
                return
            yield self._joined(chosen, info)

    def _joined(self, rows: list[Row], info: BatchInfo) -> Row:
        columns: dict[str, list[Any]] = {name: list(c) for name, c in zip(self._input._names, zip(*rows))}
        if self._map is not None:
            made = self._map(*(columns[name] for name in self._inputs), info)
            made = made if isinstance(made, tuple) else (made,)
            columns.update(zip(self._outputs, made))
        return tuple(self._stacked(name, columns[name]) for name in self._names)

    def _stacked(self, name: str, values: list[Any]) -> np.ndarray:
        arrays = [as_array(v) for v in values]
        if name in self._pad:
            arrays = _padded(arrays, *self._pad[name])
        if len({a.shape for a in arrays}) > 1:
            raise RuntimeError(
                f"batch: column {name!r} has values of shapes {', '.join(sorted({str(a.shape) for a in arrays}))} in "
                "one batch; use padded_batch"
            )
        return np.stack(arrays)

    def _size(self) -> int:
        if callable(self._batch_size):
            return sum(1 for _ in self._rows())
        n = self._input._size()
        return n // self._batch_size if self._drop else -(-n // self._batch_size)

    def get_batch_size(self) -> int:
        return -1 if callable(self._batch_size) else self._batch_size


def _padded(arrays: list[np.ndarray], shape: Any, value: Any) -> list[np.ndarray]:
    largest = [max(sizes) for sizes in zip(*(a.shape for a in arrays))]
    wanted = [n if s is None else s for n, s in zip(largest, shape or largest)]
    out = []
    for a in arrays:
        cut = a[tuple(slice(n) for n in wanted)]
        out.append(np.pad(cut, [(0, n - m) for n, m in zip(wanted, cut.shape)], constant_values=0 if value is None else value))
    return out


# ------------------------------------------------------------------------------------------ iterators


class _TupleIterator:
    """Rows as lists of tensors; each loop over it is an epoch, as many as `num_epochs` says."""

    def __init__(self, dataset: Dataset, num_epochs: int, output_numpy: bool) -> None:
        self._dataset, self._left, self._numpy = copy.copy(dataset), num_epochs, output_numpy
        self._rows: Iterator[Row] | None = None

    def __iter__(self) -> Any:
        return self

    def __next__(self) -> Any:
        if self._rows is None:
            if self._left == 0:
                raise RuntimeError("the iterator has come to the end of its last epoch; create a new one")
            self._left -= 1
            self._rows = iter(self._dataset._rows())
        try:
            row = next(self._rows)
        except StopIteration:
            self._rows = None
            self._dataset._epoch += 1
            raise
        return self._given([self._value(x) for x in row])

    def _value(self, x: np.ndarray) -> Any:
        """An array of a row as a tensor (texts as they are), or as the array that the tensor would give."""
        if x.dtype.kind in "SU":
            return x
        tensor = from_array(canonical(np.array(x)))
        return tensor.asnumpy() if self._numpy else tensor

    def _given(self, values: list[Any]) -> Any:
        return values


class _DictIterator(_TupleIterator):
    """Rows as dicts of tensors by column."""

    def _given(self, values: list[Any]) -> Any:
        return dict(zip(self._dataset._names, values))
