"""Covariances of several variables, on values of any dialect: the native namespace's, and what the dialects' are made of."""

from __future__ import annotations

from typing import Any

from ..core.value import ndim_of, shape_of
from ..ops.contraction import matmul, matrix_transpose
from ..ops.elementwise import sqrt
from ..ops.reduction import mean
from ..ops.reduction import sum as sum_of
from ..ops.structural import conj, real, reshape
from ..ops.triangular import diagonal


def covariance(x: Any, weights: Any = None, importance: Any = None, correction: float = 1) -> tuple[Any, Any]:
    """The sums of products of the deviations of variables in rows, whose columns are observations, and what divides them.

    weights: what each observation counts; importance: the part of it that is no number of repetitions, None where all is.
    correction: how many degrees of freedom the mean takes.
    """
    if weights is None:
        deviations = x - mean(x, axis=(1,), keepdims=True)
        return matmul(deviations, conj(matrix_transpose(deviations))), shape_of(x)[1] - correction
    total = sum_of(weights, axis=(0,), keepdims=False)
    deviations = x - sum_of(x * weights, axis=(1,), keepdims=True) / total
    lost = 1 if importance is None else sum_of(weights * importance, axis=(0,), keepdims=False) / total
    return matmul(deviations, conj(matrix_transpose(deviations * weights))), total - lost * correction


def correlations(c: Any) -> Any:
    """The coefficients of correlation of variables with these covariances (a matrix, or a number for one variable)."""
    if not ndim_of(c):
        return c / c
    spread = sqrt(real(diagonal(c, offset=0, axis1=0, axis2=1)))
    return c / reshape(spread, shape=(-1, 1)) / reshape(spread, shape=(1, -1))
