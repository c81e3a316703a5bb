"""Lesser-used names: older spellings, questions about types and devices, and forms of functions that stand elsewhere."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np

from ...core.node import Accumulate
from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, make, shape_of
from ...tape import inplace
from . import _dtype
from ._api import FUNCTIONS, METHODS, api
from ._creation import into_out, tensor
from ._data import check_tensor, np_dtype_of, sizes
from ._diagonals import as_strided
from ._elementwise import tensor_argument
from ._memory import TypedStorage, UntypedStorage
from ._promote import stored_number
from ._reductions import reduced_axes
from ._shape import reshaped
from ._size import Size, check_device
from ._tensor import Tensor, from_array


@api(method=False)
def is_storage(obj: Any) -> bool:
    """Whether an object is the memory of a tensor."""
    return isinstance(obj, (TypedStorage, UntypedStorage))


@api(method=False)
def typename(obj: Any) -> str:
    """The full name of an object's type; for a tensor that of its legacy type, such as `torch.FloatTensor`."""
    if isinstance(obj, Tensor):
        return obj.type()
    kind = obj if isinstance(obj, type) else type(obj)
    name = getattr(obj, "__qualname__", kind.__qualname__)
    module = getattr(obj, "__module__", None) or kind.__module__
    return name if module in ("builtins", "") else f"{module}.{name}"


@api(method=False)
def is_inference(input: Any) -> bool:
    """Whether a tensor was made in inference mode."""
    check_tensor("is_inference", input)
    return input.is_inference()


@api()
def get_device(input: Any) -> int:
    """The number of a tensor's GPU, -1 on the CPU."""
    check_tensor("get_device", input)
    return -1


@api("detach_", method=False)
def detach_in_place(input: Any) -> Tensor:
    """Take a tensor out of the graph that computed it; returns it."""
    check_tensor("detach_", input)
    return input.detach_()


for _name in ("index_put_", "resize_as_"):  # functions there, too
    FUNCTIONS[_name] = METHODS[_name]


@api(method=False)
def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A 0-d tensor with a number, in the default dtype unless one is given."""
    check_device("scalar_tensor", device)
    number = s.item() if isinstance(s, Value) else s  # type: ignore[attr-defined]
    return from_array(stored_number("scalar_tensor", number, np_dtype_of("scalar_tensor", dtype)).copy(), requires_grad)


@api(method=False)
def empty_strided(size: Any, stride: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
                  requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A tensor with the given shape and strides (in elements), whose elements are to be written."""
    check_device("empty_strided", device)
    shape, steps = sizes("empty_strided", (tuple(size),)), sizes("empty_strided", (tuple(stride),))
    if len(shape) != len(steps):
        raise RuntimeError(f"empty_strided: {len(shape)} sizes and {len(steps)} strides; wanted one stride per size")
    last = sum((n - 1) * step for n, step in zip(shape, steps)) + 1 if 0 not in shape else 0
    memory = from_array(np.zeros(last, np_dtype_of("empty_strided", dtype)))
    out = from_array(as_strided(memory, shape, steps)._a)
    return out.requires_grad_() if requires_grad else out


@api(function=False)
def new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """A tensor of this one's dtype from sizes or from data (the old form of `new_empty` and `new_tensor`)."""
    check_device("new", device)
    if len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray, Value)) and not isinstance(args[0], Size):
        return tensor(args[0], dtype=self.dtype)
    return from_array(np.zeros(sizes("new", args) if args else (0,), dtype_of(self)))


@api("range", method=False)
@into_out
def inclusive_range(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, layout: Any = None,
                    device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Numbers from `start` up to and with `end`, in the default dtype; deprecated there in favour of arange."""
    warnings.warn("torch.range includes its end, unlike Python's; torch.arange does not", UserWarning, stacklevel=2)
    check_device("range", device)
    if end is None:
        raise TypeError("range: give the end; range(n) of Python is arange(n)")
    if not step or not math.isfinite(end - start) or (end - start) * step < 0:
        raise RuntimeError(f"range: from {start} to {end} there is no way in steps of {step}")
    numbers = np.arange(math.floor((end - start) / step) + 1) * step + start
    return from_array(numbers.astype(np_dtype_of("range", dtype)), requires_grad)


@api(method=False)
def empty_permuted(size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
                   requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Zeros (anything, in PyTorch) with the dimensions laid out in memory in the order given, the last one densest."""
    check_device("empty_permuted", device)
    shape, order = sizes("empty_permuted", (tuple(size),)), tuple(physical_layout)
    if sorted(order) != list(range(len(shape))):
        raise RuntimeError(f"empty_permuted: the layout must name each of {len(shape)} dimensions once, got {order}")
    array = np.zeros([shape[i] for i in order], np_dtype_of("empty_permuted", dtype))
    return from_array(array.transpose(np.argsort(order)), requires_grad)


@api()
def hash_tensor(input: Tensor, dim: Any = (), *, keepdim: bool = False, mode: int = 0) -> Tensor:
    """The exclusive or of the bits of the elements, as float64 or int64, over dimensions or altogether, in uint64."""
    array = concrete("hash_tensor", input)
    if mode != 0 or array.dtype.kind == "c":
        error = RuntimeError if mode else NotImplementedError
        raise error(f"hash_tensor: wanted mode=0 and real numbers, got mode={mode} and {input.dtype}")
    axes = reduced_axes("hash_tensor", dim, array.ndim)
    if not array.size:
        error = RuntimeError if len(axes) == array.ndim else IndexError
        raise error("hash_tensor: an empty tensor has no bits to combine")
    bits = array.astype(np.float64 if array.dtype.kind == "f" else np.int64).view(np.uint64)
    return from_array(np.asarray(np.bitwise_xor.reduce(bits, axis=axes, keepdims=keepdim)))


@api(function=False)
def new_empty_strided(self: Tensor, size: Any, stride: Any, dtype: Any = None, device: Any = None,
                      requires_grad: bool = False, **_: Any) -> Tensor:  # fmt: skip
    """As `torch.empty_strided`, in this tensor's dtype unless another is given."""
    return empty_strided(size, stride, dtype=dtype or self.dtype, device=device, requires_grad=requires_grad)


@api()
def as_strided_(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """Let this tensor look at its memory with another shape and other strides."""
    if tensor_argument("as_strided_", input)._node is not None:
        raise RuntimeError("as_strided_: a tensor that requires grad cannot be laid out anew; use as_strided()")
    input._a = as_strided(input, size, stride, storage_offset)._a
    return input


@api(function=False)
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal (all axes but those of a matrix must have one size); `wrap` goes on after it."""
    shape = tuple(shape_of(self))
    if len(shape) < 2:
        raise RuntimeError(f"fill_diagonal_: wanted at least 2 axes, got {len(shape)}")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise RuntimeError(f"fill_diagonal_: beyond 2 axes all sizes must be equal, got {list(shape)}")

    def filled() -> Tensor:
        where = np.zeros(shape, bool)
        np.fill_diagonal(where, True, wrap=wrap)
        return self.masked_fill(from_array(where), fill_value)

    return inplace.update("fill_diagonal_", self, filled)


@api(method=False)
def unravel_index(indices: Any, shape: Any) -> tuple[Tensor, ...]:
    """The coordinates, one tensor per axis, of flat indices into an array of a shape."""
    check_tensor("unravel_index", indices)
    if indices.dtype.category != 1:
        raise ValueError(f"unravel_index: the indices must be integers, got {indices.dtype}")
    dims = sizes("unravel_index", (tuple(shape) if isinstance(shape, (tuple, list)) else (shape,),))
    coordinates: list[Tensor] = []
    rest = indices.long()
    for n in reversed(dims):
        coordinates.append(rest % n)
        rest = rest // n
    return tuple(reversed(coordinates))


@api(method=False)
def set_default_tensor_type(t: Any) -> None:
    """Set the default dtype by the name or type of a tensor, such as `torch.DoubleTensor`."""
    name = (t if isinstance(t, str) else str(t)).removeprefix("torch.")
    kind = FUNCTIONS.get(name)
    if not name.endswith("Tensor") or kind is None or not kind.dtype.is_floating_point:
        raise TypeError(f"set_default_tensor_type: wanted a floating tensor type such as torch.DoubleTensor, got {t!r}")
    _dtype.set_default_dtype(kind.dtype)


_warn_always = False


@api(method=False)
def set_warn_always(b: bool) -> None:
    """Remember whether warnings are wished every time; Python's warning filters decide here."""
    global _warn_always
    _warn_always = bool(b)


@api(method=False)
def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was told."""
    return _warn_always


@api(method=False)
def set_flush_denormal(mode: bool) -> bool:
    """Whether subnormal numbers could be flushed to zero as asked: only their being kept is offered."""
    return not mode


@api(method=False)
def compiled_with_cxx11_abi() -> bool:
    """A property of PyTorch's binaries, True for all current ones."""
    return True


@api(function=False)
def dim_order(self: Tensor, **_: Any) -> tuple[int, ...]:
    """The axes from the one with the largest stride to the one with the smallest."""
    strides = self.stride()
    return tuple(sorted(range(len(strides)), key=lambda i: -strides[i]))


@api(function=False)
def as_subclass(self: Tensor, cls: type) -> Any:
    """The same elements and history as a tensor of a subclass."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise TypeError(f"as_subclass: wanted a subclass of Tensor, got {cls!r}")
    x = reshaped(self, tuple(shape_of(self)), "AliasBackward0") if type(self._node) is Accumulate else self
    return make(cls, x._a, x._node, x._level)


@api(function=False)
def is_distributed(self: Tensor) -> bool:
    """Whether the tensor is spread over processes: never."""
    return False


@api(function=False)
def resize_as(self: Tensor, other: Tensor) -> Tensor:
    """A copy with the shape of another tensor, elements that were not there being zeros (deprecated there, too)."""
    warnings.warn("resize_as is deprecated: use reshape or view", UserWarning, stacklevel=2)
    return METHODS["resize_as_"](self.detach().clone(), other)
