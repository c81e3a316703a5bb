"""Scans along an axis: cumulative sums, products and extremes, differences, the trapezoidal rule."""

from __future__ import annotations

from typing import Any

from ...core.value import dtype_of, shape_of
from ...ops import scan
from ...ops import structural as st
from ...ops.sorting import argcum, pick
from ...tensor import manipulation as nm
from ...tensor import numpy_shapes as nps
from .._shared.axes import axis_of, integer
from ._api import api, row
from ._dtype import float32, int32, int64
from ._promote import FLOAT, FLOATING, NUMBER, single, tensor_argument, to_dtype
from ._reductions import _in_dtype, _widest, also_called


def _scanned(op: str, run: Any, x: Any, axis: Any, dtype: Any, kinds: str, name: str = "axis") -> Any:
    x = single(op, _in_dtype(op, tensor_argument(op, x, "x"), dtype), kinds)
    i = axis_of(op, axis, len(shape_of(x)), name)
    if not shape_of(x):
        return st.copy(x)
    out = run(x, axis=i, reverse=False)
    return out if dtype_of(out) == dtype_of(x) else st.cast(out, dtype=dtype_of(x))

cumsum = row("cumsum", lambda x, axis, dtype=None: _scanned("cumsum", scan.cumsum, x, axis, dtype, NUMBER),
    "The sums of the elements so far along an axis, in the dtype of the tensor.", method=False)  # fmt: skip


@api("cumsum", function=False)
@also_called(dim="axis")
def _cumsum_method(self: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The sums of the elements so far along an axis, of the flattened tensor without one; small integers as int32."""
    if dtype is None and dtype_of(self).kind in "iub" and dtype_of(self).itemsize < 4:
        dtype = int32
    return cumsum(st.reshape(self, shape=(-1,)) if axis is None else self, 0 if axis is None else axis, dtype)


@api()
def cumprod(input: Any, dim: Any, dtype: Any = None) -> Any:
    """The products of the elements so far along an axis; of integers and booleans in int64."""
    x = _widest(tensor_argument("cumprod", input)) if dtype is None else input
    return _scanned("cumprod", scan.cumprod, x, dim, dtype, NUMBER, "dim")


@api()
def logcumsumexp(input: Any, axis: int) -> Any:
    """The logarithms of the sums of the exponentials so far along an axis."""
    return _scanned("logcumsumexp", scan.logcumsumexp, input, axis, None, FLOATING)


def _extremes_so_far(op: str, input: Any, axis: Any, largest: bool) -> tuple[Any, Any]:
    x = single(op, input, "x..x")
    i = axis_of(op, axis, len(shape_of(x)))
    if not shape_of(x):
        x = st.reshape(x, shape=(1,))
    at = argcum(x, axis=i, largest=largest)
    return pick(x, at, axis=i, of=op), to_dtype(at, int64 if largest else int32)


@api()
def cummax(input: Any, axis: int) -> tuple[Any, Any]:
    """The greatest elements so far along an axis and their positions (the last of several)."""
    return _extremes_so_far("cummax", input, axis, True)


@api()
def cummin(input: Any, axis: int) -> tuple[Any, Any]:
    """The smallest elements so far along an axis and their positions (the last of several)."""
    return _extremes_so_far("cummin", input, axis, False)


@api()
def diff(x: Any, n: int = 1, axis: int = -1, prepend: Any = None, append: Any = None) -> Any:
    """The differences of neighbours along an axis, taken n times, with tensors put before and behind first."""
    x = tensor_argument("diff", x, "x")
    if not shape_of(x):
        raise TypeError("diff: the tensor must have at least one axis")
    if integer("diff", "n", n) < 0:
        raise ValueError(f"diff: n must not be negative, got {n}")
    i = axis_of("diff", axis, len(shape_of(x)))
    return nm.diff(x, n=n, axis=i, **{k: v for k, v in (("prepend", prepend), ("append", append)) if v is not None})


@api(method=False)
def trapz(y: Any, x: Any = None, *, dx: float = 1.0, dim: int = -1) -> Any:
    """The integral of samples along an axis by the trapezoidal rule; at points x, or, in float32, at distances dx."""
    y = single("trapz", y, FLOAT)
    y = to_dtype(y, float32) if x is None else y
    x = x if x is None else tensor_argument("trapz", x, "x")
    return nps.trapezoid(y, x, dx, axis_of("trapz", dim, len(shape_of(y)), "dim"))
