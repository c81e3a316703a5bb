"""`paddle.Tensor`: its attributes and its place on the tape. Its methods register themselves (see _api.py)."""

from __future__ import annotations

import contextlib
import itertools
import weakref
from collections.abc import Callable, Iterator
from typing import Any, ClassVar

import numpy as np

from ..._state import OBSERVERS, grad_mode, state
from ...core import value as values
from ...core.level import born
from ...core.node import Accumulate, producer, tick
from ...core.scattered import Scattered
from ...core.value import Value, make
from ...ops import structural as st
from ...tape import autograd as tape
from ...tape import hooks, inplace, mutation
from ...tape.engine import current_run
from ...tape.function import Custom
from .._shared.arrays import ArrayFacts
from .._shared.tensor_class import TensorClass, install
from . import _dtype
from ._api import REGISTRY, deprecated
from ._device import CPU, Place
from ._dtype import FROM_NUMPY
from ._policy import POLICY
from ._size import Size, TensorSize

_names = {"generated_tensor": itertools.count(), "eager_tmp": itertools.count()}


class Tensor(Value, ArrayFacts, metaclass=TensorClass):
    """An n-dimensional array of one dtype, with the behaviour of PaddlePaddle's in dynamic mode."""

    _dialect = "paddle"
    _dtypes = FROM_NUMPY
    _policy = POLICY

    __array_ufunc__ = None  # NumPy's operators leave these tensors to the tensors' own

    _construct: ClassVar[Callable[..., Any]]
    """`Tensor(...)`; _creation.py, which stands above this file, puts it here."""
    _stopped: Any = None
    """The edge of a tensor whose `stop_gradient` was set: what it gets back when that is unset."""
    _grad_stops: bool | None = None
    """Whether the accumulated gradient says that it stops gradients: one that user code has given does, where no
    backward pass had left one before. None: no gradient was ever here, or what is here came from a backward pass."""
    _keeper: Any = None
    """After `retain_grads`: a weak reference to the edge whose gradient is kept, and the handle of the hook that does it."""
    _zeroed: int = 0
    """The clock at which the gradient was set to zero: what arrives next is its first again."""
    _name: str | None = None
    persistable: bool = False

    def __new__(cls, *args: Any, **options: Any) -> Any:
        return cls._construct(cls, args, options)

    def __init__(self, *args: Any, **options: Any) -> None:
        pass

    # -------------------------------------------------------------------- what it is

    @property
    def shape(self) -> Size:
        """The size along each axis."""
        return Size(values.shape_of(self._a))

    @property
    def size(self) -> TensorSize:
        """The number of elements."""
        return TensorSize(tuple(values.shape_of(self._a)))

    def element_size(self) -> int:
        """The bytes of one element."""
        return values.dtype_of(self._a).itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.itemsize * int(self.size)

    def dim(self) -> int:
        """The number of axes."""
        return self.ndim

    ndimension = dim

    @property
    def place(self) -> Place:
        """Where the elements are: the CPU."""
        return CPU

    @property
    def device(self) -> str:
        """The name of the device: cpu."""
        return "cpu"

    is_cuda = False
    layout = "NCHW"

    @property
    def name(self) -> str:
        """The name of the tensor, given by the user or counted."""
        if self._name is None:
            kind = "generated_tensor" if self.is_leaf else "eager_tmp"
            self._name = f"{kind}_{next(_names[kind])}"
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"name: wanted a string, got {type(name).__name__}")
        self._name = name

    # -------------------------------------------------------------------- the tape

    @property
    def stop_gradient(self) -> bool:
        """Whether no gradient flows to or through this tensor."""
        if self._node is not None:
            return False
        a = self._a
        return not isinstance(a, Value) or Tensor.stop_gradient.fget(a)  # type: ignore[attr-defined]

    @stop_gradient.setter
    def stop_gradient(self, wanted: bool) -> None:
        if wanted is not True and wanted is not False and not isinstance(wanted, np.bool_):
            raise TypeError(f"stop_gradient: wanted True or False, got {wanted!r}")
        if wanted:
            if self._node is not None:
                for observer in OBSERVERS:
                    observer.detached(self)
                self._stopped, self._node = self._node, None
        elif self._node is None:
            if self._stopped is not None:
                self._node = self._stopped
                del self._stopped
            else:
                tape.leaf(self)

    @property
    def requires_grad(self) -> bool:
        """The opposite of `stop_gradient`."""
        return not self.stop_gradient

    @requires_grad.setter
    def requires_grad(self, wanted: bool) -> None:
        if not isinstance(wanted, (bool, np.bool_)):
            raise TypeError(f"requires_grad: wanted True or False, got {wanted!r}")
        self.stop_gradient = not wanted

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Say whether gradients with respect to this tensor are wanted; returns it."""
        self.requires_grad = requires_grad
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether this tensor was not computed from others that want a gradient."""
        edge = self._node if self._node is not None else self._stopped
        return edge is None or type(edge) is Accumulate

    @property
    def grad_fn(self) -> GradNodeBase | None:
        """The operation that a gradient reaches first from here, None where `stop_gradient` is True."""
        return None if self._node is None else GradNodeBase(self._node)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have accumulated here, None before the first."""
        g = self._grad
        if g is None or g._node is not None or g._level or type(g._a) is Scattered:
            return g
        if self._grad_stops and (not self._zeroed or self._awaits_gradient()):
            return g
        shown = make(Tensor, g._a)
        tape.leaf(shown)
        return shown

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        if gradient is None:
            self.clear_gradient(False)
            return
        if not isinstance(gradient, Tensor):
            raise ValueError(f"grad: wanted a Tensor or None, got {type(gradient).__name__}")
        if gradient.shape != self.shape:
            raise ValueError(
                f"grad: a tensor of shape {list(self.shape)} got one of shape {list(gradient.shape)}; a gradient has the "
                "shape of what it is for"
            )
        if self._grad is None and self._grad_stops is None:
            self._grad_stops = True
        self._grad = make(Tensor, gradient._a.copy() if type(gradient._a) is np.ndarray else gradient._a)

    @grad.deleter
    def grad(self) -> None:
        self.clear_gradient(False)

    def _awaits_gradient(self) -> bool:
        """Whether no gradient is here, or only the zeros of `clear_gradient`."""
        g = self._grad
        return g is None or (self._zeroed != 0 and not mutation.changed_after(g._a, self._zeroed))

    def _gradient_given(self, stops: bool | None) -> None:
        """User code gives the gradient that arrives now: what it says of itself stands where it is the first."""
        if self._awaits_gradient():
            self._grad, self._grad_stops, self._zeroed = None, stops or None, 0

    grad_ = grad

    def _grad_ivar(self) -> Tensor | None:
        return self.grad

    def gradient(self) -> Any:
        """The accumulated gradient as a NumPy array, None before the first backward pass; of few rows these, and which."""
        deprecated("gradient()", "2.1", ".grad")
        g = self.grad
        if g is not None and type(g._a) is Scattered:
            return g.numpy(), np.asarray(g.rows())
        return None if g is None else g.numpy()  # type: ignore[no-any-return]

    def clear_gradient(self, set_to_zero: bool = True) -> None:
        """Set the accumulated gradient to zero, or forget it with `set_to_zero=False`."""
        g = self._grad
        if g is None:
            return
        if not set_to_zero or type(g._a) is Scattered:
            self._grad, self._grad_stops, self._zeroed = None, None if self._grad_stops else False, 0
        elif type(g._a) is np.ndarray and g._a.flags.writeable and g._node is None:  # seen by who holds it already
            g._a.fill(0)
            mutation.note(g._a)
        else:
            self._grad = make(Tensor, np.zeros(values.shape_of(g), values.dtype_of(g)))
        if self._grad is not None:
            self._zeroed = tick()
        for observer in OBSERVERS:
            observer.cleared(self)

    def clear_grad(self) -> None:
        """Set the accumulated gradient to zero."""
        self.clear_gradient()

    def zero_grad(self) -> None:
        """Set the accumulated gradient to zero."""
        self.clear_gradient()

    def retain_grads(self) -> None:
        """Keep the gradient of this tensor in `.grad` although it is no leaf: that of the latest pass, as the hooks
        registered before have left it."""
        edge = self._node
        if edge is None or type(edge) is Accumulate or (self._keeper is not None and self._keeper[0]() is edge):
            return
        target = weakref.ref(self)

        def keep(gradient: Any) -> None:
            x = target()
            if x is not None:
                x._grad = gradient.clone() if gradient._node is None else gradient
                x._grad_stops = any(gradient._a is zeros for zeros in current_run().filled) or None

        self._keeper = weakref.ref(edge), hooks.add_tensor_hook(self, keep)

    def register_hook(self, hook: Callable[[Tensor], Any]) -> TensorHookRemoveHelper:
        """Call `hook(gradient)` when this tensor's gradient is known; it may return another gradient.

        Raises RuntimeError where `stop_gradient` is True, TypeError (in the backward pass) for a result that is no tensor.
        """
        if self._node is None:
            raise RuntimeError("register_hook: stop_gradient is True, so this tensor gets no gradient; set it to False")
        if not callable(hook):
            raise TypeError(f"register_hook: wanted a function of the gradient, got {type(hook).__name__}")
        leaf = weakref.ref(self) if type(self._node) is Accumulate else None

        def shown(gradient: Any) -> Any:
            if gradient is not None and gradient._node is None and type(gradient._a) is not Scattered:
                # in a hook, gradients say that they want gradients
                gradient = make(Tensor, gradient._a, None, gradient._level)
                tape.leaf(gradient)
            with grad_mode(True), raised_inside("a gradient hook"):
                answer = hook(gradient)
            target = leaf() if leaf is not None else None
            if target is not None and isinstance(answer, Tensor):
                target._gradient_given(answer.stop_gradient)
            return answer

        return TensorHookRemoveHelper(hooks.add_tensor_hook(self, shown))

    def _register_backward_hook(self, hook: Callable[[], Any]) -> None:
        hooks.add_post_accumulate_hook(self, lambda _: hook())

    @property
    def data(self) -> Tensor:
        """The same memory without history."""
        return self.detach()

    @data.setter
    def data(self, new: Tensor) -> None:
        if not isinstance(new, Tensor):
            raise TypeError(f"data: wanted a Tensor, got {type(new).__name__}")
        if not self.is_leaf and new.shape != self.shape:
            raise ValueError(f"data: a Tensor with history has shape {list(self.shape)}, it cannot take {list(new.shape)}")
        self._a, self._level = new._a, new._level
        if type(self._node) is Accumulate:
            self._node.shape, self._node.dtype = tuple(values.shape_of(new)), values.dtype_of(new)

    def detach(self) -> Tensor:
        """The same memory without history; in-place changes of either are seen in both."""
        for observer in OBSERVERS:
            observer.detached(self)
        return make(Tensor, self._a, None, self._level)

    def detach_(self) -> Tensor:
        """Take this tensor out of the graph that computed it; returns it."""
        for observer in OBSERVERS:
            observer.detached(self)
        self._node = self._stopped = None
        return self

    @property
    def inplace_version(self) -> int:
        """How often the memory of this tensor has been changed in place."""
        return mutation.count(self._a)

    def _inplace_version(self) -> int:
        return self.inplace_version

    def _bump_inplace_version(self) -> None:
        mutation.note(self._a)

    # -------------------------------------------------------------------- transposes

    @property
    def T(self) -> Tensor:
        """The axes in reverse order."""
        return inplace.view(st.transpose, self, axes=tuple(range(self.ndim))[::-1])  # type: ignore[return-value]

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        n = self.ndim
        if n < 2:
            raise ValueError(f"mT: wanted at least 2 axes, got {n}")
        return inplace.view(st.transpose, self, axes=(*range(n - 2), n - 1, n - 2))  # type: ignore[return-value]

    def __hash__(self) -> int:
        return id(self)



REGISTRY.tensor_class = Tensor


_NODE_NAMES = {
    "absolute_stopped": "Abs", "concatenate": "Concat", "copy": "Assign", "power": "ElementwisePow", "power_by": "Pow",
    "vector_norm": "PNorm", "amax": "Max", "amin": "Min", "negative": "Scale", "relu_masked": "Relu",
    "atan2_undefined": "Atan2",
}  # fmt: skip


@contextlib.contextmanager
def raised_inside(where: str) -> Iterator[None]:
    """What the user's code raises during a backward pass arrives as OSError, as from PaddlePaddle's engine."""
    try:
        yield
    except Exception as error:
        raise OSError(f"{where} raised {type(error).__name__}: {error}") from error


class GradNodeBase:
    """A node of the graph, as `Tensor.grad_fn` shows it."""

    def __init__(self, edge: Any) -> None:
        self._node = producer(edge)

    def name(self) -> str:
        """The name of the operation."""
        if type(self._node) is Accumulate:
            return "GradNodeAccumulation"
        name = self._node.prim.name
        if type(self._node.prim) is Custom:
            return f"GradNodePyLayer_{name}"
        return (_NODE_NAMES.get(name) or "".join(part.capitalize() for part in name.split("_"))) + "GradNode"

    @property
    def next_functions(self) -> list[GradNodeBase | None]:
        """The nodes to which this one passes gradients; a leaf's passes them to none."""
        if type(self._node) is Accumulate:
            return [None]
        return [GradNodeBase(edge) for edge in self._node.edges if edge is not None]


class TensorHookRemoveHelper:
    """What registering a hook returns: `remove()` takes the hook away and says whether it was still there."""

    def __init__(self, handle: hooks.Handle) -> None:
        self._handle = handle

    def remove(self) -> bool:
        """Take the hook away; False when it was gone already."""
        present = self._handle.active
        self._handle.remove()
        return present


LACKING = """
    block create_parameter create_tensor get_map_tensor get_selected_rows is_tensor placements process_mesh
    reconstruct_from_ resize_ rows set_ set_string_list set_tensor set_vocab top_p_sampling
"""
"""What PaddlePaddle's tensors have and these have not."""


def install_methods() -> None:
    """Put the registered methods on the class; called once every topic file has been imported."""
    install(Tensor, REGISTRY, LACKING)


def from_array(array: np.ndarray, stop_gradient: bool = True) -> Tensor:
    """A new tensor around a NumPy array (shared), as creation functions make it."""
    tensor = make(Tensor, array)
    if state.levels:
        born(tensor)
    for observer in OBSERVERS:
        observer.created(tensor)
    if not stop_gradient:
        tape.leaf(tensor)
    return tensor


def float_dtype() -> np.dtype:
    """The NumPy dtype of tensors made from Python floats."""
    return _dtype.default_dtype().np
