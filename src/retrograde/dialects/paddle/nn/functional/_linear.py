"""Affine maps, embeddings, one-hot rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from .....core.unwrap import concrete
from .....core.value import dtype_of, shape_of
from .....learn.layers.embedding import renormalise
from .....ops import contraction as ct
from .....ops import elementwise as ew
from .....ops import loss_classes as lc
from .....ops import scatter_reduce as sr
from .....ops import selection as sel
from ...._shared.axes import length_of
from ..._api import aliases
from ..._data import number
from ..._dtype import FROM_NUMPY
from ..._tensor import from_array
from ._arguments import floating, tensor_argument


@aliases(input="x")
def linear(x: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """x weight + bias, with a weight (in_features, out_features)."""
    x, weight = tensor_argument("linear", x), tensor_argument("linear", weight, "weight")
    d, w = dtype_of(x), shape_of(weight)
    if len(w) != 2 or not shape_of(x) or shape_of(x)[-1] != w[0]:
        raise ValueError(
            f"linear: an input of shape {list(shape_of(x))} does not fit a weight of shape {list(w)} (in, out): the last "
            "size of the input must be the first of the weight (a layer's in_features)"
        )
    if dtype_of(weight) != d or (bias is not None and dtype_of(bias) != d):
        raise ValueError(f"linear: x is {FROM_NUMPY[d]}; weight and bias must have the same dtype")
    return ct.matmul(x, weight) if bias is None else ct.add_matmul(bias, x, weight, beta=1, alpha=1)


def bilinear(x1: Any, x2: Any, weight: Any, bias: Any = None, name: str | None = None) -> Any:
    """x1ᵀ W x2 + bias for each of the matrices in a weight (out, in1, in2)."""
    for what, x in (("x1", x1), ("x2", x2), ("weight", weight)):
        floating("bilinear", x, what)
    w = shape_of(weight)
    if len(w) != 3 or shape_of(x1)[-1] != w[1] or shape_of(x2)[-1] != w[2]:
        raise ValueError(
            f"bilinear: inputs of shapes {list(shape_of(x1))} and {list(shape_of(x2))} do not fit a weight {list(w)}"
        )
    out = ct.einsum("bi,oij,bj->bo", x1, weight, x2)
    return out if bias is None else ew.add(out, bias)

_INTEGERS = ("int32", "int64", "int16", "int8", "uint8")


@aliases(input="x")
def embedding(
    x: Any, weight: Any, padding_idx: int | None = None, max_norm: float | None = None, norm_type: float = 2.0,
    sparse: bool = False, scale_grad_by_freq: bool = False, name: str | None = None,
) -> Any:  # fmt: skip
    """The rows of the weight that the integers in `x` name; the row `padding_idx` reads as zeros and is not trained.

    Raises ValueError for indices out of range, NotImplementedError for indices that are not integers.
    """
    op = "embedding"
    tensor_argument(op, x), floating(op, weight, "weight")
    if FROM_NUMPY[dtype_of(x)].label not in _INTEGERS:
        raise NotImplementedError(f"{op}: x must be int32 or int64, got {x.dtype}; convert it with .astype('int64')")
    rows = length_of(op, shape_of(weight), 0)
    padding = None
    if padding_idx is not None:
        if not -rows <= padding_idx < rows:
            raise ValueError(f"{op}: padding_idx must be in [{-rows}, {rows - 1}], got {padding_idx}")
        padding = padding_idx % rows
    indices = concrete(op, x).astype(np.int64, copy=False)
    if indices.size and not (int(indices.min()) >= 0 and int(indices.max()) < rows):
        wrong = int(indices.min()) if indices.min() < 0 else int(indices.max())
        raise ValueError(f"{op}: index {wrong} is no row of a weight with {rows} rows")
    if max_norm is not None:
        renormalise(op, weight, indices, float(max_norm), float(norm_type))
    out = sr.embedding(
        weight, indices, padding=padding, by_frequency=bool(scale_grad_by_freq), weighted=False, sparse=bool(sparse)
    )
    if padding is not None and (indices == padding).any():
        out = sel.drop(out, np.broadcast_to((indices == padding)[..., None], shape_of(out)))
    return out


@aliases(input="x")
def one_hot(x: Any, num_classes: int = -1, name: str | None = None) -> Any:
    """For each integer a float vector of zeros with a one in its place; as long as needed unless `num_classes` says."""
    tensor_argument("one_hot", x)
    if dtype_of(x).kind not in "iu":
        raise RuntimeError(f"one_hot: x must be an integer tensor, got {x.dtype}")
    labels = concrete("one_hot", x).astype(np.int64, copy=False)
    classes = int(number("one_hot", "num_classes", num_classes))
    if classes == -1:
        classes = int(labels.max()) + 1
    if labels.size and not (int(labels.min()) >= 0 and int(labels.max()) < classes):
        raise ValueError(
            f"one_hot: labels must be in [0, {classes - 1}], got {int(labels.min())} to {int(labels.max())}"
        )
    return lc.one_hot(from_array(labels), classes=classes, dtype=np.dtype(np.float32))
