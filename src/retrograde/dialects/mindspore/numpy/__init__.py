"""`mindspore.numpy`: NumPy's functions on tensors (see _functions.py and its neighbours by topic), dtypes and constants."""

from __future__ import annotations

import math
import types

from .. import _dtype
from .._api import attributes, named
from ..._shared.registry import aliases
from . import _choices, _functions, _grids, _histograms, _polynomials
from .._paths import offer_paths

pi, e, inf, nan = math.pi, math.e, math.inf, math.nan
PINF, NINF, NAN = math.inf, -math.inf, math.nan

_NAMES = {
    name: f for module in (_functions, _choices, _grids, _histograms, _polynomials) for name, f in vars(module).items()
    if isinstance(f, types.FunctionType) and f.__module__ == module.__name__ and not name.startswith("_")
    and (name == "ix_" or not name.endswith("_"))
}  # fmt: skip
_NAMES |= _functions.TABLE
_SECONDS = {
    "arccos": {"input": "x"}, "logical_not": {"a": "x"}, "negative": {"a": "x"}, "positive": {"a": "x"},
    "zeros": {"shape": "size"}, "empty": {"shape": "size"}, "empty_like": {"prototype": "a"},
}  # fmt: skip
_NAMES |= {name: aliases(**seconds)(_NAMES[name]) for name, seconds in _SECONDS.items()}
mgrid, ogrid = _grids.mgrid, _grids.ogrid
globals().update({d.name: d for d in _dtype.ALL} | {name: named(f, name) for name, f in _NAMES.items()})
bool_, int_, float_ = _dtype.bool_, _dtype.int32, _dtype.float32

__getattr__ = attributes(globals(), "fft", known=_NAMES)

offer_paths(__name__)
