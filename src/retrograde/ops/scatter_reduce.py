"""Reductions into places that indices name, and embeddings: rows of a table, with the gradient rules of layers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, is_integer, numpy_dtype
from ..core.arrays import full
from ..core.aval import Aval
from ..core.node import Accumulate
from ..core.primitive import primitive
from ..core.scattered import Scattered
from ..core.value import dtype_of, ndim_of, shape_of
from .comparison import equal, not_equal
from .grouping import add, count_numbers, flat_positions, multiply, reduce_by_number
from .indexing import add_rows, along_add, batch_along, index_put, offsets, outside, scatter, take_along_axis
from .kernels import elements, widened
from .reduction import prod
from .rules import batch_loop, batch_size, conj, from_vjp, linear, materialise_batch
from .samples import distinct, normal, sample
from .selection import keep, where
from .shapes import at_least, demand, matching
from .structural import cast, concatenate, reshape, transpose

SUM, PROD, MEAN, AMAX, AMIN = "sum", "prod", "mean", "amax", "amin"


def _bounds(dtype: np.dtype) -> tuple[Any, Any]:
    """The smallest and the largest number of a dtype."""
    if dtype.kind == "b":
        return False, True
    limits: Any = np.iinfo(dtype) if dtype.kind in "iu" else None
    return (int(limits.min), int(limits.max)) if limits else (-math.inf, math.inf)


@widened
def _scatter_reduce_kernel(
    xp: Any, x: Any, indices: Any, values: Any, *, axis: int, reduce: str, include_self: bool, x_ties: bool, shares: bool
) -> Any:
    low, high = _bounds(numpy_dtype(x.dtype))
    f: Any = {PROD: multiply, AMAX: xp.maximum, AMIN: xp.minimum}.get(reduce, add)
    start = {PROD: 1, AMAX: low, AMIN: high}.get(reduce, 0)
    shape = tuple(x.shape)
    numbers = xp.reshape(flat_positions(xp, shape, indices, axis), (-1,))
    values = xp.reshape(astype(xp, values, x.dtype), (-1,))
    gathered = xp.reshape(reduce_by_number(xp, f, values, numbers, math.prod(shape), start), shape)
    count = xp.reshape(count_numbers(xp, numbers, math.prod(shape)), shape)
    out = xp.where(count == 0, x, f(x, gathered) if include_self else gathered)
    if reduce != MEAN:
        return out
    count = count + int(include_self)
    count = astype(xp, xp.where(count < 1, 1, count), out.dtype)
    return out // count if is_integer(out) else out / count


def _scatter_reduce_numpy(
    x: Any, indices: Any, values: Any, *, axis: int, reduce: str, include_self: bool, x_ties: bool, shares: bool
) -> Any:
    flat = offsets(x.shape, indices, axis)
    out = np.array(x, order="C")
    line, values = out.reshape(-1), values.reshape(-1)
    if not include_self and flat.size:
        low, high = _bounds(x.dtype)
        start: Any = {SUM: 0, MEAN: 0, PROD: 1, AMAX: low, AMIN: high}[reduce]
        line[flat] = start
    if reduce in (SUM, MEAN):
        out = out + add_rows(values.reshape(-1, 1), flat, out.size).reshape(out.shape)
        if reduce == MEAN:
            count = np.maximum(np.bincount(flat, minlength=out.size).reshape(out.shape) + include_self, 1)
            count = count.astype(out.dtype)
            out = out // count if out.dtype.kind in "iu" else out / count
        return out.astype(x.dtype, copy=False)
    ufunc = {PROD: np.multiply, AMAX: np.maximum, AMIN: np.minimum}[reduce]
    ufunc.at(line, flat, values)
    return out


def _count(indices: Any, like: Any, axis: int, include_self: bool) -> Any:
    """How many values meet in each place, at least 1."""
    shape = tuple(shape_of(like))
    number = dtype_of(like)
    count = along_add(full(tuple(shape_of(indices)), 1, number, like), indices, shape=shape, axis=axis)
    if include_self:
        return count + full((), 1, number, like)
    return where(equal(count, full((), 0, number, like)), full((), 1, number, like), count)


def _product_of_values(x: Any, indices: Any, values: Any, axis: int) -> Any:
    ones = full(tuple(shape_of(x)), 1, dtype_of(x), x)
    return scatter_reduce(ones, indices, values, axis=axis, reduce=PROD, include_self=True, x_ties=False)


def _scatter_reduce_vjp(
    needs: Any, g: Any, out: Any, x: Any, indices: Any, values: Any, *, axis: int, reduce: str, include_self: bool,
    x_ties: bool, shares: bool,
) -> Any:  # fmt: skip
    number = dtype_of(g)
    zero, one = full((), 0, number, g), full((), 1, number, g)
    to_values = g
    if reduce == MEAN:
        to_values = g / _count(indices, x, axis, include_self)
    elif reduce in (AMAX, AMIN):
        at_x, at_values = equal(x, out), equal(values, take_along_axis(out, indices, axis=axis))
        ties = along_add(cast(at_values, dtype=number), indices, shape=tuple(shape_of(x)), axis=axis)
        if include_self or x_ties:
            ties = ties + cast(at_x, dtype=number)
        if shares:  # values that are equal share the gradient
            to_values = g / where(equal(ties, zero), one, ties)
    grad_x = grad_values = None
    if needs[0]:
        if reduce == PROD:
            grad_x = g * conj(_product_of_values(x, indices, values, axis))
        elif reduce in (AMAX, AMIN):
            grad_x = keep(to_values, at_x) if include_self else g
        else:
            grad_x = to_values if include_self or reduce != MEAN else g
        if not include_self:
            grad_x = scatter(g if reduce != PROD else grad_x, indices, zero, axis=axis)
    if needs[2]:
        if reduce == PROD:
            grad_values = _product_rule(g, x, indices, values, axis, include_self)
        else:
            grad_values = take_along_axis(to_values, indices, axis=axis)
            if reduce in (AMAX, AMIN):
                grad_values = keep(grad_values, at_values)
    return grad_x, None, grad_values


def _product_rule(g: Any, x: Any, indices: Any, values: Any, axis: int, include_self: bool) -> Any:
    """The cotangent of the values of a product: the product of the others, with at most one zero told apart."""
    number = dtype_of(values)
    zero, one = full((), 0, number, values), full((), 1, number, values)
    nonzero = not_equal(values, zero)
    filled = where(nonzero, values, one)
    product = _product_of_values(x, indices, filled, axis)
    if include_self:
        product = product * x
    zeros = along_add(cast(equal(values, zero), dtype=number), indices, shape=tuple(shape_of(x)), axis=axis)
    zeros = take_along_axis(zeros, indices, axis=axis)
    shared = take_along_axis(g * conj(product), indices, axis=axis)
    return where(nonzero, keep(shared / conj(filled), equal(zeros, zero)), keep(shared, equal(zeros, one)))


def _scatter_reduce_samples() -> Any:
    x, values = distinct(3, 2), distinct(3, 2, seed=4) + 0.1
    indices = np.array([[2, 0], [2, 1], [0, 0]])
    for reduce in (SUM, PROD, MEAN, AMAX, AMIN):
        for include_self in (True, False):
            yield sample(x, indices, values, axis=0, reduce=reduce, include_self=include_self, x_ties=False, shares=True)
    for reduce in (AMAX, PROD):
        yield sample(x, indices, values, axis=0, reduce=reduce, include_self=False, x_ties=True, shares=True)
    yield sample(x, indices, values, axis=0, reduce=AMIN, include_self=False, x_ties=False, shares=False)


def _infer_scatter(avals: Any, p: dict[str, Any]) -> Aval:
    x, indices, values = avals
    matching("the values at the indices", values.shape, indices.shape)
    demand(len(indices.shape) == len(x.shape), f"indices of {len(x.shape)} axes are wanted, got {tuple(indices.shape)}")
    others = [(n, most) for i, (n, most) in enumerate(zip(indices.shape, x.shape)) if i != p["axis"]]
    demand(all(n <= most for n, most in others), f"indices of shape {indices.shape} do not lie in an operand of {x.shape}")
    return x


# `x` with `values` reduced into the places that `indices` name along an axis, together with what is there or without.
# x_ties: an extreme value shares its gradient with an equal one in x even where that is left out, as PyTorch has it. shares:
# equal extreme values share the gradient; else each gets all of it.
_scatter_reduce = primitive(
    "scatter_reduce", kernel=_scatter_reduce_kernel, numpy=_scatter_reduce_numpy, vjp=_scatter_reduce_vjp,
    jvp=from_vjp, batch=batch_along,
    infer=_infer_scatter, samples=_scatter_reduce_samples,
)  # fmt: skip


def scatter_reduce(
    x: Any, indices: Any, values: Any, *, axis: int, reduce: str, include_self: bool, x_ties: bool, shares: bool = True
) -> Any:
    """`x` with `values` reduced into the places that `indices` name along an axis."""
    return _scatter_reduce(
        x, indices, values, axis=axis, reduce=reduce, include_self=include_self, x_ties=x_ties, shares=shares
    )


def scatter_product(x: Any, indices: np.ndarray, values: Any, *, axis: int, include_self: bool) -> Any:
    """`scatter_reduce` with "prod", whose derivatives of any order are right where several factors are zero.

    The factors of each place become a row, filled up with ones; None where that would take far more memory.
    """
    shape, count = tuple(shape_of(x)), indices.size
    n = math.prod(shape)
    places = offsets(shape, indices, axis)
    met = np.bincount(places, minlength=n)
    width = int(met.max(initial=0)) + 1
    if n * width > 16 * (n + count) + (1 << 16):
        return None
    order = np.argsort(places, kind="stable")
    rank = np.empty(count, np.intp)
    rank[order] = np.arange(count) - np.repeat(np.cumsum(met) - met, met)
    own = reshape(x, shape=(n, 1))
    if not include_self:
        own = where((met == 0)[:, None], own, np.ones((1, 1), dtype_of(x)))
    rows = index_put(np.ones((n, width - 1), dtype_of(x)), reshape(values, shape=(count,)), places, rank, axes=(0, 1),
                     unique=True)  # fmt: skip
    return reshape(prod(concatenate(own, rows, axis=1), axis=(1,), keepdims=False), shape=shape)


# ------------------------------------------------------------------------------------------ embeddings


def _row_weights(indices: np.ndarray, n: int, padding: int | None, by_frequency: bool, dtype: Any) -> Any:
    """What the gradient of each row is multiplied with: 0 for padding, 1/occurrences when scaled; None for 1."""
    weights = None
    if by_frequency:
        counts = np.bincount(indices, minlength=n)
        weights = (1.0 / counts[indices]).astype(dtype)
    if padding is not None:
        kept = indices != padding
        weights = kept.astype(dtype) if weights is None else weights * kept
    return weights


def _standard_weights(
    xp: Any, flat: Any, n: int, padding: int | None, by_frequency: bool, dtype: Any
) -> Any:  # fmt: skip
    """The same in the standard."""
    weights = None
    if by_frequency:
        weights = astype(xp, 1.0 / xp.take(astype(xp, count_numbers(xp, flat, n), np.float64), flat), dtype)
    if padding is not None:
        kept = astype(xp, flat != padding, dtype)
        weights = kept if weights is None else weights * kept
    return weights


def _refuse_index(least: int, most: int, n: int) -> None:
    if least < 0 or most >= n:
        bad = least if least < 0 else most
        raise IndexError(f"embedding: index {bad} is out of range for a table of {n} rows, which are counted from 0")


def _embedding_kernel(
    xp: Any, table: Any, indices: Any, *, padding: int | None, by_frequency: bool, weighted: bool, sparse: bool
) -> Any:
    n = table.shape[0]
    if elements(indices):
        _refuse_index(int(xp.min(indices)), int(xp.max(indices)), n)
    flat = xp.reshape(astype(xp, indices, np.int64), (-1,))
    out = xp.take(table, flat, axis=0)
    weights = _standard_weights(xp, flat, n, padding, by_frequency, table.dtype) if weighted else None
    if weights is not None:
        out = out * xp.reshape(weights, (-1, *(1,) * (table.ndim - 1)))
    return xp.reshape(out, (*indices.shape, *table.shape[1:]))


def _embedding_numpy(
    table: Any, indices: Any, *, padding: int | None, by_frequency: bool, weighted: bool, sparse: bool
) -> Any:
    if outside(indices, table.shape[0]) is not None:
        _refuse_index(int(indices.min()), int(indices.max()), table.shape[0])
    out = table.take(indices, 0)
    if weighted:
        flat = indices.reshape(-1)
        weights = _row_weights(flat, table.shape[0], padding, by_frequency, table.dtype)
        if weights is not None:
            out = out * weights.reshape(*indices.shape, *(1,) * (table.ndim - 1))
    return out


@widened
def _embedding_add_kernel(
    xp: Any, g: Any, indices: Any, *, shape: tuple[int, ...], padding: int | None, by_frequency: bool
) -> Any:
    flat = xp.reshape(astype(xp, indices, np.int64), (-1,))
    rows = xp.reshape(g, (flat.shape[0], *shape[1:]))
    weights = _standard_weights(xp, flat, shape[0], padding, by_frequency, g.dtype)
    if weights is not None:
        rows = rows * xp.reshape(weights, (-1, *(1,) * (len(shape) - 1)))
    return reduce_by_number(xp, add, rows, flat, shape[0], 0)


def _embedding_add_numpy(
    g: Any, indices: Any, *, shape: tuple[int, ...], padding: int | None, by_frequency: bool
) -> Any:
    flat = indices.reshape(-1).astype(np.intp, copy=False)
    rows = g.reshape(flat.size, math.prod(shape[1:]))
    plain = padding is None and not by_frequency
    weights = None if plain else _row_weights(flat, shape[0], padding, by_frequency, g.dtype)
    if weights is not None:
        rows = rows * weights[:, None]
    return add_rows(rows, flat, shape[0]).reshape(shape)


def _batch_embedding(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    """With a table of its own each entry's rows are counted apart in one long table."""
    (table, indices), (dt, di) = arrays, dims
    if dt is None and not params["weighted"]:
        return op(table, indices, **params), di
    return _stacked(op, arrays, dims, params)


def _batch_embedding_add(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    return _stacked(op, arrays, dims, params)


def _stacked(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    """One call on the trailing axes side by side where only the rows' content is batched, else a loop."""
    (x, indices), (dx, di) = arrays, dims
    if di is not None:
        return batch_loop(op, arrays, dims, params)
    size = batch_size(arrays, dims)
    x = materialise_batch(x, dx, size)
    lead = 1 if "shape" not in params else ndim_of(indices)
    order = (*range(1, lead + 1), 0, *range(lead + 1, ndim_of(x)))
    x = transpose(x, axes=order)
    given = dict(params)
    if "shape" in given:
        given["shape"] = (given["shape"][0], size, *given["shape"][1:])
        return op(x, indices, **given), 1
    return op(x, indices, **given), ndim_of(indices)


def _embedding_transpose(
    g: Any, x_: Any, indices: Any, *, padding: int | None, by_frequency: bool, weighted: bool, sparse: bool
) -> Any:
    shape = tuple(shape_of(x_))
    if not sparse or type(g) is not np.ndarray or type(x_) is not Accumulate:
        return embedding_add(g, indices, shape=shape, padding=padding, by_frequency=by_frequency)
    places, content = indices.reshape(1, -1).astype(np.int64, copy=False), g.reshape(indices.size, *shape[1:])
    if by_frequency:
        weights = _row_weights(places[0], shape[0], None, True, g.dtype)
        content = content * weights.reshape(-1, *(1,) * (len(shape) - 1))
    if padding is not None:
        kept = np.flatnonzero(places[0] != padding)
        places, content = places[:, kept], content[kept]
    return Scattered(places, content, shape)


def _infer_embedding(avals: Any, p: dict[str, Any]) -> Aval:
    table, indices = avals
    at_least(1, table)
    return Aval((*indices.shape, *table.shape[1:]), table.dtype)


def _infer_embedding_add(avals: Any, p: dict[str, Any]) -> Aval:
    g, indices = avals
    matching("the cotangent of the rows", g.shape, (*indices.shape, *p["shape"][1:]))
    return Aval(p["shape"], g.dtype)


# The rows of `table` that `indices` name. In the transpose the row `padding` gets nothing, and with `by_frequency` each
# occurrence is divided by how often its row occurs; `weighted` applies the same to the rows read. With `sparse` a leaf
# gets the rows of its gradient as they are, beside their numbers.
_embedding = linear(
    "embedding", kernel=_embedding_kernel, numpy=_embedding_numpy, others=1, transpose=_embedding_transpose,
    batch=_batch_embedding,
    infer=_infer_embedding,
    samples=lambda: [
        sample(normal(4, 2), np.array([[1, 3], [1, 0]]), padding=None, by_frequency=False, weighted=False, sparse=False),
        sample(normal(4, 2), np.array([1, 1, 2]), padding=2, by_frequency=True, weighted=True, sparse=False)],
)  # fmt: skip


def embedding(
    table: Any, indices: Any, *, padding: int | None, by_frequency: bool, weighted: bool, sparse: bool = False
) -> Any:
    """The rows of `table` that `indices` name; see the primitive above for what the options say."""
    return _embedding(table, indices, padding=padding, by_frequency=by_frequency, weighted=weighted, sparse=sparse)


# The transpose.
embedding_add = linear(
    "embedding_add", kernel=_embedding_add_kernel, numpy=_embedding_add_numpy, others=1,
    transpose=lambda g, _x, indices, *, shape, padding, by_frequency: embedding(
        g, indices, padding=padding, by_frequency=by_frequency, weighted=True),
    batch=_batch_embedding_add, infer=_infer_embedding_add,
    samples=lambda: [
        sample(normal(3, 2), np.array([1, 1, 2]), shape=(4, 2), padding=2, by_frequency=True),
        sample(normal(2, 2, 2), np.array([[1, 3], [1, 0]]), shape=(4, 2), padding=None, by_frequency=False)],
)  # fmt: skip
