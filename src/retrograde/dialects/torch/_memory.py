"""Where a tensor's elements are: strides, storage, contiguity, and memory shared with NumPy and other libraries."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ..._state import is_grad_enabled, state
from ...backend.devices import accelerator
from ...core.arrays import bottom
from ...core.batched import BatchedArray
from ...core.dual import DualArray
from ...core.large import copied
from ...core.unwrap import bare, concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import structural as st
from ...tape import mutation
from .._shared.dlpack import CPU_DEVICE, CUDA_DEVICE, imported
from . import _dtype
from ._api import api
from ._axes import axis_of, integer, varargs
from ._data import elements_of, np_dtype_of, sizes
from ._dtype import FROM_NUMPY
from ._elementwise import tensor_argument
from ._indexing import recording
from ._size import CPU, check_device
from ._tensor import Tensor, from_array

_ndarray = np.ndarray

# ------------------------------------------------------------------------------------------ sizes


@api(function=False)
def dim(self: Tensor) -> int:
    """The number of dimensions."""
    a = self._a
    return a.ndim if type(a) is _ndarray else len(shape_of(a))


@api(function=False)
def ndimension(self: Tensor) -> int:
    """The number of dimensions."""
    return dim(self)


@api(function=False)
def size(self: Tensor, dim: int | None = None) -> Any:
    """The sizes, or the size of one dimension."""
    if dim is None:
        return self.shape
    shape = shape_of(self._a)
    if type(dim) is int and -len(shape) <= dim < len(shape):
        return shape[dim]
    if not shape:
        raise IndexError(f"size: dim {dim} was asked of a tensor without dimensions")
    return shape[axis_of("size", dim, len(shape))]


@api()
def numel(input: Tensor) -> int:
    """The number of elements."""
    a = tensor_argument("numel", input)._a
    return a.size if type(a) is _ndarray else math.prod(shape_of(a))


@api(function=False)
def nelement(self: Tensor) -> int:
    """The number of elements."""
    return numel(self)


@api(function=False)
def element_size(self: Tensor) -> int:
    """The bytes of one element."""
    return dtype_of(self).itemsize


@api()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape."""
    return tuple(shape_of(input)) == tuple(shape_of(other))


# ------------------------------------------------------------------------------------------ layout


def one_entry(a: Any) -> Any:
    """What says how a tensor's elements lie in memory: its array, and inside vmap that of the first entry of the batch.

    An array that has no strides (empty, or of another library) is given back as it is.
    """
    if type(a) is _ndarray:
        return a
    whole, hidden = a, list[int]()
    while type(a) is not _ndarray:
        if type(a) is BatchedArray:
            hidden.append(a.dim)
        if not isinstance(a, (Value, BatchedArray, DualArray)):
            return whole
        a = a._a if isinstance(a, Value) else a.under
    if not a.size:
        return whole
    for axis in reversed(hidden):
        a = a[(slice(None),) * axis + (0,)]
    return a


def _strides(x: Any) -> tuple[int, ...]:
    """Strides in elements; where NumPy leaves open that of an axis of size 1, as if the memory were dense."""
    a = one_entry(x._a)
    shape = tuple(shape_of(a))
    if type(a) is not _ndarray or (0 in shape and a.base is None):
        out, step = [], 1
        for n in reversed(shape):
            out.append(step)
            step *= max(n, 1)
        return tuple(reversed(out))
    strides = [s // a.itemsize for s in a.strides]
    for i in reversed(range(a.ndim)):
        if not strides[i] and shape[i] == 1:
            strides[i] = shape[i + 1] * strides[i + 1] if i + 1 < a.ndim else 1
    return tuple(strides)


@api(function=False)
def stride(self: Tensor, dim: int | None = None) -> Any:
    """How many elements lie between neighbours along each dimension, or along one."""
    strides = _strides(self)
    return strides if dim is None else strides[axis_of("stride", dim, len(strides))]


@api(function=False)
def is_contiguous(self: Tensor, memory_format: Any = None) -> bool:
    """Whether the elements lie in memory in the order of the dimensions."""
    a = one_entry(self._a)
    if memory_format is not None and repr(memory_format) != "torch.contiguous_format" and type(bare(self)) is BatchedArray:
        raise RuntimeError(f"is_contiguous: under vmap memory has no format but the contiguous one, asked for {memory_format}")
    if type(a) is not _ndarray:
        return True
    if repr(memory_format) == "torch.channels_last":
        return a.ndim == 4 and a.transpose(0, 2, 3, 1).flags.c_contiguous
    if repr(memory_format) == "torch.channels_last_3d":
        return a.ndim == 5 and a.transpose(0, 2, 3, 4, 1).flags.c_contiguous
    return a.flags.c_contiguous


@api(function=False)
def contiguous(self: Tensor, memory_format: Any = None) -> Tensor:
    """The tensor itself if its memory is in order, else a copy that is."""
    if is_contiguous(self, memory_format):
        return self
    out = st.copy(self)
    if type(out._a) is _ndarray:
        a = out._a
        if memory_format is not None and repr(memory_format).startswith("torch.channels_last"):
            n = a.ndim
            last = np.ascontiguousarray(a.transpose(0, *range(2, n), 1))
            mutation.rearrange(out, last.transpose(0, n - 1, *range(1, n - 1)))
        else:
            mutation.rearrange(out, a if a.flags.c_contiguous else copied(a))
    return out


def in_format_of(input: Any, out: Tensor) -> Tensor:
    """A result, just computed, with its channels last in memory where those of the input are."""
    a = input._a
    if type(a) is _ndarray and a.ndim in (4, 5) and not a.flags.c_contiguous and type(out._a) is _ndarray:
        axes = (0, *range(2, a.ndim), 1)
        if a.transpose(axes).flags.c_contiguous and out._a.ndim == a.ndim:
            last = np.ascontiguousarray(out._a.transpose(axes))
            mutation.rearrange(out, last.transpose(0, a.ndim - 1, *range(1, a.ndim - 1)))
    return out


def memory_of(a: np.ndarray) -> tuple[np.ndarray, int]:
    """The storage of an array as a flat array, and the position of the array's first element in it."""
    owner = mutation.owner_of(a)
    if not isinstance(owner, _ndarray) or owner.dtype != a.dtype:
        owner = a
    if owner.flags.c_contiguous:
        flat = owner.reshape(-1)
    elif owner.flags.f_contiguous:
        flat = owner.T.reshape(-1)
    else:  # memory that another library owns, seen with gaps: what lies between is not ours
        reach = 1 + sum((n - 1) * (s // a.itemsize) for n, s in zip(owner.shape, owner.strides)) if owner.size else 0
        flat = np.lib.stride_tricks.as_strided(owner.reshape(-1)[:0] if not owner.size else owner[(0,) * owner.ndim + (
            Ellipsis,)], (reach,), (a.itemsize,))  # fmt: skip
    offset = (a.ctypes.data - flat.ctypes.data) // a.itemsize if a.size else 0
    return flat, offset


@api(function=False)
def storage_offset(self: Tensor) -> int:
    """How many elements of the storage lie before the first one of this tensor."""
    a = one_entry(self._a)
    return memory_of(a)[1] if type(a) is _ndarray else 0


@api(function=False)
def data_ptr(self: Tensor) -> int:
    """The address of the first element; 0 for a tensor without elements."""
    a = elements_of("data_ptr", self)
    if not isinstance(a, np.ndarray):
        return int(a.data.ptr) if a.size else 0
    return mutation.address_of(a) if a.size else 0


def _on_cpu(op: str, x: Tensor) -> None:
    """Raise NotImplementedError for a tensor on another device, whose memory is the array library's own."""
    if type(x._a) is not _ndarray and not x.is_cpu:
        raise NotImplementedError(f"{op}: of a tensor on {x.device} the memory is CuPy's; use x.cpu(), or DLPack to share it")


class UntypedStorage:
    """The bytes behind a tensor and its views."""

    def __init__(self, flat: np.ndarray) -> None:
        self._flat = flat

    @classmethod
    def from_file(cls, filename: str, shared: bool = False, nbytes: int = 0) -> UntypedStorage:
        """The bytes of a file, mapped into memory: with `shared` what is written goes into the file."""
        flat = np.memmap(filename, np.uint8, "r+" if shared else "c", shape=(nbytes,) if nbytes else None)
        return cls(flat.view(np.ndarray))

    def untyped(self) -> UntypedStorage:
        """The bytes: of a storage of elements, the same memory."""
        return UntypedStorage(self._flat)

    def data_ptr(self) -> int:
        """The address of the first byte."""
        return mutation.address_of(self._flat) if self._flat.size else 0

    def nbytes(self) -> int:
        """The number of bytes."""
        return self._flat.nbytes

    def size(self) -> int:
        """The number of bytes."""
        return self._flat.nbytes

    def element_size(self) -> int:
        """The bytes of an element: 1."""
        return 1

    def __len__(self) -> int:
        return self._flat.nbytes

    def __sizeof__(self) -> int:
        return object.__sizeof__(self) + self._flat.nbytes

    @property
    def device(self) -> Any:
        """Where the bytes are."""
        return CPU

    is_cuda = False

    def is_pinned(self, device: Any = None) -> bool:
        """Whether the memory is page-locked: never."""
        return False

    def _elements(self) -> np.ndarray:
        return self._flat.view(np.uint8)

    def __getitem__(self, index: Any) -> Any:
        found = self._elements()[index]
        return found.item() if isinstance(found, np.generic) else found

    def __setitem__(self, index: Any, value: Any) -> None:
        self._elements()[index] = value
        mutation.note(self._flat)

    def fill_(self, value: Any) -> Any:
        """Write a number into all elements."""
        self[:] = value
        return self

    def copy_(self, source: UntypedStorage, non_blocking: bool = False) -> Any:
        """Take over another storage's bytes; raises RuntimeError where they are more or fewer."""
        if source.nbytes() != self.nbytes():
            raise RuntimeError(f"copy_: a storage of {self.nbytes()} bytes cannot take {source.nbytes()} bytes")
        self._flat.view(np.uint8)[:] = source._flat.view(np.uint8)
        mutation.note(self._flat)
        return self

    def clone(self) -> Any:
        """A storage of its own with the same elements."""
        return type(self)(copied(self._flat))

    def tolist(self) -> list[Any]:
        """The elements as Python numbers: of bytes, ints."""
        return self._elements().tolist()

    def _described(self) -> str:
        return "UntypedStorage(device=cpu)"

    def __repr__(self) -> str:
        numbers = "".join(f" {x}\n" for x in self.tolist())
        return f"{numbers}[torch.storage.{self._described()} of size {len(self)}]"


class TypedStorage(UntypedStorage):
    """The elements behind a tensor and its views, in their dtype."""

    def size(self) -> int:
        """The number of elements."""
        return self._flat.size

    def element_size(self) -> int:
        """The bytes of one element."""
        return self._flat.itemsize

    def __len__(self) -> int:
        return self._flat.size

    @property
    def dtype(self) -> Any:
        """The elements' dtype."""
        return FROM_NUMPY[self._flat.dtype]

    def _elements(self) -> np.ndarray:
        return self._flat

    def _described(self) -> str:
        return f"TypedStorage(dtype={self.dtype}, device=cpu)"

@api(function=False)
def untyped_storage(self: Tensor) -> UntypedStorage:
    """The bytes behind the tensor."""
    _on_cpu("untyped_storage", self)
    return UntypedStorage(memory_of(concrete("untyped_storage", self))[0])


@api("storage", "_typed_storage", function=False)
def storage(self: Tensor) -> TypedStorage:
    """The elements behind the tensor and its views; of a dual tensor, those of its primal."""
    _on_cpu("storage", self)
    return TypedStorage(memory_of(bottom(self) if type(self._a) is DualArray else concrete("storage", self))[0])


@api(function=False)
def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two tensors look at the same memory in the same way."""
    a, b = elements_of("is_set_to", self), elements_of("is_set_to", tensor)
    if type(a) is not _ndarray or type(b) is not _ndarray:
        return a is b
    return a.ctypes.data == b.ctypes.data and a.shape == b.shape and a.strides == b.strides


@api(function=False)
def resize_(self: Tensor, *sizes: Any, memory_format: Any = None) -> Tensor:
    """Give this tensor another shape; elements that it did not have before are undefined (zeros here)."""
    shape = tuple(integer("resize_", "a size", n) for n in varargs("resize_", sizes))
    if tensor_argument("resize_", self)._inference:
        self._policy.check_change("resize_", self)
    elif self._node is not None:
        raise RuntimeError("resize_: a tensor that requires grad cannot be resized; use reshape()")
    last = repr(memory_format).startswith("torch.channels_last")
    if shape == tuple(shape_of(self)) and not last:
        return self
    _on_cpu("resize_", self)
    flat, start = memory_of(self._a)
    total = math.prod(shape)
    if start + total <= flat.size:
        flat = flat[start : start + total]
    else:
        grown = np.zeros(total, flat.dtype)
        kept = flat[start:]
        grown[: kept.size] = kept
        flat = grown
    if not last:
        self._a = flat.reshape(shape)
    elif len(shape) != (5 if repr(memory_format).endswith("3d") else 4):
        raise RuntimeError(f"resize_: memory_format {memory_format} does not go with {len(shape)} dimensions")
    else:
        self._a = np.moveaxis(flat.reshape(shape[0], *shape[2:], shape[1]), -1, 1)
    mutation.note(self._a)
    return self


@api()
def resize_as_(self: Tensor, other: Tensor) -> Tensor:
    """Give this tensor the shape of another."""
    return resize_(self, tuple(shape_of(other)))


@api(function=False)
def set_(self: Tensor, source: Any = None, *args: Any) -> Tensor:
    """Let this tensor look at the memory of another one."""
    if source is None:
        self._a = np.zeros(0, dtype_of(self)) if self.is_cpu else self._a[:0]
        return self
    if isinstance(source, UntypedStorage):
        self._a = _looking(source._flat.view(dtype_of(self)), *args)
        return self
    if not isinstance(source, Value):
        raise TypeError(f"set_: wanted a tensor or a storage, got {type(source).__name__}")
    if dtype_of(source) != dtype_of(self):
        raise RuntimeError(f"set_: the dtypes {self.dtype} and {FROM_NUMPY[dtype_of(source)]} differ")
    self._a, self._node = source._a, source._node
    return self


def _looking(flat: np.ndarray, offset: int = 0, size: Any = None, stride: Any = None) -> np.ndarray:
    """The array of a size that looks at a storage with strides in elements."""
    shape = (flat.size - offset,) if size is None else tuple(integer("set_", "a size", n) for n in size)
    dense = [math.prod(shape[i + 1 :]) for i in range(len(shape))]
    strides = dense if stride is None else [integer("set_", "a stride", n) for n in stride]
    if len(strides) != len(shape) or min((offset, *shape, *strides)) < 0:
        raise RuntimeError(f"set_: offset {offset}, sizes {list(shape)} and strides {list(strides)} describe no tensor")
    if 0 not in shape and offset + sum((n - 1) * s for n, s in zip(shape, strides)) >= flat.size:
        raise RuntimeError(f"set_: sizes {list(shape)} with strides {list(strides)} reach past a storage of {flat.size} elements")
    return np.lib.stride_tricks.as_strided(flat[offset:], shape, [s * flat.itemsize for s in strides])


@api(function=False)
def share_memory_(self: Tensor) -> Tensor:
    """The tensor itself, noted as shared: threads share its memory already, other processes are not offered."""
    self._shared = True
    return self


@api(function=False)
def is_shared(self: Tensor) -> bool:
    """Whether `share_memory_` was called."""
    return getattr(self, "_shared", False)


@api(function=False)
def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """The tensor itself: there is no device to copy to."""
    return self


@api(function=False)
def is_pinned(self: Tensor, device: Any = None) -> bool:
    """Whether the memory is page-locked: never."""
    return False


# ------------------------------------------------------------------------------------------ other libraries


def shared_array(op: str, x: Any) -> np.ndarray:
    """A tensor's elements as the NumPy array that holds them; raises where that would lose a gradient."""
    if (x._node is not None or (state.levels and x.requires_grad)) and is_grad_enabled():
        raise RuntimeError(f"{op}: this tensor requires grad; use .detach().{op}() for its values")
    if type(x._a) is not _ndarray and not x.is_cpu:
        raise TypeError(f"{op}: this tensor is on {x.device}, and NumPy's arrays are on the CPU; use .cpu().{op}()")
    array = concrete(op, x)
    if array.dtype == _dtype.bfloat16.np:
        raise TypeError(f"{op}: NumPy has no bfloat16; use .float().{op}()")
    return array


@api(function=False)
def numpy(self: Tensor, *, force: bool = False) -> np.ndarray:
    """The elements as a NumPy array that shares the memory; raises RuntimeError for a tensor that requires grad."""
    a = self._a
    if self._node is None and type(a) is _ndarray and not self._level and a.dtype is not _dtype.bfloat16.np:
        return a[...]  # an object of its own, whose shape the user may set
    return shared_array("numpy", self.detach().cpu().resolve_conj() if force else self)[...]


@api("__array__", function=False)
def as_array(self: Tensor, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
    """The elements for `np.asarray`, which shares the memory."""
    array = shared_array("numpy", self)
    if dtype is not None and np.dtype(dtype) != array.dtype:
        return array.astype(dtype)
    return array.copy() if copy else array


@api("__array_wrap__", function=False)
def wrap_array(self: Tensor, array: Any, context: Any = None, return_scalar: bool = False) -> Any:
    """A NumPy result as a tensor."""
    return from_array(np.asarray(array))


@api("__dlpack__", function=False)
def dlpack(self: Tensor, **options: Any) -> Any:
    """A capsule through which other array libraries share the memory (the DLPack protocol)."""
    if recording(self) or self.requires_grad:
        raise BufferError("__dlpack__: a tensor that requires grad cannot be exported; use detach()")
    return elements_of("__dlpack__", self).__dlpack__(**options)


@api("__dlpack_device__", function=False)
def dlpack_device(self: Tensor) -> tuple[int, int]:
    """The device of the memory for the DLPack protocol."""
    if type(self._a) is _ndarray or self.is_cpu:
        return CPU_DEVICE
    return elements_of("__dlpack_device__", self).__dlpack_device__()  # type: ignore[no-any-return]


@api(method=False)
def to_dlpack(tensor: Tensor) -> Any:
    """A capsule through which other array libraries share the memory of a tensor."""
    return dlpack(tensor)


@api(method=False)
def from_dlpack(ext_tensor: Any, *, device: Any = None, copy: bool | None = None) -> Tensor:
    """A tensor that shares the memory of another library's array, or of a capsule that it exported."""
    check_device("from_dlpack", device)
    if hasattr(ext_tensor, "__dlpack_device__") and ext_tensor.__dlpack_device__()[0] == CUDA_DEVICE:
        served = accelerator("cuda")
        if served is None:
            raise RuntimeError("from_dlpack: the array is on a CUDA device, and CuPy finds none here; move it to the CPU first")
        shared = from_array(served.from_dlpack(ext_tensor))
        found = shared if device is None else shared.to(device)
        return found.clone() if copy and found is shared else found  # type: ignore[no-any-return]
    array = imported(ext_tensor)
    return from_array(np.array(array) if copy else array, device=CPU if device is None else device)


@api(method=False)
def frombuffer(buffer: Any, *, dtype: Any, count: int = -1, offset: int = 0, requires_grad: bool = False) -> Tensor:
    """A 1-d tensor that shares the memory of an object with the buffer protocol."""
    if not isinstance(dtype, _dtype.dtype):
        raise TypeError(f"frombuffer: dtype must be a torch dtype, got {dtype!r}")
    return from_array(np.frombuffer(buffer, dtype.np, count, offset), requires_grad)


@api(method=False)
def is_storage(obj: Any) -> bool:
    """Whether an object is the memory of a tensor."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


@api(method=False)
def empty_permuted(size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
                   requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Zeros (anything, in PyTorch) with the dimensions laid out in memory in the order given, the last one densest."""
    check_device("empty_permuted", device)
    shape, order = sizes("empty_permuted", (tuple(size),)), tuple(physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(f"empty_permuted: the layout must name each of {len(shape)} dimensions once, got {order}")
    array = np.zeros([shape[i] for i in order], np_dtype_of("empty_permuted", dtype))
    return from_array(array.transpose(np.argsort(order)), requires_grad, device)


@api(function=False)
def dim_order(self: Tensor, **_: Any) -> tuple[int, ...]:
    """The axes from the one with the largest stride to the one with the smallest."""
    strides = self.stride()
    return tuple(sorted(range(len(strides)), key=lambda i: -strides[i]))


@api(function=False)
def resize_as(self: Tensor, other: Tensor) -> Tensor:
    """A copy with the shape of another tensor, elements that were not there being zeros (deprecated there, too)."""
    warnings.warn("resize_as is deprecated: use reshape or view", UserWarning, stacklevel=2)
    return resize_as_(self.detach().clone(), other)
