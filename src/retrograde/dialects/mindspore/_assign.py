"""Writing into tensors and parameters: `ops.assign`, `assign_add`, `assign_sub`, `Tensor.assign_value`, `itemset`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..._state import is_grad_enabled
from ...core.value import Value, detached, dtype_of, make, shape_of
from ...ops.structural import broadcast_to, cast, copy
from ...tape import inplace, mutation
from .._shared.registry import defined
from ._api import api
from ._arithmetic import add, sub
from ._data import data_array
from ._dtype import FROM_NUMPY, as_dtype, promote_types
from ._parameter import Parameter
from ._promote import tensor_argument
from ._tensor import Tensor, from_array


def write(op: str, variable: Any, value: Any) -> Any:
    """Write values into a tensor or parameter and return it.

    A parameter takes them as constants: one that is differentiated by stays what it is differentiated by, as in MindSpore.
    """
    tensor_argument(op, variable, "variable")
    if not isinstance(value, Value):
        value = from_array(data_array(value, dtype_of(variable), op))
    have, want = FROM_NUMPY[dtype_of(value)], FROM_NUMPY[dtype_of(variable)]
    if promote_types(have, want) is not want:
        raise TypeError(f"{op}: values of dtype {have} do not fit into one of dtype {want}; convert them with astype()")
    if tuple(shape_of(value)) != tuple(shape_of(variable)):
        raise ValueError(f"{op}: a value of shape {value.shape} does not fit into one of shape {variable.shape}")
    if not isinstance(variable, Parameter):
        return inplace.update(op, variable, lambda: value)
    if variable._node is not None and is_grad_enabled():  # what has been computed keeps the values from before
        variable._a = copy(detached(value) if have is want else cast(detached(value), dtype=want.np))._a
        return variable
    mutation.write(variable._a, value._concrete(op))
    return variable


def written(op: str, variable: Any, value: Any) -> Any:
    """Values written into a tensor or parameter; returns the tensor, or of a parameter one of its memory that depends on what
    `value` does."""
    write(op, variable, value)
    if not isinstance(variable, Parameter):
        return variable
    node, level = (value._node, value._level) if isinstance(value, Value) else (None, variable._level)
    return make(Tensor, variable._a, node, level)


@api(method=False)
def assign(variable: Any, value: Any) -> Any:
    """Write `value` into a Parameter or tensor, in its dtype; returns a tensor in the memory of `value`."""
    target = write("assign", variable, value)
    if isinstance(value, Value) and dtype_of(value) == dtype_of(variable):
        return make(Tensor, value._a, target._node, value._level)
    return make(Tensor, target._a, target._node, target._level) if isinstance(target, Parameter) else target


def _updating(name: str, f: Callable[[Any, Any], Any]) -> Any:
    def update(variable: Any, value: Any) -> Any:
        return written(name, variable, f(tensor_argument(name, variable, "variable"), value))

    sign = "+" if name.endswith("add") else "-"
    return api(method=False)(defined(name, update, f"`variable {sign} value`, written into a Parameter or tensor."))


assign_add, assign_sub = _updating("assign_add", add), _updating("assign_sub", sub)


@api(function=False)
def assign_value(self: Any, value: Any) -> Any:
    """Take the values, shape and dtype of another tensor, in memory of this one's own; returns this one."""
    tensor_argument("assign_value", value, "value")
    self._a = value._concrete("assign_value").copy()
    return self


@api(function=False)
def copy_(self: Any, src: Any, non_blocking: bool = False) -> Any:
    """Write the elements of another tensor here, converted to this one's dtype; returns this one."""
    source = tensor_argument("copy_", src, "src")
    if dtype_of(source) != dtype_of(self):
        source = cast(source, dtype=dtype_of(self))
    if tuple(shape_of(source)) != tuple(shape_of(self)):
        source = broadcast_to(source, shape=tuple(shape_of(self)))
    return write("copy_", self, source)


def _refilled(name: str, value: Any) -> None:
    def method(self: Any, *given: Any) -> Any:
        number = given[0] if value is None else value
        return write(name, self, from_array(np.full(shape_of(self), number, dtype_of(self))))

    method.__doc__ = "One value written everywhere; returns the tensor."
    api(name, function=False)(method)


_refilled("fill_", None)
_refilled("zero_", 0)


@api(function=False)
def set_dtype(self: Any, dtype: Any) -> Any:
    """Convert this tensor to another dtype; returns the dtype."""
    d = as_dtype(dtype, "set_dtype")
    self._a = self._concrete("set_dtype").astype(d.np)
    return d


@api(function=False)
def itemset(self: Any, *args: Any) -> Any:
    """A tensor with one element replaced: `itemset(number)` for a single element, `itemset(index, number)` otherwise.

    Raises IndexError without an index where there are several elements, or for an index outside.
    """
    if len(args) not in (1, 2):
        raise TypeError(f"itemset: wanted a number, or an index and a number, got {len(args)} arguments")
    out = make(Tensor, self._concrete("itemset").copy())
    if len(args) == 1:
        if out.size != 1:
            raise IndexError(f"itemset: the tensor has {out.size} elements; say which one with itemset(index, number)")
        out._a[...] = args[0]
    elif isinstance(args[0], tuple):
        out._a[args[0]] = args[1]
    else:
        out._a.reshape(-1)[args[0]] = args[1]
    return out
