"""Activation functions, with the derivatives at kinks that MindSpore's CPU kernels have."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import activation as act
from ...ops import elementwise as ew
from ...ops import manipulation as mp
from ...ops import selection as sel
from ...ops import softmax as soft
from ...ops import structural as st
from .._shared.axes import axis_of, length_of
from .._shared.elementwise import constant
from ._api import api, row
from ._arguments import function, number
from ._dtype import FROM_NUMPY, as_dtype, float32
from ._promote import BUILD, FLOATING, REAL, single, tensor_argument, to_dtype
from ._stream import generator as global_stream
from ._tensor import from_array
from ._unary import BUILD_XY, INEXACT

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946

sigmoid = api("sigmoid", in_place=True)(BUILD.unary("sigmoid", act.sigmoid, INEXACT))
silu = api("silu", method=False)(BUILD.unary("silu", act.silu, INEXACT))
mish = api("mish", method=False)(BUILD_XY.unary("mish", act.mish, FLOATING))
logsigmoid = api("logsigmoid", method=False)(BUILD_XY.unary("logsigmoid", act.log_sigmoid, FLOATING))


_relu = act.relu.prim.bind  # type: ignore[attr-defined]


@api(method=False)
def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0), with the derivative 0 at 0."""
    if not inplace and isinstance(input, Value):
        a = input._a
        if type(a) is np.ndarray and a.dtype.kind == "f":
            return _relu(input)
    out = act.relu(single("relu", input, REAL))
    if inplace:
        from ...tape.inplace import update

        return update("relu", input, lambda: out)
    return out


@api(method=False)
def relu6(x: Any) -> Any:
    """min(max(x, 0), 6), with the derivative 1 at 6."""
    y = act.relu(single("relu6", x, FLOATING))
    return sel.minimum(y, constant(6, dtype_of(y)), ties="first")


@api(method=False)
def hardtanh(input: Any, min_val: Any = -1.0, max_val: Any = 1.0) -> Any:
    """`input` brought into [min_val, max_val]; half the derivative at the bounds."""
    x = single("hardtanh", input, REAL)
    for name, value in (("min_val", min_val), ("max_val", max_val)):
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise TypeError(f"hardtanh: {name} must be a number, got {type(value).__name__}")
    d = dtype_of(x)
    return sel.minimum(sel.maximum(x, constant(min_val, d), ties="half"), constant(max_val, d), ties="half")


def _cut(op: str, input: Any, f: Any) -> Any:
    """A function of a floating tensor; of integers its whole part."""
    x = single(op, input, "x..x")
    d = FROM_NUMPY[dtype_of(x)]
    return f(x) if d.category == 2 else to_dtype(f(to_dtype(x, float32)), d)


hardsigmoid = row("hardsigmoid", lambda input: _cut("hardsigmoid", input, act.hardsigmoid),
    "x / 6 + 1/2 brought into [0, 1].", method=False)  # fmt: skip


@api(method=False)
def hardswish(input: Any) -> Any:
    """x times hardsigmoid of x; at -3 and 3 the derivative of the piece between them."""
    return _cut("hardswish", input, lambda x: x * sel.clip(x + 3.0, low=0, high=6) * (1 / 6))


hardshrink = function("hardshrink", "input: Floating, lambd: Float = 0.5", act.hardshrink, "0 where |x| <= lambd, x elsewhere.",
    called={"lambd": "bound"})  # fmt: skip
softshrink = function("softshrink", "input: Floating, lambd: Float = 0.5", act.softshrink,
    "0 where |x| <= lambd, x moved towards 0 by lambd elsewhere.", called={"lambd": "bound"}, method=False)  # fmt: skip
api("soft_shrink")(softshrink)


@api(method=False)
def tanhshrink(input: Any) -> Any:
    """x - tanh(x)."""
    x = single("tanhshrink", input, "xf..")
    return x - ew.tanh(x)


softsign = function("softsign", "x: Floating", lambda x: x / (ew.absolute(x) + 1.0), "x / (1 + |x|).", method=False)
softplus = function("softplus", "input: Floating, beta: float = 1, threshold: float = 20", act.softplus,
    "log(1 + exp(beta x)) / beta, and x itself where beta x is above the threshold.", method=False)  # fmt: skip


@api(method=False)
def gelu(input: Any, approximate: str = "none") -> Any:
    """x times the normal distribution function of x, or ("tanh") an approximation of it."""
    if approximate not in ("none", "tanh"):
        raise ValueError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    x = single("gelu", input, FLOATING)
    return act.gelu(x) if approximate == "none" else act.gelu_tanh(x)


fast_gelu = function("fast_gelu", "x: Floating", lambda x: x * act.sigmoid(x * 1.702), "x sigmoid(1.702 x).", method=False)


@api(method=False)
def elu(input_x: Any, alpha: float = 1.0) -> Any:
    """x above 0, exp(x) - 1 below; raises ValueError for an alpha other than 1."""
    if number("elu", "alpha", alpha) != 1:
        raise ValueError(f"elu: alpha must be 1.0, got {alpha}; use nn.CELU or mint.nn.functional.elu for others")
    return elu_of(single("elu", input_x, FLOATING), 1.0)


def elu_of(x: Any, alpha: float) -> Any:
    """x above 0, alpha (exp(x) - 1) below."""
    return act.elu(x, alpha=alpha, scale=1.0, input_scale=1.0)


selu = function("selu", "input_x: Floating",
    functools.partial(act.elu, alpha=_SELU_ALPHA, scale=_SELU_SCALE, input_scale=1.0),
    "The scaled exponential linear unit.", method=False)  # fmt: skip


@api(method=False)
def celu(x: Any, alpha: float = 1.0) -> Any:
    """x above 0, alpha (exp(x / alpha) - 1) below."""
    if not number("celu", "alpha", alpha):
        raise ValueError("celu: alpha must not be 0")
    return act.celu(single("celu", x, FLOATING), alpha=float(alpha))


@api(method=False)
def leaky_relu(input: Any, alpha: float = 0.2) -> Any:
    """x above 0, alpha x below; the derivative at 0 is the mean of both."""
    slope = number("leaky_relu", "alpha", alpha)
    return act.leaky_relu(single("leaky_relu", input, REAL), slope=slope, at_kink=(1 + slope) / 2)


@api(method=False)
def prelu(input: Any, weight: Any) -> Any:
    """x above 0, weight x below: one weight, or one per channel (axis 1)."""
    x, weight = single("prelu", input, FLOATING), tensor_argument("prelu", weight, "weight")
    shape = tuple(shape_of(x))
    count = shape_of(weight)
    channels = shape[1] if len(shape) > 1 else 1
    if len(count) != 1 or count[0] not in (1, channels):
        raise ValueError(f"prelu: weight must have shape (1,) or ({channels},), got {tuple(count)}")
    if count[0] > 1:
        weight = st.reshape(weight, shape=(count[0], *(1,) * (len(shape) - 2)))
    elif len(shape) != 1:
        weight = st.reshape(weight, shape=(1,) * len(shape))
    return act.prelu(x, weight)


threshold = function("threshold", "input: Ordered, thr: Float, value: Float", act.threshold,
    "x above the threshold, `value` elsewhere.", called={"thr": "threshold"}, method=False)  # fmt: skip


@api(method=False)
def glu(x: Any, axis: int = -1) -> Any:
    """The first half along an axis times the sigmoid of the second half."""
    x = single("glu", x, FLOATING)
    i = axis_of("glu", axis, len(shape_of(x)))
    if length_of("glu", shape_of(x), i) % 2:
        raise ValueError(f"glu: axis {axis} must have even length, got {shape_of(x)[i]}")
    return act.glu(x, axis=i)


@api(method=False)
def swiglu(input: Any, dim: int = -1) -> Any:
    """silu of the first half along an axis times the second half."""
    x = single("swiglu", input, FLOATING)
    i = axis_of("swiglu", dim, len(shape_of(x)), "dim")
    if length_of("swiglu", shape_of(x), i) % 2:
        raise ValueError(f"swiglu: dim {dim} must have even length, got {shape_of(x)[i]}")
    half = shape_of(x)[i] // 2
    first, second = mp.split(x, axis=i, sizes=(half, half))
    return act.silu(first) * second


# ------------------------------------------------------------------------------------------ softmax


def _along(op: str, run: Any, x: Any, axis: Any, dtype: Any, name: str = "axis") -> Any:
    if dtype is None and type(axis) is int and isinstance(x, Value):
        a = x._a
        if type(a) is np.ndarray and a.dtype.kind == "f" and -a.ndim <= axis < a.ndim:
            return run(x, axis=axis % a.ndim)
    if dtype is not None:
        x = to_dtype(tensor_argument(op, x), as_dtype(dtype, op))
    x = single(op, x, FLOATING)
    return run(x, axis=axis_of(op, axis, len(shape_of(x)), name)) if shape_of(x) else run(
        st.reshape(x, shape=(1,)), axis=0).reshape(())  # fmt: skip


@api()
def softmax(input: Any, axis: int = -1, *, dtype: Any = None) -> Any:
    """exp(x) divided by its sum along an axis."""
    return _along("softmax", soft.softmax, input, axis, dtype)


@api(method=False)
def log_softmax(logits: Any, axis: int = -1) -> Any:
    """The logarithm of softmax."""
    return _along("log_softmax", soft.log_softmax, logits, axis, None)


@api(method=False)
def softmin(x: Any, axis: int = -1, *, dtype: Any = None) -> Any:
    """softmax of -x."""
    return softmax(-tensor_argument("softmin", x, "x"), axis, dtype=dtype)


@api(method=False)
def gumbel_softmax(logits: Any, tau: float = 1.0, hard: bool = False, dim: int = -1) -> Any:
    """softmax of the logits with Gumbel noise, divided by `tau`; with `hard` one-hot, with the soft one's gradient."""
    from ._random import uniform_like

    x = single("gumbel_softmax", logits, FLOATING)
    if tau <= 0:
        raise ValueError(f"gumbel_softmax: tau must be positive, got {tau}")
    noise = -np.log(-np.log(np.maximum(uniform_like(x), np.finfo(dtype_of(x)).tiny)))
    y = softmax((x + constant_like(noise.astype(dtype_of(x)))) / tau, dim)
    if not hard:
        return y
    i = axis_of("gumbel_softmax", dim, len(shape_of(x)), "dim")
    array = y._concrete("gumbel_softmax")
    chosen = (np.arange(array.shape[i]).reshape([-1 if j == i else 1 for j in range(array.ndim)])
              == np.expand_dims(array.argmax(axis=i), i)).astype(array.dtype)  # fmt: skip
    return y + constant_like(chosen - array)


def constant_like(array: np.ndarray) -> Any:
    """A NumPy array as a tensor of the dialect without history."""
    from ._tensor import from_array

    return from_array(array)


@api(method=False)
def rrelu(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3) -> Any:
    """x above 0, below it x times a random factor in [lower, upper)."""
    x = single("rrelu", input, FLOATING)
    if not 0 <= lower <= upper <= 1:
        raise ValueError(f"rrelu: wanted 0 <= lower <= upper <= 1, got {lower} and {upper}")
    return act.prelu(x, from_array(global_stream().uniform(lower, upper, x.shape).astype(dtype_of(x))))
