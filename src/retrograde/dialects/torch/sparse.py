"""`torch.sparse`: what makes sparse tensors in coordinate form, and what is computed with them (see _sparse_tensor.py)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.scattered import merge_order
from ...core.value import Value
from ...learn import sparse as math
from . import _writing
from ._api import METHODS, api
from ._api import attributes as _attributes
from ._axes import axis_of
from ._compressed_tensor import LAYOUTS, CompressedTensor, in_layout
from ._conversion import NAMED_DTYPES
from ._creation import as_tensor, zeros
from ._data import sizes
from ._dtype import bool_, int64
from ._graph_nodes import show_as
from ._legacy_types import NAMES, LegacyType
from ._promote import pair
from ._size import only_on_cpu
from ._sparse_tensor import ANSWERS, SparseTensor, answers, unsupported
from ._tensor import Tensor, from_array

# ------------------------------------------------------------------------------------------ making them


@api(method=False)
def sparse_coo_tensor(
    indices: Any = None, values: Any = None, size: Any = None, *, dtype: Any = None, device: Any = None,
    requires_grad: bool = False, check_invariants: bool | None = None, is_coalesced: bool | None = None,
) -> SparseTensor:  # fmt: skip
    """A sparse tensor with `values[k]` at `indices[:, k]`; the size is the smallest that holds them if left out.

    With a size alone it keeps no element. Raises RuntimeError for indices outside the size, or a number of values that
    does not match.
    """
    only_on_cpu("sparse_coo_tensor", device)
    if values is None:
        size = indices if size is None else size
        indices, values = zeros((len(size), 0), dtype=int64), zeros((0,), dtype=dtype)
    i = as_tensor(indices)
    i = i.to(int64) if i.dtype is not int64 else i
    v = as_tensor(values) if dtype is None else as_tensor(values, dtype=dtype)
    if i.ndim != 2 or (v.ndim and v.shape[0] != i.shape[1]):
        raise RuntimeError(
            f"sparse_coo_tensor: indices of shape {list(i.shape)} and values of shape {list(v.shape)} do not match; "
            "indices are (axes, elements), values (elements, ...)"
        )
    positions = np.asarray(i._a)
    if size is None:
        size = (*(int(n) + 1 for n in positions.max(axis=1, initial=-1)), *v.shape[1:])
    size = tuple(size)
    limits = np.asarray(size[: len(positions)]).reshape(-1, 1)
    if positions.size and (positions.min() < 0 or (positions >= limits).any()):
        raise RuntimeError(f"sparse_coo_tensor: an index lies outside the size {list(size)}")
    if requires_grad:
        v = v.detach().requires_grad_()
    elif v.requires_grad:
        v = show_as(v.clone(), "SparseCooTensorWithDimsAndTensorsBackward0")
    return SparseTensor(i, v, size, bool(is_coalesced))


class _SparseType(LegacyType):
    """`isinstance(x, torch.sparse.FloatTensor)` asks for the dtype; calling makes a sparse tensor of positions and values."""

    place = "torch.sparse"

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, SparseTensor) and instance.dtype is cls.dtype

    def __call__(cls, *args: Any) -> SparseTensor:  # type: ignore[override]
        if not args:
            return sparse_coo_tensor((0,), dtype=cls.dtype)
        if len(args) in (2, 3) and all(isinstance(x, Value) for x in args[:2]):
            return sparse_coo_tensor(*args)
        if any(isinstance(x, Value) for x in args):
            raise TypeError(f"{cls.path}: wanted indices and values, with or without a size, or a size")
        return sparse_coo_tensor(sizes(cls.path, args), dtype=cls.dtype)


TYPES = {
    name: _SparseType(name, (), {"dtype": d, "__doc__": f"Sparse tensors of dtype {d.name}."})
    for name, d in NAMES.items() if not (d.is_complex or d is bool_)
}  # fmt: skip
globals().update(TYPES)


def _sparse_only(name: str) -> None:
    def method(self: Tensor) -> Any:
        raise RuntimeError(f"{name}: this tensor is dense; to_sparse() gives it in coordinate form")

    method.__name__ = method.__qualname__ = name
    method.__doc__ = "Of sparse tensors; raises RuntimeError."
    METHODS[name] = method


for _name in ("indices", "values", "coalesce", "is_coalesced", "crow_indices", "col_indices", "ccol_indices",
              "row_indices"):  # fmt: skip
    _sparse_only(_name)


@api(function=False)
def sparse_dim(self: Tensor) -> int:
    """How many axes the indices of a sparse tensor run over: none."""
    return 0


@api(function=False)
def dense_dim(self: Tensor) -> int:
    """How many axes are kept densely: all."""
    return self.ndim


@api("to_sparse", "to_sparse_coo", function=False)
def to_sparse(self: Tensor, sparse_dim: int | None = None, *, layout: Any = None) -> Any:
    """This tensor's non-zero elements as a sparse tensor, whose first `sparse_dim` axes (all of them) are sparse."""
    if layout is not None:
        return in_layout(to_sparse(self, sparse_dim), layout)
    only_on_cpu("to_sparse", self.device)
    kept = self.ndim if sparse_dim is None else sparse_dim
    i = from_array(math.nonzero(np.asarray(self.detach()._a), kept))
    out = SparseTensor(i, show_as(self[tuple(i)], "ToSparseBackward1"), tuple(self.shape), True)
    if self.requires_grad:
        out._source = self
    return out


@api("to_dense", function=False)
def to_dense(self: Tensor, dtype: Any = None) -> Tensor:
    """This tensor, which is dense."""
    return self if dtype is None else self.to(dtype)


@answers("sparse_mask")
@api("sparse_mask", function=False)
def sparse_mask(self: Tensor, mask: SparseTensor) -> SparseTensor:
    """The elements of a dense tensor at the positions of a sparse one."""
    return mask.with_values(self[tuple(mask._i)], "SparseMaskBackward0")


def spdiags(diagonals: Tensor, offsets: Tensor, shape: tuple[int, int], layout: Any = None) -> SparseTensor:
    """A sparse matrix with the rows of `diagonals` on the diagonals `offsets`; column k takes element k.

    Raises RuntimeError where there are not as many offsets as rows, or one is there twice.
    """
    wanted = offsets.reshape(-1).tolist()
    if len(set(wanted)) != len(wanted) or len(wanted) != (diagonals.shape[0] if diagonals.ndim > 1 else 1):
        raise RuntimeError(
            f"spdiags: wanted as many different offsets as diagonals ({list(diagonals.shape)}), got {wanted}"
        )
    rows = [(r - int(o), r, k) for k, o in enumerate(wanted)
            for r in range(min(shape[1], diagonals.shape[-1])) if 0 <= r - int(o) < shape[0]]  # fmt: skip
    place = np.array(rows, np.int64).reshape(-1, 3).T
    values = diagonals.reshape(-1, diagonals.shape[-1])[from_array(place[2]), from_array(place[1])]
    return SparseTensor(from_array(place[:2].copy()), values, shape)


# ------------------------------------------------------------------------------------------ element by element

_ZERO_TO_ZERO = """
    abs neg sign sgn sqrt sin tan asin atan sinh tanh asinh atanh expm1 log1p floor ceil round trunc frac relu positive erf
    erfinv deg2rad rad2deg isnan isinf isneginf isposinf square arcsin arctan arcsinh arctanh nan_to_num
"""


def _applied(name: str) -> Any:
    def run(input: SparseTensor, *args: Any, **kwargs: Any) -> SparseTensor:
        x = input.coalesce()
        return x.with_values(getattr(x._v, name)(*args, **kwargs))

    return run


for _name in _ZERO_TO_ZERO.split():
    ANSWERS[_name] = _applied(_name)
    ANSWERS[f"{_name}_"] = lambda input, *args, _f=ANSWERS[_name], **kwargs: input.become(_f(input, *args, **kwargs))
for _name in ("float", "double", "half", "bfloat16", "int", "long", "short", "bool"):
    ANSWERS[_name] = lambda input, _d=NAMED_DTYPES[_name]: input.with_values(input._v.to(_d))


def _number(x: Any) -> bool:
    return isinstance(x, (int, float, complex)) or (isinstance(x, Tensor) and x.ndim == 0)


@answers("add")
def add(input: Any, other: Any, *, alpha: Any = 1, out: Any = None) -> Any:
    """The sum of two sparse tensors, or of a dense and a sparse one."""
    if not isinstance(other, SparseTensor):
        raise RuntimeError(f"add: a sparse tensor takes a sparse one, got {type(other).__name__}; write dense + sparse")
    if not isinstance(input, SparseTensor):
        input = as_tensor(input)
        base = input.expand(tuple(other.shape)) if input.ndim == 0 else input
        total = base.index_put(tuple(other._i), other._v * alpha if alpha != 1 else other._v, accumulate=True)
        return show_as(total, "AddBackward0")
    if input.shape != other.shape:
        raise RuntimeError(f"add: sparse tensors have shapes {list(input.shape)} and {list(other.shape)}")
    indices = _cat([input._i, other._i], 1)
    values = _cat([input._v, other._v * alpha if alpha != 1 else other._v], 0)
    if input._v.is_contiguous() and other._v.is_contiguous():
        kept, getting, added = merge_order(input._places, other._places, tuple(input.shape))
        indices, both = indices.index_select(1, as_tensor(kept, dtype=int64)), values
        values = both.index_select(0, as_tensor(kept, dtype=int64))
        if getting:
            values = values.index_add(0, as_tensor(getting), both.index_select(0, as_tensor(added)))
    coalesced = input._coalesced and other._coalesced
    return SparseTensor(indices, show_as(values, "AddBackward0"), input.shape, coalesced)


@answers("sub", "subtract")
def sub(input: Any, other: Any, *, alpha: Any = 1) -> Any:
    """The difference of two sparse tensors, or of a dense and a sparse one."""
    return add(input, other, alpha=-alpha)


def _fits(given: tuple[int, ...], wanted: tuple[int, ...]) -> bool:
    """Whether a tensor of one shape can be expanded to another."""
    return len(given) <= len(wanted) and all(a in (1, b) for a, b in zip(given[::-1], wanted[::-1]))


@answers("mul", "multiply")
def mul(input: Any, other: Any) -> Any:
    """A sparse tensor times a number, or a sparse or dense one, element by element."""
    x, y = (input, other) if isinstance(input, SparseTensor) else (other, input)
    if _number(y):
        return x.with_values(x._v * y, "MulBackward0")
    if not isinstance(y, SparseTensor) and _fits(tuple(y.shape), tuple(x.shape)):
        return x.with_values(x._v * y.expand(tuple(x.shape))[tuple(x._i)], "MulBackward0")
    if x.shape != y.shape:
        raise RuntimeError(f"mul: shapes {list(x.shape)} and {list(y.shape)} differ; a sparse tensor keeps its shape")
    x, y = x.coalesce(), y.coalesce()
    mine, yours = map(from_array, math.common(x._flat(), y._flat()))
    values = x._v.index_select(0, mine) * y._v.index_select(0, yours)
    return SparseTensor(x._i.index_select(1, mine), values, x.shape, True)


@answers("div", "divide", "true_divide")
def div(input: Any, other: Any) -> SparseTensor:
    """A sparse tensor divided by a number."""
    if not isinstance(input, SparseTensor) or not _number(other):
        raise RuntimeError("div: a sparse tensor can be divided by a number only")
    return input.with_values(input._v / other, "DivBackward0")


@answers("pow")
def pow(input: Any, exponent: Any) -> SparseTensor:
    """The elements that are kept to a power other than zero."""
    if not isinstance(input, SparseTensor) or isinstance(exponent, (Tensor, SparseTensor)):
        raise unsupported("pow with a tensor as exponent")
    if exponent == 0:
        raise RuntimeError("pow: a sparse tensor to the power of zero would be dense; convert with to_dense() first")
    x = input.coalesce()
    return x.with_values(x._v**exponent)


def _in_place(name: str) -> Any:
    def run(input: Any, *args: Any, **kwargs: Any) -> Any:
        result = ANSWERS[name](input, *args, **kwargs)
        return input.become(result) if isinstance(input, SparseTensor) else _writing.copy_(input, result)

    return run


for _name in ("add", "sub", "mul", "div"):
    ANSWERS[f"{_name}_"] = _in_place(_name)


@answers("zeros_like")
def zeros_like(input: SparseTensor, **kwargs: Any) -> SparseTensor:
    """A sparse tensor of the same size that keeps no element."""
    kept = input.sparse_dim()
    values = zeros((0, *input.shape[kept:]), dtype=input.dtype)
    return SparseTensor(zeros((kept, 0), dtype=int64), values, input.shape, True)


@answers("copy_")
def copy_(input: Any, src: Any, non_blocking: bool = False) -> Any:
    """Take over a sparse tensor's elements."""
    if not isinstance(input, SparseTensor) or not isinstance(src, SparseTensor):
        raise RuntimeError("copy_: sparse tensors take over sparse ones only; convert one with to_dense() or to_sparse()")
    return input.become(src.clone())


@answers("zero_")
def zero_(input: SparseTensor) -> SparseTensor:
    """Drop all elements."""
    return input.become(zeros_like(input))


# ------------------------------------------------------------------------------------------ products


def _product(op: str, mat1: Any, mat2: Any) -> Any:
    if not isinstance(mat1, SparseTensor):
        if not isinstance(mat1, Tensor):
            raise TypeError(f"{op}: wanted tensors, got {type(mat1).__name__}")
        if not isinstance(mat2, SparseTensor):
            return mat1 @ mat2
        turned = mat1.transpose(-2, -1) if mat1.ndim > 1 else mat1
        out = _product(op, mat2.t(), turned)
        return out.transpose(-2, -1) if mat1.ndim > 1 else out
    if not isinstance(mat2, Value) or mat1.ndim != 2 or mat1.dense_dim() or mat1.shape[1] != mat2.shape[0]:
        raise RuntimeError(f"{op}: shapes {list(mat1.shape)} and {list(getattr(mat2, 'shape', ()))} do not multiply")
    if isinstance(mat2, SparseTensor):
        return to_sparse(_product(op, mat1, mat2.to_dense()))
    return math.product(mat1._places, *pair(op, mat1._v, mat2), mat1.shape[0])


def _shown(out: Any, name: str) -> Any:
    if isinstance(out, SparseTensor):
        return out.with_values(out._v, "SparseSparseMatmulBackward0")
    return show_as(out, name)


def mm(mat1: Any, mat2: Any, reduce: str | None = None) -> Any:
    """The product of two matrices of which one is sparse, or both (then the result is sparse)."""
    if reduce not in (None, "sum"):
        raise unsupported(f"sparse.mm with reduce={reduce!r}")
    return _shown(_product("sparse.mm", mat1, mat2), "SparseAddmmBackward0")


def _traced(op: str, mat1: Any, mat2: Any) -> Any:
    """The product, for which a dense matrix behind a sparse one stands in: its gradient is that of a dense matrix."""
    several = isinstance(mat1, SparseTensor) and isinstance(mat2, SparseTensor)
    sources = [x.dense_source() if isinstance(x, SparseTensor) and not several else None for x in (mat1, mat2)]
    if sources[0] is None and sources[1] is None:
        return _product(op, mat1, mat2)
    a, b = (x if source is None else source for x, source in zip((mat1, mat2), sources))
    return a @ b


@answers("mm", "dsmm", "matmul", "mv", "__matmul__", "__rmatmul__")
def matmul(input: Any, other: Any) -> Any:
    """The product of a sparse matrix with a matrix or vector, or of a dense one with a sparse one."""
    return _shown(_traced("matmul", input, other), "MvBackward0" if len(other.shape) == 1 else "MmBackward0")


def addmm(mat: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * mat + alpha * (mat1 @ mat2)` with a sparse `mat1`."""
    return show_as(mat * beta + _product("addmm", mat1, mat2) * alpha, "SparseAddmmBackward0")


@answers("addmm")
def _addmm(input: Any, mat1: Any, mat2: Any, *, beta: Any = 1, alpha: Any = 1) -> Any:
    return show_as(input * beta + _traced("addmm", mat1, mat2) * alpha, "AddmmBackward0")


@answers("linear")
def _linear(input: Any, weight: Any, bias: Any = None) -> Any:
    out = _product("linear", input, weight.t())
    return out if bias is None else out + bias


# ------------------------------------------------------------------------------------------ reductions


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:
    """The sum of a sparse tensor's elements: dense for all axes, else sparse in coordinate form."""
    if not isinstance(input, SparseTensor):
        return input.sum(dtype=dtype) if dim is None else input.sum(dim, dtype=dtype)
    axes = set(range(input.ndim)) if dim is None else {d % input.ndim for d in ((dim,) if isinstance(dim, int) else dim)}
    places, inner, shape = math.summed(input._places, input.shape, axes)
    values = input._v.sum(inner, dtype=dtype) if inner else input._v if dtype is None else input._v.to(dtype)
    if not len(places):
        return show_as(values.sum(0), "SumBackward0")
    out = SparseTensor(from_array(places), values, shape).coalesce()
    return out.with_values(out._v, "SparseSumBackward0")


@answers("sum")
def _sum(input: SparseTensor, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    out = sum(input, dim, dtype)
    if not keepdim:
        return out
    if not isinstance(out, SparseTensor):
        return out.reshape((1,) * input.ndim)
    for axis in sorted(d % input.ndim for d in ((dim,) if isinstance(dim, int) else dim)):
        out = unsqueeze(out, axis)
    return out


@answers("norm")
def norm(input: SparseTensor, p: Any = "fro", dim: Any = None, keepdim: bool = False, dtype: Any = None) -> Tensor:
    """The norm of all elements."""
    if dim is not None:
        raise unsupported("norm along an axis")
    return input.coalesce()._v.reshape(-1).norm(2 if p == "fro" else p, dtype=dtype)


@answers("any")
def any_(input: SparseTensor) -> Tensor:
    """Whether an element is not zero."""
    return (input.coalesce()._v != 0).any()


def _softmax(input: SparseTensor, dim: int, dtype: Any, logarithm: bool) -> SparseTensor:
    if not isinstance(input, SparseTensor):
        raise NotImplementedError(
            f"sparse.softmax: wanted a sparse tensor, got {type(input).__name__}; use torch.softmax"
        )
    x = input.coalesce()
    dim = axis_of("sparse.softmax", dim, x.ndim)
    if dim >= x.sparse_dim():
        values = x._v.log_softmax(dim - x.sparse_dim() + 1) if logarithm else x._v.softmax(dim - x.sparse_dim() + 1)
        return x.with_values(values, "SparseSoftmaxBackward0")
    v = x._v if dtype is None else x._v.to(dtype)
    values = math.softmax(*math.groups_beside(x._places, dim), v, logarithm)
    return x.with_values(values, f"Sparse{'Log' * logarithm}SoftmaxBackward0")


def softmax(input: SparseTensor, dim: int, *, dtype: Any = None) -> SparseTensor:
    """Softmax along an axis over the elements that are kept; the others count as minus infinity."""
    return _softmax(input, dim, dtype, False)


def log_softmax(input: SparseTensor, dim: int, *, dtype: Any = None) -> SparseTensor:
    """The logarithm of `softmax`."""
    return _softmax(input, dim, dtype, True)


# ------------------------------------------------------------------------------------------ joining and picking


def _cat(parts: list[Tensor], axis: int) -> Tensor:
    from ._joining import cat

    return cat(parts, axis)


@answers("cat", "concat", "concatenate")
def cat(tensors: Any, dim: int = 0) -> SparseTensor:
    """Sparse tensors one after the other along a sparse axis."""
    items = list(tensors)
    first = items[0]
    if not all(isinstance(x, SparseTensor) for x in items):
        raise RuntimeError("cat: sparse and dense tensors cannot be joined; convert one kind first")
    axis = dim % first.ndim
    if axis >= first.sparse_dim():
        raise unsupported("cat along a dense axis")
    places, shape = math.joined([x._places for x in items], [x.shape for x in items], axis)
    return SparseTensor(from_array(places), show_as(_cat([x._v for x in items], 0), "CatBackward0"), shape)


@answers("unsqueeze")
def unsqueeze(input: SparseTensor, dim: int) -> SparseTensor:
    """A new axis of one element among the sparse ones."""
    axis = dim % (input.ndim + 1)
    if axis > input.sparse_dim():
        raise unsupported("unsqueeze at a dense axis")
    row = zeros((1, input._nnz()), dtype=int64)
    shape = [*input.shape[:axis], 1, *input.shape[axis:]]
    values = show_as(input._v.clone(), "UnsqueezeBackward0")
    return SparseTensor(_cat([input._i[:axis], row, input._i[axis:]], 0), values, shape, input._coalesced)


@answers("stack")
def stack(tensors: Any, dim: int = 0) -> SparseTensor:
    """Sparse tensors along a new axis."""
    return cat([unsqueeze(x, dim) for x in tensors], dim)


@answers("index_select")
def index_select(input: SparseTensor, dim: int, index: Tensor) -> SparseTensor:
    """The slices at `index` along a sparse axis."""
    axis = dim % input.ndim
    if axis >= input.sparse_dim():
        raise unsupported("index_select along a dense axis")
    have, wanted = input._places[axis], np.asarray(index._a).reshape(-1)
    new, old = np.nonzero(wanted[:, None] == have)
    picked = from_array(old.astype(np.int64))
    places = input._places[:, old].copy()
    places[axis] = new
    values = show_as(input._v.index_select(0, picked), "IndexSelectBackward0")
    return SparseTensor(from_array(places), values, [len(wanted) if d == axis else n for d, n in enumerate(input.shape)])


@answers("select")
def select(input: SparseTensor, dim: int, index: int) -> Any:
    """One slice along a sparse axis; of the last one a dense tensor."""
    axis, size = dim % input.ndim, input.shape[dim]
    if not -size <= index < size:
        raise IndexError(f"select: index {index} is outside axis {dim} of size {size}")
    out = index_select(input, axis, as_tensor([index % size]))
    return _without(out, axis)


def _without(x: SparseTensor, axis: int) -> Any:
    if x.sparse_dim() == 1:
        return show_as(x._v.sum(0), "SelectBackward0")
    kept = as_tensor([d for d in range(x.sparse_dim()) if d != axis])
    shape = [n for d, n in enumerate(x.shape) if d != axis]
    return SparseTensor(x._i.index_select(0, kept), show_as(x._v, "SelectBackward0"), shape, x._coalesced)


@answers("narrow_copy")
def narrow_copy(input: SparseTensor, dim: int, start: int, length: int) -> SparseTensor:
    """The slices from `start` on, `length` of them, along a sparse axis."""
    axis = axis_of("narrow_copy", dim, input.ndim)
    if not 0 <= start <= start + length <= input.shape[axis]:
        raise RuntimeError(
            f"narrow_copy: {start} to {start + length} is no range within axis {dim} of size {input.shape[axis]}"
        )
    shape = [length if d == axis else n for d, n in enumerate(input.shape)]
    if axis >= input.sparse_dim():
        values = input._v.narrow(axis - input.sparse_dim() + 1, start, length)
        return SparseTensor(input._i, values, shape, input._coalesced)
    kept = (input._places[axis] >= start) & (input._places[axis] < start + length)
    places = input._places[:, kept].copy()
    places[axis] -= start
    values = input._v[from_array(np.flatnonzero(kept))]
    return SparseTensor(from_array(places), values, shape, input._coalesced)


@answers("unbind")
def unbind(input: SparseTensor, dim: int = 0) -> tuple[Any, ...]:
    """All slices along a sparse axis."""
    return tuple(select(input, dim, k) for k in range(input.shape[dim]))


for _name in ("clone", "detach", "to_dense", "coalesce", "t", "transpose", "permute", "is_floating_point", "numel",
              "to_sparse", "to_sparse_coo"):
    ANSWERS[_name] = getattr(SparseTensor, _name)

__getattr__ = _attributes(globals())

__all__ = [
    "LAYOUTS", "CompressedTensor", "SparseTensor", "addmm", "log_softmax", "mm", "softmax", "sparse_coo_tensor", "spdiags",
    "sum", "to_sparse",
]  # fmt: skip
