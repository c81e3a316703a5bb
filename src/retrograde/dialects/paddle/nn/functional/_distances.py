"""Distances, masks of sequences and label helpers."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .....core.unwrap import concrete
from .....core.value import Value, ndim_of, shape_of
from .....ops import elementwise as ew
from .....ops import norms as nr
from .....ops import reduction as rd
from .....ops import selection as sel
from .....ops import structural as st
from .....ops.distance import pdist as _pdist
from .....ops.triangular import diagonal_embed
from ...._shared.axes import length_of
from ..._api import aliases
from ..._dtype import as_dtype
from ..._tensor import from_array
from ._arguments import axis_of, constant, fixed, floating, tensor_argument

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
