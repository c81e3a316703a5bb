"""Elementwise choices and functions of two tensors: where, clamp, maxima, atan2, hypot, logaddexp, xlogy and so on."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of
from ...ops import elementwise as ew
from ...ops import selection as sel
from ...ops import special
from .._shared.registry import defined
from ._api import api
from ._dtype import FROM_NUMPY
from ._elementwise import (
    EITHER,
    FLOAT,
    FLOATING,
    NEVER,
    OTHER,
    REAL_FLOAT,
    binary,
    register,
    settle,
    settled_pair,
    tensor_argument,
)
from ._graph_nodes import NAMES, show_as
from ._promote import number_array, operand, result_dtype, to_dtype

NAMES.update(
    where="WhereBackward0", clip="ClampBackward1", clip_by="ClampBackward0", copysign="CopysignBackward0",
    heaviside_refusing="NotImplemented", gammainc="IgammaBackward0",
    gammaincc="IgammacBackward0", xlog1py="SpecialXlog1PyBackward0", zeta="SpecialZetaBackward0",
)  # fmt: skip

_bind_where, _bind_clip = sel.where.prim.bind, sel.clip.prim.bind

# ------------------------------------------------------------------------------------------ where


@api("where", method=False, out=True)
def where(condition: Any, input: Any = None, other: Any = None) -> Any:
    """`input` where the condition holds, `other` elsewhere; with the condition alone, the indices where it holds.

    Raises RuntimeError for a condition that is not boolean.
    """
    if isinstance(condition, Value) and isinstance(input, Value) and isinstance(other, Value):
        c, x, y = condition._a, input._a, other._a
        if type(c) is type(x) is type(y) is np.ndarray and c.dtype.kind == "b" and x.dtype is y.dtype:
            return _bind_where(condition, input, other)
    tensor_argument("where", condition, "condition")
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    kind = dtype_of(condition)
    if kind.kind != "b":
        if kind.name != "uint8":
            raise RuntimeError(f"where: the condition must be boolean, got {condition.dtype}; compare it first")
        condition = condition != 0
    x, y = operand("where", input), operand("where", other)
    d = result_dtype(x, y)
    return sel.where(condition, to_dtype(x, d), to_dtype(y, d))


@api("where", function=False)
def where_method(self: Any, condition: Any, other: Any) -> Any:
    """This tensor where the condition holds, `other` elsewhere."""
    return where(condition, self, other)


# ------------------------------------------------------------------------------------------ clamp

_CLAMPED = "...x"


def _clamp(name: str, x: Any, low: Any, high: Any) -> Any:
    tensor_argument(name, x)
    if isinstance(low, Value) or isinstance(high, Value):
        for bound, argument in ((low, "min"), (high, "max")):
            if bound is not None and not isinstance(bound, Value):
                raise TypeError(f"{name}: {argument} is a number and the other bound a tensor; give two of one kind")
        given = [v for v in (x, low, high) if v is not None]
        d = settle(name, result_dtype(*given), _CLAMPED)
        return sel.clip_by(*(None if v is None else to_dtype(v, d) for v in (x, low, high)))
    array = x._a
    if type(array) is np.ndarray and array.dtype.kind == "f" and not isinstance(low, complex):
        return _bind_clip(x, low=low, high=high)
    numbers = [operand(name, v) for v in (low, high) if v is not None]
    d = settle(name, result_dtype(x, *numbers), "x..x")
    if d.category == 1:
        low, high = (None if v is None else number_array(name, v, d.np).item() for v in (low, high))
    return sel.clip(to_dtype(x, d), low=low, high=high)


@api("clamp", "clip", in_place=True, out=True)
def clamp(input: Any, min: Any = None, max: Any = None) -> Any:
    """The tensor with its elements kept within [min, max]: numbers, or tensors that broadcast.

    Raises RuntimeError when no bound is given.
    """
    if min is None and max is None:
        raise RuntimeError("clamp: give min, max or both")
    return _clamp("clamp", input, min, max)


@api(in_place=True, out=True)
def clamp_min(input: Any, min: Any) -> Any:
    """The tensor with its elements raised to at least `min`."""
    out = _clamp("clamp_min", input, min, None)
    return show_as(out, "ClampMinBackward1" if isinstance(min, Value) else "ClampMinBackward0")


@api(in_place=True, out=True)
def clamp_max(input: Any, max: Any) -> Any:
    """The tensor with its elements lowered to at most `max`."""
    out = _clamp("clamp_max", input, None, max)
    return show_as(out, "ClampMaxBackward1" if isinstance(max, Value) else "ClampMaxBackward0")


# ------------------------------------------------------------------------------------------ maxima and minima of two

maximum = register("maximum", binary("maximum", sel.maximum, "...r", NEVER, ties="half"), in_place=False)
minimum = register("minimum", binary("minimum", sel.minimum, "...r", NEVER, ties="half"), in_place=False)
register("fmax", binary("fmax", sel.fmax, "...r", NEVER), in_place=False)
register("fmin", binary("fmin", sel.fmin, "...r", NEVER), in_place=False)

# ------------------------------------------------------------------------------------------ functions of two

register("atan2 arctan2", binary("atan2", ew.atan2, REAL_FLOAT, NEVER))
register("hypot", binary("hypot", ew.hypot, FLOATING, NEVER))
register("nextafter", binary("nextafter", ew.nextafter, FLOATING, NEVER))
register("logaddexp", binary("logaddexp", ew.logaddexp, "xx..", NEVER), in_place=False)
register("logaddexp2", binary("logaddexp2", ew.logaddexp2, FLOATING, NEVER), in_place=False)
register("ldexp", binary("ldexp", ew.ldexp, FLOAT, NEVER))

_copysign = binary("copysign", ew.copysign, REAL_FLOAT, OTHER)


@api(in_place=True, out=True)
def copysign(input: Any, other: Any) -> Any:
    """The size of `input` with the sign of `other`, elementwise."""
    out = _copysign(input, other)
    return out if isinstance(other, Value) else show_as(out, "CopysignBackward1")


@api(in_place=True, out=True)
def heaviside(input: Any, values: Any) -> Any:
    """0 where `input` is negative, 1 where positive, `values` where 0; both of one dtype, and without a derivative."""
    tensor_argument("heaviside", input)
    tensor_argument("heaviside", values, "values")
    if dtype_of(input) != dtype_of(values):
        raise RuntimeError(f"heaviside: the dtypes differ ({input.dtype} and {values.dtype}); convert one")
    settle("heaviside", FROM_NUMPY[dtype_of(input)], "...r")
    return ew.heaviside_refusing(input, values)


def _x_log(name: str, op: Any, shown: str) -> Any:
    def f(input: Any, other: Any) -> Any:
        out = op(*settled_pair(name, input, other, REAL_FLOAT, EITHER))
        if isinstance(input, Value):
            return out if isinstance(other, Value) else show_as(out, shown + "Backward2")
        return show_as(out, shown + "Backward1")

    return defined(name, f)


xlogy = _x_log("xlogy", special.xlogy, "Xlogy")
xlogy.__doc__ = "`input * log(other)`, elementwise; 0 where `input` is 0, but nan where `other` is."
register("xlogy", xlogy)
xlog1py = _x_log("xlog1py", special.xlog1py, "SpecialXlog1Py")
xlog1py.__doc__ = "`input * log(1 + other)`, elementwise; 0 where `input` is 0, but nan where `other` is."


def _first_fixed(name: str, op: Any, kinds: str, numbers: str) -> Any:
    """A function that has no derivative in its first operand, and says so when it is asked for."""

    def f(input: Any, other: Any) -> Any:
        return op(*settled_pair(name, input, other, kinds, numbers))

    return defined(name, f)


gammainc = _first_fixed("igamma", special.gammainc, FLOATING, NEVER)
gammainc.__doc__ = "The lower regularised incomplete gamma function P(input, other), elementwise."
register("igamma", gammainc)
gammaincc = _first_fixed("igammac", special.gammaincc, FLOATING, NEVER)
gammaincc.__doc__ = "The upper regularised incomplete gamma function Q(input, other), elementwise."
register("igammac", gammaincc)
_zeta = _first_fixed("zeta", special.zeta, REAL_FLOAT, EITHER)


def zeta(input: Any, other: Any) -> Any:
    """The Hurwitz zeta function of `input` and `other`, elementwise."""
    out = _zeta(input, other)
    return out if isinstance(input, Value) else show_as(out, "SpecialZetaBackward1")
