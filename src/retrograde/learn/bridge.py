"""Between a dialect's optimiser and the values that it changes.

`update` runs a rule of this folder on parameters, gradients and state of a dialect's tensor class. NumPy's arrays are
changed in place, and the tape is told that their memory has changed. Any other array (of a transform, of Dask), and
every update that is itself to be differentiated, goes through the operation that is registered with the rule (`rules`),
so that it is recorded, or made functional, like any other. `Batch` and `batches` keep together the parameters that have
made the same number of steps. Called by the optimisers of the dialects.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import numpy as np

from .._state import OBSERVERS, grad_mode
from ..core.arrays import bottom, full
from ..core.level import innermost
from ..core.scattered import Scattered
from ..core.value import Value, dtype_of, make, shape_of
from ..ops import selection
from ..ops.elementwise import add, multiply
from ..ops.manipulation import view_as_real
from ..ops.structural import broadcast_to, cast, copy, reshape
from ..tape import inplace, mutation
from .rules import stepped
from .updates import nadam_schedule

V = TypeVar("V", bound=Value)
_ndarray = np.ndarray
_EVERYDAY = {np.ndarray, np.float32, float, int, bool, str, tuple, type(None)}
"""The types of arrays and options of a step that changes NumPy's arrays in place: most steps ask no more than this set."""


# ------------------------------------------------------------------------------------------ state


def array_of(x: Value) -> Any:
    """The array of a value, shared."""
    return x._a


def full_like(p: V, value: Any, dtype: Any = None) -> V:
    """A constant of the shape, dtype (unless another is given) and memory order of a parameter, without history."""
    a: Any = p._a
    if type(a) is _ndarray:
        return make(type(p)._result, np.full_like(a, value, dtype=dtype))
    made: V = make(type(p)._result, full(tuple(shape_of(p)), value, np.dtype(dtype or dtype_of(p)), bottom(p)))
    if innermost():
        made._born = innermost()
    return made


def zeros_like(p: V, dtype: Any = None) -> V:
    """Zeros of the shape, dtype (unless another is given) and memory order of a parameter, without history."""
    return full_like(p, 0, dtype)


def changed(value: Value) -> None:
    """Tell the tape that the memory of a value has been written."""
    mutation.note(value._a)


def advance(step: Value) -> Any:
    """Count one step more in a value of one element; returns the count: a value where the step's array is not NumPy's."""
    a = step._a
    if type(a) is not _ndarray:
        with grad_mode(False):
            inplace.update("optimiser step", step, lambda: add(step, 1))
        return count_of(step)
    count = a.item() + 1
    a[...] = count
    return count


def count_of(counter: Value) -> Any:
    """What a value of one element counts: a number, or a 0-d value as it is now where its array is not NumPy's."""
    if type(counter._a) is _ndarray:
        return counter._a.item()
    return reshape(make(type(counter)._result, counter._a), shape=())


def scale(counter: Value, factor: Any) -> None:
    """Multiply a value of one element by a number, or by a value where its array is not NumPy's."""
    if type(counter._a) is _ndarray:
        counter._a *= factor
        return
    with grad_mode(False):
        inplace.update("optimiser step", counter, lambda: multiply(counter, factor))


def put(holder: Value, value: Any, where: Any = True) -> None:
    """Let every element of a value be a number: one computed from counts, a value itself where those are no numbers.

    where: whether to, told from counts as well.
    """
    a = holder._a
    if type(a) is _ndarray and not isinstance(value, Value) and not isinstance(where, Value):
        if where:
            a[...] = value
        return

    def as_array(x: Any, dtype: np.dtype) -> Any:
        x = cast(x, dtype=dtype) if isinstance(x, Value) else full((), x, dtype, a)
        return broadcast_to(x, shape=tuple(shape_of(holder)))

    new, chosen = as_array(value, dtype_of(holder)), as_array(where, np.dtype(bool))
    with grad_mode(False):
        inplace.update("optimiser step", holder, lambda: selection.where(chosen, new, holder))


def nadam_coefficients(products: Sequence[Value], step: Any, beta1: Any, momentum_decay: Any) -> dict[str, Any]:
    """NAdam's coefficients of a step; the products of the momenta so far, of parameters of one count, are multiplied on."""
    mu, following = nadam_schedule(step, beta1, momentum_decay)
    for product in products:
        scale(product, mu)
    return {"mu": mu, "mu_next": following, "mu_product": count_of(products[-1])}


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
    rule: Callable[..., None], params: Sequence[Value], *columns: Sequence[Value] | None, recorded: bool = False,
    **options: Any,
) -> None:  # fmt: skip
    """Run a rule of `retrograde.learn` on parameters, their gradients and their state (a column per kind, or None).

    recorded: the update itself is to be differentiated, in the parameters, gradients, state and options that are values.
    """
    if not recorded:
        arrays = [p._a for p in params]
        kept = [None if column is None else [t._a for t in column] for column in columns]
        kinds = {*map(type, arrays), *map(type, kept[0] or ()), *map(type, options.values())}
        if kinds <= _EVERYDAY or _changes_numpy(arrays, kept[0] or (), options):
            for observer in OBSERVERS:
                observer.updating(rule.__name__, [arrays, *kept], options)
            rule(arrays, *kept, **options)
            mutation.note_all(arrays)
            for observer in OBSERVERS:
                observer.updated()
            return
    for i, p in enumerate(params):
        _written(rule, [p, *(None if column is None else column[i] for column in columns)], options, recorded)


def update_one(rule: Callable[..., None], p: Value, *values: Value | None, **options: Any) -> None:
    """Run a rule that takes one parameter at a time (those for matrices, which are not differentiated)."""
    arrays = [p._a, *[None if t is None else t._a for t in values]]
    if not _changes_numpy((a for a in arrays if a is not None), (), options):
        _written(rule, [p, *values], options, False)
        return
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


def _changes_numpy(arrays: Iterable[Any], grads: Iterable[Any], options: dict[str, Any]) -> bool:
    """Whether a step changes NumPy's arrays in place, by numbers alone."""
    return all(type(a) is _ndarray for a in (*arrays, *grads)) and not any(isinstance(x, Value) for x in options.values())


def _real(x: Value) -> Value:
    return inplace.view(view_as_real, x) if dtype_of(x).kind == "c" else x


def _written(f: Any, columns: Sequence[Value | None], options: dict[str, Any], recorded: bool) -> None:
    """One parameter's step as an operation, whose results are written into the parameter and its state."""
    with grad_mode(recorded):
        every = [None if x is None else _real(x) for x in columns]
        # What the operation keeps for its derivative is copied, since it is written to next.
        kept = [x if x is None or i == 1 or not recorded else copy(x) for i, x in enumerate(every)]
        made = stepped(f, kept, options)
        holders = [x for i, x in enumerate(every) if i != 1 and x is not None]
        for holder, new in zip(holders, made):
            inplace.update("optimiser step", holder, lambda: new)  # noqa: B023 - called at once
