"""`DualArray`: an array with its tangent. The backend of forward mode.

An operation on dual arrays evaluates the primitive on the primals and applies its JVP rule, one level down.
"""

from __future__ import annotations

from operator import attrgetter
from typing import Any

from .._state import state
from ..backend import register_backend
from . import value as values
from .arrays import LevelBackend, opened
from .record import Primitive
from .value import LevelArray, Value, dtype_of, make, shape_of


class DualArray(LevelArray):
    """A primal and a tangent of the same shape; belongs to forward-mode level `_level`."""

    __slots__ = ("primal", "tangent")
    under = property(attrgetter("primal"))

    def __init__(self, primal: Any, tangent: Any, level: int) -> None:
        self.primal, self.tangent, self._level = primal, tangent, level
        self.shape = tuple(shape_of(primal))
        self.dtype = dtype_of(primal)


class DualBackend(LevelBackend):
    """Evaluates the primitive on the primals and applies its JVP rule."""

    name = "forward mode"

    def evaluate(self, prim: Primitive, arrays: Any, params: dict[str, Any]) -> Any:
        level, primals, tangents = opened(DualArray, arrays, "tangent")
        out = prim.op(*primals, **params)
        if not prim.differentiable or not state.forward or all(t is None for t in tangents):
            return out
        # Rules see core values only, never a mixture: an array has no operators that know a value.
        lifted = [_lift(x) for x in primals]
        shown = tuple(_lift(x) for x in out) if prim.multi else _lift(out)
        extra = {"prim": prim} if getattr(prim.jvp, "wants_prim", False) else {}
        tangent = prim.jvp([None if t is None else _lift(t) for t in tangents], shown, *lifted, **params, **extra)
        if prim.multi:
            return tuple(_dual(x, t, level) for x, t in zip(out, tangent if tangent is not None else [None] * len(out)))
        return _dual(out, tangent, level)


register_backend(DualArray, DualBackend())


def _lift(x: Any) -> Any:
    if x is None or isinstance(x, Value):
        return x
    return make(values.core_class, x)


def _dual(primal: Any, tangent: Any, level: int) -> Any:
    if tangent is None or dtype_of(primal).kind in "iub":
        return primal
    if isinstance(tangent, Value) and tangent._node is None and tangent._level == 0:
        tangent = tangent._a
    return DualArray(primal, tangent, level)
