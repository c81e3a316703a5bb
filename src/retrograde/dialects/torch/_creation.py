"""Tensors from data and from nothing: tensor, zeros, arange, eye..., and the `*_like` and `new_*` forms."""

from __future__ import annotations

import functools
import math
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...backend import devices
from ...backend.canonical import canonical
from ...core.arrays import bottom, on_host
from ...core.arrays import full as full_array
from ...core.number import is_int
from ...core.unwrap import bare
from ...core.value import Value, dtype_of, shape_of
from ...ops import structural as st
from ...ops.devices import moved
from ...tape import mutation
from .._shared.ranges import evenly_spaced
from .._shared.registry import defined
from . import _dtype
from ._api import api, write_out
from ._data import data_array, from_device, np_dtype_of, sizes
from ._dtype import FROM_NUMPY, int64
from ._elementwise import tensor_argument
from ._promote import number_array, scalar_dtype, stored_number
from ._size import CHOSEN, CPU, Size, check_device, place_named
from ._tensor import Tensor, from_array


def into_out(f: Callable[..., Tensor]) -> Callable[..., Tensor]:
    """The creation function with `out=`: it computes in the dtype of `out` and writes there."""
    name = f.__name__
    takes_sizes = f.__name__ in ("zeros", "ones", "empty")  # one by one or as one argument, which may be named

    @functools.wraps(f)
    def function(*args: Any, out: Any = None, **kwargs: Any) -> Tensor:
        if takes_sizes and "size" in kwargs:
            args = (*args, kwargs.pop("size"))
        if out is None:
            return f(*args, **kwargs)
        tensor_argument(name, out)
        if kwargs.get("dtype") is not None and np_dtype_of(name, kwargs["dtype"]) != dtype_of(out):
            raise RuntimeError(f"{name}: dtype is {kwargs['dtype']} and that of out {out.dtype}; give one of them")
        requires_grad = kwargs.pop("requires_grad", False)
        write_out(name, f(*args, **{**kwargs, "dtype": out.dtype}), out)
        return out.requires_grad_() if requires_grad else out

    return function


@api(method=False)
def tensor(
    data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new tensor with a copy of the data."""
    check_device("tensor", device)
    if isinstance(data, Value) and data.is_sparse:
        return data.clone().to(dtype or data.dtype).requires_grad_(requires_grad)  # type: ignore[no-any-return]
    np_dtype = None if dtype is None else np_dtype_of("tensor", dtype)
    if hasattr(data, "__dlpack_device__") and (there := from_device(data)) is not None:
        if device is not None:
            there = moved(there.detach(), place_named(device))
        array: Any = bare(st.copy(there.detach()) if np_dtype is None else st.cast(there.detach(), dtype=np_dtype))
        device = CPU  # where it is
    else:
        array = data_array(data, np_dtype)
        if device is None and isinstance(data, Value):
            device = CPU
    if requires_grad and array.dtype.kind in "iub":
        raise RuntimeError(
            f"tensor: only floating and complex tensors can require grad, not {FROM_NUMPY[array.dtype]}; pass "
            "dtype=torch.float32, or write 1. for 1"
        )
    return from_array(array, requires_grad, device)


@api(method=False)
def as_tensor(data: Any, dtype: Any = None, device: Any = None) -> Tensor:
    """The data as a tensor, sharing memory and history where it can."""
    check_device("as_tensor", device)
    np_dtype = None if dtype is None else np_dtype_of("as_tensor", dtype)
    if isinstance(data, Value):
        found: Any = data if device is None else moved(data, place_named(device))
        return found if np_dtype is None or dtype_of(found) == np_dtype else st.cast(found, dtype=np_dtype)
    if isinstance(data, np.ndarray):
        shared = from_numpy(data)
        if np_dtype is not None and np_dtype != data.dtype:
            shared = from_array(data.astype(np_dtype))
        return shared if device is None and not CHOSEN else from_array(shared._a, device=device)
    if (there := from_device(data)) is not None:
        return as_tensor(there, dtype, device)
    return from_array(data_array(data, np_dtype), device=device)


@api(method=False)
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """The object as a tensor; `copy` says whether memory must (True) or must not (False) be its own."""
    result = as_tensor(obj, dtype=dtype, device=device)
    if copy and isinstance(obj, (Value, np.ndarray)):
        result = st.copy(result.detach())
    if requires_grad:
        result = result.detach().requires_grad_() if result.requires_grad else result.requires_grad_()
    return result


@api(method=False)
def from_numpy(ndarray: np.ndarray) -> Tensor:
    """A tensor that shares the memory of a NumPy array."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: wanted a NumPy array, got {type(ndarray).__name__}")
    array = ndarray if type(ndarray) is np.ndarray else ndarray.view(np.ndarray)
    _dtype.from_numpy_dtype(array.dtype)
    if any(s < 0 for s in array.strides):
        raise ValueError("from_numpy: arrays with negative strides have no tensor; pass a .copy()")
    return from_array(mutation.own_clock(canonical(array)))


def _filled_array(name: str, value: int) -> Any:
    def f(*size: Any, dtype: Any = None, layout: Any = None, device: Any = None,
          requires_grad: bool = False, pin_memory: bool = False, names: Any = None) -> Tensor:  # fmt: skip
        check_device(name, device)
        if (device is not None or CHOSEN) and (place := place_named(device))[0] != "cpu":
            return from_array(devices.full(sizes(name, size), value, np_dtype_of(name, dtype), *place), requires_grad)
        make = getattr(np, name)  # looked up at each call: a trace of sizes that vary puts its own in NumPy's place
        return from_array(make(sizes(name, size), np_dtype_of(name, dtype)), requires_grad)

    return api(method=False)(into_out(defined(name, f, f"A tensor of {name}.")))


zeros, ones = _filled_array("zeros", 0), _filled_array("ones", 1)


@api(method=False)
@into_out
def empty(*size: Any, dtype: Any = None, layout: Any = None, device: Any = None,
          requires_grad: bool = False, pin_memory: bool = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    """A tensor whose elements are to be written (zeros here, anything in PyTorch)."""
    check_device("empty", device)
    return from_array(np.zeros(sizes("empty", size), np_dtype_of("empty", dtype)), requires_grad, device)


@api(method=False)
@into_out
def full(size: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
         requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """A tensor with every element `fill_value`, in its dtype unless one is given."""
    check_device("full", device)
    if isinstance(fill_value, Value):
        dtype = dtype or fill_value.dtype
        fill_value = fill_value.item()
    d = np_dtype_of("full", dtype, scalar_dtype(fill_value))
    value, shape = number_array("full", fill_value, d), sizes("full", (size,))
    return from_array(np.full(shape, value) if type(value) is np.ndarray else _filled_with(value, shape), requires_grad, device)


@api(method=False)
@into_out
def arange(start: Any, end: Any = None, step: Any = 1, *, dtype: Any = None, layout: Any = None,
           device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """Numbers from `start` (0 if only one is given) up to but without `end`, in steps."""
    check_device("arange", device)
    if end is None:
        start, end = 0, start
    whole = type(start) is type(end) is type(step) is int or all(map(is_int, (start, end, step)))
    if whole and (dtype is None or dtype is int64) and (
        -(1 << 62) < start <= end < 1 << 62 and step > 0
    ):  # fmt: skip
        return from_array(np.arange(start, end, step, np.int64), requires_grad, device)
    start, end, step = (x.item() if isinstance(x, (Value, np.generic)) else x for x in (start, end, step))
    if step == 0:
        raise RuntimeError("arange: the step must not be 0")
    if not (math.isfinite(start) and math.isfinite(end)):
        raise RuntimeError(f"arange: a range must have ends, got {start} and {end}")
    if (end - start) * step < 0:
        raise RuntimeError(f"arange: from {start} to {end} there is no way in steps of {step}")
    floating = any(isinstance(x, float) for x in (start, end, step))
    d = np_dtype_of("arange", dtype, _dtype.get_default_dtype() if floating else int64)
    if d.kind in "bc":
        raise NotImplementedError("arange: there are no ranges of booleans or complex numbers; convert one of numbers")
    n = math.ceil((end - start) / step)
    if floating and d.kind in "iu":  # from whole numbers in whole steps; in int64 up to a whole number, too
        start, end, step = int(start), int(end), int(step)
        if d == np.int64:
            if step == 0:
                raise ValueError("arange: the step is below 1 and the dtype int64, so that it would be 0")
            n = -((start - end) // step)
    if all(isinstance(x, int) for x in (start, end, step)):
        n = n if floating else -((start - end) // step)
        array = np.arange(n, dtype=np.int64) * step + start
    else:
        array = np.arange(n, dtype=np.float64) * step + start
    return from_array(array.astype(d), requires_grad, device)


def _whole_ends(op: str, start: Any, end: Any, d: np.dtype) -> tuple[Any, Any]:
    """The ends of a range as its dtype holds them: whole numbers lose their fraction before the way is divided."""
    if d.kind not in "iu":
        return start, end
    return number_array(op, start, d).item(), number_array(op, end, d).item()


@api(method=False)
@into_out
def linspace(start: Any, end: Any, steps: int, *, dtype: Any = None, layout: Any = None,
             device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:  # fmt: skip
    """`steps` numbers from `start` to `end`, both included."""
    check_device("linspace", device)
    if steps < 0:
        raise RuntimeError(f"linspace: the number of steps cannot be negative, got {steps}")
    start, end = (x.item() if isinstance(x, (Value, np.generic)) else x for x in (start, end))
    d = np_dtype_of("linspace", dtype)
    if d.kind == "b":
        raise NotImplementedError("linspace: there are no ranges of booleans; compare one of numbers")
    start, end = _whole_ends("linspace", start, end, d)
    return from_array(evenly_spaced(start, end, steps, d), requires_grad, device)


@api(method=False)
@into_out
def logspace(start: Any, end: Any, steps: int, base: float = 10.0, *, dtype: Any = None,
             layout: Any = None, device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """`base` to the powers `linspace(start, end, steps)`."""
    check_device("logspace", device)
    if steps < 0:
        raise RuntimeError(f"logspace: the number of steps cannot be negative, got {steps}")
    start, end = (x.item() if isinstance(x, (Value, np.generic)) else x for x in (start, end))
    d = np_dtype_of("logspace", dtype)
    start, end = _whole_ends("logspace", start, end, d)
    exponents = np.linspace(start, end, steps)
    powers = np.power(complex(base) if d.kind == "c" else float(base), exponents)
    if d.kind in "iu" and d.itemsize < 4:  # narrow ones by their low bits
        powers = powers.astype(np.int64)
    return from_array(powers.astype(d), requires_grad, device)


@api(method=False)
@into_out
def eye(n: int, m: int | None = None, *, dtype: Any = None, layout: Any = None, device: Any = None,
        requires_grad: bool = False) -> Tensor:  # fmt: skip
    """A matrix with ones on the diagonal, zeros elsewhere."""
    check_device("eye", device)
    if n < 0 or (m is not None and m < 0):
        raise RuntimeError(f"eye: a size cannot be negative, got {n if m is None else (n, m)}")
    return from_array(np.eye(n, m, dtype=np_dtype_of("eye", dtype)), requires_grad, device)


def _like_dtype(op: str, x: Any, d: Any) -> np.dtype:
    tensor_argument(op, x)
    return dtype_of(x) if d is None else np_dtype_of(op, d)


def _filled_with(number: Any, shape: tuple[int, ...]) -> Any:
    """An array filled with a number of a trace, which is an array without elements."""
    return st.copy(st.broadcast_to(number, shape=shape))


def _alike(op: str, input: Any, dtype: Any, memory_format: Any, value: Any) -> Any:
    """An array filled with a number, of the shape and dtype of a tensor and where that is; it lies in memory as a tensor without
    gaps does, unless another `memory_format` is asked for."""
    wanted, a = _like_dtype(op, input, dtype), input._a
    if type(value) not in (int, np.ndarray):
        return _filled_with(value, tuple(shape_of(input)))
    if type(a) is not np.ndarray and not on_host(input):
        return full_array(tuple(shape_of(input)), value if type(value) is int else value.item(), wanted, bottom(input))
    keeps = memory_format is None or str(memory_format) == "torch.preserve_format"
    if keeps and type(a) is np.ndarray and not a.flags.c_contiguous and 0 not in a.strides:
        return np.full_like(a, value, dtype=wanted)
    return np.full(shape_of(input), value, wanted) if value != 0 else np.zeros(shape_of(input), wanted)


def _filled_like(name: str, value: int, doc: str) -> Any:
    def f(input: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, requires_grad: bool = False,
          memory_format: Any = None) -> Tensor:  # fmt: skip
        check_device(name, device)
        return from_array(_alike(name, input, dtype, memory_format, value), requires_grad, CPU if device is None else device)

    return api(method=False)(defined(name, f, doc))


zeros_like = _filled_like("zeros_like", 0, "Zeros of the shape and dtype of a tensor.")
ones_like = _filled_like("ones_like", 1, "Ones of the shape and dtype of a tensor.")
empty_like = _filled_like("empty_like", 0, "A tensor of the shape and dtype of another, to be written.")


@api(method=False)
def full_like(input: Any, fill_value: Any, *, dtype: Any = None, layout: Any = None, device: Any = None,
              requires_grad: bool = False, memory_format: Any = None) -> Tensor:  # fmt: skip
    """A tensor of the shape and dtype of another with every element `fill_value`."""
    check_device("full_like", device)
    if isinstance(fill_value, Value):
        fill_value = fill_value.item()
    value = number_array("full_like", fill_value, _like_dtype("full_like", input, dtype))
    array = _alike("full_like", input, dtype, memory_format, value)
    return from_array(array, requires_grad, CPU if device is None else device)


def _new(name: str, build: Any) -> Any:
    def method(self: Tensor, *size: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False,
               layout: Any = None, pin_memory: bool = False, **given: Any) -> Tensor:  # fmt: skip
        if "size" in given:
            size = (given.pop("size"),)
        where = self.device if device is None else device
        return build(*size, dtype=dtype or self.dtype, device=where, requires_grad=requires_grad, **given)

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As `torch.{name[4:]}`, in this tensor's dtype unless another is given."
    return api(name, function=False)(method)


new_zeros, new_ones = _new("new_zeros", zeros), _new("new_ones", ones)
new_empty, new_full = _new("new_empty", empty), _new("new_full", full)


@api(function=False)
def new_tensor(
    self: Tensor, data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False
) -> Tensor:
    """A new tensor with a copy of the data, in this tensor's dtype unless another is given."""
    where = self.device if device is None else device
    return tensor(data, dtype=dtype or self.dtype, device=where, requires_grad=requires_grad)


@api(method=False)
def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """A 0-d tensor with a number, in the default dtype unless one is given."""
    check_device("scalar_tensor", device)
    number = s.item() if isinstance(s, Value) else s  # type: ignore[attr-defined]
    return from_array(stored_number("scalar_tensor", number, np_dtype_of("scalar_tensor", dtype)).copy(), requires_grad, device)


@api(function=False)
def new(self: Tensor, *args: Any, device: Any = None) -> Tensor:
    """A tensor of this one's dtype from sizes or from data (the old form of `new_empty` and `new_tensor`)."""
    check_device("new", device)
    if len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray, Value)) and not isinstance(args[0], Size):
        return tensor(args[0], dtype=self.dtype, device=self.device if device is None else device)
    array = np.zeros(sizes("new", args) if args else (0,), dtype_of(self))
    return from_array(array, device=self.device if device is None else device)


@api("range", method=False)
@into_out
def inclusive_range(start: Any = 0, end: Any = None, step: Any = 1, *, dtype: Any = None, layout: Any = None,
                    device: Any = None, requires_grad: bool = False) -> Tensor:  # fmt: skip
    """Numbers from `start` up to and with `end`, in the default dtype; deprecated there in favour of arange."""
    warnings.warn("torch.range includes its end, unlike Python's; torch.arange does not", UserWarning, stacklevel=2)
    check_device("range", device)
    if end is None:
        raise TypeError("range: give the end; range(n) of Python is arange(n)")
    if not step or not math.isfinite(end - start) or (end - start) * step < 0:
        raise RuntimeError(f"range: from {start} to {end} there is no way in steps of {step}")
    numbers = np.arange(math.floor((end - start) / step) + 1) * step + start
    return from_array(numbers.astype(np_dtype_of("range", dtype)), requires_grad, device)
