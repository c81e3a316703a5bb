"""Reductions over axes. `axis` is a tuple of non-negative axes; an empty one reduces nothing."""

from __future__ import annotations

from typing import Any

from ..core.aval import Aval
from ..core.value import ndim_of, shape_of
from .rules import batch_axes, linear
from .samples import complex_normal, normal, sample
from .structural import broadcast_to, reshape


def reduced_shape(shape: tuple[int, ...], axis: tuple[int, ...], keepdims: bool) -> tuple[int, ...]:
    """The shape that is left when `axis` is reduced."""
    if keepdims:
        return tuple(1 if i in axis else n for i, n in enumerate(shape))
    return tuple(n for i, n in enumerate(shape) if i not in axis)


def expand_reduced(g: Any, x: Any, axis: tuple[int, ...], keepdims: bool) -> Any:
    """A reduced array spread over the axes again, in the shape of `x`."""
    shape = tuple(shape_of(x))
    if not keepdims:
        kept = reduced_shape(shape, axis, True)
        if len(kept) != ndim_of(g):
            g = reshape(g, shape=kept)
    return broadcast_to(g, shape=shape)


def infer_reduced(avals: Any, params: dict[str, Any]) -> Aval:
    """The reduced shape in the operand's dtype."""
    return Aval(reduced_shape(avals[0].shape, params["axis"], params["keepdims"]), avals[0].dtype)


def reduction_samples() -> Any:
    """Samples over one axis, several, all, none."""
    yield sample(normal(2, 3), axis=(1,), keepdims=False)
    yield sample(normal(2, 3, 2), axis=(0, 2), keepdims=True)
    yield sample(normal(3), axis=(0,), keepdims=False)
    yield sample(normal(), axis=(), keepdims=False)
    yield sample(complex_normal(2, 2), axis=(0, 1), keepdims=False)


def _sum_kernel(xp: Any, x: Any, *, axis: tuple[int, ...], keepdims: bool) -> Any:
    if x.dtype.itemsize <= 2 and x.dtype.kind not in "iub":  # half precision accumulates in single
        return xp.sum(x.astype("float32"), axis=axis, keepdims=keepdims).astype(x.dtype)
    return x.sum(axis=axis, keepdims=keepdims, dtype=x.dtype)


sum = linear(
    "sum", kernel=_sum_kernel,
    transpose=lambda g, x_, *, axis, keepdims: expand_reduced(g, x_, axis, keepdims),
    batch=batch_axes("axis"), infer=infer_reduced, samples=reduction_samples,
)  # fmt: skip
