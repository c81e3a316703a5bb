"""How Python calls a segment: a built-in function whose code is generated, too.

It takes NumPy arrays, looks at their fields in memory (type, dtype, shape, order), has NumPy make the results, and returns
them as a tuple: 0.1 µs where ctypes and `np.empty` take 1.2. Arrays that lie otherwise, and whatever is none, go to a
function in Python first, which puts them in order or says what is wrong. Where the fields are not where this file expects
them (another interpreter, a build for debugging or without the lock) `offered` says no.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import sysconfig
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ...backend.jit import llvm
from ..graph import Variable

TYPE, NDIM, DIMENSIONS, DESCR, FLAGS = 8, 24, 32, 56, 64
"""Where in an object its type stands, and in an array of NumPy's its number of axes, sizes, dtype and flags."""
ITEMS = 24
"""Where in a tuple its first element stands, and in a list the address of its."""
_ORDERED = 0x1 | 0x100
"""Of an array's flags: contiguous in C's order, and aligned."""
_NEW = 94
"""The place of PyArray_NewFromDescr in NumPy's table of functions; that of the type of arrays is 2."""
_NAME = ctypes.create_string_buffer(b"compiled")
# The words of the context that the function has as its `self`.
_ARRAY, _CREATE, _TUPLE, _INCREF, _CALL, _SLOW, _METHOD, _DTYPES = 0, 1, 2, 3, 4, 5, 6, 10

ROOM = 1 << 15
"""Bytes of buffers at most: they lie on the stack."""


class _Context(np.ndarray):
    """The words; it holds what they are addresses of."""


@functools.cache
def _functions() -> tuple[int, ...] | None:
    """The addresses of the type of arrays and of the functions that are called; None where they are not known."""
    windows = sys.platform == "win32"  # elsewhere a letter says it: the variables are read from a file, 3 ms
    free = sysconfig.get_config_var("Py_GIL_DISABLED") if windows else "t" in sys.abiflags
    if sys.implementation.name != "cpython" or hasattr(sys, "gettotalrefcount") or free:
        return None
    try:
        numpy_c: Any = importlib.import_module("numpy._core._multiarray_umath")
    except ImportError:  # NumPy 1
        return None
    pointer = ctypes.pythonapi.PyCapsule_GetPointer
    pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    table = (ctypes.c_void_p * (_NEW + 1)).from_address(pointer(numpy_c._ARRAY_API, None))
    names = "PyTuple_New", "Py_IncRef", "PyObject_Vectorcall"
    found = [table[_NEW], *(ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in names)]
    addresses = [x for x in found if x]
    return (id(np.ndarray), *addresses) if table[2] == id(np.ndarray) and len(addresses) == len(found) else None


@functools.cache
def offered() -> bool:
    """Whether arrays and tuples lie in memory as they are read here."""
    if _functions() is None:
        return False
    a, t = np.zeros((2, 3), np.float32), (None, 5)

    def word(x: Any, at: int) -> int:
        return ctypes.c_int64.from_address(id(x) + at).value

    def number(x: Any, at: int) -> int:
        return ctypes.c_int32.from_address(id(x) + at).value

    dimensions = (ctypes.c_int64 * 2).from_address(word(a, DIMENSIONS))
    return (
        word(a, TYPE) == id(np.ndarray) and number(a, NDIM) == 2 and list(dimensions) == [2, 3]
        and word(a, DESCR) == id(a.dtype) and number(a, FLAGS) & _ORDERED == _ORDERED == a.flags.num & _ORDERED
        and not number(a[:, :2], FLAGS) & 1 and word(t, ITEMS + 8) == id(t[1])
    )  # fmt: skip


def text(code: llvm.Code, takes: Sequence[Variable], gives: Sequence[Variable], room: int) -> list[str]:
    """The lines of `entry(self, args, count)`, in a module with `segment` (machine.py)."""
    globals_: list[str] = []

    def word(k: int, kind: str = "ptr") -> str:
        return code.value(f"load {kind}, ptr {code.at('i64', context, k)}")

    def part(x: str, at: int, kind: str) -> str:
        return code.value(f"load {kind}, ptr {code.at('i8', x, at)}")

    def expect(condition: str) -> None:
        n = code.fresh()
        code.do(f"br i1 {condition}, label %good{n}, label %slow")
        code.label(f"good{n}")

    if room:
        code.value(f"alloca {{ [{llvm.DATA} x i8], ptr }}", "%buffers")  # an array, as far as it is looked at
        memory = code.value(f"alloca [{room + 64} x i8], align 64")
        code.do(f"store ptr {memory}, ptr {code.at('i8', '%buffers', llvm.DATA)}")
    context = part("%self", llvm.DATA, "ptr")
    dtypes = list(dict.fromkeys(v.dtype for v in (*takes, *gives)))
    array_type = word(_ARRAY)
    descriptions = [word(_DTYPES + k) for k in range(len(dtypes))]
    expect(code.value(f"icmp eq i64 %count, {len(takes)}"))
    operands = []
    for i, v in enumerate(takes):
        x = code.value(f"load ptr, ptr {code.at('ptr', '%args', i)}")
        operands.append(x)
        expect(code.value(f"icmp eq ptr {part(x, TYPE, 'ptr')}, {array_type}"))
        expect(code.value(f"icmp eq ptr {part(x, DESCR, 'ptr')}, {descriptions[dtypes.index(v.dtype)]}"))
        flags = code.value(f"and i32 {part(x, FLAGS, 'i32')}, {_ORDERED}")
        expect(code.value(f"icmp eq i32 {flags}, {_ORDERED}"))
        expect(code.value(f"icmp eq i32 {part(x, NDIM, 'i32')}, {v.ndim}"))
        if v.ndim:
            dimensions = part(x, DIMENSIONS, "ptr")
            for axis, size in enumerate(v.shape):
                expect(code.value(f"icmp eq i64 {part(dimensions, 8 * axis, 'i64')}, {size}"))
    create, increase = word(_CREATE), word(_INCREF)
    results = []
    for i, v in enumerate(gives):
        shape = "null"
        if v.ndim:
            shape = f"@shape{i}"
            listed = ", ".join(f"i64 {n}" for n in v.shape)
            globals_.append(f"{shape} = internal constant [{v.ndim} x i64] [{listed}]")
        description = descriptions[dtypes.index(v.dtype)]
        code.do(f"call void {increase}(ptr {description})")  # which the new array takes over
        kind = f"ptr {array_type}, ptr {description}, i32 {v.ndim}, ptr {shape}"
        made = code.value(f"call ptr {create}({kind}, ptr null, ptr null, i32 0, ptr null)")
        n = code.fresh()
        code.do(f"br i1 {code.value(f'icmp eq ptr {made}, null')}, label %failed, label %made{n}")
        code.label(f"made{n}")
        results.append(made)
    given = ["ptr null", *(f"ptr {x}" for x in (*results, *operands))] + (["ptr %buffers"] if room else [])
    code.do(f"call void @segment({', '.join(given)})")
    tuple_ = code.value(f"call ptr {word(_TUPLE)}(i64 {len(gives)})")
    code.do(f"br i1 {code.value(f'icmp eq ptr {tuple_}, null')}, label %failed, label %filled")
    code.label("filled")
    for i, x in enumerate(results):
        code.do(f"store ptr {x}, ptr {code.at('i8', tuple_, ITEMS + 8 * i)}")
    code.do(f"ret ptr {tuple_}")
    code.label("failed")  # no memory: the exception is set
    code.do("ret ptr null")
    code.label("slow")
    other = code.value(f"call ptr {word(_CALL)}(ptr {word(_SLOW)}, ptr %args, i64 %count, ptr null)")
    code.do(f"ret ptr {other}")
    return [*globals_, "define ptr @entry(ptr %self, ptr %args, i64 %count) #0 {", *code.lines, "}"]


def function(address: int, takes: Sequence[Variable], gives: Sequence[Variable]) -> Callable[..., Any]:
    """The function in Python of such code."""
    functions = _functions()
    assert functions is not None
    dtypes = list(dict.fromkeys(v.dtype for v in (*takes, *gives)))
    context = np.zeros(_DTYPES + len(dtypes), np.int64).view(_Context)

    def slow(*arrays: Any) -> Any:
        if len(arrays) != len(takes):
            raise TypeError(f"compiled code of {len(takes)} arrays was given {len(arrays)}")
        ordered = []
        for i, (x, v) in enumerate(zip(arrays, takes)):
            x = np.asarray(x)
            if x.shape != v.shape or x.dtype != v.dtype:
                raise TypeError(f"compiled code was given {x.dtype.name}{list(x.shape)} as operand {i}, and is for {v!r}")
            x, dtype = np.require(x.view(np.ndarray), requirements=["C", "A"]), dtypes[dtypes.index(v.dtype)]
            ordered.append(x if x.dtype is dtype else x.view(dtype))
        return found(*ordered)

    method = context.ctypes.data + 8 * _METHOD
    context[: _SLOW + 1] = [*functions, id(slow)]
    context[_METHOD : _METHOD + 4] = [ctypes.addressof(_NAME), address, llvm.FASTCALL, 0]
    context[_DTYPES:] = [id(d) for d in dtypes]
    context.kept = slow, dtypes  # type: ignore[attr-defined]
    found = llvm.builtin(method, context)
    return found
