"""The softmax family along one axis, forward and backward as one operation each.

Half precision computes in single.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.jit import rows
from ..core.primitive import primitive
from .elementwise import exp
from .kernels import in_single, zero_of
from .reduction import extreme_array, sum, sum_array
from .rules import batch_axes, infer_same
from .samples import normal, sample


def _total(xp: Any, x: Any, axis: int) -> Any:
    return sum_array(x, (axis,), True) if xp is np else xp.sum(x, axis=axis, keepdims=True)


def _below_top(xp: Any, x: Any, axis: int) -> Any:
    """A new array: `x` less its largest element along the axis."""
    return x - (extreme_array("max", x, (axis,), True) if xp is np else xp.max(x, axis=axis, keepdims=True))


def _narrow(x: Any, axis: int) -> bool:
    """Whether NumPy goes faster along the rows' transposed copy: many rows of a few elements (64x10: 6.7 µs against 10.3)."""
    return x.ndim == 2 and axis == 1 and x.shape[1] <= 32 and x.shape[0] >= 16


def _softmax_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    if not x.size:
        return xp.asarray(x, copy=True)
    x_wide = in_single(x)
    found = rows.softmax(x_wide) if xp is np and axis == x.ndim - 1 else None
    if found is not None:
        return found if found.dtype == x.dtype else found.astype(x.dtype)
    out = _below_top(xp, x_wide, axis)
    xp.exp(out, out=out)
    out /= _total(xp, out, axis)
    return out if out.dtype == x.dtype else out.astype(x.dtype)


def _log_softmax_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    if not x.size:
        return xp.asarray(x, copy=True)
    wide = in_single(x)
    if xp is np and _narrow(x, axis):
        columns = wide.T.copy()
        columns -= np.maximum.reduce(columns, 0)
        columns -= np.log(np.add.reduce(np.exp(columns), 0))
        return columns.T.astype(x.dtype, order="C")
    out = _below_top(xp, wide, axis)
    out -= xp.log(_total(xp, xp.exp(out), axis))
    return out if out.dtype == x.dtype else out.astype(x.dtype)


def _safe_softmax_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    if not x.size:
        return xp.asarray(x, copy=True)
    with np.errstate(invalid="ignore"):
        out = _softmax_kernel(xp, x, axis=axis)
    return xp.where(xp.all(x == -math.inf, axis=axis, keepdims=True), zero_of(x), out)


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


def _softmax_pull_kernel(xp: Any, g: Any, out: Any, *, axis: int) -> Any:
    wide, weights = in_single(g), in_single(out)
    found = rows.softmax_pull(wide, weights) if xp is np and axis == out.ndim - 1 else None
    if found is not None:
        return found if found.dtype == out.dtype else found.astype(out.dtype)
    result = wide - _total(xp, wide * weights, axis)
    result *= weights
    return result if result.dtype == out.dtype else result.astype(out.dtype)


def _log_softmax_pull_kernel(xp: Any, g: Any, out: Any, *, axis: int) -> Any:
    wide = in_single(g)
    result = xp.exp(in_single(out))
    result *= _total(xp, wide, axis)
    result = xp.subtract(wide, result, out=result) if xp is np else wide - result
    return result if result.dtype == out.dtype else result.astype(out.dtype)


# The pullback of softmax: linear and self-adjoint in g, with `out` the softmax.
softmax_pullback = primitive(
    "softmax_pullback", kernel=_softmax_pull_kernel,
    vjps=[lambda h, _r, _g, out, *, axis: softmax_pullback(h, out, axis=axis),
          lambda h, _r, g, out, *, axis: h * (g - _inner(g, out, axis)) - g * _inner(h, out, axis)],
    jvp=lambda tangents, r, g, out, *, axis: _softmax_push(tangents, g, out, axis),
    batch=batch_axes("axis"), infer=lambda avals, p: avals[1], samples=_pull_samples,
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
    "log_softmax_pullback", kernel=_log_softmax_pull_kernel,
    vjps=[lambda h, _r, _g, out, *, axis: h - _inner(h, exp(out), axis),
          lambda h, _r, g, out, *, axis: -h * exp(out) * sum(g, axis=(axis,), keepdims=True)],
    jvp=lambda tangents, r, g, out, *, axis: _log_softmax_push(tangents, g, out, axis),
    batch=batch_axes("axis"), infer=lambda avals, p: avals[1], samples=_pull_samples,
)  # fmt: skip


def _log_softmax_push(tangents: Any, g: Any, out: Any, axis: int) -> Any:
    dg, dout = tangents
    first = None if dg is None else log_softmax_pullback(dg, out, axis=axis)
    if dout is None:
        return first
    second = -dout * exp(out) * sum(g, axis=(axis,), keepdims=True)
    return second if first is None else first + second


def _softmax_like(name: str, kernel: Any) -> Any:
    return primitive(
        name, kernel=kernel, vjps=[lambda g, out, _x, *, axis: softmax_pullback(g, out, axis=axis)],
        jvp=lambda tangents, out, x, *, axis: softmax_pullback(tangents[0], out, axis=axis),
        batch=batch_axes("axis"), infer=infer_same, samples=_samples,
    )  # fmt: skip


softmax = _softmax_like("softmax", _softmax_kernel)

# The softmax with 0 where everything along the axis is -inf.
safe_softmax = _softmax_like("safe_softmax", _safe_softmax_kernel)

log_softmax = primitive(
    "log_softmax", kernel=_log_softmax_kernel,
    vjps=[lambda g, out, _x, *, axis: log_softmax_pullback(g, out, axis=axis)],
    jvp=lambda tangents, out, x, *, axis: tangents[0] - _inner(tangents[0], exp(out), axis),
    batch=batch_axes("axis"), infer=infer_same, samples=_samples,
)  # fmt: skip
