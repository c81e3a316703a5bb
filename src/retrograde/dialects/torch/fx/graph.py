"""`torch.fx.graph`: the nodes of a program in the order of their execution, and the Python code that they stand for."""

from __future__ import annotations

import builtins
import contextlib
import copy
import functools
import inspect
import keyword
import math
import re
import sys
import typing
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import FunctionType
from typing import Any, NamedTuple

from ...._tree import TreeDef
from .._api import attributes
from .._dtype import dtype
from .._size import Size, device
from .._tensor import Tensor
from ..utils import _pytree as pytree
from . import _pytree as fx_pytree
from .node import Argument, Node, Target, _get_qualified_name, _type_repr, map_aggregate, map_arg

_torch = sys.modules[__package__.rpartition(".")[0]]

_BINARY = {
    "add": "+", "and_": "&", "eq": "==", "floordiv": "//", "ge": ">=", "gt": ">", "le": "<=", "lshift": "<<", "lt": "<",
    "matmul": "@", "mod": "%", "mul": "*", "ne": "!=", "or_": "|", "pow": "**", "rshift": ">>", "sub": "-", "truediv": "/",
    "xor": "^",
}  # fmt: skip
_UNARY = {"invert": "~", "neg": "-", "pos": "+"}
_COMPARISONS = frozenset(("eq", "ge", "gt", "le", "lt", "ne"))

reflectable_magic_methods = {name: f"{{}} {sign} {{}}" for name, sign in _BINARY.items() if name not in _COMPARISONS}
magic_methods = {
    **{name: f"{{}} {sign} {{}}" for name, sign in _BINARY.items()}, **{name: sign + "{}" for name, sign in _UNARY.items()},
    "getitem": "{}[{}]",
}  # fmt: skip
"""The functions of `operator` that are written as operators, and how."""
inplace_methods = {
    "i" + name.rstrip("_"): f"{{}} {sign}= {{}}" for name, sign in _BINARY.items() if name not in _COMPARISONS
}  # fmt: skip


class _CustomBuiltin(NamedTuple):
    import_str: str
    obj: Any


_custom_builtins: dict[str, _CustomBuiltin] = {
    "inf": _CustomBuiltin("from math import inf", math.inf),
    "nan": _CustomBuiltin("from math import nan", math.nan),
    "NoneType": _CustomBuiltin("NoneType = type(None)", type(None)),
    "torch": _CustomBuiltin("import torch", _torch),
    "device": _CustomBuiltin("from torch import device", device),
    "fx_pytree": _CustomBuiltin("import torch.fx._pytree as fx_pytree", fx_pytree),
    "pytree": _CustomBuiltin("import torch.utils._pytree as pytree", pytree),
}
"""Names that generated code may use without being told."""


def _register_custom_builtin(name: str, import_str: str, obj: Any) -> None:
    _custom_builtins[name] = _CustomBuiltin(import_str, obj)


def _snake_case(s: str) -> str:
    """A name in small letters with underscores between its words."""
    return re.sub(r"(?<=[a-z])[A-Z]", r"_\g<0>", s).lower()


def _is_from_torch(obj: Any) -> bool:
    """Whether an object is found under `torch` in generated code."""
    path = _get_qualified_name(obj) if callable(obj) and getattr(obj, "__name__", None) else ""
    if not path.startswith("torch.") or (isinstance(obj, type) and obj is device):
        return False
    found: Any = _torch
    for part in path.split(".")[1:]:
        found = getattr(found, part, None)
    return found is not None


class _Namespace:
    """The names of a graph's nodes: Python identifiers, each once, none a keyword or builtin."""

    def __init__(self) -> None:
        self._obj_to_name: dict[Any, str] = {}
        self._used_names: set[str] = set()
        self._base_count: dict[str, int] = {}

    def create_name(self, candidate: str, obj: Any) -> str:
        """A free name like the candidate, which is the object's from now on."""
        if obj is not None and obj in self._obj_to_name:
            return self._obj_to_name[obj]
        candidate = re.sub(r"[^0-9a-zA-Z_]+", "_", candidate) or "_unnamed"
        if candidate[0].isdigit():
            candidate = f"_{candidate}"
        match = re.match(r"(.*)_(0|[1-9]\d*)$", candidate)
        base, number = (candidate, None) if match is None else (match[1], int(match[2]))
        if number is None or candidate in self._used_names:
            number = self._base_count.get(base, 0)
        while candidate in self._used_names or self._is_illegal_name(candidate, obj):
            number += 1
            candidate = f"{base}_{number}"
        self._used_names.add(candidate)
        self._base_count[base] = number
        if obj is not None:
            self._obj_to_name[obj] = candidate
        return candidate

    def associate_name_with_obj(self, name: str, obj: Any) -> None:
        """Take a name for an object."""
        if self._obj_to_name.setdefault(obj, name) is not name:
            raise AssertionError(f"associate_name_with_obj: the object of {name} has the name {self._obj_to_name[obj]} already")

    def _is_illegal_name(self, name: str, obj: Any) -> bool:
        if keyword.iskeyword(name):
            return True
        if name in vars(builtins):
            return obj is not vars(builtins)[name]
        return name in _custom_builtins and obj is not _custom_builtins[name].obj

    def _rename_object(self, obj: Any, name: str) -> None:
        self._obj_to_name[obj] = name
        self._used_names.add(name)


@dataclass
class PythonCode:
    """The code of a graph, and what the names in it mean."""

    src: str
    globals: dict[str, Any]
    _lineno_map: dict[int, int | None] | None = None
    _prologue_start: int = 0


class _PyTreeInfo(NamedTuple):
    """How the nested containers that a graph's function takes and gives are taken apart."""

    orig_args: list[str]
    in_spec: TreeDef
    out_spec: TreeDef | None


@dataclass(frozen=True)
class _ParsedStackTrace:
    """A line of the program."""

    file: str
    lineno: str
    name: str
    code: str

    def get_summary_str(self) -> str:
        """Where it is."""
        return f"File: {self.file}:{self.lineno} in {self.name}, code: {self.code}"


def _parse_stack_trace(stack_trace: str) -> _ParsedStackTrace | None:
    """The last line of the program that a recorded stack names."""
    found = re.findall(r'File "([^"]+)", line (\d+), in ([^\n]+)\n\s*([^\n]*)', stack_trace)
    return _ParsedStackTrace(*found[-1]) if found else None


class CodeGen:
    """Writes the code of a graph. A subclass may take the arguments or give the result in another form."""

    def __init__(self) -> None:
        self._body_transformer: Callable[[list[str]], list[str]] | None = None
        self._func_name = "forward"

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        """The line that begins the function."""
        if not free_vars or free_vars[0] != "self":
            free_vars = ["self", *free_vars]
        return f"def {self._func_name}({', '.join(free_vars)}){maybe_return_annotation}:"

    def generate_output(self, output_args: Argument) -> str:
        """The line that returns."""
        return f"return {_written(output_args)}"

    def process_inputs(self, *args: Any) -> Any:
        """The graph's inputs, of what its function is called with."""
        return args

    def process_outputs(self, outputs: Any) -> Any:
        """What its function returns, of the graph's output."""
        return outputs

    def additional_globals(self) -> list[tuple[str, Any]]:
        """Names that the code needs beside those of its nodes."""
        return []

    def _gen_python_code(
        self, nodes: Any, root_module: str, namespace: _Namespace, *, verbose: bool = False, include_stride: bool = False,
        include_device: bool = False, colored: bool = False, expanded_def: bool = False,
        record_func: bool = False, **_: Any,
    ) -> PythonCode:  # fmt: skip
        names: dict[str, Any] = {}
        free: list[str] = []
        lines: list[str] = []
        returned = [""]
        wrapped: dict[str, None] = {}

        def name_of(hint: str, obj: Any) -> str:
            """The expression by which the code finds an object."""
            if _is_from_torch(obj):
                return _get_qualified_name(obj)
            hint = hint.replace(".", "_").replace("<", "_").replace(">", "_")
            if hint in names and names[hint] is obj:
                return hint
            name = namespace.create_name(hint, obj)
            names[name] = obj
            return name

        for hint, obj in self.additional_globals():
            name_of(hint, obj)

        def type_name(o: Any) -> str:
            if o == ():
                return "()"
            parts = typing.get_args(o)
            written = _type_repr(o)
            if parts and hasattr(o, "__origin__"):
                origin = o.__origin__
                head = re.sub(r"\[.*", "", written)
                base = name_of(head, origin) if head.partition(".")[0] not in ("typing",) else head
                if head.startswith("typing."):
                    names.setdefault("typing", typing)
                inner = ", ".join(type_name(p) if not isinstance(p, list) else repr(p) for p in parts)
                return f"{base}[{inner}]"
            return name_of(written, o)

        def written(x: Any) -> str:
            return _written(x, name_of)

        freed = last_uses(nodes)
        shown_stack = ""

        def comment(node: Node) -> None:
            nonlocal shown_stack
            if not verbose:
                return
            stack = node.stack_trace or ""
            if node.op not in ("placeholder", "output") and stack != shown_stack:
                shown_stack = stack
                found = _parse_stack_trace(stack)
                lines.append(f"\n# {found.get_summary_str()}\n" if found is not None else "\n")

        def annotation(node: Node) -> str:
            if node.type is not None:
                return f" : {type_name(node.type)}"
            value = node.meta.get("val", node.meta.get("tensor_meta")) if verbose else None
            if isinstance(value, Tensor) or (hasattr(value, "dtype") and hasattr(value, "shape")):
                kind = repr(value.dtype).removeprefix("torch.")
                short = {"float32": "f32", "float64": "f64", "float16": "f16", "bfloat16": "bf16", "bool": "b8"}.get(
                    kind, kind.replace("uint", "u").replace("int", "i").replace("complex64", "c64").replace("complex128", "c128")
                )
                stride = str(list(value.stride())) if include_stride and isinstance(value, Tensor) else ""
                return f': "{short}[{", ".join(map(str, value.shape))}]{stride}{"cpu" if include_device else ""}"'
            return ""

        def line_of(node: Node) -> None:
            if node.op == "placeholder":
                default = f" = {written(node.args[0])}" if node.args else ""
                free.append(f"{node.target}{annotation(node)}{default}")
                plain = node.target.replace("*", "")
                if plain != node.name:
                    lines.append(f"{node.name} = {plain}\n")
                return
            if node.op == "output":
                if node.type is not None:
                    returned[0] = f" -> {type_name(node.type)}"
                if type(self).generate_output is CodeGen.generate_output:
                    lines.append(f"return {written(node.args[0])}")
                else:
                    lines.append(self.generate_output(node.args[0]))
                return
            typed = annotation(node)
            given = [written(a) for a in node.args]
            if node.op == "get_attr":
                lines.append(f"{node.name}{typed} = {_path(root_module, node.target)}")
                return
            if node.op == "call_method":
                value = f"{given[0]}.{node.target}({_arguments(given[1:], node.kwargs, written)})"
            elif node.op == "call_module":
                value = f"{_path(root_module, node.target)}({_arguments(given, node.kwargs, written)})"
            else:
                target = node._target
                name = getattr(target, "__name__", "")
                if getattr(target, "__module__", None) == "_operator":
                    form = magic_methods.get(name)
                    if form is not None and not node.kwargs:
                        lines.append(f"{node.name}{typed} = {form.format(*given)}")
                        return
                    form = inplace_methods.get(name)
                    if form is not None and not node.kwargs:
                        lines.append(f"{form.format(*given)};  {node.name}{typed} = {given[0]}")
                        return
                found = name_of(_get_qualified_name(target), target)
                if found == "getattr" and len(node.args) == 2 and str(node.args[1]).isidentifier():
                    value = f"{given[0]}.{node.args[1]}"
                else:
                    value = f"{found}({_arguments(given, node.kwargs, written)})"
                    if node.meta.get("is_wrapped"):
                        wrapped.setdefault(found)
            lines.append(f"{node.name}{typed} = {value}")

        at: dict[int, int | None] = {}
        for i, node in enumerate(nodes):
            comment(node)
            start = len(lines)
            line_of(node)
            if node.op not in ("placeholder", "output"):
                unused = [taken.name for taken in freed.get(node, ())]
                if not node.users:
                    lines[-1] += ";  " + " = ".join([*unused, node.name]) + " = None"
                elif unused:
                    lines[-1] += ";  " + " = ".join(unused) + " = None"
                lines[-1] += "\n"
            for place in range(start, len(lines)):
                at[place] = i
        body = "".join(lines) if lines else "pass\n"
        if self._body_transformer is not None:
            body = "".join(self._body_transformer(list(lines) or ["pass\n"]))
        prologue = self.gen_fn_def(free, returned[0])
        wraps = "\n".join(f'torch.fx._symbolic_trace.wrap("{name}")' for name in wrapped)
        text = "\n".join("    " + line for line in f"{body}\n".split("\n"))
        src = f"\n{wraps}\n\n{prologue}\n{text}"
        table: dict[int, int | None] = {}
        start = number = f"\n{wraps}\n\n{prologue}\n".count("\n")
        for place, text_of in enumerate(lines):
            table[number + 1] = at.get(place)
            number += text_of.count("\n")
        return PythonCode(src, names, table, start)


def last_uses(nodes: Any) -> dict[Node, list[Node]]:
    """For each node the nodes that nobody takes after it, in the order of its arguments."""
    seen: set[Node] = set()
    freed: dict[Node, list[Node]] = {}
    for node in reversed(nodes):
        for taken in node.all_input_nodes:
            if taken not in seen:
                seen.add(taken)
                freed.setdefault(node, []).append(taken)
    return freed


def _path(root: str, target: str) -> str:
    """The expression of an attribute at a dotted path, whose parts need not be identifiers."""
    for part in target.split("."):
        root = f"{root}.{part}" if part.isidentifier() else f'getattr({root}, "{part}")'
    return root


def _arguments(args: list[str], kwargs: dict[str, Any], written: Callable[[Any], str]) -> str:
    return ", ".join([*args, *(f"{k} = {written(v)}" for k, v in kwargs.items())])


def _written(x: Any, name_of: Callable[[str, Any], str] | None = None) -> str:
    """An argument as Python code."""
    if isinstance(x, tuple) and hasattr(x, "_fields"):
        name = type(x).__name__ if name_of is None else name_of(_type_repr(type(x)), type(x))
        return f"{name}({', '.join(_written(a, name_of) for a in x)})"
    if isinstance(x, Size):
        return f"torch.Size({list(x)!r})"
    if isinstance(x, tuple):
        return f"({', '.join(_written(a, name_of) for a in x)}{',' if len(x) == 1 else ''})"
    if isinstance(x, list):
        return f"[{', '.join(_written(a, name_of) for a in x)}]"
    if isinstance(x, dict):
        return "{" + ", ".join(f"{k!r}: {_written(v, name_of)}" for k, v in x.items()) + "}"
    if isinstance(x, slice):
        return f"slice({_written(x.start, name_of)}, {_written(x.stop, name_of)}, {_written(x.step, name_of)})"
    if isinstance(x, (Node, dtype)):
        return repr(x)
    if name_of is not None and (isinstance(x, type) or (callable(x) and hasattr(x, "__qualname__"))):
        return name_of(_type_repr(x) if isinstance(x, type) else _get_qualified_name(x), x)
    if isinstance(x, Tensor):
        raise TypeError("a tensor among the arguments cannot be written as code; make it an attribute of the module")
    return repr(x)


class _PyTreeCodeGen(CodeGen):
    """Code of a function whose arguments are nested containers, which it takes apart for the graph."""

    def __init__(self, pytree_info: _PyTreeInfo) -> None:
        super().__init__()
        self.pytree_info = pytree_info

    def process_inputs(self, *inputs: Any) -> Any:
        return pytree.tree_flatten(inputs)[0]

    def process_outputs(self, out: Any) -> Any:
        if self.pytree_info.out_spec is None:
            return out
        return pytree.tree_unflatten(list(out) if isinstance(out, (list, tuple)) else [out], self.pytree_info.out_spec)

    def gen_fn_def(self, free_vars: list[str], maybe_return_annotation: str) -> str:
        given = [name for name in self.pytree_info.orig_args if name != "self"]
        head = super().gen_fn_def(given, maybe_return_annotation)
        if not free_vars:
            return head
        bare = [re.split(r"[ =:]", name)[0] for name in free_vars]
        return (
            f"{head}\n    {', '.join(bare)}, = fx_pytree.tree_flatten_spec(({', '.join(given)},), self._in_spec)"
        )

    def generate_output(self, output_args: Argument) -> str:
        if self.pytree_info.out_spec is None:
            return super().generate_output(output_args)
        return f"return pytree.tree_unflatten({_written(output_args)}, self._out_spec)"


class _node_list:
    """The nodes of a graph as a sequence that may be changed while it is walked."""

    def __init__(self, graph: Graph, direction: str = "_next") -> None:
        self.graph, self.direction = graph, direction

    def __len__(self) -> int:
        return self.graph._len

    def __iter__(self) -> Iterator[Node]:
        root, node = self.graph._root, getattr(self.graph._root, self.direction)
        while node is not root:
            following = getattr(node, self.direction)
            if not node._erased:
                yield node
                following = getattr(node, self.direction) if not node._erased else following
            node = following

    def __reversed__(self) -> _node_list:
        return _node_list(self.graph, "_prev" if self.direction == "_next" else "_next")


class _InsertPoint:
    """The place where new nodes go; as a context, until it is left."""

    def __init__(self, graph: Graph, new_insert: Callable[[Node], None]) -> None:
        self.graph, self.before = graph, graph._insert
        graph._insert = new_insert

    def __enter__(self) -> None:
        pass

    def __exit__(self, *error: object) -> None:
        self.graph._insert = self.before


class Graph:
    """A program as a list of nodes: inputs, calls of functions, methods and modules, one output."""

    def __init__(self, owning_module: Any = None, tracer_cls: Any = None, tracer_extras: dict[str, Any] | None = None) -> None:
        self._root = Node(self, "", "root", "", (), {})
        self._used_names: dict[str, int] = {}
        self._insert = self._root.prepend
        self._len = 0
        self._graph_namespace = _Namespace()
        self._owning_module = owning_module
        self._owners = 0
        self._tracer_cls, self._tracer_extras = tracer_cls, tracer_extras
        self._codegen = CodeGen()

    @property
    def owning_module(self) -> Any:
        """The module whose attributes and submodules the nodes name."""
        return self._owning_module

    @owning_module.setter
    def owning_module(self, mod: Any) -> None:
        self._owning_module = mod

    @property
    def nodes(self) -> _node_list:
        """All nodes, in the order of execution."""
        return _node_list(self)

    def find_nodes(self, *, op: str, target: Any = None, sort: bool = True) -> list[Node]:
        """The nodes of an operation, and of a target where one is given."""
        return [n for n in self.nodes if n.op == op and (target is None or n.target == target)]

    def output_node(self) -> Node:
        """The node that returns."""
        last = self._root._prev
        if last.op != "output":
            raise AssertionError("output_node: the graph does not end with an output")
        return last

    # -------------------------------------------------------------------- making nodes

    def create_node(
        self, op: str, target: Target, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
        name: str | None = None, type_expr: Any = None,
    ) -> Node:  # fmt: skip
        """A node at the place where new ones go, under a free name."""
        args, kwargs = () if args is None else args, {} if kwargs is None else kwargs
        if not isinstance(args, tuple) or not isinstance(kwargs, dict):
            raise AssertionError(
                f"create_node: args must be a tuple and kwargs a dict, got {type(args).__name__} and {type(kwargs).__name__}"
            )
        made = self._graph_namespace.create_name(name if name is not None else self._target_to_str(target), None)
        node = Node(self, made, op, target, args, kwargs, type_expr)
        self._graph_namespace.associate_name_with_obj(made, node)
        if self._owning_module is not None and getattr(self._owning_module, "_create_node_hooks", None):
            for hook in self._owning_module._create_node_hooks:
                hook(node)
        self._insert(node)
        self._len += 1
        return node

    def _target_to_str(self, target: Any) -> str:
        """The name that a node of a target gets."""
        if callable(target):
            name = target.__name__
        else:
            name = target
            if name.startswith("__") and name.endswith("__"):
                name = name[2:-2]
        return _snake_case(name)

    def placeholder(self, name: str, type_expr: Any = None, default_value: Any = ...) -> Node:
        """An input. default_value: what it is where the caller gives none."""
        args = () if default_value is ... or default_value is inspect.Parameter.empty else (default_value,)
        return self.create_node("placeholder", name, args=args, type_expr=type_expr)

    def get_attr(self, qualified_name: str, type_expr: Any = None) -> Node:
        """An attribute of the module, by its path; warns where the owning module has none there."""
        self._expect("get_attr", qualified_name)
        return self.create_node("get_attr", qualified_name, type_expr=type_expr)

    def call_module(
        self, module_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None, type_expr: Any = None
    ) -> Node:
        """A call of a submodule, by its path."""
        self._expect("call_module", module_name)
        return self.create_node("call_module", module_name, args, kwargs, type_expr=type_expr)

    def _expect(self, op: str, path: str) -> None:
        if self._owning_module is not None and not _has_attr(self._owning_module, path):
            warnings.warn(
                f"{op}: the graph's module has nothing under {path!r} yet; put it there before the graph runs", stacklevel=3
            )

    def call_method(
        self, method_name: str, args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None, type_expr: Any = None
    ) -> Node:
        """A call of a method of the first argument."""
        return self.create_node("call_method", method_name, args, kwargs, type_expr=type_expr)

    def call_function(
        self, the_function: Callable[..., Any], args: tuple[Any, ...] | None = None, kwargs: dict[str, Any] | None = None,
        type_expr: Any = None, name: str | None = None,
    ) -> Node:  # fmt: skip
        """A call of a function."""
        return self.create_node("call_function", the_function, args, kwargs, name, type_expr)

    def output(self, result: Argument, type_expr: Any = None) -> Node:
        """The node that returns."""
        return self.create_node("output", "output", (result,), type_expr=type_expr)

    def node_copy(self, node: Node, arg_transform: Callable[[Node], Argument] = lambda x: x) -> Node:
        """A node like one of another graph, whose arguments `arg_transform` gives."""
        args, kwargs = map_arg(node.args, arg_transform), map_arg(node.kwargs, arg_transform)
        made = self.create_node(node.op, node._target, args, kwargs, node.name, node.type)
        made.meta = copy.copy(node.meta)
        return made

    def graph_copy(self, g: Graph, val_map: dict[Node, Node], return_output_node: bool = False) -> Any:
        """Copy all nodes of a graph to the place where new ones go; `val_map` holds what stands for what, and is added to.
        Returns what the copied graph returns, or None where it has no output."""
        for node in g.nodes:
            if node in val_map:
                continue
            if node.op == "output":
                result = map_arg(node.args[0], val_map.__getitem__)
                return (result, node) if return_output_node else result
            val_map[node] = self.node_copy(node, val_map.__getitem__)
        return None

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Graph:
        g = Graph(tracer_cls=self._tracer_cls)
        g._codegen, g._tracer_extras = copy.deepcopy(self._codegen), self._tracer_extras
        memo = {} if memo is None else memo
        copies: dict[Node, Node] = {}
        for node in self.nodes:
            copies[node] = made = g.node_copy(node, copies.__getitem__)
            memo[id(node)] = made
        memo[id(self)] = g
        return g

    # -------------------------------------------------------------------- changing it

    def erase_node(self, to_erase: Node) -> None:
        """Take a node out; raises RuntimeError while others take its result."""
        if to_erase.users:
            raise RuntimeError(
                f"erase_node: {to_erase} has {len(to_erase.users)} users: {list(to_erase.users)}; give them another argument "
                "first, with replace_all_uses_with"
            )
        if to_erase.graph is not self:
            raise RuntimeError(f"erase_node: {to_erase} belongs to another graph")
        if to_erase._erased:
            warnings.warn(f"erase_node: {to_erase} was erased before", stacklevel=2)
            return
        owner = self._owning_module
        for hook in getattr(owner, "_erase_node_hooks", ()) if owner is not None else ():
            hook(to_erase)
        to_erase._prev._next, to_erase._next._prev = to_erase._next, to_erase._prev
        to_erase._erased = True
        self._len -= 1
        to_erase._set_arguments((), {})

    def inserting_before(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go before a node, or, without one, before everything; as a context, until it is left."""
        if n is None:
            return self.inserting_after(self._root)
        self._own("inserting_before", n)
        return _InsertPoint(self, n.prepend)

    def inserting_after(self, n: Node | None = None) -> _InsertPoint:
        """New nodes go right behind a node (each before the ones made earlier), or, without one, behind everything."""
        if n is None:
            return self.inserting_before(self._root)
        self._own("inserting_after", n)
        return _InsertPoint(self, n.append)

    def _own(self, op: str, n: Node) -> None:
        if n.graph is not self:
            raise AssertionError(f"{op}: {n} belongs to another graph")

    def eliminate_dead_code(self, is_impure_node: Callable[[Node], bool] | None = None) -> bool:
        """Take out the nodes whose results nobody takes and that do nothing else; returns whether there were any."""
        self.lint()
        impure = Node.is_impure if is_impure_node is None else is_impure_node
        changed = False
        for node in reversed(self.nodes):
            if not node.users and not impure(node):
                self.erase_node(node)
                changed = True
        return changed

    def set_codegen(self, codegen: CodeGen) -> None:
        """Have the code written by another CodeGen."""
        self._codegen = codegen

    def on_generate_code(self, make_transformer: Callable[[Any], Any]) -> Any:
        """Let `make_transformer(the one before, or None)` give a function from the lines of code to other lines; returns a
        context that puts the one before back."""
        before = self._codegen._body_transformer
        self._codegen._body_transformer = make_transformer(before)

        @contextlib.contextmanager
        def until_left() -> Iterator[None]:
            try:
                yield
            finally:
                self._codegen._body_transformer = before

        return until_left()

    def process_inputs(self, *args: Any) -> Any:
        """The inputs, of what the graph's function is called with."""
        return self._codegen.process_inputs(*args)

    def process_outputs(self, out: Any) -> Any:
        """What the graph's function returns, of the graph's output."""
        return self._codegen.process_outputs(out)

    # -------------------------------------------------------------------- reading it

    def python_code(self, root_module: str, *, verbose: bool = False, **options: Any) -> PythonCode:
        """The code; `root_module` is the name under which it finds the module ("self")."""
        namespace = _Namespace()
        for node in self.nodes:
            namespace._rename_object(node, node.name)
        return self._codegen._gen_python_code(self.nodes, root_module, namespace, verbose=verbose, **options)

    def __str__(self) -> str:
        names: list[str] = []
        returned = [""]
        lines = [node.format_node() for node in self.nodes]
        for node in self.nodes:
            node.format_node([], returned)
        return f"graph({', '.join(names)}){returned[0]}:" + "".join(f"\n    {line}" for line in lines if line is not None)

    def print_tabular(self) -> None:
        """Print the nodes as a table."""
        rows = [["opcode", "name", "target", "args", "kwargs"]]
        rows += [[n.op, n.name, str(n.target), str(n.args), str(n.kwargs)] for n in self.nodes]
        widths = [max(map(len, column)) for column in zip(*rows)]
        rows.insert(1, ["-" * width for width in widths])
        for row in rows:
            print("  ".join(text.ljust(width) for text, width in zip(row, widths)).rstrip())

    def lint(self) -> None:
        """Raise RuntimeError where the graph is not in order: arguments of other graphs or that come later, names that
        stand twice, attributes and submodules that the module has not."""
        names: set[str] = set()
        seen: set[Node] = set()
        for node in self.nodes:
            if node.op not in ("placeholder", "call_method", "call_module", "call_function", "get_attr", "output"):
                raise RuntimeError(f"lint: {node} has the unknown operation {node.op!r}")
            if node.graph is not self:
                raise RuntimeError(f"lint: {node} belongs to another graph")
            for taken in node.all_input_nodes:
                if taken.graph is not self:
                    raise RuntimeError(f"lint: {node} takes {taken}, which belongs to another graph")
                if taken not in seen:
                    raise RuntimeError(f"lint: {node} takes {taken}, which comes after it")
            seen.add(node)
            if node.name in names:
                raise RuntimeError(f"lint: there are two nodes named {node.name}")
            names.add(node.name)
            if node.op in ("get_attr", "call_module"):
                if not isinstance(node.target, str):
                    raise ValueError(f"lint: {node}: the target of {node.op} must be a string, got {type(node.target).__name__}")
                if self._owning_module is not None and not _has_attr(self._owning_module, node.target):
                    raise RuntimeError(f"lint: {node}: the module has no {node.target!r}")

    def __getstate__(self) -> dict[str, Any]:
        """What is pickled: the nodes as rows, in which a node stands as its place."""
        places = {node: _Place(i) for i, node in enumerate(self.nodes)}
        rows = [
            (n.op, n.name, _Offered.of(n._target), map_aggregate(map_arg(n.args, places.__getitem__), _Offered.of),
             map_aggregate(map_arg(n.kwargs, places.__getitem__), _Offered.of), n.type, n.meta)
            for n in self.nodes
        ]  # fmt: skip
        return {"rows": rows, "codegen": self._codegen, "tracer_cls": self._tracer_cls, "extras": self._tracer_extras}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(None, state["tracer_cls"], state["extras"])  # type: ignore[misc]
        self._codegen = state["codegen"]
        made: list[Node] = []

        def node_at(x: Any) -> Any:
            return made[x.at] if isinstance(x, _Place) else x.function() if isinstance(x, _Offered) else x

        for op, name, target, args, kwargs, kind, meta in state["rows"]:
            node = self.create_node(op, node_at(target), map_aggregate(args, node_at), map_aggregate(kwargs, node_at), name, kind)
            node.meta = meta
            made.append(node)


@dataclass(frozen=True)
class _Place:
    """The place of a node in its graph, which stands for it in a pickle."""

    at: int


@dataclass(frozen=True)
class _Offered:
    """A function of the dialect in a pickle: the name under which it is offered, where what stands there may come and go."""

    path: str

    @classmethod
    def of(cls, x: Any) -> Any:
        """What stands for a function that is offered; anything else as it is."""
        from .._function_protocol import paths

        path = paths().get(x) if type(x) is FunctionType else None
        return x if path is None else cls(path)

    def function(self) -> Any:
        """What stands there now."""
        return functools.reduce(getattr, self.path.split(".")[1:], _torch)


def _get_attr(model: Any, attr_name: str) -> Any:
    """What is at a dotted path."""
    return functools.reduce(getattr, attr_name.split("."), model)


def _has_attr(model: Any, attr_name: str) -> bool:
    try:
        _get_attr(model, attr_name)
    except AttributeError:
        return False
    return True


__getattr__ = attributes(globals())
