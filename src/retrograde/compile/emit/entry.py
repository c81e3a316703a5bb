"""How Python calls a segment: a built-in function in machine code. All segments have the same, with words of their own.

It takes NumPy arrays, looks at their fields in memory (type, dtype, shape, order), has NumPy make the results, calls the
segment's code, and returns them as a tuple: a fifth of what ctypes, `np.empty` and looks at flags take. Arrays that lie
otherwise, and whatever is none, go to a function in Python first, which puts them in order or says what is wrong.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend.jit import llvm, threads
from ..graph import Variable
from . import interpreter
from .interpreter import FLAGS, ITEMS, ORDERED, Code, Layout, fits, spec, words

_LAYOUT = Layout(
    {"bytes": np.dtype(np.uint8)},
    ("array", "create", "takes", "take_count", "gives", "give_count", "segment", "pool", "released", "room", "block", "busy",
     "slow"),
)

KEPT = 1 << 22
"""Bytes of buffers that are kept from call to call."""

_RELEASED = 1 << 17
"""Steps of work from which on the interpreter's lock is released."""


@functools.cache
def _address() -> int | None:
    """Where the code is; None where LLVM could not translate it."""
    return llvm.address("entry", lambda code: _text())


def offered() -> bool:
    """Whether segments are called so."""
    return interpreter.offered() and _address() is not None


def function(segment: int, takes: Sequence[Variable], gives: Sequence[Variable], room: int, work: int) -> Callable[..., Any]:
    """segment(operands...): the tuple of what the code at an address gives. room: the bytes of its block of buffers."""
    found_at, functions = _address(), interpreter.numpys_functions()
    assert found_at is not None
    assert functions is not None
    dtypes = list(dict.fromkeys(v.dtype for v in (*takes, *gives)))
    as_taken = [dtypes[dtypes.index(v.dtype)] for v in takes]

    def slow(*arrays: Any) -> Any:
        if len(arrays) != len(takes):
            raise TypeError(f"compiled code of {len(takes)} arrays was given {len(arrays)}")
        ordered = list(arrays)
        for i, (x, v, dtype) in enumerate(zip(arrays, takes, as_taken)):
            if type(x) is np.ndarray and x.dtype is dtype and x.shape == v.shape and x.flags.c_contiguous and x.flags.aligned:
                continue  # mostly one of them lies otherwise
            x = np.asarray(x)
            if x.shape != v.shape or x.dtype != v.dtype:
                raise TypeError(f"compiled code was given {x.dtype.name}{list(x.shape)} as operand {i}, and is for {v!r}")
            x = np.require(x.view(np.ndarray), requirements=["C", "A"])
            ordered[i] = x if x.dtype is dtype else x.view(dtype)
        return found(*ordered)

    specs = {(v.shape, v.dtype): spec(v.shape, dtypes[dtypes.index(v.dtype)]) for v in (*takes, *gives)}
    own = [words([specs[v.shape, v.dtype].ctypes.data for v in some], specs) for some in (takes, gives)]
    block = np.empty(room if room <= KEPT else 0, np.uint8)
    pool = functools.partial(threads.pool, work) if work >= threads.WORTH else None
    given = {
        "array": functions[0], "create": functions[1], "takes": own[0], "take_count": len(takes), "gives": own[1],
        "give_count": len(gives), "segment": segment, "pool": 0 if pool is None else id(pool), "released": work >= _RELEASED,
        "room": room, "block": block.ctypes.data if block.size else 0, "busy": not block.size, "slow": id(slow),
    }  # fmt: skip
    found = _LAYOUT.function(found_at, given, slow, pool, block, dtypes)
    return found


# ------------------------------------------------------------------------------------------ the code


def _text() -> str:
    """The module of `entry(self, args, count)`."""
    code = Code(_LAYOUT.places).entered()
    takes, gives = (code.word(f"{some}_count", "i64") for some in ("take", "give"))
    code.expect(code.compared("eq", "i64", "%count", takes), "slow")
    array_type, create = code.word("array"), code.word("create")
    arrays = code.value(f"alloca ptr, i64 {code.add(takes, gives)}, align 16")
    results = code.value(f"alloca ptr, i64 {code.add(gives, 1)}, align 16")

    def operand(i: str) -> None:
        x = code.value(f"load ptr, ptr {code.at('ptr', '%args', i)}")
        wanted = code.value(f"load ptr, ptr {code.at('ptr', code.word('takes'), i)}")
        code.expect(code.value(f"call i1 @fits(ptr {x}, ptr {wanted}, ptr {array_type})"), "slow")
        flags = code.value(f"and i32 {code.load('i32', x, FLAGS)}, {ORDERED}")
        code.expect(code.compared("eq", "i32", flags, ORDERED), "slow")
        code.do(f"store ptr {code.load('ptr', x, llvm.DATA)}, ptr {code.at('ptr', arrays, code.add(i, gives))}")

    code.each(takes, operand)
    pool = code.value("alloca ptr")
    code.do(f"store ptr null, ptr {pool}")

    def shared() -> None:
        found = code.call("PyObject_Vectorcall", f"ptr {code.word('pool')}, ptr null, i64 0, ptr null")
        code.expect(code.compared("ne", "ptr", found, "null"), "failed")
        number = code.call("PyLong_AsLongLong", f"ptr {found}")
        code.call("Py_DecRef", f"ptr {found}")
        code.do(f"store i64 {number}, ptr {pool}")

    code.when(code.compared("ne", "ptr", code.word("pool"), "null"), shared)

    def made(description: str, axes: str, sizes: str) -> str:
        """A new array."""
        code.call("Py_IncRef", f"ptr {description}")  # which the array takes over
        kind = f"ptr {array_type}, ptr {description}, i32 {axes}, ptr {sizes}"
        new = code.value(f"call ptr {create}({kind}, ptr null, ptr null, i32 0, ptr null)")
        code.expect(code.compared("ne", "ptr", new, "null"), "failed")
        return new

    def result(i: str) -> None:
        wanted = code.value(f"load ptr, ptr {code.at('ptr', code.word('gives'), i)}")
        axes = code.value(f"trunc i64 {code.load('i64', wanted, 8)} to i32")
        new = made(code.load("ptr", wanted, 0), axes, code.at("i8", wanted, 16))
        code.do(f"store ptr {new}, ptr {code.at('ptr', results, i)}")
        code.do(f"store ptr {code.load('ptr', new, llvm.DATA)}, ptr {code.at('ptr', arrays, i)}")

    code.each(gives, result)
    room, block, more = code.word("room", "i64"), code.value("alloca ptr"), code.value("alloca ptr")
    code.do(f"store ptr {code.word('block')}, ptr {block}")
    code.do(f"store ptr null, ptr {more}")
    needed = code.compared("ne", "i64", room, 0)
    another = code.value(f"and i1 {needed}, {code.compared('ne', 'i64', code.word('busy', 'i64'), 0)}")

    def another_block() -> None:  # the kept one is in use, or there is none
        sizes = code.at("i64", "%words", code.places["room"])
        new = made(code.word("bytes"), "1", sizes)
        code.do(f"store ptr {new}, ptr {more}")
        code.do(f"store ptr {code.load('ptr', new, llvm.DATA)}, ptr {block}")

    code.when(another, another_block)
    own = code.value(f"and i1 {needed}, {code.value(f'xor i1 {another}, true')}")

    def busy(now: int) -> None:
        code.when(own, lambda: code.store("i64", str(now), "%words", 8 * code.places["busy"]))

    busy(1)
    released, thread = code.compared("ne", "i64", code.word("released", "i64"), 0), code.value("alloca ptr")
    code.when(released, lambda: code.do(f"store ptr {code.call('PyEval_SaveThread', '')}, ptr {thread}"))
    given = [code.value(f"load ptr, ptr {place}") for place in (pool, block)]
    code.do(f"call void {code.word('segment')}(ptr {given[0]}, ptr {arrays}, ptr {given[1]})")

    def back() -> None:
        code.call("PyEval_RestoreThread", f"ptr {code.value(f'load ptr, ptr {thread}')}")

    code.when(released, back)
    busy(0)
    used = code.value(f"load ptr, ptr {more}")
    code.when(another, lambda: code.call("Py_DecRef", f"ptr {used}"))
    tuple_ = code.call("PyTuple_New", f"i64 {gives}")
    code.expect(code.compared("ne", "ptr", tuple_, "null"), "failed")

    def put(i: str) -> None:
        x = code.value(f"load ptr, ptr {code.at('ptr', results, i)}")
        code.do(f"store ptr {x}, ptr {code.at('ptr', code.at('i8', tuple_, ITEMS), i)}")

    code.each(gives, put)
    code.do(f"ret ptr {tuple_}")
    code.label("failed")  # the exception is set; where there was no memory, what has been made stays
    code.do("ret ptr null")
    code.label("slow")
    other = code.call("PyObject_Vectorcall", f"ptr {code.word('slow')}, ptr %args, i64 %count, ptr null")
    code.do(f"ret ptr {other}")
    return "\n".join([fits(), code.function("ptr @entry(ptr %self, ptr %args, i64 %count)"), "attributes #0 = { nounwind }"])
