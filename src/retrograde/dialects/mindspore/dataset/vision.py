"""`mindspore.dataset.vision`: functions on images (height, width, channels), for `map`; what they do is said in _images."""

from __future__ import annotations

from .._api import attributes as _attributes
from ._images import STEPS as _STEPS
from ._images import ConvertMode, Inter, SliceMode, ToNumpy  # noqa: F401 - offered

globals().update(_STEPS)
__getattr__ = _attributes(globals())
