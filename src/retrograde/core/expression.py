"""Elementwise operations as expressions: what their kernels compute, in a small core of functions of the array-API
standard. A compiler and a GPU's code start from these.

`trace` runs a record's kernel on a symbolic namespace, whose functions note what is called in place of computing it, and
`trace_rule` a derivative rule: expressions are arrays with a backend, so that operations on them give expressions.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._errors import UnsupportedError
from ..backend.dtypes import NAMES, dtype_in, numpy_dtype, real_of
from ..backend.lookup import Backend, register_backend

_TRUTHS = frozenset({
    "equal", "not_equal", "less", "less_equal", "greater", "greater_equal", "logical_and", "logical_or", "logical_not",
    "logical_xor", "isnan", "isinf", "isfinite", "signbit",
})  # fmt: skip
_PARTS = frozenset({"abs", "real", "imag"})
CORE = _TRUTHS | _PARTS | {
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "pow", "negative", "positive", "reciprocal",
    "square", "sqrt", "hypot", "exp", "expm1", "log", "log2", "log10", "log1p", "logaddexp",
    "sin", "cos", "tan", "asin", "acos", "atan", "atan2", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh",
    "sign", "floor", "ceil", "round", "trunc", "maximum", "minimum", "clip", "where", "copysign", "nextafter", "conj",
    "bitwise_and", "bitwise_or", "bitwise_xor", "bitwise_invert", "bitwise_left_shift", "bitwise_right_shift",
    "astype", "zeros_like", "ones_like",
}  # fmt: skip
"""The functions that an expression is made of; `astype`, `zeros_like` and `ones_like` are given a dtype."""

SPECIAL = frozenset({"erf", "erfc", "gammaln", "digamma"})
"""What an expression has beyond the standard, by SciPy's names."""


class Expr:
    """A function of the core and what it is applied to; an operand ("operand", its index); the dtype of the result."""

    __slots__ = ("name", "args", "dtype")

    __array_ufunc__ = None  # NumPy leaves operators between its numbers and expressions to these

    def __init__(self, name: str, args: tuple[Any, ...], dtype: np.dtype) -> None:
        self.name, self.args, self.dtype = name, args, dtype

    def __bool__(self) -> bool:
        raise UnsupportedError(f"whether {self!r} holds depends on values, which an expression does not have")

    def __repr__(self) -> str:
        if self.name == "operand":
            return f"x{self.args[0]}"
        return f"{self.name}({', '.join(map(repr, self.args))})"

    def evaluate(self, xp: Any, *operands: Any) -> Any:
        """The value for operands of a namespace."""
        found: dict[int, Any] = {}  # a node that is used twice is computed once

        def value(node: Any) -> Any:
            if not isinstance(node, Expr):
                return node
            if id(node) not in found:
                found[id(node)] = compute(node)
            return found[id(node)]

        def compute(node: Expr) -> Any:
            if node.name == "operand":
                return operands[node.args[0]]
            given = [value(x) for x in node.args]
            if node.name == "astype":
                return xp.astype(given[0], dtype_in(xp, node.dtype))
            if node.name in ("zeros_like", "ones_like"):
                return getattr(xp, node.name)(given[0], dtype=dtype_in(xp, node.dtype))
            if node.name in SPECIAL:
                import scipy.special

                return getattr(getattr(xp, "special", scipy.special), node.name)(*given)
            return getattr(xp, node.name)(*given)

        return value(self)


def _result_dtype(name: str, args: tuple[Any, ...]) -> np.dtype:
    if name in _TRUTHS:
        return np.dtype(bool)
    if name == "where":
        args = args[1:]
    dtype = np.result_type(*(x.dtype if isinstance(x, Expr) else x for x in args if x is not None))
    if name in _PARTS:
        return real_of(dtype)
    if name == "divide" and dtype.kind in "iub":
        return np.dtype(np.float64)
    return dtype


def _note(name: str, *args: Any, dtype: Any = None, copy: bool = True) -> Expr:
    if name == "astype":
        args, dtype = args[:1], args[1] if len(args) > 1 else dtype
    args = tuple(x.item() if isinstance(x, np.generic) or type(x) is np.ndarray else x for x in args)
    return Expr(name, args, numpy_dtype(dtype) if dtype is not None else _result_dtype(name, args))


class _Symbolic:
    """The namespace that kernels are traced with."""

    __name__ = "expression"

    def __init__(self, functions: frozenset[str] | set[str]) -> None:
        self._functions = functions

    def __getattr__(self, name: str) -> Any:
        if name in NAMES:
            return np.dtype(name)
        if name not in self._functions:
            raise AttributeError(f"the core of expressions has no function {name!r}")

        def function(*args: Any, **options: Any) -> Expr:
            return _note(name, *args, **options)

        setattr(self, name, function)
        return function


SYMBOLIC: Any = _Symbolic(CORE)
SYMBOLIC.special = _Symbolic(SPECIAL)


def _operator(name: str, reflected: bool = False) -> Callable[..., Expr]:
    def method(self: Expr, *others: Any) -> Expr:
        return _note(name, *(others + (self,) if reflected else (self,) + others))

    return method


for _name, _function in {
    "add": "add", "sub": "subtract", "mul": "multiply", "truediv": "divide", "floordiv": "floor_divide",
    "mod": "remainder", "pow": "pow", "and": "bitwise_and", "or": "bitwise_or", "xor": "bitwise_xor",
    "lshift": "bitwise_left_shift", "rshift": "bitwise_right_shift",
}.items():  # fmt: skip
    setattr(Expr, f"__{_name}__", _operator(_function))
    setattr(Expr, f"__r{_name}__", _operator(_function, reflected=True))
for _name, _function in {
    "eq": "equal", "ne": "not_equal", "lt": "less", "le": "less_equal", "gt": "greater", "ge": "greater_equal",
    "neg": "negative", "pos": "positive", "abs": "abs", "invert": "bitwise_invert",
}.items():  # fmt: skip
    setattr(Expr, f"__{_name}__", _operator(_function))


def trace(prim: Any, dtypes: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """The expression of an elementwise record for operands of some dtypes (None: an absent one): an Expr, a tuple of them
    for several outputs. Raises UnsupportedError where the kernel is none."""
    if prim.kind != "elementwise":
        raise UnsupportedError(f"{prim.name} is no elementwise operation, and only these are expressions")
    return traced(prim.kernel, dtypes, params, prim.name)


def traced(kernel: Callable[..., Any], dtypes: tuple[Any, ...], params: dict[str, Any], name: str = "a kernel") -> Any:
    """The expression of a kernel, which `name` names in the UnsupportedError that says that it is none."""
    operands = [None if d is None else Expr("operand", (i,), np.dtype(d)) for i, d in enumerate(dtypes)]
    try:
        return kernel(SYMBOLIC, *operands, **params)
    except (AttributeError, TypeError) as error:
        raise UnsupportedError(f"{name} is no expression of elementwise functions: {error}") from error


class _ExpressionBackend(Backend):
    """Operations on expressions: elementwise ones are traced into them."""

    name = "expression"
    xp = SYMBOLIC

    def evaluate(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        if prim.kind != "elementwise":
            raise UnsupportedError(f"{prim.name} is no elementwise operation, and only these are expressions")
        return prim.kernel(SYMBOLIC, *arrays, **params)


register_backend(Expr, _ExpressionBackend())


def trace_rule(
    prim: Any, i: int, g: Any, out: Any, operands: tuple[Any, ...], params: dict[str, Any]
) -> Any:  # fmt: skip
    """The expression of the cotangent of operand i, from those of what the derivative rule is given (None: what it does not
    ask for). Raises UnsupportedError where the rule asks for shapes, or does something that is no expression."""
    try:
        return prim.vjps[i](g, out, *operands, **params)
    except (AttributeError, TypeError, ValueError, NotImplementedError) as error:
        raise UnsupportedError(f"the rule of {prim.name} is no expression of elementwise functions: {error}") from error
