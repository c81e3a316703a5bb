"""Affine maps, embeddings, one-hot rows."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from ....._state import OBSERVERS, state
from .....core.arrays import on_host
from .....core.unwrap import concrete
from .....core.value import Value, dtype_of, shape_of
from .....learn.layers.embedding import one_hot_rows, renormalise
from .....ops import comparison as cp
from .....ops import contraction as ct
from .....ops import indexing as ix
from .....ops import loss_classes as lc
from .....ops import reduction as rd
from .....ops import scatter_reduce as sr
from .....ops import selection as sel
from .....ops import structural as st
from .....ops.sorting import pick
from ... import _matmul
from ..._api import api
from ..._dtype import FROM_NUMPY
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES, show_as
from ..._indexing import INDEX_DTYPES, same_device
from ..._matmul import bilinear
from ..._size import only_on_cpu
from ..._tensor import Tensor, beside, from_array

__all__ = ["bilinear", "embedding", "embedding_bag", "linear", "one_hot"]

_ndarray = np.ndarray
_affine = ct.affine.prim.bind
_project = ct.project.prim.bind

NAMES.update(embedding="EmbeddingBackward0")


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """`x Wᵀ + b`: (..., in) with a weight (out, in) and a bias (out,) gives (..., out)."""
    try:
        x, w = input._a, weight._a
        b = None if bias is None else bias._a
    except AttributeError:
        got = ", ".join(type(y).__name__ for y in (input, weight, bias))
        raise TypeError(f"linear: input, weight and bias (unless it is None) must be tensors, got {got}") from None
    if type(x) is _ndarray and type(w) is _ndarray and w.ndim == 2 and x.ndim and x.shape[-1] == w.shape[1] and (
        x.dtype is w.dtype):  # fmt: skip
        if bias is None:
            return _project(input, weight)
        if type(b) is _ndarray and b.shape == w.shape[:1] and b.dtype is w.dtype:
            return _affine(input, weight, bias)
    return _linear(input, weight, bias)


def _linear(input: Any, weight: Any, bias: Any) -> Any:
    """`linear` inside transforms, and where the arguments are unusual or wrong."""
    given = (input, weight) if bias is None else (input, weight, bias)
    for x in given:
        if not isinstance(x, Value):
            raise TypeError(f"linear: wanted tensors, got {type(x).__name__}")
        if dtype_of(x) != dtype_of(input):
            raise RuntimeError(
                "linear: input, weight and bias must have one dtype, got "
                + ", ".join(str(FROM_NUMPY[dtype_of(y)]) for y in given) + "; convert the input with to()"
            )
    have, shape = tuple(shape_of(input)), tuple(shape_of(weight))
    if len(shape) not in (1, 2) or not have or have[-1] != shape[-1]:
        raise RuntimeError(
            f"linear: an input of shape {list(have)} does not fit a weight of shape {list(shape)}, whose last size must be "
            f"the input's: {have[-1] if have else 'it has none'} (a layer's in_features)"
        )
    if len(shape) == 1:
        out = _matmul.matmul(input, weight)
        return out if bias is None else out + bias
    if bias is None:
        return _project(input, weight)
    if tuple(shape_of(bias)) == shape[:1]:
        return _affine(input, weight, bias)
    wide = (*have[:-1], shape[0])
    try:
        fits = np.broadcast_shapes(tuple(shape_of(bias)), wide) == wide
    except ValueError:
        fits = False
    if not fits:
        raise RuntimeError(f"linear: a bias of shape {list(shape_of(bias))} does not fit {shape[0]} outputs")
    return _project(input, weight) + bias


# ------------------------------------------------------------------------------------------ embeddings


def _indices(op: str, x: Any) -> Any:
    if not isinstance(x, Value):
        raise TypeError(f"{op}: the indices must be a tensor, got {type(x).__name__}")
    if dtype_of(x) not in INDEX_DTYPES:
        raise RuntimeError(
            f"{op}: the indices must have dtype int64 or int32, got {FROM_NUMPY[dtype_of(x)]}; convert them with .long()"
        )
    return x._a if x._level == 0 and type(x._a) is _ndarray else x


def _padding(op: str, padding_idx: Any, n: int) -> int | None:
    if padding_idx is None:
        return None
    if not -n <= padding_idx < n:
        raise AssertionError(f"{op}: padding_idx {padding_idx} lies outside of the {n} rows")
    return padding_idx + n if padding_idx < 0 else padding_idx


def embedding(
    input: Tensor, weight: Tensor, padding_idx: int | None = None, max_norm: float | None = None,
    norm_type: float = 2.0, scale_grad_by_freq: bool = False, sparse: bool = False,
) -> Tensor:  # fmt: skip
    """The rows of `weight` (n, d) that the integers `input` (any shape) name: shape (*input.shape, d).

    The row `padding_idx` gets no gradient. With `sparse` the gradient of a weight that is a leaf is a sparse tensor (it is
    dense where it is recorded itself, and in transforms). Raises IndexError for an index out of range.
    """
    given = _indices("embedding", input)
    same_device("embedding", weight, input)
    if sparse:
        only_on_cpu("embedding(sparse=True)", weight.device)
    shape = shape_of(weight)
    if len(shape) != 2:
        raise RuntimeError(f"embedding: the weight must be a matrix, got shape {list(shape)}")
    padding = _padding("embedding", padding_idx, shape[0])
    if max_norm is not None:
        renormalise("embedding", weight, given, max_norm, norm_type)
    return sr.embedding(
        weight, given, padding=padding, by_frequency=bool(scale_grad_by_freq), weighted=False,
        sparse=bool(sparse) and not state.levels,
    )  # fmt: skip


@api("embedding", method=False)
def _embedding_function(
    weight: Tensor, indices: Tensor, padding_idx: int = -1, scale_grad_by_freq: bool = False, sparse: bool = False
) -> Tensor:
    """The rows of `weight` that `indices` name."""
    padding = None if padding_idx < 0 else padding_idx
    return embedding(indices, weight, padding, scale_grad_by_freq=scale_grad_by_freq, sparse=sparse)


def _bags(op: str, input: Any, offsets: Any, include_last: bool) -> tuple[np.ndarray, np.ndarray, int]:
    """The flat indices, the bag of each, and the number of bags."""
    indices = concrete(op, input)
    if indices.ndim == 2:
        if offsets is not None:
            raise ValueError(f"{op}: with a matrix of indices each row is a bag, so offsets must be None")
        return indices.reshape(-1), np.repeat(np.arange(indices.shape[0]), indices.shape[1]), indices.shape[0]
    if indices.ndim != 1:
        raise ValueError(f"{op}: the indices must have 1 or 2 dimensions, got {indices.ndim}")
    if offsets is None:
        raise ValueError(f"{op}: a vector of indices needs offsets, which say where each bag begins")
    starts = concrete(op, offsets)
    if starts.ndim != 1:
        raise ValueError(f"{op}: offsets must be 1-d, got {starts.ndim} dimensions")
    if starts.size and (starts[0] != 0 or starts[-1] > indices.size):
        raise RuntimeError(f"{op}: offsets must begin with 0 and end within the {indices.size} indices, got {starts}")
    ends = starts[1:] if include_last else np.append(starts[1:], indices.size)
    count = len(ends)
    return indices, np.repeat(np.arange(count), ends - starts[:count]), count


def _largest_of_equal_bags(rows: Any) -> Any:
    """The maxima of bags of rows (bags, length, d), whose gradient goes to the first of equal ones."""
    return pick(rows, rd.argmax(rows, axis=1, keepdims=False), axis=1, of="max")


def _largest_of_bags(rows: Any, bags: np.ndarray, count: int) -> Any:
    """The maxima of `count` bags of rows (n, d), of which each belongs to one; zeros for an empty bag. The gradient goes to the
    first of equal ones, and nan is larger than any number."""
    n, d = shape_of(rows)
    zeros = beside(np.zeros((count, d), dtype_of(rows)), rows)
    if not n:
        return zeros
    places, numbers = np.broadcast_to(bags[:, None], (n, d)), np.broadcast_to(np.arange(n)[:, None], (n, d))
    held = rows.detach()
    most = sr.scatter_reduce(zeros, places, held, axis=0, reduce="amax", include_self=False, x_ties=False)
    largest = cp.logical_or(cp.equal(held, ix.take_along_axis(most, places, axis=0)), cp.isnan(held))
    first = sr.scatter_reduce(
        np.full((count, d), n), places, sel.where(largest, numbers, np.full((n, d), n)), axis=0, reduce="amin",
        include_self=True, x_ties=False,
    )  # fmt: skip
    found = cp.not_equal(first, np.asarray(n))
    return sel.where(found, ix.take_along_axis(rows, sel.where(found, first, np.zeros_like(places[:1])), axis=0), zeros)


def embedding_bag(
    input: Tensor, weight: Tensor, offsets: Tensor | None = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False,
    per_sample_weights: Tensor | None = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Tensor:  # fmt: skip
    """The sums, means or maxima of bags of rows of `weight`: (number of bags, d).

    input: a matrix of indices, whose rows are the bags, or a vector cut into bags at `offsets`.
    """
    op = "embedding_bag"
    if dtype_of(weight) in INDEX_DTYPES and dtype_of(input).kind == "f":
        warnings.warn("embedding_bag: the indices come first, then the weight", UserWarning, stacklevel=2)
        input, weight = weight, input
    _indices(op, input)
    if mode not in ("sum", "mean", "max"):
        raise ValueError(f"{op}: mode must be 'sum', 'mean' or 'max', got {mode!r}")
    if per_sample_weights is not None:
        if mode != "sum":
            raise NotImplementedError(f"{op}: per_sample_weights only go with mode='sum', got {mode!r}")
        if tuple(shape_of(per_sample_weights)) != tuple(shape_of(input)):
            raise ValueError(
                f"{op}: per_sample_weights must have the shape of the indices {list(shape_of(input))}, got "
                f"{list(shape_of(per_sample_weights))}"
            )
    if mode == "max" and scale_grad_by_freq:
        raise ValueError(f"{op}: scale_grad_by_freq does not go with mode='max'")
    same_device(op, weight, input)
    if sparse:
        only_on_cpu("embedding_bag(sparse=True)", weight.device)
    indices, bags, count = _bags(op, input, offsets, include_last_offset)
    n, d = tuple(shape_of(weight))
    padding = _padding(op, padding_idx, n)
    weights = None if per_sample_weights is None else st.reshape(per_sample_weights, shape=(indices.size,))
    if padding is not None:
        kept = np.flatnonzero(indices != padding)
        indices, bags = indices[kept], bags[kept]
        weights = None if weights is None else ix.take(weights, kept, axis=0)
    if max_norm is not None:
        renormalise(op, weight, indices, max_norm, norm_type)
    equal = len(shape_of(input)) == 2 and padding is None and indices.size > 0  # bags of one length lie side by side
    rows = sr.embedding(
        weight, indices.reshape(count, -1) if equal else indices, padding=None, by_frequency=bool(scale_grad_by_freq),
        weighted=False, sparse=bool(sparse) and not state.levels,
    )  # fmt: skip
    if weights is not None:
        rows = rows * st.reshape(weights, shape=(*shape_of(rows)[:-1], 1))
    if mode == "max":
        out = _largest_of_equal_bags(rows) if equal else _largest_of_bags(rows, bags, count)
    else:
        if equal:
            out = rd.sum(rows, axis=(1,), keepdims=False)
        else:
            out = ix.take_add(rows, bags, shape=(count, d), axis=0)
        if mode == "mean":
            sizes = np.maximum(np.bincount(bags, minlength=count), 1).astype(dtype_of(weight))
            out = out / beside(sizes[:, None], weight)
    return show_as(out, "EmbeddingBagBackward0")


def one_hot(tensor: Tensor, num_classes: int = -1) -> Tensor:
    """For each integer a vector of zeros with a one in its place; as long as needed unless `num_classes` says."""
    if dtype_of(tensor_argument("one_hot", tensor)) != np.int64:
        raise RuntimeError(f"one_hot: wanted int64, got {FROM_NUMPY[dtype_of(tensor)]}; use long()")
    if type(tensor._a) is not _ndarray and num_classes < 0 and not on_host(tensor):
        num_classes = int(tensor.max().item()) + 1  # type: ignore[attr-defined]
    if type(tensor._a) is not _ndarray and num_classes > 0:  # inside vmap, on a device: nothing depends on values
        classes = np.arange(num_classes)
        spread = st.reshape(tensor, shape=(*tuple(shape_of(tensor)), 1))
        return (spread == beside(classes, tensor)).long()  # type: ignore[attr-defined]
    labels = concrete("one_hot", tensor)
    if labels.size == 0:
        if num_classes <= 0:
            raise RuntimeError("one_hot: of no labels the number of classes cannot be told; pass num_classes")
        return from_array(np.zeros((*labels.shape, num_classes), np.int64))
    if labels.min() < 0:
        raise RuntimeError(f"one_hot: labels must not be negative, got {int(labels.min())}")
    if num_classes == -1:
        num_classes = int(labels.max()) + 1
    elif num_classes < 1:
        raise RuntimeError(f"one_hot: num_classes must be positive, or -1, got {num_classes}")
    elif labels.max() >= num_classes:
        raise RuntimeError(f"one_hot: label {int(labels.max())} is no class among {num_classes}")
    if OBSERVERS:  # who looks sees which labels they are made of
        return lc.one_hot(tensor, classes=num_classes, dtype=np.dtype(np.int64))
    return from_array(one_hot_rows(labels, num_classes, np.int64))
