"""`torch.Tensor`: attributes, construction, operators' dispatch. Its methods register themselves (see _api.py)."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..._state import OBSERVERS, state
from ...backend.devices import placed
from ...core import value as values
from ...core.arrays import bottom
from ...core.dual import DualArray
from ...core.level import born
from ...core.node import Accumulate, Node, Slot, tick
from ...core.unwrap import constant
from ...core.value import Value, make
from ...ops import structural as st
from ...ops.devices import place_of
from ...tape import autograd as tape
from ...tape import hooks, inplace, mutation
from .._shared.arrays import ArrayFacts
from .._shared.guard import kind_of
from .._shared.tensor_class import TensorClass, install
from . import _dtype
from ._api import REGISTRY
from ._data import data_array
from ._dtype import FROM_NUMPY
from ._graph_nodes import show_as, shown
from ._policy import POLICY
from ._size import CHOSEN, CPU, Size, check_device, device, place_named

_COMPUTED = frozenset([Node, Slot])
"""What stands behind a tensor that is no leaf."""

_as_size = tuple.__new__
"""Makes a Size of ints that need no check, in 0.17 µs instead of 0.42."""

_ndarray, _new = np.ndarray, object.__new__
_reference = weakref.ref
_float32, _float64 = np.dtype(np.float32), np.dtype(np.float64)


class Tensor(Value, ArrayFacts, metaclass=TensorClass):
    """An n-dimensional array of one dtype, with the behaviour of PyTorch's."""

    _dialect = "torch"
    _dtypes = FROM_NUMPY
    _policy = POLICY
    _inference: bool = False
    """Whether it was made in inference mode."""

    __array_priority__ = 1000
    _copied_bare = False
    """Whether `copy.deepcopy` leaves the gradient out, as it does for parameters."""
    _printed_as = "tensor"
    """What stands before the numbers in the repr: for a subclass its own name."""

    def __new__(cls, *args: Any, device: Any = None) -> Any:
        check_device(cls.__name__, device)
        return _construct(cls, args)

    @staticmethod
    def _make_subclass(kind: Any, data: Any, require_grad: bool = False) -> Any:
        """The memory of a tensor as a leaf of a class."""
        if not isinstance(data, Tensor):
            raise TypeError(f"_make_subclass: wanted a tensor, got {type(data).__name__}")
        if require_grad and data._inference and state.mark is None:
            raise RuntimeError("an inference tensor takes no part in autograd; make a parameter of a clone() of it")
        return make(kind, data._a, None, data._level).requires_grad_(require_grad)

    def __init_subclass__(cls, result: type | None = None, **kwargs: Any) -> None:
        super().__init_subclass__(result, **kwargs)
        if result is None:
            cls._printed_as = cls.__name__
            from ._function_protocol import install, never

            if cls.__torch_function__ is never:
                cls._result = Tensor
            else:
                install()  # from now on functions ask; nothing is paid before

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Compute a call on a subclass; the tensors in its result are of the subclass. Subclasses override it."""
        from ._function_protocol import default

        return default(cls, func, types, args, kwargs)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        pass

    # -------------------------------------------------------------------- what it is

    @property
    def shape(self) -> Size:
        """The size along each axis."""
        a = self._a
        return _as_size(Size, a.shape if type(a) is np.ndarray else values.shape_of(a))

    @property
    def device(self) -> device:
        """Where the elements are."""
        if type(self._a) is np.ndarray:
            return CPU
        kind, index = place_of(self)
        return CPU if kind == "cpu" else device(kind, index)

    @property
    def is_cpu(self) -> bool:
        """Whether the elements are in the memory of the CPU."""
        return type(self._a) is np.ndarray or self.device.type == "cpu"

    @property
    def is_cuda(self) -> bool:
        """Whether the elements are on a CUDA device."""
        return type(self._a) is not np.ndarray and self.device.type == "cuda"

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.itemsize * self.shape.numel()

    # -------------------------------------------------------------------- the tape

    @property
    def requires_grad(self) -> bool:
        """Whether operations on this tensor are recorded for its gradient."""
        if self._node is not None:
            return True
        a = self._a
        if type(a) is np.ndarray:
            return False
        if type(a) is DualArray:
            a = a.primal
        return isinstance(a, Value) and Tensor.requires_grad.fget(a)  # type: ignore[attr-defined]

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not isinstance(wanted, bool):
            raise RuntimeError(f"requires_grad: wanted True or False, got {kind_of(wanted)}")
        self.requires_grad_(wanted)

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say that gradients with respect to this leaf are wanted (or no longer); returns the tensor."""
        a = self._a
        if requires_grad is True and type(a) is _ndarray and self._node is None and not (self._level or self._inference):
            dtype = a.dtype
            if dtype is _float32 or dtype is _float64:  # the everyday call
                self._node = edge = _new(Accumulate)  # without its call
                edge.leaf, edge.shape, edge.dtype, edge.seq, edge.hooks = _reference(self), a.shape, dtype, tick(), None
                return self
        if requires_grad.__class__ is not bool and not isinstance(requires_grad, (bool, np.bool_, int)):
            raise TypeError(f"requires_grad_: wanted True or False, got {requires_grad!r}")
        if self._level:
            refuse_in_transforms("requires_grad_", self._levels())
        if requires_grad:
            if self._inference and state.mark is None:
                raise RuntimeError("requires_grad_: an inference tensor takes no part in autograd; use clone() of it")
            if self._node is None or tape.is_silent(self):
                d = self.dtype
                if d.category < 2:
                    raise RuntimeError(f"requires_grad_: only floating and complex tensors have gradients, this is {d}")
                tape.leaf(self)
        elif self._node is not None:
            if not tape.is_leaf(self):
                raise RuntimeError(
                    "requires_grad can only be switched off on leaf tensors; use detach() for one that was computed"
                )
            inplace.stop(self)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether this tensor was not computed from others that require grad."""
        return tape.is_leaf(self)

    @property
    def grad_fn(self) -> Any:
        """The node that computed this tensor, None for a leaf."""
        edge = self._node
        if edge is None or type(edge) is Accumulate:
            return None
        return shown(edge)

    @property
    def output_nr(self) -> int:
        """Which output of its node this tensor is."""
        return self._node.index if type(self._node) is Slot else 0

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have accumulated here, None before the first."""
        found = self._grad
        if found is None and type(self._node) in _COMPUTED and not hooks.retains_grad(self):
            warnings.warn(
                "grad: this tensor was computed, and no gradient is kept for it; call retain_grad() on it before the backward "
                "pass, or look at the leaf that is meant", UserWarning, stacklevel=2,
            )  # fmt: skip
        return found

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        if gradient is not None:
            if not isinstance(gradient, Tensor):
                raise TypeError(f"grad: wanted a tensor or None, got {kind_of(gradient)}")
            if gradient is self:
                raise RuntimeError("grad: a tensor cannot be its own gradient")
            if gradient.shape != self.shape:
                raise RuntimeError(
                    f"grad: a tensor of shape {list(self.shape)} got one of shape {list(gradient.shape)}; a gradient has the "
                    "shape of what it is for"
                )
            if gradient.dtype is not self.dtype:
                raise RuntimeError(f"grad: a tensor of dtype {self.dtype} got a gradient of dtype {gradient.dtype}")
            if (type(gradient._a) is not _ndarray or type(self._a) is not _ndarray) and gradient.device != self.device:
                raise RuntimeError(f"grad: a tensor on {self.device} got a gradient on {gradient.device}")
        self._grad = gradient
        for observer in OBSERVERS:
            observer.cleared(self)

    @grad.deleter
    def grad(self) -> None:
        self.grad = None

    @property
    def retains_grad(self) -> bool:
        """Whether this tensor keeps its gradient although it is no leaf."""
        return hooks.retains_grad(self)

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in `.grad` although it is no leaf."""
        if self._level:
            refuse_in_transforms("retain_grad", self._levels())
        hooks.retain_grad(self)

    def _levels(self) -> list[Any]:
        """The transform of which this is a value, if it is one's."""
        return [level for level in state.levels if level.id == self._level]

    def register_hook(self, hook: Callable[[Tensor], Any]) -> hooks.Handle:
        """Call `hook(gradient)` when this tensor's gradient is known; it may return another gradient."""
        return hooks.add_tensor_hook(self, hook)

    def register_post_accumulate_grad_hook(self, hook: Callable[[Tensor], None]) -> hooks.Handle:
        """Call `hook(tensor)` after a gradient has been added to `.grad` of this leaf; it must return None."""

        def call(tensor: Tensor) -> None:
            found: Any = hook(tensor)  # type: ignore[func-returns-value]
            if found is not None:
                raise (RuntimeError if isinstance(found, Tensor) else TypeError)(
                    f"register_post_accumulate_grad_hook: the hook returned {kind_of(found)}, wanted None; a gradient is "
                    "replaced by setting tensor.grad"
                )

        return hooks.add_post_accumulate_hook(self, call)

    @property
    def data(self) -> Tensor:
        """The same memory without history, whose in-place changes autograd does not notice."""
        inplace.before_change(self)
        if type(self._a) is not np.ndarray:
            return constant(self)
        for observer in OBSERVERS:
            observer.detached(self)
        out = make(type(self)._result, mutation.own_clock(self._a), None, self._level)
        if self._inference:
            out._inference = True
        return out

    @data.setter
    def data(self, new: Tensor) -> None:
        if not isinstance(new, Tensor):
            raise TypeError(f"data: wanted a tensor, got {kind_of(new)}")
        if (new.dtype.category >= 2) != (self.dtype.category >= 2) and self._node is not None:
            raise RuntimeError(f"data: a tensor that requires grad cannot take data of dtype {new.dtype}")
        if not tape.is_leaf(self) and new.shape != self.shape:
            raise RuntimeError(f"data: a tensor with history has shape {list(self.shape)}, it cannot take {list(new.shape)}")
        if type(self._a) is not np.ndarray:
            self._memory = self._sharers = None  # who shared the array that it held does not share this one
        self._a, self._level = mutation.with_count_of(new._a, self._a), new._level
        if type(self._node) is Accumulate:
            self._node.shape, self._node.dtype = tuple(values.shape_of(new)), values.dtype_of(new)

    def detach(self) -> Tensor:
        """The same memory without history (in transforms: without any, of any level); in-place changes of either are
        noticed for both."""
        a = self._a
        if type(a) is not _ndarray:
            return constant(self)
        out: Tensor = _new(self._result)  # `make`, without its call
        out._a, out._node, out._level = a, None, self._level
        if self._inference:
            out._inference = True
        for observer in OBSERVERS:
            observer.detached(self)
        return out

    def detach_(self) -> Tensor:
        """Take this tensor out of the graph that computed it; returns it."""
        if self._base is not None:
            raise RuntimeError("detach_: a view cannot be detached in place; use detach()")
        for observer in OBSERVERS:
            observer.detached(self)
        inplace.stop(self)
        return self

    def is_inference(self) -> bool:
        """Whether this tensor was made in inference mode."""
        return self._inference

    @property
    def _version(self) -> int:
        if self._inference:
            raise RuntimeError("_version: inference tensors do not count their changes")
        return mutation.count(bottom(self))

    def _is_view(self) -> bool:
        return self._base is not None

    # -------------------------------------------------------------------- transposes and complex parts

    @property
    def T(self) -> Tensor:
        """The axes in reverse order (the matrix transpose of a matrix)."""
        n = self.ndim
        if n != 2:
            warnings.warn(
                f"T of a tensor with {n} dimensions is deprecated: use mT for batches of matrices, or permute()",
                UserWarning, stacklevel=2,
            )  # fmt: skip
        return inplace.view(st.transpose, self, axes=tuple(range(n))[::-1])

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        n = self.ndim
        if n < 2:
            if not n:
                warnings.warn("mT of a tensor with 0 dimensions is deprecated: it is the tensor itself", stacklevel=2)
                return self
            raise RuntimeError(f"mT: wanted at least 2 axes, got {n}")
        return show_as(inplace.view(st.transpose, self, axes=(*range(n - 2), n - 1, n - 2)), "TransposeBackward0")

    @property
    def H(self) -> Tensor:
        """The conjugate transpose of a matrix; a view."""
        if self.ndim not in (0, 2):
            raise RuntimeError(f"H: wanted a matrix, got {self.ndim} axes; use mH for batches")
        return self.mH

    @property
    def mH(self) -> Tensor:
        """The last two axes exchanged, conjugated; a view."""
        return conjugate(self.mT) if self.dtype.is_complex else self.mT

    # -------------------------------------------------------------------- fixed answers

    layout = "torch.strided"  # replaced by the layout object in __init__.py
    is_sparse = is_quantized = is_meta = is_mkldnn = is_nested = is_mps = is_xpu = is_vulkan = False
    is_xla = is_ipu = is_mtia = is_maia = is_sparse_csr = False

    @property
    def volatile(self) -> bool:
        """False; long ago it said that nothing is to be recorded, which no_grad() says now."""
        warnings.warn("volatile is gone; use no_grad()", UserWarning, stacklevel=2)
        return False
    names: Any = None

    def __len__(self) -> int:
        shape = values.shape_of(self._a)
        if not shape:
            raise TypeError("len() of a 0-d tensor")
        return shape[0]

    def __hash__(self) -> int:
        return id(self)

    def __delitem__(self, index: Any) -> None:
        raise TypeError(f"{type(self).__name__}: elements of a tensor cannot be deleted; index those that are to stay")



def refuse_in_transforms(op: str, levels: Iterable[Any]) -> None:
    """Raise where one of the levels is a transform of torch.func: what the everyday tape is told there would be lost."""
    for level in levels:
        if level.lifts is None and level.adopt is None:
            raise RuntimeError(
                f"{op}: inside a function that {level.name} transforms, and follows by itself; say what is wanted outside of "
                "it"
            )


def conjugate(x: Tensor) -> Tensor:
    """The conjugates of a complex tensor, as its view."""
    return show_as(inplace.mirrored(st.conj, x), "ConjBackward0")


REGISTRY.tensor_class = Tensor


LACKING = """
    chalf const_data_ptr dequantize grad_dtype index int_repr ipu map2_ module_load mtia q_per_channel_axis
    q_per_channel_scales q_per_channel_zero_points q_scale q_zero_point qscheme record_stream reinforce resize
    resize_as_sparse_ slice_inverse smm sparse_resize_ sparse_resize_and_clear_ sspaddmm storage_type to_mkldnn
    to_padded_tensor to_sparse_bsc to_sparse_bsr
"""
"""What PyTorch's tensors have and these have not."""


def install_methods() -> None:
    """Put the registered methods on the class; called once every topic file has been imported."""
    install(Tensor, REGISTRY, LACKING)


def from_array(array: Any, requires_grad: bool = False, device: Any = CPU) -> Tensor:
    """A new tensor around an array (a NumPy one is shared), as creation functions make it: on the CPU, or on the device that
    the program has named (None: nothing, so that it is the default one)."""
    if device is not CPU and (device is not None or CHOSEN):
        array = placed(array, *place_named(device))
    tensor = make(Tensor, array)
    if state.levels:
        born(tensor)
    for observer in OBSERVERS:
        observer.created(tensor)
    if state.mark is not None:
        state.mark(tensor)
    return tensor.requires_grad_() if requires_grad else tensor


def beside(array: np.ndarray, x: Any) -> Tensor:
    """A constant of NumPy's as a tensor where another one is."""
    return from_array(array if type(x._a) is _ndarray else placed(array, *place_of(x)))


def _construct(cls: type[Tensor], args: tuple[Any, ...]) -> Tensor:
    """The legacy constructor: `Tensor(2, 3)` uninitialised, `Tensor([1, 2])` from data, `Tensor()` empty."""
    np_dtype = _dtype.get_default_dtype().np
    if len(args) == 1 and isinstance(args[0], Value):
        source = args[0]
        array: Any = source._a if values.dtype_of(source) == np_dtype else np.asarray(source._a).astype(np_dtype)
    elif len(args) == 1 and isinstance(args[0], Size):
        array = np.zeros(args[0], np_dtype)
    elif len(args) == 1 and isinstance(args[0], (list, tuple, np.ndarray)):
        array = data_array(args[0], np_dtype)
    elif all(isinstance(n, (int, np.integer)) for n in args):
        array = np.zeros(args if args else (0,), np_dtype)
    else:
        raise TypeError(
            f"Tensor(): wanted sizes, a sequence or a tensor, got {', '.join(type(a).__name__ for a in args)}"
        )
    return make(cls, array)
