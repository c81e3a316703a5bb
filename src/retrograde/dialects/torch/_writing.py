"""Writing whole tensors in place: copy_, fill_, zero_, and the elementwise Python functions apply_ and map_."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._state import is_grad_enabled
from ...core.node import tick
from ...core.value import Value, dtype_of, make, shape_of
from ...ops import selection as sel
from ...ops import structural as st
from ...ops.devices import moved, place_of
from ...tape import inplace
from .._shared.elementwise import write_at_once
from ._api import FUNCTIONS, METHODS, api
from ._elementwise import replaced, tensor_argument
from ._graph_nodes import show_as
from ._promote import constant, number_array
from ._tensor import Tensor

_LARGEST = 65504.0  # which every floating dtype of NumPy's holds


def _put(x: np.ndarray, y: np.ndarray, out: np.ndarray) -> None:
    """y written over x, as a ufunc with `out=` is called."""
    np.copyto(out, y)


@api(function=False)
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """The elements of `src`, broadcast and converted, written into this tensor; gradients pass to `src`."""
    if isinstance(src, Value):
        if type(src._a) is not type(self._a) or type(src._a) is not np.ndarray:
            src = moved(src, place_of(self))
        if write_at_once("copy_", _put, self, src):
            return self
    elif isinstance(src, (bool, int, float, complex)):
        src = make(Tensor, np.asarray(src))
    tensor_argument("copy_", src, "src")
    if shape_of(src) == shape_of(self) and not (is_grad_enabled() and (src._node or self._node)):
        inplace.check("copy_", self)
        return inplace.assign("copy_", self, src, tick())

    def compute() -> Any:
        new, shape = src, tuple(shape_of(self))
        if tuple(shape_of(new)) != shape:
            if len(shape_of(new)) > len(shape):
                raise RuntimeError(f"copy_: a tensor of shape {list(shape_of(new))} does not fit into {list(shape)}")
            new = st.broadcast_to(new, shape=shape)
        return replaced(self, new, "CopyBackwards")

    return inplace.update("copy_", self, compute)


def _filling(name: str, x: Any, value: Any) -> Any:
    """The value to fill a tensor with, as a 0-d array or tensor of its dtype."""
    d = dtype_of(x)
    if isinstance(value, Value):
        if shape_of(value) != ():
            raise RuntimeError(f"{name}: the value must be a number or a 0-d tensor, got shape {list(shape_of(value))}")
        return value if dtype_of(value) == d else st.cast(value, dtype=d)
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        raise TypeError(f"{name}: the value must be a number or a 0-d tensor, got {type(value).__name__}")
    return number_array(name, value, d)


@api(method=False, out=True)
def fill(input: Any, value: Any) -> Any:
    """A tensor of the shape and dtype of `input` with every element `value`."""
    out = sel.fill(tensor_argument("fill", input), _filling("fill", input, value))
    return show_as(out, "FillBackward1" if isinstance(value, Value) else "FillBackward0")


@api("fill_")
def fill_(self: Any, value: Any) -> Any:
    """Every element set to `value`, a number or a 0-d tensor."""
    if type(value) is float and abs(value) <= _LARGEST and write_at_once("fill_", _put, self, value):
        return self
    tensor_argument("fill_", self)
    name = "FillBackward3" if isinstance(value, Value) else "FillBackward2"
    return inplace.update("fill_", self, lambda: show_as(sel.fill(self, _filling("fill_", self, value)), name))


@api("zero_")
def zero_(self: Any) -> Any:
    """Every element set to 0."""
    if write_at_once("zero_", _put, self, 0):
        return self
    tensor_argument("zero_", self)
    return inplace.update("zero_", self, lambda: show_as(sel.fill(self, constant(0, dtype_of(self))), "ZeroBackward0"))


@api(function=False)
def apply_(self: Any, callable: Callable[[Any], Any]) -> Any:
    """Every element replaced by `callable(element)`; without history, as in PyTorch."""
    return _mapped("apply_", self, lambda: [callable(x) for x in _elements(self)])


@api(function=False)
def map_(self: Any, tensor: Any, callable: Callable[[Any, Any], Any]) -> Any:
    """Every element replaced by `callable(element, element of tensor)`; without history, as in PyTorch."""
    tensor_argument("map_", tensor, "tensor")
    other = st.broadcast_like(tensor.detach(), self)
    return _mapped("map_", self, lambda: [callable(x, y) for x, y in zip(_elements(self), _elements(other))])


def _elements(x: Any) -> list[Any]:
    array = x._a
    if type(array) is not np.ndarray:
        raise RuntimeError("apply_, map_: a tensor inside a transform has no elements to call a Python function on")
    return array.ravel().tolist()


def _mapped(name: str, target: Any, compute: Callable[[], list[Any]]) -> Any:
    if target._node is not None:
        raise RuntimeError(f"{name}: a Python function has no derivative, and this tensor requires grad; detach it")
    from ._tensor import beside

    def values() -> Any:
        return beside(np.array(compute(), dtype=dtype_of(target)).reshape(shape_of(target)), target)

    return inplace.update(name, target, values)


# PyTorch offers these in-place forms as functions of the module too.
for _name in (
    "abs", "acos", "acosh", "arccos", "arccosh", "arcsin", "arcsinh", "arctan", "arctanh", "asin", "asinh", "atan",
    "atanh", "ceil", "clamp", "clamp_max", "clamp_min", "clip", "conj_physical", "cos", "cosh", "deg2rad", "erf",
    "erfc", "exp", "exp2", "expm1", "fix", "floor", "frac", "gcd", "i0", "lcm", "ldexp", "log", "log10", "log1p",
    "log2", "logit", "nan_to_num", "neg", "negative", "rad2deg", "reciprocal", "round", "rsqrt", "sigmoid", "sin",
    "sinc", "sinh", "sqrt", "square", "tan", "tanh", "trunc", "xlogy",
):  # fmt: skip
    FUNCTIONS[_name + "_"] = METHODS[_name + "_"]
