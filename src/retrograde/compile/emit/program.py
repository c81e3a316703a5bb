"""What a graph has become: the code of a function, and the machine code and primitives that they call. It holds data only, so
that it can be kept on disk (../records.py), and the function that is called is made of it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ...backend.jit import llvm, products, threads, thresholds
from .. import failures, verify
from ..graph import Equation, Variable
from ..passes import plan
from . import entry, fences


def available() -> bool:
    """Whether graphs can become machine code here."""
    return llvm.available() and llvm.arrays_are_read()


class Missing(LookupError):
    """Machine code that was there when the program was made is there no more."""


class Routine(NamedTuple):
    """The machine code of a segment: what it takes and gives, the bytes of buffers that it is given, and its steps of work.

    key: of its module among what is kept. text: the module; None where the code is there already.
    """

    takes: Sequence[Variable]
    gives: Sequence[Variable]
    room: int
    work: int
    key: str
    text: str | None = None

    def address(self) -> int:
        """Where its function is; raises Missing where the module is not."""
        found = llvm.kept("segment", self.key) if self.text is None else llvm.assembled("segment", self.text)
        if found is None:
            raise Missing(self.key)
        return found

    def call(self) -> Callable[..., None]:
        """The code, called with the pool, what it gives, what it takes, and a block of buffers if there is `room` for any."""
        count = len(self.gives) + len(self.takes)
        function = ctypes.CFUNCTYPE(None, *[ctypes.c_void_p] * 3)(self.address())

        def call(pool: int, *arrays: np.ndarray) -> None:
            places = (ctypes.c_void_p * count)(*[a.ctypes.data for a in arrays[:count]])
            function(pool, places, arrays[count].ctypes.data if self.room else None)

        return call

    def function(self) -> Callable[..., Any]:
        """segment(operands...): the tuple of what it gives."""
        room = self.room + plan.ALIGNED if self.room else 0
        if verify.asked():
            return fences.function(self.call(), self.takes, self.gives, room, self.work, _in_order)
        if entry.offered():
            return entry.function(self.address(), self.takes, self.gives, room, self.work)
        call, work = self.call(), self.work

        def segment(*operands: np.ndarray) -> tuple[np.ndarray, ...]:
            found = [np.empty(v.shape, v.dtype) for v in self.gives]
            block = [np.empty(room, np.uint8)] if room else []
            call(threads.pool(work) if work >= threads.WORTH else 0, *found, *map(_in_order, operands), *block)
            return tuple(found)

        return segment


def _in_order(x: np.ndarray) -> np.ndarray:
    """An array in C's order, aligned."""
    return np.require(x, requirements=["C", "A"])


_PRODUCTS = frozenset({"matmul", "project", "transposed_matmul", "affine"})


class Program(NamedTuple):
    """code: of a module with `run`, in which routine k is called as s<k>, the primitive of equation k as op<k> with each
    parameter p<k>_NAME, in the k-th line of the function's body, and a constant by its name; None where the one routine is the
    function itself."""

    code: CodeType | None
    constants: Mapping[str, np.ndarray]
    calls: Mapping[int, Equation]
    routines: Mapping[int, Routine]

    def function(self) -> Callable[..., Sequence[Any]]:
        """The function; raises Missing where code is there no more."""
        texts = [("segment", routine.text) for routine in self.routines.values() if routine.text is not None]
        numbers = self._multiplied() if texts else set()
        if len(texts) + len(numbers) > 1 and available():
            with llvm.meanwhile(texts, threads.count()):
                entry.offered()
                for char in numbers:
                    products.generates(char)
        if self.code is None:
            (routine,) = self.routines.values()
            return routine.function()
        scope: dict[str, Any] = {"__name__": __name__, **self.constants}
        for k, e in self.calls.items():
            scope[f"op{k}"] = e.prim.op
            scope.update((f"p{k}_{key}", x) for key, x in e.params.items())
        scope.update((f"s{k}", routine.function()) for k, routine in self.routines.items())
        return failures.function(self.code, scope, {k + 1: e for k, e in self.calls.items()})

    def _multiplied(self) -> set[str]:
        """The dtypes of which large matrices are multiplied by what is called."""
        found = set[str]()
        for e in self.calls.values():
            x, out = e.inputs[0] if e.inputs else None, e.outputs[0]
            if e.prim.name in _PRODUCTS and x is not None and x.size * (out.shape or (1,))[-1] >= thresholds.LEAST:
                found.add(out.dtype.char)
        return found
