"""Normalisation by the mean and deviation of the elements themselves, or by given ones, with an affine map behind it.

`normalize` serves batch, layer, group and instance normalisation: they differ in the axes over which the statistics
are taken, and in the shape in which the weights meet the operand. Its derivative has two spellings: NumPy in a few
passes for plain arrays, and sibling operations for values that record, which are differentiable again.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, is_half
from ..backend.jit import channels, rows
from ..backend.jit.halves import converted, single
from ..core.aval import Aval
from ..core.primitive import primitive
from ..core.value import shape_of
from .elementwise import rsqrt
from .kernels import elements, in_c_order, scalar, widened
from .reduction import mean as reduce_mean
from .reduction import sum as reduce_sum
from .reduction import sum_array
from .rules import batch_size, materialise_batch, move_batch, sum_tangents
from .samples import normal, sample, uniform
from .shapes import demand
from .structural import reshape

Shape = tuple[int, ...]


_SMALL = 4096


def _keep(shape: Shape, axis: Shape) -> Shape:
    return tuple(1 if i in axis else n for i, n in enumerate(shape))


def _dot(x: Any, y: Any, axis: Shape) -> Any:
    """The sum of x y over `axis`, kept as axes of length 1."""
    if x.size <= _SMALL:  # einsum needs no second array, but 2 µs more to begin with
        return _sum(x * y, axis)
    labels = list(range(x.ndim))
    total = np.einsum(x, labels, y, labels, [i for i in labels if i not in axis])
    return total.reshape(_keep(x.shape, axis))


def _sum(x: Any, axis: Shape) -> Any:
    """The sum over `axis`, kept as axes of length 1: pairwise along the last axis first."""
    if x.size <= _SMALL:
        if x.ndim == 2 and axis == (1,):
            return sum_array(x, axis, True)
        return np.add.reduce(x, axis, None, None, True)
    if x.ndim - 1 in axis and len(axis) > 1:
        x = np.add.reduce(x, -1, keepdims=True)
        axis = axis[:-1]
    return sum_array(x, axis, True)


def _centred(x: Any, axis: Shape, eps: float) -> tuple[Any, Any, Any]:
    """x less its mean, the mean, and one over the deviation, for a NumPy array."""
    n = math.prod(x.shape[a] for a in axis)
    center = _sum(x, axis)
    center /= n
    d = x - center
    scale = _dot(d, d, axis)
    scale /= n
    scale += x.dtype.type(eps)
    np.sqrt(scale, scale)
    np.reciprocal(scale, scale)
    return d, center, scale


def _normalized(
    xp: Any, x: Any, w: Any, b: Any, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> tuple[Any, Any, Any]:
    """The result, and mean and one over the deviation with the reduced axes kept, in the standard."""
    v = xp.reshape(x, shape)
    center = xp.mean(v, axis=axis, keepdims=True)
    d = v - center
    scale = 1 / xp.sqrt(xp.mean(d * d, axis=axis, keepdims=True) + eps)
    out = xp.reshape(d * scale, x.shape)
    if w is not None:
        out = out * xp.reshape(w, affine)
    if b is not None:
        out = out + xp.reshape(b, affine)
    if not elements(x):
        center = xp.zeros_like(center)
    return out, center, scale


def _normalized_numpy(
    x: Any, w: Any, b: Any, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> tuple[Any, Any, Any]:
    x = in_c_order(x)
    v = x if x.shape == shape else x.reshape(shape)
    if not v.size:
        keep = _keep(shape, axis)
        return np.array(x), np.zeros(keep, x.dtype), np.full(keep, math.nan, x.dtype)
    if len(shape) == 3 and axis == (2,) and v is x and affine[:2] == (1, 1):  # rows: NumPy goes over two axes in less time
        out, center, scale = _normalized_numpy(v2 := v.reshape(-1, shape[2]), w, b, v2.shape, (1,), affine[1:], eps)
        return out.reshape(shape), center.reshape(*shape[:2], 1), scale.reshape(*shape[:2], 1)
    d, center, scale = _centred(v, axis, eps)
    if w is not None and scale.shape == affine:  # one weight per statistic: they make one factor
        d *= scale * w.reshape(affine)
        w = None
    else:
        d *= scale
    out = d if v is x else d.reshape(x.shape)
    if w is not None:
        out *= w.reshape(affine)
    if b is not None:
        out += b.reshape(affine)
    return out, center, scale


def _wide(arrays: Any) -> Any:
    return (None if a is None else single(a) for a in arrays)


@functools.lru_cache(512)
def _way(have: Shape, shape: Shape, axis: Shape, affine: Shape) -> int | channels.Blocks | None:
    """What generated code takes the normalisation of an operand of shape `have` for: rows of so many elements (layer
    normalisation), or blocks of images and channels; None for another one."""
    rest = len(shape) - len(axis)
    if have == shape and axis and axis == tuple(range(rest, len(shape))) and affine == (1,) * rest + shape[rest:]:
        return math.prod(shape[rest:])
    return channels.blocks_of(shape, axis, have, affine)


@widened
def _normalize_kernel(
    xp: Any, x: Any, w: Any, b: Any, *, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> Any:
    return _normalized(xp, x, w, b, shape, axis, affine, eps)[0]


def _normalize_stats_kernel(
    xp: Any, x: Any, w: Any, b: Any, *, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> Any:
    given = [a if a is None or not is_half(a) else astype(xp, a, np.float32) for a in (x, w, b)]
    out, center, scale = _normalized(xp, *given, shape, axis, affine, eps)  # type: ignore[call-arg]
    stats = tuple([n for i, n in enumerate(shape) if i not in axis])
    return astype(xp, out, x.dtype), xp.reshape(center, stats), xp.reshape(scale, stats)


def _normalize_numpy(x: Any, w: Any, b: Any, *, shape: Shape, axis: Shape, affine: Shape, eps: float) -> Any:
    if is_half(x.dtype):
        return converted(_normalized_numpy(*_wide((x, w, b)), shape, axis, affine, eps)[0], x.dtype)  # type: ignore[call-arg]
    way = _way(x.shape, shape, axis, affine)
    if isinstance(way, int):
        found = rows.layer_norm(in_c_order(x), w, b, way, eps)
        if found is not None:
            return found
    elif way is not None:
        several = channels.normalize(x, w, b, way, eps)
        if several is not None:
            return several[0]
    return _normalized_numpy(x, w, b, shape, axis, affine, eps)[0]


def _normalize_stats_numpy(x: Any, w: Any, b: Any, *, shape: Shape, axis: Shape, affine: Shape, eps: float) -> Any:
    if is_half(x.dtype):
        x_, w_, b_ = _wide((x, w, b))
        out, center, scale = _normalize_stats_numpy(x_, w_, b_, shape=shape, axis=axis, affine=affine, eps=eps)
        return converted(out, x.dtype), center, scale
    stats = tuple([n for i, n in enumerate(shape) if i not in axis])
    blocks = channels.blocks_of(shape, axis, x.shape, affine)
    found = None if blocks is None else channels.normalize(x, w, b, blocks, eps)
    if found is None:
        found = _normalized_numpy(x, w, b, shape, axis, affine, eps)
    return found[0], found[1].reshape(stats), found[2].reshape(stats)


def _pull_arrays(
    needs: Any, g: Any, x: Any, w: Any, b: Any, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> Any:
    """The cotangents of x, w and b for the cotangent of the result, from plain arrays."""
    dtype = x.dtype
    if is_half(dtype):
        g, x = single(g), single(x)
        w = None if w is None else single(w)
    way = _way(x.shape, shape, axis, affine)
    if isinstance(way, int):
        summed = w is not None or b is not None
        found: Any = rows.layer_norm_pull(in_c_order(g), in_c_order(x), w, way, eps, summed=summed)
    else:
        found = None if way is None else channels.normalize_pull(g, x, w, way, eps)
    if found is not None:
        return (
            found[0], None if w is None else found[1].reshape(w.shape), None if b is None else found[2].reshape(b.shape)
        )  # fmt: skip
    v = x.reshape(shape)
    d, _, r = _centred(v, axis, eps)
    n = math.prod(shape[a] for a in axis)
    outside = tuple(i for i, k in enumerate(affine) if k == 1 and x.shape[i] != 1)
    if w is not None and r.shape == affine and x.shape == shape:
        total, along = _sum(g, axis), _dot(g, d, axis)
        factor = r * w.reshape(affine)
        dx = None
        if needs[0]:
            d *= factor * r * r * along / -n
            dx = g * factor
            dx += d
            dx -= factor * total / n
        return dx, (along * r).reshape(w.shape), total.reshape(b.shape) if needs[2] else None
    d *= r
    dw = db = dx = None
    if w is not None and needs[1]:
        dw = _dot(g, d.reshape(x.shape), outside).reshape(w.shape)
    if needs[2]:
        db = (sum_array(np.ascontiguousarray(g), outside, False) if outside else g).reshape(b.shape)
    if needs[0]:
        weighted = (g if w is None else g * w.reshape(affine)).reshape(shape)
        dx = weighted - d * (_dot(weighted, d, axis) / n)
        dx -= _sum(weighted, axis) / n
        dx *= r
        dx = dx.reshape(x.shape)
    return dx, dw, db


def _statistics(x: Any, shape: Shape, axis: Shape, eps: float) -> tuple[Any, Any]:
    """The standardised operand in the shape of the statistics, and one over the deviation; recorded."""
    v = reshape(x, shape=shape)
    d = v - reduce_mean(v, axis=axis, keepdims=True)
    r = rsqrt(reduce_mean(d * d, axis=axis, keepdims=True) + eps)
    return d * r, r


def _over(x: Any, outside: Shape, like: Any) -> Any:
    x = reduce_sum(x, axis=outside, keepdims=False) if outside else x
    return reshape(x, shape=tuple(shape_of(like)))


def _normalize_vjp(
    needs: Any, g: Any, _out: Any, x: Any, w: Any, b_: Any, *, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> Any:
    return _pulled(needs, g, None, None, x, w, b_, shape, axis, affine, eps)


def _normalize_stats_vjp(
    needs: Any, g: Any, _out: Any, x: Any, w: Any, b_: Any, *, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> Any:
    return _pulled(needs, *g, x, w, b_, shape, axis, affine, eps)  # type: ignore[call-arg]


def _pulled(
    needs: Any, g: Any, g_mean: Any, g_scale: Any, x: Any, w: Any, b_: Any, shape: Shape, axis: Shape, affine: Shape,
    eps: float,
) -> Any:  # fmt: skip
    """The cotangents of x, w and b for those of the result and of the statistics."""
    plain = type(g) is np.ndarray and type(x) is np.ndarray and (w is None or type(w) is np.ndarray)
    if plain and g_mean is None and g_scale is None and x.size:
        return _pull_arrays(needs, g, x, w, b_, shape, axis, affine, eps)
    full = tuple(shape_of(x))
    outside = tuple(i for i, k in enumerate(affine) if k == 1 and full[i] != 1)
    standard, r = _statistics(x, shape, axis, eps)
    dx = dw = db = None
    if g is not None:
        if w is not None and needs[1]:
            dw = _over(g * reshape(standard, shape=full), outside, w)
        if needs[2]:
            db = _over(g, outside, b_)
        if needs[0]:
            weighted = reshape(g if w is None else g * reshape(w, shape=affine), shape=shape)
            along = reduce_mean(weighted * standard, axis=axis, keepdims=True)
            dx = r * (weighted - reduce_mean(weighted, axis=axis, keepdims=True) - standard * along)
    if needs[0]:
        n = math.prod(shape[a] for a in axis)
        keep = _keep(shape, axis)
        dx = sum_tangents([
            dx,
            None if g_mean is None else reshape(g_mean, shape=keep) / n + standard * 0,
            None if g_scale is None else standard * (reshape(g_scale, shape=keep) * r * r / -n),
        ])  # fmt: skip
        dx = None if dx is None else reshape(dx, shape=full)
    return dx, dw, db


def _normalize_jvp(
    tangents: Any, out: Any, x: Any, w: Any, b: Any, *, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> Any:
    return _normalize_stats_jvp(tangents, out, x, w, b, shape=shape, axis=axis, affine=affine, eps=eps)[0]


def _normalize_stats_jvp(
    tangents: Any, out: Any, x: Any, w: Any, b: Any, *, shape: Shape, axis: Shape, affine: Shape, eps: float
) -> Any:
    dx, dw, db = tangents
    full = tuple(shape_of(x))
    standard, r = _statistics(x, shape, axis, eps)
    terms, d_mean, d_scale = [], None, None
    stats = tuple(n for i, n in enumerate(shape) if i not in axis)
    if dx is not None:
        t = reshape(dx, shape=shape)
        d_mean = reduce_mean(t, axis=axis, keepdims=True)
        t = t - d_mean
        along = reduce_mean(t * standard, axis=axis, keepdims=True)
        moved = reshape(r * (t - standard * along), shape=full)
        terms.append(moved if w is None else moved * reshape(w, shape=affine))
        d_mean, d_scale = reshape(d_mean, shape=stats), reshape(-r * r * along, shape=stats)
    if dw is not None:
        terms.append(reshape(standard, shape=full) * reshape(dw, shape=affine))
    if db is not None:
        terms.append(reshape(db, shape=affine) + reshape(standard, shape=full) * 0)
    return sum_tangents(terms), d_mean, d_scale


def _batch_normalize(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    size = batch_size(arrays, dims)
    x = materialise_batch(arrays[0], dims[0], size)
    batched = dims[1] is not None or dims[2] is not None
    weights = [
        materialise_batch(a, d, size) if batched and a is not None else a for a, d in zip(arrays[1:], dims[1:])
    ]
    out = op(
        x, *weights, shape=(size, *params["shape"]), axis=tuple(a + 1 for a in params["axis"]),
        affine=(size if batched else 1, *params["affine"]), eps=params["eps"],
    )  # fmt: skip
    return (out, (0, 0, 0)) if isinstance(out, tuple) else (out, 0)


def _check_affine(shape: Shape, operands: Any, affine: Shape) -> None:
    """Check that what is brought into the shape `affine` has its elements, and that this fits an operand's shape."""
    demand(len(affine) <= len(shape) and np.broadcast_shapes(shape, affine) == tuple(shape),
           f"weights of shape {affine} beside an operand of shape {tuple(shape)}")  # fmt: skip
    for a in operands:
        demand(a is None or math.prod(a.shape) == math.prod(affine), f"a shape as {affine} is wanted, got {a and a.shape}")


def _infer_normalize(avals: Any, p: dict[str, Any]) -> Any:
    x, *rest = avals
    demand(math.prod(x.shape) == math.prod(p["shape"]), f"the shape {tuple(x.shape)} cannot be taken as {p['shape']}")
    if any(a is not None for a in rest):
        _check_affine(x.shape, rest, p["affine"])
    stats = tuple(n for i, n in enumerate(p["shape"]) if i not in p["axis"])
    dtype = np.dtype(np.float32) if is_half(x.dtype) else x.dtype
    return x, Aval(stats, dtype), Aval(stats, dtype)


def _normalize_samples() -> Any:
    w, b = uniform(0.5, 1.5, 3), normal(3, seed=7)
    w4, b4 = uniform(0.5, 1.5, 4), normal(4, seed=7)
    batch = {"shape": (2, 3, 2), "axis": (0, 2), "affine": (1, 3, 1)}
    yield sample(normal(2, 3, 2), w, b, **batch, eps=0.1)
    yield sample(normal(2, 3, 2), None, None, **batch, eps=0.1)
    yield sample(normal(2, 4), w4, b4, shape=(2, 4), axis=(1,), affine=(1, 4), eps=0.1)
    yield sample(normal(2, 2, 3), uniform(0.5, 1.5, 2, 3), None, shape=(2, 2, 3), axis=(1, 2), affine=(1, 2, 3),
                 eps=0.1)  # fmt: skip
    yield sample(normal(2, 4, 2), w4, b4, shape=(2, 2, 4), axis=(2,), affine=(1, 4, 1), eps=0.1)
    yield sample(normal(2, 3, 2), None, b, **batch, eps=0.1)


# x is taken in `shape`; its mean over `axis` is subtracted, and it is divided by sqrt(variance + eps). In its own shape
# again it is multiplied with w and b is added, both in the shape `affine`.
normalize = primitive(
    "normalize", kernel=_normalize_kernel, numpy=_normalize_numpy, vjp=_normalize_vjp, jvp=_normalize_jvp, batch=_batch_normalize,
    infer=lambda avals, p: _infer_normalize(avals, p)[0], samples=_normalize_samples,
)  # fmt: skip

# The same with the means, and one over these roots.
normalize_stats = primitive(
    "normalize_stats", kernel=_normalize_stats_kernel, numpy=_normalize_stats_numpy, vjp=_normalize_stats_vjp,
    jvp=_normalize_stats_jvp, multi=True,
    batch=_batch_normalize, infer=_infer_normalize, samples=_normalize_samples,
)  # fmt: skip

# ------------------------------------------------------------------------------------------ by given statistics


def _given_kernel(xp: Any, x: Any, center: Any, var: Any, w: Any, b: Any, *, affine: Shape, eps: float) -> Any:
    dtype = x.dtype
    if is_half(x):
        given = (None if a is None else astype(xp, a, np.float32) for a in (x, center, var, w, b))
        return astype(xp, _given_kernel(xp, *given, affine=affine, eps=eps), dtype)
    scale = 1 / xp.sqrt(var + scalar(eps, var))
    if w is not None:
        scale = scale * w
    shift = -center * scale if b is None else b - center * scale
    return x * astype(xp, xp.reshape(scale, affine), dtype) + astype(xp, xp.reshape(shift, affine), dtype)


def _given_numpy(x: Any, center: Any, var: Any, w: Any, b: Any, *, affine: Shape, eps: float) -> Any:
    dtype = x.dtype
    if is_half(dtype):
        return converted(_given_numpy(*_wide((x, center, var, w, b)), affine=affine, eps=eps), dtype)
    scale = 1 / np.sqrt(var + var.dtype.type(eps))
    if w is not None:
        scale = scale * w
    shift = -center * scale if b is None else b - center * scale
    if x.ndim > 2 and affine == (1, scale.size, *(1,) * (x.ndim - 2)):
        found = channels.scaled(x, scale.astype(dtype, copy=False), shift.astype(dtype, copy=False))
        if found is not None:
            return found
    out = x * scale.reshape(affine).astype(dtype)
    out += shift.reshape(affine).astype(dtype)
    return out


def _given_parts(x: Any, center: Any, var: Any, affine: Shape, eps: float) -> tuple[Any, Any, Shape]:
    r = reshape(rsqrt(var + eps), shape=affine)
    outside = tuple(i for i, k in enumerate(affine) if k == 1 and shape_of(x)[i] != 1)
    return x - reshape(center, shape=affine), r, outside


def _given_x(g: Any, _out: Any, _x: Any, _center: Any, var: Any, w: Any, _b: Any, *, affine: Shape, eps: float) -> Any:
    scale = rsqrt(var + eps)
    return g * reshape(scale if w is None else scale * w, shape=affine)


def _given_w(g: Any, _out: Any, x: Any, center: Any, var: Any, w_: Any, _b: Any, *, affine: Shape, eps: float) -> Any:
    d, r, outside = _given_parts(x, center, var, affine, eps)
    return _over(g * (d * r), outside, w_)


def _given_b(g: Any, _out: Any, x_: Any, _c: Any, _var: Any, _w: Any, b_: Any, *, affine: Shape, eps: float) -> Any:
    return _over(g, tuple(i for i, k in enumerate(affine) if k == 1 and shape_of(x_)[i] != 1), b_)


def _given_jvp(
    tangents: Any, out: Any, x: Any, center: Any, var: Any, w: Any, b: Any, *, affine: Shape, eps: float
) -> Any:
    dx, _, _, dw, db = tangents
    d, r, _ = _given_parts(x, center, var, affine, eps)
    return sum_tangents([
        None if dx is None else dx * r * (1 if w is None else reshape(w, shape=affine)),
        None if dw is None else d * r * reshape(dw, shape=affine),
        None if db is None else reshape(db, shape=affine) + d * 0,
    ])  # fmt: skip


def _merged(x: Any) -> Any:
    return reshape(x, shape=(math.prod(shape_of(x)),))


def _batch_given(op: Any, arrays: Any, dims: Any, params: dict[str, Any]) -> Any:
    size = batch_size(arrays, dims)
    batched = any(d is not None for d in dims[1:])
    x = materialise_batch(arrays[0], dims[0], size) if batched else move_batch(arrays[0], dims[0])
    rest = arrays[1:]
    if batched:  # one flat vector of statistics: `affine` puts the batch in front
        rest = [a if a is None else _merged(materialise_batch(a, d, size)) for a, d in zip(rest, dims[1:])]
    out = op(x, *rest, affine=(size if batched else 1, *params["affine"]), eps=params["eps"])
    return out, 0


def _given_samples() -> Any:
    statistics = [normal(3, seed=2), uniform(0.5, 2, 3)]
    yield sample(normal(2, 3, 2), *statistics, uniform(0.5, 1.5, 3), normal(3, seed=5), affine=(1, 3, 1), eps=0.1)
    yield sample(normal(4, 3), *statistics, None, None, affine=(1, 3), eps=0.0)


def _infer_given(avals: Any, p: dict[str, Any]) -> Aval:
    _check_affine(avals[0].shape, avals[1:], p["affine"])
    return avals[0]


# (x - mean) / sqrt(var + eps) * w + b with the statistics given, all of them in the shape `affine`. They have no
# derivative: they are what a layer has gathered.
normalize_by = primitive(
    "normalize_by", kernel=_given_kernel, numpy=_given_numpy, operands=("x", "center", "var", "w", "b"),
    vjps=[_given_x, None, None, _given_w, _given_b], jvp=_given_jvp, batch=_batch_given,
    infer=_infer_given, samples=_given_samples,
)  # fmt: skip
