"""inference_mode, and the grad modes that every dialect has."""

from __future__ import annotations

from typing import Any

from ..._state import LOOKED_AT, SAVE_CHECKS, is_grad_enabled, state
from ..._state import set_grad_enabled as _set
from .._shared.grad_modes import Mode, enable_grad, no_grad, set_grad_enabled
from ._api import api
from ._elementwise import tensor_argument
from ._policy import mark_inference, refuse_inference

__all__ = [
    "enable_grad", "inference_mode", "is_inference", "is_inference_mode_enabled", "no_grad", "set_grad_enabled",
]  # fmt: skip


class inference_mode(Mode):
    """Nothing is recorded, and what is made inside never takes part in autograd."""

    _mode = True

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else super().__new__(cls)(mode)

    def __init__(self, mode: bool = True) -> None:
        self._mode = mode

    def _again(self) -> Any:
        return inference_mode(self._mode)

    def __enter__(self) -> None:
        self._before, self._marked_before, self._followed = is_grad_enabled(), state.mark, state.forward
        state.forward = state.forward and not self._mode
        self.entering()
        if refuse_inference not in SAVE_CHECKS:
            SAVE_CHECKS.append(refuse_inference)
        state.mark = mark_inference if self._mode else None
        LOOKED_AT.append(1)
        _set(not self._mode)

    def __exit__(self, *exception: object) -> None:
        state.mark, state.forward = self._marked_before, self._followed
        LOOKED_AT.pop()
        _set(self._before)
        self.left()


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on in this thread."""
    return state.mark is mark_inference


@api(method=False)
def is_inference(input: Any) -> bool:
    """Whether a tensor was made in inference mode."""
    tensor_argument("is_inference", input)
    return input.is_inference()
