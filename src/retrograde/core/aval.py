"""`Aval`: what is known of an array without its elements. Shape rules map avals to avals."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .value import dtype_of, shape_of


class Aval(NamedTuple):
    """A shape and a dtype."""

    shape: tuple[int, ...]
    dtype: np.dtype


def aval_of(x: Any) -> Aval:
    """The aval of an array, value or edge."""
    return Aval(tuple(shape_of(x)), dtype_of(x))
