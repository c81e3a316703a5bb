"""How the mindspore dialect prints tensors: `str` as NumPy prints the array, `repr` with shape, dtype and all digits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ._dtype import FROM_NUMPY

_THRESHOLD = 1000
"""Vectors with more elements are summarised, and so is every longer axis of an array of more dimensions."""
_EDGE = 3
"""Elements shown at either end of a summarised axis."""


def text(array: np.ndarray) -> str:
    """What `print(tensor)` shows."""
    if array.dtype.name == "bfloat16":
        wide = array.astype(np.float32)
        return f"{wide[()]:.6f}" if not wide.ndim else np.array2string(wide, formatter={"all": lambda x: f"{x:.6f}"})
    if array.ndim:
        return str(array)
    x = array[()]
    if array.dtype.kind != "f" or not np.isfinite(x):
        return str(x)
    if x == 0 or 1e-4 <= abs(float(x)) < 1e16:  # NumPy's own limits for scalars differ between its versions
        return np.format_float_positional(x, trim="0")
    return np.format_float_scientific(x, trim="-", exp_digits=2)


def _general(x: float) -> str:
    """Six significant digits, as C++ writes numbers."""
    return f"{x:g}"


def _complex(x: Any) -> str:
    sign = "-" if np.signbit(x.imag) else "+"
    return f"{_general(x.real)}{sign}{_general(abs(x.imag))}j"


def _cell(array: np.ndarray) -> tuple[Callable[[Any], str], int]:
    """How one element of an array is written, and how many stand in a line of a long vector."""
    kind, name = array.dtype.kind, array.dtype.name
    if kind == "b":
        return lambda x: " True" if x else "False", 12
    if kind in "iu":
        return lambda x: str(int(x)), 24
    if kind == "c":
        return _complex, 1 << 30
    if name == "bfloat16":
        return lambda x: _general(float(x)), 12
    digits, width = (4, 11) if name == "float16" else (8, 15)
    return lambda x: f"{x:{width}.{digits}e}" if np.isfinite(x) else f"{x!s:>{width}}", 12


def described(array: Any) -> str:
    """The repr of a tensor around `array`: its shape, dtype and values."""
    head = f"Tensor(shape={list(array.shape)}, dtype={FROM_NUMPY[array.dtype]}, value="
    if not array.ndim:
        return f"{head} {_scalar(array[()])})"
    if not array.size:
        return f"{head}{' ' if array.ndim == 1 else chr(10)})"
    write, per_line = _cell(array)
    summarised = array.ndim > 1 or array.size > _THRESHOLD
    shown = _shown(array) if summarised else array
    cells = np.array([write(x) for x in shown.reshape(-1)], dtype=object)
    if array.dtype.kind != "c":
        width = max(map(len, cells))
        for i, cell in enumerate(cells):
            cells[i] = cell.rjust(width)
    body = _block(cells.reshape(shown.shape), array.shape, summarised, 0, per_line)
    return f"{head}{' ' if array.ndim == 1 else chr(10)}{body})"


def _scalar(x: Any) -> str:
    if isinstance(x, np.bool_):
        return str(bool(x))
    if isinstance(x, np.integer):
        return str(int(x))
    if isinstance(x, np.complexfloating):
        return _complex(x)
    return _general(float(x))


def _shown(array: np.ndarray) -> np.ndarray:
    """The elements of a summarised array that are written."""
    for axis, n in enumerate(array.shape):
        if n > 2 * _EDGE:
            array = np.take(array, [*range(_EDGE), *range(n - _EDGE, n)], axis=axis)
    return array


def _block(cells: np.ndarray, shape: tuple[int, ...], summarised: bool, depth: int, per_line: int) -> str:
    """Nested brackets around cells; `shape` is that of the whole array below."""
    dots = summarised and shape[0] > 2 * _EDGE
    if cells.ndim == 1:
        row = list(cells)
        if dots:
            return f"[{', '.join(row[:_EDGE])} ... {', '.join(row[_EDGE:])}]"
        lines = [", ".join(row[i : i + per_line]) for i in range(0, len(row), per_line)]
        return "[" + (", \n" + " " * (depth + 1)).join(lines) + "]"
    parts = [_block(x, shape[1:], summarised, depth + 1, per_line) for x in cells]
    gap = ",\n" + " " * (depth + 1)
    if dots:
        rest = "\n" + " " * (depth + 1)
        return f"[{gap.join(parts[:_EDGE])},{rest}...{rest}{gap.join(parts[_EDGE:])}]"
    return "[" + gap.join(parts) + "]"
