"""Shapes and the order of axes and elements: reshape, transpose, squeeze, expand, flip, roll, grids.

Most results are views: they share memory with the tensor they come from.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.unwrap import concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import manipulation as mani
from ...ops import structural as st
from ...tape import inplace
from ...tensor import manipulation
from ...tensor import numpy_shapes as nps
from .._shared.axes import axes_of, axis_of, integer, integers, spread
from .._shared.shapes import broadcast, filled
from ._api import api, row
from ._arguments import function
from ._binary import same_dtype
from ._dtype import as_dtype, dtype
from ._inplace import become, rearranging
from ._promote import single
from ._tensor import from_array

view = inplace.view

# ------------------------------------------------------------------------------------------ reshape


def resolved(op: str, shape: tuple[int, ...], have: tuple[int, ...], *, zero_keeps: bool = True) -> tuple[int, ...]:
    """A shape with 0 for "as it was" and one -1 for "what is left", in numbers; raises ValueError where it misfits."""
    count = math.prod(have)
    if zero_keeps and count:
        if 0 in shape[len(have) :]:
            raise ValueError(f"{op}: 0 in {list(shape)} stands for an axis that is not there")
        shape = tuple(n or have[i] for i, n in enumerate(shape))
    return filled(op, shape, count, ValueError, empty=True)


@api()
def reshape(x: Any, *shape: Any, name: Any = None, **named: Any) -> Any:
    """The elements in another shape, given as one argument or one by one; 0 keeps the size of an axis, -1 takes what
    is left. The tensor itself where the sizes given are those that it has."""
    x = single("reshape", x)
    if "shape" in named:
        shape = (named.pop("shape"),)
    elif len(shape) == 2 and isinstance(shape[0], (list, tuple)) and not isinstance(shape[1], int):
        shape = shape[:1]
    if named or not shape:
        raise TypeError(f"reshape: unknown argument {next(iter(named), None)!r}" if named else "reshape: give a shape")
    given, have = spread("reshape", shape, "shape"), tuple(shape_of(x))
    if tuple(given) == have and not isinstance(shape[0], Value):
        return x
    return view(st.reshape, x, shape=resolved("reshape", given, have))


rearranging("reshape", reshape)


@api("view", seconds={"size": "shape_or_dtype", "dtype": "shape_or_dtype"})
def view_(x: Any, *sizes: Any, shape_or_dtype: Any = None, name: Any = None) -> Any:
    """The same memory in another shape, given as one argument or one by one, or read as another dtype."""
    x = single("view", x)
    given = sizes if shape_or_dtype is None else (*sizes, shape_or_dtype)
    if not given:
        raise TypeError("view: give a shape or a dtype")
    if len(given) == 1 and isinstance(given[0], (str, dtype, np.dtype, type)):
        wanted = as_dtype("view", given[0]).np
        if wanted == dtype_of(x):
            return x
        return from_array(np.ascontiguousarray(concrete("view", x)).view(wanted))
    have = tuple(shape_of(x))
    return view(st.reshape, x, shape=resolved("view", spread("view", given, "shape"), have))


view_as = row("view_as", lambda x, other, name=None: view_(x, list(shape_of(single("view_as", other)))),
    "The elements in the shape of another tensor.")  # fmt: skip


def _range(op: str, x: Any, start: Any, stop: Any) -> tuple[int, int]:
    n = len(shape_of(x))
    i, j = axis_of(op, start, n, "start_axis"), axis_of(op, stop, n, "stop_axis")
    if i > j:
        raise ValueError(f"{op}: start_axis {start} lies behind stop_axis {stop}")
    return i, j


@api(seconds={"start_dim": "start_axis", "end_dim": "stop_axis"})
def flatten(x: Any, start_axis: int = 0, stop_axis: int = -1, name: Any = None) -> Any:
    """With the axes from `start_axis` to `stop_axis` made one; a 0-d tensor gets an axis."""
    x = single("flatten", x)
    i, j = _range("flatten", x, start_axis, stop_axis)
    shape = tuple(shape_of(x)) or (1,)
    return view(st.reshape, x, shape=(*shape[:i], math.prod(shape[i : j + 1]), *shape[j + 1 :]))


rearranging("flatten", flatten)


ravel = row("ravel", lambda input: flatten(input), "All elements in one axis.")


@api()
def unflatten(x: Any, axis: Any, shape: Any, name: Any = None) -> Any:
    """With one axis made several, of the given sizes."""
    x = single("unflatten", x)
    have = tuple(shape_of(x))
    i = axis_of("unflatten", axis, len(have))
    sizes = resolved("unflatten", integers("unflatten", "shape", shape), (have[i],), zero_keeps=False)
    wanted = (*have[:i], *sizes, *have[i + 1 :])
    return x if wanted == have else view(st.reshape, x, shape=wanted)


@api()
def squeeze(x: Any, axis: Any = None, name: Any = None) -> Any:
    """Without axes of length 1: all of them, or those named that have it."""
    x = single("squeeze", x)
    shape = tuple(shape_of(x))
    gone = range(len(shape)) if axis is None else axes_of("squeeze", axis, len(shape))
    return view(st.reshape, x, shape=tuple(n for i, n in enumerate(shape) if i not in gone or n != 1))


rearranging("squeeze", squeeze)


@api()
def unsqueeze(x: Any, axis: Any, name: Any = None) -> Any:
    """With axes of length 1 inserted, one after the other."""
    x = single("unsqueeze", x)
    shape = list(shape_of(x))
    for a in integers("unsqueeze", "axis", axis):
        if not -len(shape) - 1 <= a <= len(shape):
            raise ValueError(f"unsqueeze: axis {a} is out of range for a tensor with {len(shape)} axes")
        shape.insert(a + len(shape) + 1 if a < 0 else a, 1)
    return view(st.reshape, x, shape=tuple(shape))


rearranging("unsqueeze", unsqueeze)

# ------------------------------------------------------------------------------------------ order of axes


def _permuted(op: str, x: Any, perm: Any) -> Any:
    x = single(op, x)
    n = len(shape_of(x))
    order = integers(op, "perm", perm)
    order = tuple(axis_of(op, a, n) for a in order) if n else ()
    if sorted(order) != list(range(n)):
        raise ValueError(f"{op}: wanted each of the {n} axes once, got {list(order)}")
    return view(st.transpose, x, axes=order)


@api()
def transpose(x: Any, *perm: Any, name: Any = None, **named: Any) -> Any:
    """The axes in another order; two numbers exchange these axes."""
    if "perm" in named:
        perm = (named.pop("perm"),)
    elif "dim0" in named and "dim1" in named:
        perm = (named.pop("dim0"), named.pop("dim1"))
    if named:
        raise TypeError(f"transpose: unknown argument {next(iter(named))!r}")
    x = single("transpose", x)
    n = len(shape_of(x))
    if len(perm) == 2 and not isinstance(perm[0], (list, tuple)):
        return swapaxes(x, *perm)
    if len(perm) == 1 and isinstance(perm[0], (list, tuple)) and len(perm[0]) < n:
        # Fewer axes than there are: these in front of the others, if they are the first in order.
        axes = [axis_of("transpose", a, n) for a in perm[0]]
        if axes != list(range(len(axes))):
            raise ValueError(f"transpose: wanted each of the {n} axes once, got {list(perm[0])}")
        return view(st.transpose, x, axes=tuple(range(n)))
    return _permuted("transpose", x, perm[0] if len(perm) == 1 else perm)


@api()
def permute(input: Any, *dims: Any, **named: Any) -> Any:
    """The axes in another order, given as one argument or one by one."""
    if "dims" in named:
        dims = (named["dims"],)
    return _permuted("permute", input, dims[0] if len(dims) == 1 else dims)


@api()
def t(input: Any, name: Any = None) -> Any:
    """The transpose of a matrix; what has fewer axes stays."""
    x = single("t", input)
    if len(shape_of(x)) > 2:
        raise ValueError(f"t: wanted at most 2 axes, got {len(shape_of(x))}; use transpose()")
    return x.T


def _transposing(name: str, f: Any) -> None:
    @api(name, method=True)
    def method(x: Any, *args: Any, **options: Any) -> Any:
        """The axes in another order, in place; returns the tensor."""
        result = f(x, *args, **options)
        steps = result._view_steps
        order = dict(steps[-1][1])["axes"] if steps else tuple(range(len(shape_of(x))))
        back = (st.transpose, (("axes", st.inverse(order)),))
        return become(name, x, result, back)


_transposing("transpose_", transpose)
_transposing("t_", t)


@api("swapaxes", "swapdims", seconds={"dim0": "axis0", "dim1": "axis1"})
def swapaxes(x: Any, *perm: Any, axis0: Any = None, axis1: Any = None, name: Any = None) -> Any:
    """With two axes exchanged."""
    x = single("swapaxes", x)
    perm = (*perm, *(a for a in (axis0, axis1) if a is not None))
    both = spread("swapaxes", perm, "axis")
    if len(both) != 2:
        raise ValueError(f"swapaxes: wanted two axes, got {list(both)}")
    n = len(shape_of(x))
    return manipulation.swapaxes(x, *(axis_of("swapaxes", a, n, error=IndexError) for a in both))


matrix_transpose = row("matrix_transpose", lambda x, name=None: single("matrix_transpose", x).mT,
    "With the last two axes exchanged.")  # fmt: skip


@api()
def moveaxis(x: Any, source: Any, destination: Any, name: Any = None) -> Any:
    """With some axes moved to other places, the others in order; raises AssertionError for axes that do not fit."""
    x = single("moveaxis", x)
    n = len(shape_of(x))
    wanted, places = ([a] if isinstance(a, int) else tuple(a) for a in (source, destination))
    if len(wanted) != len(places) or not all(
        isinstance(a, int) and -n <= a < n for a in (*wanted, *places)
    ):  # fmt: skip
        raise AssertionError(f"moveaxis: source {source} and destination {destination} do not fit {n} axes")
    first, second = (
        tuple(axis_of("moveaxis", a, n) for a in integers("moveaxis", "axis", given)) for given in (source, destination)
    )
    return manipulation.moveaxis(x, first, second)


# ------------------------------------------------------------------------------------------ broadcasting, repetition


def _expanded(op: str, x: Any, shape: tuple[int, ...]) -> Any:
    return st.copy(st.broadcast_to(x, shape=broadcast(op, shape_of(x), shape, ValueError)))


@api("expand", "broadcast_to", seconds={"size": "shape"})
def expand(x: Any, *shape: Any, name: Any = None, **named: Any) -> Any:
    """Repeated to a larger shape, as a copy; -1 keeps the size of an axis."""
    x = single("expand", x)
    if "shape" in named:
        shape = (named["shape"],)
    elif len(shape) == 2 and isinstance(shape[0], (list, tuple)):
        shape = shape[:1]
    return _expanded("expand", x, spread("expand", shape, "shape"))


expand_as = function("expand_as", "x: Tensor, y: Tensor", lambda x, y: _expanded("expand_as", x, tuple(shape_of(y))),
    "Repeated to the shape of another tensor.")  # fmt: skip


@api()
def broadcast_tensors(input: Any, name: Any = None) -> list[Any]:
    """All tensors of a list in the shape to which they broadcast together."""
    given = [single("broadcast_tensors", x) for x in input]
    shape = broadcast_shapes(*(shape_of(x) for x in given))
    return [_expanded("broadcast_tensors", x, tuple(shape)) for x in given]


@api()
def broadcast_shape(x_shape: Any, y_shape: Any) -> list[int]:
    """The shape to which two shapes broadcast."""
    return broadcast_shapes(x_shape, y_shape)


@api()
def broadcast_shapes(*shapes: Any) -> list[int]:
    """The shape to which shapes broadcast; raises ValueError where they do not."""
    try:
        return list(np.broadcast_shapes(*(tuple(shape) for shape in shapes)))
    except ValueError:
        raise ValueError(f"broadcast_shapes: {[list(s) for s in shapes]} do not broadcast together") from None


@api(seconds={"dims": "repeat_times"})
def tile(x: Any, repeat_times: Any, name: Any = None) -> Any:
    """Repeated along each axis as often as `repeat_times` says, from the last axis on."""
    x = single("tile", x)
    times = integers("tile", "repeat_times", repeat_times)
    if any(n < 0 for n in times):
        raise ValueError(f"tile: repeat_times must not be negative, got {list(times)}")
    return manipulation.tile(x, times)


repeat = row("repeat", lambda input, *repeats: tile(input, spread("repeat", repeats, "repeats")),
    "Repeated along each axis as often as the numbers say.", function=False)  # fmt: skip


@api()
def repeat_interleave(x: Any, repeats: Any, axis: Any = None, name: Any = None, *, output_size: Any = None) -> Any:
    """Each element several times in a row: a number for all, or one for each along the axis (flattened if None)."""
    x = single("repeat_interleave", x)
    i = None if axis is None else axis_of("repeat_interleave", axis, len(shape_of(x)))
    if (isinstance(repeats, Value) and not shape_of(repeats)) or (isinstance(repeats, int) and repeats < 1):
        raise ValueError(f"repeat_interleave: repeats must be a positive int or a vector, got {repeats}")
    counts = concrete("repeat_interleave", repeats) if isinstance(repeats, Value) else repeats
    return manipulation.repeat(x, counts, axis=i)


# ------------------------------------------------------------------------------------------ order of elements


@api("flip", "reverse")
def flip(x: Any, axis: Any, name: Any = None) -> Any:
    """With the elements along axes in reverse order."""
    x = single("flip", x)
    axes = () if isinstance(axis, (list, tuple)) and not axis else axes_of("flip", axis, len(shape_of(x)))
    return mani.flip(x, axes=axes) if axes else st.copy(x)


@api(seconds={"dims": "axis"})
def roll(x: Any, shifts: Any, axis: Any = None, name: Any = None) -> Any:
    """With the elements moved on along axes, those at the end to the start; flattened meanwhile without an axis."""
    x = single("roll", x)
    steps = integers("roll", "shifts", shifts)
    if axis is None:
        return manipulation.roll(x, sum(steps))
    places = tuple(axis_of("roll", a, len(shape_of(x))) for a in integers("roll", "axis", axis))
    if len(places) != len(steps):
        raise ValueError(f"roll: {len(steps)} shifts for {len(places)} axes")
    return mani.roll(x, shifts=steps, axes=places)


@api()
def rot90(x: Any, k: int = 1, axes: Any = (0, 1), name: Any = None) -> Any:
    """Turned by k quarters in the plane of two axes, from the first towards the second."""
    x = single("rot90", x)
    n = len(shape_of(x))
    if n < 2 or len(axes) != 2:
        raise ValueError(f"rot90: wanted 2 axes of a tensor with at least 2, got {axes} of {n}")
    first, second = (axis_of("rot90", a, n) for a in axes)
    if first == second:
        raise ValueError(f"rot90: the two axes are the same, {first}")
    return mani.rot90(x, k=integer("rot90", "k", k), axes=(first, second))


# ------------------------------------------------------------------------------------------ windows


@api()
def unfold(x: Any, axis: Any, size: Any, step: Any, name: Any = None) -> Any:
    """The windows of a size along an axis, `step` apart: their number in its place, their elements as a last axis."""
    x = single("unfold", x)
    i = axis_of("unfold", axis, len(shape_of(x)))
    width, hop = integer("unfold", "size", size), integer("unfold", "step", step)
    if not 0 <= width <= shape_of(x)[i] or hop < 1:
        raise ValueError(f"unfold: windows of {width} elements, {hop} apart, in an axis of {shape_of(x)[i]}")
    return view(mani.sliding_windows, x, axis=i, size=width, step=hop, dilation=1)


def _at_least(name: str, f: Any) -> None:
    @api(name)
    def function(*inputs: Any, name: Any = None) -> Any:
        """The tensors with axes of length 1 added where they have fewer."""
        if len(inputs) == 1 and isinstance(inputs[0], (list, tuple)):
            inputs = tuple(inputs[0])
        found = f(*(single(function.__name__, x) for x in inputs))
        return list(found) if isinstance(found, tuple) else found

    function.__name__ = function.__qualname__ = name


_at_least("atleast_1d", nps.atleast_1d)
_at_least("atleast_2d", nps.atleast_2d)
_at_least("atleast_3d", nps.atleast_3d)

# ------------------------------------------------------------------------------------------ grids


@api(method=False)
def meshgrid(*args: Any, indexing: str = "ij", **named: Any) -> list[Any]:
    """Coordinates of a grid from vectors: one tensor for each, in the shape of the grid."""
    given = args[0] if len(args) == 1 and isinstance(args[0], (list, tuple)) else args
    named.pop("name", None)
    if named or indexing not in ("ij", "xy"):
        raise ValueError(f"meshgrid: indexing must be 'ij' or 'xy', got {indexing!r}")
    vectors = [single("meshgrid", x) for x in given]
    same_dtype("meshgrid", *vectors)
    if any(len(shape_of(x)) > 1 for x in vectors):
        raise ValueError(f"meshgrid: wanted vectors, got shapes {[list(shape_of(x)) for x in vectors]}")
    return list(nps.meshgrid(*vectors, indexing=indexing))
