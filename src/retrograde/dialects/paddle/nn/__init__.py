"""`paddle.nn`: layers, losses, containers, gradient clipping."""

from __future__ import annotations

from ..._shared.documents import documented as _documented
from .._api import attributes as _attributes
from .._parameter import EagerParamBase as Parameter
from . import functional, initializer, utils
from .clip import ClipGradByGlobalNorm, ClipGradByNorm, ClipGradByValue
from .layer import activation as _activation
from .layer import common as _common
from .layer import container as _container
from .layer import conv as _conv
from .layer import loss as _loss
from .layer import norm as _norm
from .layer import pooling as _pooling
from .layer import rnn as _rnn
from .layer import transformer as _transformer
from .layer.layers import Layer

for _topic in (_activation, _common, _container, _conv, _loss, _norm, _pooling, _rnn, _transformer):
    for _name, _x in list(vars(_topic).items()):
        if isinstance(_x, type) and issubclass(_x, Layer) and not _name.startswith("_"):
            globals()[_name] = _x

Module, ModuleList, ModuleDict = Layer, _container.LayerList, _container.LayerDict
HuberLoss = _loss.HuberLoss
_STEMS = ("Conv", "Adaptive", "LPPool", "Zero", "Constant", "Reflection", "Replication", "Circular", "Upsampling")
for _name in list(globals()):  # Conv2d is Conv2D, and so on
    if _name[-2:] in ("1D", "2D", "3D") and _name.startswith(_STEMS):
        globals()[_name[:-1] + "d"] = globals()[_name]
MaxUnpool1d, MaxUnpool2d, MaxUnpool3d = _pooling.MaxUnPool1D, _pooling.MaxUnPool2D, _pooling.MaxUnPool3D

_documented(globals(), [_name for _name in globals() if _name[0].isupper()], Layer)
__getattr__ = _attributes(globals(), "init")
