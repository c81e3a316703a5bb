"""`paddle.save` and `paddle.load`: PaddlePaddle's own pickles of tensors in plain containers.

A dict of tensors is written as arrays with the tensors' names beside them; a tensor elsewhere as a tuple of its name and
its array. Reading never calls what a file names (see `_shared.unpickling`).
"""

from __future__ import annotations

import io
import os
import pickle
import warnings
from collections import OrderedDict
from typing import Any

import ml_dtypes
import numpy as np

from ...core.value import Value, dtype_of
from .._shared.numpy_values import NUMPY_CONSTANTS, NUMPY_FUNCTIONS
from .._shared.unpickling import Machine
from ._api import api
from ._dtype import FROM_NUMPY
from ._tensor import Tensor, from_array

_NAMES = "StructuredToParameterName@@"
_BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
_PLAIN = (bool, int, float, complex, str, bytes, type(None), np.ndarray, np.generic)


# ------------------------------------------------------------------------------------------ saving


class _Named:
    """A tensor outside a dict of tensors: pickled as a call of `tuple` with its name and its array."""

    def __init__(self, name: str, array: np.ndarray) -> None:
        self.parts = (name, array)

    def __reduce__(self) -> Any:
        return tuple, (self.parts,)


def _like(given: dict[Any, Any], made: dict[Any, Any]) -> dict[Any, Any]:
    """A dict in the ordered class if the given one is."""
    return OrderedDict(made) if isinstance(given, OrderedDict) else made


def _array(x: Tensor) -> np.ndarray:
    array = np.ascontiguousarray(x.numpy()).reshape(tuple(x.shape))
    return array.view(np.uint16) if dtype_of(x) == _BFLOAT16 else array


def _holds_tensor(value: Any) -> bool:
    if isinstance(value, Value):
        return True
    if isinstance(value, dict):
        return any(map(_holds_tensor, value.values()))
    return isinstance(value, (list, tuple, set)) and any(map(_holds_tensor, value))


def _is_state(obj: Any) -> bool:
    """Whether an object is a dict with tensors in it and none deeper, and no arrays, which would look the same."""
    if not isinstance(obj, dict) or any(isinstance(v, np.ndarray) for v in obj.values()):
        return False
    tensors = [v for v in obj.values() if isinstance(v, Value)]
    return bool(tensors) and not any(_holds_tensor(v) for v in obj.values() if not isinstance(v, Value))


def _prepared(obj: Any) -> Any:
    """An object with its tensors replaced; raises ValueError for what files do not hold."""
    if isinstance(obj, Value):
        return _Named(obj.name, _array(obj))  # type: ignore[arg-type]
    if isinstance(obj, _PLAIN):
        return obj
    if isinstance(obj, dict):
        return _like(obj, {_prepared(k): _prepared(v) for k, v in obj.items()})
    if isinstance(obj, (list, set, frozenset)) or type(obj) is tuple:
        return type(obj)(map(_prepared, obj))
    if hasattr(obj, "state_dict"):
        raise ValueError(f"save: a {type(obj).__name__} cannot be saved; save what its state_dict() gives")
    raise ValueError(
        f"save: a {type(obj).__name__} cannot be saved; only tensors, arrays, numbers, text and plain containers can"
    )


def _state(obj: dict[Any, Any]) -> dict[Any, Any]:
    names = {k: v.name for k, v in obj.items() if isinstance(v, Value)}
    state = {k: _array(v) if isinstance(v, Value) else _prepared(v) for k, v in obj.items()}  # type: ignore[arg-type]
    state[_NAMES] = names
    return state


@api(method=False)
def save(obj: Any, path: Any, protocol: int = 4, **configs: Any) -> None:
    """Write tensors in plain containers into a file (or a BytesIO), as PaddlePaddle reads them.

    Raises ValueError for what files do not hold, for a path without a file name, an unknown protocol or option;
    NotImplementedError for `use_binary_format=True`.
    """
    if configs.pop("use_binary_format", False):
        raise NotImplementedError("save: the binary format of inference programs is not offered; leave the option out")
    configs.pop("pickle_protocol", None)
    if configs:
        raise ValueError(f"save: the option {next(iter(configs))!r} is not known")
    if isinstance(protocol, bool) or not isinstance(protocol, int):
        raise ValueError(f"save: protocol must be an int, got {type(protocol).__name__}")
    if not 1 < protocol < 5:
        raise ValueError(f"save: protocol must be 2, 3 or 4, got {protocol}")
    content = _state(obj) if _is_state(obj) else _prepared(obj)
    if isinstance(path, io.BytesIO):
        pickle.dump(content, path, protocol)
        return
    if hasattr(path, "write"):
        raise ValueError(f"save: wanted a path or a BytesIO, got {type(path).__name__}")
    path = os.fspath(path)
    folder, name = os.path.split(path)
    if not name:
        raise ValueError(f"save: the path must end in a file name, got {path!r}")
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        pickle.dump(content, file, protocol)


# ------------------------------------------------------------------------------------------ loading


class _NamedPair(tuple):  # type: ignore[type-arg]
    """What a file gives where `tuple` was called with a name and an array."""


def _tuple(*args: Any) -> tuple[Any, ...]:
    items = tuple(args[0]) if args and isinstance(args[0], (list, tuple)) else ()
    named = len(items) == 2 and isinstance(items[0], str) and isinstance(items[1], np.ndarray)
    return _NamedPair(items) if named else items


class _Reader(Machine):
    op = "load"
    refused = "only tensors, arrays, numbers, text and plain containers are read from files"
    remedy = "save the state_dict() of layers and optimizers"


def _tensor(array: np.ndarray, name: str | None, plain: bool) -> Any:
    if plain:
        return array
    if array.dtype == np.uint16:
        array = array.view(_BFLOAT16)
    if array.dtype not in FROM_NUMPY:
        return array
    x = from_array(array.copy() if not array.flags.writeable else array)
    if name is not None:
        x.name = name
    return x


def _restored(value: Any, plain: bool, arrays: bool = False) -> Any:
    """What a file holds, with tensors in the place of named arrays and, where `arrays`, of all."""
    if isinstance(value, _NamedPair):
        return _tensor(value[1], value[0], plain)
    if arrays and isinstance(value, np.ndarray):
        return _tensor(value, None, plain)
    if isinstance(value, dict):
        return _like(value, {k: _restored(v, plain, arrays) for k, v in value.items()})
    if isinstance(value, (list, set, frozenset)) or type(value) is tuple:
        return type(value)(_restored(v, plain, arrays) for v in value)
    return value


def _names_none(value: Any) -> bool:
    """Whether nothing in a file's content is a named array."""
    if isinstance(value, dict):
        return all(map(_names_none, value.values()))
    return not isinstance(value, _NamedPair) and (not isinstance(value, (list, tuple)) or all(map(_names_none, value)))


@api(method=False)
def load(path: Any, **configs: Any) -> Any:
    """Read what `paddle.save` wrote; with `return_numpy=True` arrays in the place of tensors.

    Raises ValueError where there is no file, UnpicklingError for a file that is damaged or holds anything else.
    """
    plain = bool(configs.pop("return_numpy", False))
    keep = bool(configs.pop("keep_name_table", False))
    for name in configs:
        if name not in ("model_filename", "params_filename", "safetensors"):
            warnings.warn(f"load: the option {name!r} is not known and has no effect", stacklevel=2)
    if isinstance(path, io.BytesIO):
        content = _read(path)
    else:
        path = os.fspath(path)
        if not os.path.exists(path):
            raise ValueError(f"load: there is no file {path!r}")
        if os.path.isdir(path):
            raise ValueError(f"load: {path!r} is a directory; directories of inference programs cannot be loaded here")
        with open(path, "rb") as file:
            content = _read(file)
    if isinstance(content, dict) and _NAMES in content:
        names = content[_NAMES]
        return {
            k: _tensor(v, names.get(k), plain) if isinstance(v, np.ndarray) else _restored(v, plain)
            for k, v in content.items()
            if k != _NAMES or keep
        }
    # Files without a named array come from older versions, where every array was a tensor; not so in dicts of dicts.
    nested = isinstance(content, dict) and not any(isinstance(v, (np.ndarray, list, tuple)) for v in content.values())
    return _restored(content, plain, not nested and _names_none(content))


def _read(stream: Any) -> Any:
    functions = {**NUMPY_FUNCTIONS, "builtins.tuple": _tuple, "__builtin__.tuple": _tuple}
    return _Reader(stream, NUMPY_CONSTANTS, functions).load()
