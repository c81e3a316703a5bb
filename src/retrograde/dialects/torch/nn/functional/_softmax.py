"""The softmax family: also `torch.softmax`, `torch.log_softmax` and the methods."""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from .....core.value import Value, dtype_of, shape_of
from .....ops import softmax as sm
from .....ops.elementwise import negative
from ...._shared.registry import defined
from ... import _creation, _gather, _reductions, _unary, random
from ..._api import api, in_place
from ..._axes import axis_of, numpy_names
from ..._dtype import FROM_NUMPY
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES
from ..._promote import floated
from ..._reductions import in_dtype, vector_of, without_axis

_ndarray = np.ndarray

NAMES.update(
    softmax="SoftmaxBackward0", log_softmax="LogSoftmaxBackward0", safe_softmax="SafeSoftmaxBackward0",
    softmax_pullback="SoftmaxBackwardDataBackward0", log_softmax_pullback="LogSoftmaxBackwardDataBackward0",
)  # fmt: skip


def along(op: str, x: Any, dim: Any, dtype: Any, run: Any) -> Any:
    """`run` along a dimension of a floating tensor."""
    if dtype is None and type(dim) is int and isinstance(x, Value):  # the everyday call
        a = x._a
        if type(a) is _ndarray and a.dtype.kind == "f" and -a.ndim <= dim < a.ndim:
            return run(x, axis=dim % a.ndim)
    x = in_dtype(op, tensor_argument(op, x), dtype)
    if dtype_of(x).kind in "iubc":
        raise NotImplementedError(f"{op}: the input must be floating, got {FROM_NUMPY[dtype_of(x)]}; give dtype=")
    shape = tuple(shape_of(x))
    axis = axis_of(op, dim, len(shape))
    if shape:
        return run(x, axis=axis)
    return without_axis(run(vector_of(x), axis=0))


@api("softmax", out=True)
@numpy_names
@functools.partial(defined, "softmax")
def softmax_of(input: Any, dim: Any, dtype: Any = None) -> Any:
    """exp(x) divided by its sum along a dimension."""
    return along("softmax", input, dim, dtype, sm.softmax)


@api("log_softmax", out=True)
@numpy_names
@functools.partial(defined, "log_softmax")
def log_softmax_of(input: Any, dim: Any, dtype: Any = None) -> Any:
    """The logarithm of the softmax along a dimension, without loss of precision."""
    return along("log_softmax", input, dim, dtype, sm.log_softmax)


@api("_softmax_backward_data", method=False)
def softmax_backward_data(grad_output: Any, output: Any, dim: int, input_dtype: Any) -> Any:
    """The gradient through a softmax with the given result."""
    op = "_softmax_backward_data"
    g, y = tensor_argument(op, grad_output), tensor_argument(op, output)
    shape = tuple(shape_of(y))
    out = sm.softmax_pullback(vector_of(g), vector_of(y), axis=axis_of(op, dim, len(shape)))
    return in_dtype(op, out if shape else without_axis(out), input_dtype)


@api("_safe_softmax", method=False)
def safe_softmax(input: Any, dim: int, dtype: Any = None) -> Any:
    """The softmax along a dimension, 0 where every element along it is -inf."""
    x = in_dtype("_safe_softmax", tensor_argument("_safe_softmax", input), dtype)
    return along("_safe_softmax", floated(x), dim, None, sm.safe_softmax)


def _dim(op: str, x: Any, dim: Any, level: int) -> Any:
    if dim is not None:
        return dim
    chosen = 0 if isinstance(x, Value) and len(shape_of(x)) in (0, 1, 3) else 1
    warnings.warn(f"{op}: without dim, dim={chosen} is taken; say which dimension is meant", stacklevel=level + 1)
    return chosen


def softmax(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """exp(x) divided by its sum along a dimension."""
    return along("softmax", input, _dim("softmax", input, dim, _stacklevel), dtype, sm.softmax)


def log_softmax(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The logarithm of the softmax along a dimension, without loss of precision."""
    return along("log_softmax", input, _dim("log_softmax", input, dim, _stacklevel), dtype, sm.log_softmax)


def softmin(input: Any, dim: Any = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """The softmax of the negative input along a dimension."""
    x = tensor_argument("softmin", input)
    return along("softmin", negative(x), _dim("softmin", x, dim, _stacklevel), dtype, sm.softmax)


def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A sample of the Gumbel-softmax distribution: nearly one-hot for small tau, in value exactly with hard."""
    x = tensor_argument("gumbel_softmax", logits)
    if eps != 1e-10:
        warnings.warn("gumbel_softmax: eps has no effect", stacklevel=2)
    noise = -_unary.log(random.exponential_(_creation.new_empty(x, tuple(shape_of(x)))))
    soft = along("gumbel_softmax", (x + noise) / tau, dim, None, sm.softmax)
    if not hard:
        return soft
    index = _reductions.max(soft.detach(), dim, keepdim=True)[1]
    one_hot = in_place(_gather.scatter)(_creation.new_zeros(x, tuple(shape_of(x))), dim, index, 1.0)
    return one_hot - soft.detach() + soft
