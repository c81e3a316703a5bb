"""Scaled dot-product attention as one operation: softmax(scale q kᵀ + mask) v.

Its weights, one for each pair of a target and a source, are never kept. They are computed for a few matrices at a time, or for
some rows of one, and once more on the way back, for which q, k, v and the mask are all that is remembered. Without a mask, or
where no target looks at a later source, generated code does all of it in one pass.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..backend.dtypes import device_in, is_boolean
from ..backend.jit import attention as blocks
from ..backend.jit import rows as generated
from ..core.arrays import from_host
from ..core.aval import Aval
from ..core.number import made_of_sizes
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from .comparison import equal
from .contraction import matmul, matrix_transpose
from .elementwise import add
from .kernels import widened, widened_numpy
from .reduction import all as reduce_all
from .rules import batch_empty, batch_size, materialise_batch, move_batch, sum_tangents
from .samples import normal, sample
from .selection import drop, where
from .shapes import demand
from .softmax import softmax, softmax_pullback
from .structural import reshape

_INF = math.inf

BUDGET = 4 << 20
"""Bytes of weights that are computed at a time: enough for all cores, and little beside the operands."""

_FEW = 1 << 13
"""Weights up to which calls are most of what they cost: generated code takes them, without the operation and its checks."""

# ------------------------------------------------------------------------------------------ in the standard


@widened
def _kernel(xp: Any, q: Any, k: Any, v: Any, mask: Any, *, scale: float, causal: bool) -> Any:
    if causal:
        mask = xp.tril(xp.ones((q.shape[-2], k.shape[-2]), dtype=xp.bool, device=device_in(q)))
    scores = xp.matmul(q * scale, xp.matrix_transpose(k))
    if not k.shape[-2]:
        return xp.matmul(scores, v)
    empty = None
    if mask is not None:
        low = xp.asarray(-_INF, dtype=scores.dtype, device=device_in(scores))
        scores = xp.where(mask, scores, low) if is_boolean(mask) else scores + mask
        empty = xp.all(scores == low, axis=-1, keepdims=True)
        scores = xp.where(empty, xp.zeros_like(scores), scores)
    weights = xp.exp(scores - xp.max(scores, axis=-1, keepdims=True))
    weights = weights / xp.sum(weights, axis=-1, keepdims=True, dtype=weights.dtype)
    return xp.matmul(weights if empty is None else xp.where(empty, xp.zeros_like(weights), weights), v)


# ------------------------------------------------------------------------------------------ by NumPy


def causal_mask(targets: int, sources: int, dtype: np.dtype) -> np.ndarray:
    """What is added to the scores where a target looks at the sources not after it: 0, or -inf. Not to be written."""
    make = _kept_mask if targets * sources <= _KEPT else _made_mask
    return made_of_sizes(make, (targets, sources), dtype, targets, sources, dtype)


def _made_mask(targets: int, sources: int, dtype: np.dtype) -> np.ndarray:
    mask = np.where(np.tri(targets, sources, dtype=bool), np.zeros((), dtype), np.full((), -_INF, dtype))
    mask.flags.writeable = False
    return mask


_KEPT = 1 << 12
"""Scores up to which the mask is kept: making it takes 10 µs."""

_kept_mask = functools.lru_cache(64)(_made_mask)


def _weights_array(q: Any, k: Any, mask: Any, scale: float) -> Any:
    """The weights, a new array; rows that are masked entirely are 0."""
    scores = np.matmul(q * q.dtype.type(scale), k.swapaxes(-1, -2))
    axis = scores.ndim - 1
    if mask is not None and scores.size:
        scores += np.where(mask, q.dtype.type(0), q.dtype.type(-_INF)) if mask.dtype.kind == "b" else mask
    if 0 < scores.size <= _FEW:
        found = generated.softmax(scores, 1)
        if found is not None and (mask is None or np.maximum.reduce(found, None) <= 1):
            return found  # in which is no nan
    if mask is None or not scores.size:
        return softmax(scores, axis=axis)
    with np.errstate(invalid="ignore"):  # the softmax of a row of -inf is nan
        weights = softmax(scores, axis=axis)
    first = weights[..., 0]
    if not np.isfinite(first).all():
        rows = np.nonzero(first != first)
        empty = (scores[rows] == -_INF).all(-1)
        weights[tuple(places[empty] for places in rows)] = 0
    return weights


def _pulled_block(needs: Any, g: Any, q: Any, k: Any, v: Any, mask: Any, scale: float) -> list[Any]:
    """The cotangents of q, k, v and the scores that are wanted."""
    weights = _weights_array(q, k, mask, scale)
    dv = np.matmul(weights.swapaxes(-1, -2), g) if needs[2] else None
    if not (needs[0] or needs[1] or needs[3]):
        return [None, None, dv, None]
    scores = np.matmul(g, v.swapaxes(-1, -2))
    pulled = generated.softmax_pull(scores, weights, 1) if 0 < scores.size <= _FEW else None
    scores = softmax_pullback(scores, weights, axis=weights.ndim - 1) if pulled is None else pulled
    del weights
    factor = q.dtype.type(scale)
    dq = dk = None
    if needs[0]:
        dq = np.matmul(scores, k)
        dq *= factor
    if needs[1]:
        dk = np.matmul(scores.swapaxes(-1, -2), q)
        dk *= factor
    return [dq, dk, dv, scores if needs[3] else None]


def _at_once(q: Any, k: Any) -> bool:
    """Whether all weights are computed at once."""
    return bool(math.prod(q.shape[:-1]) * k.shape[-2] * q.itemsize <= BUDGET)


class _Blocks:
    """The operands as (first, others, ...), and the blocks of them of which the weights are computed at a time."""

    def __init__(self, q: Any, k: Any, v: Any, mask: Any) -> None:
        lead = q.shape[:-2]
        first, others = (lead[0] if lead else 1), math.prod(lead[1:])
        self.q, self.k, self.v = (x.reshape(first, others, *x.shape[-2:]) for x in (q, k, v))
        self.lead, self.targets, self.sources = (first, others), q.shape[-2], k.shape[-2]
        self.mask = None
        if mask is not None:
            own = mask.shape[-2:]
            if len(lead) > 2 and mask.ndim > 2:
                mask = np.broadcast_to(mask, (*lead, *own)).reshape(first, others, *own)
            in_front = (1, *mask.shape[:-2])[-2:] if len(lead) > 1 else (*mask.shape[:-2], 1)[:2]
            self.mask = mask.reshape((1,) * (2 - len(in_front)) + in_front + own)

    def __iter__(self) -> Iterator[tuple[slice, slice, slice]]:
        (first, others), targets = self.lead, self.targets
        rows = max(1, BUDGET // (self.sources * self.q.itemsize))  # of weights
        if rows >= others * targets:
            step = rows // (others * targets), others, targets
        else:
            step = (1, rows // targets, targets) if rows >= targets else (1, 1, rows)
        for a in range(0, first, step[0]):
            for b in range(0, others, step[1]):
                for row in range(0, targets, step[2]):
                    yield slice(a, a + step[0]), slice(b, b + step[1]), slice(row, row + step[2])

    def of_mask(self, block: tuple[slice, slice, slice]) -> tuple[slice, ...]:
        """Where the mask meets a block."""
        assert self.mask is not None
        return tuple(slice(None) if n == 1 else part for n, part in zip(self.mask.shape, block))

    def operands(self, block: tuple[slice, slice, slice]) -> tuple[Any, Any, Any, Any]:
        """q, k, v and the mask of a block."""
        mask = None if self.mask is None else self.mask[self.of_mask(block)]
        return self.q[block], self.k[block[:2]], self.v[block[:2]], mask


@widened_numpy
def _numpy(q: Any, k: Any, v: Any, mask: Any, *, scale: float, causal: bool) -> Any:
    if mask is None:
        found = blocks.attended(q, k, v, scale, causal)
        if found is not None:
            return found
    if causal:
        mask = causal_mask(q.shape[-2], k.shape[-2], q.dtype)
    if _at_once(q, k):
        return np.matmul(_weights_array(q, k, mask, scale), v)
    parts = _Blocks(q, k, v, mask)
    out = np.empty((*parts.lead, parts.targets, v.shape[-1]), q.dtype)
    for block in parts:
        q_, k_, v_, mask_ = parts.operands(block)
        np.matmul(_weights_array(q_, k_, mask_, scale), v_, out=out[block])
    return out.reshape(*q.shape[:-1], v.shape[-1])


def _pulled_arrays(needs: Any, g: Any, q: Any, k: Any, v: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The cotangents of q, k, v and the mask that are wanted; the mask's as large as the scores, or as the mask."""
    dtype = q.dtype
    if dtype.itemsize == 2:
        wide = (x if x is None or x.dtype != dtype else x.astype(np.float32) for x in (g, q, k, v, mask))
        found = _pulled_arrays(needs, *wide, scale, causal)  # type: ignore[call-arg]
        return tuple(x if x is None else x.astype(dtype) for x in found)
    if mask is None:
        found = blocks.pulled(g, q, k, v, scale, causal)
        if found is not None:
            return *(x if need else None for x, need in zip(found, needs)), None
    if causal:
        mask = causal_mask(q.shape[-2], k.shape[-2], dtype)
    if _at_once(q, k):
        return tuple(_pulled_block(needs, g, q, k, v, mask, scale))
    parts = _Blocks(q, k, v, mask)
    g = g.reshape(*parts.lead, *g.shape[-2:])
    dq, dk, dv = (np.zeros(x.shape, dtype) if need else None for x, need in zip((parts.q, parts.k, parts.v), needs))
    dmask = None if parts.mask is None or not needs[3] else np.zeros(parts.mask.shape, parts.mask.dtype)
    for block in parts:
        pulled = _pulled_block(needs, g[block], *parts.operands(block), scale)
        for total, part, place in ((dq, pulled[0], block), (dk, pulled[1], block[:2]), (dv, pulled[2], block[:2])):
            if total is not None:
                total[place] += part
        if dmask is not None:
            alone = tuple(i for i, n in enumerate(dmask.shape) if n == 1)
            dmask[parts.of_mask(block)] += pulled[3].sum(alone, keepdims=True)
    found = [x if x is None else x.reshape(y.shape) for x, y in zip((dq, dk, dv), (q, k, v))]
    if dmask is None:
        return *found, None
    return *found, dmask.reshape(mask.shape if dmask.size == mask.size else (*q.shape[:-2], *dmask.shape[-2:]))


# ------------------------------------------------------------------------------------------ its rules, as other operations


def _weights(q: Any, k: Any, mask: Any, scale: float, causal: bool) -> Any:
    """The weights; rows that are masked entirely are 0."""
    scores = matmul(q * scale, matrix_transpose(k))
    axis = ndim_of(scores) - 1
    if causal:
        targets, sources = tuple(shape_of(scores))[-2:]
        mask = from_host(causal_mask(targets, sources, dtype_of(scores)), scores)
        return softmax(add(scores, mask), axis=axis)
    if mask is None or not shape_of(k)[-2]:
        return softmax(scores, axis=axis)
    if dtype_of(mask).kind == "b":
        mask = where(mask, np.zeros((), dtype_of(scores)), np.full((), -_INF, dtype_of(scores)))
    scores = add(scores, mask)
    empty = reduce_all(equal(scores, -_INF), axis=(axis,), keepdims=True)
    return drop(softmax(drop(scores, empty), axis=axis), empty)


def _vjp(needs: Any, g: Any, _out: Any, q: Any, k: Any, v: Any, mask: Any, *, scale: float, causal: bool) -> Any:
    if all(x is None or type(x) is np.ndarray for x in (g, q, k, v, mask)):
        return _pulled_arrays(needs, g, q, k, v, mask, scale, causal)
    weights = _weights(q, k, mask, scale, causal)
    dv = matmul(matrix_transpose(weights), g) if needs[2] else None
    if not (needs[0] or needs[1] or needs[3]):
        return None, None, dv, None
    scores = softmax_pullback(matmul(g, matrix_transpose(v)), weights, axis=ndim_of(weights) - 1)
    return (
        matmul(scores, k) * scale if needs[0] else None,
        matmul(matrix_transpose(scores), q) * scale if needs[1] else None,
        dv,
        scores if needs[3] else None,  # the engine adds up what was broadcast
    )


def _jvp(tangents: Any, out: Any, q: Any, k: Any, v: Any, mask: Any, *, scale: float, causal: bool) -> Any:
    dq, dk, dv, dmask = tangents
    weights = _weights(q, k, mask, scale, causal)
    moved = sum_tangents([
        None if dq is None else matmul(dq, matrix_transpose(k)) * scale,
        None if dk is None else matmul(q, matrix_transpose(dk)) * scale,
    ])  # fmt: skip
    if dmask is not None:
        moved = weights * 0 + dmask if moved is None else moved + dmask
    return sum_tangents([
        None if moved is None else matmul(softmax_pullback(moved, weights, axis=ndim_of(weights) - 1), v),
        None if dv is None else matmul(weights, dv),
    ])  # fmt: skip


def _batch(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    size = batch_size(arrays, dims)
    if not size:
        return batch_empty(op, arrays, dims, params)
    q, k, v = (materialise_batch(x, d, size) for x, d in zip(arrays[:3], dims[:3]))
    mask = arrays[3]
    if mask is not None and dims[3] is not None:
        mask = move_batch(mask, dims[3])
        shape = tuple(shape_of(mask))
        mask = reshape(mask, shape=(size, *(1,) * (ndim_of(q) - len(shape)), *shape[1:]))
    return op(q, k, v, mask, **params), 0


def _infer(avals: Any, params: dict[str, Any]) -> Aval:
    q, k, v, mask = avals
    demand(min(len(x.shape) for x in (q, k, v)) > 1, f"matrices are wanted, got {q.shape}, {k.shape} and {v.shape}")
    demand(q.shape[:-2] == k.shape[:-2] == v.shape[:-2], f"as many of each are wanted, got {q.shape}, {k.shape}, {v.shape}")
    demand(q.shape[-1] == k.shape[-1] and k.shape[-2] == v.shape[-2], f"{q.shape}, {k.shape} and {v.shape} do not fit")
    weights = (*q.shape[:-1], k.shape[-2])
    if mask is not None:
        demand(len(mask.shape) > 1 and np.broadcast_shapes(mask.shape, weights) == weights, f"{mask.shape} masks {weights}")
    return Aval((*q.shape[:-1], v.shape[-1]), q.dtype)


def _samples() -> Any:
    yield sample(normal(2, 3), normal(4, 3, seed=1), normal(4, 2, seed=2), None, scale=0.5, causal=False)
    two = normal(2, 2, 3), normal(2, 2, 3, seed=1), normal(2, 2, 1, seed=2)
    yield sample(*two, normal(2, 2, seed=3), scale=-0.3, causal=False)
    three = normal(2, 1, 2, 2), normal(2, 1, 3, 2, seed=1), normal(2, 1, 3, 2, seed=2)
    yield sample(*three, np.array([[True, False, True], [False, False, False]]), scale=1.0, causal=False)
    yield sample(*three, normal(2, 1, 1, 3, seed=3), scale=0.7, causal=False)
    yield sample(*three, None, scale=0.7, causal=True)
    more = [normal(2, 1, 2, *end, seed=i) for i, end in enumerate(((2, 1), (2, 1), (2, 2)))]
    yield sample(*more, normal(1, 2, 1, 2, seed=4), scale=0.7, causal=False)


# For q (..., L, E), k (..., S, E) and v (..., S, Ev) with the same axes in front. mask: numbers that are added, or booleans
# (True: takes part), with two axes or more, which broadcast to (..., L, S). A row that is masked entirely gives zeros. causal: no
# target looks at a source after it; then there is no mask.
attention = primitive(
    "attention", kernel=_kernel, numpy=_numpy, vjp=_vjp, jvp=_jvp, batch=_batch, infer=_infer, samples=_samples, kind="composite",
)  # fmt: skip
