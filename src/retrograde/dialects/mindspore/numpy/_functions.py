"""What `mindspore.numpy` offers: NumPy's functions on tensors, thin over the functions of `ops` and the native namespace.

Sequences and numbers become tensors: of floats float32, of integers int32. Functions of the reals compute integers in
float32.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as _np

from ....backend.canonical import canonical
from ....core.value import Value, dtype_of
from ....ops import structural as st
from ....tensor import linalg
from ....tensor import numpy_shapes as _shapes
from ....tensor.covariances import correlations
from ....tensor.numpy_protocol import numpy_function
from ..._shared.axes import axis_of
from ..._shared.registry import defined as _defined
from .. import (
    _arithmetic,
    _binary,
    _creation,
    _diagonals,
    _dtype,
    _gather,
    _joining,
    _matmul,
    _random,
    _reductions,
    _scans,
    _shape,
    _sorting,
    _statistics,
    _unary,
)
from .._api import value_errors
from .._dtype import as_dtype, float32, int32
from .._promote import result_dtype, to_dtype
from .._tensor import from_array

Function = Callable[..., Any]

# Functions of `ops` by the names that NumPy has for them.
_REALS: dict[str, Function] = {f.__name__: f for f in (
    _unary.arccos, _unary.arccosh, _unary.arcsin, _unary.arcsinh, _unary.arctan, _unary.arctanh, _unary.cos, _unary.cosh,
    _unary.deg2rad, _unary.exp, _unary.exp2, _unary.expm1, _unary.log, _unary.log10, _unary.log1p, _unary.log2,
    _unary.rad2deg, _unary.sin, _unary.sinh, _unary.sqrt, _unary.tan, _unary.tanh, _unary.ceil, _unary.floor, _unary.rint,
    _unary.reciprocal,
)} | {
    "radians": _unary.deg2rad,
}  # fmt: skip
_OF_ANY: dict[str, Function] = {f.__name__: f for f in (
    _arithmetic.absolute, _unary.sign, _unary.square, _unary.positive, _unary.trunc, _unary.isnan, _unary.isfinite,
    _unary.isinf, _unary.isneginf, _unary.isposinf, _unary.signbit, _unary.bitwise_not, _arithmetic.logical_not,
    _unary.conj, _unary.real, _unary.imag,
)} | {
    "absolute": _arithmetic.absolute, "negative": _arithmetic.neg, "fabs": _arithmetic.absolute,
    "invert": _unary.bitwise_not, "fix": _unary.trunc,
}  # fmt: skip
_PAIRS: dict[str, Function] = {f.__name__: f for f in (
    _arithmetic.add_ext, _binary.remainder, _binary.fmod, _binary.maximum, _binary.minimum, _arithmetic.equal,
    _arithmetic.not_equal, _arithmetic.greater, _arithmetic.greater_equal, _arithmetic.less, _arithmetic.less_equal,
    _binary.logical_and, _binary.logical_or, _binary.logical_xor, _arithmetic.bitwise_and, _arithmetic.bitwise_or,
    _arithmetic.bitwise_xor, _binary.gcd, _binary.lcm,
)} | {
    "subtract": _arithmetic.sub_ext, "multiply": _binary.mul, "divide": _arithmetic.div_ext,
    "true_divide": _arithmetic.div_ext, "floor_divide": _arithmetic.floor_div, "power": _arithmetic.pow,
    "mod": _arithmetic.floor_mod,
}  # fmt: skip
_REAL_PAIRS: dict[str, Function] = {f.__name__: f for f in (
    _binary.hypot, _binary.logaddexp, _binary.logaddexp2, _binary.heaviside, _binary.copysign, _binary.float_power,
)} | {
    "arctan2": _binary.atan2,
}  # fmt: skip
# Functions of the native namespace and of NumPy.
_MADE = """
eye identity tri bartlett blackman hamming hanning
"""
_OF_SHAPES = """
reshape ravel transpose swapaxes moveaxis rollaxis expand_dims squeeze broadcast_to flip flipud fliplr roll rot90
tile repeat pad diff ediff1d tril triu diag diagflat diagonal vander append array_split split hsplit vsplit dsplit
copy=astype gradient
"""
_JOINING = """
concatenate stack vstack hstack dstack column_stack
"""
_OF_VALUES = """
average interp nanstd nanvar nanmax nanmin take_along_axis
"""
_ALGEBRA = """
convolve correlate polyval matrix_power
"""
_VALUES_ONLY = """
intersect1d setdiff1d unravel_index ravel_multi_index histogram_bin_edges
"""

TABLE: dict[str, Function] = {}
"""Functions of the module that have no definition of their own here, by name."""


def asarray(a: Any, dtype: Any = None) -> Any:
    """A number, a sequence or a tensor as a tensor."""
    if isinstance(a, Value):
        return a if dtype is None else to_dtype(a, as_dtype(dtype))
    if isinstance(a, (list, tuple)) and any(isinstance(x, Value) for x in a):
        found = _joining.stack([asarray(x) for x in a])
        return found if dtype is None else to_dtype(found, as_dtype(dtype))
    array_ = _np.asarray(a)
    if array_.dtype.kind in "OUS":
        raise TypeError(f"asarray: wanted numbers or a sequence of them, got {type(a).__name__}")
    if dtype is not None:
        array_ = array_.astype(as_dtype(dtype).np)
    elif not isinstance(a, (_np.ndarray, _np.generic)):
        array_ = array_.astype({"f": _np.float32, "i": _np.int32}.get(array_.dtype.kind, array_.dtype))
    return from_array(canonical(array_.copy() if array_ is a else array_))


def array(obj: Any, dtype: Any = None, copy: bool = True, ndmin: int = 0) -> Any:
    """A number, a sequence or a tensor as a tensor of its own."""
    found = asarray(obj, dtype)
    found = st.copy(found) if copy and found is obj else found
    if found.ndim < ndmin:
        found = st.reshape(found, shape=(*(1,) * (ndmin - found.ndim), *found.shape))
    return found


asfarray = _defined("asfarray", lambda a, dtype=float32: asarray(a, dtype), "`asarray` in a floating dtype.")


def _in(dtype: Any, out: Any) -> Any:
    return out if dtype is None else to_dtype(out, as_dtype(dtype))


def _floated(x: Any) -> Any:
    x = asarray(x)
    return to_dtype(x, float32) if dtype_of(x).kind in "iub" else x


# ------------------------------------------------------------------------------------------ elementwise


def _unary_of(name: str, f: Function, floating: bool) -> Function:
    def g(x: Any, dtype: Any = None) -> Any:
        return _in(dtype, f(_floated(x) if floating else asarray(x)))

    return _defined(name, g, f"NumPy's `{name}`, elementwise.")


def _binary_of(name: str, f: Function, floating: bool = False) -> Function:
    def g(x1: Any, x2: Any, dtype: Any = None) -> Any:
        if not isinstance(x1, Value) or not isinstance(x2, (Value, int, float)):
            x1, x2 = asarray(x1), asarray(x2)
        if floating:
            x1, x2 = _floated(x1), _floated(x2) if isinstance(x2, Value) else float(x2)
        return _in(dtype, f(x1, x2))

    return _defined(name, g, f"NumPy's `{name}` of two tensors, elementwise.")


TABLE |= {name: _unary_of(name, f, True) for name, f in _REALS.items()}
TABLE |= {name: _unary_of(name, f, name in ("isinf", "isneginf", "isposinf")) for name, f in _OF_ANY.items()}
TABLE |= {name: _binary_of(name, f) for name, f in _PAIRS.items()}
TABLE |= {name: _binary_of(name, f, True) for name, f in _REAL_PAIRS.items()}


def divmod_(x1: Any, x2: Any, dtype: Any = None) -> tuple[Any, Any]:
    """The whole quotient and the remainder."""
    x1 = asarray(x1)
    return _in(dtype, _arithmetic.floor_div(x1, x2)), _in(dtype, _arithmetic.floor_mod(x1, x2))


def cbrt(x: Any, dtype: Any = None) -> Any:
    """The cube root."""
    x = _floated(x)
    return _in(dtype, _unary.sign(x) * _arithmetic.pow(_arithmetic.absolute(x), 1 / 3))


round_ = _defined("round_", lambda a, decimals=0: _unary.round(asarray(a), decimals=decimals),
    "To the nearest number with some decimals, halves to the even one.")  # fmt: skip
clip = _defined("clip", lambda x, xmin, xmax, dtype=None: _in(dtype, _binary.clip_by_value(asarray(x), xmin, xmax)),
    "Elements brought between two bounds; half the gradient passes at a bound.")  # fmt: skip


def where(condition: Any, x: Any = None, y: Any = None) -> Any:
    """`x` where the condition is true, `y` elsewhere."""
    if x is None or y is None:
        raise TypeError("where: give both x and y; for positions use nonzero()")
    condition = to_dtype(asarray(condition), _dtype.bool_)
    return _gather.where(condition, asarray(x), asarray(y))


def isclose(a: Any, b: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> Any:
    """Whether |a - b| <= atol + rtol |b|, elementwise."""
    x, y = asarray(a), asarray(b)
    d = result_dtype("isclose", x, y)
    return _binary.isclose(to_dtype(x, d), to_dtype(y, d), rtol, atol, equal_nan)


def array_equal(a1: Any, a2: Any, equal_nan: bool = False) -> Any:
    """Whether shapes and elements are equal, as a 0-d bool tensor."""
    x, y = asarray(a1), asarray(a2)
    if x.shape != y.shape:
        return from_array(_np.asarray(False))
    same = _arithmetic.equal(x, y)
    if equal_nan:
        same = _binary.logical_or(same, _binary.logical_and(_unary.isnan(x), _unary.isnan(y)))
    return _reductions.all(same)


array_equiv = _defined("array_equiv", lambda a1, a2: _reductions.all(_arithmetic.equal(asarray(a1), asarray(a2))),
    "Whether elements are equal after broadcasting, as a 0-d bool tensor.")  # fmt: skip


def isscalar(element: Any) -> bool:
    """Whether an object is a number (or a string), not a tensor."""
    return isinstance(element, (bool, int, float, str))


# ------------------------------------------------------------------------------------------ creation


def full(shape: Any, fill_value: Any, dtype: Any = None) -> Any:
    """A tensor of one value."""
    value = asarray(fill_value, dtype)
    return _shape.broadcast_to(value, shape) if value.ndim else from_array(
        _np.full(shape, value._concrete("full"), dtype_of(value)))  # fmt: skip


def _like(name: str, value: Any) -> Function:
    def f(a: Any, dtype: Any = None, shape: Any = None) -> Any:
        x = asarray(a)
        return from_array(_np.full(x.shape if shape is None else shape, value, as_dtype(dtype or x.dtype).np))

    return _defined(name, f, f"A tensor of the shape and dtype of another, as `{name}` of NumPy makes it.")


zeros_like, ones_like, empty_like = _like("zeros_like", 0), _like("ones_like", 1), _like("empty_like", 0)


def full_like(a: Any, fill_value: Any, dtype: Any = None, shape: Any = None) -> Any:
    """One value in the shape and dtype of a tensor."""
    return _like("full_like", fill_value)(a, dtype, shape)


def arange(start: Any, stop: Any = None, step: Any = None, dtype: Any = None) -> Any:
    """Numbers from `start` to before `stop`."""
    given = (0, start, 1 if step is None else step) if stop is None else (start, stop, 1 if step is None else step)
    return asarray(_np.arange(*given).tolist() or _np.zeros(0, _np.int32), dtype)


def _spaced(name: str, make: Function) -> Function:
    def f(start: Any, stop: Any, num: int = 50, endpoint: bool = True, *rest: Any, dtype: Any = None, axis: int = 0,
          **options: Any) -> Any:  # fmt: skip
        ends = (v._concrete(name) if isinstance(v, Value) else v for v in (start, stop))
        out = make(*ends, num, endpoint, *rest, axis=axis, **options)
        d = as_dtype(dtype or float32).np
        return (from_array(out[0].astype(d)), float(out[1])) if isinstance(out, tuple) else from_array(out.astype(d))

    return _defined(name, f, f"NumPy's `{name}`, in float32.")


linspace, logspace, geomspace = (_spaced(n, getattr(_np, n)) for n in ("linspace", "logspace", "geomspace"))


def _constant_of(name: str, default: Any = float32) -> Function:
    make = getattr(_np, name)

    def f(*args: Any, dtype: Any = default, **options: Any) -> Any:
        return from_array(_np.asarray(make(*args, **options)).astype(as_dtype(dtype).np))

    return _defined(name, f, f"NumPy's `{name}` as a tensor.")


for _name in _MADE.split():
    TABLE[_name] = _constant_of(_name)


def indices(dimensions: Any, dtype: Any = int32, sparse: bool = False) -> Any:
    """The coordinates of a grid, one tensor per axis."""
    found = _np.indices(dimensions, sparse=sparse)
    return [from_array(_np.asarray(a).astype(as_dtype(dtype).np)) for a in found]


def _places(name: str) -> Function:
    make = getattr(_np, name)

    def f(n: int, k: int = 0, m: Any = None) -> tuple[Any, ...]:
        return tuple(from_array(a.astype(_np.int32)) for a in make(n, k, m))

    return _defined(name, f, f"NumPy's `{name}`.")


tril_indices, triu_indices = _places("tril_indices"), _places("triu_indices")


def randint(minval: int, maxval: Any = None, shape: Any = None, dtype: Any = int32) -> Any:
    """Whole numbers in [minval, maxval), or in [0, minval)."""
    low, high = (0, minval) if maxval is None else (minval, maxval)
    return _random.randint(low, high, () if shape is None else shape, dtype=dtype)


# ------------------------------------------------------------------------------------------ reductions


def sum_(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False, initial: Any = None) -> Any:
    """The sum over axes."""
    return _reductions._sum_method(asarray(a), axis, dtype, keepdims, initial)


def mean(a: Any, axis: Any = None, keepdims: bool = False, dtype: Any = None) -> Any:
    """The mean over axes; of integers an integer."""
    return _reductions.mean(asarray(a, dtype), axis, keepdims)


def _extreme(name: str, extreme: Function) -> Function:
    def f(a: Any, axis: Any = None, keepdims: bool = False, initial: Any = None, where: Any = True) -> Any:
        return extreme(asarray(a), axis, keepdims, initial=initial, where=None if where is True else where)

    return _defined(name, f, "The extreme over axes; equal elements share the gradient evenly.")


amax, amin = _extreme("amax", _reductions.amax), _extreme("amin", _reductions.amin)

argmax = _defined("argmax", lambda a, axis=None: _reductions.argmax(asarray(a), axis), "The position of the greatest element.")
argmin = _defined("argmin", lambda a, axis=None: _reductions.argmin(asarray(a), axis), "The position of the smallest element.")
std = _defined("std", lambda x, axis=None, ddof=0, keepdims=False: _reductions.std(_floated(x), axis, ddof, keepdims),
    "The standard deviation over axes.")  # fmt: skip
var = _defined("var", lambda x, axis=None, ddof=0, keepdims=False: _reductions.var(_floated(x), axis, ddof, keepdims),
    "The variance over axes.")  # fmt: skip
ptp = _defined("ptp", lambda x, axis=None, keepdims=False: _reductions.ptp(asarray(x), axis, keepdims),
    "The greatest element less the smallest.")  # fmt: skip
cumsum = _defined("cumsum", lambda a, axis=None, dtype=None: _scans._cumsum_method(asarray(a), axis, dtype),
    "The sums of the elements so far.")  # fmt: skip


def cumprod(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The products of the elements so far."""
    x = asarray(a)
    return _scans.cumprod(_shape.ravel(x) if axis is None else x, 0 if axis is None else axis, dtype)


def count_nonzero(x: Any, axis: Any = None, keepdims: bool = False) -> Any:
    """How many elements over axes are not zero."""
    return _reductions.count_nonzero(asarray(x), () if axis is None else axis, keepdims)


sometrue = _defined("sometrue", lambda a, axis=None, keepdims=False: _reductions.any(asarray(a), axis, keepdims),
    "Whether some element over axes is true.")  # fmt: skip
all_ = _defined("all_", lambda a, axis=None, keepdims=False: _reductions.all(asarray(a), axis, keepdims),
    "Whether every element over axes is true.")  # fmt: skip


def nansum(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The sum over axes with nan counted as 0."""
    return _reductions.nansum(asarray(a), axis, keepdims, dtype=dtype)


def nanmean(a: Any, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Any:
    """The mean over axes of the elements that are not nan."""
    return _reductions.nanmean(_floated(a), axis, keepdims, dtype=dtype)


def cov(m: Any, y: Any = None, rowvar: bool = True, bias: bool = False, ddof: Any = None, fweights: Any = None,
        aweights: Any = None, dtype: Any = None) -> Any:  # fmt: skip
    """The covariances of the rows (or columns)."""
    x = _floated(m)
    if not rowvar and x.ndim == 2:
        x = x.T
    if y is not None:
        other = _floated(y)
        x = _shapes.vstack((x, other if rowvar or other.ndim < 2 else other.T))
    correction = (0 if bias else 1) if ddof is None else ddof
    found = _statistics.cov(x, correction=correction, fweights=fweights, aweights=aweights)
    return _in(dtype, found.reshape(()) if found.size == 1 else found)


def corrcoef(x: Any, y: Any = None, rowvar: bool = True, dtype: Any = None) -> Any:
    """The correlation coefficients of the rows (or columns)."""
    return _in(dtype, correlations(cov(x, y, rowvar)))


norm = _defined("norm", lambda x, ord=None, axis=None, keepdims=False: _statistics.norm(_floated(x), ord, axis, keepdims),
    "The norm over axes.")  # fmt: skip


def size(a: Any, axis: Any = None) -> int:
    """The number of elements, or of those along an axis."""
    x = asarray(a)
    return x.size if axis is None else x.shape[axis_of("size", axis, x.ndim)]


# ------------------------------------------------------------------------------------------ over the native namespace


def _native(name: str, f: Function, floating: bool = False, list_of: bool = False) -> Function:
    """A native function whose first argument is a tensor (or a sequence of tensors)."""

    @value_errors
    def g(a: Any, *args: Any, **options: Any) -> Any:
        if list_of:
            a = _joining.tensors_of(name, [asarray(x) for x in a])
        else:
            a = _floated(a) if floating else asarray(a)
        rest = (asarray(x) if isinstance(x, (list, _np.ndarray)) and name in _TENSOR_SECOND else x for x in args)
        out = f(a, *rest, **options)
        return tuple(out) if isinstance(out, list) else out

    return _defined(name, g, f"NumPy's `{name}`.")


_TENSOR_SECOND = frozenset((
    "inner", "outer", "dot", "matmul", "kron", "cross", "convolve", "correlate", "polyval", "append", "interp",
))

for _name in _OF_SHAPES.split():
    _name, _, _target = _name.partition("=")
    if not _target:
        TABLE[_name] = _native(_name, numpy_function(_name))
for _name in _JOINING.split():
    TABLE[_name] = _native(_name, numpy_function(_name), list_of=True)
for _name in _OF_VALUES.split():
    TABLE[_name] = _native(_name, numpy_function(_name), _name.startswith("nan") or _name == "average")
for _name in _ALGEBRA.split():
    TABLE[_name] = _native(_name, numpy_function(f"linalg.{_name}" if _name == "matrix_power" else _name))

copy = _defined("copy", lambda a: st.copy(asarray(a)), "The tensor in memory of its own.")


def _listed(found: Any) -> Any:
    """Several tensors as a list."""
    return list(found) if isinstance(found, tuple) else found


atleast_1d = _defined("atleast_1d", lambda *arys: _listed(_shapes.atleast_1d(*(asarray(x) for x in arys))),
    "Tensors with at least one axis.")  # fmt: skip
atleast_2d = _defined("atleast_2d", lambda *arys: _listed(_shapes.atleast_2d(*(asarray(x) for x in arys))),
    "Tensors with at least two axes.")  # fmt: skip
atleast_3d = _defined("atleast_3d", lambda *arys: _listed(_shapes.atleast_3d(*(asarray(x) for x in arys))),
    "Tensors with at least three axes.")  # fmt: skip
broadcast_arrays = _defined("broadcast_arrays", lambda *args: list(_shapes.broadcast_arrays(*(asarray(x) for x in args))),
    "Tensors in their common shape.")  # fmt: skip


def meshgrid(*xi: Any, sparse: bool = False, indexing: str = "xy") -> Any:
    """The coordinates of a grid, from those along each of its axes; each along its own axis only where `sparse`."""
    if not isinstance(sparse, bool):
        raise TypeError(f"meshgrid: sparse must be a bool, got {type(sparse).__name__}")
    return list(_shapes.meshgrid(*(asarray(x) for x in xi), sparse=sparse, indexing=indexing))


def trapz(y: Any, x: Any = None, dx: float = 1.0, axis: int = -1) -> Any:
    """The integral of samples along an axis by the trapezoidal rule."""
    return _shapes.trapezoid(_floated(y), None if x is None else _floated(x), dx, axis)


def select(condlist: Any, choicelist: Any, default: Any = 0) -> Any:
    """For each element the choice of the first condition that holds."""
    out: Any = None
    for condition, choice in reversed(list(zip(condlist, choicelist))):
        out = where(condition, choice, default if out is None else out)
    return out


def take(a: Any, indices: Any, axis: Any = None, mode: str = "clip") -> Any:
    """The elements (slices along an axis) at positions."""
    return _gather.take_method(asarray(a), asarray(indices), axis, mode)


def trace(a: Any, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype: Any = None) -> Any:
    """The sums of a diagonal."""
    return _diagonals.trace_method(asarray(a), offset, axis1, axis2, dtype)


def unique(x: Any, return_inverse: bool = False) -> Any:
    """The different elements in order of appearance, and for each element which one it is."""
    values, which = _sorting.unique(asarray(x))
    return (values, which) if return_inverse else values


def searchsorted(a: Any, v: Any, side: str = "left", sorter: Any = None) -> Any:
    """Where each value would be inserted into a sorted tensor."""
    return _sorting.searchsorted_method(asarray(a), asarray(v), side, sorter)


digitize = _defined("digitize", lambda x, bins, right=False: searchsorted(bins, x, "left" if right else "right"),
    "In which of the intervals between rising bounds each element lies.")  # fmt: skip


def bincount(x: Any, weights: Any = None, minlength: int = 0, length: Any = None) -> Any:
    """How often each number from 0 up occurs."""
    return _sorting.bincount(asarray(x), None if weights is None else asarray(weights), length or minlength)


argwhere = _defined("argwhere", lambda a: _gather.nonzero(asarray(a)), "The places of the elements that are not zero.")


def isin(element: Any, test_elements: Any, invert: bool = False) -> Any:
    """Whether each element is among others."""
    from ....ops.counting import isin as primitive

    return primitive(asarray(element), asarray(test_elements), invert=bool(invert))


in1d = _defined("in1d", lambda ar1, ar2, invert=False: isin(asarray(ar1).reshape(-1), ar2, invert),
    "Whether each element of the flattened array is among others.")  # fmt: skip


def _constant_result(name: str) -> Function:
    """A function of values only, computed by NumPy, without derivatives."""
    compute = getattr(_np, name)

    def f(*args: Any, **options: Any) -> Any:
        given = [asarray(a)._concrete(name) if isinstance(a, (Value, list)) else a for a in args]
        out = compute(*given, **options)
        if isinstance(out, tuple):
            return tuple(from_array(_np.asarray(a, _narrow(a))) for a in out)
        return from_array(_np.asarray(out, _narrow(out)))

    return _defined(name, f, f"NumPy's `{name}`.")


def _narrow(a: Any) -> Any:
    kind = _np.asarray(a).dtype
    return _np.float32 if kind == _np.float64 else kind


for _name in _VALUES_ONLY.split():
    TABLE[_name] = _constant_result(_name)


def apply_along_axis(func1d: Any, axis: int, arr: Any, *args: Any, **kwargs: Any) -> Any:
    """A function applied to the vectors along an axis."""
    x = asarray(arr)
    i = axis_of("apply_along_axis", axis, x.ndim)
    rows = _shape.moveaxis(x, i, x.ndim - 1)
    lead = rows.shape[:-1]
    flat = st.reshape(rows, shape=(-1, rows.shape[-1])) if lead else st.reshape(rows, shape=(1, rows.shape[-1]))
    found = _joining.stack([asarray(func1d(flat[k], *args, **kwargs)) for k in range(flat.shape[0])])
    out = st.reshape(found, shape=(*lead, *found.shape[1:]))
    inner = len(found.shape) - 1
    return _shape.moveaxis(out, len(lead), i) if inner == 1 else out


# ------------------------------------------------------------------------------------------ products

matmul = _defined("matmul", lambda x1, x2, dtype=None: _in(dtype, _arithmetic.matmul(asarray(x1), asarray(x2))),
    "The matrix product.")  # fmt: skip


@value_errors
def dot(a: Any, b: Any) -> Any:
    """The product over the last axis of one tensor and the last but one (or only) axis of another."""
    from ....tensor import contraction

    return contraction.dot(asarray(a), asarray(b))


inner = _defined("inner", lambda a, b: _matmul.inner(asarray(a), asarray(b)), "The sum of products over the last axes.")
outer = _defined("outer", lambda a, b: _matmul.outer(asarray(a).reshape(-1), asarray(b).reshape(-1)),
    "All products of the elements of two tensors.")  # fmt: skip
kron = _defined("kron", lambda a, b: _matmul.kron(asarray(a), asarray(b)), "The Kronecker product.")
tensordot = _defined("tensordot", lambda a, b, axes=2: _matmul.tensor_dot(asarray(a), asarray(b), axes),
    "The sum of products over axes of both.")  # fmt: skip


def cross(a: Any, b: Any, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: Any = None) -> Any:
    """The vector product of vectors of length 3."""
    x, y = asarray(a), asarray(b)
    if axis is not None:
        axisa = axisb = axisc = axis
    x, y = _shape.moveaxis(x, axisa, -1), _shape.moveaxis(y, axisb, -1)
    out = _matmul.cross(x, y, -1)
    return _shape.moveaxis(out, -1, axisc)


# ------------------------------------------------------------------------------------------ dtypes

promote_types = _defined("promote_types", lambda type1, type2: _dtype.promote_types(as_dtype(type1), as_dtype(type2)),
    "The dtype to which two promote.")  # fmt: skip


def result_type(*arrays_and_dtypes: Any) -> Any:
    """The dtype to which tensors, numbers and dtypes promote."""
    found: Any = None
    for x in arrays_and_dtypes:
        d = x.dtype if isinstance(x, Value) else as_dtype(x) if not isinstance(x, (bool, int, float)) else asarray(x).dtype
        found = d if found is None else _dtype.promote_types(found, d)
    return found


TABLE |= {
    "sum": sum_, "max": amax, "min": amin, "any": sometrue, "all": all_, "round": round_, "around": round_, "divmod": divmod_,
    "rand": _random.rand, "randn": _random.randn, "zeros": _creation.zeros, "ones": _creation.ones, "empty": _creation.zeros,
}  # fmt: skip


def multi_dot(arrays: Sequence[Any]) -> Any:
    """The product of several matrices, in the order that costs least; vectors may stand at the ends."""
    return linalg.multi_dot([asarray(x) for x in arrays])


def unwrap(p: Any, discont: float = math.pi, axis: int = -1) -> Any:
    """Angles with multiples of 2 pi added, so that neighbours along an axis differ by `discont` at most."""
    p = _floated(p)
    values = p._concrete("unwrap")
    return p + from_array((_np.unwrap(values, discont, axis) - values).astype(values.dtype))


def apply_over_axes(func: Callable[..., Any], a: Any, axes: Any) -> Any:
    """A function `func(a, axis)` applied to one axis after the other, which stay as axes of length 1."""
    a = asarray(a)
    for axis in (axes,) if isinstance(axes, int) else axes:
        i = axis_of("apply_over_axes", axis, a.ndim)
        found = func(a, i)
        a = found if found.ndim == a.ndim else st.reshape(found, shape=(*a.shape[:i], 1, *a.shape[i + 1 :]))
    return a


def nancumsum(a: Any, axis: Any = None, dtype: Any = None) -> Any:
    """The sums of the elements so far with nan counted as 0."""
    a = asarray(a)
    return cumsum(where(_unary.isnan(a), zeros_like(a), a), axis, dtype)


def array_str(a: Any) -> str:
    """The text of a tensor."""
    return str(asarray(a))
