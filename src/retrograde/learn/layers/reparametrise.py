"""Weights made of others: magnitude and direction (weight norm), and division by the largest singular value."""

from __future__ import annotations

import math
from typing import Any

from ..._state import grad_mode
from ...core.value import ndim_of, shape_of
from ...ops.contraction import matmul, matrix_transpose
from ...ops.elementwise import divide, multiply
from ...ops.norms import vector_norm
from ...ops.selection import clip
from ...ops.structural import conj, copy, reshape, transpose
from ...tape import inplace


def norm_without(v: Any, axis: int | None, power: float = 2) -> Any:
    """The norm over all axes but one, which are kept with length 1; over all axes where `axis` is None."""
    others = tuple(a for a in range(ndim_of(v)) if a != axis)
    return vector_norm(v, ord=float(power), axis=others, keepdims=axis is not None)


def weight_norm(v: Any, g: Any, axis: int | None) -> Any:
    """g v / |v|, the norm taken over all axes but one (Salimans and Kingma 2016)."""
    return multiply(v, divide(g, norm_without(v, axis)))


def as_matrix(weight: Any, axis: int) -> Any:
    """A weight with one axis in front and the others as one."""
    rank = ndim_of(weight)
    if axis:
        weight = transpose(weight, axes=(axis, *(a for a in range(rank) if a != axis)))
    shape = shape_of(weight)
    return reshape(weight, shape=(shape[0], math.prod(shape[1:])))


def unit(x: Any, eps: float) -> Any:
    """A vector divided by its length, or by eps if that is more."""
    return divide(x, clip(vector_norm(x, ord=2.0, axis=(0,), keepdims=True), low=eps, high=None))


def power_iterations(matrix: Any, u: Any, v: Any, times: int, eps: float, left_first: bool = True) -> None:
    """Move the vectors u and v, in place and unrecorded, towards the first singular pair of a matrix (u v)."""

    def left() -> None:
        inplace.update("power iteration", u, lambda: unit(matmul(matrix, v), eps))

    def right() -> None:
        inplace.update("power iteration", v, lambda: unit(matmul(conj(matrix_transpose(matrix)), u), eps))

    with grad_mode(False):
        for _ in range(times):
            for move in (left, right) if left_first else (right, left):
                move()


def spectral_norm(weight: Any, matrix: Any, u: Any, v: Any) -> Any:
    """The weight over uᴴ matrix v, its largest singular value (Miyato et al. 2018); u and v are taken as constants."""
    u, v = copy(u), copy(v)
    return divide(weight, matmul(conj(u), matmul(matrix, v)))
