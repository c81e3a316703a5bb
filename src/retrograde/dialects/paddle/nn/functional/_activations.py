"""Activation functions, each `f(x, ..., name=None)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .....core.value import dtype_of, shape_of
from .....ops import activation as act
from .....ops import elementwise as ew
from .....ops import softmax as sm
from .....ops import structural as st
from .....ops.indexing import scatter, take_along_axis
from .....ops.reduction import argmax
from .....ops.selection import between
from .....tape import inplace
from ...._shared.axes import length_of
from ... import _unary
from ..._api import aliases, in_place, offered, to_dtype
from ..._dtype import as_dtype
from ...random import uniform_array
from ._arguments import axis_of, constant, floating, move_axis, tensor_argument

_SELU_SCALE, _SELU_ALPHA = 1.0507009873554804934193349852946, 1.6732632423543772848170429916717


def _plain(name: str, op: Any, text: str, **params: Any) -> Callable[..., Any]:
    """The function of one floating tensor that a primitive computes."""

    def f(x: Any = None, name: str | None = None, *, input: Any = None) -> Any:
        return op(floating(label, input if x is None else x), **params)

    label = f.__name__ = f.__qualname__ = name
    f.__doc__ = text
    return f


relu = _plain("relu", act.relu_masked, "max(x, 0), elementwise.")
relu6 = _plain("relu6", act.hardtanh, "min(max(x, 0), 6), elementwise.", low=0.0, high=6.0)
silu_ = _plain("silu", act.silu, "x sigmoid(x), elementwise.")
swish = _plain("swish", act.silu, "x sigmoid(x), elementwise.")
mish = _plain("mish", act.mish, "x tanh(softplus(x)), elementwise.")
log_sigmoid = _plain("log_sigmoid", act.log_sigmoid, "log(sigmoid(x)), elementwise.")
logsigmoid = log_sigmoid
sigmoid, tanh, tanh_ = offered(_unary.sigmoid), offered(_unary.tanh), in_place(_unary.tanh)


@aliases(input="x")
def silu(x: Any, inplace: bool = False, name: str | None = None) -> Any:
    """x sigmoid(x), elementwise; written into `x` if asked."""
    return _written("silu", x, silu_) if inplace else silu_(x)


def _written(name: str, x: Any, f: Callable[..., Any], *args: Any) -> Any:
    return inplace.update(name, tensor_argument(name, x), lambda: f(x, *args))


def _in_place(f: Callable[..., Any]) -> Callable[..., Any]:
    def function(x: Any, *args: Any, **kwargs: Any) -> Any:
        return inplace.update(name, tensor_argument(name, x), lambda: f(x, *args, **kwargs))

    name = function.__name__ = function.__qualname__ = f.__name__ + "_"
    function.__doc__ = f"`{f.__name__}` written into `x`; returns it."
    return function


# ------------------------------------------------------------------------------------------ smooth ones


@aliases(input="x")
def gelu(x: Any, approximate: Any = False, name: str | None = None) -> Any:
    """x times the normal distribution function of x; with `approximate` (True or "tanh") by a tanh."""
    if approximate not in (True, False, "tanh", "none"):
        raise ValueError(f"gelu: approximate must be True, False, 'tanh' or 'none', got {approximate!r}")
    return (act.gelu_tanh if approximate in (True, "tanh") else act.gelu)(floating("gelu", x))


@aliases(input="x")
def softplus(x: Any, beta: float = 1, threshold: float = 20, name: str | None = None) -> Any:
    """log(1 + exp(beta x)) / beta; x itself where beta x is above the threshold."""
    return act.softplus(floating("softplus", x), beta=float(beta), threshold=float(threshold))


@aliases(input="x")
def softsign(x: Any, name: str | None = None) -> Any:
    """x / (1 + |x|), elementwise."""
    x = floating("softsign", x)
    return ew.divide(x, ew.add(ew.absolute_stopped(x), constant(1, x)))


@aliases(input="x")
def tanhshrink(x: Any, name: str | None = None) -> Any:
    """x - tanh(x), elementwise."""
    x = floating("tanhshrink", x)
    return ew.subtract(x, ew.tanh(x))


@aliases(input="x")
def elu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """x where positive, alpha (exp(x) - 1) elsewhere."""
    return act.elu(floating("elu", x), alpha=float(alpha), scale=1.0, input_scale=1.0)


@aliases(input="x")
def selu(x: Any, scale: float = _SELU_SCALE, alpha: float = _SELU_ALPHA, name: str | None = None) -> Any:
    """scale (x where positive, alpha (exp(x) - 1) elsewhere): layers keep mean 0 and variance 1."""
    if scale <= 1.0:
        raise ValueError(f"selu: scale must be greater than 1, got {scale}")
    if alpha < 0:
        raise ValueError(f"selu: alpha must not be negative, got {alpha}")
    return act.elu(floating("selu", x), alpha=float(alpha), scale=float(scale), input_scale=1.0)


@aliases(input="x")
def celu(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """x where positive, alpha (exp(x / alpha) - 1) elsewhere; raises ZeroDivisionError for alpha 0."""
    if alpha == 0:
        raise ZeroDivisionError("celu: alpha must not be 0")
    return act.celu(floating("celu", x), alpha=float(alpha))


# ------------------------------------------------------------------------------------------ pieces of straight lines


@aliases(input="x")
def leaky_relu(x: Any, negative_slope: float = 0.01, name: str | None = None) -> Any:
    """x where positive, negative_slope x elsewhere; the derivative at 0 is 1."""
    return act.leaky_relu(floating("leaky_relu", x), slope=float(negative_slope), at_kink=1.0)


@aliases(input="x")
def hardtanh(x: Any, min: float = -1.0, max: float = 1.0, name: str | None = None) -> Any:
    """x kept within [min, max]; at the bounds the derivative is 0."""
    return act.hardtanh(floating("hardtanh", x), low=float(min), high=float(max))


@aliases(input="x")
def hardsigmoid(x: Any, slope: float = 0.1666667, offset: float = 0.5, name: str | None = None) -> Any:
    """slope x + offset kept within [0, 1]."""
    x = floating("hardsigmoid", x)
    line = ew.add(ew.multiply(x, constant(slope, x)), constant(offset, x))
    return act.hardtanh(line, low=0.0, high=1.0)


@aliases(input="x")
def hardswish(x: Any, name: str | None = None) -> Any:
    """x min(max(x + 3, 0), 6) / 6, elementwise; the derivative at -3 is 0, at 3 it is 1."""
    x = floating("hardswish", x)
    gate = act.hardtanh(ew.add(x, constant(3, x)), low=0.0, high=6.0)
    return ew.divide(ew.multiply(x, gate), constant(6, x))


@aliases(input="x")
def hardshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """x where |x| >= threshold, 0 elsewhere."""
    x, bound = floating("hardshrink", x), float(threshold)
    return between(x, x, low=-bound, high=bound, closed=False, inside=False, of_nan=True)


@aliases(input="x")
def softshrink(x: Any, threshold: float = 0.5, name: str | None = None) -> Any:
    """x moved towards 0 by the threshold, 0 where it is nearer; raises ValueError for a negative threshold."""
    if threshold < 0:
        raise ValueError(f"softshrink: threshold must not be negative, got {threshold}")
    return act.softshrink(floating("softshrink", x), bound=float(threshold))


@aliases(input="x")
def thresholded_relu(x: Any, threshold: float = 1.0, value: float = 0.0, name: str | None = None) -> Any:
    """x where it is above the threshold, `value` elsewhere."""
    return act.threshold(floating("thresholded_relu", x), threshold=float(threshold), value=float(value))


@aliases(input="x")
def prelu(x: Any, weight: Any, data_format: str = "NCHW", name: str | None = None) -> Any:
    """x where positive, weight x elsewhere; the weight has one element, or one per channel."""
    x, weight = floating("prelu", x), floating("prelu", weight, "weight")
    shape, given = tuple(shape_of(x)), tuple(shape_of(weight))
    size = weight.size
    if size == 1:
        spread: tuple[int, ...] = (1,) * len(shape)
    else:
        if len(given) != 1:
            raise AssertionError(f"prelu: the weight must have one axis, got shape {list(given)}")
        if data_format not in ("NC", "NCL", "NCHW", "NCDHW", "NLC", "NHWC", "NDHWC"):
            raise ValueError(f"prelu: data_format {data_format!r} is not known")
        if len(shape) < 2:
            raise AssertionError(f"prelu: a weight per channel needs an input of 2 dimensions, got shape {list(shape)}")
        axis = len(shape) - 1 if data_format[-1] == "C" and data_format != "NC" else 1
        if shape[axis] != size:
            raise AssertionError(f"prelu: the weight has {size} elements, the input {shape[axis]} channels")
        spread = tuple(int(size) if i == axis else 1 for i in range(len(shape)))
    return act.prelu(x, weight if given == spread else st.reshape(weight, shape=spread))


@aliases(input="x")
def rrelu(
    x: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = True, name: str | None = None
) -> Any:
    """x where positive, else a slope times x: drawn from [lower, upper) per element in training, else their mean."""
    x = floating("rrelu", x)
    if lower < 0 or lower > 1:
        raise ValueError(f"rrelu: lower must be in [0, 1], got {lower}")
    if upper < lower:
        raise ValueError(f"rrelu: upper must not be less than lower, got {upper} and {lower}")
    if upper > 1:
        raise ValueError(f"rrelu: upper must be at most 1, got {upper}")
    if not training:
        slope = (lower + upper) / 2
        return act.leaky_relu(x, slope=slope, at_kink=1.0)
    return act.prelu(x, uniform_array(tuple(shape_of(x)), dtype_of(x), lower, upper))


@aliases(input="x")
def maxout(x: Any, groups: int, axis: int = 1, name: str | None = None) -> Any:
    """The largest of `groups` neighbouring channels; of (N, C, H, W), or (N, H, W, C) with axis 3 or -1."""
    x = floating("maxout", x)
    shape = tuple(shape_of(x))
    if axis not in (1, -1, 3):
        raise ValueError(f"maxout: axis must be 1, 3 or -1, got {axis}")
    if len(shape) != 4:
        raise ValueError(f"maxout: wanted 4 dimensions, got shape {list(shape)}")
    axis %= 4
    if groups <= 1 or shape[axis] % groups:
        raise ValueError(f"maxout: groups must be above 1 and divide the {shape[axis]} channels, got {groups}")
    parts = st.reshape(x, shape=(*shape[:axis], shape[axis] // groups, groups, *shape[axis + 1 :]))
    places = argmax(parts.detach(), axis=axis + 1, keepdims=True)  # of equals the first
    best = take_along_axis(parts, places, axis=axis + 1)
    return st.reshape(best, shape=(*shape[:axis], shape[axis] // groups, *shape[axis + 1 :]))


# ------------------------------------------------------------------------------------------ softmax and gates


def _cast(op: str, x: Any, dtype: Any) -> Any:
    return x if dtype is None else to_dtype(x, as_dtype(op, dtype).np)


@aliases(input="x", dim="axis")
def softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """exp(x) / sum(exp(x)) along an axis, computed in `dtype` if given."""
    x = floating("softmax", _cast("softmax", x, dtype))
    shape = shape_of(x)
    if not shape:
        return sm.softmax(st.reshape(x, shape=(1,)), axis=0).reshape([])
    return sm.softmax(x, axis=axis_of("softmax", -1 if axis is None else axis, len(shape)))


@aliases(input="x", dim="axis")
def log_softmax(x: Any, axis: int = -1, dtype: Any = None, name: str | None = None) -> Any:
    """log(softmax(x)) along an axis, computed in `dtype` if given."""
    x = floating("log_softmax", _cast("log_softmax", x, dtype))
    shape = shape_of(x)
    if not shape:
        return sm.log_softmax(st.reshape(x, shape=(1,)), axis=0).reshape([])
    return sm.log_softmax(x, axis=axis_of("log_softmax", -1 if axis is None else axis, len(shape)))


def gumbel_softmax(
    x: Any, temperature: float = 1.0, hard: bool = False, axis: int = -1, name: str | None = None
) -> Any:
    """softmax((x + Gumbel noise) / temperature); with `hard` one-hot in the result, soft in the derivative."""
    x = floating("gumbel_softmax", x)
    if temperature <= 0:
        raise ValueError(f"gumbel_softmax: temperature must be positive, got {temperature}")
    d = dtype_of(x)
    noise = -ew.log(-ew.log(uniform_array(tuple(shape_of(x)), d, 1e-10, 1.0 - 1e-7)))
    axis = axis_of("gumbel_softmax", axis, len(shape_of(x)))
    soft = sm.softmax(ew.divide(ew.add(x, noise), constant(temperature, x)), axis=axis)
    if not hard:
        return soft
    return soft + (_one_hot_of(soft, axis) - soft.detach())


def _one_hot_of(x: Any, axis: int) -> Any:
    best = argmax(x.detach(), axis=axis, keepdims=True)
    zeros = ew.multiply(x.detach(), constant(0, x))
    return scatter(zeros, best, ew.add(take_along_axis(zeros, best, axis=axis), constant(1, x)), axis=axis)


@aliases(input="x", dim="axis")
def glu(x: Any, axis: int = -1, name: str | None = None) -> Any:
    """The first half along an axis times the sigmoid of the second; raises ValueError for an odd size."""
    x = floating("glu", x, error=TypeError)
    shape = shape_of(x)
    axis = axis_of("glu", axis, len(shape))
    if shape[axis] % 2:
        raise ValueError(f"glu: the size along the axis must be even, got {shape[axis]}")
    return act.glu(x, axis=axis)


def swiglu(x: Any, y: Any = None, name: str | None = None) -> Any:
    """silu(x) y, elementwise; without `y` the two are the halves of `x` along the last axis."""
    x = floating("swiglu", x)
    if y is None:
        n = length_of("swiglu", shape_of(x), -1)
        if n % 2:
            raise ValueError(f"swiglu: the last size must be even, got {n}")
        whole = move_axis(x, -1, 0)
        first = st.getitem(whole, index=(slice(None, n // 2),))
        x, y = move_axis(first, 0, -1), move_axis(st.getitem(whole, index=(slice(n // 2, None),)), 0, -1)
    return ew.multiply(act.silu(x), floating("swiglu", y, "y"))


relu_, hardtanh_ = _in_place(relu), _in_place(hardtanh)
_write_elu = _in_place(elu)


@aliases(input="x")
def elu_(x: Any, alpha: float = 1.0, name: str | None = None) -> Any:
    """`elu` written into `x`, for an alpha of 0 at least (its derivative is taken from the result); returns `x`."""
    if not alpha >= 0:
        raise AssertionError(f"elu_: alpha must not be negative, got {alpha}; elu() takes such an alpha")
    return _write_elu(x, alpha)


leaky_relu_, softmax_, thresholded_relu_ = _in_place(leaky_relu), _in_place(softmax), _in_place(thresholded_relu)
