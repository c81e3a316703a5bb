"""How tensors print: the pieces of `repr` that only a tensor knows. The text itself is made by _repr.py."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..._state import state
from ...backend import backend_of
from ...core.arrays import bottom
from ...core.batched import BatchedArray
from ...core.dual import DualArray
from ...core.node import Accumulate
from ...core.value import Value, as_value
from . import _dtype, _repr
from ._api import api
from ._graph_nodes import edge_name
from ._size import CPU
from ._tensor import Tensor


def plain(x: Any) -> np.ndarray | None:
    """The NumPy array at the bottom of a value; None for an array of a transform."""
    while isinstance(x, Value):
        x = x._a
    if isinstance(x, (BatchedArray, DualArray)):
        return None
    return x if type(x) is np.ndarray else backend_of(x).to_host(x)


def note(x: Tensor) -> list[str]:
    """What follows the numbers: the node, or that gradients are wanted."""
    try:
        edge = x._node
    except RuntimeError:  # a view that has lost its history
        return ["grad_fn=<Invalid>"]
    if edge is None:
        return []
    if type(edge) is Accumulate:
        return ["requires_grad=True"]
    return [f"grad_fn=<{edge_name(edge)}>"]


def below(x: Tensor) -> Tensor:
    """What is under a value of a transform: all entries of a batch, or the value without what the transform knows of it."""
    a = x._a
    return as_value(type(x)._result, a.content if type(a) is BatchedArray else a.primal if type(a) is DualArray else a)


def in_transform(x: Tensor) -> bool:
    """Whether this is a value of a functional transform that is open."""
    return any(level.id == x._level for level in _transforms())


def _transforms() -> list[Any]:
    """The functional transforms that are open, outermost first."""
    return [level for level in state.levels if level.adopt is None and level.lifts is None]


def _wrapped(x: Tensor, depth: int) -> str:
    """A value of a transform: what kind of value at which depth, around what is under it."""
    a = x._a
    kind, notes = ("BatchedTensor", f"bdim={a.dim}, ") if type(a) is BatchedArray else ("GradTrackingTensor", "")
    text = repr(below(x)).replace("\n", "\n    ")
    return f"{kind}(lvl={depth}, {notes}value=\n    {text}\n)"


def _place(x: Tensor) -> str:
    """The device as it is shown; nothing is said of the CPU."""
    return "" if x.device is CPU else str(x.device)


@api("__repr__", function=False)
def tensor_repr(self: Tensor, *, tensor_contents: Any = None) -> str:
    """The tensor as PyTorch prints it."""
    place = next((i for i, level in enumerate(_transforms()) if level.id == self._level), None)
    if place is not None:
        return _wrapped(self, place + 1)
    shown, tangent = self, None
    if type(self._a) is DualArray:
        from .autograd.forward_ad import unpack_dual

        shown, tangent = unpack_dual(self)
    array = plain(shown)
    if array is None:
        return f"{type(self).__name__}(shape={list(self.shape)}, dtype={self.dtype}, inside a functional transform)"
    notes = note(shown)
    if tangent is not None:
        notes.append(f"tangent={tangent if tangent.ndim else tangent.item()}")
    text = _repr.format_tensor(
        array, dtype_name=self.dtype.name, default_dtype_name=_dtype.get_default_dtype().name, suffixes=notes,
        prefix=f"{type(self)._printed_as}(", device_name="" if type(bottom(shown)) is np.ndarray else _place(shown),
    )  # fmt: skip
    return f"Parameter({text})" if "_is_param" in self.__dict__ else text


@api("__format__", function=False)
def tensor_format(self: Tensor, spec: str) -> str:
    """A 0-d tensor formats as its number, any other (one of a subclass, too) as its repr."""
    array = plain(self)
    if array is not None and array.ndim == 0 and type(self) is Tensor:
        return _repr.format_scalar(array, spec)
    return object.__format__(self, spec)


api("set_printoptions", method=False)(_repr.set_printoptions)
