"""What a tensor is (shape, size, dtype), its elements in another dtype, and copies."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import dtype_of, shape_of
from ...ops import structural as st
from ._api import api, row
from ._arguments import function
from ._dtype import as_dtype, only_dtype
from ._promote import tensor_argument, to_dtype
from ._tensor import from_array


@api(method=False)
def shape(input_x: Any) -> tuple[int, ...]:
    """The size along each axis."""
    return tensor_argument("shape", input_x, "input_x").shape  # type: ignore[no-any-return]

shape_ = api("shape_", method=False)(shape)


@api(method=False)
def size(input_x: Any) -> int:
    """The number of elements."""
    return tensor_argument("size", input_x, "input_x").size  # type: ignore[no-any-return]


@api(method=False)
def rank(input_x: Any) -> int:
    """The number of axes."""
    return tensor_argument("rank", input_x, "input_x").ndim  # type: ignore[no-any-return]


@api()
def numel(input: Any) -> int:
    """The number of elements."""
    return tensor_argument("numel", input).size  # type: ignore[no-any-return]

api("nelement", function=False)(numel)


@api("dim", "ndimension", function=False)
def dim(self: Any) -> int:
    """The number of axes."""
    return self.ndim  # type: ignore[no-any-return]


dyn_shape = function("dyn_shape", "input_x: Tensor", lambda x: from_array(np.asarray(x.shape, np.int64)),
    "The size along each axis as a tensor.", method=False)  # fmt: skip

dtype = row("dtype", lambda x: tensor_argument("dtype", x, "x").dtype, "The dtype of the elements.", method=False)


@api(method=False)
def cast(input: Any, dtype: Any) -> Any:
    """A tensor (or a number) in another dtype."""
    d = only_dtype(dtype, "cast")
    if isinstance(input, (bool, int, float, complex)):
        return from_array(np.asarray(input).astype(d.np))
    return to_dtype(tensor_argument("cast", input), d)

astype = row("astype", lambda self, dtype, copy=True: _converted(self, as_dtype(dtype, "astype")),
    "The tensor in another dtype; where it has that already, in the same memory.", function=False)  # fmt: skip


def _converted(x: Any, d: Any) -> Any:
    """A tensor in a dtype; in the same memory where it has that already, yet another object."""
    return st.reshape(x, shape=tuple(shape_of(x))) if dtype_of(x) == d.np else to_dtype(x, d)


type_as = function("type_as", "input: Tensor, other: Tensor", lambda x, y: to_dtype(x, y.dtype),
    "The tensor in the dtype of another.")  # fmt: skip


@api("to", function=False)
def to(self: Any, *args: Any, **kwargs: Any) -> Any:
    """The tensor in a dtype; there is one device, the CPU. Raises ValueError for a word that names no kind of device."""
    for word in args:
        if isinstance(word, str) and word.split(":")[0].upper() not in ("CPU", "GPU", "ASCEND"):
            raise ValueError(f"to: {word!r} is no device; a dtype is given as mindspore.float32 and the like")
    found = kwargs.get("dtype", next((a for a in args if not isinstance(a, (str, bool)) and a is not None), None))
    return self if found is None else _converted(self, as_dtype(found, "to"))


def _conversion(method: str, name: str) -> None:
    d = as_dtype(name)
    api(method, function=False)(lambda self: _converted(self, d))

for _method, _dtype in (
    ("int", "int32"), ("long", "int64"), ("short", "int16"), ("byte", "uint8"), ("bool", "bool"), ("half", "float16"),
    ("float", "float32"), ("double", "float64"), ("bfloat16", "bfloat16"),
):  # fmt: skip
    _conversion(_method, _dtype)


@api("type", function=False)
def type_method(self: Any, dtype: Any = None) -> Any:
    """The name of the dtype, or the tensor in another."""
    return str(self.dtype) if dtype is None else to_dtype(self, as_dtype(dtype, "type"))

api("is_floating_point")(lambda input: tensor_argument("is_floating_point", input).dtype.category == 2)

api("is_complex")(lambda input: tensor_argument("is_complex", input).dtype.category == 3)

api("is_signed", function=False)(lambda self: dtype_of(self).kind in "ifc")

api("is_contiguous", function=False)(lambda self: bool(self._concrete("is_contiguous").flags.c_contiguous))

copy = row("copy clone", lambda self: st.copy(self),
    "The tensor in memory of its own; the gradient passes.", function=False)  # fmt: skip

deepcopy = row("deepcopy", lambda input_x: st.copy(tensor_argument("deepcopy", input_x)),
    "The tensor in memory of its own; the gradient passes.", method=False)  # fmt: skip

clone = row("clone", lambda input: st.copy(tensor_argument("clone", input)),
    "The tensor in memory of its own; the gradient passes.", method=False)  # fmt: skip


@api("contiguous", function=False)
def contiguous(self: Any) -> Any:
    """The tensor with its elements in order in memory: itself, if they are."""
    array = self._a
    if isinstance(array, np.ndarray) and array.flags.c_contiguous:
        return self
    out = st.copy(self)
    if isinstance(out._a, np.ndarray):  # a copy keeps the order of what it copies
        out._a = np.ascontiguousarray(out._a)
    return out

value = row("value", lambda self: self, "The tensor itself.", function=False)
