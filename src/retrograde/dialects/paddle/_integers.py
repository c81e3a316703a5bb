"""Integers computed from tensors that want a gradient: as in PaddlePaddle, some of them say that they do too."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.bind import record
from ...core.level import mode_at
from ...core.primitive import PRIMITIVES
from ...core.value import dtype_of


def carry(whole: Any, source: Any) -> Any:
    """The integers `whole`, one for each element of `source`, as what depends on it, with a derivative of 0."""
    if source._node is not None and type(whole._a) is np.ndarray and not source._level and mode_at(0):
        whole._node = record(PRIMITIVES["trunc"], {}, (source._node,), (source._a,), source._a)
    return whole


def straight(whole: Any, source: Any) -> Any:
    """The integers or booleans `whole` that `source` was cast to: gradients pass, as through any other cast in
    PaddlePaddle, and are of that dtype on their way."""
    if source._node is not None and type(whole._a) is np.ndarray and not source._level and mode_at(0):
        dtype = dtype_of(whole)
        node = record(PRIMITIVES["cast"], {"dtype": dtype}, (source._node,), (source._a,), source._a)
        if node is not None:
            node.dtype, whole._node = dtype, node
    return whole
