"""`Module`: a tree of parameters, buffers and submodules with a forward function."""

from __future__ import annotations

import contextlib
import warnings
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from .....core.value import shape_of
from .....learn import modules as tree
from .....learn.modules import Kind, Kinds
from .....learn.modules import indented as _addindent  # noqa: F401 - modules that write their own repr import it here
from ...._shared import guard
from ...._shared.registry import misspelt
from ...._shared.state_dicts import _IncompatibleKeys, collected, new_destination
from ..._api import Message, near
from ..._grad_modes import no_grad
from ..._tensor import Tensor
from ..parameter import Buffer, Parameter
from . import _module_hooks as hooks
from ._module_hooks import GLOBAL as _GLOBAL_HOOKS
from ._module_hooks import (
    register_module_backward_hook,
    register_module_buffer_registration_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)  # fmt: skip

_EXTRA_STATE_KEY_SUFFIX = "_extra_state"
_global_parameter_registration_hooks = hooks.REGISTRATION["parameter"]
_HOOK_TABLES = (
    "_backward_pre_hooks", "_backward_hooks", "_old_backward_hooks", "_forward_hooks", "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called", "_forward_pre_hooks", "_forward_pre_hooks_with_kwargs", "_state_dict_hooks",
    "_state_dict_pre_hooks", "_load_state_dict_pre_hooks", "_load_state_dict_post_hooks",
)  # fmt: skip


class Module(tree.Tree):
    """Base of all layers and networks: set parameters and submodules as attributes, define `forward`, call it.

    Examples
    --------
    >>> from retrograde.dialects.torch import nn
    >>> class Net(nn.Module):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = nn.Linear(2, 1)
    ...     def forward(self, x):
    ...         return self.fc(x)
    >>> sorted(name for name, _ in Net().named_parameters())
    ['fc.bias', 'fc.weight']
    """

    training: bool
    call_super_init = False
    dump_patches = False
    _version = 1

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            given = ", ".join([*(type(a).__name__ for a in args), *kwargs])
            raise TypeError(f"{type(self).__name__}: Module.__init__ takes no arguments, got {given}")
        super().__setattr__("training", True)
        tree.init_tables(self)
        own = self.__dict__
        for name in _HOOK_TABLES:
            own[name] = OrderedDict()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *input: Any) -> Any:
        """Compute the module's result; every module defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward{misspelt(self, 'forward')}")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if guard.several:
            guard.check_call("torch", self, args)
        if (
            self._forward_hooks or self._forward_pre_hooks or self._backward_hooks or self._backward_pre_hooks
            or _GLOBAL_HOOKS
        ):  # fmt: skip
            return hooks.call(self, args, kwargs)
        return self.forward(*args, **kwargs)

    # -------------------------------------------------------------------- attributes

    def _tree_enter(self, kind: Kind, name: str, value: Any) -> None:
        tree.forget(self, name, kind)
        if kind.word == "parameter":
            self.register_parameter(name, value)
        elif kind.word == "buffer":
            self.register_buffer(name, value, value.persistent)
        else:
            self._modules[name] = hooks.registered("module", self, name, value)

    def _tree_absent(self, name: str) -> AttributeError:
        return AttributeError(
            Message(lambda: f"{type(self).__name__!r} object has no attribute {name!r}{near(name, tree.known_names(self))}")
        )

    def __setstate__(self, state: dict[str, Any]) -> None:
        own = self.__dict__
        own.update(state)
        for name in _HOOK_TABLES:
            if name not in own:
                own[name] = OrderedDict()

    def _check_new(self, op: str, kind: Kind, name: Any) -> None:
        """Raise unless a member of a kind may be registered under a name."""
        if kind.table not in self.__dict__:
            raise self._tree_too_early(kind)
        if not isinstance(name, str):
            raise TypeError(f"{op}: the name must be a string, got {type(name).__name__}")
        if "." in name:
            raise KeyError(f"{op}: the name {name!r} must not contain a dot")
        if name == "":
            raise KeyError(f"{op}: the name must not be empty")
        if tree.taken(self, name, kind):
            raise KeyError(f"{op}: {type(self).__name__} has an attribute {name!r} already")

    def register_parameter(self, name: str, param: Parameter | None) -> None:
        """Make a parameter (or None) an attribute of this module."""
        self._check_new("register_parameter", self._tree_kinds.parameters, name)
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"register_parameter: wanted a Parameter or None, got {type(param).__name__}")
        if param is not None and not param.is_leaf:
            raise ValueError("register_parameter: a parameter must be a leaf, this one was computed")
        self._parameters[name] = None if param is None else hooks.registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Make a tensor (or None) a buffer: state that is no parameter; kept in `state_dict` if persistent."""
        self._check_new("register_buffer", self._tree_kinds.buffers, name)
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: wanted a tensor or None, got {type(tensor).__name__}")
        self._buffers[name] = hooks.registered("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def register_module(self, name: str, module: Module | None) -> None:
        """Make a module (or None) a submodule."""
        self.add_module(name, module)

    def add_module(self, name: str, module: Module | None) -> None:
        """Make a module (or None) a submodule."""
        if module is not None and not isinstance(module, Module):
            unpack = "; unpack it with *" if isinstance(module, (list, tuple)) else ""
            raise TypeError(
                f"{type(self).__name__}.add_module: wanted a Module or None, got {type(module).__name__}{unpack}"
            )
        self._check_new("add_module", self._tree_kinds.children, name)
        self._modules[name] = hooks.registered("module", self, name, module)

    def get_submodule(self, target: str) -> Module:
        """The submodule at a dotted path; raises AttributeError where there is none."""
        return tree.below(self, target)  # type: ignore[no-any-return]

    def set_submodule(self, target: str, module: Module, strict: bool = False) -> None:
        """Put a module at a dotted path."""
        path, _, name = target.rpartition(".")
        if not name:
            raise ValueError("set_submodule: the path must not be empty")
        setattr(self.get_submodule(path), name, module)

    def get_parameter(self, target: str) -> Parameter:
        """The parameter at a dotted path; raises AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        found = getattr(self.get_submodule(path), name)
        if not isinstance(found, Parameter):
            raise AttributeError(f"get_parameter: {target!r} is no Parameter")
        return found

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a dotted path; raises AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        owner = self.get_submodule(path)
        if name not in owner._buffers:
            raise AttributeError(f"get_buffer: {target!r} is no buffer")
        return owner._buffers[name]

    # -------------------------------------------------------------------- walking the tree

    def named_modules(
        self, memo: set[Module] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Module]]:
        """This module and all below, with their paths."""
        return tree.walk(self, prefix, remove_duplicate, memo)

    def modules(self) -> Iterator[Module]:
        """This module and all below."""
        for _, module in self.named_modules():
            yield module

    def named_children(self) -> Iterator[tuple[str, Module]]:
        """The direct submodules with their names."""
        return tree.named_children(self)

    def children(self) -> Iterator[Module]:
        """The direct submodules."""
        for _, module in self.named_children():
            yield module

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Parameter]]:
        """The parameters with their paths, each once."""
        return tree.members(self, self._tree_kinds.parameters, prefix, recurse, remove_duplicate)

    def parameters(self, recurse: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        if recurse and type(self).named_parameters is Module.named_parameters:
            yield from tree.entries(self, self._tree_kinds.parameters)
            return
        for _, x in self.named_parameters(recurse=recurse):
            yield x

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:
        """The buffers with their paths, each once."""
        return tree.members(self, self._tree_kinds.buffers, prefix, recurse, remove_duplicate)

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        for _, x in self.named_buffers(recurse=recurse):
            yield x

    # -------------------------------------------------------------------- modes and conversion

    def train(self, mode: bool = True) -> Module:
        """Training mode on or off for this module and all below."""
        if not isinstance(mode, bool):
            raise ValueError(f"train: mode must be a bool, got {mode!r}")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self) -> Module:
        """Evaluation mode: `train(False)`."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Module:
        """Say for all parameters whether their gradients are wanted."""
        for x in self.parameters():
            x.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        for x in self.parameters():
            if x.grad is not None:
                if set_to_none:
                    x.grad = None
                else:
                    x.grad = x.grad.detach()
                    x.grad.zero_()

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> Module:
        if recurse:
            for module in self.children():
                module._apply(fn)
        for x in self._parameters.values():
            if x is not None:
                with no_grad():
                    new = fn(x)
                    gradient = None if x.grad is None else fn(x.grad)
                x.data = new
                x.grad = gradient
        for name, x in self._buffers.items():
            if x is not None:
                self._buffers[name] = fn(x)
        return self

    def to(self, *args: Any, **kwargs: Any) -> Module:
        """Convert floating parameters and buffers to a dtype, and move all to a device; returns this module.

        The device "meta", where PyTorch drops the data, keeps it here: such a module serves as a template for
        `functional_call` either way.
        """
        from ..._dtype import as_dtype
        from ..._dtype import dtype as torch_dtype
        from ..._size import CPU, check_device

        wanted, where = as_dtype(kwargs.get("dtype")), kwargs.get("device")
        for a in map(as_dtype, args):
            if isinstance(a, torch_dtype):
                wanted = a
            elif isinstance(a, Tensor):
                wanted, where = a.dtype, a.device
            elif not isinstance(a, bool) and a is not None:
                where = a
        if str(where) == "meta":
            where = None
        check_device("Module.to", where)
        if wanted is not None and wanted.category < 2:
            raise TypeError(f"Module.to: only floating and complex dtypes are possible, got {wanted}")
        if wanted is not None and wanted.is_complex:
            warnings.warn("Module.to: few modules are meant for complex parameters", UserWarning, stacklevel=2)
        if wanted is None and (where is None or (str(where) == "cpu" and all(x.device is CPU for x in self._all_tensors()))):
            return self
        return self._apply(lambda x: x.to(where, wanted if x.dtype.category >= 2 else None))

    def _all_tensors(self) -> Iterator[Tensor]:
        yield from self.parameters()
        yield from self.buffers()

    def type(self, dst_type: Any) -> Module:
        """Convert all parameters and buffers to a dtype."""
        return self._apply(lambda x: x.type(dst_type))

    def float(self) -> Module:
        """Convert floating parameters and buffers to float32."""
        return self._apply(lambda x: x.float() if x.dtype.is_floating_point else x)

    def double(self) -> Module:
        """Convert floating parameters and buffers to float64."""
        return self._apply(lambda x: x.double() if x.dtype.is_floating_point else x)

    def half(self) -> Module:
        """Convert floating parameters and buffers to float16."""
        return self._apply(lambda x: x.half() if x.dtype.is_floating_point else x)

    def bfloat16(self) -> Module:
        """Convert floating parameters and buffers to bfloat16."""
        return self._apply(lambda x: x.bfloat16() if x.dtype.is_floating_point else x)

    def cpu(self) -> Module:
        """Move all parameters and buffers to the CPU; returns this module."""
        return self.to("cpu")

    def cuda(self, device: Any = None) -> Module:
        """Move all parameters and buffers to a CUDA device; raises AssertionError where there is none."""
        from ..._size import check_device

        where = "cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device
        check_device("Module.cuda", where)
        return self._apply(lambda x: x.cuda(where))

    def xpu(self, device: Any = None) -> Module:
        """Raises AssertionError: the dialect computes on the CPU."""
        from ..._size import check_device

        check_device("Module.xpu", "xpu" if device is None or isinstance(device, int) else device)
        return self

    def to_empty(self, *, device: Any, recurse: bool = True) -> Module:
        """Move to a device without the values: all parameters and buffers are new memory, yet to be filled."""
        from ..._creation import empty_like
        from ..._size import check_device

        check_device("Module.to_empty", device)
        return self._apply(lambda x: empty_like(x, device=device), recurse)

    def share_memory(self) -> Module:
        """This module, its parameters and buffers noted as shared: threads share their memory already."""
        for x in (*self.parameters(), *self.buffers()):
            x.share_memory_()
        return self

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing yet: the module runs as it is."""

    # -------------------------------------------------------------------- state

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """All parameters and persistent buffers by path, sharing memory with this module."""
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = new_destination()
        return collected(
            self, destination, prefix, keep_vars, {"version": self._version}, self._modules,
            self._state_dict_pre_hooks.values(), self._state_dict_hooks.values(),
        )  # fmt: skip

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, x in tree.own_state(self):
            destination[prefix + name] = x if keep_vars else x.detach()
        if type(self).get_extra_state is not Module.get_extra_state:
            destination[prefix + _EXTRA_STATE_KEY_SUFFIX] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """Further state for `state_dict`; a module that has some defines it."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave."""
        raise RuntimeError(f"{type(self).__name__} defines no set_extra_state, but the state dict has an extra state")

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """Copy parameters and buffers from a state dict; returns the missing and unexpected names.

        Raises RuntimeError naming every missing, unexpected (if `strict`) or misshapen entry.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict: wanted a mapping, got {type(state_dict).__name__}")
        missing: list[str] = []
        unexpected: list[str] = []
        errors: list[str] = []
        metadata = getattr(state_dict, "_metadata", None) or {}

        def load(module: Module, prefix: str, state: OrderedDict[str, Any]) -> None:
            local = metadata.get(prefix[:-1], {})
            if assign:
                local = {**local, "assign_to_params_buffers": True}
            module._load_from_state_dict(state, prefix, local, True, missing, unexpected, errors)
            below: dict[str, OrderedDict[str, Any]] = {}
            start = len(prefix)
            for key, x in state.items():
                head, dot, _ = key[start:].partition(".")
                if dot and key.startswith(prefix):
                    below.setdefault(head, OrderedDict())[key] = x
            for name, child in module._modules.items():
                if child is not None:
                    load(child, f"{prefix}{name}.", below.get(name) or OrderedDict())
            for hook in module._load_state_dict_post_hooks.values():
                found = hook(module, _IncompatibleKeys(missing, unexpected))
                if found is not None:
                    raise AssertionError(
                        f"register_load_state_dict_post_hook: the hook returned {type(found).__name__}; it must return None and "
                        "change its argument"
                    )

        load(self, "", OrderedDict(state_dict))
        if strict:
            if unexpected:
                errors.insert(0, "not in the module: " + ", ".join(f"{x!r}{near(x, missing)}" for x in unexpected))
            if missing:
                errors.insert(0, "missing from the state dict: " + ", ".join(map(repr, missing)))
        if errors:
            names = strict and (missing or unexpected)
            remedy = "rename the entries, or pass strict=False to load what has the same name" if names else "leave these out"
            raise RuntimeError(
                f"load_state_dict for {type(self).__name__}:\n\t" + "\n\t".join(errors)
                + f"\nbuild the module as it was when the state was saved; else {remedy}"
            )
        return _IncompatibleKeys(missing, unexpected)

    def _load_from_state_dict(
        self, state_dict: Any, prefix: str, local_metadata: Any, strict: bool, missing_keys: list[str],
        unexpected_keys: list[str], error_msgs: list[str],
    ) -> None:  # fmt: skip
        for hook in self._load_state_dict_pre_hooks.values():
            hook(state_dict, prefix, local_metadata, strict, missing_keys, unexpected_keys, error_msgs)
        assign = local_metadata.get("assign_to_params_buffers")
        own = set()
        state = list(tree.own_state(self))
        with no_grad() if state else contextlib.nullcontext():
            for name, x in state:
                key = prefix + name
                own.add(key)
                if key not in state_dict:
                    if strict:
                        missing_keys.append(key)
                    continue
                given = state_dict[key]
                if not isinstance(given, Tensor):
                    error_msgs.append(f"{key!r} is {guard.kind_of(given)}, wanted a tensor")
                    continue
                shape, wanted = tuple(shape_of(given)), tuple(shape_of(x))
                if shape == (1,) and not wanted:
                    given, shape = given[0], wanted  # as the earliest versions saved numbers
                if shape != wanted:
                    error_msgs.append(f"{key!r} has shape {list(shape)}, the module's has {list(wanted)}")
                elif assign:
                    if isinstance(x, Parameter) and not isinstance(given, Parameter):
                        given = Parameter(given, requires_grad=x.requires_grad)
                    setattr(self, name, given)
                else:
                    x.copy_(given)
        extra = prefix + _EXTRA_STATE_KEY_SUFFIX
        if type(self).set_extra_state is not Module.set_extra_state:
            if extra in state_dict:
                self.set_extra_state(state_dict[extra])
            elif strict:
                missing_keys.append(extra)
        elif strict and extra in state_dict:
            unexpected_keys.append(extra)
        if strict:
            for key in state_dict:
                if key not in own and key.startswith(prefix) and key != extra:
                    first, *rest = key[len(prefix) :].split(".")
                    known = first in self._parameters or (
                        first in self._buffers and first not in self._non_persistent_buffers_set
                    )
                    if not (first in self._modules if rest else known) and not (not rest and first in self._modules):
                        unexpected_keys.append(key)

    # -------------------------------------------------------------------- hooks

    def register_forward_hook(
        self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> Any:
        """Call `hook(module, args, output)` after forward; it may return another output."""
        return hooks.register(
            self._forward_hooks, hook, prepend, (with_kwargs, self._forward_hooks_with_kwargs),
            (always_call, self._forward_hooks_always_called),
        )  # fmt: skip

    def register_forward_pre_hook(self, hook: Any, *, prepend: bool = False, with_kwargs: bool = False) -> Any:
        """Call `hook(module, args)` before forward; it may return other arguments."""
        return hooks.register(self._forward_pre_hooks, hook, prepend, (with_kwargs, self._forward_pre_hooks_with_kwargs))

    def register_full_backward_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Call `hook(module, grad_input, grad_output)` when the gradients of the inputs are known."""
        if self._old_backward_hooks:
            raise RuntimeError("register_full_backward_hook: the module has hooks of the old kind, which do not go along")
        return hooks.register(self._backward_hooks, hook, prepend)

    def register_backward_hook(self, hook: Any) -> Any:
        """The old form of `register_full_backward_hook`, which it behaves as."""
        if len(self._backward_hooks) > len(self._old_backward_hooks):
            raise RuntimeError("register_backward_hook: the module has full backward hooks, which do not go along")
        return hooks.register(self._backward_hooks, hook, False, (True, self._old_backward_hooks))

    def register_full_backward_pre_hook(self, hook: Any, prepend: bool = False) -> Any:
        """Call `hook(module, grad_output)` before the gradients of the module are computed."""
        return hooks.register(self._backward_pre_hooks, hook, prepend)

    def register_state_dict_pre_hook(self, hook: Any) -> Any:
        """Call `hook(module, prefix, keep_vars)` before `state_dict` collects."""
        return hooks.register(self._state_dict_pre_hooks, hook, False)

    def register_state_dict_post_hook(self, hook: Any) -> Any:
        """Call `hook(module, state_dict, prefix, local_metadata)` after `state_dict` has collected."""
        return hooks.register(self._state_dict_hooks, hooks.Silent("register_state_dict_post_hook", hook), False)

    def _register_state_dict_hook(self, hook: Any) -> Any:
        return hooks.register(self._state_dict_hooks, hook, False)

    def register_load_state_dict_pre_hook(self, hook: Any) -> Any:
        """Call `hook(module, state_dict, prefix, ...)` before `load_state_dict` reads."""
        return hooks.register(self._load_state_dict_pre_hooks, hooks.OfModule(hook, self), False)

    def _register_load_state_dict_pre_hook(self, hook: Any, with_module: bool = False) -> Any:
        return hooks.register(self._load_state_dict_pre_hooks, hooks.OfModule(hook, self) if with_module else hook, False)

    def register_load_state_dict_post_hook(self, hook: Any) -> Any:
        """Call `hook(module, incompatible_keys)` after `load_state_dict` has read."""
        return hooks.register(self._load_state_dict_post_hooks, hook, False)

    # -------------------------------------------------------------------- text

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What the printed module says of itself."""
        return ""

    def __repr__(self) -> str:
        return tree.described(self._get_name(), self.extra_repr(), self._modules.items())


tree.define_kinds(Module, Kinds(
    Kind("_parameters", "parameter", (Parameter,), (Parameter,)),
    Kind("_modules", "submodule", (Module,), (Module,)),
    Kind("_buffers", "buffer", (Buffer,), (Tensor,)),
))

__all__ = [
    "Module", "register_module_backward_hook", "register_module_buffer_registration_hook", "register_module_forward_hook",
    "register_module_forward_pre_hook", "register_module_full_backward_hook", "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook", "register_module_parameter_registration_hook",
]  # fmt: skip
