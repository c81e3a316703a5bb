"""What the types in rows of functions mean in PaddlePaddle: how arguments are checked, and what is raised."""

from __future__ import annotations

from typing import Any

from ...core.value import shape_of
from .._shared.axes import axes_of, integer
from .._shared.functions import AXES, Functions, Type, axis, operand, option
from ._api import api
from ._promote import FLOATED, single, tensor_argument


def matrices(op: str, x: Any, name: str = "x") -> Any:
    """A tensor with two axes at least; raises ValueError for fewer."""
    x = single(op, x)
    if len(shape_of(x)) < 2:
        raise ValueError(f"{op}: wanted at least 2 axes, got {len(shape_of(x))}")
    return x


_TYPES = {
    "Tensor": operand(single, None), "Given": operand(tensor_argument), "Floated": operand(single, FLOATED),
    "Matrices": operand(matrices), "Axes": axis(axes_of, AXES), "Keep": Type("bool", bool, "({name})", "keepdims"),
    "Int": option(integer, says="int"),
}  # fmt: skip
function, unnamed = Functions(api, _TYPES, also="name: Any = None"), Functions(api, _TYPES)
"""Make functions of rows, with and without a last `name`: `function("conj", "x: Tensor", compute, "The complex conjugate.")`."""
