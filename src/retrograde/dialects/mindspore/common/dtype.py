"""`mindspore.dtype`: the dtypes under all their names, groups of them, and conversions from and to other libraries'."""

from __future__ import annotations

import builtins as _builtins
from typing import Any as _Any

import numpy as _np

from .. import _dtype as _d
from .._api import missing as _missing
from .._dtype import ALIASES as _ALIASES
from .._dtype import ALL as _ALL
from .._dtype import Type
from .._tensor import Tensor as _Tensor

for _x in _ALL:
    globals()[_x.name] = _x
globals().update(_ALIASES)
bool_ = _d.bool_
Bool, Int, UInt, Float, Complex = _d.Bool, _d.Int, _d.UInt, _d.Float, _d.Complex


class _Kind(Type):
    """A type that is none of a tensor's elements: a container, a function, numbers of any width."""

    __slots__ = ("name", "text")

    def __init__(self, name: str, text: str) -> None:
        self.name, self.text = name, text


number = _Kind("number", "Number")
int_, uint, float_ = _Kind("int", "Int"), _Kind("uint", "UInt"), _Kind("float", "Float")
string, list_, tuple_ = _Kind("string_", "String"), _Kind("list_", "List"), _Kind("tuple_", "Tuple")
tensor_type, type_none = _Kind("tensor", "Tensor"), _Kind("type_none", "None")
function, type_type = _Kind("function", "Func"), _Kind("type_type", "TypeType")

int_type = (_d.int8, _d.int16, _d.int32, _d.int64)
uint_type = (_d.uint8, _d.uint16, _d.uint32, _d.uint64)
float_type = (_d.float16, _d.float32, _d.float64, _d.bfloat16)
complex_type = (_d.complex64, _d.complex128)
number_type = (*int_type, *uint_type, *float_type, *complex_type)
signed_type = (*int_type, *float_type, *complex_type)
all_types = (_d.bool_, *number_type)


def dtype_to_nptype(type_: _Any) -> _Any:
    """The NumPy scalar type of a dtype; raises TypeError for anything else."""
    return _d.as_dtype(type_, "dtype_to_nptype").np.type


def dtype_to_pytype(type_: _Any) -> type:
    """The Python type of a dtype's elements; raises TypeError for anything else."""
    category = _d.as_dtype(type_, "dtype_to_pytype").category
    return (_builtins.bool, _builtins.int, _builtins.float, complex)[category]


def pytype_to_dtype(obj: _Any) -> _Any:
    """The dtype of a Python type, NumPy type or NumPy dtype; raises NotImplementedError where there is none."""
    if isinstance(obj, Type):
        return obj
    found = {_builtins.bool: _d.bool_, _builtins.int: _d.int64, _builtins.float: _d.float64, str: string, list: list_,
             tuple: tuple_, type(None): type_none}.get(obj) if isinstance(obj, type) else None  # fmt: skip
    if found is not None:
        return found
    try:
        return _d.from_numpy_dtype(obj)
    except TypeError:
        raise NotImplementedError(f"pytype_to_dtype: there is no mindspore dtype for {obj!r}") from None


def get_py_obj_dtype(obj: _Any) -> _Any:
    """The type of a Python object; of a tensor, its dtype."""
    if isinstance(obj, _Tensor):
        return obj.dtype
    if isinstance(obj, type):
        return pytype_to_dtype(obj)
    return function if callable(obj) else pytype_to_dtype(obj.dtype if isinstance(obj, _np.generic) else type(obj))


def type_size_in_bytes(dtype: _Any) -> _builtins.int:
    """The bytes of one element; raises TypeError for what is no dtype."""
    return _d.as_dtype(dtype, "type_size_in_bytes").itemsize


def __getattr__(name: str) -> _Any:
    raise _missing("mindspore.dtype", name, globals())
