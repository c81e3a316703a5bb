"""Files that the caller vouches for (`torch.load(weights_only=False)`): Python's unpickler runs what they name."""

from __future__ import annotations

import pickle
from typing import IO, TYPE_CHECKING, Any

from ..._shared.unpickling import Function
from ._objects import Resolve

if TYPE_CHECKING:
    from ._unpickle import Unpickler


class _Inert:
    """Stands for an object of any class, and takes whatever a pickle gives it."""

    def __init__(self, *args: Any) -> None:
        pass

    def _take(self, *args: Any) -> None:
        pass

    append = extend = add = update = __setitem__ = __setstate__ = _take


class Trust:
    """How the pickles of a trusted file are run.

    resolve: what a module has under a name; "torch" is the dialect there. module: the one whose Unpickler runs them.
    options: what that is given beside the stream.
    """

    def __init__(self, resolve: Resolve, module: Any = None, options: dict[str, Any] | None = None) -> None:
        self._resolve = resolve
        self._module = pickle if module is None else module
        self._options = options or {}
        self._inert = False

    def inert(self) -> Trust:
        """The same where nothing that a file names does anything: a run that only looks for its storages."""
        other = Trust(lambda module, name: _Inert, self._module, self._options)
        other._inert = True
        return other

    def load(self, stream: IO[bytes], machine: Unpickler) -> Any:
        """The object of the pickle; tensors and storages are those of the machine, which runs nothing itself."""
        resolve, inert = self._resolve, self._inert

        class Running(self._module.Unpickler):  # type: ignore[misc,name-defined]
            def find_class(self, module: str, name: str) -> Any:
                known = machine.known(f"{module}.{name}") if module.partition(".")[0] == "torch" else None
                if isinstance(known, Function):
                    return known.call
                if known is not None:
                    return known
                theirs = inert or module.partition(".")[0] == "torch"
                return resolve(module, name) if theirs else super().find_class(module, name)

            def persistent_load(self, pid: Any) -> Any:
                return pid[1] if pid[0] == "module" else machine.storage(*pid)  # old files have modules' source, too

        return Running(stream, **self._options).load()
