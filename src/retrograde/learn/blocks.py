"""Runs an update rule over columns of arrays: by the statements that go with them, large arrays in blocks.

A block stays in the cache from one statement to the next; the scratch arrays that statements need are kept between
steps. Called by the rules in this folder.
"""

from __future__ import annotations

import functools
import itertools
import threading
from collections.abc import Callable, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np

from ..backend import backend_of
from ..backend.dtypes import astype
from ..backend.jit.operands import LEAST
from ..core.arrays import full
from ..core.unwrap import constant as constant_value
from ..core.value import Value, dtype_of
from ..ops import comparison, elementwise, selection
from ..ops.structural import cast
from . import update_code
from .functional import Functional
from .statements import Array, Native, Rounded

# Adam over 1024*1024 float32: 3.4 ms whole, 2.0 in blocks of 32768, 2.6 in blocks of 8192 (L2 of 2 MiB).
BLOCK = 32768
_MAX_SCRATCH_SHAPES = 256

_VALUES = Functional(SimpleNamespace(
    sqrt=elementwise.sqrt, abs=elementwise.absolute, where=selection.where, greater=comparison.greater,
    less=comparison.less, maximum=functools.partial(selection.maximum, ties="half"),
    minimum=functools.partial(selection.minimum, ties="half"), constant=constant_value,
    zero=lambda x: full((), 0, dtype_of(x), x),
))  # fmt: skip


def _computed(rule: Callable[..., Any], arrays: tuple[Any, ...], coefficients: tuple[Any, ...], flags: Any) -> Any:
    """What a rule makes of arrays that it does not write to."""
    x: Any = arrays[0]
    if isinstance(x, Value):
        return rule(_VALUES, _NO_WORK, tuple(_fitting(c, x) for c in coefficients), *arrays, *flags)
    xp = backend_of(x).xp
    numbers = (None if c is None else _number(xp, c, x) for c in coefficients)
    return rule(Functional(xp), _NO_WORK, tuple(numbers), *arrays, *flags)


def _fitting(c: Any, x: Value) -> Any:
    return cast(c, dtype=dtype_of(x)) if isinstance(c, Value) and dtype_of(c) != dtype_of(x) else c


def _number(xp: Any, c: Any, x: Array) -> Array:
    """A coefficient as a 0-d array, made where `x` is."""
    if isinstance(c, (int, float, np.number)):
        return xp.full((), float(c), dtype=x.dtype, device=getattr(x, "device", None))
    return astype(xp, c, x.dtype)


_NO_WORK = (None, None, None)

Work = tuple[Any, Any, Any]
"""Three scratch arrays of the operands' shape and dtype; None for statements that need none."""
Updated = list[Any] | None
"""What parameters and their states become, where they are not changed in place."""


class _Scratch(threading.local):
    """Scratch arrays of one dtype by shape: views of three buffers of BLOCK elements, per thread."""

    def __init__(self) -> None:
        self.by_dtype: dict[str, tuple[Any, dict[tuple[int, ...], Work]]] = {}

    def of(self, dtype: np.dtype[Any]) -> tuple[Any, dict[tuple[int, ...], Work]]:
        """The buffers of a dtype, and the views made of them."""
        found = self.by_dtype.get(dtype.char)
        if found is None:
            found = self.by_dtype[dtype.char] = (np.empty((3, BLOCK), dtype), {})
        return found


_scratch = _Scratch()


def _new_work(x: Array, buffers: Any, views: dict[tuple[int, ...], Work]) -> Work:
    size, shape = x.size, x.shape
    if size > BLOCK:
        return np.empty_like(x), np.empty_like(x), np.empty_like(x)
    if len(views) >= _MAX_SCRATCH_SHAPES:
        views.clear()
    t, d, h = buffers[:, :size]
    work = views[shape] = (t.reshape(shape), d.reshape(shape), h.reshape(shape))
    return work


def run(
    rule: Callable[..., Any], columns: tuple[Sequence[Array | None] | None, ...], coefficients: tuple[Any, ...],
    *flags: Any,
) -> Updated:  # fmt: skip
    """Apply `rule(statements, work, coefficients, *arrays, *flags)` to one parameter after the other: in place to NumPy's.

    Other arrays and values are left as they are; for each of their parameters, what it and its state become comes back.

    `columns` are the parameters, their gradients, then each kind of state (None where a rule goes without it). Complex
    arrays go in as real ones, since real and imaginary parts are independent coordinates to every rule that is run
    through here; arrays of more than BLOCK elements go in by blocks. The coefficients reach the rule in the arrays'
    dtype: NumPy takes 0.2 us longer for a Python float than for an array of one element.

    Raises UnsupportedError for what is no array.
    """
    computed: list[Any] = []
    typed: dict[str, tuple[Any, Any, dict[tuple[int, ...], Work], tuple[Any, ...]]] = {}
    for arrays in zip(*(itertools.repeat(None) if column is None else column for column in columns)):
        x: Any = arrays[0]
        if not isinstance(x, np.ndarray):
            computed.append(_computed(rule, arrays, coefficients, flags))
            continue
        char = x.dtype.char
        if char in "FD":
            _run_complex(rule, arrays, coefficients, flags)
            continue
        found = typed.get(char)
        if found is None:
            if char in "fd":
                exact: tuple[Any, ...] = tuple(None if c is None else np.array(c, x.dtype) for c in coefficients)
                found = typed[char] = (Native, *_scratch.of(x.dtype), exact)
            else:
                found = typed[char] = (Rounded, *_scratch.of(x.dtype), coefficients)
        statements, buffers, views, cast_ = found
        size = x.size
        if size >= LEAST and statements is Native and update_code.updated(rule, arrays, cast_, flags):
            continue
        if size <= BLOCK:
            rule(statements, views.get(x.shape) or _new_work(x, buffers, views), cast_, *arrays, *flags)
        elif not all(a is None or a.flags.c_contiguous for a in arrays):
            rule(statements, _new_work(x, buffers, views), cast_, *arrays, *flags)
        else:
            flat = [None if a is None else a.reshape(-1) for a in arrays]
            for start in range(0, size, BLOCK):
                block = [None if a is None else a[start : start + BLOCK] for a in flat]
                shape = block[0].shape  # type: ignore[union-attr]
                rule(statements, views.get(shape) or _new_work(block[0], buffers, views), cast_, *block, *flags)
    return computed or None


def _run_complex(rule: Callable[..., Any], arrays: tuple[Array, ...], coefficients: Any, flags: Any) -> None:
    real = np.float32 if arrays[0].dtype.char == "F" else np.float64
    dense = [a if a is None or a.flags.c_contiguous else np.ascontiguousarray(a) for a in arrays]
    columns = tuple(None if a is None else (a.reshape(-1).view(real),) for a in dense)
    run(rule, columns, coefficients, *flags)
    for position, (a, b) in enumerate(zip(arrays, dense)):
        if a is not b and position != 1:
            a[...] = b
