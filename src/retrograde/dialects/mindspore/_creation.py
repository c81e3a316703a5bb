"""Tensors made from numbers: `ops.ones`, `zeros`, `full`, `arange`, `linspace`, `eye`; `new_...`."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ...backend.canonical import canonical
from ...core.value import Value, dtype_of, shape_of
from ...tape import mutation
from .._shared.registry import defined
from ._api import api, row
from ._dtype import FROM_NUMPY, Number, as_dtype, float32, int64, only_dtype
from ._promote import FLOATING, single, tensor_argument
from ._tensor import Tensor, from_array

Function = Callable[..., Any]


def sizes(op: str, size: Any) -> tuple[int, ...]:
    """A shape given as an int, a tuple or list of ints, or a tensor; raises TypeError or ValueError."""
    if isinstance(size, Value):
        size = size.tolist()
    if isinstance(size, (int, np.integer)) and not isinstance(size, bool):
        found: tuple[Any, ...] = (size,)
    elif isinstance(size, (tuple, list)):
        found = tuple(n.item() if isinstance(n, Value) else n for n in size)
    else:
        raise TypeError(f"{op}: a shape is an int, or a tuple or list of ints, got {type(size).__name__}")
    for n in found:
        if isinstance(n, bool) or not isinstance(n, (int, np.integer)):
            raise TypeError(f"{op}: a shape is made of integers, got {n!r}")
        if n < 0:
            raise ValueError(f"{op}: a shape cannot have the negative size {n}")
    return tuple(operator.index(n) for n in found)


def _given(op: str, dtype: Any, default: Number) -> np.dtype:
    return default.np if dtype is None else only_dtype(dtype, op).np


def number(x: Any) -> Any:
    """A number given as such or as a tensor with one element."""
    return x.item() if isinstance(x, Value) else x


# ------------------------------------------------------------------------------------------ one value everywhere

ones = row("ones", lambda shape, dtype=None: from_array(np.ones(sizes("ones", shape), _given("ones", dtype, float32))),
    "A tensor of ones, float32 unless another dtype is given.", method=False)  # fmt: skip


@api(method=False)
def zeros(size: Any, dtype: Any = None) -> Tensor:
    """A tensor of zeros, float32 unless another dtype is given."""
    return from_array(np.zeros(sizes("zeros", size), _given("zeros", dtype, float32)))


@api(method=False)
def full(size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of one value, int64 unless another dtype is given; raises TypeError for a size that is no tuple or list."""
    if not isinstance(size, (tuple, list)):
        raise TypeError(f"full: size must be a tuple or list of ints, got {type(size).__name__}")
    return _filled(sizes("full", size), number(fill_value), _given("full", dtype, int64))


def _filled(shape: tuple[int, ...], value: Any, np_dtype: np.dtype) -> Tensor:
    if not isinstance(value, (bool, int, float, complex, np.generic)):
        raise TypeError(f"a tensor is filled with a number, got {type(value).__name__}")
    return from_array(np.full(shape, np.asarray(value).astype(np_dtype), np_dtype))


fill = row("fill", lambda type, shape, value: _filled(sizes("fill", shape), number(value), only_dtype(type, "fill").np),
    "A tensor of one value in the dtype `type`.", method=False)  # fmt: skip


@api(method=False)
def tensor(
    input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None, const_arg: bool = False
) -> Tensor:
    """A tensor from data, as `Tensor` makes it."""
    return Tensor(input_data, dtype, shape, init, const_arg)


def _like(op: str, x: Any, dtype: Any, value: Any) -> Tensor:
    x = tensor_argument(op, x)
    return _filled(tuple(shape_of(x)), value, _given(op, dtype, FROM_NUMPY[dtype_of(x)]))


ones_like = row("ones_like", lambda input, *, dtype=None: _like("ones_like", input, dtype, 1),
    "Ones of the shape and dtype of a tensor.", method=False)  # fmt: skip
zeros_like = row("zeros_like", lambda input, *, dtype=None: _like("zeros_like", input, dtype, 0),
    "Zeros of the shape and dtype of a tensor.", method=False)  # fmt: skip


@api(method=False)
def full_like(input: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """One value in the shape and dtype of a tensor."""
    return _like("full_like", input, dtype, number(fill_value))


fills = row("fills", lambda x, value: _like("fills", x, None, number(value)),
    "One value in the shape and dtype of a tensor.")  # fmt: skip
fill_method = row("fill", lambda self, value: _like("fill", self, None, number(value)),
    "A tensor of one value in the shape and dtype of this one.", function=False)  # fmt: skip


def _new(name: str, value: int) -> Function:
    def method(self: Any, size: Any, dtype: Any = None) -> Tensor:
        return _filled(sizes(name, size), value, _given(name, dtype, FROM_NUMPY[dtype_of(self)]))

    return api(name, function=False)(defined(name, method, f"A tensor of {value}s in this one's dtype."))


new_zeros, new_empty, new_ones = _new("new_zeros", 0), _new("new_empty", 0), _new("new_ones", 1)


@api(function=False)
def new_full(self: Any, size: Any, fill_value: Any, *, dtype: Any = None) -> Tensor:
    """A tensor of one value in this one's dtype."""
    return _filled(sizes("new_full", size), number(fill_value), _given("new_full", dtype, FROM_NUMPY[dtype_of(self)]))


# ------------------------------------------------------------------------------------------ sequences


def _step_dtype(*numbers: Any) -> Number:
    return float32 if any(isinstance(x, (float, np.floating)) for x in numbers) else int64


@api(method=False)
def arange(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None) -> Tensor:
    """The numbers from `start` up to (not including) `end`: int64, or float32 where one of them is a float.

    Raises ValueError for a step of 0, or one that leads away from `end`.
    """
    start, end, step = number(start), number(end), number(step)
    if end is None:
        start, end = 0, start
    for x in (start, end, step):
        if not isinstance(x, (int, float, np.number)) or isinstance(x, bool):
            raise TypeError(f"arange: wanted numbers, got {type(x).__name__}")
    if step == 0:
        raise ValueError("arange: the step must not be 0")
    if (end - start) * step < 0:
        raise ValueError(f"arange: a step of {step} does not lead from {start} to {end}")
    own = _step_dtype(start, end, step)
    wide = np.float64 if own is float32 else np.int64
    return from_array(np.arange(start, end, step, dtype=wide).astype(_given("arange", dtype, own)))


range = row("range", lambda start, end, step, maxlen=1000000: arange(start, end, step),
    "The numbers from `start` up to (not including) `end`.", method=False)  # fmt: skip


@api(method=False)
def linspace(start: Any, end: Any, steps: Any) -> Tensor:
    """`steps` evenly spaced numbers from `start` to `end`, in float32 or the dtype of the tensors given.

    Raises ValueError for ends with axes, or no steps.
    """
    return from_array(_spaced("linspace", start, end, steps).astype(_ends_dtype(start, end)))


def _ends_dtype(*ends: Any) -> np.dtype:
    found = [dtype_of(x) for x in ends if isinstance(x, Value) and dtype_of(x).kind == "f"]
    return found[0] if found else float32.np


def _spaced(op: str, start: Any, end: Any, steps: Any) -> np.ndarray:
    steps = number(steps)
    if isinstance(steps, bool) or not isinstance(steps, int):
        raise TypeError(f"{op}: steps must be an int, got {type(steps).__name__}")
    if steps < 1:
        raise ValueError(f"{op}: steps must be at least 1, got {steps}")
    for x in (start, end):
        if isinstance(x, Value) and shape_of(x) != ():
            raise ValueError(f"{op}: start and end must be numbers or tensors without axes, got shape {x.shape}")
        if isinstance(x, (Value, int) if op == "logspace" else Value) and not isinstance(number(x), float):
            raise TypeError(f"{op}: start and end must be floating, got {number(x)!r}")
    return np.linspace(number(start), number(end), steps, dtype=np.float64)


@api(method=False)
def logspace(start: Any, end: Any, steps: Any, base: Any = 10, *, dtype: Any = None) -> Tensor:
    """`base` to the power of `steps` evenly spaced numbers from `start` to `end`."""
    powers = np.power(float(base), _spaced("logspace", start, end, steps))
    return from_array(powers.astype(_given("logspace", dtype, float32)))


@api(method=False)
def eye(n: Any, m: Any = None, dtype: Any = None) -> Tensor:
    """A matrix with ones on the diagonal; raises ValueError for negative sizes."""
    rows, columns = sizes("eye", (n, n if m is None else m))
    return from_array(np.eye(rows, columns, dtype=_given("eye", dtype, float32)))


@api(method=False)
def is_tensor(obj: Any) -> bool:
    """Whether an object is a Tensor."""
    return isinstance(obj, Tensor)


# ------------------------------------------------------------------------------------------ from NumPy, and memory


@api(method=False)
def from_numpy(array: np.ndarray) -> Tensor:
    """A tensor in the memory of a NumPy array; raises TypeError for anything else."""
    if not isinstance(array, np.ndarray):
        raise TypeError(f"from_numpy: wanted a NumPy array, got {type(array).__name__}")
    if array.dtype not in FROM_NUMPY:
        raise TypeError(f"from_numpy: there is no mindspore dtype for {array.dtype}")
    return from_array(canonical(mutation.own_clock(array) if array.size else array))


@api(method=False)
def from_dlpack(dlpack: Any) -> Tensor:
    """A tensor in the memory of another library's array (anything with `__dlpack__`); raises TypeError for anything else."""
    if not hasattr(dlpack, "__dlpack__"):
        raise TypeError(f"from_dlpack: wanted an array with __dlpack__, got {type(dlpack).__name__}")
    return from_array(np.from_dlpack(dlpack))


@api(method=False)
def eps(x: Any) -> Any:
    """The distance from 1 to the next number, in the shape and dtype of a tensor."""
    d = dtype_of(single("eps", x, FLOATING))
    if d.kind != "f":
        raise TypeError(f"eps: wanted a float16, float32 or float64 Tensor, got {x.dtype}")
    return from_array(np.full(shape_of(x), np.finfo(d).eps, d))


@api(method=False)
def scalar_to_tensor(input_x: Any, dtype: Any = float32) -> Any:
    """A Python number as a 0-d tensor."""
    if not isinstance(input_x, (bool, int, float)):
        raise TypeError(f"scalar_to_tensor: wanted a number, got {type(input_x).__name__}")
    return from_array(np.asarray(input_x, as_dtype(dtype).np))


@api(method=False)
def scalar_cast(input_x: Any, input_y: Any) -> Any:
    """A Python number as one of the kind of a dtype."""
    kind = as_dtype(input_y, "scalar_cast").category
    return (bool, int, float)[kind](input_x)


@api(method=False)
def tuple_to_array(input_x: Any) -> Any:
    """A tuple of numbers as a tensor: int32 of ints, float32 of floats."""
    if not isinstance(input_x, (tuple, list, builtins.range)) or not input_x:
        raise TypeError(f"tuple_to_array: wanted a tuple of numbers, got {type(input_x).__name__}")
    return from_array(np.asarray(input_x, np.int32 if isinstance(input_x[0], int) else np.float32))
