"""Norms of gradients, and keeping them within bounds."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np

from .....core.unwrap import unrecorded
from .....learn import clipping
from ..._grad_modes import no_grad
from ..._tensor import Tensor, from_array


def _with_grads(parameters: Any) -> list[Tensor]:
    given = [parameters] if isinstance(parameters, Tensor) else parameters
    return [_elements(grad) for p in given if (grad := p.grad) is not None]


def _elements(grad: Any) -> Tensor:
    """The elements of a gradient in its memory; those that a sparse one has, equal places added first."""
    return grad.become(grad.coalesce())._values() if grad.is_sparse else grad  # type: ignore[no-any-return]


@no_grad()
def get_total_norm(
    tensors: Iterable[Tensor], norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Tensor:
    """The norm of all elements of several tensors together: the norm of the tensors' norms.

    Raises RuntimeError for a norm that is not finite, if asked to.
    """
    given = [tensors] if isinstance(tensors, Tensor) else list(tensors)
    parts = [x.coalesce()._values() if x.is_sparse else x for x in given]
    if not parts:
        return from_array(np.zeros((), np.float32))
    arrays = unrecorded(parts)
    if arrays is None:
        total = clipping.total_norm(parts, norm_type)
    else:
        total = from_array(clipping.total_norm(arrays, norm_type))
    if error_if_nonfinite and not math.isfinite(total.item()):
        raise RuntimeError(
            f"the norm of order {norm_type} of the gradients is {total.item()}; pass error_if_nonfinite=False to go on"
        )
    return total


def clip_grads_with_norm_(
    parameters: Any, max_norm: float, total_norm: Tensor, foreach: bool | None = None
) -> None:
    """Scale the gradients in place by max_norm / (total_norm + 1e-6) where that is below 1."""
    clipping.clip_total_(_with_grads(parameters), total_norm, max_norm, 1e-6)


def clip_grad_norm_(
    parameters: Any, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False,
    foreach: bool | None = None,
) -> Tensor:  # fmt: skip
    """Scale the gradients of the parameters in place so that their common norm is at most `max_norm`; returns the norm
    before."""
    grads = _with_grads(parameters)
    total = get_total_norm(grads, norm_type, error_if_nonfinite)
    clipping.clip_total_(grads, total, max_norm, 1e-6)
    return total


def clip_grad_value_(parameters: Any, clip_value: float, foreach: bool | None = None) -> None:
    """Clip the elements of the gradients in place to [-clip_value, clip_value]."""
    bound = float(clip_value)
    for g in _with_grads(parameters):
        clipping.clip_(g, -bound, bound)


def clip_grad_norm(parameters: Any, max_norm: float, norm_type: float = 2.0) -> Tensor:
    """The old name of `clip_grad_norm_`."""
    return clip_grad_norm_(parameters, max_norm, norm_type)


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All elements of the parameters one after another."""
    from ... import cat

    return cat([p.reshape(-1) for p in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Put the elements of a vector into the parameters, one after another."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"vector_to_parameters: wanted a tensor, got {type(vec).__name__}")
    start = 0
    for p in parameters:
        count = p.numel()
        p.data = vec[start : start + count].view_as(p).data
        start += count


__all__ = [
    "clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm",
    "parameters_to_vector", "vector_to_parameters",
]  # fmt: skip
