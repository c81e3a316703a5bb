"""Functions that say what the backward pass does: `stop_gradient`, `HookBackward`, `InsertGradientOf`, `Custom`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...core.unwrap import constant
from ...core.value import Value
from ...transform.checkpoint import saved_hooks
from .._shared.module_hooks import through_boundary
from ._api import api
from ._custom import custom
from ._promote import tensor_argument
from ._tensor import Tensor


@api(method=False)
def stop_gradient(value: Any) -> Any:
    """The same values as constants of every derivative; tensors in tuples and lists too."""
    if isinstance(value, Value):
        return constant(value)
    if isinstance(value, (tuple, list)):
        return type(value)(stop_gradient(x) for x in value)
    return value


@api(method=False)
def stop_gradient_(input: Any) -> None:
    """Make a tensor a constant of every derivative, in place; raises RuntimeError for a view."""
    x = tensor_argument("stop_gradient_", input)
    if x._base is not None:
        raise RuntimeError("stop_gradient_: a view shares its history with its base; use stop_gradient(), which gives another")
    x._node = None


def _replaced(op: str, hook: Callable[..., Any], given: Any, g: Any) -> Any:
    """What a user's function makes of a gradient: another tensor, the only one of a tuple, or None for the same."""
    found = hook(given)
    if isinstance(found, (tuple, list)):
        if len(found) != 1:
            raise TypeError(f"{op}: the function returned {len(found)} gradients, wanted one")
        found = found[0]
    if found is None:
        return g
    if not isinstance(found, Value):
        raise TypeError(f"{op}: the function must return a Tensor or None, got {type(found).__name__}")
    return found


class _Watch:
    """The identity on tensors, whose gradients a function of the user sees together, as a tuple."""

    def __init__(self, hook_fn: Any) -> None:
        self._hook = hook_fn

    def __call__(self, *args: Any) -> Any:
        for x in args:
            if not isinstance(x, Value):
                raise TypeError(f"{type(self).__name__}: wanted tensors, got {type(x).__name__}")
        out = through_boundary(args, self._seen, type(self).__name__)
        return out[0] if len(out) == 1 else out

    def _seen(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        raise NotImplementedError


@api(method=False)
class HookBackward(_Watch):
    """The identity; `hook_fn(grad)` sees the gradients that pass, as a tuple, and may return others.

    Raises TypeError for no function.
    """

    def __init__(self, hook_fn: Callable[..., Any], cell_id: str = "") -> None:
        if not callable(hook_fn):
            raise TypeError(f"HookBackward: wanted a function, got {type(hook_fn).__name__}")
        super().__init__(hook_fn)
        self.cell_id = cell_id

    def _seen(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(gradients) == 1:
            return (_replaced("HookBackward", self._hook, gradients, gradients[0]),)
        found = self._hook(gradients)
        return gradients if found is None else tuple(found)


@api(method=False)
class InsertGradientOf(_Watch):
    """The identity; the gradient that passes becomes `f(gradient)`: TypeError then for what is no function.

    Example:
        >>> from retrograde.dialects.mindspore import Tensor, grad, ops
        >>> halve = ops.InsertGradientOf(lambda g: g * 0.5)
        >>> print(grad(lambda x: halve(x * x))(Tensor([3.0])))
        [3.]
    """

    def __init__(self, f: Callable[..., Any]) -> None:
        super().__init__(f)

    def _seen(self, gradients: tuple[Any, ...]) -> tuple[Any, ...]:
        if not callable(self._hook):
            raise TypeError(f"InsertGradientOf: wanted a function, got {type(self._hook).__name__}")
        return tuple(_replaced("InsertGradientOf", self._hook, g, g) for g in gradients)


class saved_tensors_hooks:
    """Context manager: what operations in it keep for the backward pass is kept as `pack_hook(tensor)` instead, and
    `unpack_hook` of that gives the tensor back."""

    def __init__(self, pack_hook: Callable[[Any], Any], unpack_hook: Callable[[Any], Any]) -> None:
        for name, hook in (("pack_hook", pack_hook), ("unpack_hook", unpack_hook)):
            if not callable(hook):
                raise TypeError(f"saved_tensors_hooks: {name} must be a function, got {type(hook).__name__}")
        self._hooks = pack_hook, unpack_hook

    def __enter__(self) -> None:
        self._inside = saved_hooks(*self._hooks)
        self._inside.__enter__()

    def __exit__(self, *exception: Any) -> None:
        self._inside.__exit__(*exception)


@api(method=False)
class Custom:
    """An operation that a Python function computes on NumPy arrays, with `bprop(*inputs, out, dout)` as its derivative.

    func: a function of NumPy arrays. func_type: "pyfunc"; the kinds that need a compiler are not supported.
    bprop: returns the gradients of the inputs; without it the operation has no derivative.

    Raises TypeError for a func that is no function, NotImplementedError for another func_type.
    """

    def __init__(
        self, func: Any, out_shape: Any = None, out_dtype: Any = None, func_type: str = "pyfunc", bprop: Any = None,
        reg_info: Any = None,
    ) -> None:  # fmt: skip
        if func_type not in ("pyfunc", "julia", "hybrid", "aot", "tvm", "akg"):
            raise ValueError(f"Custom: func_type must be 'pyfunc', got {func_type!r}")
        if func_type != "pyfunc":
            raise NotImplementedError(
                f"Custom: func_type {func_type!r} needs a compiled kernel; write func on NumPy arrays, with func_type='pyfunc'"
            )
        if not callable(func):
            raise TypeError(f"Custom: func must be a function, got {type(func).__name__}")
        self.func, self.bprop = func, bprop

    def __call__(self, *inputs: Any) -> Any:
        def forward() -> Any:
            found = self.func(*[x._concrete("Custom") if isinstance(x, Value) else x for x in inputs])
            return tuple(Tensor(y) for y in found) if isinstance(found, (tuple, list)) else Tensor(found)

        return custom("Custom", forward, inputs, self._bprop)

    def _bprop(self, *args: Any) -> Any:
        if self.bprop is None:
            raise RuntimeError("Custom: the operation has no bprop, so there is no gradient through it")
        return self.bprop(*args)


@api(function=False)
def requires_grad_(self: Any, requires_grad: bool = True) -> None:
    """Say whether gradients are wanted of a Parameter; a tensor's are wanted where a gradient function is given it."""
    if hasattr(type(self), "requires_grad"):
        self.requires_grad = requires_grad
