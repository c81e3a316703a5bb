"""`Layer`: a tree of parameters, buffers and sublayers with a forward function."""

from __future__ import annotations

import re
import warnings
from collections import OrderedDict, namedtuple
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np

from ....._state import grad_mode
from .....core.value import Value, dtype_of, shape_of
from .....learn import modules as tree
from .....learn.modules import Kind, Kinds, Tree
from .....ops.structural import cast
from ...._shared import guard
from ...._shared.module_hooks import after_forward, before_forward
from ...._shared.registry import Message, misspelt, near
from ..._device import check_device
from ..._dtype import FROM_NUMPY, as_dtype, get_default_dtype
from ..._parameter import EagerParamBase, parameter_of, unique_name
from ..._tensor import Tensor, from_array

_IncompatibleKeys = namedtuple("_IncompatibleKeys", ["missing_keys", "unexpected_keys"])


def scope_name(cls: type) -> str:
    """The name of a class in words: ReLU6 is re_lu6, Conv2DTranspose conv2d_transpose."""
    name = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", cls.__name__)
    return re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower()


class HookRemoveHelper:
    """What registering a hook returns: `remove()` takes the hook away."""

    _next = 0

    def __init__(self, *tables: dict[int, Any]) -> None:
        self._tables = tables
        self._id = HookRemoveHelper._next
        HookRemoveHelper._next += 1

    def remove(self) -> None:
        """Take the hook away; nothing happens where it is gone already."""
        for table in self._tables:
            table.pop(self._id, None)


class Layer(Tree):
    """Base of all layers and networks: set parameters and sublayers as attributes, define `forward`, call it.

    name_scope: the name that parameters get (with a number); the class's by default.

    Examples
    --------
    >>> from retrograde.dialects.paddle import nn
    >>> class Net(nn.Layer):
    ...     def __init__(self):
    ...         super().__init__()
    ...         self.fc = nn.Linear(2, 1)
    ...     def forward(self, x):
    ...         return self.fc(x)
    >>> [name for name, _ in Net().named_parameters()]
    ['fc.weight', 'fc.bias']
    """

    training: bool
    _tree_transient = "_non_persistable_buffer_names_set"

    def __init__(self, name_scope: str | None = None, dtype: Any = "float32") -> None:
        tree.init_tables(self)
        plain = self.__dict__
        plain["training"] = True
        plain["_full_name"] = unique_name.generate(scope_name(type(self)) if name_scope is None else name_scope)
        plain["_dtype"] = dtype
        plain["_parameter_counts"] = {"w": 0, "b": 0}
        plain["_forward_pre_hooks"], plain["_forward_post_hooks"] = OrderedDict(), OrderedDict()
        plain["_state_dict_hooks"] = OrderedDict()

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """Compute the layer's result; every layer defines it."""
        raise NotImplementedError(f"{type(self).__name__} defines no forward{misspelt(self, 'forward')}")

    def __call__(self, *inputs: Any, **kwargs: Any) -> Any:
        if guard.several:
            guard.check_call("paddle", self, inputs)
        own = self.__dict__
        if not own["_forward_pre_hooks"] and not own["_forward_post_hooks"]:
            return self.forward(*inputs, **kwargs)
        inputs, kwargs = before_forward(self, list(own["_forward_pre_hooks"].values()), (True,), inputs, kwargs)
        hooks = list(own["_forward_post_hooks"].values())
        try:
            outputs = self.forward(*inputs, **kwargs)
        except Exception:
            for hook, with_kwargs, always in hooks:
                if always:
                    after_forward(self, hook, with_kwargs, inputs, kwargs, None)
            raise
        for hook, with_kwargs, _ in hooks:
            found = hook(self, inputs, kwargs, outputs) if with_kwargs else hook(self, inputs, outputs)
            outputs = outputs if found is None else found
        return outputs

    # -------------------------------------------------------------------- what a Tree asks

    def _tree_enter(self, kind: Kind, name: str, value: Any) -> None:
        transient = self.__dict__["_non_persistable_buffer_names_set"]
        kept = name in self.__dict__["_buffers"] and name not in transient
        tree.forget(self, name, kind)
        if kind.table == "_buffers" and not kept:  # a new tensor attribute is a buffer that no state dict holds
            transient.add(name)
        self.__dict__[kind.table][name] = value

    def _tree_absent(self, name: str) -> AttributeError:
        return AttributeError(Message(lambda: (
            f"{type(self).__name__} has no attribute {name!r}{near(name, tree.known_names(self))}"
        )))  # fmt: skip

    def __setattr__(self, name: str, value: Any) -> None:
        prop = getattr(type(self), name, None)
        if isinstance(prop, property):
            object.__setattr__(self, name, value)
            return
        if isinstance(value, (Layer, Value)) and "_sub_layers" not in self.__dict__:
            raise ValueError(f"{type(self).__name__}: call super().__init__() before the first attribute, {name!r}")
        super().__setattr__(name, value)

    # -------------------------------------------------------------------- members

    def create_parameter(
        self, shape: Any, attr: Any = None, dtype: Any = None, is_bias: bool = False, default_initializer: Any = None,
        device: Any = None,
    ) -> Any:  # fmt: skip
        """A new parameter, or None for `attr=False`; set it as an attribute to make it one of this layer's.

        attr: a ParamAttr, an initialiser or a name. Without an initialiser weights are Xavier-uniform, biases zero.
        Raises ValueError for a device that is not the CPU.
        """
        check_device("create_parameter", device)
        if attr is False:
            return None
        kind = "b" if is_bias else "w"

        def name() -> str:
            counts = self.__dict__["_parameter_counts"]
            counts[kind] += 1
            return f"{self._full_name}.{kind}_{counts[kind] - 1}"

        return parameter_of(
            shape, attr, get_default_dtype() if dtype is None else dtype, is_bias, default_initializer, name
        )

    def create_tensor(self, name: str | None = None, persistable: bool | None = None, dtype: Any = None) -> Tensor:
        """An empty tensor, with a name."""
        d = as_dtype("create_tensor", self._dtype or "float32" if dtype is None else dtype)
        made = from_array(np.zeros((0,), d.np))
        if name is not None:
            made.name = name
        made.persistable = bool(persistable)
        return made

    create_variable = create_tensor

    def add_parameter(self, name: str, parameter: Any) -> Any:
        """Make a parameter (or None) an attribute; returns it. TypeError or KeyError for what cannot be one."""
        self._check_name("add_parameter", name)
        if parameter is not None and not isinstance(parameter, EagerParamBase):
            raise TypeError(f"add_parameter: wanted a parameter or None, got {type(parameter).__name__}")
        if tree.taken(self, name, self._tree_kinds.parameters):
            raise KeyError(f"add_parameter: {type(self).__name__} has an attribute {name!r} already")
        self.__dict__["_parameters"][name] = parameter
        return parameter

    def register_parameter(self, name: str, param: Any) -> None:
        """`add_parameter`."""
        self.add_parameter(name, param)

    def add_sublayer(self, name: str, sublayer: Any) -> Any:
        """Make a layer (or None) an attribute; returns it."""
        if sublayer is not None and not isinstance(sublayer, Layer):
            raise AssertionError(f"add_sublayer: wanted a Layer or None, got {type(sublayer).__name__}")
        self.__dict__["_sub_layers"][str(name)] = sublayer
        return sublayer

    def add_module(self, name: str, module: Any) -> None:
        """`add_sublayer`."""
        self.add_sublayer(name, module)

    register_module = add_module

    def register_buffer(self, name: str, tensor: Any, persistable: bool = True) -> None:
        """Make a tensor (or None) an attribute that is no parameter; state dicts hold it unless `persistable=False`."""
        self._check_name("register_buffer", name)
        if tree.taken(self, name, self._tree_kinds.buffers):
            raise KeyError(f"register_buffer: {type(self).__name__} has an attribute {name!r} already")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: wanted a Tensor or None, got {type(tensor).__name__}")
        self.__dict__["_buffers"][name] = tensor
        transient = self.__dict__["_non_persistable_buffer_names_set"]
        transient.discard(name) if persistable else transient.add(name)

    def _check_name(self, op: str, name: Any) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{op}: the name must be a string, got {type(name).__name__}")
        if "." in name or not name:
            raise KeyError(f"{op}: the name must not be empty or contain a dot, got {name!r}")

    # -------------------------------------------------------------------- walks

    def full_name(self) -> str:
        """The name of the layer, with its number among those of its kind."""
        return self._full_name

    def named_parameters(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:  # fmt: skip
        """The parameters of this layer and those below, with their paths, each once."""
        return tree.members(self, self._tree_kinds.parameters, prefix, include_sublayers, remove_duplicate)

    def parameters(self, include_sublayers: bool = True) -> list[Any]:
        """The parameters of this layer and those below, each once."""
        if include_sublayers and type(self).named_parameters is Layer.named_parameters:
            return tree.entries(self, self._tree_kinds.parameters)
        return [p for _, p in self.named_parameters(include_sublayers=include_sublayers)]

    def named_buffers(
        self, prefix: str = "", include_sublayers: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:  # fmt: skip
        """The buffers of this layer and those below, with their paths, each once."""
        return tree.members(self, self._tree_kinds.buffers, prefix, include_sublayers, remove_duplicate)

    def buffers(self, include_sublayers: bool = True) -> list[Any]:
        """The buffers of this layer and those below, each once."""
        return [b for _, b in self.named_buffers(include_sublayers=include_sublayers)]

    def named_sublayers(
        self, prefix: str = "", include_self: bool = False, layers_set: set[Any] | None = None,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Layer]]:  # fmt: skip
        """All layers below, with their paths, each once; this one too with `include_self`."""
        for path, layer in tree.walk(self, prefix, remove_duplicate, layers_set):
            if include_self or layer is not self:
                yield path, layer

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Layer]]:  # fmt: skip
        """This layer and all below, with their paths."""
        return tree.walk(self, prefix, remove_duplicate, memo)

    def modules(self) -> Iterator[Layer]:
        """This layer and all below."""
        return (layer for _, layer in self.named_modules())

    def sublayers(self, include_self: bool = False) -> list[Layer]:
        """All layers below; this one too with `include_self`."""
        return [layer for _, layer in self.named_sublayers(include_self=include_self)]

    def named_children(self) -> Iterator[tuple[str, Layer]]:
        """The direct sublayers with their names, each once."""
        return tree.named_children(self)

    def children(self) -> Iterator[Layer]:
        """The direct sublayers, each once."""
        return (child for _, child in self.named_children())

    def get_sublayer(self, target: str) -> Layer:
        """The layer below at a path of names with dots; AttributeError where there is none."""
        return tree.below(self, target)  # type: ignore[no-any-return]

    get_submodule = get_sublayer

    def set_sublayer(self, target: str, layer: Layer, strict: bool = False) -> None:
        """Put a layer at a path of names with dots; with `strict` only in the place of another."""
        path, _, name = target.rpartition(".")
        if not name:
            raise ValueError("set_sublayer: the path must not be empty")
        if not isinstance(layer, Layer):
            raise ValueError(f"set_sublayer: wanted a Layer, got {type(layer).__name__}")
        parent = self.get_sublayer(path)
        if strict and not hasattr(parent, name):
            raise AttributeError(f"set_sublayer: there is no {target!r} to replace")
        setattr(parent, name, layer)

    set_submodule = set_sublayer

    def get_parameter(self, target: str) -> Any:
        """The parameter at a path of names with dots."""
        return self._member(target, "_parameters", "parameter")

    def get_buffer(self, target: str) -> Any:
        """The buffer at a path of names with dots."""
        return self._member(target, "_buffers", "buffer")

    def _member(self, target: str, table: str, word: str) -> Any:
        path, _, name = target.rpartition(".")
        found = self.get_sublayer(path).__dict__[table].get(name)
        if found is None:
            raise AttributeError(f"{type(self).__name__} has no {word} {target!r}")
        return found

    # -------------------------------------------------------------------- modes and hooks

    def train(self, mode: bool = True) -> Layer:
        """Put this layer and all below into training mode (or evaluation for False); returns it."""
        for _, layer in tree.walk(self):
            layer.training = mode
        return self

    def eval(self) -> Layer:
        """Put this layer and all below into evaluation mode; returns it."""
        return self.train(False)

    def requires_grad_(self, requires_grad: bool = True) -> Layer:
        """Say whether gradients with respect to the parameters are wanted; returns the layer."""
        for p in self.parameters():
            p.stop_gradient = not requires_grad
        return self

    def clear_gradients(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zero, or forget them."""
        for p in self.parameters():
            if not p.stop_gradient:
                p.clear_gradient(set_to_zero)

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Forget the gradients of all parameters, or set them to zero."""
        self.clear_gradients(not set_to_none)

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookRemoveHelper:
        """Call `hook(layer, inputs)` before `forward`; what it returns takes the place of the inputs."""
        return self._add_hook("_forward_pre_hooks", (with_kwargs, hook), prepend)

    def register_forward_post_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookRemoveHelper:
        """Call `hook(layer, inputs, outputs)` after `forward`; what it returns takes the place of the outputs."""
        return self._add_hook("_forward_post_hooks", (hook, with_kwargs, always_call), prepend)

    register_forward_hook = register_forward_post_hook

    def register_state_dict_hook(self, hook: Callable[[Any], Any]) -> HookRemoveHelper:
        """Call `hook(state)` on what `state_dict` gives; what it returns takes its place."""
        return self._add_hook("_state_dict_hooks", (hook,), False)

    def _add_hook(self, name: str, entry: tuple[Any, ...], prepend: bool) -> HookRemoveHelper:
        table = self.__dict__[name]
        handle = HookRemoveHelper(table)
        table[handle._id] = entry
        if prepend:
            table.move_to_end(handle._id, last=False)
        return handle

    # -------------------------------------------------------------------- state

    def state_dict(
        self, destination: Any = None, include_sublayers: bool = True, structured_name_prefix: str = "",
        use_hook: bool = True, keep_vars: bool = True,
    ) -> Any:  # fmt: skip
        """Parameters and persistable buffers of this layer and those below by path (the tensors themselves)."""
        return self._state(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, False)

    def to_static_state_dict(
        self, destination: Any = None, include_sublayers: bool = True, structured_name_prefix: str = "",
        use_hook: bool = True, keep_vars: bool = True,
    ) -> Any:  # fmt: skip
        """`state_dict` with the buffers that are not persistable too."""
        return self._state(destination, include_sublayers, structured_name_prefix, use_hook, keep_vars, True)

    def _state(self, destination: Any, below: bool, prefix: str, use_hook: bool, keep: bool, every: bool) -> Any:
        state: Any = OrderedDict() if destination is None else destination
        nodes: Any = tree.walk(self, unique=False) if below else [("", self)]
        for path, node in nodes:
            entries = tree.own_state(node) if not every else (
                (name, x) for table in ("_parameters", "_buffers") for name, x in node.__dict__[table].items()
                if x is not None)  # fmt: skip
            for name, x in entries:
                state[f"{prefix}{path}.{name}" if path else prefix + name] = x if keep else x.detach()
        if use_hook:
            for (hook,) in self.__dict__["_state_dict_hooks"].values():
                changed = hook(state)
                state = state if changed is None else changed
        return state

    def set_state_dict(self, state_dict: Mapping[str, Any], use_structured_name: bool = True) -> Any:
        """Write the values of a state dict into this layer's parameters and buffers, matched by path, or by the
        tensors' own names; returns the missing and the unexpected keys.

        Tensors of another shape are left as they are, with a warning. Raises AssertionError for another dtype, TypeError
        for what is no dict.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"set_state_dict: wanted a dict from names to Tensors, got {type(state_dict).__name__}; "
                "give what state_dict() or paddle.load(path) returned"
            )
        own = self.state_dict(use_hook=False)
        missing, unused = [], dict.fromkeys(state_dict)
        for path, target in own.items():
            key = path if use_structured_name else target.name
            if key not in state_dict:
                missing.append(path)
                continue
            value = state_dict[key]
            given = list(value.shape if hasattr(value, "shape") else np.shape(value))
            if given != list(shape_of(target)):
                warnings.warn(
                    f"set_state_dict: skip {path}, which has shape {list(shape_of(target))}; the state has {given}",
                    stacklevel=2,
                )
                missing.append(path)
                continue
            unused.pop(key)
            self._write(path, target, value)
        return missing, list(unused)

    set_dict = load_dict = set_state_dict

    def _write(self, path: str, target: Any, value: Any) -> None:
        d = dtype_of(value) if isinstance(value, Value) else np.asarray(value).dtype
        if d != dtype_of(target):
            raise AssertionError(
                f"set_state_dict: {path} has dtype {target.dtype}, the state has {FROM_NUMPY.get(d, d)}; convert one"
            )
        target.set_value(value)

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True, assign: bool = False) -> Any:
        """`set_state_dict` that raises RuntimeError, where `strict`, for keys that are missing or unexpected.

        The values are written into the layer's own tensors, with `assign` too.
        """
        missing, unexpected = self.set_state_dict(state_dict)
        if strict and (missing or unexpected):
            raise RuntimeError(
                f"load_state_dict: the state does not fit {type(self).__name__}: missing {missing}, "
                f"unexpected {unexpected}; pass strict=False to load what fits"
            )
        return _IncompatibleKeys(missing, unexpected)

    # -------------------------------------------------------------------- dtypes and devices

    def to(self, device: Any = None, dtype: Any = None, blocking: bool | None = None,
           non_blocking: bool | None = None) -> Layer:  # fmt: skip
        """Convert the parameters and buffers to a dtype; the device is the CPU always. Returns the layer."""
        if device is not None:
            check_device("Layer.to", device)
        if dtype is not None:
            self._convert(dtype, floating_only=False)
        return self

    def _convert(self, dtype: Any, floating_only: bool = True, excluded: Any = None) -> Layer:
        d = as_dtype(f"{type(self).__name__}.to", dtype)
        skipped = _excluded(excluded)
        for _, layer in tree.walk(self):
            if any(layer is s or (isinstance(s, type) and isinstance(layer, s)) for s in skipped):
                continue
            layer.__dict__["_dtype"] = d.label
            for table in ("_parameters", "_buffers"):
                for x in layer.__dict__[table].values():
                    if x is None or (floating_only and FROM_NUMPY[dtype_of(x)].category != 2):
                        continue
                    _recast(x, d.np)
        return self

    def astype(self, dtype: Any = None) -> Layer:
        """Convert the floating parameters and buffers to a dtype; returns the layer."""
        return self if dtype is None else self._convert(dtype)

    def type(self, dst_type: Any) -> Layer:
        """`astype`."""
        return self.astype(dst_type)

    def float(self, excluded_layers: Any = None) -> Layer:
        """Convert to float32; returns the layer."""
        return self._convert("float32", excluded=excluded_layers)

    def double(self) -> Layer:
        """Convert to float64; returns the layer."""
        return self._convert("float64")

    def float16(self, excluded_layers: Any = None) -> Layer:
        """Convert to float16; returns the layer."""
        return self._convert("float16", excluded=excluded_layers)

    def half(self) -> Layer:
        """Convert to float16; returns the layer."""
        return self._convert("float16")

    def bfloat16(self, excluded_layers: Any = None) -> Layer:
        """Convert to bfloat16; returns the layer."""
        return self._convert("bfloat16", excluded=excluded_layers)

    def cpu(self) -> Layer:
        """The layer itself: it is on the CPU."""
        return self

    def cuda(self, device: Any = None) -> Layer:
        """Raises ValueError: there is no GPU here."""
        check_device("Layer.cuda", "gpu")
        return self

    # -------------------------------------------------------------------- text

    def extra_repr(self) -> str:
        """What the text of the layer says beside its name and sublayers."""
        return ""

    def __repr__(self) -> str:
        text = tree.described(type(self).__name__, self.extra_repr(), self.__dict__["_sub_layers"].items())
        # What a layer with sublayers says of itself stands on the first line.
        return text.replace("(\n  ", "(", 1) if self.extra_repr() and self.__dict__["_sub_layers"] else text


def _excluded(layers: Any) -> tuple[Any, ...]:
    if layers is None:
        return ()
    return tuple(layers) if isinstance(layers, (list, tuple)) else (layers,)


def _recast(x: Any, np_dtype: np.dtype) -> None:
    """Change the dtype of a parameter or buffer, which stays the same object."""
    if dtype_of(x) != np_dtype:
        with grad_mode(False):
            x.data = cast(x.detach(), dtype=np_dtype)


tree.define_kinds(Layer, Kinds(
    Kind("_parameters", "parameter", (EagerParamBase,), (EagerParamBase,)),
    Kind("_sub_layers", "sublayer", (Layer,), (Layer,)),
    Kind("_buffers", "buffer", (Tensor,), (Tensor,)),
))
