"""Whole LSTM and GRU layers as generated code (float32), forward and backward, and what follows the products in one step.

Sequences of a batch do not meet: a unit of work is a block of them, for which all steps are done one after another, the
product with the recurrent weight inside: its sums for the gates of some numbers of the state stay in registers until the
activations are made of them. The weight is laid out for that once per call, vector by vector of the state, and read from
the cache for several sequences at a time.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm
from .copies import ordered, packed
from .operands import address
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


def suited(
    size: int, *arrays: np.ndarray | None, kind: str = "lstm", biased: bool = True, keep: bool = True
) -> bool:  # fmt: skip
    """Whether a layer whose states are `size` numbers, with these float32 operands, is computed here; kind: "lstm" or "gru"."""
    return (
        size >= LEAST and all(a is None or a.dtype == np.float32 for a in arrays)
        and _generated(kind, (biased, keep)) is not None
    )  # fmt: skip


def lstm(
    gates: np.ndarray, h: np.ndarray, c: np.ndarray, w: np.ndarray, b: np.ndarray | None, backwards: bool, keep: bool
) -> Arrays:  # fmt: skip
    """States, cells (time, batch, n) and, to `keep` for the derivative, activations (time, batch, 4n) from the inputs'
    gates: input, forget, cell, output.

    w: the recurrent weight (4n, n). backwards: from the last step to the first.
    """
    shape = *gates.shape[:2], h.shape[1]
    out, cells = np.empty(shape, np.float32), np.empty(shape, np.float32)
    kept = np.empty(gates.shape, np.float32) if keep else None
    gates, h, c, b = packed(gates), packed(h), packed(c), None if b is None else packed(b)
    panels = _panels(w, 4)
    pointers = out, cells, kept, gates, h, c, panels, b
    _call("lstm", (b is not None, keep), pointers, shape, 4, backwards)
    return (out, cells) if kept is None else (out, cells, kept)


def gru(gates: np.ndarray, h: np.ndarray, w: np.ndarray, b: np.ndarray | None, backwards: bool, keep: bool) -> Arrays:
    """States (time, batch, n) from the inputs' gates (time, batch, 3n): reset, update, new; and, to `keep` for the
    derivative, (time, batch, 4n): the activations, and what the state contributes to the new one before it is reset.

    w: the recurrent weight (3n, n). backwards: from the last step to the first.
    """
    shape = *gates.shape[:2], h.shape[1]
    out, kept = np.empty(shape, np.float32), np.empty((*shape[:2], 4 * shape[2]), np.float32) if keep else None
    gates, h, b = packed(gates), packed(h), None if b is None else packed(b)
    panels = _panels(w, 3)
    _call("gru", (b is not None, keep), (out, None, kept, gates, h, None, panels, b), shape, 3, backwards)
    return (out,) if kept is None else (out, kept)


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


def _call(name: str, variant: Any, pointers: Any, shape: tuple[int, ...], gates: int, backwards: bool) -> None:
    steps, batch, n = shape
    function = _generated(name, variant)
    assert function is not None  # `suited` has been asked
    work = steps * batch * n * n * gates >> 2
    together = _together(batch, _shape()[1], count() if pool(work) else 1)
    units = tiles(-(-batch // together), work)
    first, step = (steps - 1, -1) if backwards else (0, 1)
    function(*units, *map(address, pointers), steps, batch, n, together, first, step)


def _together(batch: int, rows: int, threads: int) -> int:
    """Sequences of a unit: whole tiles of so many rows, as many for each thread."""
    needed = -(-batch // rows)
    units = threads * -(-needed // (threads * _TILES))
    return rows * -(-needed // units)


def _panels(w: np.ndarray, gates: int) -> np.ndarray:
    """A weight (gates n, n) as (panels, n, gates, lanes): what one number of the state gives to the gates of a vector of it."""
    lanes, n = _shape()[0], w.shape[1]
    count = -(-n // lanes)
    whole = w.reshape(gates, n, n)
    if count * lanes != n:
        whole = np.zeros((gates, count * lanes, n), np.float32)
        whole[:, :n] = w.reshape(gates, n, n)
    return ordered(whole.reshape(gates, count, lanes, n).transpose(1, 3, 0, 2))


@functools.cache
def _shape() -> tuple[int, int]:
    """The numbers of a register, and the rows of a tile whose sums (4 registers each) stay in registers."""
    kind = llvm.processor()
    assert kind is not None  # `suited` has been asked
    return kind.register // 4, 6 if kind.registers == 32 else 2


@functools.cache
def _generated(name: str, variant: Any) -> Callable[..., None] | None:
    if name.endswith("_pull"):
        pointers = "ptr d, ptr other, ptr dh, ptr dc, ptr kept, ptr states, ptr before, ptr w, ptr g, ptr g_cells"
        body = functools.partial(_pull, rule=_lstm_back if name == "lstm_pull" else _gru_back, given=variant)
    else:
        pointers = "ptr out, ptr cells, ptr kept, ptr gates, ptr h, ptr c, ptr w, ptr b"
        body = functools.partial(_forward, rule=_lstm_step if name == "lstm" else _gru_step, variant=variant)
    operands = f"{pointers}, i64 steps, i64 batch, i64 n, i64 together, i64 start, i64 step"
    return llvm.shared(f"{name}_layer", operands, body)


@functools.cache
def _step(kind: str) -> Callable[..., None] | None:
    body = functools.partial(_alone, rule=_lstm_step if kind == "lstm" else _gru_step)
    return llvm.shared(f"{kind}_step", "ptr out, ptr cells, ptr gates, ptr own, ptr state, i64 n", body)


# ------------------------------------------------------------------------------------------ their code


class _Walk:
    """The steps of a block of sequences, and where their numbers stand."""

    def __init__(self, code: llvm.Code) -> None:
        lanes, self.tile = _shape()
        self.code, self.v = code, Vectors(code, lanes)
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

    def before(self, now: str, states: str, first: str, s: str) -> str:
        """The address of the states in front of a step: of the walk's first (s = 0) those at `first`."""
        code = self.code
        earlier = code.value(f"sub i64 {now}, %step")
        place = code.at("float", states, code.mul(code.mul(earlier, "%batch"), "%n"))
        return code.value(f"select i1 {code.value(f'icmp eq i64 {s}, 0')}, ptr {first}, ptr {place}")

    def time(self, s: str) -> str:
        """The number of the step that the walk comes to after s others."""
        return self.code.add("%start", self.code.mul(s, "%step"))

    def rows(self, first: str, last: str, tile: Callable[[str, list[str]], None]) -> None:
        """tile(i, rows): for each tile of sequences; beyond the last one, that one again, to be computed and not stored."""
        code = self.code

        def one(i: str) -> None:
            end = code.add(last, -1)
            tile(i, [code.least(code.add(i, r), end) for r in range(self.tile)])

        code.loop(first, last, self.tile, one)

    def each_inside(self, i: str, last: str, store: Callable[[int], None]) -> None:
        """store(r) for the rows of a tile that are there."""
        for r in range(self.tile):
            self.code.when(self.code.value(f"icmp slt i64 {self.code.add(i, r)}, {last}"), functools.partial(store, r))

    def products(self, k: str, sources: list[str], weights: str, count: int, sums: tuple[str, ...], loads: Any) -> list[str]:
        """The sums of a tile (rows by `count` vectors) with number k of each source times the vectors at `weights`."""
        code, v = self.code, self.v
        ws = [loads(weights, q) for q in range(count)]
        after = []
        for r, source in enumerate(sources):
            one = code.value(f"load float, ptr {code.at('float', source, k)}")
            x = code.spread(v.lanes, "float", one)
            after += [v.call("fma", x, w, sums[r * count + q]) for q, w in enumerate(ws)]
        return after


Load = Callable[..., str]
Store = Callable[..., None]


def _forward(code: llvm.Code, *, rule: Callable[..., None], variant: tuple[bool, bool]) -> None:
    walk, (biased, keep) = _Walk(code), variant
    v, gates = walk.v, 4 if rule is _lstm_step else 3

    def block(first: str, last: str) -> None:
        def moment(s: str) -> None:
            t = walk.time(s)
            before = walk.before(t, "%out", "%h", s)
            cells = walk.before(t, "%cells", "%c", s)

            def panel(j: str, part: Part) -> None:
                panels = code.at("float", "%w", code.mul(code.mul(j, "%n"), gates))
                biases = [
                    part.load(v, "%b", code.add(code.mul("%n", q), j)) if biased else v.constant(0.0) for q in range(gates)
                ]

                def tile(i: str, rows: list[str]) -> None:
                    sources = [walk.at(before, row, 1) for row in rows]

                    def depth(k: str, *sums: str) -> list[str]:
                        weights = code.at("float", panels, code.mul(k, gates * v.lanes))
                        return walk.products(k, sources, weights, gates, sums, lambda p, q: v.load(p, q * v.lanes))

                    sums = code.loop(0, "%n", 1, depth, carried=[(v.type, b) for _ in rows for b in biases])

                    # All rows before the first is stored: as long as no branch lies between them, the processor has several at
                    # work, none of which waits for the long chains of another one's activations.
                    found: list[list[tuple[str, str, int, int]]] = [[] for _ in rows]
                    for r, row in enumerate(rows):

                        def load(pointer: str, q: int = 0, parts: int = 1, *, now: bool = False, row: str = row) -> str:
                            start = walk.at(pointer, row, parts, t if now else None)
                            return part.load(v, start, code.add(code.mul("%n", q), j))

                        def store(x: str, pointer: str, q: int = 0, parts: int = 1, r: int = r) -> None:
                            if keep or pointer != "%kept":
                                found[r].append((x, pointer, q, parts))

                        rule(v, sums[r * gates : (r + 1) * gates], load, store, before, cells)

                    def finish(r: int) -> None:
                        for x, pointer, q, parts in found[r]:
                            part.store(v, x, walk.at(pointer, rows[r], parts, t), code.add(code.mul("%n", q), j))

                    walk.each_inside(i, last, finish)

                walk.rows(first, last, tile)

            v.over("%n", panel)

        code.loop(0, "%steps", 1, moment)

    walk.units(block)


def _alone(code: llvm.Code, *, rule: Callable[..., None]) -> None:
    """A step whose products are there: of an LSTM all in the gates, of a GRU its own beside them."""
    v = Vectors(code, _shape()[0])

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

                def tile(i: str, rows: list[str]) -> None:
                    sources = [walk.at("%d", r, gates, t) for r in rows]
                    targets = [walk.at("%dh", r, 1) for r in rows]
                    start = [part.load(v, p, c) for p in targets for part, c in zip(parts, columns)]

                    def deep(k: str, *sums: str) -> list[str]:
                        weights = code.at("float", "%w", code.mul(k, "%n"))
                        return walk.products(
                            k, sources, weights, len(parts), sums, lambda p, q: parts[q].load(v, p, columns[q])
                        )

                    sums = code.loop(0, depth, 1, deep, carried=[(v.type, x) for x in start])

                    def store(r: int) -> None:
                        for q, (part, c) in enumerate(zip(parts, columns)):
                            part.store(v, sums[r * len(parts) + q], targets[r], c)

                    walk.each_inside(i, last, store)

                walk.rows(first, last, tile)

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
