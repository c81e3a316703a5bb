"""`NestedTensor`: a batch of tensors of different sizes, in PyTorch's two layouts; its names are in nested.py.

Both hold the tensors of the batch (`parts`), cut from one memory where they were made together. In the jagged layout they
differ along one axis; while that is their first, what is computed row by row is computed on all of them at once (`packed`).
Axis k of the whole is axis k - 1 of a part, and of all of them packed. What a layout does not have in PyTorch is refused.
"""

from __future__ import annotations

import functools
import itertools
import textwrap
from collections.abc import Callable
from typing import Any

from . import _creation, _joining
from ._answered import OPERATORS, offer_operators
from ._api import FUNCTIONS, METHODS
from ._creation import as_tensor
from ._function_protocol import disabled, install
from ._size import CPU, Size, only_on_cpu
from ._sparse_tensor import SparseTensor
from ._tensor import Tensor
from .nn.functional import _padding


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_ELEMENTS = _names(
    "abs absolute add clone contiguous cos cpu detach div divide double dropout eq float bfloat16 half int long short bool ge "
    "gelu gt isnan logical_not mul multiply neg negative relu sgn silu sin sqrt sub subtract tanh to true_divide type zeros_like "
    "masked_fill randn_like ones_like empty_like fill zero alpha_dropout isinf isfinite"
)
"""Functions of the elements that both layouts have."""
_JAGGED_ELEMENTS = _names(
    "acos asin atan bitwise_and bitwise_not bitwise_or bitwise_xor ceil celu clamp cosh elu erf erfc exp exp2 expm1 floor "
    "floor_divide fmod frac full_like hardsigmoid hardswish hardtanh le leaky_relu lgamma log log10 log1p log2 logical_and "
    "logical_or lt maximum minimum mish nan_to_num ne pow rand_like reciprocal relu6 remainder round rsqrt rsub selu "
    "sigmoid sign sinh softplus softsign square tan threshold trunc where logit erfinv atan2 hypot xlogy lerp positive"
)
_REDUCING = _names("sum mean prod amax amin max min argmax argmin any all")
_ALONG = {**dict.fromkeys(_REDUCING | _names("softmax log_softmax narrow select unflatten"), 1), "chunk": 2, "split": 2}
"""Functions along an axis, and where that stands among the arguments."""
_STRIDED_ALONG = _names("softmax chunk select split")
_ROWS = _names("linear embedding layer_norm rms_norm")
_FACTS = _names("dtype requires_grad is_floating_point is_complex element_size itemsize is_inference is_pinned")

LAYOUTS: list[Any] = []
"""The strided and the jagged layout; set in nested.py."""
_numbers = itertools.count(1)


class _Length:
    """The size of an axis whose parts differ: equal to itself only."""

    def __init__(self, text: str | None = None) -> None:
        self._text = text

    def __mul__(self, k: int) -> _Length:
        return self if k == 1 else _Length(f"{k}*{self}")

    __rmul__ = __mul__

    def __repr__(self) -> str:
        if self._text is None:
            self._text = f"j{next(_numbers)}"
        return self._text


def _refusal(name: str, x: NestedTensor, kind: type[Exception] = NotImplementedError) -> Exception:
    layout = "jagged" if x._jagged else "strided"
    return kind(f"{name}: not defined for nested tensors of the {layout} layout; use unbind() or to_padded_tensor() first")


class NestedTensor:
    """A batch of tensors that have the same number of axes, and in the jagged layout the same sizes but for one."""

    is_nested = True
    is_sparse = is_cuda = is_quantized = is_meta = False
    device = CPU
    __class__ = Tensor
    """What `isinstance` goes by: a nested tensor is a tensor to its users."""
    __array_priority__ = 2000
    __hash__ = object.__hash__
    _level = 0
    _dialect = "torch"

    def __init__(
        self, parts: Any = None, packed: Tensor | None = None, like: NestedTensor | None = None, *, jagged: bool = False,
        ragged: int = 0, root: Tensor | None = None,
    ) -> None:  # fmt: skip
        install()
        self._jagged, self._ragged, self._root = jagged, ragged, root
        self._kept, self._packed = None if parts is None else tuple(parts), packed
        for part in self._kept or () if packed is None else (packed,):
            only_on_cpu("nested_tensor", part.device)
        if like is not None:
            self._jagged, self._length, self._lengths = like._jagged, like._length, like._lengths
        else:
            self._length, self._lengths = _Length(), [p.shape[ragged] if p.ndim else 1 for p in self._kept or ()]

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        return _answer(getattr(func, "__name__", str(func)), args, kwargs or {}, func)

    def __getattr__(self, name: str) -> Any:
        if name in _FACTS:
            return getattr(self._one(), name)
        if name[:2] == "__" or not hasattr(Tensor, name):
            raise AttributeError(f"nested tensors have no attribute {name!r}")
        if isinstance(getattr(Tensor, name), property):
            return _answer(name, (self,), {})
        return functools.partial(_answering, name, self)

    # -------------------------------------------------------------------- what it holds

    @property
    def _parts(self) -> tuple[Tensor, ...]:
        if self._kept is None:
            self._kept = tuple(_joining.split_method(self._packed, self._lengths))
        return self._kept

    def _one(self) -> Tensor:
        if self._packed is not None:
            return self._packed
        return self._parts[0] if self._parts else _creation.zeros(0)

    def values(self) -> Tensor:
        """The parts one after the other, in the strided layout as one axis."""
        if self._packed is None:
            rows = self._parts if self._jagged and not self._ragged else [p.reshape(-1) for p in self._parts]
            self._packed = _joining.cat(list(rows)) if rows else self._one()
            if not self._jagged or self._ragged:
                out, self._packed = self._packed, None
                return out
        return self._packed

    def _rows(self) -> Tensor | None:
        """What is computed row by row at once; None where that cannot be."""
        return self.values() if self._jagged and not self._ragged else None

    def offsets(self) -> Tensor:
        """Where each part begins among the values, and their end; of the jagged layout only."""
        if not self._jagged:
            raise AttributeError("offsets: a nested tensor of the strided layout has none")
        return as_tensor([0, *itertools.accumulate(self._lengths)])

    def lengths(self) -> None:
        """None: the parts follow each other without gaps."""
        if not self._jagged:
            raise AttributeError("lengths: a nested tensor of the strided layout has none")

    def unbind(self, dim: int = 0) -> tuple[Tensor, ...]:
        """The parts."""
        if dim % self.ndim:
            raise RuntimeError("unbind: a nested tensor comes apart along its first axis only")
        return self._parts

    # -------------------------------------------------------------------- what it is

    @property
    def layout(self) -> Any:
        """`torch.strided` or `torch.jagged`."""
        return LAYOUTS[self._jagged]

    @property
    def ndim(self) -> int:
        """The number of axes, that of the batch included."""
        if self._packed is not None and self._kept is None:
            return self._packed.ndim + 1
        return self._parts[0].ndim + 1 if self._parts else 1

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    def numel(self) -> int:
        """The number of elements of all parts."""
        return sum(p.numel() for p in self._parts)

    @property
    def shape(self) -> Size:
        """The sizes, those that differ as `j1`; raises RuntimeError in the strided layout."""
        if not self._jagged:
            raise RuntimeError("size: the parts of this nested tensor may differ along any axis; ask size(k) for one")
        sizes: list[Any] = [len(self._lengths), *self._parts[0].shape]
        sizes[self._ragged + 1] = self._length
        return tuple.__new__(Size, sizes)

    def size(self, dim: int | None = None) -> Any:
        """The sizes, or that along one axis; raises RuntimeError where the parts of the strided layout differ."""
        if dim is None or self._jagged:
            return self.shape if dim is None else self.shape[dim]
        found = {len(self._parts)} if dim % self.ndim == 0 else {p.shape[dim % self.ndim - 1] for p in self._parts}
        if len(found) != 1:
            raise RuntimeError(f"size: the parts of this nested tensor differ along axis {dim}")
        return found.pop()

    def stride(self) -> tuple[Any, ...]:
        """The strides in the jagged layout."""
        inner = self._parts[0].stride() if self._jagged else ()
        if not inner:
            raise RuntimeError("stride: the parts of this nested tensor have strides of their own")
        return (self._length * inner[self._ragged], *inner)

    def _nested_tensor_size(self) -> Tensor:
        return as_tensor([list(p.shape) for p in self._parts])

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the parts follow each other in memory."""
        return all(p.is_contiguous() for p in self._parts)

    def is_same_size(self, other: Any) -> bool:
        """Whether two nested tensors have parts of the same sizes."""
        return [p.shape for p in self._parts] == [p.shape for p in other._parts]

    def __len__(self) -> int:
        return self.shape[0]

    def __iter__(self) -> Any:
        len(self)  # which the strided layout does not have
        return iter(self._parts)

    # -------------------------------------------------------------------- the tape

    @property
    def is_leaf(self) -> bool:
        """Whether it was not computed from others that require grad."""
        return self._root is not None or not self.requires_grad

    @property
    def grad_fn(self) -> Any:
        """The node that computed the elements, None for a leaf."""
        return None if self._root is not None else self._one().grad_fn

    @property
    def grad(self) -> NestedTensor | None:
        """The gradient of a leaf, nested as it is; None before a backward pass."""
        found = None if self._root is None else self._root.grad
        return None if found is None else _cut(found, self)

    def requires_grad_(self, requires_grad: bool = True) -> NestedTensor:
        """Say that the gradient of this leaf is wanted; returns the tensor."""
        if self._root is None:
            if self.requires_grad:
                return self
            self._root = self.values().detach().clone()
        self._root.requires_grad_(requires_grad)
        again = _cut(self._root, self)
        self._kept, self._packed = again._kept, again._packed
        return self

    def backward(self, *args: Any, **kwargs: Any) -> None:
        """Raises RuntimeError: there is no gradient to begin with; call it on a sum."""
        raise RuntimeError("backward: a nested tensor is no number; call it on the sum of its parts")

    item = tolist = numpy = __bool__ = __float__ = __int__ = lambda self, *args: self._no_numbers()

    def _no_numbers(self) -> Any:
        raise RuntimeError("a nested tensor has no plain numbers; use unbind() or to_padded_tensor() first")

    # -------------------------------------------------------------------- conversion

    def to_padded_tensor(self, padding: float, output_size: Any = None) -> Tensor:
        """A tensor with `padding` where parts end before the largest, or before `output_size`."""
        parts = self._parts
        if not parts:
            raise RuntimeError("to_padded_tensor: a nested tensor without parts has no size")
        sizes = [max(p.shape[k] for p in parts) for k in range(parts[0].ndim)]
        batch = len(parts)
        if output_size is not None and self._jagged:
            sizes[self._ragged] = output_size[self._ragged + 1]
            keep = [slice(None)] * self._ragged + [slice(0, sizes[self._ragged])]
            parts = tuple(p[tuple(keep)] for p in parts)
        elif output_size is not None:
            if len(output_size) != len(sizes) + 1 or any(a > b for a, b in zip([batch, *sizes], output_size)):
                raise RuntimeError(f"to_padded_tensor: parts up to {sizes} do not fit into {list(output_size)}")
            batch, *sizes = output_size
        pad = _padding.constant_pad
        rows = [pad(p, [n for k in range(len(sizes) - 1, -1, -1) for n in (0, sizes[k] - p.shape[k])], padding) for p in parts]
        rows += [_creation.new_full(parts[0], sizes, padding) for _ in range(batch - len(rows))]
        return _joining.stack(rows)

    def __getitem__(self, index: Any) -> Any:
        first, *rest = index if isinstance(index, tuple) else (index,)
        if isinstance(first, int) and not isinstance(first, bool):
            part = self._parts[first]
            return part[tuple(rest)] if rest else part
        if first is ... and len(rest) == 1 and self.ndim - 1 > self._ragged + 1:
            return self._each(lambda p: p[..., rest[0]])
        raise _refusal("indexing", self, RuntimeError if self._jagged else NotImplementedError)

    def _each(self, f: Callable[[Tensor], Any], ragged: int | None = None) -> Any:
        """A nested tensor of what a function makes of the parts."""
        return NestedTensor([f(p) for p in self._parts], like=self, ragged=self._ragged if ragged is None else ragged)

    def __reduce_ex__(self, protocol: Any) -> Any:
        leaf = self._root is not None and self.requires_grad
        return _again, ([p.detach().clone() for p in self._parts], self._jagged, self._ragged, leaf)

    def __repr__(self) -> str:
        state = f", grad_fn={self.grad_fn}" if self.grad_fn is not None else ", requires_grad=True" if self.requires_grad else ""
        if self._jagged:
            return f"NestedTensor(size={tuple(self.shape)}, offsets={self.offsets()}{state}, contiguous={self.is_contiguous()})"
        inner = ",\n".join(textwrap.indent(repr(p.detach()), "  ") for p in self._parts)
        return f"nested_tensor([\n{inner}\n]{state})"


def _again(parts: list[Tensor], jagged: bool, ragged: int, requires_grad: bool) -> NestedTensor:
    made = NestedTensor(parts, jagged=jagged, ragged=ragged)
    return made.requires_grad_() if requires_grad else made


def _cut(memory: Tensor, like: NestedTensor) -> NestedTensor:
    """The nested tensor whose parts are cut from one memory as another's."""
    if like._rows() is not None:
        return NestedTensor(None, memory, like)
    shapes = [p.shape for p in like._parts]
    rows = _joining.split_method(memory, [s.numel() for s in shapes])
    return NestedTensor([r.reshape(s) for r, s in zip(rows, shapes)], like=like, ragged=like._ragged)


# ------------------------------------------------------------------------------------------ what functions do


def _answering(name: str, x: NestedTensor, *args: Any, **kwargs: Any) -> Any:
    return _answer(name, (x, *args), kwargs)


def _function(name: str) -> Callable[..., Any]:
    found = METHODS.get(name) or FUNCTIONS.get(name) or getattr(Tensor, name)
    return found.fget if isinstance(found, property) else found  # type: ignore[return-value]


def _first(args: Any) -> NestedTensor:
    return next(x for a in args for x in (a if isinstance(a, (list, tuple)) else (a,)) if type(x) is NestedTensor)


def _answer(name: str, args: tuple[Any, ...], kwargs: dict[str, Any], f: Any = None) -> Any:
    """What a function of `torch` does where an operand is nested; `f` is the function, of a method that of its name."""
    x = _first((*args, *kwargs.values()))
    name = OPERATORS.get(name, name)
    plain = name[:-1] if name.endswith("_") and name[0] != "_" else name
    kwargs.pop("_stacklevel", None)
    if args and args[0] is x and name in _FACTS | _OWN:
        found = getattr(x, name)
        return found(*args[1:], **kwargs) if callable(found) else found
    if plain in _ELEMENTS or (x._jagged and plain in _JAGGED_ELEMENTS):
        return _elements(name, plain, f or _function(name), x, args, kwargs)
    if name in _ROWS:
        return _by_rows(f or _function(name), x, args, kwargs)
    if plain in _ALONG and args[0] is x and (x._jagged or plain in _STRIDED_ALONG or kwargs.get("keepdim")):
        return _along(plain, f or _function(name), *args, **kwargs)
    if name == "save":
        with disabled():
            return f(*args, **kwargs)
    answer = _ANSWERS.get(name)
    if answer is None:
        raise _refusal(name, x)
    return answer(*args, **kwargs)


def _elements(name: str, plain: str, f: Any, x: NestedTensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """A function of the elements, of nested tensors of the same parts and of what goes with each of these."""
    if plain == "eq" and not x._jagged and type(args[1]) is NestedTensor:
        raise _refusal("eq", x, RuntimeError)
    if plain == "to" and kwargs.get("layout", x.layout) is not x.layout:
        raise _refusal("to(layout=)", x, RuntimeError)
    kwargs = {k: v for k, v in kwargs.items() if k != "layout"}
    nested = [a for a in (*args, *kwargs.values()) if type(a) is NestedTensor]
    for other in nested:
        same = other._length is x._length and other._jagged == x._jagged if x._jagged else x.is_same_size(other)
        if not same or other._ragged != x._ragged:
            raise RuntimeError(f"{name}: the nested tensors differ in their parts; make one from the other's offsets()")
    for other in args:
        most = x.ndim - 1 - x._ragged if x._jagged else 1
        if isinstance(other, Tensor) and type(other) is not NestedTensor and other.ndim >= most:
            raise RuntimeError(f"{name}: a tensor of shape {list(other.shape)} does not go with each part of a nested one")
    if all(n._rows() is not None for n in nested):
        out = f(*(_packed(a) for a in args), **{k: _packed(v) for k, v in kwargs.items()})
        return x if plain != name else NestedTensor(None, out, x)
    made = [
        f(*(_part(a, i) for a in args), **{k: _part(v, i) for k, v in kwargs.items()}) for i in range(len(x._parts))
    ]
    return x if plain != name else NestedTensor(made, like=x, ragged=x._ragged)


def _packed(x: Any) -> Any:
    return x.values() if type(x) is NestedTensor else x


def _part(x: Any, i: int) -> Any:
    return x._parts[i] if type(x) is NestedTensor else x


def _axis(name: str, x: NestedTensor, dim: int) -> int:
    """An axis of the parts; raises RuntimeError for that of the batch."""
    if not -x.ndim <= dim < x.ndim:
        raise IndexError(f"{name}: a nested tensor of {x.ndim} axes has no axis {dim}")
    if dim % x.ndim == 0:
        raise RuntimeError(f"{name}: not along the axis of the batch; use unbind() or to_padded_tensor() first")
    return dim % x.ndim - 1


def _several(like: Any, made: list[NestedTensor]) -> Any:
    return type(like)(made) if hasattr(like, "values") else tuple(made)


def _along(name: str, f: Any, x: NestedTensor, *args: Any, **kwargs: Any) -> Any:
    """A function along one axis; what is left of a reduction of the axis along which parts differ is a plain tensor."""
    place = _ALONG[name] - 1
    dim = kwargs.pop("dim", args[place] if len(args) > place else None)
    if dim is None:
        if name in _REDUCING and x._jagged and not args:
            return f(x.values(), **kwargs)
        dim = 0
    if name == "select" and dim % x.ndim == 0:
        return x._parts[args[1]]
    if isinstance(dim, (tuple, list)):
        if len(dim) != 1:
            raise _refusal(f"{name} along several axes", x)
        dim = dim[0]
    axis = _axis(name, x, dim)
    args = (*args[:place], axis, *args[place + 1 :]) if place <= len(args) else args
    rows = x._rows()
    if (name == "chunk" and axis < x.ndim - 2) or (name == "select" and x._jagged and axis == x._ragged):
        raise _refusal(f"{name} along the axis that differs", x, RuntimeError)
    if rows is not None and axis:
        out = f(rows, *args, **kwargs)
        if isinstance(out, (tuple, list)):
            return _several(out, [NestedTensor(None, o, x) for o in out])
        return NestedTensor(None, out, x)
    found = [f(p, *args, **kwargs) for p in x._parts]
    if name in _REDUCING and x._jagged and axis == x._ragged:
        return _joining.stack(found)
    if isinstance(found[0], (tuple, list)):
        made = [NestedTensor(parts, like=x, ragged=x._ragged) for parts in zip(*found)]
        return _several(found[0], made)
    return NestedTensor(found, like=x, ragged=x._ragged)


def _by_rows(f: Any, x: NestedTensor, args: tuple[Any, ...], kwargs: dict[str, Any]) -> NestedTensor:
    """A function of the last axes, on all rows at once where they lie in one memory."""
    if x._rows() is not None:
        return NestedTensor(None, f(*map(_packed, args), **kwargs), x)
    return NestedTensor([f(*(_part(a, i) for a in args), **kwargs) for i in range(len(x._parts))], like=x, ragged=x._ragged)


def _matmul(a: Any, b: Any) -> Any:
    f, x = _function("matmul"), _first((a, b))
    if type(a) is type(b) is NestedTensor and not x._jagged:
        return x._each(lambda p: p) if not x._parts else NestedTensor([f(p, q) for p, q in zip(a._parts, b._parts)], like=x)
    if x is a and x._rows() is not None and type(b) is not NestedTensor and b.ndim == 2:
        return NestedTensor(None, f(x.values(), b), x)
    raise _refusal("matmul of these", x, RuntimeError)


def _transpose(x: NestedTensor, dim0: int, dim1: int) -> NestedTensor:
    a, b = _axis("transpose", x, dim0), _axis("transpose", x, dim1)
    return x._each(lambda p: p.transpose(a, b), {a: b, b: a}.get(x._ragged, x._ragged))


def _permute(x: NestedTensor, *dims: Any) -> NestedTensor:
    order = [d % x.ndim for d in (dims[0] if len(dims) == 1 else dims)]
    if not x._jagged or order[:1] != [0] or sorted(order) != list(range(x.ndim)):
        raise _refusal("permute", x)
    inner = [d - 1 for d in order[1:]]
    return x._each(lambda p: p.permute(inner), inner.index(x._ragged))


def _unsqueeze(x: NestedTensor, dim: int) -> NestedTensor:
    axis = dim % (x.ndim + 1) - 1
    if axis < 0:
        raise _refusal("unsqueeze of the batch", x, RuntimeError)
    return x._each(lambda p: p.unsqueeze(axis), x._ragged + (axis <= x._ragged))


def _squeeze(x: NestedTensor, dim: int | None = None) -> NestedTensor:
    if dim is None:
        raise _refusal("squeeze without dim", x, RuntimeError)
    axis = _axis("squeeze", x, dim)
    return x._each(lambda p: p.squeeze(axis), x._ragged - (axis < x._ragged))


def _reshape(x: NestedTensor, *sizes: Any) -> NestedTensor:
    wanted = list(sizes[0]) if len(sizes) == 1 and not isinstance(sizes[0], int) else list(sizes)
    if len(wanted) < x.ndim or wanted[0] not in (-1, len(x._parts)):
        raise _refusal(f"view as {wanted}", x, RuntimeError)
    at = x._ragged

    def shaped(p: Tensor) -> Tensor:
        return p.reshape([p.shape[at] if k == at and s in (-1, x._length) else s for k, s in enumerate(wanted[1:])])

    return x._each(shaped)


def _cat(tensors: Any, dim: int = 0) -> NestedTensor:
    x = _first(tensors)
    if not all(type(t) is NestedTensor for t in tensors) or (x._jagged and not dim % x.ndim):
        raise _refusal("cat of these", x, RuntimeError)
    if not dim % x.ndim:
        return NestedTensor([p for t in tensors for p in t._parts])
    axis = _axis("cat", x, dim)
    if axis == x._ragged or any(len(t._parts) != len(x._parts) for t in tensors):
        raise _refusal("cat of these", x, RuntimeError)
    made = [_joining.cat(list(parts), axis) for parts in zip(*(t._parts for t in tensors))]
    return NestedTensor(made, like=x, ragged=x._ragged)


def _copy(x: NestedTensor, src: Any, non_blocking: bool = False) -> NestedTensor:
    if type(src) is not NestedTensor or not x.is_same_size(src):
        raise RuntimeError("copy_: the source must be a nested tensor of the same sizes")
    for p, q in zip(x._parts, src._parts):
        p.copy_(q)
    return x


def _attention(query: Any, key: Any, value: Any, *args: Any, **kwargs: Any) -> NestedTensor:
    from .nn.functional import scaled_dot_product_attention as f

    if not all(type(x) is NestedTensor for x in (query, key, value)) or query.ndim != 4:
        raise _refusal("scaled_dot_product_attention of these", _first((query, key, value)), RuntimeError)
    made = [f(q, k, v, *args, **kwargs) for q, k, v in zip(query._parts, key._parts, value._parts)]
    return NestedTensor(made, like=query, ragged=query._ragged)


def _equal(a: Any, b: Any) -> Any:
    raise _refusal("equal", _first((a, b)), AttributeError if _first((a, b))._jagged else NotImplementedError)


_ANSWERS: dict[str, Callable[..., Any]] = {
    "matmul": _matmul, "bmm": _matmul, "transpose": _transpose, "permute": _permute,
    "mT": lambda x: _transpose(x, -2, -1), "unsqueeze": _unsqueeze, "squeeze": _squeeze, "reshape": _reshape, "view": _reshape,
    "cat": _cat, "concat": _cat, "copy_": _copy, "scaled_dot_product_attention": _attention, "equal": _equal,
    "is_tensor": lambda x: True,
}  # fmt: skip
_OWN = _names(
    "unbind to_padded_tensor size dim numel shape ndim layout requires_grad_ is_contiguous is_same_size __getitem__ __len__ "
    "backward values stride"
)
offer_operators(NestedTensor, _answer, OPERATORS)

# ------------------------------------------------------------------------------------------ how it is made


def _checked(op: str, parts: list[Any], jagged: bool) -> list[Any]:
    """Tensors that go into one nested tensor; raises RuntimeError for others."""
    if any(isinstance(p, SparseTensor) or type(p) is NestedTensor for p in parts):
        raise TypeError(f"{op}: wanted dense tensors")
    if len({p.ndim for p in parts}) > 1:
        raise RuntimeError(f"{op}: the tensors differ in their number of axes")
    if jagged and (not parts or not parts[0].ndim or len({(p.shape[1:], p.dtype) for p in parts}) > 1):
        raise RuntimeError(f"{op}: the jagged layout wants tensors of one dtype that differ along their first axis only")
    return [p if p.dtype is parts[0].dtype else p.to(parts[0].dtype) for p in parts]


def nested_tensor(
    tensor_list: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> NestedTensor:  # fmt: skip
    """A leaf of copies of tensors (or of what `torch.tensor` takes), which share one memory."""
    only_on_cpu("nested_tensor", device)
    jagged = layout is LAYOUTS[1]
    if isinstance(tensor_list, Tensor) and jagged:
        tensor_list = tensor_list.unbind()
    if not isinstance(tensor_list, (list, tuple)):
        raise TypeError(f"nested_tensor: wanted a list of tensors, got {type(tensor_list).__name__}")
    parts = [p if type(p) is NestedTensor else as_tensor(p).detach() for p in tensor_list]
    parts = [p.to(dtype) for p in parts] if dtype is not None else parts
    parts = _checked("nested_tensor", parts, jagged)
    if not parts:
        return NestedTensor((), root=None)
    made = NestedTensor(parts, jagged=jagged)
    made._root = made.values().clone()
    return made.requires_grad_(requires_grad)


def as_nested_tensor(ts: Any, dtype: Any = None, device: Any = None, layout: Any = None) -> NestedTensor:
    """A nested tensor of these tensors, history and all."""
    only_on_cpu("as_nested_tensor", device)
    jagged = layout is LAYOUTS[1]
    if type(ts) is NestedTensor or not isinstance(ts, (list, tuple, Tensor)):
        raise TypeError(f"as_nested_tensor: wanted tensors, got {type(ts).__name__}")
    parts = list(ts.unbind() if isinstance(ts, Tensor) else ts)
    if not all(isinstance(p, Tensor) for p in parts):
        raise TypeError("as_nested_tensor: wanted tensors; nested_tensor() takes numbers and lists, too")
    parts = [p.to(dtype) for p in parts] if dtype is not None else parts
    return NestedTensor(_checked("as_nested_tensor", parts, jagged), jagged=jagged)


def nested_tensor_from_jagged(
    values: Any, offsets: Any = None, lengths: Any = None, jagged_dim: int | None = None, min_seqlen: Any = None,
    max_seqlen: Any = None,
) -> NestedTensor:  # fmt: skip
    """The nested tensor whose parts follow each other along the first axis of `values`, given their offsets or lengths."""
    if offsets is None and lengths is None:
        raise RuntimeError("nested_tensor_from_jagged: give offsets or lengths")
    if jagged_dim not in (None, 1):
        raise NotImplementedError("nested_tensor_from_jagged: only jagged_dim=1 is made here; transpose the result")
    if offsets is None:
        sizes = [int(n) for n in lengths.tolist()]
        starts = [0, *itertools.accumulate(sizes)][:-1]
    else:
        ends = [int(n) for n in offsets.tolist()]
        starts = ends[:-1]
        sizes = [b - a for a, b in itertools.pairwise(ends)] if lengths is None else [int(n) for n in lengths.tolist()]
    return NestedTensor([values[a : a + n] for a, n in zip(starts, sizes)], jagged=True)


def narrow(tensor: Any, dim: int, start: Any, length: Any, layout: Any = None) -> NestedTensor:
    """Of each row of a tensor the elements from `start` on along its second axis, `length` of them."""
    if dim != 1:
        raise RuntimeError(f"narrow: only along axis 1, got {dim}")
    n = tensor.shape[0]
    starts, lengths = (x.tolist() if isinstance(x, Tensor) else [x] * n for x in (start, length))
    return NestedTensor([t[a : a + k] for t, a, k in zip(tensor.unbind(), starts, lengths)], jagged=layout is LAYOUTS[1])


def masked_select(tensor: Any, mask: Any) -> NestedTensor:
    """Of each row of a tensor the elements whose mask is set, in the jagged layout."""
    mask = mask.expand(tensor.shape)
    return NestedTensor([t[m] for t, m in zip(tensor.unbind(), mask.unbind())], jagged=True)


def to_padded_tensor(input: Any, padding: float, output_size: Any = None, out: Any = None) -> Tensor:
    """A tensor with `padding` where the parts of a nested one end."""
    return input.to_padded_tensor(padding, output_size)  # type: ignore[no-any-return]
