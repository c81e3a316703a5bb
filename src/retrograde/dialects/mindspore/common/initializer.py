"""`mindspore.common.initializer`: what fills parameters at the beginning.

An initialiser is called with an array and fills it. `initializer(...)` gives a tensor that says so (`has_init`) until
`init_data()` is called or a Parameter is made of it. Names in strings are those of the classes, the aliases in small letters.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ....core.value import make
from .._api import attributes
from .._data import number_argument
from .._dtype import float32
from .._fillers import (
    Constant,
    Dirac,
    HeNormal,
    HeUniform,
    Identity,
    Initializer,
    Normal,
    One,
    Orthogonal,
    Sparse,
    TruncatedNormal,
    Uniform,
    VarianceScaling,
    XavierNormal,
    XavierUniform,
    Zero,
    resolved,
)  # fmt: skip
from .._tensor import Tensor

__all__ = [
    "Constant", "Dirac", "HeNormal", "HeUniform", "Identity", "Initializer", "Normal", "One", "Orthogonal", "Sparse",
    "TruncatedNormal", "Uniform", "VarianceScaling", "XavierNormal", "XavierUniform", "Zero", "initializer",
]  # fmt: skip


def initializer(init: Any, shape: Any = None, dtype: Any = float32) -> Tensor:
    """A tensor of a shape and dtype that an initialiser fills; `init_data()` says that its values are wanted.

    init: an Initializer, its name, a number, or a Tensor of that shape.

    Raises:
        TypeError: another init or dtype. ValueError: an unknown name, a shape with sizes below 1.
    """
    op = "initializer"
    if isinstance(init, Tensor):
        if shape is not None and tuple(init.shape) != _sizes(op, shape):
            raise ValueError(f"{op}: the tensor has shape {init.shape}, wanted {_sizes(op, shape)}")
        return init
    filler = resolved(op, init)
    sizes = _sizes(op, shape)
    d = number_argument(dtype, op)
    tensor = make(Tensor, np.zeros(sizes, d.np))
    filler(tensor._a)
    tensor.init = filler
    tensor.__dict__["_filled"] = True
    return tensor


def _sizes(op: str, shape: Any) -> tuple[int, ...]:
    if shape is None:
        raise ValueError(f"{op}: shape has to be given")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    for n in sizes:
        if not isinstance(n, (int, np.integer)) or isinstance(n, bool) or n <= 0:
            raise ValueError(f"{op}: a shape has whole numbers above 0, got {sizes}")
    return tuple(int(n) for n in sizes)


__getattr__ = attributes(globals())
