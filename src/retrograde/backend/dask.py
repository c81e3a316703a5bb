"""Dask: lazy arrays. Elementwise kernels run block by block, a few others as Dask does them, the rest on whole arrays.

Nothing is computed before `numpy()` or `item()`. Arrays cannot be written to, so in-place operations replace them.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import array_api_compat.dask.array as compat
import dask
import dask.array as da
import numpy as np

from .._errors import UnsupportedError
from .lookup import Backend, register_backend

# What Dask's own algorithms do in pieces, and right; whatever is not here sees its operands in one piece.
IN_PIECES = frozenset({
    "sum", "mean", "var", "amax", "amin", "any", "all", "argmax", "argmin", "count_nonzero", "transpose", "reshape",
    "broadcast_to", "concatenate", "stack", "getitem", "copy", "cast", "flip", "roll", "tile", "tril", "triu", "matmul",
})  # fmt: skip


class _Aval(NamedTuple):
    shape: tuple[int, ...]
    dtype: np.dtype


def _inferred(prim: Any, arrays: list[Any], params: dict[str, Any]) -> Any:
    return prim.infer([None if x is None else _Aval(x.shape, x.dtype) for x in arrays], params)


class Namespace:
    """The array-API names of array_api_compat, and Dask's own beyond the standard."""

    __name__ = "dask.array"

    def __getattr__(self, name: str) -> Any:
        found = getattr(compat if hasattr(compat, name) else da, name)
        setattr(self, name, found)
        return found


class DaskBackend(Backend):
    """Evaluates kernels lazily."""

    name = "dask"
    deferred = True
    xp = Namespace()

    def evaluate(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        if prim.kind == "data_dependent":
            raise UnsupportedError(
                f"{prim.name}: the shape of the result depends on values, which a Dask array has not computed; "
                "call compute() on the array first"
            )
        given = [self.beside(prim, x, arrays) if isinstance(x, (np.ndarray, np.generic)) else x for x in arrays]
        if not prim.multi and prim.kind == "elementwise":
            return _by_block(prim, given, params)
        if prim.name in IN_PIECES:
            try:
                return prim.kernel(self.xp, *given, **params)
            except NotImplementedError:  # some reshapes: the blocks would have to be torn apart
                return _whole(prim, given, params)
        return _whole(prim, given, params)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
        return da.full(shape, value, dtype=dtype)

    def to_host(self, array: Any) -> np.ndarray:
        return np.asarray(array.compute())

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        return da.asarray(value, dtype=dtype)


class _Kernel:
    """A primitive's NumPy kernel with its parameters. The record goes to other processes as its name.

    there: which operands there are; those come one after the other.
    """

    def __init__(self, prim: Any, there: tuple[bool, ...], params: dict[str, Any]) -> None:
        self.prim, self.there, self.params = prim, there, params
        self.__name__ = prim.name  # Dask names its tasks after it

    def __call__(self, *arrays: Any) -> Any:
        rest = iter(arrays)
        out = self.prim.numpy_kernel(*(next(rest) if is_there else None for is_there in self.there), **self.params)
        return tuple(map(np.asarray, out)) if type(out) is tuple else np.asarray(out)

    def __dask_tokenize__(self) -> Any:
        return dask.base.normalize_token((self.prim.module, self.prim.name, self.there, self.params))


def _kernel(prim: Any, arrays: list[Any], params: dict[str, Any]) -> _Kernel:
    return _Kernel(prim, tuple(x is not None for x in arrays), params)


def _by_block(prim: Any, arrays: list[Any], params: dict[str, Any]) -> Any:
    """An elementwise kernel on each block."""
    dtype = _inferred(prim, arrays, params).dtype
    return da.core.elemwise(_kernel(prim, arrays, params), *(x for x in arrays if x is not None), dtype=dtype)


def _whole(prim: Any, arrays: list[Any], params: dict[str, Any]) -> Any:
    """A kernel on whole arrays, when they are needed."""
    avals = _inferred(prim, arrays, params)
    kernel = _kernel(prim, arrays, params)
    task = dask.delayed(kernel, pure=True)(*(x for x in arrays if x is not None))
    if prim.multi:
        return tuple(da.from_delayed(task[i], aval.shape, aval.dtype) for i, aval in enumerate(avals))
    return da.from_delayed(task, avals.shape, avals.dtype)


register_backend(da.Array, DaskBackend())
