"""`OptimizedModule`: what `torch.compile` makes of a module."""

from __future__ import annotations

from typing import Any

from .compiler import compiled
from .nn.modules.module import Module


class OptimizedModule(Module):
    """A module around another, `_orig_mod`, whose attributes are this one's too; in state dicts its names come first."""

    _orig_mod: Module

    def __init__(self, mod: Module, whole: bool = False, dynamic: bool | None = None) -> None:
        super().__init__()
        self._orig_mod = mod
        self.__dict__["_options"] = {"whole": whole, "dynamic": dynamic}

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """What the module around which this is gives."""
        found = self.__dict__.get("_compiled")
        mod = self._orig_mod
        if found is None or found.root is not mod:
            name = f"{type(mod).__qualname__}.forward"
            found = self.__dict__["_compiled"] = compiled(mod, root=mod, name=name, **self._options)
        return found(*args, **kwargs)

    @property
    def training(self) -> bool:  # type: ignore[override]
        """Whether the module around which this is trains."""
        return bool(self._orig_mod.training)

    @training.setter
    def training(self, mode: bool) -> None:
        mod = self._around()
        if mod is not None:
            mod.training = mode

    def _around(self) -> Module | None:
        """The module around which this is, once there is one."""
        return self.__dict__.get("_modules", {}).get("_orig_mod")

    def __getattr__(self, name: str) -> Any:
        mod = self._around()
        return mod if name == "_orig_mod" else getattr(mod, name)

    def __setattr__(self, name: str, value: Any) -> None:
        mod = self._around()
        if mod is None or name == "_orig_mod" or (name in self.__dict__ and name != "training"):
            super().__setattr__(name, value)
        else:
            setattr(mod, name, value)

    def __delattr__(self, name: str) -> None:
        if name in self.__dict__:
            super().__delattr__(name)
        else:
            delattr(self._orig_mod, name)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *dir(self._orig_mod)})
