"""Elementwise functions of the namespace: arithmetic, powers, exponentials, trigonometry, rounding, comparisons, logic.

Functions of one number compute integers in floating point where their values are not whole (as NumPy does).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.unwrap import concrete, elsewhere
from ..core.value import Value, dtype_of
from ..ops import comparison as cmp
from ..ops import elementwise as ew
from ..ops import reduction as red
from ..ops import selection as sel
from ..ops import structural as st
from ..tape import inplace
from ._values import rank
from .conversion import operand, value
from .operators import (
    as_double,
    as_floating,
    binary,
    bools_as_int8,
    integers,
    ordered,
    promoted_all,
    refuse_bool,
    rounding,
    unary,
)  # fmt: skip
from .promotion import double, is_number, lifted, promote
from .ways_out import refuse_recorded

if TYPE_CHECKING:
    from .core import Tensor

_EXAMPLES = {
    "add": "rg.asarray([1.0, 2.0]), rg.asarray([0.5, 0.5]) -> Tensor([1.5, 2.5])",
    "subtract": "rg.asarray([1.0, 2.0]), rg.asarray([0.5, 0.5]) -> Tensor([0.5, 1.5])",
    "multiply": "rg.asarray([1.0, 2.0]), rg.asarray([3.0, 4.0]) -> Tensor([3., 8.])",
    "divide": "rg.asarray([1, 2]), rg.asarray([2, 4]) -> Tensor([0.5, 0.5])",
    "floor_divide": "rg.asarray([7, -7]), rg.asarray([2, 2]) -> Tensor([ 3, -4])",
    "remainder": "rg.asarray([7, -7]), rg.asarray([3, 3]) -> Tensor([1, 2])",
    "hypot": "rg.asarray([3.0, 5.0]), rg.asarray([4.0, 12.0]) -> Tensor([ 5., 13.])",
    "logaddexp": "rg.asarray([1000.0]), rg.asarray([1000.0]) -> Tensor([1000.69314718])",
    "atan2": "rg.asarray([1.0, -1.0]), rg.asarray([0.0, 0.0]) -> Tensor([ 1.57079633, -1.57079633])",
    "copysign": "rg.asarray([1.0, 2.0]), rg.asarray([-0.0, 3.0]) -> Tensor([-1.,  2.])",
    "maximum": "rg.asarray([1.0, 4.0]), rg.asarray([3.0, 2.0]) -> Tensor([3., 4.])",
    "minimum": "rg.asarray([1.0, 4.0]), rg.asarray([3.0, 2.0]) -> Tensor([1., 2.])",
    "positive": "rg.asarray([-1.0, 2.0]) -> Tensor([-1.,  2.])",
    "square": "rg.asarray([1.0, -3.0]) -> Tensor([1., 9.])",
    "reciprocal": "rg.asarray([2.0, 4.0]) -> Tensor([0.5 , 0.25])",
    "sqrt": "rg.asarray([4.0, 9.0]) -> Tensor([2., 3.])",
    "exp": "rg.asarray([0.0, 1.0]) -> Tensor([1.        , 2.71828183])",
    "exp2": "rg.asarray([3.0, -1.0]) -> Tensor([8. , 0.5])",
    "expm1": "rg.asarray([1e-10]) -> Tensor([1.e-10])",
    "log": "rg.asarray([1.0, 10.0]) -> Tensor([0.        , 2.30258509])",
    "log1p": "rg.asarray([1e-10]) -> Tensor([1.e-10])",
    "log2": "rg.asarray([8.0, 0.5]) -> Tensor([ 3., -1.])",
    "log10": "rg.asarray([1000.0, 0.1]) -> Tensor([ 3., -1.])",
    "sin": "rg.asarray([0.0, 1.0]) -> Tensor([0.        , 0.84147098])",
    "cos": "rg.asarray([0.0, 1.0]) -> Tensor([1.        , 0.54030231])",
    "tan": "rg.asarray([0.0, 1.0]) -> Tensor([0.        , 1.55740772])",
    "asin": "rg.asarray([0.0, 1.0]) -> Tensor([0.        , 1.57079633])",
    "acos": "rg.asarray([0.0, 1.0]) -> Tensor([1.57079633, 0.        ])",
    "atan": "rg.asarray([0.0, 1.0]) -> Tensor([0.        , 0.78539816])",
    "sinh": "rg.asarray([0.0, 1.0]) -> Tensor([0.        , 1.17520119])",
    "cosh": "rg.asarray([0.0, 1.0]) -> Tensor([1.        , 1.54308063])",
    "tanh": "rg.asarray([0.0, 1.0]) -> Tensor([0.        , 0.76159416])",
    "asinh": "rg.asarray([0.0, 1.0]) -> Tensor([0.        , 0.88137359])",
    "acosh": "rg.asarray([1.0, 2.0]) -> Tensor([0.       , 1.3169579])",
    "atanh": "rg.asarray([0.0, 0.5]) -> Tensor([0.        , 0.54930614])",
    "angle": "rg.asarray([1j, -1.0 + 0j]) -> Tensor([1.57079633, 3.14159265])",
    "floor": "rg.asarray([1.5, -1.5]) -> Tensor([ 1., -2.])",
    "ceil": "rg.asarray([1.5, -1.5]) -> Tensor([ 2., -1.])",
    "trunc": "rg.asarray([1.5, -1.5]) -> Tensor([ 1., -1.])",
    "equal": "rg.asarray([1.0, 2.0]), rg.asarray([1.0, 3.0]) -> Tensor([ True, False])",
    "not_equal": "rg.asarray([1.0, 2.0]), rg.asarray([1.0, 3.0]) -> Tensor([False,  True])",
    "less": "rg.asarray([1.0, 2.0]), rg.asarray([1.0, 3.0]) -> Tensor([False,  True])",
    "less_equal": "rg.asarray([1.0, 2.0]), rg.asarray([1.0, 3.0]) -> Tensor([ True,  True])",
    "greater": "rg.asarray([1.0, 4.0]), rg.asarray([1.0, 3.0]) -> Tensor([False,  True])",
    "greater_equal": "rg.asarray([1.0, 4.0]), rg.asarray([1.0, 3.0]) -> Tensor([ True,  True])",
    "logical_and": "rg.asarray([True, True]), rg.asarray([True, False]) -> Tensor([ True, False])",
    "logical_or": "rg.asarray([True, False]), rg.asarray([False, False]) -> Tensor([ True, False])",
    "logical_xor": "rg.asarray([True, True]), rg.asarray([True, False]) -> Tensor([False,  True])",
    "logical_not": "rg.asarray([True, False]) -> Tensor([False,  True])",
    "bitwise_and": "rg.asarray([6, 5]), rg.asarray([3, 3]) -> Tensor([2, 1])",
    "bitwise_or": "rg.asarray([6, 5]), rg.asarray([3, 3]) -> Tensor([7, 7])",
    "bitwise_xor": "rg.asarray([6, 5]), rg.asarray([3, 3]) -> Tensor([5, 6])",
    "bitwise_left_shift": "rg.asarray([1, 2]), rg.asarray([3, 1]) -> Tensor([8, 4])",
    "bitwise_right_shift": "rg.asarray([8, 5]), rg.asarray([3, 1]) -> Tensor([1, 2])",
    "isfinite": "rg.asarray([1.0, rg.inf, rg.nan]) -> Tensor([ True, False, False])",
    "isinf": "rg.asarray([1.0, rg.inf, rg.nan]) -> Tensor([False,  True, False])",
    "isnan": "rg.asarray([1.0, rg.inf, rg.nan]) -> Tensor([False, False,  True])",
    "signbit": "rg.asarray([-0.0, 2.0]) -> Tensor([ True, False])",
}  # fmt: skip
"""What functions that are made below do to a few numbers, for their documentation."""

# ------------------------------------------------------------------------------------------ arithmetic

add = binary("add", ew.add, "The sum of two operands, elementwise.")
subtract = binary("subtract", ew.subtract, "The difference of two operands, elementwise; TypeError for booleans.", refuse_bool)
multiply = binary("multiply", ew.multiply, "The product of two operands, elementwise.")
divide = binary("divide", ew.divide, "The quotient of two operands, elementwise; integers are divided in float64.", as_double)
floor_divide = binary(
    "floor_divide", ew.floor_divide, "The quotient rounded down, elementwise; its derivative is 0.", bools_as_int8
)
remainder = binary("remainder", ew.modulo, "What is left after `floor_divide`, with the sign of the divisor.", bools_as_int8)
hypot = binary("hypot", ew.hypot, "The root of the sum of two squares, without overflow.", as_floating)
logaddexp = binary("logaddexp", ew.logaddexp, "log(exp(x1) + exp(x2)), without overflow.", as_floating)
atan2 = binary("atan2", ew.atan2, "The angle of the point (x2, x1), in radians from -pi to pi.", as_floating)
copysign = binary("copysign", ew.copysign, "The size of x1 with the sign of x2.", as_floating)
maximum = binary(
    "maximum", sel.maximum, "The greater of two, nan where either is; equal ones share the gradient.", ordered, ties="half"
)
minimum = binary(
    "minimum", sel.minimum, "The smaller of two, nan where either is; equal ones share the gradient.", ordered, ties="half"
)
_nextafter = binary("nextafter", ew.nextafter, "", as_floating)


def nextafter(x1: Any, x2: Any, /) -> Tensor:
    """The next number after x1 in the direction of x2, which has no derivative: raises GradError where one is recorded.

    The result has the shape to which the two broadcast.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.nextafter(rg.asarray([1.0]), 2.0) > 1.0
    Tensor([ True])
    """
    for x in (x1, x2):
        refuse_recorded("nextafter", x)
    return _nextafter(x1, x2)


positive = unary("positive", st.copy, "A copy of each element, `+x`.")


def negative(x: Any, /) -> Tensor:
    """The negative of each element; raises TypeError for booleans.

    The result has the shape of `x`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.negative(rg.asarray([1.0, -2.0]))
    Tensor([-1.,  2.])
    """
    x = value(x)
    if dtype_of(x).kind == "b":
        raise TypeError("negative: booleans have no negative; use logical_not(), or ~")
    return ew.negative(x)


def pow(x1: Any, x2: Any, /) -> Tensor:
    """x1 to the power x2, elementwise; raises ValueError for integers with a negative exponent.

    The result has the shape to which the two broadcast. Raises TypeError for booleans.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.pow(rg.asarray([1.0, 2.0]), 3)
    Tensor([1., 8.])
    """
    if is_number(x2) and isinstance(x1, Value):
        if dtype_of(x1).kind in "iub" and isinstance(x2, float):
            x1 = double(x1)
        if not isinstance(x2, complex) and dtype_of(x1).kind in "fc":
            return ew.power_by(x1, exponent=x2)
    x1, x2 = promote(*lifted(operand("pow", x1), operand("pow", x2)))
    kind = dtype_of(x1).kind
    if kind == "b":
        raise TypeError("pow: booleans have no powers; convert them to integers with astype()")
    if kind == "i" and _any_negative(x2):
        raise ValueError("pow: an integer to a negative power is no integer; convert to floating point with astype()")
    return ew.power(x1, x2)


def _any_negative(x: Any) -> bool:
    array = elsewhere(x)
    return bool((concrete("pow", x) < 0).any()) if array is None else not _all("pow", cmp.greater_equal(array, 0))


def abs(x: Any, /) -> Tensor:
    """The absolute value of each element, real for complex ones; its derivative at 0 is 0.

    Examples
    --------
    >>> import retrograde as rg
    >>> abs(rg.asarray([-1.5, 2.0]))
    Tensor([1.5, 2. ])
    """
    return ew.absolute(value(x))


def sign(x: Any, /) -> Tensor:
    """-1, 0 or 1 as an element is negative, zero or positive; x / |x| for complex ones.

    The result has the shape of `x`, and derivative 0.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.sign(rg.asarray([-3.0, 0.0, 2.0]))
    Tensor([-1.,  0.,  1.])
    """
    x = value(x)
    return ew.sgn(x) if dtype_of(x).kind == "c" else sel.sign(x, nan_to_zero=False)


square = unary("square", ew.square, "The square of each element.")
reciprocal = unary("reciprocal", ew.reciprocal, "1 / x, elementwise.", only_floats=True)

# ------------------------------------------------------------------------------------------ roots, exponentials

sqrt = unary("sqrt", ew.sqrt, "The square root of each element, nan for negative ones.", only_floats=True)
exp = unary("exp", ew.exp, "e to the power of each element.", only_floats=True)
exp2 = unary("exp2", ew.exp2, "2 to the power of each element.", only_floats=True)
expm1 = unary("expm1", ew.expm1, "exp(x) - 1, accurate near 0.", only_floats=True)
log = unary("log", ew.log, "The natural logarithm of each element.", only_floats=True)
log1p = unary("log1p", ew.log1p, "log(1 + x), accurate near 0.", only_floats=True)
log2 = unary("log2", ew.log2, "The logarithm to base 2.", only_floats=True)
log10 = unary("log10", ew.log10, "The logarithm to base 10.", only_floats=True)

# ------------------------------------------------------------------------------------------ trigonometry

sin = unary("sin", ew.sin, "The sine of each element, in radians.", only_floats=True)
cos = unary("cos", ew.cos, "The cosine of each element, in radians.", only_floats=True)
tan = unary("tan", ew.tan, "The tangent of each element, in radians.", only_floats=True)
asin = unary("asin", ew.asin, "The inverse sine, from -pi/2 to pi/2.", only_floats=True)
acos = unary("acos", ew.acos, "The inverse cosine, from 0 to pi.", only_floats=True)
atan = unary("atan", ew.atan, "The inverse tangent, from -pi/2 to pi/2.", only_floats=True)
sinh = unary("sinh", ew.sinh, "The hyperbolic sine.", only_floats=True)
cosh = unary("cosh", ew.cosh, "The hyperbolic cosine.", only_floats=True)
tanh = unary("tanh", ew.tanh, "The hyperbolic tangent.", only_floats=True)
asinh = unary("asinh", ew.asinh, "The inverse hyperbolic sine.", only_floats=True)
acosh = unary("acosh", ew.acosh, "The inverse hyperbolic cosine.", only_floats=True)
atanh = unary("atanh", ew.atanh, "The inverse hyperbolic tangent.", only_floats=True)

# ------------------------------------------------------------------------------------------ complex parts

angle = unary("angle", ew.angle, "The angle of each element in the complex plane, in radians.", only_floats=True)


def real(x: Any, /) -> Tensor:
    """The real part, a view of a complex tensor.

    The result has the shape of `x`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.real(rg.asarray([1.0 + 2.0j]))
    Tensor([1.])
    """
    x = value(x)
    return inplace.view(st.real, x)


def imag(x: Any, /) -> Tensor:
    """The imaginary part, a view of a complex tensor; zeros for a real one.

    The result has the shape of `x`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.imag(rg.asarray([1.0 + 2.0j]))
    Tensor([2.])
    """
    x = value(x)
    return inplace.view(st.imag, x) if dtype_of(x).kind == "c" else st.copy(st.imag(x))


def conj(x: Any, /) -> Tensor:
    """The complex conjugate of each element; a copy of a real tensor.

    The result has the shape of `x`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.conj(rg.asarray([1.0 + 2.0j]))
    Tensor([1.-2.j])
    """
    x = value(x)
    return st.conj(x) if dtype_of(x).kind == "c" else st.copy(x)


# ------------------------------------------------------------------------------------------ rounding

floor = rounding("floor", sel.floor, "The greatest whole number not above each element; its derivative is 0.")
ceil = rounding("ceil", sel.ceil, "The smallest whole number not below each element; its derivative is 0.")
trunc = rounding("trunc", sel.trunc, "The whole part of each element, towards 0; its derivative is 0.")
_rint = rounding("rint", sel.rint, "")


def round(x: Any, /, decimals: int = 0) -> Tensor:
    """Each element to the nearest number of `decimals` digits, halves to the even one; its derivative is 0.

    Examples
    --------
    >>> import retrograde as rg
    >>> round(rg.asarray([0.5, 1.5, 2.4]))
    Tensor([0., 2., 2.])
    """
    x = value(x)
    if decimals and (decimals < 0 or dtype_of(x).kind not in "iub"):
        return sel.round_to(x, decimals=int(decimals))
    return _rint(x)


def clip(x: Any, /, min: Any = None, max: Any = None) -> Tensor:
    """Each element, or the bound beyond which it lies; a bound may be a number, an array or None.

    The result has the shape to which all broadcast. Raises TypeError for complex numbers.

    Examples
    --------
    >>> import retrograde as rg
    >>> clip(rg.asarray([-1.0, 0.5, 3.0]), 0, 1)
    Tensor([0. , 0.5, 1. ])
    """
    x = value(x)
    dtype = dtype_of(x)
    if dtype.kind == "c":
        raise TypeError("clip: complex numbers are not ordered; clip their parts")
    if min is None and max is None:
        return st.copy(x)
    static = (min is None or is_number(min)) and (max is None or is_number(max))
    if static and (dtype.kind == "f" or not any(isinstance(b, float) for b in (min, max))):
        return sel.clip(x, low=min, high=max)
    bounds = [None if b is None else operand("clip", b) for b in (min, max)]
    given = promoted_all(x, *(b for b in bounds if b is not None))
    x, rest = given[0], iter(given[1:])
    low, high = (None if b is None else next(rest) for b in bounds)
    # Of equal ones the first gets the gradient: the element at a bound, the lower bound where both are the same.
    x = x if low is None else sel.maximum(x, low, ties="first")
    return x if high is None else sel.minimum(x, high, ties="first")


# ------------------------------------------------------------------------------------------ comparisons, logic, bits

equal = binary("equal", cmp.equal, "Whether two operands are equal, elementwise.")
not_equal = binary("not_equal", cmp.not_equal, "Whether two operands differ, elementwise.")
less = binary("less", cmp.less, "Whether x1 < x2, elementwise.", ordered)
less_equal = binary("less_equal", cmp.less_equal, "Whether x1 <= x2, elementwise.", ordered)
greater = binary("greater", cmp.greater, "Whether x1 > x2, elementwise.", ordered)
greater_equal = binary("greater_equal", cmp.greater_equal, "Whether x1 >= x2, elementwise.", ordered)

logical_and = binary("logical_and", cmp.logical_and, "Whether both are true, elementwise.")
logical_or = binary("logical_or", cmp.logical_or, "Whether either is true, elementwise.")
logical_xor = binary("logical_xor", cmp.logical_xor, "Whether exactly one is true, elementwise.")
logical_not = unary("logical_not", cmp.logical_not, "Whether each element is false.")

bitwise_and = binary("bitwise_and", cmp.bitwise_and, "The bits set in both.", integers)
bitwise_or = binary("bitwise_or", cmp.bitwise_or, "The bits set in either.", integers)
bitwise_xor = binary("bitwise_xor", cmp.bitwise_xor, "The bits set in exactly one.", integers)
bitwise_left_shift = binary("bitwise_left_shift", cmp.left_shift, "The bits of x1 moved up by x2 places.", integers)
bitwise_right_shift = binary("bitwise_right_shift", cmp.right_shift, "The bits of x1 moved down by x2 places.", integers)


def bitwise_invert(x: Any, /) -> Tensor:
    """Every bit of each element the other way; raises TypeError for anything but integers and booleans.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.bitwise_invert(rg.asarray([0, 5]))
    Tensor([-1, -6])
    """
    x = value(x)
    integers("bitwise_invert", x, x)
    return cmp.bitwise_not(x)


isfinite = unary("isfinite", cmp.isfinite, "Whether each element is neither infinite nor nan.")
isinf = unary("isinf", cmp.isinf, "Whether each element is infinite.")
isnan = unary("isnan", cmp.isnan, "Whether each element is nan.")
signbit = unary("signbit", cmp.signbit, "Whether each element carries a minus sign, -0.0 included.", only_floats=True)


def isclose(x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> Tensor:
    """Whether |x1 - x2| <= atol + rtol |x2|, elementwise.

    The result has the shape to which `x1` and `x2` broadcast; raises ShapeError where they do not.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.isclose(rg.asarray([1.0, 1.0]), rg.asarray([1.0 + 1e-9, 1.1]))
    Tensor([ True, False])
    """
    x1, x2 = promote(*lifted(operand("isclose", x1), operand("isclose", x2)))
    return cmp.isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan)


def allclose(x1: Any, x2: Any, /, *, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether `isclose` holds for all elements, as a Python bool.

    Raises ShapeError where the shapes do not broadcast.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.allclose(rg.asarray([1.0, 2.0]), rg.asarray([1.0, 2.0 + 1e-9]))
    True
    """
    return _all("allclose", isclose(x1, x2, rtol=rtol, atol=atol, equal_nan=equal_nan))


def _all(op: str, x: Any) -> bool:
    """Whether all elements are true: asked where they are, of which one truth comes to Python."""
    array = elsewhere(x)
    if array is None:
        return bool(np.all(concrete(op, x)))
    return bool(red.all(array, axis=tuple(range(rank(x))), keepdims=False))


def where(condition: Any, x1: Any, x2: Any, /) -> Tensor:
    """x1 where the condition holds, x2 elsewhere.

    The result has the shape to which the three broadcast, and the dtype to which `x1` and `x2` promote. Raises
    ShapeError where the shapes do not broadcast.

    Examples
    --------
    >>> import retrograde as rg
    >>> where(rg.asarray([True, False]), 1.0, rg.asarray([5.0, 6.0]))
    Tensor([1., 6.])
    """
    condition = value(condition)
    if dtype_of(condition).kind != "b":
        condition = cmp.not_equal(condition, 0)
    return sel.where(condition, *promoted_all(operand("where", x1), operand("where", x2)))
