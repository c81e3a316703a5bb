"""Whole LSTM and GRU layers as generated code (float32), forward and backward, and what follows the products in one step.

Sequences of a batch do not meet: a unit of work is a block of them, for which all steps are done one after another, the
product with the recurrent weight inside: its sums for the gates of some numbers of the state stay in registers until the
activations are made of them. The weight is laid out for that once per call, vector by vector of the state, and read from
the cache for several sequences at a time. Where nothing is kept for a derivative, the product with the input's weight is
inside, too: what the input gives to the gates of all steps takes four times the memory of the states.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from . import llvm
from .copies import ordered, packed
from .operands import address, aligned
from .products import panel_rows, product
from .threads import count, pool, tiles
from .vectors import Part, Vectors

Arrays = tuple[np.ndarray, ...]

LEAST = 1 << 7
"""Fewer numbers of the gates, of all steps, are left to NumPy, which takes 10 µs for each step."""

LEAST_STEP = 1 << 9
"""Fewer numbers of a state are left to NumPy in single steps: 1,024 of an LSTM take it 16 µs, generated code 4."""

SHORT = 16
"""Steps of single sequences, of fewer the layout of the weight costs more than it saves."""
_TILES = 11  # of sequences in a unit at most: the whole weight is read once for each step of a unit

MANY = 24
"""Sequences of which the product with the input's weight is made step by step; of fewer, in tiles that are not full, one product
for all steps is faster, and what it gives is little."""


def suited(
    size: int, *arrays: np.ndarray | None, kind: str = "lstm", biased: bool = True
) -> bool:  # fmt: skip
    """Whether a layer whose states are `size` numbers, with these float32 operands, is computed here; kind: "lstm" or "gru"."""
    return (
        size >= LEAST and all(a is None or a.dtype == np.float32 for a in arrays)
        and _generated(kind, (biased, "keep")) is not None
    )  # fmt: skip


def lstm(gates: np.ndarray, h: np.ndarray, c: np.ndarray, w: np.ndarray, b: np.ndarray | None, backwards: bool) -> Arrays:
    """States, cells (time, batch, n) and, for the derivative, activations (time, batch, 4n) from the inputs' gates: input,
    forget, cell, output.

    w: the recurrent weight (4n, n). backwards: from the last step to the first.
    """
    shape = *gates.shape[:2], h.shape[1]
    out, cells, kept = np.empty(shape, np.float32), np.empty(shape, np.float32), np.empty(gates.shape, np.float32)
    _forwards("lstm", (out, cells, kept), gates, h, c, w, b, backwards)
    return out, cells, kept


def gru(gates: np.ndarray, h: np.ndarray, w: np.ndarray, b: np.ndarray | None, backwards: bool) -> Arrays:
    """States (time, batch, n) from the inputs' gates (time, batch, 3n): reset, update, new; and, for the derivative, (time,
    batch, 4n): the activations, and what the state contributes to the new one before it is reset.

    w: the recurrent weight (3n, n). backwards: from the last step to the first.
    """
    shape = *gates.shape[:2], h.shape[1]
    out, kept = np.empty(shape, np.float32), np.empty((*shape[:2], 4 * shape[2]), np.float32)
    _forwards("gru", (out, None, kept), gates, h, None, w, b, backwards)
    return out, kept


def lstm_states(
    x: np.ndarray, h: np.ndarray, c: np.ndarray, w_in: np.ndarray, w: np.ndarray, b: np.ndarray | None, backwards: bool,
    every: bool,
) -> Arrays:  # fmt: skip
    """States (time, batch, n) and cells, those of `every` step or the last ones (batch, n), from the input (time, batch, m).

    w_in, w: the input's weight (4n, m) and the recurrent one (4n, n).
    """
    shape = *x.shape[:2], h.shape[1]
    out, cells = np.empty(shape, np.float32), np.empty(shape if every else shape[1:], np.float32)
    _from_input("lstm", (out, cells, None), x, h, c, w_in, w, None, b, backwards)
    return out, cells


def gru_states(
    x: np.ndarray, h: np.ndarray, w_in: np.ndarray, w: np.ndarray, b_in: np.ndarray | None, b: np.ndarray | None,
    backwards: bool,
) -> np.ndarray:  # fmt: skip
    """States (time, batch, n) from the input (time, batch, m)."""
    out = np.empty((*x.shape[:2], h.shape[1]), np.float32)
    _from_input("gru", (out, None, None), x, h, None, w_in, w, b_in, b, backwards)
    return out


def _from_input(
    kind: str, outs: tuple[np.ndarray | None, ...], x: np.ndarray, h: np.ndarray, c: np.ndarray | None, w_in: np.ndarray,
    w: np.ndarray, b_in: np.ndarray | None, b: np.ndarray | None, backwards: bool,
) -> None:  # fmt: skip
    """The walk of a layer from its input: with the input's product inside, or after it."""
    steps, batch, features = x.shape
    if batch >= MANY:  # however many threads share them
        _forwards(kind, outs, x, h, c, w, b, backwards, w_in, b_in)
        return
    gates = product(x.reshape(-1, features), w_in.T, b_in).reshape(steps, batch, -1)
    _forwards(kind, outs, gates, h, c, w, b, backwards)


def _forwards(
    kind: str, outs: tuple[np.ndarray | None, ...], given: np.ndarray, h: np.ndarray, c: np.ndarray | None, w: np.ndarray,
    b: np.ndarray | None, backwards: bool, w_in: np.ndarray | None = None, b_in: np.ndarray | None = None,
) -> None:  # fmt: skip
    """The walk from the inputs' gates, or with their weight and bias from the inputs. outs: states, cells, what is kept."""
    out, cells, kept = outs
    assert out is not None
    gates = len(w) // h.shape[1]
    if given.strides[2] != given.itemsize or any(step % given.itemsize for step in given.strides):
        given = packed(given)
    times, rows = (step // given.itemsize for step in given.strides[:2])
    h, (c, b, b_in) = packed(h), (None if x is None else packed(x) for x in (c, b, b_in))
    panels, inputs = _panels(w, gates), None if w_in is None else _panels(w_in, gates)
    features = given.shape[2]
    depth = panel_rows(features)
    form = "keep" if kept is not None else "gates" if w_in is None else "input" if b_in is None else "biased"
    pointers = out, cells, kept, aligned(given), h, c, panels, b, inputs, b_in
    sizes = features, depth, times, rows, 0 if cells is None or cells.ndim == 2 else len(cells[0])
    _call(kind, (b is not None, form), pointers, out.shape, gates, backwards, *sizes)


def lstm_pull(
    kept: np.ndarray, cells: np.ndarray, c: np.ndarray, w: np.ndarray, g: np.ndarray | None, g_cells: np.ndarray | None,
    backwards: bool,
) -> Arrays:  # fmt: skip
    """The cotangents of the gates' sums (time, batch, 4n), and of the first state and cell.

    kept, cells: what `lstm` gave, from the first cell c on. g, g_cells: the cotangents of states and cells.
    """
    shape = steps, batch, n = cells.shape
    d, dh, dc = np.empty((steps, batch, 4 * n), np.float32), np.zeros((batch, n), np.float32), np.zeros((batch, n), np.float32)
    kept, cells, c, w = packed(kept), packed(cells), packed(c), packed(w)
    g, g_cells = (None if x is None else packed(x) for x in (g, g_cells))
    pointers = d, None, dh, dc, kept, cells, c, w, g, g_cells
    _call("lstm_pull", (g is not None, g_cells is not None), pointers, shape, 4, backwards)
    return d, dh, dc


def gru_pull(kept: np.ndarray, out: np.ndarray, h: np.ndarray, w: np.ndarray, g: np.ndarray, backwards: bool) -> Arrays:
    """The cotangents of the state's and of the inputs' contributions to the gates (time, batch, 3n), and of the first state.

    kept, out: what `gru` gave, from the first state h on. g: the cotangent of the states.
    """
    shape = steps, batch, n = out.shape
    d, d_gates = (np.empty((steps, batch, 3 * n), np.float32) for _ in range(2))
    dh = np.zeros((batch, n), np.float32)
    kept, out, h, w, g = packed(kept), packed(out), packed(h), packed(w), packed(g)
    pointers = d, d_gates, dh, None, kept, out, h, w, g, None
    _call("gru_pull", (True, False), pointers, shape, 3, backwards)
    return d, d_gates, dh


def lstm_step(gates: np.ndarray, c: np.ndarray) -> Arrays | None:
    """The state and the cell (..., n) after the cell c, from the sums of the gates (..., 4n); None where it is NumPy's affair."""
    if not _steps("lstm", c, gates):
        return None
    out, cells = np.empty(c.shape, np.float32), np.empty(c.shape, np.float32)
    _call_step("lstm", (out, cells, packed(gates), None, packed(c)), c)
    return out, cells


def gru_step(gates: np.ndarray, own: np.ndarray, h: np.ndarray) -> np.ndarray | None:
    """The state (..., n) after h, from the input's and its own contributions to the gates (..., 3n); None as for `lstm_step`."""
    if not _steps("gru", h, gates, own):
        return None
    out = np.empty(h.shape, np.float32)
    _call_step("gru", (out, None, packed(gates), packed(own), packed(h)), h)
    return out


def _steps(kind: str, state: np.ndarray, *gates: np.ndarray) -> bool:
    """Whether a step that ends in such a state is computed here."""
    if state.size < LEAST_STEP or state.dtype != np.float32:
        return False
    shape = *state.shape[:-1], state.shape[-1] * (4 if kind == "lstm" else 3)
    return all(x.dtype == np.float32 and x.shape == shape for x in gates) and _step(kind) is not None


def _call_step(kind: str, operands: tuple[np.ndarray | None, ...], state: np.ndarray) -> None:
    function, n = _step(kind), state.shape[-1]
    assert function is not None  # `_steps` has been asked
    function(*tiles(state.size // n, 64 * state.size), *map(address, operands), n)


def _call(name: str, variant: Any, pointers: Any, shape: tuple[int, ...], gates: int, backwards: bool, *more: int) -> None:
    steps, batch, n = shape
    function = _generated(name, variant)
    assert function is not None  # `suited` has been asked
    work = steps * batch * n * n * gates >> 2
    together = _together(batch, work)
    units = tiles(-(-batch // together), work)
    first, step = (steps - 1, -1) if backwards else (0, 1)
    function(*units, *map(address, pointers), steps, batch, n, together, first, step, *more)


def _together(batch: int, work: int) -> int:
    """Sequences of a unit: as many for each thread."""
    threads, most = count() if pool(work) else 1, _TILES * _height(4)
    return -(-batch // (threads * -(-batch // (threads * most))))


def _panels(w: np.ndarray, gates: int) -> np.ndarray:
    """A weight (gates n, m) as (panels, m, gates, lanes): what one number of m gives to the gates of a vector of the state."""
    lanes, (rows, m) = _lanes(), w.shape
    n = rows // gates
    count = -(-n // lanes)
    whole = w.reshape(gates, n, m)
    if count * lanes != n:
        whole = np.zeros((gates, count * lanes, m), np.float32)
        whole[:, :n] = w.reshape(gates, n, m)
    return ordered(whole.reshape(gates, count, lanes, m).transpose(1, 3, 0, 2))


@functools.cache
def _lanes() -> int:
    """The numbers of a register."""
    kind = llvm.processor()
    assert kind is not None  # `suited` has been asked
    return kind.register // 4


@functools.cache
def _height(vectors: int) -> int:
    """The rows of a tile whose sums, so many registers each, stay in registers."""
    kind = llvm.processor()
    assert kind is not None  # `suited` has been asked
    return {3: 8, 4: 6}[vectors] if kind.registers == 32 else {3: 4, 4: 3}[vectors]


@functools.cache
def _generated(name: str, variant: Any) -> Callable[..., None] | None:
    more = ""
    if name.endswith("_pull"):
        pointers = "ptr d, ptr other, ptr dh, ptr dc, ptr kept, ptr states, ptr before, ptr w, ptr g, ptr g_cells"
        body = functools.partial(_pull, rule=_lstm_back if name == "lstm_pull" else _gru_back, given=variant)
    else:
        pointers = "ptr out, ptr cells, ptr kept, ptr input, ptr h, ptr c, ptr w, ptr b, ptr w_in, ptr b_in"
        body = functools.partial(_forward, rule=_lstm_step if name == "lstm" else _gru_step, variant=variant)
        more = ", i64 features, i64 depth, i64 times, i64 rows, i64 each"
    operands = f"{pointers}, i64 steps, i64 batch, i64 n, i64 together, i64 start, i64 step{more}"
    return llvm.shared(f"{name}_layer", operands, body)


@functools.cache
def _step(kind: str) -> Callable[..., None] | None:
    body = functools.partial(_alone, rule=_lstm_step if kind == "lstm" else _gru_step)
    return llvm.shared(f"{kind}_step", "ptr out, ptr cells, ptr gates, ptr own, ptr state, i64 n", body)


# ------------------------------------------------------------------------------------------ their code


Inside = Sequence[tuple[str, Sequence[int]]]
"""Conditions, and the rows of a tile that are there where each of them holds."""


class _Walk:
    """The steps of a block of sequences, and where their numbers stand."""

    def __init__(self, code: llvm.Code) -> None:
        self.code, self.v = code, Vectors(code, _lanes())
        code.declare("declare i64 @llvm.smin.i64(i64, i64)")

    def units(self, block: Callable[[str, str], None]) -> None:
        """block(first, last): for each unit, its sequences."""
        code = self.code

        def unit(u: str) -> None:
            first = code.mul(u, "%together")
            block(first, code.least(code.add(first, "%together"), "%batch"))

        code.loop("%first", "%last", 1, unit)

    def at(self, pointer: str, row: str, parts: int, t: str | None = None) -> str:
        """The address of the `parts` times n numbers of a sequence (at a step, if one is given)."""
        code = self.code
        row = row if t is None else code.add(code.mul(t, "%batch"), row)
        return code.at("float", pointer, code.mul(code.mul(row, "%n"), parts))

    def before(self, now: str, states: str, first: str, s: str, size: str = "%batch") -> str:
        """The address of the states in front of a step, `size` rows for each: of the walk's first (s = 0) those at `first`."""
        code = self.code
        earlier = code.value(f"sub i64 {now}, %step")
        place = code.at("float", states, code.mul(code.mul(earlier, size), "%n"))
        return code.value(f"select i1 {code.value(f'icmp eq i64 {s}, 0')}, ptr {first}, ptr {place}")

    def time(self, s: str) -> str:
        """The number of the step that the walk comes to after s others."""
        return self.code.add("%start", self.code.mul(s, "%step"))

    def rows(self, first: str, last: str, vectors: int, tile: Callable[[list[str], Inside], None]) -> None:
        """tile(rows, inside): for each tile of sequences; beyond the last one, that one again, to be computed and not stored.

        vectors: of the sums of a row. What is missing in the last of the tiles is taken from several of them, a row of each: 32
        rows are 6, 6, 5, 5, 5, 5.
        """
        code, height = self.code, _height(vectors)
        low, some = height - 1, code.value(f"sub i64 {last}, {first}")
        tiles = code.value(f"sdiv i64 {code.add(some, low)}, {height}")
        short = code.least(tiles, code.value(f"sub i64 {code.mul(tiles, height)}, {some}"))
        whole = code.add(first, code.mul(code.value(f"sub i64 {tiles}, {short}"), height))

        def all(i: str) -> None:
            rows = [code.add(i, r) for r in range(height)]
            tile(rows, [(code.value(f"icmp slt i64 {rows[-1]}, {last}"), range(height))])

        def few(i: str) -> None:
            end, rows = code.add(last, -1), [code.add(i, r) for r in range(low)]
            inside = [(code.value(f"icmp slt i64 {row}, {last}"), [r]) for r, row in enumerate(rows)]
            tile([code.least(row, end) for row in rows], inside)

        code.loop(first, whole, height, all)
        code.loop(whole, last, low, few)

    def stored(self, inside: Inside, store: Callable[[int], None]) -> None:
        """store(r) for the rows of a tile that are there.

        Behind a branch, though all rows of a whole tile are: so what is stored is computed for all of them before, and the
        processor has several rows at work, none of which waits for the long chains of another one's activations.
        """
        for there, rows in inside:

            def some(rows: Sequence[int] = rows) -> None:
                for r in rows:
                    store(r)

            self.code.when(there, some)

    def products(
        self, depth: str, sources: list[str], vector: Callable[[str, int], str], start: list[str]
    ) -> list[str]:  # fmt: skip
        """The sums of a tile, from its first ones on: numbers k < depth of each source times vector(k, q) for each q."""
        code, v, heights = self.code, self.v, range(len(sources))
        count = len(start) // len(sources)

        def step(k: str, *sums: str) -> list[str]:
            def number(r: int) -> str:
                return code.spread(v.lanes, "float", code.value(f"load float, ptr {code.at('float', sources[r], k)}"))

            if len(sources) < count:  # the fewer ones stay in registers
                xs = [number(r) for r in heights]
                by_vector = [[v.call("fma", xs[r], w, sums[r * count + q]) for r in heights]
                             for q in range(count) for w in (vector(k, q),)]  # fmt: skip
                return [by_vector[q][r] for r in heights for q in range(count)]
            ws = [vector(k, q) for q in range(count)]
            return [v.call("fma", x, w, sums[r * count + q]) for r in heights for x in (number(r),) for q, w in enumerate(ws)]

        return code.loop(0, depth, 1, step, carried=[(v.type, x) for x in start])


Load = Callable[..., str]
Store = Callable[..., None]


def _forward(code: llvm.Code, *, rule: Callable[..., None], variant: tuple[bool, str]) -> None:
    """What is given: the gates ("keep": with activations to keep, or "gates"), or the input ("input", "biased")."""
    walk, (biased, form) = _Walk(code), variant
    v, gates = walk.v, 4 if rule is _lstm_step else 3
    inputs = code.value(f"alloca [{_height(gates) * gates * v.lanes} x float], align 64")

    def given(row: str, t: str) -> str:
        """The address of what is given for a sequence at a step."""
        return code.at("float", "%input", code.add(code.mul(t, "%times"), code.mul(row, "%rows")))

    def block(first: str, last: str) -> None:
        def moment(s: str) -> None:
            t = walk.time(s)
            before = walk.before(t, "%out", "%h", s)
            cells = walk.before(t, "%cells", "%c", s, "%each")
            cells_now = code.at("float", "%cells", code.mul(code.mul(t, "%each"), "%n"))

            def panel(j: str, part: Part) -> None:
                def panels(weight: str, depth: str) -> Callable[[str, int], str]:
                    start = code.at("float", weight, code.mul(code.mul(j, depth), gates))
                    return lambda k, q: v.load(code.at("float", start, code.mul(k, gates * v.lanes)), q * v.lanes)

                def biases(there: bool, pointer: str) -> list[str]:
                    return [
                        part.load(v, pointer, code.add(code.mul("%n", q), j)) if there else v.constant(0.0)
                        for q in range(gates)
                    ]

                own, shift = panels("%w", "%n"), biases(biased, "%b")
                if form in ("input", "biased"):
                    outer, shift_in = panels("%w_in", "%features"), biases(form == "biased", "%b_in")

                def tile(rows: list[str], inside: Inside) -> None:
                    if form in ("input", "biased"):
                        from_input([given(row, t) for row in rows])
                    sums = walk.products("%n", [walk.at(before, row, 1) for row in rows], own, shift * len(rows))
                    found: list[list[tuple[str, str, int, int]]] = [[] for _ in rows]
                    for r, row in enumerate(rows):

                        def load(
                            pointer: str, q: int = 0, parts: int = 1, *, now: bool = False, r: int = r, row: str = row
                        ) -> str:  # fmt: skip
                            if pointer != "%gates":
                                return part.load(v, walk.at(pointer, row, 1), j)
                            if form in ("input", "biased"):
                                return v.load(inputs, (r * gates + q) * v.lanes, align=4 * v.lanes)
                            return part.load(v, given(row, t), code.add(code.mul("%n", q), j))

                        def store(x: str, pointer: str, q: int = 0, parts: int = 1, r: int = r) -> None:
                            if form == "keep" or pointer != "%kept":
                                found[r].append((x, pointer, q, parts))

                        rule(v, sums[r * gates : (r + 1) * gates], load, store, before, cells)

                    def finish(r: int) -> None:
                        for x, pointer, q, parts in found[r]:
                            place = walk.at(cells_now, rows[r], 1) if pointer == "%cells" else walk.at(pointer, rows[r], parts, t)
                            part.store(v, x, place, code.add(code.mul("%n", q), j))

                    walk.stored(inside, finish)

                def from_input(sources: list[str]) -> None:
                    """What the input gives to the gates, summed as `product` does it."""
                    zero = ["zeroinitializer"] * (gates * len(sources))

                    def some(k: str, *totals: str) -> list[str]:
                        here = code.least(code.value(f"sub i64 %features, {k}"), "%depth")
                        moved = [code.at("float", source, k) for source in sources]
                        sums = walk.products(here, moved, lambda i, q: outer(code.add(i, k), q), zero)
                        return [v.add(total, x) for total, x in zip(totals, sums, strict=True)]

                    totals = code.loop(0, "%features", "%depth", some, carried=[(v.type, x) for x in zero])
                    for at, (total, more) in enumerate(zip(totals, shift_in * len(sources), strict=True)):
                        v.store(v.add(total, more) if form == "biased" else total, inputs, at * v.lanes, align=4 * v.lanes)

                walk.rows(first, last, gates, tile)

            v.over("%n", panel)

        code.loop(0, "%steps", 1, moment)

    walk.units(block)


def _alone(code: llvm.Code, *, rule: Callable[..., None]) -> None:
    """A step whose products are there: of an LSTM all in the gates, of a GRU its own beside them."""
    v = Vectors(code, _lanes())

    def row(i: str) -> None:
        def numbers(j: str, part: Part) -> None:
            def load(pointer: str, q: int = 0, parts: int = 1, *, now: bool = True) -> str:
                return part.load(v, pointer, place(q, parts))

            def store(x: str, pointer: str, q: int = 0, parts: int = 1) -> None:
                if pointer != "%kept":
                    part.store(v, x, pointer, place(q, parts))

            def place(q: int, parts: int) -> str:
                return code.add(code.mul("%n", code.add(code.mul(i, parts), q)), j)

            own = [v.constant(-0.0)] * 4 if rule is _lstm_step else [load("%own", q, 3) for q in range(3)]
            rule(v, own, load, store, "%state", "%state")

        v.over("%n", numbers)

    code.loop("%first", "%last", 1, row)


def _lstm_step(v: Vectors, sums: list[str], load: Load, store: Store, _before: str, cells: str) -> None:
    i, f, g, o = (v.add(x, load("%gates", q, 4, now=True)) for q, x in enumerate(sums))
    i, f, g, o = v.sigmoid(i), v.sigmoid(f), v.tanh(g), v.sigmoid(o)
    cell = v.call("fma", i, g, v.multiply(f, load(cells)))
    for q, x in enumerate((i, f, g, o)):
        store(x, "%kept", q, 4)
    store(cell, "%cells")
    store(v.multiply(o, v.tanh(cell)), "%out")


def _gru_step(v: Vectors, sums: list[str], load: Load, store: Store, before: str, _cells: str) -> None:
    r, z = (v.sigmoid(v.add(x, load("%gates", q, 3, now=True))) for q, x in enumerate(sums[:2]))
    new = v.tanh(v.call("fma", r, sums[2], load("%gates", 2, 3, now=True)))
    for q, x in enumerate((r, z, new, sums[2])):
        store(x, "%kept", q, 4)
    store(v.call("fma", v.subtract(load(before), new), z, new), "%out")


def _pull(code: llvm.Code, *, rule: Callable[..., None], given: tuple[bool, bool]) -> None:
    """Back from the walk's last step: first what depends on a state alone, then the product with the weight."""
    walk = _Walk(code)
    v, gates = walk.v, 4 if rule is _lstm_back else 3

    def block(first: str, last: str) -> None:
        def moment(turn: str) -> None:
            s = code.value(f"sub i64 {code.add('%steps', -1)}, {turn}")
            t = walk.time(s)
            before = walk.before(t, "%states", "%before", s)

            def row(i: str) -> None:
                def numbers(j: str, part: Part) -> None:
                    def load(pointer: str, q: int = 0, parts: int = 1, *, now: bool = True) -> str:
                        start = walk.at(pointer, i, parts, t if now else None)
                        return part.load(v, start, code.add(code.mul("%n", q), j))

                    def store(x: str, pointer: str, q: int = 0, parts: int = 1, *, now: bool = True) -> None:
                        start = walk.at(pointer, i, parts, t if now else None)
                        part.store(v, x, start, code.add(code.mul("%n", q), j))

                    rule(v, load, store, before, given)

                v.over("%n", numbers)

            code.loop(first, last, 1, row)
            depth = code.mul("%n", gates)

            def panel(j: str, parts: list[Part]) -> None:
                columns = [code.add(j, q * v.lanes) for q in range(len(parts))]

                def vector(k: str, q: int) -> str:
                    return parts[q].load(v, code.at("float", "%w", code.mul(k, "%n")), columns[q])

                def tile(rows: list[str], inside: Inside) -> None:
                    targets = [walk.at("%dh", r, 1) for r in rows]
                    start = [part.load(v, p, c) for p in targets for part, c in zip(parts, columns)]
                    sums = walk.products(depth, [walk.at("%d", r, gates, t) for r in rows], vector, start)

                    def store(r: int) -> None:
                        for q, (part, c) in enumerate(zip(parts, columns)):
                            part.store(v, sums[r * len(parts) + q], targets[r], c)

                    walk.stored(inside, store)

                walk.rows(first, last, 4, tile)

            width = 4 * v.lanes
            complete = code.value(f"and i64 %n, {-width}")
            code.loop(0, complete, width, lambda j: panel(j, [Part()] * 4))
            left = code.value(f"sub i64 %n, {complete}")
            v.over(left, lambda j, part: panel(code.add(complete, j), [part]))

        code.loop(0, "%steps", 1, moment)

    walk.units(block)


def _lstm_back(v: Vectors, load: Load, store: Store, before: str, given: tuple[bool, bool]) -> None:
    i, f, g, o = (load("%kept", q, 4) for q in range(4))
    squashed = v.tanh(load("%states"))
    dh, dc = load("%dh", now=False), load("%dc", now=False)
    dh = v.add(dh, load("%g")) if given[0] else dh
    dc = v.add(dc, load("%g_cells")) if given[1] else dc
    dc = v.call("fma", v.multiply(dh, o), _flat(v, squashed), dc)
    found = (
        v.multiply(v.multiply(dc, g), _bent(v, i)), v.multiply(v.multiply(dc, load(before, now=False)), _bent(v, f)),
        v.multiply(v.multiply(dc, i), _flat(v, g)), v.multiply(v.multiply(dh, squashed), _bent(v, o)),
    )  # fmt: skip
    for q, x in enumerate(found):
        store(x, "%d", q, 4)
    store(v.multiply(dc, f), "%dc", now=False)
    store(v.constant(0.0), "%dh", now=False)


def _gru_back(v: Vectors, load: Load, store: Store, before: str, _given: tuple[bool, bool]) -> None:
    r, z, new, hidden = (load("%kept", q, 4) for q in range(4))
    dh = v.add(load("%dh", now=False), load("%g"))
    d_new = v.multiply(v.multiply(dh, v.subtract(1.0, z)), _flat(v, new))
    through = v.multiply(d_new, r)
    d_reset = v.multiply(v.multiply(through, hidden), v.subtract(1.0, r))
    d_update = v.multiply(v.multiply(dh, v.subtract(load(before, now=False), new)), _bent(v, z))
    for q, (mine, inputs) in enumerate(((d_reset, d_reset), (d_update, d_update), (through, d_new))):
        store(mine, "%d", q, 3)
        store(inputs, "%other", q, 3)
    store(v.multiply(dh, z), "%dh", now=False)


def _bent(v: Vectors, y: str) -> str:
    """y (1 - y)."""
    return v.call("fma", v.subtract(0.0, y), y, y)


def _flat(v: Vectors, y: str) -> str:
    """1 - y²."""
    return v.call("fma", v.subtract(0.0, y), y, 1.0)
