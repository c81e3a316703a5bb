"""Elementwise functions and operators of the namespace against the standard's reference implementation."""

import operator
from typing import Any

import numpy as np
import pytest

pytest.importorskip("array_api_strict", reason="the reference implementation is not installed")

import hypothesis.extra.numpy as hnp
from hypothesis import given
from hypothesis import strategies as st

from . import comparison as c

UNARY = [
    "abs", "acos", "acosh", "asin", "asinh", "atan", "atanh", "bitwise_invert", "ceil", "conj", "cos", "cosh", "exp",
    "expm1", "floor", "imag", "isfinite", "isinf", "isnan", "log", "log10", "log1p", "log2", "logical_not", "negative",
    "positive", "real", "reciprocal", "round", "sign", "signbit", "sin", "sinh", "sqrt", "square", "tan",
    "tanh",
    "trunc",
]  # fmt: skip
BINARY = [
    "add", "atan2", "bitwise_and", "bitwise_left_shift", "bitwise_or", "bitwise_right_shift", "bitwise_xor", "copysign",
    "divide", "equal", "floor_divide", "greater", "greater_equal", "hypot", "less", "less_equal", "logaddexp",
    "logical_and", "logical_or", "logical_xor", "maximum", "minimum", "multiply", "nextafter", "not_equal", "pow",
    "remainder", "subtract",
]  # fmt: skip
OPERATORS = [
    "add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and_", "or_", "xor", "lshift", "rshift", "eq",
    "ne",
    "lt",
    "le", "gt", "ge",
]  # fmt: skip
IN_PLACE = [
    "iadd",
    "isub",
    "imul",
    "itruediv",
    "ifloordiv",
    "imod",
    "ipow",
    "iand",
    "ior",
    "ixor",
    "ilshift",
    "irshift",
]
OF_ONE = ["abs", "neg", "pos", "invert"]


@st.composite
def pairs(draw: Any) -> tuple[np.ndarray, np.ndarray]:
    first, second = draw(hnp.mutually_broadcastable_shapes(num_shapes=2, max_dims=3, max_side=3)).input_shapes
    x = draw(c.arrays(c.ALL, first))
    # Most draws in one dtype, so that few are thrown away.
    near = [x.dtype.name] * 3 + [d for d in c.ALL if np.dtype(d).kind == x.dtype.kind]
    return x, draw(c.arrays(near, second))


def sensible(name: str, y: np.ndarray) -> np.ndarray:
    """The second operand where the standard says what the result is: small shifts and powers, divisors that are not
    0."""
    if "shift" in name:
        return (y % (y.dtype.itemsize * 8)).astype(y.dtype) if y.dtype.kind in "iu" else y
    if "pow" in name and y.dtype.kind in "iu":
        return (y % 4).astype(y.dtype)
    if ("div" in name or "mod" in name or name == "remainder") and y.dtype.kind in "iu":
        return np.where(y == 0, 1, y).astype(y.dtype)
    return y


def defined(name: str, x: np.ndarray, y: Any) -> bool:
    """Whether NumPy (and so the reference) computes what the standard says here."""
    if ("floor" in name or "mod" in name or name == "remainder") and x.dtype.kind == "f":
        # NumPy: inf // 1 is nan; the standard leaves large quotients open. Special values: test_special_cases.py.
        return bool(np.isfinite(x).all() and np.isfinite(y).all() and np.all(np.asarray(y) != 0) and np.all(x != 0))
    if x.dtype.kind == "c":
        return bool(np.isfinite(x).all() and np.isfinite(y).all())
    if "rshift" in name or "right_shift" in name or "pow" in name:
        return x.dtype.kind != "f" or bool(np.isfinite(x).all())
    return True


@pytest.mark.parametrize("name", UNARY)
@c.few
@given(data=st.data())
def test_unary(name: str, data: Any) -> None:
    x = data.draw(c.arrays(c.ALL))
    if x.dtype.kind == "c" and not np.isfinite(x).all():
        x = np.where(np.isfinite(x), x, 0).astype(x.dtype)
    c.compare(lambda xp, x: getattr(xp, name)(x), x)


@pytest.mark.parametrize("name", BINARY)
@c.few
@given(pair=pairs())
def test_binary(name: str, pair: Any) -> None:
    x, y = pair
    y = sensible(name, y)
    if defined(name, x, y):
        c.compare(lambda xp, x, y: getattr(xp, name)(x, y), x, y)


@pytest.mark.parametrize("name", BINARY)
@c.few
@given(data=st.data())
def test_binary_with_number(name: str, data: Any) -> None:
    x = data.draw(c.arrays(c.ALL, moderate=True))
    number = data.draw(c.elements(x.dtype.name, moderate=True))
    number = sensible(name, np.asarray(number, x.dtype)).item()
    if defined(name, x, number):
        c.compare(lambda xp, x: getattr(xp, name)(x, number), x)
    reflected = sensible(name, x)
    if defined(name, np.asarray(number, x.dtype), reflected):
        c.compare(lambda xp, x: getattr(xp, name)(number, x), reflected)


@pytest.mark.parametrize("name", OPERATORS)
@c.few
@given(pair=pairs())
def test_operator(name: str, pair: Any) -> None:
    x, y = pair
    y = sensible(name, y)
    if defined(name, x, y):
        c.compare(lambda xp, x, y: getattr(operator, name)(x, y), x, y)


@pytest.mark.parametrize("name", OPERATORS)
@c.few
@given(data=st.data())
def test_operator_with_number(name: str, data: Any) -> None:
    x = data.draw(c.arrays(c.ALL, moderate=True))
    number = sensible(name, np.asarray(data.draw(c.elements(x.dtype.name, moderate=True)), x.dtype)).item()
    f = getattr(operator, name)
    if defined(name, x, number):
        c.compare(lambda xp, x: f(x, number), x)
    reflected = sensible(name, x)
    if defined(name, np.asarray(number, x.dtype), reflected):
        c.compare(lambda xp, x: f(number, x), reflected)


@pytest.mark.parametrize("name", IN_PLACE)
@c.few
@given(data=st.data())
def test_in_place(name: str, data: Any) -> None:
    x = data.draw(c.arrays(c.ALL))
    y = sensible(name, data.draw(c.arrays([x.dtype.name], st.sampled_from([x.shape, x.shape[1:], ()]))))
    if not defined(name, x, y):
        return

    def changed(xp: Any, x: Any, y: Any) -> Any:
        before = x
        after = getattr(operator, name)(x, y)
        assert after is before
        return after

    c.compare(changed, x, y)


@pytest.mark.parametrize("name", OF_ONE)
@c.few
@given(x=c.arrays(c.ALL))
def test_operator_of_one(name: str, x: np.ndarray) -> None:
    if x.dtype.kind != "c" or np.isfinite(x).all():
        c.compare(lambda xp, x: getattr(operator, name)(x), x)


@c.many
@given(data=st.data())
def test_clip(data: Any) -> None:
    x = data.draw(c.arrays(c.INTEGERS + c.REALS))
    bounds = st.one_of(
        st.none(), c.elements(x.dtype.name, moderate=True), c.arrays([x.dtype.name], st.sampled_from([x.shape, ()]))
    )
    low, high = data.draw(bounds), data.draw(bounds)
    if low is not None and high is not None and not np.all(np.asarray(low) <= np.asarray(high)):
        return
    if any(b is not None and x.dtype.kind == "f" and np.isnan(b).any() for b in (low, high)):
        return
    c.compare(lambda xp, x, low, high: xp.clip(x, low, high), x, low, high)


@c.many
@given(data=st.data())
def test_where(data: Any) -> None:
    x, y = data.draw(pairs())
    condition = data.draw(c.arrays(c.BOOL, st.sampled_from([x.shape, y.shape, ()])))
    c.compare(lambda xp, m, x, y: xp.where(m, x, y), condition, x, y)


@pytest.mark.parametrize("kind", ["bool", "int64", "float64", "complex128"])
def test_conversion_of_one_element(kind: str) -> None:
    import retrograde as rg

    x = rg.asarray(np.ones((), kind))
    assert bool(x) is True
    if kind != "complex128":
        assert int(x) == 1
        assert type(float(x)) is float
    assert complex(x) == 1
    if kind == "int64":
        assert [5, 6][x] == 6
    else:
        with pytest.raises(TypeError):
            operator.index(x)
