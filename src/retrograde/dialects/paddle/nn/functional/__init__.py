"""`paddle.nn.functional`: the layers as functions."""

from __future__ import annotations

import types as _types

from ..._api import attributes as _attributes
from . import activation, attention, class_loss, common, conv, loss, norm, pooling, vision

_SHARED = ("sigmoid", "tanh", "tanh_")  # defined beside the functions of the module paddle
for _topic in (activation, attention, class_loss, common, conv, loss, norm, pooling, vision):
    for _name, _f in list(vars(_topic).items()):
        _own = isinstance(_f, _types.FunctionType) and (_f.__module__ == _topic.__name__ or _name in _SHARED)
        if _own and not _name.startswith("_") and _name not in globals():
            globals()[_name] = _f

__getattr__ = _attributes(globals())
