"""What a recorded call puts on the tape, and what a pass is handed of it, as machine code, where the gradients were computed with
the outputs (versions/foresight.py).

`record` does what `Forward.recorder` writes in Python, `hand` what `handed_out` of tape/engine.py does: with everything as it is
most times. Elsewhere `record` calls the one in Python, and `hand` gives None. They are a third of the time that these take.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from ..._state import OBSERVERS, SWITCHED
from ..._tree import TreeDef
from ...backend.jit import llvm
from ...core.node import FREED, Accumulate, Node, Slot, tick
from ...core.value import Value
from ...tape import mutation
from . import shortcut
from .interpreter import CONTENT, ITEMS, TYPE, Code, Layout, slot_of, slots_are_read, words
from .shortcut import container, give, made, tensor

_LAYOUT = Layout(
    {"none": None, "true": True, "false": False, "zero": 0, "empty": (), "tuple": tuple, "list": list, "Node": Node, "Slot": Slot,
     "leaf": Accumulate, "tick": tick, "freed": FREED, "switched": SWITCHED, "observers": OBSERVERS, "clock": vars(mutation),
     "Exception": Exception, "ready": "ready", "latest": "latest", "_result": "_result"},
    ("new", "foresight", "slow", "taken", "taken_count", "captured", "captured_count", "picked", "picked_count", "prim", "params",
     "outs", "step", "results", "result_count", "steps", "step_count"),
)  # fmt: skip


class Recorded(NamedTuple):
    """What a recorded call does.

    taken: of which arguments the arrays are operands; captured: the tensors of which they are, after these. picked: which of the
    operands and, behind them, the outputs are saved. prim, params, outs, step: of the node. results: of each leaf of the result
    which output it is, its class, and whether it has a history; tree: of which containers. slow: what does the same in Python.
    """

    taken: Sequence[int]
    captured: Sequence[Value]
    picked: Sequence[int]
    prim: Any
    params: Any
    outs: Sequence[tuple[tuple[int, ...], Any]]
    step: Any
    results: Sequence[tuple[int, type[Value], bool]]
    tree: TreeDef
    slow: Callable[..., Any]


def record(of: Recorded, foresight: Any, joint: Any) -> Callable[..., Any] | None:
    """A function of tensors that does it; None where that takes Python. foresight: of the call; joint: the class of what that
    finds."""
    steps = shortcut.container_steps(of.tree)
    if steps is None or not _offered(type(foresight), joint):  # type: ignore[arg-type]
        return None
    address = llvm.address("record", lambda code: _module(_record(type(foresight), joint)))
    if address is None:
        return None
    results: list[int] = []
    kept: list[Any] = [of, foresight]
    for at, cls, rooted in of.results:
        shape, dtype = of.outs[at]
        kept += [shape, dtype, at]
        results += [id(kept[-1]), id(cls), rooted, id(shape), id(dtype), ITEMS + 8 * at]
    given = {
        "new": shortcut.maker(), "foresight": id(foresight), "slow": id(of.slow), "taken": words(of.taken),
        "taken_count": len(of.taken), "captured": words(map(id, of.captured)), "captured_count": len(of.captured),
        "picked": words(of.picked), "picked_count": len(of.picked), "prim": id(of.prim), "params": id(of.params),
        "outs": id(of.outs), "step": id(of.step), "results": words(results), "result_count": len(of.results),
        "steps": words(steps), "step_count": len(steps) // 2,
    }  # fmt: skip
    return _LAYOUT.function(address, given, kept)


@functools.cache
def hand(foresight: Any, joint: Any) -> Callable[..., Any] | None:
    """hand(output, inputs, retain_graph): see `handed_out` of tape/engine.py. None where that takes Python. foresight, joint: the
    classes of what expects gradients, and of what finds them."""
    if not _offered(foresight, joint):
        return None
    address = llvm.address("hand", lambda code: _module(_hand(foresight, joint)))
    nothing = dict.fromkeys(_LAYOUT.given, 0)
    return None if address is None else _LAYOUT.function(address, nothing | {"new": shortcut.maker()})


@functools.cache
def _offered(foresight: Any, joint: Any) -> bool:
    """Whether the fields of these and of what is on the tape lie where they are read here."""
    kinds = {
        Node: _NODE, Slot: ("node", "index", "shape", "dtype"), foresight: ("joint", "pulled"),
        joint: ("run", "ordered", "output", "foresight"),
    }  # fmt: skip
    return shortcut.offered() and all(slots_are_read(cls, names) for cls, names in kinds.items())


_NODE = "prim", "params", "edges", "saved", "seq", "outs", "step"


# ------------------------------------------------------------------------------------------ the code


def _module(function: str) -> str:
    return "\n".join([function, "attributes #0 = { nounwind }"])


def _array(code: Code, kind: str, count: str) -> str:
    return code.value(f"alloca {kind}, i64 {count}, align 16")


def _item(code: Code, items: str, k: str) -> str:
    return code.value(f"load ptr, ptr {code.at('ptr', items, k)}")


def _released(code: Code, *objects: str) -> None:
    for x in objects:
        code.call("Py_DecRef", f"ptr {x}")


def _set(code: Code, x: str, to: str, at: int) -> None:
    """Put an object into a field of another one, in place of what is there."""
    before = code.load("ptr", to, at)
    give(code, x, to, at)
    _released(code, before)


def _tuple(code: Code, count: str, item: Callable[[str], str]) -> str:
    """A tuple of so many."""
    new = code.call("PyTuple_New", f"i64 {count}")
    code.expect(code.compared("ne", "ptr", new, "null"), "failed")

    def one(k: str) -> None:
        x = item(k)
        code.call("Py_IncRef", f"ptr {x}")
        code.do(f"store ptr {x}, ptr {code.at('ptr', code.at('i8', new, ITEMS), k)}")

    code.each(count, one)
    return new


def _record(foresight: type, joint_: type) -> str:
    """What `record` gives."""
    code = Code(_LAYOUT.places).entered()
    fields = shortcut.value_fields()
    none = code.word("none")
    expecting = code.word("foresight")
    pulled = code.load("ptr", expecting, slot_of(foresight, "pulled"))
    code.expect(code.compared("eq", "ptr", pulled, code.word("true")), "slow")
    joint = code.load("ptr", expecting, slot_of(foresight, "joint"))
    code.expect(code.compared("ne", "ptr", joint, none), "slow")
    run = code.load("ptr", joint, slot_of(joint_, "run"))
    taken, captured = code.word("taken_count", "i64"), code.word("captured_count", "i64")
    count = code.add(taken, captured)
    holders, arrays = _array(code, "ptr", count), _array(code, "ptr", count)

    def hold(k: str, x: str) -> None:
        array = code.load("ptr", x, fields.array)
        code.call("Py_IncRef", f"ptr {array}")  # another thread may give the tensor another one
        code.do(f"store ptr {array}, ptr {code.at('ptr', arrays, k)}")
        code.do(f"store ptr {x}, ptr {code.at('ptr', holders, k)}")

    def take(i: str) -> None:
        at = code.value(f"load i64, ptr {code.at('i64', code.word('taken'), i)}")
        hold(i, _item(code, "%args", at))

    code.each(taken, take)
    code.each(captured, lambda i: hold(code.add(i, taken), _item(code, code.word("captured"), i)))
    for x in (joint, run):
        code.call("Py_IncRef", f"ptr {x}")
    found = code.call("PyObject_Vectorcall", f"ptr {run}, ptr {arrays}, i64 {count}, ptr null")
    _released(code, run)
    code.expect(code.compared("ne", "ptr", found, "null"), "raised")
    code.expect(code.compared("eq", "ptr", code.load("ptr", found, TYPE), code.word("tuple")), "other")
    _set(code, code.word("false"), expecting, slot_of(foresight, "pulled"))
    outputs = code.at("i8", found, ITEMS)
    at = {name: slot_of(Node, name) for name in _NODE}
    node = made(code, code.word("Node"))
    for name in ("prim", "params", "outs", "step"):
        give(code, code.word(name), node, at[name])
    code.store("ptr", _tuple(code, count, lambda k: code.load("ptr", _item(code, holders, k), fields.node)), node, at["edges"])

    def kept(k: str) -> str:
        i = code.value(f"load i64, ptr {code.at('i64', code.word('picked'), k)}")
        beyond = code.value(f"sub i64 {i}, {count}")
        operand = code.compared("slt", "i64", beyond, 0)
        items, place = (
            code.value(f"select i1 {operand}, {kind} {x}, {kind} {y}")
            for kind, x, y in (("ptr", arrays, outputs), ("i64", i, beyond))
        )
        return _item(code, items, place)

    code.store("ptr", _tuple(code, code.word("picked_count", "i64"), kept), node, at["saved"])
    both = code.call("PyTuple_New", "i64 2")
    code.expect(code.compared("ne", "ptr", both, "null"), "failed")
    code.store("ptr", joint, both, ITEMS)  # which takes them over
    code.store("ptr", found, both, ITEMS + 8)
    failed = code.call("PyObject_SetAttr", f"ptr {node}, ptr {code.word('ready')}, ptr {both}")
    code.expect(code.compared("eq", "i32", failed, 0), "failed")
    now = code.call("PyObject_Vectorcall", f"ptr {code.word('tick')}, ptr null, i64 0, ptr null")
    code.expect(code.compared("ne", "ptr", now, "null"), "failed")
    code.store("ptr", now, node, at["seq"])
    code.each(count, lambda k: _released(code, _item(code, arrays, k)))
    results, number = code.word("results"), code.word("result_count", "i64")
    leaves, edge = _array(code, "ptr", number), code.value("alloca ptr")

    def result(i: str) -> None:
        given = code.at("[6 x i64]", results, i)
        index, cls, shape, dtype = (code.load("ptr", given, k) for k in (0, 8, 24, 32))
        code.do(f"store ptr {none}, ptr {edge}")
        rooted = code.compared("ne", "i64", code.load("i64", given, 16), 0)

        def rooted_() -> None:
            slot = made(code, code.word("Slot"))
            for name, x in (("node", node), ("index", index), ("shape", shape), ("dtype", dtype)):
                give(code, x, slot, slot_of(Slot, name))
            code.do(f"store ptr {slot}, ptr {edge}")

        code.when(rooted, rooted_)
        place = code.value(f"load ptr, ptr {edge}")
        new = tensor(code, cls, code.load("ptr", found, code.load("i64", given, 40)), place)
        code.when(rooted, lambda: _released(code, place))
        code.do(f"store ptr {new}, ptr {code.at('ptr', leaves, i)}")

    code.each(number, result)
    _released(code, both, node)
    code.do(f"ret ptr {container(code, leaves, number)}")
    code.label("raised")  # the one in Python tries it again, and does without from there on
    matches = code.call("PyErr_ExceptionMatches", f"ptr {code.word('Exception')}")
    code.expect(code.compared("ne", "i32", matches, 0), "failed")
    code.call("PyErr_Clear", "")
    code.do("br label %again")
    code.label("other")
    _released(code, found)
    code.do("br label %again")
    code.label("again")
    _released(code, joint)
    code.each(count, lambda k: _released(code, _item(code, arrays, k)))
    code.do("br label %slow")
    code.label("slow")
    slow = code.word("slow")
    code.do(f"ret ptr {code.call('PyObject_Vectorcall', f'ptr {slow}, ptr %args, i64 %count, ptr null')}")
    code.label("failed")  # the exception is set; where there was no memory, what has been made stays
    code.do("ret ptr null")
    return code.function("ptr @record(ptr %self, ptr %args, i64 %count)")


def _hand(foresight: type, joint_: type) -> str:
    """What `hand` gives."""
    code = Code(_LAYOUT.places).entered()
    fields = shortcut.value_fields()
    none, true = code.word("none"), code.word("true")

    def alike(x: str, y: str) -> None:
        code.expect(code.compared("eq", "ptr", x, y), "no")

    def unlike(x: str, y: str) -> None:
        code.expect(code.compared("ne", "ptr", x, y), "no")

    def is_a(x: str, cls: str) -> None:
        alike(code.load("ptr", x, TYPE), cls)

    code.expect(code.compared("eq", "i64", "%count", 3), "no")
    for some in ("switched", "observers"):
        code.expect(code.compared("eq", "i64", code.load("i64", code.word(some), CONTENT), 0), "no")
    output, inputs, retain = (_item(code, "%args", str(k)) for k in range(3))
    cls = code.load("ptr", output, TYPE)
    root = code.load("ptr", output, fields.node)
    is_a(root, code.word("Slot"))
    node = code.load("ptr", root, slot_of(Slot, "node"))
    is_a(node, code.word("Node"))
    saved, edges = (code.load("ptr", node, slot_of(Node, name)) for name in ("saved", "edges"))
    is_a(saved, code.word("tuple"))  # which FREED is not
    code.expect(code.compared("ne", "i64", code.load("i64", saved, CONTENT), 0), "no")
    is_a(edges, code.word("tuple"))
    unlike(code.load("ptr", node, slot_of(Node, "step")), none)
    latest = code.call("PyDict_GetItemWithError", f"ptr {code.word('clock')}, ptr {code.word('latest')}")
    unlike(latest, "null")
    changed, born = (
        code.call("PyLong_AsLongLong", f"ptr {x}") for x in (latest, code.load("ptr", node, slot_of(Node, "seq")))
    )  # fmt: skip
    code.expect(code.compared("sge", "i64", born, changed), "no")
    listed, tupled = (code.compared("eq", "ptr", code.load("ptr", inputs, TYPE), code.word(x)) for x in ("list", "tuple"))
    code.expect(code.value(f"or i1 {listed}, {tupled}"), "no")
    count = code.load("i64", edges, CONTENT)
    code.expect(code.compared("eq", "i64", code.load("i64", inputs, CONTENT), count), "no")
    items = code.value(f"select i1 {listed}, ptr {code.load('ptr', inputs, ITEMS)}, ptr {code.at('i8', inputs, ITEMS)}")
    ends = code.at("i8", edges, ITEMS)

    def operand(i: str) -> None:
        x, edge = _item(code, items, i), _item(code, ends, i)
        is_a(x, cls)
        alike(code.load("ptr", x, fields.node), edge)
        is_a(edge, code.word("leaf"))
        alike(code.load("ptr", edge, fields.hooks), none)
        code.each(i, lambda k: unlike(_item(code, ends, k), edge))

    code.each(count, operand)
    ready = code.call("PyObject_GetAttr", f"ptr {node}, ptr {code.word('ready')}")
    code.expect(code.compared("ne", "ptr", ready, "null"), "failed")
    code.expect(code.compared("ne", "ptr", ready, none), "nothing")
    joint, found = (code.load("ptr", ready, ITEMS + 8 * k) for k in range(2))
    ordered = code.load("ptr", joint, slot_of(joint_, "ordered"))
    code.expect(code.compared("ne", "ptr", ordered, none), "nothing")
    index = code.load("ptr", root, slot_of(Slot, "index"))
    code.expect(code.compared("eq", "ptr", index, code.load("ptr", joint, slot_of(joint_, "output"))), "nothing")
    code.expect(code.compared("eq", "i64", code.load("i64", ordered, CONTENT), count), "nothing")
    failed = code.call("PyObject_SetAttr", f"ptr {node}, ptr {code.word('ready')}, ptr {none}")
    code.expect(code.compared("eq", "i32", failed, 0), "failed")
    expecting = code.load("ptr", joint, slot_of(joint_, "foresight"))
    _set(code, true, expecting, slot_of(foresight, "pulled"))
    code.when(
        code.compared("ne", "ptr", retain, true), lambda: _set(code, code.word("freed"), node, slot_of(Node, "saved"))
    )
    kind = code.call("PyObject_GetAttr", f"ptr {cls}, ptr {code.word('_result')}")
    code.expect(code.compared("ne", "ptr", kind, "null"), "failed")
    outputs, places = code.at("i8", found, ITEMS), code.at("i8", ordered, ITEMS)
    results = code.call("PyTuple_New", f"i64 {count}")
    code.expect(code.compared("ne", "ptr", results, "null"), "failed")

    def result(i: str) -> None:
        at = code.call("PyLong_AsLongLong", f"ptr {_item(code, places, i)}")
        new = tensor(code, kind, _item(code, outputs, at), none)
        code.do(f"store ptr {new}, ptr {code.at('ptr', code.at('i8', results, ITEMS), i)}")

    code.each(count, result)
    _released(code, kind, ready)
    code.do(f"ret ptr {results}")
    code.label("nothing")
    _released(code, ready)
    code.do("br label %no")
    code.label("no")
    code.call("Py_IncRef", f"ptr {none}")
    code.do(f"ret ptr {none}")
    code.label("failed")
    code.do("ret ptr null")
    return code.function("ptr @hand(ptr %self, ptr %args, i64 %count)")
