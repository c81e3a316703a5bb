"""`Optimizer`: what all optimisers share: rates, groups, decay, clipping, and state by the names of parameters."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, ClassVar

import numpy as np

from ...._state import grad_mode
from ....core.number import as_float, key_of
from ....core.value import Value, dtype_of, shape_of
from ....learn import bridge
from ....ops import elementwise as ew
from ..._shared.option_rows import OptimiserRow
from .._dtype import FROM_NUMPY
from .._parameter import unique_name
from .._selected_rows import dense
from .._tensor import from_array
from ..nn.clip import ClipGradBase
from ..regularizer import L2Decay, WeightDecayRegularizer, coefficient_of
from .lr import LRScheduler

Pairs = list[tuple[Any, Any]]


class Batch(bridge.Batch):
    """Parameters with one rate and one L2 coefficient, and their gradients."""

    __slots__ = ("decay", "lr")

    def __init__(self, lr: float, decay: float) -> None:
        super().__init__(0)
        self.lr, self.decay = lr, decay


class Optimizer:
    """Base of the optimisers.

    learning_rate: a number, a schedule or a tensor of one element. parameters: tensors, or dicts with "params" and
    options of their own. weight_decay: the coefficient of an L2 penalty, or a regulariser. grad_clip: a ClipGrad.
    Options of optimisers that choose between ways of computing the same change nothing: lazy_mode (gradients are
    dense), use_multi_tensor, use_lowprecision_moment.

    Raises AttributeError where `parameters` is missing, TypeError or ValueError for options of the wrong kind.
    """

    _accumulators: tuple[str, ...] = ()
    """The kinds of state, in the order in which `state_dict` gives them."""
    _decays_itself = False
    """Whether the step takes the L2 penalty as a number (`Batch.decay`)."""

    def __init__(
        self, learning_rate: Any, parameters: Any = None, weight_decay: Any = None, grad_clip: Any = None,
        name: str | None = None,
    ) -> None:  # fmt: skip
        own = type(self).__name__
        if learning_rate is None:
            raise ValueError(f"{own}: learning_rate is missing")
        if parameters is None:
            raise AttributeError(f"{own}: parameters are missing; pass parameters=net.parameters()")
        if not isinstance(learning_rate, (float, LRScheduler)):
            raise TypeError(
                f"{own}: learning_rate must be a float or an LRScheduler, got {type(learning_rate).__name__}"
            )
        if isinstance(parameters, (Value, dict)) or not hasattr(parameters, "__iter__"):
            raise TypeError(
                f"{own}: parameters must be a list of tensors, got {type(parameters).__name__}; pass parameters=net.parameters()"
            )
        if grad_clip is not None and not isinstance(grad_clip, ClipGradBase):
            raise TypeError(f"{own}: grad_clip must be one of nn.ClipGradBy..., got {type(grad_clip).__name__}")
        given = list(parameters)
        self._parameter_list = given
        self._learning_rate, self._grad_clip = learning_rate, grad_clip
        self._name = name
        self.regularization = self._regularizer(weight_decay)
        self._states: dict[int, dict[str, Any]] = {}
        self._waiting: dict[str, Any] = {}
        self._was_given = False
        grouped = bool(given) and isinstance(given[0], dict)
        self._param_groups: list[dict[str, Any]] = []
        for group in given if grouped else [{"params": given}]:
            self._add_param_group(dict(group))
        if grouped:  # a group's rate and penalty are its parameters' from now on, in other optimisers too
            for group in self._param_groups:
                for p in group["params"]:
                    p.optimize_attr = {"learning_rate": group.get("learning_rate", 1.0)}
                    if isinstance(group.get("weight_decay"), WeightDecayRegularizer):
                        p.regularizer = group["weight_decay"]

    def _regularizer(self, decay: Any) -> Any:
        if decay is None or isinstance(decay, WeightDecayRegularizer):
            return decay
        if isinstance(decay, (float, int)) and not isinstance(decay, bool):
            return L2Decay(float(decay))
        raise TypeError(
            f"{type(self).__name__}: weight_decay must be a number or a regularizer, got {type(decay).__name__}"
        )

    def _add_param_group(self, group: dict[str, Any]) -> None:
        if "params" not in group:
            raise AssertionError(f"{type(self).__name__}: a group needs 'params', got {sorted(group)}")
        params = group["params"]
        if isinstance(params, set):
            raise TypeError(f"{type(self).__name__}: a group's params must be in order, got a set")
        group["params"] = [params] if isinstance(params, Value) else list(params)
        seen = {id(p) for p in self._parameters()}
        for p in group["params"]:
            if not isinstance(p, Value):
                raise AttributeError(f"{type(self).__name__}: parameters must be tensors, got {type(p).__name__}")
            if id(p) in seen:
                raise ValueError(f"{type(self).__name__}: {p.name} stands in more than one group")
        if "weight_decay" in group:
            group["weight_decay"] = self._group_decay(group["weight_decay"])
        self._param_groups.append(group)

    def _group_decay(self, decay: Any) -> Any:
        return self._regularizer(decay)

    def _check_not_empty(self) -> None:
        if not self._parameter_list:
            raise IndexError(f"{type(self).__name__}: parameters is empty")

    def _parameters(self) -> list[Any]:
        return [p for group in self._param_groups for p in group["params"]]

    # -------------------------------------------------------------------- rates

    def get_lr(self) -> float:
        """The present learning rate."""
        rate = self._learning_rate
        if isinstance(rate, LRScheduler):
            return rate()
        return float(rate.item()) if isinstance(rate, Value) else as_float(rate)

    def set_lr(self, value: float) -> None:
        """Set the learning rate; RuntimeError where a schedule gives it."""
        if not isinstance(value, (int, float, Value)):
            raise TypeError(f"set_lr: wanted a number, got {type(value).__name__}")
        if isinstance(self._learning_rate, LRScheduler):
            raise RuntimeError("set_lr: a schedule gives the learning rate; change it, or use set_lr_scheduler()")
        self._learning_rate = float(value.item()) if isinstance(value, Value) else float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Let a schedule give the learning rate."""
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(f"set_lr_scheduler: wanted an LRScheduler, got {type(scheduler).__name__}")
        self._learning_rate = scheduler

    # -------------------------------------------------------------------- steps

    def step(self) -> None:
        """Change the parameters by their gradients; those without a gradient stay.

        Raises IndexError where there are no parameters.
        """
        self._check_not_empty()
        with grad_mode(False):
            for group in self._param_groups:
                pairs = [(p, p._grad) for p in group["params"] if not p.stop_gradient and p._grad is not None]
                if pairs:
                    self._step_group(pairs, group)

    def _step_group(self, pairs: Pairs, group: dict[str, Any]) -> None:
        clip = group.get("grad_clip", self._grad_clip)
        pairs = [(p, dense(g)) for p, g in pairs]
        if clip is not None:
            pairs = clip(pairs)
        pairs = [(p, g if dtype_of(g) == dtype_of(p) else g.astype(p.dtype)) for p, g in pairs]
        rate = self.get_lr()
        made: dict[tuple[Any, Any], Batch] = {}
        for p, g in pairs:
            own = (getattr(p, "optimize_attr", None) or {}).get("learning_rate", 1.0)
            lr = own() if isinstance(own, LRScheduler) else rate * float(own)
            decay, g = self._penalised(p, g, group)
            key = key_of(lr), key_of(decay)
            batch = made.get(key)
            if batch is None:
                batch = made[key] = Batch(lr, decay)
            batch.params.append(p)
            batch.grads.append(g)
        for batch in made.values():
            self._update(batch, group)

    def _penalised(self, p: Any, g: Any, group: dict[str, Any]) -> tuple[float, Any]:
        """The L2 coefficient left to the rule, and the gradient with what is not left to it."""
        own = getattr(p, "regularizer", None)
        decay = own if own is not None else group.get("weight_decay", self.regularization)
        if decay is None:
            return 0.0, g
        number = coefficient_of(decay)
        if number is not None and self._decays_itself:
            return number, g
        return 0.0, ew.add(g, decay(p.detach()))

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        """Run the rule on parameters of one rate; every optimiser defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no update")

    def _option(self, name: str, group: dict[str, Any]) -> Any:
        """An option of the group, or the optimiser's (kept as `_name`)."""
        return group.get(name, getattr(self, "_" + name))

    # -------------------------------------------------------------------- state

    def _initial(self, name: str, p: Any) -> Any:
        """The state of one kind before the first step: an array, or a tensor."""
        return bridge.zeros_like(p)

    def _state(self, p: Any) -> dict[str, Any]:
        """The state of a parameter; made, or taken from what was loaded, when it is first asked for."""
        state = self._states.get(id(p))
        if state is None:
            state = {"parameter": p}
            for name in self._accumulators:
                made = self._initial(name, p)
                made.name = key = unique_name.generate(f"{p.name}_{name}")  # _0, and _1 in the next optimiser of p
                made.persistable = True
                if key in self._waiting:
                    made.set_value(self._waiting.pop(key))
                elif self._was_given:
                    raise AssertionError(
                        f"{type(self).__name__}: the state that was loaded has no {key!r}; it goes with other parameters, "
                        "or with an optimiser that was made earlier for the same ones"
                    )
                state[name] = made
            self._states[id(p)] = state
            self._loaded(state)
        return state

    def _loaded(self, state: dict[str, Any]) -> None:
        """Derive from the state of a parameter what is kept beside it."""

    def state_dict(self) -> dict[str, Any]:
        """The state of all parameters by name, and that of the schedule as "LR_Scheduler"."""
        result: dict[str, Any] = {}
        states = [self._states[id(p)] for p in self._parameters() if id(p) in self._states]
        for name in self._accumulators:
            for state in states:
                result[state[name].name] = state[name]
        result.update(self._waiting)
        if isinstance(self._learning_rate, LRScheduler):
            result["LR_Scheduler"] = self._learning_rate.state_dict()
        return result

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; what belongs to parameters that have made no step yet waits for it."""
        given = dict(state_dict)
        given.pop("master_weights", None)
        schedule = given.pop("LR_Scheduler", None)
        if isinstance(self._learning_rate, LRScheduler):
            if schedule is None:
                raise AssertionError("set_state_dict: the state has no LR_Scheduler, but a schedule gives the rate")
            self._learning_rate.set_state_dict(schedule)
        for state in self._states.values():
            for name in self._accumulators:
                key = state[name].name
                if key not in given:
                    raise AssertionError(f"set_state_dict: the state has no {key!r}")
                _check_state(state[name], given[key])
                state[name].set_value(given.pop(key))
            self._loaded(state)
        self._waiting, self._was_given = given, bool(given)

    set_dict = load_state_dict = set_state_dict

    def get_opti_var_name_list(self) -> list[str]:
        """The names of the tensors of the state."""
        return [state[name].name for name in self._accumulators for state in self._states.values()]

    # -------------------------------------------------------------------- gradients

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zero, or forget them; raises IndexError where there are none."""
        self._check_not_empty()
        for p in self._parameters():
            if not p.stop_gradient:
                p.clear_gradient(set_to_zero)

    clear_gradients = clear_grad

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        self.clear_grad(not set_to_none)

    def backward(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None,
        callbacks: Sequence[Callable[..., Any]] | None = None,
    ) -> Pairs:  # fmt: skip
        """The parameters that have gradients, with these (after `loss.backward()`).

        What belongs to static programs changes nothing: startup_program, no_grad_set, callbacks.
        """
        return [(p, p.grad) for p in parameters or self._parameters() if not p.stop_gradient and p._grad is not None]

    def minimize(
        self, loss: Any, startup_program: Any = None, parameters: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], Pairs]:
        """Change the parameters by the gradients that `loss.backward()` has left; returns [] and these pairs.

        What belongs to static programs changes nothing: startup_program, no_grad_set.
        """
        if not isinstance(loss, Value):
            raise AssertionError(f"minimize: the loss must be a Tensor, got {type(loss).__name__}")
        pairs = self.backward(loss, parameters=parameters)
        self.apply_gradients(pairs)
        return [], pairs

    def apply_gradients(self, params_grads: Pairs) -> list[Any]:
        """Change parameters by the given gradients."""
        with grad_mode(False):
            for group in self._param_groups:
                members = {id(p) for p in group["params"]}
                pairs = [(p, g) for p, g in params_grads if id(p) in members and g is not None]
                if pairs:
                    self._step_group([(p, g.detach()) for p, g in pairs], group)
        return []


def _check_state(own: Any, given: Any) -> None:
    shape = list(given.shape if hasattr(given, "shape") else np.shape(given))
    if shape != list(shape_of(own)):
        raise AssertionError(f"set_state_dict: {own.name} has shape {list(shape_of(own))}, the state has {shape}")


class RuleOptimizer(Optimizer):
    """An optimiser that is a row (rules.py): its rule changes the parameters."""

    _row: ClassVar[OptimiserRow]
    _options: ClassVar[Any]
    _columns: ClassVar[Any]
    _beta1: Any
    _beta2: Any
    _counts_by: ClassVar[tuple[str, str, int]] = ("", "", 0)
    """The state that stands for the number of steps, the beta of which it is a power, how far the power is ahead."""

    def _set_up(self, row: OptimiserRow, options: dict[str, Any]) -> None:
        """Make the optimiser of a row; `_name` is what `name` was given as."""
        for name, value in options.items():
            if isinstance(value, Value) and name not in _OF_ALL:
                options[name] = float(value.item())
        row.check(options)
        for name, value in options.items():
            if name not in _OF_ALL:
                setattr(self, "_" + name, value)
        self._accumulators = tuple([s.name for s in row.states if not s.condition or options[s.condition]])
        self._follow = [name for name in self._accumulators if name in _FOLLOWS]
        self._decays_itself = row.decays
        Optimizer.__init__(self, *[options.get(name) for name in _OF_ALL])
        if options.get("multi_precision"):
            _refuse_master_weights(row.name, self._parameters())
        if row.then is not None:
            row.then(self)

    def _update(self, batch: Batch, group: dict[str, Any]) -> None:
        if self._row.counted:
            for part in bridge.batches(self._entries(batch, group)):
                self._run(part, group, batch, step=part.step)
            return
        if self._accumulators:
            batch.states = [self._state(p) for p in batch.params]
        self._run(batch, group, batch)

    def _run(self, part: bridge.Batch, group: dict[str, Any], batch: Batch, **further: Any) -> None:
        """Run the rule on a part of a batch, with the options of the group and the further ones given."""
        columns = self._columns(group, part)
        bridge.update(self._row.rule, part.params, part.grads, *columns, **self._options(group, batch), **further)

    def _entries(self, batch: Batch, group: dict[str, Any], counter: str = "") -> Iterator[tuple[Any, Any, Any, tuple[Any, ...]]]:
        """The parameters of a batch, one step further: each with gradient, state and counts."""
        betas = (group.get("beta1", self._beta1), group.get("beta2", self._beta2)) if self._follow else ()
        for p, g in zip(batch.params, batch.grads):
            state = self._state(p)
            step = bridge.advance(state["step"])
            for name in self._follow:
                bridge.put(state[name], _FOLLOWS[name](step, *betas))
            yield p, g, state, (step, bridge.count_of(state[counter])) if counter else (step,)

    def _initial(self, name: str, p: Any) -> Any:
        if name in _FOLLOWS:
            group = self._group_of(p)
            start = _FOLLOWS[name](0, self._option("beta1", group), self._option("beta2", group)) if name != "rho" else 0.0
            if not name.endswith("_acc"):
                return bridge.full_like(p, start)
            return from_array(np.full((1,), start, np.float64 if dtype_of(p) == np.float64 else np.float32))
        start = next(s.start for s in self._row.states if s.name == name)
        return bridge.full_like(p, getattr(self, "_" + start) if isinstance(start, str) else start)

    def _group_of(self, p: Any) -> dict[str, Any]:
        return next(group for group in self._param_groups if any(p is x for x in group["params"]))

    def _loaded(self, state: dict[str, Any]) -> None:
        name, option, ahead = self._counts_by
        if name:
            beta = self._option(option, self._group_of(state["parameter"]))
            state["step"] = from_array(np.array(max(_exponent(state[name], beta) - ahead, 0)))


_OF_ALL = ("learning_rate", "parameters", "weight_decay", "grad_clip", "name")
_FOLLOWS: dict[str, Callable[[Any, Any, Any], Any]] = {
    "beta1_pow_acc": lambda step, beta1, beta2: beta1 ** (step + 1),
    "beta2_pow_acc": lambda step, beta1, beta2: beta2 ** (step + 1),
    "beta1_pow": lambda step, beta1, beta2: beta1**step,
    "beta2_pow": lambda step, beta1, beta2: beta2**step,
    "momentum_decay_pow": lambda step, beta1, beta2: 0.96**step,
    "rho": lambda step, beta1, beta2: step * beta2**step / (1 - beta2**step),
}
"""The kinds of state that follow from the number of steps and the betas."""


def first_of(x: Any) -> float:
    """The first element of a tensor of the state, 1 where it has none."""
    return float(np.asarray(x._a).reshape(-1)[0]) if x.size else 1.0


def _exponent(power: Any, beta: float) -> int:
    """The exponent of a power of beta."""
    value = first_of(power)
    return round(math.log(value) / math.log(beta)) if 0 < beta < 1 and 0 < value < 1 else 0


def _refuse_master_weights(optimizer: str, params: Sequence[Any]) -> None:
    """Raise NotImplementedError for half-precision parameters that want float32 copies."""
    for p in params:
        if FROM_NUMPY[dtype_of(p)].itemsize < 4:
            raise NotImplementedError(
                f"{optimizer}: multi_precision=True keeps float32 copies of {p.dtype} parameters on GPUs; here keep "
                "the parameters in float32"
            )
