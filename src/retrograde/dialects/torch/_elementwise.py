"""Builders of the dialect's elementwise functions: which dtypes an operation takes, what it makes of numbers.

`kinds` says for each kind of dtype, in the order bool, integer, floating, complex, what an operation does with it:
`.` computes in it, `f` computes in the default floating dtype, `i` in int64, `x` raises NotImplementedError, `r` raises
RuntimeError. The kind is that of the operands' common dtype. Two tensors of one real floating dtype, and such a tensor
with a Python number, take none of these steps.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..._state import SWITCHED, state
from ...core.value import Value, dtype_of
from ...ops.structural import cast
from ...tape import inplace, mutation
from . import _dtype
from ._api import METHODS, api, check_cast
from ._dtype import FROM_NUMPY, dtype
from ._promote import constant, operand, result_dtype, to_dtype

Function = Callable[..., Any]

_ndarray = np.ndarray
_cast = cast.prim.bind

ANY = "...."
FLOAT = "ff.."
"""Integers and booleans become floating."""
REAL_FLOAT = "ff.x"
FLOATING = "xx.x"
"""Only floating dtypes, complex ones not among them."""
REAL = "...x"
NUMBER = "x..x"
"""Integers and floating dtypes, but no booleans and no complex numbers."""
WHOLE = "..xx"

_KIND = ("boolean", "integer", "floating", "complex")

_OPERANDS = (Value, int, float, complex, np.ndarray, np.generic)
"""What an operator takes on its right side; on its left no NumPy arrays."""
_LEFT_OPERANDS = (Value, int, float, complex, np.generic)


def refuse_kind(name: str, d: dtype, kinds: str) -> NoReturn:
    """Raise what PyTorch raises for operands of a kind that an operation does not take."""
    taken = [kind for kind, rule in zip(_KIND, kinds) if rule not in "xr"]
    error = NotImplementedError if kinds[d.category] == "x" else RuntimeError
    raise error(f"{name}: not defined for {_KIND[d.category]} tensors ({d!r}), only for {', '.join(taken)} ones")


def settle(name: str, d: dtype, kinds: str) -> dtype:
    """The dtype in which an operation computes for operands of dtype `d`."""
    rule = kinds[d.category]
    if rule == ".":
        return d
    if rule == "f":
        return _dtype.get_default_dtype()
    if rule == "i":
        return _dtype.int64
    refuse_kind(name, d, kinds)


def tensor_argument(name: str, x: Any, position: int = 1, argument: str = "input") -> Value:
    """`x` itself if it is a tensor; raises TypeError otherwise."""
    if isinstance(x, Value):
        return x
    raise TypeError(f"{name}: argument {position} ({argument}) must be a tensor, got {type(x).__name__}")


def settled(name: str, x: Any, kinds: str) -> Value:
    """A tensor in the dtype in which an operation computes."""
    d = FROM_NUMPY[dtype_of(tensor_argument(name, x))]
    wanted = settle(name, d, kinds)
    return x if wanted is d else _cast(x, dtype=wanted.np)


def shown_as(out: Any, name: str) -> Any:
    """A result whose node is shown under `name`, where PyTorch has several names for one operation."""
    node = out._node
    if node is not None:
        node.shown_as = name
    return out


def _at_once(kinds: str) -> str:
    """The NumPy kinds of the dtypes in which an operation computes without further ado."""
    return ("iu" if kinds[1] == "." else "") + ("f" if kinds[2] == "." else "")


def unary(name: str, op: Any, kinds: str = FLOAT, **params: Any) -> Function:
    """The function of one tensor that a primitive computes."""
    bind: Function = op.prim.bind if not params else functools.partial(op.prim.bind, **params)
    at_once = _at_once(kinds)

    def f(input: Any) -> Any:
        if isinstance(input, Value):
            array = input._a
            if type(array) is _ndarray and array.dtype.kind in at_once:
                return bind(input)
        return bind(settled(name, input, kinds))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The elementwise `{name}` of a tensor."
    return f


OTHER, EITHER, NEVER, BOTH = "other", "either", "never", "both"
"""Which operands of a binary function may be numbers: the second; one of them; none; even both."""


def check_operands(name: str, x: Any, y: Any, numbers: str) -> None:
    """Raise TypeError where a number (or something else) stands for a tensor."""
    if isinstance(x, Value):
        if not isinstance(y, Value) and (numbers == NEVER or not isinstance(y, _OPERANDS)):
            raise TypeError(f"{name}: argument 2 (other) must be a tensor, got {type(y).__name__}")
    elif numbers in (NEVER, OTHER) or not isinstance(x, _OPERANDS):
        raise TypeError(f"{name}: argument 1 (input) must be a tensor, got {type(x).__name__}; use torch.tensor(...)")
    elif not isinstance(y, Value) and (numbers != BOTH or not isinstance(y, _OPERANDS)):
        raise TypeError(f"{name}: one argument must be a tensor, got {type(x).__name__} and {type(y).__name__}")


def settled_pair(name: str, x: Any, y: Any, kinds: str = ANY, numbers: str = EITHER) -> tuple[Any, Any]:
    """Two operands in the dtype in which an operation on them computes."""
    check_operands(name, x, y, numbers)
    x, y = operand(name, x), operand(name, y)
    d = settle(name, result_dtype(x, y), kinds)
    x, y = to_dtype(x, d), to_dtype(y, d)
    if not isinstance(x, Value) and not isinstance(y, Value):
        from ._tensor import from_array

        x = from_array(x)
    return x, y


def binary(name: str, op: Any, kinds: str = ANY, numbers: str = OTHER, **params: Any) -> Function:
    """The function of two operands that a primitive computes, in their common dtype."""
    bind: Function = op.prim.bind if not params else functools.partial(op.prim.bind, **params)
    takes_number = numbers != NEVER
    at_once = _at_once(kinds)

    def f(input: Any, other: Any) -> Any:
        if isinstance(input, Value):
            x = input._a
            if type(x) is _ndarray:
                d = x.dtype
                kind = d.kind
                if kind in at_once:
                    if isinstance(other, Value):
                        y = other._a
                        if type(y) is _ndarray and y.dtype is d:
                            return bind(input, other)
                    elif takes_number and (type(other) is int or (kind == "f" and type(other) is float)):
                        return bind(input, constant(other, d))
        return bind(*settled_pair(name, input, other, kinds, numbers))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The elementwise `{name}` of two tensors{', or a tensor and a number' if takes_number else ''}."
    return f


# ------------------------------------------------------------------------------------------ operators


def operator(f: Function) -> Function:
    """`f` as a binary operator: NotImplemented for operands that are no tensors or numbers."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, _OPERANDS):
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
        if isinstance(other, _OPERANDS):
            return f(self, other)
        return NotImplemented

    method.__doc__ = f.__doc__
    return method


def reflected(f: Function, *, swap: bool = True) -> Function:
    """`f` as the operator of the right operand; a NumPy array on the left is refused, as in PyTorch."""

    def method(self: Any, other: Any) -> Any:
        if isinstance(other, _LEFT_OPERANDS):
            return f(other, self) if swap else f(self, other)
        return NotImplemented

    method.__doc__ = f.__doc__
    return method


def write_at_once(name: str, ufunc: np.ufunc, target: Any, other: Any) -> bool:
    """`ufunc(target, other)` written straight into the target where no history is involved; whether it was done."""
    x = target._a
    if type(x) is not _ndarray or x.dtype.kind != "f" or target._level or state.levels:
        return False
    recording = not SWITCHED or state.mode != 0
    if recording and (target._node is not None or (target._base is not None and target._base._node is not None)):
        return False
    if isinstance(other, Value):
        y = other._a
        if type(y) is not _ndarray or y.dtype is not x.dtype or other._level or (recording and other._node is not None):
            return False
        if y.shape != x.shape and y.shape:
            return False
    elif type(other) is float or type(other) is int:
        y = constant(other, x.dtype)
    else:
        return False
    inplace.check(name, target)
    ufunc(x, y, x)
    mutation.note(x)
    return True


def in_place_operator(name: str, f: Function, ufunc: np.ufunc | None = None) -> Function:
    """`f` as an augmented assignment; `ufunc` computes the same straight into the target's memory."""

    def method(self: Any, other: Any) -> Any:
        if ufunc is not None and write_at_once(name, ufunc, self, other):
            return self
        if not isinstance(other, _OPERANDS):
            return NotImplemented

        def compute() -> Any:
            result = f(self, other)
            check_cast(name, result, self)
            return result

        return inplace.update(name, self, compute)

    method.__name__ = method.__qualname__ = name
    return method


def in_place_method(name: str, general: Function, ufunc: np.ufunc) -> Function:
    """An in-place method that `ufunc` computes where there is no history and no further argument."""

    def method(self: Any, other: Any, *last: Any, **options: Any) -> Any:
        if not options and not last and write_at_once(name, ufunc, self, other):
            return self
        return general(self, other, *last, **options)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = general.__doc__
    return method


def operators(symbol: str, f: Function, *, reverse: bool = True, in_place: bool = True) -> None:
    """Give tensors the operator `__symbol__`, and its reflected and in-place forms."""
    METHODS[f"__{symbol}__"] = operator(f)
    if reverse:
        METHODS[f"__r{symbol}__"] = reflected(f)
    if in_place:
        METHODS[f"__i{symbol}__"] = in_place_operator(f"__i{symbol}__", f)


def register(names: str, f: Function, *, in_place: bool = True, function: bool = True, method: bool = True) -> Function:
    """Offer `f` under each of the names (one string, with spaces) as a function, a method and an in-place method."""
    return api(*names.split(), function=function, method=method, in_place=in_place, out=True)(f)


