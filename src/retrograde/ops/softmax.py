"""The softmax family along one axis, forward and backward as one operation each.

Half precision computes in single.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.jit import columns, rows
from ..backend.jit.halves import converted
from ..backend.jit.operands import FLOAT32, FLOAT64
from ..core.aval import Aval
from ..core.large import CHEAP_LEAST, computed, summed_product
from ..core.primitive import primitive
from .elementwise import exp
from .kernels import in_c_order, in_single, widened, zero_of
from .reduction import extreme_array, ones, sum, sum_array
from .rules import batch_axes, checked_axes, infer_along
from .samples import normal, sample
from .shapes import matching


@widened
def _softmax_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    if not math.prod(x.shape):
        return x
    e = xp.exp(x - xp.max(x, axis=axis, keepdims=True))
    return e / xp.sum(e, axis=axis, keepdims=True, dtype=e.dtype)


@widened
def _log_softmax_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    if not math.prod(x.shape):
        return x
    low = x - xp.max(x, axis=axis, keepdims=True)
    return low - xp.log(xp.sum(xp.exp(low), axis=axis, keepdims=True, dtype=low.dtype))


def _safe_softmax_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    out = _softmax_kernel(xp, x, axis=axis)
    return xp.where(xp.all(x == -math.inf, axis=axis, keepdims=True), zero_of(x), out)


@widened
def _softmax_pull_kernel(xp: Any, g: Any, out: Any, *, axis: int) -> Any:
    return (g - xp.sum(g * out, axis=axis, keepdims=True, dtype=out.dtype)) * out


@widened
def _log_softmax_pull_kernel(xp: Any, g: Any, out: Any, *, axis: int) -> Any:
    return g - xp.exp(out) * xp.sum(g, axis=axis, keepdims=True, dtype=g.dtype)


# ------------------------------------------------------------------------------------------ NumPy


_FEW = 256
_add, _largest = np.add.reduce, np.maximum.reduce


def _total(x: Any, axis: int) -> Any:
    """The sum along the axis, which stays; of few elements at once (1 µs less), of many as accurately as `sum_array`."""
    return np.add.reduce(x, axis, None, None, True) if x.size <= _FEW else sum_array(x, (axis,), True)


def _below_top(x: Any, axis: int) -> Any:
    """A new array: `x` less its largest element along the axis."""
    if x.size <= _FEW:
        return x - np.maximum.reduce(x, axis, None, None, True)
    return x - extreme_array("max", x, (axis,), True)


def _power(xp: Any, x: Any, top: Any) -> Any:
    return xp.exp(x - top)


def _quotient(_xp: Any, x: Any, y: Any) -> Any:
    return x / y


def _product(_xp: Any, x: Any, y: Any) -> Any:
    return x * y


def _weighted(_xp: Any, g: Any, total: Any, weights: Any) -> Any:
    return (g - total) * weights


def _narrow(x: Any, axis: int) -> bool:
    """Whether NumPy goes faster along the rows' transposed copy: many rows of a few elements (64x10: 6.7 µs against 10.3)."""
    return x.ndim == 2 and axis == 1 and x.shape[1] <= 32 and x.shape[0] >= 16


def _few(x: Any) -> bool:
    """Whether there are so few elements, of single or double precision, that calls are all that they cost."""
    return 0 < x.size <= _FEW and (x.dtype is FLOAT32 or x.dtype is FLOAT64) and bool(x.flags.c_contiguous)


def _row_sums(x: Any, axis: int) -> Any:
    """The sums of few elements along an axis, which is kept: a product with ones takes 0.4 µs, where NumPy's sum takes 0.8."""
    if x.ndim == 2 and axis == 1:
        return x.dot(ones(x.shape[1], x.dtype.char)).reshape(-1, 1)
    return _add(x, axis, None, None, True)


def _softmax_numpy(x: Any, *, axis: int) -> Any:
    if _few(x):
        out = x - _largest(x, axis, None, None, True)
        np.exp(out, out)
        out /= _row_sums(out, axis)
        return out
    if not x.size:
        return np.asarray(x, copy=True)
    x_wide = in_c_order(in_single(x))
    found = rows.softmax(x_wide) if axis == x.ndim - 1 else columns.along("softmax", axis, x_wide)
    if found is not None:
        return found if found.dtype == x.dtype else converted(found, x.dtype)
    if x.size >= CHEAP_LEAST:
        powers = computed(_power, x_wide, extreme_array("max", x_wide, (axis,), True))
        out = computed(_quotient, powers, sum_array(powers, (axis,), True))
    else:
        out = _below_top(x_wide, axis)
        np.exp(out, out=out)
        out /= _total(out, axis)
    return out if out.dtype == x.dtype else converted(out, x.dtype)


def _log_softmax_numpy(x: Any, *, axis: int) -> Any:
    if _few(x):
        out = x - _largest(x, axis, None, None, True)
        total = _row_sums(np.exp(out), axis)
        out -= np.log(total, total)
        return out
    if not x.size:
        return np.asarray(x, copy=True)
    wide = in_c_order(in_single(x))
    if _narrow(x, axis):
        turned = wide.T.copy()
        turned -= np.maximum.reduce(turned, 0)
        turned -= np.log(np.add.reduce(np.exp(turned), 0))
        return turned.T.astype(x.dtype, order="C")
    found = rows.log_softmax(wide) if axis == x.ndim - 1 else columns.along("log_softmax", axis, wide)
    if found is not None:
        return found if found.dtype == x.dtype else converted(found, x.dtype)
    out = _below_top(wide, axis)
    out -= np.log(_total(np.exp(out), axis))
    return out if out.dtype == x.dtype else converted(out, x.dtype)


def _safe_softmax_numpy(x: Any, *, axis: int) -> Any:
    if not x.size:
        return np.asarray(x, copy=True)
    with np.errstate(invalid="ignore"):
        out = _softmax_numpy(x, axis=axis)
    return np.where(np.all(x == -math.inf, axis=axis, keepdims=True), zero_of(x), out)


def _softmax_pull_numpy(g: Any, out: Any, *, axis: int) -> Any:
    if out.size <= _FEW and g.dtype is out.dtype and _few(out):
        result = g * out
        np.subtract(g, _row_sums(result, axis), result)
        result *= out
        return result
    wide, weights = in_single(g), in_single(out)
    last = axis == out.ndim - 1
    found = rows.softmax_pull(wide, weights) if last else columns.along("softmax_pull", axis, wide, weights)
    if found is not None:
        return found if found.dtype == out.dtype else found.astype(out.dtype)
    if out.size >= CHEAP_LEAST:
        kept = (*out.shape[:axis], 1, *out.shape[axis + 1 :])
        total = summed_product(wide, weights, kept)
        if total is None or total.shape != kept:
            total = sum_array(computed(_product, wide, weights), (axis,), True)
        result = computed(_weighted, wide, total, weights)
    else:
        result = wide - _total(wide * weights, axis)
        result *= weights
    return result if result.dtype == out.dtype else result.astype(out.dtype)


def _log_softmax_pull_numpy(g: Any, out: Any, *, axis: int) -> Any:
    if out.size <= _FEW and g.dtype is out.dtype and _few(out):
        result = np.exp(out)
        result *= _row_sums(g, axis)
        return np.subtract(g, result, result)
    wide, logs = in_single(g), in_single(out)
    last = axis == out.ndim - 1
    found = rows.log_softmax_pull(wide, logs) if last else columns.along("log_softmax_pull", axis, wide, logs)
    if found is not None:
        return found if found.dtype == out.dtype else found.astype(out.dtype)
    result = np.exp(logs)
    result *= _total(wide, axis)
    result = np.subtract(wide, result, out=result)
    return result if result.dtype == out.dtype else result.astype(out.dtype)


# ------------------------------------------------------------------------------------------ the operations


def _inner(x: Any, y: Any, axis: int) -> Any:
    return sum(x * y, axis=(axis,), keepdims=True)


def _samples() -> Any:
    yield sample(normal(4), axis=0)
    yield sample(normal(2, 3), axis=1)
    yield sample(normal(2, 3, 2), axis=1)
    yield sample(normal(1), axis=0)


def _pull_samples() -> Any:
    for s in _samples():
        yield sample(normal(*s.operands[0].shape, seed=1), *s.operands, **s.params)


def _infer_pulled(avals: Any, params: dict[str, Any]) -> Aval:
    matching("the result and its cotangent", avals[0].shape, avals[1].shape)
    checked_axes(avals[1].shape, params["axis"])
    return Aval(*avals[1])


# The pullback of softmax: linear and self-adjoint in g, with `out` the softmax.
softmax_pullback = primitive(
    "softmax_pullback", kernel=_softmax_pull_kernel, numpy=_softmax_pull_numpy, kind="composite",
    vjps=[lambda h, _r, _g, out, *, axis: softmax_pullback(h, out, axis=axis),
          lambda h, _r, g, out, *, axis: h * (g - _inner(g, out, axis)) - g * _inner(h, out, axis)],
    jvp=lambda tangents, r, g, out, *, axis: _softmax_push(tangents, g, out, axis),
    batch=batch_axes("axis"), infer=_infer_pulled, samples=_pull_samples,
)  # fmt: skip


def _softmax_push(tangents: Any, g: Any, out: Any, axis: int) -> Any:
    dg, dout = tangents
    first = None if dg is None else softmax_pullback(dg, out, axis=axis)
    if dout is None:
        return first
    second = dout * (g - _inner(g, out, axis)) - out * _inner(g, dout, axis)
    return second if first is None else first + second


# The pullback of log_softmax: g - softmax * sum(g), with `out` the log_softmax.
log_softmax_pullback = primitive(
    "log_softmax_pullback", kernel=_log_softmax_pull_kernel, numpy=_log_softmax_pull_numpy, kind="composite",
    vjps=[lambda h, _r, _g, out, *, axis: h - _inner(h, exp(out), axis),
          lambda h, _r, g, out, *, axis: -h * exp(out) * sum(g, axis=(axis,), keepdims=True)],
    jvp=lambda tangents, r, g, out, *, axis: _log_softmax_push(tangents, g, out, axis),
    batch=batch_axes("axis"), infer=_infer_pulled, samples=_pull_samples,
)  # fmt: skip


def _log_softmax_push(tangents: Any, g: Any, out: Any, axis: int) -> Any:
    dg, dout = tangents
    first = None if dg is None else log_softmax_pullback(dg, out, axis=axis)
    if dout is None:
        return first
    second = -dout * exp(out) * sum(g, axis=(axis,), keepdims=True)
    return second if first is None else first + second


def _softmax_like(name: str, kernel: Any, numpy: Any) -> Any:
    return primitive(
        name, kernel=kernel, numpy=numpy, kind="composite",
        vjps=[lambda g, out, _x, *, axis: softmax_pullback(g, out, axis=axis)],
        jvp=lambda tangents, out, x, *, axis: softmax_pullback(tangents[0], out, axis=axis),
        batch=batch_axes("axis"), infer=infer_along("axis"), samples=_samples,
    )  # fmt: skip


softmax = _softmax_like("softmax", _softmax_kernel, _softmax_numpy)

# The softmax with 0 where everything along the axis is -inf.
safe_softmax = _softmax_like("safe_softmax", _safe_softmax_kernel, _safe_softmax_numpy)

log_softmax = primitive(
    "log_softmax", kernel=_log_softmax_kernel, numpy=_log_softmax_numpy, kind="composite",
    vjps=[lambda g, out, _x, *, axis: log_softmax_pullback(g, out, axis=axis)],
    jvp=lambda tangents, out, x, *, axis: tangents[0] - _inner(tangents[0], exp(out), axis),
    batch=batch_axes("axis"), infer=infer_along("axis"), samples=_samples,
)  # fmt: skip
