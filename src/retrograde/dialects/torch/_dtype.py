"""PyTorch's dtype objects, their NumPy counterparts, the default dtype, promotion tables, finfo and iinfo."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np

from .._shared.dtypes import BaseDtype, FloatLimits, IntegerLimits, numpy_lookup


class dtype(BaseDtype):
    """The type of a tensor's elements, as PyTorch names it (`torch.float32`)."""

    __slots__ = ()

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def to_complex(self) -> dtype:
        """The complex dtype whose parts have this one."""
        return complex128 if self is float64 else complex64

    def to_real(self) -> dtype:
        """The dtype of this one's real part."""
        return float64 if self is complex128 else float32 if self is complex64 else self


# Pickles and saved state dicts refer to dtypes by these module attributes.
dtype.__module__ = "torch"

bool_ = dtype("bool", np.bool_, 0)
uint8 = dtype("uint8", np.uint8, 1)
int8 = dtype("int8", np.int8, 1)
int16 = dtype("int16", np.int16, 1)
int32 = dtype("int32", np.int32, 1)
int64 = dtype("int64", np.int64, 1)
uint16 = dtype("uint16", np.uint16, 1)
uint32 = dtype("uint32", np.uint32, 1)
uint64 = dtype("uint64", np.uint64, 1)
float16 = dtype("float16", np.float16, 2)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16, 2)
float32 = dtype("float32", np.float32, 2)
float64 = dtype("float64", np.float64, 2)
complex64 = dtype("complex64", np.complex64, 3)
complex128 = dtype("complex128", np.complex128, 3)

FLOAT8 = tuple(
    dtype(name, getattr(ml_dtypes, name), 2)
    for name in ("float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu")
)
"""For storage: tensors are converted to them and back; they have no promotion."""


class _Nameable(dtype):
    """A dtype that programs may name and compare, and that no array here can have."""

    __slots__ = ()

    def __init__(self, name: str, itemsize: int, category: int) -> None:
        self.name, self.itemsize, self.category = name, itemsize, category
        self.is_floating_point, self.is_complex, self.is_signed = category == 2, category == 3, "uint" not in name

    @property
    def np(self) -> Any:  # type: ignore[override]
        """Raises NotImplementedError: there is no such NumPy dtype."""
        raise NotImplementedError(f"{self}: NumPy has no arrays of it, so no tensor is made in it; use a wider dtype")


_Nameable.__module__, _Nameable.__qualname__ = "torch", "dtype"
complex32 = _Nameable("complex32", 4, 3)
QUANTIZED = tuple(_Nameable(name, size, 1) for name, size in (("qint8", 1), ("quint8", 1), ("qint32", 4), ("quint4x2", 1)))

ALL = (bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, bfloat16, float32, float64,
       complex64, complex128)  # fmt: skip
FROM_NUMPY: dict[np.dtype, dtype] = {d.np: d for d in (*ALL, *FLOAT8)}

ALIASES = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
    "cfloat": complex64, "cdouble": complex128, "complex32": complex32, "chalf": complex32,
    **{d.name: d for d in (*FLOAT8, *QUANTIZED)},
}  # fmt: skip


from_numpy_dtype = numpy_lookup("torch", FROM_NUMPY, [d.name for d in ALL])
_default = float32  # of the process, as in PyTorch: threads share it


def get_default_dtype() -> dtype:
    """The dtype of tensors made from Python floats."""
    return _default


def set_default_dtype(d: dtype) -> None:
    """Set the dtype of tensors made from Python floats; raises TypeError for one that is not floating."""
    global _default
    if not isinstance(d, dtype) or not d.is_floating_point:
        raise TypeError(f"set_default_dtype: wanted a floating torch dtype, got {d!r}")
    _default = d


# Rows and columns: u8 i8 i16 i32 i64 f16 bf16 f32 f64 c64 c128 bool. Integers promote to the smallest signed integer
# that holds both; a floating dtype wins over integers; float16 and bfloat16 meet in float32.
def _promote_pair(a: dtype, b: dtype) -> dtype:
    if a is b:
        return a
    if a in FLOAT8 or b in FLOAT8:
        raise RuntimeError(f"promote_types: {a} and {b} have no common dtype; convert the float8 tensor first")
    if a.category < b.category:
        a, b = b, a
    if a.category == b.category:
        if a.category == 1:
            if a.is_signed == b.is_signed:
                return a if a.itemsize >= b.itemsize else b
            signed, unsigned = (a, b) if a.is_signed else (b, a)
            if signed.itemsize > unsigned.itemsize:
                return signed
            wider = {1: int16, 2: int32, 4: int64}.get(unsigned.itemsize)
            if wider is None:
                raise RuntimeError(f"promote_types: no dtype holds both {a} and {b}")
            return wider
        if {a, b} == {float16, bfloat16}:
            return float32
        return a if a.itemsize >= b.itemsize else b
    if a.category == 3 and b is float64:
        return complex128
    return a


_PROMOTED: dict[tuple[dtype, dtype], dtype] = {}


def as_dtype(d: Any) -> Any:
    """The dtype that one of Python's number types stands for; anything else as it is."""
    return _PYTHON.get(d, d) if d.__class__ is type else d


_PYTHON = {bool: bool_, int: int64, float: float64, complex: complex128}


def promote_types(type1: dtype, type2: dtype) -> dtype:
    """The smallest dtype that both dtypes convert to."""
    found = _PROMOTED.get((type1, type2))
    if found is None:
        type1, type2 = as_dtype(type1), as_dtype(type2)
        if not isinstance(type1, dtype) or not isinstance(type2, dtype):
            raise TypeError(f"promote_types: wanted two dtypes, got {type1!r} and {type2!r}")
        found = _PROMOTED[type1, type2] = _promote_pair(type1, type2)
    return found


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a cast stays within its kind or goes up (float to int, say, does not)."""
    kinds = as_dtype(from_), as_dtype(to)
    if not all(isinstance(kind, dtype) for kind in kinds):
        raise TypeError(f"can_cast: wanted two dtypes, got {type(from_).__name__} and {type(to).__name__}")
    return kinds[0].category <= kinds[1].category


class finfo(FloatLimits):
    """The limits of a floating dtype."""

    def __init__(self, type: dtype | None = None) -> None:
        d = get_default_dtype() if type is None else as_dtype(type)
        if not isinstance(d, dtype) or d.category < 2:
            raise TypeError(f"finfo: wanted a floating dtype, got {d!r}; integers have torch.iinfo")
        super().__init__(d.to_real())

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(IntegerLimits):
    """The limits of an integer dtype."""

    def __init__(self, type: dtype) -> None:
        type = as_dtype(type)
        if not isinstance(type, dtype) or type.category != 1:
            raise TypeError(f"iinfo: wanted an integer dtype, got {type!r}; floating ones have torch.finfo")
        super().__init__(type)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
