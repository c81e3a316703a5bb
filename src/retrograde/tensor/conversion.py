"""What comes in becomes a tensor: operands, plain data, nested sequences, arrays of any library, another dtype."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ..backend import backend_of, is_array
from ..backend.canonical import canonical
from ..core import value as values
from ..core.arrays import bottom
from ..core.unwrap import concrete
from ..core.value import Value, dtype_of, make, shape_of
from ..ops import structural as st
from ._values import check_device, made, new
from .dtypes import as_dtype
from .promotion import common_dtype, to_dtype
from .ways_out import refuse_recorded

if TYPE_CHECKING:
    from .core import Tensor

_ndarray = np.ndarray


def value(x: Any) -> Value:
    """An operand as a value: values are returned as they are, anything else goes through `asarray`."""
    if isinstance(x, Value):
        return x
    if type(x) is _ndarray:
        return make(values.core_class, canonical(x))
    return asarray(x)


def operand(op: str, x: Any) -> Any:
    """An operand of a function as a value, an array or a Python number; sequences become values."""
    if isinstance(x, (Value, bool, int, float, complex)):
        return x
    return canonical(x) if isinstance(x, _ndarray) else asarray(x)


def _contains_value(obj: Any) -> bool:
    if isinstance(obj, (list, tuple)):
        return any(_contains_value(x) for x in obj)
    return isinstance(obj, Value)


def _stacked(obj: Any) -> Value:
    """A nested sequence with tensors in it, as one tensor that depends on them."""
    if not isinstance(obj, (list, tuple)):
        return value(obj)
    rows = [_stacked(x) for x in obj]
    shapes = {tuple(shape_of(x)) for x in rows}
    if len(shapes) > 1:
        raise ValueError(f"asarray: the elements of a sequence have different shapes, {sorted(shapes)}")
    dtype = common_dtype(*(dtype_of(x) for x in rows))
    return st.stack(*(to_dtype(x, dtype) for x in rows), axis=0)


def asarray(
    obj: Any, /, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False,
    like: Any = None,
) -> Tensor:  # fmt: skip
    """A Tensor around an array, number or nested sequence.

    An array (of NumPy, or of another library with a backend) is shared unless `copy` or a change of dtype asks
    otherwise; a tensor keeps its history, also inside a sequence. With `requires_grad`, a leaf without history. With
    `like`, an array or tensor, the elements are taken to its library and device; a tensor with history is refused there.

    Raises ValueError where `copy=False` and a copy is needed, or where a sequence is ragged.

    Examples
    --------
    >>> asarray([1, 2]).dtype
    dtype('int64')
    >>> import retrograde as rg
    >>> rg.grad(lambda x: rg.asarray([x, x * x]).sum())(3.0)
    Tensor(7.)
    """
    check_device("asarray", device)
    wanted = None if dtype is None else as_dtype(dtype)
    if isinstance(obj, (list, tuple)) and _contains_value(obj):
        if copy is False:
            raise ValueError("asarray: a sequence of tensors cannot be shared; leave copy=False out")
        obj, copy = _stacked(obj), None
    if isinstance(obj, Value):
        tensor = _from_value(obj, wanted, copy)
    else:
        tensor = new(_array(obj, wanted, copy))
    if device is not None and device != "cpu":
        like = made(np.zeros(()), device)
    if like is not None:
        tensor = _moved(tensor, bottom(like) if isinstance(like, Value) else backend_of(like).wrap(like))
    if requires_grad:
        if tensor._node is not None:
            tensor = tensor.detach()
        elif tensor is obj:
            tensor = make(type(tensor)._result, tensor._a, None, tensor._level)
        return tensor.requires_grad_()
    return tensor


def _moved(x: Value, beside: Any) -> Any:
    """A tensor in the library and on the device of another array: itself if it is there."""
    array, target = bottom(x), backend_of(beside)
    if backend_of(array) is target and target.device_of(array) == target.device_of(beside):
        return x
    refuse_recorded("asarray(like=...)", x)
    return new(target.from_host(concrete("asarray(like=...)", x), beside))


def _from_value(x: Value, dtype: np.dtype | None, copy: bool | None) -> Any:
    if not isinstance(x, values.core_class):
        x = values.as_core(x)
    if dtype is not None and dtype != dtype_of(x):
        if copy is False:
            raise ValueError(
                f"asarray: a tensor of dtype {dtype_of(x)} cannot be shared as {dtype}; leave copy=False out"
            )
        return st.cast(x, dtype=dtype)
    return st.copy(x) if copy else x


def _array(obj: Any, dtype: np.dtype | None, copy: bool | None) -> Any:
    if isinstance(obj, (np.ndarray, np.generic, bool, int, float, complex, list, tuple, range)):
        array = canonical(np.array(obj, dtype=dtype, copy=copy))
        if copy is False and isinstance(obj, np.ndarray) and not obj.dtype.isnative and array.dtype != obj.dtype:
            raise ValueError(f"asarray: an array of dtype {obj.dtype} is copied into this machine's byte order; leave "
                             "copy=False out")
        return array if type(array) is np.ndarray else array.view(np.ndarray)
    if is_array(obj) or hasattr(type(obj), "__array_namespace__"):
        backend = backend_of(obj)
        array = backend.wrap(obj)
        if dtype is not None and dtype != array.dtype:
            if copy is False:
                raise ValueError(f"asarray: an array of dtype {array.dtype} cannot be shared as {dtype}")
            return array.astype(dtype)
        return backend.xp.asarray(array, copy=True) if copy else array
    array = np.array(obj, dtype=dtype, copy=copy)
    if array.dtype == object:
        if hasattr(type(obj), "toarray"):
            backend_of(obj)  # which says why a sparse array is none
        raise TypeError(f"asarray: wanted numbers, arrays or nested sequences of them, got {type(obj).__name__}")
    return array


def from_dlpack(x: Any, /, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A Tensor that shares the memory of an array of any library on the CPU, through DLPack.

    Examples
    --------
    >>> import numpy as np
    >>> shared = np.zeros(2)
    >>> tensor = from_dlpack(shared)
    >>> shared[0] = 1
    >>> tensor
    Tensor([1., 0.])
    """
    check_device("from_dlpack", device)
    array = np.from_dlpack(x)
    if copy:
        array = array.copy()
    return made(array, device)


def astype(x: Any, dtype: Any, /, *, copy: bool = True, device: Any = None) -> Tensor:
    """The elements in another dtype, recorded; without `copy`, `x` itself if it has that dtype already.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.astype(rg.asarray([1, 2]), rg.float32)
    Tensor([1., 2.], dtype=float32)
    """
    check_device("astype", device)
    x, dtype = value(x), as_dtype(dtype)
    if dtype_of(x) == dtype:
        return st.copy(x) if copy else x
    return st.cast(x, dtype=dtype)
