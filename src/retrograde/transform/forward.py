"""Forward mode as a transform: jvp, linearize."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .._errors import ShapeError
from .._state import Switched, state
from .._tree import flatten, unflatten
from ..core import value as values
from ..core.arrays import bottom, full, zeros_for
from ..core.dual import DualArray
from ..core.level import Level
from ..core.value import Value, dtype_of, error_type, make, shape_of
from ._values import Function, as_tensor, flatten_arguments, output_tensor, split_aux
from .reverse import vjp


class following(Switched):
    """A context in which forward mode follows tangents, or does not."""

    __slots__ = ("_enabled", "_before")

    def __init__(self, enabled: bool) -> None:
        self._enabled = enabled

    def __enter__(self) -> None:
        self.entering()
        self._before, state.forward = state.forward, self._enabled

    def __exit__(self, *exception: object) -> None:
        state.forward = self._before
        self.left()


def dual(primal: Value, tangent: Any, level: int) -> Value:
    """A value that carries a tangent at a forward-mode level."""
    return make(
        type(primal)._result, DualArray(values.content(primal), values.content(as_tensor(tangent)), level), None, level
    )


def passed_on(level: int) -> tuple[Callable[[Value], Any], Callable[[Any, Any], DualArray]]:
    """How a change of a dual value of a level is passed on to what it stands for outside (`Value._outer`)."""

    def below(x: Value) -> Any:
        if x._level != level:
            return values.content(x)
        return x._a.primal if type(x._a) is DualArray else x._a

    def again(array: Any, primal: Any) -> DualArray:
        dual = type(array) is DualArray and array._level == level
        tangent = array.tangent if dual else full(shape_of(primal), 0, dtype_of(primal), bottom(primal))
        return DualArray(primal, tangent, level)

    return below, again


def parts(y: Any, level: int) -> tuple[Any, Any]:
    """Primal and tangent of a leaf outside the level; the tangent is None where it does not depend on the inputs."""
    if not isinstance(y, Value) or y._level != level:
        return y, None
    cls, array = type(y)._result, y._a
    if type(array) is DualArray and array._level == level:
        return values.as_value(cls, array.primal), values.as_value(cls, array.tangent)
    return values.as_value(cls, array), None


def jvp(f: Function, primals: Sequence[Any], tangents: Sequence[Any], *, has_aux: bool = False) -> Any:
    """The value of `f` at `primals` and its derivative along `tangents`: `out, out_tangent = jvp(f, (x,), (t,))`.

    Tangents have the structure, shapes and kinds of the primals. Raises ShapeError where they differ.

    Examples
    --------
    >>> import retrograde as rg
    >>> rg.jvp(lambda x: x * x, (rg.asarray(3.0),), (rg.asarray(1.0),))
    (Tensor(9.), Tensor(6.))
    """
    leaves, in_tree = flatten_arguments("jvp", tuple(primals))
    given, tangent_tree = flatten(tuple(tangents))
    if tangent_tree != in_tree:
        raise ValueError(f"jvp: the tangents have structure {tangent_tree}, the primals {in_tree}")
    for x, t in zip(leaves, given):
        if tuple(shape_of(as_tensor(t))) != tuple(shape_of(x)):
            raise error_type(type(x)._result, ShapeError)(
                f"jvp: a tangent of shape {tuple(shape_of(as_tensor(t)))} for a primal of shape {tuple(shape_of(x))}"
            )
    if not state.forward:
        with following(True):
            return jvp(f, primals, tangents, has_aux=has_aux)
    with Level("jvp").open() as level:
        duals = [dual(x, t, level.id) for x, t in zip(leaves, given)]
        for x, inner in zip(leaves, duals):
            if x._policy.changes_arguments:
                inner._outer = (x, *passed_on(level.id))
        out, aux = split_aux("jvp", f(*unflatten(in_tree, duals)), has_aux)
        outputs, out_tree = flatten(out)
        pairs = [parts(output_tensor("jvp", y), level.id) for y in outputs]
        aux_leaves, aux_tree = flatten(aux)
        aux = unflatten(aux_tree, [parts(x, level.id)[0] for x in aux_leaves])
    primal_out = unflatten(out_tree, [p for p, _ in pairs])
    tangent_out = unflatten(out_tree, [zeros_for(p) if t is None else t for p, t in pairs])
    return (primal_out, tangent_out, aux) if has_aux else (primal_out, tangent_out)


def zero_like(x: Any) -> Any:
    """A zero tangent for an output."""
    return zeros_for(x) if isinstance(x, Value) else x


def linearize(f: Function, *primals: Any) -> tuple[Any, Callable[..., Any]]:
    """The value of `f` and its derivative at `primals` as a linear function of tangents, which may be called often.

    The tangents have the structure and shapes of `primals`, what the function gives those of the value.

    Examples
    --------
    >>> import retrograde as rg
    >>> out, push = rg.linearize(lambda x: x * x, rg.asarray(3.0))
    >>> push(rg.asarray(2.0))
    Tensor(12.)
    """
    # The pullback is recorded once and is linear in its cotangent; its own pullback is the pushforward.
    out, pullback = vjp(f, *primals)
    leaves, out_tree = flatten(out)
    zeros = unflatten(out_tree, [zeros_for(y) for y in leaves])
    _, pushforward = vjp(pullback, zeros)

    def push(*tangents: Any) -> Any:
        return pushforward(tuple(tangents))[0]

    return out, push
