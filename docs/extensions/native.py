"""The directive `{native}`: names of the native API in a table, then each with signature and documentation, by autodoc."""

import sys
from typing import Any

import names
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective
from sphinx.util.parsing import nested_parse_to_nodes

import retrograde


def _linked() -> dict[str, str]:
    found = {n: f"retrograde.{n}" for n, x in names.public().items() if callable(x)}
    return found | {f"Tensor.{n}": f"retrograde.Tensor.{n}" for n in dir(retrograde.Tensor) if not n.startswith("_")}


LINKED = _linked()


class Native(SphinxDirective):
    """Names, and files all of whose public names are meant, one a line."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """The table and what autodoc makes of each name."""
        found = {name: names.public()[name] for name in names.selected(list(self.content))}
        # The page around is Markdown, what autodoc writes is not.
        rst = ["``````{eval-rst}", *self._table(found), *self._each(found), "``````"]
        return nested_parse_to_nodes(self.state, "\n".join(rst), source=self.env.docname)

    def _table(self, found: dict[str, Any]) -> list[str]:
        rows = [".. list-table::", "   :class: names summary", "   :widths: auto", ""]
        for name, x in found.items():
            said = " ".join(names.as_rst([names.first_sentence(_doc(x))], LINKED)) if _documented(x) else f"``{x!r}``"
            rows += [f"   * - :py:obj:`{name} <retrograde.{name}>`", f"     - {said}"]
        return [*rows, ""] if len(found) > 1 else []

    def _each(self, found: dict[str, Any]) -> list[str]:
        lines: list[str] = []
        for name, x in found.items():
            if isinstance(x, type):
                lines += [f".. autoclass:: retrograde.{name}", "   :members:", ""]
            elif callable(x):
                lines += [f".. autofunction:: retrograde.{name}", ""]
            else:
                lines += [f".. py:data:: retrograde.{name}", f"   :value: {x!r}", ""]
        return lines


def _documented(x: Any) -> bool:
    return callable(x)


def _doc(x: Any) -> str:
    return x.__doc__ or ""


def _markdown_to_rst(app: Sphinx, what: str, name: str, obj: Any, options: Any, lines: list[str]) -> None:
    function = name.removeprefix("retrograde.Tensor.")
    if what == "method" and function in LINKED and obj.__doc__ == getattr(retrograde, function).__doc__:
        lines[:] = [f":py:obj:`{function} <retrograde.{function}>` of this tensor."]
    else:
        lines[:] = names.as_rst(lines, LINKED)


def _pages_above(app: Sphinx, docname: str, source: list[str]) -> None:
    """Files beside docs/ are pages of the site through one that includes them."""
    for name in ("CONTRIBUTING", "CHANGELOG"):
        source[0] = source[0].replace(f"](../{name}.md", f"](/{name.lower()}.md")


def _tables_by_page(app: Sphinx, doctree: nodes.document) -> None:
    """Tables get the page's name as a class, by which the style sheet knows what their columns are."""
    for table in doctree.findall(nodes.table):
        table["classes"].append(f"on-{app.env.docname.replace('/', '-')}")


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive; modules that are looked up when asked for get the names under which they are documented."""
    for room in names.ROOMS:
        sys.modules.setdefault(f"retrograde.{room}", getattr(retrograde, room))
    app.add_directive("native", Native)
    app.connect("autodoc-process-docstring", _markdown_to_rst)
    app.connect("doctree-read", _tables_by_page)
    app.connect("source-read", _pages_above)
    return {"parallel_read_safe": True}
