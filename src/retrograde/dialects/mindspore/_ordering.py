"""Order and place: sorting, the greatest elements, uniqueness, insertion; diagonals and triangles of matrices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import counting, triangular
from ...ops import indexing as ix
from ...ops import structural as st
from ...ops.sorting import argkth, argtopk, pick
from ...ops.sorting import argsort as arg_order
from ...tape import inplace
from ...tensor import manipulation as nm
from ...tensor import numpy_shapes as nps
from .._shared.axes import axis_of, integer, integers, length_of
from .._shared.registry import defined
from ._api import FUNCTIONS, api
from ._dtype import FROM_NUMPY, as_dtype, int32, int64
from ._gather import positions
from ._promote import single, tensor_argument, to_dtype
from ._tensor import from_array

Function = Callable[..., Any]

# ------------------------------------------------------------------------------------------ order


def _sorted(op: str, x: Any, axis: Any, descending: bool) -> tuple[Any, Any]:
    x = single(op, x, "...x")
    if not shape_of(x):
        return st.copy(x), from_array(np.zeros((), np.int32))
    i = axis_of(op, axis, len(shape_of(x)))
    at = arg_order(x, axis=i, descending=bool(descending), ties="stable")
    return pick(x, at, axis=i, of="sort"), to_dtype(at, int32)


@api("sort", method=False)
def sort(input_x: Any, axis: int = -1, descending: bool = False) -> tuple[Any, Any]:
    """The elements in order along an axis, and where they come from."""
    return _sorted("sort", input_x, axis, descending)


@api("sort", function=False)
def sort_method(self: Any, axis: Any = None, descending: bool = False, *, dim: Any = None, stable: bool = False) -> Any:
    """The elements in order along an axis, and where they come from."""
    return _sorted("sort", self, dim if dim is not None else -1 if axis is None else axis, descending)


@api("argsort", method=False)
def argsort(input: Any, axis: int = -1, descending: bool = False) -> Any:
    """The positions that sort along an axis."""
    return _sorted("argsort", input, axis, descending)[1]


@api("argsort", function=False)
def argsort_method(self: Any, axis: Any = None, descending: bool = False, *, dim: Any = None) -> Any:
    """The positions that sort along an axis."""
    return argsort(self, dim if dim is not None else -1 if axis is None else axis, descending)


api("msort")(lambda input: _sorted("msort", input, 0, False)[0])


@api("topk", method=False)
def topk(input: Any, k: int, dim: Any = None, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    """The k greatest (or smallest) elements along an axis, and where they come from."""
    x = single("topk", input, "x..x")
    i = axis_of("topk", -1 if dim is None else dim, len(shape_of(x)), "dim")
    n = shape_of(x)[i] if shape_of(x) else 1
    if not 1 <= integer("topk", "k", k) <= n:
        raise ValueError(f"topk: k must lie between 1 and {n}, got {k}")
    if not shape_of(x):
        return st.copy(x), from_array(np.zeros((), np.int32))
    at = argtopk(x, axis=i, k=k, largest=bool(largest), ties="stable")
    return pick(x, at, axis=i, of="topk"), to_dtype(at, int32)


@api("topk", function=False)
def topk_method(self: Any, k: int, dim: Any = None, largest: bool = True, sorted: bool = True) -> tuple[Any, Any]:
    """The k greatest (or smallest) elements along an axis, and where they come from."""
    return topk(self, k, dim, largest, sorted)


@api("top_k")
def top_k(input_x: Any, k: int, sorted: bool = True) -> tuple[Any, Any]:
    """The k greatest elements along the last axis, and where they come from."""
    return topk(input_x, k, -1, True, sorted)


@api("kthvalue", function=False)
def kthvalue(self: Any, k: int, dim: int = -1, keepdim: bool = False) -> tuple[Any, Any]:
    """The k-th smallest element along an axis, and where it comes from."""
    i = axis_of("kthvalue", dim, tensor_argument("kthvalue", self).ndim, "dim")
    at = argkth(self, axis=i, k=integer("kthvalue", "k", k), ties="stable")
    values = pick(self, at, axis=i, of="kthvalue")
    if keepdim:
        return nm.expand_dims(values, i), to_dtype(nm.expand_dims(at, i), int64)
    return values, to_dtype(at, int64)


@api("unique", method=False)
def unique(input: Any) -> tuple[Any, Any]:
    """The different elements in order of appearance, and for each element which one it is."""
    x = single("unique", input, "...x")
    flat = np.asarray(x._concrete("unique")).reshape(-1)
    found, first, which = np.unique(flat, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(len(order))
    index_dtype = np.int64 if flat.dtype == np.int64 else np.int32
    return from_array(found[order]), from_array(place[which.reshape(-1)].astype(index_dtype).reshape(x.shape))


@api("unique_consecutive")
def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    """Without the elements (slices along an axis) that equal the one before them."""
    x = tensor_argument("unique_consecutive", input)
    i = None if dim is None else axis_of("unique_consecutive", dim, x.ndim, "dim")
    values, inverse, counts = counting.unique_consecutive(x, axis=i)
    extra = ([to_dtype(inverse, int64)] if return_inverse else []) + ([to_dtype(counts, int64)] if return_counts else [])
    return (values, *extra) if extra else values


@api("unique_with_pad")
def unique_with_pad(x: Any, pad_num: Any) -> tuple[Any, Any]:
    """The different elements, padded with a number to the length of the tensor, and which one each element is."""
    values, which = unique(x)
    missing = x.size - values.size
    padding = np.full(missing, pad_num._concrete("pad") if isinstance(pad_num, Value) else pad_num, dtype_of(values))
    return from_array(np.concatenate([values._concrete("unique_with_pad"), padding])), which


@api(method=False)
def searchsorted(sorted_sequence: Any, values: Any, *, out_int32: bool = False, right: bool = False, side: Any = None,
                 sorter: Any = None) -> Any:  # fmt: skip
    """Where each value would be inserted into a sorted sequence: before equal elements, or ("right") behind them."""
    sequence = tensor_argument("searchsorted", sorted_sequence, "sorted_sequence")
    if side not in (None, "left", "right"):
        raise ValueError(f"searchsorted: side must be 'left' or 'right', got {side!r}")
    if not isinstance(values, Value):
        values = from_array(np.asarray(values, dtype_of(sequence)))
    if sorter is not None:
        sequence = ix.take_along_axis(sequence, sorter, axis=sequence.ndim - 1)
    out = counting.searchsorted(sequence, values, right=right or side == "right")
    return to_dtype(out, int32 if out_int32 else int64)


@api("searchsorted", function=False)
def searchsorted_method(self: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where each value would be inserted into this sorted tensor."""
    return to_dtype(searchsorted(self, v, side=side, sorter=sorter), int32)


@api(method=False)
def bucketize(input: Any, boundaries: Any, *, right: bool = False) -> Any:
    """In which of the intervals between boundaries each element lies."""
    x = tensor_argument("bucketize", input)
    if not isinstance(boundaries, (list, tuple)):
        raise TypeError(f"bucketize: boundaries must be a list, got {type(boundaries).__name__}")
    edges = from_array(np.asarray(boundaries, np.float32))
    return to_dtype(counting.searchsorted(edges, to_dtype(x, as_dtype("float32")), right=bool(right)), int32)


@api(method=False)
def intopk(x1: Any, x2: Any, k: int) -> Any:
    """Whether the element at each row's position is among the k greatest of the row."""
    x, at = tensor_argument("intopk", x1, "x1"), positions("intopk", x2, "x2")
    array, places = x._concrete("intopk"), at._concrete("intopk")
    chosen = np.take_along_axis(array, places.astype(np.int64)[:, None], axis=1)
    return from_array((array > chosen).sum(axis=1) < k)


@api("reverse_sequence")
def reverse_sequence(x: Any, seq_lengths: Any, seq_dim: int = 0, batch_dim: int = 0) -> Any:
    """The first `seq_lengths[b]` elements of each entry b of a batch in reverse order."""
    x, lengths = tensor_argument("reverse_sequence", x, "x"), positions("reverse_sequence", seq_lengths, "seq_lengths")
    s, b = axis_of("reverse_sequence", seq_dim, x.ndim), axis_of("reverse_sequence", batch_dim, x.ndim)
    if s == b:
        raise ValueError(f"reverse_sequence: seq_dim and batch_dim must differ, both are {s}")
    n = shape_of(x)[s]
    counts = np.asarray(lengths._concrete("reverse_sequence"))[:, None]
    order = np.where(np.arange(n) < counts, counts - 1 - np.arange(n), np.arange(n))
    shape = [1] * x.ndim
    shape[b], shape[s] = shape_of(x)[b], n
    at = np.broadcast_to((order if b < s else order.T).reshape(shape), x.shape)
    return ix.take_along_axis(x, from_array(np.ascontiguousarray(at)), axis=s)


# ------------------------------------------------------------------------------------------ diagonals and triangles


@api()
def diag(input: Any) -> Any:
    """The tensor along the diagonal of one with twice its axes."""
    x = tensor_argument("diag", input)
    if not x.ndim:
        raise ValueError("diag: wanted a tensor with axes, got one without")
    n = x.size
    flat = st.reshape(x, shape=(n,))
    out = triangular.diagonal_embed(flat, shape=(n, n), offset=0, axis1=0, axis2=1)
    return out if x.ndim == 1 else st.reshape(out, shape=(*x.shape, *x.shape))


@api("diagonal", method=False)
def diagonal(input: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """A diagonal of the matrices in two axes."""
    x = tensor_argument("diagonal", input)
    if x.ndim < 2:
        raise ValueError(f"diagonal: wanted at least two axes, got shape {x.shape}")
    a, b = axis_of("diagonal", dim1, x.ndim, "dim1"), axis_of("diagonal", dim2, x.ndim, "dim2")
    return inplace.view(triangular.diagonal, x, offset=integer("diagonal", "offset", offset), axis1=a, axis2=b)


@api("diagonal", function=False)
def diagonal_method(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Any:
    """A diagonal of the matrices in two axes."""
    return diagonal(self, offset, axis1, axis2)


@api("diagflat")
def diagflat(input: Any, offset: int = 0) -> Any:
    """The elements along a diagonal of a matrix."""
    return nps.diagflat(tensor_argument("diagflat", input), integer("diagflat", "offset", offset))


@api(method=False)
def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """The last axis along a diagonal of the matrices in two new axes."""
    x = tensor_argument("diag_embed", input)
    n = x.ndim + 1
    a, b = axis_of("diag_embed", dim1, n, "dim1"), axis_of("diag_embed", dim2, n, "dim2")
    if a == b:
        raise ValueError(f"diag_embed: dim1 and dim2 must differ, both are {a}")
    size = shape_of(x)[-1] + abs(offset)
    rest = iter(shape_of(x)[:-1])
    shape = tuple(size if i in (a, b) else next(rest) for i in range(n))
    return triangular.diagonal_embed(x, shape=shape, offset=offset, axis1=a, axis2=b)


def _triangle(name: str, op: Any) -> Function:
    def f(input: Any, diagonal: int = 0) -> Any:
        x = tensor_argument(name, input)
        if x.ndim < 2:
            raise ValueError(f"{name}: wanted at least two axes, got shape {x.shape}")
        return op(x, k=integer(name, "diagonal", diagonal))

    return defined(name, f, f"The {'lower' if name == 'tril' else 'upper'} triangle of matrices, zeros elsewhere.")


tril = api("tril")(_triangle("tril", triangular.tril))
triu = api("triu")(_triangle("triu", triangular.triu))


@api("trace", method=False)
def trace(input: Any) -> Any:
    """The sum of the diagonal of a matrix."""
    x = tensor_argument("trace", input)
    if x.ndim != 2:
        raise RuntimeError(f"trace: wanted a matrix, got shape {x.shape}")
    return triangular.diagonal(x, offset=0, axis1=0, axis2=1).sum(dtype=FROM_NUMPY[dtype_of(x)])


@api("trace", function=False)
def trace_method(self: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sums of a diagonal."""
    return diagonal(self, offset, axis1, axis2).sum(axis=-1, dtype=dtype)


@api(method=False)
def matrix_band_part(x: Any, lower: Any, upper: Any) -> Any:
    """Matrices with all but a band around the diagonal zero; a negative width means no bound on that side."""
    x = tensor_argument("matrix_band_part", x, "x")
    below, above = int(lower), int(upper)
    if below >= 0:
        x = triangular.triu(x, k=-below)
    return triangular.tril(x, k=above) if above >= 0 else x


@api(method=False)
def tril_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Any:
    """The places of the lower triangle, one row per axis."""
    return from_array(np.stack(np.tril_indices(row, offset, col)).astype(as_dtype(dtype).np))


@api(method=False)
def triu_indices(row: int, col: int, offset: int = 0, *, dtype: Any = int64) -> Any:
    """The places of the upper triangle, one row per axis."""
    return from_array(np.stack(np.triu_indices(row, offset, col)).astype(as_dtype(dtype).np))


class _Band:
    """Where the diagonals from `k[0]` to `k[1]` of a matrix stand in it, and in the rows that hold them, the highest first.

    A row is as long as the longest of them; `align` says at which end shorter ones stand, above the main diagonal and below.
    """

    def __init__(self, op: str, k: Any, align: str, rows: int, columns: int) -> None:
        if align not in ("LEFT_RIGHT", "RIGHT_LEFT", "LEFT_LEFT", "RIGHT_RIGHT"):
            raise ValueError(f"{op}: align must be 'LEFT_RIGHT', 'RIGHT_LEFT', 'LEFT_LEFT' or 'RIGHT_RIGHT', got {align!r}")
        low, high = _bounds(op, k)
        if not -rows < low <= high < columns:
            raise ValueError(f"{op}: a matrix of {rows} by {columns} has no diagonals from {low} to {high}")
        above, below = align.split("_")
        lengths = [min(rows + min(d, 0), columns - max(d, 0)) for d in range(high, low - 1, -1)]
        self.one, self.matrix, self.length = low == high, (rows, columns), max(lengths)
        self.rows = (len(lengths), self.length)
        parts = []
        for i, (d, n) in enumerate(zip(range(high, low - 1, -1), lengths)):
            at = np.arange(n)
            first = self.length - n if (above if d >= 0 else below) == "RIGHT" else 0
            parts.append((np.full(n, i), at + first, at - min(d, 0), at + max(d, 0)))
        i, j, r, c = (np.concatenate(part) for part in zip(*parts))
        self.held, self.own = i * self.length + j, r * columns + c

    def into(self, x: Any, size: tuple[int, int], places: np.ndarray, source: np.ndarray) -> tuple[Any, np.ndarray]:
        """Elements of the last axis of `x` at places of rows of a size, and which places have one."""
        at, there = np.zeros(size, np.int64).ravel(), np.zeros(size, bool)
        at[places], there.ravel()[places] = source, True
        return st.reshape(ix.take(x, at, axis=x.ndim - 1), shape=(*x.shape[:-1], *size)), there


def _bounds(op: str, k: Any) -> tuple[int, int]:
    found = integers(op, "k", k._concrete(op).tolist() if isinstance(k, Value) else k)
    if len(found) not in (1, 2):
        raise ValueError(f"{op}: k must be a number or two, got {k}")
    return found[0], found[-1]


def _number_of(value: Any) -> Any:
    return value.item() if isinstance(value, Value) else value


def _chosen(there: np.ndarray, x: Any, other: Any) -> Any:
    return FUNCTIONS["where"](from_array(np.broadcast_to(there, x.shape).copy()), x, other)


@api(method=False)
def matrix_diag(x: Any, k: Any = 0, num_rows: Any = -1, num_cols: Any = -1, padding_value: Any = 0,
                align: str = "RIGHT_LEFT") -> Any:  # fmt: skip
    """Matrices with the rows of the last two axes (of the last one, for one diagonal) along diagonals, `padding_value`
    elsewhere."""
    x = tensor_argument("matrix_diag", x, "x")
    low, high = _bounds("matrix_diag", k)
    n = length_of("matrix_diag", x.shape, -1)
    rows, columns = int(_number_of(num_rows)), int(_number_of(num_cols))
    least = (n - min(high, 0), n + max(low, 0))
    if rows == -1 and columns == -1:
        rows = columns = max(least)
    rows, columns = (size if size != -1 else fitting for size, fitting in zip((rows, columns), least))
    band = _Band("matrix_diag", (low, high), align, rows, columns)
    lead = x.shape[:-1] if band.one else x.shape[:-2]
    if x.shape != (*lead, *(band.rows[1:] if band.one else band.rows)):
        raise ValueError(f"matrix_diag: x has shape {x.shape}; the diagonals from {low} to {high} take {(*lead, *band.rows)}")
    out, there = band.into(st.reshape(x, shape=(*lead, -1)), band.matrix, band.own, band.held)
    return _chosen(there, out, _number_of(padding_value))


@api(method=False)
def matrix_diag_part(x: Any, k: Any, padding_value: Any, align: str = "RIGHT_LEFT") -> Any:
    """The k-th diagonal of matrices; for a pair those from the one to the other as rows, shorter ones padded."""
    x = tensor_argument("matrix_diag_part", x, "x")
    band = _Band("matrix_diag_part", k, align, *x.shape[-2:])
    size = (1, band.length) if band.one else band.rows
    out, there = band.into(st.reshape(x, shape=(*x.shape[:-2], -1)), size, band.held, band.own)
    out = _chosen(there, out, _number_of(padding_value))
    return st.reshape(out, shape=(*x.shape[:-2], band.length)) if band.one else out


@api(method=False)
def matrix_set_diag(x: Any, diagonal: Any, k: Any = 0, align: str = "RIGHT_LEFT") -> Any:
    """Matrices with the k-th diagonal replaced; for a pair those from the one to the other, by rows."""
    x, new = tensor_argument("matrix_set_diag", x, "x"), tensor_argument("matrix_set_diag", diagonal, "diagonal")
    band = _Band("matrix_set_diag", k, align, *x.shape[-2:])
    lead = x.shape[:-2]
    if new.shape != (*lead, *(band.rows[1:] if band.one else band.rows)):
        raise ValueError(f"matrix_set_diag: diagonal has shape {new.shape}, wanted {(*lead, *band.rows)}")
    out, there = band.into(st.reshape(new, shape=(*lead, -1)), band.matrix, band.own, band.held)
    return _chosen(there, out, x)


@api("fill_diagonal", function=False, in_place=True)
def fill_diagonal(self: Any, fill_value: Any, wrap: bool = False) -> Any:
    """The tensor with a number along the main diagonal."""
    if self.ndim < 2:
        raise ValueError(f"fill_diagonal: wanted at least two axes, got shape {self.shape}")
    places = np.zeros(self.shape, bool)
    np.fill_diagonal(places, True, wrap=wrap)
    return FUNCTIONS["masked_fill"](self, from_array(places), fill_value)


@api("unique", function=False)
def unique_method(self: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False,
                  dim: Any = None) -> Any:  # fmt: skip
    """The different elements in order, and for each element which one it is, and how often each occurs."""
    from .mint import unique  # type: ignore[attr-defined]

    return unique(self, sorted, return_inverse, return_counts, dim)
