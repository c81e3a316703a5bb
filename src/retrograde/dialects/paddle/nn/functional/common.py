"""Linear maps, embeddings, dropout, padding, distances and label helpers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....core.unwrap import concrete
from .....core.value import Value, dtype_of, ndim_of, shape_of
from .....learn.layers.dropout import alpha_dropped
from .....learn.layers.embedding import renormalise
from .....ops import contraction as ct
from .....ops import dropout as dr
from .....ops import elementwise as ew
from .....ops import loss_classes as lc
from .....ops import manipulation as mp
from .....ops import norms as nr
from .....ops import reduction as rd
from .....ops import scatter_reduce as sr
from .....ops import selection as sel
from .....ops import structural as st
from .....ops.distance import pdist as _pdist
from .....ops.triangular import diagonal_embed
from .....tape import inplace as _inplace
from ...._shared.axes import length_of
from ..._api import aliases
from ..._data import number
from ..._dtype import FROM_NUMPY, as_dtype
from ..._tensor import from_array
from ...random import bernoulli_array
from ._arguments import axis_of, constant, fixed, floating, tensor_argument

# ------------------------------------------------------------------------------------------ linear maps


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


# ------------------------------------------------------------------------------------------ dropout


def _rate(op: str, p: Any) -> float:
    if isinstance(p, Value):
        p = p.item()
    if not isinstance(p, (int, float)):
        raise TypeError(f"{op}: p must be a number or a tensor of one, got {type(p).__name__}")
    if not 0 <= p <= 1:
        raise ValueError(f"{op}: p must be between 0 and 1, got {p}")
    return float(p)


def dropout(
    x: Any = None, p: Any = 0.5, axis: Any = None, training: bool = True, mode: str = "upscale_in_train",
    inplace: bool = False, name: str | None = None, *, input: Any = None,
) -> Any:  # fmt: skip
    """Each element 0 with probability p in training; with `axis` whole slices, which differ along these axes only.

    mode "upscale_in_train" divides what is kept by 1 - p; "downscale_in_infer" multiplies with 1 - p in evaluation.
    """
    op = "dropout"
    x = floating(op, input if x is None else x)
    if isinstance(axis, bool) and isinstance(mode, bool):  # dropout(x, p, training, inplace), as other frameworks
        axis, training, inplace, mode = None, axis, training, "upscale_in_train"
    p = _rate(op, p)
    if mode not in ("upscale_in_train", "downscale_in_infer", "downgrade_in_infer"):
        raise ValueError(f"{op}: mode must be 'upscale_in_train' or 'downscale_in_infer', got {mode!r}")
    shape = tuple(shape_of(x))
    if axis is not None:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        if any(not 0 <= a < len(shape) for a in axes):
            raise ValueError(f"{op}: axis must be in [0, {len(shape) - 1}], got {axis}")
        shape = tuple(n if i in axes else 1 for i, n in enumerate(shape))
    upscale = mode == "upscale_in_train"
    if not training:
        return x if upscale or p == 0.0 else ew.multiply(x, constant(1.0 - p, x))
    if p == 0.0:
        return x
    scale = 0.0 if p == 1.0 else 1.0 / (1.0 - p) if upscale else 1.0
    keep = bernoulli_array(shape, 1.0 - p)
    if inplace:
        return _inplace.update(op, x, lambda: dr.dropout(x, keep, scale=scale))
    return dr.dropout(x, keep, scale=scale)


def _of_channels(op: str, x: Any, p: Any, training: bool, last: bool, ndims: tuple[int, ...]) -> Any:
    tensor_argument(op, x)
    if ndim_of(x) not in ndims:
        raise ValueError(f"{op}: wanted {ndims[-1]} dimensions, got shape {list(shape_of(x))}")
    axis = [0, ndim_of(x) - 1] if last else [0, 1]
    return dropout(x, p, axis, training)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    x = tensor_argument("dropout1d", input, "input")
    if ndim_of(x) == 2:
        return dropout(x, p, [0], training)
    return _of_channels("dropout1d", x, p, training, False, (3,))


def dropout2d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Dropout of whole channels of (N, C, H, W)."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"dropout2d: data_format must be 'NCHW' or 'NHWC', got {data_format!r}")
    return _of_channels("dropout2d", x, p, training, data_format == "NHWC", (4,))


def dropout3d(
    x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """Dropout of whole channels of (N, C, D, H, W)."""
    if data_format not in ("NCDHW", "NDHWC"):
        raise ValueError(f"dropout3d: data_format must be 'NCDHW' or 'NDHWC', got {data_format!r}")
    return _of_channels("dropout3d", x, p, training, data_format == "NDHWC", (5,))


def _alpha_dropout(op: str, x: Any, p: Any, training: bool, shape: tuple[int, ...]) -> Any:
    p = _rate(op, p)
    if not training or p == 0:
        return x
    return alpha_dropped(x, bernoulli_array(shape, 1.0 - p), p)


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """Dropout that keeps mean and deviation for SELU (Klambauer et al., 2017)."""
    x = floating("alpha_dropout", x)
    return _alpha_dropout("alpha_dropout", x, p, training, tuple(shape_of(x)))


def feature_alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """alpha_dropout of whole channels."""
    x = floating("feature_alpha_dropout", x)
    shape = tuple(shape_of(x))
    if len(shape) < 2:
        raise ValueError(f"feature_alpha_dropout: wanted 2 dimensions or more, got shape {list(shape)}")
    return _alpha_dropout("feature_alpha_dropout", x, p, training, (*shape[:2], *(1,) * (len(shape) - 2)))


# ------------------------------------------------------------------------------------------ padding


def _pad_widths(op: str, pad: Any, shape: tuple[int, ...], mode: str, data_format: Any, from_left: bool) -> Any:
    """(before, after) for each dimension."""
    if isinstance(pad, Value):
        pad = pad.numpy().reshape(-1).tolist()
    flat = [int(n.item() if isinstance(n, Value) else n) for n in pad]
    n = len(shape)
    if len(flat) % 2 or len(flat) > 2 * n:
        raise ValueError(f"{op}: pad must be pairs of widths, {n} at most for shape {list(shape)}, got {flat}")
    pairs = [(flat[i], flat[i + 1]) for i in range(0, len(flat), 2)]
    if len(pairs) == n and mode == "constant":  # a pair for each dimension
        return tuple(pairs if from_left else reversed(pairs))
    last = data_format in ("NLC", "NHWC", "NDHWC")
    space = list(range(1, n - 1)) if last else list(range(n - len(pairs), n))
    space = space[-len(pairs) :]
    widths = [(0, 0)] * n
    for axis, pair in zip(reversed(space), pairs):
        widths[axis] = pair
    return tuple(widths)


@aliases(input="x")
def pad(
    x: Any, pad: Any, mode: str = "constant", value: float = 0.0, data_format: str | None = None,
    pad_from_left_axis: bool = True, name: str | None = None,
) -> Any:  # fmt: skip
    """The tensor with elements added: a number ("constant"), "reflect", "replicate" or "circular".

    `pad` is (before, after) for the dimensions of space, the last one first; or, for "constant", for all dimensions,
    the first one first (with `pad_from_left_axis`).
    """
    tensor_argument("pad", x)
    if mode not in ("constant", "reflect", "replicate", "circular"):
        raise AssertionError(f"pad: mode must be 'constant', 'reflect', 'replicate' or 'circular', got {mode!r}")
    shape = tuple(shape_of(x))
    known = {3: ("NCL", "NLC"), 4: ("NCHW", "NHWC"), 5: ("NCDHW", "NDHWC")}
    if data_format is not None and len(shape) in known and data_format not in known[len(shape)]:
        raise AssertionError(f"pad: data_format of {len(shape)} dimensions must be one of {known[len(shape)]}")
    widths = _pad_widths("pad", pad, shape, mode, data_format, pad_from_left_axis)
    if mode == "constant":
        number = value.item() if isinstance(value, Value) else value
        return mp.pad_constant(x, widths=widths, value=np.asarray(number).astype(dtype_of(x)).item())
    for i, (n, (lo, hi)) in enumerate(zip(shape, widths)):
        most = {"reflect": n - 1, "circular": n}.get(mode)
        if (lo or hi) and ((most is not None and max(lo, hi) > most) or n == 0 or min(lo, hi) < 0):
            raise ValueError(f"pad: widths {lo} and {hi} do not fit dimension {i} of size {n} with mode {mode!r}")
    return mp.pad_edges(x, widths=widths, mode={"reflect": mp.REFLECT, "replicate": mp.REPLICATE,
                                                "circular": mp.CIRCULAR}[mode])  # fmt: skip


def zeropad2d(x: Any, padding: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Images surrounded by zeros: (left, right, top, bottom)."""
    return globals()["pad"](x, padding, "constant", 0.0, data_format)


# ------------------------------------------------------------------------------------------ distances


@aliases(dim="axis")
def cosine_similarity(x1: Any, x2: Any, axis: int = 1, eps: float = 1e-8) -> Any:
    """The cosine of the angle between vectors along an axis; their length counts as eps at least."""
    for name, x in (("x1", x1), ("x2", x2)):
        floating("cosine_similarity", x, name, TypeError)
    product = ew.multiply(x1, x2)
    over = (axis_of("cosine_similarity", axis, ndim_of(product)),)
    dot, one, two = (rd.sum(v, axis=over, keepdims=False) for v in (product, ew.square(x1), ew.square(x2)))
    bound = constant(eps * eps, x1)
    return ew.divide(dot, ew.sqrt(sel.maximum(ew.multiply(one, two), bound, ties="half")))


@aliases(x1="x", x2="y", eps="epsilon")
def pairwise_distance(
    x: Any, y: Any, p: float = 2.0, epsilon: float = 1e-6, keepdim: bool = False, name: str | None = None
) -> Any:
    """The p-norm of x - y + epsilon along the last axis."""
    floating("pairwise_distance", x), floating("pairwise_distance", y, "y")
    d = ew.subtract(x, y)
    if epsilon != 0.0:
        d = ew.add(d, constant(epsilon, d))
    last = (ndim_of(d) - 1,)
    if math.isinf(p):  # of equal ones each gets the whole gradient
        return (rd.amax if p > 0 else rd.amin)(ew.absolute_stopped(d), axis=last, keepdims=bool(keepdim), ties="all")
    return nr.vector_norm(d, ord=float(p), axis=last, keepdims=bool(keepdim))


def pdist(x: Any, p: float = 2.0, compute_mode: str = "use_mm_for_euclid_dist_if_necessary",
          name: str | None = None) -> Any:  # fmt: skip
    """The distances between all pairs of rows."""
    if ndim_of(floating("pdist", x)) != 2:
        raise AssertionError(f"pdist: wanted a matrix of rows, got shape {list(shape_of(x))}")
    return _pdist(x, ord=float(p))


# ------------------------------------------------------------------------------------------ labels and masks


def label_smooth(label: Any, prior_dist: Any = None, epsilon: float = 0.1, name: str | None = None) -> Any:
    """(1 - epsilon) label + epsilon times the prior distribution, which is a constant, or the uniform one."""
    if not 0.0 <= epsilon <= 1.0:
        raise ValueError(f"label_smooth: epsilon must be between 0 and 1, got {epsilon}")
    floating("label_smooth", label, "label")
    classes = length_of("label_smooth", shape_of(label), -1)
    scaled = ew.multiply(label, constant(1 - epsilon, label))
    if prior_dist is None:
        return ew.add(scaled, constant(epsilon / classes, label))
    prior = st.reshape(fixed(prior_dist), shape=(1,) * (ndim_of(label) - 1) + (classes,))
    return ew.add(scaled, ew.multiply(prior, constant(epsilon, label)))


def sequence_mask(x: Any, maxlen: Any = None, dtype: Any = "int64", name: str | None = None) -> Any:
    """For each length a row of that many ones, filled with zeros up to `maxlen` (or the largest length)."""
    lengths = concrete("sequence_mask", tensor_argument("sequence_mask", x))
    n = int(lengths.max()) if maxlen is None else int(maxlen.item() if isinstance(maxlen, Value) else maxlen)
    return from_array((np.arange(n) < lengths[..., None]).astype(as_dtype("sequence_mask", dtype).np))


def diag_embed(input: Any, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:
    """Matrices with the last axis of the input on a diagonal."""
    x = tensor_argument("diag_embed", input, "input") if isinstance(input, Value) else from_array(np.asarray(input))
    shape = tuple(shape_of(x))
    n = len(shape) + 1
    a, b = axis_of("diag_embed", dim1, n, "dim1"), axis_of("diag_embed", dim2, n, "dim2")
    if a == b:
        raise ValueError(f"diag_embed: dim1 and dim2 must differ, got {dim1} and {dim2}")
    size = shape[-1] + abs(offset)
    whole = list(shape[:-1])
    for axis in sorted((a, b)):
        whole.insert(axis, size)
    return diagonal_embed(x, shape=tuple(whole), offset=int(offset), axis1=a, axis2=b)


def gather_tree(ids: Any, parents: Any) -> Any:
    """The paths of a beam search from its (time, batch, beam) choices and their parents, from the end back."""
    chosen, above = concrete("gather_tree", ids), concrete("gather_tree", parents)
    if chosen.ndim != 3 or chosen.shape != above.shape:
        raise ValueError(f"gather_tree: wanted two (time, batch, beam) tensors, got {ids.shape} and {parents.shape}")
    out = np.empty_like(chosen)
    beam = np.broadcast_to(np.arange(chosen.shape[2]), chosen.shape[1:])
    for t in range(chosen.shape[0] - 1, -1, -1):
        out[t] = np.take_along_axis(chosen[t], beam, 1)
        beam = np.take_along_axis(above[t], beam, 1)
    return from_array(out)
