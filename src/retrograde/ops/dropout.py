"""Elements kept or dropped by a mask that is drawn elsewhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..backend.dtypes import astype
from ..core.aval import Aval
from .kernels import scalar
from .rules import batch_elementwise, linear
from .samples import normal, sample


def _dropout_kernel(xp: Any, x: Any, keep: Any, *, scale: float) -> Any:
    return x * (astype(xp, keep, x.dtype) * scalar(scale, x))


def _dropout_numpy(x: Any, keep: Any, *, scale: float) -> Any:
    factor = keep.astype(x.dtype)
    factor = np.multiply(factor, scalar(scale, x), out=factor) if factor.ndim else factor * scalar(scale, x)
    return np.multiply(factor, x, out=factor) if factor.shape == x.shape and factor.ndim else x * factor


# x times `scale` where the mask keeps it, times 0 elsewhere: a product, as the frameworks compute it (inf gives nan).
dropout = linear(
    "dropout", kernel=_dropout_kernel, numpy=_dropout_numpy, others=1,
    transpose=lambda g, _x, keep, *, scale: dropout(g, keep, scale=scale),
    batch=batch_elementwise, infer=lambda avals, p: Aval(np.broadcast_shapes(*(a.shape for a in avals)), avals[0].dtype),
    samples=lambda: [sample(normal(3), np.array([True, False, True]), scale=2.0),
                     sample(normal(2, 3), np.array([[True], [False]]), scale=1.25)],
)  # fmt: skip
