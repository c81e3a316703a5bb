"""Which arrays generated code takes: how many numbers at least, of which dtype, and how they lie in memory.

Generated code reads its operands at their addresses, as multiples of an element's size: an array that lies otherwise (a view
into a buffer at an odd byte) is copied first, so that its results are those of the same numbers elsewhere.
"""

from __future__ import annotations

import ctypes
from typing import TypeVar

import numpy as np

from . import llvm

LEAST = 1 << 13
"""Fewer numbers are left to NumPy and SciPy: the first call loads llvmlite, 50 ms."""

FLOAT32, FLOAT64 = np.dtype(np.float32), np.dtype(np.float64)

A = TypeVar("A", bound="np.ndarray | None")


def suited(x: np.ndarray) -> bool:
    """Whether an array is large enough, float32 and contiguous."""
    return x.size >= LEAST and x.dtype == FLOAT32 and x.flags.c_contiguous


def aligned(x: A) -> A:
    """An array whose elements begin at multiples of their size: itself, or a copy in the same order; None for None."""
    return x if x is None or x.flags.aligned else x.copy(order="K")


def address(x: np.ndarray | None) -> int:
    """Where an array begins (not a number of NumPy's, which is none); 0 for none."""
    if x is None:
        return 0
    return int(_word(id(x) + llvm.DATA).value if llvm.arrays_are_read() else x.ctypes.data)


_word = ctypes.c_int64.from_address
