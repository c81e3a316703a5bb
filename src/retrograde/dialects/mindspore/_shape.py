"""Shapes: reshaping, reordering, repeating, grids. What shares memory in MindSpore is a view here."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...ops import manipulation as mp
from ...ops import structural as st
from ...tape import inplace
from ...tensor import creation as native_creation
from ...tensor import manipulation as nm
from ...tensor import numpy_shapes as nps
from .._shared.axes import axes_of, axis_of, integer, integers, spread
from .._shared.shapes import broadcast, filled
from ._api import api, row
from ._arguments import function
from ._promote import tensor_argument
from ._tensor import Tensor

# ------------------------------------------------------------------------------------------ reshaping


def _reshaped(op: str, x: Any, sizes: tuple[int, ...]) -> Any:
    return inplace.view(st.reshape, x, shape=filled(op, sizes, math.prod(shape_of(x)), ValueError))


@api(method=False)
def reshape(input: Any, shape: Any) -> Any:
    """The elements in another shape, of which one size may be -1; a view where memory allows."""
    if not isinstance(shape, (tuple, list, Value)):
        raise TypeError(f"reshape: shape must be a tuple or list of ints, got {type(shape).__name__}")
    return _reshaped("reshape", tensor_argument("reshape", input), integers("reshape", "shape", shape))


@api("reshape", "view", function=False)
def reshape_method(self: Any, *shape: Any, **named: Any) -> Any:
    """The elements in another shape, of which one size may be -1; a view where memory allows."""
    given = (named["shape"],) if "shape" in named else shape
    if not given:
        raise TypeError("reshape: no shape was given")
    if len(given) == 1 and isinstance(given[0], Value) and not isinstance(given[0], (tuple, list)):
        return _reshaped("reshape", self, integers("reshape", "shape", given[0]))
    return _reshaped("reshape", self, spread("reshape", given, "shape"))


view_as = function("view_as reshape_as", "input: Tensor, other: Tensor", lambda x, y: _reshaped("view_as", x, y.shape),
    "The elements in the shape of another tensor.")  # fmt: skip


@api(method=False)
def flatten(input: Any, order: str = "C", *, start_dim: int = 1, end_dim: int = -1) -> Any:
    """Neighbouring axes joined into one, in C or Fortran order; the first axis stays unless `start_dim` says so."""
    x = tensor_argument("flatten", input)
    if order not in ("C", "F"):
        raise ValueError(f"flatten: order must be 'C' or 'F', got {order!r}")
    n = len(shape_of(x))
    if n < 2 and start_dim == 1:
        start_dim = 0
    first, last = axis_of("flatten", start_dim, n, "start_dim"), axis_of("flatten", end_dim, n, "end_dim")
    if first > last:
        raise ValueError(f"flatten: start_dim {start_dim} comes behind end_dim {end_dim}")
    if order == "F":
        x = st.transpose(x, axes=tuple(range(n))[::-1])
    have = tuple(shape_of(x))
    return inplace.view(st.reshape, x, shape=(*have[:first], math.prod(have[first : last + 1]), *have[last + 1 :]))


@api("flatten", function=False)
def flatten_method(self: Any, *axes: Any, order: str = "C", start_dim: int = 0, end_dim: int = -1) -> Any:
    """Neighbouring axes (all, if none are given) joined into one: `flatten(start_dim, end_dim)`, or `flatten(order)`."""
    if axes and isinstance(axes[0], str):
        order, *axes = axes  # type: ignore[assignment]
    if len(axes) > 2:
        raise TypeError(f"flatten: takes start_dim and end_dim, got {len(axes)} axes")
    start_dim, end_dim = (*axes, *(start_dim, end_dim)[len(axes) :])
    return flatten(self, order, start_dim=start_dim, end_dim=end_dim)


ravel = row("ravel", lambda input:
    _reshaped("ravel", tensor_argument("ravel", input), (-1,) if 0 not in shape_of(input) else (0,)),
    "The elements in one axis.")  # fmt: skip
expand_dims = function("expand_dims", "input_x: Tensor, axis: NewAxis", nm.expand_dims, "A new axis of length 1.")
unsqueeze = function("unsqueeze", "input: Tensor, dim: NewAxis", nm.expand_dims, "A new axis of length 1.")


@api()
def squeeze(input: Any, axis: Any = None) -> Any:
    """Without axes of length 1: all such, or those that are named."""
    x = tensor_argument("squeeze", input)
    have = tuple(shape_of(x))
    named = range(len(have)) if axis is None else axes_of("squeeze", axis, len(have)) if axis != () else ()
    dropped = {i for i in named if have and have[i] == 1}
    return inplace.view(st.reshape, x, shape=tuple(k for i, k in enumerate(have) if i not in dropped))


@api("broadcast_to")
def broadcast_to(input: Any, shape: Any) -> Any:
    """The tensor repeated (in memory once) to a shape, where -1 stands for its own size."""
    x = tensor_argument("broadcast_to", input)
    sizes = broadcast("broadcast_to", shape_of(x), integers("broadcast_to", "shape", shape), ValueError)
    return inplace.view(st.broadcast_to, x, shape=sizes)


@api("expand", function=False)
def expand_method(self: Any, *size: Any) -> Any:
    """The tensor repeated (in memory once) to a shape."""
    if not size:
        raise TypeError("expand: no size was given")
    return broadcast_to(self, spread("expand", size, "size"))


expand = row("expand", lambda input_x, size: broadcast_to(input_x, size),
    "The tensor repeated (in memory once) to a shape.", method=False)  # fmt: skip


expand_as = function("expand_as", "input, other: Tensor", lambda other, input: broadcast_to(input, other.shape),
    "The tensor repeated (in memory once) to the shape of another.")  # fmt: skip


# ------------------------------------------------------------------------------------------ reordering


def _permuted(op: str, x: Any, order: Any, name: str) -> Any:
    n = len(shape_of(x))
    axes = tuple(axis_of(op, a, n, name) for a in order)
    if len(axes) != n or len(set(axes)) != n:
        raise ValueError(f"{op}: {name} must name each of the {n} axes once, got {tuple(order)}")
    return inplace.view(st.transpose, x, axes=axes)


transpose = row("transpose", lambda input, dims:
    _permuted("transpose", tensor_argument("transpose", input), integers("transpose", "dims", dims), "dims"),
    "The axes in another order.", method=False)  # fmt: skip
permute = row("permute", lambda input, axis:
    _permuted("permute", tensor_argument("permute", input), integers("permute", "axis", axis), "axis"),
    "The axes in another order.", method=False)  # fmt: skip


@api("transpose", "permute", function=False)
def transpose_method(self: Any, *axes: Any) -> Any:
    """The axes in another order; reversed, if none is given."""
    if not axes:
        return inplace.view(st.transpose, self, axes=tuple(range(self.ndim))[::-1])
    return _permuted("transpose", self, spread("transpose", axes, "axes"), "axes")


Tensor.T = property(lambda self: transpose_method(self), doc="The axes in reverse order.")  # type: ignore[attr-defined]


@api()
def t(input: Any) -> Any:
    """The transpose of a matrix; a vector as it is."""
    x = tensor_argument("t", input)
    if len(shape_of(x)) > 2:
        raise ValueError(f"t: wanted at most two axes, got shape {tuple(shape_of(x))}")
    return transpose_method(x)


def _adjoint(x: Any) -> Any:
    swapped = nm.swapaxes(x, -2, -1)
    return st.conj(swapped) if dtype_of(x).kind == "c" else swapped


adjoint = function("adjoint", "x: Matrices", _adjoint, "The last two axes exchanged, conjugated.")


Tensor.mT = property(lambda self: nm.swapaxes(self, -2, -1), doc="The last two axes exchanged.")  # type: ignore[attr-defined]
Tensor.H = Tensor.mH = property(adjoint, doc="The last two axes exchanged, conjugated.")  # type: ignore[attr-defined]


swapaxes = function("swapaxes", "input: Tensor, axis0: Axis, axis1: Axis", lambda x, axis0, axis1: nm.swapaxes(x, axis0, axis1),
    "Two axes exchanged.", called={"axis0": "axis0", "axis1": "axis1"})  # fmt: skip


swapdims = row("swapdims", lambda input, dim0, dim1: swapaxes(input, dim0, dim1), "Two axes exchanged.")


@api("moveaxis", "movedim")
def moveaxis(x: Any, source: Any, destination: Any) -> Any:
    """Axes moved to other places."""
    x = tensor_argument("moveaxis", x, "x")
    n = len(shape_of(x))
    where, to = ([axis_of("moveaxis", a, n) for a in integers("moveaxis", "axis", s)] for s in (source, destination))
    if len(where) != len(to) or len(set(where)) != len(where) or len(set(to)) != len(to):
        raise ValueError(f"moveaxis: as many different axes must go as come, got {source} and {destination}")
    return nm.moveaxis(x, tuple(where), tuple(to))


@api()
def flip(input: Any, dims: Any) -> Any:
    """The order along axes reversed."""
    if not isinstance(dims, (tuple, list)):
        raise TypeError(f"flip: dims must be a tuple or list of ints, got {type(dims).__name__}")
    x = tensor_argument("flip", input)
    return mp.flip(x, axes=axes_of("flip", dims, len(shape_of(x)), "dims") if dims else ())


reverse = row("reverse", lambda x, axis: flip(x, integers("reverse", "axis", axis)), "The order along axes reversed.")

api("fliplr")(lambda input: flip(input, (1,)))
api("flipud")(lambda input: flip(input, (0,)))


@api()
def roll(input: Any, shifts: Any, dims: Any = None) -> Any:
    """Elements moved along axes, those that leave coming in at the other end."""
    x = tensor_argument("roll", input)
    steps = integers("roll", "shifts", shifts)
    if dims is None:
        if len(steps) != 1:
            raise ValueError("roll: several shifts need as many dims")
        return nm.roll(x, steps[0])
    axes = tuple(axis_of("roll", a, len(shape_of(x)), "dims") for a in integers("roll", "dims", dims))
    if len(axes) != len(steps):
        raise ValueError(f"roll: {len(steps)} shifts for {len(axes)} dims")
    return nm.roll(x, steps, axis=axes)


@api()
def rot90(input: Any, k: int, dims: Any) -> Any:
    """Turned by 90 degrees `k` times in the plane of two axes."""
    x = tensor_argument("rot90", input)
    axes = tuple(axis_of("rot90", a, len(shape_of(x)), "dims") for a in integers("rot90", "dims", dims))
    if len(axes) != 2 or axes[0] == axes[1]:
        raise ValueError(f"rot90: dims must name two axes, got {dims}")
    return mp.rot90(x, k=integer("rot90", "k", k) % 4, axes=axes)


# ------------------------------------------------------------------------------------------ repeating


@api(method=False)
def tile(input: Any, dims: Any) -> Any:
    """The tensor repeated whole along axes."""
    if not isinstance(dims, (tuple, list)):
        raise TypeError(f"tile: dims must be a tuple or list of ints, got {type(dims).__name__}")
    reps = integers("tile", "dims", dims)
    if any(n < 0 for n in reps):
        raise ValueError(f"tile: dims must not be negative, got {reps}")
    return nm.tile(tensor_argument("tile", input), reps)


@api("tile", function=False)
def _tile_method(self: Any, *sizes: Any, dims: Any = None, reps: Any = None) -> Any:
    """The tensor repeated whole along its last axes, how often for each: several ints or one tuple."""
    given = (sizes[0] if len(sizes) == 1 else sizes) if sizes else dims if reps is None else reps
    return tile(self, (given,) if isinstance(given, int) else given)


def _repeats(op: str, repeats: Any) -> Any:
    counts = integers(op, "repeats", repeats)
    if any(n < 0 for n in counts):
        raise ValueError(f"{op}: repeats must not be negative, got {repeats}")
    return counts[0] if len(counts) == 1 else np.asarray(counts)


@api("repeat_interleave")
def repeat_interleave(input: Any, repeats: Any, axis: Any = None) -> Any:
    """Each element repeated along an axis, of the flattened tensor without one."""
    x = tensor_argument("repeat_interleave", input)
    i = None if axis is None else axis_of("repeat_interleave", axis, len(shape_of(x)))
    return nm.repeat(x, _repeats("repeat_interleave", repeats), axis=i)


repeat_elements = function("repeat_elements", "x, rep: Int, axis: int = 0",
    lambda x, rep, axis: repeat_interleave(x, rep, axis), "Each element repeated along an axis.", method=False)  # fmt: skip


@api("repeat", function=False)
def repeat_method(self: Any, *args: Any, **kwargs: Any) -> Any:
    """`repeat(repeats, axis=None)`: each element repeated; `repeat(2, 3)`: the tensor repeated whole along axes."""
    axis = kwargs.pop("axis", None)
    repeats = kwargs.pop("repeats", None)
    if repeats is None and (len(args) == 1 or (axis is not None and args)):
        repeats, args = args[0], args[1:]
    if repeats is not None and not args:
        return repeat_interleave(self, repeats, axis)
    if not args:
        raise TypeError("repeat: no counts were given")
    return nm.tile(self, spread("repeat", args, "repeats"))


@api(function=False)
def resize(self: Any, *new_shape: Any) -> Any:
    """As many elements as a shape has, in order: cut off, or filled up with zeros."""
    shape = spread("resize", new_shape, "new_shape")
    count = math.prod(shape)
    flat = st.reshape(self, shape=(self.size,))
    if count > self.size:
        from ...ops.manipulation import pad_constant

        flat = pad_constant(flat, widths=((0, count - self.size),), value=0)
    return st.reshape(flat[:count], shape=shape)


def _at_least(name: str) -> None:
    make = getattr(nps, name)

    def f(inputs: Any) -> Any:
        if isinstance(inputs, (tuple, list)):
            return tuple(make(tensor_argument(name, x, "inputs")) for x in inputs)
        return make(tensor_argument(name, inputs, "inputs"))

    f.__doc__ = f"A tensor (or each of a list) with at least {name[-2]} axes."
    api(name, method=False)(f)

for _name in ("atleast_1d", "atleast_2d", "atleast_3d"):
    _at_least(_name)


@api(method=False)
def meshgrid(*inputs: Any, indexing: str = "xy") -> tuple[Any, ...]:
    """The coordinates of a grid, from those along each of its axes."""
    parts = inputs[0] if len(inputs) == 1 and isinstance(inputs[0], (tuple, list)) else inputs
    if len(parts) < 2:
        raise ValueError(f"meshgrid: wanted at least two Tensors, got {len(parts)}")
    if indexing not in ("xy", "ij"):
        raise ValueError(f"meshgrid: indexing must be 'xy' or 'ij', got {indexing!r}")
    return tuple(native_creation.meshgrid(*(tensor_argument("meshgrid", x) for x in parts), indexing=indexing))
