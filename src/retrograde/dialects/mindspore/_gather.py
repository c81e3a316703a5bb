"""Elements by position and by mask: gather and scatter in their forms, select, segments."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import indexing as ix
from ...ops import selection as sel
from ...ops import structural as st
from ...ops.scatter_reduce import scatter_reduce
from ...tape import inplace
from ...tensor import indexing as native_indexing
from .._shared.axes import axis_of, integer, integers
from .._shared.registry import defined
from . import _joining
from ._api import api, row
from ._assign import write, written
from ._dtype import FROM_NUMPY, int64
from ._promote import number_dtype, result_dtype, same_dtype, tensor_argument, to_dtype
from ._tensor import from_array

Function = Callable[..., Any]


def positions(op: str, x: Any, name: str = "indices") -> Any:
    """A tensor of positions; raises TypeError for one that holds no integers."""
    x = tensor_argument(op, x, name)
    if dtype_of(x).kind not in "iu":
        raise TypeError(f"{op}: {name} must be an integer Tensor, got {x.dtype}")
    return x


def _within(op: str, indices: Any, n: int, error: type[Exception] = RuntimeError) -> None:
    array = indices._a
    if isinstance(array, np.ndarray) and array.size and not (-n <= array.min() and array.max() < n):
        raise error(f"{op}: position {array.max() if array.max() >= n else array.min()} is out of range for {n} elements")


def _nonnegative(indices: Any, n: int) -> Any:
    array = indices._a
    if isinstance(array, np.ndarray):
        return indices if not array.size or array.min() >= 0 else from_array(np.where(array < 0, array + n, array))
    return sel.where(indices < 0, indices + n, indices)


# ------------------------------------------------------------------------------------------ gather


@api(method=False)
def gather(input_params: Any, input_indices: Any, axis: Any, batch_dims: int = 0) -> Any:
    """The slices at positions along an axis, in place of that axis; the first `batch_dims` axes go together."""
    x, indices = tensor_argument("gather", input_params, "input_params"), positions("gather", input_indices)
    i = axis_of("gather", axis, len(shape_of(x)))
    n = shape_of(x)[i]
    _within("gather", indices, n)
    if not batch_dims:
        return ix.take(x, indices, axis=i)
    b = axis_of("gather", batch_dims, len(shape_of(indices)) + 1, "batch_dims")
    if tuple(shape_of(x))[:b] != tuple(shape_of(indices))[:b] or b > i:
        raise ValueError(f"gather: the first {b} axes of both tensors must be equal, and axis come behind them")
    batches = math.prod(shape_of(x)[:b])
    rows = st.reshape(x, shape=(batches, *shape_of(x)[b:]))
    at = st.reshape(indices, shape=(batches, *shape_of(indices)[b:]))
    taken = st.stack(*(ix.take(rows[k], at[k], axis=i - b) for k in range(batches)), axis=0)
    return st.reshape(taken, shape=(*shape_of(x)[:b], *shape_of(taken)[1:]))


@api("gather", function=False)
def gather_method(self: Any, input_indices: Any = None, axis: Any = None, batch_dims: int = 0, *, dim: Any = None,
                  index: Any = None) -> Any:  # fmt: skip
    """`gather(input_indices, axis)`: slices at positions; `gather(dim, index)`: elements along an axis."""
    if index is not None or dim is not None or isinstance(input_indices, int):
        return gather_elements(self, input_indices if dim is None else dim, axis if index is None else index)
    return gather(self, input_indices, axis, batch_dims)


@api("gather_elements", "gather_d", seconds={"x": "input"})
def gather_elements(input: Any, dim: int, index: Any) -> Any:
    """For each position the element at the same place, but along an axis where the position says."""
    x, at = tensor_argument("gather_elements", input), positions("gather_elements", index, "index")
    i = axis_of("gather_elements", dim, len(shape_of(x)), "dim")
    if len(shape_of(at)) != len(shape_of(x)):
        raise ValueError(f"gather_elements: index has {len(shape_of(at))} axes, the tensor {len(shape_of(x))}")
    n = shape_of(x)[i]
    _within("gather_elements", at, n)
    at = _nonnegative(at, n)
    part = tuple(slice(None) if a == i else slice(0, k) for a, k in enumerate(shape_of(at)))
    if any(a != i and k > m for a, (k, m) in enumerate(zip(shape_of(at), shape_of(x)))):
        raise ValueError(f"gather_elements: index {at.shape} reaches beyond the tensor {x.shape}")
    return ix.take_along_axis(st.getitem(x, index=part), at, axis=i)


def _places(op: str, indices: Any, shape: tuple[int, ...], depth: int) -> list[Any]:
    """The positions along the first axes of a shape, from the last axis of `indices`."""
    columns = [st.getitem(indices, index=(Ellipsis, k)) for k in range(depth)]
    for column, n in zip(columns, shape):
        _within(op, column, n)
    return [_nonnegative(column, n) for column, n in zip(columns, shape)]


@api("gather_nd")
def gather_nd(input_x: Any, indices: Any) -> Any:
    """The elements (slices) at places that the last axis of `indices` spells out."""
    x, at = tensor_argument("gather_nd", input_x, "input_x"), positions("gather_nd", indices)
    depth = shape_of(at)[-1]
    if depth > len(shape_of(x)):
        raise ValueError(f"gather_nd: places of {depth} axes in a tensor with {len(shape_of(x))}")
    return x[tuple(_places("gather_nd", at, tuple(shape_of(x)), depth))]


@api("index_select")
def index_select(input: Any, axis: int, index: Any) -> Any:
    """The slices at positions (a vector) along an axis."""
    x, at = tensor_argument("index_select", input), positions("index_select", index, "index")
    i = axis_of("index_select", axis, len(shape_of(x)))
    if len(shape_of(at)) > 1:
        raise ValueError(f"index_select: index must be a vector, got shape {at.shape}")
    _within("index_select", at, shape_of(x)[i])
    return ix.take(x, st.reshape(at, shape=(-1,)), axis=i)


@api(method=False)
def take(input: Any, index: Any) -> Any:
    """The elements at positions in the flattened tensor."""
    x, at = tensor_argument("take", input), positions("take", index, "index")
    _within("take", at, x.size)
    return ix.take(st.reshape(x, shape=(x.size,)), at, axis=0)


@api("take", function=False)
def take_method(self: Any, indices: Any, axis: Any = None, mode: str = "clip") -> Any:
    """The elements (slices along an axis) at positions; those beyond the ends clipped, wrapped or ("raise") refused."""
    x = st.reshape(self, shape=(self.size,)) if axis is None else self
    i = 0 if axis is None else axis_of("take", axis, self.ndim)
    at = from_array(np.asarray(indices)) if not isinstance(indices, Value) else positions("take", indices)
    n = shape_of(x)[i]
    array = at._concrete("take")
    if mode == "clip":
        at = from_array(np.clip(array, 0, n - 1))
    elif mode == "wrap":
        at = from_array(array % n)
    else:
        _within("take", at, n, IndexError)
    return ix.take(x, at, axis=i)


# ------------------------------------------------------------------------------------------ scatter

_REDUCE = {"add": "sum", "sub": "sum", "mul": "prod", "max": "amax", "min": "amin", "div": "prod"}


def _scattered(op: str, x: Any, places: list[Any], updates: Any, how: str) -> Any:
    """`x` with `updates` written at places along its first axes, combined as `how` says."""
    axes = tuple(range(len(places)))
    shape = tuple(shape_of(x))
    wanted = (*np.broadcast_shapes(*(tuple(shape_of(p)) for p in places)), *shape[len(places) :])
    if tuple(shape_of(updates)) != wanted:
        try:
            updates = st.broadcast_to(updates, shape=wanted)
        except ValueError:
            raise ValueError(f"{op}: updates must have shape {wanted}, got {updates.shape}") from None
    updates = to_dtype(updates, FROM_NUMPY[dtype_of(x)])
    if how == "update":
        return ix.index_put(x, updates, *places, axes=axes, unique=False)
    if how in ("add", "sub"):
        moved = updates if how == "add" else -updates
        return x + ix.advanced_add(moved, *places, shape=shape, axes=axes, unique=False)
    return _scatter_flat(x, places, updates, how)


def _scatter_flat(x: Any, places: list[Any], updates: Any, how: str) -> Any:
    """Products, quotients and extremes at places: as a scatter along one axis of rows."""
    shape = tuple(shape_of(x))
    depth = len(places)
    head, tail = shape[:depth], shape[depth:]
    rows = math.prod(head)
    width = math.prod(tail)
    flat: Any = None
    for p, n in zip(places, head):
        flat = p if flat is None else flat * n + p
    flat = st.reshape(flat, shape=(-1, 1))
    count = shape_of(flat)[0]
    at = st.broadcast_to(flat, shape=(count, width))
    source = st.reshape(updates, shape=(count, width))
    if how == "div":
        source = source**-1
    out = scatter_reduce(st.reshape(x, shape=(rows, width)), at, source, axis=0, reduce=_REDUCE[how],
                         include_self=True, x_ties=False)  # fmt: skip
    return st.reshape(out, shape=shape)


def _scatter_nd(name: str, how: str) -> Function:
    def f(input_x: Any, indices: Any, updates: Any) -> Any:
        x, at = tensor_argument(name, input_x, "input_x"), positions(name, indices)
        updates = tensor_argument(name, updates, "updates")
        same_dtype(name, x, updates)
        if not shape_of(at):
            raise ValueError(f"{name}: indices must have at least one axis")
        return _scattered(name, x, _places(name, at, tuple(shape_of(x)), shape_of(at)[-1]), updates, how)

    doc = f"The tensor with updates ({how}) at places that the last axis of `indices` spells out."
    if how not in ("update", "add"):
        api(f"scatter_{how}", function=False)(f)
    return api(method=False)(defined(name, f, doc))


tensor_scatter_update = _scatter_nd("tensor_scatter_update", "update")
tensor_scatter_add, tensor_scatter_sub = _scatter_nd("tensor_scatter_add", "add"), _scatter_nd("tensor_scatter_sub", "sub")
tensor_scatter_mul, tensor_scatter_div = _scatter_nd("tensor_scatter_mul", "mul"), _scatter_nd("tensor_scatter_div", "div")
tensor_scatter_max, tensor_scatter_min = _scatter_nd("tensor_scatter_max", "max"), _scatter_nd("tensor_scatter_min", "min")


def _scatter_into(name: str, how: str, nd: bool) -> Function:
    """The forms that write into a Parameter: along its first axis, or at places."""

    def f(input_x: Any, indices: Any, updates: Any, use_locking: bool = False) -> Any:
        x, at = tensor_argument(name, input_x, "input_x"), positions(name, indices)
        updates = tensor_argument(name, updates, "updates")
        places = _places(name, at, tuple(shape_of(x)), shape_of(at)[-1]) if nd else [_nonnegative(at, shape_of(x)[0])]
        # A product needs what it was computed from, which the write is about to change.
        source = x if how in ("update", "add", "sub") else st.copy(x)
        return written("scatter", x, _scattered(name, source, places, updates, how))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"Updates ({how}) written into a tensor {'at places' if nd else 'along its first axis'}; returns it."
    return f


SCATTER_INTO: dict[str, Function] = {}
for _how in ("update", "add", "sub", "mul", "div", "max", "min"):
    for _stem, _nd in (("scatter_", False), ("scatter_nd_", True)):
        SCATTER_INTO[_stem + _how] = _scatter_into(_stem + _how, _how, _nd)
        if (_stem, _how) != ("scatter_", "sub"):
            api(_stem + _how, method=False)(SCATTER_INTO[_stem + _how])


@api(method=False)
def scatter_nd(indices: Any, updates: Any, shape: Any) -> Any:
    """Zeros of a shape with updates added at places that the last axis of `indices` spells out."""
    at, updates = positions("scatter_nd", indices), tensor_argument("scatter_nd", updates, "updates")
    sizes = integers("scatter_nd", "shape", shape)
    zeros = from_array(np.zeros(sizes, dtype_of(updates)))
    return _scattered("scatter_nd", zeros, _places("scatter_nd", at, sizes, shape_of(at)[-1]), updates, "add")


@api(method=False)
def tensor_scatter_elements(input_x: Any, indices: Any, updates: Any, axis: int = 0, reduction: str = "none") -> Any:
    """The tensor with each update written ("none") or added ("add") along an axis where its position says."""
    op = "tensor_scatter_elements"
    x, at = tensor_argument(op, input_x, "input_x"), positions(op, indices)
    updates = tensor_argument(op, updates, "updates")
    same_dtype(op, x, updates)
    i = axis_of(op, axis, len(shape_of(x)))
    if len(shape_of(at)) != len(shape_of(x)) or tuple(shape_of(at)) != tuple(shape_of(updates)):
        raise ValueError(f"{op}: indices {at.shape} and updates {updates.shape} must have one shape of {x.ndim} axes")
    n = shape_of(x)[i]
    _within(op, at, n)
    at = _nonnegative(at, n)
    if reduction not in ("none", "add"):
        raise ValueError(f"{op}: reduction must be 'none' or 'add', got {reduction!r}")
    return (ix.scatter if reduction == "none" else ix.scatter_add)(x, at, updates, axis=i)


@api("scatter", in_place=True)
def scatter(input: Any, axis: int, index: Any, src: Any) -> Any:
    """The tensor with each element of `src` (or a number) written along an axis where its position says."""
    if not isinstance(src, Value):
        d = FROM_NUMPY[dtype_of(tensor_argument("scatter", input))]
        number_dtype("scatter", src)
        src = from_array(np.full(shape_of(index), src, d.np))
    elif tuple(shape_of(src)) != tuple(shape_of(index)):
        src = st.getitem(src, index=tuple(slice(0, k) for k in shape_of(index)))
    return tensor_scatter_elements(input, index, src, axis)


@api("scatter_add", function=False, in_place=True)
def scatter_add_method(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`scatter_add(indices, updates)`: added at places; `scatter_add(dim, index, src)`: added along an axis."""
    if len(args) + len(kwargs) == 3 or "dim" in kwargs:
        dim, index, src = [*args, *(kwargs[k] for k in ("dim", "index", "src") if k in kwargs)]
        return tensor_scatter_elements(self, index, src, dim, "add")
    return tensor_scatter_add(self, *args, **kwargs)


@api(method=False)
def index_add(x: Any, indices: Any, y: Any, axis: int, use_lock: bool = True, check_index_bound: bool = True) -> Any:
    """The slices of `y` added to a tensor, in place, at positions along an axis."""
    x, at = tensor_argument("index_add", x, "x"), positions("index_add", indices)
    return written("index_add", x, _index_added(x, at, y, axis, 1))


def _index_added(x: Any, at: Any, y: Any, axis: int, alpha: Any) -> Any:
    i = axis_of("index_add", axis, len(shape_of(x)))
    y = tensor_argument("index_add", y, "y")
    same_dtype("index_add", x, y)
    _within("index_add", at, shape_of(x)[i])
    if shape_of(y)[i] != shape_of(at)[0]:
        raise ValueError(f"index_add: {shape_of(at)[0]} positions for {shape_of(y)[i]} slices")
    added = ix.take_add(y, at, shape=tuple(shape_of(x)), axis=i)
    return x + (added if alpha == 1 else added * alpha)


@api("index_add", function=False, in_place=True)
def index_add_method(self: Any, dim: Any = None, index: Any = None, source: Any = None, *, alpha: Any = 1,
                     indices: Any = None, y: Any = None, axis: Any = None) -> Any:  # fmt: skip
    """The tensor with the slices of `source` added at positions along an axis."""
    return _index_added(self, positions("index_add", index if indices is None else indices),
                        source if y is None else y, dim if axis is None else axis, alpha)  # fmt: skip


@api("index_fill", in_place=True)
def index_fill(x: Any, axis: int, index: Any, value: Any) -> Any:
    """The tensor with a number written at positions along an axis."""
    x = tensor_argument("index_fill", x, "x")
    i = axis_of("index_fill", axis, len(shape_of(x)))
    at = positions("index_fill", index, "index") if isinstance(index, Value) else from_array(np.asarray(index))
    n = shape_of(x)[i]
    chosen = np.zeros(n, bool)
    chosen[np.asarray(at._concrete("index_fill"))] = True
    mask = chosen.reshape([-1 if a == i else 1 for a in range(x.ndim)])
    new = to_dtype(value, x.dtype)
    return sel.where(np.broadcast_to(mask, tuple(shape_of(x))), new, x)


def _first_axis(op: str, x: Any, v: Any, indices: Any) -> tuple[Any, Any, Any]:
    x, v = tensor_argument(op, x, "x"), tensor_argument(op, v, "v")
    at = from_array(np.asarray(integers(op, "indices", indices), np.int64))
    _within(op, at, shape_of(x)[0])
    if tuple(shape_of(v)) != (shape_of(at)[0], *shape_of(x)[1:]):
        raise ValueError(f"{op}: v must have shape {(shape_of(at)[0], *shape_of(x)[1:])}, got {v.shape}")
    return x, to_dtype(v, x.dtype), at


@api("inplace_update")
def inplace_update(x: Any, v: Any, indices: Any) -> Any:
    """The tensor with rows replaced."""
    x, v, at = _first_axis("inplace_update", x, v, indices)
    return ix.index_put(x, v, at, axes=(0,), unique=False)


@api(method=False)
def inplace_add(x: Any, v: Any, indices: Any) -> Any:
    """The tensor with `v` added to rows."""
    x, v, at = _first_axis("inplace_add", x, v, indices)
    return x + ix.take_add(v, at, shape=tuple(shape_of(x)), axis=0)


@api(method=False)
def inplace_sub(x: Any, v: Any, indices: Any) -> Any:
    """The tensor with `v` subtracted from rows."""
    x, v, at = _first_axis("inplace_sub", x, v, indices)
    return x - ix.take_add(v, at, shape=tuple(shape_of(x)), axis=0)


@api("index_put", function=False, in_place=True)
def index_put(self: Any, indices: Any, values: Any, accumulate: bool = False) -> Any:
    """The tensor with values written (or added) where a tuple of index tensors says."""
    places = [positions("index_put", i) if dtype_of(i).kind != "b" else i for i in indices]
    places = [from_array(a) for p in places for a in
              (np.nonzero(p._concrete("index_put")) if dtype_of(p).kind == "b" else (p._concrete("index_put"),))]  # fmt: skip
    places = [_nonnegative(p, n) for p, n in zip(places, shape_of(self))]
    same_dtype("index_put", self, tensor_argument("index_put", values, "values"))
    return _scattered("index_put", self, places, values, "add" if accumulate else "update")


# ------------------------------------------------------------------------------------------ masks


def _mask(op: str, mask: Any, name: str = "mask") -> Any:
    mask = tensor_argument(op, mask, name)
    if dtype_of(mask).kind != "b":
        raise TypeError(f"{op}: {name} must be a bool Tensor, got {mask.dtype}")
    return mask


@api("where", method=False)
def where(condition: Any, input: Any, other: Any) -> Any:
    """`input` where the condition is true, `other` elsewhere; numbers as both give what they are."""
    condition = _mask("where", condition, "condition")
    d = result_dtype("where", input, other)
    return sel.where(condition, to_dtype(input, d), to_dtype(other, d))


where_method = row("where", lambda self, condition, y=None, other=None: where(condition, self, other if y is None else y),
    "This tensor where the condition is true, the other elsewhere.", function=False)  # fmt: skip


@api(method=False)
def select(condition: Any, input: Any, other: Any) -> Any:
    """`input` where the condition is true, `other` elsewhere; all of one shape, or numbers."""
    condition = _mask("select", condition, "condition")
    if not isinstance(input, Value) and not isinstance(other, Value):
        raise TypeError("select: one of input and other must be a Tensor")
    return where(condition, input, other)


@api("select", function=False)
def select_method(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`select(condition, y)`: this tensor where the condition is true; `select(dim, index)`: one slice, a view."""
    if (args and isinstance(args[0], Value)) or "condition" in kwargs:
        if len(args) + len(kwargs) != 2:
            raise TypeError("select: wanted a condition and what stands where it is false")
        given = [*args, *kwargs.values()]
        return select(given[0], self, given[1])
    names = dict(zip(("dim", "index"), args)) | kwargs
    tensor_argument("select", self)
    if set(names) != {"dim", "index"}:
        raise TypeError(f"select: wanted dim and index, got {', '.join(names) or 'nothing'}")
    i = axis_of("select", names["dim"], self.ndim, "dim")
    return self[(slice(None),) * i + (integer("select", "index", names["index"]),)]


@api("masked_fill", in_place=True)
def masked_fill(input_x: Any, mask: Any, value: Any) -> Any:
    """The tensor with a number written where the mask is true."""
    x = tensor_argument("masked_fill", input_x, "input_x")
    mask = _mask("masked_fill", mask)
    if isinstance(value, Value):
        if shape_of(value):
            raise ValueError(f"masked_fill: value must be a number or a 0-d Tensor, got shape {value.shape}")
    else:
        number_dtype("masked_fill", value)
    return sel.where(mask, to_dtype(value, x.dtype), x)


@api("masked_select")
def masked_select(input: Any, mask: Any) -> Any:
    """The elements where the mask is true, in one axis."""
    x, mask = tensor_argument("masked_select", input), _mask("masked_select", mask)
    shape = np.broadcast_shapes(tuple(shape_of(x)), tuple(shape_of(mask)))
    if tuple(shape_of(x)) != shape:
        x = st.broadcast_to(x, shape=shape)
    if tuple(shape_of(mask)) != shape:
        mask = st.broadcast_to(mask, shape=shape)
    return native_indexing.get(x, mask)


@api("masked_scatter", function=False, in_place=True)
def masked_scatter(self: Any, mask: Any, source: Any) -> Any:
    """The tensor with the elements of `source`, in order, written where the mask is true."""
    mask = _mask("masked_scatter", mask)
    at = np.nonzero(np.broadcast_to(mask._concrete("masked_scatter"), self.shape))
    source = st.reshape(tensor_argument("masked_scatter", source, "source"), shape=(-1,))[: len(at[0])]
    return ix.index_put(self, to_dtype(source, self.dtype), *at, axes=tuple(range(self.ndim)), unique=True)


@api("nonzero")
def nonzero(input: Any, *, as_tuple: bool = False) -> Any:
    """The places of the elements that are not zero: one row each, or (as_tuple) a vector per axis."""
    x = tensor_argument("nonzero", input)
    if as_tuple:
        return tuple(from_array(a.astype(np.int64)) for a in np.nonzero(np.atleast_1d(x._concrete("nonzero"))))
    return to_dtype(counting_argwhere(x), int64)


def counting_argwhere(x: Any) -> Any:
    """The places of the elements that are not zero, one row each."""
    return from_array(np.argwhere(x._concrete("nonzero")))


api("argwhere")(lambda input: nonzero(input))


# ------------------------------------------------------------------------------------------ segments


def _segments(name: str, how: str, initial: Callable[[np.dtype], Any]) -> Function:
    def f(x: Any, segment_ids: Any, num_segments: Any) -> Any:
        x, ids = tensor_argument(name, x, "x"), positions(name, segment_ids, "segment_ids")
        count = integer(name, "num_segments", num_segments)
        k = len(shape_of(ids))
        if count <= 0:
            raise ValueError(f"{name}: num_segments must be positive, got {count}")
        if tuple(shape_of(x))[:k] != tuple(shape_of(ids)):
            raise ValueError(f"{name}: segment_ids {ids.shape} must be the first axes of the tensor {x.shape}")
        rest = tuple(shape_of(x))[k:]
        start = from_array(np.full((count, *rest), initial(dtype_of(x)), dtype_of(x)))
        rows = st.reshape(x, shape=(ids.size, *rest))
        return _scattered(name, start, [st.reshape(ids, shape=(ids.size,))], rows, how)

    return defined(name, f, "For each segment the elements (slices) with its id, combined.")


def _lowest(d: np.dtype) -> Any:
    return np.finfo(d).min if d.kind == "f" else np.iinfo(d).min


def _highest(d: np.dtype) -> Any:
    return np.finfo(d).max if d.kind == "f" else np.iinfo(d).max


unsorted_segment_sum = api("unsorted_segment_sum", method=False)(
    _segments("unsorted_segment_sum", "add", lambda d: 0))  # fmt: skip
unsorted_segment_prod = api("unsorted_segment_prod")(_segments("unsorted_segment_prod", "mul", lambda d: 1))
unsorted_segment_max = api("unsorted_segment_max")(_segments("unsorted_segment_max", "max", _lowest))
unsorted_segment_min = api("unsorted_segment_min")(_segments("unsorted_segment_min", "min", _highest))


@api(function=False)
def choose(self: Any, choices: Any, mode: str = "clip") -> Any:
    """For each number the element at its place of the choice that it names."""
    parts = _joining.stack([c if isinstance(c, Value) else from_array(np.asarray(c, np.float32)) for c in choices])
    at = np.asarray(self._concrete("choose")).astype(np.int64)
    count = parts.shape[0]
    at = np.clip(at, 0, count - 1) if mode == "clip" else at % count if mode == "wrap" else at
    if mode == "raise" and ((at < 0) | (at >= count)).any():
        raise ValueError(f"choose: a number is beyond the {count} choices")
    places = from_array(np.broadcast_to(at, parts.shape[1:]).copy())
    return gather_elements(parts, 0, places[None])[0]


index = row("index", lambda self, indices: self[tuple(indices)],
    "The elements that a list of index tensors picks.", function=False)  # fmt: skip


@api(function=False)
def put_(self: Any, index: Any, source: Any, accumulate: bool = False) -> Any:
    """Elements written (or added) at positions in the flattened tensor; returns the tensor."""
    flat = inplace.view(st.reshape, self, shape=(self.size,))
    values = st.reshape(source, shape=(source.size,))
    places = st.reshape(index, shape=(index.size,))
    new = index_put(flat, (places,), values, accumulate)
    return write("put_", self, st.reshape(new, shape=self.shape))
