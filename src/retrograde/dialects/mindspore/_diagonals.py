"""Diagonals and triangles of matrices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import indexing as ix
from ...ops import structural as st
from ...ops import triangular
from ...tape import inplace
from ...tensor import numpy_shapes as nps
from .._shared.axes import axis_of, count, integers, length_of
from . import _gather
from ._api import api, row
from ._arguments import function, ranked
from ._dtype import FROM_NUMPY, as_dtype, int64
from ._promote import tensor_argument
from ._tensor import from_array

Function = Callable[..., Any]


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


diagonal = function("diagonal", "input: Matrices, offset: Int = 0, dim1: Axis = 0, dim2: Axis = 1",
    functools.partial(inplace.view, triangular.diagonal), "A diagonal of the matrices in two axes.", method=False,
    called={"dim1": "axis1", "dim2": "axis2"})  # fmt: skip
diagonal_method = row("diagonal", lambda self, offset=0, axis1=0, axis2=1: diagonal(self, offset, axis1, axis2),
    "A diagonal of the matrices in two axes.", function=False)  # fmt: skip
diagflat = function("diagflat", "input: Tensor, offset: Int = 0", nps.diagflat, "The elements along a diagonal of a matrix.",
    called={"offset": "k"})  # fmt: skip


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

tril = function("tril", "input: Matrices, diagonal: Int = 0", triangular.tril,
    "The lower triangle of matrices, zeros elsewhere.", called={"diagonal": "k"})  # fmt: skip
triu = function("triu", "input: Matrices, diagonal: Int = 0", triangular.triu,
    "The upper triangle of matrices, zeros elsewhere.", called={"diagonal": "k"})  # fmt: skip


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
    return _gather.where(from_array(np.broadcast_to(there, x.shape).copy()), x, other)


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
    return _gather.masked_fill(self, from_array(places), fill_value)


@api("diagonal_scatter")
def diagonal_scatter(input: Any, src: Any, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Any:
    """The tensor with a diagonal replaced."""
    x = tensor_argument("diagonal_scatter", input)
    a, b = axis_of("diagonal_scatter", dim1, x.ndim, "dim1"), axis_of("diagonal_scatter", dim2, x.ndim, "dim2")
    given = tensor_argument("diagonal_scatter", src, "src")
    old = triangular.diagonal(x, offset=offset, axis1=a, axis2=b)
    if tuple(shape_of(old)) != tuple(shape_of(given)):
        raise ValueError(f"diagonal_scatter: src must have shape {tuple(shape_of(old))}, got {given.shape}")
    change = given - old  # in the common dtype of both, which the result has
    return x + triangular.diagonal_embed(change, shape=tuple(shape_of(x)), offset=offset, axis1=a, axis2=b)


vander = row("vander", lambda x, N=None: nps.vander(ranked("vander", x, 1, "x"), None if N is None else count("vander", "N", N)),
    "The powers of a vector, falling, as columns.", method=False)  # fmt: skip
