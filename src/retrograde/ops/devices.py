"""The elements of an array on another device, through which gradients come back."""

from __future__ import annotations

from typing import Any

from ..backend import devices
from ..core.arrays import bottom
from ..core.bind import op_general
from ..core.primitive import Primitive, primitive
from ..core.value import Value
from .rules import infer_same
from .samples import normal, sample

Place = tuple[str, int]


def _kernel(xp: Any, x: Any, *, to: Place | None, back: Place | None) -> Any:
    return xp.asarray(x, copy=True) if to is None else devices.placed(x, *to)


# to, back: the kind and the number of the device that the elements go to, and of that which they come from; None of both:
# a copy where they are, for the samples.
_move = primitive(
    "move", kernel=_kernel, kind="structural",
    vjps=[lambda g, _out, _x, *, to, back: _go(g, to=back, back=to)],
    jvp=lambda tangents, out, x, *, to, back: _go(tangents[0], to=to, back=back),
    batch=lambda op, arrays, dims, params: (_go(arrays[0], **params), dims[0]), infer=infer_same,
    samples=lambda: [sample(normal(3), to=None, back=None)],
)  # fmt: skip


def _go(x: Any, **params: Any) -> Any:
    """`_move` on the way that takes results of any library: the everyday one makes NumPy's arrays of what it gets."""
    return op_general(_PRIM, (x,), params)


_PRIM: Primitive = _move.prim  # type: ignore[attr-defined]
_PRIM.op = _PRIM.bind = _go  # for whoever evaluates it again: transforms


def place_of(x: Any) -> Place:
    """The kind and the number of the device where the elements of a value or array are."""
    return devices.kind_of_array(bottom(x))


def moved(x: Value, to: Place) -> Value:
    """A value on a device that is there: itself if it is there. Its gradient goes the way back."""
    back = place_of(x)
    if back == to:
        return x
    found: Value = _go(x, to=to, back=back)
    if found._node is not None and to[0] == devices.HOST and not devices.CROSSED:
        devices.CROSSED.append(1)
    return found
