"""The pickles in PyTorch's files: tensors and storages for the machine of `_shared.unpickling`. Called by `_zip` and
`_legacy`."""

from __future__ import annotations

import math
import pickle
from collections import OrderedDict
from collections.abc import Callable, Mapping
from typing import IO, Any

import numpy as np

from ..._shared.file_budget import Budget
from ..._shared.unpickling import DAMAGE, Function, Internal, Machine, check_attributes
from ._records import DTYPE_NAMES, STORAGE_CLASSES, UNTYPED_STORAGE, Storage, TensorRecord, fits
from ._trusted import Trust

Rebuild = Callable[..., Any]
LoadStorage = Callable[[str | None, str, str, int, Any], Storage]
IsOwn = Callable[[str], bool]
"""Whether a full name is that of a layer or function of the dialect."""

_STORAGE_DTYPES: dict[str, str | None] = {name: dtype for dtype, name in STORAGE_CLASSES.items()}
_STORAGE_DTYPES[UNTYPED_STORAGE] = None
_MOST_AXES = 64  # NumPy's arrays have no more


class _Dtype(Internal):
    """A dtype argument of `_rebuild_tensor_v3`, for which the caller passed no constant."""

    __slots__ = ()


class Unpickler(Machine):
    """Runs one pickle from a stream.

    Args:
        stream: binary, positioned at the pickle; left behind its last byte.
        load_storage: called with dtype name (None: bytes), key, location, number of elements and view.
        rebuild: called with the first seven fields of a TensorRecord and its location.
        constants: values by full name, "torch.float32".
        functions: what may be called, by full name, "torch.Size"; of classes, objects are made.
        is_own: tells the dialect's own layers and functions, which are refused with what it takes to read them.
        trust: runs the pickle instead, for a caller who vouches for it.
        budget: what the file may ask for.
    """

    op = "torch.load"
    remedy = "save a state_dict, or vouch for it with torch.serialization.add_safe_globals"

    def __init__(
        self, stream: IO[bytes], load_storage: LoadStorage | None = None, rebuild: Rebuild | None = None, constants:
        Mapping[str, Any] | None = None, functions: Mapping[str, Callable[..., Any]] | None = None, is_own: IsOwn | None
        = None, trust: Trust | None = None, budget: Budget | None = None,
    ) -> None:  # fmt: skip
        super().__init__(stream, constants, functions, budget)
        self._handlers[pickle.NEWOBJ[0]] = self._new
        self._load_storage = load_storage
        self._rebuild = rebuild
        self._is_own = is_own
        self._trust = trust
        # A parameter is rebuilt from the record of the tensor that precedes it; the tensor keeps its id taken.
        self._records: dict[int, tuple[Any, TensorRecord]] = {}
        if rebuild is not None:
            self._functions |= {
                "torch._utils._rebuild_tensor": self._tensor_v1,
                "torch._utils._rebuild_tensor_v2": self._tensor_v2,
                "torch._utils._rebuild_tensor_v3": self._tensor_v3,
                "torch._utils._rebuild_parameter": self._parameter,
                "torch._utils._rebuild_parameter_with_state": self._parameter,
                "torch._tensor._rebuild_from_type_v2": self._tensor_with_state,
            }

    def load(self) -> Any:
        """The value of the pickle; raises UnpicklingError for one that is damaged or names what is not allowed."""
        return super().load() if self._trust is None else self._trust.load(self._stream, self)

    def find_more(self, name: str) -> Any:
        """Storage classes, the tensor class and dtypes, as inert values; None for anything else."""
        if self._rebuild is None:
            return None
        if name in _STORAGE_DTYPES or (name == "torch.Tensor" and self._trust is None):
            return Internal(name)
        if name.startswith("torch.") and name[6:] in DTYPE_NAMES:
            return _Dtype(name)
        if self._trust is None and self._is_own is not None and self._is_own(name):
            raise pickle.UnpicklingError(
                f"torch.load: the file holds objects of {name!r}, and only weights are read; pass weights_only=False if you "
                "trust the file, or save the state_dict() of the module"
            )
        return None

    def known(self, name: str) -> Any:
        """What a name in the file stands for, None where it is refused."""
        try:
            return self._find(name)
        except pickle.UnpicklingError:
            return None

    # Objects of classes that the caller has allowed

    def _new(self) -> None:
        args = self._stack.pop()
        kind = self._stack.pop()
        if not isinstance(kind, Function) or not isinstance(kind.call, type):
            named = kind.name if isinstance(kind, Internal) else type(kind).__name__
            raise pickle.UnpicklingError(f"torch.load: the file makes an object of {named!r}, which is refused")
        self._stack.append(kind.call.__new__(kind.call, *args))

    def _restore(self, target: Any, state: Any) -> None:
        kind = type(target)
        if kind in (OrderedDict, np.ndarray, np.dtype):
            super()._restore(target, state)
        elif kind in self._functions.values():
            # What a program vouches for may do with its state as it likes; what makes up the state is looked at here.
            self.give(state)
            if hasattr(target, "__setstate__"):
                target.__setstate__(state)
            else:
                check_attributes(target, state, hiding=True)
                vars(target).update(state)
        else:
            super()._restore(target, state)

    # Storages

    def _persistent(self) -> None:
        try:
            parts = tuple(self._stack.pop())
        except DAMAGE as error:
            self.damaged(error)
        self._stack.append(self.storage(*parts))

    def storage(self, *parts: Any) -> Storage:
        """The storage that a file refers to; raises UnpicklingError where it describes none."""
        try:
            tag, kind, key, location, count, *view = parts
            dtype_name = _STORAGE_DTYPES[kind.name]
        except (*DAMAGE, AttributeError) as error:
            self.damaged(error)
        if self._load_storage is None or tag != "storage" or len(view) > 1:
            raise pickle.UnpicklingError(
                "torch.load: the file refers to something outside its pickle that is no storage"
            )
        if not isinstance(key, str) or not isinstance(location, str) or type(count) is not int or count < 0:
            raise pickle.UnpicklingError(
                "torch.load: the file gives a storage a wrong key, location or size; it is damaged"
            )
        return self._load_storage(dtype_name, key, location, count, view[0] if view else None)

    # Tensors

    def _tensor_v1(self, storage: Any, offset: int, shape: Any, strides: Any) -> Any:
        return self._tensor_v2(storage, offset, shape, strides, False, None)

    def _tensor_v2(
        self, storage: Any, offset: int, shape: Any, strides: Any, requires_grad: bool, backward_hooks: Any, metadata:
        Any = None,
    ) -> Any:  # fmt: skip
        dtype_name = storage.dtype_name if isinstance(storage, Storage) else None
        return self._tensor(storage, dtype_name, offset, shape, strides, requires_grad, metadata)

    def _tensor_v3(
        self, storage: Any, offset: int, shape: Any, strides: Any, requires_grad: bool, backward_hooks: Any, dtype: Any,
        metadata: Any = None,
    ) -> Any:  # fmt: skip
        if isinstance(dtype, _Dtype):
            dtype_name = dtype.name.removeprefix("torch.")
        else:
            dtype_name = next((name for name in DTYPE_NAMES if self._constants.get(f"torch.{name}") is dtype), "")
        return self._tensor(storage, dtype_name, offset, shape, strides, requires_grad, metadata)

    def _tensor(
        self, storage: Any, dtype_name: str | None, offset: int, shape: Any, strides: Any, requires_grad: bool,
        metadata: Any,
    ) -> Any:  # fmt: skip
        if not isinstance(storage, Storage) or dtype_name not in DTYPE_NAMES:
            raise TypeError("a tensor without a storage or a dtype")
        array = storage.array(dtype_name)
        shape, strides = tuple(shape), tuple(strides)
        if len(shape) > _MOST_AXES:
            raise ValueError(f"a tensor of {len(shape)} dimensions")
        if any(type(number) is not int for number in (offset, *shape, *strides)):
            raise TypeError("sizes that are no integers")
        if not fits(array.size, offset, shape, strides):
            raise ValueError(
                f"shape {shape}, strides {strides} and offset {offset} leave a storage of {array.size} elements"
            )
        if metadata:
            self._budget.spend(2 * math.prod(shape) * array.itemsize)  # a view may repeat what is stored
            array, strides = _resolve(array, offset, shape, strides, metadata)
            offset = 0
        record = TensorRecord(
            array, dtype_name, offset, shape, strides, bool(requires_grad), False, location=storage.location
        )
        return self._make(record)

    def _parameter(self, data: Any, requires_grad: bool, backward_hooks: Any, state: Any = None) -> Any:
        known = self._records.get(id(data))
        if known is None:
            raise TypeError("a parameter that is made of no tensor")
        tensor = self._make(known[1]._replace(requires_grad=bool(requires_grad), is_parameter=True))
        return self._with_attributes(tensor, state)

    def _tensor_with_state(self, function: Any, kind: Any, args: Any, state: Any) -> Any:
        if self._trust is None:
            if not isinstance(kind, Internal) or not isinstance(function, Function):
                raise TypeError("a tensor of an unknown kind")
            if function.call not in (self._tensor_v2, self._tensor_v3, self._parameter):
                raise TypeError(f"a tensor made by {function.name}")
            function, kind = function.call, getattr(kind, "call", None)
        tensor = function(*args)
        if isinstance(kind, type) and type(tensor) is not kind:
            tensor = tensor.as_subclass(kind)
        return self._with_attributes(tensor, state)

    def _make(self, record: TensorRecord) -> Any:
        assert self._rebuild is not None
        try:
            tensor = self._rebuild(*record[:7], record.location)
        except (*DAMAGE, AttributeError) as error:
            # Not the file's doing: it must not pass for a damaged file.
            raise RuntimeError(
                f"torch.load: a tensor of shape {record.shape} and dtype {record.dtype_name} could not be rebuilt: "
                f"{error}"
            ) from error
        self._records[id(tensor)] = (tensor, record)
        return tensor

    def _with_attributes(self, tensor: Any, state: Any) -> Any:
        if self._trust is not None and state is not None:
            vars(tensor).update(state)
        elif state is not None:
            check_attributes(tensor, state)
            self.give(state)
            for name, value in state.items():
                if hasattr(type(tensor), name):
                    raise ValueError(f"an attribute would hide {name!r} of tensors")
                setattr(tensor, name, value)
        return tensor


def _resolve(
    array: np.ndarray, offset: int, shape: tuple[int, ...], strides: tuple[int, ...], metadata: Any
) -> tuple[np.ndarray, tuple[int, ...]]:
    """Carry out the conjugation and negation that PyTorch keeps as marks; the result has a storage of its own."""
    if not isinstance(metadata, dict) or not set(metadata) <= {"conj", "neg"}:
        raise ValueError(f"unknown metadata {metadata!r}")
    itemsize = array.itemsize
    view = np.lib.stride_tricks.as_strided(
        array[offset:], shape, tuple(stride * itemsize for stride in strides), writeable=False
    )
    if metadata.get("conj"):
        view = np.conjugate(view)
    if metadata.get("neg"):
        view = np.negative(view)
    dense = np.array(view, order="C").reshape(shape)
    return dense.reshape(-1), tuple(stride // itemsize for stride in dense.strides)
