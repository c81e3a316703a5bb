"""Batches of small products of matrices as equations that read operands, and write results, where they lie.

Attention is made of them: heads are parts of rows, so that operands are views (splits, transposes, reshapes) that a product of
matrices in memory of their own would have to copy, and results are laid out anew for what takes them. `batched` puts one
equation, `products`, in the place of such a product, of the views before it and of the transpose behind it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ...backend.jit import thresholds
from ...core.aval import Aval
from ...core.record import NOT_DIFFERENTIABLE, Primitive
from ..graph import Equation, Graph, Variable
from .dead import dead
from .fuse import contiguous


class Lying(NamedTuple):
    """How matrices lie in an array in C's order: where the first one begins, the strides of the axes before the last two, of rows
    and of columns, in elements."""

    begin: int
    lead: tuple[int, ...]
    row: int
    column: int


class Batch(NamedTuple):
    """m x k times k x n, for each of the axes before: their sizes, and how operands and results lie. shape: of the result's
    array."""

    lead: tuple[int, ...]
    m: int
    k: int
    n: int
    x: Lying
    y: Lying
    out: Lying
    shape: tuple[int, ...]


def _run(_xp: Any, *arrays: np.ndarray, batch: Batch) -> np.ndarray:
    """By NumPy."""
    out = np.empty(batch.shape, arrays[0].dtype)
    x, y, z = (
        _matrices(a, lying, batch.lead, sizes)
        for a, lying, sizes in zip(
            (*arrays, out), (batch.x, batch.y, batch.out), ((batch.m, batch.k), (batch.k, batch.n), (batch.m, batch.n))
        )
    )
    z[...] = x @ y
    return out


def _matrices(a: np.ndarray, lying: Lying, lead: tuple[int, ...], sizes: tuple[int, int]) -> np.ndarray:
    strides = [s * a.itemsize for s in (*lying.lead, lying.row, lying.column)]
    return np.lib.stride_tricks.as_strided(a.reshape(-1)[lying.begin :], (*lead, *sizes), strides)


PRODUCTS = Primitive(
    "products", kernel=_run, operands=None, params=("batch",), multi=False, vjps=NOT_DIFFERENTIABLE, vjp=None, jvp=None,
    batch=_run, infer=lambda avals, params: Aval(params["batch"].shape, avals[0].dtype), samples=None,
    diff_outs=None, used_outs=None, tolerances=None, kind="general", numpy=None, saves="all", regional=(), texts=(),
    generated=False,
)  # fmt: skip
"""Of equations that this pass makes, and nothing after it differentiates, batches or looks up."""


class _View(NamedTuple):
    """A variable as a view of another one, which lies in C's order."""

    root: Variable
    begin: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]

    def of(self, array: np.ndarray, own: np.ndarray) -> _View:
        """The view that an array is, where this one is `own`; both have elements of one byte, in no memory."""
        begin = self.begin + array.__array_interface__["data"][0] - own.__array_interface__["data"][0]
        return _View(self.root, begin, array.shape, array.strides)


def _views(e: Equation, x: _View) -> Sequence[_View] | None:
    """What an equation makes of a view; None for what is none."""
    own = np.lib.stride_tricks.as_strided(np.empty(1, np.uint8), x.shape, x.strides)
    if e.prim.name == "transpose":
        return [x.of(own.transpose(e.params["axes"]), own)]
    if e.prim.name == "split":
        ends = np.cumsum(e.params["sizes"])[:-1]
        return [x.of(part, own) for part in np.split(own, ends, e.params["axis"])]
    if e.prim.name == "reshape":
        try:
            return [x.of(np.reshape(own, e.params["shape"], copy=False), own)]
        except ValueError:  # it would be a copy
            return None
    return None


def batched(graph: Graph) -> Graph:
    """The graph with batches of small products read where they lie."""
    if not any(_suited(e) for e in graph.equations):
        return graph
    views: dict[Variable, _View] = {}
    taken = graph.uses()
    behind = {e.inputs[0]: e for e in graph.equations if e.prim.name == "transpose"}
    equations: list[Equation] = []
    made: set[Variable] = set()

    def view(v: Variable) -> _View:
        return views.get(v) or _View(v, 0, v.shape, contiguous(v.shape))

    for e in graph.equations:
        if e.outputs[0] in made:  # a transpose that is written at once
            continue
        x = e.inputs[0] if e.inputs else None
        found = _views(e, view(x)) if x is not None and x.size and x not in graph.constants else None
        if found is not None:
            views.update((v, each) for v, each in zip(e.outputs, found) if v.size)
        if _suited(e):
            then = behind.get(e.outputs[0])
            if taken.get(e.outputs[0]) != 1:
                then = None
            a, b = e.inputs
            assert a is not None
            assert b is not None
            new = _product(e, view(a), view(b), then) or _product(e, view(a), view(b), None)
            if new is not None:
                if new.outputs[0] is not e.outputs[0]:
                    made.add(new.outputs[0])
                e = new
        equations.append(e)
    return dead(graph.replaced(equations))


def _suited(e: Equation) -> bool:
    """Whether an equation is a batch of small products."""
    if e.prim.name != "matmul":
        return False
    x, y = e.inputs
    assert x is not None
    assert y is not None
    if x.ndim < 3 or x.shape[:-2] != y.shape[:-2] or x.dtype != y.dtype or x.dtype.char not in "fd" or not e.outputs[0].size:
        return False
    (m, k), n = x.shape[-2:], y.shape[-1]
    most = thresholds.here()
    return k > 0 and m > 1 and n > 1 and m * k * n <= most.batch and k * n * y.dtype.itemsize <= most.small


def _product(e: Equation, x: _View, y: _View, then: Equation | None) -> Equation | None:
    """The equation for a product and the transpose behind it, if one is given; None where there is none."""
    (m, k), n, lead = x.shape[-2:], y.shape[-1], x.shape[:-2]
    target = e.outputs[0] if then is None else then.outputs[0]
    strides = contiguous(target.shape)
    if then is not None:
        strides = tuple([strides[then.params["axes"].index(axis)] for axis in range(target.ndim)])
    *outer, row, column = strides
    first, second, out = (_lying(v) for v in (x, y, _View(target, 0, (*lead, m, n), (*outer, row, column))))
    if out.column == 1:
        batch = Batch(lead, m, k, n, first, second, out, target.shape)
        inputs = [x.root, y.root]
    elif out.row == 1:  # the transposed product
        batch = Batch(lead, n, k, m, _turned(second), _turned(first), _turned(out), target.shape)
        inputs = [y.root, x.root]
    else:
        return None
    return Equation(PRODUCTS, inputs, {"batch": batch}, [target], e.at)


def _lying(x: _View) -> Lying:
    *lead, row, column = [0 if n == 1 else s for n, s in zip(x.shape, x.strides)]
    return Lying(x.begin, tuple(lead), row, column)


def _turned(x: Lying) -> Lying:
    return x._replace(row=x.column, column=x.row)


def multiplications(batch: Batch) -> int:
    """Of all its products."""
    return math.prod(batch.lead) * batch.m * batch.k * batch.n
