"""`torch.utils._contextlib`: contexts that decorate functions as well."""

from __future__ import annotations

from typing import Any

from ..._shared.grad_modes import Mode


class _DecoratorContextManager(Mode):
    """Base of contexts that decorate functions and generators too, each call in a context that `clone` gives."""

    def __enter__(self) -> Any:
        raise NotImplementedError(f"{type(self).__name__} does not say how it is entered")

    def __exit__(self, *exception: object) -> None:
        raise NotImplementedError(f"{type(self).__name__} does not say how it is left")

    def clone(self) -> Any:
        """Another context like this one; a class whose `__init__` takes arguments gives its own."""
        return type(self)()

    def _again(self) -> Any:
        return self.clone()
