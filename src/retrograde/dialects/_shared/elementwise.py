"""How an elementwise primitive becomes a dialect's function, method, operator and in-place forms.

A dialect says once how it brings operands to one dtype (`pair`, `single`) and what its parameters are called, and gets
builders. Tensors of one dtype that the function computes in, and such a tensor with a Python number, take none of those
steps: they go straight to `bind`. Two tensors of one real floating dtype beside `+ - * /` are quicker still through
`core.specialise.operator`, with what is built here as its fallback.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ..._state import OBSERVERS, SWITCHED, state
from ...core.number import Number
from ...core.value import Value
from ...tape import inplace, mutation
from .registry import defined

Function = Callable[..., Any]

_ndarray = np.ndarray

OPERANDS = (Value, int, float, complex, np.ndarray, np.generic)
"""What an operator takes on its right side."""
LEFT_OPERANDS = (Value, int, float, complex, np.generic)
"""What it takes on its left: no NumPy arrays, whose own operators come first there."""

_CONSTANTS: dict[Any, np.ndarray] = {}


def constant(number: Any, np_dtype: np.dtype) -> np.ndarray:
    """A Python number as a read-only 0-d array (integers wrap around); the common ones are kept."""
    if type(number) is Number:
        return number.entered(np_dtype)  # type: ignore[no-any-return]
    key: Any = (number, np_dtype, type(number))
    if number == 0 and type(number) is not int:  # 0.0 and -0.0 are equal keys
        key = (repr(number), np_dtype)
    found = _CONSTANTS.get(key)
    if found is None:
        if np_dtype.kind in "iu" and isinstance(number, int):
            found = np.array(int(number) & ((1 << (8 * np_dtype.itemsize)) - 1), f"u{np_dtype.itemsize}").view(np_dtype)
        else:
            found = np.array(number, dtype=np_dtype)
        found.flags.writeable = False
        if len(_CONSTANTS) < 4096:
            _CONSTANTS[key] = found
    return found


def number_behind(array: np.ndarray) -> Any:
    """The Python number of which `constant` has made an array; None for any other array, and where it was not kept."""
    key = next((key for key, kept in _CONSTANTS.items() if kept is array), None)
    return None if key is None else 0.0 if isinstance(key[0], str) else key[0]


# Compiled once per dialect, since users pass operands by the names that the dialect gives them.
_TEMPLATE = """
def make_unary(op, bind, rule, fast):
    def f({x}{rest}):
        if isinstance({x}, Value):
            array = {x}._a
            if type(array) is ndarray and array.dtype.kind in fast:
                return bind({x})
        return bind(single(op, {x}, rule))
    return f


def make_binary(op, bind, rule, fast, numbers):
    def f({x}, {y}{rest}):
        if isinstance({x}, Value):
            a = {x}._a
            if type(a) is ndarray:
                d = a.dtype
                kind = d.kind
                if kind in fast:
                    if isinstance({y}, Value):
                        b = {y}._a
                        if type(b) is ndarray and b.dtype is d:
                            return bind({x}, {y})
                    elif numbers and (type({y}) is int or (kind == "f" and type({y}) is float)):
                        return bind({x}, constant({y}, d))
        return bind(*pair(op, {x}, {y}, rule))
    return f
"""


class Builders:
    """The builders of one dialect.

    single: `single(name, x, rule)` gives the operand in the dtype in which the function computes, or raises.
    pair: `pair(name, x, y, rule)` gives two operands in one such dtype, or raises. `rule` is whatever the dialect hands to
    `unary` or `binary`. check_cast: `check_cast(name, result, target)` raises where an in-place result would not fit.
    parameters: the names of the operands; rest: what else stands in the signature, such as ", name=None".
    """

    def __init__(
        self, *, single: Callable[[str, Any, Any], Any], pair: Callable[[str, Any, Any, Any], tuple[Any, Any]],
        check_cast: Callable[[str, Any, Any], bool | None], parameters: tuple[str, str] = ("x", "y"), one: str | None =
        None, rest: str = "",
    ) -> None:  # fmt: skip
        self._check_cast = check_cast
        self._scope: dict[str, Any] = {
            "Value": Value, "ndarray": _ndarray, "constant": constant, "single": single, "pair": pair,
        }  # fmt: skip
        x, y = parameters
        source = _TEMPLATE.format(x=x, y=y, rest=rest)
        name = "<retrograde functions of two operands>"
        exec(compile(source, name, "exec"), self._scope)  # noqa: S102 - our own template; the only way to give a parameter a chosen name
        if one is not None and one != x:  # the operand of a function of one has another name than the first of two
            source = _TEMPLATE.format(x=one, y=y, rest=rest).partition("\n\n\n")[0]
            exec(compile(source, name, "exec"), self._scope)  # noqa: S102 - the same

    def unary(self, name: str, op: Any, rule: Any = None, *, fast: str = "f", **params: Any) -> Function:
        """The function of one tensor that a primitive computes.

        fast: the NumPy kinds of dtypes in which it computes as they come, without asking `single`. params: static
        parameters of the primitive.
        """
        f: Function = self._scope["make_unary"](name, _bound(op, params), rule, fast)
        return defined(name, f, f"The elementwise `{name}` of a tensor.")

    def binary(
        self, name: str, op: Any, rule: Any = None, *, fast: str = "f", numbers: bool = True, **params: Any
    ) -> Function:
        """The function of two operands that a primitive computes; `numbers`: the second may be a Python number."""
        f: Function = self._scope["make_binary"](name, _bound(op, params), rule, fast, numbers)
        return defined(
            name, f, f"The elementwise `{name}` of two tensors{', or a tensor and a number' if numbers else ''}."
        )

    def in_place_operator(self, name: str, f: Function, ufunc: np.ufunc | None = None) -> Function:
        """`f` as an augmented assignment; `ufunc` computes the same straight into the target's memory."""
        check_cast = self._check_cast

        def method(self: Any, other: Any) -> Any:
            if ufunc is not None and write_at_once(name, ufunc, self, other):
                return self
            if not isinstance(other, OPERANDS):
                return NotImplemented

            def compute() -> Any:
                result = f(self, other)
                check_cast(name, result, self)
                return result

            return inplace.update(name, self, compute)

        return defined(name, method)


def _bound(op: Any, params: dict[str, Any]) -> Function:
    bind: Function = op.prim.bind
    return functools.partial(bind, **params) if params else bind


def operator(f: Function) -> Function:
    """`f` as a binary operator: NotImplemented for operands that are no tensors or numbers."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, OPERANDS):
            return f(self, other)
        return NotImplemented

    method.__doc__ = f.__doc__
    return method


def number_operator(f: Function, op: Any) -> Function:
    """`f` as a binary operator that is quick about a Python number beside a floating tensor, on either side."""
    bind: Function = op.prim.bind

    def method(self: Any, other: Any) -> Any:
        if type(other) is float or type(other) is int:
            x = self._a
            if type(x) is _ndarray and x.dtype.kind == "f":
                return bind(self, constant(other, x.dtype))
        if isinstance(other, OPERANDS):
            return f(self, other)
        return NotImplemented

    method.__doc__ = f.__doc__
    return method


def power_operator(f: Function, op: Any) -> Function:
    """`f`, the power, as an operator that is quick about a Python number beside a floating tensor.

    op: the power by a number, `op(x, exponent=number)`.
    """
    bind: Function = op.prim.bind

    def method(self: Any, exponent: Any) -> Any:
        if type(exponent) is int or type(exponent) is float:
            x = self._a
            if type(x) is _ndarray and x.dtype.kind == "f":
                return bind(self, exponent=exponent)
        if isinstance(exponent, OPERANDS):
            return f(self, exponent)
        return NotImplemented

    method.__doc__ = f.__doc__
    return method


def reflected(f: Function, *, swap: bool = True) -> Function:
    """`f` as the operator of the right operand, called as `f(other, self)` where `swap`."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, LEFT_OPERANDS):
            return f(other, self) if swap else f(self, other)
        return NotImplemented

    method.__doc__ = f.__doc__
    return method


def write_at_once(name: str, ufunc: Callable[..., Any], target: Any, other: Any) -> bool:
    """`ufunc(target, other)` written straight into the target where no history is involved; whether it was done."""
    try:
        x = target._a
    except AttributeError:  # no tensor: the general way says so
        return False
    if type(x) is not _ndarray or x.dtype.kind != "f" or target._level or state.levels or OBSERVERS:
        return False
    recording = not SWITCHED or state.mode != 0
    if recording and (target._node is not None or (target._base is not None and target._base._node is not None)):
        return False
    if isinstance(other, Value):
        y = other._a
        if type(y) is not _ndarray or y.dtype is not x.dtype or other._level or (recording and other._node is not None):
            return False
        if (y.shape != x.shape and y.shape) or other._dialect != target._dialect:
            return False
    elif type(other) is float or type(other) is int:
        y = constant(other, x.dtype)
    else:
        return False
    inplace.check(name, target)
    ufunc(x, y, x)
    mutation.note(x)
    return True


def in_place_method(name: str, general: Function, ufunc: np.ufunc) -> Function:
    """An in-place method that `ufunc` computes where there is no history and no further argument."""

    def method(self: Any, other: Any, *last: Any, **options: Any) -> Any:
        if not options and not last and write_at_once(name, ufunc, self, other):
            return self
        return general(self, other, *last, **options)

    return defined(name, method, general.__doc__)
