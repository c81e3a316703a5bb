"""Affine maps, embeddings, one-hot rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._state import OBSERVERS
from ...core.value import dtype_of, shape_of
from ...ops import comparison as cp
from ...ops import contraction as ct
from ...ops import structural as st
from ...ops.scatter_reduce import embedding as embedding_rows
from .._shared.axes import axis_of, integer
from ._api import api
from ._arguments import ranked
from ._arithmetic import matmul
from ._gather import positions, where
from ._matmul import transposed
from ._promote import same_dtype, tensor_argument
from ._tensor import from_array


@api(method=False)
def dense(input: Any, weight: Any, bias: Any = None) -> Any:
    """input @ weight.T + bias."""
    x, w = tensor_argument("dense", input), tensor_argument("dense", weight, "weight")
    same_dtype("dense", x, w)
    if not x.ndim or w.ndim not in (1, 2) or x.shape[-1] != w.shape[-1]:
        raise ValueError(f"dense: the last axis of {x.shape} must be that of the weight, {w.shape}")
    if w.ndim == 1:
        out = matmul(x, w)
    elif bias is not None and dtype_of(w) == dtype_of(bias) and x.ndim > 1:
        return ct.affine(x, w, bias)
    else:
        out = ct.project(x, w) if x.ndim > 1 else matmul(x, transposed(w))
    return out if bias is None else out + tensor_argument("dense", bias, "bias")


@api(method=False)
def bias_add(input_x: Any, bias: Any) -> Any:
    """A vector added along the second axis."""
    x, b = tensor_argument("bias_add", input_x, "input_x"), ranked("bias_add", bias, 1, "bias")
    same_dtype("bias_add", x, b)
    if x.ndim < 2 or x.shape[1] != b.shape[0]:
        raise ValueError(f"bias_add: a bias of length {b.shape[0]} does not fit the second axis of {x.shape}")
    return x + st.reshape(b, shape=(b.shape[0], *(1,) * (x.ndim - 2)))


@api(method=False)
def embedding(input: Any, weight: Any, padding_idx: Any = None, max_norm: Any = None, norm_type: float = 2.0,
              scale_grad_by_freq: bool = False) -> Any:  # fmt: skip
    """The rows of a table at integer positions; that at padding_idx gets no gradient."""
    from ...learn.layers.embedding import renormalise

    at, table = tensor_argument("embedding", input), tensor_argument("embedding", weight, "weight")
    if dtype_of(at).kind not in "iu":
        raise TypeError(f"embedding: input must be an integer Tensor, got {at.dtype}; convert it with .astype(ms.int32)")
    if padding_idx is not None:
        padding_idx = axis_of("embedding", padding_idx, table.shape[0], "padding_idx")
    if max_norm is not None:
        renormalise("embedding", table, at._a, float(max_norm), float(norm_type))
    return embedding_rows(table, at, padding=padding_idx, by_frequency=bool(scale_grad_by_freq), weighted=False)


def embedding_lookup(input_params: Any, input_indices: Any, offset: int) -> Any:
    """The rows at positions less an offset; 0 for those outside of the table."""
    table, at = tensor_argument("EmbeddingLookup", input_params), tensor_argument("EmbeddingLookup", input_indices)
    places = np.asarray(at._concrete("EmbeddingLookup")) - offset
    inside = (places >= 0) & (places < table.shape[0])
    rows = embedding_rows(table, from_array(np.where(inside, places, 0)), padding=None, by_frequency=False,
                          weighted=False)  # fmt: skip
    return rows if inside.all() else rows * from_array(
        np.broadcast_to(inside[..., None], rows.shape).astype(dtype_of(rows)))  # fmt: skip


@api(method=False)
def bidense(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """input1 @ weight[o] @ input2 for every output o, plus a bias."""
    from ._matmul import einsum

    out = einsum("...i,oij,...j->...o", input1, weight, input2)
    return out if bias is None else out + bias


@api(method=False)
def one_hot(indices: Any, depth: Any, on_value: Any = 1, off_value: Any = 0, axis: int = -1) -> Any:
    """For each position a vector of `off_value` with `on_value` there, along a new axis."""
    at = positions("one_hot", indices)
    n = integer("one_hot", "depth", depth)
    if n < 0:
        raise ValueError(f"one_hot: depth must not be negative, got {n}")
    i = axis_of("one_hot", axis, at.ndim + 1)
    places = np.expand_dims(np.asarray(at._concrete("one_hot")), i)
    if OBSERVERS:  # who looks sees which labels they are made of
        shape = tuple(shape_of(at))
        numbers = st.reshape(from_array(np.arange(n)), shape=tuple(n if a == i else 1 for a in range(at.ndim + 1)))
        return where(cp.equal(st.reshape(at, shape=(*shape[:i], 1, *shape[i:])), numbers), on_value, off_value)
    chosen = places == np.arange(n).reshape([-1 if a == i else 1 for a in range(at.ndim + 1)])
    return where(from_array(chosen), on_value, off_value)
