"""PyTorch as an array library: its tensors computed with, not its autograd.

Kernels expect NumPy's dtypes, shapes as tuples and a few methods of NumPy's arrays; `TorchArray` gives a torch tensor
these, and the namespace converts on the way in and out.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import torch

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
    __array_ufunc__ = None  # a NumPy array beside one leaves the operation to it

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

    def any(self, axis: Any = None) -> TorchArray:
        """Whether any element (along an axis) is true."""
        return XP.any(self, axis=axis)

    def all(self, axis: Any = None) -> TorchArray:
        """Whether all elements (along an axis) are true."""
        return XP.all(self, axis=axis)

    def sum(self, axis: Any = None) -> TorchArray:
        """The sum of the elements (along an axis)."""
        return XP.sum(self, axis=axis)

    def min(self) -> TorchArray:
        """The smallest element."""
        return TorchArray(self.tensor.min())

    def max(self) -> TorchArray:
        """The greatest element."""
        return TorchArray(self.tensor.max())

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

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        return np.asarray(BACKEND.to_numpy(self), dtype=dtype)

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


def _operators(name: str, f: Callable[..., Any], *, reflected: bool = True) -> None:
    def forward(self: TorchArray, other: Any) -> Any:
        return _taken(f(self.tensor, _operand(other, self)))

    def backward(self: TorchArray, other: Any) -> Any:
        return _taken(f(_operand(other, self), self.tensor))

    setattr(TorchArray, f"__{name}__", forward)
    if reflected:
        setattr(TorchArray, f"__r{name}__", backward)


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul"):
    _operators(_name, getattr(operator, _name))
for _name in ("and", "or", "xor"):
    _operators(_name, getattr(operator, f"{_name}_"))
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

            def call(*args: Any, **kwargs: Any) -> Any:
                return _taken(found(*map(_given, args), **{key: _given(x) for key, x in kwargs.items()}))

            found, wrapped = call, found
            found.__name__ = getattr(wrapped, "__name__", name)
        setattr(self, name, found)
        return found


class TorchBackend(Backend):
    """Evaluates kernels with PyTorch, without its autograd."""

    name = "torch"
    xp = Namespace("torch", compat, torch)

    def wrap(self, array: Any) -> Any:
        return TorchArray(array.detach()) if isinstance(array, torch.Tensor) else array

    def run(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        device = next(x.tensor.device for x in arrays if type(x) is TorchArray)
        given = (TorchArray(_tensor(x).to(device)) if isinstance(x, (np.ndarray, np.generic)) else x for x in arrays)
        return prim.kernel(self.xp, *given, **params)

    def to_numpy(self, array: Any) -> np.ndarray:
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
BACKEND = TorchBackend()
register_backend(TorchArray, BACKEND)
register_backend(torch.Tensor, BACKEND)
