"""What a graph has become: the code of a function, and the machine code and primitives that they call. It holds data only, so
that it can be kept on disk (../records.py), and the function that is called is made of it.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

import numpy as np

from ...backend.jit import llvm, threads
from .. import failures, verify
from ..graph import Equation, Variable
from ..passes import plan
from . import entry, fences

_KEPT = 1 << 22
"""Bytes of buffers that are kept from call to call."""

_SOME, _MUCH = 1, 2
"""Whether there are so many, or more, which are not kept."""

_RELEASED = 1 << 17
"""Steps of work from which on the interpreter's lock is released."""


def available() -> bool:
    """Whether graphs can become machine code here."""
    return llvm.available() and llvm.arrays_are_read()


class Missing(LookupError):
    """Machine code that was there when the program was made is there no more."""


class Routine(NamedTuple):
    """The machine code of a segment: what it takes and gives, the bytes of buffers that it is given, and its steps of work.

    key: of its module among what is kept. direct: whether it is called without Python's help. text: the module; None where the
    code is there already.
    """

    takes: Sequence[Variable]
    gives: Sequence[Variable]
    room: int
    work: int
    direct: bool
    key: str
    text: str | None = None

    def address(self, name: str) -> int:
        """Where a function of the module is; raises Missing where the module is not."""
        found = llvm.kept(name, self.key) if self.text is None else llvm.assembled(name, self.text)
        if found is None:
            raise Missing(self.key)
        return found

    def call(self) -> Callable[..., None]:
        """The code, called with the pool, what it gives, what it takes, and a block of buffers if there is `room` for any."""
        count = len(self.gives) + len(self.takes) + (self.room > 0)
        make = ctypes.CFUNCTYPE if self.work >= _RELEASED else ctypes.PYFUNCTYPE
        return make(None, ctypes.c_void_p, *[ctypes.py_object] * count)(self.address("segment"))

    def form(self) -> Form:
        """What the code that calls it depends on."""
        room = 0 if not self.room else _SOME if self.room <= _KEPT else _MUCH
        return len(self.takes), len(self.gives), room, self.work >= threads.WORTH

    def function(self) -> Callable[..., Any]:
        """segment(operands...): the tuple of what it gives."""
        if verify.asked():
            room = self.room + plan.ALIGNED if self.room else 0
            return fences.function(self.call(), self.takes, self.gives, room, self.work, _in_order)
        if self.direct:
            return entry.function(self.address("entry"), self.takes, self.gives)
        scope: dict[str, Any] = {
            "empty": np.empty, "in_order": _in_order, "call": self.call(), "pool": threads.pool, "kept": [], "work": self.work,
            "uint8": np.dtype(np.uint8), "room": self.room + plan.ALIGNED,
        }  # fmt: skip
        for i, v in enumerate(self.gives):
            scope[f"n{i}"], scope[f"t{i}"] = v.shape, v.dtype
        form = self.form()
        if form not in FORMS:
            FORMS[form] = _called(*form)
        exec(FORMS[form], scope)  # noqa: S102 - our own
        found: Callable[..., Any] = scope["segment"]
        return found


Form = tuple[int, int, int, bool]
"""How many arrays a routine takes and gives, whether it is given buffers, and whether threads share the work."""

FORMS: dict[Form, CodeType] = {}
"""The code that calls routines, as far as it has been made: 0.5 ms each, and there are as many as kinds of calls."""


def _called(takes: int, gives: int, room: int, shared: bool) -> CodeType:
    """The code of what calls a routine: it puts operands in order, and makes the results and the block of buffers."""
    lines = [f"def segment({', '.join(f'x{i}' for i in range(takes))}):"]
    lines += [f"    if x{i}.flags.num & 257 != 257: x{i} = in_order(x{i})" for i in range(takes)]
    lines += [f"    y{i} = empty(n{i}, t{i})" for i in range(gives)]
    given = ["pool(work)" if shared else "0", *(f"y{i}" for i in range(gives)), *(f"x{i}" for i in range(takes))]
    if room:
        lines += ["    try: b = kept.pop()", "    except IndexError: b = empty(room, uint8)"]
        given.append("b")
    lines.append(f"    call({', '.join(given)})")
    if room == _SOME:
        lines.append("    kept.append(b)")
    lines.append(f"    return ({''.join(f'y{i}, ' for i in range(gives))})")
    return compile("\n".join(lines), "<retrograde segment>", "exec")


def _in_order(x: np.ndarray) -> np.ndarray:
    """An array in C's order, aligned."""
    return np.require(x, requirements=["C", "A"])


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
        if self.code is None:
            (routine,) = self.routines.values()
            return routine.function()
        scope: dict[str, Any] = {"__name__": __name__, **self.constants}
        for k, e in self.calls.items():
            scope[f"op{k}"] = e.prim.op
            scope.update((f"p{k}_{key}", x) for key, x in e.params.items())
        scope.update((f"s{k}", routine.function()) for k, routine in self.routines.items())
        return failures.function(self.code, scope, {k + 1: e for k, e in self.calls.items()})
