"""`torch.autograd.forward_ad`: dual numbers by hand."""

from __future__ import annotations

import weakref
from typing import NamedTuple

import numpy as np

from ...._state import state
from ....core import value as values
from ....core.dual import DualArray
from ....core.level import Level, Opened
from ....core.value import dtype_of, make, shape_of
from ....tape import inplace
from ....transform.forward import dual, following, passed_on
from ..._shared.guard import kind_of
from .._tensor import Tensor

OPEN: list[Opened] = []
"""The dual level that is open, if one is."""


class UnpackedDualTensor(NamedTuple):
    """Primal and tangent of a dual tensor; the tangent is None for a plain one."""

    primal: Tensor
    tangent: Tensor | None


class dual_level:
    """The context in which dual tensors live."""

    def __enter__(self) -> int:
        if OPEN:
            raise RuntimeError("dual_level: levels do not nest here; use torch.func.jvp for nested forward mode")
        level = Level("dual_level")
        level.lifts = passed_on(level.id)
        opened = level.open()
        opened.__enter__()
        OPEN.append(opened)
        return 0

    def __exit__(self, *exception: object) -> None:
        _leave()


def _leave() -> None:
    """Close the level: what was made from outside has a tangent no more."""
    opened = OPEN.pop()
    inplace.lower(opened.level)
    opened.__exit__()


def enter_dual_level() -> int:
    """Open the level until `exit_dual_level`."""
    return dual_level().__enter__()


def exit_dual_level(*, level: int | None = None) -> None:
    """Close the level that is open."""
    if not OPEN:
        raise RuntimeError("exit_dual_level: no dual level is open")
    if level not in (None, 0):
        raise RuntimeError(f"exit_dual_level: level {level} is not the one that is open, which is 0")
    _leave()


def _check(op: str, name: str, x: object) -> None:
    if not isinstance(x, Tensor):
        raise TypeError(f"{op}: {name} must be a Tensor, got {kind_of(x)}")


def make_dual(tensor: Tensor, tangent: Tensor, *, level: int | None = None) -> Tensor:
    """A tensor that carries `tangent`; raises RuntimeError outside a dual level or where shape or dtype differ."""
    if not OPEN:
        raise RuntimeError("make_dual: dual tensors are made inside `with torch.autograd.forward_ad.dual_level():`")
    for name, x in (("tensor", tensor), ("tangent", tangent)):
        _check("make_dual", name, x)
        if dtype_of(x).kind in "iub":
            raise ValueError(f"make_dual: only floating and complex tensors have tangents and are some, {name} is {x.dtype}")
        if type(x._a) is DualArray and x._level == OPEN[-1].level.id:
            raise RuntimeError(f"make_dual: {name} is a dual tensor of this level already; unpack_dual() gives its parts")
    if tuple(shape_of(tensor)) != tuple(shape_of(tangent)):
        raise RuntimeError(f"make_dual: a tangent of shape {list(tangent.shape)} for a tensor of {list(tensor.shape)}")
    if dtype_of(tensor) != dtype_of(tangent):
        raise RuntimeError(f"make_dual: a tangent of dtype {tangent.dtype} for a tensor of dtype {tensor.dtype}")
    given = tangent
    if type(tensor._a) is type(tangent._a) is np.ndarray and tensor._a.strides != tangent._a.strides and tangent._node is None:
        given = make(Tensor, np.empty_like(tensor._a))  # a tangent lies in memory as its primal does
        given._a[...] = tangent._a
    made = dual(tensor, given, OPEN[-1].level.id)
    made._outer = tensor, *passed_on(OPEN[-1].level.id)
    made._tangent = made._a, given
    OPEN[-1].level.lifted.append(weakref.ref(made))
    return made


def unpack_dual(tensor: Tensor, *, level: int | None = None) -> UnpackedDualTensor:
    """Primal and tangent of a tensor."""
    _check("unpack_dual", "tensor", tensor)
    array = tensor._a
    if OPEN and type(array) is DualArray and array._level == OPEN[-1].level.id:
        cls = type(tensor)._result
        if not state.forward:
            return UnpackedDualTensor(values.as_value(cls, array.primal), None)
        of, tangent = tensor.__dict__.get("_tangent", (None, None))
        if of is array:  # the very tensor that was given
            return UnpackedDualTensor(values.as_value(cls, array.primal), tangent)
        return UnpackedDualTensor(values.as_value(cls, array.primal), values.as_value(cls, array.tangent))
    return UnpackedDualTensor(tensor, None)


_set_fwd_grad_enabled = following
"""A context in which tangents are followed, or are not."""

__all__ = ["UnpackedDualTensor", "dual_level", "enter_dual_level", "exit_dual_level", "make_dual", "unpack_dual"]
