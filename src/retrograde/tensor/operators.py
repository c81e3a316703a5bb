"""How an elementwise primitive becomes a function of the namespace, an operator, a reflected and an in-place one.

Two tensors of one dtype, and a tensor with a Python number, go straight to `bind`; everything else is promoted first.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.value import Value, dtype_of
from ..ops.structural import copy
from ..tape import inplace
from ._values import in_order
from .conversion import operand, value
from .promotion import as_operand, common_dtype, constant, double, floating, is_number, lifted, promote, to_dtype

if TYPE_CHECKING:
    from .core import Tensor

_ndarray = np.ndarray
Op = Callable[..., Any]

Prepare = Callable[[str, Any, Any], tuple[Any, Any]]

_BINARY: dict[str, tuple[Op, Prepare | None]] = {}
"""The primitive and the preparation of each binary function of the namespace."""


def described(f: Callable[..., Any], name: str, doc: str, more: str = "") -> Any:
    """A function with its name and documentation, of the module that asks a maker of functions for it.

    The documentation is what it does, `more` that holds for all that the maker makes (shapes, what is raised), and the
    example in the module's table `_EXAMPLES`: "arguments -> result".
    """
    scope = sys._getframe(2).f_globals
    f.__name__ = f.__qualname__ = name
    if more:
        doc += f"\n\n{more}"
    if example := scope.get("_EXAMPLES", {}).get(name):
        arguments, _, result = example.partition(" -> ")
        room = scope["__name__"].rpartition(".")[2]
        called = f"rg.{room}.{name}" if room in ("linalg", "fft") else f"rg.{name}"
        doc += f"\n\nExamples\n--------\n>>> import retrograde as rg\n>>> {called}({arguments})\n{result}"
    f.__doc__, f.__module__ = doc, scope["__name__"]
    scope.setdefault("__test__", {})[name] = f  # where doctest finds it: the code belongs to another module
    return f


_SAME_SHAPE = "The result has the shape of `x`."
_BROADCAST = "The result has the shape to which `x1` and `x2` broadcast. Raises ShapeError where they do not."


def unary(name: str, op: Op, doc: str, *, only_floats: bool = False) -> Callable[[Any], Tensor]:
    """A function of one operand; with `only_floats`, integers are computed in floating point."""
    bind = op.prim.bind  # type: ignore[attr-defined]
    if only_floats:
        def f(x: Any, /) -> Any:
            if not isinstance(x, Value):
                x = value(x)
            return bind(x if dtype_of(x).kind in "fcV" else floating(x))

    else:

        def f(x: Any, /) -> Any:
            return bind(x if isinstance(x, Value) else value(x))

    return described(f, name, doc, _SAME_SHAPE)


def rounding(name: str, op: Op, doc: str) -> Callable[[Any], Tensor]:
    """A function of one operand that leaves whole numbers as they are, in memory of their own."""

    def f(x: Any, /) -> Any:
        x = value(x)
        return copy(x) if dtype_of(x).kind in "iub" else op(x)

    return described(f, name, doc, _SAME_SHAPE)


def binary(name: str, op: Op, doc: str, prepare: Prepare | None = None, **params: Any) -> Callable[[Any, Any], Tensor]:
    """A function of two operands, promoted to one dtype; `prepare` sees what is of a dtype that it does not pass over."""
    bind = op if params else op.prim.bind  # type: ignore[attr-defined]
    fast = _READY[prepare]
    _BINARY[name] = op, prepare

    def f(x1: Any, x2: Any, /) -> Any:
        if isinstance(x1, Value) and isinstance(x2, Value):
            a, b = x1._a, x2._a
            if type(a) is _ndarray and type(b) is _ndarray and a.dtype is b.dtype and a.dtype.char in fast:
                return bind(x1, x2, **params)
        x1, x2 = promote(*lifted(operand(name, x1), operand(name, x2)))
        if prepare is not None:
            x1, x2 = prepare(name, x1, x2)
        return bind(x1, x2, **params)

    return described(f, name, doc, _BROADCAST)


def operator(name: str, function: str, reverse: bool = False) -> Callable[[Any, Any], Tensor]:
    """The operator of a binary function of the namespace; NotImplemented for operands that are no arrays or numbers.

    Beside an operand of a dtype that needs no preparation, another of the same dtype, or a number of its kind, is used as
    it is.
    """
    op, prepare = _BINARY[function]
    bind = op.prim.bind  # type: ignore[attr-defined]
    fast = _READY[prepare]

    def method(self: Any, other: Any) -> Any:
        a = self._a
        if type(a) is _ndarray and a.dtype.char in fast:
            kind = type(other)
            if kind is type(self):
                b = other._a
                if type(b) is _ndarray and b.dtype is a.dtype:
                    return bind(other, self) if reverse else bind(self, other)
            elif (kind is float and a.dtype.kind == "f") or (kind is int and a.dtype.kind in "fiu"):
                b = constant(other, a.dtype)
                return bind(b, self) if reverse else bind(self, b)
        other = as_operand(other)
        if other is NotImplemented:
            return NotImplemented
        x, y = promote(other, self) if reverse else promote(self, other)
        if prepare is not None:
            x, y = prepare(name, x, y)
        return bind(x, y)

    method.__name__ = name
    return method


def in_place(name: str, plain: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Tensor]:
    """The augmented assignment of a binary operator; raises TypeError where the result's kind does not fit."""

    def method(self: Any, other: Any) -> Any:
        if as_operand(other) is NotImplemented:
            return NotImplemented

        def compute() -> Any:
            return storable(name, plain(self, other), self)

        return inplace.update(name, self, compute)

    method.__name__ = name
    return method


def storable(name: str, result: Any, target: Any) -> Any:
    """`result`, where the dtype of `target` can hold its kind; raises TypeError elsewhere."""
    have, want = dtype_of(result), dtype_of(target)
    if have != want and not np.can_cast(have, want, "same_kind"):
        raise TypeError(
            f"{name}: the result has dtype {have}, which a tensor of dtype {want} cannot hold; "
            "convert the tensor with astype() first, or write x = x + y instead of x += y"
        )
    return result


# ------------------------------------------------------------------------------------------ preparations


def as_double(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """For true division: integers are divided in float64."""
    return double(x), double(y)


def as_floating(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """For functions of the reals: integers are computed in floating point."""
    return floating(x), floating(y)


def refuse_bool(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """For differences: booleans have none."""
    if dtype_of(x).kind == "b":
        raise TypeError(f"{name}: booleans have no difference; use logical_xor(), or ^")
    return x, y


def bools_as_int8(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """For whole quotients and remainders: booleans count as small integers, as in NumPy."""
    if dtype_of(x).kind == "b":
        return to_dtype(x, np.dtype(np.int8)), to_dtype(y, np.dtype(np.int8))
    if dtype_of(x).kind == "c":
        raise TypeError(f"{name}: complex numbers are not ordered, so they have no {name}")
    return x, y


def integers(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """For bits: raises TypeError for anything but integers and booleans."""
    if dtype_of(x).kind not in "iub":
        raise TypeError(f"{name}: wanted integers or booleans, got dtype {dtype_of(x)}")
    return x, y


def ordered(name: str, x: Any, y: Any) -> tuple[Any, Any]:
    """For orders: raises TypeError for complex numbers."""
    return in_order(name, x), y


_FLOATS, _WHOLE = frozenset("efdFD"), frozenset("bhilqBHILQ")
_READY: dict[Prepare | None, frozenset[str]] = {
    None: _FLOATS | _WHOLE | {"?"}, refuse_bool: _FLOATS | _WHOLE, as_double: _FLOATS, as_floating: _FLOATS,
    bools_as_int8: frozenset("efd") | _WHOLE, integers: _WHOLE | {"?"}, ordered: frozenset("efd") | _WHOLE | {"?"},
}  # fmt: skip
"""The dtypes, by their characters, that a preparation leaves as they are."""


def promoted_all(*operands: Any) -> list[Any]:
    """Several operands in their common dtype, Python numbers giving way."""
    dtypes = [dtype_of(x) for x in operands if not is_number(x)]
    if dtypes:
        common = common_dtype(*dtypes)
        arrays = [constant(x, common) if is_number(x) else x for x in operands]
    else:
        arrays = [np.asarray(x) for x in operands]
    common = common_dtype(*(dtype_of(x) for x in arrays))
    return [to_dtype(x, common) for x in arrays]
