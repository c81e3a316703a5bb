"""Pictures of the recorded graph: `retrograde graph SCRIPT`, and `graph(value)` for one that is there.

collect.py watches a program and keeps records (records.py), fold.py puts them into groups, model.py makes plain data of that;
the page (pages/graph.html), the picture (svg.py) and Graphviz's text (dot.py) show it.
"""

from __future__ import annotations

import functools
import os
from typing import Any

from ..diff.places import names_in_sight
from ..pages import framed, page
from .collect import Collecting, collected
from .fold import folded
from .memory import Memory, memory
from .model import modelled
from .records import Leaf, Operation

FORMATS = (".html", ".svg", ".dot")
COLOURS = ("kind", "norm", "time", "memory", "nan")


class Graph:
    """What a value was computed from. Notebooks show it; `save` writes it to a file."""

    def __init__(self, root: Operation | Leaf, name: str, note: str = "") -> None:
        self._root, self._name, self._note = root, name, note

    @functools.cached_property
    def model(self) -> dict[str, Any]:
        """The graph as plain data (see tools/graph/model.py)."""
        return modelled(folded(self._root, self._name), self._root, self._note)

    def html(self, colour: str = "kind") -> str:
        """The graph as a page: one file that needs nothing else."""
        return page("graph.html", {**self.model, "colour": colour})

    def svg(self, colour: str = "kind") -> str:
        """The graph as a picture, folded as the page is at first.

        Raises UnsupportedError where there is no mini-racer, which runs the layout.
        """
        from .svg import drawn

        return drawn(self.model, colour)

    def dot(self) -> str:
        """The whole graph in Graphviz's language, its groups as clusters."""
        from .dot import written

        return written(self.model)

    def save(self, path: str | os.PathLike[str], colour: str = "kind") -> int:
        """Write a file, as its name ends: .html, .svg or .dot; gives its size in bytes. colour: what the boxes' colour says."""
        path = os.fspath(path)
        kind = checked(path)
        if colour not in COLOURS:
            raise ValueError(f"graph: colour is one of {', '.join(COLOURS)}, got {colour!r}")
        text = self.dot() if kind == ".dot" else self.svg(colour) if kind == ".svg" else self.html(colour)
        content = text.encode()
        with open(path, "wb") as file:
            file.write(content)
        return len(content)

    def _repr_html_(self) -> str:
        return framed(self.html())

    def __repr__(self) -> str:
        number = sum(node["k"] == "op" for node in self.model["nodes"])
        return (
            f"<graph of {self._name}: {number} operation{'s' * (number != 1)}; save('graph.html') writes it to a file>"
        )


def checked(path: str) -> str:
    """How a file's name ends, if graphs can be written so; raises ValueError."""
    kind = os.path.splitext(path)[1].lower()
    if kind not in FORMATS:
        raise ValueError(f"graph: the file's name ends in {', '.join(FORMATS[:-1])} or {FORMATS[-1]}, got {path!r}")
    return kind


def graph(value: Any) -> Graph:
    """The recorded graph of a tensor, to be looked at in a notebook or saved as a page.

    What was computed within `with rg.watch():` has its lines, modules, times and the gradients that have passed. Of a graph
    that nobody watched the values are computed again from what it has kept, and one backward pass from ones goes through
    it, which leaves every `.grad` as it is.

    Raises TypeError for what is no tensor, ValueError for a tensor without history.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> rg.graph(rg.sum(rg.sin(x) * x))
    <graph of value: 3 operations; save('graph.html') writes it to a file>
    """
    root = collected(value, "graph")
    return Graph(root, names_in_sight(lambda y: y is value, 2).get(id(value), "value"))


def watch() -> Collecting:
    """Watch what is computed within `with rg.watch():`, so that `rg.graph` and `rg.memory` know lines, times and peaks.

    Each operation costs some tens of microseconds more.

    Examples
    --------
    >>> import retrograde as rg
    >>> x = rg.asarray([1.0, 2.0], requires_grad=True)
    >>> with rg.watch():
    ...     y = rg.sum(x * x)
    ...     y.backward()
    >>> rg.memory(y).total, rg.memory(y).peak > 0
    (0, True)
    """
    return Collecting()


__all__ = ["Graph", "Memory", "graph", "memory", "watch"]
