"""Running statistics as operations: an average that moves towards a batch's, and the variance that a batch was divided by."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..backend.dtypes import astype
from ..core.aval import Aval
from .kernels import scalar
from .rules import elementwise
from .samples import sample, uniform


def _moved_kernel(xp: Any, running: Any, fresh: Any, *, share: float) -> Any:
    moved = running * scalar(1 - share, running) + fresh * scalar(share, fresh)
    return astype(xp, moved, running.dtype)


def _moved_numpy(running: Any, fresh: Any, *, share: float) -> Any:
    moved = running * running.dtype.type(1 - share) + fresh * fresh.dtype.type(share)
    return moved if moved.dtype is running.dtype else moved.astype(running.dtype)


def _infer_moved(avals: Sequence[Aval], params: dict[str, Any]) -> Aval:
    return Aval(np.broadcast_shapes(*(a.shape for a in avals)), avals[0].dtype)


# (1 - share) * running + share * fresh, in the dtype of `running`.
moved_towards = elementwise(
    "moved_towards", kernel=_moved_kernel, numpy=_moved_numpy, infer=_infer_moved,
    partials=[lambda _r, _f, _out, *, share: 1 - share, lambda _r, _f, _out, *, share: share],
    samples=lambda: [sample(uniform(-1, 1, 3), uniform(0.5, 2, 3), share=0.1),
                     sample(uniform(-1, 1, 2, 2), uniform(0.5, 2, 2, 2), share=1.0)],
)  # fmt: skip


def _variance_kernel(xp: Any, scale: Any, *, eps: float, factor: float) -> Any:
    return (scalar(1, scale) / (scale * scale) - scalar(eps, scale)) * scalar(factor, scale)


def _variance_numpy(scale: Any, *, eps: float, factor: float) -> Any:
    number = scale.dtype.type
    return (1 / (scale * scale) - number(eps)) * number(factor)


# The variance, times `factor`, whose root (with eps below it) is one over `scale`.
variance_of_scale = elementwise(
    "variance_of_scale", kernel=_variance_kernel, numpy=_variance_numpy,
    partials=[lambda scale, _out, *, eps, factor: -2 * factor / (scale * scale * scale)],
    samples=lambda: [sample(uniform(0.5, 2, 3), eps=1e-5, factor=1.5), sample(uniform(0.5, 2, 2, 2), eps=0.1, factor=1.0)],
)  # fmt: skip
