"""What a call that fails has changed is put back: elements of tensors, gradients, states of generators, numbers."""

from __future__ import annotations

from collections.abc import Iterable
from types import TracebackType
from typing import Any

import numpy as np

from ...core.value import Value
from ...tape import mutation
from .reads import Snapshot

_ndarray = np.ndarray


class Undone:
    """Context manager: when an exception leaves it, holders have the arrays and elements, history and gradients that they had,
    and what a snapshot was made of is as it was then."""

    def __init__(self, holders: Iterable[Any], before: Snapshot) -> None:
        self._before = before
        self._holders = list({id(x): x for x in holders}.values())

    def __enter__(self) -> None:
        self._arrays = [(x, x._a, x._a.copy() if type(x._a) is _ndarray else None) for x in self._holders]
        self._histories = [(x, x._node, x._grad) for x in self._holders if isinstance(x, Value)]

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        if kind is None:
            return
        self._before.restore()
        for x, array, elements in self._arrays:
            x._a = array
            if elements is not None and array.tobytes() != elements.tobytes():
                mutation.write(array, elements)
        for x, node, gradient in self._histories:
            if x._node is not node:
                x._node = node
            if gradient is None:
                x.__dict__.pop("_grad", None)
            elif x._grad is not gradient:
                x._grad = gradient
