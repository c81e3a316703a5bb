"""What the dialects' dtype objects share: a name, NumPy's dtype, and the kind that decides promotion."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

import ml_dtypes
import numpy as np


class BaseDtype:
    """The type of a tensor's elements under the name that a dialect gives it."""

    __slots__ = ("name", "np", "is_floating_point", "is_complex", "is_signed", "itemsize", "category")

    def __init__(self, name: str, numpy: Any, category: int) -> None:
        self.name, self.np = name, np.dtype(numpy)
        self.category = category
        """0 bool, 1 integer, 2 floating, 3 complex: what decides between tensors, 0-d tensors and numbers."""
        self.is_floating_point, self.is_complex = category == 2, category == 3
        self.is_signed = name != "bool" and not name.startswith("uint")
        self.itemsize = self.np.itemsize

    def __reduce__(self) -> str:
        return self.name


class FloatLimits:
    """The limits of a floating dtype, as `finfo` objects have them."""

    def __init__(self, d: BaseDtype) -> None:
        info: Any = ml_dtypes.finfo(d.np)
        self.dtype = d.name
        self.bits = d.itemsize * 8
        self.eps, self.max, self.min = float(info.eps), float(info.max), float(info.min)
        self.tiny = self.smallest_normal = float(info.smallest_normal)
        self.resolution = float(f"1e-{info.precision}")


class IntegerLimits:
    """The limits of an integer dtype, as `iinfo` objects have them."""

    def __init__(self, d: BaseDtype) -> None:
        info = np.iinfo(d.np)
        self.dtype, self.bits, self.min, self.max = d.name, info.bits, int(info.min), int(info.max)


def number_kind(x: Any) -> int:
    """The kind of a number, Python's or NumPy's, as `category` counts: bool, integer, floating, complex.

    Raises TypeError for anything else.
    """
    for kind, types in enumerate(_NUMBERS):
        if isinstance(x, types):
            return kind
    raise TypeError(f"wanted a tensor or a number, got {type(x).__name__}")


_NUMBERS = ((bool, np.bool_), (int, np.integer), (float, np.floating), (complex, np.complexfloating))


def numpy_lookup(dialect: str, found: Mapping[Any, Any], names: Iterable[str]) -> Callable[[Any], Any]:
    """`from_numpy_dtype(d)`: the dialect's dtype for NumPy's; raises TypeError where there is none.

    found: the dtypes by NumPy's. names: what there is, for the message.
    """

    def from_numpy_dtype(np_dtype: Any) -> Any:
        """The dialect's dtype for NumPy's; raises TypeError where there is none."""
        try:
            return found[np.dtype(np_dtype)]
        except (KeyError, TypeError):
            raise TypeError(f"no {dialect} dtype for NumPy's {np_dtype}; there are {', '.join(names)}") from None

    return from_numpy_dtype
