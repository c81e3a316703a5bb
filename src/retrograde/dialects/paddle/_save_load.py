"""`paddle.save` and `paddle.load`: PaddlePaddle's own pickles of tensors in plain containers.

A dict of tensors is written as arrays with the tensors' names beside them; a tensor elsewhere as a tuple of its name and
its array. Reading never calls what a file names (see `_shared.unpickling`).
"""

from __future__ import annotations

import io
import math
import os
import pickle
import threading
import warnings
from collections import OrderedDict
from typing import Any

import ml_dtypes
import numpy as np

from ...core.value import Value, dtype_of
from .._shared.numpy_values import NUMPY_CONSTANTS, NUMPY_FUNCTIONS
from .._shared.unpickling import Machine
from .._shared.wire import key, varint, varints
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


def _prepared(obj: Any, made: dict[int, Any]) -> Any:
    """An object with its tensors replaced; raises ValueError for what files do not hold.

    made: what has been prepared of lists and dicts, by id, so that what is shared is shared in the file.
    """
    if isinstance(obj, Value):
        return _Named(obj.name, _array(obj))  # type: ignore[arg-type]
    if isinstance(obj, _PLAIN):
        return obj
    if id(obj) in made:
        return made[id(obj)]
    if isinstance(obj, dict):
        table = made[id(obj)] = _like(obj, {})
        table.update((_prepared(k, made), _prepared(v, made)) for k, v in obj.items())
        return table
    if isinstance(obj, list):
        found = made[id(obj)] = type(obj)()
        found.extend(_prepared(item, made) for item in obj)
        return found
    if isinstance(obj, (set, frozenset)) or type(obj) is tuple:
        return made.setdefault(id(obj), type(obj)(_prepared(item, made) for item in obj))
    if hasattr(obj, "state_dict"):
        raise ValueError(f"save: a {type(obj).__name__} cannot be saved; save what its state_dict() gives")
    raise ValueError(
        f"save: a {type(obj).__name__} cannot be saved; only tensors, arrays, numbers, text and plain containers can"
    )


def _state(obj: dict[Any, Any]) -> dict[Any, Any]:
    names = {k: v.name for k, v in obj.items() if isinstance(v, Value)}
    state = {k: _array(v) if isinstance(v, Value) else _prepared(v, {}) for k, v in obj.items()}  # type: ignore[arg-type]
    state[_NAMES] = names
    return state


@api(method=False)
def save(obj: Any, path: Any, protocol: int = 4, **configs: Any) -> None:
    """Write tensors in plain containers into a file (or a BytesIO), as PaddlePaddle reads them.

    Raises ValueError for what files do not hold, for a path without a file name, an unknown protocol or option;
    NotImplementedError for anything but a tensor with `use_binary_format=True`.
    """
    binary = configs.pop("use_binary_format", False)
    protocol = configs.pop("pickle_protocol", protocol)
    if configs:
        raise ValueError(f"save: the option {next(iter(configs))!r} is not known")
    if isinstance(protocol, bool) or not isinstance(protocol, int):
        raise ValueError(f"save: protocol must be an int, got {type(protocol).__name__}")
    if not 1 < protocol < 5:
        raise ValueError(f"save: protocol must be 2, 3 or 4, got {protocol}")
    if binary:
        if not isinstance(obj, Tensor):
            raise NotImplementedError(f"save: the binary format holds one tensor, got {type(obj).__name__}")
        data = _binary(obj)
    else:
        data = pickle.dumps(_state(obj) if _is_state(obj) else _prepared(obj, {}), protocol)
    if isinstance(path, io.BytesIO):
        path.write(data)
        return
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise ValueError(f"save: wanted a path or a BytesIO, got {type(path).__name__}")
    path = os.fspath(path)
    folder, name = os.path.split(path)
    if not name:
        raise ValueError(f"save: the path must end in a file name, got {path!r}")
    if folder:
        os.makedirs(folder, exist_ok=True)
    with open(path, "wb") as file:
        file.write(data)


_KINDS = {0: "bool", 1: "int16", 2: "int32", 3: "int64", 4: "float16", 5: "float32", 6: "float64", 20: "uint8", 21: "int8",
          22: "bfloat16", 23: "complex64", 24: "complex128"}  # fmt: skip
"""How the binary format names dtypes."""
_BEGINNING = bytes(16)
"""What it begins with: the format of what holds the tensor, no levels of detail, and the format of the tensor."""


def _binary(x: Tensor) -> bytes:
    """A tensor in the format of PaddlePaddle's inference programs: a description (dtype and sizes), and the elements."""
    array = np.ascontiguousarray(x.numpy())
    kind = next(k for k, label in _KINDS.items() if label == x.dtype.label)
    about = key(1, 0) + varint(kind) + b"".join(key(2, 0) + varint(n) for n in x.shape)
    return _BEGINNING + len(about).to_bytes(4, "little") + about + array.tobytes()


def _content(stream: Any) -> tuple[Tensor | None, Any]:
    """The tensor of a file in that format, or what another file holds."""
    start = stream.tell()
    binary = stream.read(len(_BEGINNING)) == _BEGINNING
    stream.seek(start)
    return (_from_binary(stream.read()), None) if binary else (None, _read(stream))


def _from_binary(data: bytes) -> Tensor:
    """The tensor of bytes in that format; raises UnpicklingError where they are damaged."""
    end = 20 + int.from_bytes(data[16:20], "little")
    try:
        numbers = varints(memoryview(data)[20:end])
    except (IndexError, ValueError):
        numbers = []
    known = numbers[:1] == [8] and numbers[1] in _KINDS and not set(numbers[2::2]) - {16}
    if len(data) < 20 or end > len(data) or len(numbers) % 2 or not known:
        raise pickle.UnpicklingError("load: the description of the tensor in the file is damaged")
    dtype, shape = np.dtype(_KINDS[numbers[1]]) if numbers[1] != 22 else _BFLOAT16, tuple(numbers[3::2])
    if len(data) - end != dtype.itemsize * math.prod(shape):
        raise pickle.UnpicklingError("load: the file does not hold as many elements as it says")
    return from_array(np.frombuffer(data, dtype, offset=end).reshape(shape).copy())


_writing: list[threading.Thread] = []


@api(method=False)
def async_save(obj: Any, path: Any, protocol: int = 4, sync_other_task: bool = False, **configs: Any) -> None:
    """Write as `save` does, in a thread of its own, what there is when it is called; `sync_other_task`: after those before.

    Raises ValueError for what files do not hold, before anything is written.
    """
    if sync_other_task:
        clear_async_save_task_queue()
    kept = io.BytesIO()
    save(obj, kept, protocol, **configs)
    data = kept.getvalue()

    def write() -> None:
        with open(os.fspath(path), "wb") as file:
            file.write(data)

    thread = threading.Thread(target=write)
    _writing.append(thread)
    thread.start()


def clear_async_save_task_queue() -> None:
    """Wait for the threads of `async_save`."""
    while _writing:
        _writing.pop().join()


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


def _replace_named(content: Any, plain: bool, arrays: bool | None) -> Any:
    """What a file holds, with tensors in the place of named arrays and, where `arrays`, of all.

    `arrays` is None for a file from an older version, where all are tensors unless there is a named one. Lists and
    dicts are changed in place and each container is looked at once, so that what a file shares stays shared, and what
    holds itself, or is nested however deep or often, takes no longer than its size.
    """
    found = _containers(content)
    if arrays is None:
        arrays = not any(type(value) is _NamedPair for value in found)
    made: dict[int, Any] = {}

    def replaced(item: Any) -> Any:
        if type(item) is _NamedPair:
            return _tensor(item[1], item[0], plain)
        if arrays and isinstance(item, np.ndarray):
            return _tensor(item, None, plain)
        return made.get(id(item), item)

    for value in found:
        if type(value) is tuple:
            made[id(value)] = tuple(map(replaced, value))
    for value in found:
        if isinstance(value, dict):
            for key, item in value.items():
                value[key] = replaced(item)
        elif isinstance(value, list):
            value[:] = map(replaced, value)
    return replaced(content)


def _containers(content: Any) -> list[Any]:
    """The containers in a file's content, each once, and every tuple after the tuples that it holds."""
    found: list[Any] = []
    seen: set[int] = set()
    roots = [content]
    while roots:
        pending = [(roots.pop(), False)]
        while pending:
            value, is_done = pending.pop()
            if is_done:
                found.append(value)
            elif isinstance(value, (dict, list, tuple)) and id(value) not in seen:
                seen.add(id(value))
                pending.append((value, True))
                if isinstance(value, tuple):
                    pending.extend((part, False) for part in value if isinstance(part, tuple))
                    roots.extend(part for part in value if not isinstance(part, tuple))
                else:
                    roots.extend(value.values() if isinstance(value, dict) else value)
    return found


@api(method=False)
def load(path: Any, **configs: Any) -> Any:
    """Read what `paddle.save` wrote; with `return_numpy=True` arrays in the place of tensors.

    Raises ValueError where there is no file, UnpicklingError for a file that is damaged, holds anything else, or asks
    for much more memory than it has (unless the environment variable RETROGRADE_FILE_MEMORY allows as many bytes).
    """
    plain = bool(configs.pop("return_numpy", False))
    keep = bool(configs.pop("keep_name_table", False))
    for name in configs:
        if name not in ("model_filename", "params_filename", "safetensors"):
            warnings.warn(f"load: the option {name!r} is not known and has no effect", stacklevel=2)
    if isinstance(path, io.BytesIO):
        stored, content = _content(path)
    else:
        path = os.fspath(path)
        if not os.path.exists(path):
            raise ValueError(f"load: there is no file {path!r}")
        if os.path.isdir(path):
            raise ValueError(f"load: {path!r} is a directory; directories of inference programs cannot be loaded here")
        with open(path, "rb") as file:
            stored, content = _content(file)
    if stored is not None:
        return stored.numpy() if plain else stored
    if isinstance(content, dict) and _NAMES in content:
        names = content.pop(_NAMES)
        if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
            raise pickle.UnpicklingError("load: the table of names in the file is damaged")
        arrays = {k: _tensor(v, names.get(k), plain) for k, v in content.items() if isinstance(v, np.ndarray)}
        state = dict(_replace_named(content, plain, False)) | arrays
        return state | {_NAMES: names} if keep else state
    # Files without a named array come from older versions, where every array was a tensor; not so in dicts of dicts.
    nested = isinstance(content, dict) and not any(isinstance(v, (np.ndarray, list, tuple)) for v in content.values())
    return _replace_named(content, plain, False if nested else None)


def _read(stream: Any) -> Any:
    functions = {**NUMPY_FUNCTIONS, "builtins.tuple": _tuple, "__builtin__.tuple": _tuple}
    return _Reader(stream, NUMPY_CONSTANTS, functions).load()
