"""The torch dialect: retrograde's engine under PyTorch's names and rules.

`retrograde.activate("torch")` makes `import torch` resolve to this package. The functions live in topic files, which
register themselves through `_api.api`; an unknown name raises an AttributeError that says what is near.
"""

from __future__ import annotations

import math as _math
import sys as _sys
from typing import Any as _Any

from ..._state import is_grad_enabled
from ..._version import __version__ as _retrograde_version
from . import _dtype
from .._shared.guard import at_home as _at_home
from .._shared.guard import enter as _enter
from ._api import FUNCTIONS as _FUNCTIONS
from ._api import attributes as _attributes
from ._api import named as _named
from ._dtype import can_cast, dtype, finfo, get_default_dtype, iinfo, promote_types, set_default_dtype
from ._repr import get_printoptions, printoptions, set_printoptions
from ._symbolic_numbers import SymBool, SymFloat, SymInt, sym_float, sym_int, sym_max, sym_min, sym_not
from ._grad_modes import enable_grad, inference_mode, is_inference_mode_enabled, no_grad, set_grad_enabled
from ._size import Size, device
from ._tensor import Tensor, install_methods

# The topic files, each a set of functions and methods (one line each).
from . import _creation
from . import _unary
from . import _arithmetic
from . import _comparison
from . import _binary
from . import _conversion
from . import _complex
from . import special
from . import _writing
from . import _indexing, _gather, _shape, _joining, _memory, _diagonals, _expanded, _matmul, _spectral
from . import _printing
from ._memory import TypedStorage, UntypedStorage
from . import random
from . import linalg
from . import _lobpcg, _reductions, _scans, _sorting, _statistics
from . import return_types
from . import sparse
from . import _save_load
from . import _control
from . import _legacy_types
from . import _foreach
from . import compiler
from . import autograd
from . import nn
from . import masked
from . import ops
from . import func
from . import testing
from ._environment import __config__, accelerator, backends, cpu, mps, version, xpu
from .func import vmap
from . import amp
from .amp import GradScaler, autocast
from .autograd.anomaly_mode import is_anomaly_check_nan_enabled, is_anomaly_enabled
from .random import Generator, default_generator, fork_rng

__version__ = "2.13.0+retrograde." + _retrograde_version

bool = _dtype.bool_
for _d in _dtype.ALL[1:]:
    globals()[_d.name] = _d
globals().update(_dtype.ALIASES)

pi, e, inf, nan = _math.pi, _math.e, _math.inf, _math.nan
newaxis = None


class layout:
    """How a tensor's elements are laid out in memory."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __repr__(self) -> str:
        return f"torch.{self._name}"


class memory_format(layout):
    """The order of a tensor's axes in memory."""


strided, jagged = layout("strided"), layout("jagged")
sparse_coo, sparse_csr, sparse_csc = layout("sparse_coo"), layout("sparse_csr"), layout("sparse_csc")
contiguous_format, channels_last = memory_format("contiguous_format"), memory_format("channels_last")
preserve_format, channels_last_3d = memory_format("preserve_format"), memory_format("channels_last_3d")
Tensor.layout, sparse.SparseTensor.layout = strided, sparse_coo
sparse.LAYOUTS[:] = [sparse_csr, sparse_csc]


def is_tensor(obj: _Any) -> _Any:
    """Whether an object is a tensor."""
    return isinstance(obj, (Tensor, sparse.SparseTensor))


def is_floating_point(input: _Any) -> _Any:
    """Whether a tensor's dtype is a floating one."""
    return input.dtype.is_floating_point


def is_complex(input: _Any) -> _Any:
    """Whether a tensor's dtype is complex."""
    return input.dtype.is_complex


install_methods()
torch = _sys.modules[__name__]  # as there, the module also stands in itself
globals().update({_name: _at_home(_named(_f, _name), torch, _name) for _name, _f in _FUNCTIONS.items()})
_enter(__name__, ("", "nn.functional", "linalg", "fft", "special", "autograd", "func", "nn.utils"))


_LAZY = (
    "_C", "_custom_ops", "_dynamo", "_functorch", "_jit_internal", "_subclasses", "_tensor_str", "_utils", "ao", "cuda",
    "distributed", "distributions", "fft", "functional", "futures", "fx", "hub", "jit", "library", "linalg", "masked",
    "multiprocessing", "nested", "nn", "onnx", "optim", "overrides", "profiler", "quasirandom", "serialization", "signal",
    "special", "types", "utils",
)  # fmt: skip


class PyTorchFileReader:
    """The reader of PyTorch's files that lets tensors be read one by one: files are read by `torch.load` here."""

    def __init__(self, *args: _Any) -> None:
        raise NotImplementedError("PyTorchFileReader: torch.load reads PyTorch's files here, whole; load with it")


class OutOfMemoryError(RuntimeError):
    """A device's memory is used up; of the CPU's Python raises MemoryError."""


def _as_framework() -> None:
    """What importing the dialect as `torch` changes in a process: types that stand in for tensors are looked for."""
    from ._asking_modules import watch

    watch()


_ELSEWHERE = {"Event": "cuda", "Stream": "cuda", "Future": "futures", "ScriptFunction": "jit", "ScriptModule": "jit"}
"""Names of lazy packages that stand here, too."""

__getattr__ = _attributes(globals(), *_LAZY, **_ELSEWHERE)
