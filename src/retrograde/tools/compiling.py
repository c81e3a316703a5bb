"""`retrograde run --compile`: the program's files get hooks for the compiler as they are loaded, and at the end it reports.

What is compiled, and when, is for compile/regions.py.
"""

from __future__ import annotations

import atexit
import os
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any


class Compiling:
    """The program that is run as `main`, compiled while it runs."""

    def __init__(self, main: ModuleType) -> None:
        self.main = main
        self.process = os.getpid()

    def begin(self, code: CodeType) -> CodeType:
        """The program's code with hooks. From here on its own modules get them, too, and its end is reported."""
        from ..compile.regions import Program  # 30 ms, for programs that compile

        self.program = Program(_ambient)
        atexit.register(self._report)  # called after what the program registers
        sys.meta_path.insert(0, _Finder(self.program, os.path.dirname(os.path.abspath(code.co_filename))))
        return self._hooked(code)

    def _hooked(self, code: CodeType) -> CodeType:
        source = _source(self.main, code.co_filename)
        if source is None:
            return code
        found: CodeType | None = self.program.code(source, code.co_filename, vars(self.main))
        return code if found is None else found

    def _report(self) -> None:
        if os.getpid() == self.process:
            print(self.program.report(), file=sys.stderr)


def _source(module: ModuleType, file: str) -> bytes | None:
    loader: Any = vars(module).get("__loader__")
    try:
        found: bytes = loader.get_data(file)
    except (OSError, AttributeError):
        return None
    return found


def _ambient() -> Any:
    """What programs of the dialects depend on besides what they read; None where nothing is to be compiled."""
    found: list[Any] = []
    if "retrograde.dialects.torch" in sys.modules:
        from ..dialects.torch import compiler

        if compiler._in_autocast():
            return None
        found.append(compiler._ambient())
    if "retrograde.dialects.paddle" in sys.modules:
        from ..dialects.paddle._dtype import get_default_dtype

        found.append(get_default_dtype())
    return tuple(found)


class _Finder:
    """Finds the modules that lie with the program, and lets them be loaded with hooks."""

    def __init__(self, program: Any, folder: str) -> None:
        self.program, self.folder = program, os.path.join(folder, "")

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not (spec.origin or "").startswith(self.folder):
            return None
        if "site-packages" in (spec.origin or ""):
            return None
        spec.loader = _Loader(self.program, name, spec.origin or "")
        return spec


class _Loader(SourceFileLoader):
    """Loads a module of the program with hooks."""

    def __init__(self, program: Any, name: str, path: str) -> None:
        super().__init__(name, path)
        self.program = program

    def exec_module(self, module: ModuleType) -> None:
        """See `importlib.abc.Loader`."""
        code = self.program.code(self.get_data(self.path), self.path, vars(module))
        if code is None:
            super().exec_module(module)
        else:
            exec(code, vars(module))  # noqa: S102 - the module's own code
