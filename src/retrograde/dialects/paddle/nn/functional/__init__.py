"""`paddle.nn.functional`: the layers as functions."""

from __future__ import annotations

import types as _types

from ...._shared.documents import shown as _shown
from ..._api import attributes as _attributes
from . import (
    _activations, _attention, _class_losses, _convolution, _distances, _dropout, _linear, _losses, _normalization, _padding,
    _patches, _pooling, _resample,
)  # fmt: skip

_SHARED = ("sigmoid", "tanh", "tanh_")  # defined beside the functions of the module paddle
for _topic in (
    _activations, _attention, _class_losses, _linear, _dropout, _padding, _distances, _convolution, _losses, _normalization,
    _pooling, _patches, _resample,
):  # fmt: skip
    for _name, _f in list(vars(_topic).items()):
        _own = isinstance(_f, _types.FunctionType) and (_f.__module__ == _topic.__name__ or _name in _SHARED)
        if _own and not _name.startswith("_") and _name not in globals():
            globals()[_name] = _f
_shown(globals(), "paddle", "nn.functional")

__getattr__ = _attributes(globals())
