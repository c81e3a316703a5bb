"""`torch.fx.proxy`: what stands for a value while a function is traced, and notes in a graph what is done with it.

A Proxy is no tensor: the dialect's functions ask it through `__torch_function__`, as any type that answers for itself.
"""

from __future__ import annotations

import contextlib
import copy
import dis
import enum
import operator
import sys
import traceback
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from .. import _function_protocol as protocol
from .._api import attributes
from .._dtype import dtype
from .._size import device
from .._tensor import Tensor
from . import traceback as node_meta
from .graph import Graph, magic_methods, reflectable_magic_methods
from .node import Argument, Node, Target

base_types = (str, int, float, bool, complex, dtype, Tensor, device, type(None), type(...), enum.Enum)


class TraceError(ValueError):
    """A function cannot be traced: what it does depends on values."""


@dataclass
class Scope:
    """Where in the tree of modules the trace is."""

    module_path: str
    module_type: Any


class ScopeContextManager:
    """The scope inside a module's call; the one before when it is left."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._before, self._scope = copy.copy(scope), scope
        scope.module_path, scope.module_type = current_scope.module_path, current_scope.module_type

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *error: object) -> None:
        self._scope.module_path, self._scope.module_type = self._before.module_path, self._before.module_type


class TracerBase:
    """What writes nodes; a subclass says how values enter a graph."""

    graph: Graph
    record_stack_traces: bool = False
    check_mutable_operations: bool = False
    trace_asserts: bool = False
    proxy_buffer_attributes: bool = False
    traced_func_name: str = "forward"
    scope: Scope
    module_stack: OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, Any]]

    def create_node(
        self, kind: str, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
        type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """Put a node into the graph; the place where a subclass looks at each."""
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        scope = getattr(self, "scope", None)
        if scope is not None:
            self.node_name_to_scope[node.name] = (scope.module_path, scope.module_type)
        current = node_meta.get_current_meta()
        if current:
            node.meta.update({k: v for k, v in current.items() if k in ("stack_trace", "nn_module_stack", "custom")})
        elif getattr(self, "module_stack", None):
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        return node

    def proxy(self, node: Node) -> Proxy:
        """What stands for a node's value."""
        return Proxy(node, self)

    def create_proxy(
        self, kind: str, target: Target, args: tuple[Any, ...], kwargs: dict[str, Any], name: str | None = None,
        type_expr: Any = None, proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Any:  # fmt: skip
        """A node of arguments that may hold proxies, and what stands for its value."""
        given, named = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(given, tuple) or not isinstance(named, dict):
            raise AssertionError("create_proxy: create_arg made something else of the arguments than a tuple and a dict")
        node = self.create_node(kind, target, given, dict(named), name, type_expr)
        if self.record_stack_traces and not node.stack_trace:
            frames = [f for f in traceback.extract_stack() if f"{__package__.replace('.', '/')}/" not in f.filename]
            node.stack_trace = "".join(traceback.format_list(frames)).strip()
        return self.proxy(node) if proxy_factory_fn is None else proxy_factory_fn(node)

    def create_arg(self, a: Any) -> Argument:
        """What a value becomes as an argument of a node; raises NotImplementedError for types that a graph cannot hold."""
        if isinstance(a, Proxy):
            return a.node
        if isinstance(a, tuple):
            parts = [self.create_arg(x) for x in a]
            return type(a)(*parts) if hasattr(a, "_fields") else tuple(parts)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            for k in a:
                if isinstance(k, (Proxy, Node)):
                    raise RuntimeError(f"create_arg: a dict with the traced value {k} as a key; its keys must be plain values")
            return {k: self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if is_dataclass(a) and not isinstance(a, type):
            parts_by_name = {f.name: self.create_arg(getattr(a, f.name)) for f in fields(a)}
            return self.create_node("call_function", type(a), (), parts_by_name)
        if isinstance(a, base_types) or a is ... or isinstance(a, type) or (callable(a) and hasattr(a, "__qualname__")):
            return a
        raise NotImplementedError(f"create_arg: a graph cannot hold an argument of type {type(a)}")

    def to_bool(self, obj: Proxy) -> bool:
        """What an `if` on a traced value does; raises TraceError, unless a subclass knows better."""
        raise TraceError(
            f"{obj.node}: the branch depends on a value, which a trace does not know; make the function a leaf (torch.fx.wrap, "
            "Tracer.is_leaf_module), or give what decides through concrete_args"
        )

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """What a loop over a traced value does; raises TraceError, unless a subclass knows better."""
        raise TraceError(
            f"{obj.node}: a loop over a traced value, whose length a trace does not know, and neither does the call f(*value); "
            "name the elements by index"
        )

    def keys(self, obj: Proxy) -> Any:
        """What `**value` asks of a traced value."""
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Writes nodes into a graph that there is."""

    def __init__(self, graph: Graph) -> None:
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.node_name_to_scope = {}


@contextlib.contextmanager
def assert_fn(x: Any) -> Iterator[None]:
    """A context that is entered only for what is true."""
    if not x:
        raise AssertionError("assert_fn: not true")
    yield


class Proxy:
    """What stands for a node's value: what is done with it becomes a node."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node
        self._asking = protocol.Asking()  # functions that it is given to ask it, in a trace and outside

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        if k in ("tracer", "node") or (k.startswith("__") and k.endswith("__")):
            raise AttributeError(f"Proxy has no {k}")  # copying and pickling ask for methods that they can do without
        return Attribute(self, k)

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        made = type(self).__new__(type(self))
        made.__dict__.update({k: copy.deepcopy(v, memo) if k == "node" else v for k, v in self.__dict__.items()})
        return made

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__ = d

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        count = _unpacked_into(sys._getframe(1))
        return self.tracer.iter(self) if count is None else iter([
            self.tracer.create_proxy("call_function", operator.getitem, (self, i), {}) for i in range(count)
        ])

    def __abs__(self) -> Any:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts and (caller := sys._getframe(1)) is not None and _asserted(caller):
            self.tracer.create_proxy("call_function", protocol.sys.modules[__package__.rpartition(".")[0]]._assert,
                                     (self, "traced assertion"), {})  # fmt: skip
            return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """What `**value` asks for."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            f"{self.node}: len() of a traced value would be a number, which a trace does not know; "
            "`torch.fx.wrap('len')` at the top of the module makes it a call of the graph"
        )

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        """Note the call of a function of the dialect."""
        kwargs = kwargs or {}
        tracers: dict[Any, None] = {}
        _visit((args, kwargs), lambda x: tracers.setdefault(x.tracer))
        if len(tracers) > 1:
            raise RuntimeError(
                f"{func.__name__}: arguments of {len(tracers)} different traces ({', '.join(map(str, tracers))}); "
                "a trace takes its own values only"
            )
        tracer = next(iter(tracers))
        if func in protocol.METHODS_ASKING:
            return tracer.create_proxy("call_method", func.__name__, args, kwargs)
        return tracer.create_proxy(
            "call_function", protocol.form(func, False), args, kwargs, name=tracer.graph._target_to_str(func)
        )


def _visit(x: Any, found: Callable[[Proxy], Any]) -> None:
    if isinstance(x, Proxy):
        found(x)
    elif isinstance(x, (tuple, list)):
        for part in x:
            _visit(part, found)
    elif isinstance(x, dict):
        _visit(list(x.values()), found)
    elif isinstance(x, slice):
        _visit((x.start, x.stop, x.step), found)


def _instruction(frame: Any) -> Any:
    """The instruction at which a frame stands."""
    return next((i for i in dis.get_instructions(frame.f_code) if i.offset == frame.f_lasti), None)


def _unpacked_into(frame: Any) -> int | None:
    """How many names `a, b = value` has, where that is what a frame does now; None elsewhere."""
    found = _instruction(frame)
    return found.arg if found is not None and found.opname == "UNPACK_SEQUENCE" else None


def _asserted(frame: Any) -> bool:
    """Whether a frame asks for the truth of a value in an `assert`."""
    instructions = [i for i in dis.get_instructions(frame.f_code) if i.offset >= frame.f_lasti and i.opname != "CACHE"]
    return (
        len(instructions) > 1 and instructions[0].opname.startswith("POP_JUMP") and "IF_TRUE" in instructions[0].opname
        and instructions[1].opname == "LOAD_ASSERTION_ERROR"
    )  # fmt: skip


class MetaProxy(Proxy):
    """A Proxy beside which a tensor of the same size is kept."""

    def __init__(self, node: Node, tracer: TracerBase | None = None, fake_mode: Any = None) -> None:
        super().__init__(node, tracer)
        self.fake_mode = fake_mode


class Attribute(Proxy):
    """An attribute of a traced value; a node of its own only where it is used other than called."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root, self.attr, self.tracer = root, attr, root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """The node that takes the attribute."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """What stands for a parameter whose size the trace may know."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        self.param, self.name = param, name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"


for _name in ("shape", "ndim", "size", "dim", "numel", "nelement"):  # what of a parameter is known
    setattr(ParameterProxy, _name, property(lambda self, _name=_name: getattr(self.param, _name)))


def _operator(name: str, reflected: bool = False) -> Any:
    target = getattr(operator, name)

    def forward(self: Proxy, *args: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (self, *args), {})

    def reflected_form(self: Proxy, other: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (other, self), {})

    return reflected_form if reflected else forward


for _name in magic_methods:
    setattr(Proxy, f"__{_name.strip('_')}__", _operator(_name))
for _name in reflectable_magic_methods:
    setattr(Proxy, f"__r{_name.strip('_')}__", _operator(_name, True))
# What defines __eq__ must say that it hashes: a value is itself.
Proxy.__hash__ = object.__hash__  # type: ignore[method-assign]

__getattr__ = attributes(globals())
