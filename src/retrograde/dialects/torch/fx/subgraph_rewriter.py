"""`torch.fx.subgraph_rewriter`: parts of a graph that look like a pattern, replaced."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from .._tensor import Tensor
from ..nn.modules.module import Module
from ._symbolic_trace import symbolic_trace
from .graph import Graph
from .graph_module import GraphModule, _assign_attr, _get_attr, _has_attr
from .node import Node

__all__ = ["Match", "replace_pattern", "replace_pattern_with_filters"]


class Match(NamedTuple):
    """A place that looked like the pattern: the pattern's node that gives the result, and what stood for each of its nodes."""

    anchor: Node
    nodes_map: dict[Node, Any]


@dataclass
class ReplacedPatterns:
    """A `Match`, and the nodes that have replaced it."""

    anchor: Node
    nodes_map: dict[Node, Any]
    replacements: list[Node]


@dataclass
class InternalMatch:
    """What filters see of a match."""

    anchors: list[Node]
    nodes_map: dict[Node, Any]
    placeholder_nodes: list[Any]
    returning_nodes: list[Node]


def _graph_of(x: Any) -> tuple[Graph, Any]:
    """The graph of a function, graph or GraphModule, and the module that its nodes name."""
    if isinstance(x, Graph):
        return x, x.owning_module
    made = x if isinstance(x, GraphModule) else symbolic_trace(x)
    return made.graph, made


def _outputs(graph: Graph) -> list[Any]:
    given = graph.output_node().args[0]
    return list(given) if isinstance(given, (tuple, list)) else [given]


class _Matcher:
    """Looks for a pattern in a graph."""

    def __init__(self, pattern: Graph, owner: Any, graph: Graph, ignore_literals: bool) -> None:
        self.pattern, self.owner, self.graph, self.ignore_literals = pattern, owner, graph, ignore_literals
        self.anchors = [n for n in _outputs(pattern) if isinstance(n, Node)]
        if not self.anchors:
            raise ValueError("replace_pattern: the pattern returns nothing that it computes")

    def matches(self) -> Iterator[InternalMatch]:
        """Where the pattern stands, no node twice."""
        taken: set[Node] = set()
        for node in self.graph.nodes:
            found = self._from(node, taken)
            if found is not None:
                inner = [p for p in found if p.op != "placeholder"]
                taken.update(found[p] for p in inner)
                inputs = [found.get(p) for p in self.pattern.nodes if p.op == "placeholder"]
                yield InternalMatch(self.anchors, found, inputs, [found[a] for a in self.anchors])

    def _from(self, node: Node, taken: set[Node]) -> dict[Node, Any] | None:
        found: dict[Node, Any] = {}
        if not self._same(self.anchors[0], node, found):
            return None
        for anchor in self.anchors[1:]:
            if anchor in found:
                continue
            for other in self.graph.nodes:
                trial = dict(found)
                if self._same(anchor, other, trial):
                    found = trial
                    break
            else:
                return None
        inner = {found[p] for p in found if p.op != "placeholder"}
        kept = {found[a] for a in self.anchors}
        if inner & taken or not inner:
            return None
        if any(user not in inner for n in inner - kept for user in n.users):
            return None  # somebody else takes a value that would be gone
        return found

    def _same(self, p: Any, g: Any, found: dict[Node, Any]) -> bool:
        """Whether what a pattern says stands in the graph; `found` is added to as far as it does."""
        if isinstance(p, Node):
            if p in found:
                there = found[p]
                return there is g or (not isinstance(g, Node) and type(there) is type(g) and there == g)
            if p.op == "placeholder":
                found[p] = g
                return True
            if not isinstance(g, Node) or any(g is x for q, x in found.items() if q.op != "placeholder"):
                return False
            if p.op != g.op or not self._same_target(p, g):
                return False
            found[p] = g
            if len(p.args) == len(g.args) and p.kwargs.keys() == g.kwargs.keys():
                given: Any = ((p.args, p.kwargs), (g.args, g.kwargs))
            else:  # the same call may be written with other arguments by name
                given = p.normalized_arguments(self.owner, normalize_to_only_use_kwargs=True), g.normalized_arguments(
                    self.graph.owning_module, normalize_to_only_use_kwargs=True)  # fmt: skip
                if None in given:
                    return False
            return self._same(given[0], given[1], found)
        if isinstance(p, (tuple, list)):
            return isinstance(g, (tuple, list)) and len(p) == len(g) and all(self._same(a, b, found) for a, b in zip(p, g))
        if isinstance(p, dict):
            return isinstance(g, dict) and p.keys() == g.keys() and all(self._same(p[k], g[k], found) for k in p)
        if isinstance(p, slice):
            return isinstance(g, slice) and self._same((p.start, p.stop, p.step), (g.start, g.stop, g.step), found)
        return not isinstance(g, Node) and (self.ignore_literals or (type(p) is type(g) and p == g))

    def _same_target(self, p: Node, g: Node) -> bool:
        if p.op != "get_attr":
            return bool(p.target == g.target)
        ours, theirs = (_get_attr(m, n.target) if _has_attr(m, n.target) else None for m, n in ((self.owner, p), (
            self.graph.owning_module, g)))  # fmt: skip
        both = isinstance(ours, Tensor) and isinstance(theirs, Tensor)
        return both and ours.shape == theirs.shape and bool((ours == theirs).all())


def replace_pattern(gm: GraphModule, pattern: Any, replacement: Any) -> list[Match]:
    """Replace every part of a graph that does what `pattern` does by what `replacement` does; returns where that was.

    Both are functions, modules or graphs with the same inputs. A part is left alone where others take what it computes on
    the way.
    """
    return [Match(m.anchor, m.nodes_map) for m in _replace(gm, pattern, replacement)]


def replace_pattern_with_filters(
    gm: GraphModule, pattern: Any, replacement: Any = None, match_filters: list[Callable[..., bool]] | None = None,
    ignore_literals: bool = False, replacement_callback: Callable[..., Any] | None = None, node_name_match: str = "",
) -> list[ReplacedPatterns]:  # fmt: skip
    """As `replace_pattern`, where every filter (match, original graph, graph of the pattern) says True.

    replacement_callback: gives the replacement for a match, in the place of `replacement`.
    """
    return _replace(gm, pattern, replacement, match_filters, ignore_literals, replacement_callback)


def _replace(
    gm: GraphModule, pattern: Any, replacement: Any, filters: list[Callable[..., bool]] | None = None,
    ignore_literals: bool = False, callback: Callable[..., Any] | None = None,
) -> list[ReplacedPatterns]:  # fmt: skip
    wanted, owner = _graph_of(pattern)
    found = list(_Matcher(wanted, owner, gm.graph, ignore_literals).matches())
    found = [m for m in found if all(keep(m, gm.graph, wanted) for keep in filters or ())]
    fixed = None if replacement is None else _graph_of(replacement)
    if fixed is None and callback is None:
        raise ValueError("replace_pattern_with_filters: give a replacement, or a replacement_callback")
    done: list[ReplacedPatterns] = []
    now: dict[Node, Any] = {}  # what stands where an earlier match was
    for match in found:
        if fixed is not None:
            new, source = fixed
        else:
            assert callback is not None
            new, source = _graph_of(callback(match, gm.graph, wanted))
        inputs = [n for n in new.nodes if n.op == "placeholder"]
        if len(inputs) != len(match.placeholder_nodes):
            raise ValueError(
                f"replace_pattern: the replacement has {len(inputs)} inputs, the pattern {len(match.placeholder_nodes)}"
            )
        values = {p: now.get(x, x) if isinstance(x, Node) else x for p, x in zip(inputs, match.placeholder_nodes)}
        inner = [n for p, n in match.nodes_map.items() if p.op != "placeholder"]
        made: list[Node] = []
        # Behind the last node that it needs: the first of the old nodes may stand before an input.
        order = {n: i for i, n in enumerate(gm.graph.nodes)}
        needed = max((n for n in [*values.values()] if isinstance(n, Node)), key=order.__getitem__, default=None)
        first = min(inner, key=order.__getitem__)
        place = (
            gm.graph.inserting_before(first) if needed is None or order[needed] < order[first]
            else gm.graph.inserting_after(needed)
        )  # fmt: skip
        with place:
            for node in new.nodes:
                if node.op == "placeholder" or node.op == "output":
                    continue
                values[node] = copy = gm.graph.node_copy(node, values.__getitem__)
                made.append(copy)
        for old, given in zip(match.returning_nodes, _outputs(new)):
            replaced = values[given] if isinstance(given, Node) else given
            if not isinstance(replaced, Node):
                raise ValueError("replace_pattern: the replacement returns a constant")
            old.replace_all_uses_with(replaced, lambda user, own=tuple(made): user not in own)
            now[old] = replaced
        for node in sorted(inner, key=order.__getitem__, reverse=True):
            gm.graph.erase_node(node)
        _bring_attributes(gm, source, made)
        shown = {p: now.get(n, n) if p.op == "placeholder" and isinstance(n, Node) else n for p, n in match.nodes_map.items()}
        done.append(ReplacedPatterns(match.anchors[0], shown, made))
    gm.recompile()
    return done


def _bring_attributes(gm: GraphModule, source: Any, made: list[Node]) -> None:
    """Give the module what new nodes name and it has not."""
    for node in made:
        if node.op in ("get_attr", "call_module") and not _has_attr(gm, node.target):
            if source is None or not _has_attr(source, node.target):
                raise RuntimeError(f"replace_pattern: {node} names {node.target!r}, which neither module has")
            found = _get_attr(source, node.target)
            if isinstance(found, Module):
                gm.add_submodule(node.target, found)
            else:
                _assign_attr(found, gm, node.target)
    gm.graph.lint()
