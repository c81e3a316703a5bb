"""`torch.futures`: a result that another thread will give."""

from __future__ import annotations

import concurrent.futures as _concurrent
from collections.abc import Callable as _Callable
from typing import Any as _Any
from typing import Generic as _Generic
from typing import TypeVar as _TypeVar

from ._api import attributes as _attributes

T = _TypeVar("T")
S = _TypeVar("S")
__all__ = ["Future", "collect_all", "wait_all"]


class Future(_Generic[T]):
    """A result that is set once, for which others wait, and with which they go on."""

    def __init__(self, *, devices: _Any = None) -> None:
        self._result: _concurrent.Future[T] = _concurrent.Future()

    def done(self) -> bool:
        """Whether the result, or an exception, is there."""
        return self._result.done()

    def wait(self) -> T:
        """The result, when it is there; raises the exception that was set."""
        return self._result.result()

    def value(self) -> T:
        """The result; raises RuntimeError where it is not there yet."""
        if not self.done():
            raise RuntimeError("Future.value: the result is not there yet; wait() waits for it")
        return self._result.result()

    def set_result(self, result: T) -> None:
        """Give the result; raises RuntimeError where there is one."""
        try:
            self._result.set_result(result)
        except _concurrent.InvalidStateError:
            raise RuntimeError("Future.set_result: there is a result already; a future has one") from None

    def set_exception(self, result: BaseException) -> None:
        """Let those who wait get an exception."""
        if not isinstance(result, Exception):
            raise AssertionError(f"Future.set_exception: wanted an exception, got {result!r}")
        self._result.set_exception(result)

    def then(self, callback: _Callable[[Future[T]], S]) -> Future[S]:
        """A future of what `callback(this one)` gives when this one is done."""
        following: Future[S] = Future()

        def go_on(_: _Any) -> None:
            try:
                following.set_result(callback(self))
            except Exception as error:
                following.set_exception(error)

        self._result.add_done_callback(go_on)
        return following

    def add_done_callback(self, callback: _Callable[[Future[T]], None]) -> None:
        """Call `callback(this one)` when it is done."""
        self._result.add_done_callback(lambda _: callback(self))


def collect_all(futures: list[Future[_Any]]) -> Future[list[Future[_Any]]]:
    """A future of the list of these when all are done."""
    together: Future[list[Future[_Any]]] = Future()
    left = set(map(id, futures))

    def one_less(f: Future[_Any]) -> None:
        left.discard(id(f))
        if not left and not together.done():
            together.set_result(futures)

    for f in futures:
        f.add_done_callback(one_less)
    if not futures:
        together.set_result(futures)
    return together


def wait_all(futures: list[Future[_Any]]) -> list[_Any]:
    """The results of all, when they are there."""
    return [f.wait() for f in collect_all(futures).wait()]


__getattr__ = _attributes(globals())
