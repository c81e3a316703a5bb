"""Filling of expanded tensors, whose elements share places in memory: the changes in place that PyTorch allows there.

What is written into one element, all see that share its place. So the change is one of a view with one element for
each place (`inplace.places`), which is filled where any of the elements is to be.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.value import Value, dtype_of, shape_of
from ...tape import inplace, mutation
from ._api import FUNCTIONS, METHODS, in_place
from ._gather import masked_fill
from ._tensor import beside

_ndarray = np.ndarray


def _for_expanded(name: str, expanded: Callable[..., None]) -> None:
    """Let the method `name` change expanded tensors by `expanded(tensor, *args)`."""
    ordinary = METHODS[name]

    @functools.wraps(ordinary)
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        array = getattr(self, "_a", None)
        if type(array) is _ndarray and 0 in array.strides and mutation.overlapping(array):
            expanded(self, *args, **kwargs)
            return self
        return ordinary(self, *args, **kwargs)

    METHODS[name] = method
    if FUNCTIONS.get(name) is ordinary:
        FUNCTIONS[name] = method


def _unwritten(x: Any) -> Any:
    return beside(np.zeros(tuple(shape_of(x)), bool), x)


MASKS: dict[str, Callable[..., tuple[Any, Any]]] = {
    "masked_fill_": lambda x, mask, value: (mask, value),
    "index_fill_": lambda x, dim, index, value: (_unwritten(x).index_fill(dim, index, True), value),
    "fill_diagonal_": lambda x, fill_value, wrap=False: (_unwritten(x).fill_diagonal_(True, wrap), fill_value),
    "tril_": lambda x, diagonal=0: (~(~_unwritten(x)).tril(diagonal), 0),
    "triu_": lambda x, diagonal=0: (~(~_unwritten(x)).triu(diagonal), 0),
}
"""Where a method writes, and what."""


def _filling(name: str, mask_and_value: Callable[..., tuple[Any, Any]]) -> None:
    ordinary = in_place(masked_fill)

    def expanded(self: Any, *args: Any, **kwargs: Any) -> None:
        mask, value = mask_and_value(self, *args, **kwargs)
        part, axes = inplace.places(name, self, value)
        if isinstance(mask, Value) and dtype_of(mask).kind == "b":  # what is no mask the method refuses
            mask = mask.expand(tuple(shape_of(self))).any(dim=axes, keepdim=True)
        ordinary(part, mask, value)

    _for_expanded(name, expanded)


for _name, _mask_and_value in MASKS.items():
    _filling(_name, _mask_and_value)


def _fill(self: Any, value: Any) -> None:
    if isinstance(value, Value):
        inplace.check("fill_", self)  # PyTorch takes a tensor's value by a copy, which it refuses
    inplace.places("fill_", self)[0].fill_(value)


def _without_effect(name: str, kinds: str) -> None:
    """Let a method be called on expanded tensors of those dtypes of which it changes no element."""
    ordinary = METHODS[name]

    def expanded(self: Any, *args: Any, **kwargs: Any) -> None:
        ordinary(inplace.places(name, self)[0] if dtype_of(self).kind in kinds else self, *args, **kwargs)

    _for_expanded(name, expanded)


_without_effect("conj_physical_", "biufV")
_without_effect("nan_to_num_", "biu")
_for_expanded("fill_", _fill)
_for_expanded("zero_", lambda self: inplace.places("zero_", self)[0].zero_())
