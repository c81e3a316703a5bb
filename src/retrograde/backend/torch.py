"""PyTorch as an array library: its tensors computed with, not its autograd.

Kernels expect NumPy's dtypes, shapes as tuples and a few methods of NumPy's arrays; `TorchArray` gives a torch tensor
these, and the namespace converts on the way in and out. A kernel that spells a function NumPy's way on arrays gets
PyTorch's of that name.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch

from .dtypes import register_dtypes
from .lookup import Backend, register_backend

if not hasattr(torch, "_C"):
    raise ImportError("the module 'torch' is retrograde's dialect in this process, and PyTorch itself is not loaded")

# Only with PyTorch itself.
import array_api_compat.torch as compat
from array_api_compat.torch import fft as compat_fft
from array_api_compat.torch import linalg as compat_linalg

_NAMES = (
    "bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64",
    "complex64", "complex128",
)  # fmt: skip
_TO_NUMPY = {getattr(torch, name): np.dtype(name) for name in _NAMES if hasattr(torch, name)}
_TO_NUMPY[torch.bfloat16] = np.dtype(ml_dtypes.bfloat16)
_TO_TORCH = {theirs: ours for ours, theirs in _TO_NUMPY.items()}


class TorchArray:
    """A torch tensor with the dtype, shape and methods that kernels use. Shares its memory."""

    __slots__ = ("tensor", "shape", "dtype", "__weakref__")

    def __init__(self, tensor: torch.Tensor) -> None:
        self.tensor = tensor
        self.shape: tuple[int, ...] = tuple(tensor.shape)
        self.dtype: np.dtype = _TO_NUMPY[tensor.dtype]

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of elements."""
        return self.tensor.numel()

    @property
    def device(self) -> torch.device:
        """Where the elements are."""
        return self.tensor.device

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    @property
    def mT(self) -> TorchArray:
        """The last two axes exchanged."""
        return TorchArray(self.tensor.mT)

    @property
    def T(self) -> TorchArray:
        """The axes in reverse order."""
        return TorchArray(self.tensor.permute(tuple(range(self.ndim))[::-1]))

    @property
    def real(self) -> TorchArray:
        """The real part."""
        return TorchArray(self.tensor.real)

    @property
    def imag(self) -> TorchArray:
        """The imaginary part; zeros for real elements."""
        return TorchArray(self.tensor.imag if self.tensor.is_complex() else torch.zeros_like(self.tensor))

    def reshape(self, *shape: Any) -> TorchArray:
        """The elements in C order in another shape."""
        return TorchArray(self.tensor.reshape(shape[0] if len(shape) == 1 and not isinstance(shape[0], int) else shape))

    def astype(self, dtype: Any, copy: bool = True) -> TorchArray:
        """The elements in another dtype."""
        return TorchArray(self.tensor.to(to_torch_dtype(dtype), copy=copy))

    def conj(self) -> TorchArray:
        """The complex conjugate."""
        return TorchArray(self.tensor.conj().resolve_conj())

    def copy(self) -> TorchArray:
        """The elements in memory of their own."""
        return TorchArray(self.tensor.clone())

    def swapaxes(self, axis1: int, axis2: int) -> TorchArray:
        """With two axes exchanged."""
        return TorchArray(self.tensor.swapaxes(axis1, axis2))

    def transpose(self, *axes: Any) -> TorchArray:
        """With the axes in another order."""
        order = axes[0] if len(axes) == 1 and not isinstance(axes[0], int) else axes
        return TorchArray(self.tensor.permute(tuple(order) or tuple(range(self.ndim))[::-1]))

    def take(self, indices: Any, axis: int) -> TorchArray:
        """The slices at positions along an axis."""
        return self[(slice(None),) * axis + (indices,)]

    def any(self, axis: Any = None, keepdims: bool = False) -> TorchArray:
        """Whether any element over `axis` is true."""
        return XP.any(self, axis=axis, keepdims=keepdims)

    def all(self, axis: Any = None, keepdims: bool = False) -> TorchArray:
        """Whether all elements over `axis` are true."""
        return XP.all(self, axis=axis, keepdims=keepdims)

    def sum(self, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> TorchArray:
        """The sum of the elements over `axis`."""
        return XP.sum(self, axis=axis, keepdims=keepdims, dtype=dtype)

    def min(self, axis: Any = None, keepdims: bool = False) -> TorchArray:
        """The smallest element over `axis`."""
        return XP.min(self, axis=axis, keepdims=keepdims)

    def max(self, axis: Any = None, keepdims: bool = False) -> TorchArray:
        """The greatest element over `axis`."""
        return XP.max(self, axis=axis, keepdims=keepdims)

    def item(self) -> Any:
        """The only element."""
        return self.tensor.item()

    def __neg__(self) -> TorchArray:
        return TorchArray(-self.tensor)

    def __invert__(self) -> TorchArray:
        return TorchArray(~self.tensor)

    def __abs__(self) -> TorchArray:
        return TorchArray(abs(self.tensor))

    def __getitem__(self, index: Any) -> TorchArray:
        return TorchArray(self.tensor[_given(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.tensor[_given(index)] = _given(value)

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        name = _UFUNCS.get((ufunc.__name__, method), ufunc.__name__ if method == "__call__" else None)
        target = kwargs.pop("out", (None,))[0]
        if name is None or (target is not None and not isinstance(target, TorchArray)):
            return NotImplemented
        if "dtype" in kwargs and method != "reduce":
            dtype = kwargs.pop("dtype")
            inputs = tuple(x.astype(dtype) if isinstance(x, TorchArray) else x for x in inputs)
        out = getattr(XP, name)(*inputs, **kwargs)
        if target is None:
            return out
        target[...] = out
        return target

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return getattr(XP, func.__name__)(*args, **kwargs) if func.__name__ in _FUNCTIONS else NotImplemented

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # Converted in silence, an array could be written to in vain, or moved off its device.
        raise TypeError("this operation is written for NumPy arrays only; convert the tensor with numpy() first")

    def __bool__(self) -> bool:
        return bool(self.tensor)

    def __int__(self) -> int:
        return int(self.tensor)

    def __float__(self) -> float:
        return float(self.tensor)

    def __len__(self) -> int:
        return len(self.tensor)

    def __repr__(self) -> str:
        return repr(self.tensor)


# NumPy's functions that take the same arguments in the namespace.
_FUNCTIONS = frozenset({"moveaxis", "broadcast_to", "where", "take_along_axis", "zeros_like", "ones_like", "expand_dims"})

# NumPy's ufuncs (and methods of them) by the names they have in the namespace.
_UFUNCS: dict[tuple[str, str], str] = {
    **{
        (theirs, "__call__"): ours
        for theirs, ours in {
            "absolute": "abs", "invert": "bitwise_not", "conjugate": "conj", "power": "pow", "arctan2": "atan2",
            "arcsin": "asin", "arccos": "acos", "arctan": "atan", "rint": "round",
        }.items()
    },
    ("add", "reduce"): "sum", ("multiply", "reduce"): "prod", ("maximum", "reduce"): "max",
    ("minimum", "reduce"): "min", ("add", "accumulate"): "cumsum", ("multiply", "accumulate"): "cumprod",
}  # fmt: skip


def _operators(name: str, f: Callable[..., Any], *, reflected: bool = True) -> None:
    def forward(self: TorchArray, other: Any) -> Any:
        return _taken(f(self.tensor, _operand(other, self)))

    def backward(self: TorchArray, other: Any) -> Any:
        return _taken(f(_operand(other, self), self.tensor))

    def in_place(self: TorchArray, other: Any) -> Any:
        self.tensor[...] = f(self.tensor, _operand(other, self))
        return self

    setattr(TorchArray, f"__{name}__", forward)
    if reflected:
        setattr(TorchArray, f"__r{name}__", backward)
        setattr(TorchArray, f"__i{name}__", in_place)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    _operators(_name, getattr(operator, _name))
for _name in ("and_", "or_", "xor"):
    _operators(_name.rstrip("_"), getattr(operator, _name))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    _operators(_name, getattr(operator, _name), reflected=False)


def to_torch_dtype(dtype: Any) -> torch.dtype:
    """A NumPy dtype (or type, or name) as PyTorch's."""
    return dtype if isinstance(dtype, torch.dtype) else _TO_TORCH[np.dtype(dtype)]


def _tensor(array: Any) -> torch.Tensor:
    array = np.asarray(array)
    if array.dtype.name == "bfloat16":
        return torch.from_numpy(array.astype(np.float32)).to(torch.bfloat16)
    if not array.flags.writeable or any(s < 0 for s in array.strides):
        array = array.copy()
    return torch.from_numpy(array)


def _operand(x: Any, beside: TorchArray) -> Any:
    if isinstance(x, np.generic):
        x = np.asarray(x)
    return _given(x).to(beside.tensor.device) if isinstance(x, np.ndarray) else _given(x)


def _given(x: Any) -> Any:
    """An argument as PyTorch takes it."""
    if isinstance(x, TorchArray):
        return x.tensor
    if isinstance(x, (np.ndarray, np.generic)):
        return _tensor(x)
    if isinstance(x, np.dtype) or (
        isinstance(x, type) and (issubclass(x, np.generic) or x in (bool, int, float, complex))
    ):
        return to_torch_dtype(x)
    if isinstance(x, (tuple, list)):
        return type(x)(map(_given, x)) if not hasattr(x, "_fields") else tuple(map(_given, x))
    return x


def _taken(x: Any) -> Any:
    """A result as kernels see it."""
    if isinstance(x, torch.Tensor):
        return TorchArray(x)
    if isinstance(x, torch.dtype):
        return _TO_NUMPY[x]
    if isinstance(x, (tuple, list)):
        return tuple(map(_taken, x))
    return x


class Namespace:
    """A module of array_api_compat.torch, or of PyTorch beyond the standard, over TorchArrays."""

    def __init__(self, name: str, *modules: Any) -> None:
        self.__name__ = name
        self._modules = modules

    def __getattr__(self, name: str) -> Any:
        for module in self._modules:
            if hasattr(module, name):
                found = getattr(module, name)
                break
        else:
            raise AttributeError(f"PyTorch as an array library has no {self.__name__}.{name}")
        if callable(found):
            found = _converting(found)
        setattr(self, name, found)
        return found


def _converting(f: Callable[..., Any]) -> Callable[..., Any]:
    def call(*args: Any, **kwargs: Any) -> Any:
        return _taken(f(*map(_given, args), **{key: _given(x) for key, x in kwargs.items()}))

    return call


class TorchBackend(Backend):
    """Evaluates kernels with PyTorch, without its autograd."""

    name = "torch"
    xp = Namespace("torch", compat, torch)

    def wrap(self, array: Any) -> Any:
        return TorchArray(array.detach()) if isinstance(array, torch.Tensor) else array

    def from_host(self, array: np.ndarray, like: Any) -> Any:
        return TorchArray(_tensor(array).to(like.tensor.device))

    def device_of(self, array: Any) -> Any:
        return array.tensor.device

    def snapshot(self, array: Any) -> Any:
        return TorchArray(array.tensor.clone())

    def to_host(self, array: Any) -> np.ndarray:
        tensor = array.tensor.resolve_conj().cpu()
        if tensor.dtype is torch.bfloat16:
            return tensor.to(torch.float32).numpy().astype(ml_dtypes.bfloat16)
        return tensor.numpy()

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        if isinstance(value, TorchArray):
            return value if dtype is None else value.astype(dtype)
        return TorchArray(_tensor(np.asarray(value, dtype=dtype)))


XP: Any = TorchBackend.xp
XP.linalg = Namespace("torch.linalg", compat_linalg, torch.linalg)
XP.fft = Namespace("torch.fft", compat_fft, torch.fft)
XP.special = Namespace("torch.special", torch.special)
BACKEND = TorchBackend()
register_dtypes(torch)
register_backend(TorchArray, BACKEND)
register_backend(torch.Tensor, BACKEND)
