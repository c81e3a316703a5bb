"""`MaskedTensor`: a tensor some of whose elements do not count. It holds a tensor and a mask; gradients are the tensor's.

What functions of `torch` do with it stands in tables of names: functions of the elements keep the mask, functions of the
shape are applied to tensor and mask alike, reductions look at what counts; everything else raises TypeError, as there.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

from . import _binary, _comparison, _creation, _gather, masked
from ._answered import OPERATORS, offer_operators
from ._api import FUNCTIONS, METHODS
from ._dtype import bool_
from ._function_protocol import install
from ._size import CPU, only_on_cpu
from ._sparse_tensor import SparseTensor
from ._tensor import Tensor


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_UNARY = _names(
    "abs absolute acos arccos acosh arccosh angle asin arcsin asinh arcsinh atan arctan atanh arctanh bitwise_not ceil clamp "
    "clip conj_physical cos cosh deg2rad digamma erf erfc erfinv exp exp2 expm1 fix floor frac lgamma log log10 log1p log2 "
    "logit i0 isnan nan_to_num neg negative positive pow rad2deg reciprocal round rsqrt sigmoid sign sgn signbit sin sinc "
    "sinh sqrt square tan tanh trunc ones_like to type float double half bfloat16 int long short bool cpu isfinite"
)  # fmt: skip
_BINARY = _names(
    "add atan2 arctan2 bitwise_and bitwise_or bitwise_xor bitwise_left_shift bitwise_right_shift div divide floor_divide "
    "fmod logaddexp logaddexp2 mul multiply nextafter remainder sub subtract true_divide eq ne le ge greater greater_equal "
    "gt less_equal lt less maximum minimum fmax fmin not_equal isclose"
)  # fmt: skip
_SHAPING = _names(
    "view reshape transpose t mT unsqueeze expand flatten ravel contiguous split chunk clone detach __getitem__ select narrow "
    "swapaxes swapdims cat stack"
)  # fmt: skip
_REDUCTIONS = _names("sum mean prod amin amax argmin argmax all var std")
_FACTS = _names(
    "shape dtype ndim size dim numel stride is_contiguous is_floating_point is_complex element_size itemsize requires_grad "
    "is_leaf layout __len__"
)  # fmt: skip


def _refusal(name: str) -> Exception:
    return TypeError(f"{name}: not defined for masked tensors; convert with to_tensor(value) or get_data() first")


class MaskedTensor:
    """A tensor and a mask of its shape: True where an element counts."""

    is_sparse = is_cuda = is_quantized = is_meta = is_nested = False
    device = CPU
    __class__ = Tensor
    """What `isinstance` goes by: a masked tensor is a tensor to its users."""
    __array_priority__ = 2000
    __hash__ = object.__hash__
    _level = 0
    _dialect = "torch"

    def __init__(self, data: Any, mask: Any, requires_grad: bool = False) -> None:
        for name, x in (("data", data), ("mask", mask)):
            if type(x) is MaskedTensor or not isinstance(x, Tensor):
                raise TypeError(f"masked tensor: {name} must be a tensor, got {type(x).__name__}")
            only_on_cpu("masked tensor", x.device)
            if isinstance(x, SparseTensor):
                raise NotImplementedError("masked tensor: only dense tensors are masked here; convert with to_dense() first")
        if data.dtype.is_complex or mask.dtype is not bool_:
            raise TypeError(f"masked tensor: wanted real numbers and a boolean mask, got {data.dtype} and {mask.dtype}")
        if tuple(data.shape) != tuple(mask.shape):
            raise ValueError(f"masked tensor: data of shape {list(data.shape)} and a mask of shape {list(mask.shape)}")
        warnings.warn("masked tensors are a prototype in PyTorch, which may change", UserWarning, stacklevel=3)
        install()
        self._d, self._m = data, mask
        if requires_grad:
            self._d.requires_grad_()

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _answer(getattr(func, "__name__", str(func)), args, kwargs or {})

    def __getattr__(self, name: str) -> Any:
        if name in _FACTS:
            return getattr(self._d, name)
        if not hasattr(Tensor, name):
            raise AttributeError(f"masked tensors have no attribute {name!r}")
        if isinstance(getattr(Tensor, name), property):
            return _answer(name, (self,), {})
        return functools.partial(lambda *args, **kwargs: _answer(name, args, kwargs), self)

    def get_data(self) -> Tensor:
        """All elements, those that do not count included."""
        return self._d

    def get_mask(self) -> Tensor:
        """Which elements count."""
        return self._m

    def to_tensor(self, value: Any) -> Tensor:
        """A tensor with `value` where elements do not count."""
        return _gather.masked_fill(self._d, ~self._m, value)

    def is_sparse_coo(self) -> bool:
        """Whether it is in coordinate form: never."""
        return False

    is_sparse_csr = is_sparse_coo

    def to_dense(self) -> MaskedTensor:
        """The tensor itself."""
        return self

    def requires_grad_(self, requires_grad: bool = True) -> MaskedTensor:
        """Say that the gradient of this leaf is wanted; returns the tensor."""
        self._d.requires_grad_(requires_grad)
        return self

    def backward(self, gradient: Any = None, *args: Any, **kwargs: Any) -> None:
        """Gradients of the leaves below; of more than one element with the gradient of the result."""
        self._d.backward(gradient._d if type(gradient) is MaskedTensor else gradient, *args, **kwargs)

    @property
    def grad(self) -> MaskedTensor | None:
        """The gradient of a leaf, with its mask; None before a backward pass."""
        return None if self._d.grad is None else _made(self._d.grad, self._m)

    @grad.setter
    def grad(self, gradient: Any) -> None:
        self._d.grad = gradient._d if type(gradient) is MaskedTensor else gradient

    @property
    def grad_fn(self) -> Any:
        """The node that computed the elements, None for a leaf."""
        return self._d.grad_fn

    def item(self) -> Any:
        """The number of one element, masked or not."""
        return self._d.item()

    def tolist(self) -> Any:
        """Raises RuntimeError: a list of numbers has no mask."""
        raise RuntimeError("masked tensors have no plain numbers; use to_tensor(value) or get_data() first")

    numpy = to_sparse = to_sparse_csr = tolist

    def __bool__(self) -> bool:
        return bool(self._d)

    def __float__(self) -> float:
        return float(self._d)

    def __int__(self) -> int:
        return int(self._d)

    def __iter__(self) -> Any:
        raise _refusal("unbind")

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _made, (self._d, self._m)

    def __repr__(self) -> str:
        if not self.ndim:
            return f"MaskedTensor({_cell(self._d, self._m)}, {bool(self._m)})"
        return f"MaskedTensor(\n{_block(self._d, self._m, 2)}\n)"


def _cell(x: Tensor, counts: Any) -> str:
    if not counts:
        return "--"
    return f"{x.item():8.4f}" if x.dtype.is_floating_point else str(x.item())


def _block(data: Tensor, mask: Tensor, indent: int) -> str:
    """The elements between brackets, in a row those that do not count as wide as its widest number."""
    space = " " * indent
    if data.ndim > 1:
        inner = ",\n".join(_block(d, m, indent + 2) for d, m in zip(data, mask))
        return f"{space}[\n{inner}\n{space}]"
    cells = [_cell(d, m) for d, m in zip(data.detach(), mask)]
    width = max((8 if cell == "--" else len(cell) for cell in cells), default=8)
    return f"{space}[{', '.join('--'.rjust(width) if cell == '--' else cell for cell in cells)}]"


def _made(data: Any, mask: Any) -> Any:
    """The masked tensor of these; of sequences of them one each."""
    if isinstance(data, (tuple, list)):
        return type(data)(map(_made, data, mask))
    out = object.__new__(MaskedTensor)
    out._d, out._m = data, mask
    return out


def _each(x: Any, part: Callable[[MaskedTensor], Any]) -> Any:
    """An argument (or sequence of them) with masked tensors replaced by one of their parts."""
    if isinstance(x, (tuple, list)):
        return type(x)(_each(y, part) for y in x)
    return part(x) if type(x) is MaskedTensor else x


def _data(x: MaskedTensor) -> Tensor:
    return x._d


def _mask(x: MaskedTensor) -> Tensor:
    return x._m


def _function(name: str) -> Callable[..., Any]:
    found = METHODS.get(name) or FUNCTIONS.get(name) or getattr(Tensor, name)
    return found.fget if isinstance(found, property) else found  # type: ignore[return-value]


def _answer(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """What a function of `torch` does where an operand is a masked tensor."""
    plain = name[:-1] if name.endswith("_") and not name.startswith("_") else name
    if name in ("__get__", "__set__"):
        raise _refusal("reading an attribute")
    if name in _FACTS:
        found = getattr(args[0]._d, name)
        return found(*args[1:], **kwargs) if callable(found) else found
    data = [_each(x, _data) for x in args]
    if plain in _UNARY and not any(type(x) is MaskedTensor for x in args[1:]):
        if name == "pow" and isinstance(args[1], Tensor):
            raise _refusal(name)
        out, mask = _function(name)(*data, **kwargs), args[0]._m
    elif plain in _BINARY and len(args) == 2:
        if kwargs and plain != "isclose":
            raise ValueError(f"{name}: masked tensors take no {', '.join(kwargs)}")
        masks = [x._m for x in args if type(x) is MaskedTensor]
        if not all(_comparison.equal(masks[0], m) for m in masks):
            raise ValueError(f"{name}: the two masks must be equal; give both the same, or convert with to_tensor(value)")
        out, mask = _function(name)(*data, **kwargs), masks[0]
    elif name in _SHAPING:
        f = _function(name)
        out, mask = f(*data, **kwargs), f(*(_each(x, _mask) for x in args), **kwargs)
    elif name in _REDUCTIONS:
        return _reduced(name, *args, **kwargs)
    elif name == "softmax":
        kwargs.pop("_stacklevel", None)
        out, mask = masked.softmax(*data, mask=args[0]._m, **kwargs), args[0]._m
    elif name == "where":
        masks = [x._m if type(x) is MaskedTensor else _creation.ones_like(x, dtype=args[0].dtype) for x in args[1:]]
        out, mask = _binary.where(*data), _binary.where(args[0], *masks)
    elif name == "copy_":
        args[0]._d.copy_(data[1])
        args[0]._m.copy_(args[1]._m if type(args[1]) is MaskedTensor else True)
        return args[0]
    elif name == "is_tensor":
        return True
    elif name.startswith("__") and name in _OPERATORS:
        return _answer(_OPERATORS[name], args, kwargs)
    else:
        raise _refusal(name)
    return args[0] if plain != name else _made(out, mask)


def _reduced(name: str, x: MaskedTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None, **kwargs: Any) -> Any:
    """A reduction of what counts; where nothing does along the dimensions, the result does not count."""
    axes = tuple(range(x.ndim)) if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    if name == "mean" and not (dtype or x.dtype).is_floating_point:
        raise ValueError(f"mean: a masked tensor of dtype {x.dtype} has no mean; convert it, or pass dtype=")
    mask = x._m
    for axis in sorted((a % x.ndim for a in axes), reverse=True):
        mask = mask.any(axis, keepdim=keepdim)
    if name == "all":
        out = _comparison.logical_or(x._d, ~x._m)
        for axis in sorted((a % x.ndim for a in axes), reverse=True):
            out = out.all(axis, keepdim=keepdim)
        return _made(out, mask)
    options: dict[str, Any] = {"keepdim": keepdim, "mask": x._m, "dtype": dtype}
    if name in ("var", "std"):
        options["unbiased"] = kwargs.pop("unbiased", kwargs.pop("correction", 1) != 0)
    if kwargs:
        raise TypeError(f"{name}: masked tensors take no {', '.join(kwargs)}")
    if name in ("argmin", "argmax"):
        out = getattr(masked, name)(x._d.detach(), dim, **options).to(x.dtype)
    else:
        out = getattr(masked, name)(x._d, dim, **options)
    return _made(out, mask)


_OPERATORS = OPERATORS | {
    "__floordiv__": "floor_divide", "__mod__": "remainder", "__getitem__": "__getitem__", "__len__": "__len__",
}  # fmt: skip
offer_operators(MaskedTensor, _answer, _OPERATORS)


def _over(self: MaskedTensor, other: Any) -> Any:
    return _answer("mul", (_answer("reciprocal", (self,), {}), other), {})


MaskedTensor.__rtruediv__ = _over  # type: ignore[attr-defined]


def masked_tensor(data: Any, mask: Any, requires_grad: bool = False) -> MaskedTensor:
    """A masked tensor of copies: a leaf, whose gradient is wanted if `requires_grad`."""
    if type(data) is not MaskedTensor and isinstance(data, Tensor) and isinstance(mask, Tensor):
        data = data.detach().clone()
        mask = mask if type(mask) is MaskedTensor else mask.detach().clone()
    return MaskedTensor(data, mask, requires_grad)


def as_masked_tensor(data: Any, mask: Any) -> MaskedTensor:
    """A masked tensor of these, history and all: gradients reach the tensor, and are plain ones there."""
    return MaskedTensor(data, mask)


def is_masked_tensor(obj: Any) -> bool:
    """Whether an object is a masked tensor."""
    return type(obj) is MaskedTensor
