"""Tensors from data and from nothing: to_tensor, zeros, arange, eye..., and the `*_like` forms."""

from __future__ import annotations

import contextlib
import math
from typing import Any

import numpy as np

from ...backend.canonical import canonical
from ...core.value import dtype_of, make, shape_of
from ...ops import structural as st
from .._shared.ranges import evenly_spaced
from .._shared.registry import defined
from ._api import api, write_out
from ._data import data_array, number, sizes
from ._device import check_device
from ._dtype import (
    as_dtype,
    bfloat16,
    bool_,
    complex128,
    dtype,
    float16,
    float32,
    float64,
    from_numpy_dtype,
    full_dtype,
    int8,
    int16,
    int32,
    int64,
    np_dtype_of,
    uint8,
)  # fmt: skip
from ._promote import tensor_argument
from ._tensor import Tensor, from_array


def _made(op: str, array: np.ndarray, out: Any, device: Any, requires_grad: bool) -> Tensor:
    """What a creation function returns for the array it made."""
    if device is not None:
        check_device(op, device)
    if out is not None:
        result: Tensor = write_out(op, make(Tensor, array), out)
        if requires_grad:
            result.stop_gradient = False
        return result
    return from_array(array, not requires_grad)


@api(method=False)
def to_tensor(data: Any, dtype: Any = None, place: Any = None, stop_gradient: bool = True) -> Tensor:
    """A new tensor with a copy of the data.

    Raises TypeError for what is no data or no dtype, ValueError where the data is ragged.
    """
    check_device("to_tensor", place)
    np_dtype = None if dtype is None else full_dtype("to_tensor", dtype).np
    if isinstance(data, Tensor):
        copied = st.copy(data.detach())
        if np_dtype is not None and np_dtype != dtype_of(copied):
            copied = st.cast(copied, dtype=np_dtype)
        copied.stop_gradient = bool(stop_gradient)
        return copied  # type: ignore[no-any-return]
    return from_array(data_array("to_tensor", data, np_dtype), bool(stop_gradient))


def construct(cls: type[Tensor], args: tuple[Any, ...], options: dict[str, Any]) -> Tensor:
    """`paddle.Tensor(...)`: of data, or of sizes given one by one."""
    stop_gradient = options.pop("stop_gradient", True)
    dtype, place = options.pop("dtype", None), options.pop("place", None)
    check_device("Tensor", place)
    for key in ("value", "data"):
        if key in options:
            args = (options.pop(key), *args)
    check_device("Tensor", options.pop("device", None))
    name, persistable = options.pop("name", None), options.pop("persistable", False)
    options.pop("zero_copy", None)  # the data is copied always
    if options:
        raise TypeError(f"Tensor: unknown argument {next(iter(options))!r}")
    np_dtype = None if dtype is None else as_dtype("Tensor", dtype).np
    if args and all(isinstance(n, int) and not isinstance(n, bool) for n in args):
        array = np.zeros(sizes("Tensor", args), np_dtype_of("Tensor", dtype))
    else:
        data = args[0] if args else []
        if np_dtype is None and isinstance(data, (list, tuple)):
            np_dtype = np_dtype_of("Tensor", None)
        array = data_array("Tensor", data, np_dtype)
    tensor = make(cls, array)
    if not stop_gradient:
        tensor.stop_gradient = False
    if name is not None:
        tensor.name = name
    if persistable:
        tensor.persistable = True
    return tensor


Tensor._construct = staticmethod(construct)


def _shaped(op: str, shape: tuple[Any, ...], options: dict[str, Any]) -> tuple[int, ...]:
    """A shape given as one argument, as several sizes, or as `size=`."""
    if "size" in options:
        shape = (*shape, options.pop("size"))
    if options:
        raise TypeError(f"{op}() got an unexpected keyword argument {next(iter(options))!r}")
    if not shape:
        raise TypeError(f"{op}: the shape is missing")
    return sizes(op, () if shape[0] is None else shape[0] if len(shape) == 1 else shape)


def _constant(name: str, made_by: str, text: str) -> Any:
    """A function that fills a shape: `f(shape, dtype, name)`, or sizes one by one, and what else creation takes. made_by: the
    name of NumPy's, which is looked up when it is called (compile/trace/sizes.py)."""

    def f(
        shape: Any = (), *more: Any, dtype: Any = None, name: Any = None, out: Any = None, device: Any = None,
        requires_grad: bool = False, pin_memory: bool = False, **options: Any,
    ) -> Tensor:  # fmt: skip
        given = () if "size" in options else (shape,)
        if more and isinstance(shape, (int, np.integer)) and all(isinstance(n, (int, np.integer)) for n in more):
            given += more
        elif more:
            if len(more) > 2 or dtype is not None:
                raise TypeError(f"{label}: wanted (shape, dtype, name), got {1 + len(more)} arguments by position")
            dtype = more[0]
        array = getattr(np, made_by)(_shaped(label, given, options), np_dtype_of(label, dtype))
        return _made(label, array, out, device, requires_grad)

    label = name
    f.__name__ = f.__qualname__ = name
    f.__doc__ = text
    return api(name, method=False)(f)


ones = _constant("ones", "ones", "A tensor of ones.")
zeros = _constant("zeros", "zeros", "A tensor of zeros.")
empty = _constant("empty", "zeros", "A tensor whose elements are to be written (zeros here, anything in PaddlePaddle).")


def _spelled(x: Any) -> Any:
    """A number spelled out in a string, anything else as it is."""
    with contextlib.suppress(ValueError):
        return float(x) if isinstance(x, str) else x
    return x


@api(method=False, seconds={"size": "shape"})
def full(
    shape: Any, fill_value: Any, dtype: Any = None, name: Any = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor with every element `fill_value`: floating unless it is a bool, a complex number or a dtype is given."""
    fill_value = number("full", "fill_value", _spelled(fill_value))
    default = bool_ if isinstance(fill_value, bool) else complex128 if isinstance(fill_value, complex) else None
    d = np_dtype_of("full", dtype, default)
    array = np.asarray(fill_value).astype(d)
    return _made("full", np.full(sizes("full", shape), array, d), out, device, requires_grad)


def _like(name: str, fill: Any) -> Any:
    def f(
        x: Any, dtype: Any = None, name: Any = None, *, device: Any = None, requires_grad: bool = False,
        pin_memory: bool = False,
    ) -> Tensor:  # fmt: skip
        tensor_argument(label, x)
        d = dtype_of(x) if dtype is None else as_dtype(label, dtype).np
        return _made(label, np.full(shape_of(x), fill, d), None, device, requires_grad)

    label = name
    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"A tensor as `paddle.{name[:-5]}` makes it, in the shape and dtype of another."
    return api(name, method=False)(f)


ones_like, zeros_like, empty_like = _like("ones_like", 1), _like("zeros_like", 0), _like("empty_like", 0)


@api(method=False)
def full_like(
    x: Any, fill_value: Any, dtype: Any = None, name: Any = None, *, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A tensor of the shape and dtype of another with every element `fill_value`."""
    tensor_argument("full_like", x)
    d = dtype_of(x) if dtype is None else as_dtype("full_like", dtype).np
    array = np.asarray(number("full_like", "fill_value", fill_value)).astype(d)
    return _made("full_like", np.full(shape_of(x), array, d), None, device, requires_grad)


def _new(name: str, build: Any) -> None:
    def method(self: Tensor, shape: Any, *args: Any, dtype: Any = None, **options: Any) -> Tensor:
        return build(shape, *args, dtype=dtype or self.dtype, **options)  # type: ignore[no-any-return]

    method.__name__ = method.__qualname__ = name
    method.__doc__ = f"As `paddle.{name[4:]}`, in this tensor's dtype unless another is given."
    api(name, function=False)(method)


for _name, _build in {"new_zeros": zeros, "new_ones": ones, "new_empty": empty, "new_full": full}.items():
    _new(_name, _build)

# ------------------------------------------------------------------------------------------ sequences


def _ends(op: str, start: Any, end: Any, step: Any) -> list[Any]:
    return [number(op, what, x) for what, x in (("start", start), ("end", end), ("step", step))]


@api(method=False)
def arange(
    start: Any = 0, end: Any = None, step: Any = 1, dtype: Any = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False, pin_memory: bool = False, name: Any = None,
) -> Tensor:  # fmt: skip
    """Numbers from `start` (0 if only one is given) up to but without `end`, in steps."""
    if end is None:
        start, end = 0, start
    start, end, step = _ends("arange", start, end, step)
    floating = any(isinstance(x, float) for x in (start, end, step))
    d = np_dtype_of("arange", dtype, None if floating else int64)
    if floating and d.kind in "iu":
        start, end, step, floating = int(start), int(end), int(step), False
    if step == 0:
        raise ValueError("arange: the step must not be 0")
    n = max(0, math.ceil((end - start) / step))
    if floating or d.kind not in "iu":  # each number is the one before plus the step, rounded, as PaddlePaddle adds them
        work = d if d.kind == "f" and d.itemsize >= 4 else np.dtype(np.float32 if d.kind in "Vf" else np.float64)
        array = np.full(n, step, work)
        array[:1] = start
        array = np.cumsum(array, dtype=work)
    else:
        array = np.arange(n, dtype=np.int64) * step + start
    return _made("arange", array.astype(d), out, device, requires_grad)


@api(method=False)
def range(start: Any, end: Any, step: Any = 1, dtype: Any = None) -> Tensor:
    """Numbers from `start` to `end`, which is included, in steps."""
    start, end, step = _ends("range", start, end, step)
    return arange(start, end + (step if isinstance(step, int) else step / 2), step, np_dtype_of("range", dtype))


@api(method=False, seconds={"end": "stop", "steps": "num"})
def linspace(
    start: Any, stop: Any, num: Any, dtype: Any = None, name: Any = None, *, out: Any = None, device: Any = None,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`num` numbers from `start` to `stop`, both included."""
    start, stop = number("linspace", "start", start), number("linspace", "stop", stop)
    num = int(number("linspace", "num", num))
    if num < 0:
        raise ValueError(f"linspace: the number of elements cannot be negative, got {num}")
    array = evenly_spaced(start, stop, num, np_dtype_of("linspace", dtype))
    return _made("linspace", array, out, device, requires_grad)


@api(method=False)
def logspace(start: Any, stop: Any, num: Any, base: Any = 10.0, dtype: Any = None, name: Any = None) -> Tensor:
    """`base` to the powers `linspace(start, stop, num)`."""
    first, last, count, of = (number("logspace", what, x) for what, x in
                              (("start", start), ("stop", stop), ("num", num), ("base", base)))  # fmt: skip
    exponents = np.linspace(float(first), float(last), int(count))
    return from_array((float(of) ** exponents).astype(np_dtype_of("logspace", dtype)))


# ------------------------------------------------------------------------------------------ matrices


def _count(op: str, argument: str, n: Any) -> int:
    n = number(op, argument, n)
    if not isinstance(n, (int, np.integer)) or n < 0:
        raise TypeError(f"{op}: {argument} must be a non-negative int, got {n!r}")
    return int(n)


@api(method=False, seconds={"n": "num_rows", "m": "num_columns"})
def eye(
    num_rows: Any, num_columns: Any = None, dtype: Any = None, name: Any = None, *, out: Any = None,
    device: Any = None, requires_grad: bool = False, pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A matrix with ones on the diagonal, zeros elsewhere."""
    rows = _count("eye", "num_rows", num_rows)
    columns = rows if num_columns is None else _count("eye", "num_columns", num_columns)
    return _made("eye", np.eye(rows, columns, dtype=np_dtype_of("eye", dtype)), out, device, requires_grad)


@api(method=False)
def tril_indices(row: Any, col: Any, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """The rows and columns of the elements on and below a diagonal, as two rows."""
    found = np.tril_indices(_count("tril_indices", "row", row), offset, _count("tril_indices", "col", col))
    return from_array(np.stack(found).astype(np_dtype_of("tril_indices", dtype)))


@api(method=False)
def triu_indices(row: Any, col: Any = None, offset: int = 0, dtype: Any = "int64") -> Tensor:
    """The rows and columns of the elements on and above a diagonal, as two rows."""
    rows = _count("triu_indices", "row", row)
    found = np.triu_indices(rows, offset, rows if col is None else _count("triu_indices", "col", col))
    return from_array(np.stack(found).astype(np_dtype_of("triu_indices", dtype)))


# ------------------------------------------------------------------------------------------ other ways to give data


@api(method=False)
def as_tensor(
    data: Any, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False
) -> Tensor:
    """A new tensor with a copy of the data."""
    return to_tensor(data, dtype, device, not requires_grad)


@api(method=False)
def asarray(
    obj: Any, *, dtype: Any = None, device: Any = None, copy: bool | None = None, requires_grad: bool = False
) -> Tensor:
    """A new tensor with a copy of the object's elements."""
    return to_tensor(obj, dtype, device, not requires_grad)


@api(method=False)
def from_numpy(ndarray: Any) -> Tensor:
    """A tensor with a copy of the elements of a NumPy array; raises TypeError for anything else."""
    if not isinstance(ndarray, np.ndarray):
        raise TypeError(f"from_numpy: wanted a NumPy array, got {type(ndarray).__name__}")
    from_numpy_dtype(ndarray.dtype)
    return from_array(canonical(np.array(ndarray)))


def _typed(name: str, d: dtype) -> None:
    def f(*args: Any, device: Any = None) -> Tensor:
        return construct(Tensor, args, {"dtype": d, "place": device})

    api(name, method=False)(defined(name, f, f"A tensor of dtype {d} from data, or of sizes given one by one."))


for _name, _d in {
    "FloatTensor": float32, "DoubleTensor": float64, "HalfTensor": float16, "BFloat16Tensor": bfloat16,
    "IntTensor": int32, "LongTensor": int64, "ShortTensor": int16, "CharTensor": int8, "ByteTensor": uint8,
    "BoolTensor": bool_,
}.items():  # fmt: skip
    _typed(_name, _d)
