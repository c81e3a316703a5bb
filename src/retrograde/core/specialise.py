"""The source of a primitive's hot functions, written at registration (the derivative's at the first use).

`op` sends raw arrays straight to the kernel and values to `bind`; `bind` is the everyday tape on NumPy arrays; `pull`
calls the derivative rules with what a node saved; `step` is `pull` for raw arrays together with handing the results
on, which is what the backward loop calls per node; `operator` is `bind` with a dialect's check of its operands in one
function. Measured on multiplying 4-vectors, forward and backward, per node: see benchmarks; a generic loop over
operands costs three times as much.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from .._state import INFERENCE, INFERRED, SWITCHED, state
from . import bind as binding
from .node import Node, Slot, tick
from .record import AVAL, UNUSED, VALUE, Primitive
from .value import Value, result_class

_ndarray = np.ndarray
_NO_PARAMS: dict[str, Any] = {}


SWAPS: dict[str, list[Callable[[Any], Any]]] = {}
"""What puts another kernel into the functions written for a primitive, by the primitive's name."""


def swap_kernel(prim: Primitive, kernel: Callable[..., Any]) -> None:
    """Let a primitive compute on NumPy arrays with another kernel: one around its own, or its own again."""
    prim.numpy_kernel = kernel
    for put in SWAPS.get(prim.name, ()):
        put(kernel)


def _follow(prim: Primitive, scope: dict[str, Any]) -> None:
    """Let functions with these globals follow `swap_kernel`."""
    SWAPS.setdefault(prim.name, []).append(functools.partial(scope.__setitem__, "KERNEL"))


def _scope(prim: Primitive) -> dict[str, Any]:
    return {
        "__name__": __name__, "ndarray": _ndarray, "KERNEL": prim.numpy_kernel, "asarray": np.asarray, "Value": Value,
        "op_general": binding.op_general, "bind_general": binding.bind_general, "PRIM": prim, "NO_PARAMS": _NO_PARAMS,
        "fail": binding.fail, "result_class": result_class, "NEW": object.__new__, "state": state, "Node": Node,
        "tick": tick, "KERNEL_ERRORS": binding.KERNEL_ERRORS, "watched": binding.watched, "INFERENCE": INFERENCE,
        "unrecorded": binding.unrecorded, "INFERRED": INFERRED, "refuse_inference": binding.refuse_inference,
        "whole_numbers": binding.whole_numbers, "SWITCHED": SWITCHED, "Slot": Slot,
    }  # fmt: skip


# Most primitives share their source with others of the same arity, and compiling is most of the time of an import.
_COMPILED: dict[str, Any] = {}


def _define(source: str, scope: dict[str, Any], name: str) -> None:
    code = _COMPILED.get(source)
    if code is None:
        code = _COMPILED[source] = compile(source, f"<{name}>", "exec")
    exec(code, scope)  # noqa: S102 - our own source


def _op_source(prim: Primitive) -> str:
    """`op` and `bind` for a fixed number of operands and one output; our locals end in "_", unlike parameters."""
    names = prim.operands or ()
    n = len(names)
    keywords = "".join(f", {p}={p}" for p in prim.params)
    signature = ", ".join(names) + ((", *, " + ", ".join(prim.params)) if prim.params else "")
    packed = "{" + ", ".join(f"{p!r}: {p}" for p in prim.params) + "}" if prim.params else "NO_PARAMS"
    operands = "(" + ", ".join(names) + ",)"
    lines = [
        f"def op({signature}):",
        "    if " + " and ".join(f"type({x}) is ndarray" for x in names) + ":",
        f"        out_ = KERNEL({', '.join(names)}{keywords})",
        "        return out_ if type(out_) is ndarray else asarray(out_)",
        "    if " + " or ".join(f"isinstance({x}, Value)" for x in names) + ":",
        f"        return bind({', '.join(names)}{keywords})",
    ]
    if n > 1:  # absent operands (a bias, weights) are no reason for the slow way
        lines += [
            "    if " + " and ".join(f"({x} is None or type({x}) is ndarray)" for x in names) + ":",
            f"        return asarray(KERNEL({', '.join(names)}{keywords}))",
        ]
    lines.append(f"    return op_general(PRIM, {operands}, {packed})")
    return "\n".join(lines + _bind_source(prim, at_level=False) + _bind_source(prim, at_level=True))


def _bind_source(prim: Primitive, *, at_level: bool) -> list[str]:
    """`bind`, or `bind_level`: the same at the innermost open level when that is a tape over NumPy arrays."""
    names = prim.operands or ()
    n = len(names)
    keywords = "".join(f", {p}={p}" for p in prim.params)
    signature = ", ".join(names) + ((", *, " + ", ".join(prim.params)) if prim.params else "")
    packed = "{" + ", ".join(f"{p!r}: {p}" for p in prim.params) + "}" if prim.params else "NO_PARAMS"
    operands = "(" + ", ".join(names) + ",)"
    general = f"return bind_general(PRIM, {operands}, {packed})"
    lines = ["", f"def {'bind_level' if at_level else 'bind'}({signature}):"]
    if at_level:
        lines += [
            "    tape_ = state.tape",
            "    if tape_ is None or state.levels[-1] is not tape_:",
            f"        {general}",
            "    top_ = tape_.id",
        ]
    elsewhere = general if at_level else f"return bind_level({', '.join(names)}{keywords})"
    for i, x in enumerate(names):
        lines += [
            f"    if type({x}) is ndarray:",
            f"        a{i} = {x}; n{i} = None",
            f"    elif isinstance({x}, Value):",
            f"        a{i} = {x}._a; n{i} = {x}._node",
        ]
        if at_level:
            lines.append(
                f"        if type(a{i}) is not ndarray or ({x}._level != top_ and ({x}._level or n{i} is not None)):"
            )
        else:
            lines.append(f"        if {x}._level or type(a{i}) is not ndarray:")
        lines.append(f"            {elsewhere}")
        if n > 1:
            lines += [f"    elif {x} is None:", f"        a{i} = n{i} = None"]
        lines += ["    else:", f"        {general}"]
    arrays = ", ".join(f"a{i}" for i in range(n))
    lines += [
        "    try:",
        f"        out_ = KERNEL({arrays}{keywords})",
        "    except KERNEL_ERRORS as error:",
        f"        fail(PRIM, {operands}, {packed}, error)",
        "    if type(out_) is not ndarray:",
        "        out_ = asarray(out_)",
    ]
    if n == 1:
        lines.append(f"    cls_ = {names[0]}._result")
    elif n == 2:
        x, y = names
        lines += [
            f"    cls_ = type({x})",
            f"    if cls_ is type({y}) or type({y}) is ndarray:",
            "        cls_ = cls_._result",
            "    elif cls_ is ndarray:",
            f"        cls_ = {y}._result",
            "    else:",
            f"        cls_ = result_class({operands})",
        ]
    else:
        lines.append(f"    cls_ = result_class({operands})")
    lines += ["    value_ = NEW(cls_)", f"    value_._a = out_; value_._level = {'top_' if at_level else 0}"]
    if prim.differentiable:
        edges = ", ".join(f"n{i}" for i in range(n))
        lines += [
            "    if " + " or ".join(f"n{i} is not None" for i in range(n)) + ":",
            f"        mode_ = {'tape_.mode' if at_level else 'state.mode if SWITCHED else 1'}",
            f"        if mode_ and (out_.dtype.kind not in 'iub' or whole_numbers(out_.dtype, ({edges},))):",
            "            node_ = Node()",
            f"            node_.prim = PRIM; node_.params = {packed}",
            f"            node_.edges = ({edges},)",
            f"            node_.saved = {_saved_source(prim)}",
            "            node_.shape = out_.shape; node_.dtype = out_.dtype",
            "            node_.seq = tick(); node_.step = PRIM.step",
            "            if INFERRED:",
            f"                refuse_inference(PRIM, {operands}, node_.saved)",
            "            value_._node = node_",
            "            if mode_ == 2:",
            f"                watched(node_, cls_, {operands}, value_)",
            "            return value_",
        ]
    lines += [
        "    value_._node = None",
        "    if INFERENCE:",
        f"        unrecorded(PRIM, {operands}, {packed}, value_)",
        "    return value_",
    ]
    return lines


def _saved_source(prim: Primitive) -> str:
    """The expression for `node.saved`, saving an operand only where a rule that will be asked wants it."""
    everyone = frozenset(i for i, rule in enumerate(prim.rule_needs) if rule is not None)

    def entry(name: str, users: frozenset[int]) -> str:
        if not users:
            return "None"
        if prim.vjp is not None or users >= everyone:
            return name
        return f"({name} if " + " or ".join(f"n{j} is not None" for j in sorted(users)) + " else None)"

    entries = [entry(f"a{i}", users) for i, users in enumerate(prim.users)]
    if prim.saves_out:
        entries.append(entry("out_", prim.out_users))
    if all(e == "None" for e in entries):
        return "()"
    return "(" + ", ".join(entries) + ",)"


def _pull_source(prim: Primitive) -> str:
    """`pull` for one rule per operand."""
    names = prim.operands or ()
    n = len(names)
    lines = ["def pull(node, saved, g, needs):"]
    stored = [f"s{i}" for i in range(n)] + (["out"] if prim.saves_out else [])
    if any(prim.users) or prim.saves_out:
        lines.append(f"    {', '.join(stored)}, = saved or NOTHING")
    lines.append(f"    {', '.join(f'e{i}' for i in range(n))}, = needs")
    if prim.params:
        lines.append("    p = node.params")
    results = []
    for i, wants in enumerate(prim.rule_needs):
        if wants is None:
            results.append("None")
            continue
        out = "out" if wants[0] == VALUE else "node" if wants[0] == AVAL else "None"
        given = [
            "None" if want == UNUSED else f"e{i}" if want == AVAL and j == i else f"s{j}"
            for j, want in enumerate(wants[1:])
        ]
        call = f"V{i}(g, {out}, {', '.join(given)}{', **p' if prim.params else ''})"
        results.append(f"{call} if e{i} is not None else None")
    lines.append("    return (" + ", ".join(results) + ",)")
    return "\n".join(lines)


def _joint_pull(prim: Primitive) -> Any:
    """`pull` for one rule for all operands, fixed or variadic."""
    vjp = prim.vjp
    assert vjp is not None
    wants = prim.rule_needs[0] or ()
    fixed = len(wants) - 1

    def pull(node: Any, saved: Any, g: Any, needs: Any) -> Any:
        edges = node.edges
        n = len(edges)
        stored = saved or (None,) * (n + 1)
        given = [
            None if j < fixed and wants[j + 1] == UNUSED
            else stored[j] if (wants[j + 1] == VALUE if j < fixed else prim.saves_all)
            else edges[j]
            for j in range(n)
        ]  # fmt: skip
        out = stored[n] if prim.saves_out else node
        flags = tuple(need is not None for need in needs)
        return vjp(flags, g, out, *given, **node.params)

    return pull


def _step_source(
    prim: Primitive, inline: tuple[str | None, ...] | None, name: str = "step", *, fits: bool = False
) -> str:
    """`step(node, g, grads, fit, add)`: the rules on raw arrays, and their results added to what has arrived so far.

    Without `grads` (None) it returns the edge and the cotangent where there is one, else a dictionary of all: so a chain is
    followed without one, 0.1 µs less a node.

    `inline` holds an expression per operand for real operands, in place of a call of the rule. `fits` says that the
    results have the operands' shapes and dtype, so that nothing is left to fit.
    """
    names = prim.operands or ()
    n = len(names)
    lines = [f"def {name}(node, g, grads, fit, add):", f"    {', '.join(f'e{i}' for i in range(n))}, = node.edges"]
    if any(prim.users) or prim.saves_out:
        stored = [*(names if inline is not None else [f"s{i}" for i in range(n)]), *(["out"] if prim.saves_out else [])]
        lines.append(f"    {', '.join(stored)}, = node.saved or NOTHING")
    if prim.params and inline is None:
        lines.append("    p = node.params")
    results = {}
    for i, wants in enumerate(prim.rule_needs):
        if wants is None:
            continue
        if inline is not None:
            value = inline[i]
        else:
            out = "out" if wants[0] == VALUE else "node" if wants[0] == AVAL else "None"
            given = [
                "None" if want == UNUSED else f"e{i}" if want == AVAL and j == i else f"s{j}"
                for j, want in enumerate(wants[1:])
            ]
            value = f"V{i}(g, {out}, {', '.join(given)}{', **p' if prim.params else ''})"
        results[i] = [
            f"r = {value}",
            *([] if fits else [f"if r.shape != e{i}.shape or r.dtype is not e{i}.dtype:", f"    r = fit(r, e{i})"]),
        ]  # fmt: skip
    lines += ["    alone = grads is None", "    if alone:"]
    for i, result in results.items():
        others = "".join(f" and e{j} is None" for j in range(n) if j != i)
        lines += [
            f"        if e{i} is not None and type(e{i}) is not Slot{others}:",
            *(f"            {line}" for line in result),
            f"            return e{i}, r",
        ]
    lines.append("        grads = {}")
    for i, result in results.items():
        lines += [
            f"    if e{i} is not None:",
            *(f"        {line}" for line in result),
            f"        if type(e{i}) is Slot:",
            f"            add(grads, e{i}, r)",
            f"        elif e{i} in grads:",
            f"            grads[e{i}] = grads[e{i}] + r",
            "        else:",
            f"            grads[e{i}] = r",
        ]
    lines += ["    if alone:", "        return grads.popitem() if len(grads) == 1 else grads"]
    return "\n".join(lines)


def _step_from_pull(pull: Callable[..., Any]) -> Callable[..., None]:
    """`step` for a joint rule."""

    def step(node: Any, g: Any, grads: dict[Any, Any] | None, fit: Any, add: Any) -> Any:
        edges, found = node.edges, {} if grads is None else grads
        for edge, r in zip(edges, pull(node, node.saved, g, edges)):
            if r is None or edge is None:
                continue
            if r.shape != edge.shape or r.dtype is not edge.dtype:
                r = fit(r, edge)
            add(found, edge, r)
        return None if grads is not None else found.popitem() if len(found) == 1 else found

    return step


def operator(
    op: Callable[..., Any], cls: type[Value], fallback: Callable[..., Any], inline: tuple[str, ...] | None = None
) -> Callable[..., Any]:
    """A binary operator of `cls`: two plain instances of one real floating dtype at once, all else through `fallback`.

    inline: the pullbacks of real operands as expressions in `g` and the operands' names, such as ("g * y", "g * x").
    """
    prim: Primitive = op.prim  # type: ignore[attr-defined]
    x, y = prim.operands or ("x", "y")
    scope = _scope(prim)
    _follow(prim, scope)
    scope.update({f"V{i}": rule for i, rule in enumerate(prim.vjps)})
    scope.update(
        CLS=cls,
        FALLBACK=fallback,
        BIND=prim.bind,
        FLOAT32=np.dtype(np.float32),
        FLOAT64=np.dtype(np.float64),
        NOTHING=(None,) * (2 + prim.saves_out),
    )
    _define(_step_source(prim, inline), scope, "step")
    _define(_step_source(prim, inline, "step_fits", fits=True), scope, "step")
    saved = _saved_source(prim).replace("a0", "a").replace("a1", "b").replace("out_", "out")
    source = f"""
def operator({x}, {y}):
    if type({x}) is CLS and type({y}) is CLS:
        a = {x}._a
        b = {y}._a
        d = a.dtype
        if (d is FLOAT32 or d is FLOAT64) and d is b.dtype:
            if {x}._level or {y}._level:
                return BIND({x}, {y})
            try:
                out = KERNEL(a, b)
            except ValueError as error:
                fail(PRIM, ({x}, {y}), NO_PARAMS, error)
            if type(out) is not ndarray:  # a NumPy scalar, or the result of another library's arrays
                if type(a) is not ndarray or type(b) is not ndarray:
                    return FALLBACK({x}, {y})
                out = asarray(out)
            value = NEW(CLS)
            value._a = out
            value._level = 0
            n0 = {x}._node
            n1 = {y}._node
            if n0 is not None or n1 is not None:
                mode = state.mode if SWITCHED else 1
                if mode:
                    value._node = node = Node()
                    node.prim = PRIM
                    node.params = NO_PARAMS
                    node.edges = (n0, n1)
                    node.saved = {saved}
                    node.shape = shape = a.shape
                    if shape == b.shape:
                        node.step = step_fits
                    else:
                        node.shape = out.shape
                        node.step = step
                    node.dtype = d
                    node.seq = tick()
                    if INFERRED:
                        refuse_inference(PRIM, ({x}, {y}), node.saved)
                    if mode == 2:
                        watched(node, CLS, ({x}, {y}), value)
                    return value
            value._node = None
            if INFERENCE:
                unrecorded(PRIM, ({x}, {y}), NO_PARAMS, value)
            return value
    return FALLBACK({x}, {y})
"""
    _define(source, scope, "operator")
    result: Callable[..., Any] = scope["operator"]
    result.__name__ = result.__qualname__ = getattr(fallback, "__name__", prim.name)
    result.__doc__ = fallback.__doc__
    return result


def _any_number(prim: Primitive) -> Callable[..., Any]:
    """`op` for operands in any number, or several outputs: values on the everyday tape first, then everything else.

    Joining two 4-vectors through it takes 2.3 µs recorded, 4.9 through `bind_general`.
    """
    kernel, multi, count = prim.numpy_kernel, prim.multi, None if prim.operands is None else len(prim.operands)
    asarray, new = np.asarray, object.__new__

    def swap(other: Callable[..., Any]) -> None:
        nonlocal kernel
        kernel = other

    SWAPS.setdefault(prim.name, []).append(swap)

    def op(*operands: Any, **params: Any) -> Any:
        if count is not None and len(operands) != count:
            names = ", ".join(prim.operands or ())
            raise TypeError(f"{prim.name} takes the operands {names}; {len(operands)} were given")
        arrays: list[Any] = []
        edges: list[Any] = []
        recorded = False
        cls: Any = None
        for x in operands:
            if type(x) is _ndarray:
                arrays.append(x)
                edges.append(None)
            elif isinstance(x, Value) and not x._level and type(x._a) is _ndarray:
                arrays.append(x._a)
                edge = x._node
                edges.append(edge)
                if edge is not None:
                    recorded = True
                named = x._result
                if cls is None:
                    cls = named
                elif named is not cls:
                    cls = result_class(operands)
            else:
                return binding.op_general(prim, operands, params)
        if cls is None:
            out = kernel(*arrays, **params)
            if multi:
                return tuple([y if type(y) is _ndarray else asarray(y) for y in out])
            return out if type(out) is _ndarray else asarray(out)
        try:
            out = kernel(*arrays, **params)
        except binding.KERNEL_ERRORS as error:
            binding.fail(prim, operands, params, error)
        if multi:
            out = tuple([y if type(y) is _ndarray else asarray(y) for y in out])
        elif type(out) is not _ndarray:
            out = asarray(out)
        node = None
        mode = 0
        if recorded and prim.differentiable:
            mode = state.mode if SWITCHED else 1
            if mode:
                node = binding.record(prim, params, tuple(edges), arrays, out)
                if node is not None and INFERRED:
                    binding.refuse_inference(prim, operands, node.saved)
        if multi:
            made: Any = binding.results(prim, cls, out, node)
        else:
            made = new(cls)
            made._a, made._node, made._level = out, node, 0
        if node is None:
            if INFERENCE:
                binding.unrecorded(prim, operands, params, made)
        elif mode == 2:
            binding.watched(node, cls, operands, made)
        return made

    return op


def specialise(prim: Primitive) -> None:
    """Give a primitive its `op` and `bind`."""
    names = prim.operands
    if names and len(names) <= 4 and not prim.multi:
        functions = _on_first_call(prim)
        prim.op, prim.bind = functions["op"], functions["bind"]
    else:
        prim.op = prim.bind = _any_number(prim)
    prim.op.__name__ = prim.op.__qualname__ = prim.name
    prim.op.prim = prim  # type: ignore[attr-defined]


# The code that `op` and `bind` have until they are called for the first time. FINISH stands in their globals.
_FIRST_OP = compile("def f(*operands, **params):\n    return FINISH('op')(*operands, **params)", "<first call>", "exec")
_FIRST_BIND = compile(
    "def f(*operands, **params):\n    return FINISH('bind')(*operands, **params)", "<first call>", "exec"
)
_FIRST = {"op": _FIRST_OP.co_consts[0], "bind": _FIRST_BIND.co_consts[0]}
_finishing = threading.RLock()


def _on_first_call(prim: Primitive) -> dict[str, Any]:
    """`op` and `bind` as functions that get their code at the first call of either: an import compiles nothing.

    The functions stay the same objects, so whoever has bound them before has the finished ones afterwards.
    """
    scope: dict[str, Any] = {"__name__": __name__}
    functions = {name: FunctionType(code, scope, name) for name, code in _FIRST.items()}

    def finish(name: str) -> Any:
        with _finishing:
            if functions["op"].__code__ is _FIRST["op"]:
                made = _scope(prim)
                _define(_op_source(prim), made, "bind")
                scope.update({**made, **functions})  # they call each other by these names
                _follow(prim, scope)
                for key, function in functions.items():
                    function.__code__ = made[key].__code__
        return functions[name]

    scope["FINISH"] = finish
    return functions


def specialise_rules(prim: Primitive) -> None:
    """Give a differentiable primitive its `pull` and `step`; done when the first is asked for."""
    if prim.vjp is not None:
        prim.pull = _joint_pull(prim)
        prim.step = _step_from_pull(prim.pull)
        return
    names = prim.operands or ()
    rules: dict[str, Any] = {f"V{i}": rule for i, rule in enumerate(prim.vjps)}
    rules.update(NOTHING=(None,) * (len(names) + prim.saves_out), Slot=Slot)
    _define(_pull_source(prim), rules, "pull")
    _define(_step_source(prim, None), rules, "step")
    prim.pull, prim.step = rules["pull"], rules["step"]
