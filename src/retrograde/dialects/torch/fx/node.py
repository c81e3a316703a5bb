"""`torch.fx.node`: one operation of a graph, what it takes and who takes it."""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from .. import _function_protocol as protocol
from .._api import attributes
from .._dtype import dtype
from .._size import Size, device
from .._tensor import Tensor
from .immutable_collections import immutable_dict, immutable_list

BaseArgumentTypes = str | int | float | bool | complex | dtype | Tensor | device
Argument = Any
Target = Callable[..., Any] | str

_OPS = ("placeholder", "get_attr", "call_function", "call_method", "call_module", "output", "root")

_side_effectful_functions: set[Any] = set()
"""Functions that are called for what they do: a node of one stays although nobody takes its result."""


def has_side_effect(fn: Any) -> Any:
    """Keep the nodes of a function even where nobody takes their results; returns the function."""
    _side_effectful_functions.add(fn)
    return fn


def _public_path(func: Any) -> str | None:
    """`torch.nn.functional.relu` for a function that the dialect offers, None for any other."""
    path = protocol.paths().get(func)
    if path is None and getattr(func, "__module__", "").startswith(("torch", "retrograde.dialects.torch")):
        import sys

        from .. import _api  # a function that is offered, though not asked about

        root = sys.modules[_api.__name__.rpartition(".")[0]]
        name = getattr(func, "__qualname__", "")
        if getattr(root, name, None) is func:
            return f"torch.{name}"
    return path


def _get_qualified_name(func: Any) -> str:
    """The dotted name by which a function is found."""
    if getattr(builtins, getattr(func, "__name__", ""), None) is func:
        return func.__name__
    path = _public_path(func)
    if path is not None:
        return path
    name = getattr(func, "__name__", None)
    if isinstance(func, (types.MethodDescriptorType, types.WrapperDescriptorType)):
        return f"{func.__objclass__.__module__}.{func.__objclass__.__name__}.{name}"
    if name is None:
        return str(func)
    module = (getattr(func, "__module__", None) or "").replace("retrograde.dialects.torch", "torch")
    return f"{module}.{name}"


def _type_repr(obj: Any) -> str:
    """How a type is written in code: its name, with its module unless that is Python's."""
    if isinstance(obj, type) and not isinstance(obj, types.GenericAlias):
        if obj.__module__ == "builtins":
            return obj.__qualname__
        module = obj.__module__.replace("retrograde.dialects.torch", "torch")
        return f"{'torch' if obj is Tensor else module}.{obj.__qualname__}"
    if obj is ...:
        return "..."
    if isinstance(obj, types.FunctionType):
        return obj.__name__
    return repr(obj).replace("retrograde.dialects.torch._tensor", "torch").replace("retrograde.dialects.torch", "torch")


def map_aggregate(a: Any, fn: Callable[[Any], Any]) -> Any:
    """An argument with `fn` of everything in its tuples, lists, dicts and slices."""
    if isinstance(a, tuple) and type(a) is not Size:
        parts = [map_aggregate(x, fn) for x in a]
        return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
    if isinstance(a, list):
        return immutable_list([map_aggregate(x, fn) for x in a])
    if isinstance(a, dict):
        return immutable_dict({k: map_aggregate(x, fn) for k, x in a.items()})
    if isinstance(a, slice):
        return slice(*(map_aggregate(x, fn) for x in (a.start, a.stop, a.step)))
    return fn(a)


def map_arg(a: Any, fn: Callable[[Node], Any]) -> Any:
    """An argument with `fn` of every node in it."""
    return map_aggregate(a, lambda x: fn(x) if isinstance(x, Node) else x)


class Node:
    """One operation of a graph.

    op: placeholder, get_attr, call_function, call_method, call_module or output. target: the function that is called, or the
    name of the input, attribute, method or module. Nodes form a ring with the graph's root, in the order of execution.
    """

    _args: tuple[Any, ...]
    _kwargs: dict[str, Any]
    _prev: Node
    _next: Node

    def __init__(
        self, graph: Any, name: str, op: str, target: Any, args: tuple[Any, ...], kwargs: dict[str, Any],
        return_type: Any = None,
    ) -> None:  # fmt: skip
        if op not in _OPS:
            raise AssertionError(f"Node: op must be one of {', '.join(_OPS[:-1])}, got {op!r}")
        if op == "call_function" and not callable(target):
            raise ValueError(f"Node: the target of call_function must be callable, got {target!r}")
        if op != "call_function" and not isinstance(target, str):
            raise ValueError(f"Node: the target of {op} must be a string, got {type(target).__name__}")
        self.graph, self.name, self.op = graph, name, op
        self._target = target
        self.type, self.meta = return_type, {}  # type: ignore[var-annotated]
        self._input_nodes: dict[Node, None] = {}
        self.users: dict[Node, None] = {}
        self._args, self._kwargs = (), {}
        self._prev = self._next = self
        self._erased = False
        self._repr_fn: Callable[[Node], str] | None = None
        self._set_arguments(args, kwargs)

    # -------------------------------------------------------------------- what it takes

    @property
    def target(self) -> Any:
        """What is called or named."""
        found = self._target
        return found if type(found) is str else protocol.public(found)

    @target.setter
    def target(self, value: Any) -> None:
        self._target = value

    @property
    def args(self) -> tuple[Any, ...]:
        """The positional arguments; assigning to it is what tells the nodes in it of their user."""
        return self._args

    @args.setter
    def args(self, a: tuple[Any, ...]) -> None:
        self._set_arguments(a, self._kwargs)

    @property
    def kwargs(self) -> dict[str, Any]:
        """The keyword arguments."""
        return self._kwargs

    @kwargs.setter
    def kwargs(self, k: dict[str, Any]) -> None:
        self._set_arguments(self._args, k)

    @property
    def all_input_nodes(self) -> list[Node]:
        """The nodes among the arguments, each once."""
        return list(self._input_nodes)

    def _set_arguments(self, args: Iterable[Any], kwargs: Mapping[str, Any]) -> None:
        for node in self._input_nodes:
            node.users.pop(self, None)
        self._input_nodes = {}

        def noted(node: Node) -> Node:
            self._input_nodes.setdefault(node)
            node.users.setdefault(self)
            return node

        self._args = tuple(map_arg(tuple(args), noted))
        self._kwargs = map_arg(dict(kwargs), noted)

    def update_arg(self, idx: int, arg: Any) -> None:
        """Put another argument in a place."""
        args = list(self._args)
        args[idx] = arg
        self.args = tuple(args)

    def insert_arg(self, idx: int, arg: Any) -> None:
        """Put an argument before the one in a place."""
        if not 0 <= idx <= len(self._args):
            raise AssertionError(f"insert_arg: {self.name} has {len(self._args)} arguments, there is no place {idx}")
        self.args = (*self._args[:idx], arg, *self._args[idx:])

    def update_kwarg(self, key: str, arg: Any) -> None:
        """Set a keyword argument."""
        self.kwargs = {**self._kwargs, key: arg}

    def replace_all_uses_with(
        self, replace_with: Node, delete_user_cb: Callable[[Node], bool] = lambda user: True, *, propagate_meta: bool = False
    ) -> list[Node]:
        """Let the users of this node take another one; returns those that do. `delete_user_cb` may spare a user."""
        if propagate_meta:
            if replace_with.meta:
                raise AssertionError("replace_all_uses_with: propagate_meta=True, but the other node has meta of its own")
            replace_with.meta.update(self.meta)
        users = [user for user in self.users if delete_user_cb(user)]
        for user in users:
            for hook in getattr(self.graph.owning_module, "_replace_hooks", ()):
                hook(old=self, new=replace_with.name, user=user)
            user.replace_input_with(self, replace_with)
        return users

    def replace_input_with(self, old_input: Node, new_input: Node) -> None:
        """Take another node wherever this one takes `old_input`."""

        def other(node: Node) -> Node:
            return new_input if node is old_input else node

        self._set_arguments(map_arg(self._args, other), map_arg(self._kwargs, other))

    # -------------------------------------------------------------------- where it stands

    @property
    def next(self) -> Node:
        """The node after this one."""
        return self._next

    @property
    def prev(self) -> Node:
        """The node before this one."""
        return self._prev

    def prepend(self, x: Node) -> None:
        """Move a node before this one."""
        if x.graph is not self.graph:
            raise AssertionError(f"prepend: {x.name} belongs to another graph than {self.name}")
        if x is self:
            return
        x._unlink()
        before = self._prev
        before._next, x._prev = x, before
        x._next, self._prev = self, x

    def append(self, x: Node) -> None:
        """Move a node behind this one."""
        if x is not self:
            self._next.prepend(x)

    def _unlink(self) -> None:
        self._prev._next, self._next._prev = self._next, self._prev
        self._prev = self._next = self

    def __lt__(self, other: Node) -> bool:
        """Whether this node stands before another of its graph."""
        for node in self.graph.nodes:
            if node is self or node is other:
                return node is self and self is not other
        return False

    def __gt__(self, other: Node) -> bool:
        return other < self

    def __le__(self, other: Node) -> bool:
        return self is other or self < other

    def __ge__(self, other: Node) -> bool:
        return self is other or other < self

    # -------------------------------------------------------------------- what it is

    @property
    def stack_trace(self) -> str | None:
        """Where in the program it comes from, where that was recorded."""
        return self.meta.get("stack_trace")

    @stack_trace.setter
    def stack_trace(self, trace: str | None) -> None:
        self.meta["stack_trace"] = trace

    def is_impure(self, impure_random: bool = True) -> bool:
        """Whether it is more than its result: inputs, outputs, assertions, in-place changes and modules that train."""
        if self.op in ("placeholder", "output"):
            return True
        if self.op == "call_function":
            target = self.target
            if target in (operator.setitem, setattr) or self._target in _side_effectful_functions or (
                target in _side_effectful_functions
            ):  # fmt: skip
                return True
            return getattr(target, "__name__", "") == "_assert"
        if self.op == "call_method":
            return self._target.endswith("_") and not self._target.endswith("__")
        if self.op == "call_module":
            owner = self.graph.owning_module
            if owner is None:
                raise AssertionError(f"is_impure: {self.name} calls a module, and its graph has no owning module to look at")
            return bool(getattr(owner.get_submodule(self._target), "_is_impure", False))
        return False

    def normalized_arguments(
        self, root: Any, arg_types: Any = None, kwarg_types: Any = None, normalize_to_only_use_kwargs: bool = False
    ) -> Any:
        """The arguments by the names of the parameters they fill, as (args, kwargs); None where there is no signature."""
        from .operator_schemas import normalize_function, normalize_module

        if self.op == "call_function":
            return normalize_function(
                self.target, self._args, self._kwargs, arg_types, kwarg_types, normalize_to_only_use_kwargs
            )
        if self.op == "call_module":
            return normalize_module(root, self._target, self._args, self._kwargs, normalize_to_only_use_kwargs)
        return None

    def _rename(self, candidate: str) -> None:
        if candidate != self.name:
            self.name = self.graph._graph_namespace.create_name(candidate, None)
            self.graph._graph_namespace._rename_object(self, self.name)

    def _pretty_print_target(self, target: Any) -> str:
        if isinstance(target, str):
            return target
        if getattr(target, "__module__", None) == "builtins":
            return f"builtins.{target.__name__}"
        return _get_qualified_name(target).removeprefix("_" if target.__module__ == "_operator" else "")

    def __repr__(self) -> str:
        return self._repr_fn(self) if self._repr_fn is not None else self.name

    def format_node(
        self, placeholder_names: list[str] | None = None, maybe_return_typename: list[str] | None = None, *,
        include_tensor_metadata: bool = False,
    ) -> str | None:  # fmt: skip
        """A line about it; an input is noted in `placeholder_names` and an output's type in `maybe_return_typename`,
        where they are given, and a line is then not needed for the input."""
        typed = "" if self.type is None else f"{_type_repr(self.type)} "
        users = f"[num_users={len(self.users)}]"
        if self.op == "placeholder":
            default = f"(default={self._args[0]})" if self._args else ""
            if placeholder_names is not None:
                named = f"{self._target}" + ("" if self.type is None else f" : {_type_repr(self.type)}") + default
                placeholder_names.append(named)
                return None
            return f"%{self.name} : {typed}{users} = {self.op}[target={self._target}]{default}"
        if self.op == "get_attr":
            return f"%{self.name} : {typed}{users} = get_attr[target={self._pretty_print_target(self._target)}]"
        if self.op == "output":
            if self.type is not None and maybe_return_typename is not None:
                maybe_return_typename[0] = f" -> {_type_repr(self.type)}"
            return f"return {self._args[0]}"
        shown = _as_written(self._args), _as_written(self._kwargs)
        return (
            f"%{self.name} : {typed}{users} = {self.op}[target={self._pretty_print_target(self.target)}]"
            f"(args = {shown[0]}, kwargs = {shown[1]})"
        )

    def __reduce__(self) -> Any:
        raise TypeError(f"{self.name}: a node is not pickled by itself; pickle its graph or GraphModule")


def _as_written(arguments: Any) -> str:
    """Arguments with a % before the name of each node."""

    class Named:
        def __init__(self, node: Node) -> None:
            self.name = node.name

        def __repr__(self) -> str:
            return f"%{self.name}"

    def text(x: Any) -> str:
        if isinstance(x, dict):
            return "{" + ", ".join(f"{k}: {text(v)}" for k, v in x.items()) + "}"
        if isinstance(x, list):
            return f"[{', '.join(map(text, x))}]"
        if type(x) is tuple:
            return f"({', '.join(map(text, x))}{',' if len(x) == 1 else ''})"
        return str(x) if not isinstance(x, str) else x

    return text(map_arg(arguments, Named))


__getattr__ = attributes(globals())
