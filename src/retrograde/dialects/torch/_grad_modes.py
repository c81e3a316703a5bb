"""no_grad, enable_grad, inference_mode, set_grad_enabled: context managers and decorators."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from ..._state import INFERENCE, INFERRED, is_grad_enabled, state
from ..._state import set_grad_enabled as _set


class _Mode:
    """A context manager that is a decorator of functions and generators as well."""

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if inspect.isgeneratorfunction(f):

            @functools.wraps(f)
            def generator(*args: Any, **kwargs: Any) -> Any:
                inner = f(*args, **kwargs)
                sent: Any = None
                while True:
                    with self._again():
                        try:
                            item = inner.send(sent)
                        except StopIteration as stop:
                            return stop.value
                    sent = yield item

            return generator

        @functools.wraps(f)
        def function(*args: Any, **kwargs: Any) -> Any:
            with self._again():
                return f(*args, **kwargs)

        return function

    def _again(self) -> Any:
        return type(self)()

    _before: bool

    def __exit__(self, *exception: object) -> None:
        _set(self._before)


class no_grad(_Mode):
    """Nothing is recorded inside."""

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if orig_func is None else super().__new__(cls)(orig_func)

    def __enter__(self) -> None:
        self._before = is_grad_enabled()
        _set(False)


class enable_grad(_Mode):
    """Operations are recorded inside, also within no_grad."""

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if orig_func is None else super().__new__(cls)(orig_func)

    def __enter__(self) -> None:
        self._before = is_grad_enabled()
        _set(True)


class set_grad_enabled(_Mode):
    """Switch recording on or off, at once; as a context manager until its end."""

    def __init__(self, mode: bool) -> None:
        self._before = is_grad_enabled()
        self._mode = bool(mode)
        _set(self._mode)

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        _set(self._before)
        return super().__call__(f)

    def _again(self) -> Any:
        return set_grad_enabled(self._mode)

    def __enter__(self) -> None:
        _set(self._mode)


class inference_mode(_Mode):
    """Nothing is recorded, and what is made inside never takes part in autograd."""

    def __new__(cls, mode: Any = True) -> Any:
        return super().__new__(cls) if isinstance(mode, bool) else super().__new__(cls)(mode)

    def __init__(self, mode: bool = True) -> None:
        self._mode = mode

    def _again(self) -> Any:
        return inference_mode(self._mode)

    def __enter__(self) -> None:
        self._before, self._inference_before = is_grad_enabled(), state.inference
        state.inference = self._mode
        INFERENCE.append(1)
        if not INFERRED:
            INFERRED.append(1)
        _set(not self._mode)

    def __exit__(self, *exception: object) -> None:
        state.inference = self._inference_before
        INFERENCE.pop()
        _set(self._before)


def is_inference_mode_enabled() -> bool:
    """Whether inference mode is on in this thread."""
    return state.inference


def is_inference(tensor: Any) -> bool:
    """Whether a tensor was made in inference mode."""
    return tensor._inference
