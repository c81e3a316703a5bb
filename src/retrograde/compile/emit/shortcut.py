"""What Python does around compiled code at each call, as machine code: it looks whether what a version reads is as it was, takes
the arrays out of the tensors, and puts results into tensors and these into containers.

`guard` is the first of that by itself, `call` all of it. All versions have the same code, and differ in the words that it goes
through. What it cannot decide (an equal number that is another object, an argument of another kind) it leaves to the slower way
in Python, with MISSED as the answer. It reads the fields of Python's objects in memory (interpreter.py), and `offered` says
whether they are where it expects them.
"""

from __future__ import annotations

import ctypes
import functools
import gc
import sys
import types
from collections import OrderedDict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._tree import TreeDef
from ...backend.jit import llvm
from ...core.node import Accumulate
from ...core.value import Value
from . import interpreter
from .interpreter import CONTENT, ITEMS, TYPE, Code, Layout, fits, slot_of, slots_are_read, spec, word, words


class _Missed:
    """The answer where the slower way is to be taken."""

    __slots__ = ()


MISSED = _Missed()

MOST = 16
"""Arguments at most: each is compared with all others."""

_USED, _VERSION = 24, 24
"""Where a set has the number of its entries, and a dict, of some versions of Python, a number that every change changes."""
_NEW_SLOT = 65
"""The number of tp_new among the slots of types."""

_LAYOUT = Layout(
    {"array": np.ndarray, "none": None, "true": True, "false": False, "zero": 0, "empty": (), "_grad": "_grad", "missed": MISSED,
     "tuple": tuple, "leaf": Accumulate},
    ("new", "looks", "look_count", "rest", "arguments", "argument_count", "taken", "taken_count", "captured", "captured_count",
     "compiled", "results", "result_count", "steps", "step_count", "then", "counter"),
)  # fmt: skip

# Kinds of looks. Each has four words: the kind, where it looks, what else it needs, and what is to be there. The looks into one
# dict stand between _UNCHANGED, which passes over so many where the dict has the version that it had when they last held, and
# _HELD, which notes that version where the one before it looks for it.
_WORD, _ENTRY, _ITEM, _TENSOR, _GRADIENT, _UNCHANGED, _HELD = range(7)
# Kinds of results, and of steps that build containers of them.
_MADE, _GIVEN, _CONSTANT = range(3)
_LEAF, _TUPLE, _LIST, _NONE = range(4)


class Fields(NamedTuple):
    """Where a `Value` has its fields, and a leaf its hooks."""

    array: int
    node: int
    level: int
    hooks: int


@functools.cache
def value_fields() -> Fields:
    """Where they are."""
    array, node, level = (slot_of(Value, name) for name in ("_a", "_node", "_level"))
    return Fields(array, node, level, slot_of(Accumulate, "hooks"))


@functools.cache
def offered() -> bool:
    """Whether Python's objects lie in memory as they are read here."""
    if not interpreter.offered() or not llvm.available():
        return False
    if not slots_are_read(Value, ("_a", "_node", "_level")) or not slots_are_read(Accumulate, ("hooks",)):
        return False
    cell, entries, items = types.CellType(MISSED), {1: 2, 3: 4}, [1, MISSED]
    ordered, some = OrderedDict(entries), {1, 2, 3}
    return (
        word(cell, CONTENT) == id(MISSED) and word(entries, CONTENT) == 2
        and word(ordered, CONTENT) == 2 and word(some, _USED) == 3
        and word(items, CONTENT) == 2
        and ctypes.c_int64.from_address(word(items, ITEMS) + 8).value == id(MISSED)
    )  # fmt: skip


def at_hand() -> bool:
    """Whether guards are offered, and are there without LLVM: on disk."""
    return llvm.met() and offered() and llvm.kept("holds", llvm.key(_text("holds"))) is not None


# ------------------------------------------------------------------------------------------ what is looked at


_DICTS = (dict, OrderedDict)
"""Dicts that are read without Python's help."""


class Look(NamedTuple):
    """Something that is to be as it was, as four words; kept: what these are addresses of."""

    kind: int
    at: int
    more: int
    was: int
    kept: Any


def entry_is(owner: Any, key: Any, was: Any) -> Look | None:
    """That what is found at a place is the same object; None where it takes Python to look there."""
    if type(owner) is types.CellType and key is None:
        return Look(_WORD, id(owner) + CONTENT, 0, id(was), (owner, was))
    if type(owner) is types.MappingProxyType:  # the attributes of a class
        found = gc.get_referents(owner)
        owner = found[0] if len(found) == 1 else owner
    if type(owner) in _DICTS and type(key) in (str, int):
        return Look(_ENTRY, id(owner), id(key), id(was), (owner, key, was))
    if type(owner) is list and type(key) is int:
        return Look(_ITEM, id(owner), key, id(was), (owner, was))
    return None


def length_is(owner: Any, was: int) -> Look | None:
    """That a container has as many entries; None where it takes Python to count them."""
    if type(owner) is set:
        return Look(_WORD, id(owner) + _USED, 0, was, owner)
    return Look(_WORD, id(owner) + CONTENT, 0, was, owner) if type(owner) in (*_DICTS, list) else None


def tensor_is(x: Value, shape: Sequence[int], dtype: np.dtype, bare: bool) -> Look:
    """That a tensor holds an array of NumPy's of a shape and dtype, and has no history, or has one."""
    wanted = spec(shape, dtype)
    return Look(_TENSOR, id(x), wanted.ctypes.data, bare, (x, wanted))


def gradient_is(x: Value, none: bool) -> Look:
    """That a tensor has no gradient, or has one."""
    return Look(_GRADIENT, id(x), 0, none, x)


def guard(looks: Sequence[Look]) -> Callable[[], bool] | None:
    """A function that says whether all is as it was; False where it is not, and where other objects may be equal. None where LLVM
    could not translate it."""
    return _function("holds", _given_looks(looks), looks)


class Given(NamedTuple):
    """An argument: the class, shape and dtype of a tensor at level 0 that has no gradient; edge: the class of its place on the
    tape, and of None where it has none. A leaf has no hooks."""

    cls: type
    shape: Sequence[int]
    dtype: np.dtype
    edge: type


class Call(NamedTuple):
    """What a call does. arguments: those that it takes, each another tensor; looks, rest: what is to be as it was, and a function
    that says whether the rest is; taken: of which arguments `compiled` is given the arrays, in its order; captured: the tensors
    of which it is given them after these; results: of each leaf of the result what it is, as `Version` has it; tree: of which
    containers. counter: one int64, to which each call that returns a result adds 1. then: what is called instead, with the
    arguments, once they and all else are seen to be right."""

    arguments: Sequence[Given]
    looks: Sequence[Look]
    rest: Callable[[], bool] | None
    taken: Sequence[int]
    captured: Sequence[Value]
    compiled: Callable[..., tuple[Any, ...]]
    results: Sequence[tuple[str, Any, Any]]
    tree: TreeDef
    counter: np.ndarray
    then: Callable[..., Any] | None = None


def call(of: Call) -> Callable[..., Any] | None:
    """A function of tensors that does it and returns what the call does, or MISSED; None where that takes Python."""
    steps = container_steps(of.tree) if of.then is None else []
    if steps is None or len(of.arguments) > MOST or not offered():
        return None
    results = []
    for kind, what, more in of.results if of.then is None else ():
        if kind == "new" and not more[1] and more[2] is None:
            results += [_MADE, id(what), more[0]]
        elif kind == "given" and what < len(of.arguments):
            results += [_GIVEN, what, 0]
        elif kind in ("other", "held") and not (kind == "held" and not isinstance(what, Value)):
            results += [_CONSTANT, id(what), 0]
        else:
            return None
    specs = [spec(x.shape, x.dtype) for x in of.arguments]
    arguments = words([w for x, s in zip(of.arguments, specs) for w in (id(x.cls), id(x.edge), s.ctypes.data)], specs)
    taken, captured = words(of.taken), words(map(id, of.captured))
    told, made = words(steps), words(results)
    given = _given_looks(of.looks) | {
        "rest": 0 if of.rest is None else id(of.rest), "arguments": arguments, "argument_count": len(specs), "taken": taken,
        "taken_count": len(taken), "captured": captured, "captured_count": len(captured), "compiled": id(of.compiled),
        "results": made, "result_count": len(made) // 3, "steps": told, "step_count": len(steps) // 2,
        "then": 0 if of.then is None else id(of.then), "counter": of.counter.ctypes.data,
    }  # fmt: skip
    return _function("call", given, of)


def _given_looks(looks: Sequence[Look]) -> dict[str, Any]:
    """The words of looks, those into one dict together."""
    of: dict[int, list[Look]] = {}
    rest: list[Look] = []
    for look in looks:
        (of.setdefault(look.at, []) if look.kind == _ENTRY and _versioned() else rest).append(look)
    found: list[int] = []
    notes: list[int] = []
    for look in rest:
        found += look[:4]
    for at, some in of.items():
        begin = len(found)
        found += [_UNCHANGED, at + _VERSION, len(some) + 2, 0]
        found += [w for look in some for w in look[:4]]
        notes.append(len(found) + 2)
        found += [_HELD, at + _VERSION, begin + 3, 0]
    table = words(found)
    for k in notes:
        table[k] = table.ctypes.data + 8 * table[k]
    return {"looks": table, "look_count": len(found) // 4}


@functools.cache
def _versioned() -> bool:
    """Whether dicts have a version that every change changes: attributes that are set do not, from 3.13 on."""
    d: dict[str, int] = {"a": 1}
    seen = [word(d, _VERSION)]
    for change in (lambda: d.update(a=2), lambda: d.update(b=1), lambda: d.pop("b"), lambda: d.update(a=3)):
        change()
        seen.append(word(d, _VERSION))
    return sys.version_info < (3, 13) and len(set(seen)) == len(seen) and word(d, _VERSION) == seen[-1]


def container_steps(tree: TreeDef) -> list[int] | None:
    """How a container is built of its leaves: pairs of a kind of step and a number; None where it takes Python."""
    found: list[int] = []
    if tree.kind is None:
        return [_LEAF, 0]
    if tree.kind is type(None):
        return [_NONE, 0]
    if tree.kind not in (tuple, list):
        return None
    for child in tree.children:
        inner = container_steps(child)
        if inner is None:
            return None
        found += inner
    return [*found, _TUPLE if tree.kind is tuple else _LIST, len(tree.children)]


def _function(name: str, given: dict[str, Any], *kept: Any) -> Callable[..., Any] | None:
    """A function with its words; None where LLVM could not translate it."""
    address = _address(name)
    return None if address is None else _LAYOUT.function(address, given | {"new": maker()}, *kept)


@functools.cache
def _address(name: str) -> int | None:
    """Where a function is, of a module of its own; None where LLVM could not translate it."""
    return llvm.address(name, lambda code: _text(name))


@functools.cache
def maker() -> int:
    """The address of what makes an object of a class: object.__new__, without the call of it."""
    slot = ctypes.pythonapi.PyType_GetSlot
    slot.restype, slot.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_int]
    return int(slot(object, _NEW_SLOT))


# ------------------------------------------------------------------------------------------ the code


def _text(name: str) -> str:
    """The module of a function."""
    return "\n".join([fits(), _unchanged(), _holds() if name == "holds" else _call(), "attributes #0 = { nounwind }"])


def _none(code: Code, x: str) -> str:
    """Whether a tensor's gradient is None, where it can be asked; a label `no` is gone to elsewhere."""
    found = code.call("PyObject_GetAttr", f"ptr {x}, ptr {code.word('_grad')}")
    code.expect(code.compared("ne", "ptr", found, "null"), "failed")
    code.call("Py_DecRef", f"ptr {found}")
    return code.compared("eq", "ptr", found, code.word("none"))


def _unchanged() -> str:
    """unchanged(words): whether all that is looked at is as it was."""
    code = Code(_LAYOUT.places)
    fields = value_fields()
    looks = code.word("looks")
    ahead = code.value("alloca i64")  # how far the next look is

    def look(i: str) -> None:
        at = code.at("[4 x i64]", looks, i)
        kind, place, more = code.load("i64", at, 0), code.load("ptr", at, 8), code.load("i64", at, 16)
        was = code.load("i64", at, 24)

        def same(x: str) -> None:
            code.expect(code.compared("eq", "i64", x, was), "no")

        def entry_() -> None:
            key = code.value(f"inttoptr i64 {more} to ptr")
            found = code.call("PyDict_GetItemWithError", f"ptr {place}, ptr {key}")
            code.expect(code.compared("ne", "ptr", found, "null"), "failed")
            same(code.value(f"ptrtoint ptr {found} to i64"))

        def item() -> None:
            code.expect(code.compared("sgt", "i64", code.load("i64", place, CONTENT), more), "no")
            same(code.load("i64", code.load("ptr", place, ITEMS), code.mul(more, 8)))

        def tensor() -> None:
            array, spec = code.load("ptr", place, fields.array), code.value(f"inttoptr i64 {more} to ptr")
            code.expect(code.value(f"call i1 @fits(ptr {array}, ptr {spec}, ptr {code.word('array')})"), "no")
            bare = code.compared("eq", "ptr", code.load("ptr", place, fields.node), code.word("none"))
            same(code.value(f"zext i1 {bare} to i64"))

        def gradient() -> None:
            same(code.value(f"zext i1 {_none(code, place)} to i64"))

        def unchanged() -> None:
            there = code.compared("eq", "i64", code.load("i64", place, 0), was)
            code.do(f"store i64 {code.value(f'select i1 {there}, i64 {more}, i64 1')}, ptr {ahead}")

        def held() -> None:
            code.do(f"store i64 {code.load('i64', place, 0)}, ptr {code.value(f'inttoptr i64 {more} to ptr')}")

        code.do(f"store i64 1, ptr {ahead}")
        code.cases(kind, [lambda: same(code.load("i64", place, 0)), entry_, item, tensor, gradient, unchanged, held])

    code.loop(0, code.word("look_count", "i64"), lambda i: code.value(f"load i64, ptr {ahead}"), lambda i: look(i))
    code.do("ret i1 true")
    code.label("failed")  # nothing is there any more, or an error is set, which the slower way will meet, too
    code.call("PyErr_Clear", "")
    code.do("br label %no")
    code.label("no")
    code.do("ret i1 false")
    return code.function("internal i1 @unchanged(ptr %words)")


def _holds() -> str:
    """What `guard` gives."""
    code = Code(_LAYOUT.places).entered()
    same = code.value("call i1 @unchanged(ptr %words)")
    found = code.value(f"select i1 {same}, ptr {code.word('true')}, ptr {code.word('false')}")
    code.call("Py_IncRef", f"ptr {found}")
    code.do(f"ret ptr {found}")
    return code.function("ptr @holds(ptr %self, ptr %args, i64 %count)")


def _call() -> str:
    """What `call` gives."""
    code = Code(_LAYOUT.places).entered()
    fields = value_fields()
    count = code.word("argument_count", "i64")
    code.expect(code.compared("eq", "i64", "%count", count), "missed")
    array_type, none, zero = code.word("array"), code.word("none"), code.word("zero")
    arguments = code.word("arguments")

    def argument(i: str) -> None:
        x = code.value(f"load ptr, ptr {code.at('ptr', '%args', i)}")
        given = code.at("[3 x i64]", arguments, i)
        code.expect(code.compared("eq", "ptr", code.load("ptr", x, TYPE), code.load("ptr", given, 0)), "missed")
        code.expect(code.compared("eq", "ptr", code.load("ptr", x, fields.level), zero), "missed")
        edge, kind = code.load("ptr", x, fields.node), code.load("ptr", given, 8)
        code.expect(code.compared("eq", "ptr", code.load("ptr", edge, TYPE), kind), "missed")

        def leaf() -> None:
            code.expect(code.compared("eq", "ptr", code.load("ptr", edge, fields.hooks), none), "missed")

        code.when(code.compared("eq", "ptr", kind, code.word("leaf")), leaf)
        array = code.load("ptr", x, fields.array)
        code.expect(code.value(f"call i1 @fits(ptr {array}, ptr {code.load('ptr', given, 16)}, ptr {array_type})"), "missed")
        code.expect(_none(code, x), "missed")

        def other(k: str) -> None:
            y = code.value(f"load ptr, ptr {code.at('ptr', '%args', k)}")
            code.expect(code.compared("ne", "ptr", x, y), "missed")

        code.each(i, other)

    code.each(count, argument)
    code.expect(code.value("call i1 @unchanged(ptr %words)"), "missed")
    rest = code.word("rest")

    def others() -> None:
        found = code.call("PyObject_Vectorcall", f"ptr {rest}, ptr null, i64 0, ptr null")
        code.expect(code.compared("ne", "ptr", found, "null"), "failed")
        code.call("Py_DecRef", f"ptr {found}")
        code.expect(code.compared("eq", "ptr", found, code.word("true")), "missed")

    code.when(code.compared("ne", "ptr", rest, "null"), others)
    then = code.word("then")

    def returned(result: str) -> None:
        code.expect(code.compared("ne", "ptr", result, "null"), "failed")
        counter = code.word("counter")
        code.store("i64", code.add(code.load("i64", counter, 0), 1), counter, 0)
        code.do(f"ret ptr {result}")

    def end() -> None:
        returned(code.call("PyObject_Vectorcall", f"ptr {then}, ptr %args, i64 %count, ptr null"))
        code.label(f"beyond{code.fresh()}")

    code.when(code.compared("ne", "ptr", then, "null"), end)
    taken, captured = code.word("taken_count", "i64"), code.word("captured_count", "i64")
    arrays = code.add(taken, captured)
    room = code.value(f"alloca ptr, i64 {arrays}, align 16")

    def put(k: str, x: str) -> None:
        array = code.load("ptr", x, fields.array)
        code.call("Py_IncRef", f"ptr {array}")  # another thread may give the tensor another one
        code.do(f"store ptr {array}, ptr {code.at('ptr', room, k)}")

    def take(i: str) -> None:
        at = code.value(f"load i64, ptr {code.at('i64', code.word('taken'), i)}")
        put(i, code.value(f"load ptr, ptr {code.at('ptr', '%args', at)}"))

    def capture(i: str) -> None:
        put(code.add(i, taken), code.value(f"load ptr, ptr {code.at('ptr', code.word('captured'), i)}"))

    code.each(taken, take)
    code.each(captured, capture)
    found = code.call("PyObject_Vectorcall", f"ptr {code.word('compiled')}, ptr {room}, i64 {arrays}, ptr null")
    code.each(arrays, lambda i: _do(code, "Py_DecRef", code.value(f"load ptr, ptr {code.at('ptr', room, i)}")))
    code.expect(code.compared("ne", "ptr", found, "null"), "failed")
    code.expect(code.compared("eq", "ptr", code.load("ptr", found, TYPE), code.word("tuple")), "other")
    results, number = code.word("results"), code.word("result_count", "i64")
    leaves = code.value(f"alloca ptr, i64 {number}, align 16")

    def result(i: str) -> None:
        given = code.at("[3 x i64]", results, i)
        what, place = code.load("ptr", given, 8), code.at("ptr", leaves, i)

        def new() -> None:
            at = code.add(code.mul(code.load("i64", given, 16), 8), ITEMS)
            code.do(f"store ptr {tensor(code, what, code.load('ptr', found, at), none)}, ptr {place}")

        def kept(x: str) -> None:
            code.call("Py_IncRef", f"ptr {x}")
            code.do(f"store ptr {x}, ptr {place}")

        def given_() -> None:
            kept(code.value(f"load ptr, ptr {code.at('ptr', '%args', code.load('i64', given, 8))}"))

        code.cases(code.load("i64", given, 0), [new, given_, lambda: kept(what)])

    code.each(number, result)
    code.call("Py_DecRef", f"ptr {found}")
    returned(container(code, leaves, number))
    code.label("failed")  # the exception is set; where there was no memory, what has been made stays
    code.do("ret ptr null")
    code.label("other")
    code.call("Py_DecRef", f"ptr {found}")
    code.do("br label %missed")
    code.label("missed")
    answer = code.word("missed")
    code.call("Py_IncRef", f"ptr {answer}")
    code.do(f"ret ptr {answer}")
    return code.function("ptr @call(ptr %self, ptr %args, i64 %count)")


def tensor(code: Code, cls: str, array: str, edge: str) -> str:
    """A tensor of a class at level 0, with its array and its place on the tape; a label `failed` is gone to where there is no
    memory."""
    fields = value_fields()
    new = made(code, cls)
    for x, field in ((array, fields.array), (edge, fields.node), (code.word("zero"), fields.level)):
        give(code, x, new, field)
    return new


def made(code: Code, cls: str) -> str:
    """An object of a class, empty."""
    new = code.value(f"call ptr {code.word('new')}(ptr {cls}, ptr {code.word('empty')}, ptr null)")
    code.expect(code.compared("ne", "ptr", new, "null"), "failed")
    return new


def give(code: Code, x: str, to: str, at: int) -> None:
    """Put an object into a field of another one that is empty."""
    code.call("Py_IncRef", f"ptr {x}")
    code.store("ptr", x, to, at)


def container(code: Code, leaves: str, number: str) -> str:
    """The container of so many leaves that the words say how to build; a label `failed` is gone to where there is no memory."""
    none = code.word("none")
    steps = code.word("step_count", "i64")
    stack = code.value(f"alloca ptr, i64 {code.add(number, steps)}, align 16")
    where = code.value("alloca [2 x i64], align 16")  # how many leaves were taken, and how many parts lie on the stack
    code.do(f"store [2 x i64] zeroinitializer, ptr {where}")

    def step(i: str) -> None:
        given = code.at("[2 x i64]", code.word("steps"), i)
        size = code.load("i64", given, 8)
        top = code.load("i64", where, 8)

        def push(x: str, base: str) -> None:
            code.do(f"store ptr {x}, ptr {code.at('ptr', stack, base)}")
            code.store("i64", code.add(base, 1), where, 8)

        def leaf() -> None:
            k = code.load("i64", where, 0)
            push(code.value(f"load ptr, ptr {code.at('ptr', leaves, k)}"), top)
            code.store("i64", code.add(k, 1), where, 0)

        def built(maker: str) -> None:
            base = code.value(f"sub i64 {top}, {size}")
            new = code.call(maker, f"i64 {size}")
            code.expect(code.compared("ne", "ptr", new, "null"), "failed")
            items = code.at("i8", new, ITEMS) if maker == "PyTuple_New" else code.load("ptr", new, ITEMS)

            def part(k: str) -> None:
                x = code.value(f"load ptr, ptr {code.at('ptr', stack, code.add(base, k))}")
                code.do(f"store ptr {x}, ptr {code.at('ptr', items, k)}")

            code.each(size, part)
            push(new, base)

        def nothing() -> None:
            code.call("Py_IncRef", f"ptr {none}")
            push(none, top)

        kinds = [leaf, lambda: built("PyTuple_New"), lambda: built("PyList_New"), nothing]
        code.cases(code.load("i64", given, 0), kinds)

    code.each(steps, step)
    return code.load("ptr", stack, 0)


def _do(code: Code, name: str, x: str) -> None:
    code.call(name, f"ptr {x}")
