"""Dask: lazy arrays. Elementwise kernels run block by block, others in pieces as dask_pieces.py says; what has to see a whole
array of several blocks is refused, unless the user allows it.

Nothing is computed before `numpy()`, `item()` or `compute`. Arrays cannot be written to, so in-place operations replace them.
"""

from __future__ import annotations

import contextlib
import itertools
import threading
from typing import Any, ClassVar, NamedTuple

import array_api_compat.dask.array as compat
import dask
import dask.array as da
import numpy as np
from dask.utils import format_bytes

from .._errors import UnsupportedError
from .._traceback import called_function
from . import dask_pieces, dask_ways
from .lookup import Backend, register_backend


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

    @staticmethod
    def take_along_axis(x: Any, indices: Any, /, *, axis: int = -1) -> Any:
        """See the array-API standard; Dask has none."""
        return dask_pieces.take_along_axis(da.asarray(x), da.asarray(indices), axis)


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
        for x in arrays:
            if x is not None and not isinstance(x, (da.Array, np.ndarray, np.generic)):
                raise UnsupportedError(
                    f"{prim.name}: a Dask array stands beside {type(x).__name__} of {type(x).__module__}, which tasks do not "
                    "hold; a function under jit takes no Dask arrays, and arrays of two libraries are moved first "
                    "(asarray(x, like=y))"
                )
        if not prim.multi and prim.kind == "elementwise":
            return _by_block(prim, [self._in_tasks(prim, x, arrays) for x in arrays], params)
        given = [self._known(prim, x, arrays) if isinstance(x, (np.ndarray, np.generic)) else x for x in arrays]
        there = [x for x in given if x is not None]
        avals = _inferred(prim, given, params)
        found = dask_pieces.in_pieces(
            prim, lambda changed: _kernel(prim, given, changed), avals if prim.multi else [avals], there, params
        )
        with contextlib.suppress(NotImplementedError):  # some reshapes: the blocks would have to be torn apart
            if found is NotImplemented and (way := dask_ways.WAYS.get(prim.name)) is not None:
                found = way(*given, **params)
            if found is NotImplemented and (prim.name in dask_pieces.OWN or prim.kind == "composite"):
                return self.compute(prim, given, params)
        return _whole(prim, given, params, avals) if found is NotImplemented else found

    def _in_tasks(self, prim: Any, x: Any, arrays: Any) -> Any:
        """An operand of what goes block by block: a number of NumPy's stands in the tasks, and needs none of its own."""
        if not isinstance(x, (np.ndarray, np.generic)):
            return x
        return np.array(x) if not x.ndim else self.beside(prim, x, arrays)

    def _known(self, prim: Any, x: Any, arrays: Any) -> Any:
        """An operand of NumPy's of another operation: positions stay as they are for Dask's own algorithms."""
        known = prim.name in dask_ways.POSITIONS and x.ndim and x.dtype.kind in "iu"
        return np.array(x) if known else self.beside(prim, x, arrays)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
        return da.full(shape, value, dtype=dtype)

    def to_host(self, array: Any) -> np.ndarray:
        return np.asarray(array.compute())

    def in_blocks(self, make: Any, shape: tuple[int, ...], dtype: np.dtype, like: Any) -> Any:
        chunks = like.chunks if like.shape == shape else da.core.normalize_chunks("auto", shape, dtype=dtype)
        numbers = tuple(map(len, chunks))
        block = _Made(make, numbers)
        name = f"made-{dask.base.tokenize(block, chunks)}"
        return da.map_blocks(block, chunks=chunks, dtype=dtype, meta=np.empty((0,) * len(shape), dtype), name=name)

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        return da.asarray(value, dtype=dtype)


class _Made(NamedTuple):
    """What makes a block out of its number."""

    make: Any
    numbers: tuple[int, ...]

    def __call__(self, block_info: Any = None) -> Any:
        said = block_info[None]
        number = 0
        for place, count in zip(said["chunk-location"], self.numbers):
            number = number * count + place
        return self.make(number, said["chunk-shape"])


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
    """An elementwise kernel on each block. `da.core.elemwise` would ask the kernel for the dtype, and check it in each task."""
    aval, kernel = _inferred(prim, arrays, params), _kernel(prim, arrays, params)
    there = [dask_ways.source(x) for x in arrays if x is not None]
    sides = itertools.chain(*((x, None if isinstance(x, np.ndarray) else tuple(range(x.ndim))[::-1]) for x in there))
    ndim = max(x.ndim for x in there)
    found = da.blockwise(
        kernel, tuple(range(ndim))[::-1], *sides, name=f"{prim.name}-{dask.base.tokenize(kernel, *there)}",
        dtype=aval.dtype, meta=np.empty((0,) * ndim, aval.dtype),
    )  # fmt: skip
    return found if found.shape == aval.shape else dask_ways.WAYS["broadcast_to"](found, shape=aval.shape)


class allow_whole:
    """Context manager: operations inside may gather an array of several blocks into one task, as `linalg.svd` has to.

    Without it they raise UnsupportedError, since such an array may be larger than the memory of a worker.

    Examples
    --------
    >>> import retrograde as rg
    >>> with rg.allow_whole():
    ...     pass
    """

    allowed: ClassVar[threading.local] = threading.local()

    def __enter__(self) -> None:
        self.allowed.depth = getattr(self.allowed, "depth", 0) + 1

    def __exit__(self, *exception: object) -> None:
        self.allowed.depth -= 1


def _whole(prim: Any, arrays: list[Any], params: dict[str, Any], avals: Any) -> Any:
    """A kernel on whole arrays, when they are needed."""
    for x in arrays:
        if isinstance(x, da.Array) and x.npartitions > 1 and x.size and not getattr(allow_whole.allowed, "depth", 0):
            raise UnsupportedError(
                f"{called_function() or prim.name}: needs the whole of a Dask array of shape {list(x.shape)} "
                f"({format_bytes(int(x.nbytes))}, in {x.npartitions} blocks) in one task; rechunk it into one block, "
                "compute() it, or allow it: with retrograde.allow_whole()"
            )
    kernel = _kernel(prim, arrays, params)
    task = dask.delayed(kernel, pure=True)(*(x for x in arrays if x is not None))
    if prim.multi:
        return tuple(da.from_delayed(task[i], aval.shape, aval.dtype) for i, aval in enumerate(avals))
    return da.from_delayed(task, avals.shape, avals.dtype)


register_backend(da.Array, DaskBackend())
