"""`x[key]` and `x[key] = value`: NumPy's meaning, with MindSpore's errors. Iteration."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from typing import Any

from ...core.value import Value, detached, dtype_of, make
from ...ops.structural import cast, reshape
from ...tensor import indexing
from ._api import METHODS
from ._data import data_array
from ._dtype import FROM_NUMPY
from ._parameter import Parameter
from ._promote import to_dtype
from ._tensor import Tensor, from_array


def _refused(x: Any, key: Any, error: IndexError, outside: type[Exception]) -> Exception:
    """The error for an index that does not fit `x`: `outside` for positions in a tensor, ValueError for a mask."""
    parts = key if isinstance(key, tuple) else (key,)
    counts = [0 if p is None or p is ... else p.ndim if _is_mask(p) else 1 for p in parts]
    axis, shape = 0, tuple(x.shape)
    for part, count in zip(parts, counts):
        here = shape[axis : axis + count]
        if len(here) < count:
            break
        if _is_mask(part) and tuple(part.shape) != here:
            return ValueError(*error.args)
        if isinstance(part, Value) and dtype_of(part).kind in "iu":
            at = part.asnumpy()
            if not ((-here[0] <= at) & (at < here[0])).all():
                return outside(*error.args)
        axis += max(len(shape) - sum(counts), 0) if part is ... else count
    return error


def _is_mask(part: Any) -> bool:
    return isinstance(part, Value) and dtype_of(part).kind == "b"


def _getitem(self: Any, key: Any) -> Any:
    if isinstance(key, int) and not isinstance(key, bool) and not self.ndim:
        raise TypeError("a tensor without axes cannot be indexed with a number; item() gives its element")
    try:
        out = indexing.get(self, key)
    except IndexError as error:
        raise _refused(self, key, error, RuntimeError) from None
    if out._base is None and out is not self:  # a copy: what is assigned into it goes back to where it was taken from
        out._taken = weakref.ref(self), key
    return out


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
    if isinstance(self, Parameter):  # takes constants, as from all that writes into it
        new = detached(new) if isinstance(new, Value) else new
        if self._node is not None and self._node is self._leaf:
            held = make(Tensor, self._a.copy())
            _setitem(held, key, new)
            self._a = held._a
            return
    try:
        indexing.set(self, key, new)
    except IndexError as error:
        raise _refused(self, key, error, ValueError) from None
    if self._taken is not None and (source := self._taken[0]()) is not None:
        _setitem(source, self._taken[1], self)


def _iterate(self: Any) -> Iterator[Any]:
    if not self.ndim:
        raise TypeError("iteration over a 0-d tensor")
    return (self[i] for i in range(len(self)))


def _contains(self: Any, x: Any) -> bool:
    return bool((self == x).asnumpy().any())


METHODS.update(__getitem__=_getitem, __setitem__=_setitem, __iter__=_iterate, __contains__=_contains)
