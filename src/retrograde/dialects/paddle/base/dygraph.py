"""`paddle.base.dygraph`: the dynamic mode, which is the only one here."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from ..._shared.grad_modes import enable_grad, no_grad
from .._api import attributes as _attributes
from .._device import check_device
from .._gradients import grad
from .._gradients import no_grad as no_grad_


@contextlib.contextmanager
def guard(place: Any = None) -> Iterator[None]:
    """Dynamic mode inside a `with` block: operations are recorded."""
    check_device("guard", place)
    with enable_grad():
        yield


def enabled() -> bool:
    """True: dynamic mode is on."""
    return True


def enable_dygraph(place: Any = None) -> None:
    """Switch dynamic mode on, as it is."""
    check_device("enable_dygraph", place)


def disable_dygraph() -> None:
    """Not offered: there is no static mode; raises NotImplementedError."""
    raise NotImplementedError("static mode is not part of retrograde's paddle dialect; programs run in dynamic mode")


__all__ = ["disable_dygraph", "enable_dygraph", "enabled", "grad", "guard", "no_grad", "no_grad_"]

__getattr__ = _attributes(globals())
