"""Activation functions of neural networks. Each is one operation with one derivative rule.

At a kink the derivative is the one that the frameworks' users know; where frameworks differ, a parameter says which.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import numpy_dtype
from ..core.aval import Aval
from ..core.primitive import keyword_names, primitive
from ..core.value import dtype_of, shape_of
from .comparison import greater_equal
from .elementwise import tanh
from .kernels import on_numpy, scalar, sigmoid_array, sigmoid_numpy, special_functions, widened, widened_numpy, zero_of
from .rules import batch_axes, checked_axes, conj, elementwise, infer_same, sum_tangents
from .samples import distinct, sample, unary, uniform
from .selection import between, drop, keep_nonzero, times_nonzero
from .shapes import demand
from .slopes import sigmoid_slope
from .special import SQRT2PI, normal_density
from .structural import concatenate, getitem, zeros_like

# ------------------------------------------------------------------------------------------ sigmoid and its kin

sigmoid = elementwise(
    "sigmoid", kernel=widened(sigmoid_array), numpy=widened_numpy(sigmoid_numpy),
    samples=unary(-3, 3, complex_too=True),
    partials=[lambda _x, out: (1 - out) * out],
    vjps=[lambda g, out, _x: sigmoid_slope(g, out) if dtype_of(out).kind != "c" else g * conj((1 - out) * out)],
)  # fmt: skip


@widened
def _logsigmoid_array(xp: Any, x: Any) -> Any:
    return xp.minimum(zero_of(x), x) - xp.log1p(xp.exp(-xp.abs(x)))


log_sigmoid = elementwise(
    "log_sigmoid", kernel=_logsigmoid_array, samples=unary(-3, 3), partials=[lambda x, _out: sigmoid(-x)],
)  # fmt: skip


def _log_one_plus_exp(xp: Any, z: Any) -> Any:
    """log(1 + e^z) as max(z, 0) + log(1 + e^-|z|), which cannot overflow."""
    return xp.maximum(z, zero_of(z)) + xp.log1p(xp.exp(-xp.abs(z)))


@widened
def _softplus_kernel(xp: Any, x: Any, *, beta: float, threshold: float) -> Any:
    z = x if beta == 1 else x * scalar(beta, x)
    soft = _log_one_plus_exp(xp, z)
    if beta != 1:
        soft = soft / scalar(beta, x)
    if threshold == math.inf or (threshold >= 18 and numpy_dtype(x.dtype).itemsize <= 4):
        return soft  # in single precision it is x there already
    return xp.where(z > threshold, x, soft)


@widened
def _softplus_slope_kernel(xp: Any, x: Any, *, beta: float, threshold: float) -> Any:
    z = x if beta == 1 else x * scalar(beta, x)
    slope = sigmoid_array(xp, z)
    if threshold == math.inf or (threshold >= 18 and numpy_dtype(x.dtype).itemsize <= 4):
        return slope  # in single precision it is 1 there already
    return xp.where(z > threshold, scalar(1, x), slope)


def _softplus_slope_partial(x: Any, _out: Any, *, beta: float, threshold: float) -> Any:
    s = sigmoid(x * beta)
    return between(
        s * (1 - s) * beta, x * beta, low=-math.inf, high=threshold, closed=False, inside=True, of_nan=True
    )  # fmt: skip


def _softplus_samples() -> Any:
    yield sample(uniform(-2, 2, 2, 3), beta=1.0, threshold=20.0)
    yield sample(np.array([-1.0, 0.3, 5.0]), beta=2.0, threshold=4.0)


# log(1 + e^(beta x)) / beta, and x itself where beta x is above the threshold; and its derivative.
softplus_slope = elementwise(
    "softplus_slope", kernel=_softplus_slope_kernel, numpy=on_numpy(_softplus_slope_kernel),
    partials=[_softplus_slope_partial], samples=_softplus_samples,
)  # fmt: skip
softplus = elementwise(
    "softplus", kernel=_softplus_kernel, numpy=on_numpy(_softplus_kernel), samples=_softplus_samples,
    partials=[lambda x, _out, *, beta, threshold: softplus_slope(x, beta=beta, threshold=threshold)],
    # The step down to x at the threshold (1e-9 at the usual one) is not in the derivative.
)  # fmt: skip


@widened
def _silu_kernel(xp: Any, x: Any) -> Any:
    return x * sigmoid_array(xp, x)


def _silu_partial(x: Any, _out: Any) -> Any:
    s = sigmoid(x)
    return s * (x * (1 - s) + 1)


silu = elementwise("silu", kernel=_silu_kernel, partials=[_silu_partial], samples=unary(-3, 3, complex_too=True))


@widened
def _mish_kernel(xp: Any, x: Any) -> Any:
    return x * xp.tanh(_log_one_plus_exp(xp, x))


def _mish_partial(x: Any, _out: Any) -> Any:
    t = tanh(softplus(x, beta=1.0, threshold=math.inf))
    return t + x * sigmoid(x) * (1 - t * t)


# x tanh(log(1 + e^x)).
mish = elementwise("mish", kernel=_mish_kernel, partials=[_mish_partial], samples=unary(-3, 3))

# ------------------------------------------------------------------------------------------ gelu

_GELU_SCALE, _GELU_CUBE, _ROOT_HALF = math.sqrt(2 / math.pi), 0.044715, math.sqrt(0.5)


def _normal_cdf(xp: Any, x: Any) -> Any:
    """The normal distribution function as frameworks compute it here: in single precision not exact far below 0."""
    return (special_functions(xp).erf(x * scalar(_ROOT_HALF, x)) + scalar(1, x)) * scalar(0.5, x)


@widened
def _gelu_kernel(xp: Any, x: Any) -> Any:
    return x * _normal_cdf(xp, x)


@widened
def _gelu_slope_kernel(xp: Any, x: Any) -> Any:
    return _normal_cdf(xp, x) + x * (xp.exp(x * x * scalar(-0.5, x)) * scalar(1 / SQRT2PI, x))


@widened
def _gelu_tanh_kernel(xp: Any, x: Any) -> Any:
    inner = (x * x * scalar(_GELU_CUBE, x) + scalar(1, x)) * x * scalar(_GELU_SCALE, x)
    return (xp.tanh(inner) + scalar(1, x)) * x * scalar(0.5, x)


def _gelu_tanh_partial(x: Any, _out: Any) -> Any:
    square = x * x
    t = tanh((square * _GELU_CUBE + 1) * x * _GELU_SCALE)
    return (t + 1) * 0.5 + x * (1 - t * t) * (square * (1.5 * _GELU_CUBE) + 0.5) * _GELU_SCALE


# x times the normal distribution function, the derivative of that, and the approximation by tanh.
gelu_slope = elementwise(
    "gelu_slope", kernel=_gelu_slope_kernel, samples=unary(-3, 3),
    partials=[lambda x, _out: (2 - x * x) * normal_density(x)],
)  # fmt: skip
gelu = elementwise("gelu", kernel=_gelu_kernel, samples=unary(-3, 3), partials=[lambda x, _out: gelu_slope(x)])
gelu_tanh = elementwise("gelu_tanh", kernel=_gelu_tanh_kernel, samples=unary(-3, 3), partials=[_gelu_tanh_partial])

# ------------------------------------------------------------------------------------------ pieces of straight lines


def _relu(name: str, pulled: Any) -> Any:
    return elementwise(
        name, kernel=lambda xp, x: xp.maximum(zero_of(x), x),
        vjps=[lambda g, out, _x: pulled(g, out)], regional=["out"],
        jvp=lambda tangents, out, _x: pulled(tangents[0], out),
        samples=lambda: [sample(distinct(2, 3)), sample(uniform(1, 2))],
    )  # fmt: skip


# max(x, 0); the derivative at 0 is 0. That of the second is multiplied with a mask, so that an infinite cotangent gives nan.
relu = _relu("relu", keep_nonzero)
relu_masked = _relu("relu_masked", times_nonzero)


@widened
def _leaky_kernel(xp: Any, x: Any, *, slope: float, at_kink: float) -> Any:
    low = x * scalar(slope, x)
    return xp.maximum(x, low) if 0 < slope <= 1 else xp.where(x > zero_of(x), x, low)


@widened
def _leaky_slope_kernel(xp: Any, g: Any, x: Any, *, slope: float, at_kink: float) -> Any:
    low = xp.where(x > zero_of(x), g, g * scalar(slope, g))
    return low if at_kink == slope else xp.where(x == zero_of(x), g * scalar(at_kink, g), low)


def _infer_pulled(avals: Any, params: dict[str, Any]) -> Aval:
    return Aval(np.broadcast_shapes(avals[0].shape, avals[1].shape), avals[0].dtype)


_leaky_pull = elementwise(
    "leaky_relu_pull", kernel=_leaky_slope_kernel, numpy=on_numpy(_leaky_slope_kernel), infer=_infer_pulled,
    vjps=[lambda h, _out, _g, x, *, slope, at_kink: _leaky_pull(h, x, slope=slope, at_kink=at_kink),
          lambda h, _out, _g, x_, *, slope, at_kink: zeros_like(x_, h)],
    jvp=lambda tangents, out, g, x, *, slope, at_kink: None if tangents[0] is None else _leaky_pull(
        tangents[0], x, slope=slope, at_kink=at_kink),
    samples=lambda: [sample(uniform(-2, 2, 3), np.array([-1.0, -0.2, 2.0]), slope=0.1, at_kink=0.55)],
)  # fmt: skip

# x above 0, slope x below; the derivative at 0 is `at_kink`.
leaky_relu = elementwise(
    "leaky_relu", kernel=_leaky_kernel, numpy=on_numpy(_leaky_kernel),
    vjps=[lambda g, _out, x, *, slope, at_kink: _leaky_pull(g, x, slope=slope, at_kink=at_kink)],
    regional=["x"],
    jvp=lambda tangents, out, x, *, slope, at_kink: _leaky_pull(tangents[0], x, slope=slope, at_kink=at_kink),
    samples=lambda: [sample(distinct(2, 3), slope=0.1, at_kink=0.1), sample(uniform(1, 2), slope=0.2, at_kink=1.0)],
)  # fmt: skip


@widened
def _prelu_kernel(xp: Any, x: Any, weight: Any) -> Any:
    return xp.where(x > zero_of(x), x, x * weight)


@widened
def _prelu_slope_kernel(xp: Any, g: Any, x: Any, weight: Any) -> Any:
    return xp.where(x > zero_of(x), g, g * weight)


# x above 0, weight x below; the weight is an operand.
prelu = elementwise(
    "prelu", kernel=_prelu_kernel, numpy=on_numpy(_prelu_kernel),
    vjps=[lambda g, _out, x, weight: _prelu_pull(g, x, weight),
          lambda g, _out, x, _w: drop(g * x, greater_equal(x, 0))],
    jvp=lambda tangents, out, x, weight: sum_tangents([
        None if tangents[0] is None else _prelu_pull(tangents[0], x, weight),
        None if tangents[1] is None else drop(tangents[1] * x, greater_equal(x, 0))]),
    samples=lambda: [sample(distinct(2, 3), np.array([0.25, 0.1, 0.3])), sample(uniform(-2, -1), np.array(0.2))],
)  # fmt: skip

# What prelu's derivative does to g: the product with 1 above 0, with the weight below.
_prelu_pull = elementwise(
    "prelu_pull", kernel=_prelu_slope_kernel, numpy=on_numpy(_prelu_slope_kernel),
    vjps=[lambda h, _out, _g, x, weight: _prelu_pull(h, x, weight), lambda h, _out, _g, x_, _w: zeros_like(x_, h),
          lambda h, _out, g, x, _w: drop(h * g, greater_equal(x, 0))],
    jvp=lambda tangents, out, g, x, weight: sum_tangents([
        None if tangents[0] is None else _prelu_pull(tangents[0], x, weight),
        None if tangents[2] is None else drop(tangents[2] * g, greater_equal(x, 0))]),
    samples=lambda: [sample(uniform(-2, 2, 2, 3), distinct(2, 3), np.array([0.25, 0.1, 0.3]))],
)  # fmt: skip


def _straight(name: str, kernel: Any, pull: Any, samples: Any) -> Any:
    """A function with parameters of which `pull(g, x, **params)` multiplies g by the derivative."""
    keywords = ", ".join(keyword_names(kernel))
    star, passed = f"*, {keywords}" if keywords else "", "".join(f", {k}={k}" for k in keyword_names(kernel))
    scope = {"pull": pull}
    source = (
        f"def vjp(g, _out, x, {star}):\n    return pull(g, x{passed})\n"
        f"def jvp(tangents, out, x, {star}):\n    return pull(tangents[0], x{passed})"
    )
    exec(compile(source, f"<retrograde {name}>", "exec"), scope)  # noqa: S102 - our own source
    return elementwise(
        name, kernel=kernel, vjps=[scope["vjp"]], jvp=scope["jvp"], samples=samples, infer=infer_same,
        numpy=on_numpy(kernel),
    )  # fmt: skip


def _hardtanh_pull(g: Any, x: Any, *, low: float, high: float) -> Any:
    return between(g, x, low=low, high=high, closed=False, inside=True, of_nan=True)


def _hardtanh_kernel(xp: Any, x: Any, *, low: float, high: float) -> Any:
    return xp.minimum(scalar(high, x), xp.maximum(scalar(low, x), x))


# x clipped to [low, high]; unlike clip, the derivative at the bounds is 0.
hardtanh = _straight(
    "hardtanh", _hardtanh_kernel, _hardtanh_pull,
    lambda: [sample(distinct(2, 3), low=-1.0, high=1.5), sample(uniform(0.1, 0.5), low=0.0, high=6.0)],
)  # fmt: skip


@widened
def _hardsigmoid_kernel(xp: Any, x: Any) -> Any:
    return xp.minimum(xp.maximum(x + scalar(3, x), zero_of(x)), scalar(6, x)) / scalar(6, x)


def _hardsigmoid_pull(g: Any, x: Any) -> Any:
    return between(g * (1 / 6), x, low=-3.0, high=3.0, closed=False, inside=True, of_nan=False)


# min(max(x + 3, 0), 6) / 6, and x times that.
hardsigmoid = _straight(
    "hardsigmoid", _hardsigmoid_kernel, _hardsigmoid_pull, lambda: [sample(distinct(2, 4) * 3 + 0.1)],
)  # fmt: skip


@widened
def _hardswish_slope_kernel(xp: Any, x: Any) -> Any:
    return xp.where(x < 3, xp.where(x <= -3, zero_of(x), x / 3 + scalar(0.5, x)), scalar(1, x))


def _hardswish_slope_pull(g: Any, x: Any) -> Any:
    return between(g * (1 / 3), x, low=-3.0, high=3.0, closed=False, inside=True, of_nan=False)


_hardswish_slope = _straight(
    "hardswish_slope", _hardswish_slope_kernel, _hardswish_slope_pull, lambda: [sample(distinct(2, 4) * 3 + 0.1)]
)


def _hardswish_pull(g: Any, x: Any) -> Any:
    return between(g * _hardswish_slope(x), x, low=-math.inf, high=-3.0, closed=True, inside=False, of_nan=True)


hardswish = _straight(
    "hardswish", widened(lambda xp, x: x * _hardsigmoid_kernel(xp, x)), _hardswish_pull,
    lambda: [sample(distinct(2, 4) * 3 + 0.1), sample(uniform(1, 2))],
)  # fmt: skip


def _shrink_pull(g: Any, x: Any, *, bound: float) -> Any:
    return between(g, x, low=-bound, high=bound, closed=True, inside=False, of_nan=True)


def _softshrink_kernel(xp: Any, x: Any, *, bound: float) -> Any:
    b = scalar(bound, x)
    return xp.where(x > b, x - b, xp.where(x < -b, x + b, x * zero_of(x)))


# 0 where |x| <= bound; outside x, or x moved towards 0 by the bound.
hardshrink = _straight(
    "hardshrink", lambda xp, x, *, bound: xp.where(xp.abs(x) <= scalar(bound, x), zero_of(x), x), _shrink_pull,
    lambda: [sample(distinct(2, 4), bound=0.5), sample(uniform(1, 2), bound=0.5)],
)  # fmt: skip
softshrink = _straight(
    "softshrink", _softshrink_kernel, _shrink_pull,
    lambda: [sample(distinct(2, 4), bound=0.5), sample(uniform(1, 2), bound=0.5)],
)  # fmt: skip


def _threshold_pull(g: Any, x: Any, *, threshold: float, value: float) -> Any:
    return between(g, x, low=-math.inf, high=threshold, closed=True, inside=False, of_nan=True)


# x above the threshold, `value` elsewhere.
threshold = _straight(
    "threshold",
    lambda xp, x, *, threshold, value: xp.where(x <= scalar(threshold, x), scalar(value, x), x), _threshold_pull,
    lambda: [sample(distinct(2, 4), threshold=0.2, value=3.0), sample(uniform(1, 2), threshold=0.5, value=0.0)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ exponential linear units


@widened
def _elu_kernel(xp: Any, x: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    low = xp.minimum(zero_of(x), x)
    if input_scale != 1:
        low = low * scalar(input_scale, x)
    low = xp.expm1(low)
    if alpha * scale != 1:
        low = low * scalar(alpha * scale, x)
    return xp.where(x <= zero_of(x), low, x if scale == 1 else x * scalar(scale, x))


@widened
def _elu_slope_kernel(xp: Any, x: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    low = xp.exp(xp.minimum(zero_of(x), x) * scalar(input_scale, x)) * scalar(alpha * scale * input_scale, x)
    return xp.where(x <= zero_of(x), low, scalar(scale, x))


def _elu_slope_pull(g: Any, x: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    slope = _elu_slope(x, alpha=alpha, scale=scale, input_scale=input_scale)
    return between(
        g * slope * input_scale, x, low=-math.inf, high=0.0, closed=False, inside=True, of_nan=False
    )  # fmt: skip


def _elu_samples() -> Any:
    yield sample(distinct(2, 3), alpha=1.0, scale=1.0, input_scale=1.0)
    yield sample(distinct(4), alpha=1.5, scale=1.2, input_scale=0.7)


_elu_slope = _straight("elu_slope", _elu_slope_kernel, _elu_slope_pull, _elu_samples)


def _elu_pull(g: Any, x: Any, *, alpha: float, scale: float, input_scale: float) -> Any:
    return g * _elu_slope(x, alpha=alpha, scale=scale, input_scale=input_scale)


# scale x above 0, alpha scale (e^(input_scale x) - 1) below.
elu = _straight("elu", _elu_kernel, _elu_pull, _elu_samples)

# alpha (e^(x / alpha) - 1) below 0, which is smooth at 0 for every alpha.
celu = _straight(
    "celu", lambda xp, x, *, alpha: _elu_kernel(xp, x, alpha=alpha, scale=1.0, input_scale=1 / alpha),
    lambda g, x, *, alpha: _elu_pull(g, x, alpha=alpha, scale=1.0, input_scale=1 / alpha),
    lambda: [sample(distinct(2, 3), alpha=1.0), sample(distinct(4), alpha=0.6)],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ gated linear unit


def _halves(x: Any, axis: int) -> tuple[Any, Any]:
    n = shape_of(x)[axis] // 2
    before = (slice(None),) * axis
    return getitem(x, index=(*before, slice(None, n))), getitem(x, index=(*before, slice(n, None)))


@widened
def _glu_kernel(xp: Any, x: Any, *, axis: int) -> Any:
    n, before = x.shape[axis] // 2, (slice(None),) * axis
    return x[(*before, slice(n), Ellipsis)] * sigmoid_array(xp, x[(*before, slice(n, None), Ellipsis)])


def _glu_vjp(g: Any, _out: Any, x: Any, *, axis: int) -> Any:
    a, b = _halves(x, axis)
    s = sigmoid(b)
    return concatenate(g * s, g * a * (s * (1 - s)), axis=axis)


def _glu_tangent(tangents: Any, out: Any, x: Any, *, axis: int) -> Any:
    (a, b), (da, db) = _halves(x, axis), _halves(tangents[0], axis)
    s = sigmoid(b)
    return da * s + db * a * (s * (1 - s))


def _infer_glu(avals: Any, params: dict[str, Any]) -> Aval:
    shape, axis = avals[0].shape, params["axis"]
    checked_axes(shape, axis)
    demand(shape[axis] % 2 == 0, f"glu halves axis {axis}, whose size {shape[axis]} is odd")
    return Aval((*shape[:axis], shape[axis] // 2, *shape[axis + 1 :]), avals[0].dtype)


# The first half along an axis times the sigmoid of the second.
glu = primitive(
    "glu", kernel=_glu_kernel, kind="composite", vjps=[_glu_vjp], jvp=_glu_tangent, batch=batch_axes("axis"), infer=_infer_glu,
    samples=lambda: [sample(uniform(-2, 2, 4), axis=0), sample(uniform(-2, 2, 3, 2), axis=1)],
)  # fmt: skip
