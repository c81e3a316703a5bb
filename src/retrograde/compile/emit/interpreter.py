"""How CPython and NumPy have their objects in memory, for generated code that reads them; and the text of such code.

Where the fields are not where this file expects them (another interpreter, a build for debugging or without the lock)
`offered` says no, and Python does the work.
"""

from __future__ import annotations

import ctypes
import functools
import importlib
import sys
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...backend.jit import llvm

TYPE, NDIM, DIMENSIONS, DESCR, FLAGS = 8, 24, 32, 56, 64
"""Where in an object its type stands, and in an array of NumPy's its number of axes, sizes, dtype and flags."""
ITEMS = 24
"""Where in a tuple its first element stands, and in a list the address of its."""
CONTENT = 16
"""Where a cell has what it holds, a dict, a list and a tuple the number of their entries."""
ORDERED = 0x1 | 0x100
"""Of an array's flags: contiguous in C's order, and aligned."""
_MEMBER, _OFFSET = 40, 16
"""Where the descriptor of a slot has the address of what describes it, and where in that the slot's place in an object is."""
_NEW = 94
"""The place of PyArray_NewFromDescr in NumPy's table of functions; that of the type of arrays is 2."""

FUNCTIONS = {
    "PyDict_GetItemWithError": "ptr", "PyErr_Clear": "void", "PyObject_GetAttr": "ptr", "Py_IncRef": "void", "Py_DecRef": "void",
    "PyObject_Vectorcall": "ptr", "PyTuple_New": "ptr", "PyList_New": "ptr", "PyLong_AsLongLong": "i64",
    "PyObject_SetAttr": "i32", "PyErr_ExceptionMatches": "i32",
    "PyErr_Occurred": "ptr", "PyEval_SaveThread": "ptr", "PyEval_RestoreThread": "void",
}  # fmt: skip
"""What generated code calls of the interpreter, all of it of its stable interface, and what that returns."""


class Words(np.ndarray):
    """Words in memory, and what they are addresses of."""

    kept: Any


def words(numbers: Iterable[int], *kept: Any) -> Words:
    """Words with these numbers in them."""
    found = np.array([*numbers], np.int64).view(Words)
    found.kept = kept
    return found


def word(x: Any, at: int) -> int:
    """What stands so many bytes behind the begin of an object."""
    return ctypes.c_int64.from_address(id(x) + at).value


@functools.cache
def numpys_functions() -> tuple[int, ...] | None:
    """The addresses of the type of arrays and of the functions that are called; None where they are not known."""
    if sys.platform == "win32":  # elsewhere a letter says it: the variables are read from a file, 3 ms
        import sysconfig

        free = sysconfig.get_config_var("Py_GIL_DISABLED")
    else:
        free = "t" in sys.abiflags
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
    if numpys_functions() is None:
        return False
    a, t = np.zeros((2, 3), np.float32), (None, 5)

    def number(x: Any, at: int) -> int:
        return ctypes.c_int32.from_address(id(x) + at).value

    dimensions = (ctypes.c_int64 * 2).from_address(word(a, DIMENSIONS))
    return (
        word(a, TYPE) == id(np.ndarray) and number(a, NDIM) == 2 and list(dimensions) == [2, 3]
        and word(a, DESCR) == id(a.dtype) and number(a, FLAGS) & ORDERED == ORDERED == a.flags.num & ORDERED
        and not number(a[:, :2], FLAGS) & 1 and word(t, ITEMS + 8) == id(t[1])
    )  # fmt: skip


def slot_of(cls: type, name: str) -> int:
    """Where an object of a class has one of its slots."""
    return ctypes.c_int64.from_address(word(vars(cls)[name], _MEMBER) + _OFFSET).value


def slots_are_read(cls: type, names: Sequence[str]) -> bool:
    """Whether objects of a class have these slots where `slot_of` says."""
    if any(type(vars(cls).get(name)) is not types.MemberDescriptorType for name in names):
        return False
    one: Any = object.__new__(cls)
    places = [slot_of(cls, name) for name in names]
    for name in names:
        vars(cls)[name].__set__(one, name)
    return all(0 < at < 256 and word(one, at) == id(name) for name, at in zip(names, places))


def spec(shape: Sequence[int], dtype: np.dtype) -> Words:
    """A dtype and a shape, as `fits` compares them."""
    return words([id(dtype), len(shape), *shape], dtype)


class Layout:
    """The words of a kind of function: functions of the interpreter, objects, and what else each is given by name."""

    def __init__(self, objects: Mapping[str, Any], given: Sequence[str]) -> None:
        self.objects, self.given = objects, given
        names = [*FUNCTIONS, *objects, *given, "name", "address", "flags", "doc"]
        self.places = {name: k for k, name in enumerate(names)}

    def function(self, address: int, given: Mapping[str, Any], *kept: Any) -> Callable[..., Any]:
        """The function in Python of code with its words, an array being the address of its own."""
        found = words(np.zeros(len(self.places), np.int64), given, kept)
        for name, where in _addresses().items():
            found[self.places[name]] = where
        for name, x in self.objects.items():
            found[self.places[name]] = id(x)
        for name, x in given.items():
            found[self.places[name]] = x.ctypes.data if isinstance(x, Words) else x
        found[self.places["name"] :] = [ctypes.addressof(_NAME), address, llvm.FASTCALL, 0]
        return llvm.builtin(found.ctypes.data + 8 * self.places["name"], found)


@functools.cache
def _addresses() -> dict[str, int | None]:
    return {name: ctypes.cast(getattr(ctypes.pythonapi, name), ctypes.c_void_p).value for name in FUNCTIONS}


_NAME = ctypes.create_string_buffer(b"compiled")


# ------------------------------------------------------------------------------------------ the text of code


class Code(llvm.Code):
    """A function that finds what it needs in words, whose places are given by name: `%words`, or the memory of its `%self`."""

    def __init__(self, places: Mapping[str, int]) -> None:
        super().__init__()
        self.places = places

    def entered(self) -> Code:
        """Itself, a function that the interpreter calls: it begins by finding the words."""
        self.value(f"load ptr, ptr {self.at('i8', '%self', llvm.DATA)}", "%words")
        return self

    def word(self, name: str, kind: str = "ptr") -> str:
        """One of the words."""
        return self.load(kind, "%words", 8 * self.places[name])

    def load(self, kind: str, pointer: str, at: str | int) -> str:
        """What stands so many bytes behind an address."""
        return self.value(f"load {kind}, ptr {self.at('i8', pointer, at)}")

    def store(self, kind: str, x: str, pointer: str, at: str | int) -> None:
        """Put something so many bytes behind an address."""
        self.do(f"store {kind} {x}, ptr {self.at('i8', pointer, at)}")

    def call(self, name: str, given: str, kind: str | None = None) -> str:
        """One of the interpreter's functions, called."""
        result = kind or FUNCTIONS[name]
        text = f"call {result} {self.word(name)}({given})"
        if result == "void":
            self.do(text)
            return ""
        return self.value(text)

    def compared(self, how: str, kind: str, x: str, y: str | int) -> str:
        """A comparison."""
        return self.value(f"icmp {how} {kind} {x}, {y}")

    def expect(self, condition: str, otherwise: str) -> None:
        """Go on where a condition holds, and elsewhere at a label."""
        n = self.fresh()
        self.do(f"br i1 {condition}, label %good{n}, label %{otherwise}")
        self.label(f"good{n}")

    def each(self, count: str, body: Callable[[str], None]) -> None:
        """body(i) for so many i."""
        self.loop(0, count, 1, lambda i: body(i))

    def cases(self, kind: str, bodies: Sequence[Callable[[], None]]) -> None:
        """The body with a number."""
        n = self.fresh()
        listed = " ".join(f"i64 {k}, label %case{n}.{k}" for k in range(len(bodies)))
        self.do(f"switch i64 {kind}, label %done{n} [ {listed} ]")
        for k, body in enumerate(bodies):
            self.label(f"case{n}.{k}")
            body()
            self.do(f"br label %done{n}")
        self.label(f"done{n}")

    def function(self, head: str) -> str:
        """Its text."""
        return "\n".join([f"define {head} #0 {{", *self.lines, "}"])


def fits() -> str:
    """fits(array, spec, type of arrays): whether something is an array of NumPy's of a dtype and shape."""
    code = Code({})
    code.expect(code.compared("eq", "ptr", code.load("ptr", "%x", TYPE), "%array"), "no")
    code.expect(code.compared("eq", "ptr", code.load("ptr", "%x", DESCR), code.load("ptr", "%spec", 0)), "no")
    count = code.load("i64", "%spec", 8)
    own = code.value(f"sext i32 {code.load('i32', '%x', NDIM)} to i64")
    code.expect(code.compared("eq", "i64", own, count), "no")
    sizes = code.load("ptr", "%x", DIMENSIONS)

    def size(i: str) -> None:
        at = code.mul(i, 8)
        code.expect(code.compared("eq", "i64", code.load("i64", sizes, at), code.load("i64", "%spec", code.add(at, 16))), "no")

    code.each(count, size)
    code.do("ret i1 true")
    code.label("no")
    code.do("ret i1 false")
    return code.function("internal i1 @fits(ptr %x, ptr %spec, ptr %array)")
