"""`retrograde run --compile`: the program's files get hooks for the compiler as they are loaded, and at the end it reports.

What is compiled, and when, is for compile/programs/regions.py.
"""

from __future__ import annotations

import atexit
import os
import sys
import time
from collections.abc import Sequence
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import Any

from .._collection import Paused
from . import earlier


class Compiling:
    """The program that is run as `main`, compiled while it runs."""

    def __init__(self, main: ModuleType) -> None:
        self.main = main
        self.process = os.getpid()
        self.whole = False
        """Whether the program has run to its end: otherwise it shows nothing about the next time."""
        self._program: Any = None
        self._sources: dict[str, bytes] = {}

    def begin(self, code: CodeType) -> CodeType:
        """The program's code with hooks. From here on its own modules get them, too, and its end is reported."""
        atexit.register(self._report)  # called after what the program registers
        sys.meta_path.insert(0, _Finder(self, os.path.dirname(os.path.abspath(code.co_filename))))
        source = _source(self.main, code.co_filename)
        found = None if source is None else self.code(source, code.co_filename, vars(self.main))
        return code if found is None else found

    def code(self, source: bytes, file: str, scope: dict[str, Any]) -> CodeType | None:
        """The code of one of the program's files with hooks; None where it is to have none."""
        known = earlier.read(source, file)
        if known is not None and not known:
            return None
        began = time.thread_time()
        with Paused():  # a look at all that the library holds takes as long as the rest
            if self._program is None:
                from ..compile.programs.regions import Program  # 15 ms, for programs that have something to gain

                self._program = Program(_ambient)
            self._sources[file] = source
            found: CodeType | None = self._program.code(source, file, scope, known)
        self._program.took += time.thread_time() - began
        return found

    def _report(self) -> None:
        if os.getpid() != self.process:
            return
        if self._program is None:
            print("retrograde: 0 segments, 0 hits (an earlier run of this program has found nothing to gain)", file=sys.stderr)
            return
        print(self._program.report(), file=sys.stderr)
        if self.whole:
            for file, known in self._program.shown().items():
                earlier.write(self._sources[file], file, known)


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

    def __init__(self, compiling: Compiling, folder: str) -> None:
        self.compiling, self.folder = compiling, os.path.join(folder, "")

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None) -> ModuleSpec | None:
        """See `importlib.abc.MetaPathFinder`."""
        spec = PathFinder.find_spec(name, path, target)
        if spec is None or type(spec.loader) is not SourceFileLoader or not (spec.origin or "").startswith(self.folder):
            return None
        if "site-packages" in (spec.origin or ""):
            return None
        spec.loader = _Loader(self.compiling, name, spec.origin or "")
        return spec


class _Loader(SourceFileLoader):
    """Loads a module of the program with hooks."""

    def __init__(self, compiling: Compiling, name: str, path: str) -> None:
        super().__init__(name, path)
        self.compiling = compiling

    def exec_module(self, module: ModuleType) -> None:
        """See `importlib.abc.Loader`."""
        code = self.compiling.code(self.get_data(self.path), self.path, vars(module))
        if code is None:
            super().exec_module(module)
        else:
            exec(code, vars(module))  # noqa: S102 - the module's own code
