"""`bind`: the one place where an operation is evaluated and recorded.

The everyday case (NumPy arrays, level 0) is source written per primitive (core/specialise.py); here is the general
case, which that falls back to, and what both share.
"""

from __future__ import annotations

from typing import Any, NoReturn

import numpy as np

from .._state import LOOKED_AT, OBSERVERS, OFF, SAVE_CHECKS, WATCHED, state
from ..backend import backend_of
from ..backend.numpy import NUMPY
from . import level as levels
from . import value as values
from .node import Node, Slot, tick
from .notation import in_own_words, operation_text
from .number import Number
from .record import Primitive
from .value import LevelArray, Value, dtype_of, make, result_class, shape_of

_ndarray = np.ndarray

KERNEL_ERRORS = (ValueError, TypeError, IndexError, OverflowError, np.linalg.LinAlgError)
"""What a kernel may raise over its operands: `fail` names the operation."""

# Called with (node, class, operands) for each node recorded in WATCHED mode; tape/hooks.py puts its function here.
annotate: Any = None


def set_annotate(f: Any) -> None:
    """Install the function that sees each node recorded under anomaly mode or saved-tensor hooks."""
    global annotate
    annotate = f


def fail(prim: Primitive, operands: Any, params: dict[str, Any], error: Exception) -> NoReturn:
    """Raise a kernel's exception as the type that the operands' dialect documents, with op and operands named."""
    described = ", ".join(
        f"{dtype_of(x)}{list(shape_of(x))}" if isinstance(x, (Value, np.ndarray)) else repr(x) for x in operands if x is not None
    )
    cls = result_class(operands)
    own = f"{prim.name}: "
    said = str(error).strip()
    text = in_own_words(said.removeprefix(own), [tuple(shape_of(x)) for x in operands if x is not None], params)
    # Where the kernel's words begin with its name they say all that matters of the parameters.
    operation = operation_text(prim, described, {} if said.startswith(own) else params)
    for kind in type(error).__mro__:
        wanted = cls._policy.kernel_errors.get(kind)
        if wanted is not None:
            raise wanted(f"{operation}: {text}") from error
    if type(error) in (IndexError, OverflowError):
        raise type(error)(f"{operation}: {text}") from error
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
    if type(scalar) is Number:
        return scalar.entered(dtype)
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
        if type(x) is _ndarray or isinstance(x, Value):
            pass
        elif isinstance(x, (bool, int, float, complex)) and not isinstance(x, np.generic):
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
        if type(x) is _ndarray or x is None:
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
        first = winner
    return (NUMPY if first is None else backend_of(first)).evaluate(prim, arrays, params)


def bind_many(prim: Primitive, operands: tuple[Any, ...], params: dict[str, Any]) -> Any:
    """Evaluate and record on many operands: values of one class on the everyday tape over NumPy arrays in one pass (0.1 µs
    each), all else as `op_general` (1 µs each)."""
    cls = type(operands[0])
    mode = state.mode
    if not issubclass(cls, Value) or prim.multi or mode == WATCHED or LOOKED_AT or SAVE_CHECKS:
        return op_general(prim, operands, params)
    arrays, edges, recorded = [], [], False
    for x in operands:
        if type(x) is not cls or type(array := x._a) is not _ndarray or x._level:
            return op_general(prim, operands, params)
        arrays.append(array)
        edges.append(edge := x._node)
        if edge is not None:
            recorded = True
    try:
        out = prim.numpy_kernel(*arrays, **params)
    except KERNEL_ERRORS as error:
        fail(prim, operands, params, error)
    if type(out) is not _ndarray:
        out = np.asarray(out)
    node = record(prim, params, tuple(edges), arrays, out) if recorded and mode and prim.differentiable else None
    return make(cls._result, out, node)


def _outlived(operands: list[Any], top: int) -> tuple[list[Any], int]:
    """The operands without what a level that has ended knew of them, and the highest level that is left, where the policy says
    that values outlive it; raises LevelError where it does not, and for parts of a batch."""
    while top and not levels.is_open(top):
        of_top = [x for x in operands if isinstance(x, Value) and x._level == top]
        if not result_class(operands)._policy.values_outlive_levels or any(
            isinstance(x._a, LevelArray) and not hasattr(x._a, "primal") for x in of_top
        ):
            levels.check_open(top)
        operands = [
            values.as_value(type(x)._result, getattr(x._a, "primal", x._a)) if isinstance(x, Value) and x._level == top else x
            for x in operands
        ]
        top = max((x._level for x in operands if isinstance(x, Value)), default=0)
    return operands, top


def bind_general(prim: Primitive, operands: Any, params: dict[str, Any]) -> Any:
    """Evaluate and record on operands of which one at least is a value, at any level, on any backend."""
    operands = _arrays(operands)
    top, plain = 0, True
    for x in operands:
        if isinstance(x, Value):
            if x._level > top:
                top = x._level
            if type(x._a) is not _ndarray:
                plain = False
    if not plain and len(operands) > 1:
        operands = result_class(operands)._policy.together(prim.name, operands)
    if top and not levels.is_open(top):
        operands, top = _outlived(operands, top)
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
    except KERNEL_ERRORS as error:
        fail(prim, operands, params, error)
    node = None
    if recorded and prim.differentiable:
        mode = levels.mode_at(top)
        if mode != OFF:
            node = record(prim, params, tuple(edges), arrays, out)
            if SAVE_CHECKS and node is not None:
                check_saved(prim, operands, node.saved)
    made = make(cls, out, node, top) if not prim.multi else results(prim, cls, out, node, top)
    if node is not None:
        if mode == WATCHED:
            watched(node, cls, operands, made)
    elif LOOKED_AT:
        unrecorded(prim, operands, params, made)
    return made


def recorded(*operands: Any) -> bool:
    """Whether an operation on these may be recorded now: not where all are arrays, or values that ask for no gradient, or
    where the everyday tape is off; inside transforms it always may."""
    return any(isinstance(x, Value) and (x._level or (x._node is not None and levels.mode_at(0) != OFF)) for x in operands)


def results(prim: Primitive, cls: type[Value], out: Any, node: Any, level: int = 0) -> tuple[Any, ...]:
    """The values of an operation with several outputs."""
    if node is None:
        return tuple([make(cls, x, None, level) for x in out])
    found = []
    for i, (x, (shape, dtype)) in enumerate(zip(out, node.outs)):
        value = object.__new__(cls)
        value._a, value._level, value._node = x, level, None
        if dtype.kind not in "iub" if prim.diff_outs is None else prim.diff_outs[i]:
            value._node = Slot(node, i, shape, dtype)
        found.append(value)
    return tuple(found)


def watched(node: Node, cls: type[Value], operands: Any, made: Any) -> None:
    """Show an operation recorded in WATCHED mode, and what it gave, to whoever wants to see it."""
    if annotate is not None:
        annotate(node, cls, operands)
    for observer in OBSERVERS:
        observer.operation(node.prim, operands, node.params, made, node)


def unrecorded(prim: Primitive, operands: Any, params: dict[str, Any], made: Any) -> None:
    """Mark the results of an operation without history as this thread wants it, and show them to observers."""
    if state.mark is not None:
        for value in made if prim.multi else (made,):
            state.mark(value)
    for observer in OBSERVERS:
        observer.operation(prim, operands, params, made, None)


def check_saved(prim: Primitive, operands: Any, saved: Any) -> None:
    """Let everyone who wants to see what nodes save refuse it."""
    for check in SAVE_CHECKS:
        check(prim, operands, saved)


def whole_numbers(dtype: np.dtype, edges: tuple[Any, ...]) -> bool:
    """Whether an output of an integer dtype carries a gradient all the same: everything that it is computed from and that
    wants one is of integers or truths, which only a dialect whose leaves they may be makes."""
    return dtype.kind in "iu" and all(edge is None or edge.dtype.kind in "iub" for edge in edges)


def record(prim: Primitive, params: dict[str, Any], edges: tuple[Any, ...], arrays: Any, out: Any) -> Node | None:
    """The node of an evaluated operation; None when its output cannot carry a gradient."""
    if not prim.multi and (dtype := dtype_of(out)).kind in "iub" and not whole_numbers(dtype, edges):
        return None
    node = Node()
    node.prim, node.params, node.edges = prim, params, edges
    node.saved = prim.saved(arrays, edges, out)
    return described(node, prim, out)


def described(node: Node, prim: Primitive, out: Any) -> Node:
    """A node with what it has to know of its outputs, and its place in time."""
    if prim.multi:
        node.outs = tuple([(x.shape, x.dtype) if type(x) is _ndarray else (shape_of(x), dtype_of(x)) for x in out])
    else:
        node.shape, node.dtype = shape_of(out), dtype_of(out)
    node.seq, node.step = tick(), prim.step
    return node
