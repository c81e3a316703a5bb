"""The LKJ distribution of Cholesky factors of correlation matrices (Lewandowski, Kurowicka and Joe 2009)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import Value, dtype_of, shape_of
from ....learn.distributions import continuous as families
from ..._shared.checks import check
from .._tensor import from_array
from ..random import default_generator
from ._rows import F
from .distribution import Distribution, Shape, arguments


class LKJCholesky(Distribution):
    """Lower Cholesky factors of correlation matrices of `dim` variables, of density proportional to
    det^(concentration - 1): with concentration 1 all matrices are as likely.

    sample_method: "onion" (row by row a radius and a direction) or "cvine" (partial correlations).

    Raises TypeError for arguments of the wrong type, ValueError for values outside their range.
    """

    def __init__(self, dim: int = 2, concentration: Any = 1.0, sample_method: str = "onion") -> None:
        if not isinstance(dim, int) or not isinstance(concentration, (float, Value)):
            raise TypeError(
                "LKJCholesky: dim must be an int and concentration a float or a Tensor, got "
                f"{type(dim).__name__} and {type(concentration).__name__}"
            )
        check("LKJCholesky", "dim >= 2; sample_method in {onion, cvine}", locals())
        self.dim, self.sample_method = dim, sample_method
        (self.concentration,) = arguments("LKJCholesky", concentration)
        if not (self._plain() > 0).all():
            raise ValueError("LKJCholesky: concentration must be positive")
        super().__init__(shape_of(self.concentration), (dim, dim))

    def _plain(self) -> np.ndarray:
        return np.asarray(self.concentration.numpy(), float)

    def _draw(self, shape: Shape) -> Any:
        concentration = np.broadcast_to(self._plain(), (*shape, *self.batch_shape))
        drawn = (self._onion if self.sample_method == "onion" else self._cvine)(concentration)
        return from_array(drawn.astype(dtype_of(self.concentration)))

    def _onion(self, concentration: np.ndarray) -> np.ndarray:
        draw, d = default_generator.draw, self.dim
        out = np.zeros((*concentration.shape, d, d))
        out[..., 0, 0] = 1.0
        for i in range(1, d):
            radius = draw.beta(i / 2, concentration + (d - 1 - i) / 2)
            direction = draw.standard_normal((*concentration.shape, i))
            direction /= np.linalg.norm(direction, axis=-1, keepdims=True)
            out[..., i, :i] = np.sqrt(radius)[..., None] * direction
            out[..., i, i] = np.sqrt(1.0 - radius)
        return out

    def _cvine(self, concentration: np.ndarray) -> np.ndarray:
        draw, d = default_generator.draw, self.dim
        out = np.zeros((*concentration.shape, d, d))
        out[..., 0, 0] = 1.0
        for i in range(1, d):
            left = np.ones(concentration.shape)  # what the squares of the row so far leave of 1
            for j in range(i):
                shape = concentration + (d - 2 - j) / 2
                partial = 2.0 * draw.beta(shape, shape) - 1.0
                out[..., i, j] = partial * np.sqrt(left)
                left *= 1.0 - partial**2
            out[..., i, i] = np.sqrt(left)
        return out

    def log_prob(self, value: Any) -> Any:
        """The logarithm of the density at Cholesky factors."""
        return families.LKJCholesky.log_prob(F, value, self.dim, self.concentration)
