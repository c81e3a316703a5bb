"""The names of the dialects, written as pages of tables before the site is read: module, name, signature, first sentence.

They lie in reference/torch, reference/paddle and reference/mindspore, which git ignores, and are written from the dialects as
they are installed, in a process of its own, since there the dialects take the frameworks' names.
"""

import collections
import inspect
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import names

DIALECTS = {"torch": "PyTorch", "paddle": "PaddlePaddle", "mindspore": "MindSpore"}
NAMES_OF_A_PAGE = 12
"""A module with fewer names is a section of its parent's page."""


def write(source: Path) -> None:
    """Write the pages of all dialects below `source`/reference."""
    for dialect in DIALECTS:
        done = subprocess.run([sys.executable, __file__, dialect], capture_output=True, text=True, check=False)
        if done.returncode:
            raise RuntimeError(f"the names of the dialect {dialect} cannot be listed:\n{done.stderr}")
        folder = source / "reference" / dialect
        folder.mkdir(exist_ok=True)
        pages = _pages(dialect, json.loads(done.stdout))
        for old in folder.glob("*.md"):
            if old.stem not in pages:
                old.unlink()
        for name, text in pages.items():
            path = folder / f"{name}.md"
            if not path.exists() or path.read_text(encoding="utf-8") != text:
                path.write_text(text, encoding="utf-8")


# ------------------------------------------------------------------------------------------ pages


def _pages(dialect: str, modules: dict[str, list[list[str]]]) -> dict[str, str]:
    """The text of each page by its file's name: one for each module below the package that has enough names."""
    sections: dict[str, list[str]] = collections.defaultdict(list)
    for module, rows in modules.items():
        sections[_page_of(dialect, module, modules)].append(_section(module, rows))
    return {page: f"# {page}\n\n" + "\n".join(texts) for page, texts in sections.items()}


def _page_of(dialect: str, module: str, modules: dict[str, list[list[str]]]) -> str:
    parts = module.split(".")
    while len(parts) > 2 and (len(parts) > 3 or _count(modules, ".".join(parts)) < NAMES_OF_A_PAGE):
        parts.pop()
    if len(parts) == 2 and _count(modules, ".".join(parts)) < NAMES_OF_A_PAGE:
        return f"{dialect} (small modules)" if parts[1] != "Tensor" else module
    return ".".join(parts)


def _count(modules: dict[str, list[list[str]]], name: str) -> int:
    return sum(len(rows) for module, rows in modules.items() if f"{module}.".startswith(f"{name}."))


def _section(module: str, rows: list[list[str]]) -> str:
    head = [f"## {module}", "", ":::{table}", ":class: names", ""]
    table = ["| name | arguments | |", "|---|---|---|"]
    table += [f"| `{name}` | {_cell(arguments)} | {_text(said)} |" for name, arguments, said in rows]
    return "\n".join([*head, *table, ":::", ""])


def _cell(arguments: str) -> str:
    return f"`{arguments}`".replace("|", "\\|") if arguments else ""


def _text(said: str) -> str:
    """A sentence in which nothing but code is markup."""
    parts = said.split("`")
    for i in range(0, len(parts), 2):
        for mark in "\\*_[]<{$":
            parts[i] = parts[i].replace(mark, f"\\{mark}")
    return "`".join(parts).replace("|", "\\|")


# ------------------------------------------------------------------------------------------ the process that looks


def listed(dialect: str) -> dict[str, list[list[str]]]:
    """Of each public module the rows of what it offers, each function or class once: in the outermost module
    that offers it, of several the one that it says it is from."""
    from retrograde import _activate
    from retrograde.tools.stubs.writer import Stubs, modules

    _activate.take_over([dialect])
    stubs = Stubs(modules(dialect))
    offered = {module: stubs.offered(module) for module in sorted(stubs.modules, key=lambda m: (m.count("."), m))}
    homes: dict[int, tuple[str, str]] = {}
    for module, pairs in offered.items():
        for name, x in pairs:
            first = homes.setdefault(id(x), (module, name))
            if module.count(".") == first[0].count(".") and getattr(x, "__module__", "") == module != first[0]:
                homes[id(x)] = (module, name)
    found = {
        module: [_row(name, x) for name, x in pairs if callable(x) and homes[id(x)] == (module, name)]
        for module, pairs in offered.items()
    }
    tensor = getattr(stubs.modules[dialect], "Tensor")  # noqa: B009 - the module is known at run time only
    methods = {n: inspect.getattr_static(tensor, n) for n in dir(tensor) if not n.startswith("_")}
    found[f"{dialect}.Tensor"] = [_row(name, getattr(x, "__func__", x)) for name, x in methods.items()]
    return {module: rows for module, rows in sorted(found.items()) if rows}


def _row(name: str, x: Any) -> list[str]:
    said = names.first_sentence(inspect.getdoc(x) if callable(x) or isinstance(x, property) else "")
    return [name, names.takes(x) if callable(x) else "", said]


def setup(app: Any) -> dict[str, Any]:
    """Have the pages written before Sphinx looks for pages."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    json.dump(listed(sys.argv[1]), sys.stdout)
