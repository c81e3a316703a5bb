"""Indexing: `x[...]` for reading and writing, iteration, and conversion of elements to Python.

Ints, slices, None and Ellipsis give views, one node each as in PyTorch; tensors, lists and masks among them are taken
by one indexing operation after those. What the indexing functions share is here; they stand in _gather.py.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ..._state import LOOKED_AT, OBSERVERS, SWITCHED, state
from ...backend.devices import FOUND, placed
from ...core import level as levels
from ...core.arrays import on_host
from ...core.batched import BatchedArray
from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, make, shape_of
from ...ops import elementwise as ew
from ...ops import indexing as ix
from ...ops import structural as st
from ...ops.devices import moved, place_of
from ...ops.manipulation import unstack
from ...tape import inplace, mutation
from . import _dtype
from ._api import METHODS, api
from ._axes import axis_of, numpy_names
from ._data import data_array, places_set
from ._graph_nodes import NAMES
from ._promote import stored_number
from ._tensor import Tensor

_ndarray = np.ndarray
_view = inplace.viewer(st.getitem)
"""The view that a basic index makes of a tensor."""
_take = ix.take.prim.bind
_full = slice(None)
INDEX_DTYPES = frozenset({np.dtype(np.int64), np.dtype(np.int32)})
_INTS = (int, np.integer)


def _step_name(node: Any) -> str:
    """PyTorch's name for a basic indexing step: that of its last part."""
    index = node.params["index"]
    last = index[-2] if len(index) > 1 and index[-1] is Ellipsis else index[-1] if index else Ellipsis
    if last is None:
        return "UnsqueezeBackward0"
    if last is Ellipsis:
        return "AliasBackward0"
    return "SliceBackward0" if isinstance(last, slice) else "SelectBackward0"


NAMES.update(getitem=_step_name, take="IndexBackward0", advanced_index="IndexBackward0",
             index_put="IndexPutBackward0", unstack="UnbindBackward0")  # fmt: skip

# ------------------------------------------------------------------------------------------ elements as Python objects


def _only(op: str, x: Value, error: type[Exception] = ValueError) -> np.ndarray:
    array = x._a
    if type(array) is not _ndarray:
        array = concrete(op, x)
    if array.size != 1:
        raise error(
            f"{op}: wanted a tensor with one element, this one has {array.size}; tolist() gives all, sum() or mean() one"
        )
    return array


@api(function=False)
def item(self: Tensor) -> Any:
    """The only element as a Python number; raises RuntimeError for more or fewer."""
    a = self._a
    if type(a) is not _ndarray or a.size != 1:
        a = _only("item", self, RuntimeError)
    value = a.item()
    return value if isinstance(value, (float, int, complex)) else float(value)  # bfloat16 stays a NumPy scalar


@api()
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero; raises RuntimeError for more or fewer."""
    return bool(_only("is_nonzero", input, RuntimeError).item())


@api(function=False)
def tolist(self: Tensor) -> Any:
    """The elements as nested lists, of a 0-d tensor as a number."""
    array = concrete("tolist", self)
    if array.dtype == _dtype.bfloat16.np:
        array = array.astype(np.float32)
    return array.tolist()


def _to_bool(self: Tensor) -> bool:
    """The truth of the only element; raises RuntimeError for several."""
    a = self._a
    if type(a) is _ndarray and a.size == 1:
        return bool(a.item())
    array = concrete("bool", self)
    if array.size != 1:
        raise RuntimeError(
            f"bool: the truth of a tensor with {array.size} elements is ambiguous; use any() or all() of it, or where() to "
            "choose for each"
        )
    return bool(array.item())


def _real_number(op: str, self: Tensor) -> Any:
    """The one element; RuntimeError for a number with an imaginary part."""
    number = _only(op, self).item()
    if isinstance(number, complex):
        if number.imag:
            raise RuntimeError(f"{op}: {number} has an imaginary part, which would be lost; take .real first")
        return number.real
    return number


def _to_float(self: Tensor) -> float:
    a = self._a
    if type(a) is _ndarray and a.size == 1 and type(number := a.item()) is float:
        return number
    return float(_real_number("float", self))


def _to_int(self: Tensor) -> int:
    return int(_real_number("int", self))


def _to_complex(self: Tensor) -> complex:
    return complex(_only("complex", self).item())


def _to_index(self: Tensor) -> int:
    a = self._a
    array = a if type(a) is _ndarray else concrete("index", self)
    if array.dtype.kind not in "iu" or array.size != 1:
        raise TypeError("only a tensor with one integer element can be used as an index, or as a count; convert it with int()")
    return int(array.item())


def _contains(self: Tensor, element: Any) -> bool:
    if not isinstance(element, (Value, int, float, complex, np.generic)):
        raise RuntimeError(f"in: wanted a tensor or a number, got {type(element).__name__}")
    if type(self._a) is not _ndarray and not on_host(self):
        return bool((self == element).any())  # type: ignore[attr-defined]
    other = concrete("in", element) if isinstance(element, Value) else element
    return bool(np.any(concrete("in", self) == other))


METHODS.update(__bool__=_to_bool, __float__=_to_float, __int__=_to_int, __complex__=_to_complex, __index__=_to_index,
               __contains__=_contains)  # fmt: skip

# ------------------------------------------------------------------------------------------ what an index means


def recording(x: Value) -> bool:
    """Whether an operation on `x` would be recorded now."""
    if x._node is None:
        return False
    return True if not x._level and not SWITCHED else levels.mode_at(x._level) != 0


def _is_sequence_of_indices(index: Any) -> bool:
    """Whether a list counts as a tuple of indices, which PyTorch decides by what it holds."""
    if isinstance(index, (str, bytes, Value, _ndarray, range)) or not isinstance(index, Sequence) or len(index) >= 32:
        return False
    return any(isinstance(e, (Value, slice, list, tuple)) or e is Ellipsis or e is None for e in index)


def _bad_index(e: Any) -> Exception:
    error = TypeError if isinstance(e, str) else IndexError
    return error(
        "an index consists of ints, slices, ..., None, and integer or boolean tensors, arrays and lists; "
        f"got {type(e).__name__}"
    )


def _index_tensor(e: Any) -> Any:
    """An index that is no int, slice, None or Ellipsis, as a tensor or array of integers or booleans."""
    if isinstance(e, Value):
        kind = dtype_of(e)
        if kind.kind == "b" or kind in INDEX_DTYPES:
            return e._a if e._level == 0 and type(e._a) is _ndarray else e
        if not shape_of(e) and kind.kind in "iu" and kind != np.uint8:
            return concrete("index", e).astype(np.int64)  # a number of any kind of integers
        if kind == np.uint8:
            warnings.warn("indexing with uint8 is deprecated; use bool masks", UserWarning, stacklevel=4)
            return concrete("index", e).astype(bool)
        raise IndexError(
            f"tensors used as indices must be int64, int32 or bool, not {_dtype.FROM_NUMPY[kind]}; convert them with .long()"
        )
    if isinstance(e, np.bool_) or not isinstance(e, (list, tuple, range, _ndarray)):
        raise _bad_index(e)
    array = e if isinstance(e, _ndarray) else data_array(list(e) if isinstance(e, range) else e)
    if array.size == 0 and not isinstance(e, _ndarray):
        return array.astype(np.int64)
    if array.dtype.kind not in "iub":
        raise IndexError(f"arrays used as indices must hold integers or booleans, not {array.dtype}")
    return array if array.dtype.kind == "b" else array.astype(np.int64, copy=False)


def _bound(x: Any) -> Any:
    return x if x is None or type(x) is int else operator.index(x)


def _slice(e: slice) -> slice:
    """A slice with plain ints; raises ValueError for a step that is not positive."""
    step = e.step
    if (step is None or type(step) is int) and _plain_bound(e.start) and _plain_bound(e.stop):
        out = e
    else:
        out = slice(_bound(e.start), _bound(e.stop), _bound(step))
        step = out.step
    if step is not None and step <= 0:
        raise ValueError(f"slice: the step must be greater than zero, got {step}; use flip() to reverse")
    return out


def _plain_bound(x: Any) -> bool:
    return x is None or type(x) is int


class Parsed:
    """An index taken apart: `steps` are the basic ones, `arrays` the index arrays by axis of what those leave.

    `unique`: the arrays come from one mask, so no element is named twice.
    """

    __slots__ = ("steps", "arrays", "axes", "unique")

    def __init__(self) -> None:
        self.steps: list[tuple[Any, ...]] = []
        self.arrays: list[Any] = []
        self.axes: list[int] = []
        self.unique = False

    def view(self, x: Any) -> Any:
        """The view of `x` that the basic steps make."""
        for index in self.steps:
            x = _view(x, index)
        return x


def parse(x: Any, index: Any) -> Parsed:
    """Take an index of a tensor apart; raises IndexError where it does not fit."""
    if type(index) is not tuple:
        if _is_sequence_of_indices(index):
            if isinstance(index, list):
                message = "a list of indices is read as a tuple of them here; write x[tuple(indices)]"
                warnings.warn(message, UserWarning, stacklevel=4)
            index = tuple(index)
        else:
            index = (index,)
    shape = tuple(shape_of(x))
    entries: list[Any] = []
    used = 0
    for e in index:
        if e is None or e is Ellipsis or isinstance(e, bool):
            entries.append(e)
            continue
        if isinstance(e, slice):
            entries.append(_slice(e))
        elif isinstance(e, _INTS):
            entries.append(int(e))
        else:
            e = _index_tensor(e)
            if not shape_of(e) and dtype_of(e).kind == "b":
                entries.append(e)
                continue
            if not shape_of(e) and (type(e) is _ndarray or not isinstance(e._a, BatchedArray)):
                e = int(e if type(e) is _ndarray else concrete("index", e))
            elif dtype_of(e).kind == "b":
                used += len(shape_of(e)) - 1
            entries.append(e)
        used += 1
    if used > len(shape):
        raise IndexError(f"{used} indices were given for a tensor of {len(shape)} dimensions")
    out = Parsed()
    dim = masks = arrays = 0
    source = 0  # the axis of x that the next entry is about
    for e in entries:
        if e is None:
            out.steps.append((_full,) * dim + (None,))
            dim += 1
        elif e is Ellipsis:
            skipped = len(shape) - used
            dim, source, used = dim + skipped, source + skipped, len(shape)
        elif isinstance(e, slice):
            if e != _full or len(entries) == 1:
                out.steps.append((_full,) * dim + (e,))
            dim, source = dim + 1, source + 1
        elif type(e) is int:
            if not -shape[source] <= e < shape[source]:
                raise IndexError(f"index {e} is out of bounds for dimension {source} with size {shape[source]}")
            out.steps.append((_full,) * dim + (e, Ellipsis))
            source += 1
        elif isinstance(e, bool) or (not shape_of(e) and dtype_of(e).kind == "b"):
            truth = bool(e) if isinstance(e, (bool, _ndarray)) else bool(concrete("index", e))
            out.steps.append((_full,) * dim + (None,))
            out.arrays.append(np.zeros(int(truth), np.int64))
            out.axes.append(dim)
            dim += 1
            masks += 1
        elif dtype_of(e).kind == "b":
            have = tuple(shape_of(e))
            if have != shape[source : source + len(have)]:
                raise IndexError(
                    f"a mask of shape {list(have)} does not fit the dimensions from {source} on of a tensor of "
                    f"shape {list(shape)}"
                )
            out.arrays.extend(places_set("index", e))
            out.axes.extend(range(dim, dim + len(have)))
            masks += 1
            dim, source = dim + len(have), source + len(have)
        else:
            out.arrays.append(e)
            out.axes.append(dim)
            arrays += 1
            dim, source = dim + 1, source + 1
    out.unique = masks == 1 and arrays == 0
    if not out.steps and not out.arrays:
        out.steps.append((Ellipsis,))
    return out


def check_arrays(op: str, x: Any, arrays: list[Any], axes: list[int]) -> None:
    """Raise IndexError where index arrays do not broadcast or reach past an axis."""
    shapes = [tuple(shape_of(a)) for a in arrays]
    if len(arrays) > 1:
        try:
            np.broadcast_shapes(*shapes)
        except ValueError:
            raise IndexError(f"{op}: index arrays of shapes {', '.join(map(str, shapes))} do not broadcast") from None
    shape = shape_of(x)
    for a, axis in zip(arrays, axes):
        if type(a) is _ndarray and a.size:
            low, high, n = int(a.min()), int(a.max()), shape[axis]
            if low < -n or high >= n:
                raise IndexError(
                    f"{op}: index {high if high >= n else low} is out of bounds for dimension {axis} with size {n}"
                )


def read(x: Any, arrays: list[Any], axes: list[int], unique: bool) -> Any:
    """`x` at index arrays."""
    try:
        if len(arrays) == 1:
            return _take(x, arrays[0], axis=axes[0])
        return ix.advanced_index(x, *arrays, axes=tuple(axes), unique=unique)
    except (IndexError, RuntimeError):
        check_arrays("index", x, arrays, axes)
        raise


def _is_basic(index: tuple[Any, ...]) -> int:
    """How many steps a tuple of plain ints, slices, None and Ellipsis takes; -1 for one with anything else in it."""
    steps = 0
    for e in index:
        kind = type(e)
        if kind is slice:
            if e == _full:
                continue
            if not _plain_slice(e):
                return -1
            steps += 1
        elif kind is int or e is None:
            steps += 1
        elif e is not Ellipsis:
            return -1
    return steps


def _plain_slice(e: slice) -> bool:
    """Whether a slice has plain bounds and a positive step, so that NumPy may have it as it is."""
    start, stop, step = e.start, e.stop, e.step
    return (
        (start is None or type(start) is int) and (stop is None or type(stop) is int)
        and (step is None or (type(step) is int and step > 0))
    )  # fmt: skip


def getitem(self: Any, index: Any) -> Any:
    """`x[index]`: a view for ints, slices, None and Ellipsis, a copy where tensors or masks are among them."""
    kind = type(index)
    if kind is int:
        return _view(self, (index, Ellipsis))
    if kind is slice:
        return _view(self, (index if _plain_slice(index) else _slice(index),))
    if kind is tuple:
        steps = _is_basic(index)
        if steps == 1 or (steps > 0 and (self._node is None or not recording(self))):
            return _view(self, index if Ellipsis in index else (*index, Ellipsis))
        if steps > 0:
            return _chained(self, index)
    elif index is None:
        return _view(self, (None,))
    elif isinstance(index, Value) and index._level == 0:
        array = index._a
        if type(array) is _ndarray and array.ndim:
            if array.dtype == np.int64 and self._a.shape:
                return read(self, [array], [0], False)
            if array.dtype.kind == "b" and array.shape == tuple(shape_of(self))[: array.ndim]:
                if type(self._a) is _ndarray and not recording(self):
                    return _picked(self, array)
                return ix.advanced_index(self, *array.nonzero(), axes=tuple(range(array.ndim)), unique=True)
    parsed = parse(self, index)
    x = parsed.view(self)
    return read(x, parsed.arrays, parsed.axes, parsed.unique) if parsed.arrays else x


def _chained(x: Any, index: tuple[Any, ...]) -> Any:
    """The steps of a basic index one by one, a node each."""
    dim = 0
    for i, e in enumerate(index):
        if e is None:
            x = _view(x, (_full,) * dim + (None,))
            dim += 1
        elif e is Ellipsis:
            dim = max(dim, len(shape_of(x)) - sum(1 for after in index[i + 1 :] if after is not None))
        elif type(e) is int:
            x = _view(x, (_full,) * dim + (e, Ellipsis))
        else:
            if e != _full:
                x = _view(x, (_full,) * dim + (e,))
            dim += 1
    return x


def _picked(self: Any, mask: np.ndarray) -> Any:
    """The elements that a mask chooses, unrecorded."""
    array = self._a[mask]
    out = make(type(self)._result, array if array.flags.c_contiguous else array.copy(), None, self._level)
    if LOOKED_AT and state.mark is not None:
        state.mark(out)
    return out


# ------------------------------------------------------------------------------------------ writing


def _written(value: Any, np_dtype: np.dtype) -> np.ndarray:
    """A number that is written into a tensor, in its dtype."""
    if isinstance(value, int) and not -(1 << 63) <= value < 1 << 63:
        raise ValueError(f"x[...] = value: {value} does not fit into 64 bits")
    return stored_number("x[...] = value", value, np_dtype)


def fitted(value: Any, shape: tuple[int, ...]) -> Any:
    """A value to write without its leading axes of size 1; raises RuntimeError where it does not broadcast."""
    have = tuple(shape_of(value))
    if have == shape:
        return value
    own = have
    while len(own) > len(shape) and own[0] == 1:
        own = own[1:]
    if len(own) > len(shape) or any(n not in (1, m) for n, m in zip(reversed(own), reversed(shape))):
        raise RuntimeError(f"a value of shape {list(have)} cannot be written to a place of shape {list(shape)}")
    return value if own == have else st.reshape(value, shape=own)


def setitem(self: Any, index: Any, value: Any) -> None:
    """`x[index] = value`: written into the memory of `x`, with its history where that is recorded."""
    if not isinstance(value, Value) and not isinstance(value, (int, float, complex, np.generic)):
        raise TypeError(f"x[...] = value: wanted a tensor or a number, got {type(value).__name__}")
    if _plain_write(self, value):
        place = _numpy_index(self, index, value)
        if place is not None:
            _write(self, place, value)
            return
    kind = type(index)
    if not isinstance(value, Value):
        value = _written(value, dtype_of(self))
    elif kind is int or (kind is slice and _plain_slice(index)) or (kind is tuple and _is_basic(index) == 1):
        place = (
            (index, Ellipsis) if kind is int else (index,) if kind is slice
            else index if Ellipsis in index else (*index, Ellipsis)
        )  # fmt: skip
        if inplace.write_slice("x[...] = value", self, place, value):
            return
    if kind is bool:
        if not index:
            return  # nothing is written, of whatever shape
        index, kind = None, type(None)
    if kind is int or kind is slice or (kind is tuple and _is_basic(index) > 0):
        target = getitem(self, index)
    else:
        parsed = parse(self, index)
        if parsed.arrays:
            _write_arrays(self, parsed, value)
            return
        target = parsed.view(self)
    shape = shape_of(target)
    value = fitted(value, shape)
    if shape_of(value) != shape:
        value = st.broadcast_to(value, shape=shape)
    if target is not self:
        inplace.forget_view(target)  # nobody else has it
    if isinstance(value, Value) and (type(value._a) is not _ndarray or type(self._a) is not _ndarray):
        value = moved(value, place_of(self))
    inplace.update("x[...] = value", target, lambda: as_value(value, self))


def _numpy_index(self: Any, index: Any, value: Any) -> Any:
    """The index as NumPy has it, where that means the same and needs no checks; None for others."""
    kind = type(index)
    if kind is int:
        return (index, Ellipsis)  # without it a full set of ints takes no array of one element
    if kind is slice:
        return index if _plain_slice(index) else None
    if kind is tuple:
        if _is_basic(index) < 0:
            return None
        return index if Ellipsis in index else (*index, Ellipsis)
    if isinstance(index, Value) and index._level == 0:
        array = index._a
        if type(array) is _ndarray and array.ndim:
            same = not isinstance(value, Value) or value._a.dtype == self._a.dtype
            if array.dtype == np.int64:
                return array if same else None
            if array.dtype.kind == "b" and array.shape == self._a.shape[: array.ndim]:
                return array if same or value._a.size == 1 else None
    return None


def _write(self: Any, place: Any, value: Any) -> None:
    """Write where nothing is recorded."""
    array = self._a
    if (self._inference and state.mark is None) or not array.flags.writeable:
        inplace.check("x[...] = value", self)
    elif 0 in array.strides and type(place) is not _ndarray:
        inplace.check("x[...] = value", make(Tensor, np.asarray(array[place])))
    new = value._a if isinstance(value, Value) else value
    if isinstance(new, _ndarray) and new.dtype.kind == "c" and array.dtype.kind != "c":
        new = new.real
    written = array
    if OBSERVERS and isinstance(new, _ndarray) and type(place) is not _ndarray:
        written = array[place]
    for observer in OBSERVERS:
        observer.writing(array)
        if written is not array:
            observer.assigning(written, new)
    try:
        array[place] = new
    except (ValueError, TypeError, OverflowError) as error:
        if isinstance(value, Value):
            raise RuntimeError(
                f"x[...] = value: a value of shape {list(shape_of(value))} does not fit its place in a tensor of shape "
                f"{list(array.shape)}"
            ) from error
        array[place] = _written(value, array.dtype)  # which says what is wrong, if anything is
    if not self.__dict__.get("_untracked"):
        mutation.note(written)


def as_value(x: Any, like: Any) -> Any:
    """An array as a tensor; a tensor as it is."""
    if isinstance(x, Value):
        return x
    return make(type(like)._result, x if type(x) is not _ndarray or type(like._a) is _ndarray else placed(x, *place_of(like)))


def _plain_write(self: Any, value: Any) -> bool:
    """Whether writing `value` into `self` is a matter of memory alone: nothing records, no transform is involved."""
    if type(self._a) is not _ndarray or self._level:
        return False
    edge = None
    if isinstance(value, Value):
        if value._level or type(value._a) is not _ndarray or value._dialect != self._dialect:
            return False
        edge = value._node
    if edge is None and self._node is None and (self._base is None or self._base._node is None):
        return True
    return bool(SWITCHED) and levels.mode_at(0) == 0


def _write_arrays(self: Any, parsed: Parsed, value: Any) -> None:
    target = parsed.view(self) if parsed.steps else self
    check_arrays("x[indices] = value", target, parsed.arrays, parsed.axes)
    shape = ix.indexed_shape(tuple(shape_of(target)), [tuple(shape_of(a)) for a in parsed.arrays], tuple(parsed.axes))
    if dtype_of(value) != dtype_of(self):
        if not (parsed.unique and math.prod(shape_of(value)) == 1):
            raise RuntimeError(
                f"x[indices] = value: the tensor has dtype {_dtype.FROM_NUMPY[dtype_of(self)]}, the value "
                f"{_dtype.FROM_NUMPY[dtype_of(value)]}; convert the value"
            )
        value = st.cast(value, dtype=dtype_of(self))
    value = fitted(value, shape)
    if _plain_write(target, value) and all(type(a) is _ndarray for a in parsed.arrays):
        new = value if type(value) is _ndarray else value._a
        place = ix.index_key(target._a.ndim, parsed.arrays, tuple(parsed.axes))
        _write(target, place, as_value(new, self))
        return
    write_at("x[indices] = value", target, value, parsed.arrays, tuple(parsed.axes), parsed.unique)


def write_at(
    op: str, x: Any, values: Any, arrays: Sequence[Any], axes: tuple[int, ...], unique: bool, accumulate: bool = False
) -> None:
    """Write values at positions, in place; `unique`: none is named twice."""
    if type(x._a) is _ndarray and mutation.overlapping(x._a):
        x, shared = inplace.places(op, x, values)
        arrays, unique = [ew.multiply(a, 0) if axis in shared else a for a, axis in zip(arrays, axes)], False
    inplace.update(
        op, x, lambda: ix.index_put(x, values, *arrays, axes=axes, accumulate=accumulate, unique=unique)
    )


METHODS.update(__getitem__=getitem, __setitem__=setitem)

# ------------------------------------------------------------------------------------------ unbind, iteration


@api()
@numpy_names
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along a dimension, without it; views of the tensor."""
    shape = shape_of(input)
    if not shape:
        raise IndexError("unbind: a 0-d tensor has no dimension to unbind")
    axis = axis_of("unbind", dim, len(shape))
    if not shape[axis]:
        return ()
    before = (_full,) * axis
    outs = unstack(input, axis=axis)
    inplace.attach_parts(outs, input, st.getitem, "index", [(*before, i, Ellipsis) for i in range(shape[axis])])
    return outs


def _iterate(self: Tensor) -> Iterator[Tensor]:
    if not shape_of(self):
        raise TypeError("iteration over a 0-d tensor")
    return iter(unbind(self, 0))


METHODS["__iter__"] = _iterate

def check_index(op: str, index: Any) -> Any:
    """A tensor of indices as an operand; raises TypeError or IndexError for anything else."""
    if not isinstance(index, Value):
        raise TypeError(f"{op}: the index must be a tensor, got {type(index).__name__}")
    if dtype_of(index) not in INDEX_DTYPES:
        raise RuntimeError(f"{op}: the index must have dtype int64, got {_dtype.FROM_NUMPY[dtype_of(index)]}")
    return index._a if index._level == 0 and type(index._a) is _ndarray else index


def same_device(op: str, x: Any, positions: Any) -> None:
    """Raise RuntimeError for positions on another device than the tensor that they are of: NumPy's would go along in silence."""
    if (type(x._a) is not _ndarray or type(positions._a) is not _ndarray) and FOUND:
        have, given = x.device, positions.device
        if have != given:
            raise RuntimeError(
                f"{op}: the tensor and the positions are on different devices, {have} and {given}; move one with to()"
            )
