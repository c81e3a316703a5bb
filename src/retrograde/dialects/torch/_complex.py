"""Complex tensors: from parts and into parts, conjugates, pairs of real numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.value import Value, dtype_of
from ...ops import complex_parts
from ...ops import structural as st
from ...tape import inplace, mutation
from ._api import METHODS, api, row
from ._creation import tensor
from ._elementwise import tensor_argument
from ._graph_nodes import NAMES
from ._tensor import conjugate

NAMES.update(
    real="SelectBackward0", imag="SelectBackward0", conj="ConjPhysicalBackward0", make_complex="ComplexBackward0",
)  # fmt: skip

# ------------------------------------------------------------------------------------------ complex from parts


def _same_floats(name: str, x: Any, y: Any) -> None:
    tensor_argument(name, x)
    tensor_argument(name, y, "other")
    d = dtype_of(x)
    if d.kind != "f" or d.itemsize < 4 or dtype_of(y) != d:
        raise RuntimeError(f"{name}: both parts must be float32 or both float64, got {x.dtype} and {y.dtype}")


@api(method=False, out=True)
def complex(real: Any, imag: Any) -> Any:
    """The complex tensor with these real and imaginary parts."""
    _same_floats("complex", real, imag)
    return complex_parts.make_complex(real, imag)


@api(method=False, out=True)
def polar(abs: Any, angle: Any) -> Any:
    """The complex tensor with these absolute values and angles."""
    _same_floats("polar", abs, angle)
    return complex_parts.polar(abs, angle)


# ------------------------------------------------------------------------------------------ complex parts


@api(method=False)
def real(input: Any) -> Any:
    """The real part, a view of a complex tensor; a real tensor itself."""
    if dtype_of(tensor_argument("real", input)).kind != "c":
        return input
    return inplace.view(st.real, input)


@api(method=False)
def imag(input: Any) -> Any:
    """The imaginary part, a view of a complex tensor; raises RuntimeError for a real one."""
    if dtype_of(tensor_argument("imag", input)).kind != "c":
        raise RuntimeError(f"imag: a tensor of dtype {input.dtype} has no imaginary part; use zeros_like()")
    return inplace.view(st.imag, input)


def _part(name: str, get: Any) -> property:
    """The part of a complex tensor as an attribute that can be assigned to."""

    def assign(self: Any, value: Any) -> None:
        part = get(self)
        if not isinstance(value, Value):
            value = tensor(value, dtype=part.dtype)
        inplace.update(name, part, lambda: st.broadcast_like(value, part))

    return property(get, assign, doc=get.__doc__)


METHODS["real"] = _part("real", real)
METHODS["imag"] = _part("imag", imag)


@api()
def conj(input: Any) -> Any:
    """The complex conjugate, a view: what is written to one is seen in the other; a real tensor itself."""
    if dtype_of(tensor_argument("conj", input)).kind != "c":
        return input
    return conjugate(input)


@api(in_place=True, out=True)
def conj_physical(input: Any) -> Any:
    """The complex conjugate; a real tensor itself."""
    if dtype_of(tensor_argument("conj_physical", input)).kind != "c":
        return input
    return st.conj(input)


@api()
def is_conj(input: Any) -> bool:
    """Whether the tensor is a conjugated view, the result of conj() or mH."""
    x = tensor_argument("is_conj", input)
    if type(x._a) is np.ndarray:
        return dtype_of(x).kind == "c" and mutation.is_conjugate(x._a)
    return sum(op is st.conj for op, _ in x._view_steps or ()) % 2 == 1


@api()
def is_neg(input: Any) -> bool:
    """Whether the tensor is a lazily negated view, which retrograde never makes: False."""
    tensor_argument("is_neg", input)
    return False


resolve_conj = row("resolve_conj", lambda input: st.copy(input) if is_conj(input) else input,
    "The tensor itself, or a copy where it is the result of conj().")  # fmt: skip
resolve_neg = row("resolve_neg", lambda input: tensor_argument("resolve_neg", input), "The tensor itself.")


