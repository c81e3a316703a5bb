"""The few array statements that update rules are made of: `x += a*y`, `x += s*a/b`, a linear interpolation.

Owns two ways to execute them: `Native` (NumPy arrays, in place, through scratch arrays that are kept between steps) and
`Rounded` (float16 and bfloat16: each statement is computed in float32 and rounded once, as frameworks do); functional.py
has the third, which changes nothing, and update_code.py makes one kernel of a whole rule. Each statement returns its
result, which a rule goes on with. `run` picks one and cuts large arrays into blocks that stay in the cache. Called by
the rules in this folder.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..backend import backend_of
from ..backend.dtypes import astype, numpy_dtype
from ..backend.jit.operands import LEAST
from ..core.arrays import full
from ..core.unwrap import constant as constant_value
from ..core.value import Value, dtype_of
from ..ops import comparison, elementwise, selection
from ..ops.kernels import constant
from ..ops.structural import cast
from . import update_code
from .functional import Functional

Array = Any
"""An array of any library, or a value."""

# Adam over 1024*1024 float32: 3.4 ms whole, 2.0 in blocks of 32768, 2.6 in blocks of 8192 (L2 of 2 MiB).
BLOCK = 32768
_MAX_SCRATCH_SHAPES = 256


class Native:
    """Statements on float32, float64 and complex NumPy arrays; `t` is a scratch array of the operands' shape."""

    add = np.add
    subtract = np.subtract
    multiply = np.multiply
    divide = np.divide
    sqrt = np.sqrt
    absolute = np.absolute
    negative = np.negative
    greater = np.greater
    less = np.less

    @staticmethod
    def maximum(x: Array, y: Array, out: Array) -> Array:
        """`out` = the larger of `x` and `y`; NaN wins."""
        return np.maximum(x, y, out=out)

    @staticmethod
    def copy(x: Array, out: Array) -> Array:
        """`out = x`."""
        out[...] = x
        return out

    @staticmethod
    def constant(x: Array) -> Array:
        """`x` as a value through which nothing is differentiated."""
        return x

    @staticmethod
    def clip(x: Array, low: float, high: float, out: Array) -> Array:
        """`out = x` limited to `low ... high`; NaN stays NaN."""
        np.maximum(x, low, out=out)
        return np.minimum(out, high, out=out)

    @staticmethod
    def plus(x: Array, a: float, y: Array, out: Array) -> Array:
        """`out = x + a * y`; `out` is not `x`."""
        np.multiply(y, a, out)
        return np.add(x, out, out)

    @staticmethod
    def axpy(x: Array, a: float, y: Array, t: Array) -> Array:
        """`x += a * y`."""
        np.multiply(y, a, t)
        return np.add(x, t, x)

    @staticmethod
    def lerp(x: Array, y: Array, weight: float, far: bool, t: Array) -> Array:
        """`x += weight * (y - x)`, or from the other end where `far`, `x = y - weight * (y - x)`: see `lerp_weight`."""
        np.subtract(y, x, t)
        np.multiply(t, weight, t)
        if far:
            return np.subtract(y, t, x)
        return np.add(x, t, x)

    @staticmethod
    def addmul(x: Array, a: Array, b: Array, t: Array) -> Array:
        """`x += a * b`."""
        np.multiply(a, b, t)
        return np.add(x, t, x)

    @staticmethod
    def addcmul(x: Array, a: Array, b: Array, s: float, t: Array) -> Array:
        """`x += s * a * b`."""
        np.multiply(a, s, t)
        np.multiply(t, b, t)
        return np.add(x, t, x)

    @staticmethod
    def adddiv(x: Array, a: Array, b: Array, t: Array) -> Array:
        """`x += a / b`."""
        np.divide(a, b, t)
        return np.add(x, t, x)

    @staticmethod
    def addcdiv(x: Array, a: Array, b: Array, s: float, t: Array) -> Array:
        """`x += s * a / b`."""
        np.multiply(a, s, t)
        np.divide(t, b, t)
        return np.add(x, t, x)

    @staticmethod
    def scale_where(x: Array, s: float, mask: Array) -> Array:
        """`x *= s` where the mask holds."""
        return np.multiply(x, s, out=x, where=mask)

    @staticmethod
    def add_where(x: Array, y: Array, mask: Array) -> Array:
        """`x += y` where the mask holds."""
        return np.add(x, y, out=x, where=mask)

    @staticmethod
    def subtract_where(x: Array, y: Array, mask: Array) -> Array:
        """`x -= y` where the mask holds."""
        return np.subtract(x, y, out=x, where=mask)

    @staticmethod
    def zero_where(x: Array, mask: Array) -> Array:
        """`x = 0` where the mask holds."""
        np.copyto(x, 0, where=mask)
        return x


def _wide(x: Any) -> Any:
    return x.astype(np.float32) if isinstance(x, np.ndarray) and x.dtype != np.bool_ else x


def _rounded_ufunc(ufunc: Callable[..., Any]) -> Callable[..., Array]:
    def apply(*operands: Any) -> Array:
        *inputs, out = operands
        out[...] = ufunc(*map(_wide, inputs))
        return out

    return apply


def _rounded_statement(statement: Callable[..., Array]) -> Callable[..., Array]:
    def apply(x: Array, *operands: Any) -> Array:
        wide = _wide(x)
        statement(wide, *map(_wide, operands))
        x[...] = wide
        return x

    return apply


class Rounded(Native):
    """Statements on 16-bit floats: each is computed in float32 and rounded once.

    What is added, and the factor of what is added, is rounded beforehand, as PyTorch does (measured on 2.13).
    """

    subtract = staticmethod(_rounded_ufunc(np.subtract))  # type: ignore[assignment]
    multiply = staticmethod(_rounded_ufunc(np.multiply))  # type: ignore[assignment]
    divide = staticmethod(_rounded_ufunc(np.divide))  # type: ignore[assignment]
    maximum = staticmethod(_rounded_ufunc(np.maximum))
    sqrt = staticmethod(_rounded_ufunc(np.sqrt))  # type: ignore[assignment]
    absolute = staticmethod(_rounded_ufunc(np.absolute))  # type: ignore[assignment]
    lerp = staticmethod(_rounded_statement(Native.lerp))
    addmul = staticmethod(_rounded_statement(Native.addmul))
    addcmul = staticmethod(_rounded_statement(Native.addcmul))
    adddiv = staticmethod(_rounded_statement(Native.adddiv))
    addcdiv = staticmethod(_rounded_statement(Native.addcdiv))
    scale_where = staticmethod(_rounded_statement(Native.scale_where))
    add_where = staticmethod(_rounded_statement(Native.add_where))
    subtract_where = staticmethod(_rounded_statement(Native.subtract_where))

    @staticmethod
    def add(x: Array, y: Array | float, out: Array) -> Array:  # type: ignore[override]
        """`out = x + y`."""
        out[...] = _wide(x) + _wide(np.asarray(y, x.dtype))
        return out

    @staticmethod
    def plus(x: Array, a: float, y: Array, out: Array) -> Array:
        """`out = x + a * y`."""
        out[...] = _wide(x) + _wide(np.asarray(a, x.dtype)) * _wide(y)
        return out

    @staticmethod
    def axpy(x: Array, a: float, y: Array, t: Array) -> Array:
        """`x += a * y`."""
        return Rounded.plus(x, a, y, x)

    @staticmethod
    def clip(x: Array, low: float, high: float, out: Array) -> Array:
        """`out = x` limited to `low ... high`."""
        out[...] = np.clip(_wide(x), low, high)
        return out


_VALUES = Functional(SimpleNamespace(
    sqrt=elementwise.sqrt, abs=elementwise.absolute, where=selection.where, greater=comparison.greater,
    less=comparison.less, maximum=functools.partial(selection.maximum, ties="half"),
    minimum=functools.partial(selection.minimum, ties="half"), constant=constant_value,
    zero=lambda x: full((), 0, dtype_of(x), x),
))  # fmt: skip


def _computed(rule: Callable[..., Any], arrays: tuple[Any, ...], coefficients: tuple[Any, ...], flags: Any) -> Any:
    """What a rule makes of arrays that it does not write to."""
    x: Any = arrays[0]
    if isinstance(x, Value):
        return rule(_VALUES, _NO_WORK, tuple(_fitting(c, x) for c in coefficients), *arrays, *flags)
    xp = backend_of(x).xp
    numbers = (None if c is None else _number(xp, c, x) for c in coefficients)
    return rule(Functional(xp), _NO_WORK, tuple(numbers), *arrays, *flags)


def _fitting(c: Any, x: Value) -> Any:
    return cast(c, dtype=dtype_of(x)) if isinstance(c, Value) and dtype_of(c) != dtype_of(x) else c


def _number(xp: Any, c: Any, x: Array) -> Array:
    return constant(xp, np.array(c, numpy_dtype(x.dtype)), x) if isinstance(c, (int, float)) else astype(xp, c, x.dtype)


_NO_WORK = (None, None, None)


def lerp_weight(weight: float) -> tuple[float, bool]:
    """The `weight` and `far` of `lerp_`: from the nearer end, so that weight 1 gives exactly the other one."""
    return (weight, False) if abs(weight) < 0.5 else (1.0 - weight, True)


Work = tuple[Any, Any, Any]
"""Three scratch arrays of the operands' shape and dtype; None for statements that need none."""
Updated = list[Any] | None
"""What parameters and their states become, where they are not changed in place."""


class _Scratch(threading.local):
    """Scratch arrays of one dtype by shape: views of three buffers of BLOCK elements, per thread."""

    def __init__(self) -> None:
        self.by_dtype: dict[str, tuple[Any, dict[tuple[int, ...], Work]]] = {}

    def of(self, dtype: np.dtype[Any]) -> tuple[Any, dict[tuple[int, ...], Work]]:
        """The buffers of a dtype, and the views made of them."""
        found = self.by_dtype.get(dtype.char)
        if found is None:
            found = self.by_dtype[dtype.char] = (np.empty((3, BLOCK), dtype), {})
        return found


_scratch = _Scratch()


def _new_work(x: Array, buffers: Any, views: dict[tuple[int, ...], Work]) -> Work:
    size, shape = x.size, x.shape
    if size > BLOCK:
        return np.empty_like(x), np.empty_like(x), np.empty_like(x)
    if len(views) >= _MAX_SCRATCH_SHAPES:
        views.clear()
    t, d, h = buffers[:, :size]
    work = views[shape] = (t.reshape(shape), d.reshape(shape), h.reshape(shape))
    return work


def run(
    rule: Callable[..., Any],
    columns: tuple[Sequence[Array | None] | None, ...],
    coefficients: tuple[Any, ...],
    *flags: Any,
) -> Updated:
    """Apply `rule(statements, work, coefficients, *arrays, *flags)` to one parameter after the other: in place to NumPy's.

    Other arrays and values are left as they are; for each of their parameters, what it and its state become comes back.

    `columns` are the parameters, their gradients, then each kind of state (None where a rule goes without it). Complex
    arrays go in as real ones, since real and imaginary parts are independent coordinates to every rule that is run
    through here; arrays of more than BLOCK elements go in by blocks. The coefficients reach the rule in the arrays'
    dtype: NumPy takes 0.2 us longer for a Python float than for an array of one element.

    Raises UnsupportedError for what is no array.
    """
    computed: list[Any] = []
    typed: dict[str, tuple[Any, Any, dict[tuple[int, ...], Work], tuple[Any, ...]]] = {}
    for arrays in zip(*(itertools.repeat(None) if column is None else column for column in columns)):
        x: Any = arrays[0]
        if not isinstance(x, np.ndarray):
            computed.append(_computed(rule, arrays, coefficients, flags))
            continue
        char = x.dtype.char
        if char in "FD":
            _run_complex(rule, arrays, coefficients, flags)
            continue
        found = typed.get(char)
        if found is None:
            if char in "fd":
                exact: tuple[Any, ...] = tuple(None if c is None else np.array(c, x.dtype) for c in coefficients)
                found = typed[char] = (Native, *_scratch.of(x.dtype), exact)
            else:
                found = typed[char] = (Rounded, *_scratch.of(x.dtype), coefficients)
        statements, buffers, views, cast_ = found
        size = x.size
        if size >= LEAST and statements is Native and update_code.updated(rule, arrays, cast_, flags):
            continue
        if size <= BLOCK:
            rule(statements, views.get(x.shape) or _new_work(x, buffers, views), cast_, *arrays, *flags)
        elif not all(a is None or a.flags.c_contiguous for a in arrays):
            rule(statements, _new_work(x, buffers, views), cast_, *arrays, *flags)
        else:
            flat = [None if a is None else a.reshape(-1) for a in arrays]
            for start in range(0, size, BLOCK):
                block = [None if a is None else a[start : start + BLOCK] for a in flat]
                shape = block[0].shape  # type: ignore[union-attr]
                rule(statements, views.get(shape) or _new_work(block[0], buffers, views), cast_, *block, *flags)
    return computed or None


def _run_complex(rule: Callable[..., Any], arrays: tuple[Array, ...], coefficients: Any, flags: Any) -> None:
    real = np.float32 if arrays[0].dtype.char == "F" else np.float64
    dense = [a if a is None or a.flags.c_contiguous else np.ascontiguousarray(a) for a in arrays]
    columns = tuple(None if a is None else (a.reshape(-1).view(real),) for a in dense)
    run(rule, columns, coefficients, *flags)
    for position, (a, b) in enumerate(zip(arrays, dense)):
        if a is not b and position != 1:
            a[...] = b
