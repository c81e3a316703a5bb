"""type(array) -> Backend: looked up along the method resolution order once, then cached per type."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

from .._errors import UnsupportedError


class Backend:
    """An array library: its array-API namespace `xp`, and the library's quirks."""

    name: str
    xp: Any

    def wrap(self, array: Any) -> Any:
        """A user's array of this library as kernels see it."""
        return array

    def run(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        """Evaluate a primitive's kernel on arrays of this library; NumPy arrays beside them are constants of rules."""
        given = (self.asarray(x) if isinstance(x, (np.ndarray, np.generic)) else x for x in arrays)
        return prim.kernel(self.xp, *given, **params)

    def to_numpy(self, array: Any) -> np.ndarray:
        """The array's elements as a NumPy array (shared where the library can share)."""
        return np.asarray(array)

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """A value as an array of this library."""
        return self.xp.asarray(value, dtype=dtype)


_BY_TYPE: dict[type, Backend] = {}
# Array types of libraries that are not imported until one of their arrays turns up: module -> our file.
_LAZY = {"cupy": "cupy", "dask": "dask", "torch": "torch", "ml_dtypes": "numpy"}


def register_backend(kind: type, backend: Backend) -> None:
    """Let arrays of type `kind` (and its subclasses) compute through `backend`."""
    _BY_TYPE[kind] = backend


def backend_of(array: Any) -> Backend:
    """The backend of an array; raises UnsupportedError with the known libraries when there is none."""
    kind = type(array)
    found = _BY_TYPE.get(kind)
    if found is not None:
        return found
    for base in kind.__mro__[1:]:
        if base in _BY_TYPE:
            _BY_TYPE[kind] = _BY_TYPE[base]
            return _BY_TYPE[base]
    library = kind.__module__.partition(".")[0]
    if library in _LAZY:
        try:
            importlib.import_module(f"{__package__}.{_LAZY[library]}")
        except ImportError as error:
            raise UnsupportedError(f"the array library {library!r} could not be used: {error}") from error
        if kind in _BY_TYPE or any(base in _BY_TYPE for base in kind.__mro__):
            return backend_of(array)
    raise UnsupportedError(
        f"no array library of retrograde's computes with {kind.__module__}.{kind.__qualname__}; convert it to a NumPy "
        "array, or register a Backend for its type (retrograde.backend.register_backend)"
    )


def is_array(x: Any) -> bool:
    """Whether `x` is an array of a library that computes here."""
    if type(x) in _BY_TYPE:
        return True
    try:
        backend_of(x)
    except UnsupportedError:
        return False
    return True
