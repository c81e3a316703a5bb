"""`bind`: the one place where an operation is evaluated and recorded.

`specialise` writes, for each primitive at registration, the source of three functions: `op` (raw arrays straight to
the kernel, else bind), `bind` (the everyday tape on NumPy arrays; anything else goes to `bind_general`) and `pull`
(its derivative rules with what the node saved). Measured on a 4-vector multiplication: 1.3 µs recorded, of which
NumPy takes 0.25; a generic loop over operands takes 2.6.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .._state import INFERENCE, OFF, WATCHED, state
from ..backend import backend_of
from ..backend.numpy import NUMPY
from . import level as levels
from . import value as values
from .node import Node, Slot, tick
from .primitive import AVAL, UNUSED, VALUE, Primitive
from .value import Value, dtype_of, make, result_class, shape_of

_ndarray = np.ndarray
_NO_PARAMS: dict[str, Any] = {}

# Called with (node, arrays) for each node recorded in WATCHED mode; tape/hooks.py puts its function here.
annotate: Any = None


def set_annotate(f: Any) -> None:
    """Install the function that sees each node recorded under anomaly mode or saved-tensor hooks."""
    global annotate
    annotate = f


def fail(prim: Primitive, operands: Any, params: dict[str, Any], error: Exception) -> NoReturn:
    """Raise a kernel's exception as the type that the operands' dialect documents, with op and operands named."""
    described = ", ".join(
        f"{dtype_of(x)}{list(shape_of(x))}" if isinstance(x, (Value, np.ndarray)) else repr(x) for x in operands
    )
    cls = result_class(operands)
    for kind in type(error).__mro__:
        wanted = cls._kernel_errors.get(kind)
        if wanted is not None:
            shown = "".join(f", {k}={v!r}" for k, v in params.items() if len(repr(v)) < 60)
            raise wanted(f"{prim.name}({described}{shown}): {error}") from error
    raise error


def weak(scalar: Any, dtype: np.dtype) -> np.ndarray:
    """A Python scalar as a 0-d array beside operands of `dtype`: their dtype wherever it can hold the scalar's kind."""
    kind = dtype.kind
    if isinstance(scalar, bool) or (isinstance(scalar, int) and kind != "b"):
        pass
    elif isinstance(scalar, complex):
        if kind != "c":
            dtype = np.dtype(np.complex64 if dtype.itemsize <= 4 and kind not in "iub" else np.complex128)
    elif isinstance(scalar, float):
        if kind in "iub":
            dtype = np.dtype(np.float64)
    else:
        dtype = np.result_type(type(scalar))
    return np.asarray(scalar, dtype=dtype)


def _arrays(operands: Any) -> list[Any]:
    """Operands as arrays or values: Python scalars take the dtype of the first operand that has one."""
    dtype = None
    for x in operands:
        if x is not None and not isinstance(x, (bool, int, float, complex)):
            dtype = dtype_of(x)
            break
    out = []
    for x in operands:
        if isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic):
            x = np.asarray(x) if dtype is None else weak(x, dtype)
        elif isinstance(x, np.generic):
            x = np.asarray(x)
        out.append(x)
    return out


def op_general(prim: Primitive, operands: Any, params: dict[str, Any]) -> Any:
    """Evaluate a primitive on anything: raw arrays, values, Python scalars, None for an absent operand."""
    operands = _arrays(operands)
    for x in operands:
        if isinstance(x, Value):
            return bind_general(prim, operands, params)
    return evaluate(prim, operands, params)


def evaluate(prim: Primitive, arrays: Any, params: dict[str, Any]) -> Any:
    """Evaluate a primitive at the highest level among `arrays`, which may be core values of lower levels."""
    top, winner, first = -1, None, None
    for x in arrays:
        if type(x) is _ndarray:
            continue
        if x is None:
            continue
        level = getattr(x, "_level", None)
        if level is None:
            if first is None and not isinstance(x, np.generic):
                first = x
        elif level > top:
            top, winner = level, x
    if winner is not None:
        if isinstance(winner, Value):
            return bind_general(prim, arrays, params)
        return winner._evaluate(prim, arrays, params)
    backend = NUMPY if first is None else backend_of(first)
    return backend.run(prim, arrays, params)


def bind_general(prim: Primitive, operands: Any, params: dict[str, Any]) -> Any:
    """Evaluate and record on operands of which one at least is a value, at any level, on any backend."""
    operands = _arrays(operands)
    top = 0
    for x in operands:
        if isinstance(x, Value) and x._level > top:
            top = x._level
    if top:
        levels.check_open(top)
    arrays, edges, recorded = [], [], False
    for x in operands:
        if isinstance(x, Value):
            if x._level == top:
                arrays.append(x._a)
                edges.append(x._node)
                recorded = recorded or x._node is not None
                continue
            x = values.as_core(x)
        arrays.append(x)
        edges.append(None)
    cls = result_class(operands)
    try:
        out = evaluate(prim, arrays, params)
    except (ValueError, TypeError, np.linalg.LinAlgError) as error:
        fail(prim, operands, params, error)
    node = None
    if recorded and prim.differentiable:
        mode = levels.mode_at(top)
        if mode != OFF:
            node = record(prim, params, tuple(edges), arrays, out)
            if mode == WATCHED and annotate is not None:
                annotate(node, cls)
    if INFERENCE and state.inference:
        return _inference_results(prim, cls, out, top)
    if not prim.multi:
        return make(cls, out, node, top)
    if node is None:
        return tuple(make(cls, x, None, top) for x in out)
    return tuple(
        make(cls, x, Slot(node, i, *node.outs[i]) if carries_gradient(prim, i, x) else None, top)
        for i, x in enumerate(out)
    )


def _inference_results(prim: Primitive, cls: type[Value], out: Any, level: int) -> Any:
    results = [make(cls, x, None, level) for x in (out if prim.multi else (out,))]
    for value in results:
        value._inference = True
    return tuple(results) if prim.multi else results[0]


def carries_gradient(prim: Primitive, index: int, array: Any) -> bool:
    """Whether an output of a primitive with several is differentiable."""
    if prim.diff_outs is not None:
        return prim.diff_outs[index]
    return dtype_of(array).kind not in "iub"


def record(prim: Primitive, params: dict[str, Any], edges: tuple[Any, ...], arrays: Any, out: Any) -> Node | None:
    """The node of an evaluated operation; None when its output cannot carry a gradient."""
    if not prim.multi and dtype_of(out).kind in "iub":
        return None
    node = Node()
    node.prim, node.params, node.edges = prim, params, edges
    if prim.vjp is not None:
        if prim.operands is None:
            wants = (prim.rule_needs[0] or ())[1:]
            saved = [
                x if (wants[i] == VALUE if i < len(wants) else prim.saves_all) else None for i, x in enumerate(arrays)
            ]
        else:
            saved = [x if prim.users[i] else None for i, x in enumerate(arrays)]
        keep_out = prim.saves_out
    else:
        wanted = {i for i, edge in enumerate(edges) if edge is not None}
        saved = [x if prim.users[i] & wanted else None for i, x in enumerate(arrays)]
        keep_out = bool(prim.out_users & wanted)
    if prim.saves_out:
        saved.append(out if keep_out else None)
    node.saved = tuple(saved) if any(x is not None for x in saved) else ()
    if prim.multi:
        node.outs = tuple((shape_of(x), dtype_of(x)) for x in out)
    else:
        node.shape, node.dtype = shape_of(out), dtype_of(out)
    node.seq = tick()
    return node


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
        f"    return op_general(PRIM, {operands}, {packed})",
        "",
        f"def bind({signature}):",
    ]
    for i, x in enumerate(names):
        lines += [
            f"    if type({x}) is ndarray:",
            f"        a{i} = {x}; n{i} = None",
            f"    elif isinstance({x}, Value):",
            f"        a{i} = {x}._a; n{i} = {x}._node",
            f"        if {x}._level or type(a{i}) is not ndarray:",
            f"            return bind_general(PRIM, {operands}, {packed})",
            "    else:",
            f"        return bind_general(PRIM, {operands}, {packed})",
        ]
    arrays = ", ".join(f"a{i}" for i in range(n))
    lines += [
        "    try:",
        f"        out_ = KERNEL({arrays}{keywords})",
        "    except (ValueError, TypeError, LinAlgError) as error:",
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
    lines += ["    value_ = NEW(cls_)", "    value_._a = out_; value_._level = 0"]
    if prim.differentiable:
        lines += [
            "    if " + " or ".join(f"n{i} is not None" for i in range(n)) + ":",
            "        mode_ = state.mode",
            "        if mode_ and out_.dtype.kind not in 'iub':",
            "            node_ = Node()",
            f"            node_.prim = PRIM; node_.params = {packed}",
            f"            node_.edges = ({', '.join(f'n{i}' for i in range(n))},)",
            f"            node_.saved = {_saved_source(prim)}",
            "            node_.shape = out_.shape; node_.dtype = out_.dtype; node_.seq = tick()",
            "            if mode_ == 2:",
            "                annotate(node_, cls_)",
            "            value_._node = node_",
            "            return value_",
        ]
    lines += [
        "    if INFERENCE and state.inference:",
        "        value_._inference = True",
        "    value_._node = None",
        "    return value_",
    ]
    return "\n".join(lines)


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


def specialise(prim: Primitive) -> None:
    """Give a primitive its `op`, `bind` and `pull`."""
    names = prim.operands
    if names and len(names) <= 4 and not prim.multi:
        scope: dict[str, Any] = {
            "__name__": __name__, "ndarray": _ndarray, "KERNEL": prim.numpy_kernel, "asarray": np.asarray,
            "Value": Value, "op_general": op_general, "bind_general": bind_general, "PRIM": prim,
            "NO_PARAMS": _NO_PARAMS, "fail": fail, "result_class": result_class, "NEW": object.__new__,
            "state": state, "INFERENCE": INFERENCE, "Node": Node, "tick": tick, "LinAlgError": np.linalg.LinAlgError,
            "annotate": lambda node, cls: annotate is not None and annotate(node, cls),
        }  # fmt: skip
        exec(compile(_op_source(prim), f"<bind {prim.name}>", "exec"), scope)  # noqa: S102 - our own source
        prim.op, prim.bind = scope["op"], scope["bind"]
    elif names is not None:

        def op(*operands: Any, **params: Any) -> Any:
            if len(operands) != len(names):
                raise TypeError(f"{prim.name} takes the operands {', '.join(names)}; {len(operands)} were given")
            return op_general(prim, operands, params)

        prim.op = prim.bind = op
    else:

        def op_variadic(*operands: Any, **params: Any) -> Any:
            return op_general(prim, operands, params)

        prim.op = prim.bind = op_variadic
    prim.op.__name__ = prim.op.__qualname__ = prim.name
    prim.op.prim = prim  # type: ignore[attr-defined]
    if not prim.differentiable:
        return
    if prim.vjp is not None:
        prim.pull = _joint_pull(prim)
        return
    scope = {f"V{i}": rule for i, rule in enumerate(prim.vjps)}
    scope["NOTHING"] = (None,) * (len(names or ()) + prim.saves_out)
    exec(compile(_pull_source(prim), f"<pull {prim.name}>", "exec"), scope)  # noqa: S102 - our own source
    prim.pull = scope["pull"]
