"""Elements as Python objects and NumPy arrays, copies, other dtypes, and values written over a tensor's own."""

from __future__ import annotations

import copy as _copy
import math
from typing import Any

import numpy as np

from ..._state import grad_mode, is_grad_enabled
from ...backend.canonical import canonical
from ...core.node import Accumulate
from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, make, shape_of
from ...ops import structural as st
from ...tape import inplace, mutation
from .._shared.dlpack import CPU_DEVICE, imported
from .._shared.registry import defined
from . import _dtype
from ._api import api, row, take_over
from ._arguments import function, unnamed
from ._data import data_array, number
from ._device import Place, check_device
from ._dtype import FROM_NUMPY, as_dtype
from ._integers import straight
from ._promote import tensor_argument
from ._tensor import Tensor, from_array

_ndarray = np.ndarray
_cast = st.cast.prim.bind

# ------------------------------------------------------------------------------------------ elements


@api(function=False)
def numpy(self: Tensor, blocking: bool = True) -> np.ndarray:
    """A copy of the elements as a NumPy array; bfloat16, which NumPy lacks, as the bits in uint16.

    blocking: whether to wait for the copy, which is there at once.
    """
    array = concrete("numpy", self)
    return array.view(np.uint16).copy() if array.dtype.kind == "V" else array.copy()


@api("__array__", function=False)
def as_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """A copy of the elements for `np.asarray`."""
    array = numpy(self)
    return array if dtype is None else array.astype(dtype)


@api(function=False)
def item(self: Tensor, *args: int) -> Any:
    """The only element as a Python number, or the one at a position (flat, or one index per axis).

    Raises ValueError for several elements without a position, and for a position out of range.
    """
    array = concrete("item", self)
    try:
        if not args and array.size != 1:
            raise ValueError(f"item: wanted a Tensor with one element, this one has {array.size}; give a position")
        value = array.item(*args)
    except IndexError as error:
        raise ValueError(f"item: {error}") from None
    return value if isinstance(value, (float, int, complex)) else float(value)  # bfloat16 stays a NumPy scalar


tolist = row("tolist", lambda x: numpy(x).tolist(),
    "The elements of `numpy()` as nested lists, of a 0-d tensor as a number.", method=True)  # fmt: skip


def _only(op: str, x: Tensor) -> Any:
    array = concrete(op, x)
    if array.size != 1:
        raise AssertionError(
            f"{op}: wanted a Tensor with one element, this one has {array.size}; reduce it first (any() and all() give a truth)"
        )
    return array.reshape(()).item()


@api("__bool__", function=False)
def to_bool(self: Tensor) -> bool:
    """The truth of the only element; raises AssertionError for several."""
    return bool(_only("bool", self))


@api("__nonzero__", function=False)
def nonzero(self: Tensor) -> bool:
    """As `bool(x)`."""
    return bool(_only("bool", self))


@api("__float__", function=False)
def to_float(self: Tensor) -> float:
    """The only element as a float; raises AssertionError for several."""
    return float(_only("float", self))


@api("__int__", function=False)
def to_int(self: Tensor) -> int:
    """The only element as an int; raises AssertionError for several."""
    return int(_only("int", self))


@api("__long__", function=False)
def to_long(self: Tensor) -> int:
    """As `int(x)`."""
    return int(_only("int", self))


@api("__complex__", function=False)
def to_complex(self: Tensor) -> complex:
    """The only element as a complex number; raises AssertionError for several."""
    return complex(_only("complex", self))


@api("__index__", function=False)
def to_index(self: Tensor) -> int:
    """The only element, cut to an integer, where Python wants an index; raises AssertionError for several."""
    return int(_only("index", self))


@api("__dlpack__", function=False)
def dlpack(self: Tensor, **options: Any) -> Any:
    """A capsule through which other array libraries share the memory; raises BufferError where gradients are wanted."""
    if not self.stop_gradient:
        raise BufferError("__dlpack__: a Tensor that wants a gradient cannot be exported; use detach()")
    return concrete("__dlpack__", self).__dlpack__(**options)


@api("__dlpack_device__", function=False)
def dlpack_device(self: Tensor) -> tuple[int, int]:
    """The device of the memory for the DLPack protocol: the CPU."""
    return CPU_DEVICE


@api(method=False)
def to_dlpack(x: Tensor) -> Any:
    """A capsule through which other array libraries share the memory of a tensor."""
    tensor_argument("to_dlpack", x)
    return dlpack(x)


@api(method=False)
def from_dlpack(dlpack: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's array, or of a capsule that it exported."""
    check_device("from_dlpack", device)
    array = imported(dlpack)
    return from_array(np.array(array) if copy else array)


# ------------------------------------------------------------------------------------------ dtypes


def converted(op: str, x: Any, d: Any, *, copy: bool = False) -> Any:
    """A tensor in a dtype: itself where it has that dtype already, unless a copy is wanted."""
    tensor_argument(op, x)
    wanted = as_dtype(op, d).np
    if wanted == dtype_of(x):
        return st.copy(x) if copy else x
    result = _cast(x, dtype=wanted)
    return straight(result, x) if wanted.kind in "iub" and result._node is None else result


cast = row("cast", lambda x, dtype: converted("cast", x, dtype, copy=True),
    "The tensor in another dtype, always a new one.")  # fmt: skip


@api("cast_", function=True)
def cast_(x: Tensor, dtype: Any) -> Any:
    """This tensor made one of another dtype; returns it."""
    inplace.check("cast_", x)
    take_over(x, converted("cast_", x, dtype))
    return x


astype = row("astype", lambda self, dtype: converted("astype", self, dtype),
    "This tensor in another dtype; itself where it has that dtype already.", function=False)  # fmt: skip


@api(function=False)
def type_as(self: Tensor, other: Tensor) -> Any:
    """This tensor in the dtype of another."""
    tensor_argument("type_as", other, "other")
    return converted("type_as", self, other.dtype)


@api(function=False)
def to(self: Tensor, *args: Any, **options: Any) -> Any:
    """This tensor in another dtype, on another device, or as another tensor has them: `to(device, dtype, blocking)`."""
    d, place = options.pop("dtype", None), options.pop("device", None)
    other = options.pop("other", None)
    for name in ("blocking", "copy_tensor", "non_blocking", "copy"):
        options.pop(name, None)
    if options:
        raise TypeError(f"to: unknown argument {next(iter(options))!r}")
    for x in args:
        if isinstance(x, Value):
            other = x
        elif isinstance(x, bool) or x is None:
            continue
        elif isinstance(x, Place) or (isinstance(x, str) and x not in _dtype.BY_LABEL and _is_device(x)):
            place = x
        elif isinstance(x, str) and x not in _dtype.BY_LABEL and not x.startswith("paddle."):
            raise ValueError(f"to: {x!r} is neither a dtype nor a device")
        else:
            d = x
    check_device("to", place)
    if other is not None:
        d = other.dtype
    return self if d is None else converted("to", self, d, copy=True)


def _is_device(name: str) -> bool:
    return name.partition(":")[0] in ("cpu", "gpu", "cuda", "xpu", "npu", "dcu", "ipu")


def _converter(name: str, d: _dtype.dtype) -> None:
    def method(self: Any) -> Any:
        return converted(name, self, d)

    api(name, function=False)(defined(name, method, f"This tensor in dtype {d}."))


for _name, _d in {
    **{d.label: d for d in _dtype.ALL}, "float": _dtype.float32, "double": _dtype.float64, "half": _dtype.float16,
    "int": _dtype.int32, "long": _dtype.int64, "short": _dtype.int16, "char": _dtype.int8, "byte": _dtype.uint8,
    "cfloat": _dtype.complex64, "cdouble": _dtype.complex128,
}.items():  # fmt: skip
    _converter(_name, _d)

# ------------------------------------------------------------------------------------------ copies and devices


clone = function("clone", "x: Given", st.copy, "A copy with memory of its own, through which gradients pass.")


@api(method=False)
def assign(x: Any, output: Any = None) -> Any:
    """A copy of a tensor, array or number, through which gradients pass; written into `output` if given.

    An `output` of another shape or dtype becomes the copy; a leaf that wants a gradient stays one.
    """
    if isinstance(x, Value):
        tensor_argument("assign", x)
        result = st.copy(x)
    else:
        if isinstance(x, (bool, int, float, complex, np.generic)):
            x = [x]
        array = np.asarray(data_array("assign", x, None))
        if isinstance(x, (list, tuple)) and array.dtype == np.float32:
            array = data_array("assign", x, np.dtype(np.float64)) if np.asarray(x).dtype.kind == "f" else array
        result = from_array(array)
    if output is None:
        return result
    tensor_argument("assign", output, "output")
    leaf = type(output._node) is Accumulate
    if tuple(shape_of(output)) == tuple(shape_of(result)) and dtype_of(output) == dtype_of(result):
        with grad_mode(is_grad_enabled() and not leaf):
            return inplace.update("assign", output, lambda: result)
    if leaf:
        changes = mutation.count(output._a)
        output.data = result
        mutation.note(output._a, changes)
    else:
        take_over(output, result)
    return output


cpu = row("cpu", lambda self: self, "This tensor, which is on the CPU already.", function=False)


@api(function=False)
def cuda(self: Tensor, device_id: Any = None, blocking: bool = True) -> Any:
    """Raises ValueError: there is no CUDA device."""
    check_device("cuda", "gpu")
    return self


pin_memory = row("pin_memory", lambda self, blocking=True: self,
    "This tensor: there is no other memory to pin it for.", function=False)  # fmt: skip


@api(function=False)
def contiguous(self: Tensor) -> Any:
    """This tensor with its elements in row-major order: itself where they are."""
    array = self._a
    if type(array) is not _ndarray or array.flags.c_contiguous:
        return self
    output = st.copy(self)
    mutation.rearrange(output, np.ascontiguousarray(output._a))
    return output


@api(function=False)
def is_contiguous(self: Tensor) -> bool:
    """Whether the elements are in row-major order in memory."""
    array = self._a
    return type(array) is not _ndarray or bool(array.flags.c_contiguous)


@api(function=False)
def get_strides(self: Tensor) -> list[int]:
    """How many elements lie between neighbours along each axis."""
    array = concrete("strides", self)
    return [s // array.itemsize for s in array.strides]


Tensor.strides = property(get_strides, doc="How many elements lie between neighbours along each axis.")


@api(function=False)
def stride(self: Tensor, dim: int | None = None) -> Any:
    """The strides, or that of one axis."""
    strides = get_strides(self)
    return strides if dim is None else strides[dim]


def _offset(self: Tensor) -> int:
    """How many bytes lie between the start of the memory and the first element."""
    array = concrete("offset", self)
    start = mutation.owner_of(array).__array_interface__["data"][0]
    return int(array.__array_interface__["data"][0] - start)


Tensor.offset = property(_offset, doc=_offset.__doc__)


@api(function=False)
def data_ptr(self: Tensor) -> int:
    """The address of the first element."""
    return mutation.address_of(concrete("data_ptr", self))


@api(function=False)
def get_device(self: Tensor) -> int:
    """-1: the CPU."""
    return -1


value = row("value", lambda self: self, "The tensor itself (in old programs, what a variable holds).", function=False)

get_tensor = api("get_tensor", function=False)(value)


@api("__deepcopy__", function=False)
def deepcopy(self: Tensor, memo: dict[int, Any]) -> Any:
    """A copy with memory of its own and without history; a leaf that wants a gradient gives one that does."""
    found = memo.get(id(self))
    if found is not None:
        return found
    out = make(type(self), concrete("deepcopy", self).copy())
    if not self.stop_gradient:
        out.stop_gradient = False
    for name, attribute in self.__dict__.items():
        if not name.startswith("_") or name == "_name":
            out.__dict__[name] = _copy.deepcopy(attribute, memo)
    out._name = f"{self.name}_deepcopy_{_copies(self)}"
    memo[id(self)] = out
    return out


def _copies(x: Tensor) -> int:
    count = x.__dict__.get("_copy_count", -1) + 1
    x._copy_count = count
    return count


shallow_copy = row("__copy__", lambda self: make(type(self)._result, self._a, self._node, self._level),
    "Another tensor over the same memory, with the same history.", function=False)  # fmt: skip


def rebuilt(array: np.ndarray, stop_gradient: bool, name: str | None) -> Tensor:
    """What a pickled tensor comes back as."""
    tensor = from_array(canonical(array), stop_gradient)
    tensor._name = name
    return tensor


reduced = row("__reduce__", lambda self: (rebuilt, (concrete("pickle", self), self.stop_gradient, self._name)),
    "How the tensor is pickled: its elements, name and `stop_gradient`.", function=False)  # fmt: skip

# ------------------------------------------------------------------------------------------ written over


@api(function=False)
def set_value(self: Tensor, value: Any) -> None:
    """Write other elements of the same shape and dtype over the tensor's own, which stays the leaf that it is.

    Raises AssertionError where type, shape or dtype differ.
    """
    if isinstance(value, Value):
        array = concrete("set_value", value)
    elif isinstance(value, _ndarray):
        array = value
    else:
        raise AssertionError(f"set_value: wanted a Tensor or a NumPy array, got {type(value).__name__}")
    if tuple(array.shape) != tuple(shape_of(self)):
        turned = tuple(array.shape)[::-1] == tuple(shape_of(self))
        raise AssertionError(
            f"set_value: a Tensor of shape {list(self.shape)} got a value of shape {list(array.shape)}"
            + ("; its transpose would fit (a Linear's weight is [in, out] here)" if turned else "; reshape the value first")
        )
    if array.dtype != dtype_of(self):
        raise AssertionError(
            f"set_value: a Tensor of dtype {self.dtype} got a value of dtype {array.dtype}; convert the value with astype()"
        )
    overwrite(self, array)


def overwrite(x: Tensor, array: np.ndarray) -> None:
    """Write elements of the same shape and dtype over a tensor's own, unnoticed by the backward pass."""
    own = x._a
    if type(own) is _ndarray and own.flags.writeable:
        mutation.write(own, array, noted=False)
    else:
        x._a = array.copy()


@api(function=False)
def copy_(self: Tensor, other: Any, non_blocking: bool = False) -> Any:
    """The elements (and the shape) of another tensor taken over without history, a leaf stays the leaf that it is;
    returns the tensor.

    Raises RuntimeError where the dtypes differ.
    """
    tensor_argument("copy_", other, "other")
    source = concrete("copy_", other)
    if source.dtype != dtype_of(self):
        raise RuntimeError(f"copy_: a Tensor of dtype {self.dtype} got one of dtype {other.dtype}; use astype() first")
    if source.shape == tuple(shape_of(self)):
        overwrite(self, source)
    else:
        self.data = from_array(source.copy())
    return self


def _filled(op: str, self: Tensor, value: Any) -> Any:
    array = np.full(shape_of(self), value, dtype_of(self))
    return inplace.update(op, self, lambda: st.replace(self, array))  # what was there has the gradient 0


zero_ = row("zero_", lambda x: _filled("zero_", x, 0), "Zeros written into the tensor; returns it.")


@api(function=False)
def fill_(self: Tensor, value: Any) -> Any:
    """A number written into every element; returns the tensor."""
    value = number("fill_", "value", value)
    return _filled("fill_", self, int(value) if dtype_of(self).kind in "iu" else value)


apply = row("apply", lambda self, func: _applied(self, func),
    "`func(x)`; raises RuntimeError where a gradient is wanted.", function=False)  # fmt: skip
apply_ = row("apply_", lambda self, func: copy_(self, _applied(self, func)),
    "`func(x)` written into this tensor; raises RuntimeError where a gradient is wanted.", function=False)  # fmt: skip


def _applied(x: Tensor, func: Any) -> Any:
    if not x.stop_gradient and is_grad_enabled():
        raise RuntimeError("apply: a Tensor that wants a gradient cannot be given to a function; use detach()")
    return func(x)


# ------------------------------------------------------------------------------------------ what it is


@api(method=False)
def is_tensor(x: Any) -> bool:
    """Whether an object is a Tensor."""
    return isinstance(x, Tensor)


def _is_kind(name: str, kinds: str, text: str) -> None:
    def f(x: Any) -> bool:
        if not isinstance(x, Value):
            raise TypeError(f"{name}: wanted a Tensor, got {type(x).__name__}")
        return FROM_NUMPY[dtype_of(x)].category in [int(k) for k in kinds]

    api(name)(defined(name, f, f"Whether the dtype is {text}."))


_is_kind("is_floating_point", "2", "a floating one")
_is_kind("is_integer", "1", "an integer one")
_is_kind("is_complex", "3", "complex")


numel = function("numel", "x: Given", lambda x: from_array(np.asarray(math.prod(shape_of(x)))),
    "The number of elements as a 0-d tensor.")  # fmt: skip
rank = unnamed("rank", "input: Given", lambda x: from_array(np.asarray(len(shape_of(x)), np.int32)),
    "The number of axes as a 0-d tensor.")  # fmt: skip
shape_tensor = unnamed("shape", "input: Given", lambda x: from_array(np.asarray(shape_of(x), np.int64)),
    "The shape as a tensor of integers.", method=False)  # fmt: skip
is_empty = function("is_empty", "x: Given", lambda x: from_array(np.asarray(0 in shape_of(x))),
    "Whether there are no elements, as a 0-d tensor.")  # fmt: skip


@api(function=False)
def is_same_shape(self: Tensor, y: Any) -> bool:
    """Whether another tensor has the same shape."""
    tensor_argument("is_same_shape", y, "y")
    return tuple(shape_of(self)) == tuple(shape_of(y))


def _answer(name: str, answer: bool) -> None:
    def method(self: Tensor) -> bool:
        return answer

    api(name, function=False)(defined(name, method, f"{answer}: tensors here are dense, on one device."))


for _name, _yes in {
    "is_dense": True, "is_sparse": False, "is_sparse_coo": False, "is_sparse_csr": False, "is_dist": False,
    "is_selected_rows": False, "_is_initialized": True,
}.items():  # fmt: skip
    _answer(_name, _yes)


@api("_numel", function=False)
def element_count(self: Tensor) -> int:
    """The number of elements."""
    return int(self.size)


Tensor.type = "VarType.DENSE_TENSOR"
