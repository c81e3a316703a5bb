"""`torch.fx.experimental.proxy_tensor`: traces of single operators, of which there are none here."""

from __future__ import annotations

from typing import Any, NoReturn

from ..._api import attributes


def get_proxy_mode() -> None:
    """None: no such trace is being taken."""


def make_fx(*args: Any, **kwargs: Any) -> NoReturn:
    """Raises NotImplementedError: `torch.fx.symbolic_trace` gives graphs here."""
    raise NotImplementedError(
        "make_fx: retrograde's torch dialect records no single operators; torch.fx.symbolic_trace gives a graph of the functions "
        "that are called"
    )


__getattr__ = attributes(globals())
