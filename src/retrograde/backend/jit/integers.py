"""Functions of vectors of integers, as NumPy's: results wrap around, quotients by 0 are 0, and shifts by more than there are
bits shift all of them out."""

from __future__ import annotations

from collections.abc import Callable

from .vectors import Vectors


def _quotient(v: Vectors, signed: bool, x: str, y: str) -> tuple[str, str]:
    """The integers below x / y, and y with 1 in place of 0. Up to 32 bits by doubles, whose quotients are exact enough (the
    processor divides no vectors of integers)."""
    none = v.two("icmp eq", y, 0)
    y = v.select(none, 1, y)
    if v.size < 8:
        wide, long = Vectors(v.code, v.lanes, "double"), Vectors(v.code, v.lanes, "i32" if v.size < 4 else "i64")
        to, back = ("sitofp", "fptosi") if signed else ("uitofp", "fptoui")
        quotient = wide.call("floor", wide.divide(v.convert(to, x, wide), v.convert(to, y, wide)))
        if v.size == 4:  # -2^31 by -1 is no number of 32 bits
            quotient = wide.choose("fcmp oge", quotient, 2.0**31, -(2.0**31), quotient)
            found = wide.convert(back, quotient, v)
        else:
            found = long.convert("trunc", wide.convert(back, quotient, long), v)
        return v.select(none, 0, found), y
    lowest = v.code.value(f"and {v.mask} {v.two('icmp eq', x, -(1 << 63))}, {v.two('icmp eq', y, -1)}")
    divisor = v.select(lowest, 1, y)  # by -1 the processor would stop, and the quotient wraps around to x
    q = v.two("sdiv", x, divisor)
    left = v.subtract(x, v.multiply(q, divisor))
    turned = v.two("icmp slt", v.two("xor", left, divisor), 0)
    turned = v.code.value(f"and {v.mask} {turned}, {v.two('icmp ne', left, 0)}")
    return v.select(none, 0, v.select(turned, v.subtract(q, 1), q)), y


def floor_divide(v: Vectors, signed: bool, x: str, y: str) -> str:
    """The integer below x / y."""
    return _quotient(v, signed, x, y)[0]


def remainder(v: Vectors, signed: bool, x: str, y: str) -> str:
    """What division by y leaves, with the sign of y."""
    q, divisor = _quotient(v, signed, x, y)
    return v.select(v.two("icmp eq", y, 0), 0, v.subtract(x, v.multiply(q, divisor)))


def left_shift(v: Vectors, signed: bool, x: str, y: str) -> str:
    """x 2^y."""
    bits = 8 * v.size
    far = v.two("icmp uge", y, bits)
    return v.select(far, 0, v.two("shl", x, v.select(far, 0, y)))


def right_shift(v: Vectors, signed: bool, x: str, y: str) -> str:
    """The integer below x / 2^y."""
    bits = 8 * v.size
    far = v.two("icmp uge", y, bits)
    if signed:
        return v.two("ashr", x, v.select(far, bits - 1, y))
    return v.select(far, 0, v.two("lshr", x, v.select(far, 0, y)))


def absolute(v: Vectors, signed: bool, x: str) -> str:
    """|x|."""
    return v.choose("icmp slt", x, 0, v.negative(x), x) if signed else x


def sign(v: Vectors, signed: bool, x: str) -> str:
    """1, 0 or -1."""
    positive = v.choose("icmp ne", x, 0, 1, 0)
    return v.choose("icmp slt", x, 0, -1, positive) if signed else positive


def _same(v: Vectors, signed: bool, x: str) -> str:
    return x


OF_ONE: dict[str, Callable[[Vectors, bool, str], str]] = {
    "abs": absolute, "sign": sign, "negative": lambda v, signed, x: v.negative(x), "positive": _same, "floor": _same,
    "square": lambda v, signed, x: v.multiply(x, x), "ceil": _same, "trunc": _same, "round": _same, "conj": _same, "real": _same,
    "imag": lambda v, signed, x: v.constant(0), "bitwise_invert": lambda v, signed, x: v.two("xor", x, -1),
}  # fmt: skip
OF_TWO: dict[str, Callable[[Vectors, bool, str, str], str]] = {
    "add": lambda v, signed, x, y: v.add(x, y), "subtract": lambda v, signed, x, y: v.subtract(x, y),
    "multiply": lambda v, signed, x, y: v.multiply(x, y), "floor_divide": floor_divide, "remainder": remainder,
    "maximum": lambda v, signed, x, y: v.choose(f"icmp {'sgt' if signed else 'ugt'}", x, y, x, y),
    "minimum": lambda v, signed, x, y: v.choose(f"icmp {'slt' if signed else 'ult'}", x, y, x, y),
    "bitwise_and": lambda v, signed, x, y: v.two("and", x, y), "bitwise_or": lambda v, signed, x, y: v.two("or", x, y),
    "bitwise_xor": lambda v, signed, x, y: v.two("xor", x, y), "bitwise_left_shift": left_shift,
    "bitwise_right_shift": right_shift,
}  # fmt: skip
"""By the names of the array-API standard: of vectors, whether they have a sign, and operands."""
