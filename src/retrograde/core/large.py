"""What elementwise primitives compute large NumPy arrays with: their expression as one loop of generated code, on all cores,
and the expressions of their derivative rules likewise, all cotangents at once.

NumPy takes a pass over the memory for each function of a kernel, by one thread; here there is one for all. What has no such
loop (other dtypes, functions that are not generated, arrays that lie otherwise) NumPy computes.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np

from .._errors import UnsupportedError
from ..backend.jit import copies, reductions, threads
from ..backend.jit.operands import LEAST
from .node import FREED
from .params import params_key

SHARED_LEAST = 1 << 17
"""From so many elements on a single function that NumPy computes as fast goes to all cores."""

CHEAP_LEAST = 1 << 15
"""From so many elements on where NumPy has a loop of its own that is as good, and slower only in what it is called for."""

_MOST = 256
"""Kernels that a primitive keeps: what is asked for with ever new parameters is traced again and again, the code being the
same."""

_ndarray = np.ndarray


# Functions of which NumPy's results have other bits than those of generated code, or that it is slow at (choices), and from
# where on generated code computes them, whatever the number of threads. Others that are one function of NumPy's are rounded
# exactly: they go to all cores, if there are several.
_LEAST = {
    **dict.fromkeys(("sin", "cos", "expm1", "atan", "atan2", "where"), LEAST),
    **dict.fromkeys(("exp", "log", "log1p", "tanh"), CHEAP_LEAST),
}

_PULLED = frozenset({"abs"})
"""Functions whose rules take NumPy several passes, unlike themselves: 10^4 absolute values take it 1 µs, their pullback 8.7 (a
loop 4). Both round every step exactly."""


class Large:
    """The loops of a primitive."""

    def __init__(self, prim: Any) -> None:
        self.prim = prim
        function = getattr(prim.kernel, "name", None)  # of a kernel that is one function of the standard
        self.alone = function is None or function in _LEAST
        """Whether one thread computes with generated code, too."""
        self.least = LEAST if function is None else _LEAST.get(function, SHARED_LEAST)
        """From how many elements on."""
        self.pulls_alone = self.alone or function in _PULLED
        """Whether the derivative rules are a loop on one thread, too."""
        self.pulls_least = LEAST if function in _PULLED else self.least
        """From how many elements of the result on."""
        self._forward: dict[Any, Any] = {}
        self._pulls: dict[Any, Any] = {}
        self._keys: dict[Any, tuple[Any, Any]] = {}

    def __call__(self, *arrays: Any, **params: Any) -> Any:
        """The primitive on NumPy arrays that may have a result of `least` elements."""
        # The operands alone do not say how large the result is.
        if _broadcast_size(arrays) >= self.least and (self.alone or threads.count() > 1 or _unlike(arrays)):
            fused = self.fused(arrays, params)
            if fused is not False:
                found = fused(*arrays)
                if found is not None:
                    return found[0]
        kernel = self.prim.lowerings.get("numpy")
        return self.prim.kernel(np, *arrays, **params) if kernel is None else kernel(*arrays, **params)

    def fused(self, arrays: Any, params: dict[str, Any]) -> Any:
        """The loop for operands of some dtypes; False where there is none."""
        key: Any = (*[None if x is None else x.dtype for x in arrays], self._key(params) if params else None)
        found = self._forward.get(key)
        return _kept(self._forward, key, self._traced(arrays, params)) if found is None else found

    def _key(self, params: dict[str, Any]) -> Any:
        """`params_key`, by the very objects that were given before: 0.4 µs of two numbers, not 1."""
        same = (*params, *map(id, params.values()))
        known = self._keys.get(same)
        if known is None:
            # The objects are kept with the key, so that no other one gets the place of one of them.
            known = _kept(self._keys, same, (params_key(self.prim, params), tuple(params.values())))
        return known[0]

    def trace(self, dtypes: tuple[Any, ...], params: dict[str, Any]) -> Any:
        """The expression of an element of the result."""
        from .expression import trace

        return trace(self.prim, dtypes, params)

    def _traced(self, arrays: Any, params: dict[str, Any]) -> Any:
        try:
            return _fused([self.trace(tuple(None if x is None else x.dtype for x in arrays), params)])
        except UnsupportedError:
            return False

    def step(self, node: Any, g: Any, grads: dict[Any, Any] | None, fit: Any, add: Any) -> Any:
        """The primitive's `step` (core/specialise.py) for a large result."""
        pulled = self._pulled(node, g) if type(g) is _ndarray and node.saved is not FREED else None
        if pulled is None:
            return self.prim.step(node, g, grads, fit, add)
        found = {} if grads is None else grads
        for edge, r in pulled:
            if r.shape != edge.shape or r.dtype is not edge.dtype:
                r = fit(r, edge)
            add(found, edge, r)
        return None if grads is not None else found.popitem() if len(found) == 1 else found

    def _pulled(self, node: Any, g: np.ndarray) -> list[tuple[Any, Any]] | None:
        """The edges that want a cotangent, and the cotangents; None where the rules are NumPy's affair."""
        if not (self.pulls_alone or threads.count() > 1 or _unlike((g, *node.saved))):
            return None
        return self.pulled(g, node.edges, node.saved, node.params)

    def pulled(self, g: np.ndarray, edges: Any, saved: Any, params: dict[str, Any]) -> list[tuple[Any, Any]] | None:
        """The same for the edges of a node, what it saved and its parameters."""
        given = (g, *saved) if saved else (g,)
        shape = g.shape
        summed = tuple([edge is not None and edge.shape != shape and math.prod(edge.shape) < g.size for edge in edges])
        key = (
            *[None if x is None else x.dtype for x in given], *[None if edge is None else edge.dtype for edge in edges],
            summed, self._key(params) if params else None,
        )  # fmt: skip
        plan = self._pulls.get(key)
        if plan is None:
            plan = _kept(self._pulls, key, self._planned(given, edges, params, summed))
        if plan is False:
            return None
        fused, places, products = plan
        found = fused(*given) if fused is not None else ()
        if found is None:
            return None
        pairs = [(edges[i], g if at is None else found[at]) for i, at in places]
        for i, j, k in products:
            r = summed_product(given[j], given[k], edges[i].shape)
            pairs.append((edges[i], given[j] * given[k] if r is None else r))
        return pairs

    def _planned(self, given: Any, edges: Any, params: dict[str, Any], summed: tuple[bool, ...]) -> Any:
        """The loop for the cotangents of a node's operands, and for each operand which of the results is its (None: the
        cotangent of the result itself); those that are a product that is summed over axes (of broadcast operands) and the
        factors; False where there is none."""
        from .expression import Expr, trace_rule

        prim, count = self.prim, len(edges)
        known: list[Any] = [None if x is None else Expr("operand", (k,), x.dtype) for k, x in enumerate(given)]
        known += [None] * (2 + count - len(known))
        operands = tuple(
            # What is not there can be asked for its dtype only.
            Expr("operand", (-1,), edge.dtype) if x is None and edge is not None else x
            for x, edge in zip(known[1 : count + 1], edges)
        )
        outputs: list[Any] = []
        places: list[tuple[int, int | None]] = []
        products: list[tuple[int, int, int]] = []
        try:
            for i, edge in enumerate(edges):
                if edge is None or not prim.has_rule(i):
                    continue
                r = trace_rule(prim, i, known[0], known[count + 1], operands, params)
                if not isinstance(r, Expr):
                    return False
                if r.dtype != edge.dtype:
                    if r.dtype.kind == "c" or edge.dtype.kind in "iubc":
                        return False
                    r = Expr("astype", (r,), edge.dtype)
                if r is known[0]:
                    places.append((i, None))
                elif summed[i] and r.name == "multiply" and all(
                    isinstance(x, Expr) and x.name == "operand" and x.args[0] >= 0 and x.dtype == r.dtype for x in r.args
                ):  # fmt: skip
                    products.append((i, *(x.args[0] for x in r.args)))
                else:
                    places.append((i, len(outputs)))
                    outputs.append(r)
            fused = _fused(outputs) if outputs else None
        except UnsupportedError:
            return False
        return False if fused is not None and -1 in fused.operands else (fused, places, products)


# ------------------------------------------------------------------------------------------ sums and copies

@functools.cache
def _loop_of_kernel(kernel: Any, *dtypes: np.dtype) -> Any:
    from .expression import traced

    try:
        return _fused([traced(kernel, dtypes, {})])
    except UnsupportedError:
        return None


def computed(kernel: Any, *arrays: np.ndarray) -> Any:
    """kernel(xp, *arrays), which is elementwise: one loop where the first array is large, NumPy's functions elsewhere. The
    kernel is a function that lasts: its loop is kept."""
    if arrays[0].size >= CHEAP_LEAST:
        loop = _loop_of_kernel(kernel, *[x.dtype for x in arrays])
        found = loop and loop(*arrays)
        if found:
            return found[0]
    return kernel(np, *arrays)


def summed(kernel: Any, *arrays: np.ndarray) -> Any:
    """The sum of all elements of kernel(xp, *arrays), a 0-d array, with no array of them in memory; None where there is no
    loop for it."""
    if arrays[0].size < CHEAP_LEAST:
        return None
    loop = _loop_of_kernel(kernel, *[x.dtype for x in arrays])
    found = loop and loop.sums(*arrays)
    return np.asarray(found[0], arrays[0].dtype) if found else None


def summed_product(x: np.ndarray, y: np.ndarray, shape: tuple[int, ...]) -> np.ndarray | None:
    """x y summed over the last axes that broadcasting from a shape added or stretched, or else over the first ones, with no
    product in memory; None where there is no loop for it."""
    if x.ndim < y.ndim or x.size < y.size:
        x, y = y, x
    rank, size = x.ndim, x.size
    if size < reductions.LEAST or not x.flags.c_contiguous or len(shape) > rank:
        return None
    stretched = [n == 1 for n in (1,) * (rank - len(shape)) + shape]
    beside = (1,) * (rank - y.ndim) + y.shape
    if any(m not in (1, n) for m, n in zip(beside, x.shape)):
        return None
    last = next((k for k in range(rank) if not stretched[-1 - k]), rank)
    at = rank - last if last else next((k for k in range(rank) if not stretched[k]), rank)
    width = math.prod(x.shape[at:])
    if not at or not width or width < (2 if last else 16):
        return None
    rows, parts = size // width, (math.prod(beside[:at]), math.prod(beside[at:]))
    if parts not in ((rows, width), (1, width) if last else (rows, 1)):
        return None
    way = reductions.along_rows if last else reductions.down_columns
    found = way("sum", x.reshape(rows, width), y.reshape(parts))
    if found is None:
        return None
    return found.reshape((*x.shape[:at], *(1,) * last) if last else (*(1,) * at, *x.shape[at:]))


@functools.cache
def _sum(dtype: np.dtype) -> Any:
    """The loop of x + y, of a dtype; None where there is none."""
    from .expression import Expr

    x, y = (Expr("operand", (k,), dtype) for k in range(2))
    return loop_of([Expr("add", (x, y), dtype)])


def loop_of(outputs: list[Any]) -> Any:
    """The loop that computes some expressions together; None where there is none."""
    try:
        return _fused(outputs)
    except UnsupportedError:
        return None


def _broadcast_size(arrays: Any) -> int:
    """How many elements the result of some arrays has; 0 where they do not broadcast."""
    x = arrays[0]
    if len(arrays) == 1 or arrays[1] is None or arrays[1].shape == x.shape:
        return int(x.size)
    try:
        return np.broadcast(*[y for y in arrays if y is not None]).size
    except ValueError:
        return 0


def _unlike(arrays: Any) -> bool:
    """Whether some arrays do not lie alike (spread along an axis, in another order), which NumPy takes row by row: twice as long
    as a loop, for a transpose ten times."""
    shape, strides = arrays[0].shape, arrays[0].strides
    return any(x is not None and x.ndim > 0 and (x.strides != strides or x.shape != shape) for x in arrays)


def _shared(x: np.ndarray) -> bool:
    return x.size >= SHARED_LEAST and threads.count() > 1


def add(x: Any, y: Any) -> Any:
    """x + y; of NumPy's arrays on all cores."""
    if type(x) is _ndarray and type(y) is _ndarray and _shared(x) and x.dtype == y.dtype:
        loop = _sum(x.dtype)
        found = loop and loop(x, y)
        if found:
            total: np.ndarray = found[0]
            return total
    return x + y


def add_into(x: np.ndarray, y: np.ndarray) -> None:
    """x += y of the same shape, cast to the dtype of x whatever it is. What lies otherwise than x NumPy adds slowly: a column
    to 1000x1000 float64 takes it 430 µs, a loop 102; a transpose of 1000x1000 float32 780 and 105."""
    if x.size >= LEAST and x.dtype == y.dtype and (y.strides != x.strides or _shared(x)):
        apart = y.strides == x.strides or not np.may_share_memory(x, y)
        if apart and copies.add(x, y):
            return
        loop = apart and x.size >= CHEAP_LEAST and x.flags.c_contiguous and _sum(x.dtype)
        if loop and loop(x, y, into=[x]):
            return
    np.add(x, y, out=x, casting="unsafe")


def copied(x: np.ndarray) -> np.ndarray:
    """The elements in memory of their own, in C's order."""
    if x.size < LEAST or (x.size < copies.MOVED and x.strides[-1] == x.itemsize):  # rows
        return np.array(x, order="C", copy=True)
    return copies.ordered(x)


def write(out: np.ndarray, x: np.ndarray) -> None:
    """out[...] = x, which broadcasts and shares no memory with it."""
    if out.size >= LEAST and x.dtype == out.dtype:
        y = x if x.shape == out.shape else np.broadcast_to(x, out.shape)
        if copies.copy(out, y):
            return
    out[...] = x


_FRESH = 1 << 25
"""Bytes from where on memory comes from the system each time, which fills it with zeros when it is first read or written."""


def zeros(shape: tuple[int, ...], dtype: Any) -> np.ndarray:
    """An array of zeros, filled on all cores: 4 MB take one 120 µs."""
    size = math.prod(shape)
    if size < SHARED_LEAST or size * dtype.itemsize >= _FRESH or threads.count() == 1:
        return np.zeros(shape, dtype)
    out = np.empty(shape, dtype)
    write(out, np.zeros((), dtype))
    return out


def framed(x: np.ndarray, shape: tuple[int, ...], index: tuple[slice, ...], value: Any = 0) -> np.ndarray:
    """An array of a number with x, which broadcasts, in the place of some slices (one for each axis, forward); what lies
    beside them is filled only once."""
    size = math.prod(shape)
    if size < CHEAP_LEAST:
        out = np.zeros(shape, x.dtype) if value == 0 else np.full(shape, value, x.dtype)
        out[index] = x
        return out
    out = np.empty(shape, x.dtype)
    number = np.full((), value, x.dtype)
    inner: tuple[slice, ...] = ()
    for n, part in zip(shape, index):
        start, stop, step = part.indices(n)
        last = start + max(0, -(-(stop - start) // step)) * step  # where the next one would be
        beside = [slice(0, start), slice(last, n)] + [slice(start + k, min(last, n), step) for k in range(1, step)]
        for other in beside:
            if other.start < other.stop:
                write(out[(*inner, other)], number)
        inner = *inner, part
    write(out[inner], x)
    return out


def _kept(kernels: dict[Any, Any], key: Any, found: Any) -> Any:
    if len(kernels) >= _MOST:
        kernels.clear()
    kernels[key] = found
    return found


def _fused(outputs: list[Any]) -> Any:
    from ..backend.jit.pointwise import Fused, Unsupported

    try:
        return Fused(outputs)
    except Unsupported as reason:
        raise UnsupportedError(str(reason)) from None
