"""Functions of single numbers as generated code: the error function and the activation that is made of it (float32).

SciPy computes float32's error function number by number in double precision, 10 ns each, which is a fifth of a
transformer's step. Here 16 go at once, to the same accuracy as PyTorch's (less than one unit in the last place):

- below 0.85, erf(x) = x + x P(x²);
- from there on, erf(x) = 1 - exp(-Q(x)), and 1 from 4 on, where the rest is less than half a unit.

P, Q and the polynomial of exp are our own minimax fits (Lawson's weighted least squares) in double precision.
"""

from __future__ import annotations

import ctypes
import functools
import math
import struct
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

LEAST = 1 << 13
"""Fewer numbers are left to NumPy and SciPy: the first call loads llvmlite, 50 ms."""

LANES = 16
_FLOAT32 = np.dtype(np.float32)


def erf(x: np.ndarray) -> np.ndarray | None:
    """The error function of float32 numbers; None where it is the caller's affair (few numbers, other dtypes, no LLVM)."""
    return _applied("erf", x)


def gelu(x: np.ndarray) -> np.ndarray | None:
    """x (1 + erf(x / √2)) / 2 of float32 numbers; None where it is the caller's affair."""
    return _applied("gelu", x)


def gelu_slope(x: np.ndarray) -> np.ndarray | None:
    """The derivative of `gelu` at float32 numbers; None where it is the caller's affair."""
    return _applied("gelu_slope", x)


def _applied(name: str, x: np.ndarray) -> np.ndarray | None:
    if x.size < LEAST or x.dtype is not _FLOAT32 or not x.flags.forc:
        return None
    function = _generated(name)
    if function is None:
        return None
    out = np.empty_like(x)
    function(out.ctypes.data, x.ctypes.data, x.size)
    return out


@functools.cache
def _generated(name: str) -> Callable[[int, int, int], None] | None:
    from . import llvm  # 50 ms, for programs that come here only

    if not llvm.available("avx2", "fma"):
        return None
    try:
        address = llvm.assembled(name, _text(llvm.Code(), name))
    except RuntimeError as problem:  # a version of LLVM with another assembly language
        warnings.warn(f"llvmlite could not translate {name}, SciPy computes it: {problem}", stacklevel=4)
        return None
    return ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)(address)


# ------------------------------------------------------------------------------------------ their code

_SPLIT, _LIMIT = 0.85, 4.0
_NEAR = (
    0.128379166, -0.376126379, 0.112837471, -0.0268624816, 0.0052092988, -0.000824429095, 8.83625471e-05,
)  # fmt: skip
"""erf(√z) / √z - 1 for z up to 0.85²."""
_FAR = (
    -0.000156295573, 1.12942493, 0.633531809, 0.108073555, -0.0249840692, 0.00411904277, -0.000423612742, 2.01480179e-05,
)  # fmt: skip
"""-log(1 - erf(x)) from 0.85 to 4."""
_EXP = (
    0.49999994, 0.166665211, 0.041668389, 0.00836871006, 0.00138146104,
)  # fmt: skip
"""(exp(r) - 1 - r) / r² for |r| up to log(2) / 2."""
_LOG2 = 0.693359375, -2.12194440e-4  # log(2) as a number of few bits, whose multiples are exact, and the rest
_MAGIC = 1.5 * 2**23  # a float32 of this size has no room behind the point: adding it rounds


class _Vectors:
    """Instructions for vectors of float32 numbers; Python's numbers become constants."""

    type = f"<{LANES} x float>"
    words = f"<{LANES} x i32>"
    mask = f"<{LANES} x i1>"
    functions = (("fabs", 1), ("copysign", 2), ("fma", 3))

    def __init__(self, code: Any) -> None:
        self.code = code

    def constant(self, x: float | str) -> str:
        if isinstance(x, str):
            return x
        (bits,) = struct.unpack("<Q", struct.pack("<d", float(np.float32(x))))
        return "<" + ", ".join([f"float 0x{bits:016X}"] * LANES) + ">"

    def _two(self, instruction: str, x: float | str, y: float | str) -> str:
        return self.code.value(f"{instruction} {self.type} {self.constant(x)}, {self.constant(y)}")

    def add(self, x: float | str, y: float | str) -> str:
        return self._two("fadd", x, y)

    def subtract(self, x: float | str, y: float | str) -> str:
        return self._two("fsub", x, y)

    def multiply(self, x: float | str, y: float | str) -> str:
        return self._two("fmul", x, y)

    def call(self, name: str, *operands: float | str) -> str:
        given = ", ".join(f"{self.type} {self.constant(x)}" for x in operands)
        return self.code.value(f"call {self.type} @llvm.{name}.v{LANES}f32({given})")

    def choose(self, comparison: str, x: str, y: float | str, then: float | str, otherwise: float | str) -> str:
        """`then` where the comparison holds, `otherwise` elsewhere and beside nan."""
        holds = self._two(f"fcmp {comparison}", x, y)
        return self.code.value(
            f"select {self.mask} {holds}, {self.type} {self.constant(then)}, {self.type} {self.constant(otherwise)}"
        )

    def polynomial(self, coefficients: Sequence[float], x: str) -> str:
        """The sum of coefficients[k] x^k."""
        *rest, total = coefficients
        result: float | str = total
        for c in reversed(rest):
            result = self.call("fma", result, x, c)
        return self.constant(result)

    def exp(self, x: str) -> tuple[str, str]:
        """r and s with exp(x) = s + s r for x between -87 and 88: s is a power of 2, the exact part."""
        shifted = self.add(self.multiply(x, 1 / math.log(2)), _MAGIC)
        n = self.subtract(shifted, _MAGIC)
        r = self.call("fma", n, -_LOG2[0], x)
        r = self.call("fma", n, -_LOG2[1], r)
        less = self.call("fma", self.polynomial(_EXP, r), self.multiply(r, r), r)
        bits = self.code.value(f"bitcast {self.type} {shifted} to {self.words}")
        spread = {k: "<" + ", ".join([f"i32 {k}"] * LANES) + ">" for k in (23, 127 << 23)}
        exponent = self.code.value(f"shl {self.words} {bits}, {spread[23]}")
        scale = self.code.value(f"add {self.words} {exponent}, {spread[127 << 23]}")
        return less, self.code.value(f"bitcast {self.words} {scale} to {self.type}")


def _erf(v: _Vectors, x: str) -> str:
    size = v.call("fabs", x)
    near = v.call("fma", v.polynomial(_NEAR, v.multiply(size, size)), size, size)
    bounded = v.choose("ogt", size, _LIMIT, _LIMIT, size)
    less, scale = v.exp(v.subtract(0.0, v.polynomial(_FAR, bounded)))
    far = v.call("fma", v.subtract(0.0, less), scale, v.subtract(1.0, scale))
    return v.call("copysign", v.choose("olt", size, _SPLIT, near, far), x)


def _normal(v: _Vectors, x: str) -> str:
    """The normal distribution function by the error function."""
    return v.multiply(v.add(_erf(v, v.multiply(x, math.sqrt(0.5))), 1.0), 0.5)


def _gelu(v: _Vectors, x: str) -> str:
    return v.multiply(x, _normal(v, x))


def _gelu_slope(v: _Vectors, x: str) -> str:
    power = v.multiply(v.multiply(x, x), -0.5)
    less, scale = v.exp(v.choose("olt", power, -87.0, -87.0, power))
    density = v.multiply(v.call("fma", less, scale, scale), 1 / math.sqrt(2 * math.pi))
    density = v.choose("olt", power, -87.0, 0.0, density)
    return v.call("fma", x, density, _normal(v, x))


_FUNCTIONS = {"erf": _erf, "gelu": _gelu, "gelu_slope": _gelu_slope}


def _text(code: Any, name: str) -> str:
    """The module with the function `name(out, x, n)`: n results for n contiguous numbers."""
    v = _Vectors(code)
    load, store = (f"@llvm.masked.{what}.v{LANES}f32.p0" for what in ("load", "store"))

    def block(i: str) -> tuple[str, str]:
        return code.at("float", "%x", i), code.at("float", "%out", i)

    def whole(i: str) -> None:
        source, target = block(i)
        result = _FUNCTIONS[name](v, code.value(f"load {v.type}, ptr {source}, align 4"))
        code.do(f"store {v.type} {result}, ptr {target}, align 4")

    def last(i: str) -> None:
        source, target = block(i)
        numbers = ", ".join(f"i64 {k}" for k in range(LANES))
        left = code.spread(LANES, "i64", code.value(f"sub i64 %n, {i}"))
        there = code.value(f"icmp slt <{LANES} x i64> <{numbers}>, {left}")
        x = code.value(f"call {v.type} {load}(ptr {source}, i32 4, {v.mask} {there}, {v.type} zeroinitializer)")
        result = _FUNCTIONS[name](v, x)
        code.do(f"call void {store}({v.type} {result}, ptr {target}, i32 4, {v.mask} {there})")

    complete = code.value(f"and i64 %n, {-LANES}")
    code.loop(0, complete, LANES, whole)
    code.loop(complete, "%n", LANES, last)
    code.do("ret void")
    declarations = [f"declare {v.type} @llvm.{f}.v{LANES}f32({', '.join([v.type] * n)})" for f, n in v.functions]
    declarations += [
        f"declare {v.type} {load}(ptr, i32, {v.mask}, {v.type})", f"declare void {store}({v.type}, ptr, i32, {v.mask})",
    ]  # fmt: skip
    head = f"define void @{name}(ptr %out, ptr %x, i64 %n) #0"
    return "\n".join([*declarations, code.function(head), "attributes #0 = { nounwind }"])
