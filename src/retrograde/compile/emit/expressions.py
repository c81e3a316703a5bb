"""Elementwise equations as expressions that generated code computes."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from ..._errors import UnsupportedError
from ...backend.jit import llvm, pointwise
from ...backend.jit.functions import Unsupported
from ...core.expression import Expr
from ...core.params import params_key
from ..graph import Equation

_KNOWN: dict[Any, Expr | None] = {}
_MOST = 1 << 12
"""Expressions that are kept: with ever new parameters there are ever new ones."""


def expression(e: Equation) -> Expr | None:
    """The expression of an elementwise equation by its operands' indices; None where there is no code for it."""
    if e.prim.kind != "elementwise" or e.prim.large is None:  # None: its NumPy kernel has more digits than its expression
        return None
    key = (e.prim.name, *[None if v is None else v.dtype for v in e.inputs], params_key(e.prim, e.params))
    if key not in _KNOWN:
        if len(_KNOWN) >= _MOST:
            _KNOWN.clear()
        _KNOWN[key] = _expression(e)
    return _KNOWN[key]


def expressible(e: Equation) -> bool:
    """Whether an elementwise equation has one, or a reduction is of numbers that there is code for."""
    x = e.inputs[0] if e.inputs else None
    if x is None or e.prim.kind != "reduction":
        return expression(e) is not None
    return _computed(x.dtype)


@functools.cache
def _computed(dtype: np.dtype) -> bool:
    """Whether there is code for numbers of a dtype."""
    try:
        pointwise._Emitter(llvm.Code(), pointwise._Program([Expr("operand", (0,), dtype)]))
    except Unsupported:
        return False
    return True


def _expression(e: Equation) -> Expr | None:
    assert e.prim.large is not None
    try:
        found = e.prim.large.trace(tuple(None if v is None else v.dtype for v in e.inputs), e.params)
        if not isinstance(found, Expr) or found.dtype != e.outputs[0].dtype:
            return None
        program = pointwise._Program([found])
        code = llvm.Code()
        emitter = pointwise._Emitter(code, program)
        emitter.take(["0.0"] * len(program.constants))
        emitter.computed({k: emitter.read(program.type(i), "%x") for k, i in program.operands.items()})
        emitter.written(program.type(program.outputs[0]), "%y")
    except (UnsupportedError, Unsupported):
        return None
    return found
