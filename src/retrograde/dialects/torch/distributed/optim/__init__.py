"""`torch.distributed.optim`: an optimiser whose state is divided between the processes."""

from __future__ import annotations

import copy as _copy
from typing import Any as _Any

from .. import _array, _of, _write
from ...._shared.guard import kind_of as _kind_of
from ..._api import attributes as _attributes
from ..._grad_modes import no_grad as _no_grad
from ...optim.optimizer import Optimizer as _Optimizer


class ZeroRedundancyOptimizer(_Optimizer):
    """Each process keeps the state of a part of the parameters, updates these, and gives the others their new values.

    params: the parameters, or groups of them. optimizer_class: what updates this process's part, called with `defaults`.
    """

    def __init__(
        self, params: _Any, optimizer_class: _Any, process_group: _Any = None, parameters_as_bucket_view: bool = False,
        overlap_with_ddp: bool = False, **defaults: _Any,
    ) -> None:  # fmt: skip
        if overlap_with_ddp:
            raise NotImplementedError("ZeroRedundancyOptimizer: overlap_with_ddp is not offered; leave it out")
        if not (isinstance(optimizer_class, type) and issubclass(optimizer_class, _Optimizer)):
            raise TypeError(
                f"ZeroRedundancyOptimizer: optimizer_class must be an Optimizer's class, got {_kind_of(optimizer_class)}"
            )
        self.process_group = _of("ZeroRedundancyOptimizer", process_group)
        self._class, self._given = optimizer_class, defaults
        self._every: list[dict[str, _Any]] = []
        self._consolidated: _Any = None
        super().__init__(params, defaults)
        self._divide()

    def _divide(self) -> None:
        """Give each process parameters of about the same size: the largest first, each to who has least."""
        count, rank = self.process_group.size(), self.process_group.rank()
        load = [0] * count
        self._owner: dict[int, int] = {}
        for group in self.param_groups:
            for p in sorted(group["params"], key=lambda p: -p.numel()):
                k = load.index(min(load))
                self._owner[id(p)] = k
                load[k] += p.numel()
        own = [{**g, "params": [p for p in g["params"] if self._owner[id(p)] == rank]} for g in self.param_groups]
        self._own = [k for k, g in enumerate(own) if g["params"]]
        nothing = self.param_groups[0]["params"][0].detach().new_zeros(0)  # where there are more processes than parameters
        self.optim = self._class([own[k] for k in self._own] or [nothing], **self._given)
        for name, value in self.optim.defaults.items():
            self.defaults.setdefault(name, value)
            for g in self.param_groups:
                g.setdefault(name, value)
        self.state = self.optim.state

    def step(self, closure: _Any = None, **kwargs: _Any) -> _Any:
        """Update this process's parameters, and take over the others'."""
        for mine, k in zip(self.optim.param_groups, self._own):
            mine.update({n: v for n, v in self.param_groups[k].items() if n != "params"})
        loss = self.optim.step(closure, **kwargs) if closure is not None else self.optim.step(**kwargs)
        for mine, k in zip(self.optim.param_groups, self._own):
            self.param_groups[k].update({n: v for n, v in mine.items() if n != "params"})
        members, rank = self.process_group._members, self.process_group.rank()
        every = [p for g in self.param_groups for p in g["params"]]
        pending = [(p, self._owner[id(p)], members.broadcast(_array(p), self._owner[id(p)])) for p in every]
        with _no_grad():
            for p, owner, found in pending:
                array = found.wait()
                if owner != rank:
                    _write(p, array)
        return loss

    def add_param_group(self, param_group: dict[str, _Any]) -> None:
        """Add parameters with options of their own; the division is made anew, so before the first step."""
        super().add_param_group(param_group)
        if hasattr(self, "optim"):
            if self.optim.state:
                raise NotImplementedError("ZeroRedundancyOptimizer.add_param_group: add groups before the first step")
            self._divide()

    def consolidate_state_dict(self, to: int = 0) -> None:
        """Bring the states of all processes together in process `to`, for its `state_dict`."""
        place = {id(p): i for i, p in enumerate(p for g in self.param_groups for p in g["params"])}
        mine = {place[id(p)]: dict(s) for p, s in self.optim.state.items() if id(p) in place}
        every = self.process_group._members.all_gather_objects(mine)
        if self.process_group._place("consolidate_state_dict", to) == self.process_group.rank():
            self._consolidated = {k: v for some in every for k, v in some.items()}

    def state_dict(self) -> _Any:
        """The state of all parameters; raises RuntimeError where it has not been brought together here."""
        if self._consolidated is None:
            raise RuntimeError("ZeroRedundancyOptimizer.state_dict: call consolidate_state_dict(to=...) in all processes first")
        places, count = [], 0
        for group in self.param_groups:
            end = count + len(group["params"])
            places.append({**group, "params": list(range(count, end))})
            count = end
        return {"state": _copy.deepcopy(self._consolidated), "param_groups": places}

    def load_state_dict(self, state_dict: _Any) -> None:
        """Take over the state of all parameters: of it this process keeps its part."""
        every = [p for g in self.param_groups for p in g["params"]]
        for group, given in zip(self.param_groups, state_dict["param_groups"]):
            group.update({k: v for k, v in given.items() if k != "params"})
        for k, state in state_dict["state"].items():
            if self._owner[id(every[k])] == self.process_group.rank():
                self.optim.state[every[k]] = _copy.deepcopy(state)


__getattr__ = _attributes(globals())
