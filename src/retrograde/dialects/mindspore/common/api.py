"""`mindspore.common.api`: an older path of what `mindspore` offers."""

from __future__ import annotations

from .._jit import jit, jit_class, ms_class, ms_function

__all__ = ["jit", "jit_class", "ms_class", "ms_function"]
