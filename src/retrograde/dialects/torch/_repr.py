"""How the torch dialect prints tensors: the text of `repr(tensor)`, and the print options that shape it.

Pure functions over NumPy arrays; the dialect's Tensor calls `format_tensor` with its array, the names of
its dtype and of the default dtype, and the suffixes that depend on autograd state. Every number is laid
out in a *cell*, a text padded to the width of its column; cells become rows, rows become nested blocks.
Where PyTorch's layout looks arbitrary (widths that leave nan and inf out, the extra blank before "..."),
it is kept, since programs are compared by what they print.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from .._shared import layout

__all__ = [
    "PrintOptions", "format_parameter", "format_scalar", "format_tensor", "get_printoptions", "printoptions",
    "set_printoptions",
]  # fmt: skip

# Numbers leave fixed-point notation when their magnitudes span more than the ratio, exceed the largest or,
# unless all are integral, fall below the smallest of these.
_FIXED_RATIO = 1e3
_FIXED_LARGEST = 1e8
_FIXED_SMALLEST = 1e-4

_GAP = 2  # columns taken by the ", " before a suffix


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """The settings of `set_printoptions`, immutable so that a reader on another thread sees a whole set.

    `sci_mode` None lets the magnitudes decide between fixed-point and scientific notation.
    """

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: float = 80
    sci_mode: bool | None = None


_PROFILES = {
    "default": PrintOptions(),
    "short": PrintOptions(precision=2, edgeitems=2),
    "full": PrintOptions(threshold=math.inf),
}

# Process-wide, as in PyTorch: a worker thread prints with the options that the main thread set.
_options = PrintOptions()


def set_printoptions(
    precision: int | None = None, threshold: float | None = None, edgeitems: int | None = None, linewidth: float | None
    = None, profile: str | None = None, sci_mode: bool | None = None,
) -> None:  # fmt: skip
    """Set how tensors print, in the whole process; what is None keeps its value, save `sci_mode`, which it resets.

    Args:
        precision: digits after the point.
        threshold: tensors with more elements than this are summarised.
        edgeitems: elements shown at either end of a summarised dimension.
        linewidth: columns of a line; lines break where the next cell would pass it.
        profile: "default", "short" or "full", applied before the other arguments; another name changes nothing.
        sci_mode: True or False forces or forbids scientific notation of floating-point numbers.

    Raises:
        TypeError: an option that is no number (precision, edgeitems: no integer).
        ValueError: a negative precision or edgeitems.
        OverflowError: an infinite linewidth.

    >>> set_printoptions(precision=2)
    >>> get_printoptions()["precision"]
    2
    >>> set_printoptions(profile="default")
    """
    global _options
    changes: dict[str, Any] = {"sci_mode": None if sci_mode is None else bool(sci_mode)}
    if precision is not None:
        changes["precision"] = _count("precision", precision)
    if threshold is not None:
        changes["threshold"] = _number("threshold", threshold)
    if edgeitems is not None:
        changes["edgeitems"] = _count("edgeitems", edgeitems)
    if linewidth is not None:
        if not math.isfinite(_number("linewidth", linewidth)):
            raise OverflowError(f"set_printoptions: linewidth is {linewidth}, wanted a finite number; try 10_000")
        changes["linewidth"] = linewidth
    start = _options if profile is None else _PROFILES.get(profile, _options)
    _options = replace(start, **changes)


def get_printoptions() -> dict[str, Any]:
    """Return the current print options as a new dict with the keywords of `set_printoptions`."""
    return asdict(_options)


@contextmanager
def printoptions(**options: Any) -> Iterator[None]:
    """Set print options inside a `with` block and restore the former ones after it, also after an error.

    Raises what `set_printoptions` raises.

    >>> with printoptions(precision=1):
    ...     print(get_printoptions()["precision"])
    1
    """
    global _options
    former = _options
    set_printoptions(**options)
    try:
        yield
    finally:
        _options = former


def _count(name: str, value: Any) -> int:
    try:
        count = operator.index(value)
    except TypeError:
        raise TypeError(f"set_printoptions: {name} is {value!r}, wanted an integer") from None
    if count < 0:
        raise ValueError(f"set_printoptions: {name} is {count}, wanted 0 or more")
    return count


def _number(name: str, value: Any) -> Any:
    if not isinstance(value, (int, float, np.integer, np.floating)):
        raise TypeError(f"set_printoptions: {name} is {value!r}, wanted a number")
    return value


def format_tensor(
    array: np.ndarray, *, dtype_name: str, default_dtype_name: str, suffixes: Sequence[str] = (), indent: int = 0,
    prefix: str = "tensor(",
    device_name: str = "",
) -> str:  # fmt: skip
    """Return the text of `repr(tensor)` for a tensor that holds `array`, of any shape, under the current options.

    Args:
        array: the elements, numbers or bools; the extension types of ml_dtypes count as floating point.
        dtype_name: name of the tensor's dtype without its module, "float32"; shown unless it goes without saying.
        default_dtype_name: name of the default floating-point dtype.
        suffixes: what follows size and dtype, such as "requires_grad=True" or "grad_fn=<MulBackward0>".
        indent: columns already taken to the left of the prefix, on its own and on the following lines.
        prefix: the opening, "tensor(" or the name of a subclass and a parenthesis.
        device_name: the device, "cuda:0"; empty for the CPU, of which nothing is said.

    >>> format_tensor(np.eye(2, dtype=np.float32), dtype_name="float32", default_dtype_name="float32")
    'tensor([[1., 0.],\\n        [0., 1.]])'
    """
    options = _options
    indent += len(prefix)
    shape = array.shape
    notes: list[str] = [f"device='{device_name}'"] if device_name else []
    if array.size == 0:
        body = "[]"
        if len(shape) != 1:
            notes.append(f"size={shape}")
        if dtype_name != default_dtype_name:
            notes.append(f"dtype=torch.{dtype_name}")
    else:
        body = _body(array, indent, options)
        if not options.edgeitems:
            notes.append(f"size={shape}")
        if not _goes_without_saying(dtype_name, default_dtype_name):
            notes.append(f"dtype=torch.{dtype_name}")
    notes.extend(suffixes)
    return _append_notes(prefix + body, notes, indent, len(prefix), options)


def format_parameter(text: str, *, class_name: str = "Parameter") -> str:
    """Return the repr of a Parameter from the text that `format_tensor` gave for it.

    A plain Parameter is formatted with the prefix "tensor(", one of a subclass with `class_name` and a parenthesis.

    >>> print(format_parameter("tensor([1.], requires_grad=True)"))
    Parameter containing:
    tensor([1.], requires_grad=True)
    """
    return f"Parameter containing:\n{text if class_name == 'Parameter' else f'Parameter({text})'}"


def format_scalar(array: np.ndarray, spec: str = "") -> str:
    """Return `format(tensor, spec)` of a 0-d tensor, which is formatted as the Python number that it holds.

    Raises ValueError for a specification that the number's type does not take.

    >>> format_scalar(np.array(0.125), ".2f")
    '0.12'
    """
    return format(array.tolist(), spec)


def _goes_without_saying(dtype_name: str, default_dtype_name: str) -> bool:
    if dtype_name in ("int64", "bool", default_dtype_name):
        return True
    return dtype_name == ("complex128" if default_dtype_name == "float64" else "complex64")


def _body(array: np.ndarray, indent: int, options: PrintOptions) -> str:
    if array.size > options.threshold and not options.edgeitems and array.shape:
        return "[...]"
    array, elided = layout.elide(array, options.threshold, options.edgeitems)
    cells, width = _cells(array.reshape(-1).tolist(), array.dtype.kind, options)
    if not array.shape:
        return cells[0]
    return layout.nest(cells, width, array.shape, elided, indent, options.linewidth, dots=" ...")


def _cells(values: list[Any], kind: str, options: PrintOptions) -> tuple[list[str], int]:
    """Return the cells of at least one number and the width that they count for when a line is filled."""
    if kind == "c":
        real, real_width = _float_cells([value.real for value in values], options)
        imag, imag_width = _float_cells([value.imag for value in values], options)
        cells = []
        for left, right in zip(real, imag, strict=True):
            right = right.lstrip()
            cells.append(f"{left}{right}j" if right[0] in "+-" else f"{left}+{right}j")
        return cells, real_width + imag_width + 1
    if kind in "biu":
        texts = [str(value) for value in values]
        width = max(map(len, texts))
        return [text.rjust(width) for text in texts], width
    return _float_cells(values, options)


def _float_cells(values: list[float], options: PrintOptions) -> tuple[list[str], int]:
    # Zeros, nan and inf take part neither in the choice of a notation nor in the width of the column.
    telling = [value for value in values if value and value - value == 0]
    spec, dot, width = ".0f", ".", 1
    if telling:
        integral = all(map(float.is_integer, telling))
        sci_mode = options.sci_mode
        if sci_mode is None:
            magnitudes = [abs(value) for value in telling]
            largest, smallest = max(magnitudes), min(magnitudes)
            sci_mode = (
                largest / smallest > _FIXED_RATIO
                or largest > _FIXED_LARGEST
                or (smallest < _FIXED_SMALLEST and not integral)
            )
        if sci_mode or not integral:
            spec, dot = f".{options.precision}{'e' if sci_mode else 'f'}", ""
        width = max([len(format(value, spec)) for value in telling]) + len(dot)
    texts = [format(value, spec) + dot if value - value == 0 else format(value, spec) for value in values]
    return [text.rjust(width) for text in texts], width


def _append_notes(text: str, notes: list[str], indent: int, prefix_length: int, options: PrintOptions) -> str:
    """Add size, dtype and suffixes behind the elements, each on a new line where it would pass the line's end."""
    newline = text.rfind("\n")
    # The first line counts one column more than it has; a line after a break counts one more too.
    column = len(text) - newline + 1
    if newline < 0:
        column += indent - prefix_length
    parts = [text]
    for note in notes:
        if column + len(note) + _GAP > options.linewidth:
            parts.append(f",\n{' ' * indent}{note}")
            column = indent + len(note)
        else:
            parts.append(f", {note}")
            column += len(note) + _GAP
    parts.append(")")
    return "".join(parts)
