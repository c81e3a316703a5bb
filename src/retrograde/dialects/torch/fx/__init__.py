"""`torch.fx`: programs as graphs: traced, read, changed, run, and written as Python again."""

from __future__ import annotations

from .._api import attributes as _attributes
from ._symbolic_trace import PH, ProxyableClassMeta, Tracer, symbolic_trace, wrap
from .graph import CodeGen, Graph
from .graph_module import GraphModule
from .interpreter import Interpreter, Transformer
from .node import Node, has_side_effect, map_arg
from .proxy import Proxy
from .subgraph_rewriter import replace_pattern

_SUBMODULES = ("_compatibility", "_pytree", "annotate", "experimental", "operator_schemas", "passes", "traceback")

__all__ = [
    "PH", "CodeGen", "Graph", "GraphModule", "Interpreter", "Node", "Proxy", "ProxyableClassMeta", "Tracer", "Transformer",
    "has_side_effect", "map_arg", "replace_pattern", "symbolic_trace", "wrap",
]  # fmt: skip

__getattr__ = _attributes(globals(), *_SUBMODULES)
