"""Generated code under guard, where RETROGRADE_VERIFY=1 asks for it: operands, results and buffers lie between fences.

Every array of a call is put into memory of its own whose neighbouring pages may not be touched (where the system offers that)
and whose other bytes are known; the code runs twice, with the arrays at the end of their pages and at the beginning. What
touches another page ends the process; what writes beside an array, into an operand, or gives results that depend on bytes
beside an array is an error.
"""

from __future__ import annotations

import ctypes
import mmap
import sys
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend.jit import threads
from ..graph import Variable

_PAGE = mmap.PAGESIZE
_FORBIDDEN = 0
"""What a page may be used for: nothing (PROT_NONE)."""


class OutOfBounds(AssertionError):
    """Generated code has touched memory that it was not given."""


class Fenced:
    """An array of a shape and dtype in memory of its own, whose other bytes are `around`."""

    def __init__(self, shape: Sequence[int], dtype: np.dtype, *, around: int, at_end: bool) -> None:
        count = 1
        for n in shape:
            count *= n
        size = count * dtype.itemsize
        pages = max(1, -(-size // _PAGE))
        memory = mmap.mmap(-1, (pages + 2) * _PAGE)
        whole = np.frombuffer(memory, np.uint8)
        for page in (0, pages + 1):
            _forbid(whole[page * _PAGE :].ctypes.data)
        inside = whole[_PAGE : (pages + 1) * _PAGE]
        inside[:] = around
        first = pages * _PAGE - size if at_end else 0
        self.array = inside[first : first + size].view(dtype).reshape(shape)
        self._around, self._beside = around, (inside[:first], inside[first + size :])

    def look(self, what: str) -> None:
        """Raise OutOfBounds where the bytes beside the array have changed."""
        for side, there in zip(("before", "behind"), self._beside):
            if (there != self._around).any():
                raise OutOfBounds(f"generated code has written {int((there != self._around).sum())} bytes {side} {what}")


def _forbid(address: int) -> None:
    if sys.platform != "win32":  # there only the bytes of the array's own pages are looked at
        ctypes.CDLL(None).mprotect(ctypes.c_void_p(address), ctypes.c_size_t(_PAGE), _FORBIDDEN)


def function(
    call: Callable[..., None], takes: Sequence[Variable], gives: Sequence[Variable], room: int, work: int,
    in_order: Callable[[np.ndarray], np.ndarray],
) -> Callable[..., Any]:  # fmt: skip
    """The function of a segment (program.py) whose code `call` is: of its operands, the tuple of its results."""

    def run(around: int, at_end: bool, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        results = [Fenced(v.shape, v.dtype, around=around, at_end=at_end) for v in gives]
        given = [Fenced(v.shape, v.dtype, around=around, at_end=at_end) for v in takes]
        for place, x in zip(given, operands):
            place.array[...] = x
        block = [Fenced([room], np.dtype(np.uint8), around=around, at_end=at_end)] if room else []
        call(threads.pool(work) if work >= threads.WORTH else 0, *[place.array for place in (*results, *given, *block)])
        for what, places in (("result", results), ("operand", given), ("the block of buffers", block)):
            for i, place in enumerate(places):
                place.look(what if places is block else f"{what} {i}")
        for i, (place, x) in enumerate(zip(given, operands)):
            if place.array.tobytes() != x.tobytes():
                raise OutOfBounds(f"generated code has written into operand {i}")
        return [place.array.copy() for place in results]

    def segment(*arrays: Any) -> tuple[Any, ...]:
        operands = [in_order(np.asarray(x)) for x in arrays]
        if len(operands) != len(takes):
            raise TypeError(f"compiled code of {len(takes)} arrays was given {len(operands)}")
        for i, (x, v) in enumerate(zip(operands, takes)):
            if x.shape != v.shape or x.dtype != v.dtype:
                raise TypeError(f"compiled code was given {x.dtype.name}{list(x.shape)} as operand {i}, and is for {v!r}")
        found, again = (run(around, at_end, operands) for around, at_end in ((0xFF, True), (0x55, False)))
        for i, (x, y) in enumerate(zip(found, again)):
            if x.tobytes() != y.tobytes():
                raise OutOfBounds(f"result {i} of generated code depends on bytes beside operands, or on what was in its memory")
        return tuple(found)

    return segment
