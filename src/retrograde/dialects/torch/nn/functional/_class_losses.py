"""Losses over classes: negative log likelihood, cross entropy, margins, CTC.

Predictions are (C,), (N, C) or (N, C, d1...), targets class numbers without the dimension of the classes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ....._traceback import called_function
from .....core.unwrap import concrete
from .....core.value import Value, dtype_of, shape_of
from .....learn import losses as formulas
from .....ops import loss_classes as lc
from .....ops import reduction as rd
from .....ops.contraction import matmul
from .....ops.elementwise import add, divide, multiply, negative
from .....ops.loss import REDUCTIONS
from .....ops.softmax import log_softmax
from .....ops.structural import cast, reshape, transpose
from ...._shared.losses import lengths
from ...._shared.registry import defined
from ..._api import FUNCTIONS
from ..._axes import integer
from ..._dtype import FROM_NUMPY
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES, show_as
from ..._promote import pair
from ..._reductions import ALL_AXES
from . import _losses as L
from ._losses import ENDS, floats_only, loss, number, reduction_name, refused_weights

_INT64 = np.dtype(np.int64)
_ndarray = np.ndarray
_nll = lc.nll_loss.prim.bind
_log_softmax = log_softmax.prim.bind


def _nll_name(node: Any) -> str:
    return "NllLossBackward0" if len(node.edges[0].shape) < 3 else "NllLoss2DBackward0"


NAMES.update(
    nll_loss=_nll_name, multi_margin_loss="MultiMarginLossBackward0", ctc_loss="CtcLossBackward0",
    multilabel_margin_loss="MultilabelMarginLossBackward0",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ negative log likelihood


def _checked_target(op: str, x: Value, target: Any, weight: Any) -> Any:
    """The target as int64, with its shape and dtype checked against the input's, and the weights'."""
    shape, got = tuple(shape_of(x)), tuple(shape_of(tensor_argument(op, target)))
    if not shape:
        raise ValueError(f"{op}: the input must have at least one dimension")
    if len(shape) == 1:
        if got not in ((), (1,)):
            raise RuntimeError(f"{op}: a single prediction {list(shape)} has a single target, got shape {list(got)}")
    elif shape[0] != (got[0] if got else None):
        raise ValueError(
            f"{called_function() or op}: the batch of the input {list(shape)} does not go with the target {list(got)}; there "
            "is one target for each row of the input"
        )
    elif shape[2:] != got[1:]:
        raise RuntimeError(f"{op}: the target of an input {list(shape)} is {[shape[0], *shape[2:]]}, got {list(got)}")
    if weight is not None:
        refused_weights(op, weight, shape[0 if len(shape) == 1 else 1], dtype_of(x))
    d = dtype_of(target)
    if d == np.int64:
        return target
    if d == np.uint8:
        return cast(target, dtype=_INT64)
    remedy = "convert it with .long()"
    if d.kind == "f":
        remedy += ", or give probabilities in the shape of the input"
    raise RuntimeError(
        f"{called_function() or op}: the target must have dtype int64 (class numbers), got {FROM_NUMPY[d]}; {remedy}"
    )


def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """The negative log-probability of the target's class; the mean is over the weights of the targets."""
    op = "nll_loss"
    reduction = reduction_name(op, size_average, reduce, reduction)
    x = tensor_argument(op, input)
    floats_only(op, x)
    target = _checked_target(op, x, target, weight)
    if len(shape_of(x)) == 1 and shape_of(target):
        target = reshape(target, shape=())
    out = lc.nll_loss(x, target, weight, reduction=reduction, ignore_index=integer(op, "ignore_index", ignore_index))
    return show_as(out, "ViewBackward0") if reduction == "none" and len(shape_of(x)) not in (1, 2, 4) else out


def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: bool | None = None, ignore_index: int = -100,
    reduce: bool | None = None, reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """The cross entropy of the softmax of the input and targets: class numbers, or probabilities of the input's shape.

    label_smoothing: the part of a target that is spread over all classes.
    """
    op = "cross_entropy"
    if size_average is not None or reduce is not None or reduction not in REDUCTIONS:
        reduction = reduction_name(op, size_average, reduce, reduction)
    x = tensor_argument(op, input)
    a, b = x._a, tensor_argument(op, target)._a
    if type(a) is _ndarray and type(b) is _ndarray and a.dtype.kind == "f" and b.dtype is _INT64:
        # The everyday case: rows of predictions, class numbers, nothing else said.
        plain = a.ndim == 2 and b.ndim == 1 and len(a) == len(b) and weight is None and not label_smoothing
        if plain and type(ignore_index) is int:
            return _nll(_log_softmax(x, axis=1), target, None, reduction=reduction, ignore_index=ignore_index)
    shape = tuple(shape_of(x))
    if not 0.0 <= label_smoothing <= 1.0:
        raise RuntimeError(f"{op}: label_smoothing must lie in [0, 1], got {label_smoothing}")
    if not shape:
        raise ValueError(f"{op}: the input must have at least one dimension")
    axis = 0 if len(shape) == 1 else 1
    probabilities = shape == tuple(shape_of(tensor_argument(op, target)))
    if probabilities and dtype_of(target).kind in "iub":
        raise RuntimeError(f"{op}: a target of the input's shape holds probabilities, but its dtype is "
                           f"{FROM_NUMPY[dtype_of(target)]}")  # fmt: skip
    if dtype_of(x).kind in "iubc":
        raise NotImplementedError(f"{op}: the input must be floating, got {FROM_NUMPY[dtype_of(x)]}")
    logs = log_softmax(x, axis=axis)
    if probabilities:
        if ignore_index >= 0:
            raise RuntimeError(f"{op}: ignore_index goes with class numbers, not with probabilities")
        return _of_probabilities(op, logs, target, weight, reduction, label_smoothing, axis)
    if label_smoothing:
        return _smoothed(op, logs, target, weight, reduction, ignore_index, label_smoothing, axis)
    return nll_loss(logs, target, weight, None, ignore_index, None, reduction)


def _of_probabilities(op: str, logs: Any, target: Any, weight: Any, reduction: str, smoothing: float, axis: int) -> Any:
    shape = tuple(shape_of(logs))
    classes = shape[axis]
    if smoothing:
        target = target * (1 - smoothing) + smoothing / classes
    logs, target = pair(op, logs, target)
    terms = multiply(logs, target)
    if weight is not None:
        refused_weights(op, weight, classes, None)
        terms = multiply(*pair(op, terms, formulas.of_classes(weight, len(shape), axis)))
    if reduction == "none":
        return negative(rd.sum(terms, axis=(axis,), keepdims=False))
    total = negative(rd.sum(terms, axis=ALL_AXES[len(shape)], keepdims=False))
    if reduction == "sum":
        return total
    count = 1
    for i, n in enumerate(shape):
        count *= 1 if i == axis else n
    return show_as(divide(total, number(count, total)), "DivBackward1")


def _smoothed(
    op: str, logs: Any, target: Any, weight: Any, reduction: str, ignore_index: int, smoothing: float, axis: int
) -> Any:
    """The loss of class numbers, of which a part is spread over all classes."""
    nll = nll_loss(logs, target, weight, None, ignore_index, None, reduction)
    target = _checked_target(op, logs, target, weight)
    return formulas.smoothed_nll(nll, logs, target, weight, axis, smoothing, reduction, ignore_index)


def linear_cross_entropy(
    input: Any, linear_weight: Any, target: Any, *, linear_bias: Any = None, weight: Any = None,
    reduction: str = "mean", ignore_index: int | None = None, label_smoothing: float = 0.0, options: Any = None,
) -> Any:  # fmt: skip
    """The cross entropy of a linear layer's outputs: `cross_entropy(linear(input, linear_weight, linear_bias), ...)`.

    input is (in,) or (N, in), linear_weight (C, d1..., in), the target () or (N, d1...). options: a
    LinearCrossEntropyOptions that says how PyTorch splits the computation; the result does not depend on it.
    """
    op = "linear_cross_entropy"
    x, w = tensor_argument(op, input), tensor_argument(op, linear_weight)
    shape, rows = tuple(shape_of(x)), tuple(shape_of(w))
    if len(shape) not in (1, 2):
        raise RuntimeError(f"{op}: the input must have 1 or 2 dimensions, got {len(shape)}")
    if len(rows) < 2 or rows[-1] != shape[-1]:
        raise RuntimeError(f"{op}: the input {list(shape)} and linear_weight {list(rows)} must have one last dimension")
    if dtype_of(x) != dtype_of(w):
        raise RuntimeError(
            f"{op}: the input has dtype {FROM_NUMPY[dtype_of(x)]}, linear_weight {FROM_NUMPY[dtype_of(w)]}"
        )
    if len(rows) > 2:
        w = reshape(w, shape=(math.prod(rows[:-1]), rows[-1]))
    logits = matmul(x, transpose(w, axes=(1, 0)))
    if linear_bias is not None:
        logits = add(logits, reshape(linear_bias, shape=tuple(shape_of(w))[:1]))
    if len(rows) > 2:
        logits = reshape(logits, shape=(*shape[:-1], *rows[:-1]))
    return cross_entropy(logits, target, weight, None, -100 if ignore_index is None else ignore_index, None, reduction,
                         label_smoothing)  # fmt: skip


# ------------------------------------------------------------------------------------------ margins


def _rows(op: str, input: Any, target: Any) -> tuple[Any, Any]:
    """Predictions (C,) or (N, C) with int64 targets; raises RuntimeError where they do not go together."""
    x, y = tensor_argument(op, input), tensor_argument(op, target)
    floats_only(op, x)
    if dtype_of(y) != np.int64:
        raise RuntimeError(f"{op}: the target must have dtype int64, got {FROM_NUMPY[dtype_of(y)]}")
    if len(shape_of(x)) not in (0, 1, 2) or (shape_of(x) and shape_of(x)[-1] == 0):
        raise RuntimeError(f"{op}: the input must be of shape (C) or (N, C), got {list(shape_of(x))}")
    return x, y


def _class_rows(op: str, input: Any, target: Any, weight: Any) -> tuple[Any, ...]:
    x, y = _rows(op, input, target)
    shape = tuple(shape_of(x)) or (1,)
    if len(shape) == 1:  # one row, whose loss has the shape of its target
        shape = (1, *shape)
    given = tuple(shape_of(y))
    if given != shape[:-1] and not (given == () and shape[0] == 1):
        raise RuntimeError(f"{op}: the target of an input {list(shape)} is {list(shape[:-1])}, got {list(shape_of(y))}")
    if weight is not None:
        if len(shape_of(weight)) != 1:
            raise ValueError(f"{op}: the weights must be a vector, got shape {list(shape_of(weight))}")
        refused_weights(op, weight, shape[-1], dtype_of(x))
    return reshape(x, shape=shape[1:] if given == () else shape), y, weight


def _label_lists(op: str, input: Any, target: Any) -> tuple[Any, Any]:
    x, y = _rows(op, input, target)
    shape = tuple(shape_of(x)) or (1,)
    if shape != (tuple(shape_of(y)) or (1,)):
        raise RuntimeError(f"{op}: input {list(shape_of(x))} and target {list(shape_of(y))} must have one shape")
    if not shape_of(x) or not shape_of(y):
        x, y = reshape(x, shape=shape), reshape(y, shape=shape)
    return x, y


multi_margin_loss = loss(
    "multi_margin_loss", f"input, target, p=1, margin=1.0, weight=None, {ENDS}", formulas.MULTI_MARGIN, _class_rows,
    checks="p in {1, 2}",
)  # fmt: skip
multilabel_margin_loss = loss(
    "multilabel_margin_loss", f"input, target, {ENDS}", formulas.MULTILABEL_MARGIN, _label_lists
)

# ------------------------------------------------------------------------------------------ CTC


def _lengths(op: str, name: str, x: Any, n: int) -> np.ndarray:
    plain = np.asarray(concrete(op, x) if isinstance(x, Value) else x)
    if plain.dtype.kind not in "iu":
        raise RuntimeError(f"{op}: {name} must be integers")
    return lengths(op, name, plain, n, RuntimeError)


def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """The connectionist temporal classification loss of log-probabilities (T, N, C) or (T, C) and label sequences.

    targets: (N, S) with rows padded, or all labels behind one another. zero_infinity: elements without any alignment
    count as 0, with their gradients, instead of inf.
    """
    op = "ctc_loss"
    reduction = reduction_name(op, None, None, reduction)
    x = tensor_argument(op, log_probs)
    floats_only(op, x)
    single = len(shape_of(x)) == 2
    if single:
        x = reshape(x, shape=(shape_of(x)[0], 1, shape_of(x)[1]))
    if len(shape_of(x)) != 3:
        raise RuntimeError(f"{op}: log_probs must have 2 or 3 dimensions, got {len(shape_of(log_probs))}")
    duration, n, classes = shape_of(x)
    if not 0 <= blank < classes:
        raise RuntimeError(f"{op}: blank must be one of {classes} classes, got {blank}")
    frames, counts = (_lengths(op, name, v, n) for name, v in (
        ("input_lengths", input_lengths), ("target_lengths", target_lengths)))  # fmt: skip
    if (frames > duration).any():
        raise RuntimeError(f"{op}: input_lengths must not exceed the {duration} frames, got {int(frames.max())}")
    losses = formulas.ctc(x, _label_rows(op, targets, counts, n), frames, counts, blank=blank, reduction=reduction,
                          zero_infinity=zero_infinity, drops=True, error=IndexError)  # fmt: skip
    return reshape(losses, shape=()) if single and reduction == "none" else losses


def _label_rows(op: str, targets: Any, counts: np.ndarray, n: int) -> np.ndarray:
    """Targets as rows of equal length."""
    labels = concrete(op, tensor_argument(op, targets))
    if labels.dtype.kind not in "iu":
        raise RuntimeError(f"{op}: targets must be integers, got {FROM_NUMPY[labels.dtype]}")
    longest = int(counts.max(initial=0))
    rows = np.zeros((n, longest), np.int64)
    if labels.ndim == 1:
        if len(labels) != counts.sum():
            raise RuntimeError(
                f"{op}: target_lengths add up to {int(counts.sum())}, but there are {len(labels)} targets"
            )
        rows[np.arange(longest) < counts[:, None]] = labels
    elif labels.shape[0] != n or labels.shape[1] < longest:
        raise RuntimeError(f"{op}: targets must be at least [{n}, {longest}], got {list(labels.shape)}")
    else:
        rows[:] = labels[:, :longest]
    return rows


# ------------------------------------------------------------------------------------------ torch's own forms

_BY_NUMBER = {1: "mean", 2: "sum"}


_OLD = ("size_average", "reduce", "reduction")


def _numbered(f: Any, *last: str) -> Any:
    """The form of a loss in `torch`, whose reduction is a number: 1 mean, 2 sum, 0 (the default) and any other none; it takes
    the reduction behind all others but `last`."""
    taken = [n for n in f.__code__.co_varnames[: f.__code__.co_argcount] if n not in (*_OLD, *last)]
    order = [*taken, "reduction", *(n for n in last if n != "log_target")]

    def function(*args: Any, **kwargs: Any) -> Any:
        given = {"reduction": 0, **dict(zip(order, args)), **kwargs}
        if len(args) > len(order):
            raise TypeError(f"{f.__name__}: takes {len(order)} arguments, got {len(args)}")
        reduction = given.pop("reduction")
        if not isinstance(reduction, int) or isinstance(reduction, bool):
            raise TypeError(f"{f.__name__}: reduction must be an int, got {type(reduction).__name__}")
        return f(**given, reduction=_BY_NUMBER.get(reduction, "none"))

    return defined(f.__name__, function, f.__doc__)


for _f in (
    L.cosine_embedding_loss, L.margin_ranking_loss, L.hinge_embedding_loss, L.triplet_margin_loss, L.poisson_nll_loss,
    L.binary_cross_entropy_with_logits,
):  # fmt: skip
    FUNCTIONS[_f.__name__] = _numbered(_f)
FUNCTIONS.update(kl_div=_numbered(L.kl_div, "log_target"), ctc_loss=_numbered(ctc_loss, "zero_infinity"))
