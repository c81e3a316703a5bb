"""Reductions and scans: sums, products, moments, extremes, all and any, cumulative sums and products.

`axis` is None (all axes), an int or a tuple; `keepdims` keeps the axes with length 1.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from ..core.value import dtype_of, shape_of
from ..ops import reduction as red
from ..ops import scan
from ..ops import softmax as soft
from ..ops import structural as st
from ._values import axes_of, axis_of, in_order, only_axis, rank
from .conversion import value
from .dtypes import as_dtype
from .operators import described
from .promotion import double, floating, to_dtype

if TYPE_CHECKING:
    from .core import Tensor

_EXAMPLES = {
    "mean": "rg.asarray([1.0, 2.0, 6.0]) -> Tensor(3.)",
    "cumulative_sum": "rg.asarray([1, 2, 3]) -> Tensor([1, 3, 6])",
    "logsumexp": "rg.asarray([1000.0, 1000.0]) -> Tensor(1000.69314718)",
    "max": "rg.asarray([[1.0, 4.0], [3.0, 2.0]]), axis=0 -> Tensor([3., 4.])",
    "var": "rg.asarray([1.0, 2.0, 3.0]) -> Tensor(0.66666667)",
    "std": "rg.asarray([1.0, 2.0, 3.0]), correction=1 -> Tensor(1.)",
    "min": "rg.asarray([[1.0, 4.0], [3.0, 2.0]]), axis=1 -> Tensor([1., 2.])",
    "all": "rg.asarray([True, False]) -> Tensor(False)",
    "any": "rg.asarray([True, False]) -> Tensor(True)",
    "cumulative_prod": "rg.asarray([1, 2, 3]) -> Tensor([1, 2, 6])",
}  # fmt: skip
"""What functions that are made below do to a few numbers, for their documentation."""

_INT64, _UINT64 = np.dtype(np.int64), np.dtype(np.uint64)


def _accumulated(x: Any, dtype: Any) -> Any:
    """The operand of a sum or product in the dtype of its result: narrow integers and booleans in 64 bits."""
    if dtype is not None:
        return to_dtype(x, as_dtype(dtype))
    d = dtype_of(x)
    if d.kind in "ib":
        return to_dtype(x, _INT64)
    return to_dtype(x, _UINT64) if d.kind == "u" else x


def sum(x: Any, /, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The sum of the elements over `axis`; narrow integers are added in 64 bits, or in `dtype`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.sum(rg.asarray([[1, 2], [3, 4]]), axis=0)
    Tensor([4, 6])
    """
    x = value(x)
    if dtype is not None or dtype_of(x).kind in "iub":
        x = _accumulated(x, dtype)
    return red.sum(x, axis=axes_of("sum", axis, rank(x)), keepdims=keepdims)


def prod(x: Any, /, axis: Any = None, dtype: Any = None, keepdims: bool = False) -> Tensor:
    """The product of the elements over `axis`; narrow integers are multiplied in 64 bits, or in `dtype`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.prod(rg.asarray([[1, 2], [3, 4]]), axis=0)
    Tensor([3, 8])
    """
    x = _accumulated(value(x), dtype)
    return red.prod(x, axis=axes_of("prod", axis, rank(x)), keepdims=keepdims)


_REDUCED = """The result has the shape of `x` without the axes `axis` (None: all; an int, or a tuple of ints), or with length
1 there where `keepdims` is True. Raises numpy.exceptions.AxisError, which is a ValueError, for an axis that is not there."""


def reduction(name: str, op: Any, doc: str, prepare: Any = None) -> Callable[..., Tensor]:
    """A reduction without further parameters; `prepare` takes its operand and gives it in the dtype to compute in."""

    def f(x: Any, /, axis: Any = None, keepdims: bool = False) -> Any:
        x = value(x) if prepare is None else prepare(value(x))
        return op(x, axis=axes_of(name, axis, rank(x)), keepdims=keepdims)

    return described(f, name, doc, _REDUCED)


mean = reduction(
    "mean", red.mean, "The arithmetic mean over `axis`, nan of no elements; of integers in float64.", double
)


def _moment(name: str, op: Any, doc: str) -> Callable[..., Tensor]:
    def f(x: Any, /, axis: Any = None, correction: float = 0.0, keepdims: bool = False) -> Any:
        x = double(value(x))
        return op(x, axis=axes_of(name, axis, rank(x)), correction=correction, keepdims=keepdims)

    return described(f, name, doc, _REDUCED)


var = _moment(
    "var", red.var, "The variance over `axis`: the sum of squared deviations divided by the count less `correction`."
)
std = _moment(
    "std", red.std,
    "The standard deviation over `axis`, the root of `var`; its derivative is 0 where all elements are equal.",
)  # fmt: skip
_OF_SOME = " Raises ShapeError for no elements."
max = reduction(
    "max", partial(red.amax, ties="even"),
    "The greatest element over `axis`, nan where there is one; equal ones share the gradient evenly." + _OF_SOME,
    partial(in_order, "max"),
)  # fmt: skip
min = reduction(
    "min", partial(red.amin, ties="even"),
    "The smallest element over `axis`, nan where there is one; equal ones share the gradient evenly." + _OF_SOME,
    partial(in_order, "min"),
)  # fmt: skip
all = reduction("all", red.all, "Whether every element over `axis` is true (not zero).")
any = reduction("any", red.any, "Whether some element over `axis` is true (not zero).")


# ------------------------------------------------------------------------------------------ scans


def _scan(name: str, op: Any, initial: int, doc: str) -> Callable[..., Tensor]:
    def f(x: Any, /, *, axis: int | None = None, dtype: Any = None, include_initial: bool = False) -> Any:
        x = value(x)
        i = only_axis(name, axis, x)
        out = op(_accumulated(x, dtype), axis=i, reverse=False)
        if include_initial:
            shape = tuple(1 if j == i else n for j, n in enumerate(shape_of(x)))
            out = st.concatenate(np.full(shape, initial, dtype_of(out)), out, axis=i)
        return out

    return described(f, name, doc, "The result has the shape of `x`, longer by 1 along `axis` with `include_initial`.")


cumulative_sum = _scan(
    "cumulative_sum", scan.cumsum, 0,
    "The sums of the first 1, 2, ... elements along `axis` (with `include_initial` of 0 as well).",
)  # fmt: skip
cumulative_prod = _scan(
    "cumulative_prod", scan.cumprod, 1,
    "The products of the first 1, 2, ... elements along `axis` (with `include_initial` of 0 as well).",
)  # fmt: skip


# ------------------------------------------------------------------------------------------ logarithms of sums

logsumexp = reduction("logsumexp", red.logsumexp, "log(sum(exp(x))) over `axis`, without overflow.", floating)


def softmax(x: Any, /, axis: int = -1) -> Tensor:
    """exp(x) divided by its sum along `axis`.

    The result has the shape of `x`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.softmax(rg.asarray([0.0, rg.log(3.0).item()]))
    Tensor([0.25, 0.75])
    """
    x = floating(value(x))
    return soft.softmax(x, axis=axis_of("softmax", axis, rank(x)))


def log_softmax(x: Any, /, axis: int = -1) -> Tensor:
    """The logarithm of `softmax`, accurate where that is near 0.

    The result has the shape of `x`.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.log_softmax(rg.asarray([0.0, 0.0]))
    Tensor([-0.69314718, -0.69314718])
    """
    x = floating(value(x))
    return soft.log_softmax(x, axis=axis_of("log_softmax", axis, rank(x)))
