"""`torch.fx.passes.split_module`: a graph cut into modules that are called one after the other."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

from ..graph import Graph, _get_attr
from ..graph_module import GraphModule
from ..node import Node, map_arg

__all__ = ["split_module"]


def split_module(
    m: GraphModule, root_m: Any, split_callback: Callable[[Node], Any], qualname_map: dict[str, str] | None = None,
    keep_original_order: bool = False, keep_original_node_name: bool = False, **_: Any,
) -> GraphModule:  # fmt: skip
    """A GraphModule that calls one submodule (`submod_K`) for each K that `split_callback(node)` gives.

    Raises RuntimeError where two of them take each other's results.
    """
    parts: dict[str, list[Node]] = {}
    of: dict[Node, str] = {}
    for node in m.graph.nodes:
        if node.op not in ("placeholder", "get_attr", "output"):
            of[node] = key = str(split_callback(node))
            parts.setdefault(key, []).append(node)
    needs = {
        key: {of[x] for node in nodes for x in node.all_input_nodes if x in of and of[x] != key} for key, nodes in parts.items()
    }
    order: list[str] = []
    while len(order) < len(parts):
        ready = next((k for k in parts if k not in order and needs[k] <= set(order)), None)
        if ready is None:
            raise RuntimeError(f"split_module: these parts take each other's results: {[k for k in parts if k not in order]}")
        order.append(ready)
    whole = Graph()
    outer: dict[Node, Node] = {n: whole.node_copy(n) for n in m.graph.nodes if n.op == "placeholder"}
    attributes: dict[str, Any] = {}
    for key in order:
        nodes = parts[key]
        inside = set(nodes)
        graph, inner = Graph(), {}
        taken = dict.fromkeys(x for n in nodes for x in n.all_input_nodes if x not in inside)
        given = [x for x in taken if x.op != "get_attr"]
        for x in given:
            inner[x] = graph.placeholder(x.name, type_expr=x.type)
            inner[x].meta = dict(x.meta)
        for x in taken:
            if x.op == "get_attr":
                inner[x] = graph.node_copy(x)
        for n in nodes:
            inner[n] = graph.node_copy(n, inner.__getitem__)
            if qualname_map is not None and n.op == "call_module":
                qualname_map[f"submod_{key}.{n.target}"] = n.target
        results = [n for n in nodes if any(user not in inside for user in n.users)]
        graph.output(inner[results[0]] if len(results) == 1 else tuple(inner[n] for n in results))
        name = f"submod_{key}"
        attributes[name] = GraphModule(m, graph, name)
        call = whole.call_module(name, tuple(outer[x] for x in given))
        if len(results) == 1:
            outer[results[0]] = call
        else:
            for i, n in enumerate(results):
                outer[n] = whole.call_function(operator.getitem, (call, i))
    last = m.graph.output_node()
    for x in last.all_input_nodes:
        if x.op == "get_attr":
            outer[x] = whole.node_copy(x)
            attributes[x.target] = _get_attr(m, x.target)
    whole.output(map_arg(last.args[0], outer.__getitem__), last.type)
    return GraphModule(attributes, whole)
