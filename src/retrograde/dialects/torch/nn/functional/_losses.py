"""Losses between predictions and targets; those over classes are in _class_losses.py.

`reduction` is 'mean', 'sum' or 'none'; size_average and reduce are its old spelling.
"""

from __future__ import annotations

import functools
import warnings
from typing import Any

import numpy as np

from .....core.value import Value, dtype_of, shape_of
from .....learn import losses as formulas
from .....learn.losses import reduced
from .....ops import loss as ls
from .....ops import reduction as rd
from .....ops.comparison import equal, not_equal
from .....ops.elementwise import absolute, divide, multiply, power_by, subtract
from .....ops.structural import broadcast_to, cast
from ...._shared.losses import Losses, one_shape, variance
from ... import _binary
from ..._dtype import FROM_NUMPY, promote_types
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES, show_as
from ..._promote import constant, floated, pair, result_dtype, to_dtype
from ..._reductions import widest
from ..._statistics import pairwise_distance

NAMES.update(
    mse_loss="MseLossBackward0", smooth_l1_loss="SmoothL1LossBackward0", huber_loss="HuberLossBackward0",
    soft_margin_loss="SoftMarginLossBackward0", binary_cross_entropy="BinaryCrossEntropyBackward0",
    binary_cross_entropy_with_logits="BinaryCrossEntropyWithLogitsBackward0",
)  # fmt: skip

_REDUCTIONS = frozenset(ls.REDUCTIONS)
_ndarray = np.ndarray
_mse = ls.mse_loss.prim.bind  # type: ignore[attr-defined]

# ------------------------------------------------------------------------------------------ arguments


def old_reduction(size_average: bool | None, reduce: bool | None, reduction: str, warn: bool = True) -> str:
    """The reduction that the old arguments mean, if they are given, with PyTorch's warning."""
    if size_average is None and reduce is None:
        return reduction
    meant = "none" if reduce is False else "mean" if size_average is None or size_average else "sum"
    if warn:
        warnings.warn(f"size_average and reduce are deprecated; use reduction={meant!r}", stacklevel=5)
    return meant


def reduction_name(op: str, size_average: bool | None, reduce: bool | None, reduction: str, *more: str) -> str:
    """The reduction that is meant, which may be one of `more` too; raises ValueError for an unknown one."""
    reduction = old_reduction(size_average, reduce, reduction)
    if more and reduction == "mean":
        warnings.warn(
            f"{op}: reduction='mean' divides by all elements; the divergence is what reduction='batchmean' gives",
            stacklevel=3,
        )
    return reduction if reduction in _REDUCTIONS else formulas.check_reduction(op, reduction, *more)


def number(value: float, like: Any) -> np.ndarray:
    """A constant in the dtype of a tensor."""
    return np.asarray(value, dtype=dtype_of(like))


def floats_only(op: str, x: Any) -> None:
    """Raise NotImplementedError for integers, booleans and complex numbers."""
    if dtype_of(x).kind in "iubc":
        raise NotImplementedError(f"{op}: only defined for real floating tensors, got {FROM_NUMPY[dtype_of(x)]}")


def _alike(input: Any, target: Any) -> bool:
    """Whether two tensors have one real floating dtype and one shape: the everyday case."""
    if not (isinstance(input, Value) and isinstance(target, Value)):
        return False
    x, y = input._a, target._a
    return (
        type(x) is _ndarray
        and type(y) is _ndarray
        and x.dtype is y.dtype
        and x.shape == y.shape
        and x.dtype.kind == "f"
    )


def floating_pair(op: str, input: Any, target: Any) -> tuple[Any, Any]:
    """Prediction and target in one dtype and shape, with a warning where shapes had to be broadcast."""
    if _alike(input, target):
        return input, target
    x, y = tensor_argument(op, input), tensor_argument(op, target)
    if dtype_of(x) != dtype_of(y):  # a 0-d tensor has no lesser say here: it is broadcast first
        d = promote_types(FROM_NUMPY[dtype_of(x)], FROM_NUMPY[dtype_of(y)])
        x, y = to_dtype(x, d), to_dtype(y, d)
    sx, sy = tuple(shape_of(x)), tuple(shape_of(y))
    if sx != sy:
        warnings.warn(
            f"{op}: a target of shape {list(sy)} is broadcast against an input of shape {list(sx)}; that is probably "
            "not meant, give both the same shape", stacklevel=4,
        )  # fmt: skip
        x, y = broadcast(op, x, y)
    return x, y


def broadcast(op: str, *xs: Any) -> list[Any]:
    """Tensors in their common shape; raises RuntimeError where there is none."""
    shapes = [tuple(shape_of(x)) for x in xs]
    try:
        shape = np.broadcast_shapes(*shapes)
    except ValueError:
        raise RuntimeError(f"{op}: the shapes {', '.join(str(list(s)) for s in shapes)} cannot be broadcast") from None
    return [x if tuple(shape_of(x)) == shape else broadcast_to(x, shape=shape) for x in xs]


def _weighted(op: str, losses: Any, weight: Any, input: Any, reduction: str) -> Any:
    """Losses times weights; their mean is over the weights."""
    if not isinstance(weight, Value) or tuple(shape_of(weight)) != tuple(shape_of(input)):
        raise ValueError(f"{op}: the weights must have the input's shape {list(shape_of(input))}")
    losses, weight = pair(op, losses, weight)
    weighted = multiply(losses, weight)
    if reduction == "mean":
        return divide(reduced(weighted, "sum"), reduced(weight, "sum"))
    return reduced(weighted, reduction)


# ------------------------------------------------------------------------------------------ differences


def mse_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:  # fmt: skip
    """The squared difference of input and target."""
    if size_average is not None or reduce is not None or reduction not in _REDUCTIONS:
        reduction = reduction_name("mse_loss", size_average, reduce, reduction)
    if weight is None and _alike(input, target):
        return _mse(input, target, reduction=reduction)
    x, y = floating_pair("mse_loss", input, target)
    floats_only("mse_loss", x)
    if weight is not None:
        return _weighted("mse_loss", power_by(subtract(x, y), exponent=2.0), weight, input, reduction)
    return _mse(x, y, reduction=reduction)


def l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    weight: Any = None,
) -> Any:  # fmt: skip
    """The absolute difference of input and target."""
    reduction = reduction_name("l1_loss", size_average, reduce, reduction)
    x, y = floating_pair("l1_loss", input, target)
    losses = absolute(subtract(x, y))
    if weight is not None:
        return _weighted("l1_loss", losses, weight, input, reduction)
    if reduction == "mean" and dtype_of(losses).kind in "iub":
        raise RuntimeError("l1_loss: integers have no mean; convert them to a floating dtype")
    return reduced(losses, reduction)


def smooth_l1_loss(
    input: Any, target: Any, size_average: bool | None = None, reduce: bool | None = None, reduction: str = "mean",
    beta: float = 1.0,
) -> Any:  # fmt: skip
    """The squared difference over 2 beta where it is below beta, beyond the absolute one less beta/2."""
    reduction = reduction_name("smooth_l1_loss", size_average, reduce, reduction)
    x, y = floating_pair("smooth_l1_loss", input, target)
    if beta < 0:
        raise RuntimeError(f"smooth_l1_loss: beta must not be negative, got {beta}")
    if beta == 0:
        return reduced(absolute(subtract(x, y)), reduction)
    floats_only("smooth_l1_loss", x)
    return ls.smooth_l1_loss(x, y, reduction=reduction, beta=float(beta))


def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """Half the squared difference where it is at most delta, beyond delta times the absolute one less delta/2."""
    reduction = reduction_name("huber_loss", None, None, reduction)
    if delta <= 0:
        raise RuntimeError(f"huber_loss: delta must be positive, got {delta}")
    d = dtype_of(tensor_argument("huber_loss", input))
    x, y = floating_pair("huber_loss", input, target)
    floats_only("huber_loss", x)
    losses = ls.huber_loss(x, y, reduction="none" if weight is not None else reduction, delta=float(delta))
    if weight is not None:
        if tuple(shape_of(weight)) != tuple(shape_of(input)):
            raise ValueError(f"huber_loss: the weights must have the input's shape {list(shape_of(input))}")
        losses = reduced(multiply(*pair("huber_loss", losses, weight)), reduction)
    return losses if dtype_of(losses) == d else cast(losses, dtype=d)


def _as_input(op: str, input: Any, target: Any) -> list[Any]:
    x, y = tensor_argument(op, input), tensor_argument(op, target)
    floats_only(op, x)
    return broadcast(op, x, to_dtype(y, FROM_NUMPY[dtype_of(x)]))


_OLD = "size_average: bool | None = None, reduce: bool | None = None"
ENDS = f"{_OLD}, reduction='mean'"
loss = Losses(reduction_name, asks="size_average, reduce, reduction")
soft_margin_loss = loss(
    "soft_margin_loss", f"input, target, {ENDS}", formulas.SOFT_MARGIN, _as_input, constant="target"
)

# ------------------------------------------------------------------------------------------ probabilities


def _probabilities(op: str, input: Any, target: Any, weight: Any) -> tuple[Any, ...]:
    x, y = tensor_argument(op, input), tensor_argument(op, target)
    one_shape(op, x, y, ("input", "target"))
    if dtype_of(x) != dtype_of(y):
        raise RuntimeError(f"{op}: the target must have the input's dtype {FROM_NUMPY[dtype_of(x)]}, got "
                           f"{FROM_NUMPY[dtype_of(y)]}")  # fmt: skip
    floats_only(op, x)
    return x, y, None if weight is None else broadcast(op, weight, x)[0]


def _logits(op: str, input: Any, target: Any, weight: Any, pos_weight: Any) -> tuple[Any, ...]:
    if weight is None and pos_weight is None and _alike(input, target):
        return input, target, None, None
    x, y = tensor_argument(op, input), tensor_argument(op, target)
    one_shape(op, x, y, ("input", "target"))
    if dtype_of(y).kind in "iub":
        raise RuntimeError(f"{op}: the target must be floating, got {FROM_NUMPY[dtype_of(y)]}; convert it first")
    given = [t for t in (weight, pos_weight) if t is not None]
    if dtype_of(x) != dtype_of(y) or given:
        d = result_dtype(x, y, *given)
        x, y, weight, pos_weight = (None if t is None else to_dtype(t, d) for t in (x, y, weight, pos_weight))
    floats_only(op, x)
    for name, t in (("weight", weight), ("pos_weight", pos_weight)):
        if t is not None:
            try:
                np.broadcast_shapes(tuple(shape_of(t)), tuple(shape_of(x)))
            except ValueError:
                raise RuntimeError(
                    f"{op}: {name} {list(shape_of(t))} does not broadcast with the input {list(shape_of(x))}"
                ) from None
    return x, y, weight, pos_weight


def _pair(op: str, input: Any, target: Any) -> tuple[Any, Any]:
    return pair(op, tensor_argument(op, input), tensor_argument(op, target))


def _gaussian(op: str, input: Any, target: Any, var: Any) -> tuple[Any, ...]:
    x, y = _pair(op, input, target)
    shape = tuple(shape_of(input))
    if not isinstance(var, Value):
        if var < 0:
            raise ValueError(f"{op}: var must not be negative, got {var}")
        return x, y, np.full(shape, var, dtype_of(x))
    x, var = pair(op, x, variance(op, var, shape, "var", anywhere=True))
    if dtype_of(var).kind == "c":
        raise NotImplementedError(f"{op}: not defined for complex tensors, got {FROM_NUMPY[dtype_of(var)]}")
    return x, to_dtype(y, FROM_NUMPY[dtype_of(x)]), var


binary_cross_entropy = loss("binary_cross_entropy", f"input, target, weight=None, {ENDS}", formulas.BINARY_CROSS_ENTROPY,
                            _probabilities, lowest=-100.0)  # fmt: skip
binary_cross_entropy_with_logits = loss(
    "binary_cross_entropy_with_logits", f"input, target, weight=None, {ENDS}, pos_weight=None",
    formulas.BINARY_CROSS_ENTROPY_WITH_LOGITS, _logits,
)  # fmt: skip
kl_div = loss("kl_div", f"input, target, {ENDS}, log_target=False", formulas.KL_DIVERGENCE, _pair)
poisson_nll_loss = loss(
    "poisson_nll_loss", "input, target, log_input=True, full=False, size_average: bool | None = None, eps=1e-08, "
    "reduce: bool | None = None, reduction='mean'", formulas.POISSON_NLL,
    lambda op, input, target: map(floated, _pair(op, input, target)),
)  # fmt: skip
gaussian_nll_loss = Losses(formulas.check_reduction)(
    "gaussian_nll_loss", "input, target, var, full=False, eps=1e-06, reduction='mean'", formulas.GAUSSIAN_NLL, _gaussian
)

# ------------------------------------------------------------------------------------------ margins


def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: bool | None = None,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, -target * (input1 - input2) + margin): target 1 wants input1 the larger, -1 input2."""
    op = "margin_ranking_loss"
    reduction = reduction_name(op, size_average, reduce, reduction)
    x, y = pair(op, tensor_argument(op, input1), tensor_argument(op, input2))
    if not len(shape_of(x)) == len(shape_of(y)) == len(shape_of(target)):
        raise RuntimeError(
            f"{op}: the tensors must have the same number of dimensions, got shapes {list(shape_of(x))}, "
            f"{list(shape_of(y))} and {list(shape_of(target))}"
        )
    d = result_dtype(x, target)
    if d.category < 2:  # whole numbers are subtracted and multiplied as such
        return reduced(_binary.clamp_min(-target * (x - y) + float(margin), 0), reduction)
    x, y, target = (to_dtype(t, d) for t in (x, y, target))
    return reduced(_shown(formulas.margin_ranking(x, y, target, margin)), reduction)


def _masked(op: str, input: Any, target: Any) -> tuple[Any, ...]:
    x = tensor_argument(op, input)
    return x, *(not_equal(target, constant(label, dtype_of(target))) for label in (-1, 1))


def _vectors(op: str, input1: Any, input2: Any, target: Any) -> tuple[Any, ...]:
    ndim = len(shape_of(target))
    sizes = [tuple(shape_of(tensor_argument(op, x))) for x in (input1, input2)]
    if ndim > 1:
        raise RuntimeError(f"{op}: the target must have at most 1 dimension, got {list(shape_of(target))}")
    if any(len(s) != ndim + 1 for s in sizes):
        raise RuntimeError(f"{op}: a target of {ndim} dimensions goes with inputs of {ndim + 1}, got shapes "
                           f"{list(sizes[0])} and {list(sizes[1])}")  # fmt: skip
    return *pair(op, input1, input2), ndim, *(equal(target, constant(label, dtype_of(target))) for label in (1, -1))


def _widely(a: Any, b: Any, axis: int) -> Any:
    return floated(rd.sum(widest(multiply(a, b)), axis=(axis,), keepdims=False))


hinge_embedding_loss = loss(
    "hinge_embedding_loss", f"input, target, margin=1.0, {ENDS}", formulas.HINGE_EMBEDDING, _masked
)
cosine_embedding_loss = loss(
    "cosine_embedding_loss", f"input1, input2, target, margin: float = 0, {ENDS}", formulas.COSINE_EMBEDDING, _vectors,
    inner=_widely, tiny=float(np.float32(1e-12)),  # PyTorch keeps this constant in single precision
)  # fmt: skip


def _three(op: str, anchor: Any, positive: Any, negative: Any) -> tuple[Any, ...]:
    ranks = [len(shape_of(tensor_argument(op, x))) for x in (anchor, positive, negative)]
    if len(set(ranks)) != 1:
        raise RuntimeError(f"{op}: anchor, positive and negative must have the same number of dimensions, got {ranks}")
    return anchor, positive, negative


def _shown(losses: Any) -> Any:
    return show_as(losses, "ClampMinBackward0")


triplet_margin_loss = loss(
    "triplet_margin_loss", f"anchor, positive, negative, margin=1.0, p: float = 2, eps=1e-06, swap=False, {ENDS}",
    formulas.TRIPLET, _three, checks="margin > 0", shown=_shown, distance=pairwise_distance,
    pair=functools.partial(pair, "triplet_margin_loss"),
)  # fmt: skip
triplet_margin_with_distance_loss = Losses(formulas.check_reduction, called={"distance_function": "distance"})(
    "triplet_margin_with_distance_loss", "anchor, positive, negative, *, distance_function: Callable[[Any, Any], Any] | None = "
    "None, margin=1.0, swap=False, reduction='mean'", formulas.TRIPLET, _three, checks="margin > 0", shown=_shown,
    standard=pairwise_distance, pair=functools.partial(pair, "triplet_margin_with_distance_loss"),
)  # fmt: skip


def _labelled(op: str, input: Any, target: Any, weight: Any) -> tuple[Any, ...]:
    x, y = _pair(op, input, target)
    if weight is None:
        return x, y, None
    d = result_dtype(x, weight)
    return to_dtype(x, d), to_dtype(y, d), to_dtype(weight, d)


multilabel_soft_margin_loss = loss(
    "multilabel_soft_margin_loss", f"input, target, weight=None, {ENDS}", formulas.MULTILABEL_SOFT_MARGIN, _labelled
)


def refused_weights(op: str, weight: Any, classes: int, dtype: Any) -> None:
    """Raise where class weights do not go with the input."""
    if tuple(shape_of(weight)) != (classes,):
        raise RuntimeError(
            f"{op}: there must be one weight for each of {classes} classes, got shape {list(shape_of(weight))}"
        )
    if dtype is not None and dtype_of(weight) != dtype:
        raise RuntimeError(
            f"{op}: the weights must have the input's dtype {FROM_NUMPY[dtype]}, got {FROM_NUMPY[dtype_of(weight)]}"
        )
