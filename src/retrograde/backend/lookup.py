"""type(array) -> Backend: looked up along the method resolution order once, then cached per type."""

from __future__ import annotations

import importlib
import sys
from contextlib import AbstractContextManager
from typing import Any

import numpy as np

from .._errors import UnsupportedError


class Backend:
    """What an array type answers: how operations are evaluated on its arrays, and what is made, moved and written there.

    Array libraries implement it here, the arrays of transforms in core/ (`LevelBackend`), a trace wherever it is written:
    `evaluate` and, where the defaults over the array-API namespace `xp` do not fit, the others.
    """

    name: str
    xp: Any
    deferred = False
    """Whether results are computed later than operations are called: then an operand of NumPy's is used as it was at the
    call, and so copied."""

    def wrap(self, array: Any) -> Any:
        """A user's array of this library as kernels see it."""
        return array

    def unwrap(self, array: Any) -> Any:
        """The user's array again: what `wrap` was given, or would have been."""
        return array

    def on_host(self, array: Any) -> bool:
        """Whether the elements are where NumPy computes, so that to hand them to it is nothing that has to be asked for."""
        return True

    def evaluate(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        """A primitive on arrays of which one at least is of this type: its result, a tuple for several outputs."""
        given = [self.beside(prim, x, arrays) if isinstance(x, (np.ndarray, np.generic)) else x for x in arrays]
        return self.compute(prim, given, params)

    def compute(self, prim: Any, arrays: Any, params: dict[str, Any]) -> Any:
        """What the library does best for a primitive, or else its standard kernel, on arrays of the library."""
        lowered = prim.lowerings.get(self.name)
        found = NotImplemented if lowered is None else lowered(*arrays, **params)
        return prim.kernel(self.xp, *arrays, **params) if found is NotImplemented else found

    def beside(self, prim: Any, host: Any, arrays: Any) -> Any:
        """An operand of NumPy's that stands beside arrays of this type, as one of them.

        A number is made there, so that nothing waits for the device; positions (integers, truths) go there by themselves.
        Raises TypeError for more, which would be moved between devices at each operation without a word; results that are
        deferred take a snapshot.
        """
        like = next(x for x in arrays if x is not None and not isinstance(x, (np.ndarray, np.generic)))
        if not host.ndim:
            return self.full((), host.item(), host.dtype, like)
        if not self.deferred and host.dtype.kind not in "iub":
            raise TypeError(
                f"{prim.name}: an array of NumPy's ({host.dtype}{list(host.shape)}) stands beside one of {self.name} on "
                f"{self.device_of(like)}; move one of them first: retrograde.asarray(x, like=y) makes an array of NumPy's one of "
                "y's library where y is, and y.numpy() one of NumPy's"
            )
        return self.from_host(backend_of(host).snapshot(host) if self.deferred else host, like)

    def full(self, shape: tuple[int, ...], value: Any, dtype: np.dtype, like: Any) -> Any:
        """An array of this type filled with a number, where `like` is."""
        return self.from_host(np.full(shape, value, dtype), like)

    def device_of(self, array: Any) -> Any:
        """Where the array is, as its library says it."""
        return "cpu"

    def write(self, target: Any, new: Any) -> Any:
        """The array that holds the elements `new` in place of those of `target`: `target` if its memory can be written."""
        return new

    def before_change(self, target: Any) -> None:
        """Told before a value that holds an array of this type is changed in place: where there is memory behind the array, the
        value is to hold that."""

    def handed(self, holder: Any) -> None:
        """Told of a value that holds an array of this type and that is given to hooks of the program, who may keep it."""

    def into_memory(self, target: Any, array: Any) -> np.ndarray | None:
        """The elements of an array that is to be written into a value of NumPy's memory; None where the value is to hold `array`
        in place of that. Raises UnsupportedError where others see the memory, and would not see the change."""
        return None

    def eagerly(self, what: str, holders: Any) -> AbstractContextManager[None]:
        """A context in which values that hold arrays of this type hold NumPy's memory, which may be written: for `what`, which
        reads and writes elements itself. Raises UnsupportedError where there is no such memory."""
        raise UnsupportedError(f"{what}: a parameter is an array of {self.name}; keep the parameters in NumPy arrays")

    def snapshot(self, array: Any) -> Any:
        """The array with its elements as they are now, whatever is written later: itself if nothing can be."""
        return array

    def to_host(self, array: Any) -> np.ndarray:
        """The array's elements as a NumPy array (shared where the library can share)."""
        return np.asarray(array)

    def asked_for_number(self, array: Any) -> Any:
        """What `item()` takes the number out of: the elements."""
        return self.to_host(array)

    def storage_order(self, array: Any) -> tuple[int, ...] | None:
        """The axes of an array from the one with the largest stride to that with the smallest, as far as that matters for
        NumPy's memory and does not show in the array itself; None of C order."""
        return None

    def rate(self, number: Any, like: Any) -> Any:
        """What stands beside an array of this type for a number that may be another one when the same is done again: itself,
        or an array of float64."""
        return number

    def from_host(self, array: np.ndarray, like: Any) -> Any:
        """NumPy's array as one of this type, where `like` is."""
        return self.asarray(array)

    def in_blocks(self, make: Any, shape: tuple[int, ...], dtype: np.dtype, like: Any) -> Any:
        """An array of this type, where `like` is and in its blocks if it has the shape: `make(number, shape)` gives each block
        as NumPy's array. Most libraries have one."""
        return self.from_host(make(0, shape), like)

    def placed(self, host: np.ndarray, device: Any) -> Any:
        """NumPy's array as one of this type on one of the library's devices."""
        return self.asarray(host)

    def asarray(self, value: Any, dtype: Any = None) -> Any:
        """A value as an array of this library, on its default device."""
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
    if library == "sparse" or kind.__module__.startswith("scipy.sparse"):
        raise UnsupportedError(
            f"{kind.__module__}.{kind.__qualname__}: operations on sparse arrays are not differentiated, and would make most of "
            "them dense; give the dense array (x.todense(), x.toarray()), or the values alone, with take() and index arrays "
            "for their places"
        )
    if library in _LAZY:
        try:
            importlib.import_module(f"{__package__}.{_LAZY[library]}")
        except ImportError as error:
            raise UnsupportedError(f"the array library {library!r} could not be used: {error}") from error
        if kind in _BY_TYPE or any(base in _BY_TYPE for base in kind.__mro__):
            return backend_of(array)
    # The last resort: a library that follows the standard. A value or a transform's array, which have a level, is none.
    if hasattr(kind, "__array_namespace__") and not hasattr(kind, "_level"):
        from . import standard

        standard.register(array)
        return _BY_TYPE[kind]
    raise UnsupportedError(
        f"no array library of retrograde's computes with {kind.__module__}.{kind.__qualname__}; convert it to a NumPy "
        "array, or register a Backend for its type (retrograde.backend.register_backend; a whole one, with what it needs, "
        "stands in docs/backends/writing-one.md)"
    )


def backend_of_device(device: Any) -> Backend | None:
    """The backend of a device, an object of an array library's, or None: so that `zeros(3, device=x.device)` is where `x` is."""
    library = type(device).__module__.partition(".")[0]
    if library in _LAZY and library in sys.modules:
        importlib.import_module(f"{__package__}.{_LAZY[library]}")
    return next((backend for backend in _BY_TYPE.values() if backend.name == library), None)


def is_array(x: Any) -> bool:
    """Whether `x` is an array of a library that computes here."""
    if type(x) in _BY_TYPE:
        return True
    try:
        backend_of(x)
    except UnsupportedError:
        return False
    return True
