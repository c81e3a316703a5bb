"""`torch.fx.graph_module`: a module whose forward is the code that its graph stands for."""

from __future__ import annotations

import copy
import itertools
import linecache
import os
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from .._api import attributes
from .._tensor import Tensor
from ..nn.modules.module import Module
from .graph import Graph, PythonCode, _custom_builtins, _get_attr, _has_attr, _PyTreeCodeGen

_USER_PRESERVED_ATTRIBUTES_KEY = "_user_preserved_attributes"
_numbers = itertools.count()


def _exec_with_source(src: str, globals: dict[str, Any], co_fields: Any = None) -> None:
    """Run code whose lines tracebacks show."""
    name = f"<eval_with_key>.{next(_numbers)}"
    linecache.cache[name] = (len(src), None, src.splitlines(True), name)
    exec(compile(src, name, "exec"), globals)  # noqa: S102 - code that a graph of this process has written


def _forward_from_src(src: str, globals: dict[str, Any], co_fields: Any = None) -> Callable[..., Any]:
    return _method_from_src("forward", src, globals, co_fields)


def _method_from_src(method_name: str, src: str, globals: dict[str, Any], co_fields: Any = None) -> Callable[..., Any]:
    space = {**{name: builtin.obj for name, builtin in _custom_builtins.items()}, **globals}
    _exec_with_source(src, space)
    method: Callable[..., Any] = space[method_name]
    return method


def _assign_attr(from_obj: Any, to_module: Module, target: str) -> None:
    """Put an object at a dotted path of a module, whose parts are made where they lack."""
    *path, name = target.split(".")
    for part in path:
        below = getattr(to_module, part, None)
        if below is None:
            below = Module()
            setattr(to_module, part, below)
        to_module = below
    if isinstance(from_obj, Tensor) and type(from_obj).__name__ != "Parameter" and name not in to_module._parameters:
        if name not in to_module._buffers:
            to_module.__dict__.pop(name, None)
        to_module._buffers[name] = from_obj
    else:
        setattr(to_module, name, from_obj)


def _del_attr(model: Any, attr_name: str) -> None:
    path, _, name = attr_name.rpartition(".")
    delattr(_get_attr(model, path) if path else model, name)


def _copy_attr(from_module: Any, to_module: Module, target: str) -> None:
    """Put what is at a dotted path of one module at the same path of another; a module that is there stays."""
    found = _get_attr(from_module, target) if _has_attr(from_module, target) else None
    if found is None and not _has_attr(from_module, target):
        return
    if isinstance(found, Module) and _has_attr(to_module, target):
        return
    _assign_attr(found, to_module, target)


class _CodeOnlyModule(Module):
    """A module with the dictionary of another."""

    def __init__(self, body: dict[str, Any]) -> None:
        super().__init__()
        self.__dict__ = body


class _WrappedCall:
    """A call of a GraphModule: where generated code fails, the error says at which line of it."""

    def __init__(self, cls: Any, cls_call: Any) -> None:
        self.cls, self.cls_call = cls, cls_call

    def __call__(self, obj: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            if self.cls_call is not None:
                return self.cls_call(obj, *args, **kwargs)
            return super(self.cls, obj).__call__(*args, **kwargs)  # type: ignore[misc]
        except Exception as error:
            frames = traceback.extract_tb(error.__traceback__)
            inside = [f for f in frames if f.filename.startswith("<eval_with_key>")]
            if inside and inside[-1] is frames[-1] and not getattr(error, "_names_line", False):
                error.add_note(f"(line {inside[-1].lineno} of the code generated for this GraphModule: {inside[-1].line})")
                error._names_line = True  # type: ignore[attr-defined]
            raise


class GraphModule(Module):
    """A module of a graph: its `forward` is generated code.

    root: the module that has the attributes and submodules that the nodes name, or a dict of them by path.
    Changes of the graph take effect with `recompile()`, or when it is assigned to `graph`.
    """

    _code: str
    _graph: Graph

    def __new__(cls, *args: Any, **kwargs: Any) -> GraphModule:
        for base in cls.__mro__:  # each instance has a class of its own, which has its forward
            name = base.__qualname__.rpartition(".")[2]
            if name != "GraphModuleImpl":
                return super().__new__(type("GraphModuleImpl", (base,), {"__module__": base.__module__}))  # type: ignore[return-value]
        raise AssertionError("unreachable: every class has a base")

    def __init__(self, root: Any, graph: Graph, class_name: str = "GraphModule") -> None:
        super().__init__()
        self.__class__.__name__ = class_name
        named = [n.target for n in graph.nodes if n.op in ("get_attr", "call_module")]
        if isinstance(root, Module):
            if hasattr(root, "training"):
                self.training = root.training
            for target in dict.fromkeys(named):
                _copy_attr(root, self, target)
            for hook, kwargs in getattr(root, "_load_state_dict_pre_hooks_kept", {}).items():
                self._register_load_state_dict_pre_hook(hook, **kwargs)
        elif isinstance(root, dict):
            for target in named:
                if target not in root:
                    raise RuntimeError(f"GraphModule: the graph names {target!r}, and the dict given as root has no entry of it")
            for target in sorted(set(named), key=lambda t: t.count(".")):  # a module before what is in it
                _assign_attr(root[target], self, target)
        else:
            raise RuntimeError(f"GraphModule: root must be a Module or a dict, got {type(root).__name__}")
        self.meta: dict[str, Any] = {}
        if isinstance(root, Module) and isinstance(getattr(root, "meta", None), dict):
            kept = root.meta.get(_USER_PRESERVED_ATTRIBUTES_KEY, {})
            if kept:
                self.meta[_USER_PRESERVED_ATTRIBUTES_KEY] = kept
                for name, x in kept.items():
                    setattr(self, name, x)
        self._tracer_cls = graph._tracer_cls if getattr(graph._tracer_cls, "__qualname__", "").find("<locals>") < 0 else None
        self._tracer_extras = graph._tracer_extras or {}
        self._create_node_hooks: list[Any] = []
        self._erase_node_hooks: list[Any] = []
        self._replace_hooks: list[Any] = []
        self.graph = graph

    # -------------------------------------------------------------------- graph and code

    @property
    def graph(self) -> Graph:
        """The graph; assigning another one makes its code the forward."""
        return self._graph

    @graph.setter
    def graph(self, g: Graph) -> None:
        if not isinstance(g, Graph):
            raise AssertionError(f"GraphModule.graph: wanted a Graph, got {type(g).__name__}")
        # A graph belongs to one module: that of another one is copied.
        if g.owning_module is not None and g.owning_module is not self:
            g = copy.deepcopy(g)
        self.__dict__["_graph"] = g
        g.owning_module = self
        self.recompile()

    @property
    def code(self) -> str:
        """The Python code of the graph."""
        if not hasattr(self, "_code"):
            raise RuntimeError("GraphModule: no code has been generated yet; call recompile()")
        return self._code

    def recompile(self) -> PythonCode:
        """Make the code of the graph, as it is now, the forward; returns that code."""
        codegen = self._graph._codegen
        if isinstance(codegen, _PyTreeCodeGen):
            self.__dict__["_in_spec"] = codegen.pytree_info.in_spec
            self.__dict__["_out_spec"] = codegen.pytree_info.out_spec
        made = self._graph.python_code(root_module="self")
        self.__dict__["_code"] = made.src
        self.__dict__["_lineno_map"] = made._lineno_map
        cls: Any = type(self)
        cls.forward = _method_from_src(codegen._func_name, made.src, made.globals)
        own_call = vars(cls).get("__call__")
        if "_wrapped_call" not in vars(cls):
            cls._wrapped_call = _WrappedCall(cls, own_call)
            cls.__call__ = lambda self, *args, **kwargs: self._wrapped_call(self, *args, **kwargs)
        return made

    def print_readable(
        self, print_output: bool = True, include_stride: bool = False, include_device: bool = False, colored: bool = False,
        *, fast_sympy_print: bool = False, expanded_def: bool = False,
    ) -> str:  # fmt: skip
        """The code of this module and of the GraphModules in it, with the sizes that are known; printed, too."""
        text = _readable(self, self._get_name(), include_stride, include_device)
        if print_output:
            print(text)
        return text

    def __str__(self) -> str:
        return "\n".join([
            super().__str__(), self.code, "# print_readable() shows the sizes and modules as well, where they are known",
        ])  # fmt: skip

    def _get_name(self) -> str:
        return type(self).__name__

    def to_folder(self, folder: str | os.PathLike[str], module_name: str = "FxModule") -> None:
        """Write the module as a package: its code, and its parameters and buffers in a file beside it."""
        from .. import _save_load

        path = Path(folder)
        path.mkdir(parents=True, exist_ok=True)
        _save_load.save(self.state_dict(), path / "state_dict.pt")
        made = self._graph.python_code(root_module="self")
        lines = ["import os", "import torch", "import torch.nn", "from torch.nn import *", ""]
        lines += [_import_of(name, x) for name, x in made.globals.items() if name not in ("torch",)]
        lines += ["", f"class {module_name}(torch.nn.Module):", "    def __init__(self):", "        super().__init__()"]
        unwritten: list[str] = []
        for name, module in self.named_children():
            own = type(module)
            if own.__module__.startswith(("torch.nn", "retrograde.dialects.torch.nn")) and "\n" not in repr(module):
                lines.append(f"        self.{name} = torch.nn.{module!r}")
            else:
                unwritten.append(name)
                with open(path / f"{name}.pickle", "wb") as file:
                    import pickle

                    pickle.dump(module, file)
                lines.append(
                    f"        self.{name} = __import__('pickle').load(open(os.path.join(os.path.dirname(__file__), "
                    f"'{name}.pickle'), 'rb'))"
                )
        for name, x in self._buffers.items():
            if x is not None:
                lines.append(f"        self.register_buffer({name!r}, torch.empty({list(x.shape)}, dtype={x.dtype}))")
        for name, p in self._parameters.items():
            if p is not None:
                lines.append(f"        self.{name} = torch.nn.Parameter(torch.empty({list(p.shape)}, dtype={p.dtype}))")
        lines.append("        self.load_state_dict(torch.load(os.path.join(os.path.dirname(__file__), 'state_dict.pt')))")
        lines += ["", *("    " + line if line else "" for line in made.src.strip("\n").split("\n")), ""]
        (path / "module.py").write_text("\n".join(lines))
        (path / "__init__.py").write_text("from .module import *\n")
        if unwritten:
            warnings.warn(f"to_folder: pickled, since their repr is no code: {', '.join(unwritten)}", stacklevel=2)

    # -------------------------------------------------------------------- submodules

    def add_submodule(self, target: str, m: Module) -> bool:
        """Put a module at a dotted path, whose parts are made where they lack; False where something else is in the way."""
        *path, name = target.split(".")
        mod: Module = self
        for part in path:
            below = getattr(mod, part, None)
            if below is None:
                below = Module()
                setattr(mod, part, below)
            if not isinstance(below, Module):
                return False
            mod = below
        mod.add_module(name, m)
        return True

    def delete_submodule(self, target: str) -> bool:
        """Take the module at a dotted path out; False where there is none."""
        if not _has_attr(self, target) or not isinstance(_get_attr(self, target), Module):
            return False
        _del_attr(self, target)
        return True

    def delete_all_unused_submodules(self) -> None:
        """Take out the submodules that no node names, nor one above or below them."""
        used: set[str] = set()
        for node in self.graph.nodes:
            if node.op in ("call_module", "get_attr"):
                parts = node.target.split(".")
                used.update(".".join(parts[: i + 1]) for i in range(len(parts)))
                if node.op == "call_module" and (found := self._found(node.target)) is not None:
                    used.update(f"{node.target}.{name}" for name, _ in found.named_modules() if name)
        for name in [name for name, _ in self.named_modules() if name and name not in used]:
            self.delete_submodule(name)

    def _found(self, target: str) -> Module | None:
        try:
            return self.get_submodule(target)
        except AttributeError:
            warnings.warn(f"delete_all_unused_submodules: a node calls {target!r}, which there is not", stacklevel=3)
            return None

    # -------------------------------------------------------------------- copies

    def __deepcopy__(self, memo: dict[int, Any]) -> GraphModule:
        made = type(self).__new__(type(self))
        memo[id(self)] = made
        body = _CodeOnlyModule({k: copy.deepcopy(v, memo) for k, v in self.__dict__.items() if k not in _OWN})
        _start(made, body, copy.deepcopy(self._graph, memo), type(self).__name__)
        return made

    def __copy__(self) -> GraphModule:
        made = type(self).__new__(type(self))
        _start(made, _CodeOnlyModule(dict(self.__dict__)), copy.copy(self._graph), type(self).__name__)
        return made

    def __reduce__(self) -> Any:
        base = next(b for b in type(self).__mro__ if b.__qualname__.rpartition(".")[2] != "GraphModuleImpl" and (
            b.__name__ != type(self).__name__ or "forward" not in vars(b)) and b is not type(self))  # fmt: skip
        body = {k: v for k, v in self.__dict__.items() if k not in _OWN}
        return _rebuilt, (base, body, self._graph, type(self).__name__)

    def __reduce_deploy__(self, importer: Any) -> Any:
        raise NotImplementedError("GraphModule: there is no torch.package here; pickle the module, or save its state_dict()")

    # -------------------------------------------------------------------- hooks of changes

    @contextmanager
    def _set_replace_hook(self, f: Any) -> Iterator[None]:
        self._replace_hooks.append(f)
        try:
            yield
        finally:
            self._replace_hooks.remove(f)

    def _register_create_node_hook(self, f: Any) -> None:
        self._create_node_hooks.append(f)

    def _unregister_create_node_hook(self, f: Any) -> None:
        self._create_node_hooks.remove(f)

    def _register_erase_node_hook(self, f: Any) -> None:
        self._erase_node_hooks.append(f)

    def _unregister_erase_node_hook(self, f: Any) -> None:
        self._erase_node_hooks.remove(f)


_OWN = frozenset(("_graph", "_code", "_lineno_map", "_in_spec", "_out_spec"))
"""What is made of the graph and not copied."""


def _start(made: Any, body: Module, graph: Graph, name: str) -> None:
    """Make a GraphModule of the dictionary of one and a graph."""
    Module.__init__(made)
    made.__dict__.update(body.__dict__)
    type(made).__name__ = name
    made.graph = graph


def _rebuilt(base: type, body: dict[str, Any], graph: Graph, name: str) -> GraphModule:
    made = base.__new__(base)
    _start(made, _CodeOnlyModule(body), graph, name)
    return made  # type: ignore[return-value]


def _import_of(name: str, x: Any) -> str:
    module = getattr(x, "__module__", None)
    if isinstance(x, type(sys)):
        return f"import {x.__name__} as {name}"
    if module in (None, "__main__"):
        raise RuntimeError(f"to_folder: {name} cannot be imported from a package; define it in a module")
    return f"from {module.removeprefix('retrograde.dialects.')} import {x.__qualname__} as {name}"


def _readable(module: Module, name: str, stride: bool, device: bool) -> str:
    graph: Any = getattr(module, "graph", None)
    code = graph.python_code("self", verbose=True, include_stride=stride, include_device=device).src if graph else ""
    lines = [f"class {name}(torch.nn.Module):", *("    " + x for x in code.strip("\n").split("\n"))]
    for below, child in module.named_children():
        if hasattr(child, "graph"):
            lines += ["", *("    " + x for x in _readable(child, below, stride, device).split("\n"))]
    return "\n".join(x.rstrip() for x in lines) + "\n"


def _get_graph_outputs(graph: Graph) -> Any:
    return graph.output_node().args[0]


def reduce_graph_module(body: dict[str, Any], import_block: str) -> Module:
    """Refuses: PyTorch's pickles of GraphModules hold code that is run when they are loaded."""
    raise NotImplementedError(
        "reduce_graph_module: a GraphModule that PyTorch pickled is code to be run, which is not done here; save its state_dict()"
    )


__getattr__ = attributes(globals())
