"""Between a dialect's optimiser and the values that it changes.

`update` runs a rule of this folder on parameters, gradients and state of a dialect's tensor class. NumPy's arrays are
changed in place, and the tape is told that their memory has changed. Any other array (of a transform, of Dask), and
every update that is itself to be differentiated, goes through operations (`Statements`), so that it is recorded or made
functional like any other. `Batch` and `batches` keep together the parameters that have made the same number of steps.
Called by the optimisers of the dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from .._state import OBSERVERS, grad_mode
from ..core.level import innermost
from ..core.scattered import Scattered
from ..core.value import Value, detached, dtype_of, make, shape_of
from ..ops.comparison import greater, less
from ..ops.elementwise import absolute, add, divide, multiply, negative, sqrt, subtract
from ..ops.manipulation import view_as_real
from ..ops.selection import clip, drop, keep, maximum
from ..ops.structural import cast, copy
from ..tape import inplace, mutation
from . import kernels

V = TypeVar("V", bound=Value)
_ndarray = np.ndarray


# ------------------------------------------------------------------------------------------ state


def array_of(x: Value) -> Any:
    """The array of a value, shared."""
    return x._a


def full_like(p: V, value: Any, dtype: Any = None) -> V:
    """A constant of the shape, dtype (unless another is given) and memory order of a parameter, without history."""
    a: Any = p._a
    if type(a) is _ndarray:
        return make(type(p)._result, np.full_like(a, value, dtype=dtype))
    made: V = make(type(p)._result, np.full(shape_of(p), value, dtype or dtype_of(p)))
    if innermost():
        made._born = innermost()
    return made


def zeros_like(p: V, dtype: Any = None) -> V:
    """Zeros of the shape, dtype (unless another is given) and memory order of a parameter, without history."""
    return full_like(p, 0, dtype)


def changed(value: Value) -> None:
    """Tell the tape that the memory of a value has been written."""
    mutation.note(value._a)


def advance(step: Value) -> float:
    """Count one step more in a value of one element; returns the count."""
    a = step._a
    count = a.item() + 1
    a[...] = count
    return count


class Batch:
    """Parameters that have made the same number of steps, with their gradients and states.

    `step` is that number, `counters` what else is equal among them.
    """

    __slots__ = ("counters", "grads", "params", "states", "step")

    def __init__(self, step: float, *counters: float) -> None:
        self.step, self.counters = step, counters
        self.params: list[Any] = []
        self.grads: list[Any] = []
        self.states: list[Any] = []

    def column(self, name: Any) -> list[Any]:
        """One kind of state, of all parameters."""
        return [state[name] for state in self.states]


def batches(entries: Iterable[tuple[Any, Any, Any, tuple[float, ...]]]) -> Iterable[Batch]:
    """Batches made of (parameter, gradient, state, key); those of one key together. There is mostly one."""
    made: dict[tuple[float, ...], Batch] = {}
    for p, grad, state, key in entries:
        batch = made.get(key)
        if batch is None:
            batch = made[key] = Batch(*key)
        batch.params.append(p)
        batch.grads.append(grad)
        batch.states.append(state)
    return made.values()


# ------------------------------------------------------------------------------------------ running a rule


def update(
    rule: Callable[..., None],
    params: Sequence[Value],
    *columns: Sequence[Value] | None,
    recorded: bool = False,
    **options: Any,
) -> None:
    """Run a rule of `retrograde.learn` on parameters, their gradients and their state (a column per kind, or None).

    recorded: the update itself is to be differentiated, in the parameters, gradients, state and options that are values.
    """
    if not recorded:
        arrays = [p._a for p in params]
        kept = [None if column is None else [t._a for t in column] for column in columns]
        if all(type(a) is _ndarray for a in arrays) and all(type(a) is _ndarray for a in kept[0] or ()):
            for observer in OBSERVERS:
                observer.updating(rule.__name__, [arrays, *kept], options)
            rule(arrays, *kept, **options)
            for a in arrays:
                mutation.note(a)
            for observer in OBSERVERS:
                observer.updated()
            return
    with grad_mode(recorded):
        every = [None if column is None else [_real(t) for t in column] for column in (params, *columns)]
        rule(*every, **options)


def update_one(rule: Callable[..., None], p: Value, *values: Value | None, **options: Any) -> None:
    """Run a rule that takes one NumPy parameter at a time (those for matrices, which are not differentiated)."""
    arrays = [p._a, *[None if t is None else t._a for t in values]]
    for observer in OBSERVERS:
        observer.updating(rule.__name__, [None if a is None else [a] for a in arrays], options)
    rule(*arrays, **options)
    mutation.note(p._a)
    for observer in OBSERVERS:
        observer.updated()


def update_rows(rule: Callable[..., None], p: Value, gradient: Scattered, *states: Value, **options: Any) -> None:
    """Run a rule on those rows of a parameter and of its states for which a gradient has elements (once each)."""
    rows = tuple(gradient.places)
    arrays = [p._a, *[t._a for t in states]]
    columns = [[a[rows]] for a in arrays]
    for observer in OBSERVERS:
        observer.updating(rule.__name__, [[arrays[0]], [gradient.dense()], *[[a] for a in arrays[1:]]], options)
    rule(columns[0], [gradient.content], *columns[1:], **options)
    for a, (part,) in zip(arrays, columns):
        a[rows] = part
    mutation.note(p._a)
    for observer in OBSERVERS:
        observer.updated()


def add_rows(p: Value, gradient: Scattered, factor: float) -> None:
    """Add a gradient of which few elements are kept, times a number, to a parameter."""
    for observer in OBSERVERS:
        observer.updating("add_rows", [[p._a], [gradient.dense()]], {"factor": factor})
    Scattered(gradient.places, gradient.content * gradient.dtype.type(factor), gradient.shape).add_to(p._a)
    mutation.note(p._a)
    for observer in OBSERVERS:
        observer.updated()


def _real(x: Value) -> Value:
    return inplace.view(view_as_real, x) if dtype_of(x).kind == "c" else x


def _fitting(a: Any, x: Any) -> Any:
    """A coefficient as it goes with `x`: a number, or a value in its dtype."""
    return cast(a, dtype=dtype_of(x)) if isinstance(a, Value) and dtype_of(a) != dtype_of(x) else a


def _write(x: Any, compute: Callable[[], Any]) -> Any:
    return inplace.update("optimiser step", x, compute)


class Statements:
    """The statements of update rules (see `kernels.Native`) as operations on values.

    What a recorded operation keeps for its derivative is copied where a later step overwrites it. A statement whose
    `out` is not its first operand returns a new value.
    """

    @staticmethod
    def add(x: Any, y: Any, out: Any) -> Any:
        return _write(x, lambda: add(x, _fitting(y, x))) if out is x else add(x, _fitting(y, x))

    @staticmethod
    def subtract(x: Any, y: Any, out: Any) -> Any:
        return _write(x, lambda: subtract(x, _fitting(y, x))) if out is x else subtract(x, _fitting(y, x))

    @staticmethod
    def multiply(x: Any, y: Any, out: Any) -> Any:
        return _write(x, lambda: multiply(x, _fitting(y, x))) if out is x else multiply(x, _fitting(y, x))

    @staticmethod
    def divide(x: Any, y: Any, out: Any) -> Any:
        if out is x:
            return _write(x, lambda: divide(x, _fitting(y, x)))
        return divide(x, _fitting(y, x)) if isinstance(x, Value) else divide(_fitting(x, y), y)

    @staticmethod
    def maximum(x: Any, y: Any, out: Any) -> Any:
        return _write(out, lambda: maximum(copy(x), copy(y), ties="half"))

    @staticmethod
    def sqrt(x: Any, out: Any) -> Any:
        # The derivative keeps the root, and the rules go on in place with what they get.
        return copy(sqrt(copy(x)))

    @staticmethod
    def absolute(x: Any, out: Any) -> Any:
        return absolute(x)

    @staticmethod
    def negative(x: Any, out: Any) -> Any:
        return negative(x)

    @staticmethod
    def greater(x: Any, y: float) -> Any:
        return greater(x, y)

    @staticmethod
    def less(x: Any, y: float) -> Any:
        return less(x, y)

    @staticmethod
    def copy(x: Any, out: Any) -> Any:
        return copy(x) if out is None else _write(out, lambda: copy(x))

    @staticmethod
    def constant(x: Any) -> Any:
        return detached(x)

    @staticmethod
    def clip(x: Any, low: float, high: float, out: Any) -> Any:
        return _write(out, lambda: clip(copy(x), low=low, high=high))

    @staticmethod
    def plus(x: Any, a: Any, y: Any, out: Any) -> Any:
        return add(x, multiply(copy(y), _fitting(a, y)))

    @staticmethod
    def axpy_(x: Any, a: Any, y: Any, t: None) -> None:
        _write(x, lambda: add(x, multiply(copy(y), _fitting(a, y))))

    @staticmethod
    def lerp_(x: Any, y: Any, weight: float, far: bool, t: None) -> None:
        _write(x, lambda: add(x, multiply(subtract(y, x), 1 - weight if far else weight)))

    @staticmethod
    def addmul_(x: Any, a: Any, b: Any, t: None) -> None:
        _write(x, lambda: add(x, multiply(copy(a), copy(b))))

    @staticmethod
    def addcmul_(x: Any, a: Any, b: Any, s: Any, t: None) -> None:
        _write(x, lambda: add(x, multiply(multiply(copy(a), _fitting(s, a)), copy(b))))

    @staticmethod
    def adddiv_(x: Any, a: Any, b: Any, t: None) -> None:
        _write(x, lambda: add(x, divide(copy(a), copy(b))))

    @staticmethod
    def addcdiv_(x: Any, a: Any, b: Any, s: Any, t: None) -> None:
        _write(x, lambda: add(x, divide(multiply(copy(a), _fitting(s, a)), copy(b))))

    @staticmethod
    def scale_where_(x: Any, s: float, mask: Any) -> None:
        _write(x, lambda: add(keep(multiply(x, s), mask), drop(x, mask)))

    @staticmethod
    def add_where_(x: Any, y: Any, mask: Any) -> None:
        _write(x, lambda: add(x, keep(y, mask)))

    @staticmethod
    def subtract_where_(x: Any, y: Any, mask: Any) -> None:
        _write(x, lambda: subtract(x, keep(y, mask)))

    @staticmethod
    def zero_where_(x: Any, mask: Any) -> None:
        _write(x, lambda: drop(x, mask))


kernels.register(Value, Statements)
