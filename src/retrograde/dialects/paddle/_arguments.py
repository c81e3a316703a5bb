"""What the types in rows of functions mean in PaddlePaddle: how arguments are checked, and what is raised."""

from __future__ import annotations

from typing import Any

from ...core.value import shape_of
from .._shared.axes import axes_of, integer
from .._shared.functions import AXES, Functions, Type, axis, operand, option
from ._api import api
from ._promote import FLOATED, single


def matrices(op: str, x: Any, name: str = "x") -> Any:
    """A tensor with two axes at least; raises ValueError for fewer."""
    x = single(op, x)
    if len(shape_of(x)) < 2:
        raise ValueError(f"{op}: wanted at least 2 axes, got {len(shape_of(x))}")
    return x


function = Functions(api, {
    "Tensor": operand(single, None), "Floated": operand(single, FLOATED), "Matrices": operand(matrices),
    "Axes": axis(axes_of, AXES), "Keep": Type("bool", bool, "({name})", "keepdims"), "Int": option(integer, says="int"),
}, also="name: Any = None")  # fmt: skip
"""Makes functions of rows: `function("conj", "x: Tensor", compute, "The complex conjugate of each element.")`."""
