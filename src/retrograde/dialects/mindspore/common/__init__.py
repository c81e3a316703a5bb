"""`mindspore.common`: tensors, parameters, dtypes and the seed under their older paths."""

from __future__ import annotations

import sys
from typing import Any

from .._api import missing, submodule
from .._context import get_seed, set_seed
from .._jit import jit, jit_class, lazy_inline, mutable, no_inline
from .._parameter import Parameter, ParameterTuple
from .._tensor import Tensor
from . import dtype
from .dtype import dtype_to_nptype, dtype_to_pytype, pytype_to_dtype
from .._paths import offer_paths

for _d in dtype.all_types:
    globals()[_d.name] = _d
bool_ = dtype.bool_

_LAZY = ("_grad_function", "api", "generator", "initializer", "parameter", "seed", "sparse_tensor", "tensor")


def __getattr__(name: str) -> Any:
    if name in _LAZY:
        return submodule(__name__, name)
    above = sys.modules[__name__.rpartition(".")[0]].__dict__
    if name in above and (not name.startswith("_") or name in ("_Function", "_no_grad")):
        return above[name]
    raise missing("mindspore.common", name, globals())


offer_paths(__name__)
