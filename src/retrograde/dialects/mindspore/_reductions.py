"""Sums, means, extremes, moments, norms and the like over axes.

A function of `ops` and the method of the same name often differ in parameter names; methods take both.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.aval import Aval
from ...core.value import Value, dtype_of, shape_of
from ...ops import elementwise as ew
from ...ops import reduction as rd
from ...ops import selection as sel
from ...ops import structural as st
from ...ops.sorting import pick
from ...tape.engine import fit
from .._shared.axes import ALL_AXES, axes_of, axis_of, integer, spread
from ._api import api, row
from ._arguments import flag, function
from ._binary import maximum, minimum
from ._dtype import int32, int64, only_dtype
from ._promote import FLOATING, REAL, single, tensor_argument, to_dtype

Function = Callable[..., Any]
_ndarray = np.ndarray
_sum = rd.sum.prim.bind  # type: ignore[attr-defined]
_mean = rd.mean.prim.bind  # type: ignore[attr-defined]


def also_called(**aliases: str) -> Callable[[Function], Function]:
    """Let a method take parameters under a second name: `also_called(axis="dim")` takes axis= for dim."""

    def decorate(f: Function) -> Function:
        @functools.wraps(f)
        def method(*args: Any, **kwargs: Any) -> Any:
            for alias, name in aliases.items():
                if alias in kwargs:
                    kwargs[name] = kwargs.pop(alias)
            return f(*args, **kwargs)

        return method

    return decorate


_MANY_NAMES = also_called(dim="axis", keepdim="keep_dims", keepdims="keep_dims")


def _in_dtype(op: str, x: Value, dtype: Any) -> Any:
    return x if dtype is None else to_dtype(x, only_dtype(dtype, op))


def _widest(x: Any) -> Any:
    return to_dtype(x, int64) if dtype_of(x).kind in "iub" else x


def _reduced(op: str, x: Any, axis: Any, name: str = "axis") -> tuple[int, ...]:
    return axes_of(op, axis, len(shape_of(x)), name)


# ------------------------------------------------------------------------------------------ sums, means, products


@api(method=False)
def sum(input: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Any:
    """The sum over axes (all, if none is given); of integers and booleans in int64."""
    if dim is None and dtype is None and isinstance(input, Value):
        a = input._a
        if type(a) is _ndarray and a.dtype.kind == "f":
            return _sum(input, axis=ALL_AXES[a.ndim], keepdims=keepdim)
    x = tensor_argument("sum", input)
    axes = _reduced("sum", x, dim, "dim")
    x = _widest(x) if dtype is None else _in_dtype("sum", x, dtype)
    return _sum(x, axis=axes, keepdims=flag("sum", "keepdim", keepdim))


@api("sum", function=False)
@also_called(dim="axis", keepdim="keepdims")
def _sum_method(self: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    """The sum over axes (all, if none is given), and `initial`; of integers and booleans in int64."""
    if isinstance(dtype, bool):
        dtype, keepdims = None, dtype
    out = sum(self, axis, keepdims, dtype=dtype)
    return out if initial is None else out + initial


@api("mean", "reduce_mean", method=False)
def mean(x: Any, axis: Any = None, keep_dims: bool = False) -> Any:
    """The mean over axes (all, if none is given); of integers an integer, rounded towards zero."""
    if axis is None and isinstance(x, Value):
        a = x._a
        if type(a) is _ndarray and a.dtype.kind == "f":
            return _mean(x, axis=ALL_AXES[a.ndim], keepdims=keep_dims)
    x = tensor_argument("mean", x, "x")
    axes = _reduced("mean", x, axis)
    keep_dims = flag("mean", "keep_dims", keep_dims)
    d = dtype_of(x)
    if d.kind == "b":
        raise RuntimeError("mean: not defined for booleans; convert the tensor with astype()")
    if d.kind in "iu":
        total = _sum(x, axis=axes, keepdims=keep_dims)
        count = math.prod([shape_of(x)[a] for a in axes])
        return ew.trunc_divide(total, np.asarray(count, dtype_of(total)))
    return _mean(x, axis=axes, keepdims=keep_dims)


@api("mean", function=False)
@also_called(dim="axis", keepdims="keep_dims", keepdim="keep_dims")
def _mean_method(self: Any, axis: Any = None, keep_dims: bool = False, *, dtype: Any = None) -> Any:
    """The mean over axes (all, if none is given)."""
    return mean(_in_dtype("mean", self, dtype), axis, keep_dims)


@api()
@_MANY_NAMES
def prod(input: Any, axis: Any = None, keep_dims: bool = False, dtype: Any = None) -> Any:
    """The product along an axis (of all elements, if none is given); of integers and booleans in int64."""
    x = tensor_argument("prod", input)
    axes = _reduced("prod", x, axis)
    x = _widest(x) if dtype is None else _in_dtype("prod", x, dtype)
    return rd.prod(x, axis=axes, keepdims=flag("prod", "keep_dims", keep_dims))


@api()
@also_called(dim="axis", keepdim="keepdims")
def nansum(input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The sum over axes with nan counted as 0."""
    x = _in_dtype("nansum", single("nansum", input, REAL), dtype)
    axes = _reduced("nansum", x, axis)
    if dtype_of(x).kind in "iub":
        return to_dtype(_sum(_widest(x), axis=axes, keepdims=keepdims), x.dtype)
    return rd.nansum(x, axis=axes, keepdims=keepdims)


@api()
def nanmean(input: Any, axis: Any = None, keepdims: bool = False, *, dtype: Any = None) -> Any:
    """The mean over axes of the elements that are not nan."""
    x = _in_dtype("nanmean", single("nanmean", input, FLOATING), dtype)
    axes = _reduced("nanmean", x, axis)
    count = _sum(rd.is_number(x), axis=axes, keepdims=keepdims)
    return ew.divide(rd.nansum(x, axis=axes, keepdims=keepdims), st.cast(count, dtype=dtype_of(x)))


def _plain_reduction(name: str, op: Any) -> Function:
    """The older `reduce_NAME(x, axis)`: the dtype stays."""

    def f(x: Any, axis: Any = (), keep_dims: bool = False) -> Any:
        x = tensor_argument(name, x, "x")
        axes = _reduced(name, x, axis)
        if dtype_of(x).kind == "b":
            return (rd.any if op is rd.sum else rd.all)(x, axis=axes, keepdims=keep_dims)
        out = op(x, axis=axes, keepdims=keep_dims)
        return out if dtype_of(out) == dtype_of(x) else st.cast(out, dtype=dtype_of(x))

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"`{name.removeprefix('reduce_')}` over axes (all for an empty tuple), in the dtype of the tensor."
    return f


reduce_sum = api("reduce_sum", method=False)(_plain_reduction("reduce_sum", rd.sum))
reduce_prod = _plain_reduction("reduce_prod", rd.prod)


# ------------------------------------------------------------------------------------------ all, any, counts


all = function("all", "input: Tensor, axis: Axes = None, keep_dims: Keep = False", rd.all,
    "Whether every element over axes is not zero.", decorate=_MANY_NAMES)  # fmt: skip
any = function("any", "input: Tensor, axis: Axes = None, keep_dims: Keep = False", rd.any,
    "Whether some element over axes is not zero.", decorate=_MANY_NAMES)  # fmt: skip


@api()
def count_nonzero(x: Any, axis: Any = (), keep_dims: bool = False, dtype: Any = int32) -> Any:
    """How many elements over axes are not zero."""
    x = tensor_argument("count_nonzero", x, "x")
    out = rd.count_nonzero(x, axis=_reduced("count_nonzero", x, axis), keepdims=keep_dims)
    return to_dtype(out, only_dtype(dtype, "count_nonzero"))


# ------------------------------------------------------------------------------------------ extremes


def _masked_and_bounded(op: str, x: Any, axis: Any, keepdims: bool, initial: Any, where: Any, largest: bool) -> Any:
    if where is not None:
        if initial is None:
            raise ValueError(f"{op}: where= needs initial=, the value of no elements")
        x = sel.where(tensor_argument(op, where, "where"), x, np.asarray(initial, dtype_of(x)))
    out = (rd.amax if largest else rd.amin)(
        x, axis=_reduced(op, x, axis), keepdims=flag(op, "keepdims", keepdims), ties="even"
    )
    if initial is not None:
        out = (sel.maximum if largest else sel.minimum)(out, np.asarray(initial, dtype_of(out)), ties="half")
    return out


def _extreme_all(name: str, largest: bool) -> Function:
    @also_called(dim="axis", keepdim="keepdims")
    def f(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
        return _masked_and_bounded(name, single(name, input, REAL), axis, keepdims, initial, where, largest)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"The {'greatest' if largest else 'smallest'} element over axes; equal ones share the gradient evenly."
    return f


amax = api("amax")(_extreme_all("amax", True))
amin = api("amin")(_extreme_all("amin", False))
api("reduce_max", method=False)(lambda x, axis=(): amax(x, axis))
api("reduce_min", method=False)(lambda x, axis=(): amin(x, axis))


def _positions(op: str, x: Any, axis: Any, keepdims: bool, largest: bool) -> Any:
    """The positions of the extremes along an axis, of all elements where it is None; RuntimeError where there are none."""
    x = single(op, x, "...x")
    if 0 in shape_of(x):
        raise RuntimeError(f"{op}: a tensor of shape {x.shape} has no elements")
    if axis is None:
        out = (rd.argmax if largest else rd.argmin)(st.reshape(x, shape=(-1,)), axis=0, keepdims=False)
        return st.reshape(out, shape=(1,) * len(shape_of(x))) if keepdims else out
    if not shape_of(x):
        axis_of(op, axis, 0)
        return (rd.argmax if largest else rd.argmin)(st.reshape(x, shape=(1,)), axis=0, keepdims=False)
    i = axis_of(op, axis, len(shape_of(x)))
    return (rd.argmax if largest else rd.argmin)(x, axis=i, keepdims=keepdims)


def with_positions(op: str, x: Any, axis: Any, keepdims: bool, largest: bool) -> tuple[Any, Any]:
    """The extremes along an axis and their first positions; the gradient goes to those."""
    x = single(op, x, REAL)
    shape = tuple(shape_of(x))
    if not shape:
        axis_of(op, axis, 0)
        return st.copy(x), to_dtype(rd.argmax(st.reshape(x, shape=(1,)), axis=0, keepdims=False), int64)
    i = axis_of(op, axis, len(shape))
    at = (rd.argmax if largest else rd.argmin)(x, axis=i, keepdims=False)
    values = pick(x, at, axis=i, of="max" if largest else "min")
    if keepdims:
        kept = (*shape[:i], 1, *shape[i + 1 :])
        values, at = st.reshape(values, shape=kept), st.reshape(at, shape=kept)
    return values, to_dtype(at, int64)


def _extreme_function(name: str, largest: bool) -> Function:
    def f(input: Any, axis: Any = None, keepdims: bool = False, *, initial: Any = None, where: Any = None) -> Any:
        x = single(name, input, REAL)
        if axis is None:
            from ._tensor import from_array

            out = _masked_and_bounded(name, x, None, False, initial, where, largest)
            return out, from_array(np.asarray(0, np.int64))
        if where is not None and initial is not None:
            x = sel.where(tensor_argument(name, where, "where"), x, np.asarray(initial, dtype_of(x)))
        return with_positions(name, x, axis, keepdims, largest)

    f.__name__ = f.__qualname__ = name
    f.__doc__ = (
        f"The {'greatest' if largest else 'smallest'} element along an axis and its position; of all elements, "
        "without an axis, and 0."
    )
    return f


max = api("max", method=False)(_extreme_function("max", True))
min = api("min", method=False)(_extreme_function("min", False))


def _extreme_method(name: str, largest: bool) -> Function:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        if (args and isinstance(args[0], Value)) or "other" in kwargs:
            other = args[0] if args else kwargs["other"]
            return (maximum if largest else minimum)(self, other)
        positional = bool(args) and args[0] is not None
        names = ("dim", "keepdim") if positional else ("axis", "keepdims")
        given = {**dict(zip(names, args)), **kwargs}
        with_indices = given.pop("return_indices", "dim" in given)
        axis = given.pop("dim", given.pop("axis", None))
        keepdims = given.pop("keepdim", given.pop("keepdims", False))
        initial, where = given.pop("initial", None), given.pop("where", None)
        if where is True:
            where = None
        if given:
            raise TypeError(f"{name}: unexpected argument {next(iter(given))!r}")
        if axis is None:
            return _masked_and_bounded(name, single(name, self, REAL), None, keepdims, initial, where, largest)
        if isinstance(axis, (tuple, list)) or initial is not None or where is not None:
            return _masked_and_bounded(name, single(name, self, REAL), axis, keepdims, initial, where, largest)
        both = with_positions(name, self, axis, keepdims, largest)
        return both if with_indices else both[0]

    method.__name__ = method.__qualname__ = name
    method.__doc__ = (
        "The extreme of all elements; along `axis` the extremes, with their positions if return_indices; along `dim` "
        "both."
    )
    return method


max_method = api("max", function=False)(_extreme_method("max", True))
min_method = api("min", function=False)(_extreme_method("min", False))


@api()
@also_called(axis="dim", keepdims="keepdim")
def argmax(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The position of the greatest element along an axis; without one, among all elements."""
    return to_dtype(_positions("argmax", input, dim, keepdim, True), int64)


@api()
@also_called(dim="axis", keepdim="keepdims")
def argmin(input: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """The position of the smallest element along an axis, in int32; without one, among all elements."""
    return to_dtype(_positions("argmin", input, axis, keepdims, False), int32)


@api()
def aminmax(input: Any, *, axis: Any = 0, keepdims: bool = False) -> Any:
    """The smallest and the greatest elements along an axis."""
    x = single("aminmax", input, REAL)
    if axis is None:
        return amin(x, None, keepdims), amax(x, None, keepdims)
    return with_positions("aminmax", x, axis, keepdims, False)[0], with_positions(
        "aminmax", x, axis, keepdims, True)[0]  # fmt: skip


@api(function=False)
def argmax_with_value(self: Any, axis: int = 0, keep_dims: bool = False) -> Any:
    """The greatest elements along an axis and their positions."""
    return with_positions("argmax_with_value", self, axis, keep_dims, True)


@api(function=False)
def argmin_with_value(self: Any, axis: int = 0, keep_dims: bool = False) -> Any:
    """The smallest elements along an axis and their positions."""
    return with_positions("argmin_with_value", self, axis, keep_dims, False)


ptp = row("ptp", lambda self, axis=None, keepdims=False: amax(self, axis, keepdims) - amin(self, axis, keepdims),
    "The greatest element less the smallest.", function=False)  # fmt: skip


# ------------------------------------------------------------------------------------------ moments


def _ddof(op: str, ddof: Any) -> int:
    return int(ddof) if isinstance(ddof, bool) else integer(op, "ddof", ddof)


def _variance(op: str, input: Any, axis: Any, ddof: Any, keepdims: bool) -> Any:
    x = single(op, input, FLOATING)
    return rd.var(x, axis=_reduced(op, x, axis), correction=_ddof(op, ddof), keepdims=flag(op, "keepdims", keepdims))


@api(method=False)
@also_called(dim="axis", keepdim="keepdims", correction="ddof")
def var(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The variance over axes: squared deviations divided by the count less `ddof`."""
    return _variance("var", input, axis, ddof, keepdims)


@api(method=False)
@also_called(dim="axis", keepdim="keepdims", correction="ddof")
def std(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The standard deviation over axes: the root of the variance, without a derivative where that is 0."""
    return ew.sqrt(_variance("std", input, axis, ddof, keepdims))


@api("var", function=False)
@also_called(dim="axis", keepdim="keepdims", correction="ddof")
def _var_method(self: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The variance over axes; of integers in float32."""
    return _variance("var", single("var", self, "xf.x"), axis, ddof, keepdims)


@api("std", function=False)
@also_called(dim="axis", keepdim="keepdims", correction="ddof")
def _std_method(self: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> Any:
    """The standard deviation over axes; of integers in float32."""
    return ew.sqrt(_variance("std", single("std", self, "xf.x"), axis, ddof, keepdims))


@api(method=False)
def var_mean(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> tuple[Any, Any]:
    """The variance and the mean over axes."""
    return var(input, axis, ddof, keepdims), mean(input, axis, keepdims)


@api(method=False)
def std_mean(input: Any, axis: Any = None, ddof: Any = 0, keepdims: bool = False) -> tuple[Any, Any]:
    """The standard deviation and the mean over axes."""
    return std(input, axis, ddof, keepdims), mean(input, axis, keepdims)


logsumexp = function("logsumexp", "input: Floating, dim: Axes, keepdim: Keep = False", rd.logsumexp,
    "The logarithm of the sum of exponentials over axes.")  # fmt: skip


@api(function=False)
def sum_to_size(self: Any, *size: Any) -> Any:
    """The sum over the axes that broadcasting from a shape would repeat."""
    wanted = spread("sum_to_size", size, "size")
    if tuple(np.broadcast_shapes(wanted, self.shape)) != self.shape:
        raise ValueError(f"sum_to_size: the shape {wanted} does not broadcast to {self.shape}")
    x = to_dtype(self, int64) if dtype_of(self).kind in "iub" else self
    return fit(x, Aval(wanted, dtype_of(x)))
