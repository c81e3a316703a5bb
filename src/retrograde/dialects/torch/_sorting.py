"""Order and counts: sort, topk, median, mode, quantiles, unique, searching sorted sequences, histograms."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...core.batched import BatchedArray
from ...core.unwrap import bare, concrete
from ...core.value import Value, dtype_of, shape_of
from ...ops import counting, sorting
from ...ops.structural import cast, reshape, transpose
from ...tape import function as custom
from ...tensor.quantiles import INTERPOLATIONS, interpolated
from ._api import api
from ._axes import axis_of, integer, numpy_names
from ._data import computed_there
from ._dtype import FROM_NUMPY
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES, show_as
from ._indexing import recording
from ._promote import pair, scalar_dtype
from ._reductions import ALL_AXES, picked, real_only, vector_of, without_axis
from ._return_types import return_type
from ._tensor import Tensor, beside

NAMES["median"] = lambda node: "NanmedianBackward0" if node.params["ignore_nan"] else "MedianBackward0"

# ------------------------------------------------------------------------------------------ sorting


def _ordered(op: str, x: Value, indices: Any, axis: int, shape: tuple[int, ...], of: str) -> Any:
    values = sorting.pick(x, indices, axis=axis, of=of)
    if not shape:
        values, indices = without_axis(values), without_axis(indices)
    return return_type(op, "values", "indices")((values, indices))


@api(out=True)
@numpy_names
def sort(input: Any, dim: Any = -1, descending: bool = False, *, stable: Any = None) -> Any:
    """The elements in order along a dimension, and where they stood; NaN is largest. stable keeps equal ones in order."""
    x = tensor_argument("sort", input)
    if isinstance(dim, bool):
        raise TypeError("sort: dim must be an int, got a bool; write descending=...")
    real_only("sort", x)
    shape = tuple(shape_of(x))
    axis = axis_of("sort", dim, len(shape))
    x = vector_of(x)
    indices = sorting.argsort(x, axis=axis, descending=bool(descending), ties="stable" if stable else "introsort")
    return _ordered("sort", x, indices, axis, shape, "sort" if stable is None else "stable_sort")


@api(out=True)
def msort(input: Any) -> Any:
    """The elements in order along the first dimension."""
    return sort(input, 0)[0]


@api(out=True)
@numpy_names
def argsort(input: Any, dim: Any = -1, descending: bool = False, *, stable: bool = False) -> Any:
    """Where the elements of each row in order stand along a dimension."""
    x = tensor_argument("argsort", input)
    real_only("argsort", x)
    shape = tuple(shape_of(x))
    axis = axis_of("argsort", dim, len(shape))
    ties = "stable" if stable else "introsort"
    out = sorting.argsort(vector_of(x), axis=axis, descending=bool(descending), ties=ties)
    return out if shape else without_axis(out)


@api(out=True)
@numpy_names
def topk(input: Any, k: Any, dim: Any = -1, largest: bool = True, sorted: bool = True) -> Any:
    """The k largest (or smallest) elements along a dimension in order, and their positions."""
    x = tensor_argument("topk", input)
    real_only("topk", x)
    shape = tuple(shape_of(x))
    axis = axis_of("topk", dim, len(shape))
    x = vector_of(x)
    k = integer("topk", "k", k)
    n = shape_of(x)[axis]
    if not 0 <= k <= n:
        raise RuntimeError(f"topk: k is {k}, but dim {axis} has {n} elements")
    indices = sorting.argtopk(x, axis=axis, k=k, largest=bool(largest), ties="introsort")
    return _ordered("topk", x, indices, axis, shape, "topk")


@api(out=True)
@numpy_names
def kthvalue(input: Any, k: Any, dim: Any = -1, keepdim: bool = False) -> Any:
    """The k-th smallest element along a dimension (counted from 1), and its position."""
    x = tensor_argument("kthvalue", input)
    real_only("kthvalue", x, NotImplementedError)
    axis = axis_of("kthvalue", dim, len(shape_of(x)))
    k = integer("kthvalue", "k", k)
    n = shape_of(x)[axis] if shape_of(x) else 1
    if not 1 <= k <= n:
        raise RuntimeError(f"kthvalue: k is {k}, but dim {axis} has {n} elements")
    found = picked(x, lambda y: sorting.argkth(y, axis=axis, k=k, ties="introsort"), axis, keepdim, "kthvalue")
    return return_type("kthvalue", "values", "indices")(found)


def _median(op: str, input: Any, dim: Any, keepdim: bool, ignore_nan: bool) -> Any:
    x = tensor_argument(op, input)
    if dtype_of(x).kind in "bc":
        raise NotImplementedError(f"{op}: not defined for {FROM_NUMPY[dtype_of(x)]} tensors")
    if dim is None:
        if 0 in shape_of(x) and dtype_of(x).kind in "iu":
            return beside(np.array(np.iinfo(dtype_of(x)).min, dtype_of(x)), x)
        return sorting.median(x, axis=ALL_AXES[len(shape_of(x))], keepdims=False, ignore_nan=ignore_nan)
    axis = axis_of(op, dim, len(shape_of(x)))
    if shape_of(x) and shape_of(x)[axis] == 0:
        raise IndexError(f"{op}: dim {axis} has no elements to reduce")
    find = lambda y: sorting.argmedian(y, axis=axis, ignore_nan=ignore_nan)  # noqa: E731
    return return_type(op, "values", "indices")(picked(x, find, axis, keepdim, op))


@api(out=True)
@numpy_names
def median(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The median (of an even number the lower one); with dim the medians along it and their positions."""
    return _median("median", input, dim, keepdim, False)


@api(out=True)
@numpy_names
def nanmedian(input: Any, dim: Any = None, keepdim: bool = False) -> Any:
    """The median of the elements that are not NaN; with dim the medians along it and their positions."""
    return _median("nanmedian", input, dim, keepdim, True)


@api(out=True)
@numpy_names
def mode(input: Any, dim: Any = -1, keepdim: bool = False) -> Any:
    """The most frequent element along a dimension (of several the smallest), and a position of it."""
    x = tensor_argument("mode", input)
    real_only("mode", x, NotImplementedError)
    axis = axis_of("mode", dim, len(shape_of(x)))
    if shape_of(x) and shape_of(x)[axis] == 0:
        raise IndexError(f"mode: dim {axis} has no elements to reduce")
    found = picked(x, lambda y: sorting.argmode(y, axis=axis, ties="introsort"), axis, keepdim, "mode")
    return return_type("mode", "values", "indices")(found)


# ------------------------------------------------------------------------------------------ quantiles


def _quantile(op: str, input: Any, q: Any, dim: Any, keepdim: bool, interpolation: str, ignore_nan: bool) -> Any:
    x = tensor_argument(op, input)
    d = dtype_of(x)
    if d not in (np.float32, np.float64):
        raise RuntimeError(f"{op}: the input must be float32 or float64, got {FROM_NUMPY[d]}")
    if 0 in shape_of(x):
        raise RuntimeError(f"{op}: the input has no elements")
    if interpolation not in INTERPOLATIONS:
        raise RuntimeError(f"{op}: interpolation must be one of {', '.join(INTERPOLATIONS)}, got {interpolation!r}")
    if isinstance(q, Value):
        if dtype_of(q) != d:
            raise RuntimeError(f"{op}: q must have the input's dtype {FROM_NUMPY[d]}, got {FROM_NUMPY[dtype_of(q)]}")
        if len(shape_of(q)) > 1:
            raise RuntimeError(f"{op}: q must have at most one dimension, got shape {list(shape_of(q))}")
        points = q
        if not computed_there(op, q, lambda array: ((array >= 0) & (array <= 1)).all()):
            raise RuntimeError(f"{op}: q must lie in [0, 1], got {q.tolist()}")  # type: ignore[attr-defined]
    elif isinstance(q, (int, float)) and not isinstance(q, bool):
        if not 0 <= q <= 1:
            raise RuntimeError(f"{op}: q must lie in [0, 1], got {q}")
        points = beside(np.asarray(q, dtype=d), x)
    else:
        raise TypeError(f"{op}: q must be a number or a tensor, got {type(q).__name__}")
    shape = tuple(shape_of(x))
    if dim is None:
        rows = reshape(x, shape=(math.prod(shape),))
        left = (1,) * len(shape) if keepdim else ()
    else:
        axis = axis_of(op, dim, len(shape))
        rows = vector_of(x)
        n = len(shape_of(rows))
        rows = rows if axis == n - 1 else transpose(rows, axes=(*(i for i in range(n) if i != axis), axis))
        left = tuple(1 if i == axis else size for i, size in enumerate(shape)) if keepdim else (
            *shape[:axis], *shape[axis + 1 :])  # fmt: skip
    front = tuple(shape_of(points))
    out = interpolated(rows, points if front else reshape(points, shape=(1,)), interpolation, ignore_nan)
    target = (*front, *left)
    if tuple(shape_of(out)) != target:
        out = reshape(out, shape=target)
    return show_as(out, "SqueezeBackward4")


@api(out=True)
@numpy_names
def quantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The quantiles q (in [0, 1]) along a dimension or of all elements; NaN where there is one."""
    return _quantile("quantile", input, q, dim, keepdim, interpolation, False)


@api(out=True)
@numpy_names
def nanquantile(input: Any, q: Any, dim: Any = None, keepdim: bool = False, *, interpolation: str = "linear") -> Any:
    """The quantiles q (in [0, 1]) of the elements that are not NaN, along a dimension or altogether."""
    return _quantile("nanquantile", input, q, dim, keepdim, interpolation, True)


# ------------------------------------------------------------------------------------------ distinct elements


def _without_derivative(op: str, x: Any, out: Any, name: str) -> None:
    """Let a result require grad all the same, as in PyTorch: asking for its derivative raises NotImplementedError."""

    def backward(node: Any, cotangents: Any) -> Any:
        raise NotImplementedError(f"{op}: which elements are equal has no derivative; detach() the result")

    custom.attach(f"{name}Backward0", [x], [out], backward, differentiable=[True], level=x._level, cls=Tensor)


def _distinct(op: str, input: Any, dim: Any, return_inverse: bool, return_counts: bool) -> Any:
    x = tensor_argument(op, input)
    shape = tuple(shape_of(x))
    if dtype_of(x).kind == "c":
        raise RuntimeError(f"{op}: not defined for complex tensors")
    if type(bare(x)) is BatchedArray:
        raise RuntimeError(f"{op}: under vmap the entries of the batch differ in how many distinct elements they have")
    axis = None if dim is None else axis_of(op, dim, len(shape))
    if axis is not None and not shape:
        x = vector_of(x)
    found = getattr(counting, op)(x, axis=axis)
    if recording(x):
        _without_derivative(op, x, found[0], {"unique": "Unique2" if axis is None else "UniqueDim"}.get(op, "UniqueConsecutive"))
    wanted = (True, return_inverse, return_counts)
    results = tuple(r for r, want in zip(found, wanted) if want)
    return results if len(results) > 1 else results[0]


@api()
@numpy_names
def unique(
    input: Any, sorted: bool = True, return_inverse: bool = False, return_counts: bool = False, dim: Any = None
) -> Any:
    """The distinct elements (slices along dim, if given) in order, with positions and counts if asked for."""
    return _distinct("unique", input, dim, return_inverse, return_counts)


@api()
@numpy_names
def unique_consecutive(input: Any, return_inverse: bool = False, return_counts: bool = False, dim: Any = None) -> Any:
    """The first of each run of equal elements (slices along dim, if given), with positions and counts if asked for."""
    return _distinct("unique_consecutive", input, dim, return_inverse, return_counts)


@api(method=False, out=True)
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False) -> Any:
    """For each element whether it is among the test elements (whether it is not, with invert)."""
    if not isinstance(elements, Value) and not isinstance(test_elements, Value):
        raise TypeError("isin: elements or test_elements must be a tensor")
    x, y = pair("isin", elements, test_elements)
    for operand in (x, y):
        if isinstance(operand, Value) and dtype_of(operand).kind == "c":
            raise RuntimeError("isin: not defined for complex tensors")
    given = elements if isinstance(elements, Value) else test_elements
    x, y = (beside(a, given) if isinstance(a, np.ndarray) else a for a in (x, y))
    return counting.isin(x, y, invert=bool(invert))


# ------------------------------------------------------------------------------------------ searching


def _search(op: str, sequence: Any, values: Any, right: bool, out_int32: bool) -> Any:
    number = not isinstance(values, Value)
    if number:
        values = beside(np.asarray(values, dtype=scalar_dtype(values).np), sequence)
    for x in (sequence, values):
        if dtype_of(x).kind == "c":
            raise RuntimeError(f"{op}: not defined for complex tensors")
    out = counting.searchsorted(sequence, values, right=right)
    return cast(out, dtype=np.dtype(np.int32)) if out_int32 else out


@api(method=False, out=True)
def searchsorted(
    sorted_sequence: Any, input: Any, *, out_int32: bool = False, right: bool = False, side: Any = None,
    sorter: Any = None,
) -> Any:  # fmt: skip
    """Where values would be inserted in sorted sequences (the last dimension): before equal ones, or behind."""
    op = "searchsorted"
    sequence = tensor_argument(op, sorted_sequence)
    if side is not None:
        if side not in ("left", "right"):
            raise RuntimeError(f"{op}: side must be 'left' or 'right', got {side!r}")
        if side == "left" and right:
            raise RuntimeError(f"{op}: side='left' and right=True contradict each other")
        right = side == "right"
    if not shape_of(sequence):
        raise RuntimeError(f"{op}: the sequence must have at least one dimension")
    if sorter is not None:
        if not isinstance(sorter, Value) or tuple(shape_of(sorter)) != tuple(shape_of(sequence)):
            raise RuntimeError(f"{op}: the sorter must be a tensor of the shape of the sequence")
        if dtype_of(sorter) != np.int64:
            raise RuntimeError(f"{op}: the sorter must have dtype int64, got {FROM_NUMPY[dtype_of(sorter)]}")
        sequence = sorting.pick(sequence, sorter, axis=len(shape_of(sequence)) - 1, of="sort")
    rows = tuple(shape_of(sequence))[:-1]
    if rows and (not isinstance(input, Value) or tuple(shape_of(input))[:-1] != rows):
        given = list(shape_of(input)) if isinstance(input, Value) else "a number"
        raise RuntimeError(
            f"{op}: sequences {list(shape_of(sequence))} and values {given} must agree in all dimensions but the last"
        )
    return _search(op, sequence, input, bool(right), out_int32)


@api(method=False, out=True)
def bucketize(input: Any, boundaries: Any, *, out_int32: bool = False, right: bool = False) -> Any:
    """For each value between which two of the sorted boundaries it lies."""
    boundaries = tensor_argument("bucketize", boundaries)
    if len(shape_of(boundaries)) != 1:
        raise RuntimeError(f"bucketize: the boundaries must have one dimension, got {len(shape_of(boundaries))}")
    return _search("bucketize", boundaries, input, bool(right), out_int32)


# ------------------------------------------------------------------------------------------ counts


@api()
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number occurs in a vector of non-negative ints, or the sums of their weights."""
    x = tensor_argument("bincount", input)
    if dtype_of(x).kind not in "iu":
        raise NotImplementedError(f"bincount: the input must hold integers, got {FROM_NUMPY[dtype_of(x)]}")
    if len(shape_of(x)) != 1 or (shape_of(x)[0] and int(computed_there("bincount", x, lambda array: array.min())) < 0):
        raise RuntimeError("bincount: the input must have one dimension and no negative numbers")
    if minlength < 0:
        raise RuntimeError(f"bincount: minlength must not be negative, got {minlength}")
    if weights is not None and tuple(shape_of(weights)) != tuple(shape_of(x)):
        raise RuntimeError(
            f"bincount: input and weights must have one shape, got {list(shape_of(x))} and {list(shape_of(weights))}"
        )
    return counting.bincount(x, weights, minlength=minlength)


@api(out=True)
def histc(input: Any, bins: int = 100, min: Any = 0, max: Any = 0) -> Any:
    """How many elements fall into each of equal bins between min and max; of the data where both are 0."""
    x = tensor_argument("histc", input)
    if dtype_of(x).kind not in "fV":
        raise NotImplementedError(f"histc: the input must be floating, got {FROM_NUMPY[dtype_of(x)]}")
    if bins <= 0:
        raise RuntimeError(f"histc: bins must be positive, got {bins}")
    if max < min:
        raise RuntimeError(f"histc: max must not be smaller than min, got min={min} and max={max}")
    return counting.histc(x, bins=bins, low=float(min), high=float(max))


def _edges(op: str, x: np.ndarray, bins: Any, limits: Any) -> np.ndarray:
    """Bin edges from a tensor of them or a number of bins, over given limits or those of the data."""
    if isinstance(bins, Value):
        if len(shape_of(bins)) != 1:
            raise RuntimeError(f"{op}: a tensor of bin edges must have one dimension, got {len(shape_of(bins))}")
        if dtype_of(bins) != x.dtype:
            raise RuntimeError(f"{op}: bin edges must have the input's dtype {FROM_NUMPY[x.dtype]}")
        return concrete(op, bins)
    bins = integer(op, "bins", bins)
    if bins <= 0:
        raise RuntimeError(f"{op}: the number of bins must be positive, got {bins}")
    if limits is None:
        low, high = (x.min(), x.max()) if x.size else (0, 1)
        if not (np.isfinite(low) and np.isfinite(high)):
            raise RuntimeError(f"{op}: the data reach from {low} to {high}; give range")
    else:
        low, high = limits
        if low > high:
            raise RuntimeError(f"{op}: range must not be descending, got ({low}, {high})")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1, dtype=x.dtype)


def _checked_data(op: str, input: Any, weight: Any) -> np.ndarray:
    x = tensor_argument(op, input)
    if dtype_of(x).kind != "f" or dtype_of(x).itemsize == 2:
        raise NotImplementedError(f"{op}: the input must be float32 or float64, got {FROM_NUMPY[dtype_of(x)]}")
    if weight is not None and dtype_of(weight) != dtype_of(x):
        raise RuntimeError(f"{op}: weight must have the input's dtype {FROM_NUMPY[dtype_of(x)]}")
    return concrete(op, x)


@api(out=True)
def histogram(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """How many elements (or how much weight) fall between bin edges, and the edges; as a density if asked for."""
    op = "histogram"
    if isinstance(bins, Value) and range is not None:
        raise TypeError(f"{op}: range goes with a number of bins, not with bin edges")
    x = _checked_data(op, input, weight)
    edges = beside(_edges(op, x, bins, range), input)
    hist = counting.histogram(input.detach(), None if weight is None else weight.detach(), edges)
    if density:
        hist = hist / hist.sum() / edges.diff()
    return return_type("histogram", "hist", "bin_edges")((hist, edges))


@api(method=False)
def histogramdd(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """The histogram of points (the last dimension holds coordinates) on a grid of bins, and the edges of each one."""
    op = "histogramdd"
    x = _checked_data(op, input, weight)
    if x.ndim < 2:
        raise RuntimeError(f"{op}: the input must have at least 2 dimensions, got {x.ndim}")
    n = x.shape[-1]
    points = x.reshape(-1, n)
    per = list(bins) if isinstance(bins, (tuple, list)) else [bins] * n
    if len(per) != n:
        raise RuntimeError(f"{op}: there are bins for {len(per)} coordinates, but points have {n}")
    limits = [None] * n if range is None else list(zip(range[::2], range[1::2]))
    edges = [_edges(op, points[:, i], b, limits[i]) for i, b in enumerate(per)]
    sizes = [len(e) - 1 for e in edges]
    flat, inside = np.zeros(len(points), np.int64), np.ones(len(points), bool)
    for i, e in enumerate(edges):
        place = np.searchsorted(e, points[:, i], side="right") - 1
        place[points[:, i] == e[-1]] = sizes[i] - 1
        inside &= (place >= 0) & (place < sizes[i])
        flat = flat * sizes[i] + np.clip(place, 0, max(sizes[i] - 1, 0))
    weights = None if weight is None else concrete(op, weight).reshape(-1)[inside].astype(np.float64)
    hist = np.bincount(flat[inside], weights, minlength=math.prod(sizes)).reshape(sizes).astype(x.dtype)
    if density:
        hist = hist / hist.sum()
        for i, e in enumerate(edges):
            hist = hist / np.diff(e).reshape((-1,) + (1,) * (n - 1 - i))
    fields = (beside(hist, input), tuple(beside(e, input) for e in edges))
    return return_type("histogramdd", "hist", "bin_edges")(fields)
