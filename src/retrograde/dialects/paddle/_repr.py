"""How tensors print: `repr(tensor)`, formatting, and the print options that shape the numbers."""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..._errors import UnsupportedError
from ...core.unwrap import concrete
from .._shared import layout
from ._api import api
from ._tensor import Tensor

_INDENT = 7


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """The settings of `set_printoptions`."""

    precision: int = 8
    threshold: int = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool = False


_options = PrintOptions()  # of the process


@api(method=False)
def set_printoptions(
    precision: int | None = None, threshold: int | None = None, edgeitems: int | None = None,
    sci_mode: bool | None = None, linewidth: int | None = None,
) -> None:  # fmt: skip
    """Set how tensors print; what is None keeps its value.

    precision: digits after the point. threshold: tensors with more elements are summarised, with `edgeitems` elements
    at both ends of an axis. sci_mode: whether floats print in scientific notation. linewidth: columns of a line.
    Raises RuntimeError for an option that is no whole number.
    """
    global _options
    given = {
        "precision": precision, "threshold": threshold, "edgeitems": edgeitems, "sci_mode": sci_mode,
        "linewidth": linewidth,
    }  # fmt: skip
    changes: dict[str, Any] = {}
    for name, value in given.items():
        if value is not None:
            try:
                changes[name] = operator.index(value)
            except TypeError:
                raise RuntimeError(f"set_printoptions: {name} must be an int, got {value!r}") from None
    _options = replace(_options, **changes)


def _cell(value: Any, kind: str, options: PrintOptions) -> str:
    spec = f".{options.precision}{'e' if options.sci_mode else 'f'}"
    if kind == "c":
        return f"({value.real:{spec}}{'+' if value.imag >= 0 else ''}{value.imag:{spec}}j)"  # -0 shows as +-0
    if kind in "biu":
        return str(value)
    if options.sci_mode:
        return format(value, spec)
    if value == np.floor(value):
        return f"{value:.0f}."
    return format(value, spec)


def _cells(array: np.ndarray, options: PrintOptions) -> tuple[list[str], int]:
    """The numbers as texts of one width: beside negative ones, the others get a blank in front where there is room."""
    kind = array.dtype.kind
    texts = [_cell(x, kind, options) for x in array.reshape(-1).tolist()]
    width = max(map(len, texts))
    with np.errstate(invalid="ignore"):
        negative = (array < 0).reshape(-1).tolist() if kind not in "bu" else [False] * len(texts)
    if any(negative):
        texts = [t if below or len(t) == width else f" {t}" for t, below in zip(texts, negative)]
    return [t.ljust(width) for t in texts], width


def _empty(shape: tuple[int, ...], indent: int) -> str:
    if shape[0] == 0:
        return "[]"
    joint = "," + "\n" * max(len(shape) - 1, 1) + " " * (indent + 1)
    return f"[{joint.join([_empty(shape[1:], indent + 1)] * shape[0])}]"


def numbers(array: np.ndarray) -> str:
    """The elements of an array as they stand in a tensor's repr."""
    options = _options
    if not array.size:
        return _empty(array.shape, _INDENT)
    array, elided = layout.elide(array, options.threshold, options.edgeitems)
    if array.dtype.kind == "V":  # bfloat16
        array = array.astype(np.float32)
    if not array.shape:
        return _cell(array.item(), array.dtype.kind, options)
    cells, width = _cells(array, options)
    return layout.nest(cells, width, array.shape, elided, _INDENT, options.linewidth)


@api("__repr__", function=False)
def tensor_repr(self: Tensor) -> str:
    """The tensor as PaddlePaddle prints it."""
    head = f"shape={list(self.shape)}, dtype={self.dtype.label}, place={self.place}, stop_gradient={self.stop_gradient}"
    try:
        array = concrete("repr", self)
    except UnsupportedError:
        return f"Tensor({head}, inside a functional transform)"
    return f"Tensor({head},\n{' ' * _INDENT}{numbers(array)})"


@api("__format__", function=False)
def tensor_format(self: Tensor, spec: str) -> str:
    """A 0-d tensor formats as its number, any other as its repr."""
    if not self.ndim:
        return format(concrete("format", self).item(), spec)
    return object.__format__(self, spec)
