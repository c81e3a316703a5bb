"""`torch.autograd.grad_mode`: the modes under their old address, and whether a backward pass may use threads."""

from __future__ import annotations

import threading as _threading

from .._api import attributes as _attributes
from .._grad_modes import enable_grad, inference_mode, no_grad, set_grad_enabled

__all__ = ["enable_grad", "inference_mode", "no_grad", "set_grad_enabled", "set_multithreading_enabled"]


class _State(_threading.local):
    multithreading = True


_state = _State()


class set_multithreading_enabled:
    """A switch and a context for threads in the backward pass, which uses the caller's alone: it is remembered."""

    def __init__(self, mode: bool) -> None:
        self._before, _state.multithreading = _state.multithreading, mode

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exception: object) -> None:
        _state.multithreading = self._before


def is_multithreading_enabled() -> bool:
    """Whether the backward pass may use threads."""
    return _state.multithreading


__getattr__ = _attributes(globals())
