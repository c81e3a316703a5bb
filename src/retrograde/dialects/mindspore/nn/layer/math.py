"""Cells over functions of `ops`: products, determinants, logarithms of gamma functions, moments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ... import _arithmetic, _binary, _creation, _diagonals, _linalg, _reductions, _unary
from ..._dtype import int32
from .._row import layer
from ..cell import Cell


def _over(name: str, doc: str, function: Callable[..., Any], *options: Any) -> Any:
    """A cell over a function of `ops`, with these options behind its inputs."""
    return layer(name, "", lambda self, *inputs: function(*inputs, *options), doc)


DiGamma = _over("DiGamma", "The derivative of the logarithm of the gamma function.", _unary.digamma)
LGamma = _over("LGamma", "The logarithm of the absolute value of the gamma function.", _unary.lgamma)
IGamma = _over("IGamma", "The regularised lower incomplete gamma function.", _binary.igamma)
MatDet = _over("MatDet", "The determinants of matrices.", _linalg.det)
MatInverse = _over("MatInverse", "The inverses of matrices.", _linalg.inverse)
MatrixDiag = _over("MatrixDiag", "Matrices with these diagonals, and zeros elsewhere.", _diagonals.matrix_diag)
MatrixDiagPart = _over("MatrixDiagPart", "The diagonals of matrices.", _diagonals.matrix_diag_part, 0, 0)
MatrixSetDiag = _over("MatrixSetDiag", "Matrices with other diagonals.", _diagonals.matrix_set_diag)
ReduceLogSumExp = layer(
    "ReduceLogSumExp", "axis: Any, keep_dims: bool = False",
    lambda self, x: _reductions.logsumexp(x, self.axis, self.keep_dims),
    "The logarithm of the sum of the exponentials over axes.",
)  # fmt: skip


class LBeta(Cell):
    """The logarithm of the beta function."""

    def __init__(self) -> None:
        super().__init__()
        self.lgamma = LGamma()

    def construct(self, x: Any, y: Any) -> Any:
        log_gamma = self.lgamma
        return log_gamma(x) + log_gamma(y) - log_gamma(x + y)


class MatMul(Cell):
    """The product of two matrices, of which either may be transposed."""

    def __init__(self, transpose_x1: bool = False, transpose_x2: bool = False) -> None:
        super().__init__()
        self.transpose_x1, self.transpose_x2 = transpose_x1, transpose_x2

    def construct(self, x1: Any, x2: Any) -> Any:
        x1 = x1.swapaxes(-1, -2) if self.transpose_x1 else x1
        x2 = x2.swapaxes(-1, -2) if self.transpose_x2 else x2
        return _arithmetic.matmul(x1, x2)


class Range(Cell):
    """The numbers from `start` (0, if one bound is given) up to `limit` in steps of `delta`."""

    def __init__(self, start: Any, limit: Any = None, delta: Any = 1) -> None:
        super().__init__()
        if delta == 0:
            raise ValueError("Range: delta must not be 0")
        first, last = (0, start) if limit is None else (start, limit)
        whole = all(isinstance(n, int) for n in (first, last, delta))
        self.values = _creation.arange(first, last, delta, dtype=int32 if whole else None)

    def construct(self) -> Any:
        return self.values


class Moments(Cell):
    """The mean and the variance over axes."""

    def __init__(self, axis: Any = None, keep_dims: bool | None = None) -> None:
        super().__init__()
        self.axis, self.keep_dims = axis, bool(keep_dims)

    def construct(self, x: Any) -> tuple[Any, Any]:
        mean = x.mean(self.axis, True)
        variance = ((x - mean) ** 2).mean(self.axis, True)
        if self.keep_dims:
            return mean, variance
        return x.mean(self.axis), ((x - mean) ** 2).mean(self.axis)
