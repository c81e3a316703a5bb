"""`experimental.optim.Optimizer`: parameters in groups, each with its own options, the learning rate as a Parameter."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from .....learn import bridge
from ...._shared.option_rows import OptimiserRow
from ..._parameter import Parameter, ParameterTuple
from ..._tensor import Tensor, from_array
from ...nn.cell import Cell


class Optimizer(Cell):
    """Base of these optimisers: calling one with the gradients, in the order of the parameters, makes a step.

    params: Parameters, or groups {'params': [...], option: value}; `defaults` are the options of groups that say nothing.

    Raises:
        TypeError, ValueError: other parameters; none at all; one given twice.
    """

    def __init__(self, params: Any, defaults: dict[str, Any]) -> None:
        super().__init__(auto_prefix=False)
        name = type(self).__name__
        if isinstance(params, (Tensor, str, dict)):
            raise TypeError(f"{name}: params must be a list of Parameters or of groups, got {type(params).__name__}")
        given = list(params)
        if not given:
            raise ValueError(f"{name}: there are no parameters")
        self.defaults = defaults
        self.param_groups: list[dict[str, Any]] = []
        self.__dict__["_members"] = []
        for group in given if isinstance(given[0], dict) else [{"params": given}]:
            self.add_param_group(group)
        self.parameters = ParameterTuple(self._members)

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters."""
        name = type(self).__name__
        group = dict(param_group)
        members = group["params"]
        members = [members] if isinstance(members, Parameter) else list(members)
        for p in members:
            if not isinstance(p, Parameter):
                raise TypeError(f"{name}: wanted Parameters, got {type(p).__name__}")
            if any(p is other for other in self._members):
                raise ValueError(f"{name}: parameter {p.name} is given twice")
            self._members.append(p)
        group = {**self.defaults, **group, "params": members}
        if isinstance(group["lr"], bool) or not isinstance(group["lr"], (int, float, Tensor)):
            raise TypeError(f"{name}: lr must be a number or a Tensor, got {type(group['lr']).__name__}")
        rate = float(group["lr"])
        if rate < 0:
            raise ValueError(f"{name}: lr must be 0 or more, got {rate}")
        label = f"learning_rate_group_{len(self.param_groups)}"
        group["lr"] = Parameter(from_array(np.array(rate, np.float32)), name=label)
        self.param_groups.append(group)

    def construct(self, gradients: Any) -> Any:
        """Change the parameters by one step along the gradients."""
        given = tuple(gradients) if isinstance(gradients, (tuple, list)) else (gradients,)
        if len(given) != len(self.parameters):
            raise ValueError(f"{type(self).__name__}: {len(self.parameters)} parameters got {len(given)} gradients")
        self._begin()
        start = 0
        for group in self.param_groups:
            stop = start + len(group["params"])
            self._step(group, Members(self, slice(start, stop), given))
            start = stop
        return True

    def _begin(self) -> None:
        """What happens once per step, before the parameters change."""

    def _step(self, group: dict[str, Any], members: Members) -> None:
        """Change the parameters of a group; an optimiser defines it."""
        raise NotImplementedError(f"{type(self).__name__}: construct(gradients) has to be defined")

    def __repr__(self) -> str:
        lines = [f"{type(self).__name__} ("]
        for i, group in enumerate(self.param_groups):
            lines.append(f"Parameter Group {i}")
            for key in sorted(group):
                if key != "params":
                    value = group[key]
                    lines.append(f"    {key}: {str(value.asnumpy()) if isinstance(value, Tensor) else value}")
            lines.append("")
        return "\n".join(lines[:-1]) + "\n)"


def rate_of(group: dict[str, Any]) -> Any:
    """The learning rate of a group: a number, or a value where its array is not NumPy's."""
    rate = group["lr"]
    return bridge.count_of(rate) if isinstance(rate, Tensor) else float(rate)


class Members:
    """The parameters of a group with their gradients."""

    def __init__(self, owner: Any, place: slice, gradients: tuple[Any, ...]) -> None:
        self.place, self.params, self.grads = place, owner.parameters[place], gradients[place]


class RuleOptimizer(Optimizer):
    """An optimiser that is a row (rules.py): its rule changes the parameters. Each kind of state is an attribute."""

    _row: ClassVar[OptimiserRow]
    _options: ClassVar[Any]
    _columns: ClassVar[Any]

    def _set_up(self, row: OptimiserRow, options: dict[str, Any]) -> None:
        """Make the optimiser of a row."""
        row.check(options)
        Optimizer.__init__(self, options["params"], {n: options[n] for n in row.kept if n != "params"} | self._further)
        if row.then is not None:
            row.then(self)
        for name, start, _, label in row.states:
            if name == "step_t":
                self.step_t = Parameter(from_array(np.zeros((), np.int32)), name=label)
                continue
            start = options[start] if isinstance(start, str) else start
            states = (Parameter(bridge.full_like(p, start), name=f"{label}.{p.name}") for p in self.parameters)
            setattr(self, name, ParameterTuple(states))

    _further: ClassVar[dict[str, Any]] = {}
    """Options of groups that the constructor does not take."""

    def _begin(self) -> None:
        if any(s.name == "step_t" for s in self._row.states):
            bridge.advance(self.step_t)

    @property
    def _number(self) -> Any:
        return bridge.count_of(self.step_t)

    def _step(self, group: dict[str, Any], members: Members) -> None:
        self._run(group, members)

    def _run(self, group: dict[str, Any], members: Members, **further: Any) -> None:
        """Run the rule on a group, with its options and the further ones given."""
        row = self._row
        options = self._options(group)
        if row.counted:
            options["step"] = self._number
        columns = self._columns(group, members)
        options.update(further)
        bridge.update(row.rule, members.params, members.grads, *columns, **options)
