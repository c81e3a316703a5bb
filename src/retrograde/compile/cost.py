"""What a graph costs: floating-point operations, bytes moved, the kernels that it becomes, and the memory that it needs beside
its operands. `f.cost(...)` of a compiled function.

`operations` counts by the kinds of the records; what has a count of its own stands in one table, `COUNTS`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from .emit import machine
from .emit.batches import BatchKernel
from .emit.joins import JoinKernel
from .emit.tiles import TilesKernel
from .graph import Equation, Graph, Variable, uniform
from .passes.batches import PRODUCTS, multiplications
from .passes.decompose import decomposed
from .passes.memory import ALWAYS, Memory
from .passes.tiles import TILES, Tiles

# ------------------------------------------------------------------------------------------ operations


def _size(v: Variable | None) -> int:
    return 0 if v is None else v.size


def _contraction(e: Equation) -> int:
    """A product of matrices, of which the second operand's last axes hold what is summed over: 2 m n k."""
    x, y, out = e.inputs[0], e.inputs[1], e.outputs[0]
    assert x is not None
    assert y is not None
    if e.prim.name == "transposed_matmul":
        return 2 * out.size * x.shape[-2]
    return 2 * out.size * x.shape[-1]


def _sum_of_products(e: Equation) -> int:
    sizes: dict[int, int] = {}
    for axes, v in zip(e.params["inputs"], e.inputs):
        assert v is not None
        sizes.update(zip(axes, v.shape))
    return len(e.inputs) * math.prod(sizes.values())


def _convolution(of: int) -> Callable[[Equation], int]:
    """Twice the elements of the images on one side times what of the kernel each of them meets. of: the operand that is read
    element by element (-1: the result)."""

    def count(e: Equation) -> int:
        image = e.outputs[0] if of < 0 else e.inputs[of]
        w = e.inputs[1] if e.prim.name != "convolve_weight" else e.outputs[0]
        return 2 * _size(image) * _size(w) // max(1, w.shape[0] if w is not None else 1)

    return count


def _recurrence(states: int) -> Callable[[Equation], int]:
    """For each step of each sequence the products with the weights, which stand behind so many states, and what follows them."""

    def count(e: Equation) -> int:
        x, weights = e.inputs[0], [v for v in e.inputs[1 + states :] if v is not None and v.ndim == 2]
        assert x is not None
        return math.prod(x.shape[:2]) * sum((2 * w.size for w in weights), 10 * weights[0].shape[0])

    return count


def _attention(e: Equation) -> int:
    q, k, v = e.inputs[:3]
    assert q is not None
    assert k is not None
    assert v is not None
    scores = q.size // max(1, q.shape[-1]) * k.shape[-2]
    return scores * (2 * q.shape[-1] + 2 * v.shape[-1] + 5)


def _transform(e: Equation) -> int:
    """Of Fourier: 5 n log2 n."""
    n = max(map(_size, (*e.inputs, *e.outputs)))
    return 5 * n * max(1, math.ceil(math.log2(max(2, n))))


def _factorisation(factor: float) -> Callable[[Equation], int]:
    """So many times n³ for each matrix of n rows."""

    def count(e: Equation) -> int:
        x = e.inputs[0]
        assert x is not None
        rows, columns = x.shape[-2:]
        return int(factor * math.prod(x.shape) * min(rows, columns))

    return count


def _solved(e: Equation) -> int:
    a, b = e.inputs[:2]
    assert a is not None
    return int(a.size * a.shape[-1] * 2 / 3) + 2 * _size(b) * a.shape[-1]


def _counted(graph: Graph) -> int:
    return sum(operations(part) for e in graph.equations for part in _parts(e))


COUNTS: dict[str, Callable[[Equation], int]] = {
    "matmul": _contraction,
    "project": _contraction,
    "transposed_matmul": _contraction,
    "affine": lambda e: _contraction(e) + e.outputs[0].size,
    "add_matmul": lambda e: 2 * e.outputs[0].size * (1 + (e.inputs[1].shape[-1] if e.inputs[1] is not None else 0)),
    "einsum": _sum_of_products,
    "convolve": _convolution(-1),
    "convolve_transpose": _convolution(0),
    "convolve_weight": _convolution(1),
    "lstm_layer": _recurrence(2),
    "lstm_states": _recurrence(2),
    "gru_layer": _recurrence(1),
    "gru_states": _recurrence(1),
    "rnn_layer": _recurrence(1),
    "attention": _attention,
    "cdist": lambda e: 3 * e.outputs[0].size * (e.inputs[0].shape[-1] if e.inputs[0] is not None else 0),
    **dict.fromkeys(("fft_c2c", "fft_r2c", "fft_c2r"), _transform),
    **dict.fromkeys(("cholesky", "cholesky_info"), _factorisation(1 / 3)),
    **dict.fromkeys(("lu", "lu_factor", "lu_info", "ldl_factor", "det", "slogdet", "slogdet_kept"), _factorisation(2 / 3)),
    **dict.fromkeys(("inv", "qr", "geqrf"), _factorisation(2)),
    **dict.fromkeys(("eigh", "eigvalsh"), _factorisation(9)),
    **dict.fromkeys(("svd", "svdvals", "pinv", "eig", "eigvals", "lstsq", "matrix_exp"), _factorisation(20)),
    **dict.fromkeys(("solve", "solve_kept"), _solved),
    "scan": lambda e: e.params["loop"].length * _counted(e.params["loop"].graph),
    "cond": lambda e: max(_counted(graph) for _, graph in e.params["choice"].graphs()),
    "while_loop": lambda e: sum(_counted(graph) for _, graph in e.params["loop"].graphs()),
    "solve_triangular": lambda e: _size(e.inputs[1]) * (e.inputs[0].shape[-1] if e.inputs[0] is not None else 0),
}
"""Of operations that are neither one step for each element nor made of such: how many. A choice counts as its longer branch,
and a loop of unknown length as one turn, which the table says."""


def operations(e: Equation) -> int:
    """The floating-point operations of an equation: one for each element of a result of an elementwise operation, and of the
    operand of a reduction, whatever the function is; none of what only moves elements, or computes with whole numbers."""
    if not any(v.dtype.kind in "fcV" for v in (*e.inputs, *e.outputs) if v is not None):
        return 0
    if e.prim is TILES:
        tiles: Tiles = e.params["tiles"]
        return tiles.count * _counted(tiles.graph)
    if e.prim is PRODUCTS:
        return 2 * multiplications(e.params["batch"])
    own = COUNTS.get(e.prim.name)
    if own is not None:
        return own(e)
    if e.prim.kind == "structural":
        return 0
    if e.prim.kind == "elementwise":
        return sum(v.size for v in e.outputs)
    most = max(map(_size, (*e.inputs, *e.outputs)), default=0)
    if e.prim.name.startswith(("argsort", "argtopk", "unique")):
        return most * max(1, math.ceil(math.log2(max(2, most))))
    return most


# ------------------------------------------------------------------------------------------ the whole


@dataclass(frozen=True)
class Kernel:
    """A part of what is run. what: one loop or the operation that is called; operations: floating-point ones; bytes: read and
    written."""

    what: str
    operations: int
    bytes: int


@dataclass(frozen=True)
class Cost:
    """What one call costs.

    operations: floating-point operations. bytes: read and written by the kernels, each operand once. kernels: in the order in
    which they run. peak_memory: the bytes of results and buffers that are there at the same time, without operands and constants.
    """

    operations: int
    bytes: int
    kernels: tuple[Kernel, ...]
    peak_memory: int

    def __str__(self) -> str:
        rows = [(k.what, _rounded(k.operations), _rounded(k.bytes)) for k in self.kernels]
        rows.append(("all", _rounded(self.operations), _rounded(self.bytes)))
        wide = max(len(row[0]) for row in rows)
        lines = [f"{'kernel':{wide}}  {'operations':>10}  {'bytes':>10}"]
        lines += [f"{what:{wide}}  {done:>10}  {moved:>10}" for what, done, moved in rows]
        return "\n".join([*lines, f"{_rounded(self.peak_memory)} bytes at most beside operands and constants"])


def _rounded(n: int) -> str:
    for unit, name in ((1e12, "T"), (1e9, "G"), (1e6, "M"), (1e4, "k")):
        if n >= unit:
            return f"{n / (1e3 if name == 'k' else unit):.3g} {name}"
    return str(n)


def cost(graph: Graph, emitter: Any) -> Cost:
    """The cost of a graph that has gone through the passes, run by an emitter."""
    if emitter is machine:
        found = machine.Emitted(graph)
        graph, pieces = found.graph, [_Piece.of(piece) for piece in found.pieces]
    else:
        pieces = [_Piece.of(e) for e in graph.equations if e.prim.name not in ALWAYS]
    known = {v for v, a in graph.constants.items() if uniform(a)}
    kernels = [
        Kernel(p.what, p.operations, p.inside + sum(_bytes(v, known) for v in (*p.takes, *p.gives))) for p in pieces
    ]  # fmt: skip
    done, moved = sum(k.operations for k in kernels), sum(k.bytes for k in kernels)
    return Cost(done, moved, tuple(kernels), _peak(graph, pieces))


class _Piece:
    """A kernel, as far as it is counted. inside: bytes that its loops hand on to each other through buffers; room: of these."""

    def __init__(
        self, what: str, operations: int, takes: Sequence[Variable], gives: Sequence[Variable], inside: int = 0, room: int = 0
    ) -> None:  # fmt: skip
        self.what, self.operations, self.inside, self.room = what, operations, inside, room
        self.takes, self.gives = list(dict.fromkeys(takes)), list(gives)

    @classmethod
    def of(cls, piece: Any) -> _Piece:
        if isinstance(piece, Equation):
            shape = "x".join(map(str, piece.outputs[0].shape)) or "a number"
            made = sum(map(operations, _parts(piece)))
            turn = " (one turn)" if piece.prim.name == "while_loop" else ""
            return cls(f"{piece.prim.name} -> {shape}{turn}", made, [v for v in piece.inputs if v is not None], piece.outputs)
        equations, loops, count = list[Equation](), list[str](), 0
        for k in piece.kernels:
            if isinstance(k, BatchKernel):
                equations.append(k.equation)
                count += 1
                loops.append(f"{k.units} products")
            elif isinstance(k, JoinKernel):
                equations.append(k.equation)
                count += 1
                loops.append(f"{k.units} rows of {len(k.bases)} parts")
            elif isinstance(k, TilesKernel):
                equations.append(k.equation)
                count += len(k.tiles.graph.equations)
                loops.append(f"{k.tiles.count} tiles")
            else:
                equations += k.group.equations
                count += len(k.group.equations)
                loops.append(f"{k.rows} x {k.width}")
        handed = {*piece.takes, *piece.gives}
        inside = sum(_bytes(v, ()) for k in piece.kernels for v in (*k.takes(), *k.gives()) if v not in handed)
        names = f"{count} operation{'s' if count > 1 else ''} over {', '.join(loops)}"
        return cls(names, sum(map(operations, equations)), piece.takes, piece.gives, inside, piece.room)


def _parts(e: Equation) -> Sequence[Equation]:
    """What an equation is made of, where that says how much it computes."""
    if e.prim.name in COUNTS or e.prim.kind not in ("composite", "general"):
        return [e]
    alone = Graph([v for v in e.inputs if v is not None], {}, [e], e.outputs)
    return decomposed(alone, lambda part: part.prim.kind in ("elementwise", "reduction")).equations


def _bytes(v: Variable, known: Any) -> int:
    return v.dtype.itemsize * (1 if v in known else v.size)


def _peak(graph: Graph, pieces: Sequence[_Piece]) -> int:
    """The most bytes that are there at the same time: results until what takes them last has run, and the buffers of loops."""
    memory = Memory(graph)
    last: dict[Variable, int] = {}
    for i, p in enumerate(pieces):
        last.update((memory.root(v), i) for v in (*p.takes, *p.gives))
    last.update((memory.root(v), len(pieces)) for v in graph.outputs)
    outside = {*graph.inputs, *graph.constants}
    there: dict[Variable, int] = {}
    most = 0
    for i, p in enumerate(pieces):
        there.update((v, _bytes(v, ())) for v in map(memory.root, p.gives) if v not in outside)
        most = max(most, sum(there.values()) + p.room)
        for v in [v for v in there if last[v] <= i]:
            del there[v]
    copies = [v for v in graph.outputs if memory.root(v) in outside]
    return most + int(np.sum([_bytes(v, ()) for v in copies], dtype=np.int64))
