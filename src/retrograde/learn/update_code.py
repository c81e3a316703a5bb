"""Update rules as generated code: a rule runs once over `Symbol`s, and what its statements say becomes one kernel.

Such a kernel reads and writes each array once, where NumPy takes a dozen passes, and is shared out to all threads; its bits
are NumPy's, for every statement is computed and rounded as there. Called by `blocks.run`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..backend.jit import llvm
from ..backend.jit.threads import tiles
from ..backend.jit.vectors import LANES, Part, Vectors
from .functional import Functional

UNIT = 4096
"""Numbers that a tile of work has at least."""

_NUMBERS = {"f": "float", "d": "double"}


class Symbol:
    """A vector of numbers in a kernel that is being written, with the operations that rules ask of arrays."""

    def __init__(self, v: Vectors, name: str) -> None:
        self.v, self.name = v, name

    def _two(self, function: Callable[[str, Any], str], other: Any) -> Symbol:
        return Symbol(self.v, function(self.name, other.name if isinstance(other, Symbol) else float(other)))

    def __add__(self, other: Any) -> Symbol:
        return self._two(self.v.add, other)

    def __sub__(self, other: Any) -> Symbol:
        return self._two(self.v.subtract, other)

    def __mul__(self, other: Any) -> Symbol:
        return self._two(self.v.multiply, other)

    def __truediv__(self, other: Any) -> Symbol:
        return self._two(self.v.divide, other)

    __radd__, __rmul__ = __add__, __mul__

    def __rsub__(self, other: float) -> Symbol:
        return Symbol(self.v, self.v.constant(float(other))) - self

    def __neg__(self) -> Symbol:
        return Symbol(self.v, self.v.code.value(f"fneg {self.v.type} {self.name}"))

    def compared(self, how: str, other: Any) -> Symbol:
        """The mask of the lanes where a comparison such as "fcmp ogt" holds."""
        return self._two(lambda x, y: self.v.two(how, x, y), other)

    def chosen(self, x: Symbol, y: Symbol) -> Symbol:
        """x where this mask holds, and y elsewhere."""
        v = self.v
        return Symbol(v, v.code.value(f"select {v.mask} {self.name}, {v.type} {x.name}, {v.type} {y.name}"))

    def extreme(self, how: str, other: Any) -> Symbol:
        """This number where a comparison with the other holds, else the other; NaN wins."""
        y = other if isinstance(other, Symbol) else Symbol(self.v, self.v.constant(float(other)))
        return y.compared("fcmp uno", y).chosen(y, self.compared(how, y).chosen(self, y))


def _called(name: str) -> Callable[[Symbol], Symbol]:
    return lambda x: Symbol(x.v, x.v.call(name, x.name))


_STATEMENTS = Functional(SimpleNamespace(
    sqrt=_called("sqrt"), abs=_called("fabs"), where=lambda mask, x, y: mask.chosen(x, y),
    greater=lambda x, y: x.compared("fcmp ogt", y), less=lambda x, y: x.compared("fcmp olt", y),
    maximum=lambda x, y: x.extreme("fcmp ugt", y), minimum=lambda x, y: x.extreme("fcmp ult", y),
    zero=lambda x: Symbol(x.v, x.v.constant(0.0)),
))  # fmt: skip


def updated(
    rule: Callable[..., Any], arrays: Sequence[np.ndarray | None], coefficients: Sequence[Any], flags: Sequence[Any]
) -> bool:
    """Run a rule on the arrays of one parameter, in place; False, and nothing is done, where that is the caller's affair.

    coefficients: numbers in arrays of no axes, of the arrays' dtype, or None.
    """
    x = arrays[0]
    if x is None or not all(_suited(a, x) for a in arrays):
        return False
    number = _NUMBERS[x.dtype.char]
    given = tuple(a is not None for a in arrays)
    function = _generated(rule, number, given, tuple(c is not None for c in coefficients), tuple(flags))
    if function is None:
        return False
    numbers = np.array([0 if c is None else c for c in coefficients], x.dtype)
    units = tiles(-(-x.size // UNIT), 8 * x.size)
    function(*units, *(a.ctypes.data for a in arrays if a is not None), numbers.ctypes.data, x.size)
    return True


def _suited(a: np.ndarray | None, x: np.ndarray) -> bool:
    if a is None:
        return True
    flags = a.flags
    return a.dtype is x.dtype and a.shape == x.shape and flags.c_contiguous and flags.aligned and flags.writeable


@functools.cache
def _generated(
    rule: Callable[..., Any], number: str, given: tuple[bool, ...], numbers: tuple[bool, ...], flags: tuple[Any, ...]
) -> Callable[..., None] | None:  # fmt: skip
    pointers = [f"a{i}" for i, there in enumerate(given) if there]

    def body(code: llvm.Code) -> None:
        v = Vectors(code, LANES if number == "float" else LANES // 2, number)
        code.declare("declare i64 @llvm.smin.i64(i64, i64)")
        first = code.mul("%first", UNIT)
        count = code.value(f"sub i64 {code.least(code.mul('%last', UNIT), '%n')}, {first}")
        places = {name: code.at(number, f"%{name}", first) for name in pointers}

        def coefficient(k: int) -> Symbol:
            one = code.value(f"load {number}, ptr {code.at(number, '%numbers', k)}")
            return Symbol(v, code.spread(v.lanes, number, one))

        known = tuple(coefficient(k) if there else None for k, there in enumerate(numbers))

        def step(i: str, part: Part) -> None:
            arrays = [Symbol(v, part.load(v, places[f"a{k}"], i)) if there else None for k, there in enumerate(given)]
            found = rule(_STATEMENTS, (None, None, None), known, *arrays, *flags)
            kept = [k for k in range(len(given)) if k != 1]  # what is no gradient
            for k, new in zip(kept, found if isinstance(found, tuple) else (found,), strict=True):
                if new is not None and new is not arrays[k]:
                    part.store(v, new.name, places[f"a{k}"], i)

        v.over(count, step)

    operands = ", ".join(f"ptr {name}" for name in (*pointers, "numbers"))
    return llvm.shared(f"update{rule.__name__}", f"{operands}, i64 n", body)
