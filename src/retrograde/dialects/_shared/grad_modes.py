"""no_grad, enable_grad, set_grad_enabled: context managers and decorators, the same in every dialect."""

from __future__ import annotations

import functools
import inspect
import warnings
from collections.abc import Callable
from typing import Any

from ..._state import Switched, is_grad_enabled
from ..._state import set_grad_enabled as _set


class Mode(Switched):
    """A context manager that is a decorator of functions and generators as well."""

    def __call__(self, f: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(f, type):
            warnings.warn(
                f"{type(self).__name__} decorates a class: it holds while one is made, and not in its methods; decorate those",
                FutureWarning, stacklevel=2,
            )  # fmt: skip
        if inspect.isgeneratorfunction(f):

            @functools.wraps(f)
            def generator(*args: Any, **kwargs: Any) -> Any:
                inner = f(*args, **kwargs)
                go_on, sent = inner.send, None
                while True:
                    with self._again():
                        try:
                            item = go_on(sent)
                        except StopIteration as stop:
                            return stop.value
                    try:
                        go_on, sent = inner.send, (yield item)
                    except GeneratorExit:
                        with self._again():
                            inner.close()
                        raise
                    except BaseException as error:  # thrown in: the function inside is to see it
                        go_on, sent = inner.throw, error

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
        self.left()


class no_grad(Mode):
    """Nothing is recorded inside."""

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if orig_func is None else super().__new__(cls)(orig_func)

    def __enter__(self) -> None:
        self._before = is_grad_enabled()
        self.entering()
        _set(False)


class enable_grad(Mode):
    """Operations are recorded inside, also within no_grad."""

    def __new__(cls, orig_func: Callable[..., Any] | None = None) -> Any:
        return super().__new__(cls) if orig_func is None else super().__new__(cls)(orig_func)

    def __enter__(self) -> None:
        self._before = is_grad_enabled()
        self.entering()
        _set(True)


class set_grad_enabled(Mode):
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
        self.entering()
        _set(self._mode)
