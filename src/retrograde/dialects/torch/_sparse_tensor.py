"""`SparseTensor`: a tensor that keeps only some elements, in coordinate form; its functions are in sparse.py.

A sparse tensor here is an object of its own (indices, values, shape); only `isinstance` says that it is a Tensor. The
functions of `torch` reach it through the `__torch_function__` protocol, so dense programs pay nothing for it; what has no
sparse form raises NotImplementedError instead of computing something wrong. Its values carry the gradients.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import numpy as np

from ...core.scattered import Scattered
from ...learn import sparse as math
from .._shared.sparse import Kept
from . import _dtype, _repr
from ._answered import OPERATORS, offer_operators
from ._creation import as_tensor
from ._dtype import int64
from ._function_protocol import disabled, install
from ._graph_nodes import show_as
from ._size import CPU, Size, only_on_cpu
from ._tensor import Tensor, from_array

ANSWERS: dict[str, Callable[..., Any]] = {}
"""What functions of `torch` do for sparse tensors, by name."""


def answers(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register what these functions and methods do where an operand is sparse."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        ANSWERS.update(dict.fromkeys(names, f))
        return f

    return register


_KINDS: dict[str, type[Exception]] = dict.fromkeys(
    ("reshape", "flatten", "item", "tolist", "contiguous", "expand", "einsum", "masked_fill", "data_ptr", "backward"),
    RuntimeError,
)
_KINDS["numpy"] = TypeError


def unsupported(name: str) -> Exception:
    """The error for a function that has no sparse form, of the type that PyTorch raises."""
    kind = _KINDS.get(name, NotImplementedError)
    return kind(f"{name}: not available for sparse tensors; convert with to_dense() first")


_TAKING = ("__set__", "grad", "lobpcg", "save")
"""Functions that take sparse tensors as they are: what assigns a gradient and asks for one, finds eigenvalues, writes files."""


class SparseTensor(Kept):
    """A tensor that keeps only some elements: `values[k]` at `indices[:, k]`; elements given twice are added."""

    is_sparse = True
    is_sparse_csr = is_cuda = is_quantized = is_meta = False
    layout: Any = None  # set in __init__.py, where layouts are
    device = CPU
    __class__ = Tensor
    """What `isinstance` goes by, since a sparse tensor is a tensor to its users."""
    __array_priority__ = 2000
    _level = 0
    _base = _views = None
    _inference = False
    _result = _gradient = Tensor
    _dialect = "torch"

    _source: Tensor | None = None
    """The dense tensor with a history that this one was made from: its gradient in a product is not that of the elements
    alone."""

    def __init__(self, indices: Tensor, values: Tensor, shape: Any, coalesced: bool = False) -> None:
        install()
        only_on_cpu("sparse tensor", values.device)
        self._i, self._v, self.shape = indices, values, Size(shape)
        self._coalesced = coalesced or indices.shape[1] < 2

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name in _TAKING:
            with disabled():
                return func(*args, **(kwargs or {}))
        if name not in ANSWERS:
            raise unsupported(name)
        return ANSWERS[name](*args, **(kwargs or {}))

    def __getattr__(self, name: str) -> Any:
        if name[:1] == "_" or not (name in ANSWERS or hasattr(Tensor, name)):
            raise AttributeError(f"sparse tensors have no attribute {name!r}")
        return functools.partial(self._answer, name)

    def _answer(self, name: str, *args: Any, **kwargs: Any) -> Any:
        if name not in ANSWERS:
            raise unsupported(name)
        return ANSWERS[name](self, *args, **kwargs)

    # -------------------------------------------------------------------- what the engine asks

    @property
    def _a(self) -> Scattered:
        return Scattered(self._places, self._v._a, tuple(self.shape))

    @property
    def _node(self) -> None:
        if self._v._node is not None:
            raise unsupported("recording this operation")

    # -------------------------------------------------------------------- what it is

    @property
    def requires_grad(self) -> bool:
        """Whether the values take part in a graph."""
        return self._v.requires_grad

    def size(self, dim: int | None = None) -> Any:
        """The shape, or the size along one axis."""
        return self.shape if dim is None else self.shape[dim]

    def dim(self) -> int:
        """The number of axes."""
        return len(self.shape)

    ndimension = dim

    def numel(self) -> int:
        """The number of elements, those that are not kept included."""
        return self.shape.numel()

    nelement = numel

    def __iter__(self) -> Iterator[Any]:
        return (self[k] for k in range(len(self)))

    def element_size(self) -> int:
        """The bytes of one element."""
        return self._v.element_size()

    def is_floating_point(self) -> bool:
        """Whether the dtype is a floating one."""
        return self.dtype.is_floating_point

    def indices(self) -> Tensor:
        """The positions, one column per element; raises RuntimeError before `coalesce()`."""
        self._need_coalesced("indices")
        return self._i

    def values(self) -> Tensor:
        """The elements; raises RuntimeError before `coalesce()`."""
        self._need_coalesced("values")
        return show_as(self._v.clone(), "ValuesBackward0") if self.requires_grad else self._v

    def _need_coalesced(self, what: str) -> None:
        if not self._coalesced:
            raise RuntimeError(f"{what}: this sparse tensor may hold an element twice; call coalesce() first")

    def _indices(self) -> Tensor:
        return self._i

    def _values(self) -> Tensor:
        return self._v.detach()

    def _nnz(self) -> int:
        return self._i.shape[1]

    # -------------------------------------------------------------------- conversion

    @property
    def _places(self) -> np.ndarray:  # type: ignore[override]
        return np.asarray(self._i._a)

    def _flat(self) -> np.ndarray:
        """Where each kept element stands when the sparse axes are one."""
        return math.flat(self._places, self.shape)

    def coalesce(self) -> SparseTensor:
        """The same tensor with each position once, in order, the elements of equal ones added."""
        if self._coalesced:
            return self
        places, values = math.coalesced(self._places, self._v, self.shape)
        return SparseTensor(from_array(places), show_as(values, "CoalesceBackward0"), self.shape, True)

    def to_dense(self, dtype: Any = None) -> Tensor:
        """The tensor with all its elements."""
        out = show_as(math.dense(self._places, self._v, self.shape), "ToDenseBackward0")
        return out if dtype is None else out.to(dtype)

    def to_sparse(self, sparse_dim: int | None = None, *, layout: Any = None) -> Any:
        """This tensor, which is sparse, in its layout or another."""
        from ._compressed_tensor import in_layout

        return self if layout is None else in_layout(self, layout)

    to_sparse_coo = to_sparse

    @property
    def data(self) -> SparseTensor:
        """The same elements without history."""
        return self.detach()

    def clone(self) -> SparseTensor:
        """A copy."""
        return SparseTensor(self._i.clone(), self._v.clone(), self.shape, self._coalesced)

    def to(self, *args: Any, **kwargs: Any) -> SparseTensor:
        """The same positions with converted values."""
        return self.with_values(self._v.to(*args, **kwargs))

    def type(self, dtype: Any = None) -> Any:
        """The name of the type; the same positions with values of a dtype where one is given, or the name of such a type."""
        if dtype is None:
            return self._v.type().replace("torch.", "torch.sparse.")
        return self.with_values(self._v.type(dtype.replace(".sparse", "") if isinstance(dtype, str) else dtype))

    def requires_grad_(self, requires_grad: bool = True) -> SparseTensor:
        """Say whether gradients with respect to the values are wanted."""
        self._v.requires_grad_(requires_grad)
        return self

    def with_values(self, values: Tensor, name: str | None = None) -> SparseTensor:
        """Other values at the same positions, computed under the name of a node."""
        return SparseTensor(self._i, values if name is None else show_as(values, name), self.shape, self._coalesced)

    def become(self, other: SparseTensor) -> SparseTensor:
        """Take over another's contents, as in-place operations do; returns this tensor."""
        if self.requires_grad and self.is_leaf:
            raise RuntimeError("a leaf that requires grad cannot be changed in place; use the out-of-place form")
        self._i, self._v, self.shape, self._coalesced = other._i, other._v, other.shape, other._coalesced
        self._source = other._source
        return self

    # -------------------------------------------------------------------- axes

    def permute(self, *dims: Any) -> SparseTensor:
        """The axes in another order, those of the indices among themselves."""
        order = [d % self.ndim for d in (dims[0] if len(dims) == 1 and not isinstance(dims[0], int) else dims)]
        if sorted(order) != list(range(self.ndim)):
            raise RuntimeError(f"permute: {list(dims)} is no order of {self.ndim} axes")
        kept = self.sparse_dim()
        if sorted(order[:kept]) != list(range(kept)):
            raise unsupported("permute of sparse axes with dense ones")
        values = self._v.clone() if order[kept:] == list(range(kept, self.ndim)) else self._v.permute(
            0, *(d - kept + 1 for d in order[kept:])
        )  # fmt: skip
        indices = self._i.index_select(0, as_tensor(order[:kept]))
        out = SparseTensor(
            indices, show_as(values, "PermuteBackward0"), [self.shape[d] for d in order],
            self._coalesced and order == list(range(self.ndim)),
        )  # fmt: skip
        out._source = None if self._source is None else self._source.permute(order)
        return out

    def dense_source(self) -> Tensor | None:
        """The elements with the history of the dense tensor that this one was made from, if it was."""
        source = self._source
        if source is None or not source.requires_grad:
            return None
        now = self.detach().to_dense()
        there = source.detach()
        return source if np.array_equal(now._a, there._a) else source + (now - there)

    def _renamed(self, name: str) -> SparseTensor:
        out = self.with_values(self._v, name)
        out._source = self._source
        return out

    def transpose(self, dim0: int, dim1: int) -> SparseTensor:
        """Two axes exchanged."""
        order = list(range(self.ndim))
        order[dim0], order[dim1] = order[dim1], order[dim0]
        return self.permute(order)._renamed("TransposeBackward0")

    def t(self) -> SparseTensor:
        """The transpose of a sparse matrix."""
        if self.ndim > 2 or self.dense_dim():
            raise RuntimeError(f"t: wanted a sparse matrix without dense axes, got shape {list(self.shape)}")
        return (self.transpose(0, 1) if self.ndim == 2 else self)._renamed("TBackward0")

    @property
    def T(self) -> SparseTensor:
        """The axes in reverse order."""
        return self.permute(*range(self.ndim)[::-1])

    @property
    def H(self) -> SparseTensor:
        """The conjugate transpose of a sparse matrix."""
        out = self.t()
        return out.with_values(out._v.conj()) if self.dtype.is_complex else out

    @property
    def mT(self) -> SparseTensor:
        """The last two axes exchanged."""
        return self.transpose(-2, -1)

    def __getitem__(self, index: Any) -> Any:
        out: Any = self
        axis = 0
        for k in index if isinstance(index, tuple) else (index,):
            if k == slice(None):
                axis += 1
            elif isinstance(k, (int, np.integer)) and not isinstance(k, bool):
                out = out.select(axis, int(k)) if isinstance(out, SparseTensor) else out[k]
            else:
                raise unsupported(f"indexing with {k!r}")
        return out

    # -------------------------------------------------------------------- copies, printing

    def __deepcopy__(self, memo: dict[int, Any]) -> SparseTensor:
        memo[id(self)] = out = SparseTensor(deepcopy(self._i, memo), deepcopy(self._v, memo), self.shape, self._coalesced)
        return out

    def __reduce_ex__(self, protocol: Any) -> Any:
        return SparseTensor, (self._i, self._v, tuple(self.shape), self._coalesced)

    def __bool__(self) -> bool:
        raise RuntimeError("the truth value of a sparse tensor is not defined; convert with to_dense() first")

    @staticmethod
    def _numbers(x: Tensor, indent: int) -> str:
        """Numbers in the repr, from a column on."""
        if not x.numel():
            return f"tensor([], size={tuple(x.shape)})"
        name = x.dtype.name
        text = _repr.format_tensor(np.asarray(x._a), dtype_name=name, default_dtype_name=name, prefix="tensor(")
        return text.replace("\n", "\n" + " " * indent)

    def _notes(self) -> list[str]:
        """What ends the repr: dtype, layout, and the node or the wish for gradients."""
        notes = [f"layout={self.layout}"]
        if self.dtype not in (_dtype.get_default_dtype(), int64, _dtype.bool_):
            notes.insert(0, f"dtype={self.dtype}")
        node = self.grad_fn
        if node is not None:
            notes.append(f"grad_fn=<{type(node).__name__}>")
        elif self.requires_grad:
            notes.append("requires_grad=True")
        return notes

    def __repr__(self) -> str:
        gap = " " * 7
        facts = [f"size={tuple(self.shape)}", f"nnz={self._nnz()}", *self._notes()]
        text = f"tensor(indices={self._numbers(self._i, 15)},\n{gap}values={self._numbers(self._v, 14)},\n{gap}"
        return filled(text, facts, gap) + ")"


_LACKING = frozenset(f"__{k}__" for k in ("radd", "rsub", "lt", "le", "gt", "ge", "and", "or", "xor", "invert"))
offer_operators(
    SparseTensor, lambda name, args, _: args[0]._answer(name, *args[1:]),
    {name: f for name, f in OPERATORS.items() if name not in _LACKING},
)  # fmt: skip


def filled(text: str, facts: list[str], indent: str) -> str:
    """Facts after a text, as many in a line as 80 columns hold."""
    column = len(indent)
    for k, fact in enumerate(facts):
        width = len(fact.rpartition("\n")[2])
        if k:
            fits = column + 2 + width < 79
            text += ", " if fits else f",\n{indent}"
            column = column + 2 if fits else len(indent)
        text += fact
        column += width
    return text


def from_scattered(x: Scattered) -> SparseTensor:
    """A gradient of which only some elements are kept, as users see it."""
    return SparseTensor(from_array(x.places), from_array(x.content), x.shape)
