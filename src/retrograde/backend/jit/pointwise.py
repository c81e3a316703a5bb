"""Expressions of corresponding elements as generated code: whatever is made of arithmetic, comparisons, choices, casts and
the functions of functions.py and integers.py becomes one loop over the memory, on all cores.

An expression's nodes are anything with `name` (a function of the array-API standard, "operand", or a special function by
SciPy's name), `args` (nodes and Python numbers; of an "operand" its index) and `dtype`: those of core/expression.py are meant.
`Fused` takes several at once, which share what they have in common: it computes arrays of float32, float64, float16,
bfloat16, integers and truths that broadcast against each other, as long as they have elements side by side along the last axis
or are spread along it. What it sums up (`sums`; no integers) it adds in blocks that depend on the shape alone.

Numbers in an expression are operands of the code, but for those that many have (0, 1, 2...) and those among integers: another
learning rate is no other code.
"""

from __future__ import annotations

import functools
import math
import struct
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import integers, llvm, threads
from .copies import packed
from .functions import CIRCULAR, FUNCTIONS, OF_TWO, Halves, Unsupported, halves, one_and_erf, signbit
from .gamma import GAMMA
from .operands import address, aligned
from .vectors import LANES, Part, Vectors

_ndarray = np.ndarray

BLOCK = 1 << 12
"""Elements that are computed together: a unit of the work."""

# ------------------------------------------------------------------------------------------ programs

Place = tuple[int, str, str]
"""Where an operand's elements are: its index, their type and the address."""
Step = tuple[str, tuple[Any, ...], str]
"""What is computed: a function, its operands (steps by their number, constants as `_Constant`) and the type of the result."""

_TYPES = {"f4": "f", "f8": "d", "b1": "?", "f2": "e", "i1": "b", "u1": "B", "i2": "h", "i4": "i", "i8": "l"}
"""By NumPy's names: float, double, truths, half; integers of 8 bits, with a sign and without, of 16, 32 and 64. E is
bfloat16."""
_INTEGERS = "Bbhil"  # a type holds those before it, but for b and B
_LIMITS = {"B": (0, 255), **{kind: (-(1 << n - 1), (1 << n - 1) - 1) for kind, n in zip("bhil", (8, 16, 32, 64))}}
_EMBEDDED = frozenset({0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, 3.0, 4.0, 6.0, math.inf, -math.inf})


@functools.cache
def _type_of(dtype: np.dtype) -> str:
    found = "E" if dtype.name == "bfloat16" else _TYPES.get(dtype.str[1:])
    if found is None or not dtype.isnative:
        raise Unsupported(f"numbers of {dtype}")
    return found


class _Program:
    """Expressions as steps of which each is computed once."""

    def __init__(self, outputs: Sequence[Any]) -> None:
        self.steps: list[Step] = []
        self.constants: list[float] = []
        self.operands: dict[int, int] = {}  # the step of each
        self.dtypes: dict[int, np.dtype] = {}  # and its dtype
        self._numbers: dict[Step, int] = {}
        self._seen: dict[int, int] = {}
        self.outputs = [self._add(x) for x in outputs]
        self.cost = sum(_COSTS.get(name, 1) for name, _, _ in self.steps)

    @property
    def key(self) -> tuple[Any, ...]:
        return (*self.steps, *self.outputs)

    def type(self, step: Any) -> str:
        return self.steps[step][2]

    def _add(self, node: Any) -> int:
        found = self._seen.get(id(node))
        if found is None:
            kind = _type_of(node.dtype)
            if node.name == "operand":
                step: Step = "operand", (node.args[0],), kind
            elif kind == "f" and node.name == "add" and (erf := _beside_one(node.args)) is not None:
                step = "one_and_erf", (self._operand(erf.args[0], erf),), kind
            elif node.name in _FORMS:
                step = node.name, tuple(self._operand(x, node) for x in node.args), kind
            else:
                raise Unsupported(f"the function {node.name}")
            found = self._numbers.get(step)
            if found is None:
                found = self._numbers[step] = len(self.steps)
                self.steps.append(step)
                if node.name == "operand":
                    self.operands[node.args[0]], self.dtypes[node.args[0]] = found, node.dtype
            self._seen[id(node)] = found
        return found

    def _operand(self, x: Any, node: Any) -> Any:
        if x is None:
            return None
        if hasattr(x, "args"):
            return self._add(x)
        if isinstance(x, complex) or not isinstance(x, (bool, int, float)):
            raise Unsupported(f"the operand {x!r}")
        if _whole(node):
            if x != x or abs(x) > 2**63 or x != int(x):
                raise Unsupported(f"{x!r} among integers")
            return "n", int(x)
        value = float(x)
        if value != value or ((value in _EMBEDDED and math.copysign(1, value) > 0) or (value < 0 and value in _EMBEDDED)):
            return "c", repr(value)
        if value in self.constants:
            return "s", self.constants.index(value)
        self.constants.append(value)
        return "s", len(self.constants) - 1


def _beside_one(args: Sequence[Any]) -> Any:
    """The error function that 1 is added to, which needs no more digits than the sum has, if that is what operands are."""
    erf, one = args if hasattr(args[0], "args") else reversed(args)
    return erf if not hasattr(one, "args") and one == 1 and getattr(erf, "name", None) == "erf" else None


def _whole(node: Any) -> bool:
    """Whether a function is of integers: its result, or what it compares."""
    if node.dtype.kind != "b":
        return bool(node.dtype.kind in "iu")
    kinds = [x.dtype.kind for x in node.args if hasattr(x, "args")]
    return "f" not in kinds and bool(set(kinds) & set("iu"))


# ------------------------------------------------------------------------------------------ the code of a program


class _Emitter:
    """A program's instructions for one vector of elements after another."""

    def __init__(self, code: Any, program: _Program, lanes: int | None = None) -> None:
        self.code, self.program = code, program
        if lanes is None:
            lanes = LANES // 2 if any(kind in "dl" for _, _, kind in program.steps) else LANES
        self.lanes = lanes
        self.single, self.double = Vectors(code, lanes), Vectors(code, lanes, "double")
        self.stored = {
            "f": self.single, "d": self.double, "?": Vectors(code, lanes, "i8"), "e": Vectors(code, lanes, "i16"),
            "E": Vectors(code, lanes, "i16"), "i": Vectors(code, lanes, "i32"), "l": Vectors(code, lanes, "i64"),
            "b": Vectors(code, lanes, "i8"), "B": Vectors(code, lanes, "i8"), "h": Vectors(code, lanes, "i16"),
        }  # fmt: skip
        self.scalars: list[tuple[str, str]] = []
        self.angles: dict[tuple[str, str], Halves] = {}
        """What was computed of angles in these steps."""
        kind = llvm.processor()
        if kind is not None and not kind.half and any(x == "e" for _, _, x in program.steps):
            raise Unsupported("float16, which this processor has no conversion for")

    def vectors(self, kind: str) -> Vectors:
        """The numbers that elements of a type are computed with."""
        if kind in "feE":
            return self.single
        if kind == "d":
            return self.double
        raise Unsupported(f"this function of type {kind}")

    def numbers(self, kind: str) -> Vectors:
        """The same, of integers, too."""
        return self.stored[kind] if kind in _INTEGERS else self.vectors(kind)

    def read(self, kind: str, raw: str) -> str:
        """What was loaded, as it is computed with."""
        if kind in "fd" or kind in _INTEGERS:
            return raw
        words = self.stored[kind]
        if kind == "?":
            return words.two("icmp ne", raw, 0)
        if kind == "e":
            half = self.code.value(f"bitcast {words.type} {raw} to <{self.lanes} x half>")
            return self.code.value(f"fpext <{self.lanes} x half> {half} to {self.single.type}")
        return self._from_brain(raw)

    def _from_brain(self, raw: str) -> str:
        words, integers = self.stored["E"], self.stored["i"]
        wide = integers.two("shl", words.convert("zext", raw, integers), 16)
        return integers.convert("bitcast", wide, self.single)

    def written(self, kind: str, x: str) -> str:
        """What is stored for a result."""
        if kind in "fd" or kind in _INTEGERS:
            return x
        words = self.stored[kind]
        if kind == "?":
            return self.code.value(f"zext {words.mask} {x} to {words.type}")
        if kind == "e":
            half = self.code.value(f"fptrunc {self.single.type} {x} to <{self.lanes} x half>")
            return self.code.value(f"bitcast <{self.lanes} x half> {half} to {words.type}")
        integers = self.stored["i"]
        bits = self.single.convert("bitcast", x, integers)
        odd = integers.two("and", integers.two("lshr", bits, 16), 1)
        rounded = integers.two("lshr", integers.add(integers.add(bits, odd), 0x7FFF), 16)
        quiet = integers.two("or", integers.two("lshr", bits, 16), 0x40)
        nan = self.single.two("fcmp uno", x, x)
        return integers.convert("trunc", integers.select(nan, quiet, rounded), words)

    def rounded(self, kind: str, x: str) -> str:
        """A number to the precision of its type."""
        return self.read(kind, self.written(kind, x)) if kind in "eE" else x

    def converted(self, x: str, have: str, want: str) -> str:
        """A number in another type."""
        if have == want or (have in "eE" and want == "f"):
            return x
        if want == "?":
            if have in _INTEGERS:
                return self.stored[have].two("icmp ne", x, 0)
            return self.vectors(have).two("fcmp une", x, 0.0)
        if want in _INTEGERS:
            return self._integer(x, have, self.stored[want])
        if have == "?":
            to = self.vectors(want)
            return to.select(x, 1.0, 0.0)
        if have in _INTEGERS:
            how = "uitofp" if have == "B" else "sitofp"
            return self.rounded(want, self.stored[have].convert(how, x, self.vectors(want)))
        if want == "d":
            return self.single.convert("fpext", x, self.double)
        if have == "d":
            x = self._odd(x) if want == "e" else self.double.convert("fptrunc", x, self.single)
        return self.rounded(want, x)

    def _integer(self, x: str, have: str, to: Vectors) -> str:
        """A number as an integer: of more than the type holds the lower bits, as C's casts give them here."""
        if have == "?":
            return self.code.value(f"zext {to.mask} {x} to {to.type}")
        if have in _INTEGERS:
            words = self.stored[have]
            if words.size == to.size:
                return x
            return words.convert("trunc" if words.size > to.size else "zext" if have == "B" else "sext", x, to)
        if to.size >= 4:
            return self.vectors(have).convert("fptosi", x, to)
        integers = self.stored["i"]
        return integers.convert("trunc", self.vectors(have).convert("fptosi", x, integers), to)

    def _odd(self, x: str) -> str:
        """A double as a single number whose last bit says whether digits were lost, so that it can be rounded again as if it
        were the double."""
        found = self.double.convert("fptrunc", x, self.single)
        back = self.single.convert("fpext", found, self.double)
        larger = self.double.two("fcmp ogt", _size(self.double, back), _size(self.double, x))
        integers = self.stored["i"]
        bits = self.single.convert("bitcast", found, integers)
        bits = integers.select(larger, integers.subtract(bits, 1), bits)
        lost = self.double.two("fcmp one", back, x)
        return integers.convert("bitcast", integers.select(lost, integers.two("or", bits, 1), bits), self.single)

    def operand(self, x: Any, kind: str, values: Sequence[str]) -> str:
        """An operand of a step, in the type that the step computes with."""
        if isinstance(x, int):
            return self.converted(values[x], self.program.type(x), kind)
        what, value = x
        if kind == "?":
            raise Unsupported("a number among truths")
        v = self.numbers(kind)
        if what == "n":
            if kind in _INTEGERS and not _LIMITS[kind][0] <= value <= _LIMITS[kind][1]:
                raise Unsupported(f"{value}, which is beyond the integers beside it")
            return v.constant(value)
        if what == "c":
            return v.constant(float(value))
        single, double = self.scalars[value]
        return double if kind == "d" else single

    def take(self, numbers: Sequence[str]) -> None:
        """The program's constants, as doubles that the code is given."""
        for number in numbers:
            narrow = self.code.value(f"fptrunc double {number} to float")
            self.scalars.append((self.code.spread(self.lanes, "float", narrow), self.code.spread(self.lanes, "double", number)))

    def of(self, places: Sequence[Place], given: dict[int, str], i: str, part: Part) -> list[str]:
        """The value of each step, from the elements from i on of arrays, and what is given for the other operands."""
        loaded = {name: self.read(kind, part.load(self.stored[kind], at, i)) for name, kind, at in places}
        return self.computed({**given, **loaded})

    def computed(self, loaded: dict[int, str]) -> list[str]:
        """The value of each step, from those of the operands."""
        values: list[str] = []
        self.angles.clear()
        for name, args, kind in self.program.steps:
            if name == "operand":
                values.append(loaded[args[0]])
            else:
                values.append(self.rounded(kind, _FORMS[name](self, kind, args, values)))
        return values


Form = Callable[[_Emitter, str, tuple[Any, ...], Sequence[str]], str]


def _common(e: _Emitter, args: tuple[Any, ...]) -> str:
    """The type that operands are compared in."""
    kinds = [e.program.type(x) for x in args if isinstance(x, int)]
    if set(kinds) & set("fdeE"):
        return "d" if set(kinds) & set("dil") else "f"
    if {"b", "B"} <= set(kinds):
        kinds.append("h")
    return max(kinds, key=("?" + _INTEGERS).index)


def _arithmetic(name: str, instruction: str) -> Form:
    whole = integers.OF_TWO.get(name)

    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        x, y = (e.operand(a, kind, values) for a in args)
        if kind in _INTEGERS and whole is not None:
            return whole(e.stored[kind], kind != "B", x, y)
        return e.vectors(kind).two(instruction, x, y)

    return form


def _one(function: Callable[[Vectors, str], str], name: str = "") -> Form:
    whole = integers.OF_ONE.get(name)

    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        x = e.operand(args[0], kind, values)
        if kind in _INTEGERS and whole is not None:
            return whole(e.stored[kind], kind != "B", x)
        return function(e.vectors(kind), x)

    return form


def _circular(function: Callable[[Vectors, str, Halves], str]) -> Form:
    """A function of angles: what is known of an angle from another one of them is not computed again."""

    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        v, x = e.vectors(kind), e.operand(args[0], kind, values)
        found = e.angles.get((v.number, x))
        if found is None:
            found = e.angles[v.number, x] = halves(v, x)
        return function(v, x, found)

    return form


def _comparison(condition: str) -> Form:
    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        common = _common(e, args)
        if common == "?" and any(not isinstance(a, int) for a in args):
            raise Unsupported("a comparison of truths with a number")
        x, y = (e.operand(a, common, values) for a in args)
        if common == "?" or common in _INTEGERS:
            order = condition[1:]
            if order not in ("eq", "ne"):
                order = ("u" if common in "?B" else "s") + order
            kind = e.single.mask if common == "?" else e.stored[common].type
            return e.code.value(f"icmp {order} {kind} {x}, {y}")
        return e.vectors(common).two(f"fcmp {condition}", x, y)

    return form


def _extreme(condition: str) -> Form:
    """The larger or smaller one; nan where one is nan."""

    whole = integers.OF_TWO["maximum" if condition == "oge" else "minimum"]

    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        x, y = (e.operand(a, kind, values) for a in args)
        if kind in _INTEGERS:
            return whole(e.stored[kind], kind != "B", x, y)
        v = e.vectors(kind)
        if not isinstance(args[1], int):  # where a number comes first, nan is the other one
            x, y, args = y, x, args[::-1]
        found = v.choose(f"fcmp {condition}", x, y, x, y)
        return found if not isinstance(args[0], int) else v.choose("fcmp uno", x, x, x, found)

    return form


def _where(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
    mask, x, y = args
    if not isinstance(mask, int):
        raise Unsupported("a choice by a number")
    condition = e.converted(values[mask], e.program.type(mask), "?")
    if kind == "?":
        a, b = (e.operand(z, "?", values) for z in (x, y))
        return e.code.value(f"select {e.single.mask} {condition}, {e.single.mask} {a}, {e.single.mask} {b}")
    return e.numbers(kind).select(condition, e.operand(x, kind, values), e.operand(y, kind, values))


def _clip(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
    v, x = e.numbers(kind), e.operand(args[0], kind, values)
    for bound, condition, whole in zip(args[1:], ("olt", "ogt"), ("maximum", "minimum")):
        if bound is not None:
            y = e.operand(bound, kind, values)
            if kind in _INTEGERS:
                x = integers.OF_TWO[whole](v, kind != "B", x, y)
                continue
            x = v.choose(f"fcmp {condition}", x, y, y, x)
            if isinstance(bound, int):
                x = v.choose("fcmp uno", y, y, y, x)
    return x


def _truths(instruction: str) -> Form:
    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        x, y = (e.operand(a, kind, values) for a in args)
        if kind in _INTEGERS:
            return e.stored[kind].two(instruction, x, y)
        if kind != "?":
            raise Unsupported(f"the bits of type {kind}")
        return e.code.value(f"{instruction} {e.single.mask} {x}, {y}")

    return form


def _invert(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
    if kind in _INTEGERS:
        return e.stored[kind].two("xor", e.operand(args[0], kind, values), -1)
    if kind != "?":
        raise Unsupported(f"the bits of type {kind}")
    ones = "<" + ", ".join(["i1 true"] * e.lanes) + ">"
    return e.code.value(f"xor {e.single.mask} {e.operand(args[0], '?', values)}, {ones}")


def _question(test: Callable[[Vectors, str], str]) -> Form:
    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        common = _common(e, args)
        if common == "?" or common in _INTEGERS:
            common = "d"
        return test(e.vectors(common), e.operand(args[0], common, values))

    return form


def _cast(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
    have = e.program.type(args[0])
    return e.converted(values[args[0]], have, kind)


def _of_two(function: Callable[[Vectors, str, str], str], name: str = "") -> Form:
    whole = integers.OF_TWO.get(name)

    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        x, y = (e.operand(a, kind, values) for a in args)
        if kind in _INTEGERS and whole is not None:
            return whole(e.stored[kind], kind != "B", x, y)
        return function(e.vectors(kind), x, y)

    return form


def _shift(name: str) -> Form:
    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        if kind not in _INTEGERS:
            raise Unsupported(f"the bits of type {kind}")
        x, y = (e.operand(a, kind, values) for a in args)
        return integers.OF_TWO[name](e.stored[kind], kind != "B", x, y)

    return form


def _sign(v: Vectors, x: str) -> str:
    return v.choose("fcmp ogt", x, 0.0, 1.0, v.choose("fcmp olt", x, 0.0, -1.0, v.choose("fcmp oeq", x, 0.0, 0.0, x)))


def _size(v: Vectors, x: str) -> str:
    return v.call("fabs", x)


def _alike(number: float) -> Form:
    def form(e: _Emitter, kind: str, args: tuple[Any, ...], values: Sequence[str]) -> str:
        if kind == "?":
            return "<" + ", ".join([f"i1 {'true' if number else 'false'}"] * e.lanes) + ">"
        return e.numbers(kind).constant(number)

    return form


def _nothing(v: Vectors, x: str) -> str:
    return v.constant(0.0)


_ONES: dict[str, Callable[[Vectors, str], str]] = {
    "negative": lambda v, x: v.negative(x), "positive": lambda v, x: x, "real": lambda v, x: x, "conj": lambda v, x: x,
    "imag": _nothing, "reciprocal": lambda v, x: v.divide(1.0, x), "square": lambda v, x: v.multiply(x, x),
    "sqrt": lambda v, x: v.call("sqrt", x), "abs": _size, "sign": _sign, "floor": lambda v, x: v.call("floor", x),
    "ceil": lambda v, x: v.call("ceil", x), "trunc": lambda v, x: v.call("trunc", x), "round": lambda v, x: v.call("rint", x),
    **FUNCTIONS, **GAMMA, "one_and_erf": one_and_erf,
}  # fmt: skip
_FORMS: dict[str, Form] = {
    "add": _arithmetic("add", "fadd"), "subtract": _arithmetic("subtract", "fsub"), "multiply": _arithmetic("multiply", "fmul"),
    "divide": _arithmetic("divide", "fdiv"), **{name: _one(function, name) for name, function in _ONES.items()},
    **{name: _circular(function) for name, function in CIRCULAR.items()},
    "copysign": _of_two(lambda v, x, y: v.call("copysign", x, y)), "signbit": _question(signbit),
    "maximum": _extreme("oge"), "minimum": _extreme("ole"), "clip": _clip, "where": _where, "astype": _cast,
    "zeros_like": _alike(0.0), "ones_like": _alike(1.0),
    "equal": _comparison("oeq"), "not_equal": _comparison("une"), "less": _comparison("olt"), "less_equal": _comparison("ole"),
    "greater": _comparison("ogt"), "greater_equal": _comparison("oge"),
    "isnan": _question(lambda v, x: v.two("fcmp uno", x, x)),
    "isinf": _question(lambda v, x: v.two("fcmp oeq", _size(v, x), math.inf)),
    "isfinite": _question(lambda v, x: v.two("fcmp olt", _size(v, x), math.inf)),
    **{f"{kind}_{name}": _truths(name) for kind in ("logical", "bitwise") for name in ("and", "or", "xor")},
    "logical_not": _invert, "bitwise_invert": _invert,
    **{name: _shift(name) for name in ("bitwise_left_shift", "bitwise_right_shift")},
    **{name: _of_two(function, name) for name, function in OF_TWO.items()},
}  # fmt: skip
_COSTS = {
    "operand": 0, "divide": 4, "sqrt": 4, "reciprocal": 4, **dict.fromkeys((*FUNCTIONS, *CIRCULAR, "one_and_erf"), 12),
    **dict.fromkeys(OF_TWO, 16), "pow": 40, **dict.fromkeys(GAMMA, 60),
}  # fmt: skip
"""Steps of work per element, counted as in threads.py."""

# ------------------------------------------------------------------------------------------ kernels

# What a kernel for arrays of any layout is given: a table of words, with the geometry first, then the addresses of the
# results, then of each operand its address and its strides (bytes) along the two outer axes, then the numbers.
_GEOMETRY = "mid", "rows", "width", "columns", "together"


def _kernel(code: Any, program: _Program, spread: tuple[bool, ...], sums: bool) -> None:
    """spread: of each operand, whether one element stands for all along the last axis. sums: of each output one total per
    unit is stored, in double precision."""
    e = _Emitter(code, program)
    names = sorted(program.operands)
    outs = len(program.outputs)
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def word(k: int) -> str:
        return str(code.value(f"load i64, ptr {code.at('i64', '%table', k)}"))

    def pointer(k: int) -> str:
        return str(code.value(f"load ptr, ptr {code.at('i64', '%table', k)}"))

    mid, rows, width, columns, together = (word(k) for k in range(5))
    results = [pointer(5 + k) for k in range(outs)]
    start = 5 + outs
    bases = [(pointer(start + 3 * k), word(start + 3 * k + 1), word(start + 3 * k + 2)) for k in range(len(names))]
    start += 3 * len(names)
    e.take([code.value(f"load double, ptr {code.at('double', '%table', start + k)}") for k in range(len(program.constants))])
    kinds = [program.type(program.operands[name]) for name in names]
    zero = e.double.constant(0.0)

    def unit(u: str) -> None:
        block = code.value(f"sdiv i64 {u}, {columns}")
        first = code.mul(code.value(f"srem i64 {u}, {columns}"), BLOCK)
        n = code.least(code.value(f"sub i64 {width}, {first}"), BLOCK)
        begin = code.mul(block, together)

        def row(r: str, *totals: str) -> list[str]:
            outer, inner = code.value(f"sdiv i64 {r}, {mid}"), code.value(f"srem i64 {r}, {mid}")
            places, given = [], {}
            for name, kind, (base, so, sm), single in zip(names, kinds, bases, spread, strict=True):
                at = code.at("i8", base, code.add(code.mul(outer, so), code.mul(inner, sm)))
                number = e.stored[kind].number
                if single:
                    raw = code.spread(e.lanes, number, code.value(f"load {number}, ptr {at}"))
                    given[name] = e.read(kind, raw)
                else:
                    places.append((name, kind, code.at(number, at, first)))
            here = code.add(code.mul(r, width), first)
            targets = [] if sums else [
                code.at(e.stored[program.type(step)].number, result, here) for step, result in zip(program.outputs, results)
            ]  # fmt: skip

            if not sums:
                _written(e, n, places, given, targets)
                return []
            return _added(e, n, lambda i, part: e.of(places, given, i, part), totals)

        last = code.least(code.add(begin, together), rows)
        found = code.loop(begin, last, 1, row, carried=[(e.double.type, zero)] * outs if sums else [])
        for result, total in zip(results, found):
            code.do(f"store double {e.double.sum(total)}, ptr {code.at('double', result, u)}")

    code.loop("%first", "%last", 1, unit)


def _contiguous(code: Any, program: _Program, spread: tuple[bool, ...], sums: bool) -> None:
    """The kernel for contiguous arrays of one shape, and single elements: operands of their own, x0, x1..., the constants c0,
    c1..."""
    e = _Emitter(code, program)
    code.declare("declare i64 @llvm.smin.i64(i64, i64)")
    e.take([f"%c{k}" for k in range(len(program.constants))])
    kinds = [(name, program.type(program.operands[name])) for name in sorted(program.operands)]
    alone, beside = {}, []
    for k, ((name, kind), single) in enumerate(zip(kinds, spread, strict=True)):
        number = e.stored[kind].number
        if single:
            alone[name] = e.read(kind, code.spread(e.lanes, number, code.value(f"load {number}, ptr %x{k}")))
        else:
            beside.append((name, kind, number, f"%x{k}"))
    zero = e.double.constant(0.0)

    def unit(u: str) -> None:
        first = code.mul(u, BLOCK)
        n = code.least(code.value(f"sub i64 %size, {first}"), BLOCK)
        places = [(name, kind, code.at(number, x, first)) for name, kind, number, x in beside]
        if sums:
            found = _added(e, n, lambda i, part: e.of(places, alone, i, part), [zero] * len(program.outputs))
            for k, total in enumerate(found):
                code.do(f"store double {e.double.sum(total)}, ptr {code.at('double', f'%out{k}', u)}")
            return
        targets = [
            code.at(e.stored[program.type(step)].number, f"%out{k}", first) for k, step in enumerate(program.outputs)
        ]  # fmt: skip
        _written(e, n, places, alone, targets)

    code.loop("%first", "%last", 1, unit)


def _written(e: _Emitter, n: str, places: Sequence[Place], given: dict[int, str], targets: Sequence[str]) -> None:
    """The outputs of n elements, to the addresses `targets`."""
    program = e.program

    def store(i: str, part: Part) -> None:
        found = e.of(places, given, i, part)
        for step, target in zip(program.outputs, targets):
            kind = program.type(step)
            part.store(e.stored[kind], e.written(kind, found[step]), target, i)

    e.single.over(n, store)


_ADDED = 512
"""Numbers that are added up in single precision before their sum goes on in double."""


def _added(e: _Emitter, n: str, values: Callable[[str, Part], list[str]], totals: Sequence[str]) -> list[str]:
    """The totals (vectors of doubles) and the outputs of n elements."""
    code, outputs = e.code, e.program.outputs
    kinds = [e.program.type(step) for step in outputs]  # of integers there are no sums: `vectors` refuses them
    zeros = [e.vectors(kind).constant(0.0) for kind in kinds]

    def chunk(start: str, *before: str) -> list[str]:
        def turn(i: str, part: Part, *now: str) -> list[str]:
            found = values(code.add(start, i), part)
            return [
                v.add(t, part.keep(v, found[step])) for v, t, step in zip(map(e.vectors, kinds), now, outputs)
            ]  # fmt: skip

        here = code.least(code.value(f"sub i64 {n}, {start}"), _ADDED)
        # All vectors have as many lanes: `over` counts in them, whatever is carried.
        done = _over(e, here, turn, [(e.vectors(kind).type, z) for kind, z in zip(kinds, zeros)])
        return [e.double.add(t, e.converted(x, kind, "d")) for t, x, kind in zip(before, done, kinds)]

    found: list[str] = code.loop(0, n, _ADDED, chunk, carried=[(e.double.type, t) for t in totals])
    return found


def _over(e: _Emitter, n: str, step: Callable[..., Sequence[str]], carried: Sequence[tuple[str, str]]) -> list[str]:
    """`Vectors.over` for what is carried in vectors of several types."""
    code, v = e.code, e.single
    complete = code.value(f"and i64 {n}, {-v.lanes}")
    values = code.loop(0, complete, v.lanes, lambda i, *now: step(i, Part(), *now), carried=carried)

    def last(i: str, *now: str) -> Sequence[str]:
        return step(i, Part(v.below(code.value(f"sub i64 {n}, {i}"))), *now)

    found: list[str] = code.loop(
        complete, n, v.lanes, last, carried=[(kind, x) for (kind, _), x in zip(carried, values)]
    )
    return found


_FUNCTIONS: dict[tuple[Any, ...], Callable[..., None] | None] = {}
"""The code of programs by their steps: expressions that differ in numbers only have the same."""


def _function(
    program: _Program, spread: tuple[bool, ...], sums: bool, contiguous: bool
) -> Callable[..., None] | None:  # fmt: skip
    """The kernel for arrays of any layout, or that for contiguous ones of one shape beside single elements."""
    key = (program.key, spread, sums, contiguous)
    if key not in _FUNCTIONS:
        text, listed = (_contiguous, _listed(program)) if contiguous else (_kernel, "bytes table")
        try:
            _FUNCTIONS[key] = llvm.shared("pointwise", listed, lambda code: text(code, program, spread, sums))
        except Unsupported:
            _FUNCTIONS[key] = None
    return _FUNCTIONS[key]


def _listed(program: _Program) -> str:
    """The operands of the kernel for contiguous arrays."""
    arrays = [f"array out{k}" for k in range(len(program.outputs))] + [f"array x{k}" for k in range(len(program.operands))]
    return ", ".join([*arrays, "i64 size", *(f"double c{k}" for k in range(len(program.constants)))])


# ------------------------------------------------------------------------------------------ calls


class Fused:
    """Expressions that are computed together, of operands of the dtypes that their nodes have; raises Unsupported where there
    is no code for one of them.

    Called with the operands, it returns the results, or None where these arrays are the caller's affair: they lie in memory
    as no loop here goes, they do not broadcast, or there is no generated code.
    """

    def __init__(self, outputs: Sequence[Any]) -> None:
        self._program = program = _Program(outputs)
        self._names = sorted(program.operands)
        self._given = [program.dtypes[k] for k in self._names]
        self._dtypes = [node.dtype for node in outputs]
        self.work = program.cost + len(program.operands) + len(outputs)
        """Steps of work for an element, counted as in threads.py."""
        self._functions: dict[Any, Callable[..., None] | None] = {}
        self._layouts: dict[Any, tuple[_Geometry | None, Callable[..., None] | None]] = {}
        self._plain: dict[bool, Callable[..., None] | None] = {}  # for contiguous operands of one shape; True: sums of them
        self._constants = tuple(program.constants)
        self._pack = struct.Struct(f"{5 + len(outputs) + 3 * len(self._names)}q{len(program.constants)}d").pack

    @property
    def operands(self) -> Sequence[int]:
        """The indices of the operands that are looked at."""
        return self._names

    def __call__(self, *arrays: Any, into: Sequence[np.ndarray] | None = None) -> Sequence[np.ndarray] | None:
        """The results for the operands, by their indices. into: contiguous arrays of the results' shape and dtypes that are
        written in place of new ones; they may be operands."""
        given: Sequence[Any] = [arrays[k] for k in self._names]
        found = self._whole(given, False)
        if found is None:
            return self._strided(self._checked(given), into)
        function, shape, size = found
        if function is None:
            return None
        outs = [np.empty(shape, dtype) for dtype in self._dtypes] if into is None else into
        function(*threads.tiles(-(-size // BLOCK), size * self.work), *outs, *given, size, *self._constants)
        return outs

    def _whole(
        self, given: Sequence[Any], sums: bool
    ) -> tuple[Callable[..., None] | None, tuple[int, ...], int] | None:  # fmt: skip
        """The code for contiguous operands of one shape beside single elements, that shape, and how many elements it has;
        None where operands are others."""
        first = given[0]
        shape, size, single = first.shape, first.size, False
        for x, dtype in zip(given, self._given):
            if type(x) is not _ndarray or x.dtype is not dtype or x.flags.num & _PLAIN != _PLAIN:
                return None
            if x.shape != shape:
                if shape and x.shape:
                    return None
                single = True
                if not shape:
                    shape, size = x.shape, x.size
        if single:
            return self._code(tuple([not x.shape for x in given]), sums, True), shape, size
        function = self._plain.get(sums)
        if function is None:
            function = self._plain[sums] = self._code((False,) * len(given), sums, True)
        return function, shape, size

    def _checked(self, given: Sequence[Any]) -> list[np.ndarray]:
        """The operands that are looked at, as aligned arrays; raises TypeError where one has another dtype than its node."""
        given = list(given)
        for k, (x, dtype) in enumerate(zip(given, self._given)):
            if type(x) is not np.ndarray:  # a number of NumPy's has no address where arrays have one
                given[k] = np.asarray(x)
            if x.dtype is not dtype and x.dtype != dtype:
                raise TypeError(f"the expression is of {dtype}, and the operand of {x.dtype}")
        return list(map(aligned, given))

    def _strided(
        self, given: Sequence[np.ndarray], into: Sequence[np.ndarray] | None
    ) -> Sequence[np.ndarray] | None:  # fmt: skip
        found, function = self._layout(given, False)
        if found is None and any(x.flags.c_contiguous and x.size > 1 and x.shape == given[0].shape for x in given):
            # What lies in another order than the rest, or is reversed, is copied first: sooner than NumPy's way through it.
            # Where one operand is in C's order, so are NumPy's results.
            given = [packed(x) if x.shape == given[0].shape else x for x in given]
            found, function = self._layout(given, False)
        if found is None or function is None:
            return None
        like = None if found.like is None else given[found.like]
        if into is not None and like is not None:
            return None
        outs = into if into is not None else [
            np.empty(found.shape, dtype) if like is None else np.empty_like(like, dtype) for dtype in self._dtypes
        ]  # fmt: skip
        self._run(function, given, found, outs)
        return outs

    def sums(self, *arrays: Any) -> list[np.float64] | None:
        """The sum of each result over all elements, in double precision."""
        given: Sequence[Any] = [arrays[k] for k in self._names]
        whole = self._whole(given, True)
        if whole is not None:
            function, _, size = whole
            if function is None or not size:
                return None
            units = -(-size // BLOCK)
            totals = [np.empty(units) for _ in self._dtypes]
            function(*threads.tiles(units, size * self.work), *totals, *given, size, *self._constants)
        else:
            given = self._checked(given)
            found, function = self._layout(given, True)
            if found is None or function is None:
                return None
            totals = [np.empty(found.units) for _ in self._dtypes]
            self._run(function, given, found, totals)
        return [x[0] if x.size == 1 else np.add.reduce(x) for x in totals]

    def _layout(self, given: Sequence[np.ndarray], sums: bool) -> tuple[_Geometry | None, Callable[..., None] | None]:
        """How operands of these shapes and strides are gone through, and the code for it; None where there is none."""
        key = (sums, *[x.shape for x in given], *[x.strides for x in given])
        known = self._layouts.get(key)
        if known is None:
            found = _geometry(given)
            known = found, None if found is None else self._code(found.spread, sums, False)
            if len(self._layouts) >= _LAYOUTS:
                self._layouts.clear()
            self._layouts[key] = known
        return known

    def _code(self, spread: tuple[bool, ...], sums: bool, contiguous: bool) -> Callable[..., None] | None:
        key = (spread, sums, contiguous)
        if key not in self._functions:
            self._functions[key] = _function(self._program, spread, sums, contiguous)
        return self._functions[key]

    def _run(
        self, function: Callable[..., None], given: Sequence[np.ndarray], how: _Geometry, outs: Sequence[np.ndarray]
    ) -> None:  # fmt: skip
        table = [how.mid, how.rows, how.width, how.columns, how.together, *map(address, outs)]
        for x, strides in zip(given, how.strides):
            table += (address(x), *strides)
        work = how.rows * how.width * self.work
        function(*threads.tiles(how.units, work), self._pack(*table, *self._constants))


_PLAIN = 0x1 | 0x100
"""What `flags.num` holds of an array that is contiguous in C's order, and aligned."""


_LAYOUTS = 256
"""Layouts of operands that a loop keeps: to find one out takes 15 µs."""


class _Geometry:
    """How arrays are gone through: `rows` times `width` elements, the rows in groups of `mid`.

    spread: which operands are spread along the last axis. strides: of each operand, from group to group and from row to row.
    like: the operand that the results lie like, if it is not C's order.
    """

    def __init__(
        self, shape: tuple[int, ...], spread: tuple[bool, ...], strides: Sequence[tuple[int, int]], mid: int, rows: int,
        width: int, like: int | None = None,
    ) -> None:  # fmt: skip
        self.shape, self.spread, self.strides, self.like = shape, spread, strides, like
        self.mid, self.rows, self.width = mid, rows, width
        self.columns = -(-width // BLOCK)  # units of a row
        self.together = max(1, BLOCK // width)  # rows of a unit
        self.units = self.columns * -(-rows // self.together)


def _geometry(arrays: Sequence[np.ndarray]) -> _Geometry | None:
    """How arrays that broadcast are gone through, or None."""
    try:
        shape = np.broadcast_shapes(*(x.shape for x in arrays))
    except ValueError:
        return None
    if 0 in shape:
        return None
    out, like, rank = shape, None, len(shape)
    padded = [((1,) * (rank - x.ndim) + x.shape, (0,) * (rank - x.ndim) + x.strides) for x in arrays]
    whole = next((k for k, x in enumerate(arrays) if x.shape == shape), None)
    if rank > 1 and whole is not None and (first := arrays[whole].flags).f_contiguous and not first.c_contiguous:
        # In the reverse order, and so are the results.
        like, shape = whole, shape[::-1]
        padded = [(have[::-1], strides[::-1]) for have, strides in padded]
    axes: list[tuple[int, list[int]]] = []  # size, and the stride of each operand; neighbours joined
    for axis, size in enumerate(shape):
        if size == 1:
            continue
        strides = [0 if have[axis] == 1 else by[axis] for have, by in padded]
        if axes and all(a == b * size for a, b in zip(axes[-1][1], strides)):
            axes[-1] = (axes[-1][0] * size, strides)
        else:
            axes.append((size, strides))
    if len(axes) > 3:
        return None
    none = 1, [0] * len(arrays)
    width, last = axes.pop() if axes else none
    if any(stride not in (0, x.itemsize) for x, stride in zip(arrays, last)):
        return None
    mid, inner = axes.pop() if axes else none
    outer, beyond = axes.pop() if axes else none
    return _Geometry(out, tuple([stride == 0 for stride in last]), list(zip(beyond, inner)), mid, outer * mid, width, like)
