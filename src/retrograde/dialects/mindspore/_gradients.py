"""`grad`, `value_and_grad`, `get_grad` and `ops.GradOperation`: functions that return gradients."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ...core.value import Value
from ._api import api
from ._parameter import Parameter
from ._recording import Recording, check_recorded, tensors_in
from ._tensor import Tensor

Function = Callable[..., Any]


def sens_for(op: str, outputs: Sequence[Any], sens: Any) -> list[Any]:
    """The sensitivities of the outputs, checked against them; that of an output without axes may be any one number."""
    if isinstance(sens, bool):
        raise TypeError(f"{op}: sens must be a Tensor (a tuple of them for several outputs), got a bool")
    if isinstance(sens, (int, float)) and len(outputs) == 1 and not outputs[0].ndim:
        sens = Tensor(sens)
    if not isinstance(sens, (Value, tuple, list, dict)):
        raise RuntimeError(f"{op}: sens must be a Tensor (a tuple of them for several outputs), got {type(sens).__name__}")
    given = tensors_in(sens)
    if len(given) != len(outputs):
        raise RuntimeError(f"{op}: the function has {len(outputs)} outputs, but sens holds {len(given)} tensors")
    given = [g if y.ndim or g.size != 1 else g.reshape(()).astype(y.dtype) for y, g in zip(outputs, given)]
    for y, g in zip(outputs, given):
        if g.shape != y.shape:
            kind = ValueError if g.ndim else RuntimeError
            raise kind(f"{op}: sens has shape {g.shape}, the output {y.shape}; they must be the same")
        if g.dtype is not y.dtype:
            raise TypeError(f"{op}: sens has dtype {g.dtype}, the output {y.dtype}; they must be the same")
    return given


def _take_sens(op: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """The arguments without the sensitivity, which is the last one or is called `sens`."""
    if "sens" in kwargs:
        kwargs = dict(kwargs)
        return args, kwargs, kwargs.pop("sens")
    if not args:
        raise IndexError(f"{op}: with sens_param=True the last argument is the gradient of the output; none was given")
    return args[:-1], kwargs, args[-1]


def weight_list(op: str, weights: Any) -> tuple[list[Any], bool]:
    """Weights as a list, and whether a single one was given; raises TypeError for anything else, RuntimeError for a list
    of anything else."""
    if isinstance(weights, Tensor):
        return [weights], True
    if isinstance(weights, (list, tuple)):
        for w in weights:
            if not isinstance(w, Tensor):
                raise RuntimeError(f"{op}: weights holds a {type(w).__name__}; it takes Parameters")
        return list(weights), False
    raise TypeError(
        f"{op}: weights must be a Parameter, or a list, tuple or ParameterTuple of them, got {type(weights).__name__}"
    )


def differentiated(op: str, out: Any, has_aux: bool) -> list[Any]:
    """The tensors whose sum is differentiated: all outputs, or those of the first when the others are auxiliary."""
    if not has_aux:
        if isinstance(out, (tuple, list)) and not out:
            raise RuntimeError(f"{op}: the function returned an empty {type(out).__name__}; there is nothing to differentiate")
        return [out] if isinstance(out, Value) else tensors_in(out)
    if not isinstance(out, tuple) or len(out) < 2:
        raise ValueError(
            f"{op}: with has_aux=True the function must return a tuple of the output and at least one auxiliary "
            f"result, got {f'a tuple of {len(out)}' if isinstance(out, tuple) else type(out).__name__}"
        )
    return tensors_in(out[0])


# ------------------------------------------------------------------------------------------ grad, value_and_grad


def check_function(op: str, fn: Any) -> None:
    """Raise TypeError for what cannot be called."""
    if not callable(fn):
        raise TypeError(f"{op}: fn must be a function or Cell, got {type(fn).__name__}")


def check_positions(op: str, grad_position: Any, weights: Any) -> tuple[int, ...]:
    """The positions to differentiate by; raises TypeError or ValueError for what names none."""
    if grad_position is None:
        if weights is None:
            raise ValueError(f"{op}: grad_position and weights cannot both be None: there is nothing to differentiate by")
        return ()
    if isinstance(grad_position, int):
        found: tuple[Any, ...] = (grad_position,)
    elif isinstance(grad_position, tuple):
        found = grad_position
    else:
        raise TypeError(f"{op}: grad_position must be an int or a tuple of ints, got {type(grad_position).__name__}")
    for i in found:
        if not isinstance(i, int):
            raise TypeError(f"{op}: grad_position must be an int or a tuple of ints; it holds a {type(i).__name__}")
        if i < 0:
            raise ValueError(f"{op}: grad_position must not be negative, got {i}")
    if len(set(found)) != len(found):
        raise ValueError(f"{op}: grad_position {found} names an argument twice")
    return tuple(int(i) for i in found)


def check_flag(op: str, name: str, flag: Any) -> bool:
    """A flag as it is; raises TypeError for what is no bool."""
    if not isinstance(flag, bool):
        raise TypeError(f"{op}: {name} must be True or False, got {flag!r}")
    return flag


class _Grad:
    """What `grad` and `value_and_grad` were asked for."""

    __slots__ = ("op", "fn", "positions", "asked", "weights", "has_aux", "return_ids", "sens_param", "value")

    def __init__(
        self, op: str, fn: Any, grad_position: Any, weights: Any, has_aux: bool, return_ids: bool, sens_param: bool,
    ) -> None:  # fmt: skip
        self.op, self.fn = op, fn
        self.positions = check_positions(op, grad_position, weights)
        self.asked = grad_position
        self.weights = weights
        self.has_aux = check_flag(op, "has_aux", has_aux)
        self.return_ids = check_flag(op, "return_ids", return_ids)
        self.sens_param = check_flag(op, "sens_param", sens_param)
        self.value = op == "value_and_grad"

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        check_function(self.op, self.fn)
        check_recorded(self.op)
        weights, single = ([], False) if self.weights is None else weight_list(self.op, self.weights)
        sens = None
        if self.sens_param:
            args, kwargs, sens = _take_sens(self.op, args, kwargs)
        positions = self.positions
        count = len(args) + len(kwargs)
        fitting = tuple(i for i in positions if i < count)
        call = Recording(self.fn, args, kwargs, fitting, weights)
        if self.asked is not None and count and (not positions or fitting != positions):
            raise RuntimeError(
                f"{self.op}: grad_position {self.asked} does not fit a call with {count} arguments; they are counted from 0"
            )
        out = call.out
        outputs = differentiated(self.op, out, self.has_aux)
        found = call.pull(outputs, sens_for(self.op, outputs, sens) if self.sens_param else None)
        gradients = self._arranged(call, found, weights, single)
        if self.value or self.has_aux:
            out = call.result()
            call.finish()
            return (out, gradients) if self.value else (gradients, out[1:])
        call.finish()
        return gradients

    def _arranged(self, call: Recording, found: list[Any], given: list[Any], single: bool) -> Any:
        n = len(call.inputs)
        inputs: Any = found[:n]
        if self.return_ids:
            inputs = list(zip(call.positions, inputs))
        inputs = inputs[0] if n == 1 else tuple(inputs)
        if self.weights is None:
            return inputs
        weights: Any = found[n:]
        if self.return_ids:
            weights = [(getattr(w, "name", None), g) for w, g in zip(given, weights)]
        weights = weights[0] if single else tuple(weights)
        return weights if self.asked is None else (inputs, weights)


def _wrapped(gradient: _Grad) -> Function:
    def after_grad(*args: Any, **kwargs: Any) -> Any:
        return gradient(*args, **kwargs)

    return after_grad


@api(method=False)
def grad(
    fn: Function, grad_position: Any = 0, weights: Any = None, has_aux: bool = False, return_ids: bool = False,
    sens_param: bool = False,
) -> Function:  # fmt: skip
    """A function that returns the gradients of `fn` by its arguments and weights; several outputs are summed.

    grad_position: the argument, or a tuple of arguments, to differentiate by; None for weights only.
    weights: a Parameter or a list of them: the result is then a pair of the arguments' and the weights' gradients.
    has_aux: only the first output is differentiated; the others are returned beside the gradients.
    return_ids: gradients come in pairs with the argument's position or the parameter's name, for `get_grad`.
    sens_param: the last argument (or `sens=`) is the gradient of the output, instead of ones.

    Raises:
        TypeError, ValueError: wrong positions or flags here, a wrong `fn` or weights when the result is called.
        RuntimeError: a position that the call does not have.

    Example:
        >>> from retrograde.dialects.mindspore import Tensor, grad
        >>> print(grad(lambda x: x * x)(Tensor([1.0, 3.0])))
        [2. 6.]
    """
    return _wrapped(_Grad("grad", fn, grad_position, weights, has_aux, return_ids, sens_param))


@api(method=False)
def value_and_grad(
    fn: Function, grad_position: Any = 0, weights: Any = None, has_aux: bool = False, return_ids: bool = False,
    sens_param: bool = False,
) -> Function:  # fmt: skip
    """A function that returns what `fn` returns, and its gradients; the arguments are those of `grad`.

    Example:
        >>> from retrograde.dialects.mindspore import Tensor, value_and_grad
        >>> value, gradient = value_and_grad(lambda x: x * x)(Tensor(3.0))
        >>> print(value, gradient)
        9.0 6.0
    """
    return _wrapped(_Grad("value_and_grad", fn, grad_position, weights, has_aux, return_ids, sens_param))


@api(method=False)
def get_grad(gradients: Any, identifier: Any) -> Tensor:
    """The gradient of one argument (by position) or Parameter, out of those that came with `return_ids=True`.

    Raises TypeError for another identifier, RuntimeError where there is no such gradient.
    """
    if isinstance(identifier, bool) or not isinstance(identifier, (int, Parameter)):
        raise TypeError(f"get_grad: the identifier is a position or a Parameter, got {type(identifier).__name__}")
    found = _find(gradients, identifier.name if isinstance(identifier, Parameter) else identifier)
    if found is None:
        raise RuntimeError(
            f"get_grad: there is no gradient for {identifier!r}; the gradients must come from grad or value_and_grad "
            "with return_ids=True"
        )
    return found


def _find(tree: Any, key: Any) -> Tensor | None:
    if not isinstance(tree, tuple):
        return None
    if len(tree) == 2 and isinstance(tree[0], (int, str)):
        return tree[1] if type(tree[0]) is type(key) and tree[0] == key else None
    return next((g for part in tree if (g := _find(part, key)) is not None), None)


# ------------------------------------------------------------------------------------------ GradOperation


@api(method=False)
class GradOperation:
    """Makes gradient functions: `GradOperation(get_all, get_by_list, sens_param)(fn, weights)`.

    get_all: gradients of all tensor arguments, as a tuple; otherwise of the first alone.
    get_by_list: gradients of `weights`, a Parameter or a list of them; without weights, of the trainable parameters
        that the function uses. With `get_all` as well, the result is a pair.
    sens_param: the last argument, or `sens=`, is the gradient of the output, instead of ones.

    Raises TypeError for a flag that is no bool.

    Example:
        >>> from retrograde.dialects.mindspore import Tensor, ops
        >>> print(ops.GradOperation(sens_param=True)(lambda x: x * x)(Tensor([1.0, 3.0]), Tensor([1.0, 10.0])))
        [ 2. 60.]
    """

    def __init__(self, get_all: bool = False, get_by_list: bool = False, sens_param: bool = False) -> None:
        self.get_all = check_flag("GradOperation", "get_all", get_all)
        self.get_by_list = check_flag("GradOperation", "get_by_list", get_by_list)
        self.sens_param = check_flag("GradOperation", "sens_param", sens_param)

    def __call__(self, fn: Function, weights: Any = None) -> Function:
        get_all, get_by_list, sens_param = self.get_all, self.get_by_list, self.sens_param

        def after_grad(*args: Any, **kwargs: Any) -> Any:
            check_function("GradOperation", fn)
            check_recorded("GradOperation")
            listed: list[Any] | None = []
            single = False
            if get_by_list:
                listed, single = (None, False) if weights is None else weight_list("GradOperation", weights)
            sens = None
            if sens_param:
                args, kwargs, sens = _take_sens("GradOperation", args, kwargs)
            count = len(args) + len(kwargs)
            positions: Sequence[int] | None = None if get_all else () if get_by_list or not count else (0,)
            call = Recording(fn, args, kwargs, positions, listed)
            outputs = differentiated("GradOperation", call.out, False)
            found = call.pull(outputs, sens_for("GradOperation", outputs, sens) if sens_param else None)
            call.finish()
            n = len(call.inputs)
            inputs, by_list = tuple(found[:n]), tuple(found[n:])
            if get_by_list:
                gradients = by_list[0] if single else by_list
                return (inputs, gradients) if get_all else gradients
            return inputs if get_all or n != 1 else inputs[0]

        return after_grad


GradOperation.__module__ = "mindspore.ops.composite.base"  # what programs print
