"""Modules that define a type with a `__torch_function__`: seen when they are loaded; then functions ask (_function_protocol.py).

A subclass of Tensor says itself that it is there. A type that only stands in for a tensor does not, so its module's code is
looked at before it runs: what it keeps by function, a table of handlers say, then has the functions that are handed on. Only
where the dialect stands under PyTorch's name; a program that imports it under its own imports `torch.overrides`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, FrameType, ModuleType
from typing import Any

METHOD = "__torch_function__"
_LEFT_OUT = frozenset(("retrograde", "torch", "numpy", "scipy", *sys.stdlib_module_names)) - {"__main__"}
"""Packages that have no such types."""


def watch() -> None:
    """Look at the modules that are being run, and from now on at those that are loaded."""
    if any(isinstance(finder, _Watch) for finder in sys.meta_path) or PathFinder not in sys.meta_path:
        return
    frame: FrameType | None = sys._getframe()
    while frame is not None:
        if frame.f_code.co_name == "<module>" and defines(frame.f_code):
            _install()
            return
        frame = frame.f_back
    sys.meta_path.insert(sys.meta_path.index(PathFinder), _Watch())


def defines(code: CodeType) -> bool:
    """Whether code makes a class that has a `__torch_function__` of its own."""
    inside = [x for x in code.co_consts if isinstance(x, CodeType)]
    return any((METHOD in x.co_names and "__qualname__" in x.co_names) or defines(x) for x in inside)


def _install() -> None:
    from ._function_protocol import install

    install()


class _Watch:
    """A meta-path finder before Python's own for files: finds what that finds, and has the code of modules looked at."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if fullname.partition(".")[0] in _LEFT_OUT:
            return None
        spec = PathFinder.find_spec(fullname, path, target)
        if spec is not None and type(spec.loader) is SourceFileLoader:
            spec.loader.get_code = self._looking(spec.loader.get_code)  # type: ignore[method-assign]
        return spec

    def _looking(self, get_code: Callable[[str], Any]) -> Callable[[str], Any]:
        def looked_at(fullname: str) -> Any:
            code = get_code(fullname)
            if code is not None and self in sys.meta_path and defines(code):
                sys.meta_path.remove(self)
                _install()
            return code

        return looked_at
