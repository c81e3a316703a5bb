"""Elementwise arithmetic, powers, exponentials, logarithms, trigonometric and hyperbolic functions.

Comparisons stand in comparison.py, choices and rounding in selection.py, complex parts in complex_parts.py, special
functions in special.py, activations in activation.py.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..backend.dtypes import astype, is_boolean, is_complex, is_integer, is_unsigned
from ..core.aval import Aval
from ..core.primitive import Ufunc, primitive
from ..core.value import dtype_of
from .comparison import equal, greater_equal, logical_and
from .kernels import no_zeros, scalar, sigmoid_array, sigmoid_numpy, widened, widened_numpy, zero_of
from .rules import conj, elementwise, infer_same, sum_tangents
from .samples import binary, normal, sample, unary, uniform
from .selection import drop, keep_nonzero, sign, where
from .slopes import tanh_slope
from .structural import broadcast_like, imag, real, zeros_like

LN2, LN10 = math.log(2.0), math.log(10.0)

# ------------------------------------------------------------------------------------------ arithmetic

add = elementwise("add", kernel=Ufunc("add"), samples=binary(-3, 3, complex_too=True), vjps=["g", "g"])

subtract = elementwise("subtract", kernel=Ufunc("subtract"), samples=binary(-3, 3, complex_too=True), vjps=["g", "-g"])

multiply = elementwise(
    "multiply", kernel=Ufunc("multiply"), samples=binary(-3, 3, complex_too=True),
    vjps=["g * conj(y)", "g * conj(x)"],
)  # fmt: skip

# The rule of y divides again instead of keeping the result, which users change in place (`z = x / y; z += 1`).
divide = elementwise(
    "divide", kernel=Ufunc("divide"), samples=binary(-3, 3, 1, 3, complex_too=True),
    vjps=["g / conj(y)", "-g * conj(x / y / y)"],
)  # fmt: skip

negative = elementwise(
    "negative", kernel=Ufunc("negative"), samples=unary(-3, 3, complex_too=True),
    vjps=[lambda g, _out, _x: -g], jvp=lambda tangents, out, x: -tangents[0],
)  # fmt: skip

reciprocal = elementwise(
    "reciprocal", kernel=lambda xp, x: scalar(1, x) / x, samples=unary(0.5, 3, complex_too=True),
    partials=[lambda _x, out: -(out * out)],
)  # fmt: skip


def _scaled_samples(*operands: Any, **params: Any) -> Any:
    def make() -> Any:
        for s in binary(-3, 3, complex_too=True)():
            yield sample(*s.operands, **params)

    return make


# x + alpha y and x - alpha y, each one operation.
add_scaled = elementwise(
    "add_scaled", kernel=widened(lambda xp, x, y, *, alpha: x + y * scalar(alpha, y)),
    vjps=[lambda g, _out, _x, _y, *, alpha: g, lambda g, _out, _x, _y, *, alpha: g * conj(alpha)],
    jvp=lambda tangents, out, x, y, *, alpha: broadcast_like(
        sum_tangents([tangents[0], None if tangents[1] is None else tangents[1] * alpha]), out),
    samples=_scaled_samples(alpha=-1.5),
)  # fmt: skip

subtract_scaled = elementwise(
    "subtract_scaled", kernel=widened(lambda xp, x, y, *, alpha: x - y * scalar(alpha, y)),
    vjps=[lambda g, _out, _x, _y, *, alpha: g, lambda g, _out, _x, _y, *, alpha: g * -conj(alpha)],
    jvp=lambda tangents, out, x, y, *, alpha: broadcast_like(
        sum_tangents([tangents[0], None if tangents[1] is None else tangents[1] * -alpha]), out),
    samples=_scaled_samples(alpha=2.0),
)  # fmt: skip


def _ternary(low: float, high: float, **params: Any) -> Any:
    def make() -> Any:
        yield sample(uniform(-2, 2, 3), uniform(low, high, 3, seed=1), uniform(low, high, 3, seed=2), **params)
        yield sample(uniform(-2, 2, 2, 1), uniform(low, high, seed=1), uniform(low, high, 3, seed=2), **params)
        z = uniform(low, high, 2) + 1j * uniform(low, high, 2, seed=3)
        yield sample(z * 1j, z + 0.3, z * (1 + 0.5j), **params)

    return make


# x + value a b and x + value a / b, each one operation.
add_product = elementwise(
    "add_product", kernel=widened(lambda xp, x, a, b, *, value: x + scalar(value, a) * a * b),
    vjps=[lambda g, _out, _x, _a, _b, *, value: g, lambda g, _out, _x, _a, b, *, value: g * conj(b * value),
          lambda g, _out, _x, a, _b, *, value: g * conj(a * value)],
    jvp=lambda tangents, out, x, a, b, *, value: broadcast_like(sum_tangents([
        tangents[0], None if tangents[1] is None else tangents[1] * (b * value),
        None if tangents[2] is None else tangents[2] * (a * value)]), out),
    samples=_ternary(-2, 2, value=0.5),
)  # fmt: skip

add_quotient = elementwise(
    "add_quotient", kernel=widened(lambda xp, x, a, b, *, value: x + scalar(value, a) * a / b),
    vjps=[lambda g, _out, _x, _a, _b, *, value: g, lambda g, _out, _x, _a, b, *, value: g * conj(value / b),
          lambda g, _out, _x, a, b, *, value: -g * conj(a * value / (b * b))],
    jvp=lambda tangents, out, x, a, b, *, value: broadcast_like(sum_tangents([
        tangents[0], None if tangents[1] is None else tangents[1] * (value / b),
        None if tangents[2] is None else -tangents[2] * (a * value / (b * b))]), out),
    samples=_ternary(1, 2, value=-1.5),
)  # fmt: skip


# From the nearer end, so that both ends are met exactly.
@widened
def _lerp_kernel(xp: Any, x: Any, y: Any, w: Any) -> Any:
    d = y - x
    return xp.where(xp.abs(w) < 0.5, x + w * d, y - d * (1 - w))


lerp = elementwise(
    "lerp", kernel=_lerp_kernel, samples=_ternary(-2, 2),
    vjps=[lambda g, _out, _x, _y, w: g * conj(1 - w), lambda g, _out, _x, _y, w: g * conj(w),
          lambda g, _out, x, y, _w: g * conj(y - x)],
    jvp=lambda tangents, out, x, y, w: broadcast_like(sum_tangents([
        None if t is None else t * p for t, p in zip(tangents, (1 - w, w, y - x))]), out),
)  # fmt: skip


@widened
def _lerp_by_kernel(xp: Any, x: Any, y: Any, *, weight: Any) -> Any:
    d = y - x
    return x + scalar(weight, y) * d if abs(weight) < 0.5 else y - d * scalar(1 - weight, y)


lerp_by = elementwise(
    "lerp_by", kernel=_lerp_by_kernel, samples=_scaled_samples(weight=0.3),
    vjps=[lambda g, _out, _x, _y, *, weight: g * conj(1 - weight), lambda g, _out, _x, _y, *, weight: g * conj(weight)],
    jvp=lambda tangents, out, x, y, *, weight: broadcast_like(sum_tangents([
        None if tangents[0] is None else tangents[0] * (1 - weight),
        None if tangents[1] is None else tangents[1] * weight]), out),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ remainders


# With the sign of the divisor; a zero keeps that of the dividend, as C's fmod has it.
def _remainder_numpy(x: Any, y: Any) -> Any:
    if x.dtype.kind != "f":
        return np.remainder(x, y)
    r = np.fmod(x, y)
    return np.where((r != 0) & ((y < 0) != (r < 0)), r + y, r)


# modulo: the same, where a zero has the sign of the divisor as well, as NumPy and the array API standard have it.
remainder, modulo = (
    elementwise(
        name, kernel=Ufunc("remainder"), numpy=numpy, samples=binary(2.1, 2.9, 0.9, 1),
        vjps=[lambda g, _out, _x, _y: g, lambda g, _out, x, y: -g * floor_divide(x, y)],
        jvp=lambda tangents, out, x, y: broadcast_like(sum_tangents([
            tangents[0], None if tangents[1] is None else -tangents[1] * floor_divide(x, y)]), out),
    )
    for name, numpy in (("remainder", _remainder_numpy), ("modulo", np.remainder))
)  # fmt: skip



# With the sign of the dividend.
def _fmod_kernel(xp: Any, x: Any, y: Any) -> Any:
    size = xp.remainder(xp.abs(x), xp.abs(y))
    return xp.where(x < 0, -size, size)


fmod = elementwise(
    "fmod", kernel=_fmod_kernel, numpy=np.fmod, samples=binary(-2.9, -2.1, 0.9, 1),
    vjps=[lambda g, _out, _x, _y: g, lambda g, _out, x, y: -g * trunc_divide(x, y)],
    jvp=lambda tangents, out, x, y: broadcast_like(sum_tangents([
        tangents[0], None if tangents[1] is None else -tangents[1] * trunc_divide(x, y)]), out),
)  # fmt: skip


def _flat_binary(name: str, kernel: Any) -> Any:
    """A quotient that is constant between its jumps: derivative 0."""
    return elementwise(
        name, kernel=kernel, samples=binary(2.1, 2.9, 0.9, 1),
        vjps=[lambda g, _out, _x, _y: zeros_like(g), lambda g, _out, _x, _y: zeros_like(g)],
        jvp=lambda tangents, out, x, y: None,
    )  # fmt: skip


def _refusing(name: str, kernel: Any, samples: Any) -> Any:
    """An operation of two operands whose derivative a framework refuses to give although it is 0 nearly everywhere."""

    def rule(*_: Any) -> Any:
        raise RuntimeError(f"{name}: there is no derivative; detach the operands, or use an operation that has one")

    return elementwise(
        name + "_refusing", kernel=kernel, samples=samples, jvp=lambda tangents, out, x, y: rule(),
        vjps=[lambda _g, _out, _x, _y: rule(), lambda _g, _out, _x, _y: rule()],
    )  # fmt: skip


def _trunc_divide_kernel(xp: Any, x: Any, y: Any) -> Any:
    if is_integer(x):
        q = xp.floor_divide(x, y)
        return q + astype(xp, (q < 0) & (q * y != x), q.dtype)
    return xp.trunc(x / y)


floor_divide = _flat_binary("floor_divide", Ufunc("floor_divide"))
trunc_divide = _flat_binary("trunc_divide", _trunc_divide_kernel)
floor_divide_refusing = _refusing(
    "floor_divide", Ufunc("floor_divide"), lambda: [sample(np.array([7, -7]), np.array([2, 2]))]
)
heaviside_refusing = _refusing(
    "heaviside", lambda xp, x, values: xp.where(x == 0, values, astype(xp, x > 0, x.dtype)),  # 0 at nan
    lambda: [sample(np.array([1, 0]), np.array([5, 5]))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ powers


def _whole_power(xp: Any, x: Any, y: Any) -> Any:
    """Whole powers in integers: a negative exponent gives the whole part, 0 but for 1 and -1."""
    if is_unsigned(y):
        return xp.pow(x, y)
    zero, one = scalar(0, x), scalar(1, x)
    sign = xp.where(y % 2 != 0, x, x * x)  # for 1 and -1
    small = xp.where((x == one) | (x == -1), sign, x * zero)
    return xp.where(y < 0, small, xp.pow(x, xp.where(y < 0, scalar(0, y), y)))


def _power_kernel(xp: Any, x: Any, y: Any) -> Any:
    return _whole_power(xp, x, y) if is_integer(x) and is_integer(y) else xp.pow(x, y)


def _power_numpy(x: Any, y: Any) -> Any:
    if x.dtype.kind not in "iu" or y.dtype.kind == "u" or not (y < 0).any():
        return np.pow(x, y)
    odd = (y % 2 != 0) & (x == -1)
    small = np.where(x == 1, 1, np.where(x == -1, np.where(odd, -1, 1), 0)).astype(x.dtype)
    return np.where(y < 0, small, np.pow(x, np.where(y < 0, 0, y)))


def _power_samples() -> Any:
    yield from binary(0.5, 3, -2, 2, complex_too=True)()
    yield sample(np.array([-1.5, 2.0]), np.array([2.0, 0.0]))


def _exponent_partial(x: Any, y: Any, out: Any) -> Any:
    """x^y log x, which is 0 at x = 0 for y >= 0."""
    nothing = logical_and(equal(x, 0), greater_equal(real(y) if dtype_of(y).kind == "c" else y, 0))
    return drop(out * log(x), nothing)


def _power_tangent(tangents: Any, out: Any, x: Any, y: Any) -> Any:
    by_base, by_exponent = tangents
    return broadcast_like(sum_tangents([
        None if by_base is None else drop(by_base * (y * power(x, y - 1)), equal(y, 0)),
        None if by_exponent is None else by_exponent * _exponent_partial(x, y, out)]), out)  # fmt: skip


# At y = 0 the cotangent is dropped with its factor: it may be nan there, as in second derivatives for negative bases.
power = elementwise(
    "power",
    kernel=_power_kernel, numpy=_power_numpy,
    vjps=[lambda g, _out, x, y: drop(g * conj(y * power(x, y - 1)), equal(y, 0)),
          lambda g, out, x, y: g * conj(_exponent_partial(x, y, out))],
    jvp=_power_tangent,
    samples=lambda: list(_power_samples())[:-1],
)  # fmt: skip


def _power_by_kernel(xp: Any, x: Any, *, exponent: Any) -> Any:
    if exponent == 2:
        return x * x
    if is_integer(x):
        return xp.pow(x, scalar(exponent, x))
    if exponent == 3:
        return x * x * x
    if exponent == 0.5:
        return xp.sqrt(x)
    if exponent == -0.5:
        return scalar(1, x) / xp.sqrt(x)
    if exponent == -1:
        return scalar(1, x) / x
    if exponent == -2:
        return scalar(1, x) / (x * x)
    if exponent == 1:
        return x | x if is_boolean(x) else xp.positive(x)
    return xp.pow(x, scalar(exponent, x))


def _power_by_partial(x: Any, *, exponent: Any) -> Any:
    if exponent == 2 and type(x) is np.ndarray:
        return x + x  # NumPy takes twice as long for x * 2
    # Recorded, each derivative is a power again, so that it depends on x as far as PyTorch says it does.
    return power_by(x, exponent=exponent - 1) * exponent


def _power_by_vjp(g: Any, _out: Any, x: Any, *, exponent: Any) -> Any:
    return zeros_like(x, g) if exponent == 0 else g * conj(_power_by_partial(x, exponent=exponent))


def _power_by_tangent(tangents: Any, _out: Any, x: Any, *, exponent: Any) -> Any:
    return zeros_like(x) if exponent == 0 else tangents[0] * _power_by_partial(x, exponent=exponent)


def _power_by_samples() -> Any:
    for exponent in (2, 3, 0.5, -1, -2, 1, 0, -0.5, 2.7):
        yield sample(uniform(0.5, 3, 3), exponent=exponent)
    yield sample(uniform(-3, -1, 2, 2), exponent=4)
    yield sample(uniform(1, 2) + 0.5j, exponent=1.5)


# A power with a number as the exponent, a static parameter.
power_by = elementwise(
    "power_by", kernel=_power_by_kernel, vjps=[_power_by_vjp], jvp=_power_by_tangent, samples=_power_by_samples,
    infer=infer_same,
)  # fmt: skip

square = elementwise(
    "square", kernel=Ufunc("square"), samples=unary(-3, 3, complex_too=True), partials=[lambda x, _out: x + x],
)  # fmt: skip

sqrt = elementwise(
    "sqrt", kernel=Ufunc("sqrt"), samples=unary(0.3, 3, complex_too=True),
    partials=[lambda _x, out: 0.5 / out], vjps=[lambda g, out, _x: g / conj(out * 2)],
)  # fmt: skip

rsqrt = elementwise(
    "rsqrt", kernel=widened(lambda xp, x: scalar(1, x) / xp.sqrt(x)), samples=unary(0.3, 3, complex_too=True),
    partials=[lambda _x, out: out * out * out * -0.5],
)  # fmt: skip

hypot = elementwise(
    "hypot", kernel=Ufunc("hypot"), samples=binary(0.5, 2, -2, -0.5),
    partials=[lambda x, _y, out: x / out, lambda _x, y, out: y / out],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ size and direction


def _infer_size(avals: Any, params: dict[str, Any]) -> Aval:
    d = avals[0].dtype
    return Aval(avals[0].shape, np.dtype(f"f{d.itemsize // 2}") if d.kind == "c" else d)


def _absolute_vjp(g: Any, _out: Any, x: Any) -> Any:
    return g * (sgn(x) if dtype_of(x).kind == "c" else sign(x, nan_to_zero=True))


def _absolute_tangent(tangents: Any, out: Any, x: Any) -> Any:
    (t,) = tangents
    return real(conj(sgn(x)) * t) if dtype_of(x).kind == "c" else t * sign(x, nan_to_zero=True)


def _absolute(name: str, vjp: Any, tangent: Any) -> Any:
    return elementwise(
        name, kernel=Ufunc("abs"), vjps=[vjp], jvp=tangent, infer=_infer_size, regional=["x"],
        samples=lambda: [*unary(0.3, 2)(), sample(uniform(-2, -1, 2)), sample(uniform(-2, 2, 3) + 1j)],
    )  # fmt: skip


def _stopped_vjp(g: Any, _out: Any, x: Any) -> Any:
    return g * sgn(x) if dtype_of(x).kind == "c" else keep_nonzero(g, x) * sign(x, nan_to_zero=False)


def _stopped_tangent(tangents: Any, out: Any, x: Any) -> Any:
    return _absolute_tangent(tangents, out, x) if dtype_of(x).kind == "c" else _stopped_vjp(tangents[0], out, x)


absolute = _absolute("absolute", _absolute_vjp, _absolute_tangent)
# The same with a derivative that stops an infinite cotangent where x is 0, and is nan where x is.
absolute_stopped = _absolute("absolute_stopped", _stopped_vjp, _stopped_tangent)


_sign = sign.prim.kernel


def _sgn_kernel(xp: Any, x: Any) -> Any:
    if not is_complex(x):
        return _sign(xp, x, nan_to_zero=True)
    size = xp.abs(x)
    if type(size) is np.ndarray and no_zeros(size):
        return x / size
    return xp.where(size == 0, zero_of(x), x / xp.where(size == 0, scalar(1, size), size))


def _sgn_pushed(g: Any, out: Any, x: Any) -> Any:
    """The derivative of z / |z| applied to g; it is its own transpose. 0 at 0, and for a real operand everywhere."""
    if dtype_of(x).kind != "c":
        return zeros_like(x)
    size = absolute(x)
    at_zero = equal(size, 0)
    return drop((g - real(conj(out) * g) * out) / where(at_zero, size + 1, size), at_zero)


# x / |x|, and 0 at 0.
sgn = elementwise(
    "sgn", kernel=_sgn_kernel, vjps=[_sgn_pushed],
    jvp=lambda tangents, out, x: _sgn_pushed(tangents[0], out, x),
    samples=lambda: [*unary(0.3, 2)(), sample(uniform(-2, 2, 3) + 1j)],
)  # fmt: skip


def _angle_kernel(xp: Any, x: Any) -> Any:
    if is_complex(x):
        return xp.atan2(xp.imag(x), xp.real(x))
    return xp.where(x < 0, scalar(math.pi, x), xp.where(x == x, zero_of(x), x))


def _angle_vjp(g: Any, _out: Any, x: Any) -> Any:
    if dtype_of(x).kind != "c":
        return zeros_like(g)
    size = real(x * conj(x))
    at_zero = equal(size, 0)
    return drop(x * (g / where(at_zero, size + 1, size)) * 1j, at_zero)


def _angle_tangent(tangents: Any, out: Any, x: Any) -> Any:
    if dtype_of(x).kind != "c":
        return None
    size = real(x * conj(x))
    at_zero = equal(size, 0)
    return drop(imag(conj(x) * tangents[0]) / where(at_zero, size + 1, size), at_zero)


# The argument of a complex number: 0 or pi for a real one.
angle = elementwise(
    "angle", kernel=_angle_kernel, vjps=[_angle_vjp], jvp=_angle_tangent, infer=_infer_size,
    samples=lambda: [sample(uniform(-2, -1, 3)), sample(uniform(-2, 2, 3) + 1j)],
)  # fmt: skip

# x with the sign of y (that of a zero counts).
copysign = elementwise(
    "copysign", kernel=Ufunc("copysign"), samples=binary(0.5, 2, -2, -1),
    vjps=[lambda g, out, x, _y: g * (sign(x, nan_to_zero=False) * sign(out, nan_to_zero=False)),
          lambda g, _out, _x, _y: zeros_like(g)],
    jvp=lambda tangents, out, x, y: None if tangents[0] is None else (
        tangents[0] * (sign(x, nan_to_zero=False) * sign(out, nan_to_zero=False))),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ exponentials, logarithms

exp = elementwise(
    "exp", kernel=Ufunc("exp"), samples=unary(-2, 2, complex_too=True), partials=[lambda _x, out: out],
)  # fmt: skip

exp2 = elementwise(
    "exp2", kernel=lambda xp, x: xp.pow(scalar(2, x), x), numpy=np.exp2,
    samples=unary(-2, 2, complex_too=True), partials=[lambda _x, out: out * LN2],
)  # fmt: skip

expm1 = elementwise(
    "expm1", kernel=Ufunc("expm1"), samples=unary(-2, 2, complex_too=True), partials=[lambda _x, out: out + 1],
)  # fmt: skip

log = elementwise(
    "log", kernel=Ufunc("log"), samples=unary(0.3, 3, complex_too=True), partials=[lambda x, _out: 1 / x],
    vjps=[lambda g, _out, x: g / conj(x)],
)  # fmt: skip

log2 = elementwise(
    "log2", kernel=Ufunc("log2"), samples=unary(0.3, 3, complex_too=True), partials=[lambda x, _out: 1 / (x * LN2)],
    vjps=[lambda g, _out, x: g / conj(x * LN2)],
)  # fmt: skip

log10 = elementwise(
    "log10", kernel=Ufunc("log10"), samples=unary(0.3, 3, complex_too=True), partials=[lambda x, _out: 1 / (x * LN10)],
    vjps=[lambda g, _out, x: g / conj(x * LN10)],
)  # fmt: skip

log1p = elementwise(
    "log1p", kernel=Ufunc("log1p"), samples=unary(-0.5, 3, complex_too=True), partials=[lambda x, _out: 1 / (x + 1)],
    vjps=[lambda g, _out, x: g / conj(x + 1)],
)  # fmt: skip


def _logaddexp_kernel(xp: Any, x: Any, y: Any) -> Any:
    if not is_complex(x):
        return xp.logaddexp(x, y)
    first = xp.real(x) >= xp.real(y)
    high, low = xp.where(first, x, y), xp.where(first, y, x)
    # Two equal infinities: their difference would be nan.
    top, same = xp.real(high), xp.real(high) == xp.real(low)
    rest = xp.where(same & xp.isinf(top), xp.exp(low - xp.real(low)), xp.exp(low - high))
    return high + xp.log1p(rest)


# The logistic function as statistics writes it. Unlike that of `sigmoid`, which frameworks take from the result, its
# derivative keeps its digits at both ends, where 1 - out would cancel, and so do those of higher order.
expit = elementwise(
    "expit", kernel=widened(sigmoid_array), numpy=widened_numpy(sigmoid_numpy),
    samples=unary(-3, 3, complex_too=True),
    partials=[lambda x, out: out * expit(-x)],
)  # fmt: skip

logaddexp = elementwise(
    "logaddexp", kernel=_logaddexp_kernel, samples=binary(-2, 2, complex_too=True),
    partials=[lambda x, y, _out: expit(x - y), lambda x, y, _out: expit(y - x)],
)  # fmt: skip

logaddexp2 = elementwise(
    "logaddexp2", kernel=lambda xp, x, y: xp.logaddexp(x * LN2, y * LN2) / LN2, numpy=np.logaddexp2, samples=binary(-2, 2),
    partials=[lambda x, y, _out: expit((x - y) * LN2), lambda x, y, _out: expit((y - x) * LN2)],
)  # fmt: skip

# x 2^y.
ldexp = elementwise(
    "ldexp", kernel=lambda xp, x, y: x * xp.pow(scalar(2, y), y), numpy=widened_numpy(lambda x, y: x * np.exp2(y)),
    samples=binary(-2, 2, 0, 3),
    partials=[lambda _x, y, _out: exp2(y), lambda _x, _y, out: out * LN2],
)  # fmt: skip


def _frexp_kernel(xp: Any, x: Any) -> Any:
    size = xp.abs(x)
    usual = xp.isfinite(x) & (size > 0)
    size = xp.where(usual, size, scalar(1, x))
    # The logarithm may round across a power of two, so the mantissa is looked at.
    power = xp.floor(xp.log2(size)) + 1
    half = xp.floor(power / 2)  # in two steps, since 2^-power may be no number
    mantissa = size / xp.pow(scalar(2, x), half)
    mantissa = mantissa / xp.pow(scalar(2, x), power - half)
    low, high = mantissa < 0.5, mantissa >= 1
    mantissa = xp.where(low, mantissa * 2, xp.where(high, mantissa / 2, mantissa))
    power = xp.where(low, power - 1, xp.where(high, power + 1, power))
    mantissa = xp.where(usual, xp.where(x < 0, -mantissa, mantissa), x)
    return mantissa, astype(xp, xp.where(usual, power, zero_of(x)), np.int32)


def _frexp_numpy(x: Any) -> Any:
    if x.dtype.kind == "V":
        mantissa, exponent = np.frexp(x.astype(np.float32))
        return mantissa.astype(x.dtype), exponent
    return np.frexp(x)


def _frexp_tangent(tangents: Any, out: Any, x: Any) -> Any:
    return tangents[0] * exp2(-_exponents(out[1], x)), None


def _exponents(e: Any, x: Any) -> Any:
    from .structural import cast

    return cast(e, dtype=dtype_of(x))


# x as a mantissa in [0.5, 1) times a power of two: (mantissa, exponent).
frexp = primitive(
    "frexp", kernel=_frexp_kernel, numpy=_frexp_numpy, kind="elementwise", multi=True, diff_outs=(True, False),
    used_outs=(False, True), vjps=[lambda g, out, x_: g[0] * exp2(-_exponents(out[1], x_))], jvp=_frexp_tangent,
    batch=lambda op, arrays, dims, params: (op(arrays[0]), (dims[0], dims[0])),
    infer=lambda avals, params: (avals[0], Aval(avals[0].shape, np.dtype(np.int32))),
    samples=lambda: [sample(uniform(1.1, 1.9, 3)), sample(normal(2, 2) + 0.1), sample(uniform(2.2, 3))],
)  # fmt: skip

# ------------------------------------------------------------------------------------------ trigonometric, hyperbolic

sin = elementwise(
    "sin", kernel=Ufunc("sin"), samples=unary(-3, 3, complex_too=True), partials=[lambda x, _out: cos(x)],
)  # fmt: skip

cos = elementwise(
    "cos", kernel=Ufunc("cos"), samples=unary(-3, 3, complex_too=True), partials=[lambda x, _out: -sin(x)],
)  # fmt: skip

tan = elementwise(
    "tan", kernel=Ufunc("tan"), samples=unary(-1.2, 1.2, complex_too=True), partials=[lambda _x, out: out * out + 1],
)  # fmt: skip

asin = elementwise(
    "asin", kernel=Ufunc("asin"), samples=unary(-0.9, 0.9, complex_too=True),
    partials=[lambda x, _out: rsqrt(1 - x * x)],
)  # fmt: skip

acos = elementwise(
    "acos", kernel=Ufunc("acos"), samples=unary(-0.9, 0.9, complex_too=True),
    partials=[lambda x, _out: -rsqrt(1 - x * x)],
)  # fmt: skip

atan = elementwise(
    "atan", kernel=Ufunc("atan"), samples=unary(-3, 3, complex_too=True), partials=[lambda x, _out: 1 / (x * x + 1)],
)  # fmt: skip


def _square_size(x: Any, y: Any) -> Any:
    """x^2 + y^2, and infinity where both are 0, so that what is divided by it is 0."""
    size = x * x + y * y
    if type(size) is np.ndarray and no_zeros(size):
        return size
    return where(equal(size, 0), size + math.inf, size)


def _atan2(name: str, square_size: Any) -> Any:
    return elementwise(
        name, kernel=Ufunc("atan2"), samples=binary(0.5, 2, -2, -1),
        partials=[lambda x, y, _out: y / square_size(x, y), lambda x, y, _out: -x / square_size(x, y)],
    )  # fmt: skip


# The derivative at the origin, where there is none, is 0; that of the second is nan.
atan2 = _atan2("atan2", _square_size)
atan2_undefined = _atan2("atan2_undefined", lambda x, y: x * x + y * y)

sinh = elementwise(
    "sinh", kernel=Ufunc("sinh"), samples=unary(-2, 2, complex_too=True), partials=[lambda x, _out: cosh(x)],
)  # fmt: skip

cosh = elementwise(
    "cosh", kernel=Ufunc("cosh"), samples=unary(-2, 2, complex_too=True), partials=[lambda x, _out: sinh(x)],
)  # fmt: skip

tanh = elementwise(
    "tanh", kernel=Ufunc("tanh"), samples=unary(-2, 2, complex_too=True), partials=[lambda _x, out: 1 - out * out],
    vjps=[lambda g, out, _x: tanh_slope(g, out) if dtype_of(out).kind != "c" else g * conj(1 - out * out)],
)  # fmt: skip

asinh = elementwise(
    "asinh", kernel=Ufunc("asinh"), samples=unary(-2, 2, complex_too=True),
    partials=[lambda x, _out: rsqrt(x * x + 1)],
)  # fmt: skip

# The product of two roots, since the root of x^2 - 1 is on the wrong branch in the left half plane.
acosh = elementwise(
    "acosh", kernel=Ufunc("acosh"), samples=lambda: [*unary(1.2, 3)(), sample(uniform(-2, 2, 4) + 0.7j)],
    partials=[lambda x, _out: rsqrt(x - 1) * rsqrt(x + 1) if dtype_of(x).kind == "c" else rsqrt(x * x - 1)],
)  # fmt: skip

atanh = elementwise(
    "atanh", kernel=Ufunc("atanh"), samples=unary(-0.9, 0.9, complex_too=True),
    partials=[lambda x, _out: 1 / (1 - x * x)],
)  # fmt: skip

deg2rad = elementwise(
    "deg2rad", kernel=lambda xp, x: x * (math.pi / 180), numpy=np.deg2rad, samples=unary(-90, 90),
    vjps=[lambda g, _out, _x: g * (math.pi / 180)],
    jvp=lambda tangents, out, x: tangents[0] * (math.pi / 180),
)  # fmt: skip

rad2deg = elementwise(
    "rad2deg", kernel=lambda xp, x: x * (180 / math.pi), numpy=np.rad2deg, samples=unary(-2, 2),
    vjps=[lambda g, _out, _x: g * (180 / math.pi)],
    jvp=lambda tangents, out, x: tangents[0] * (180 / math.pi),
)  # fmt: skip

# ------------------------------------------------------------------------------------------ neighbours

# The next number after x towards y: as a function of x it is x plus a constant.
nextafter = elementwise(
    "nextafter", kernel=Ufunc("nextafter"), samples=binary(-3, 3),
    vjps=[lambda g, _out, x, y: drop(g, equal(x, y)), lambda g, _out, _x, _y: zeros_like(g)],
    jvp=lambda tangents, out, x, y: None if tangents[0] is None else drop(tangents[0], equal(x, y)),
)  # fmt: skip
