"""`torch.fx._symbolic_trace`: from a function or module to its graph, by running it on proxies."""

from __future__ import annotations

import builtins
import contextlib
import functools
import inspect
import math
import sys
from collections import OrderedDict
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

from .. import _function_protocol as protocol
from .._api import attributes
from .._tensor import Tensor
from ..nn.modules.container import Sequential
from ..nn.modules.module import Module
from ..nn.parameter import Parameter
from ..utils import _pytree as pytree
from .graph import Graph, _PyTreeCodeGen, _PyTreeInfo
from .graph_module import GraphModule
from .node import Argument
from .proxy import ParameterProxy, Proxy, Scope, ScopeContextManager, TracerBase, _visit

_wrapped_fns_to_patch: dict[tuple[int, str], dict[str, Any]] = {}
"""The functions that stay calls of the graph: the global names of them, by the globals they stand in."""
_wrapped_methods_to_patch: list[tuple[type, str]] = []

_tracing = 0


def is_fx_tracing() -> bool:
    """Whether a symbolic trace is being taken."""
    return _tracing > 0


is_fx_symbolic_tracing = is_fx_tracing


class PHBase:
    """What a concrete argument says of a part that stays an input."""

    def __repr__(self) -> str:
        return "PH"


PH = PHBase()


class ProxyableClassMeta(type):
    """Metaclass of classes whose construction from traced values becomes a call of the graph."""

    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        found: list[Proxy] = []
        _visit((args, kwargs), found.append)
        if found:
            return found[0].tracer.create_proxy("call_function", cls, args, kwargs)
        return super().__call__(*args, **kwargs)


class Tracer(TracerBase):
    """Traces a module or function. A subclass says which modules are leaves (`is_leaf_module`), what a call of a module
    does (`call_module`), how values enter (`create_arg`) and what stands for them (`proxy`).

    autowrap_modules: modules whose functions stay calls of the graph. autowrap_functions: functions that do.
    param_shapes_constant: whether the sizes of parameters are known.
    """

    def __init__(
        self, autowrap_modules: tuple[ModuleType, ...] = (math,), autowrap_functions: tuple[Callable[..., Any], ...] = (),
        param_shapes_constant: bool = False,
    ) -> None:  # fmt: skip
        super().__init__()
        self._autowrap_function_ids = {
            id(f) for m in autowrap_modules for name, f in vars(m).items() if not name.startswith("_") and callable(f)
        } | {id(f) for f in autowrap_functions}
        self._autowrap_search = list(autowrap_modules)
        self.param_shapes_constant = param_shapes_constant
        self.submodule_paths: dict[Any, str] | None = None
        self.root_module_name = ""
        self.scope = Scope("", None)
        self.module_stack = OrderedDict()
        self.num_calls: dict[str, int] = {}
        self.node_name_to_scope = {}

    # -------------------------------------------------------------------- what a subclass may say

    def is_leaf_module(self, m: Any, module_qualified_name: str) -> bool:
        """Whether a module's call stays one node: that of the dialect's own layers does, but for Sequential."""
        return type(m).__module__.removeprefix("retrograde.dialects.").startswith("torch.nn") and not isinstance(m, Sequential)

    def call_module(self, m: Any, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """The call of a module: a node for a leaf, what its forward does for any other."""
        path = self.path_of_module(m)
        with ScopeContextManager(self.scope, Scope(path, type(m))) as scope:
            calls = self.num_calls.get(path, 0)
            key = path if not calls else f"{path}@{calls}"
            self.module_stack[key] = (scope.module_path, scope.module_type)
            self.num_calls[path] = calls + 1
            try:
                if self.is_leaf_module(m, path):
                    return self.create_proxy("call_module", path, args, kwargs)
                return forward(*args, **kwargs)
            finally:
                self.module_stack.popitem(last=True)

    def path_of_module(self, mod: Any) -> str:
        """The path of a module in the one that is traced; raises NameError for one that is not in it."""
        paths = self.submodule_paths
        found = _name_of(mod, self.root.named_modules()) if paths is None else paths.get(mod)
        if found is not None:
            return found
        raise NameError(f"path_of_module: the module {type(mod).__name__} is called, but is no submodule of the root")

    def getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        """What reading an attribute of a module gives: for a parameter what stands for it."""
        return self._module_getattr(attr, attr_val, parameter_proxy_cache)

    def create_arg(self, a: Any) -> Argument:
        """What a value becomes as an argument: tensors of the module are read from it, others are kept in it."""
        for kind, named in ((Parameter, "parameters"), (Tensor, "buffers"), (Module, "modules")):
            if isinstance(a, kind):
                name = _name_of(a, getattr(self.root, f"named_{named}")())
                if name is not None:
                    return self.create_node("get_attr", name, (), {})
                if kind is Parameter:
                    raise NameError("create_arg: a parameter that is not of the module being traced")
        if isinstance(a, tuple) and hasattr(a, "_fields"):
            parts = tuple(self.create_arg(x) for x in a)
            return self.create_node("call_function", type(a), parts, {})
        if isinstance(a, Tensor):
            name = self.tensor_attrs.get(a)
            if name is None:
                name = self.get_fresh_qualname("_tensor_constant")
                self.tensor_attrs[a] = name
                setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        if type(a) in _proxyable_classes:
            name = self.get_fresh_qualname(f"_{type(a).__name__}_constant_")
            setattr(self.root, name, a)
            return self.create_node("get_attr", name, (), {})
        return super().create_arg(a)

    def get_fresh_qualname(self, prefix: str) -> str:
        """A name that the root has no attribute of."""
        i = 0
        while hasattr(self.root, f"{prefix}{i}"):
            i += 1
        return f"{prefix}{i}"

    def _module_getattr(self, attr: str, attr_val: Any, parameter_proxy_cache: dict[str, Any]) -> Any:
        n = None
        if isinstance(attr_val, Parameter):
            n = _name_of(attr_val, self.root.named_parameters())
        elif self.proxy_buffer_attributes and isinstance(attr_val, Tensor):
            n = _name_of(attr_val, self.root.named_buffers())
        if n is None:
            return attr_val
        if n not in parameter_proxy_cache:
            made = (lambda node: ParameterProxy(self, node, n, attr_val)) if self.param_shapes_constant else None
            parameter_proxy_cache[n] = self.create_proxy("get_attr", n, (), {}, proxy_factory_fn=made)
        return parameter_proxy_cache[n]

    # -------------------------------------------------------------------- the trace

    def create_args_for_root(
        self, root_fn: Any, is_module: bool, concrete_args: dict[str, Any] | tuple[Any, ...] | None = None
    ) -> tuple[Any, list[Any]]:
        """The function to call and its arguments: an input for each parameter."""
        fn = inspect.unwrap(root_fn)
        code = fn.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        names = iter(code.co_varnames)
        args: list[Any] = []
        skipped = 0
        if is_module:
            if code.co_argcount == 0 and not code.co_flags & inspect.CO_VARARGS:
                raise RuntimeError(f"{fn.__qualname__}: forward has no parameter for the module itself")
            next(names)
            skipped = 1
            args.append(self.root)
        parameters = inspect.signature(fn).parameters
        if isinstance(concrete_args, tuple):
            if len(names_left := list(code.co_varnames[skipped:count])) != len(concrete_args):
                raise RuntimeError(
                    f"trace: {len(concrete_args)} concrete arguments for the {len(names_left)} parameters of {fn.__qualname__}"
                )
            concrete_args = dict(zip(names_left, concrete_args))
        concrete = concrete_args or {}
        ours = (fn.__module__ or "").startswith("retrograde.")  # its annotations are for readers of the source

        def input_of(name: str) -> Any:
            given = inspect.Parameter.empty if name[0] == "*" else parameters[name].default
            default = () if given is inspect.Parameter.empty else (given,)
            if name in concrete:
                return self._concrete(name, concrete[name], default)
            kind = None if ours else fn.__annotations__.get(name)
            return self.create_proxy("placeholder", name, default, {}, type_expr=kind)

        given = [input_of(next(names)) for _ in range(skipped, count)]
        positional, keyword_only = given[: code.co_argcount - skipped], code.co_varnames[code.co_argcount : count]
        args += positional
        if code.co_kwonlyargcount or code.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS):
            if code.co_flags & inspect.CO_VARARGS:
                args.append(self.create_proxy("placeholder", "*" + next(names), (), {}))
            if code.co_flags & inspect.CO_VARKEYWORDS:
                args.append(self.create_proxy("placeholder", "**" + next(names), (), {}))
            root_fn = _flattened(fn, keyword_only, given[code.co_argcount - skipped :], len(positional) + skipped)
        leaves, structure = pytree.tree_flatten(tuple(args))
        if not concrete or all(child.kind is None for child in structure.children):
            return root_fn, args
        given_as = pytree.tree_structure(tuple(concrete.get(n, PH) for n in code.co_varnames[skipped:count]))
        self.graph._codegen = _PyTreeCodeGen(_PyTreeInfo(list(code.co_varnames[:count]), given_as, None))

        def on_leaves(*flat: Any) -> Any:
            out = root_fn(*pytree.tree_unflatten(list(flat), structure))
            flat_out, spec = pytree.tree_flatten(out)
            codegen: Any = self.graph._codegen
            codegen.pytree_info = codegen.pytree_info._replace(out_spec=spec)
            return flat_out

        return on_leaves, leaves

    def _concrete(self, name: str, value: Any, default: tuple[Any, ...]) -> Any:
        """An argument that is known: its unknown parts are inputs, and the known ones are asserted when the graph runs."""
        part = 0

        def leaf(x: Any) -> Any:
            nonlocal part
            part += 1
            stands = self.create_proxy("placeholder", f"{name}_{part}", default, {})
            if isinstance(x, PHBase):
                return stands
            if isinstance(x, (bool, int, float)) or x is None or isinstance(x, str):
                check = sys.modules[__package__.rpartition(".")[0]]._assert
                if x is None:
                    args = (stands, f"{name} has been specialized to have value None but got another value")
                    self.create_proxy("call_function", _assert_is_none, args, {})
                else:
                    args = (stands == x, f"{name} has been specialized to have value {x} but got another value")
                    self.create_proxy("call_function", check, args, {})
            return x

        return pytree.tree_map(leaf, value)

    def trace(self, root: Any, concrete_args: Any = None) -> Graph:
        """The graph of a module or function. concrete_args: values of arguments, by name, that the trace is to know."""
        global _tracing
        if isinstance(root, Module):
            fn = getattr(type(root), self.traced_func_name, None)
            if fn is None:
                raise AttributeError(f"trace: {type(root).__name__} has no method {self.traced_func_name!r}")
            self.root, is_module = root, True
            self.root_module_name = root._get_name()
            self.submodule_paths = {module: name for name, module in root.named_modules()}
        else:
            self.root, is_module, fn = Module(), False, root
            self.submodule_paths = None
        self.graph = Graph(tracer_cls=type(self) if isinstance(type(self), type) else None)
        self.tensor_attrs: dict[Any, str] = _collected_tensors(self.root)
        if not callable(fn) or not hasattr(inspect.unwrap(fn), "__code__"):
            raise AssertionError(f"trace: wanted a module or a Python function, got {root!r}")
        fn_globals = getattr(inspect.unwrap(fn), "__globals__", {})
        fn, args = self.create_args_for_root(fn, is_module, concrete_args)
        cache: dict[str, Any] = {}
        _tracing += 1
        try:
            with protocol.asking(), _asking_members(self.root), _patched() as patch:
                patch.attribute(Module, "__getattr__", self._reading(cache))
                patch.attribute(Module, "__call__", self._calling(patch))
                patch.wrapped_functions()
                patch.autowrap(fn_globals, self._autowrap_function_ids)
                for module in self._autowrap_search:
                    patch.autowrap(vars(module), self._autowrap_function_ids)
                result = fn(*args)
                own = inspect.unwrap(root.forward if is_module else root)
                foreign = not (own.__module__ or "").startswith("retrograde.")
                kind = getattr(own, "__annotations__", {}).get("return") if foreign else None
                self.create_node("output", "output", (self.create_arg(result),), {}, type_expr=kind)
        finally:
            _tracing -= 1
        return self.graph

    def _reading(self, cache: dict[str, Any]) -> Callable[..., Any]:
        before = Module.__getattr__

        def read(mod: Any, attr: str) -> Any:
            return self.getattr(attr, before(mod, attr), cache)

        return read

    def _calling(self, patch: _Patches) -> Callable[..., Any]:
        before = Module.__call__

        def call(mod: Any, *args: Any, **kwargs: Any) -> Any:
            def forward(*args: Any, **kwargs: Any) -> Any:
                return before(mod, *args, **kwargs)

            own = getattr(getattr(mod, "forward", None), "__globals__", None)
            if own is not None:
                patch.autowrap(own, self._autowrap_function_ids)
            return self.call_module(mod, forward, args, kwargs)

        return call

    def __deepcopy__(self, memo: dict[int, Any]) -> Tracer:
        import copy

        made = type(self).__new__(type(self))
        for k, v in self.__dict__.items():
            if k == "_autowrap_search":
                made.__dict__[k] = list(v)
            else:
                made.__dict__[k] = copy.deepcopy(v, memo)
        return made


def _name_of(x: Any, named: Any) -> str | None:
    """The name of an object among pairs of names and objects."""
    return next((name for name, y in named if x is y), None)


_proxyable_classes: dict[type, None] = {}


def _assert_is_none(value: Any, msg: str) -> None:
    if value is not None:
        raise AssertionError(msg)


def _flattened(fn: Any, keyword_only: tuple[str, ...], values: list[Any], positional: int) -> Callable[..., Any]:
    """A function that takes what stands for `*args` and `**kwargs`, and the keyword-only arguments, as plain values."""
    flags = fn.__code__.co_flags
    several, named = bool(flags & inspect.CO_VARARGS), bool(flags & inspect.CO_VARKEYWORDS)

    def call(*flat: Any) -> Any:
        rest = flat[positional:]
        own = dict(zip(keyword_only, values))
        # The body sees the traced values themselves as its tuple and dict: a copy of the function without the markers.
        code = fn.__code__.replace(
            co_flags=flags & ~(inspect.CO_VARARGS | inspect.CO_VARKEYWORDS), co_kwonlyargcount=0,
            co_argcount=positional + len(keyword_only) + several + named,
        )  # fmt: skip
        plain = FunctionType(code, fn.__globals__, fn.__name__, None, fn.__closure__)
        return plain(*flat[:positional], *own.values(), *rest)

    return call


def _collected_tensors(root: Any) -> dict[Any, str]:
    """The tensors that are plain attributes of modules, and their paths."""
    found: dict[Any, str] = {}
    for path, module in root.named_modules():
        for name, x in vars(module).items():
            if isinstance(x, Tensor):
                found[x] = f"{path}.{name}" if path else name
    return found


@contextlib.contextmanager
def _asking_members(root: Any) -> Iterator[None]:
    """Let the dialect's functions that modules keep as attributes ask for the time of a trace."""
    changed = []
    for module in root.modules():
        for name, f in vars(module).items():
            asking = protocol.form(f, True)
            if asking is not f:
                changed.append((module, name, f))
    for module, name, f in changed:
        vars(module)[name] = protocol.form(f, True)
    try:
        yield
    finally:
        for module, name, f in changed:
            vars(module)[name] = f


def _noting(orig: Any, method: str = "") -> Any:
    """A function, or a method by its name, whose call with traced values becomes a node."""

    @functools.wraps(orig)
    def wrapped(*args: Any, **kwargs: Any) -> Any:
        found: list[Proxy] = []
        _visit((args, kwargs), found.append)
        if not found:
            return orig(*args, **kwargs)
        if method:
            return found[0].tracer.create_proxy("call_method", method, args, kwargs)
        made = found[0].tracer.create_proxy("call_function", orig, args, kwargs)
        made.node.meta["is_wrapped"] = True
        return made

    return wrapped


class _Patches:
    """Names that stand for something else until the trace is over."""

    def __init__(self) -> None:
        self._before: list[tuple[Any, str, Any, bool]] = []
        self._seen: set[int] = set()

    def attribute(self, owner: Any, name: str, value: Any) -> None:
        """Set an attribute of a class."""
        self._before.append((owner, name, vars(owner).get(name), name in vars(owner)))
        setattr(owner, name, value)

    def entry(self, space: dict[str, Any], name: str, value: Any) -> None:
        """Set a global name."""
        self._before.append((space, name, space.get(name), name in space))
        space[name] = value

    def wrapped_functions(self) -> None:
        """Put what notes calls in the place of what `wrap` was told."""
        for (_, name), space in _wrapped_fns_to_patch.items():
            if name in space:
                self.entry(space, name, _noting(space[name]))
            elif hasattr(builtins, name):
                self.entry(space, name, _noting(getattr(builtins, name)))
        for cls, name in _wrapped_methods_to_patch:
            self.attribute(cls, name, _noting(getattr(cls, name), name))

    def autowrap(self, space: dict[str, Any], ids: set[int]) -> None:
        """The same for functions by identity, in a module's globals."""
        if id(space) in self._seen:
            return
        self._seen.add(id(space))
        for name, value in list(space.items()):
            if not name.startswith("_") and callable(value) and id(value) in ids:
                self.entry(space, name, _noting(value))

    def undo(self) -> None:
        """Put everything back."""
        for owner, name, value, there in reversed(self._before):
            if isinstance(owner, dict):
                if there:
                    owner[name] = value
                else:
                    owner.pop(name, None)
            elif there:
                setattr(owner, name, value)
            else:
                delattr(owner, name)
        self._before.clear()


@contextlib.contextmanager
def _patched() -> Iterator[_Patches]:
    patches = _Patches()
    try:
        yield patches
    finally:
        patches.undo()


def wrap(fn_or_name: str | Callable[..., Any]) -> Any:
    """Keep a function of the module that calls this a call of the graph: `wrap("len")`, `wrap(f)` or as a decorator.

    Raises RuntimeError where it is not called at the top of a module.
    """
    if isinstance(fn_or_name, str):
        name = fn_or_name
    elif callable(fn_or_name) and hasattr(fn_or_name, "__code__"):
        name = fn_or_name.__code__.co_name
        fn_or_name._fx_wrapped = True  # type: ignore[attr-defined]
    else:
        raise RuntimeError(f"wrap: wanted a function of Python's or the name of one, got {fn_or_name!r}")
    frame = sys._getframe(1)
    if frame.f_code.co_name != "<module>":
        raise NotImplementedError(f"wrap: {name} is to be wrapped at the top of its module, not inside {frame.f_code.co_name}")
    _wrapped_fns_to_patch[id(frame.f_globals), name] = frame.f_globals
    return fn_or_name


def symbolic_trace(root: Any, concrete_args: dict[str, Any] | None = None) -> GraphModule:
    """A GraphModule that computes what a module or function does, with the graph that says how.

    Raises TraceError where a branch or loop depends on a value.
    """
    tracer = Tracer()
    graph = tracer.trace(root, concrete_args)
    name = root._get_name() if isinstance(root, Module) else root.__name__
    return GraphModule(tracer.root, graph, name)


_symbolic_trace = symbolic_trace

__getattr__ = attributes(globals())
