"""The paddle dialect: retrograde's engine under PaddlePaddle's names and rules, in dynamic mode.

`retrograde.activate("paddle")` makes `import paddle` resolve to this package. The functions live in topic files, which
register themselves through `_api.api`; an unknown name raises an AttributeError that says what is near.
"""

from __future__ import annotations

import math as _math
import sys as _sys
from typing import Any as _Any

from ..._version import __version__ as _retrograde_version
from . import _dtype
from .._shared.guard import enter as _enter
from ._api import FUNCTIONS as _FUNCTIONS
from ._api import missing as _missing
from ._api import named as _named
from ._api import submodule as _submodule
from ._device import (
    CPUPlace, CUDAPinnedPlace, CUDAPlace, CustomPlace, IPUPlace, XPUPlace, get_cudnn_version, get_device,
    is_compiled_with_cinn, is_compiled_with_cuda, is_compiled_with_custom_device, is_compiled_with_distribute,
    is_compiled_with_ipu, is_compiled_with_rocm, is_compiled_with_xpu, set_device,
)  # fmt: skip
from ._dtype import dtype, finfo, get_default_dtype, iinfo, set_default_dtype
from ._gradients import enable_grad, grad, is_grad_enabled, no_grad, set_grad_enabled
from ._parameter import ParamAttr
from ._size import Size
from ._tensor import Tensor, install_methods

# The topic files, each a set of functions and methods (one line each).
from . import _conversion, _creation, _flags, _indexing, _internal, _arithmetic, _paths, _repr, _sparse_tensor
from . import _unary, _binary, _gather, _joining, _matmul, _reductions, _shape, _diagonals, _scans, _sorting, _statistics
from . import _spectral
from . import linalg, random, signal
from . import _save_load

__version__ = "3.3.1+retrograde." + _retrograde_version

for _d in _dtype.ALL:
    globals()[_d.label] = _d
globals().update(_dtype.ALIASES)

pi, e, inf, nan = _math.pi, _math.e, _math.inf, _math.nan
newaxis = None

install_methods()
globals().update({_name: _named(_f, _name) for _name, _f in _FUNCTIONS.items()})
paddle = _sys.modules[__name__]  # as there, the module also stands in itself
_enter(__name__, ("", "nn.functional", "linalg", "fft", "special", "signal", "autograd", "incubate.autograd"))

_LAZY = (
    "_C_ops", "_legacy_C_ops", "amp", "audio", "autograd", "base", "callbacks", "cuda", "device", "distributed",
    "distribution", "fft", "fluid", "framework", "geometric", "hapi", "hub", "imperative", "incubate", "io", "jit",
    "linalg", "metric", "nn", "optimizer", "regularizer", "signal", "sparse", "special", "static", "tensor", "text",
    "utils", "version", "vision",
)  # fmt: skip

_LAYERS = ("adaptive_avg_pool1d", "conv1d", "conv2d", "conv3d", "group_norm", "layer_norm")
"""Functions of `paddle.nn.functional` that the package offers too."""

_HIGH_LEVEL = ("Model", "flops", "summary")
"""Names of `paddle.hapi` that the package offers too."""

_AUTOCAST = ("autocast", "get_autocast_cpu_dtype", "get_autocast_dtype", "get_autocast_gpu_dtype", "is_autocast_enabled")
"""Names of `paddle.amp` that the package offers too."""


def __getattr__(name: str) -> _Any:
    if name in _LAYERS:
        return getattr(__getattr__("nn").functional, name)
    if name == "DataParallel":
        return __getattr__("distributed").DataParallel
    if name in _HIGH_LEVEL:
        return getattr(__getattr__("hapi"), name)
    if name in _AUTOCAST:
        return getattr(__getattr__("amp"), name)
    if name in _LAZY:  # packages that most programs do not use cost no import time
        return _submodule(__name__, name)
    raise _missing("paddle", name, globals())
