"""Shapes and rearrangements: views wherever the memory allows, so that writing to one changes the other."""

from __future__ import annotations

import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.unwrap import concrete
from ..core.value import Value, dtype_of, shape_of
from ..ops import comparison as cmp
from ..ops import indexing as ix
from ..ops import manipulation as mani
from ..ops import structural as st
from ..tape import inplace
from ._values import axes_of, axis_of, matrices, rank, shape_tuple
from .conversion import value
from .dtypes import as_dtype
from .promotion import common_dtype, to_dtype

if TYPE_CHECKING:
    from .core import Tensor

# ------------------------------------------------------------------------------------------ shape


def reshape(x: Any, /, shape: Any, *, copy: bool | None = None) -> Tensor:
    """The elements in C order in another shape, of which one size may be -1; a view where the memory allows.

    Raises ValueError where the sizes do not fit, or a copy is needed and `copy=False`.

    Examples
    --------
    >>> import retrograde as rg
    >>> reshape(rg.arange(4), (2, -1))
    Tensor([[0, 1],
            [2, 3]])
    """
    x = value(x)
    wanted, size = shape_tuple(shape), math.prod(shape_of(x))
    if -1 in wanted:
        known = -math.prod(wanted)
        if wanted.count(-1) == 1 and known > 0:  # else it does not fit
            wanted = tuple(size // known if n == -1 else n for n in wanted)
    if math.prod(wanted) != size or any(n < 0 for n in wanted):
        raise ValueError(f"reshape: shape {tuple(shape_of(x))} does not fit into {wanted}")
    out = inplace.view(st.reshape, x, shape=wanted)
    if copy is None:
        return out
    shared = not isinstance(x._a, np.ndarray) or np.may_share_memory(out._a, x._a)
    if copy:
        return st.copy(out) if shared else out
    if not shared and size:
        raise ValueError(
            "reshape: this memory layout cannot be seen in that shape without a copy; leave copy=False out"
        )
    return out


def flatten(x: Any, /) -> Tensor:
    """A copy of the elements in C order along one axis."""
    x = value(x)
    return st.copy(st.reshape(x, shape=(math.prod(shape_of(x)),)))


def squeeze(x: Any, /, axis: Any = None) -> Tensor:
    """Without the axes of length 1 (only those of `axis`, if given); a view. Raises ValueError for a longer one.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.squeeze(rg.zeros((1, 3, 1)), axis=0).shape
    (3, 1)
    """
    x = value(x)
    shape = tuple(shape_of(x))
    axes = tuple(i for i, n in enumerate(shape) if n == 1) if axis is None else axes_of("squeeze", axis, len(shape))
    for a in axes:
        if shape[a] != 1:
            raise ValueError(f"squeeze: axis {a} has length {shape[a]}, not 1")
    return inplace.view(st.reshape, x, shape=tuple(n for i, n in enumerate(shape) if i not in axes))


def expand_dims(x: Any, /, axis: Any = 0) -> Tensor:
    """With new axes of length 1 at the positions `axis` (one, or several) of the result; a view.

    Examples
    --------
    >>> import retrograde as rg
    >>> expand_dims(rg.zeros((2, 3)), axis=1).shape
    (2, 1, 3)
    """
    x = value(x)
    count = len(axis) if isinstance(axis, (tuple, list)) else 1
    new_rank = rank(x) + count
    axes = axes_of("expand_dims", axis, new_rank)
    old = iter(shape_of(x))
    return inplace.view(st.reshape, x, shape=tuple(1 if i in axes else next(old) for i in range(new_rank)))


def permute_dims(x: Any, /, axes: Any = None) -> Tensor:
    """With the axes in another order, in reverse if it is left out; a view. Raises ValueError unless each is named once.

    Examples
    --------
    >>> import retrograde as rg
    >>> permute_dims(rg.zeros((2, 3, 4)), (2, 0, 1)).shape
    (4, 2, 3)
    """
    x = value(x)
    order = tuple(axis_of("permute_dims", a, rank(x)) for a in (range(rank(x))[::-1] if axes is None else axes))
    if sorted(order) != list(range(rank(x))):
        raise ValueError(f"permute_dims: {tuple(axes)} does not name each of {rank(x)} axes once")
    return inplace.view(st.transpose, x, axes=order)


def matrix_transpose(x: Any, /) -> Tensor:
    """With the last two axes exchanged; a view.

    `x` has the shape (..., m, n), the result (..., n, m). Raises ValueError for fewer than two axes.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.matrix_transpose(rg.asarray([[1, 2], [3, 4]]))
    Tensor([[1, 3],
            [2, 4]])
    """
    x = value(x)
    n = matrices("matrix_transpose", x)
    return inplace.view(st.transpose, x, axes=(*range(n - 2), n - 1, n - 2))


def moveaxis(x: Any, source: Any, destination: Any, /) -> Tensor:
    """With the axes `source` at the positions `destination`, the others in order; a view.

    Both are ints, or sequences of as many. Raises ValueError for an axis that is not there or named twice.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.moveaxis(rg.zeros((2, 3, 4)), 0, -1).shape
    (3, 4, 2)
    """
    x = value(x)
    n = rank(x)
    sources = source if isinstance(source, (tuple, list)) else (source,)
    places = destination if isinstance(destination, (tuple, list)) else (destination,)
    first = [axis_of("moveaxis", a, n) for a in sources]
    second = [axis_of("moveaxis", a, n) for a in places]
    if len(first) != len(second) or len(set(first)) != len(first) or len(set(second)) != len(second):
        raise ValueError(f"moveaxis: {source} and {destination} must name as many axes, each once")
    order = [i for i in range(n) if i not in first]
    for place, a in sorted(zip(second, first)):
        order.insert(place, a)
    return inplace.view(st.transpose, x, axes=tuple(order))


def swapaxes(x: Any, axis1: int, axis2: int, /) -> Tensor:
    """With two axes exchanged; a view."""
    x = value(x)
    order = list(range(rank(x)))
    a, b = axis_of("swapaxes", axis1, rank(x)), axis_of("swapaxes", axis2, rank(x))
    order[a], order[b] = b, a
    return inplace.view(st.transpose, x, axes=tuple(order))


# ------------------------------------------------------------------------------------------ broadcasting


def broadcast_to(x: Any, /, shape: Any) -> Tensor:
    """Repeated to a larger shape without a copy, so that it cannot be written to. Raises ValueError for a misfit.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.broadcast_to(rg.asarray([1.0, 2.0]), (2, 2))
    Tensor([[1., 2.],
            [1., 2.]])
    """
    x = value(x)
    have, wanted = tuple(shape_of(x)), shape_tuple(shape)
    if len(have) > len(wanted) or any(n not in (1, m) for n, m in zip(have[::-1], wanted[::-1])):
        raise ValueError(f"broadcast_to: shape {have} does not broadcast to {wanted}")
    return inplace.view(st.broadcast_to, x, shape=wanted)


def broadcast_arrays(*arrays: Any) -> list[Tensor]:
    """All in the shape to which they broadcast together.

    Raises ValueError where the shapes do not broadcast.

    Examples
    --------
    >>> import retrograde as rg
    >>> [x.shape for x in rg.broadcast_arrays(rg.ones((2, 1)), rg.ones((3,)))]
    [(2, 3), (2, 3)]
    """
    given: list[Any] = [value(x) for x in arrays]
    shape = np.broadcast_shapes(*(tuple(shape_of(x)) for x in given))
    return [x if tuple(shape_of(x)) == shape else broadcast_to(x, shape) for x in given]


# ------------------------------------------------------------------------------------------ joining, splitting


def in_common(*arrays: Any, dtype: Any = None) -> list[Any]:
    """Arrays as values of one dtype: that to which they promote, if none is given."""
    given = [value(x) for x in arrays]
    if not given:
        raise ValueError("wanted at least one array")
    common = common_dtype(*(dtype_of(x) for x in given)) if dtype is None else as_dtype(dtype)
    return [to_dtype(x, common) for x in given]


def concat(arrays: Any, /, *, axis: int | None = 0, dtype: Any = None) -> Tensor:
    """Arrays joined along an axis that they have (None: flattened first), in their common dtype or in `dtype`.

    The other axes have the same lengths in all. Raises ValueError for 0-d arrays and for other lengths.

    Examples
    --------
    >>> import retrograde as rg
    >>> concat([rg.asarray([1, 2]), rg.asarray([3.0])])
    Tensor([1., 2., 3.])
    """
    given = in_common(*arrays, dtype=dtype)
    if axis is None:
        return st.concatenate(*(st.reshape(x, shape=(math.prod(shape_of(x)),)) for x in given), axis=0)
    if not rank(given[0]):
        raise ValueError("concat: 0-d tensors have no axis to join along; use stack()")
    return st.concatenate(*given, axis=axis_of("concat", axis, rank(given[0])))


def stack(arrays: Any, /, *, axis: int = 0, dtype: Any = None) -> Tensor:
    """Arrays of one shape joined along a new axis, in their common dtype or in `dtype`.

    The result has one axis more than each, as long as there are arrays. Raises ValueError for arrays of different
    shapes.

    Examples
    --------
    >>> import retrograde as rg
    >>> stack([rg.asarray(1.0), rg.asarray(2.0)])
    Tensor([1., 2.])
    """
    given = in_common(*arrays, dtype=dtype)
    shapes = {tuple(shape_of(x)) for x in given}
    if len(shapes) > 1:
        raise ValueError(f"stack: the arrays have different shapes, {sorted(shapes)}; pad them, or join them with concat()")
    return st.stack(*given, axis=axis_of("stack", axis, rank(given[0]) + 1))


def unstack(x: Any, /, *, axis: int = 0) -> tuple[Tensor, ...]:
    """The slices along an axis, without it: views.

    Examples
    --------
    >>> import retrograde as rg
    >>> unstack(rg.asarray([1.0, 2.0]))
    (Tensor(1.), Tensor(2.))
    """
    x = value(x)
    i = axis_of("unstack", axis, rank(x))
    if not shape_of(x)[i]:
        return ()
    parts = mani.unstack(x, axis=i)
    before = (slice(None),) * i
    inplace.attach_parts(parts, x, st.getitem, "index", [(*before, k) for k in range(len(parts))])
    return parts


def split(x: Any, indices_or_sections: Any, /, *, axis: int = 0) -> list[Tensor]:
    """Consecutive parts along an axis: views. A number of parts (the last ones smaller), or where each part ends."""
    x = value(x)
    i = axis_of("split", axis, rank(x))
    n = shape_of(x)[i]
    if isinstance(indices_or_sections, (list, tuple, np.ndarray)):
        ends = [operator.index(k) for k in indices_or_sections]
    else:
        k = operator.index(indices_or_sections)
        if k <= 0:
            raise ValueError(f"split: wanted a positive number of parts, got {k}")
        ends = [j * (n // k) + min(j, n % k) for j in range(1, k)]
    bounds = [slice(a, b).indices(n)[:2] for a, b in zip([0, *ends], [*ends, n])]
    before = (slice(None),) * i
    return [inplace.view(st.getitem, x, index=(*before, slice(a, max(a, b)))) for a, b in bounds]


# ------------------------------------------------------------------------------------------ rearranging, repeating


def flip(x: Any, /, axis: Any = None) -> Tensor:
    """With the elements along `axis` (None: all) in reverse order.

    The result has the shape of `x`. Raises numpy.exceptions.AxisError, which is a ValueError, for an axis that `x`
    does not have.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.flip(rg.asarray([1, 2, 3]))
    Tensor([3, 2, 1])
    """
    x = value(x)
    return mani.flip(x, axes=axes_of("flip", axis, rank(x)))


def roll(x: Any, /, shift: Any, axis: Any = None) -> Tensor:
    """With the elements moved on by `shift` along `axis`, those at the end to the start; flattened meanwhile if None.

    `shift` and `axis` are ints or tuples of as many. The result has the shape of `x`. Raises ValueError where their
    numbers differ.

    Examples
    --------
    >>> import retrograde as rg
    >>> roll(rg.asarray([1, 2, 3]), 1)
    Tensor([3, 1, 2])
    """
    x = value(x)
    shape = tuple(shape_of(x))
    if axis is None:
        return st.reshape(roll(st.reshape(x, shape=(math.prod(shape),)), shift, 0), shape=shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    if len(axes) == 1 and len(shifts) > 1:
        axes = tuple(axes) * len(shifts)
    if len(shifts) != len(axes):
        raise ValueError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    return mani.roll(
        x, shifts=tuple(operator.index(s) for s in shifts), axes=tuple(axis_of("roll", a, len(shape)) for a in axes)
    )


def tile(x: Any, repetitions: Any, /) -> Tensor:
    """Repeated along each axis as often as `repetitions` says, from the last axis on.

    `repetitions` is an int or a tuple of ints; of more numbers than `x` has axes, the first ones make new axes.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.tile(rg.asarray([1, 2]), (2, 2))
    Tensor([[1, 2, 1, 2],
            [1, 2, 1, 2]])
    """
    x = value(x)
    reps = shape_tuple(repetitions)
    return mani.tile(x, reps=(1,) * (rank(x) - len(reps)) + reps)


def repeat(x: Any, repeats: Any, /, *, axis: int | None = None) -> Tensor:
    """Each element `repeats` times in a row (a number for all, or one for each) along `axis`; flattened if None.

    Raises TypeError for repeats that are no integers, ValueError unless there is one, or one for each element along
    `axis`.

    Examples
    --------
    >>> import retrograde as rg
    >>> repeat(rg.asarray([1, 2]), rg.asarray([2, 1]))
    Tensor([1, 1, 2])
    """
    x = value(x)
    if axis is None:
        x, axis = st.reshape(x, shape=(math.prod(shape_of(x)),)), 0
    i = axis_of("repeat", axis, rank(x))
    counts = concrete("repeat", repeats) if isinstance(repeats, Value) else np.asarray(repeats)
    if counts.dtype.kind not in "iu" and counts.size:
        raise TypeError(f"repeat: wanted integers as repeats, got dtype {counts.dtype}")
    if counts.size == 1:
        return mani.repeat_elements(x, repeats=int(counts.reshape(())), axis=i)
    n = shape_of(x)[i]
    if counts.shape != (n,):
        raise ValueError(f"repeat: repeats of shape {counts.shape} for {n} elements along axis {i}")
    return ix.take(x, np.repeat(np.arange(n), counts), axis=i)


def diff(x: Any, /, *, axis: int = -1, n: int = 1, prepend: Any = None, append: Any = None) -> Tensor:
    """The differences of neighbours along `axis`, taken `n` times; of booleans, whether they differ.

    The result is shorter by `n` along `axis`. Raises ValueError for a negative `n`.

    Examples
    --------
    >>> import retrograde as rg
    >>> diff(rg.asarray([1.0, 4.0, 9.0]))
    Tensor([3., 5.])
    """
    x = value(x)
    i = axis_of("diff", axis, rank(x))
    if n < 0:
        raise ValueError(f"diff: n must not be negative, got {n}")
    if n == 0:
        return x
    if prepend is not None or append is not None:
        one = tuple(1 if j == i else n for j, n in enumerate(shape_of(x)))
        ends = (p if p is None or rank(value(p)) else broadcast_to(p, one) for p in (prepend, x, append))
        x = concat([p for p in ends if p is not None], axis=i)
    before = (slice(None),) * i
    for _ in range(min(n, shape_of(x)[i])):  # then there is nothing left
        later, earlier = st.getitem(x, index=(*before, slice(1, None))), st.getitem(x, index=(*before, slice(0, -1)))
        x = cmp.not_equal(later, earlier) if dtype_of(x).kind == "b" else later - earlier
    return x
