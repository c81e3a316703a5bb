"""Attention of queries to keys and values as one operation: softmax(q kᵀ scale + mask) v, and its weights.

A node instead of six keeps the operands and the weights, and no scaled copies of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import ndim_of, shape_of
from .contraction import infer_matmul, matmul, matrix_transpose
from .kernels import scalar, widened, widened_numpy
from .rules import batch_size, from_vjp, materialise_batch, move_batch
from .samples import normal, sample
from .shapes import at_least, demand
from .softmax import softmax, softmax_pullback
from .structural import reshape, sum_to_shape

_SOFTMAX = softmax.prim


@widened
def _attention_kernel(xp: Any, q: Any, k: Any, v: Any, mask: Any, *, scale: float) -> Any:
    scores = xp.matmul(q * scalar(scale, q), xp.matrix_transpose(k))
    if mask is not None:
        scores = scores + xp.broadcast_to(mask, scores.shape)
    weights = _SOFTMAX.kernel(xp, scores, axis=scores.ndim - 1)
    return xp.matmul(weights, v), weights


@widened_numpy
def _attention_numpy(q: Any, k: Any, v: Any, mask: Any, *, scale: float) -> Any:
    scores = np.matmul(q * scalar(scale, q), k.swapaxes(-1, -2))
    if mask is not None:
        scores += mask
    weights = _SOFTMAX.numpy_kernel(scores, axis=scores.ndim - 1)
    return np.matmul(weights, v), weights


def _attention_pull(needs: Any, g: Any, outs: Any, q: Any, k: Any, v: Any, mask_: Any, *, scale: float) -> Any:
    (g_out, slopes), weights = g, outs[1]
    dq = dk = dv = dm = None
    if g_out is not None:
        if needs[2]:
            dv = matmul(matrix_transpose(weights), g_out)
        through = matmul(g_out, matrix_transpose(v))
        slopes = through if slopes is None else slopes + through
    if needs[0] or needs[1] or needs[3]:
        scores = softmax_pullback(slopes, weights, axis=ndim_of(weights) - 1)
        if needs[0]:
            dq = matmul(scores, k) * scalar(scale, k)
        if needs[1]:
            dk = matmul(matrix_transpose(scores), q) * scalar(scale, q)
        if needs[3]:
            dm = sum_to_shape(scores, tuple(shape_of(mask_)))
    return dq, dk, dv, dm


def _batch_attention(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    size, mask = batch_size(arrays, dims), arrays[3]
    q, k, v = (materialise_batch(x, d, size) for x, d in zip(arrays[:3], dims))
    if mask is not None and dims[3] is not None:
        mask = move_batch(mask, dims[3])
        lead, *own = shape_of(mask)
        mask = reshape(mask, shape=(lead, *(1,) * (max(map(ndim_of, (q, k))) - 1 - len(own)), *own))
    return op(q, k, v, mask, **params), (0, 0)


def _infer_attention(avals: Any, params: dict[str, Any]) -> tuple[Aval, Aval]:
    q, k, v, mask = avals
    at_least(2, q, k, v)
    scores = infer_matmul([q, Aval((*k.shape[:-2], k.shape[-1], k.shape[-2]), k.dtype)], {})
    if mask is not None:
        fits = np.broadcast_shapes(mask.shape, scores.shape) == tuple(scores.shape)
        demand(fits, f"attention: a mask of shape {tuple(mask.shape)} beside scores of shape {tuple(scores.shape)}")
    return infer_matmul([scores, v], {}), scores


def _samples() -> Any:
    yield sample(normal(3, 2), normal(4, 2, seed=1), normal(4, 3, seed=2), None, scale=0.7)
    yield sample(normal(2, 2, 3), normal(2, 3, 3, seed=1), normal(2, 3, 2, seed=2), normal(2, 3, seed=3), scale=-0.5)


# The result and the weights, for q (.., L, E), k (.., S, E), v (.., S, W) and numbers that are added to the scores, if any.
attention = primitive(
    "attention", kernel=_attention_kernel, numpy=_attention_numpy, vjp=_attention_pull, jvp=from_vjp, multi=True,
    used_outs=(False, True), batch=_batch_attention, infer=_infer_attention, samples=_samples, kind="composite",
)  # fmt: skip
