"""`mindspore.common.tensor`: an older path of what `mindspore` offers."""

from __future__ import annotations

from .._tensor import Tensor

__all__ = ["Tensor"]
