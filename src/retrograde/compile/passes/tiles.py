"""Parts of a graph that are computed a few rows at a time: products with small matrices, and what lies between them.

Where the same small matrices multiply many rows, one after the other and with elementwise operations in between, all of what
becomes of some rows fits into the nearest caches, and all of what becomes of all rows does not. `tiled` puts such a part of a
graph into one equation, `tiles`, with a graph of its own for one tile: the first axis of what it goes over is cut into `count`
equal pieces. Sums over the rows (of gradients of weights and biases) are added up from tile to tile.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...backend.jit import thresholds
from ...core.aval import Aval
from ...core.record import NOT_DIFFERENTIABLE, PRIMITIVES, Primitive
from ..graph import Equation, Graph, Variable, uniform
from .dead import dead
from .fuse import Group, partition, reduced

_CACHE = 3 << 16
"""Bytes of what becomes of a tile that are wanted at most: a part of the second cache, beside the matrices."""
STACK = 1 << 19
"""Bytes of it at most: they lie on the stack."""
_FEW = 1 << 21
"""Multiplications of a tile: enough that what is done once for each does not count."""
_LEAST_ROWS = 8
"""Rows of a tile at least: so many sums of a product's columns stay in registers together."""
_TRIES = 32
"""Equations at most that are left out of a part, one after the other, because no kernel takes them inside it."""


class Tiles:
    """What a `tiles` equation computes.

    graph: of one tile, of `count` equal pieces along the first axis. sliced: for each of its inputs whether it is a piece; a
    whole array otherwise. ends: for each of its outputs whether those of all tiles are added up; they lie one behind the
    other otherwise.
    """

    def __init__(self, graph: Graph, count: int, sliced: Sequence[bool], ends: Sequence[bool]) -> None:
        self.graph, self.count, self.sliced, self.ends = graph, count, tuple(sliced), tuple(ends)


def _run(xp: Any, *arrays: Any, tiles: Tiles) -> Any:
    """One tile after the other."""
    found = []
    for t in range(tiles.count):
        given = []
        for x, v, piece in zip(arrays, tiles.graph.inputs, tiles.sliced):
            given.append(x[t * v.shape[0] : (t + 1) * v.shape[0]] if piece else x)
        found.append(tiles.graph.run(*given))
    return tuple([sum(parts[1:], start=parts[0]) if end else xp.concat(parts) for parts, end in zip(zip(*found), tiles.ends)])


def _infer(_avals: Any, params: dict[str, Any]) -> Any:
    tiles = params["tiles"]
    found = []
    for v, end in zip(tiles.graph.outputs, tiles.ends):
        found.append(Aval(v.shape if end else (tiles.count * v.shape[0], *v.shape[1:]), v.dtype))
    return tuple(found)


TILES = Primitive(
    "tiles", kernel=_run, operands=None, params=("tiles",), multi=True, vjps=NOT_DIFFERENTIABLE, vjp=None, jvp=None, batch=_run,
    infer=_infer, samples=None,
    diff_outs=None, used_outs=None, tolerances=None, kind="general", numpy=None, saves="all", regional=(), texts=(),
    generated=False,
)  # fmt: skip
"""Of equations that this pass makes, and nothing after it differentiates, batches or looks up."""


def matrices(e: Equation) -> tuple[tuple[int, int, int], bool, bool] | None:
    """Of a product of float32 or float64 that is one of two matrices: its sizes m, k and n, and whether the first operand and
    the second one are transposed. Axes before the last of the first operand count as one, where it is not transposed."""
    if e.prim.name not in ("matmul", "project", "transposed_matmul"):
        return None
    x, y = e.inputs
    assert x is not None
    assert y is not None
    if x.ndim < 2 or y.ndim != 2 or x.dtype != y.dtype or x.dtype.char not in "fd" or not x.size or not y.size:
        return None
    if e.prim.name == "transposed_matmul":
        return (x.shape[1], x.shape[0], y.shape[1]), True, False
    m, k = math.prod(x.shape[:-1]), x.shape[-1]
    return ((m, k, y.shape[0]), False, True) if e.prim.name == "project" else ((m, k, y.shape[1]), False, False)


# ------------------------------------------------------------------------------------------ transposes in products

_WITH_SECOND = {"matmul": "project", "project": "matmul"}
_WITH_FIRST = {"matmul": "transposed_matmul", "transposed_matmul": "matmul"}
"""What a product is of the matrix whose transpose is its second, or its first, operand."""


def transposes_within(graph: Graph) -> Graph:
    """The graph with products of matrices in place of products of their transposes: they are read as they lie."""
    of: dict[Variable, Variable] = {}
    equations = []
    for e in graph.equations:
        if e.prim.name == "transpose" and e.params["axes"] == (1, 0) and e.inputs[0] is not None:
            of[e.outputs[0]] = e.inputs[0]
        elif e.prim.name in ("matmul", "project", "transposed_matmul"):
            x, y = e.inputs
            if y in of and e.prim.name in _WITH_SECOND and x is not None and x.ndim > 1:
                e = Equation(PRIMITIVES[_WITH_SECOND[e.prim.name]], [x, of[y]], {}, e.outputs, e.at)
            elif x in of and e.prim.name in _WITH_FIRST and y is not None and y.ndim == 2:
                e = Equation(PRIMITIVES[_WITH_FIRST[e.prim.name]], [of[x], y], {}, e.outputs, e.at)
        equations.append(e)
    return dead(graph.replaced(equations)) if of else graph


# ------------------------------------------------------------------------------------------ products of vectors

_LEAST = 8
"""Columns of an outer product, or summands of an inner one, from which on it is one elementwise operation (and a sum)."""


def vectors_apart(graph: Graph) -> Graph:
    """The graph with outer products, and products of a matrix and a vector that run along the rows, as multiplications and sums:
    so they are parts of the loops around them. A layer x wᵀ + b of few columns is a product and a sum."""
    constants, equations, changed = dict(graph.constants), [], False
    for e in graph.equations:
        found = _apart(e, constants)
        changed = changed or found is not None
        equations += [e] if found is None else found
    if not changed:
        return graph
    return Graph(graph.inputs, constants, equations, graph.outputs).replaced(equations)


def _apart(e: Equation, constants: dict[Variable, np.ndarray]) -> list[Equation] | None:
    sizes = matrices(e)
    if sizes is None:
        return None
    (m, k, n), first, _ = sizes
    x, y = e.inputs
    (out,) = e.outputs
    assert x is not None
    assert y is not None
    found: list[Equation] = []

    def shaped(v: Variable, shape: tuple[int, ...]) -> Variable:
        if v.shape == shape:
            return v
        to = Variable(shape, v.dtype)
        if v in constants and uniform(constants[v]):
            constants[to] = np.broadcast_to(constants[v].reshape(-1)[:1].reshape(()), shape)
        else:
            found.append(Equation(PRIMITIVES["reshape"], [v], {"shape": shape}, [to], e.at))
        return to

    def one(v: Variable) -> bool:
        return v in constants and uniform(constants[v]) and constants[v].flat[0] == 1

    def product(a: Variable, b: Variable, to: Variable) -> None:
        """a b, broadcast. A factor 1 is none."""
        other = b if one(a) else a if one(b) else None
        if other is None:
            found.append(Equation(PRIMITIVES["multiply"], [a, b], {}, [to], e.at))
        else:
            found.append(Equation(PRIMITIVES["broadcast_to"], [other], {"shape": to.shape}, [to], e.at))

    if k == 1 and not first and n >= _LEAST:
        product(x, shaped(y, (1,) * (x.ndim - 1) + (n,)), out)
    elif n == 1 and not first and k >= _LEAST:
        both = Variable(x.shape, x.dtype)
        product(x, shaped(y, (1,) * (x.ndim - 1) + (k,)), both)
        found.append(Equation(PRIMITIVES["sum"], [both], {"axis": (x.ndim - 1,), "keepdims": True}, [out], e.at))
    elif first and (m == 1) != (n == 1) and max(m, n) >= _LEAST:
        both, total = Variable((k, max(m, n)), x.dtype), Variable((max(m, n),), x.dtype)
        product(x, y, both)
        found.append(Equation(PRIMITIVES["sum"], [both], {"axis": (0,), "keepdims": False}, [total], e.at))
        found.append(Equation(PRIMITIVES["reshape"], [total], {"shape": out.shape}, [out], e.at))
    else:
        return None
    return found


# ------------------------------------------------------------------------------------------ parts of a graph


def tiled(graph: Graph, expressible: Callable[[Equation], bool]) -> Graph:
    """The graph with its parts that go over rows as one equation each. expressible: as for `partition`."""
    if not any(_small(e) for e in graph.equations):
        return graph
    constants = dict(graph.constants)
    left = _with_layers_apart(graph.equations)
    done: list[Equation] = []
    banned: set[Equation] = set()
    known: dict[Equation, tuple[list[bool], str] | None] = {}

    def roles(e: Equation) -> tuple[list[bool], str] | None:
        if e not in known:
            known[e] = _roles(e, expressible)
        return known[e]

    while (part := _next(graph, left, constants, banned, expressible, roles)) is not None:
        done += part.before
        done += part.equations(constants)
        left = part.after
    if not done:
        return graph
    return Graph(graph.inputs, constants, [*done, *left], graph.outputs).replaced([*done, *left])


def _small(e: Equation) -> bool:
    """Whether an equation is a product with a small matrix, or one of many rows whose result is one."""
    if e.prim.name == "affine":
        w = e.inputs[1]
        return w is not None and w.dtype.char in "fd" and w.size * w.dtype.itemsize <= thresholds.here().small
    sizes = matrices(e)
    if sizes is None:
        return False
    small = e.outputs[0] if sizes[1] else e.inputs[1]
    assert small is not None
    return small.size * small.dtype.itemsize <= thresholds.here().small


def _with_layers_apart(equations: Iterable[Equation]) -> list[Equation]:
    """Layers x wᵀ + b with small matrices as a product and a sum."""
    found = []
    for e in equations:
        x, b = (e.inputs[0], e.inputs[2]) if e.prim.name == "affine" else (None, None)
        if x is None or b is None or x.ndim < 2 or b.ndim > 1 or not _small(e):
            found.append(e)
            continue
        out = e.outputs[0]
        product = Variable(out.shape, out.dtype)
        found.append(Equation(PRIMITIVES["project"], e.inputs[:2], {}, [product], e.at))
        found.append(Equation(PRIMITIVES["add"], [product, b], {}, [out], e.at))
    return found


class _Part:
    """Equations that go over rows together, in the order of the graph; those that have to be computed before and after."""

    def __init__(self, inside: list[Equation], before: list[Equation], after: list[Equation], count: int) -> None:
        self.inside, self.before, self.after, self.count = inside, before, after, count
        self.outputs: list[Variable] = []
        self.views: list[Equation] = []
        self.tiles: Tiles | None = None

    def cut(self, sliced: dict[Variable, str], outside: set[Variable], constants: dict[Variable, np.ndarray]) -> None:
        """Write the graph of one tile. sliced: what each of its values is, "piece" or "end". outside: who else takes any."""
        count = self.count
        places: dict[tuple[Variable, bool], Variable] = {}
        given: dict[Variable, np.ndarray] = {}
        inputs: list[tuple[Variable, bool]] = []
        equations: list[Equation] = []

        def place(v: Variable, piece: bool) -> Variable:
            key = v, piece
            if key not in places:
                shape = (v.shape[0] // count, *v.shape[1:]) if piece else v.shape
                places[key] = Variable(shape, v.dtype)
                if v in constants and uniform(constants[v]):
                    given[places[key]] = np.broadcast_to(constants[v].reshape(-1)[:1].reshape(()), shape)
                elif v not in sliced:
                    inputs.append(key)
            return places[key]

        self.means: dict[Variable, tuple[Variable, int]] = {}
        for e in self.inside:
            pieces = _pieces(e)
            assert pieces is not None
            operands = [None if v is None else place(v, p) for v, p in zip(e.inputs, pieces)]
            (out,) = e.outputs
            params, prim, to = e.params, e.prim, place(out, sliced[out] == "piece")
            if "shape" in params:
                params = params | {"shape": to.shape}
            if prim.name == "mean" and sliced[out] == "end":
                x = e.inputs[0]
                assert x is not None
                prim, self.means[out] = PRIMITIVES["sum"], (Variable(out.shape, out.dtype), x.size // out.size)
            equations.append(Equation(prim, operands, params, [to], e.at))
        made = [v for e in self.inside for v in e.outputs]
        self.outputs = [v for v in made if v in outside or sliced[v] == "end"]
        ends = [sliced[v] == "end" for v in self.outputs]
        self.inputs = inputs
        results = [places[v, not end] for v, end in zip(self.outputs, ends)]
        graph = Graph([places[key] for key in inputs], given, equations, results)
        self.tiles = Tiles(graph, count, [piece for _, piece in inputs], ends)

    def equations(self, constants: dict[Variable, np.ndarray]) -> list[Equation]:
        """The equation that stands for the part, and means of what it sums up."""
        assert self.tiles is not None
        outputs = [self.means[v][0] if v in self.means else v for v in self.outputs]
        found = [Equation(TILES, [v for v, _ in self.inputs], {"tiles": self.tiles}, outputs, self.inside[0].at)]
        for v, (total, n) in self.means.items():
            number = Variable((), v.dtype)
            constants[number] = np.asarray(n, v.dtype)
            found.append(Equation(PRIMITIVES["divide"], [total, number], {}, [v]))
        return [*found, *self.views]


def _pieces(e: Equation) -> list[bool] | None:
    """Which operands an equation over rows takes pieces of, where what it gives is a piece or a sum over the rows; None for what
    cannot be cut along its first axis."""
    (out,) = e.outputs if len(e.outputs) == 1 else (None,)
    if out is None or e.prim.multi:
        return None
    if e.prim.name == "transposed_matmul":
        return [True, True]
    if e.prim.name in ("matmul", "project"):
        return [True, False]
    x = e.inputs[0] if e.inputs else None
    if e.prim.name == "reshape" or reduced(e) is not None:
        return [True]
    if e.prim.kind == "elementwise" or e.prim.name == "broadcast_to":
        if not out.ndim or x is None:
            return None
        return [v is not None and v.ndim == out.ndim and v.shape[0] == out.shape[0] for v in e.inputs]
    return None


def _gives(e: Equation) -> str | None:
    """Whether an equation that is cut gives a "piece", or an "end"; None where it cannot be cut."""
    out, x = e.outputs[0], e.inputs[0] if e.inputs else None
    if e.prim.name == "transposed_matmul":
        return "end"
    how = reduced(e)
    if how is None:
        return "piece" if out.ndim and out.shape[0] > 1 else None
    assert x is not None
    if 0 not in e.params["axis"]:
        return "piece" if out.ndim and x.shape[0] == out.shape[0] > 1 else None
    return "end" if how.how == "sum" and x.dtype.char in "fd" and x.shape[0] > 1 else None


def _roles(e: Equation, expressible: Callable[[Equation], bool]) -> tuple[list[bool], str] | None:
    """What an equation takes pieces of and what it gives, if there is code for it in a tile."""
    pieces = _pieces(e)
    gives = None if pieces is None else _gives(e)
    if pieces is None or gives is None:
        return None
    if matrices(e) is not None:
        return (pieces, gives) if _small(e) else None
    if e.prim.name in ("reshape", "broadcast_to") or (e.prim.kind in ("elementwise", "reduction") and expressible(e)):
        return pieces, gives
    return None


_Roles = Callable[[Equation], "tuple[list[bool], str] | None"]


def _next(
    graph: Graph, left: list[Equation], constants: dict[Variable, np.ndarray], banned: set[Equation],
    expressible: Callable[[Equation], bool], roles: _Roles,
) -> _Part | None:  # fmt: skip
    """The next part of what is left of a graph."""
    for _ in range(_TRIES):
        rows = _rows(left, banned)
        if rows is None:
            return None
        for several in (True, False):  # whether first axes of other sizes, that the rows' is a multiple of, are cut, too
            found = _grown(graph, left, constants, banned, expressible, roles, rows, several)
            if found is not None:
                break
        if isinstance(found, _Part):
            return found
        if found is None:  # other rows may be cut
            banned.update(e for e in left if _small(e) and e.prim.name != "affine" and _rows_of(e) == rows)
        else:
            banned.update(found)
    return None


def _rows_of(e: Equation) -> int:
    sizes = matrices(e)
    assert sizes is not None
    return sizes[0][1] if sizes[1] else sizes[0][0]


def _rows(left: Sequence[Equation], banned: set[Equation]) -> int | None:
    """The number of rows that most products of small matrices go over."""
    work: dict[int, int] = {}
    for e in left:
        if e.prim.name != "affine" and _small(e) and e not in banned:
            rows = _rows_of(e)
            work[rows] = work.get(rows, 0) + e.outputs[0].size
    return max(work, key=work.__getitem__, default=None)


def _grown(
    graph: Graph, left: list[Equation], constants: dict[Variable, np.ndarray], banned: set[Equation],
    expressible: Callable[[Equation], bool], roles: _Roles, rows: int, several: bool,
) -> _Part | list[Equation] | None:  # fmt: skip
    """The part over so many rows; equations that have to be left out; None where it cannot be cut."""
    whole = {e.inputs[1] for e in left if e.prim.name in ("matmul", "project", "affine")}
    sizes: set[int] = set()

    def cut(v: Variable) -> bool:
        return bool(v.shape) and (v.shape[0] == rows or (several and v.shape[0] > 1 and rows % v.shape[0] == 0))

    def joins(e: Equation, sliced: dict[Variable, str]) -> str | None:
        found = None if e in banned else roles(e)
        if found is None:
            return None
        pieces, gives = found
        if gives == "piece" and (not cut(e.outputs[0]) or e.outputs[0] in whole):
            return None
        for v, piece in zip(e.inputs, pieces):
            if v is not None and ((piece and not cut(v)) or (v in sliced and not (piece and sliced[v] == "piece"))):
                return None
        return gives

    apart: set[Equation] = set()  # what no product of the part takes or gives anything, and stands before it
    while True:
        sliced: dict[Variable, str] = {}
        later: set[Variable] = set()
        inside: list[Equation] = []
        before: list[Equation] = []
        after: list[Equation] = []
        for e in left:
            if any(v in later or sliced.get(v) == "end" for v in e.inputs if v is not None):
                after.append(e)
                later.update(e.outputs)
                continue
            gives = None if e in apart else joins(e, sliced)
            if gives is not None:
                inside.append(e)
                sliced[e.outputs[0]] = gives
            elif any(v in sliced for v in e.inputs if v is not None):
                after.append(e)
                later.update(e.outputs)
            else:
                before.append(e)
        alone = _unconnected(inside, sliced)
        if not alone:
            break
        apart |= alone
    if not inside:
        return None
    kept = {v for e in inside for v in e.outputs}
    for e in inside:
        pieces = _pieces(e)
        assert pieces is not None
        sizes.update(v.shape[0] for v, piece in zip(e.inputs, pieces) if v is not None and piece)
        sizes.update(v.shape[0] for v in e.outputs if sliced[v] == "piece")
    count = _count(inside, sliced, math.gcd(*sizes), rows)
    if count is None:
        return None if several else [e for e in inside if matrices(e) is not None]
    part = _Part(inside, before, after, count)
    outside = {*graph.outputs, *(v for e in after for v in e.inputs if v is not None)} & kept
    for e in reversed(inside):  # views that others take are views of what is written
        if e.prim.name in ("reshape", "broadcast_to") and e.outputs[0] in outside:
            outside.remove(e.outputs[0])
            outside.update(v for v in e.inputs if v in kept)
            part.views.insert(0, e)
    part.cut(sliced, outside, constants)
    assert part.tiles is not None
    for e, original in zip(part.tiles.graph.equations, inside):
        if matrices(e) is None and e.prim.name not in ("reshape", "broadcast_to") and not expressible(e):
            return [original]
    made = {e.outputs[0]: original for e, original in zip(part.tiles.graph.equations, inside)}
    parts = partition(part.tiles.graph, expressible)
    for step in parts.steps:
        if not isinstance(step, Group) and matrices(step) is None:
            return [made[step.outputs[0]]]
    for e in part.tiles.graph.equations:
        if matrices(e) is not None:
            for v in e.inputs:
                assert v is not None
                access = parts.accesses[v]
                matrix = access if v.ndim == 2 else access.reshaped((v.size // v.shape[-1], v.shape[-1]))
                if matrix is None or access.base in part.tiles.graph.constants:
                    return [made[e.outputs[0]]]
    for v in part.tiles.graph.outputs:  # they are written, not views of something
        if v in parts.views:
            return [made[v]]
    return part


def _unconnected(inside: list[Equation], sliced: dict[Variable, str]) -> set[Equation]:
    """The equations that no product takes pieces of nor gives any to, not even by way of others."""
    above: dict[Variable, Variable] = {}

    def root(v: Variable) -> Variable:
        while above.setdefault(v, v) is not v:
            v = above[v]
        return v

    for e in inside:
        for v in e.inputs:
            if v is not None and v in sliced:
                above[root(v)] = root(e.outputs[0])
    wanted = {root(e.outputs[0]) for e in inside if matrices(e) is not None}
    return {e for e in inside if root(e.outputs[0]) not in wanted}


def _count(inside: Sequence[Equation], sliced: dict[Variable, str], most: int, rows: int) -> int | None:
    """How many tiles: so many that what becomes of one fits the cache. None where a part cannot be cut so."""
    last: dict[Variable, int] = {}
    for i, e in enumerate(inside):
        last.update((v, i) for v in e.inputs if v is not None and v in sliced)
    now, peak, gone = 0, 0, dict[int, int]()
    for i, e in enumerate(inside):
        out = e.outputs[0]
        if sliced[out] == "piece":
            size = out.size * out.dtype.itemsize
            now += size
            at = last.get(out, i)
            gone[at] = gone.get(at, 0) + size
        peak = max(peak, now)
        now -= gone.get(i, 0)
    work = sum(e.outputs[0].size * _depth(e) for e in inside)
    low = [d for d in range(1, math.isqrt(most) + 1) if most % d == 0]
    divisors = sorted({*low, *(most // d for d in low)})
    count = next((d for d in divisors if peak // d <= _CACHE and work // d <= _FEW), divisors[-1])
    if peak // count > STACK or work // count > 4 * _FEW or (count > 1 and rows // count < _LEAST_ROWS):
        return None
    return count


def _depth(e: Equation) -> int:
    """Summands of each number of a product."""
    sizes = matrices(e)
    return 0 if sizes is None else sizes[0][1]
