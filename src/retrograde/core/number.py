"""`Number`: a Python number of which a trace knows where it comes from, so that every later call computes its own.

It is what `item()` gives in a trace, and what stands there for a number that varies from call to call (a learning rate, a
count of steps). Arithmetic with it is written down as a `Term` and done by Python at each call, in Python's precision; beside
an array it becomes an operand. Where its value is asked for, the trace (its `Keeper`) decides: it notes what the value was,
or refuses. It passes for a float or an int by `isinstance`, but is none: so C code, too, asks for its value.
"""

from __future__ import annotations

import math
import operator
import sys
from collections.abc import Callable, Sequence
from typing import Any, Protocol

import numpy as np


class Term:
    """How a number is computed from others: by source text with a place in braces for each operand.

    An operand is a Term or a constant. A term without operands is read from a place; `array`: the array, of one element, that
    it is taken from when the call's arrays are there; `axis`: the number, among the sizes that vary, of the one that it is.
    function: what the text calls, named `f` in it; now: what computes it of its operands' values.
    """

    __slots__ = ("array", "axis", "function", "late", "now", "operands", "sized", "text")

    def __init__(
        self, text: str, operands: Sequence[Any] = (), function: Callable[..., Any] | None = None, array: Any = None, *,
        axis: int | None = None, now: Callable[..., Any] | None = None,
    ) -> None:  # fmt: skip
        self.text, self.operands, self.function, self.array = text, tuple(operands), function, array
        self.axis, self.now = axis, now
        terms = [x for x in self.operands if isinstance(x, Term)]
        self.late: bool = array is not None or any(x.late for x in terms)
        """Whether it can be computed after the call's arrays only."""
        self.sized: bool = axis is not None or (bool(terms) and all(x.sized for x in terms))
        """Whether it follows from the sizes of the arguments alone (compile/trace/sizes.py)."""

    def __str__(self) -> str:
        if self.axis is not None:
            return f"s{self.axis}"
        return self.text.format(*(f"({x})" if isinstance(x, Term) and x.operands else x for x in self.operands))


class Keeper(Protocol):
    """What a number asks of its trace."""

    open: bool
    inferring: bool
    """Whether a shape rule is asked."""
    session: int
    """Another number each time that a trace is open."""

    def sized(self, term: Term) -> Any:
        """The value of a term that follows from sizes, for the sizes of now."""

    def made(self, shape: Sequence[Any], dtype: np.dtype, function: Callable[..., np.ndarray], *operands: Any) -> Any:
        """An array that a function makes of sizes, for each anew."""

    def met(self, term: Term) -> Term:
        """The term of sizes that says the same and was met first."""

    def value_of(self, number: Number) -> Any:
        """The number's value, which the trace holds for then."""

    def outcome_of(self, term: Term, known: bool, outcome: Any) -> Any:
        """What a comparison gives, which the trace holds for then. known: whether it is there."""

    def entered(self, number: Number, dtype: np.dtype) -> Any:
        """The number as an array without axes."""


UNKNOWN: Any = object()
_PACKAGE = f"{__name__.partition('.')[0]}."
_KINDS = (float, int, np.float64)
_PLAIN = (float, int, bool, np.float64)


class Number:
    """A number of a trace. kind: its type."""

    __slots__ = ("_value", "kind", "term", "trace")

    def __init__(self, trace: Keeper, term: Term, value: Any, kind: type | None = None) -> None:
        self.trace, self.term, self._value = trace, term, value
        self.kind: type = type(value) if kind is None else kind

    @property
    def value(self) -> Any:
        """What it was when the function was traced, or UNKNOWN; of what follows from sizes, what it is for those of now."""
        return self.trace.sized(self.term) if self.term.sized else self._value

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        return self.kind

    def known(self) -> Any:
        """The value, for whoever cannot do without."""
        if self.trace.open or self.term.sized or self._value is UNKNOWN:
            return self.trace.value_of(self)
        return self._value

    def entered(self, dtype: np.dtype) -> Any:
        """The number as an array without axes, rounded as a Python number beside arrays of `dtype` is."""
        kinds = "fciu" if self.kind is int else "fc"
        if not self.trace.open or (dtype.kind not in kinds and dtype.name != "bfloat16"):
            return np.asarray(self.known(), dtype)
        return self.trace.entered(self, dtype)

    def item(self) -> Any:
        """The number as Python's, where it is NumPy's."""
        return computed("{}.item()", None, operator.methodcaller("item"), self) if self.kind is np.float64 else self

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.known(), dtype)

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        if method == "__call__" and not options and ufunc.nout == 1 and all(type(x) in (Number, float, int) for x in inputs):
            return computed(_call_text(len(inputs)), ufunc, ufunc, *inputs)
        return getattr(ufunc, method)(*[x.known() if type(x) is Number else x for x in inputs], **options)

    def __getattr__(self, name: str) -> Any:
        if not hasattr(self.kind, name):
            raise AttributeError(f"{self.kind.__name__!r} object has no attribute {name!r}")
        return getattr(self.known(), name)

    def __copy__(self) -> Number:
        return self

    def __deepcopy__(self, memo: Any) -> Number:
        return self

    def __reduce__(self) -> Any:
        return self.kind, (self.known(),)

    def __round__(self, digits: Any = None) -> Any:
        if digits is None:
            return computed("round({})", None, round, self, kind=int)
        return computed("round({}, {})", None, round, self, digits)

    def __pow__(self, other: Any, modulus: Any = None) -> Any:
        return self.known() ** other if modulus is not None else _power(self, other)

    def __rpow__(self, other: Any) -> Any:
        return _power(other, self)

    def __hash__(self) -> int:
        """That of the value, for which the trace holds then. What this package remembers for sizes is remembered for these
        numbers, as long as the trace is open: their hash is that of no other."""
        trace, term = self.trace, self.term
        if term.sized and trace.open and sys._getframe(1).f_globals.get("__name__", "").startswith(_PACKAGE):
            return hash((trace.session, id(term)))
        return hash(self.known())

    def __bool__(self) -> bool:
        outcome = self.value is UNKNOWN or bool(self.value)
        return bool(outcome_of("bool({})", (self,), outcome, bool))


def computed(text: str, function: Any, now: Callable[..., Any], *given: Any, kind: Any = None) -> Any:
    """What a function makes of numbers, as a number. text: how it is written, with `f` for the function; kind: the type of what
    it makes of a float that is not known."""
    operands = _apart(given)
    trace = next(x.trace for x in operands if type(x) is Number)
    values = [x.value if type(x) is Number else x for x in operands]
    if any(v is UNKNOWN for v in values):
        value = UNKNOWN
        kinds = [x.kind if type(x) is Number else type(x) for x in operands]
        kind = kind or (int if all(k in (int, bool) for k in kinds) and "/" not in text.replace("//", "") else float)
    else:
        value = now(*values)
        kind = type(value)
    if not trace.open:
        first = next(x for x in operands if type(x) is Number)
        return trace.value_of(first) if value is UNKNOWN or first.term.sized else value
    if kind not in _KINDS or any(type(x) not in (Number, *_PLAIN) for x in operands):
        return now(*[x.known() if type(x) is Number else x for x in operands])
    terms = [x.term if type(x) is Number else x for x in operands]
    term = Term(text, terms, function, now=now)
    return Number(trace, trace.met(term) if term.sized else term, value, kind)


def _apart(operands: Sequence[Any]) -> Sequence[Any]:
    """The operands, where sizes are beside numbers that are read at each call: the sizes as they are now."""
    sizes = [type(x) is Number and x.term.sized for x in operands]
    if any(sizes) and any(type(x) is Number and not own and not x.term.late for x, own in zip(operands, sizes)):
        return [x.known() if own else x for x, own in zip(operands, sizes)]
    return operands


def outcome_of(text: str, operands: Sequence[Any], outcome: Any, now: Any, function: Any = None) -> Any:
    """What a comparison of numbers gives, for which the trace holds. now, function: as of `computed`."""
    operands = _apart(operands)
    trace = next(x.trace for x in operands if type(x) is Number)
    known = not any(type(x) is Number and x.value is UNKNOWN for x in operands)
    term = Term(text, [x.term if type(x) is Number else x for x in operands], function, now=now)
    if not trace.open and known and not term.sized:
        return outcome
    return trace.outcome_of(term, known, outcome)


def as_float(x: Any) -> Any:
    """A number as Python's float; one of a trace stays one."""
    if type(x) is not Number:
        return float(x)
    return x.item() if x.kind is not int else computed("float({})", None, float, x)


def key_of(x: Any) -> Any:
    """What numbers have in common that are equal: of those of a trace, how they are computed."""
    if type(x) is not Number:
        return x
    return x.term.text, x.term.function, *[id(y) if isinstance(y, Term) else y for y in x.term.operands]


def is_int(x: Any) -> bool:
    """Whether something is an int, or a size of a trace."""
    return type(x) is int or (type(x) is Number and x.term.sized and x.kind is int)


def of_a_trace(*numbers: Any) -> bool:
    """Whether there are numbers of a trace among some."""
    return any(type(x) is Number for x in numbers)


def made_of_sizes(
    function: Callable[..., np.ndarray], shape: Sequence[Any], dtype: np.dtype, *operands: Any
) -> Any:  # fmt: skip
    """What a function makes of sizes, an array of a shape and dtype: in a trace where they vary, for each anew."""
    for x in operands:
        if type(x) is Number and x.term.sized:
            return x.trace.made(shape, dtype, function, *operands)
    return function(*operands)


def _call_text(count: int) -> str:
    return f"f({', '.join(['{}'] * count)})"


def _is_number(x: Any) -> bool:
    return type(x) is Number or type(x) in _PLAIN


def _power(x: Any, y: Any) -> Any:
    if not _is_number(x) or not _is_number(y):
        return NotImplemented if not isinstance(x, np.ndarray) and not isinstance(y, np.ndarray) else _given(x) ** _given(y)
    if any(type(v) is Number and v.value is UNKNOWN for v in (x, y)):
        x, y = _given(x), _given(y)  # the type of the power depends on the values
        return x**y
    found = computed("{} ** {}", None, operator.pow, x, y)
    if type(found) is Number and found.trace.open:
        found.trace.outcome_of(Term("type({})", [found.term], now=type), True, found.kind)
    return found


def _given(x: Any) -> Any:
    return x.known() if type(x) is Number else x


def _binary(name: str, sign: str, function: Any) -> None:
    text = "{} " + sign + " {}"

    def both(x: Any, y: Any) -> Any:
        if _is_number(x) and _is_number(y):
            return computed(text, None, function, x, y)
        if isinstance(x, (np.ndarray, np.generic, complex)) or isinstance(y, (np.ndarray, np.generic, complex)):
            return function(_given(x), _given(y))
        return NotImplemented

    setattr(Number, f"__{name}__", lambda self, other: both(self, other))
    setattr(Number, f"__r{name}__", lambda self, other: both(other, self))


for _name, _sign in (("add", "+"), ("sub", "-"), ("mul", "*"), ("truediv", "/"), ("floordiv", "//"), ("mod", "%")):
    _binary(_name, _sign, getattr(operator, _name))


def _comparison(name: str, sign: str, function: Any) -> None:
    text = "{} " + sign + " {}"

    def compare(self: Number, other: Any) -> Any:
        if not _is_number(other):
            if name in ("eq", "ne") and not isinstance(other, (np.ndarray, np.generic, complex)):
                return NotImplemented
            return function(self.known(), other)
        if name in ("eq", "ne") and any(type(x) is Number and x.term.sized and not x.trace.open for x in (self, other)):
            return name == "ne"  # what a trace has left in a cache is nobody's
        values = [x.value if type(x) is Number else x for x in (self, other)]
        outcome = UNKNOWN if any(v is UNKNOWN for v in values) else function(*values)
        return outcome_of(text, (self, other), outcome, function)

    setattr(Number, f"__{name}__", compare)


for _name, _sign in (("eq", "=="), ("ne", "!="), ("lt", "<"), ("le", "<="), ("gt", ">"), ("ge", ">=")):
    _comparison(_name, _sign, getattr(operator, _name))


def _unary(name: str, text: str, function: Any, kind: Any = None) -> None:
    setattr(Number, name, lambda self: computed(text, function if "f(" in text else None, function, self, kind=kind))


_unary("__neg__", "-{}", operator.neg)
_unary("__pos__", "+{}", operator.pos)
_unary("__abs__", "abs({})", abs)
_unary("__floor__", "f({})", math.floor, int)
_unary("__ceil__", "f({})", math.ceil, int)
_unary("__trunc__", "f({})", math.trunc, int)


def _of_value(name: str) -> None:
    shows = name in ("__repr__", "__str__", "__format__")

    def method(self: Number, *args: Any) -> Any:
        if shows and self.term.sized:
            if not self.trace.open:
                return str(self.term)
            if self.trace.inferring:  # in a shape rule nothing but what is wrong is said
                return getattr(self.value, name)(*args)
        return getattr(self.known(), name)(*args)

    setattr(Number, name, method)


for _name in ("repr", "str", "format", "float", "int", "complex", "index", "divmod", "rdivmod", "and", "rand", "or",
              "ror", "xor", "rxor", "lshift", "rlshift", "rshift", "rrshift", "invert"):  # fmt: skip
    _of_value(f"__{_name}__")

MATHEMATICS = {
    name: getattr(math, name)
    for name in (
        "sqrt", "exp", "expm1", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh",
        "tanh", "erf", "erfc", "fabs", "pow", "atan2", "hypot", "fmod", "copysign", "exp2", "cbrt", "degrees", "radians",
    )
}  # fmt: skip
"""The functions of `math` that give a float for numbers, which take `Number`s while something is traced."""
TESTS = {name: getattr(math, name) for name in ("isfinite", "isinf", "isnan")}
"""Those that give a truth."""


def on_numbers(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of `math` that takes a trace's numbers as well."""

    def of_numbers(*operands: Any) -> Any:
        if not any(type(x) is Number for x in operands):
            return function(*operands)
        if function in TESTS.values():
            (x,) = operands
            return outcome_of("f({})", operands, UNKNOWN if x.value is UNKNOWN else function(x.value), function, function)
        if not all(map(_is_number, operands)):
            return function(*map(_given, operands))
        return computed(_call_text(len(operands)), function, function, *operands, kind=float)

    of_numbers.__name__ = function.__name__
    return of_numbers
