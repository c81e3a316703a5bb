"""`x[key]` and `x[key] = value`: NumPy's meaning, with MindSpore's errors. Iteration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...core.value import Value, dtype_of
from ...ops.structural import cast, reshape
from ...tensor import indexing
from ._api import METHODS
from ._data import data_array
from ._dtype import FROM_NUMPY
from ._promote import to_dtype
from ._tensor import from_array


def _getitem(self: Any, key: Any) -> Any:
    if isinstance(key, int) and not isinstance(key, bool) and not self.ndim:
        raise TypeError("a tensor without axes cannot be indexed with a number; item() gives its element")
    return indexing.get(self, key)


def _setitem(self: Any, key: Any, new: Any) -> None:
    if isinstance(new, (list, tuple)):
        new = from_array(data_array(new, dtype_of(self), "setitem"))
    if isinstance(new, Value):
        if new.ndim and new.size == 1:
            new = reshape(new, shape=())
        if dtype_of(new) != dtype_of(self):
            new = cast(new, dtype=dtype_of(self))
    elif isinstance(new, (int, float)):
        new = to_dtype(new, FROM_NUMPY[dtype_of(self)])
    indexing.set(self, key, new)


def _iterate(self: Any) -> Iterator[Any]:
    if not self.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return (self[i] for i in range(len(self)))


def _contains(self: Any, x: Any) -> bool:
    return bool((self == x).asnumpy().any())


METHODS.update(__getitem__=_getitem, __setitem__=_setitem, __iter__=_iterate, __contains__=_contains)
