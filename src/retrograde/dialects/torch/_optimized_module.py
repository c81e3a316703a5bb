"""`OptimizedModule`: what `torch.compile` makes of a module."""

from __future__ import annotations

from typing import Any

from .nn.modules.module import Module

_OWN = ("_orig_mod", "training")


class OptimizedModule(Module):
    """A module around another, `_orig_mod`, whose attributes are this one's too; in state dicts its names come first."""

    _orig_mod: Module

    def __init__(self, mod: Module) -> None:
        super().__init__()
        self._orig_mod = mod
        super().__setattr__("training", mod.training)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module around which this is gives."""
        return self._orig_mod(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        modules = self.__dict__.get("_modules", {})
        return modules["_orig_mod"] if name == "_orig_mod" else getattr(modules["_orig_mod"], name)

    def __setattr__(self, name: str, value: Any) -> None:
        if name in _OWN or name.startswith("_") or "_orig_mod" not in self.__dict__.get("_modules", {}):
            super().__setattr__(name, value)
        else:
            setattr(self._orig_mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)
