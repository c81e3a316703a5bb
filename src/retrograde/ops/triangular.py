"""Triangles, diagonals and blocks of matrices. All are linear, so each stands beside its transpose."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..backend.dtypes import astype, device_in
from ..core.aval import Aval
from ..core.expression import Expr
from ..core.large import loop_of, zeros
from ..core.primitive import primitive
from ..core.value import shape_of
from .kernels import in_c_order, zero_of
from .placement import places_of, taken, written_at
from .rules import batch_axes, batch_leading, batch_loop, batch_size, checked_axes, linear, materialise_batch
from .samples import normal, sample
from .shapes import matching
from .structural import getitem, zeros_like

# ------------------------------------------------------------------------------------------ triangles


_WORDS = {size: np.dtype(f"u{size}") for size in (1, 2, 4, 8)}


@functools.lru_cache(maxsize=16)
def _triangle(n: int, m: int, k: int, word: np.dtype | None) -> tuple[np.ndarray, np.ndarray]:
    """Words with all bits set up to the k-th diagonal, and behind it; True there where there is no word."""
    lower = np.tri(n, m, k, dtype=word or bool)
    if word:
        lower = np.negative(lower)
    return lower, ~lower


def _masked(x: Any, k: int, upper: bool) -> Any:
    """x up to the k-th diagonal (or behind it) and zeros elsewhere, for numbers of any kind as their bits: 2 µs for 100x100
    single ones, of which np.where takes 11 to choose."""
    word = _WORDS.get(x.dtype.itemsize) if x.dtype.isnative else None
    kept = _triangle(*x.shape[-2:], k, word)[upper]
    return np.where(kept, x, zero_of(x)) if word is None else (x.view(word) & kept).view(x.dtype)


@functools.cache
def _loop(dtype: np.dtype, lower: bool) -> Any:
    """x where the number of the column is (or, above the diagonal, is not) below that of the row, else 0, in one pass."""
    x, row, column = Expr("operand", (0,), dtype), *(Expr("operand", (i,), np.dtype(np.float32)) for i in (1, 2))
    inside = Expr("less" if lower else "greater_equal", (column, row), np.dtype(bool))
    return loop_of([Expr("where", (inside, x, 0.0), dtype)])


def _kept_part(x: Any, first: int, lower: bool) -> Any:
    """The columns before (or from) that of number `first` in the first row on, one more in each that follows; None where
    there is no loop for it."""
    n, m = x.shape[-2:]
    if n + m + abs(first) >= 1 << 24:  # the numbers are single ones
        return None
    loop = _loop(x.dtype, lower)
    row = np.arange(first, n + first, dtype=np.float32)[:, None]
    found = loop and loop(x, row, np.arange(m, dtype=np.float32))
    return None if found is None else in_c_order(found[0])


def _tril_numpy(x: Any, *, k: int) -> Any:
    x = in_c_order(x)  # and so does the result lie
    if x.shape[-1] * x.shape[-2] > _KEPT:
        found = _kept_part(x, k + 1, True)
        return np.tril(x, k=k) if found is None else found
    return _masked(x, k, False)


def _triu_numpy(x: Any, *, k: int) -> Any:
    x = in_c_order(x)
    if x.shape[-1] * x.shape[-2] > _KEPT:
        found = _kept_part(x, k, False)
        return np.triu(x, k=k) if found is None else found
    return _masked(x, k - 1, True)


_KEPT = 1 << 16
"""Elements of a triangle's mask up to which it is kept: making one takes as long as using it."""

def _infer_triangle(avals: Any, params: dict[str, Any]) -> Aval:
    if len(avals[0].shape) < 2:
        raise ValueError(f"a triangle is of matrices; wanted two axes or more, got shape {tuple(avals[0].shape)}")
    return Aval(*avals[0])


tril = linear(
    "tril", kernel=lambda xp, x, *, k: xp.tril(x, k=k), numpy=_tril_numpy, transpose=lambda g, _x, *, k: tril(g, k=k),
    batch=batch_leading, infer=_infer_triangle, kind="structural",
    samples=lambda: [sample(normal(3, 3), k=0), sample(normal(2, 3), k=-1), sample(normal(2, 2, 3), k=1)],
)  # fmt: skip

triu = linear(
    "triu", kernel=lambda xp, x, *, k: xp.triu(x, k=k), numpy=_triu_numpy, transpose=lambda g, _x, *, k: triu(g, k=k),
    batch=batch_leading, infer=_infer_triangle, kind="structural",
    samples=lambda: [sample(normal(3, 3), k=0), sample(normal(2, 3), k=-1), sample(normal(2, 2, 3), k=1)],
)  # fmt: skip


# ------------------------------------------------------------------------------------------ diagonals


def _diagonal_kernel(xp: Any, x: Any, *, offset: int, axis1: int, axis2: int) -> Any:
    return taken(xp, x, np.diagonal(places_of(x.shape), offset, axis1, axis2))


def _diagonal_numpy(x: Any, *, offset: int, axis1: int, axis2: int) -> Any:
    out = np.diagonal(x, offset, axis1, axis2)
    if x.flags.writeable:
        out.flags.writeable = True  # NumPy marks it read-only; it is a view like any other
    return out


def _diagonal_embed_kernel(xp: Any, x: Any, *, shape: tuple[int, ...], offset: int, axis1: int, axis2: int) -> Any:
    places = np.diagonal(places_of(shape), offset, axis1, axis2)
    return written_at(xp, xp.zeros(shape, dtype=x.dtype, device=device_in(x)), x, places)


def _diagonal_embed_numpy(x: Any, *, shape: tuple[int, ...], offset: int, axis1: int, axis2: int) -> Any:
    out = zeros(shape, x.dtype)
    _diagonal_numpy(out, offset=offset, axis1=axis1, axis2=axis2)[...] = x
    return out


def _infer_diagonal(avals: Any, params: dict[str, Any]) -> Aval:
    checked_axes(avals[0].shape, params["axis1"], params["axis2"])
    shape, a, b, k = avals[0].shape, params["axis1"], params["axis2"], params["offset"]
    n = max(0, min(shape[a], shape[b] - k) if k >= 0 else min(shape[a] + k, shape[b]))
    return Aval((*(m for i, m in enumerate(shape) if i not in (a, b)), n), avals[0].dtype)


# A view of the diagonal of two axes, as the last axis.
diagonal = linear(
    "diagonal", kernel=_diagonal_kernel, numpy=_diagonal_numpy, kind="structural",
    transpose=lambda g, x_, *, offset, axis1, axis2: diagonal_embed(
        g, shape=tuple(shape_of(x_)), offset=offset, axis1=axis1, axis2=axis2),
    batch=batch_axes("axis1", "axis2"), infer=_infer_diagonal,
    samples=lambda: [sample(normal(3, 3), offset=0, axis1=0, axis2=1),
                     sample(normal(2, 3, 4), offset=1, axis1=0, axis2=2),
                     sample(normal(3, 2), offset=-1, axis1=1, axis2=0)],
)  # fmt: skip


def _batch_diagonal_embed(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    x = materialise_batch(arrays[0], dims[0], batch_size(arrays, dims))
    return op(x, shape=(shape_of(x)[0], *params["shape"]), offset=params["offset"], axis1=params["axis1"] + 1,
              axis2=params["axis2"] + 1), 0  # fmt: skip


def _infer_embedded(avals: Any, params: dict[str, Any]) -> Aval:
    wanted = _infer_diagonal([Aval(params["shape"], avals[0].dtype)], params).shape
    matching("diagonal_embed", avals[0].shape, wanted)
    return Aval(params["shape"], avals[0].dtype)


# Zeros of `shape` with the operand's last axis on the diagonal of two axes.
diagonal_embed = linear(
    "diagonal_embed", kernel=_diagonal_embed_kernel, numpy=_diagonal_embed_numpy, kind="structural",
    transpose=lambda g, _x, *, shape, offset, axis1, axis2: diagonal(g, offset=offset, axis1=axis1, axis2=axis2),
    batch=_batch_diagonal_embed, infer=_infer_embedded,
    samples=lambda: [sample(normal(3), shape=(3, 3), offset=0, axis1=0, axis2=1),
                     sample(normal(2, 3), shape=(4, 2, 4), offset=1, axis1=0, axis2=2),
                     sample(normal(2, 2), shape=(2, 3, 2), offset=-1, axis1=1, axis2=2)],
)  # fmt: skip


def _blocks(needs: Any, g: Any, shapes: tuple[tuple[int, int], ...]) -> tuple[Any, ...]:
    grads, row, column = [], 0, 0
    for (m, n), need in zip(shapes, needs):
        index = (slice(row, row + m), slice(column, column + n))
        grads.append(getitem(g, index=index) if need else None)
        row, column = row + m, column + n
    return tuple(grads)


def _total(shapes: tuple[tuple[int, int], ...], axis: int) -> int:
    return sum(shape[axis] for shape in shapes)


def _block_kernel(xp: Any, *xs: Any, shapes: tuple[tuple[int, int], ...]) -> Any:
    dtype, width, row_blocks, column = xp.result_type(*xs), _total(shapes, 1), [], 0
    for x, (m, n) in zip(xs, shapes):
        left = xp.zeros((m, column), dtype=dtype, device=device_in(x))
        right = xp.zeros((m, width - column - n), dtype=dtype, device=device_in(x))
        row_blocks.append(xp.concat([left, astype(xp, x, dtype), right], axis=1))
        column += n
    return xp.concat(row_blocks, axis=0)


def _block_numpy(*xs: Any, shapes: tuple[tuple[int, int], ...]) -> Any:
    out = np.zeros((_total(shapes, 0), _total(shapes, 1)), dtype=np.result_type(*xs))
    row = column = 0
    for x, (m, n) in zip(xs, shapes):
        out[row : row + m, column : column + n] = x
        row, column = row + m, column + n
    return out


def _infer_block(avals: Any, params: dict[str, Any]) -> Aval:
    shapes = params["shapes"]
    for a, shape in zip(avals, shapes, strict=True):
        matching("block_diagonal", a.shape, shape)
    return Aval((_total(shapes, 0), _total(shapes, 1)), np.result_type(*(a.dtype for a in avals)))


_block_diagonal = primitive(
    "block_diagonal", kernel=_block_kernel, numpy=_block_numpy, kind="structural",
    vjp=lambda needs, g, _out, *xs_, shapes: _blocks(needs, g, shapes),
    jvp=lambda tangents, out, *xs, shapes: _block_diagonal(
        *(zeros_like(x) if t is None else t for t, x in zip(tangents, xs)), shapes=shapes),
    batch=batch_loop, params=("shapes",),
    infer=_infer_block,
    samples=lambda: [sample(normal(2, 3), normal(1, 2), shapes=((2, 3), (1, 2)))],
)  # fmt: skip

def block_diagonal(*xs: Any) -> Any:
    """Matrices along the diagonal of a larger one that is zero elsewhere."""
    return _block_diagonal(*xs, shapes=tuple(tuple(shape_of(x)) for x in xs))
