"""What the types in rows of functions mean in MindSpore: how arguments are checked, and what is raised."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._shared.axes import axes_of, axis_of, integer, integers
from .._shared.functions import AXES, Functions, axis, operand, option, same
from ._api import api
from ._promote import FLOATING, NUMBER, REAL, same_dtype, single, tensor_argument


def flag(op: str, name: str, value: Any) -> bool:
    """True or False; raises TypeError for anything else."""
    if not isinstance(value, (bool, np.bool_)):
        raise TypeError(f"{op}: {name} must be True or False, got {type(value).__name__}")
    return bool(value)


def number(op: str, name: str, value: Any) -> float:
    """A Python number as a float; raises TypeError for anything else."""
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise TypeError(f"{op}: {name} must be a float, got {type(value).__name__}")
    return float(value)


def ranked(op: str, x: Any, ndim: int, name: str = "input") -> Any:
    """A tensor with a number of axes; raises ValueError for another one."""
    x = tensor_argument(op, x, name)
    if x.ndim != ndim:
        raise ValueError(f"{op}: {name} must have {ndim} axes, got shape {x.shape}")
    return x


def matrices(op: str, x: Any, name: str = "input") -> Any:
    """A tensor with two axes at least; raises ValueError for fewer."""
    x = tensor_argument(op, x, name)
    if x.ndim < 2:
        raise ValueError(f"{op}: wanted at least two axes, got shape {x.shape}")
    return x


def square(op: str, x: Any, name: str = "input", kinds: str = "xx..") -> Any:
    """Square matrices of certain dtypes; raises ValueError for others."""
    x = single(op, x, kinds)
    if x.ndim < 2 or x.shape[-1] != x.shape[-2]:
        raise ValueError(f"{op}: {name} must be square matrices, got shape {x.shape}")
    return x


def alike(op: str, first: Any, x: Any, name: str) -> Any:
    """A tensor of the dtype of the first operand; raises TypeError for another one."""
    same_dtype(op, first, x := tensor_argument(op, x, name))
    return x


function = Functions(api, {
    "Tensor": operand(tensor_argument), "Number": operand(single, NUMBER), "Floating": operand(single, FLOATING),
    "Real": operand(single, REAL), "Ordered": operand(single, "x..x"), "Matrices": operand(matrices),
    "Square": operand(square), "Same": same(alike), "Axis": axis(axis_of), "NewAxis": axis(axis_of, more=1),
    "Axes": axis(axes_of, AXES), "Keep": option(flag, "keepdims"), "Int": option(integer, says="int"),
    "Ints": option(integers, says="int | Sequence[int]"), "Float": option(number, says="float"),
})  # fmt: skip
"""Makes functions of rows: `function("ravel", "input: Tensor", compute, "The elements in one axis.")`."""
