"""`mindspore.common.api`: an older path of what `mindspore` offers, and the object that runs operations."""

from __future__ import annotations

from ...._state import is_grad_enabled, set_grad_enabled
from .._jit import jit, jit_class, ms_class, ms_function
from .._recording import is_recording
from .._recording import no_grad as _no_grad

__all__ = ["_no_grad", "_pynative_executor", "jit", "jit_class", "ms_class", "ms_function"]


class _PyNativeExecutor:
    """What MindSpore's programs ask of the object that runs operations: here each has run when it returns."""

    def sync(self) -> None:
        """Nothing is running."""

    def clear_res(self) -> None:
        """Nothing is kept between calls."""

    def enable_grad(self) -> bool:
        """Whether operations are recorded where a gradient function is running."""
        return is_grad_enabled()

    def set_enable_grad(self, flag: bool) -> None:
        """Say whether operations are recorded."""
        set_grad_enabled(flag)

    def requires_grad(self) -> bool:
        """Whether a gradient function is running that records."""
        return is_recording() and is_grad_enabled()

    grad_flag = requires_grad


_pynative_executor = _PyNativeExecutor()
