"""`mindspore.common.api`: an older path of what `mindspore` offers."""

from __future__ import annotations

from ..._shared.grad_modes import no_grad as _no_grad
from .._jit import jit, jit_class, ms_class, ms_function

__all__ = ["_no_grad", "jit", "jit_class", "ms_class", "ms_function"]
