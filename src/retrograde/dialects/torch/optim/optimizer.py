"""`Optimizer`: parameter groups, state, hooks and state dicts, which every optimiser shares; `RuleOptimizer`, the
frame of those that are rows (rules.py).
"""

from __future__ import annotations

import functools
import itertools
import warnings
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable, Iterable, Iterator
from copy import deepcopy
from typing import Any, ClassVar, TypeAlias

import numpy as np

from ....core.number import as_float
from ....learn import bridge
from ....tape import hooks
from ..._shared.guard import kind_of
from ..._shared.option_rows import OptimiserRow
from .._grad_modes import enable_grad
from .._sparse_tensor import SparseTensor
from .._tensor import Tensor
from . import _bridge

ParamsT: TypeAlias = Iterable[Any]
"""Tensors, (name, tensor) pairs, or dicts of these under "params" with options of their own."""
StateDict: TypeAlias = dict[str, Any]


class _RequiredParameter:
    """The type of `required`: the default of an option that each parameter group has to give."""

    def __repr__(self) -> str:
        return "<required parameter>"


required = _RequiredParameter()

_global_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
_global_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()


def register_optimizer_step_pre_hook(hook: Callable[..., Any]) -> hooks.Handle:
    """Call `hook(optimizer, args, kwargs)` before every step of every optimiser; it may return other args, kwargs."""
    return hooks.add(_global_pre_hooks, hook)


def register_optimizer_step_post_hook(hook: Callable[..., Any]) -> hooks.Handle:
    """Call `hook(optimizer, args, kwargs)` after every step of every optimiser."""
    return hooks.add(_global_post_hooks, hook)


def _add(table: OrderedDict[int, Callable[..., Any]], hook: Callable[..., Any], prepend: bool) -> hooks.Handle:
    handle = hooks.add(table, hook)
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


def _with_hooks(step: Callable[..., Any]) -> Callable[..., Any]:
    """`step`, surrounded by the step hooks of all optimisers and of its own."""

    @functools.wraps(step)
    def hooked_step(*args: Any, **kwargs: Any) -> Any:
        self: Optimizer = args[0]
        if _global_pre_hooks or self._optimizer_step_pre_hooks:
            for hook in itertools.chain(_global_pre_hooks.values(), self._optimizer_step_pre_hooks.values()):
                replaced = hook(self, args, kwargs)
                if replaced is None:
                    continue
                if not (isinstance(replaced, tuple) and len(replaced) == 2):
                    raise RuntimeError(
                        f"{type(self).__name__}.step: a pre-hook returned {replaced!r}; wanted None or (args, kwargs)"
                    )
                args, kwargs = replaced
        out = step(*args, **kwargs)
        if _global_post_hooks or self._optimizer_step_post_hooks:
            for hook in itertools.chain(self._optimizer_step_post_hooks.values(), _global_post_hooks.values()):
                hook(self, args, kwargs)
        return out

    hooked_step.hooked = True  # type: ignore[attr-defined]
    return hooked_step


class Optimizer:
    """Base class of optimisers: the parameters in groups, each with its options, and the state per parameter.

    Args:
        params: tensors, (name, tensor) pairs, or dicts with these under "params" and options of their own.
        defaults: the options of groups that do not give them.

    Raises:
        TypeError: `params` is a tensor, or holds something that is no tensor.
        ValueError: there are no parameters, one is not a leaf, or one stands in two groups.
    """

    def __init__(self, params: ParamsT, defaults: dict[str, Any]) -> None:
        self.defaults = defaults
        self._init_hooks()
        if isinstance(params, Tensor):
            raise TypeError("optimizer: params is a single tensor; pass an iterable of tensors or dicts: [tensor]")
        self.state: defaultdict[Any, Any] = defaultdict(dict)
        self.param_groups: list[dict[str, Any]] = []
        if not isinstance(params, Iterable):
            raise TypeError(f"optimizer: params must be an iterable of tensors or dicts, got {kind_of(params)}"
                            f"{'; pass its .parameters()' if hasattr(params, 'parameters') else ''}")  # fmt: skip
        groups = list(params)
        if not groups:
            raise ValueError(
                f"{type(self).__name__}: params is empty; a module's parameters() has those of submodules that are its "
                "attributes (keep lists of them in nn.ModuleList), and can be gone through only once"
            )
        if not isinstance(groups[0], dict):
            groups = [{"params": groups}]
        for group in groups:
            self.add_param_group(group)

    def _init_hooks(self) -> None:
        self._optimizer_step_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_step_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_load_state_dict_pre_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        self._optimizer_load_state_dict_post_hooks: OrderedDict[int, Callable[..., Any]] = OrderedDict()
        cls = type(self)
        if not getattr(cls.step, "hooked", False):
            cls.step = _with_hooks(cls.step)  # type: ignore[method-assign]

    def __getstate__(self) -> dict[str, Any]:
        return {"defaults": self.defaults, "state": self.state, "param_groups": self.param_groups}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        if "_optimizer_step_pre_hooks" not in self.__dict__:
            self._init_hooks()

    def __repr__(self) -> str:
        text = type(self).__name__ + " ("
        for i, group in enumerate(self.param_groups):
            text += f"\nParameter Group {i}\n"
            text += "".join(f"    {key}: {group[key]}\n" for key in sorted(group) if key != "params")
        return text + ")"

    # -------------------------------------------------------------------- hooks

    def register_step_pre_hook(self, hook: Callable[..., Any]) -> hooks.Handle:
        """Call `hook(optimizer, args, kwargs)` before each step; it may return other (args, kwargs)."""
        return hooks.add(self._optimizer_step_pre_hooks, hook)

    def register_step_post_hook(self, hook: Callable[..., None]) -> hooks.Handle:
        """Call `hook(optimizer, args, kwargs)` after each step."""
        return hooks.add(self._optimizer_step_post_hooks, hook)

    def register_state_dict_pre_hook(self, hook: Callable[..., None], prepend: bool = False) -> hooks.Handle:
        """Call `hook(optimizer)` before `state_dict`."""
        return _add(self._optimizer_state_dict_pre_hooks, hook, prepend)

    def register_state_dict_post_hook(self, hook: Callable[..., Any], prepend: bool = False) -> hooks.Handle:
        """Call `hook(optimizer, state_dict)` after `state_dict`; what it returns, if anything, takes its place."""
        return _add(self._optimizer_state_dict_post_hooks, hook, prepend)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any], prepend: bool = False) -> hooks.Handle:
        """Call `hook(optimizer, state_dict)` before loading; what it returns, if anything, is loaded instead."""
        return _add(self._optimizer_load_state_dict_pre_hooks, hook, prepend)

    def register_load_state_dict_post_hook(self, hook: Callable[..., None], prepend: bool = False) -> hooks.Handle:
        """Call `hook(optimizer)` after loading."""
        return _add(self._optimizer_load_state_dict_post_hooks, hook, prepend)

    # -------------------------------------------------------------------- state dicts

    def state_dict(self) -> StateDict:
        """The state and the groups with parameters replaced by their position; the tensors are shared, not copied."""
        for before in self._optimizer_state_dict_pre_hooks.values():
            before(self)
        positions: dict[int, int] = {}
        groups = []
        for group in self.param_groups:
            packed = {key: value for key, value in group.items() if key != "params"}
            for p in group["params"]:
                positions.setdefault(id(p), len(positions))
            packed["params"] = [positions[id(p)] for p in group["params"]]
            groups.append(packed)
        state = {positions[id(k)] if isinstance(k, Tensor) else k: value for k, value in self.state.items()}
        out: StateDict = {"state": state, "param_groups": groups}
        for after in self._optimizer_state_dict_post_hooks.values():
            replaced = after(self, out)
            if replaced is not None:
                out = replaced
        return out

    def load_state_dict(self, state_dict: StateDict) -> None:
        """Take over state and options from a state dict, also one that PyTorch has saved.

        Floating-point state is converted to the parameter's dtype and moved to its device, except the counts of steps.

        Raises:
            ValueError: the groups differ in number, or in the number of their parameters.
        """
        state_dict = state_dict.copy()
        for before in self._optimizer_load_state_dict_pre_hooks.values():
            replaced = before(self, state_dict)
            if replaced is not None:
                state_dict = replaced
        saved = deepcopy(state_dict["param_groups"])
        if len(saved) != len(self.param_groups):
            raise ValueError(
                f"load_state_dict: the state has {len(saved)} parameter groups, the optimizer {len(self.param_groups)}"
            )
        for i, (theirs, ours) in enumerate(zip(saved, self.param_groups)):
            if len(theirs["params"]) != len(ours["params"]):
                raise ValueError(
                    f"load_state_dict: group {i} of the state has {len(theirs['params'])} parameters, "
                    f"that of the optimizer {len(ours['params'])}"
                )
        by_position = {
            position: p
            for theirs, ours in zip(saved, self.param_groups)
            for position, p in zip(theirs["params"], ours["params"])
        }
        state: defaultdict[Any, Any] = defaultdict(dict)
        for key, value in state_dict["state"].items():
            if key in by_position:
                p = by_position[key]
                state[p] = _converted(p, value)
            else:
                state[key] = value
        for theirs, ours in zip(saved, self.param_groups):
            if "param_names" in ours and "param_names" not in theirs:
                theirs["param_names"] = ours["param_names"]
            theirs["params"] = ours["params"]
        self.__setstate__({"state": state, "param_groups": saved})
        for after in self._optimizer_load_state_dict_post_hooks.values():
            after(self)

    # -------------------------------------------------------------------- use

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or fill them with zeros."""
        if set_to_none:
            for group in self.param_groups:
                for p in group["params"]:
                    p.grad = None
            return
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    if p.grad.grad_fn is not None:
                        p.grad.detach_()
                    else:
                        p.grad.requires_grad_(False)
                    p.grad.zero_()

    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; `closure` recomputes the loss, which is returned."""
        raise NotImplementedError(f"{type(self).__name__} defines no step()")

    def add_param_group(self, param_group: dict[str, Any]) -> None:
        """Add a group of parameters; options that it does not give are the defaults.

        Raises:
            TypeError: not a dict, or parameters in a set, or something that is no tensor.
            ValueError: a tensor that is not a leaf, or is in another group already.
        """
        if not isinstance(param_group, dict):
            raise TypeError(f"add_param_group: wanted a dict, got {type(param_group).__name__}")
        params = param_group["params"]
        if isinstance(params, Tensor):
            params = [params]
        elif isinstance(params, set):
            raise TypeError("add_param_group: a set of parameters has no reliable order; pass a list")
        params = list(params)
        names: list[str] = []
        for i, entry in enumerate(params):
            if isinstance(entry, tuple):
                names.append(entry[0])
                params[i] = entry[1]
        param_group["params"] = params
        if names:
            if len(names) != len(params):
                raise ValueError("optimizer: either all parameters of a group are named or none")
            param_group["param_names"] = names
        for p in params:
            if not isinstance(p, Tensor):
                raise TypeError(f"optimizer: params holds {kind_of(p)}, wanted tensors of this dialect")
            if not self.defaults.get("differentiable") and not (p.is_leaf or p.retains_grad):
                raise ValueError(
                    "optimizer: one of the parameters was computed from others; optimise the leaf it comes from, "
                    "or detach it and require its gradient"
                )
        for name, default in self.defaults.items():
            if default is required and name not in param_group:
                raise ValueError(f"optimizer: the group gives no {name}, which has no default")
            param_group.setdefault(name, default)
        if len(set(map(id, params))) != len(params):
            warnings.warn(
                "optimizer: a parameter stands twice in one group; it will be updated once for each", stacklevel=3
            )
        if self.param_groups and ("param_names" in param_group) != ("param_names" in self.param_groups[0]):
            raise ValueError("optimizer: either all parameter groups are named or none")
        known = {id(p) for group in self.param_groups for p in group["params"]}
        if not known.isdisjoint(map(id, params)):
            raise ValueError("optimizer: a parameter stands in two groups")
        self.param_groups.append(param_group)


def _converted(p: Tensor, value: Any, key: Hashable = None) -> Any:
    """State loaded for a parameter, in the parameter's dtype and on its device; counts stay as they are."""
    if isinstance(value, Tensor):
        if key != "step" and (value.device != p.device or (p.is_floating_point() and value.dtype != p.dtype)):
            return value.to(p.device, p.dtype if p.is_floating_point() else None)
        return value
    if isinstance(value, dict):
        return {k: _converted(p, v, k) for k, v in value.items()}
    if isinstance(value, Iterable) and not isinstance(value, (str, bytes)):
        return type(value)(_converted(p, v) for v in value)  # type: ignore[call-arg]
    return value


class RuleOptimizer(Optimizer):
    """An optimiser whose step changes each parameter that has a gradient by a rule of `retrograde.learn`."""

    _row: ClassVar[OptimiserRow]
    _options: ClassVar[Any]
    _columns: ClassVar[Any]
    _counters: ClassVar[dict[str, float | str]] = {}
    """Further 0-d tensors in the state, with their first values (or the options that give these)."""

    def _set_up(self, row: OptimiserRow, options: dict[str, Any]) -> None:
        """Make the optimiser of a row."""
        _check_implementation(row.name, options)
        row.check(options)
        Optimizer.__init__(self, options.pop("params"), {n: options[n] for n in row.kept if n in options} | _settled(row))
        if row.then is not None:
            row.then(self)

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Also fills in what older versions did not save: new options, and step counts that are now tensors."""
        super().__setstate__(state)
        for group in self.param_groups:
            for name, default in self.defaults.items():
                group.setdefault(name, default)
            group.update(_settled(self._row))
        for value in self.state.values():
            for name in ("step", *self._counters) if isinstance(value, dict) else ():
                if isinstance(value.get(name), (int, float)):
                    value[name] = _bridge.scalar(value[name])

    @_with_hooks
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """Change the parameters by their gradients; `closure` recomputes the loss, which is returned."""
        loss = None
        if closure is not None:
            with enable_grad():
                loss = closure()
        # One errstate per step: overflow in an update is the user's to find in the values, as in PyTorch.
        with np.errstate(all="ignore"):
            for group in self.param_groups:
                self._update(group)
        return loss

    def _update(self, group: dict[str, Any]) -> None:
        """Change the parameters of one group by the class's rule."""
        for batch in self._batches(group):
            self._apply_rule(group, batch)

    def _apply_rule(self, group: dict[str, Any], batch: bridge.Batch, **further: Any) -> None:
        """Run the class's rule on a batch, with the group's options and the further ones given."""
        row = self._row
        options = self._given_options(group)
        if row.counted:
            options["step"] = batch.step
        columns, recorded = self._columns(group, batch), group.get("differentiable", False)
        bridge.update(row.rule, batch.params, batch.grads, *columns, recorded=recorded, **options, **further)

    def _given_options(self, group: dict[str, Any]) -> dict[str, Any]:
        """The rule's options, without tensors in them, but for those that a differentiable update depends on."""
        options: dict[str, Any] = self._options(group)
        for name, value in options.items():
            kind = type(value)
            if kind is not float and kind is not bool and kind is not int:
                if isinstance(value, (Tensor, np.generic)):
                    options[name] = _bridge.number(value, group.get("differentiable", False))
                elif kind is tuple and any(isinstance(part, Tensor) for part in value):
                    options[name] = tuple(map(float, value))
        return options

    def _init_state(self, p: Tensor, state: dict[str, Any], group: dict[str, Any]) -> None:
        """Fill the state of a parameter before its first step."""
        state["step"] = _bridge.scalar(0.0)
        for name, start in self._counters.items():
            state[name] = _bridge.scalar(float(group[start]) if isinstance(start, str) else start)
        for name, start, condition, _ in self._row.states:
            if not condition or group[condition]:
                state[name] = _bridge.full_like(p, as_float(group[start]) if isinstance(start, str) else start)

    def _sparse_update(self, group: dict[str, Any], p: Tensor, grad: SparseTensor, state: dict[str, Any]) -> None:
        """Change a parameter by a sparse gradient; raises RuntimeError where the rule has no form for them."""
        raise RuntimeError(
            f"{type(self).__name__}: sparse gradients are taken by SGD, Adagrad and SparseAdam; use one of these for the "
            "parameters of layers with sparse=True"
        )

    def _given(self, group: dict[str, Any]) -> Iterator[tuple[Any, Any]]:
        """The parameters of a group that have gradients, which are dense, with these."""
        for p in group["params"]:
            grad = p.grad
            if grad is not None:
                if grad.is_sparse:
                    self._sparse_update(group, p, grad, {})
                yield p, grad

    def _batches(self, group: dict[str, Any]) -> Iterable[bridge.Batch]:
        """The parameters of a group that have gradients, one step further; those with equal counters together."""

        def entries() -> Iterator[tuple[Any, Any, Any, tuple[float, ...]]]:
            for p in group["params"]:
                grad = p.grad
                if grad is None:
                    continue
                own = self.state[p]
                if grad.is_sparse:
                    self._sparse_update(group, p, grad, own)
                    continue
                if not own:
                    self._init_state(p, own, group)
                yield p, grad, own, (bridge.advance(own["step"]), *[bridge.count_of(own[name]) for name in self._counters])

        return bridge.batches(entries())


def _settled(row: OptimiserRow) -> dict[str, Any]:
    """The options of groups that the row says."""
    return {row.called.get(name, name): value for name, value in row.fixed.items()}  # type: ignore[misc]


def _check_implementation(name: str, options: dict[str, Any]) -> None:
    """Raise for a rate of several elements, and for implementations that exclude each other (all compute the same here)."""
    lr = options["lr"]
    if isinstance(lr, Tensor) and lr.numel() != 1:
        raise ValueError(f"{name}: lr is a tensor of {lr.numel()} elements; wanted a number or one element")
    for other in ("differentiable", "foreach"):
        if options.get("fused") and options.get(other):
            raise RuntimeError(f"{name}: fused and {other} cannot both be True")
