"""The native `Tensor`: operators, methods and the tape's attributes. Rules of derivatives compute with it.

Its methods are the namespace's functions, defined in the files of their topics; its operators go straight to `bind`.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterator
from opcode import opmap
from typing import TYPE_CHECKING, Any

import numpy as np

from .._errors import GradError
from .._state import OBSERVERS
from ..core import value as values
from ..core.arrays import device_of, on_host
from ..core.dual import DualArray
from ..core.level import innermost, is_tape
from ..core.node import Accumulate
from ..core.policy import TapePolicy
from ..core.specialise import operator as fast_operator
from ..core.unwrap import concrete, constant, held
from ..core.value import Value, make
from ..ops import elementwise as ew
from ..tape import autograd, hooks, inplace
from . import contraction, conversion, elementwise, indexing, manipulation, numpy_protocol, reductions, searching
from .autograd import backward
from .conversion import asarray
from .operators import in_place, operator
from .promotion import as_operand
from .ways_out import call_site, library_call, recorded, refuse_recorded

_ndarray = np.ndarray
_STORE_SUBSCR = opmap["STORE_SUBSCR"]
_PLAIN_DTYPES = frozenset(np.dtype(c) for c in "?ldD")


def _pow(self: Tensor, other: Any) -> Any:
    if type(other) is float or (type(other) is int and self.dtype.kind == "f"):
        return elementwise.pow(self, other)
    return NotImplemented if as_operand(other) is NotImplemented else elementwise.pow(self, other)


def _matmul(self: Tensor, other: Any, reverse: bool = False) -> Any:
    if not isinstance(other, (Value, _ndarray)):
        return NotImplemented
    return contraction.matmul(other, self) if reverse else contraction.matmul(self, other)


class Tensor(Value):
    """An n-dimensional array that remembers how it was computed.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> (x * x).sum().backward()
    >>> x.grad
    Tensor([2., 4.])
    """

    __slots__ = ()
    __array_priority__ = 1000
    _policy = TapePolicy(
        kernel_errors={**Value._policy.kernel_errors, np.linalg.LinAlgError: np.linalg.LinAlgError},
        copies_saved_before_writing=True,
    )

    # -------------------------------------------------------------------- what it is

    @property
    def shape(self) -> tuple[int, ...]:
        """The size along each axis."""
        return values.shape_of(self._a)

    @property
    def dtype(self) -> np.dtype:
        """The NumPy dtype of the elements."""
        return values.dtype_of(self._a)

    @property
    def ndim(self) -> int:
        """The number of axes."""
        return len(values.shape_of(self._a))

    @property
    def size(self) -> int:
        """The number of elements."""
        return math.prod(values.shape_of(self._a))

    @property
    def itemsize(self) -> int:
        """The bytes of one element."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The bytes of all elements."""
        return self.size * self.dtype.itemsize

    @property
    def device(self) -> Any:
        """Where the elements are: "cpu", or what the array's library calls it."""
        return device_of(self)

    @property
    def T(self) -> Tensor:
        """The matrix transpose of a two-dimensional tensor."""
        if self.ndim != 2:
            raise ValueError(f"T: wanted 2 axes, got shape {tuple(self.shape)}; use mT, or permute_dims")
        return manipulation.matrix_transpose(self)

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        return manipulation.matrix_transpose(self)

    @property
    def real(self) -> Tensor:
        """The real part, a view."""
        return elementwise.real(self)

    @property
    def imag(self) -> Tensor:
        """The imaginary part, a view of a complex tensor."""
        return elementwise.imag(self)

    # -------------------------------------------------------------------- the tape

    @property
    def requires_grad(self) -> bool:
        """Whether gradients with respect to this tensor are recorded, on the tape of any level."""
        x: Any = self
        while isinstance(x, Value):
            if x._node is not None:
                return True
            x = x._a
        return False

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make this tensor a leaf whose gradient is wanted (or no longer); returns it.

        Raises TypeError for integers and booleans, RuntimeError for a tensor that was computed.
        """
        if requires_grad:
            if self._node is None:
                if self.dtype.kind in "iub":
                    raise TypeError(
                        f"requires_grad_: only floating and complex tensors have gradients, not {self.dtype}; convert it, or "
                        "write 1. for 1"
                    )
                if self._born and self._born == innermost() and is_tape(self._born) and not self._level:
                    self._level = self._born  # made inside a transform, it is a leaf of the transform's tape
                autograd.leaf(self)
        elif not self.is_leaf:
            raise RuntimeError("requires_grad_: use detach() on a tensor that was computed")
        else:
            inplace.stop(self)
        return self

    @property
    def is_leaf(self) -> bool:
        """Whether this tensor was not computed from others that want a gradient."""
        return autograd.is_leaf(self)

    @property
    def grad(self) -> Tensor | None:
        """The gradient that backward passes have accumulated, None before the first."""
        return self._grad

    @grad.setter
    def grad(self, gradient: Tensor | None) -> None:
        if gradient is not None:
            if not isinstance(gradient, Value):
                raise TypeError(f"grad: wanted a Tensor or None, got {type(gradient).__name__}")
            if tuple(values.shape_of(gradient)) != tuple(self.shape):
                raise ValueError(
                    f"grad: a gradient of shape {tuple(values.shape_of(gradient))} for shape {tuple(self.shape)}"
                )
        self._grad = gradient
        for observer in OBSERVERS:
            observer.cleared(self)

    def backward(
        self, gradient: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Accumulate the gradient of this tensor into `.grad` of the leaves it was computed from.

        gradient: the cotangent of a tensor with several elements. inputs: accumulate into these only.

        Raises GradError where there is no history, FreedGraphError for a second pass without `retain_graph`.
        """
        given = None if gradient is None else [gradient]
        backward(self, given, retain_graph=retain_graph, create_graph=create_graph, inputs=inputs)

    def detach(self) -> Tensor:
        """The same memory without history; in transforms without any, of any level."""
        if type(self._a) is not np.ndarray:
            return constant(self)
        for observer in OBSERVERS:
            observer.detached(self)
        return make(type(self)._result, self._a, None, self._level)

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in `.grad` although it is no leaf."""
        hooks.retain_grad(self)

    def register_hook(self, hook: Callable[[Any], Any]) -> hooks.Handle:
        """Call `hook(gradient)` in the backward pass; it may return another gradient."""
        return hooks.add_tensor_hook(self, hook)

    # -------------------------------------------------------------------- operators

    # The binary ones that are functions of the namespace stand in the table below the class; here is what checkers see.

    __hash__ = object.__hash__
    if TYPE_CHECKING:

        def _with(self, other: Any, /) -> Tensor: ...

        def __add__(self, other: Any) -> Tensor: ...  # pyright takes what the base declares for a mere assignment
        def __mul__(self, other: Any) -> Tensor: ...

        __sub__ = __truediv__ = __floordiv__ = __mod__ = __pow__ = __matmul__ = _with
        __radd__ = __rsub__ = __rmul__ = __rtruediv__ = __rfloordiv__ = __rmod__ = __rpow__ = __rmatmul__ = _with
        __iadd__ = __isub__ = __imul__ = __itruediv__ = __ifloordiv__ = __imod__ = __ipow__ = __imatmul__ = _with
        __and__ = __or__ = __xor__ = __lshift__ = __rshift__ = __rand__ = __ror__ = __rxor__ = __rlshift__ = __rrshift__ = _with
        __iand__ = __ior__ = __ixor__ = __ilshift__ = __irshift__ = __lt__ = __le__ = __gt__ = __ge__ = _with

        def __eq__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
        def __ne__(self, other: object, /) -> Tensor: ...  # type: ignore[override]
    else:
        __pow__, __ipow__ = _pow, in_place("__ipow__", _pow)
        __matmul__, __imatmul__ = _matmul, in_place("__imatmul__", _matmul)

        def __rpow__(self, other):
            return NotImplemented if as_operand(other) is NotImplemented else elementwise.pow(other, self)

        def __rmatmul__(self, other):
            return _matmul(self, other, reverse=True)

    __neg__ = elementwise.negative
    __pos__ = elementwise.positive
    __abs__ = elementwise.abs
    __invert__ = elementwise.bitwise_invert

    # -------------------------------------------------------------------- elements

    def __getitem__(self, key: Any) -> Tensor:
        return indexing.get(self, key)

    def __setitem__(self, key: Any, new: Any) -> None:
        indexing.set(self, key, new)

    def __len__(self) -> int:
        shape = values.shape_of(self._a)
        if not shape:
            raise TypeError("len() of a 0-d tensor")
        return shape[0]

    def __iter__(self) -> Iterator[Tensor]:
        if not values.shape_of(self._a):
            raise TypeError("a 0-d tensor has no rows to iterate over; use item()")
        rows = manipulation.unstack(self)
        if rows and not rows[0].shape and recorded(self):
            place = call_site(2)
            for x in rows:
                x.__dict__["_taken_out"] = place
        return iter(rows)

    def __contains__(self, x: Any) -> bool:
        return bool((self == x).any())

    # -------------------------------------------------------------------- methods: the namespace's functions

    all, any = reductions.all, reductions.any
    sum, prod, mean = reductions.sum, reductions.prod, reductions.mean
    std, var, max, min = reductions.std, reductions.var, reductions.max, reductions.min
    argmax, argmin, argsort = searching.argmax, searching.argmin, searching.argsort
    nonzero, take, searchsorted = searching.nonzero, searching.take, searching.searchsorted
    squeeze, repeat, swapaxes = manipulation.squeeze, manipulation.repeat, manipulation.swapaxes
    flatten = manipulation.flatten
    astype, clip, conj, round = conversion.astype, elementwise.clip, elementwise.conj, elementwise.round
    dot = contraction.dot

    def reshape(self, *shape: Any, copy: bool | None = None) -> Tensor:
        """The elements in another shape, given as a tuple or as several ints; see `reshape` of the namespace."""
        return manipulation.reshape(self, shape[0] if len(shape) == 1 else shape, copy=copy)

    def transpose(self, *axes: Any) -> Tensor:
        """With the axes in another order, given as a tuple or as several ints; in reverse order without any; a view."""
        order = axes[0] if len(axes) == 1 and (axes[0] is None or isinstance(axes[0], (tuple, list))) else axes
        return manipulation.permute_dims(self, order or None)

    def ravel(self) -> Tensor:
        """The elements in C order along one axis; a view where the memory allows."""
        return manipulation.reshape(self, (-1,) if self.size else (0,))

    def copy(self) -> Tensor:
        """The elements in memory of their own; recorded."""
        found = elementwise.positive(self)
        found._born = innermost()  # a copy of a constant that is made inside a transform may be written there
        return found

    def sort(self, *, axis: int = -1, descending: bool = False, stable: bool = True) -> None:
        """Put the elements in order along an axis, in place; `rg.sort` makes a sorted copy."""
        inplace.update("sort", self, lambda: searching.sort(self, axis=axis, descending=descending, stable=stable))

    def cumsum(self, axis: int | None = None) -> Tensor:
        """The sums of the first 1, 2, ... elements along an axis, of all in C order if it is left out."""
        return reductions.cumulative_sum(self.ravel() if axis is None else self, axis=0 if axis is None else axis)

    def cumprod(self, axis: int | None = None) -> Tensor:
        """The products of the first 1, 2, ... elements along an axis, of all in C order if it is left out."""
        return reductions.cumulative_prod(self.ravel() if axis is None else self, axis=0 if axis is None else axis)

    def fill(self, number: Any) -> None:
        """Write a number to every element."""
        self[...] = number

    # -------------------------------------------------------------------- conversion

    @property
    def data(self) -> Any:
        """The array of NumPy, Dask, PyTorch, ... that holds the elements, shared.

        Raises GradError for a tensor with history or a tangent, UnsupportedError inside vmap.

        Examples
        --------
        >>> import dask.array as da
        >>> import retrograde as rg
        >>> (rg.asarray(da.ones(4, chunks=2)) + 1).data.chunks
        ((2, 2),)
        """
        refuse_recorded("data", self)
        return held("data", self)

    def numpy(self) -> np.ndarray:
        """The elements as a NumPy array, shared where the backend can share.

        Raises GradError for a tensor with history or a tangent, UnsupportedError inside vmap.
        """
        refuse_recorded("numpy", self)
        return concrete("numpy", self)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        array = self._a
        if self._node is not None or type(array) is not _ndarray:
            op = library_call()
            refuse_recorded(op, self)
            if not on_host(self):
                raise TypeError(
                    f"{op}: the elements are on {device_of(self)}, and NumPy would get a copy of them without a word; "
                    "numpy() makes one"
                )
            array = concrete(op, self)
        return np.array(array, dtype=dtype, copy=copy)

    def item(self, *index: Any) -> Any:
        """The only element (or that at an index) as a Python number."""
        return concrete("item", self).item(*index)

    def tolist(self) -> Any:
        """The elements as nested lists of Python numbers."""
        return concrete("tolist", self).tolist()

    def __bool__(self) -> bool:
        return bool(self._only("bool"))

    def __float__(self) -> float:
        if self._node is not None or type(self._a) is not _ndarray:
            self._refuse_store()
        return float(self._only("float"))

    def __int__(self) -> int:
        return int(self._only("int"))

    def __complex__(self) -> complex:
        if self._node is not None or type(self._a) is not _ndarray:
            self._refuse_store()
        return complex(self._only("complex"))

    def _refuse_store(self) -> None:
        """Raise where a number is asked for by a function that puts it into an array, not by the program.

        NumPy asks for the number with `float()`, the program's own way out. Two cases can be told apart: the program
        assigns to an element (`a[0] = x`), and a function takes the elements out of a tensor itself (`np.fromiter(x)`,
        `math.fsum(x)`). `np.float64(x)` and `a.fill(x)` cannot.
        """
        if recorded(self):
            _, code, at = place = call_site(3)
            if code.co_code[at] == _STORE_SUBSCR:
                refuse_recorded("an assignment to an element of a plain array", self)
            if self.__dict__.get("_taken_out") == place:
                refuse_recorded("a function that makes numbers of a tensor's elements (np.fromiter and the like)", self)

    def __index__(self) -> int:
        if self.dtype.kind not in "iu":
            raise TypeError(f"a tensor of dtype {self.dtype} is no index; only integers are")
        return int(self._only("index"))

    def _only(self, op: str) -> Any:
        array = concrete(op, self)
        if array.size != 1:
            remedy = "any() or all() of it, or where() for each" if op == "bool" else "tolist(), or sum() or mean() of it"
            raise TypeError(f"{op}(): wanted a tensor with one element, got shape {array.shape}; take {remedy}")
        return array.item()

    def __format__(self, spec: str) -> str:
        return format(self.item(), spec) if spec and not self.shape else format(str(self), spec)

    def to_device(self, device: Any, /, *, stream: Any = None) -> Tensor:
        """This tensor, where it is already; raises ValueError for another device."""
        if device != self.device and str(device) != str(self.device):
            raise ValueError(f"to_device: a tensor on {self.device!r} cannot be moved to {device!r}")
        return self

    def __dlpack__(
        self, *, stream: Any = None, max_version: Any = None, dl_device: Any = None, copy: bool | None = None
    ) -> Any:
        refuse_recorded("__dlpack__", self, BufferError)
        array = held("__dlpack__", self)
        if not hasattr(array, "__dlpack__"):
            raise BufferError(f"__dlpack__: {type(array).__qualname__} of {type(array).__module__} has no memory to share")
        # What is not given is left to the library, which may know fewer of these.
        options = {"stream": stream, "max_version": max_version, "dl_device": dl_device, "copy": copy}
        return array.__dlpack__(**{name: x for name, x in options.items() if x is not None})

    def __dlpack_device__(self) -> tuple[Any, int]:
        return held("__dlpack_device__", self).__dlpack_device__()

    def __array_namespace__(self, /, *, api_version: str | None = None) -> Any:
        if api_version is not None and api_version not in ("2021.12", "2022.12", "2023.12", "2024.12"):
            raise ValueError(f"this namespace follows version 2024.12 of the array API standard, not {api_version!r}")
        # The package's front imports this floor, so it is looked up where it will have been loaded.
        return sys.modules[__name__.partition(".")[0]]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **kwargs: Any) -> Any:
        return numpy_protocol.call_ufunc(ufunc, method, inputs, kwargs)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return numpy_protocol.call_function(func, args, kwargs)

    # A tensor over a Dask array is a Dask collection: `dask.compute(x)` gives a tensor over a NumPy array. Dask asks for
    # these on any object, and takes None for "no collection".

    def __dask_graph__(self) -> Any:
        graph = getattr(self._a, "__dask_graph__", None)
        return None if graph is None else graph()

    def __dask_tokenize__(self) -> Any:
        return type(self).__qualname__, self.requires_grad, getattr(self._a, "__dask_tokenize__", lambda: self._a)()

    __dask_keys__ = property(lambda self: self._a.__dask_keys__)
    __dask_layers__ = property(lambda self: self._a.__dask_layers__)
    __dask_optimize__ = property(lambda self: self._a.__dask_optimize__)
    __dask_scheduler__ = property(lambda self: self._a.__dask_scheduler__)

    def __dask_postcompute__(self) -> Any:
        finish, rest = self._a.__dask_postcompute__()
        return _from_dask, (*self._kind_of_leaf("compute"), finish, rest)

    def __dask_postpersist__(self) -> Any:
        finish, rest = self._a.__dask_postpersist__()
        return _from_dask, (*self._kind_of_leaf("persist"), finish, rest)

    def _kind_of_leaf(self, what: str) -> tuple[type, bool]:
        """The class, and whether a gradient is wanted; raises GradError for a tensor with history."""
        if not self.is_leaf:
            raise GradError(
                f"dask.{what}: this tensor is recorded for a gradient, which what Dask gives back cannot carry; give it "
                "detach()"
            )
        return type(self), self.requires_grad

    def __copy__(self) -> Tensor:
        return self.copy()

    def __deepcopy__(self, memo: dict[int, Any]) -> Tensor:
        memo[id(self)] = found = self.copy()
        return found

    def __reduce__(self) -> Any:
        leaf = type(self._node) is Accumulate and not self._level
        if not leaf:
            refuse_recorded("pickle", self)
        return _rebuild, (held("pickle", self), leaf)

    def __repr__(self) -> str:
        array = self._a
        while isinstance(array, (Value, DualArray)):
            array = array._a if isinstance(array, Value) else array.primal
        if isinstance(array, _ndarray):
            text = np.array2string(array, separator=", ", prefix="Tensor(")
            if array.dtype not in _PLAIN_DTYPES:
                text += f", dtype={array.dtype}"
        else:
            text = repr(array)
        return f"Tensor({text}{', requires_grad=True' if self.requires_grad else ''})"


def _rebuild(array: np.ndarray, requires_grad: bool) -> Tensor:
    return asarray(array, requires_grad=requires_grad)


def _from_dask(found: Any, cls: Any, requires_grad: bool, finish: Any, rest: Any, **options: Any) -> Tensor:
    made = values.as_value(cls, finish(found, *rest, **options))
    return made.requires_grad_() if requires_grad else made


values.set_core_class(Tensor)

# Operators and the functions that they are. The four everyday ones have a way of their own for two tensors of one real
# floating dtype (core/specialise.py).
for _name, _function in (
    ("add", "add"), ("sub", "subtract"), ("mul", "multiply"), ("truediv", "divide"), ("floordiv", "floor_divide"),
    ("mod", "remainder"), ("and", "bitwise_and"), ("or", "bitwise_or"), ("xor", "bitwise_xor"),
    ("lshift", "bitwise_left_shift"), ("rshift", "bitwise_right_shift"),
):  # fmt: skip
    _plain = operator(f"__{_name}__", _function)
    setattr(Tensor, f"__r{_name}__", operator(f"__r{_name}__", _function, reverse=True))
    setattr(Tensor, f"__i{_name}__", in_place(f"__i{_name}__", _plain))
    setattr(Tensor, f"__{_name}__", _plain)
for _name, _function in (
    ("eq", "equal"), ("ne", "not_equal"), ("lt", "less"), ("le", "less_equal"), ("gt", "greater"), ("ge", "greater_equal"),
):  # fmt: skip
    setattr(Tensor, f"__{_name}__", operator(f"__{_name}__", _function))
for _name, _op in (("add", ew.add), ("sub", ew.subtract), ("mul", ew.multiply), ("truediv", ew.divide)):
    setattr(Tensor, f"__{_name}__", fast_operator(_op, Tensor, getattr(Tensor, f"__{_name}__")))
