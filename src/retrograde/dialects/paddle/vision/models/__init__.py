"""`paddle.vision.models`: image classifiers, with PaddlePaddle's names of parameters; their weights are the user's own."""

from __future__ import annotations

from ..._api import attributes as _attributes
from . import dense as _dense
from . import mobilenet as _mobilenet
from . import resnet as _resnet
from . import small as _small

__all__ = [
    "AlexNet", "DenseNet", "GoogLeNet", "InceptionV3", "LeNet", "MobileNetV1", "MobileNetV2", "MobileNetV3Large",
    "MobileNetV3Small", "ResNet", "ShuffleNetV2", "SqueezeNet", "VGG",
]  # fmt: skip
for _topic in (_dense, _mobilenet, _resnet, _small):
    for _name, _x in list(vars(_topic).items()):
        if _name in __all__:
            globals()[_name] = _x
        elif getattr(_x, "__module__", "").endswith("._blocks") and callable(_x) and _name[0].islower() and _name not in (
            "builder", "divisible",
        ):  # fmt: skip
            globals()[_name] = _x
            __all__.append(_name)

__getattr__ = _attributes(globals())
