"""`nn.Cell`: parameters, buffers and cells by attribute, `construct`, hooks, flags, state dicts."""

from __future__ import annotations

import inspect
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from ....core.value import make
from ....learn.modules import (
    Kind,
    Kinds,
    Tree,
    below,
    define_kinds,
    described,
    forget,
    init_tables,
    known_names,
    members,
    named_children,
    own_state,
    tree_state,
    walk,
)  # fmt: skip
from ....ops.structural import cast
from ..._shared import guard
from ..._shared.module_hooks import MarkedHandle, register
from ..._shared.registry import misspelt
from ..._shared.state_dicts import _IncompatibleKeys, collected, new_destination
from .._api import missing
from .._backward import saved_tensors_hooks
from .._context import IN_GRAPHS
from .._dtype import Number, bfloat16, float16, float32
from .._jit import in_graph, is_compiled
from .._parameter import Parameter, ParameterTuple
from .._recompute import recomputed
from .._recording import keep
from .._tensor import Tensor
from . import _calls


class _Hooks:
    """The hooks of one cell, in the order in which they are called."""

    __slots__ = (
        "forward_pre", "forward", "backward_pre", "backward", "state_pre", "state_post", "load_pre", "load_post",
        "with_kwargs", "always",
    )  # fmt: skip

    def __init__(self) -> None:
        self.forward_pre: OrderedDict[int, Any] = OrderedDict()
        self.forward: OrderedDict[int, Any] = OrderedDict()
        self.backward_pre: OrderedDict[int, Any] = OrderedDict()
        self.backward: OrderedDict[int, Any] = OrderedDict()
        self.state_pre: OrderedDict[int, Any] = OrderedDict()
        self.state_post: OrderedDict[int, Any] = OrderedDict()
        self.load_pre: OrderedDict[int, Any] = OrderedDict()
        self.load_post: OrderedDict[int, Any] = OrderedDict()
        self.with_kwargs: dict[int, bool] = {}
        self.always: dict[int, bool] = {}


_RECOMPUTE_OPTIONS = (
    "output_recompute", "mp_comm_recompute", "parallel_optimizer_comm_recompute", "recompute_slice_activation",
)  # fmt: skip


class HookHandle(MarkedHandle):
    """What registering a hook of a cell returns: `remove()` takes the hook away."""

    __slots__ = ()


class Cell(Tree):
    """The base of networks: a subclass sets parameters and cells as attributes in `__init__`, computes in `construct`.

    auto_prefix: whether the parameters of cells set as attributes are named after the path of attributes to them.
    flags: attributes to set.

    A subclass may define `bprop(*inputs, out, dout)`, which returns the gradients of the inputs instead of what
    `construct` would give.

    Example:
        >>> from retrograde.dialects.mindspore import Parameter, Tensor, nn
        >>> class Scale(nn.Cell):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.factor = Parameter(Tensor([2.0]), name="factor")
        ...     def construct(self, x):
        ...         return self.factor * x
        >>> print(Scale()(Tensor([1.0, 3.0])))
        [2. 6.]
    """

    # What few cells have lives in the instance's dictionary, with these as defaults.
    training: Any = False
    requires_grad: Any = False
    _auto_prefix: Any = True
    _hooks: _Hooks | None = None
    _compute: Any = None
    """The NumPy dtype that `to_float` asked for."""
    _casting: Any = None
    """That dtype while `construct` runs: parameters are seen in it then."""
    _recomputed = False
    _saved_hooks: Any = None
    _special = False
    """Whether a call is more than `construct`."""
    param_prefix = ""
    phase = "train"
    bprop_debug = False

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "bprop" in cls.__dict__:
            cls._special = True

    def __init__(self, auto_prefix: bool = True, flags: dict[str, Any] | None = None) -> None:
        init_tables(self)
        self.__dict__["_auto_prefix"] = auto_prefix
        if flags:
            self.add_flags(**flags)

    # -------------------------------------------------------------------- calling

    def construct(self, *args: Any, **kwargs: Any) -> Any:
        """What the cell computes; a subclass defines it."""
        raise AttributeError(
            f"{type(self).__name__}: construct() is not defined; a cell computes what it returns{misspelt(self, 'construct')}"
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if guard.several:
            guard.check_call("mindspore", self, args)
        if self._special:
            return _calls.call(self, args, kwargs)
        if IN_GRAPHS:
            return in_graph(self)(*args, **kwargs)
        return self.construct(*args, **kwargs)

    # -------------------------------------------------------------------- members

    def __setattr__(self, name: str, value: Any) -> None:
        if isinstance(value, Tensor):
            table = self.__dict__.get("_params")
            if table is not None and name in table and not isinstance(value, Parameter):
                self._take_values(name, value)
                return
            if value._node is not None and not isinstance(value, Parameter):
                keep(value)
        elif isinstance(value, ParameterTuple):
            if "_params" not in self.__dict__:
                raise self._tree_too_early(self._tree_kinds.parameters)
            for p in value:
                self.__dict__["_params"].setdefault(p.name, p)
            object.__setattr__(self, name, value)
            return
        elif isinstance(value, Cell) and name in self.__dict__.get("_params", ()):
            raise KeyError(f"{type(self).__name__}.{name} is a parameter; delete it before a cell is set there")
        super().__setattr__(name, value)

    def _take_values(self, name: str, value: Tensor) -> None:
        """A Tensor set where a parameter is: the parameter takes its values."""
        parameter = self.__dict__["_params"][name]
        if parameter is None:
            raise AttributeError(f"{type(self).__name__}.{name} is a parameter without values; set it to a Parameter")
        parameter.set_data(make(Tensor, value._a, None, value._level))

    def __getattr__(self, name: str) -> Any:
        own = self.__dict__
        table = own.get("_params")
        if table is not None and name in table:
            p = table[name]
            if p is not None and (np_dtype := own.get("_casting")) is not None and p._a.dtype.kind not in "iubc":
                return cast(p, dtype=np_dtype)
            return p
        return super().__getattr__(name)

    def _tree_enter(self, kind: Kind, name: str, value: Any) -> None:
        super()._tree_enter(kind, name, value)
        if kind.table == "_params":
            if value.name.startswith("Parameter#"):
                value.name = name
        elif kind.table == "_cells" and self._auto_prefix:
            value.update_parameters_name(name + ".")

    def _tree_absent(self, name: str) -> AttributeError:
        return missing(type(self).__name__, name, lambda: known_names(self))

    def insert_param_to_cell(self, param_name: str, param: Parameter, check_name_contain_dot: bool = True) -> None:
        """Add a parameter under a name.

        Raises TypeError for no Parameter or no string, KeyError for a name that is taken or has a dot.
        """
        self._check_name("insert_param_to_cell", param_name, "_params")
        if check_name_contain_dot and "." in param_name:
            raise KeyError(f"insert_param_to_cell: the name {param_name!r} must not contain a dot")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(f"insert_param_to_cell: wanted a Parameter, got {type(param).__name__}")
        if param is not None and param.name.startswith("Parameter#"):
            param.name = param_name
        self.__dict__["_params"][param_name] = param

    def insert_child_to_cell(self, child_name: str, child_cell: Cell) -> None:
        """Add a cell under a name; its parameters keep their names.

        Raises TypeError for no Cell or no string, KeyError for a name that is taken or empty.
        """
        self._check_name("insert_child_to_cell", child_name, "_cells")
        if child_cell is not None and not isinstance(child_cell, Cell):
            raise TypeError(f"insert_child_to_cell: wanted a Cell, got {type(child_cell).__name__}")
        self.__dict__["_cells"][child_name] = child_cell

    def _check_name(self, op: str, name: Any, table: str) -> None:
        if not isinstance(name, str):
            raise TypeError(f"{op}: the name must be a string, got {type(name).__name__}")
        if not name or (hasattr(self, name) and name not in self.__dict__[table]):
            raise KeyError(f"{op}: the name {name!r} is {'taken' if name else 'empty'}")

    def register_buffer(self, name: str, tensor: Tensor | None, persistent: bool = True) -> None:
        """Add a tensor that is state but no parameter; a state dict holds it if `persistent`."""
        self._check_name("register_buffer", name, "_buffers")
        if "." in name:
            raise KeyError(f"register_buffer: the name {name!r} must not contain a dot")
        if tensor is not None and not isinstance(tensor, Tensor):
            raise TypeError(f"register_buffer: wanted a Tensor or None, got {type(tensor).__name__}")
        forget(self, name, self._tree_kinds.buffers)
        self.__dict__["_buffers"][name] = tensor
        if not persistent:
            self.__dict__[self._tree_transient].add(name)

    # -------------------------------------------------------------------- the tree

    def parameters_and_names(self, name_prefix: str = "", expand: bool = True) -> Iterator[tuple[str, Parameter]]:
        """The parameters with the paths of attributes that lead to them; without `expand`, this cell's own.

        Raises TypeError for a prefix that is no string.
        """
        if name_prefix and not isinstance(name_prefix, str):
            raise TypeError(f"parameters_and_names: the prefix must be a string, got {type(name_prefix).__name__}")
        return members(self, self._tree_kinds.parameters, name_prefix, expand)

    def get_parameters(self, expand: bool = True) -> Iterator[Parameter]:
        """The parameters, each once."""
        return (p for _, p in self.parameters_and_names(expand=expand))

    def trainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that require a gradient."""
        return [p for p in self.get_parameters(recurse) if p.requires_grad]

    def untrainable_params(self, recurse: bool = True) -> list[Parameter]:
        """The parameters that do not require a gradient."""
        return [p for p in self.get_parameters(recurse) if not p.requires_grad]

    def parameters_dict(self, recurse: bool = True) -> OrderedDict[str, Parameter]:
        """The parameters by their names."""
        return OrderedDict((p.name, p) for p in self.get_parameters(recurse))

    def update_parameters_name(self, prefix: str = "", recurse: bool = True) -> None:
        """Name the parameters after the paths of attributes to them, with a prefix; raises TypeError for no string."""
        if not isinstance(prefix, str):
            raise TypeError(f"update_parameters_name: the prefix must be a string, got {type(prefix).__name__}")
        for path, p in self.parameters_and_names(expand=recurse):
            p.name = prefix + path

    def check_names(self) -> None:
        """Raise ValueError where two parameters have one name."""
        seen: set[str] = set()
        for p in self.get_parameters():
            if p.name in seen:
                raise ValueError(f"check_names: two parameters are called {p.name!r}; give them names of their own")
            seen.add(p.name)

    def check_names_and_refresh_name(self) -> None:
        """Name the parameters after the paths of attributes to them, and check that no two have one name."""
        self.update_parameters_name()
        self.check_names()

    def buffers(self, recurse: bool = True) -> Iterator[Tensor]:
        """The buffers, each once."""
        return (x for _, x in self.named_buffers(recurse=recurse))

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Tensor]]:  # fmt: skip
        """The buffers with the paths of attributes that lead to them."""
        return members(self, self._tree_kinds.buffers, prefix, recurse, remove_duplicate)

    def cells(self) -> Any:
        """The cells set as attributes of this one."""
        return self.name_cells().values()

    def name_cells(self) -> OrderedDict[str, Cell]:
        """The cells set as attributes of this one, each once, by name."""
        return OrderedDict(named_children(self))

    def cells_and_names(self, cells: Any = None, name_prefix: str = "") -> Iterator[tuple[str, Cell]]:
        """This cell and all below with the paths that lead to them."""
        return walk(self, name_prefix, seen=cells or None)

    def get_sub_cell(self, target: str) -> Cell:
        """The cell at a path such as "backbone.0"; raises AttributeError where there is none."""
        if not isinstance(target, str):
            raise AttributeError(f"{type(self).__name__}: a path is a string, got {type(target).__name__}")
        return below(self, target)  # type: ignore[no-any-return]

    def get_buffer(self, target: str) -> Tensor:
        """The buffer at a path; raises AttributeError where there is none."""
        path, _, name = target.rpartition(".")
        table = self.get_sub_cell(path).__dict__["_buffers"]
        if name not in table:
            raise AttributeError(f"{type(self).__name__}: there is no buffer {target!r}")
        return table[name]  # type: ignore[no-any-return]

    # -------------------------------------------------------------------- flags

    def set_train(self, mode: bool = True) -> Cell:
        """Set the training flag of this cell and all below; returns the cell."""
        self.__dict__["phase"] = "train" if mode else "predict"
        for _, cell in walk(self):
            cell.__dict__["training"] = mode
        return self

    def set_grad(self, requires_grad: bool = True) -> Cell:
        """Set the flag `requires_grad`, without which gradient functions work as well; returns the cell."""
        self.__dict__["requires_grad"] = requires_grad
        return self

    def add_flags(self, **flags: Any) -> Cell:
        """Set attributes and remember them as flags; returns the cell."""
        own = self.__dict__
        own.setdefault("_flags", {}).update(flags)
        own.update(flags)
        return self

    def add_flags_recursive(self, **flags: Any) -> Cell:
        """`add_flags` on this cell and all below."""
        for _, cell in walk(self):
            cell.add_flags(**flags)
        return self

    def get_flags(self) -> dict[str, Any]:
        """The flags that have been set, `training` among them."""
        own = self.__dict__
        return {**({"training": own["training"]} if "training" in own else {}), **own.get("_flags", {})}

    def to_float(self, dst_type: Number) -> Cell:
        """Compute in another precision here and below: floating inputs and parameters are cast. Returns the cell.

        Raises ValueError for a dtype other than float16, bfloat16 and float32.
        """
        if dst_type not in (float16, bfloat16, float32):
            raise ValueError(f"to_float: wanted float16, bfloat16 or float32, got {dst_type!r}")
        for _, cell in walk(self):
            cell.__dict__.update(_compute=dst_type.np, _special=True)
        return self.add_flags_recursive(
            fp16=dst_type is float16, fp32=dst_type is float32, bf16=dst_type is bfloat16
        )

    def recompute(
        self, *, use_reentrant: bool = True, output_recompute: bool = False, early_stop: bool = True,
        context_fn: Any = None, **kwargs: Any,
    ) -> None:  # fmt: skip
        """Compute this cell's results again in the backward pass instead of keeping what it needs of them.

        The options change nothing; raises ValueError for one that there is not, TypeError for a value that is no bool.
        """
        if context_fn is not None and use_reentrant:
            raise ValueError("recompute: context_fn needs use_reentrant=False")
        for name, value in {"output_recompute": output_recompute, **kwargs}.items():
            if name not in _RECOMPUTE_OPTIONS:
                raise ValueError(f"recompute: there is no option {name!r}; there are {', '.join(_RECOMPUTE_OPTIONS)}")
            if not isinstance(value, bool):
                raise TypeError(f"recompute: {name} must be True or False, got {value!r}")
        self.__dict__.update(_recomputed=True, _special=True)

    def to(self, *args: Any, **kwargs: Any) -> Cell:
        """Convert the floating parameters and buffers to a dtype, here and below; returns the cell."""
        found = kwargs.get("dtype", next((a for a in args if isinstance(a, Number)), None))
        if found is not None:
            if found.category < 2:
                raise TypeError(f"Cell.to: wanted a floating dtype, got {found}")
            for _, x in tree_state(self):
                if x.dtype.category == 2:
                    x.set_dtype(found)
        return self

    def init_parameters_data(self, auto_parallel_mode: bool = False) -> dict[Parameter, Parameter]:
        """Fill the parameters that only have an initialiser so far; returns them, mapped to themselves."""
        return {p: p.init_data() for p in self.get_parameters()}

    def set_inputs(self, *inputs: Any, **kwargs: Any) -> None:
        """Say what inputs a compiled cell would get; they are remembered. Raises ValueError for an unknown name."""
        if kwargs:
            try:
                inputs = inspect.signature(self.construct).bind(*inputs, **kwargs).args
            except TypeError as error:
                raise ValueError(f"set_inputs: the inputs do not fit construct: {error}") from None
        self.__dict__["_inputs"] = inputs

    def get_inputs(self) -> Any:
        """What `set_inputs` was given."""
        return self.__dict__.get("_inputs")

    def compile(self, *args: Any, **kwargs: Any) -> None:
        """Nothing: cells run eagerly."""

    @property
    def jit_config_dict(self) -> dict[str, Any]:
        """The options of compilation that `set_jit_config` was given."""
        return self.__dict__.get("_jit_options", {})

    def set_jit_config(self, jit_config: Any) -> None:
        """Keep options of compilation, a `JitConfig`; they change nothing."""
        self.__dict__["_jit_options"] = jit_config.jit_config_dict

    def set_boost(self, boost_type: str) -> Cell:
        """Accept an option of other devices; returns the cell."""
        return self

    def set_broadcast_flag(self, mode: bool = True) -> Cell:
        """Accept an option of distributed training; returns the cell."""
        return self

    def set_comm_fusion(self, fusion_type: int, recurse: bool = True) -> Cell:
        """Accept an option of distributed training; returns the cell. Raises TypeError for no int."""
        if not isinstance(fusion_type, int):
            raise TypeError(f"set_comm_fusion: wanted an int, got {type(fusion_type).__name__}")
        return self

    # -------------------------------------------------------------------- hooks

    def _add_hook(self, table: str, hook: Any, prepend: bool = False, with_kwargs: bool = False,
                  always: bool = False) -> HookHandle:  # fmt: skip
        if not callable(hook) or is_compiled(hook):
            kind = "a compiled one" if callable(hook) else type(hook).__name__
            raise TypeError(f"register_{table}_hook: a hook is a function, got {kind}")
        hooks = self._hooks
        if hooks is None:
            hooks = _Hooks()
            self.__dict__.update(_hooks=hooks, _special=True)
        marks = (with_kwargs, hooks.with_kwargs), (always, hooks.always)
        return register(getattr(hooks, table), hook, prepend, *marks, kind=HookHandle)

    def _tables(self, *names: str) -> list[list[Any]]:
        """The hooks of some kinds."""
        return [[] if self._hooks is None else list(getattr(self._hooks, name).values()) for name in names]

    def register_forward_pre_hook(
        self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, args)` before `construct`; what it returns, if anything, are the arguments."""
        return self._add_hook("forward_pre", hook_fn, prepend, with_kwargs)

    def register_forward_hook(
        self, hook_fn: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False, always_call: bool = False
    ) -> HookHandle:
        """Call `hook_fn(cell, args, output)` after `construct`; what it returns, if anything, is the output."""
        return self._add_hook("forward", hook_fn, prepend, with_kwargs, always_call)

    def register_backward_pre_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, grad_output)` in the backward pass; what it returns, if anything, replaces grad_output."""
        return self._add_hook("backward_pre", hook_fn)

    def register_backward_hook(self, hook_fn: Callable[..., Any]) -> HookHandle:
        """Call `hook_fn(cell, grad_input, grad_output)`; what it returns, if anything, replaces grad_input."""
        return self._add_hook("backward", hook_fn)

    def register_saved_tensors_hooks(self, pack_hook: Callable[..., Any], unpack_hook: Callable[..., Any]) -> None:
        """Keep what this cell's operations need for the backward pass as `pack_hook(tensor)`, and `unpack_hook` of that."""
        self.__dict__.update(_saved_hooks=saved_tensors_hooks(pack_hook, unpack_hook), _special=True)

    # -------------------------------------------------------------------- state

    def register_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, prefix, keep_vars)` before `state_dict` collects."""
        return self._add_hook("state_pre", hook)

    def register_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, state_dict, prefix, local_metadata)` after; what it returns, if anything, is the state dict."""
        return self._add_hook("state_post", hook)

    def register_load_state_dict_pre_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, state_dict, prefix, local_metadata, strict, missing, unexpected, errors)` before loading."""
        return self._add_hook("load_pre", hook)

    def register_load_state_dict_post_hook(self, hook: Callable[..., Any]) -> HookHandle:
        """Call `hook(cell, incompatible_keys)` after loading."""
        return self._add_hook("load_post", hook)

    def state_dict(self, *args: Any, destination: Any = None, prefix: str = "", keep_vars: bool = False) -> Any:
        """The parameters and persistent buffers by their paths, and what `get_extra_state` gives where it is defined."""
        if args:
            destination, prefix, keep_vars = (*args, *(destination, prefix, keep_vars)[len(args) :])
        if destination is None:
            destination = new_destination()
        pre, post = self._tables("state_pre", "state_post")
        return collected(self, destination, prefix, keep_vars, {}, self._cells, pre, post)

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        for name, x in own_state(self):
            destination[prefix + name] = x
        if type(self).get_extra_state is not Cell.get_extra_state:
            destination[prefix + _EXTRA] = self.get_extra_state()

    def get_extra_state(self) -> Any:
        """Further state for `state_dict`; a cell that has some defines it."""
        raise RuntimeError(f"{type(self).__name__} defines no get_extra_state")

    def set_extra_state(self, state: Any) -> None:
        """Take back what `get_extra_state` gave."""
        raise RuntimeError(f"{type(self).__name__} defines no set_extra_state, but the state dict has an extra state")

    def load_state_dict(self, state_dict: Mapping[str, Any], strict: bool = True) -> _IncompatibleKeys:
        """Take the values of a state dict; returns the paths that were missing, and those that fit nothing.

        Raises TypeError for no mapping, RuntimeError where there are such paths and `strict`, where shapes differ or a value
        is no tensor.
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(f"load_state_dict: wanted a mapping, got {type(state_dict).__name__}")
        state = OrderedDict(state_dict)
        keys = _IncompatibleKeys([], [])
        errors: list[str] = []
        after, known = [], set()
        for path, cell in walk(self, unique=False):
            prefix = f"{path}." if path else ""
            pre, post = cell._tables("load_pre", "load_post")
            for hook in pre:
                hook(cell, state, prefix, {}, True, *keys, errors)
            after += [(hook, cell) for hook in post]
            for name, x in own_state(cell):
                known.add(prefix + name)
                if prefix + name in state:
                    _load(x, prefix + name, state[prefix + name], errors)
                else:
                    keys.missing_keys.append(prefix + name)
            if type(cell).set_extra_state is not Cell.set_extra_state and prefix + _EXTRA in state:
                known.add(prefix + _EXTRA)
                cell.set_extra_state(state[prefix + _EXTRA])
        keys.unexpected_keys.extend(path for path in state if path not in known)
        for hook, cell in reversed(after):
            hook(cell, keys)
        if strict:
            for what, paths in (("missing", keys.missing_keys), ("without a place", keys.unexpected_keys)):
                errors += [f"{what}: {', '.join(paths)}"] if paths else []
        if errors:
            raise RuntimeError(f"load_state_dict: the state dict does not fit {type(self).__name__}: {'; '.join(errors)}")
        return keys

    # -------------------------------------------------------------------- text

    @property
    def cls_name(self) -> str:
        """The name of the class."""
        return type(self).__name__

    def extend_repr(self) -> str:
        """What the text of the cell says beside its class and children; a subclass may define it."""
        return ""

    def __repr__(self) -> str:
        return described(type(self).__name__, self.extend_repr(), self._cells.items())


define_kinds(Cell, Kinds(
    Kind("_params", "parameter", (Parameter,), (Parameter,)),
    Kind("_cells", "cell", (Cell,), (Cell,)),
    Kind("_buffers", "buffer", (), (Tensor,)),
))


_EXTRA = "_extra_state"


def _load(x: Tensor, path: str, value: Any, errors: list[str]) -> None:
    """Write what a state dict has at a path into a parameter or buffer, in its dtype."""
    if not isinstance(value, Tensor):
        errors.append(f"{path} is a {type(value).__name__}, wanted a Tensor")
    elif value.shape != x.shape:
        errors.append(f"{path} has shape {x.shape}, the state dict {value.shape}")
    else:
        x.assign_value(value.astype(x.dtype))


class GraphCell(Cell):
    """A cell loaded from a compiled graph, which this dialect does not read: raises NotImplementedError."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        raise NotImplementedError("GraphCell: compiled graphs (MindIR) are not supported; define the network as a Cell")


def recompute(block: Any, *args: Any, **kwargs: Any) -> Any:
    """Call a Cell on arguments, and compute what its backward pass needs again then; raises TypeError for no Cell.

    The options of the original that say how (`use_reentrant`, `output_recompute`, ...) change nothing.
    """
    if not isinstance(block, Cell):
        raise TypeError(f"recompute: block must be a Cell, got {type(block).__name__}")
    for option in ("use_reentrant", "output_recompute", "early_stop", "context_fn"):
        kwargs.pop(option, None)
    return recomputed(block, block, args, kwargs)
