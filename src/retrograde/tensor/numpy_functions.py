"""What NumPy's functions do with Tensors: those that are no ufuncs, with NumPy's own parameters and defaults."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.value import Value, dtype_of, shape_of
from ..ops import comparison as cmp
from ..ops import indexing as ix
from ..ops import manipulation as mani
from ..ops import reduction as red
from ..ops import selection as sel
from ..ops import structural as st
from ..ops import triangular
from ..tape import inplace
from . import contraction, creation, dtypes, elementwise, fft, indexing, linalg, manipulation, reductions, searching, sets
from ._values import axes_of, axis_of, concrete, new, rank, shape_tuple, value
from .numpy_protocol import _UFUNCS, unsupported
from .operators import promoted_all
from .promotion import double, floating, operand

FUNCTIONS: dict[Any, Callable[..., Any]] = {}
"""NumPy's function -> ours."""


def implements(*names: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Register a function for NumPy's functions of these names ("linalg.inv"), those that this NumPy has."""

    def register(f: Callable[..., Any]) -> Callable[..., Any]:
        for name in names:
            found: Any = np
            for part in name.split("."):
                found = getattr(found, part, None)
            if found is not None:
                FUNCTIONS[found] = f
        return f

    return register


def _shape(x: Any) -> tuple[int, ...]:
    return tuple(shape_of(x))


# ------------------------------------------------------------------------------------------ taken over as they are

for _name in "abs".split():
    implements(_name)(getattr(elementwise, _name))
for _name in (
    "tril triu zeros_like ones_like empty_like expand_dims squeeze swapaxes flip roll tile broadcast_arrays moveaxis "
    "permute_dims matrix_transpose unstack"
).split():
    implements(_name)(getattr(creation if hasattr(creation, _name) else manipulation, _name))
for _name in "unique_all unique_counts unique_inverse unique_values".split():
    implements(_name)(getattr(sets, _name))
for _name in "dot inner outer_ kron einsum_ vecdot".split():
    if hasattr(contraction, _name):
        implements(_name)(getattr(contraction, _name))
for _name in (
    "det eigh_ eigvalsh_ eig eigvals inv slogdet matrix_power multi_dot cond svdvals matmul vecdot cross matrix_norm_ "
    "matrix_transpose diagonal trace vector_norm_ tensordot outer"
).split():
    if hasattr(linalg, _name):
        implements(f"linalg.{_name}")(getattr(linalg, _name))
