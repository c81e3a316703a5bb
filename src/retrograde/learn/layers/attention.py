"""Scaled dot-product attention, and its form with several heads (Vaswani et al. 2017)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._errors import ShapeError
from ...core.value import dtype_of, error_type, result_class, shape_of
from ...ops.attention import attention, causal_mask
from ...ops.comparison import equal
from ...ops.contraction import affine, matmul, matrix_transpose, project
from ...ops.elementwise import add, multiply
from ...ops.reduction import all as reduce_all
from ...ops.selection import drop, where
from ...ops.softmax import softmax
from ...ops.structural import broadcast_to, cast, reshape, transpose

_INF = math.inf


def additive(mask: Any, dtype: np.dtype) -> Any:
    """A boolean mask (True: takes part) as what is added to the scores: 0, or -inf."""
    return where(mask, np.zeros((), dtype), np.full((), -_INF, dtype))


def attend(
    q: Any, k: Any, v: Any, mask: Any = None, *, is_causal: bool = False, scale: float | None = None,
    drop_weights: Callable[[Any], Any] | None = None,
) -> tuple[Any, Any]:  # fmt: skip
    """softmax(q kᵀ scale + mask) v for (..., L, E), (..., S, E) and (..., S, Ev), and the weights.

    mask: numbers that are added, or booleans (True: takes part); a row that is masked entirely gives zeros. is_causal: the
    mask that leaves each target the sources not after it. scale is 1/sqrt(E) unless given. drop_weights: applied to the
    weights (dropout).
    """
    factor = 1.0 / math.sqrt(shape_of(q)[-1] or 1) if scale is None else scale  # of width 0 there is nothing to scale
    dtype = dtype_of(q)
    k = matrix_transpose(k)
    if dtype.itemsize == 2:  # both factors get the root, so that neither overflows in half precision
        root = math.sqrt(abs(factor))
        factor, k = math.copysign(root, factor), multiply(k, np.array(root, dtype))
    scores = matmul(multiply(q, np.array(factor, dtype)), k)
    empty = None
    if is_causal:  # the first source is there for all of them: no row is empty
        length, sources = shape_of(scores)[-2:]
        scores = add(scores, causal_mask(length, sources, dtype_of(scores)))
    elif mask is not None:
        if dtype_of(mask).kind == "b":
            mask = additive(mask, dtype_of(scores))
        scores = add(scores, mask)
        last = len(shape_of(scores)) - 1
        empty = reduce_all(equal(scores, -_INF), axis=(last,), keepdims=True)
        # The softmax of a row of -inf is nan, and so is its gradient.
        scores = drop(scores, empty)
    weights = softmax(scores, axis=len(shape_of(scores)) - 1)
    if empty is not None:
        weights = drop(weights, empty)
    if drop_weights is not None:
        weights = drop_weights(weights)
    return matmul(weights, v), weights


def attended(
    q: Any, k: Any, v: Any, mask: Any = None, *, is_causal: bool = False, scale: float | None = None,
    drop_weights: Callable[[Any], Any] | None = None,
) -> Any:  # fmt: skip
    """What `attend` gives, without the weights, which are then not kept anywhere unless some of them are dropped."""
    if drop_weights is not None or dtype_of(q).kind == "c":
        return attend(q, k, v, mask, is_causal=is_causal, scale=scale, drop_weights=drop_weights)[0]
    shapes = [tuple(shape_of(x)) for x in (q, k, v)]
    lead = shapes[0][:-2]
    if not lead == shapes[1][:-2] == shapes[2][:-2]:
        lead = np.broadcast_shapes(*(s[:-2] for s in shapes))
        q, k, v = (
            x if s[:-2] == lead else broadcast_to(x, shape=(*lead, *s[-2:])) for x, s in zip((q, k, v), shapes)
        )  # fmt: skip
    dtype, weights = dtype_of(q), (*lead, shapes[0][-2], shapes[1][-2])
    if is_causal:
        mask = None
    elif mask is not None:
        own = tuple(shape_of(mask))
        try:
            common = np.broadcast_shapes(own, weights)
        except ValueError:
            raise error_type(result_class((q, k, v)), ShapeError)(
                f"attention: a mask of shape {list(own)} does not broadcast to the scores, of shape {list(weights)}: a row "
                "for each query and a column for each key"
            ) from None
        if common != weights:  # the mask has more axes than the scores
            return attend(q, k, v, mask, scale=scale)[0]
        if len(own) < 2:
            mask = reshape(mask, shape=(1,) * (2 - len(own)) + own)
        if dtype_of(mask).kind != "b" and dtype_of(mask) != dtype:
            mask = cast(mask, dtype=dtype)
    factor = 1.0 / math.sqrt(shapes[0][-1] or 1) if scale is None else float(scale)
    return attention(q, k, v, mask, scale=factor, causal=is_causal)


def split_heads(x: Any, heads: int) -> Any:
    """(batch, length, heads * size) as (batch, heads, length, size)."""
    batch, length, width = shape_of(x)
    return transpose(reshape(x, shape=(batch, length, heads, width // heads)), axes=(0, 2, 1, 3))


def merge_heads(x: Any) -> Any:
    """(batch, heads, length, size) as (batch, length, heads * size)."""
    batch, heads, length, size = shape_of(x)
    return reshape(transpose(x, axes=(0, 2, 1, 3)), shape=(batch, length, heads * size))


def self_attention(x: Any, heads: int, w: Any, b: Any, w_out: Any, b_out: Any) -> Any:
    """Attention of several heads of x (length, batch, E) to itself, between projections: in by the rows of one weight
    (3 E, E), for query, key and value, out by (E, E); the biases may be None.

    Of arrays as of values; of arrays nothing is recorded, and no views are made of anything.
    """
    length, batch, width = shape_of(x)
    packed = reshape(_projected(x, w, b), shape=(length, batch, 3, heads, width // heads))
    q, k, v = transpose(packed, axes=(2, 1, 3, 0, 4))
    merged = transpose(attended(q, k, v), axes=(2, 0, 1, 3))
    return reshape(
        _projected(reshape(merged, shape=(length * batch, width)), w_out, b_out), shape=(length, batch, width)
    )  # fmt: skip


def _projected(x: Any, w: Any, b: Any) -> Any:
    return project(x, w) if b is None else affine(x, w, b)


def multi_head(
    q: Any, k: Any, v: Any, heads: int, mask: Any = None, *, drop_weights: Callable[[Any], Any] | None = None
) -> tuple[Any, Any]:
    """Attention of several heads between (batch, L, E), (batch, S, E) and (batch, S, Ev), projected already.

    Returns (batch, L, Ev) and the weights (batch, heads, L, S), to which the mask broadcasts.
    """
    q, k, v = (split_heads(x, heads) for x in (q, k, v))
    out, weights = attend(q, k, v, mask, drop_weights=drop_weights)
    return merge_heads(out), weights
