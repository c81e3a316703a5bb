"""Losses of predictions over classes, whose targets are class numbers, each one operation.

The axis of the classes is the second one, or the only one: `x` is (C,), (N, C) or (N, C, d1...), the target (), (N,) or
(N, d1...). Targets equal to `ignore_index` count for nothing.
"""

from __future__ import annotations

import functools
import math
from typing import Any, NoReturn

import numpy as np

from ..backend.dtypes import astype, device_in
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import dtype_of, ndim_of, shape_of
from .comparison import equal, greater
from .indexing import outside
from .kernels import elements, scalar, widened
from .loss import kernels_of, reduce_value, reduced_numpy
from .reduction import ones, sum
from .rules import batch_loop, batch_size, linear, materialise_batch, nondifferentiable
from .samples import normal, sample, uniform
from .selection import keep
from .shapes import at_least, demand, matching
from .structural import broadcast_to, cast, reshape

# ------------------------------------------------------------------------------------------ negative log likelihood


def _refuse(bad: int, classes: int) -> NoReturn:
    raise IndexError(f"nll_loss: {_no_class(bad, classes)}")


def _no_class(bad: int, classes: int) -> str:
    return (
        f"the target {bad} is no class number: {classes} classes are counted from 0 to {classes - 1}; give the scores as "
        "many classes as the targets have, or mark targets that do not count with ignore_index"
    )


def _valid(xp: Any, target: Any, classes: int, ignore_index: int) -> tuple[Any, Any]:
    """Which targets count, and the targets with the others at class 0; raises IndexError for numbers out of range."""
    valid = target != ignore_index
    safe = astype(xp, xp.where(valid, target, 0), xp.int64)
    if elements(target) and bool(xp.any((safe < 0) | (safe >= classes))):
        _refuse(int(xp.min(safe)) if bool(xp.any(safe < 0)) else int(xp.max(safe)), classes)
    return valid, safe


def _target_weights(xp: Any, target: Any, weight: Any, classes: int, ignore_index: int, dtype: Any) -> tuple[Any, ...]:
    """The weight of each target, 0 for what is ignored, and what `_valid` gives."""
    valid, safe = _valid(xp, target, classes, ignore_index)
    if weight is None:
        return astype(xp, valid, dtype), valid, safe
    chosen = xp.reshape(xp.take(weight, xp.reshape(safe, (-1,)), axis=0), safe.shape)
    return astype(xp, xp.where(valid, chosen, 0), dtype), valid, safe


@widened
def _nll_kernel(xp: Any, x: Any, target: Any, weight: Any, *, reduction: str, ignore_index: int) -> Any:
    axis = _class_axis(x.shape)
    weights, valid, safe = _target_weights(xp, target, weight, x.shape[axis], ignore_index, x.dtype)
    chosen = xp.take_along_axis(x, xp.expand_dims(safe, axis=axis), axis=axis)
    losses = xp.where(valid, -xp.reshape(chosen, target.shape) * weights, 0)
    if reduction == "none":
        return losses
    total = xp.sum(losses, dtype=x.dtype)
    return total / xp.sum(weights, dtype=x.dtype) if reduction == "mean" else total


@widened
def _nll_spread_kernel(
    xp: Any, g: Any, target: Any, weight: Any, *, shape: tuple[int, ...], reduction: str, ignore_index: int
) -> Any:
    axis = _class_axis(shape)
    weights, valid, safe = _target_weights(xp, target, weight, shape[axis], ignore_index, g.dtype)
    if reduction == "mean":
        g = g / (xp.sum(weights, dtype=g.dtype) if elements(target) else 1)
    spread = xp.expand_dims(xp.where(valid, -g * weights, 0), axis=axis)
    classes = xp.arange(shape[axis], dtype=xp.int64, device=device_in(g))
    classes = xp.reshape(classes, (shape[axis], *(1,) * (len(shape) - axis - 1)))
    return xp.where(xp.expand_dims(safe, axis=axis) == classes, spread, 0)


# ------------------------------------------------------------------------------------------ the same by NumPy


def _checked(target: Any, classes: int, ignore_index: int) -> Any:
    """Where targets count: None for everywhere. Raises IndexError for class numbers out of range."""
    if not target.size:
        return None
    if not 0 <= ignore_index < classes and target.dtype.kind in "iu" and outside(target, classes) is None:
        return None
    valid = target != ignore_index
    out = valid & ((target < 0) | (target >= classes))
    if out.any():
        _refuse(int(target[out].flat[0]), classes)
    return valid


def _weights(target: Any, weight: Any, classes: int, ignore_index: int, dtype: Any) -> tuple[Any, Any, Any]:
    """The weight of each target (None: 1 for all), the targets with ignored ones at class 0, and which are not."""
    valid = _checked(target, classes, ignore_index)
    if valid is not None:
        target = np.where(valid, target, 0)
    if weight is None:
        return (None if valid is None else valid.astype(dtype)), target, valid
    chosen = weight.take(target)
    return (chosen if valid is None else np.where(valid, chosen, 0).astype(dtype)), target, valid


def _class_axis(shape: tuple[int, ...]) -> int:
    return 0 if len(shape) == 1 else 1


_ROWS: dict[int, Any] = {}


def row_numbers(n: int) -> Any:
    """0 to n - 1; not to be written to."""
    found = _ROWS.get(n)
    if found is None:
        found = np.arange(n)
        if n <= 4096 and len(_ROWS) < 256:
            _ROWS[n] = found
    return found


@functools.lru_cache(256)
def _starts(rows: int, width: int) -> Any:
    """Where rows begin; not to be written to."""
    return np.arange(0, rows * width, width) if width else np.zeros(rows, np.int64)


def _positions(shape: tuple[int, ...], target: Any) -> Any:
    """The index of each target's element in an array of `shape`."""
    if len(shape) == 1:
        return (target,)
    if len(shape) == 2:
        return row_numbers(shape[0]), target
    grid = np.ogrid[tuple(slice(n) for n in target.shape)]
    return (grid[0], target, *grid[1:])


def _nll_numpy(x: Any, target: Any, weight: Any, *, reduction: str, ignore_index: int) -> Any:
    shape = x.shape
    rows = len(shape) == 2 and x.flags.c_contiguous
    if rows and weight is None and reduction != "none" and x.dtype.char in "fd" and 0 < (n := shape[0]) <= 128:
        if not 0 <= ignore_index < shape[1] and outside(target, shape[1]) is None:  # what follows for a batch, at once
            total = x.take(target + _starts(*shape)).dot(ones(n, x.dtype.char))
            return 0 - (total / n if reduction == "mean" else total)
    weights, target, valid = _weights(target, weight, shape[_class_axis(shape)], ignore_index, x.dtype)
    if rows:
        chosen = x.take(target + _starts(*shape))
    else:
        chosen = x[_positions(shape, target)]
    if x.dtype.itemsize == 2:
        chosen = chosen.astype(np.float32)
    if weights is None:
        out = reduced_numpy(chosen, reduction)
        out = -out if reduction == "none" else 0 - out  # a sum of zeros is not -0
        return out if out.dtype == x.dtype else out.astype(x.dtype)
    with np.errstate(invalid="ignore"):  # an ignored log-probability may be infinite
        losses = -chosen * weights
    if valid is not None:
        losses = np.where(valid, losses, 0)
    if reduction == "none":
        return losses.astype(x.dtype, copy=False)
    total = losses.sum()
    if reduction == "mean":
        with np.errstate(divide="ignore", invalid="ignore"):
            total = total / weights.sum(dtype=losses.dtype)
    return np.asarray(total).astype(x.dtype, copy=False)


def _nll_spread_numpy(
    g: Any, target: Any, weight: Any, *, shape: tuple[int, ...], reduction: str, ignore_index: int
) -> Any:
    classes = shape[_class_axis(shape)]
    if weight is None and len(shape) == 2 and not -classes <= ignore_index < classes:
        # The loss has refused what is no class number; NumPy refuses what is ignored.
        out = np.zeros(shape, g.dtype)
        try:
            out[row_numbers(shape[0]), target] = -g / g.dtype.type(max(target.size, 1)) if reduction == "mean" else -g
        except IndexError:
            pass
        else:
            return out
    weights, target, valid = _weights(target, weight, classes, ignore_index, g.dtype)
    out = np.zeros(shape, g.dtype)
    if reduction == "mean" and weights is None:
        g = g / g.dtype.type(max(target.size, 1))
    elif reduction == "mean":
        with np.errstate(divide="ignore", invalid="ignore"):
            g = g / g.dtype.type(weights.sum())
    spread = -g if weights is None else -g * weights
    out[_positions(shape, target)] = spread if valid is None else np.where(valid, spread, 0)
    return out


# The weight of each target in the mean: that of its class (1 without weights), 0 where it is ignored.
target_weights = nondifferentiable(
    "target_weights",
    kernel=lambda xp, target, weight, *, classes, ignore_index, dtype: _target_weights(
        xp, target, weight, classes, ignore_index, dtype)[0],
    numpy=lambda target, weight, *, classes, ignore_index, dtype: np.asarray(
        1 if (w := _weights(target, weight, classes, ignore_index, dtype)[0]) is None else w, dtype
        ) * np.ones(target.shape, dtype),
    batch=lambda op, arrays, dims, p: batch_loop(op, arrays, dims, p) if dims[1] is not None else (
        op(*arrays, **p), dims[0]),
    infer=lambda avals, p: Aval(avals[0].shape, np.dtype(p["dtype"])),
    samples=lambda: [
        sample(np.array([0, 2, 1]), np.array([0.5, 1.0, 2.0]), classes=3, ignore_index=1, dtype=np.dtype(np.float64)),
        sample(np.array([0, 2, 1]), None, classes=3, ignore_index=-100, dtype=np.dtype(np.float64))],
)  # fmt: skip


def _total_weight(target: Any, weight: Any, classes: int, ignore_index: int, dtype: Any) -> Any:
    """For each element of a batch the sum of its targets' weights."""
    w = target_weights(target, weight, classes=classes, ignore_index=ignore_index, dtype=dtype)
    return sum(w, axis=tuple(range(1, ndim_of(w))), keepdims=False)


def _merged(x: Any, rank: int) -> Any:
    """The first two axes as one, if there is more than one per element of the batch."""
    shape = tuple(shape_of(x))
    return x if len(shape) == rank else reshape(x, shape=(shape[0] * shape[1], *shape[2:]))


def _batch_nll(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    if dims[2] is not None:
        return batch_loop(op, arrays, dims, params)
    size = batch_size(arrays, dims)
    x, target = (materialise_batch(a, d, size) for a, d in zip(arrays[:2], dims))
    weight, reduction, ignored = arrays[2], params["reduction"], params["ignore_index"]
    single = ndim_of(x) == 2
    losses = op(x if single else _merged(x, 0), target if single else _merged(target, 0), weight,
                reduction="none", ignore_index=ignored)  # fmt: skip
    losses = reshape(losses, shape=tuple(shape_of(target)))
    if reduction == "none":
        return losses, 0
    total = reduce_value(losses, "sum", 1)
    if reduction == "mean":
        total = total / _total_weight(target, weight, shape_of(x)[1 if single else 2], ignored, dtype_of(losses))
    return total, 0


def _batch_nll_spread(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    if dims[2] is not None:
        return batch_loop(op, arrays, dims, params)
    size = batch_size(arrays, dims)
    g, target = (materialise_batch(a, d, size) for a, d in zip(arrays[:2], dims))
    weight, shape, ignored = arrays[2], params["shape"], params["ignore_index"]
    if params["reduction"] == "mean":
        g = g / _total_weight(target, weight, shape[_class_axis(shape)], ignored, dtype_of(g))
    inner = tuple(shape_of(target))
    if params["reduction"] != "none":
        g = broadcast_to(reshape(g, shape=(size, *(1,) * (len(inner) - 1))), shape=inner)
    single = len(shape) == 1
    out = op(g if single else _merged(g, 0), target if single else _merged(target, 0), weight, reduction="none",
             shape=(size, *shape) if single else (size * shape[0], *shape[1:]), ignore_index=ignored)  # fmt: skip
    return reshape(out, shape=(size, *shape)), 0


def _nll_shapes() -> Any:
    weight = np.array([0.5, 1.0, 2.0])
    for reduction in ("none", "mean", "sum"):
        yield (2, 3), np.array([2, 0]), None, {"reduction": reduction, "ignore_index": -100}
        yield (4, 3), np.array([2, 0, 1, 1]), weight, {"reduction": reduction, "ignore_index": 0}
        yield (2, 3, 2), np.array([[2, 0], [1, -1]]), weight, {"reduction": reduction, "ignore_index": -1}
    yield (3,), np.array(1), weight, {"reduction": "mean", "ignore_index": -100}


def _nll_samples() -> Any:
    for shape, target, weight, params in _nll_shapes():
        yield sample(normal(*shape), target, weight, **params)


def _spread_samples() -> Any:
    for shape, target, weight, params in _nll_shapes():
        g = normal(*target.shape) if params["reduction"] == "none" else normal()
        yield sample(g, target, weight, shape=shape, **params)


def _check_classes(shape: tuple[int, ...], target: Aval, weight: Aval | None) -> None:
    demand(len(shape) > 0, "an operand with an axis of classes is wanted, got a number")
    axis = _class_axis(shape)
    matching("the targets", target.shape, (*shape[:axis], *shape[axis + 1 :]))
    if weight is not None:
        matching("the weights of the classes", weight.shape, (shape[axis],))


def _infer_nll(avals: Any, p: dict[str, Any]) -> Aval:
    x, target, weight = avals
    _check_classes(x.shape, target, weight)
    return Aval(target.shape if p["reduction"] == "none" else (), x.dtype)


def _infer_nll_spread(avals: Any, p: dict[str, Any]) -> Aval:
    g, target, weight = avals
    _check_classes(p["shape"], target, weight)
    matching("the cotangent", g.shape, target.shape if p["reduction"] == "none" else ())
    return Aval(p["shape"], g.dtype)


# -x at the target's class, times the weight of the class; the mean is over the weights.
nll_loss = linear(
    "nll_loss", kernel=_nll_kernel, numpy=_nll_numpy, operands=("x", "target", "weight"), others=2,
    transpose=lambda g, x_, target, weight, *, reduction, ignore_index: nll_spread(
        g, target, weight, shape=tuple(shape_of(x_)), reduction=reduction, ignore_index=ignore_index),
    batch=_batch_nll,
    infer=_infer_nll,
    samples=_nll_samples,
)  # fmt: skip

# Its transpose.
nll_spread = linear(
    "nll_spread", kernel=_nll_spread_kernel, numpy=_nll_spread_numpy, operands=("g", "target", "weight"), others=2,
    transpose=lambda h, _g, target, weight, *, shape, reduction, ignore_index: nll_loss(
        h, target, weight, reduction=reduction, ignore_index=ignore_index),
    batch=_batch_nll_spread, infer=_infer_nll_spread, samples=_spread_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ margins


def _one_hot_kernel(xp: Any, target: Any, *, classes: int, dtype: Any) -> Any:
    if elements(target) and (bad := _outside(xp, target, 0, classes)) is not None:
        raise ValueError(_no_class(bad, classes))
    target = astype(xp, target, np.int64)
    return astype(xp, target[..., None] == xp.arange(classes, dtype=target.dtype, device=device_in(target)), dtype)


def _one_hot_numpy(target: Any, *, classes: int, dtype: Any) -> Any:
    if target.size and not (target.min() >= 0 and target.max() < classes):
        bad = int(target.min() if target.min() < 0 else target.max())
        raise ValueError(_no_class(bad, classes))
    return (target[..., None] == np.arange(classes)).astype(dtype)


def _outside(xp: Any, target: Any, low: int, end: int) -> int | None:
    """A number that is not in the range, if there is one."""
    least, most = int(xp.min(target)), int(xp.max(target))
    return least if least < low else most if most >= end else None


# 1 at the class that each target names, 0 at the others.
one_hot = nondifferentiable(
    "one_hot", kernel=_one_hot_kernel, numpy=_one_hot_numpy, batch=lambda op, arrays, dims, p: (op(arrays[0], **p), dims[0]),
    infer=lambda avals, p: Aval((*avals[0].shape, p["classes"]), np.dtype(p["dtype"])),
    samples=lambda: [sample(np.array([[2, 0]]), classes=3, dtype=np.dtype(np.float64))],
)  # fmt: skip


def _batch_rows(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    """For losses of x (N, C) or (C,), one number per row: the batch of them as rows, then reduced by element."""
    if len(arrays) > 2 and dims[2] is not None:
        return batch_loop(op, arrays, dims, params)
    size = batch_size(arrays, dims)
    x, target = (materialise_batch(a, d, size) for a, d in zip(arrays[:2], dims))
    rows = (size,) if ndim_of(x) == 2 else (size, shape_of(x)[1])
    inner = {**params, "reduction": "none"}
    if len(rows) == 2:
        x, target = _merged(x, 0), _merged(target, 0)
    losses = reshape(op(x, target, *arrays[2:], **inner), shape=rows)
    return (losses if len(rows) == 1 else reduce_value(losses, params["reduction"], 1)), 0


def _infer_rows(avals: Any, params: dict[str, Any]) -> Aval:
    x, target, *weight = avals
    at_least(1, x)
    matching("the targets", target.shape, x.shape[:-1] if weight else x.shape)
    if weight and weight[0] is not None:
        matching("the weights of the classes", weight[0].shape, x.shape[-1:])
    return Aval(avals[0].shape[:-1] if params["reduction"] == "none" else (), avals[0].dtype)


def _excess(x: Any, hot: Any, margin: float) -> Any:
    """For each class by how much it exceeds the target's, the margin included; masked where positive and not target."""
    z = x - sum(x * hot, axis=(ndim_of(x) - 1,), keepdims=True) + margin
    return keep(z, greater(z * (1 - hot), 0))


def _multi_margin(xp: Any, x: Any, target: Any, weight: Any, *, p: int, margin: float) -> Any:
    return _margins(xp, x, target, weight, _one_hot_kernel(xp, target, classes=x.shape[-1], dtype=x.dtype), p, margin)


def _multi_margin_numpy(xp: Any, x: Any, target: Any, weight: Any, *, p: int, margin: float) -> Any:
    return _margins(xp, x, target, weight, _one_hot_numpy(target, classes=x.shape[-1], dtype=x.dtype), p, margin)


def _margins(xp: Any, x: Any, target: Any, weight: Any, hot: Any, p: int, margin: float) -> Any:
    z = (x - xp.sum(x * hot, axis=-1, keepdims=True) + margin) * (1 - hot)
    z = xp.maximum(z, scalar(0, z))
    if p == 2:
        z = z * z
    rows = xp.sum(z, axis=-1) / x.shape[-1]
    if weight is not None:
        rows = rows * xp.reshape(xp.take(weight, xp.reshape(target, (-1,)), axis=0), rows.shape)
    return xp.asarray(rows)


def _multi_margin_slope(x: Any, target: Any, weight: Any, p: int, margin: float) -> Any:
    """The derivative of each row's loss by the row."""
    classes = shape_of(x)[-1]
    hot = one_hot(target, classes=classes, dtype=dtype_of(x))
    z = _excess(x, hot, margin)
    if p == 1:
        z = cast(greater(z, 0), dtype=dtype_of(x))
    slope = z - hot * sum(z, axis=(ndim_of(z) - 1,), keepdims=True)
    if weight is not None:
        slope = slope * sum(hot * weight, axis=(ndim_of(hot) - 1,), keepdims=True)
    return slope * (p / classes)


def _row_share(g: Any, x: Any, reduction: str) -> Any:
    """The cotangent of each row of x, with an axis for its elements."""
    shape = tuple(shape_of(x))
    if reduction == "mean":
        return g / max(math.prod(shape[:-1]), 1)
    return reshape(g, shape=(*shape[:-1], 1)) if reduction == "none" and len(shape) > 1 else g


def _push_rows(t: Any, slope: Any, reduction: str) -> Any:
    return reduce_value(sum(t * slope, axis=(ndim_of(slope) - 1,), keepdims=False), reduction)


def _multi_margin_samples() -> Any:
    for reduction in ("none", "mean", "sum"):
        for p, weight in ((1, None), (2, uniform(0.5, 2, 3))):
            yield sample(normal(2, 3), np.array([2, 0]), weight, reduction=reduction, p=p, margin=0.7)
    yield sample(normal(3), np.array(1), None, reduction="mean", p=1, margin=1.0)


# sum_j max(0, margin - x[target] + x[j])^p / C over the other classes j, for p = 1 or 2.
multi_margin_loss = primitive(
    "multi_margin_loss", **kernels_of(_multi_margin, _multi_margin_numpy), operands=("x", "target", "weight"),
    params=("reduction", "p", "margin"),
    vjps=[lambda g, _out, x, target, weight, *, reduction, p, margin:
          _multi_margin_slope(x, target, weight, p, margin) * _row_share(g, x, reduction), None, None],
    jvp=lambda tangents, out, x, target, weight, *, reduction, p, margin: _push_rows(
        tangents[0], _multi_margin_slope(x, target, weight, p, margin), reduction),
    batch=_batch_rows, infer=_infer_rows, samples=_multi_margin_samples,
)  # fmt: skip


def _label_counts_kernel(xp: Any, target: Any, *, dtype: Any) -> Any:
    classes = target.shape[-1]
    if elements(target) and _outside(xp, target, -1, classes) is not None:
        raise ValueError(f"targets must be class numbers below {classes}, or -1 at the end of a list of labels")
    at = xp.arange(classes, dtype=target.dtype, device=device_in(target))
    # Listed is what stands before the first negative number.
    end = xp.min(xp.where(target < 0, at, classes), axis=-1, keepdims=True) if classes else target
    hits = (target[..., None] == at) & (at < end)[..., None]
    return astype(xp, xp.sum(astype(xp, hits, xp.int64), axis=-2), dtype)


# How often each class is listed in a row of class numbers that -1 ends.
label_counts = nondifferentiable(
    "label_counts", kernel=_label_counts_kernel,
    batch=lambda op, arrays, dims, p: (op(materialise_batch(arrays[0], dims[0], 0), **p), 0),
    infer=lambda avals, p: Aval(avals[0].shape, np.dtype(p["dtype"])),
    samples=lambda: [sample(np.array([[2, 0, -1], [1, 1, -1]]), dtype=np.dtype(np.float64))],
)  # fmt: skip


def _multilabel_margin(xp: Any, x: Any, target: Any) -> Any:
    counts = _label_counts_kernel(xp, target, dtype=x.dtype)
    pairs = 1 - x[..., :, None] + x[..., None, :]  # a label, and a class that is none
    pairs = xp.maximum(pairs, scalar(0, pairs)) * counts[..., :, None]
    rows = xp.sum(pairs * astype(xp, counts == 0, x.dtype)[..., None, :], axis=(-2, -1)) / max(x.shape[-1], 1)
    return xp.asarray(astype(xp, rows, x.dtype))


def _multilabel_slope(x: Any, target: Any) -> Any:
    """The derivative of each row's loss by the row."""
    shape = tuple(shape_of(x))
    classes, rank = shape[-1], len(shape)
    counts = label_counts(target, dtype=dtype_of(x))
    labels, others = (reshape(a, shape=(*shape[:-1], *pair)) for a, pair in (
        (x, (classes, 1)), (x, (1, classes))))  # fmt: skip
    c = reshape(counts, shape=(*shape[:-1], classes, 1))
    free = reshape(cast(equal(counts, 0), dtype=dtype_of(x)), shape=(*shape[:-1], 1, classes))
    active = keep(c * free, greater(others - labels + 1, 0))
    return (sum(active, axis=(rank - 1,), keepdims=False) - sum(active, axis=(rank,), keepdims=False)) / max(classes, 1)


def _multilabel_samples() -> Any:
    for reduction in ("none", "mean", "sum"):
        yield sample(normal(2, 3), np.array([[2, 0, -1], [1, 1, -1]]), reduction=reduction)
    yield sample(normal(3), np.array([1, -1, 0]), reduction="mean")


# sum over labels j and other classes i of max(0, 1 - x[j] + x[i]) / C.
multilabel_margin_loss = primitive(
    "multilabel_margin_loss", **{**kernels_of(_multilabel_margin), "generated": False}, operands=("x", "target"),
    params=("reduction",),
    vjps=[lambda g, _out, x, target, *, reduction: _multilabel_slope(x, target) * _row_share(g, x, reduction), None],
    jvp=lambda tangents, out, x, target, *, reduction: _push_rows(tangents[0], _multilabel_slope(x, target), reduction),
    batch=_batch_rows, infer=_infer_rows, samples=_multilabel_samples,
)  # fmt: skip
