"""Dropout in all forms. Masks are drawn from the dialect's stream, so seeded programs drop what PyTorch drops."""

from __future__ import annotations

import functools
import warnings
from typing import Any

from .....core.value import dtype_of, shape_of
from .....learn.layers import dropout as layers
from .....ops import dropout as dr
from .....tape import inplace as _inplace
from ..._api import FUNCTIONS, api
from ..._creation import ones_like
from ..._dtype import FROM_NUMPY, bool_
from ..._elementwise import tensor_argument
from ..._graph_nodes import NAMES, show_as
from ..._tensor import Tensor
from ...random import _drawn_like, drawn, stream_of
from ._sizes import squeezed, unsqueezed

NAMES.update(dropout="MulBackward0")


def _check_rate(op: str, p: Any, error: type[Exception] = ValueError) -> float:
    p = float(p)
    if p != p:
        raise RuntimeError(f"{op}: the rate p must lie in [0, 1], got {p}")
    if not 0.0 <= p <= 1.0:
        raise error(f"{op}: the rate p must lie in [0, 1], got {p}")
    return p


def _kept(op: str, x: Any, p: float, features: bool) -> Any:
    """Which elements, or which channels (axes 0 and 1), are kept: booleans that broadcast against `x`.

    Raises RuntimeError for integers, NotImplementedError for complex numbers.
    """
    d = FROM_NUMPY[dtype_of(x)]
    if d.category != 2:
        raise (NotImplementedError if d.category > 2 else RuntimeError)(f"{op}: wanted floating elements, got {d}")
    stream = stream_of(op, None)
    if not features:
        return _drawn_like(op, x, lambda shape, _: stream.dropout_keep(shape, p), False)
    shape = tuple(shape_of(x))
    if len(shape) < 2:
        raise RuntimeError(f"{op}: channels are dropped along dimension 1, which a tensor of shape {shape} has not")
    return drawn(op, (*shape[:2], *(1,) * (len(shape) - 2)), lambda s: stream.dropout_keep(s, p), device=x.device)


def _drop(
    op: str, x: Any, p: float, training: bool, inplace: bool, features: bool = False, rule: Any = layers.dropped
) -> Any:
    if not training or p == 0.0 or 0 in shape_of(x):
        return x
    keep = _kept(op, x, p, features)

    def compute() -> Any:
        return rule(x, keep, p)

    return _inplace.update(op, x, compute) if inplace else compute()


_alpha_drop = functools.partial(_drop, rule=layers.alpha_dropped)


def dropout(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Each element 0 with probability p, else divided by 1 - p."""
    if not training and isinstance(input, Tensor) and type(p) is float and 0.0 <= p <= 1.0:
        return input
    return _drop("dropout", tensor_argument("dropout", input), _check_rate("dropout", p), training, inplace)


def alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """Dropout that keeps mean and deviation for SELU (Klambauer et al., 2017)."""
    x = tensor_argument("alpha_dropout", input)
    return _alpha_drop("alpha_dropout", x, _check_rate("alpha_dropout", p), training, inplace)


def feature_alpha_dropout(input: Any, p: float = 0.5, training: bool = False, inplace: bool = False) -> Any:
    """alpha_dropout of whole channels."""
    x = tensor_argument("feature_alpha_dropout", input)
    return _alpha_drop("feature_alpha_dropout", x, _check_rate("feature_alpha_dropout", p), training, inplace, True)


def _feature_dropout(op: str, input: Any, p: float, training: bool, inplace: bool, batched: bool) -> Any:
    p = _check_rate(op, p)
    if batched:
        return _drop(op, input, p, training, inplace, True)
    if inplace:
        _drop(op, unsqueezed(input, 0), p, training, True, True)
        return input
    return squeezed(_drop(op, unsqueezed(input, 0), p, training, False, True), 0)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    rank = len(shape_of(tensor_argument("dropout1d", input)))
    if rank not in (2, 3):
        raise RuntimeError(f"dropout1d: wanted 2 or 3 dimensions, got {rank}")
    return _feature_dropout("dropout1d", input, p, training, inplace, rank == 3)


def dropout2d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, H, W); three dimensions count as (N, C, L)."""
    rank = len(shape_of(tensor_argument("dropout2d", input)))
    if rank not in (3, 4):
        warnings.warn(
            f"dropout2d: wanted 3 or 4 dimensions, got {rank}; channels are those of dimension 1", stacklevel=2
        )
    if rank == 3:
        warnings.warn(
            "dropout2d: three dimensions are taken as (batch, channels, length); add a batch dimension for one image",
            stacklevel=2,
        )
    return _feature_dropout("dropout2d", input, p, training, inplace, True)


def dropout3d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, D, H, W) or (C, D, H, W)."""
    rank = len(shape_of(tensor_argument("dropout3d", input)))
    if rank not in (4, 5):
        warnings.warn(
            f"dropout3d: wanted 4 or 5 dimensions, got {rank}; channels are those of dimension 1", stacklevel=2
        )
    return _feature_dropout("dropout3d", input, p, training, inplace, rank == 5)


def _function(name: str, drop: Any, features: bool) -> None:
    """Register `torch.NAME(input, p, train)` and the form that overwrites its input."""

    def function(input: Any, p: float, train: bool) -> Any:
        return drop(name, tensor_argument(name, input), _check_rate(name, p, RuntimeError), train, False, features)

    def overwriting(input: Any, p: float, train: bool) -> Any:
        return drop(name + "_", tensor_argument(name, input), _check_rate(name, p, RuntimeError), train, True, features)

    function.__name__ = function.__qualname__ = name
    overwriting.__name__ = overwriting.__qualname__ = name + "_"
    function.__doc__ = f"As `nn.functional.{name}`."
    overwriting.__doc__ = f"As `nn.functional.{name}`, written into the input."
    FUNCTIONS[name], FUNCTIONS[name + "_"] = function, overwriting


_function("dropout", _drop, False)
_function("feature_dropout", _drop, True)
_function("alpha_dropout", _alpha_drop, False)
_function("feature_alpha_dropout", _alpha_drop, True)


@api(method=False)
def native_dropout(input: Any, p: float, train: bool | None) -> Any:
    """Dropout and its mask."""
    x = tensor_argument("native_dropout", input)
    p = _check_rate("native_dropout", p, RuntimeError)
    if train is False or 0 in shape_of(x):
        return dr.dropout(x, ones_like(x, dtype=bool_), scale=1.0), ones_like(x, dtype=bool_)
    keep = _kept("native_dropout", x, p, False)
    return show_as(layers.dropped(x, keep, p), "NativeDropoutBackward0"), keep
