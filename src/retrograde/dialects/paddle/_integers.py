"""Integers computed from tensors that want a gradient: as in PaddlePaddle, some of them say that they do too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.bind import record
from ...core.level import mode_at
from ...core.primitive import PRIMITIVES


def carry(whole: Any, source: Any) -> Any:
    """The integers `whole`, one for each element of `source`, as what depends on it, with a derivative of 0."""
    if source._node is not None and type(whole._a) is np.ndarray and not source._level and mode_at(0):
        whole._node = record(PRIMITIVES["trunc"], {}, (source._node,), (source._a,), source._a)
    return whole
