"""The source of a primitive's functions, written from its record at the first use.

`op` sends raw arrays straight to the kernel and values to `bind`; `bind` evaluates and records on the everyday tape over
NumPy arrays, `bind_level` at the level of a transform's tape, whatever its arrays are; `pull` calls the derivative rules
with what a node saved; `step` is `pull` on raw arrays together with handing the results on, which is what the backward loop
calls per node; `operator` is `bind` behind a dialect's check of its operands, in one function; `look` is `bind` that
remembers the result as a view of the operand.

All of them unpack operands, save and record by the same lines (`_Writer`), and save what the record's plan says
(`Primitive.saved` in core/record.py, which the general case in core/bind.py calls). A generic loop over operands costs
three times as much: multiplying two 4-vectors takes 0.95 µs recorded, of which NumPy's product is 0.4.
"""

from __future__ import annotations

import functools
import threading
import weakref
from collections.abc import Callable, Sequence
from types import FunctionType
from typing import Any

import numpy as np

from .._state import LOOKED_AT, OPENED, SAVE_CHECKS, SWITCHED, state
from . import bind as binding
from .large import SHARED_LEAST, add
from .node import Node, Slot, tick
from .record import AVAL, UNUSED, VALUE, Primitive, real_text
from .value import Value, content, dtype_of, result_class, shape_of

_ndarray = np.ndarray
_NO_PARAMS: dict[str, Any] = {}

SWAPS: dict[str, list[Callable[[str, Any], Any]]] = {}
"""What puts another kernel into the functions written for a primitive, by the primitive's name."""


def swap_kernel(prim: Primitive, kernel: Any, name: str = "KERNEL") -> None:
    """Let a primitive compute on NumPy arrays with another kernel: one around its own, or its own again; by the name "LARGE",
    with another one on large arrays, which begin at "LEAST" elements."""
    if name == "KERNEL":
        prim.numpy_kernel = kernel
    for put in SWAPS.get(prim.name, ()):
        put(name, kernel)


def _follow(prim: Primitive, scope: dict[str, Any]) -> None:
    """Let functions with these globals follow `swap_kernel`."""
    SWAPS.setdefault(prim.name, []).append(scope.__setitem__)


_COMMON = {
    "__name__": __name__, "ndarray": _ndarray, "asarray": np.asarray, "Value": Value, "op_general": binding.op_general,
    "bind_general": binding.bind_general, "NO_PARAMS": _NO_PARAMS, "fail": binding.fail, "result_class": result_class,
    "NEW": object.__new__, "state": state, "Node": Node, "tick": tick, "KERNEL_ERRORS": binding.KERNEL_ERRORS,
    "watched": binding.watched, "LOOKED_AT": LOOKED_AT, "unrecorded": binding.unrecorded, "SAVE_CHECKS": SAVE_CHECKS,
    "check_saved": binding.check_saved, "whole_numbers": binding.whole_numbers, "SWITCHED": SWITCHED, "OPENED": OPENED,
    "Slot": Slot, "content": content, "shape_of": shape_of, "dtype_of": dtype_of, "results": binding.results,
    "described": binding.described, "FLOAT32": np.dtype(np.float32), "FLOAT64": np.dtype(np.float64),
    "SHARED_LEAST": SHARED_LEAST, "large_add": add,
}  # fmt: skip


def _scope(prim: Primitive) -> dict[str, Any]:
    scope = {**_COMMON, "KERNEL": prim.numpy_kernel, "PRIM": prim}
    if prim.large is not None:
        scope.update(LARGE=prim.large, LEAST=prim.large.least, large_step=prim.large.step)
    return scope


# Most primitives share their source with others of the same arity, and compiling is most of the time of an import.
@functools.cache
def _code(source: str, name: str) -> Any:
    return compile(source, f"<retrograde {name}>", "exec")


def _define(source: str, scope: dict[str, Any], name: str) -> None:
    exec(_code(source, name), scope)  # noqa: S102 - our own source


def _indented(lines: Sequence[str], by: int = 1) -> list[str]:
    return ["    " * by + line for line in lines]


def _asked(x: str, *others: str) -> list[str]:
    """The lines that say whether operands may have a large result (`large_`): the first is large, or it is a row or column of
    a larger one, or, of two, both stretch each other."""
    if not others:
        return [f"large_ = {x}.size >= LEAST"]
    if len(others) > 1:
        larger = " or ".join(f"({y} is not None and {y}.size >= LEAST)" for y in others)
        return [f"n_ = {x}.size", f"large_ = n_ >= LEAST or (n_ > 255 and ({larger}))"]
    (y,) = others
    return [
        f"n_ = {x}.size",
        f"large_ = n_ >= LEAST or (n_ > 255 and {y} is not None and (",
        f"    {y}.size >= LEAST or (n_ * {y}.size >= LEAST and {x}.shape[-1:] != {y}.shape[-1:])))",
    ]


class _Writer:
    """The lines that a primitive's functions are made of; our locals end in "_", unlike operands and parameters.

    Operand i is known by its name, its array by `a{i}` and the edge along which its gradient leaves by `n{i}`.
    """

    def __init__(self, prim: Primitive, count: int = 0) -> None:
        """`count`: how many operands there are, of a primitive that takes any number."""
        self.prim = prim
        self.names = names = prim.operands or tuple(f"x{i}_" for i in range(count))
        self.count = len(names)
        self.keywords = "".join(f", {p}={p}" for p in prim.params)
        self.signature = ", ".join(names) + ((", *, " + ", ".join(prim.params)) if prim.params else "")
        self.params = "{" + ", ".join(f"{p!r}: {p}" for p in prim.params) + "}" if prim.params else "NO_PARAMS"
        self.operands = "(" + ", ".join(names) + ",)"
        self.arrays = ", ".join(f"a{i}" for i in range(self.count))
        self.edges = "(" + ", ".join(f"n{i}" for i in range(self.count)) + ",)"
        self.general = f"return bind_general(PRIM, {self.operands}, {self.params})"

    # -------------------------------------------------------------------- lines

    def kernel(self, arrays: str) -> list[str]:
        """The kernel on NumPy arrays: `out_` is an array, or a tuple of them."""
        call = f"KERNEL({arrays}{self.keywords})"
        if self.prim.multi:
            return [f"out_ = tuple([x_ if type(x_) is ndarray else asarray(x_) for x_ in {call}])"]
        lines = [f"out_ = {call}", "if type(out_) is not ndarray:", "    out_ = asarray(out_)"]
        if self.prim.large is None:
            return lines
        return [
            *_asked(*arrays.split(", ")),
            "if large_:", f"    out_ = LARGE({arrays}{self.keywords})", "else:", *_indented(lines),
        ]  # fmt: skip

    def unpack(self, *taken: str) -> list[str]:
        """`a{i}` and `n{i}` of operands that are values (`taken` are the lines for value `x`, operand `i`), NumPy arrays, or
        None where one may be absent."""
        lines = []
        for i, x in enumerate(self.names):
            lines += [
                f"if isinstance({x}, Value):",
                *_indented([line.format(i=i, x=x) for line in taken]),
                f"elif type({x}) is ndarray" + (f" or {x} is None:" if self.count > 1 else ":"),
                f"    a{i} = {x}; n{i} = None",
                "else:",
                f"    {self.general}",
            ]
        return lines

    def highest(self) -> list[str]:
        """`top_`, the highest level among the operands, and `tape_`, the tape of an open transform at that level."""
        lines = ["top_ = 0"]
        for x in self.names:
            lines += [f"if isinstance({x}, Value) and {x}._level > top_:", f"    top_ = {x}._level"]
        return [*lines, "tape_ = state.tapes.get(top_)", "if tape_ is None:", f"    {self.general}"]

    def evaluate(self, *, at_level: bool) -> list[str]:
        """`out_` from the arrays: by the kernel, or by `op` one level down where they are values of a lower level, arrays
        of another transform or of another library."""
        lines = self.kernel(self.arrays)
        if at_level:
            plain = " and ".join(
                f"(type(a{i}) is ndarray or a{i} is None)" if self.count > 1 else f"type(a{i}) is ndarray"
                for i in range(self.count)
            )
            other = [f"out_ = op({self.arrays}{self.keywords})", *(["large_ = False"] if self.prim.large is not None else [])]
            lines = [f"if {plain}:", *_indented(lines), "else:", *_indented(other)]
        return [
            "try:",
            *_indented(lines),
            "except KERNEL_ERRORS as error:",
            f"    fail(PRIM, {self.operands}, {self.params}, error)",
        ]

    def result_class(self) -> list[str]:
        """`cls_`, the class of the result."""
        if self.count == 1:
            return [f"cls_ = {self.names[0]}._result"]
        if self.count > 2:
            first, *others = self.names
            alike = " and ".join(f"({y} is None or type({y}) is ndarray or {y}._result is cls_)" for y in others)
            return [
                f"cls_ = {first}._result if isinstance({first}, Value) else None",
                f"if cls_ is None or not ({alike}):",
                f"    cls_ = result_class({self.operands})",
            ]
        x, y = self.names
        return [
            f"cls_ = type({x})",
            f"if cls_ is type({y}) or type({y}) is ndarray:",
            "    cls_ = cls_._result",
            "elif cls_ is ndarray:",
            f"    cls_ = {y}._result",
            "else:",
            f"    cls_ = result_class({self.operands})",
        ]

    def finish(
        self, level: str, mode: str | None, dtype: str = "out_.dtype",
        described: Sequence[str] = ("node_.shape = out_.shape; node_.step = PRIM.step",), *, floating: bool = False,
        marked: Sequence[str] = (), cls: str = "",
    ) -> list[str]:  # fmt: skip
        """The value around `out_`, returned: with a node where the operation is recorded.

        `level`, `mode` and `dtype` are the expressions for its level, the grad mode there (None: ON, and nobody asks what
        is saved) and its dtype, `described` the lines that give the node shape and step; `floating` says that the dtype can
        carry a gradient for sure; `marked` are lines that give the value more than bind does, `cls` is its class where that
        is known beforehand.
        """
        prim, found = self.prim, [] if cls else self.result_class()
        cls = cls or "cls_"
        unrecorded = ["if LOOKED_AT:", f"    unrecorded(PRIM, {self.operands}, {self.params}, value_)", "return value_"]
        made = [*found, f"value_ = NEW({cls})", f"value_._a = out_; value_._level = {level}"]
        if prim.multi:
            made = found
            unrecorded = [f"value_ = results(PRIM, {cls}, out_, None, {level})", *unrecorded]
        else:
            unrecorded = ["value_._node = None", *unrecorded]
            made += marked
        if not prim.differentiable:
            return [*made, *unrecorded]
        node = [
            "node_ = Node()",
            f"node_.prim = PRIM; node_.params = {self.params}; node_.edges = {self.edges}",
            f"node_.saved = {self.saved()}",
        ]
        refused = ["if SAVE_CHECKS:", f"    check_saved(PRIM, {self.operands}, node_.saved)"] if self.saved() != "()" else []
        watched = ["if mode_ == 2:", f"    watched(node_, {cls}, {self.operands}, value_)", "return value_"]
        lines = [*made, "if " + " or ".join(f"n{i} is not None" for i in range(self.count)) + ":"]
        if mode is None:
            asked, refused, watched = "", [], ["return value_"]
        else:
            lines.append(f"    mode_ = {mode}")
            asked = "mode_ and "
        if prim.multi:
            node += ["described(node_, PRIM, out_)", *refused, f"value_ = results(PRIM, {cls}, out_, node_, {level})"]
            return [*lines, "    if mode_:", *_indented([*node, *watched], 2), *unrecorded]
        if floating:
            lines.append("    if mode_:")
        else:
            lines += [
                f"    dtype_ = {dtype}",
                f"    if {asked}(dtype_ is FLOAT32 or dtype_ is FLOAT64 or dtype_.kind not in 'iub'",
                f"               or whole_numbers(dtype_, {self.edges})):",
            ]
        if prim.large is not None:
            large = "large_"
            if prim.large.pulls_least < prim.large.least:
                large = f"type(out_) is ndarray and out_.size >= {prim.large.pulls_least}"
            described = [*described, f"if {large}:", "    node_.step = large_step"]
        node += ["node_.dtype = dtype_; node_.seq = tick()", *described, *refused, "value_._node = node_"]
        return [*lines, *_indented([*node, *watched], 2), *unrecorded]

    def saved(self) -> str:
        """The expression for `node.saved`: `Primitive.saved` for these operands."""
        prim, everyone = self.prim, frozenset(range(self.count))
        asked = frozenset(i for i in everyone if prim.has_rule(i))
        entries = [(f"a{i}", prim.users_of(i, self.count)) for i in range(self.count)]
        if prim.saves_out:
            kept_out = "out_"
            if prim.used_outs is not None:
                kept_out = "(" + "".join(f"out_[{k}], " if used else "None, " for k, used in enumerate(prim.used_outs)) + ")"
            entries.append((kept_out, prim.out_users))
        wanting = [users & asked for _, users in entries if users]
        if not wanting:
            return "()"

        def some(users: frozenset[int]) -> str:
            return " or ".join(f"n{j} is not None" for j in sorted(users))

        union = frozenset().union(*wanting)
        # Whether something is kept whichever operand wants a gradient.
        sure = any(users >= asked for users in wanting) or (asked == everyone and union >= everyone)
        alike = not sure and all(users == union for users in wanting)
        kept = [
            "None" if not users else name if alike or users >= asked else f"({name} if {some(users & asked)} else None)"
            for name, users in entries
        ]
        packed = "(" + ", ".join(kept) + ",)"
        return packed if sure else f"({packed} if {some(union)} else ())"

    # -------------------------------------------------------------------- functions

    def op(self) -> list[str]:
        """`op`: raw arrays to the kernel, values to `bind`."""
        names, computed = self.names, _indented([*self.kernel(", ".join(self.names)), "return out_"])
        arrays = "if " + " and ".join(f"type({x}) is ndarray" for x in names) + ":"
        # Absent operands (a bias, weights) are no reason for the slow way.
        absent = "if " + " and ".join(f"({x} is None or type({x}) is ndarray)" for x in names) + ":"
        body = [
            absent if self.count > 2 else arrays, *computed,
            "if " + " or ".join(f"isinstance({x}, Value)" for x in names) + ":",
            f"    return bind({', '.join(names)}{self.keywords})",
            *([absent, *computed] if self.count == 2 else []),
        ]  # fmt: skip
        return [f"def op({self.signature}):", *_indented([*body, f"return op_general(PRIM, {self.operands}, {self.params})"])]

    def bind(self) -> list[str]:
        """`bind`: the everyday tape over NumPy arrays."""
        body = [
            *self.unpack(
                "a{i} = {x}._a; n{i} = {x}._node",
                "if {x}._level or type(a{i}) is not ndarray:",
                f"    return bind_level({', '.join(self.names)}{self.keywords})",
            ),
            *self.evaluate(at_level=False),
            *self.finish("0", "state.mode if SWITCHED else 1"),
        ]
        return [f"def bind({self.signature}):", *_indented(body)]

    def bind_level(self) -> list[str]:
        """`bind_level`: the tape of an open transform."""
        body = [
            *self.highest(),
            # values of lower levels are plain to this one
            *self.unpack(
                "if {x}._level == top_:", "    a{i} = {x}._a; n{i} = {x}._node",
                "else:", "    a{i} = content({x}); n{i} = None",
            ),
            *self.evaluate(at_level=True),
            *self.finish(
                "top_", "tape_.mode", "out_.dtype if type(out_) is ndarray else dtype_of(out_)",
                ["node_.shape = out_.shape if type(out_) is ndarray else shape_of(out_); node_.step = PRIM.step"],
            ),
        ]
        return [f"def bind_level({self.signature}):", *_indented(body)]

    def operator(self) -> list[str]:
        """`operator`: two instances of CLS of one real floating dtype at once, all else through FALLBACK."""
        x, y = self.names
        plain = ["out_ = KERNEL(a0, a1)"]
        if self.prim.large is not None:
            plain = [
                "if a0.size > 255 and type(a0) is ndarray and type(a1) is ndarray:", *_indented(_asked("a0", "a1")),
                "    out_ = LARGE(a0, a1) if large_ else KERNEL(a0, a1)",
                "else:",  # of small ones no more is asked
                "    large_ = False", "    out_ = KERNEL(a0, a1)",
            ]  # fmt: skip
        elsewhere = [
            "    if type(a0) is not ndarray or type(a1) is not ndarray:",
            f"        return FALLBACK({x}, {y})",
        ]
        fast = [
            "try:",
            *_indented(plain),
            "except KERNEL_ERRORS as error:",
            *elsewhere,
            f"    fail(PRIM, {self.operands}, NO_PARAMS, error)",
            "if type(out_) is not ndarray:  # a NumPy scalar, or the result of another library's arrays",
            *elsewhere,
            "    out_ = asarray(out_)",
            f"n0 = {x}._node; n1 = {y}._node",
            *self.finish(
                "level_",
                "tape_.mode if level_ else state.mode if SWITCHED else 1",
                "dtype_",
                [
                    "node_.shape = shape_ = a0.shape",
                    "if shape_ == a1.shape:",
                    "    node_.step = step_fits",
                    "else:",
                    "    node_.shape = out_.shape; node_.step = step",
                ],
                floating=True,
                cls="CLS",
            ),
        ]
        return [
            f"def operator({x}, {y}):",
            f"    if type({x}) is CLS and type({y}) is CLS:",
            f"        a0 = {x}._a; a1 = {y}._a; dtype_ = a0.dtype",
            "        if (dtype_ is FLOAT32 or dtype_ is FLOAT64) and dtype_ is a1.dtype:",
            f"            level_ = {x}._level",
            f"            if level_ or {y}._level:",
            f"                tape_ = state.tapes.get(level_) if level_ == {y}._level else None",
            "                if tape_ is None or type(a0) is not ndarray or type(a1) is not ndarray:",
            f"                    return LEVEL({x}, {y})",
            *_indented(fast, 3),
            f"    return FALLBACK({x}, {y})",
        ]

    def looker(self) -> list[str]:
        """`look`: `bind` of one operand of which the result may be a view, remembered as such (`attach` in tape/inplace.py
        says what that means, and does it wherever something is switched on)."""
        (x,) = self.names
        given = ", ".join((x, *self.prim.params))
        steps = "((OP, (" + "".join(f"({p!r}, {p}), " for p in self.prim.params) + ")),)"
        remembered = [
            "owner_ = out_.base",
            "if owner_ is not None and (owner_ is a0 or owner_ is a0.base or shared(out_, a0)):",
            f"    base_ = {x}._base",
            "    if base_ is None:",
            f"        base_ = value_._base = {x}; value_._view_steps = {steps}",
            "    else:",
            f"        value_._base = base_; value_._view_steps = {x}._view_steps + {steps}",
            f"        if {x}._view_restriction is not None:",
            f"            value_._view_restriction = {x}._view_restriction",
            "    live_ = base_._views",
            "    if live_ is None:",
            "        base_._views = [weak(value_)]",
            "    elif live_ and live_[-1]() is None:",
            "        live_[-1] = weak(value_)",
            "    else:",
            "        remember(live_, value_)",
        ]
        body = [
            "try:",
            f"    a0 = {x}._a; n0 = {x}._node",
            "except AttributeError:",
            f"    raise no_tensor({x}) from None",
            f"if type(a0) is not ndarray or {x}._level or SWITCHED or SAVE_CHECKS or OPENED:",
            f"    value_ = bind({x}{self.keywords})",
            f"    attach(value_, {x}, {steps})",
            "    return value_",
            *self.evaluate(at_level=False),
            *self.finish("0", None, marked=remembered),
        ]
        return [f"def look({given}):", *_indented(body)]

    # -------------------------------------------------------------------- the derivative

    def stored(self, saved: str, *, named: bool) -> list[str]:
        """The line that takes apart what a node saved."""
        if not self.prim.saves_any:
            return []
        names = [*(self.names if named else [f"s{i}" for i in range(self.count)])]
        return [f"{', '.join(names + (['out'] if self.prim.saves_out else []))}, = {saved} or NOTHING"]

    def rule(self, i: int) -> str:
        """The call of operand i's rule with what it wants: of what the rule consists of, where that is known of it."""
        wants = self.prim.rule_needs[i]
        assert wants is not None
        out = "out" if wants[0] == VALUE else "node" if wants[0] == AVAL else "None"
        given = [
            "None" if want == UNUSED else f"e{i}" if want == AVAL and j == i else f"s{j}"
            for j, want in enumerate(wants[1:])
        ]
        params = ", **p" if self.prim.params else ""
        rule = self.prim.vjps[i]
        if hasattr(rule, "transpose"):
            return f"V{i}(g, {', '.join(given)}{params})"
        if hasattr(rule, "factor"):
            return f"g * C{i}(V{i}({', '.join(given)}, {out}{params}))"
        return f"V{i}(g, {out}, {', '.join(given)}{params})"

    def pull(self) -> list[str]:
        """`pull` for one rule per operand."""
        results = ", ".join(
            f"({self.rule(i)}) if e{i} is not None else None" if self.prim.has_rule(i) else "None" for i in range(self.count)
        )
        body = [*self.stored("saved", named=False), f"{', '.join(f'e{i}' for i in range(self.count))}, = needs"]
        if self.prim.params:
            body.append("p = node.params")
        return ["def pull(node, saved, g, needs):", *_indented([*body, f"return ({results},)"])]

    def received(self) -> list[str]:
        """The line that makes of what has arrived, a list where there are several outputs, what rules take."""
        return ["g = tuple(g)"] if self.prim.multi else []

    def joint(self) -> list[str]:
        """`pull` and `step` for one rule for all operands."""
        prim, count = self.prim, self.count
        stored = self.stored("saved", named=False)
        given = []
        for i in range(count):
            want = prim.wants(i)
            if want == AVAL or not stored:
                given.append("None" if want == UNUSED else f"e{i}")
            else:
                given.append("None" if want == UNUSED else f"e{i} if s{i} is None else s{i}")
        taken = f"{', '.join(f'e{i}' for i in range(count))}, = edges"
        flags = "(" + "".join(f"{{}}{i} is not None, " for i in range(count)) + ")"
        given += ["**node.params"] if prim.params else []
        call = f"RULE({flags}, g, {'out' if prim.saves_out else 'node'}, {', '.join(given)})"
        return [
            "def pull(node, saved, g, needs):",
            *_indented(["edges = node.edges", taken, *stored]),
            f"    {', '.join(f'w{i}' for i in range(count))}, = needs",
            f"    return {call.format(*'w' * count)}",
            "def step(node, g, grads, fit, add):",
            *_indented([
                *self.received(), "edges = node.edges", taken,
                *([stored[0].replace("= saved", "= node.saved")] if stored else []),
                "found = {} if grads is None else grads",
                f"for edge, r in zip(edges, {call.format(*'e' * count)}):",
                "    if r is not None and edge is not None:",
                "        if r.shape != edge.shape or r.dtype is not edge.dtype:",
                "            r = fit(r, edge)",
                "        if type(edge) is Slot:",
                "            add(found, edge, r)",
                "        elif edge in found:",
                "            found[edge] = found[edge] + r",
                "        else:",
                "            found[edge] = r",
                "if grads is None:",
                "    return found.popitem() if len(found) == 1 else found",
            ]),
        ]  # fmt: skip

    def step(self, name: str = "step", *, real: bool = False, fits: bool = False) -> list[str]:
        """`step(node, g, grads, fit, add)`: the rules on raw arrays, and their results added to what has arrived so far.

        Without `grads` (None) it returns the edge and the cotangent where there is one, else a dictionary of all: so a
        chain is followed without one, 0.1 µs less a node.

        `real` says that the operands are real, so that a rule given as text stands here itself; `fits`, that the results
        have the operands' shapes and dtype, so that nothing is left to fit.
        """
        prim, count = self.prim, self.count
        lines = [
            *self.received(), f"{', '.join(f'e{i}' for i in range(count))}, = node.edges",
            *self.stored("node.saved", named=real),
        ]  # fmt: skip
        if prim.params and not real:
            lines.append("p = node.params")
        results = {}
        for i in range(count):
            if prim.has_rule(i):
                unfitted = [] if fits else [
                    f"if r.shape != e{i}.shape or r.dtype is not e{i}.dtype:", f"    r = fit(r, e{i})"
                ]  # fmt: skip
                results[i] = [f"r = {real_text(prim.texts[i]) if real else self.rule(i)}", *unfitted]
        lines.append("if grads is None:")
        for i, result in results.items():
            others = "".join(f" and e{j} is None" for j in range(count) if j != i)
            lines += [
                f"    if e{i} is not None and type(e{i}) is not Slot{others}:",
                *_indented([*result, f"return e{i}, r"], 2),
            ]
        lines += [
            "    grads = {}", f"    {name}(node, g, grads, fit, add)",
            "    return grads.popitem() if len(grads) == 1 else grads",
        ]  # fmt: skip
        total = "b + r if type(r) is not ndarray or r.size < SHARED_LEAST else large_add(b, r)"
        if fits and prim.large is not None and prim.large.least <= SHARED_LEAST:
            total = "b + r"  # a large result has `large_step`
        for i, result in results.items():
            lines += [
                f"if e{i} is not None:",
                *_indented(result),
                f"    if type(e{i}) is Slot:",
                f"        add(grads, e{i}, r)",
                f"    elif e{i} in grads:",
                f"        b = grads[e{i}]",
                f"        grads[e{i}] = {total}",
                "    else:",
                f"        grads[e{i}] = r",
            ]
        return [f"def {name}(node, g, grads, fit, add):", *_indented(lines)]


def _joint_pull(prim: Primitive) -> Any:
    """`pull` for one rule for all operands, in any number."""
    vjp = prim.vjp
    assert vjp is not None

    def pull(node: Any, saved: Any, g: Any, needs: Any) -> Any:
        edges = node.edges
        n = len(edges)
        stored = saved or (None,) * (n + 1)
        wants = [prim.wants(j) for j in range(n)]
        given = [
            None if want == UNUSED else edges[j] if want == AVAL or stored[j] is None else stored[j]
            for j, want in enumerate(wants)
        ]
        out = stored[n] if prim.saves_out else node
        flags = tuple([need is not None for need in needs])
        return vjp(flags, g, out, *given, **node.params)

    return pull


def _joint(prim: Primitive, count: int) -> tuple[Any, Any]:
    """`pull` and `step` for one rule for all operands, of which there are so many where a primitive takes any number."""
    writer = _Writer(prim, count)
    scope: dict[str, Any] = {"RULE": prim.vjp, "NOTHING": (None,) * (writer.count + prim.saves_out), "Slot": Slot}
    _define("\n".join(writer.joint()), scope, "pull")
    return scope["pull"], scope["step"]


def _joint_of_any(prim: Primitive) -> tuple[Any, Any]:
    """The same for operands in any number: those for so many of them, written when they first come."""
    written: dict[int, tuple[Any, Any]] = {}

    def rules(count: int) -> tuple[Any, Any]:
        if count <= _MOST_WRITTEN:
            found = written[count] = _joint(prim, count)
            return found
        pull = _joint_pull(prim)
        return pull, _step_from_pull(pull)

    def pull(node: Any, saved: Any, g: Any, needs: Any) -> Any:
        count = len(node.edges)
        return (written.get(count) or rules(count))[0](node, saved, g, needs)

    def step(node: Any, g: Any, grads: Any, fit: Any, add: Any) -> Any:
        count = len(node.edges)
        return (written.get(count) or rules(count))[1](node, g, grads, fit, add)

    return pull, step


def _step_from_pull(pull: Callable[..., Any]) -> Callable[..., None]:
    """`step` for a joint rule."""

    def step(node: Any, g: Any, grads: dict[Any, Any] | None, fit: Any, add: Any) -> Any:
        edges, found = node.edges, {} if grads is None else grads
        for edge, r in zip(edges, pull(node, node.saved, tuple(g) if type(g) is list else g, edges)):
            if r is None or edge is None:
                continue
            if r.shape != edge.shape or r.dtype is not edge.dtype:
                r = fit(r, edge)
            add(found, edge, r)
        return None if grads is not None else found.popitem() if len(found) == 1 else found

    return step


def operator(op: Callable[..., Any], cls: type[Value], fallback: Callable[..., Any]) -> Callable[..., Any]:
    """A binary operator of `cls`: two plain instances of one real floating dtype at once, all else through `fallback`.

    The operation's rules are given as texts (see `primitive`), which the function's nodes are pulled back by.
    """
    prim: Primitive = op.prim  # type: ignore[attr-defined]
    writer = _Writer(prim)
    scope = _scope(prim)
    _follow(prim, scope)
    scope.update(
        CLS=cls,
        FALLBACK=fallback,
        LEVEL=prim.bind_level,
        NOTHING=(None,) * (2 + prim.saves_out),
    )
    lines = [*writer.step(real=True), *writer.step("step_fits", real=True, fits=True), *writer.operator()]
    _define("\n".join(lines), scope, "operator")
    result: Callable[..., Any] = scope["operator"]
    result.__name__ = result.__qualname__ = getattr(fallback, "__name__", prim.name)
    result.__doc__ = fallback.__doc__
    return result


_MOST_WRITTEN = 8
"""How many operands functions are written for, of a primitive that takes any number."""


def _any_number(prim: Primitive) -> Callable[..., Any]:
    """`op` for operands in any number: that for so many of them, written when they first come; beyond eight, one for
    lists. Joining two 4-vectors takes 1.6 µs recorded, 4.9 in general."""
    written: dict[int, Callable[..., Any]] = {}

    def op(*operands: Any, **params: Any) -> Any:
        count = len(operands)
        f = written.get(count)
        if f is None:
            if count > _MOST_WRITTEN:
                return binding.bind_many(prim, operands, params)
            if not count:
                return binding.op_general(prim, operands, params)
            f = written[count] = _binding(prim, count)["op"]
        return f(*operands, **params)

    return op


def binder(op: Callable[..., Any], count: int) -> Callable[..., Any]:
    """`bind` for so many operands of a primitive that takes any number: 0.5 µs less than to let it count them."""
    prim: Primitive = op.prim  # type: ignore[attr-defined]
    return prim.bind if count > _MOST_WRITTEN else _binding(prim, count)["bind"]


def looker(op: Callable[..., Any], **tape: Callable[..., Any]) -> Callable[..., Any]:
    """`look(x, ...)`: an operation on one value of which the result may be a view, remembered as one by what is given of
    tape/inplace.py. Written at its first call."""
    prim: Primitive = op.prim  # type: ignore[attr-defined]
    return _on_first_call(
        prim, ("look",), lambda name: _Writer(prim).looker(), OP=op, bind=prim.bind, weak=weakref.ref, **tape
    )["look"]


def specialise(prim: Primitive) -> None:
    """Give a primitive its `op`, `bind` and `bind_level`."""
    if prim.operands:
        functions = _binding(prim)
        prim.op, prim.bind, prim.bind_level = functions["op"], functions["bind"], functions["bind_level"]
    else:
        prim.op = prim.bind = prim.bind_level = _any_number(prim)
    prim.op.__name__ = prim.op.__qualname__ = prim.name
    prim.op.prim = prim  # type: ignore[attr-defined]


def _first_call(name: str) -> Any:
    """The code that a function has until it is called for the first time; FINISH stands in its globals."""
    source = f"def f(*operands, **params):\n    return FINISH({name!r}, operands)(*operands, **params)"
    return compile(source, "<retrograde first call>", "exec").co_consts[0]


_FIRST = {name: _first_call(name) for name in ("op", "bind", "bind_level", "look")}
_finishing = threading.RLock()


def _binding(prim: Primitive, count: int = 0) -> dict[str, FunctionType]:
    """`op`, `bind` and `bind_level`, for so many operands where a primitive takes any number."""

    def written(name: str) -> list[str]:
        writer = _Writer(prim, count)
        return writer.op() if name == "op" else writer.bind() if name == "bind" else writer.bind_level()

    return _on_first_call(prim, ("op", "bind", "bind_level"), written)


def _on_first_call(
    prim: Primitive, names: tuple[str, ...], written: Callable[[str], list[str]], **given: Any
) -> dict[str, FunctionType]:
    """Functions of these names, of which each gets its code at its first call: an import compiles nothing. Calls that would be
    left to the general case do not count: a trace makes a few of each operation.

    The functions stay the same objects, so whoever has bound them before has the finished ones afterwards.
    """
    scope: dict[str, Any] = {"__name__": __name__}
    functions = {name: FunctionType(_FIRST[name], scope, name) for name in names}

    def op(*operands: Any, **params: Any) -> Any:
        return binding.op_general(prim, operands, params)

    def bind(*operands: Any, **params: Any) -> Any:
        return binding.bind_general(prim, operands, params)

    def finish(name: str, operands: Any) -> Any:
        top, plain = 0, True
        for x in operands:
            if isinstance(x, Value):
                top, plain = max(top, x._level), plain and type(x._a) is _ndarray
        if name != "look" and not (plain and name != "bind_level") and state.tapes.get(top) is None:
            return op if name == "op" else bind
        with _finishing:
            if functions[name].__code__ is _FIRST[name]:
                if "PRIM" not in scope:
                    scope.update(_scope(prim), **given)
                    scope.update(functions)  # they call each other by these names
                    _follow(prim, scope)
                made = dict(scope)
                _define("\n".join(written(name)), made, name)
                functions[name].__code__ = made[name].__code__
        return functions[name]

    scope["FINISH"] = finish
    return functions


def specialise_rules(prim: Primitive) -> None:
    """Give a differentiable primitive its `pull` and `step`; done when the first is asked for."""
    if prim.vjp is not None:
        prim.pull, prim.step = _joint(prim, 0) if prim.operands else _joint_of_any(prim)
        return
    writer = _Writer(prim)
    rules: dict[str, Any] = {}
    for i, rule in enumerate(prim.vjps):
        rules[f"V{i}"] = getattr(rule, "transpose", None) or getattr(rule, "factor", rule)
        rules[f"C{i}"] = getattr(rule, "conj", None)
    rules.update(
        NOTHING=(None,) * (writer.count + prim.saves_out), Slot=Slot, ndarray=_ndarray, SHARED_LEAST=SHARED_LEAST, large_add=add
    )
    _define("\n".join([*writer.pull(), *writer.step()]), rules, "pull")
    prim.pull, prim.step = rules["pull"], rules["step"]
