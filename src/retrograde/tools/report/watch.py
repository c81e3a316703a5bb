"""`Reporting`: what goes over the steps of a run. A step is what an optimiser does after a backward pass."""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from time import perf_counter
from typing import Any

import numpy as np

from ...core.node import producer
from ...core.value import Value
from ..arrays import inside, owner_of
from ..diff.places import names_in_sight
from ..seeing.calls import Call, Place
from ..seeing.figures import norm
from ..seeing.watch import Row, Watch, dense
from .series import Series

NAMINGS = 20
"""How many times it is asked what the program calls its parameters."""


class Loss:
    """The values that the backward passes of one line begin at."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.values = Series()
        self.steps = 0
        """Before how many steps its pass was the last one."""


class Parameter:
    """What an optimiser changes."""

    def __init__(self, array: np.ndarray, number: int) -> None:
        self.name = f"parameter {number}"
        self.named = False
        self.shape = tuple(array.shape)
        self.owner = weakref.ref(owner_of(array))
        self.gradient, self.ratio = Series(), Series()
        self.weight = 0.0
        """The norm after the last step."""


class Units:
    """The activations of one place: for each unit the last step in which it was not 0 for everything it saw."""

    def __init__(self, name: str, place: Place, number: int) -> None:
        self.name, self.place = name, place
        self.alive = np.full(number, -1, np.int64)
        self.share = Series()
        self.first = -1


class Reporting(Watch):
    """A watch that follows losses, gradients, updates and activations over the steps."""

    def __init__(self) -> None:
        super().__init__()
        self.step = 0
        """How many steps have ended."""
        self.losses: dict[Place, Loss] = {}
        self.parameters: dict[int, Parameter] = {}
        self.units: dict[tuple[str, Place, int], Units] = {}
        self._scalars: weakref.WeakKeyDictionary[Any, float] = weakref.WeakKeyDictionary()
        self._last: Loss | None = None
        """Of the last backward pass, if no step has come since."""
        self._stepping = False
        """Whether the last thing was an optimiser's rule: the next one belongs to the same step."""
        self._before: tuple[float, str, list[tuple[Parameter, np.ndarray, np.ndarray]]] | None = None
        self._namings = 0

    def steps(self) -> int:
        """How many steps there were, the last one included."""
        return self.step + self._stepping

    def evaluated(
        self, prim: Any, operands: Sequence[Any], params: Any, results: Sequence[Any], node: Any, call: Call | None,
        place: Place, seconds: float,
    ) -> None:  # fmt: skip
        """An operation has been evaluated."""
        if node is None:
            return
        self._ended()
        if results[0].size == 1:
            self._scalars[node] = float(np.real(results[0].reshape(-1)[0]))
        if prim.name in _CUTTING and _CUTTING[prim.name](params):
            self._activation(results[0], call, place)

    def _activation(self, y: np.ndarray, call: Call | None, place: Place) -> None:
        if y.ndim < 2 or not y.size:
            return
        axis = 2 if y.ndim == 3 else 1
        name = call.path() if call is not None else ""
        key = name, place, y.shape[axis]
        units = self.units.get(key)
        if units is None:
            units = self.units[key] = Units(name, place, y.shape[axis])
            units.first = self.step
        alive = (y != 0).any(axis=tuple(i for i in range(y.ndim) if i != axis))
        units.alive[alive] = self.step
        units.share.add(self.step, 1 - float(np.count_nonzero(alive)) / alive.size)

    # -------------------------------------------------------------------- backward passes

    def pass_begins(self, run: Any, roots: Any, gradients: Any, inputs: Any) -> None:
        """A backward pass begins at these edges."""
        super().pass_begins(run, roots, gradients, inputs)
        if self.depth > 1 or not roots:
            return
        self._ended()
        value = self._scalars.get(producer(roots[0]))
        if value is None:
            return
        _, place = self.calls.here(2)
        loss = self.losses.get(place)
        if loss is None:
            loss = self.losses[place] = Loss(place)
        loss.values.add(self.step, value)
        self._last = loss

    # -------------------------------------------------------------------- optimisers

    def _ended(self) -> None:
        """Something that no optimiser does: the step before has ended."""
        if self._stepping:
            self._stepping = False
            self.step += 1

    def updating(self, rule: str, columns: Any, options: Any) -> None:
        """An optimiser's rule is about to run on parameters, gradients and state (a column each)."""
        super().updating(rule, columns, options)
        if not self._stepping:
            self._stepping = True
            if self._last is not None:
                self._last.steps += 1
                self._last = None
        changed = []
        gradients = columns[1] if len(columns) > 1 and columns[1] is not None else [None] * len(columns[0])
        for x, g in zip(columns[0], gradients):
            array = inside(x)[0]
            parameter = self._parameter(array)
            if g is not None:
                parameter.gradient.add(self.step, norm(dense(g)))
            changed.append((parameter, array, array.copy()))
        self._before = perf_counter(), rule.lstrip("_"), changed

    def updated(self) -> None:
        """The rule has run."""
        if self._before is None:
            return
        (begun, rule, changed), self._before = self._before, None
        seconds = perf_counter() - begun
        _, place = self.calls.here(2)
        row = self.rows.get((place, rule))
        if row is None:
            row = self.rows[place, rule] = Row(place, rule)
        row.calls += 1
        row.forward += seconds
        for parameter, array, before in changed:
            parameter.weight = norm(array)
            size = norm(before)
            if size:
                parameter.ratio.add(self.step, norm(array.astype(np.result_type(array, np.float32)) - before) / size)

    def _parameter(self, array: np.ndarray) -> Parameter:
        owner = owner_of(array)
        found = self.parameters.get(id(owner))
        if found is None or found.owner() is not owner:
            found = self.parameters[id(owner)] = Parameter(array, len(self.parameters))
        if not found.named and self._namings < NAMINGS:
            self._namings += 1
            self.name_parameters()
        return found

    def name_parameters(self) -> None:
        """Give the parameters the names that the program has for them now."""
        tensors: dict[int, Any] = {}

        def is_tensor(x: Any) -> bool:
            if isinstance(x, Value):
                tensors[id(x)] = x
                return True
            return False

        for number, name in names_in_sight(is_tensor, 2).items():
            parameter = self.parameters.get(id(owner_of(inside(tensors[number])[0])))
            if parameter is not None and not parameter.named:
                parameter.name, parameter.named = name, True


_CUTTING = {
    "relu": lambda params: True,
    "relu_masked": lambda params: True,
    "hardtanh": lambda params: params.get("low") == 0,
    "maximum": lambda params: True,
    "clip": lambda params: True,
}
"""Operations with which a unit can be 0 for whatever it sees, and with which parameters."""
