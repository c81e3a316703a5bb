"""The native `Tensor`: operators and the tape's attributes. Rules of derivatives compute with it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..backend import backend_of
from ..core import value as values
from ..core.level import innermost
from ..core.value import Value, make
from ..ops import elementwise as ew
from ..ops import structural as st
from ..tape import autograd, hooks, inplace
from . import promotion


def _binary(op: Callable[..., Any], *, reverse: bool = False, true_division: bool = False) -> Callable[..., Any]:
    def operator(self: Tensor, other: Any) -> Any:
        other = promotion.as_operand(other)
        if other is NotImplemented:
            return NotImplemented
        x, y = (other, self) if reverse else (self, other)
        x, y = promotion.promote(x, y)
        if true_division:
            x, y = promotion.floating(x), promotion.floating(y)
        return op(x, y)

    return operator


def _in_place(op: Callable[..., Any]) -> Callable[..., Any]:
    def operator(self: Tensor, other: Any) -> Any:
        other = promotion.as_operand(other)
        if other is NotImplemented:
            return NotImplemented
        return inplace.update(op.__name__ + "_", self, lambda: op(*promotion.promote(self, other)))

    return operator


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
        return int(np.prod(values.shape_of(self._a), dtype=np.int64))

    @property
    def T(self) -> Tensor:
        """The matrix transpose of a two-dimensional tensor."""
        if self.ndim != 2:
            raise ValueError(f"T: wanted 2 axes, got {self.ndim}; use mT, or permute_dims")
        return inplace.view(st.transpose, self, axes=(1, 0))

    @property
    def mT(self) -> Tensor:
        """The last two axes exchanged."""
        if self.ndim < 2:
            raise ValueError(f"mT: wanted at least 2 axes, got {self.ndim}")
        n = self.ndim
        return inplace.view(st.transpose, self, axes=(*range(n - 2), n - 1, n - 2))

    # -------------------------------------------------------------------- the tape

    @property
    def requires_grad(self) -> bool:
        """Whether gradients with respect to this tensor are recorded."""
        return self._node is not None

    def requires_grad_(self, requires_grad: bool = True) -> Tensor:
        """Make this tensor a leaf whose gradient is wanted (or no longer); returns it."""
        if requires_grad:
            if self._node is None:
                if self.dtype.kind in "iub":
                    raise TypeError(f"requires_grad_: only floating and complex tensors have gradients, not {self.dtype}")
                autograd.leaf(self)
        elif not self.is_leaf:
            raise values.error_type(type(self), RuntimeError)("requires_grad_: use detach() on a tensor that was computed")
        else:
            self._node = None
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
        self._grad = gradient

    def backward(
        self, gradient: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False, inputs: Any = None
    ) -> None:
        """Accumulate the gradient of this tensor into `.grad` of the leaves it was computed from."""
        if gradient is not None and not isinstance(gradient, Value):
            gradient = asarray(gradient)
        if inputs is not None and isinstance(inputs, Value):
            inputs = [inputs]
        autograd.backward([self], [gradient], retain_graph=retain_graph, create_graph=create_graph, inputs=inputs)

    def detach(self) -> Tensor:
        """The same memory without history."""
        return make(type(self)._result, self._a, None, self._level)

    def retain_grad(self) -> None:
        """Keep the gradient of this tensor in `.grad` although it is no leaf."""
        hooks.retain_grad(self)

    def register_hook(self, hook: Callable[[Any], Any]) -> hooks.Handle:
        """Call `hook(gradient)` in the backward pass; it may return another gradient."""
        return hooks.add_tensor_hook(self, hook)

    # -------------------------------------------------------------------- operators

    __add__ = _binary(ew.add)
    __radd__ = _binary(ew.add, reverse=True)
    __sub__ = _binary(ew.subtract)
    __rsub__ = _binary(ew.subtract, reverse=True)
    __mul__ = _binary(ew.multiply)
    __rmul__ = _binary(ew.multiply, reverse=True)
    __truediv__ = _binary(ew.divide, true_division=True)
    __rtruediv__ = _binary(ew.divide, reverse=True, true_division=True)
    __iadd__ = _in_place(ew.add)
    __isub__ = _in_place(ew.subtract)
    __imul__ = _in_place(ew.multiply)

    def __neg__(self) -> Tensor:
        return ew.negative(self)

    # -------------------------------------------------------------------- conversion

    def numpy(self) -> np.ndarray:
        """The elements as a NumPy array, shared where the backend can share; refused for a tensor with history."""
        if self._node is not None:
            raise values.error_type(type(self), RuntimeError)("numpy: this tensor requires grad; use detach().numpy()")
        return backend_of(self._a).to_numpy(self._a)

    def item(self) -> Any:
        """The only element as a Python number."""
        return backend_of(self._a).to_numpy(self._a).item()

    def __repr__(self) -> str:
        array = self._a
        while isinstance(array, Value):
            array = array._a
        text = np.array2string(array, separator=", ", prefix="Tensor(") if isinstance(array, np.ndarray) else repr(array)
        return f"Tensor({text}{', requires_grad=True' if self._node is not None else ''})"

    def __bool__(self) -> bool:
        return bool(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of a 0-d tensor")
        return self.shape[0]

    __hash__ = object.__hash__


values.set_core_class(Tensor)


def asarray(obj: Any, /, *, dtype: Any = None, copy: bool | None = None, requires_grad: bool = False) -> Tensor:
    """A Tensor around an array (shared unless `copy` or a dtype change asks otherwise) or nested sequence.

    Examples
    --------
    >>> asarray([1, 2]).dtype
    dtype('int64')
    """
    if isinstance(obj, Value):
        obj = obj._a
    array = np.array(obj, dtype=dtype, copy=copy)
    tensor = make(Tensor, array)
    levels = innermost()
    if levels:
        tensor._born = levels
    return tensor.requires_grad_() if requires_grad else tensor
