"""The steps of an LSTM as generated code (float32): from the sums of the gates to cell and state, and back.

NumPy takes a dozen calls a step for a few thousand numbers. The products with the recurrent weight stay with the caller.
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Callable
from typing import Any

import numpy as np

from . import llvm
from .operands import LEAST, packed
from .vectors import LANES, Part, Vectors


def suited(size: int, *arrays: np.ndarray | None) -> bool:
    """Whether a layer whose states are `size` numbers, with these float32 operands, is computed here."""
    return (
        size >= LEAST and all(a is None or a.dtype == np.float32 for a in arrays) and _generated("lstm_step") is not None
    )  # fmt: skip


def lstm(gates: np.ndarray, h: np.ndarray, c: np.ndarray, wt: np.ndarray, b: np.ndarray | None, order: Any) -> Any:
    """States and cells (time, batch, n) from the inputs' gates (time, batch, 4n): input, forget, cell, output.

    wt: the recurrent weight (n, 4n). order: of the steps.
    """
    steps, batch, n = gates.shape[0], gates.shape[1], h.shape[-1]
    gates, c = packed(gates), packed(c)
    bias = np.zeros(4 * n, np.float32) if b is None else packed(b)
    out, cells = (np.empty((steps, batch, n), np.float32) for _ in range(2))
    sums = np.empty((batch, 4 * n), np.float32)
    step = _function("lstm_step")
    state, cell = batch * n * 4, c.ctypes.data  # bytes of a state; where the last cells stand
    to_h, to_c, to_sums, to_gates, to_bias = (a.ctypes.data for a in (out, cells, sums, gates, bias))
    for t in order:
        np.dot(h, wt, sums)
        step(to_h + t * state, to_c + t * state, to_sums, to_gates + 4 * t * state, cell, to_bias, batch, n)
        h, cell = out[t], to_c + t * state
    return out, cells


def lstm_pull(
    sums: np.ndarray, cells: np.ndarray, before: np.ndarray, w: np.ndarray, g: np.ndarray | None,
    g_cells: np.ndarray | None, order: Any,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:  # fmt: skip
    """The cotangents of the gates' sums (time, batch, 4n), and of the first state and cell.

    cells and before: the cells behind and in front of each step. g, g_cells: the cotangents of states and cells.
    """
    steps, batch, n = cells.shape
    sums, cells, before = (packed(a) for a in (sums, cells, before))
    slopes = np.empty((steps, batch, 6 * n), np.float32)
    _function("lstm_slopes")(*(a.ctypes.data for a in (slopes, sums, cells, before)), steps * batch, n)
    d = np.empty((steps, batch, 4 * n), np.float32)
    dh, dc = np.zeros((batch, n), np.float32), np.zeros((batch, n), np.float32)
    back, row = _function("lstm_back"), batch * n * 4
    to_d, to_slopes, to_dc, to_dh = (a.ctypes.data for a in (d, slopes, dc, dh))
    for t in order:
        if g is not None:
            dh += g[t]
        if g_cells is not None:
            dc += g_cells[t]
        back(to_d + 4 * t * row, to_dc, to_dh, to_slopes + 6 * t * row, batch, n)
        np.dot(d[t], w, dh)
    return d, dh, dc


@functools.cache
def _generated(name: str) -> Callable[..., None] | None:
    text, pointers = {"lstm_step": (_step, 6), "lstm_slopes": (_slopes, 4), "lstm_back": (_back, 4)}[name]
    return llvm.function(name, text, *(ctypes.c_void_p,) * pointers, *(ctypes.c_int64,) * 2)


def _function(name: str) -> Callable[..., None]:
    function = _generated(name)
    assert function is not None  # `suited` has been asked
    return function


# ------------------------------------------------------------------------------------------ their code


def _each(code: Any, body: Callable[[Callable[..., str], Callable[..., None]], None]) -> None:
    """body(load, store) for each vector of the n numbers of each row.

    load(pointer, k, parts) reads part k of the `parts` times n numbers that a row has in an array, `store` writes it.
    """
    v = Vectors(code, LANES)

    def row(r: str) -> None:
        def numbers(i: str, part: Part) -> None:
            def at(k: int, parts: int, row: str = r) -> str:
                first = code.mul(code.add(code.mul(row, parts), k), "%n")
                return str(code.add(first, i))

            def load(pointer: str, k: int = 0, parts: int = 1, every_row: bool = False) -> str:
                return part.load(v, pointer, at(k, parts, "0") if every_row else at(k, parts))

            def store(x: str, pointer: str, k: int = 0, parts: int = 1) -> None:
                part.store(v, x, pointer, at(k, parts))

            body(load, store)

        v.over("%n", numbers)

    code.loop(0, "%rows", 1, row)


def _step(code: Any) -> str:
    v = Vectors(code, LANES)

    def numbers(load: Callable[..., str], store: Callable[..., None]) -> None:
        i, f, g, o = (
            v.add(v.add(load("%sums", k, 4), load("%gates", k, 4)), load("%bias", k, 4, every_row=True)) for k in range(4)
        )
        kept = v.multiply(v.sigmoid(f), load("%cell"))
        cell = v.call("fma", v.sigmoid(i), v.tanh(g), kept)
        store(cell, "%cells")
        store(v.multiply(v.sigmoid(o), v.tanh(cell)), "%states")

    _each(code, numbers)
    pointers = "ptr %states, ptr %cells, ptr %sums, ptr %gates, ptr %cell, ptr %bias"
    return str(code.module(f"define void @lstm_step({pointers}, i64 %rows, i64 %n)"))


def _slopes(code: Any) -> str:
    """What a change of each gate's sum does to the cell (three parts) and of the output gate's to the state; what one of
    the cell does to the state, and to the next cell."""
    v = Vectors(code, LANES)

    def bent(y: str) -> str:
        return v.call("fma", v.subtract(0.0, y), y, y)  # y (1 - y)

    def numbers(load: Callable[..., str], store: Callable[..., None]) -> None:
        i, f, o = (v.sigmoid(load("%sums", k, 4)) for k in (0, 1, 3))
        g, squashed = v.tanh(load("%sums", 2, 4)), v.tanh(load("%cells"))
        flat = (v.call("fma", v.subtract(0.0, y), y, 1.0) for y in (g, squashed))
        found = (
            v.multiply(g, bent(i)), v.multiply(load("%before"), bent(f)), v.multiply(i, next(flat)),
            v.multiply(squashed, bent(o)), v.multiply(o, next(flat)), f,
        )  # fmt: skip
        for k, x in enumerate(found):
            store(x, "%slopes", k, 6)

    _each(code, numbers)
    pointers = "ptr %slopes, ptr %sums, ptr %cells, ptr %before"
    return str(code.module(f"define void @lstm_slopes({pointers}, i64 %rows, i64 %n)"))


def _back(code: Any) -> str:
    v = Vectors(code, LANES)

    def numbers(load: Callable[..., str], store: Callable[..., None]) -> None:
        dh = load("%dh")
        dc = v.call("fma", dh, load("%slopes", 4, 6), load("%dc"))
        for k in range(4):
            store(v.multiply(dh if k == 3 else dc, load("%slopes", k, 6)), "%d", k, 4)
        store(v.multiply(dc, load("%slopes", 5, 6)), "%dc")

    _each(code, numbers)
    return str(code.module("define void @lstm_back(ptr %d, ptr %dc, ptr %dh, ptr %slopes, i64 %rows, i64 %n)"))
