"""`paddle.fluid.clip`: the clips of gradients under their old names."""

from __future__ import annotations

from typing import Any

from .._api import missing as _missing
from ..nn.clip import ClipGradByGlobalNorm as GradientClipByGlobalNorm
from ..nn.clip import ClipGradByNorm as GradientClipByNorm
from ..nn.clip import ClipGradByValue as GradientClipByValue

__all__ = ["GradientClipByGlobalNorm", "GradientClipByNorm", "GradientClipByValue"]


def __getattr__(name: str) -> Any:
    raise _missing("paddle.fluid.clip", name, globals())
