"""Conversions of one tensor: dtypes and devices, copies, questions about the dtype."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of
from ...ops import structural as st
from ...ops.devices import moved
from .._shared.registry import defined
from . import _dtype
from ._api import api, row
from ._dtype import FROM_NUMPY, as_dtype, dtype
from ._elementwise import tensor_argument
from ._graph_nodes import show_as
from ._legacy_types import BY_DTYPE
from ._size import CPU, check_device, device, place_named
from ._size import device as torch_device
from ._tensor import Tensor

_cast = st.cast.prim.bind

# ------------------------------------------------------------------------------------------ dtype and device


def converted(x: Any, d: dtype | None, copy: bool = False) -> Any:
    """The tensor in a dtype: itself where it has that dtype already, unless a copy is asked for."""
    if d is None or d.np == dtype_of(x):
        return st.copy(x) if copy else x
    return _cast(x, dtype=d.np)


def _is_device(x: Any) -> bool:
    return isinstance(x, (device, str)) or (isinstance(x, int) and not isinstance(x, bool))


@api(function=False)
def to(self: Any, *args: Any, **options: Any) -> Any:
    """This tensor in another dtype, on another device, or as another tensor has them.

    `to(dtype)`, `to(device, dtype)` and `to(other)`, each with `non_blocking`, `copy` and `memory_format`. The tensor
    itself is returned when nothing changes and no copy is asked for.
    """
    d, where, copy = options.pop("dtype", None), options.pop("device", None), options.pop("copy", False)
    other = options.pop("other", None)
    for name in ("non_blocking", "memory_format"):
        options.pop(name, None)
    if options:
        raise TypeError(f"to: unknown argument {next(iter(options))!r}")
    d, rest = as_dtype(d), [as_dtype(x) for x in args]
    if rest and isinstance(rest[0], Value):
        other = rest.pop(0)
    elif rest and isinstance(rest[0], dtype):
        d = rest.pop(0)
    elif rest and (rest[0] is None or _is_device(rest[0])):
        where = rest.pop(0)
        if rest and (rest[0] is None or isinstance(rest[0], dtype)):
            d = rest.pop(0)
    elif rest:
        raise TypeError(f"to: wanted a dtype, a device or a tensor, got {rest[0]!r}")
    if len(rest) > 2 or not all(isinstance(flag, bool) for flag in rest):
        raise TypeError(f"to: wanted non_blocking and copy as booleans after the dtype or device, got {rest!r}")
    if other is not None:
        d, where = FROM_NUMPY[dtype_of(other)], other.device
    if d is not None and not isinstance(d, dtype):
        raise TypeError(f"to: dtype must be a torch dtype, got {d!r}")
    copy = copy or (len(rest) == 2 and rest[1])
    if where is None or ((where is CPU or where == "cpu") and type(self._a) is np.ndarray):
        return converted(self, d, copy)
    check_device("to", where)
    there = transferred(self, where)
    return converted(there, d, copy and there is self)


def transferred(x: Any, where: Any) -> Any:
    """The tensor on a device that is there: itself if it is there already. Its gradient goes the way back."""
    place = place_named(where)
    if place[0] == "cpu" and type(x._a) is np.ndarray:
        return x
    found = moved(x, place)
    if found is not x and found._node is not None:
        show_as(found, "ToCopyBackward0")
    return found


def _converter(name: str, d: dtype) -> None:
    def method(self: Any, memory_format: Any = None) -> Any:
        return converted(self, d)

    api(name, function=False)(defined(name, method, f"This tensor in dtype {d!r}."))


NAMED_DTYPES = {
    "float": _dtype.float32, "double": _dtype.float64, "half": _dtype.float16, "bfloat16": _dtype.bfloat16,
    "int": _dtype.int32, "long": _dtype.int64, "short": _dtype.int16, "char": _dtype.int8, "byte": _dtype.uint8,
    "bool": _dtype.bool_, "cfloat": _dtype.complex64, "cdouble": _dtype.complex128,
}  # fmt: skip
"""The dtypes that methods bring a tensor to."""
for _name, _d in NAMED_DTYPES.items():
    _converter(_name, _d)


@api("type", function=False)
def type_(self: Any, dtype: Any = None, non_blocking: bool = False) -> Any:
    """This tensor in another dtype, given as a dtype or an old name of tensors; without one, that name of its own."""
    if dtype is None:
        name = BY_DTYPE[FROM_NUMPY[dtype_of(self)]]
        return name.replace("torch.", "torch.cuda.") if self.is_cuda else name
    if isinstance(dtype, str):
        known = {name: d for d, name in BY_DTYPE.items()}
        wanted = dtype.replace("torch.cuda.", "torch.")
        if wanted not in known:
            raise ValueError(f"type: {dtype!r} names no tensor type; there are {', '.join(known)}")
        place: Any = CPU if wanted == dtype else "cuda" if not self.is_cuda else self.device
        check_device("type", place)
        return converted(transferred(self, place), known[wanted])
    return converted(self, getattr(dtype, "dtype", as_dtype(dtype)))


type_as = row("type_as", lambda self, other: converted(transferred(self, tensor_argument("type_as", other).device),
    FROM_NUMPY[dtype_of(other)]), "This tensor in the dtype of another, and on its device.", function=False)  # fmt: skip
cpu = row("cpu", lambda self, memory_format=None: transferred(self, CPU),
    "This tensor on the CPU: itself if it is there.", function=False)  # fmt: skip


@api(function=False)
def cuda(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
    """This tensor on a CUDA device, the current one unless another is named; raises AssertionError where there is none."""
    where = "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device
    check_device("cuda", where)
    if torch_device(where).type != "cuda":
        raise RuntimeError(f"cuda: {str(where)!r} is no CUDA device; use to()")
    return transferred(self, where)


@api(function=False)
def xpu(self: Any, device: Any = None, non_blocking: bool = False, memory_format: Any = None) -> Any:
    """Raises AssertionError: there is no such device."""
    check_device("xpu", "xpu" if device is None or isinstance(device, int) else device)
    return self


clone = row("clone", lambda input, *, memory_format=None: st.copy(tensor_argument("clone", input)),
    "A copy with memory of its own, through which gradients pass.")  # fmt: skip
detach = row("detach", lambda input: tensor_argument("detach", input).detach(),
    "The same memory without history.", method=False)  # fmt: skip

# ------------------------------------------------------------------------------------------ what kind it is


@api()
def is_floating_point(input: Any) -> bool:
    """Whether the dtype is a floating one."""
    return FROM_NUMPY[dtype_of(tensor_argument("is_floating_point", input))].is_floating_point


@api()
def is_complex(input: Any) -> bool:
    """Whether the dtype is complex."""
    return dtype_of(tensor_argument("is_complex", input)).kind == "c"


@api()
def is_signed(input: Any) -> bool:
    """Whether the dtype has negative numbers."""
    return FROM_NUMPY[dtype_of(tensor_argument("is_signed", input))].is_signed


@api("detach_", method=False)
def detach_in_place(input: Any) -> Tensor:
    """Take a tensor out of the graph that computed it; returns it."""
    tensor_argument("detach_", input)
    return input.detach_()
