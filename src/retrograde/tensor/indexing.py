"""`x[key]` and `x[key] = value` with NumPy's meaning: basic keys are views, arrays and masks pick elements.

A key is taken apart into a basic index (slices, None, integers), which gives a view, and index arrays over axes of that
view. Masks become positions, since how many elements they pick depends on values.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core import level as levels
from ..core.node import Accumulate
from ..core.unwrap import concrete
from ..core.value import Value, dtype_of, shape_of
from ..ops import indexing as ix
from ..ops import selection as sel
from ..ops import structural as st
from ..tape import inplace, mutation
from ._values import positions, rank
from .conversion import value
from .operators import storable

if TYPE_CHECKING:
    from .core import Tensor

_ndarray = np.ndarray
_FULL = slice(None)


def _integer(part: Any) -> Any:
    """A slice bound as an int: 0-d tensors count as one."""
    return part if part is None else operator.index(part)


def _count(part: Any) -> int:
    """How many axes a part of a key indexes."""
    if part is None or part is Ellipsis:
        return 0
    if isinstance(part, (Value, _ndarray)) and dtype_of(part).kind == "b":
        return rank(part)
    return 1


def _as_part(part: Any) -> Any:
    """A part of a key as None, an Ellipsis, a slice, an int or an array (value) of integers or booleans."""
    if type(part) is int or part is None or part is Ellipsis:
        return part
    if isinstance(part, slice):
        return slice(_integer(part.start), _integer(part.stop), _integer(part.step))
    if isinstance(part, (bool, np.bool_)):
        return np.asarray(part)
    if isinstance(part, np.integer):
        return int(part)
    if isinstance(part, (list, tuple, range)):
        part = value(part)
        if dtype_of(part).kind == "f" and 0 in shape_of(part):  # an empty list has no dtype of its own
            part = np.zeros(tuple(shape_of(part)), np.intp)
    elif not isinstance(part, (Value, _ndarray)):
        if getattr(part, "ndim", 0):  # an array of another library, of which one with one element would count as an integer
            return _as_part(value(part))
        try:
            return operator.index(part)
        except TypeError:
            raise IndexError(
                "an index is made of integers, slices, None, ... and arrays of integers or booleans, not "
                f"{type(part).__name__}; convert it with int() or astype()"
            ) from None
    kind = dtype_of(part).kind
    if kind not in "iub":
        raise IndexError(f"an index array holds integers or booleans, not {dtype_of(part)}")
    return part


def _parts(key: Any, ndim: int) -> list[Any]:
    """The parts of a key with slices for the axes that it does not name."""
    parts = [_as_part(part) for part in (key if isinstance(key, tuple) else (key,))]
    used = sum(_count(part) for part in parts)
    dots = [i for i, part in enumerate(parts) if part is Ellipsis]
    if len(dots) > 1:
        raise IndexError("an index can have one Ellipsis ('...') only")
    if used > ndim:
        raise IndexError(f"an index for {used} axes, but the tensor has {ndim}")
    rest = [_FULL] * (ndim - used)
    if dots:
        return [*parts[: dots[0]], *rest, *parts[dots[0] + 1 :]]
    return [*parts, *rest]


def _check_bounds(x: Any, index: tuple[Any, ...]) -> None:
    axis, shape = 0, shape_of(x)
    for part in index:
        if part is None:
            continue
        if type(part) is int and not -shape[axis] <= part < shape[axis]:
            raise IndexError(f"index {part} is out of bounds for axis {axis} with size {shape[axis]}")
        axis += 1


def _separate(x: Value, parts: list[Any]) -> tuple[tuple[Any, ...], list[Any], tuple[int, ...], bool]:
    """The basic index of a key with arrays, the index arrays, their axes in the view, and whether no element repeats.

    As in NumPy, an integer beside index arrays counts as one of them.
    """
    entries: list[tuple[Any, Any]] = []  # of each axis of the view: its part of the basic index, and the array over it
    unique = True
    source = 0  # the axis of x
    shape = shape_of(x)
    for part in parts:
        if part is None or isinstance(part, slice):
            entries.append((part, None))
            source += part is not None
            continue
        if type(part) is int:
            part = np.asarray(part)
        if dtype_of(part).kind == "b":
            covered = tuple(shape[source : source + rank(part)])
            if tuple(shape_of(part)) != covered:
                raise IndexError(f"a mask of shape {tuple(shape_of(part))} does not fit axes of shape {covered}")
            # A mask without axes stands for a new one, with one position or none.
            entries += (
                [(_FULL, at) for at in positions("an index", part)] if covered
                else [(None, np.zeros(int(concrete("an index", part)), np.intp))]
            )  # fmt: skip
            source += len(covered)
            continue
        if type(part) is _ndarray or type(getattr(part, "_a", None)) is _ndarray:
            _check_positions(part if type(part) is _ndarray else part._a, shape[source], source)
        unique = unique and rank(part) == 0
        entries.append((_FULL, part))
        source += 1
    axes = tuple(i for i, (_, array) in enumerate(entries) if array is not None)
    return tuple(part for part, _ in entries), [entries[i][1] for i in axes], axes, unique


def _check_positions(array: np.ndarray, n: int, axis: int) -> None:
    if array.size and not (-n <= array.min() and array.max() < n):
        bad = int(array.min()) if array.min() < -n else int(array.max())
        raise IndexError(f"index {bad} is out of bounds for axis {axis} with size {n}")


def _is_whole(index: tuple[Any, ...]) -> bool:
    return all(isinstance(part, slice) and part == _FULL for part in index)


def get(x: Any, key: Any) -> Tensor:
    """`x[key]`: a view for a basic key, the picked elements for one with arrays.

    Raises IndexError where the key does not fit.
    """
    if type(key) is int or type(key) is slice:
        parts = [_as_part(key), *(_FULL,) * (rank(x) - 1)]
        if not rank(x):
            raise IndexError("a 0-d tensor has no axis to index; use [()] or item()")
    else:
        parts = _parts(key, rank(x))
    if all(part is None or type(part) is int or isinstance(part, slice) for part in parts):
        index = tuple(parts)
        _check_bounds(x, index)
        return inplace.view(st.getitem, x, index=index)
    basic, arrays, axes, unique = _separate(x, parts)
    seen = x if _is_whole(basic) else st.getitem(x, index=basic)
    if len(arrays) == 1:
        return ix.take(seen, arrays[0], axis=axes[0])
    return ix.advanced_index(seen, *arrays, axes=axes, unique=unique)


def _plain(x: Any) -> Any:
    return x._a if isinstance(x, Value) else x


def _in_memory(x: Value, new: Any, parts: list[Any]) -> bool:
    """Whether a write is only that: plain arrays, and nothing of it to be recorded."""
    if type(x._a) is not _ndarray:
        return False
    level = x._level
    for part in (new, *parts):
        if isinstance(part, Value):
            if type(part._a) is not _ndarray or part._dialect != x._dialect:
                return False
            level = max(level, part._level)
    if not levels.mode_at(level):
        return level == x._level
    base = x._base
    return (
        x._node is None
        and (base is None or base._node is None)
        and not (isinstance(new, Value) and (new._node is not None or new._level > x._level))
    )


def set(x: Value, key: Any, new: Any) -> None:
    """`x[key] = new`: written into the memory of `x`, history included.

    Raises IndexError for a key, ValueError for a shape, TypeError for a kind of numbers that does not fit.
    """
    new = _as_dtype_of(x, new)
    parts = _parts(key, rank(x))
    basic_only = all(part is None or type(part) is int or isinstance(part, slice) for part in parts)
    if basic_only:
        _check_bounds(x, tuple(parts))
    if _in_memory(x, new, parts):
        inplace.check("setitem", x)
        x._a[tuple(_plain(part) for part in parts)] = _plain(new)
        mutation.note(x._a)
        return
    if basic_only:
        index = tuple(parts)
        if _is_whole(index):
            inplace.update("setitem", x, lambda: st.replace(x, _filling(new, tuple(shape_of(x)))))
        else:
            _write(x, index, lambda part: _filling(new, tuple(shape_of(part))))
        return
    if len(parts) == 1 and not isinstance(parts[0], slice) and dtype_of(parts[0]).kind == "b" and not rank(new):
        # A number written through a mask needs no positions, so it works inside vmap too.
        mask = parts[0]
        if tuple(shape_of(mask)) != tuple(shape_of(x)):
            raise IndexError(
                f"a mask of shape {tuple(shape_of(mask))} does not fit a tensor of shape {tuple(shape_of(x))}"
            )
        inplace.update("setitem", x, lambda: sel.where(mask, new, x))
        return
    basic, arrays, axes, unique = _separate(x, parts)

    def put(part: Value) -> Tensor:
        result_rank = rank(part) - len(axes) + max(rank(i) for i in arrays)
        return ix.index_put(part, _without_leading_ones(new, result_rank), *arrays, axes=axes, unique=unique)

    if _is_whole(basic):
        inplace.update("setitem", x, lambda: put(x))
    else:
        _write(x, basic, put)


def _write(x: Value, index: tuple[Any, ...], change: Callable[[Value], Any]) -> None:
    """Let the part of `x` that a basic index names become `change(part)`."""
    if type(x._node) is Accumulate:
        inplace.check("setitem", x)
    if x._base is not None and type(x._base._node) is Accumulate and levels.mode_at(x._level):
        steps = ((st.getitem, (("index", index),)),)  # the change is the history of `x` alone, not of what `x` views
        inplace.update("setitem", x, lambda: st.view_scatter(x, change(st.getitem(x, index=index)), steps=steps))
        return
    target = inplace.view(st.getitem, x, index=index)
    inplace.update("setitem", target, lambda: change(target))


def _as_dtype_of(x: Value, new: Any) -> Any:
    """What is to be written, as an array or value of the dtype of `x`; raises TypeError where its kind does not fit."""
    dtype = dtype_of(x)
    if isinstance(new, (bool, int, float, complex)) and not isinstance(new, np.generic):
        if not np.can_cast(np.result_type(type(new)), dtype, "same_kind") and not (
            type(new) is int and dtype.kind == "u"
        ):
            raise TypeError(f"setitem: a {type(new).__name__} does not fit a tensor of dtype {dtype}; convert it first")
        return np.asarray(new, dtype)
    if not isinstance(new, (Value, _ndarray)):
        new = value(new)
    storable("setitem", new, x)
    return new if dtype_of(new) == dtype else st.cast(new, dtype=dtype)


def _without_leading_ones(new: Any, most: int) -> Any:
    """`new` with no more axes than `most`, where those in front have length 1."""
    shape = tuple(shape_of(new))
    extra = len(shape) - most
    if extra > 0 and all(n == 1 for n in shape[:extra]):
        return st.reshape(new, shape=shape[extra:])
    return new


def _filling(new: Any, shape: tuple[int, ...]) -> Any:
    """`new` as a value of a shape; raises ValueError where it does not broadcast."""
    new = _without_leading_ones(value(new), len(shape))
    if tuple(shape_of(new)) == shape:
        return st.copy(new)
    return st.broadcast_to(new, shape=shape)
