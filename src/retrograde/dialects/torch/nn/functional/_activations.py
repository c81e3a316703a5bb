"""Activation functions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ....._state import state
from .....core.arrays import on_host
from .....core.unwrap import bare, concrete
from .....core.value import LevelArray, Value, dtype_of, shape_of
from .....ops import activation as act
from .....ops import elementwise as ew
from .....ops import structural as st
from .....ops.comparison import less_equal
from .....tape import inplace as _inplace
from ...._shared.registry import defined
from ..._api import FUNCTIONS, api
from ..._arithmetic import sub
from ..._elementwise import FLOATING, single, tensor_argument, unary
from ..._graph_nodes import NAMES, show_as
from ..._tensor import beside
from ..._unary import absolute, sigmoid, tanh  # noqa: F401 - sigmoid and tanh are offered as they are
from ...random import stream_of

_SELU_ALPHA, _SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946

NAMES.update(
    log_sigmoid="LogSigmoidBackward0", leaky_relu="LeakyReluBackward0", gelu_tanh="GeluBackward0",
    prelu="PreluKernelBackward0",
)  # fmt: skip


def _written(name: str, x: Any, inplace: bool, compute: Callable[[Any], Any]) -> Any:
    """An activation of `x`, written into it if asked."""
    if not inplace:
        return compute(x)
    return _inplace.update(name, tensor_argument(name, x), lambda: compute(x))


# ------------------------------------------------------------------------------------------ sigmoid and its kin

logsigmoid = unary("log_sigmoid", act.log_sigmoid, FLOATING)
_silu = unary("silu", act.silu, "xx..")
_mish = unary("mish", act.mish, FLOATING)


def silu(input: Any, inplace: bool = False) -> Any:
    """x sigmoid(x), elementwise."""
    return _written("silu", input, inplace, _silu)


def mish(input: Any, inplace: bool = False) -> Any:
    """x tanh(softplus(x)), elementwise."""
    return _written("mish", input, inplace, _mish)


def softplus(input: Any, beta: float = 1, threshold: float = 20) -> Any:
    """log(1 + exp(beta x)) / beta, elementwise; x itself where beta x is above the threshold."""
    return act.softplus(single("softplus", input, FLOATING), beta=float(beta), threshold=float(threshold))


_gelus = {"none": unary("gelu", act.gelu, FLOATING), "tanh": unary("gelu", act.gelu_tanh, FLOATING)}


def gelu(input: Any, *, approximate: str = "none") -> Any:
    """x times the normal distribution function of x, exactly or by its "tanh" approximation."""
    if approximate not in _gelus:
        raise RuntimeError(f"gelu: approximate must be 'none' or 'tanh', got {approximate!r}")
    return _gelus[approximate](input)


def softsign(input: Any) -> Any:
    """x / (1 + |x|), elementwise."""
    return input / (absolute(tensor_argument("softsign", input)) + 1)


def tanhshrink(input: Any) -> Any:
    """x - tanh(x), elementwise."""
    return sub(input, tanh(input))


def glu(input: Any, dim: int = -1) -> Any:
    """The first half along `dim` times the sigmoid of the second half; raises RuntimeError for an odd size."""
    x = single("glu", input, FLOATING)
    shape = shape_of(x)
    if not shape:
        raise RuntimeError("glu: a 0-d tensor has no halves")
    if not -len(shape) <= dim < len(shape):
        raise IndexError(f"glu: dim must be in [{-len(shape)}, {len(shape) - 1}], got {dim}")
    axis = dim % len(shape)
    if shape[axis] % 2:
        raise RuntimeError(f"glu: the size along dim {dim} must be even, got {shape[axis]}")
    return act.glu(x, axis=axis)


# ------------------------------------------------------------------------------------------ pieces of straight lines


_relu = unary("relu", act.relu, "r..x")


def relu(input: Any, inplace: bool = False) -> Any:
    """max(x, 0), elementwise."""
    return _written("relu", input, True, _relu) if inplace else _relu(input)


def _hardtanh(name: str, x: Any, low: Any, high: Any) -> Any:
    x = single(name, x, "r..x")
    if low > high:
        raise ValueError(f"{name}: min_val must not exceed max_val, got {low} and {high}")
    return act.hardtanh(x, low=low, high=high)


def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """x kept within [min_val, max_val]; at the bounds the derivative is 0."""
    if isinstance(input, Value) and dtype_of(input).kind == "u":
        raise RuntimeError("hardtanh: not defined for unsigned tensors")
    return _written("hardtanh", input, inplace, lambda x: _hardtanh("hardtanh", x, min_val, max_val))


def relu6(input: Any, inplace: bool = False) -> Any:
    """min(max(x, 0), 6), elementwise."""
    return _written("relu6", input, inplace, lambda x: _hardtanh("relu6", x, 0, 6))


def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """x where positive, negative_slope x elsewhere."""
    slope = float(negative_slope)
    return _written(
        "leaky_relu", input, inplace,
        lambda x: act.leaky_relu(single("leaky_relu", x, FLOATING), slope=slope, at_kink=slope),
    )  # fmt: skip


def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """x where it is above the threshold, `value` elsewhere."""
    return _written(
        "threshold", input, inplace,
        lambda x: act.threshold(single("threshold", x, "r..x"), threshold=threshold, value=value),
    )  # fmt: skip


_hardsigmoid = unary("hardsigmoid", act.hardsigmoid, FLOATING)
_hardswish = unary("hardswish", act.hardswish, FLOATING)


def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """min(max(x + 3, 0), 6) / 6, elementwise."""
    return _written("hardsigmoid", input, inplace, _hardsigmoid)


def hardswish(input: Any, inplace: bool = False) -> Any:
    """x hardsigmoid(x), elementwise."""
    return _written("hardswish", input, inplace, _hardswish)


def hardshrink(input: Any, lambd: float = 0.5) -> Any:
    """x where |x| > lambd, 0 elsewhere."""
    return act.hardshrink(single("hardshrink", input, FLOATING), bound=float(lambd))


def softshrink(input: Any, lambd: float = 0.5) -> Any:
    """x moved towards 0 by lambd, 0 where it is nearer than that; raises RuntimeError for a negative lambd."""
    if lambd < 0:
        raise RuntimeError(f"softshrink: lambd must not be negative, got {lambd}")
    return act.softshrink(single("softshrink", input, FLOATING), bound=float(lambd))


def prelu(input: Any, weight: Any) -> Any:
    """x where positive, weight x elsewhere; the weight has one element, or one per channel (dim 1)."""
    tensor_argument("prelu", input)
    tensor_argument("prelu", weight, "weight")
    if dtype_of(weight) != dtype_of(input):
        raise RuntimeError(f"prelu: input has dtype {input.dtype}, weight {weight.dtype}; both must have the same")
    x = single("prelu", input, FLOATING)
    shape, size = shape_of(x), math.prod(shape_of(weight))
    if size != 1:
        if len(shape_of(weight)) != 1:
            raise RuntimeError(f"prelu: the weight must be a scalar or a vector, got shape {list(shape_of(weight))}")
        if not shape:
            raise RuntimeError(f"prelu: a 0-d input takes a weight of one element, got {size}")
        channels = shape[1] if len(shape) > 1 else 1
        if channels != size:
            raise RuntimeError(f"prelu: the weight has {size} elements, the input {channels} channels")
    elif len(shape_of(weight)) > 1:
        raise RuntimeError(f"prelu: the weight must be a scalar or a vector, got shape {list(shape_of(weight))}")
    spread = () if not shape else (1, size, *(1,) * (len(shape) - 2)) if len(shape) > 1 else (size,)
    if tuple(shape_of(weight)) != spread:
        weight = _inplace.view(st.reshape, weight, shape=spread)
    return act.prelu(x, weight)


def rrelu(
    input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False, inplace: bool = False
) -> Any:
    """x where positive, else a slope times x: drawn from [lower, upper) per element in training, else their mean."""
    if lower > upper:
        raise RuntimeError(f"rrelu: lower must not exceed upper, got {lower} and {upper}")
    return _written("rrelu", input, inplace, lambda x: _rrelu(x, float(lower), float(upper), training))


def _rrelu(x: Any, lower: float, upper: float, training: bool) -> Any:
    x = single("rrelu", x, FLOATING)
    if not training:
        slope = (lower + upper) / 2
        out = act.leaky_relu(x, slope=slope, at_kink=slope)
    else:
        array = bare(x)
        if isinstance(array, LevelArray) or any(level.batch_size is not None for level in state.levels):
            raise RuntimeError("rrelu: inside vmap, training=True cannot draw slopes by the signs of each entry of the batch")
        negative = less_equal(array, 0)
        if not on_host(negative):
            negative = concrete("rrelu", negative)
        out = ew.multiply(x, beside(stream_of("rrelu", None).rrelu_slopes(negative, lower, upper, dtype_of(x)), x))
    return show_as(out, "RreluWithNoiseBackward0")


# ------------------------------------------------------------------------------------------ exponential linear units


def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where positive, alpha (exp(x) - 1) elsewhere."""
    return _written(
        "elu", input, inplace,
        lambda x: act.elu(single("elu", x, FLOATING), alpha=float(alpha), scale=1.0, input_scale=1.0),
    )  # fmt: skip


def selu(input: Any, inplace: bool = False) -> Any:
    """elu scaled so that layers keep mean 0 and variance 1 (Klambauer et al., 2017)."""
    return _written(
        "selu", input, inplace,
        lambda x: act.elu(single("selu", x, FLOATING), alpha=_SELU_ALPHA, scale=_SELU_SCALE, input_scale=1.0),
    )  # fmt: skip


def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """x where positive, alpha (exp(x / alpha) - 1) elsewhere; raises RuntimeError for alpha 0."""
    if alpha == 0:
        raise RuntimeError("celu: alpha must not be 0")
    return _written("celu", input, inplace, lambda x: act.celu(single("celu", x, FLOATING), alpha=float(alpha)))


# ------------------------------------------------------------------------------------------ in place, and in torch


def _in_place(f: Callable[..., Any]) -> Callable[..., Any]:
    def function(input: Any, *args: Any, **kwargs: Any) -> Any:
        return f(input, *args, inplace=True, **kwargs)

    return defined(f.__name__ + "_", function, f"`{f.__name__}` written into the input; returns it.")


relu_, leaky_relu_, elu_, selu_ = _in_place(relu), _in_place(leaky_relu), _in_place(elu), _in_place(selu)
celu_, hardtanh_, threshold_, rrelu_ = _in_place(celu), _in_place(hardtanh), _in_place(threshold), _in_place(rrelu)

threshold.__name__ = threshold.__qualname__ = "_threshold"  # as PyTorch's function is called

api("relu", in_place=True)(_relu)
api("prelu")(prelu)
api("hardshrink")(hardshrink)
FUNCTIONS.update(
    relu_=relu_, selu=selu, selu_=selu_, celu=celu, celu_=celu_, threshold=threshold, threshold_=threshold_,
    rrelu=rrelu, rrelu_=rrelu_,
)  # fmt: skip
