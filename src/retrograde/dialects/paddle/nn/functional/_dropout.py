"""Dropout of elements and of channels, and of what goes into SELU."""

from __future__ import annotations

from typing import Any

from .....core.value import Value, ndim_of, shape_of
from .....learn.layers.dropout import alpha_dropped
from .....ops import dropout as dr
from .....ops import elementwise as ew
from .....tape import inplace as _inplace
from ...random import bernoulli_array
from ._arguments import constant, floating, tensor_argument


def _rate(op: str, p: Any) -> float:
    if isinstance(p, Value):
        p = p.item()
    if not isinstance(p, (int, float)):
        raise TypeError(f"{op}: p must be a number or a tensor of one, got {type(p).__name__}")
    if not 0 <= p <= 1:
        raise ValueError(f"{op}: p must be between 0 and 1, got {p}")
    return float(p)


def dropout(
    x: Any = None, p: Any = 0.5, axis: Any = None, training: bool = True, mode: str = "upscale_in_train",
    inplace: bool = False, name: str | None = None, *, input: Any = None,
) -> Any:  # fmt: skip
    """Each element 0 with probability p in training; with `axis` whole slices, which differ along these axes only.

    mode "upscale_in_train" divides what is kept by 1 - p; "downscale_in_infer" multiplies with 1 - p in evaluation.
    """
    op = "dropout"
    x = floating(op, input if x is None else x)
    if isinstance(axis, bool) and isinstance(mode, bool):  # dropout(x, p, training, inplace), as other frameworks
        axis, training, inplace, mode = None, axis, training, "upscale_in_train"
    p = _rate(op, p)
    if mode not in ("upscale_in_train", "downscale_in_infer", "downgrade_in_infer"):
        raise ValueError(f"{op}: mode must be 'upscale_in_train' or 'downscale_in_infer', got {mode!r}")
    shape = tuple(shape_of(x))
    if axis is not None:
        axes = (axis,) if isinstance(axis, int) else tuple(axis)
        if any(not 0 <= a < len(shape) for a in axes):
            raise ValueError(f"{op}: axis must be in [0, {len(shape) - 1}], got {axis}")
        shape = tuple(n if i in axes else 1 for i, n in enumerate(shape))
    upscale = mode == "upscale_in_train"
    if not training:
        return x if upscale or p == 0.0 else ew.multiply(x, constant(1.0 - p, x))
    if p == 0.0:
        return x
    scale = 0.0 if p == 1.0 else 1.0 / (1.0 - p) if upscale else 1.0
    keep = bernoulli_array(shape, 1.0 - p)
    if inplace:
        return _inplace.update(op, x, lambda: dr.dropout(x, keep, scale=scale))
    return dr.dropout(x, keep, scale=scale)


def _of_channels(op: str, x: Any, p: Any, training: bool, last: bool, ndims: tuple[int, ...]) -> Any:
    tensor_argument(op, x)
    if ndim_of(x) not in ndims:
        raise ValueError(f"{op}: wanted {ndims[-1]} dimensions, got shape {list(shape_of(x))}")
    axis = [0, ndim_of(x) - 1] if last else [0, 1]
    return dropout(x, p, axis, training)


def dropout1d(input: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:
    """Dropout of whole channels of (N, C, L) or (C, L)."""
    x = tensor_argument("dropout1d", input, "input")
    if ndim_of(x) == 2:
        return dropout(x, p, [0], training)
    return _of_channels("dropout1d", x, p, training, False, (3,))


def dropout2d(x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCHW", name: str | None = None) -> Any:
    """Dropout of whole channels of (N, C, H, W)."""
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError(f"dropout2d: data_format must be 'NCHW' or 'NHWC', got {data_format!r}")
    return _of_channels("dropout2d", x, p, training, data_format == "NHWC", (4,))


def dropout3d(
    x: Any, p: float = 0.5, training: bool = True, data_format: str = "NCDHW", name: str | None = None
) -> Any:
    """Dropout of whole channels of (N, C, D, H, W)."""
    if data_format not in ("NCDHW", "NDHWC"):
        raise ValueError(f"dropout3d: data_format must be 'NCDHW' or 'NDHWC', got {data_format!r}")
    return _of_channels("dropout3d", x, p, training, data_format == "NDHWC", (5,))


def _alpha_dropout(op: str, x: Any, p: Any, training: bool, shape: tuple[int, ...]) -> Any:
    p = _rate(op, p)
    if not training or p == 0:
        return x
    return alpha_dropped(x, bernoulli_array(shape, 1.0 - p), p)


def alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """Dropout that keeps mean and deviation for SELU (Klambauer et al., 2017)."""
    x = floating("alpha_dropout", x)
    return _alpha_dropout("alpha_dropout", x, p, training, tuple(shape_of(x)))


def feature_alpha_dropout(x: Any, p: float = 0.5, training: bool = True, name: str | None = None) -> Any:
    """alpha_dropout of whole channels."""
    x = floating("feature_alpha_dropout", x)
    shape = tuple(shape_of(x))
    if len(shape) < 2:
        raise ValueError(f"feature_alpha_dropout: wanted 2 dimensions or more, got shape {list(shape)}")
    return _alpha_dropout("feature_alpha_dropout", x, p, training, (*shape[:2], *(1,) * (len(shape) - 2)))
