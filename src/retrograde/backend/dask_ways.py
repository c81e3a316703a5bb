"""What Dask's own algorithms do in place of a primitive's kernel, in fewer tasks or without the whole array in one.

By the primitive's name; a way takes what the kernel takes, and returns NotImplemented where it leaves that to the kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import dask
import dask.array as da
import numpy as np
from dask.utils import parse_bytes

POSITIONS = frozenset({"advanced_add", "advanced_index", "take", "take_add"})
"""Operations that take positions of NumPy's as they are: known now, they name the blocks that are read or written."""


def _moment(name: str) -> Callable[..., Any]:
    """One pass over the data, where a kernel's mean, and then what is left of it, read them twice."""

    def way(x: Any, *, axis: tuple[int, ...], keepdims: bool, **correction: Any) -> Any:
        count = math.prod(x.shape[i] for i in axis)
        if count <= correction.get("correction", 0) or x.dtype.itemsize == 2 or x.dtype.kind != "f":
            return NotImplemented
        freedom = {"ddof": correction["correction"]} if correction else {}
        return getattr(x, name)(axis=axis, keepdims=keepdims, **freedom)

    return way


def _take(x: Any, indices: Any, *, axis: int) -> Any:
    if not isinstance(indices, np.ndarray):
        return NotImplemented
    out = x[(slice(None),) * axis + (indices.reshape(-1),)]
    return out if indices.ndim == 1 else out.reshape(*x.shape[:axis], *indices.shape, *x.shape[axis + 1 :])


def _take_add(g: Any, indices: Any, *, shape: tuple[int, ...], axis: int) -> Any:
    """Each block of the result from the rows that go into it."""
    if not isinstance(indices, np.ndarray) or not g.size:
        return NotImplemented
    if indices.ndim != 1:
        g, indices = g.reshape(*shape[:axis], indices.size, *shape[axis + 1 :]), indices.reshape(-1)
    n = shape[axis]
    indices = np.where(indices < 0, indices + n, indices)
    lengths = _lengths(n, g.chunks[axis], _bytes_of_a_row(g, axis))
    parts, first = [], 0
    for length in lengths:
        (rows,) = np.nonzero((first <= indices) & (indices < first + length))
        if rows.size:
            some = g[(slice(None),) * axis + (rows,)].rechunk({axis: -1})
            parts.append(da.map_blocks(
                _add_rows, some, indices[rows] - first, axis, length, dtype=g.dtype, meta=np.empty((0,) * g.ndim, g.dtype),
                chunks=(*some.chunks[:axis], (length,), *some.chunks[axis + 1 :]),
            ))  # fmt: skip
        else:
            parts.append(da.zeros((*shape[:axis], length, *shape[axis + 1 :]), dtype=g.dtype,
                                  chunks=(*g.chunks[:axis], (length,), *g.chunks[axis + 1 :])))  # fmt: skip
        first += length
    return da.concatenate(parts, axis=axis)


def _add_rows(g: Any, places: Any, axis: int, length: int) -> Any:
    out = np.zeros((*g.shape[:axis], length, *g.shape[axis + 1 :]), g.dtype)
    np.add.at(out, (slice(None),) * axis + (places,), g)
    return out


def _embed(x: Any, *, shape: tuple[int, ...], index: Any) -> Any:
    """Zeros in blocks like those of x, into each of which its part is written."""
    if any(k is None for k in index):
        return NotImplemented
    dots = next((i for i, k in enumerate(index) if k is Ellipsis), len(index))
    missing = len(shape) - sum(k is not Ellipsis for k in index)
    full = (*index[:dots], *(slice(None),) * missing, *index[dots + 1 :])
    kept = [axis for axis, k in enumerate(full) if isinstance(k, slice)]
    given = dict(zip(reversed(kept), reversed(x.chunks)))
    chunks: list[tuple[int, ...]] = []
    for axis, n in enumerate(shape):
        others = math.prod(max(given.get(i, (shape[i],))) for i in range(len(shape)) if i != axis)
        chunks.append(_lengths(n, given.get(axis, (1,)), x.dtype.itemsize * others))
    out = da.zeros(shape, dtype=x.dtype, chunks=tuple(chunks))
    out[full] = x
    return out


def _broadcast_to(x: Any, *, shape: tuple[int, ...]) -> Any:
    """Repeated along axes, in blocks of a bounded size; the array remembers what it repeats (`source`)."""
    x = source(x)
    if not 0 < math.prod(shape) > x.size:
        return NotImplemented
    kept = (*(1,) * (len(shape) - x.ndim), *x.shape)
    chunks = (*((1,),) * (len(shape) - x.ndim), *x.chunks)
    wanted = ["auto" if m == 1 != n else c for n, m, c in zip(shape, kept, chunks)]
    out = da.broadcast_to(x, shape, chunks=da.core.normalize_chunks(wanted, shape, dtype=x.dtype))
    out.repeats = out.name, x
    return out


def source(x: Any) -> Any:
    """What an array repeats along some of its axes: an operation element by element may take that in its place. Else itself."""
    name, repeated = getattr(x, "repeats", ("", x))
    return repeated if name == getattr(x, "name", "") else x  # one that was assigned to goes by another name


def _bytes_of_a_row(x: Any, axis: int) -> int:
    return int(x.dtype.itemsize * math.prod(max(c) for i, c in enumerate(x.chunks) if i != axis))


def _lengths(n: int, given: Sequence[int], row: int) -> tuple[int, ...]:
    """The blocks of an axis of length n for what comes in blocks of lengths `given`: as many, but none of more bytes than Dask's
    blocks have by default unless a given one has."""
    longest = max(given, default=1)
    limit = parse_bytes(dask.config.get("array.chunk-size")) // max(1, row)
    length = max(1, longest, min(-(-n // max(1, len(given))), limit))
    whole, rest = divmod(n, length)
    return (length,) * whole + ((rest,) if rest or not n else ())


def _one_axis(way: Callable[..., Any]) -> Callable[..., Any]:
    """The way of index arrays over several axes, where there is one only."""

    def of_one(x: Any, *indices: Any, axes: tuple[int, ...], unique: bool, **shape: Any) -> Any:
        return way(x, indices[0], axis=axes[0], **shape) if len(axes) == 1 else NotImplemented

    return of_one


WAYS: dict[str, Callable[..., Any]] = {
    "advanced_add": _one_axis(_take_add), "advanced_index": _one_axis(_take),
    "broadcast_to": _broadcast_to, "embed": _embed, "mean": _moment("mean"),
    "std": _moment("std"), "take": _take, "take_add": _take_add, "var": _moment("var"),
}  # fmt: skip
