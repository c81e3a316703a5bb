"""`nn.Optimizer`: parameters and their groups, learning rates in every form, weight decay, loss scale.

`RuleOptimizer` is what the optimisers here derive from: it batches the parameters that share a learning rate and hands
them to an update rule of `retrograde.learn`. A user's optimiser derives from `Optimizer` and writes `construct`.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ClassVar, NamedTuple

import numpy as np

from .....learn import bridge
from ...._shared.checks import check
from ...._shared.option_rows import OptimiserRow
from ... import _dtype
from ..._control import HyperMap, Map
from ..._parameter import Parameter, ParameterTuple
from ..._tensor import Tensor, from_array
from .._checks import positive_float
from ..cell import Cell
from ..containers import CellList
from ..learning_rate_schedule import LearningRateSchedule

_GROUP_KEYS = ("params", "lr", "weight_decay", "order_params", "grad_centralization")
_UNDECAYED = ("beta", "gamma")
"""Parameters with one of these in their names get no weight decay that their group does not set."""


class _IteratorLearningRate(LearningRateSchedule):
    """The learning rates of a list, one per step."""

    def __init__(self, rates: np.ndarray, name: str) -> None:
        super().__init__()
        self.learning_rate = Parameter(from_array(rates), name=name)

    def construct(self, global_step: Any) -> Tensor:
        rates, step = self.learning_rate.asnumpy(), int(global_step)
        if step >= len(rates):
            raise RuntimeError(
                f"learning_rate: the list holds the rates of {len(rates)} steps, and this is step {step + 1}; give as "
                "many rates as there are steps"
            )
        return from_array(rates[step].copy())


class _ConvertToCell(LearningRateSchedule):
    """A constant learning rate among those of groups that change."""

    def __init__(self, rate: Parameter) -> None:
        super().__init__()
        self.learning_rate = rate

    def construct(self, global_step: Any) -> Any:
        return self.learning_rate.data


Rate = Any
"""A Parameter (a constant rate, which may be set anew) or a LearningRateSchedule."""


class _Setting(NamedTuple):
    """What a group says of a parameter."""

    lr: Rate
    weight_decay: Any
    grouped_decay: bool
    centralized: bool


def opt_init_args_register(fn: Callable[..., None]) -> Callable[..., None]:
    """Decorator of an optimiser's `__init__`: keeps what it is called with, as `init_params`, `init_learning_rate`, `init_args`.

    Raises TypeError where the arguments are not those of `fn`.
    """
    signature = inspect.signature(fn)

    @functools.wraps(fn)
    def deco(self: Any, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(self, *args, **kwargs)
        bound.apply_defaults()
        given = dict(list(bound.arguments.items())[1:])
        kept: dict[str, Any] = {"init_params": {"params": given.pop("params", None)}}
        kept["init_learning_rate"] = given.pop("learning_rate", None)
        self.__dict__.update(kept, init_args=given)  # before Cell's own __init__, which __setattr__ waits for
        fn(self, *args, **kwargs)

    return deco


class Optimizer(Cell):
    """The base of optimisers: calling it with the gradients changes the parameters.

    learning_rate: a number, a 0-d tensor, a list or 1-d tensor of the rates of the steps, or a LearningRateSchedule.
    parameters: Parameters, or groups {'params': [...], 'lr': , 'weight_decay': , 'grad_centralization': }, of which one
        may be {'order_params': [...]}, the order in which gradients come.

    Raises:
        TypeError, ValueError, KeyError, RuntimeError: as MindSpore does for wrong types, values, keys and for a
            parameter in two groups.
    """

    def __init__(self, learning_rate: Any, parameters: Any, weight_decay: Any = 0.0, loss_scale: Any = 1.0) -> None:
        super().__init__(auto_prefix=False)
        name = type(self).__name__
        groups, order = _groups(name, parameters)
        self.loss_scale = positive_float(name, "loss_scale", _as_float(loss_scale))
        self.reciprocal_scale, self.need_scale = 1.0 / self.loss_scale, self.loss_scale != 1.0
        self.weight_decay: Any = _decay_argument(name, weight_decay)
        self.global_step = Parameter(from_array(np.zeros(1, np.int32)), name="global_step")
        self.global_step_increase_tensor = from_array(np.ones(1, np.int32))
        self.is_group = any("lr" in g or "weight_decay" in g or "grad_centralization" in g for g in groups)
        self.is_group_params_ordered = order is not None
        self.is_group_lr = any("lr" in g for g in groups)
        default = _rate_argument(name, learning_rate, "learning_rate")
        settings: dict[int, _Setting] = {}
        members: list[Parameter] = []
        for i, group in enumerate(groups):
            lr = _rate_argument(name, group["lr"], f"learning_rate_group_{i}") if "lr" in group else default
            decay = _decay_argument(name, group["weight_decay"]) if "weight_decay" in group else self.weight_decay
            for p in group["params"]:
                if id(p) in settings:
                    raise RuntimeError(f"{name}: parameter {p.name} is in two groups; name it once")
                settings[id(p)] = _Setting(
                    lr, decay, "weight_decay" in group, bool(group.get("grad_centralization", False))
                )
                members.append(p)
        members = members if order is None else _ordered(name, members, order)
        chosen = [settings[id(p)] for p in members]
        self._decays = [s.weight_decay if s.grouped_decay or _decays(p) else 0.0 for p, s in zip(members, chosen)]
        self._centralized = [s.centralized for s in chosen]
        self.grad_centralization: Any = tuple(self._centralized) if self.is_group else False
        if any(s.grouped_decay for s in chosen):
            self.weight_decay = tuple(from_array(np.float32(d)) if not isinstance(d, Cell) else d for d in self._decays)
        rates = [s.lr for s in chosen]
        self.dynamic_lr = any(isinstance(rate, Cell) for rate in [*rates, default])
        self.dynamic_weight_decay = any(isinstance(d, Cell) for d in self._decays)
        if not self.is_group_lr:
            self.learning_rate: Any = default
            self._rates = [default] * len(members)
        elif self.dynamic_lr:
            self._rates = [r if isinstance(r, Cell) else _ConvertToCell(r) for r in rates]
            self.learning_rate = CellList(self._rates, auto_prefix=False)
        else:
            self._rates = rates
            self.learning_rate = ParameterTuple(rates)
        self.parameters = self._parameters = ParameterTuple(members)
        self.hyper_map, self.map_, self.map_reverse = HyperMap(), Map(), Map(None, True)
        self.param_length = len(members)
        self.unique = True

    # -------------------------------------------------------------------- what a step needs

    def get_lr(self) -> Any:
        """The learning rate of the coming step; a tuple of one per parameter where groups have their own."""
        if self.is_group_lr:
            return tuple(self._rate_of(rate) for rate in self._rates)
        return self._rate_of(self.learning_rate)

    def _rate_of(self, rate: Rate) -> Any:
        if not isinstance(rate, Cell):
            return rate
        found = rate(self.global_step)
        return found.reshape(()) if isinstance(found, Tensor) and found.shape == (1,) else found

    def get_lr_parameter(self, param: Any) -> Any:
        """What holds the learning rate of a parameter, or of each of a list of them; raises TypeError for others."""
        if not isinstance(param, Parameter):
            if not isinstance(param, (list, tuple)) or not all(isinstance(p, Parameter) for p in param):
                raise TypeError(f"get_lr_parameter: wanted a Parameter or a list of them, got {type(param).__name__}")
            return [self.get_lr_parameter(p) for p in param]
        for p, rate in zip(self.parameters, self._rates):
            if p is param:
                return rate.learning_rate if isinstance(rate, (_ConvertToCell, _IteratorLearningRate)) else rate
        raise ValueError(f"get_lr_parameter: parameter {param.name} is not among those of this optimizer")

    def get_weight_decay(self) -> Any:
        """The weight decay of the coming step; a tuple where groups have their own."""
        if isinstance(self.weight_decay, tuple):
            return tuple(d(self.global_step) if isinstance(d, Cell) else d for d in self.weight_decay)
        decay = self.weight_decay
        return decay(self.global_step) if isinstance(decay, Cell) else Tensor(decay, _dtype.float32)

    @property
    def target(self) -> str:
        """The device on which parameters are updated: the CPU."""
        return "CPU"

    @target.setter
    def target(self, value: Any) -> None:
        self._set_base_target(value)

    def _set_base_target(self, value: Any) -> None:
        """What setters of `target` call: raises TypeError, ValueError for what is no device, or none that there is."""
        name = type(self).__name__
        if not isinstance(value, str):
            raise TypeError(f"{name}: target must be a str, got {type(value).__name__}")
        if value != "CPU":
            raise ValueError(f"{name}: target must be 'CPU', the only device there is, got {value!r}")

    def flatten_gradients(self, gradients: Any) -> Any:
        """The gradients as they came; graph mode joins them."""
        return gradients

    def scale_grad(self, gradients: Any) -> Any:
        """The gradients divided by the loss scale."""
        if not self.need_scale:
            return gradients
        return tuple(g * self.reciprocal_scale for g in gradients)

    def decay_weight(self, gradients: Any) -> Any:
        """The gradients plus weight decay times the parameters."""
        decays = [float(d(self.global_step)) if isinstance(d, Cell) else d for d in self._decays]
        if not any(decays):
            return gradients
        return tuple(g + p.data * d if d else g for g, p, d in zip(gradients, self.parameters, decays))

    def gradients_centralization(self, gradients: Any) -> Any:
        """The gradients of convolutions' weights less their means per output channel, in groups that ask for it."""
        if not any(self._centralized):
            return gradients
        return tuple(_centred(g) if wanted else g for g, wanted in zip(gradients, self._centralized))

    def assignadd(self, target: Parameter, value: Any) -> Parameter:
        """Add to a parameter in place."""
        target.set_data(target + value)
        return target

    def construct(self, gradients: Any) -> Any:
        """Change the parameters; an optimiser defines it."""
        raise NotImplementedError(f"{type(self).__name__}: construct(gradients) has to be defined")


class RuleOptimizer(Optimizer):
    """An optimiser whose parameters follow an update rule each: `_step` gets those that share a learning rate."""

    _decays_gradient = True
    """Whether weight decay is the gradient of a penalty; otherwise the rule applies it."""
    _single = False
    """Whether a step returns True instead of a tuple of them."""
    _number: ClassVar[Any] = np.float32
    """What options that are floats are kept as: MindSpore computes with betas and their powers in float32."""
    _scalars: ClassVar[tuple[str, ...]] = ()
    """Parameters of one number: an option, or the power of a beta."""
    _row: ClassVar[OptimiserRow]
    _options: ClassVar[Any]
    _columns: ClassVar[Any]

    def _set_up(self, row: OptimiserRow, options: dict[str, Any]) -> None:
        """Make the optimiser of a row."""
        Optimizer.__init__(self, *[options.get(name, default) for name, default in _OF_ALL])
        self.__dict__["_further"] = {name: options.pop(name) for name in [*options] if name not in row.names}
        row.check(options)
        for name, value in options.items():
            if name not in _NOT_KEPT and name not in self._scalars:
                setattr(self, name, self._number(value) if type(value) is float else value)
        for name in self._scalars:
            start = np.array(options.get(name, 1.0), np.float32)
            setattr(self, name, Parameter(from_array(start), name=name))
        if row.then is not None:
            row.then(self)
        for name, start, condition, label in row.states:
            wanted = not condition or options[condition]
            start = options[start] if isinstance(start, str) else start
            setattr(self, name, self._state(label, start) if wanted else None)

    def _state(self, label: str, value: float | Callable[[Parameter], Any] = 0.0) -> ParameterTuple:
        """A state parameter for each parameter, filled with a number or what a function gives for the parameter."""
        label = label if label.endswith(("_", ".")) else label + "."
        return ParameterTuple(
            Parameter(
                bridge.full_like(p, value) if not callable(value) else from_array(np.asarray(value(p), np.float32)),
                name=f"{label}{p.name}",
            )
            for p in self.parameters
        )

    def _checked(self, gradients: Any) -> tuple[Any, ...]:
        if isinstance(gradients, Tensor):
            gradients = (gradients,)
        check(type(self).__name__, "gradients: list", locals())
        if len(gradients) != len(self.parameters):
            raise RuntimeError(
                f"{type(self).__name__}: there are {len(self.parameters)} parameters and {len(gradients)} gradients; "
                "take the gradients of optimizer.parameters"
            )
        for p, g in zip(self.parameters, gradients):
            if not isinstance(g, Tensor):
                raise TypeError(f"{type(self).__name__}: the gradient of {p.name} is a {type(g).__name__}, no Tensor")
            if g.shape != p.shape:
                raise ValueError(
                    f"{type(self).__name__}: the gradient of {p.name} has shape {g.shape}, the parameter {p.shape}"
                )
        return tuple(g if g.dtype is p.dtype else g.astype(p.dtype) for p, g in zip(self.parameters, gradients))

    def construct(self, gradients: Any) -> Any:
        """Change the parameters by one step along the gradients, which come in the order of the parameters."""
        gradients = self.scale_grad(self.gradients_centralization(self._checked(gradients)))
        if self._decays_gradient:
            gradients = self.decay_weight(gradients)
        rates = [number(rate(self.global_step) if isinstance(rate, Cell) else rate) for rate in dict.fromkeys(self._rates)]
        by_rate = dict(zip(dict.fromkeys(self._rates), rates))
        batches: dict[Any, list[int]] = {}
        for i, rate in enumerate(self._rates):
            key = by_rate[rate], self._decay_of(i)
            batches.setdefault(key, []).append(i)
        self._begin()
        for (lr, decay), chosen in batches.items():
            self._step(_Chosen(self, gradients, chosen, lr, np.float32(decay)))
        bridge.advance(self.global_step)
        bridge.changed(self.global_step)
        return True if self._single else (True,) * len(self.parameters)

    def _decay_of(self, i: int) -> float:
        """The weight decay that the rule applies to a parameter; 0 where the gradient holds it."""
        if self._decays_gradient:
            return 0.0
        decay = self._decays[i]
        return float(decay(self.global_step)) if isinstance(decay, Cell) else decay

    def _begin(self) -> None:
        """What happens once per step, before the parameters change."""

    def _step(self, chosen: _Chosen) -> None:
        """Change the parameters of a batch."""
        self._run(chosen)

    def _run(self, chosen: _Chosen, **further: Any) -> None:
        """Run the rule on a batch, with the options of the row and the further ones given."""
        row, options = self._row, self._options(None, chosen)
        if row.counted:
            options["step"] = bridge.count_of(self.global_step) + 1
        options.update(further)
        update = chosen.update_each if hasattr(row.rule, "of_one") else chosen.update
        update(row.rule, *self._columns(None, None), **options)


_OF_ALL = (("learning_rate", 0.0), ("params", None), ("weight_decay", 0.0), ("loss_scale", 1.0))
_NOT_KEPT = {"params", "learning_rate", "weight_decay", "loss_scale", "use_locking", "compression"}


class _Chosen:
    """The parameters that share a learning rate, with their gradients and states."""

    __slots__ = ("grads", "indices", "lr", "params", "weight_decay")

    def __init__(self, owner: Any, gradients: Any, indices: list[int], lr: Any, weight_decay: Any) -> None:
        self.indices, self.lr, self.weight_decay = indices, lr, weight_decay
        self.params = self.of(owner.parameters)
        self.grads = self.of(gradients)

    def of(self, column: Any) -> list[Any]:
        """The entries of these parameters in a column for all."""
        return [column[i] for i in self.indices]

    def update(self, rule: Callable[..., None], *columns: Any, **options: Any) -> None:
        """Run an update rule on parameters, gradients and the columns of state (for all parameters; None for none)."""
        kept = [None if column is None else self.of(column) for column in columns]
        bridge.update(rule, self.params, self.grads, *kept, **options)

    def update_each(self, rule: Callable[..., None], *columns: Any, **options: Any) -> None:
        """Run a rule that takes one parameter at a time."""
        for j, (p, g) in enumerate(zip(self.params, self.grads)):
            bridge.update_one(rule, p, g, *[column[self.indices[j]] for column in columns], **options)


def number(x: Any) -> Any:
    """What a Parameter of one element holds, in float32: a number, or a value where its array is not NumPy's."""
    found = bridge.count_of(x) if isinstance(x, Tensor) else x
    return found if isinstance(found, Tensor) else np.float32(found)


# ------------------------------------------------------------------------------------------ arguments


def _as_float(x: Any) -> Any:
    return float(x) if isinstance(x, int) and not isinstance(x, bool) else x


def _decays(p: Parameter) -> bool:
    return not any(part in p.name for part in _UNDECAYED)


def _decay_argument(name: str, decay: Any) -> Any:
    if isinstance(decay, Cell):
        return decay
    if isinstance(decay, bool) or not isinstance(decay, (int, float)):
        raise TypeError(f"{name}: weight_decay must be an int, a float or a Cell, got {type(decay).__name__}")
    check(name, "decay >= 0", locals())
    return float(decay)


def _rate_argument(name: str, lr: Any, label: str) -> Rate:
    """What a learning rate was given as, as a Parameter or a schedule."""
    if isinstance(lr, LearningRateSchedule):
        return lr
    if isinstance(lr, Cell):
        raise TypeError(f"{name}: a learning rate as a cell must be a LearningRateSchedule, got {type(lr).__name__}")
    if isinstance(lr, (int, float)):
        rates = np.float32(lr)
    elif isinstance(lr, Tensor):
        rates = lr.asnumpy().astype(np.float32)
    elif isinstance(lr, Iterable):
        try:
            rates = np.array([float(x) for x in lr], np.float32)
        except ValueError:
            raise ValueError(f"{name}: {label} as a sequence holds the rates of the steps, numbers; got {lr!r}") from None
    else:
        raise TypeError(
            f"{name}: learning_rate must be a number, a Tensor, a list of numbers or a LearningRateSchedule, got "
            f"{type(lr).__name__}"
        )
    if np.ndim(rates) > 1 or np.size(rates) == 0:
        raise ValueError(f"{name}: learning rates are one number, or a list of one per step, got shape {np.shape(rates)}")
    if (rates < 0).any():
        raise ValueError(f"{name}: the learning rate must be 0 or more, got {np.min(rates)}")
    if np.ndim(rates):
        return _IteratorLearningRate(np.asarray(rates), label)
    return Parameter(from_array(np.array(rates, np.float32)), name=label)


def _groups(name: str, parameters: Any) -> tuple[list[dict[str, Any]], list[Parameter] | None]:
    """The groups of an optimiser's parameters, and the order of the gradients if one was given."""
    if parameters is None or (isinstance(parameters, dict) and not parameters):
        raise ValueError(f"{name}: there are no parameters, got {parameters!r}")
    if isinstance(parameters, (Tensor, str, dict)) or not isinstance(parameters, Iterable):
        raise TypeError(
            f"{name}: wanted a list of Parameters or of groups, got {type(parameters).__name__}; pass net.trainable_params()"
        )
    given = list(parameters)
    if not given:
        raise ValueError(f"{name}: there are no parameters; pass net.trainable_params()")
    if all(isinstance(p, Parameter) for p in given):
        names: set[str] = set()
        for p in given:
            if p.name in names:
                raise ValueError(f"{name}: two parameters are called {p.name!r}; give each a name of its own")
            names.add(p.name)
        return [{"params": given}], None
    if not all(isinstance(g, dict) for g in given):
        raise TypeError(f"{name}: the parameters must be Parameters, or dicts with 'params'; pass net.trainable_params()")
    groups, order = [], None
    for group in given:
        for key in group:
            if key not in _GROUP_KEYS:
                raise KeyError(f"{name}: a group has the keys {', '.join(_GROUP_KEYS)}; got {key!r}")
        if "order_params" in group:
            order = list(group["order_params"])
            continue
        if "params" not in group:
            raise KeyError(f"{name}: a group needs 'params', its list of Parameters; got {', '.join(map(repr, group))}")
        members = list(group["params"])
        if not members:
            raise ValueError(f"{name}: a group has no parameters")
        for p in members:
            if not isinstance(p, Parameter):
                raise TypeError(f"{name}: a group's 'params' must be Parameters, got {type(p).__name__}")
        groups.append({**group, "params": members})
    return groups, order


def _ordered(name: str, members: list[Parameter], order: list[Parameter]) -> list[Parameter]:
    if len(order) != len(members):
        raise ValueError(f"{name}: order_params names {len(order)} parameters, the groups hold {len(members)}")
    if {id(p) for p in order} != {id(p) for p in members}:
        raise ValueError(f"{name}: order_params must name the parameters of the groups")
    return order


def _centred(g: Any) -> Any:
    axes = tuple(range(1, len(g.shape)))
    return g - g.mean(axes, True) if len(axes) > 2 else g
