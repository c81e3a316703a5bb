"""`mindspore.Tensor`: construction and attributes. Its other methods register themselves (see _api.py)."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import numpy as np

from ... import _errors
from ..._state import OBSERVERS, state
from ...backend.canonical import canonical
from ...core import value as values
from ...core.level import born
from ...core.node import Accumulate, Slot
from ...core.policy import TapePolicy
from ...core.unwrap import concrete
from ...core.value import Value, make
from ...ops.structural import cast
from ...tape import hooks, mutation
from .._shared.arrays import ArrayFacts
from .._shared.tensor_class import TensorClass, install
from . import _data, _repr
from ._api import REGISTRY
from ._dtype import FROM_NUMPY
from ._fillers import resolved

_INT64, _LONG_LONG = np.dtype(np.int64), np.dtype(np.longlong)
"""MindSpore's int64 is C's long long: an equal dtype, with which NumPy prints `dtype=int64` where C's long is its own."""


class Tensor(Value, ArrayFacts, metaclass=TensorClass):
    """An n-dimensional array of one dtype, with the behaviour of MindSpore's.

    `Tensor(input_data, dtype)` holds a copy of a number, a (nested) list or tuple or a NumPy array, or what another tensor
    holds; Python floats become float32. `Tensor(shape=, dtype=, init=)` is filled by an initialiser with `init_data()`;
    without `init`, and with None in `shape`, it only describes tensors with axes of any length.
    """

    _dialect = "mindspore"
    _dtypes = FROM_NUMPY
    _policy = TapePolicy(
        errors={
            _errors.GradError: RuntimeError, _errors.ShapeError: ValueError, _errors.LevelError: RuntimeError,
            _errors.UnsupportedError: RuntimeError,
        },
        kernel_errors={ValueError: ValueError, TypeError: TypeError, np.linalg.LinAlgError: RuntimeError},
    )  # fmt: skip

    init: Any = None
    """The initialiser that has not been applied yet, if any."""
    _origin: Any = None
    """The argument of a gradient function for which an input stands."""
    _taken: Any = None
    """Of what an array or mask has picked: a weak reference to the tensor that it was picked from, and the key."""
    const_arg = False
    _leaf: Any = None
    """The leaf that this tensor is while gradient functions take it for a weight (_recording.py)."""

    def __new__(
        cls, input_data: Any = None, dtype: Any = None, shape: Any = None, init: Any = None, const_arg: bool = False,
        device: Any = None,
    ) -> Any:  # fmt: skip
        return _construct(cls, input_data, dtype, shape, init)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    # -------------------------------------------------------------------- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The size along each axis."""
        return tuple(values.shape_of(self._a))

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(values.shape_of(self._a))

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.itemsize * self.size

    @property
    def strides(self) -> tuple[int, ...]:
        """The bytes from one element to the next along each axis."""
        array = self._a
        if isinstance(array, np.ndarray) and array.size:
            return array.strides
        shape = tuple(values.shape_of(array))
        return tuple(math.prod(shape[i + 1 :], start=self.itemsize) for i in range(len(shape)))

    @property
    def device(self) -> str:
        """Where the elements are: the CPU."""
        return "CPU"

    @property
    def data(self) -> Tensor:
        """The tensor itself."""
        return self

    def stride(self) -> list[int]:
        """The elements from one element to the next along each axis."""
        return [n // self.itemsize for n in self.strides]

    @property
    def has_init(self) -> bool:
        """Whether an initialiser is waiting for `init_data()`."""
        return self.init is not None

    def init_data(self, slice_index: Any = None, shape: Any = None, opt_shard_group: Any = None) -> Tensor:
        """Fill with what the initialiser that was given instead of values makes; returns the tensor."""
        if self.init is not None:
            filler, self.init = resolved("Tensor.init_data", self.init), None
            if not self.__dict__.pop("_filled", False):
                filler(self._a)
        return self

    def register_hook(self, hook_fn: Any) -> hooks.Handle:
        """Call `hook_fn(gradient)` when this tensor's gradient is known; it may return another gradient.

        On a tensor that nothing has computed it holds for every gradient function that takes it as input or weight, also
        when it was put there inside of one. What it returns is converted to the gradient's dtype; the gradient function
        raises RuntimeError for what is no tensor.
        """
        if not callable(hook_fn):
            raise TypeError(f"register_hook: a hook is a function, got {type(hook_fn).__name__}")
        origin = self if self._node is None else self._origin
        if origin is None:
            return hooks.add_tensor_hook(self, _checked(hook_fn))
        leaf = leaf_of(origin)
        table = hooks.node_hooks(leaf, Tensor).tensor.setdefault(0, {})
        if self._node is not None:
            self._node.hooks = leaf.hooks
        return hooks.add(table, _checked(hook_fn))

    def hooks(self) -> list[Any]:
        """The functions that `register_hook` was given for this tensor and that have not been removed."""
        edge = self._node if self._node is not None and self._origin is None else (self._origin or self)._leaf
        node, index = (edge.node, edge.index) if type(edge) is Slot else (edge, 0)
        if node is None or node.hooks is None:
            return []
        return [hook.__wrapped__ for hook in node.hooks.tensor.get(index, {}).values()]

    @staticmethod
    def from_numpy(array: np.ndarray) -> Tensor:
        """A tensor in the memory of a NumPy array; raises TypeError for anything else."""
        from ._creation import from_numpy

        return from_numpy(array)

    # -------------------------------------------------------------------- as Python and NumPy values

    def _concrete(self, op: str) -> np.ndarray:
        """The elements as a NumPy array (shared); raises inside vmap, where there are none."""
        # What is not known yet says so itself.
        return np.asarray(self._a) if type(self._a) is _data.Unknown else concrete(op, self)

    def asnumpy(self) -> np.ndarray:
        """The elements as a NumPy array that shares the tensor's memory."""
        array = self._concrete("asnumpy")
        return array.view(_LONG_LONG) if array.dtype == _INT64 else array

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self.asnumpy()
        if dtype is not None and array.dtype != dtype:
            return array.astype(dtype)
        return array.copy() if copy else array

    numpy = asnumpy

    def __dlpack__(self, **options: Any) -> Any:
        return self._concrete("__dlpack__").__dlpack__(**options)

    def __dlpack_device__(self) -> Any:
        return self._concrete("__dlpack_device__").__dlpack_device__()

    def to_dlpack(self) -> Any:
        """What another library's from_dlpack takes."""
        return self._concrete("to_dlpack").__dlpack__()

    @staticmethod
    def from_dlpack(dlpack: Any) -> Tensor:
        """A tensor in the memory of another library's array."""
        from ._creation import from_dlpack

        return from_dlpack(dlpack)

    def get_bytes(self) -> bytes:
        """The elements as they stand in memory."""
        return self._concrete("get_bytes").tobytes()

    def data_ptr(self) -> int:
        """The address of the first element."""
        return mutation.address_of(self._concrete("data_ptr"))

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return self._concrete("tolist").tolist()

    def item(self) -> Any:
        """The only element as a Python number; raises ValueError if there are more."""
        return self._one("item").item()

    def _one(self, op: str) -> np.ndarray:
        array = self._concrete(op)
        if array.size != 1:
            raise ValueError(
                f"{op}: only a tensor with one element is a Python number, this one has {array.size}; reduce it first (any() and "
                "all() give a truth)"
            )
        return array

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        out = self.copy()  # an operation: a copy made inside a gradient has its derivative, as in MindSpore
        memo[id(self)] = out
        return out

    def __reduce_ex__(self, protocol: Any) -> Any:
        return _rebuilt, (self._concrete("pickle"),)

    def __bool__(self) -> bool:
        return bool(self._one("bool").item())

    def __int__(self) -> int:
        return int(self._one("int").item())

    def __float__(self) -> float:
        return float(self._one("float").item())

    def __complex__(self) -> complex:
        return complex(self._one("complex").item())

    def __index__(self) -> int:
        array = self._one("index")
        if array.dtype.kind not in "iub":
            raise ValueError(f"index: wanted an integer tensor, got {FROM_NUMPY[array.dtype]}")
        return operator.index(array.item())

    def __len__(self) -> int:
        shape = values.shape_of(self._a)
        if not shape:
            raise TypeError("len() of a 0-d tensor")
        return shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __str__(self) -> str:
        return _repr.text(self._concrete("str"))

    def __repr__(self) -> str:
        return _repr.described(self._a if type(self._a) is _data.Unknown else self._concrete("repr"))



REGISTRY.tensor_class = Tensor
Tensor.__module__ = "mindspore.common.tensor"  # what programs print


def _checked(hook_fn: Any) -> Any:
    """A gradient hook that returns a tensor of the gradient's dtype, or nothing."""

    @functools.wraps(hook_fn, updated=())
    def run(g: Any) -> Any:
        found = hook_fn(g)
        if found is None:
            return None
        if not isinstance(found, Value):
            raise RuntimeError(f"register_hook: a hook returns a Tensor or None, got {type(found).__name__}")
        np_dtype = values.dtype_of(g)
        return found if values.dtype_of(found) == np_dtype else cast(found, dtype=np_dtype)

    return run


def leaf_of(x: Tensor) -> Accumulate:
    """The leaf that a tensor is while gradient functions take it for a weight; kept with it, hooks included."""
    leaf, shape, dtype = x._leaf, tuple(values.shape_of(x)), values.dtype_of(x)
    if leaf is None or leaf.shape != shape or leaf.dtype != dtype:
        new = Accumulate(x, shape, dtype)
        if leaf is not None:
            new.hooks = leaf.hooks
        new.users = 0  # type: ignore[attr-defined]
        x._leaf = leaf = new
    return leaf  # type: ignore[no-any-return]


LACKING = """
    assign_value_cpp cauchy convert_bytes_to_tensor delete_ delta_seed flush_from_cache getitem_index_info
    index_copy_ index_of_parent_ init_finished init_flag is_meta log_normal offload offload_file_path param_info
    parent_tensor_ remove_hook set_ set_cast_dtype set_device_address set_init_flag set_param_info
    setitem_index_info storage symbolic_shape to_ uniform untyped_storage virtual_flag
    wait_pipeline
"""
"""What MindSpore's tensors have and these have not."""


def install_methods() -> None:
    """Put the registered methods on the class; called once every topic file has been imported."""
    install(Tensor, REGISTRY, LACKING)


def _rebuilt(array: np.ndarray) -> Tensor:
    return make(Tensor, canonical(array))


def from_array(array: np.ndarray) -> Tensor:
    """A new tensor around a NumPy array (shared), as creation functions make it."""
    tensor = make(Tensor, array)
    if state.levels:
        born(tensor)
    for observer in OBSERVERS:
        observer.created(tensor)
    return tensor


def _construct(cls: type[Tensor], data: Any, dtype: Any, shape: Any, init: Any) -> Tensor:
    d = None if dtype is None else _data.number_argument(dtype, "Tensor")
    if data is None:
        if d is None or (shape is None and init is not None):
            raise TypeError("Tensor: give input_data, or shape= and dtype= (with init=, what fills it)")
        if shape is None:  # of any number of axes
            return make(cls, _data.Unknown((-2,), d.np))
        sizes = (shape,) if isinstance(shape, int) else tuple(-1 if n is None else int(n) for n in shape)
        if None in (shape if isinstance(shape, (tuple, list)) else ()):
            return make(cls, _data.Unknown(sizes, d.np))
        tensor = make(cls, np.zeros(sizes, d.np))
        if init is not None:
            tensor.init = init
        return tensor
    if init is not None or shape is not None:
        raise ValueError("Tensor: input_data excludes shape= and init=, which make a tensor without data")
    np_dtype = None if d is None else d.np
    if isinstance(data, Value):
        if not isinstance(data, Tensor):
            raise TypeError(
                f"Tensor: got a {type(data).__module__.partition('.')[0]} tensor of another dialect; "
                "hand over its .numpy() or use from_dlpack"
            )
        array: Any = data._concrete("Tensor")
        if np_dtype is not None and array.dtype != np_dtype:
            array = array.astype(np_dtype)
        elif not _data.is_own(array):
            array = array.copy()
    else:
        array = _data.data_array(data, np_dtype)
    tensor = make(cls, array)
    if isinstance(data, Value) and data._node is not None and array.dtype == values.dtype_of(data):
        tensor._node, tensor._level = data._node, data._level
    if state.levels:
        born(tensor)
    for observer in OBSERVERS:
        observer.created(tensor)
    return tensor
