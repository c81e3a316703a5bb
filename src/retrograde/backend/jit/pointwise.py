"""Functions of single numbers as generated code: the error function and the activation that is made of it (float32).

SciPy computes float32's error function number by number in double precision, 10 ns each, which is a fifth of a
transformer's step. Here 16 go at once, to the same accuracy as PyTorch's (less than one unit in the last place):

- below 0.9, erf(x) = x + x P(x²);
- from there on, erf(x) = 1 - exp(-Q(x)), and 1 from 4 on, where the rest is less than half a unit.

P and Q are our own minimax fits (Lawson's weighted least squares) in double precision.
"""

from __future__ import annotations

import ctypes
import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm
from .operands import FLOAT32, LEAST, aligned
from .vectors import LANES, Vectors


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
    if x.size < LEAST or x.dtype != FLOAT32 or not x.flags.forc:
        return None
    function = _generated(name)
    if function is None:
        return None
    x, out = aligned(x), np.empty_like(x)
    function(out.ctypes.data, x.ctypes.data, x.size)
    return out


@functools.cache
def _generated(name: str) -> Callable[[int, int, int], None] | None:
    return llvm.function(name, lambda code: _text(code, name), ctypes.c_void_p, ctypes.c_void_p, ctypes.c_int64)


# ------------------------------------------------------------------------------------------ their code

_SPLIT, _LIMIT = 0.9, 4.0
_NEAR = (
    0.128379166, -0.376126289, 0.112836242, -0.02685556, 0.00519175315, -0.000803975272, 7.94310035e-05,
)  # fmt: skip
"""erf(√z) / √z - 1 for z up to 0.9²."""
_FAR = (
    -0.000169204548, 1.12948835, 0.633401096, 0.108219951, -0.025080217, 0.00415605213, -0.000431339926, 2.0822843e-05,
)  # fmt: skip
"""-log(1 - erf(x)) from 0.9 to 4."""


def _erf(v: Vectors, x: str) -> str:
    size = v.call("fabs", x)
    near = v.call("fma", v.polynomial(_NEAR, v.multiply(size, size)), size, size)
    bounded = v.choose("fcmp ogt", size, _LIMIT, _LIMIT, size)
    less, scale = v.exp(v.subtract(0.0, v.polynomial(_FAR, bounded)))
    far = v.call("fma", v.subtract(0.0, less), scale, v.subtract(1.0, scale))
    return v.call("copysign", v.choose("fcmp olt", size, _SPLIT, near, far), x)


def _normal(v: Vectors, x: str) -> str:
    """The normal distribution function by the error function."""
    return v.multiply(v.add(_erf(v, v.multiply(x, math.sqrt(0.5))), 1.0), 0.5)


def _gelu(v: Vectors, x: str) -> str:
    return v.multiply(x, _normal(v, x))


def _gelu_slope(v: Vectors, x: str) -> str:
    power = v.multiply(v.multiply(x, x), -0.5)
    less, scale = v.exp(v.choose("fcmp olt", power, -87.0, -87.0, power))
    density = v.multiply(v.call("fma", less, scale, scale), 1 / math.sqrt(2 * math.pi))
    density = v.choose("fcmp olt", power, -87.0, 0.0, density)
    return v.call("fma", x, density, _normal(v, x))


_FUNCTIONS = {"erf": _erf, "gelu": _gelu, "gelu_slope": _gelu_slope}


def _text(code: Any, name: str) -> str:
    """The module with the function `name(out, x, n)`: n results for n contiguous numbers."""
    v = Vectors(code, LANES)
    v.over("%n", lambda i, part: part.store(v, _FUNCTIONS[name](v, part.load(v, "%x", i)), "%out", i))
    return str(code.module(f"define void @{name}(ptr %out, ptr %x, i64 %n)"))
