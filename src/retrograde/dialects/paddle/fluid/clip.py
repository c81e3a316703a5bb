"""`paddle.fluid.clip`: the clips of gradients under their old names."""

from __future__ import annotations

from .._api import attributes as _attributes
from ..nn.clip import ClipGradByGlobalNorm as GradientClipByGlobalNorm
from ..nn.clip import ClipGradByNorm as GradientClipByNorm
from ..nn.clip import ClipGradByValue as GradientClipByValue

__all__ = ["GradientClipByGlobalNorm", "GradientClipByNorm", "GradientClipByValue"]

__getattr__ = _attributes(globals())
