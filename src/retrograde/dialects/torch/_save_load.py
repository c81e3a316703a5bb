"""`torch.save`, `torch.load`, copying and pickling of tensors: the dialect's side of the file formats."""

from __future__ import annotations

import copy
import io
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from ...backend import backend_of
from ...backend.canonical import canonical
from ...backend.devices import placed
from ...backend.jit.operands import address
from ...core.arrays import bottom, on_host
from ...core.node import Accumulate
from ...core.value import LevelArray, make
from ...tape import autograd as tape
from ...tape import mutation
from . import _dtype
from ._api import METHODS, api
from ._compressed_tensor import LAYOUTS, CompressedTensor, from_parts
from ._function_protocol import never
from ._printing import plain
from ._size import Size, check_device, device, place_named
from ._sparse_tensor import SparseTensor
from ._tensor import Tensor


def _storage_of(x: Tensor) -> tuple[np.ndarray, int, tuple[int, ...]]:
    """The memory of a tensor as one axis, the offset of its first element there, and its strides in elements."""
    array = plain(x)
    if array is None:
        raise RuntimeError("save: a tensor inside a functional transform cannot be stored; return it first")
    owner = mutation.owner_of(array)
    size = array.dtype.itemsize
    if owner.dtype != array.dtype or not (owner.flags.c_contiguous or owner.flags.f_contiguous):
        array = np.asarray(array, order="C")  # ascontiguousarray would give a number an axis
        return array.reshape(-1), 0, tuple(s // size for s in array.strides)
    flat = owner.reshape(-1) if owner.flags.c_contiguous else owner.T.reshape(-1)
    offset = 0 if array is owner else (address(array) - address(owner)) // size
    return flat, offset, tuple(s // size for s in array.strides)


def _describe(x: Any) -> Any:
    from ._files import TensorRecord
    from .nn.parameter import Parameter

    if not issubclass(type(x), Tensor):  # sparse, masked and nested tensors only call themselves one
        return None
    storage, offset, strides = _storage_of(x)
    attributes = {k: v for k, v in x.__dict__.items() if not k.startswith("_")} or None
    kind = None if type(x).__torch_function__ is never or type(x) is Tensor else type(x)
    return TensorRecord(
        storage, x.dtype.name, offset, tuple(x.shape), strides, x.requires_grad, isinstance(x, Parameter), attributes, kind,
        str(x.device),
    )


def _reduce(x: Any) -> Any:
    if isinstance(x, _dtype.dtype):
        return f"torch.{x.name}"
    if isinstance(x, Size):
        return "torch.Size", (tuple(x),)
    if isinstance(x, device):
        return "torch.device", ((x.type,) if x.index is None else (x.type, x.index))
    if isinstance(x, CompressedTensor):
        return "torch._utils._rebuild_sparse_tensor", (x.layout, x.parts())
    if isinstance(x, SparseTensor):
        return "torch._utils._rebuild_sparse_tensor", (x.layout, (x._indices(), x._values(), x.shape, x.is_coalesced()))
    if type(x) is type(SparseTensor.layout):
        return "torch.serialization._get_layout", (repr(x),)
    return None


def _get_layout(name: str) -> Any:
    """The layout of a name, "torch.sparse_coo"."""
    for layout in (SparseTensor.layout, Tensor.layout, *LAYOUTS):
        if repr(layout) == name:
            return layout
    raise ValueError(f"tensors in the layout {name} are not read")


def _rebuild_sparse_tensor(layout: Any, parts: tuple[Any, ...]) -> SparseTensor:
    """A sparse tensor of its layout and of its indices, values, size and whether they are coalesced."""
    return from_parts(layout, *parts) if layout in LAYOUTS else SparseTensor(*parts)


def _rebuild(
    storage: np.ndarray, dtype_name: str, offset: int, shape: tuple[int, ...], strides: tuple[int, ...],
    requires_grad: bool, is_parameter: bool, location: str,
) -> Tensor:  # fmt: skip
    from .nn.parameter import Parameter

    size = storage.dtype.itemsize
    array = np.ndarray(shape, storage.dtype, storage, offset * size, tuple(s * size for s in strides))
    x = make(Tensor, array if location == "cpu" else placed(array, *place_named(location)))
    if is_parameter:
        return Parameter(x, requires_grad)
    return x.requires_grad_() if requires_grad else x


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "torch.Size": Size, "torch.device": device, "torch.serialization._get_layout": _get_layout,
    "torch._utils._rebuild_sparse_tensor": _rebuild_sparse_tensor,
}  # fmt: skip
"""What files name and `load` calls."""


@api(method=False)
def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2,
    _use_new_zipfile_serialization: bool = True, _disable_byteorder_record: bool = False,
) -> None:  # fmt: skip
    """Write tensors, containers of them and objects of any class to a file (path or stream) in PyTorch's zip format.

    Classes and functions are written as their names, so pickle.PicklingError or AttributeError is raised for those that
    have none. `load` makes objects of them with weights_only=False, or where `torch.serialization.add_safe_globals` names
    them; a module's `state_dict()` needs neither.
    """
    from ._files import write_zip
    from ._files._objects import resolver

    if not _use_new_zipfile_serialization:
        raise RuntimeError("save: retrograde writes the zip format only; leave _use_new_zipfile_serialization out")
    write_zip(f, obj, _describe, reduce=_reduce, resolve=resolver(__package__))


@api(method=False)
def load(
    f: Any, map_location: Any = None, pickle_module: Any = None, *, weights_only: bool | None = None,
    mmap: bool | None = None, **pickle_load_args: Any,
) -> Any:  # fmt: skip
    """Read what `torch.save` wrote, here or in PyTorch.

    The file is interpreted, never run: it can hold tensors, plain containers, dtypes, sizes and objects of the classes
    that `torch.serialization.add_safe_globals` vouches for; anything else is refused by name with
    pickle.UnpicklingError. With weights_only=False (or a `pickle_module`) the caller vouches for the whole file: it can
    hold objects of any class, and **what it says is executed**, so never say that of a file from others. A file that
    asks for much more memory than it has is refused, unless the environment variable RETROGRADE_FILE_MEMORY allows as
    many bytes.
    """
    from ._files import Trust, read
    from ._files._objects import resolver

    if weights_only and pickle_module is not None:
        raise RuntimeError("load: weights_only=True does not go with a pickle_module; leave one of them out")
    if isinstance(map_location, (device, int)):
        map_location = str(device(map_location))
    admitted = _admitted()
    if weights_only is False or pickle_module is not None:
        admitted["trust"] = Trust(resolver(__package__), pickle_module, pickle_load_args)
    return read(f, _rebuild, map_location=map_location, mmap=bool(mmap), **admitted)


def _admitted() -> dict[str, Any]:
    """What files may name beside tensors and plain data while only weights are read, for the reader."""
    from ._files._safe_globals import is_own, safe_functions

    constants: dict[str, Any] = {f"torch.{d.name}": d for d in _dtype.ALL}
    return {"constants": constants, "functions": {**_FUNCTIONS, **safe_functions()}, "is_own": is_own}


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names in a file that `load` refuses unless they are declared safe; errors are those of `load`."""
    from ._files import read_pickle
    from ._files._safe_globals import named_in
    from ._files._unpickle import Unpickler

    machine = Unpickler(io.BytesIO(), None, _rebuild, **_admitted())
    try:
        names = set(named_in(read_pickle(f)))
    except ValueError as error:
        machine.damaged(error)
    return sorted(name for name in names if machine.known(name) is None)


# ------------------------------------------------------------------------------------------ copies and pickles


def copy_of(array: Any) -> Any:
    """A copy of another library's array, where it is; of a transform's or a trace's, which cannot be written, itself."""
    return array if isinstance(array, LevelArray) or on_host(array) else backend_of(array).snapshot(array)


@api("__deepcopy__", function=False)
def tensor_deepcopy(self: Tensor, memo: dict[Any, Any]) -> Tensor:
    """A copy with memory of its own; only leaves can be copied with their gradient wish."""
    if id(self) in memo:
        return memo[id(self)]
    if self._node is not None and not isinstance(self._node, Accumulate):
        raise RuntimeError(
            "deepcopy: this tensor was computed by recorded operations; copy a leaf, or use clone() and detach()"
        )
    # Views of one memory stay views of one copy.
    owner = mutation.owner_of(self._a)
    if not isinstance(owner, np.ndarray):
        owner = self._a
    key = ("storage", id(owner))
    if key not in memo:
        memo[key] = np.array(owner, order="K") if isinstance(owner, np.ndarray) else copy_of(owner)
        memo[("kept", id(owner))] = owner
    copied = memo[key]
    array = self._a
    if isinstance(array, np.ndarray) and array is not owner:
        offset = address(array) - address(owner)
        if copied.strides == owner.strides:
            new = np.ndarray(array.shape, array.dtype, copied, offset, array.strides)
        else:
            new = array.copy()
    else:
        new = copied
    result = object.__new__(type(self))
    result._a, result._node, result._level = new, None, self._level
    memo[id(self)] = result
    if self._node is not None:
        tape.leaf(result)
    if self._grad is not None and not type(self)._copied_bare:
        result._grad = copy.deepcopy(self._grad, memo)
    for name, value in self.__dict__.items():
        if not name.startswith("_"):
            result.__dict__[name] = copy.deepcopy(value, memo)
    return result


@api("__reduce_ex__", function=False)
def tensor_reduce(self: Tensor, protocol: int) -> Any:
    """Pickle a tensor as its array, whether it wants a gradient, and the user's attributes; as in PyTorch, what was
    computed by recorded operations comes back as a leaf.
    """
    array = plain(self)
    if array is None:
        raise pickle.PicklingError("pickle: a tensor inside a functional transform cannot be pickled")
    attributes = {k: v for k, v in self.__dict__.items() if not k.startswith("_")}
    where = (str(self.device),) if type(bottom(self)) is not np.ndarray else ()
    return _unpickled, (type(self), np.asarray(array), self._node is not None, attributes, *where)


def _unpickled(
    cls: type[Tensor], array: np.ndarray, requires_grad: bool, attributes: dict[str, Any], where: str = "cpu"
) -> Tensor:
    check_device("pickle", where, RuntimeError)
    x = make(cls, canonical(array) if where == "cpu" else placed(canonical(array), *place_named(where)))
    if requires_grad:
        tape.leaf(x)
    x.__dict__.update(attributes)
    return x


METHODS["__copy__"] = lambda self: make(type(self), self._a, self._node, self._level)
