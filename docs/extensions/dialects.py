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
"""A module with fewer names is a section of its parent's page, or of the page for all that have no other parent."""
SMALL = "small-modules"


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


INTERNAL_MODULES = {
    "torch.optim.composed_schedulers", "torch.optim.cyclic_schedulers", "torch.optim.epoch_schedulers", "torch.optim.rules",
    "torch.optim.scheduler_base", "paddle.distribution.continuous", "paddle.distribution.discrete", "paddle.io.loader",
    "paddle.io.sampler", "paddle.optimizer.cyclic", "paddle.optimizer.decay", "paddle.optimizer.rules",
    "paddle.optimizer.scheduler_base", "paddle.vision.models.mobilenet", "mindspore.experimental.optim.rules",
    "mindspore.nn.layer.basic", "mindspore.nn.layer.conv", "mindspore.nn.layer.sparse", "mindspore.nn.learning_rate_schedule",
    "mindspore.nn.optim.rules", "mindspore.nn.wrap.cell_wrapper",
}  # fmt: skip
"""Files that the framework does not have, or of which it has what other modules have as well."""
OVERLAPPING = {
    "torch.amp", "torch.random", "torch.sparse", "paddle.random", "mindspore.amp", "torch.distributions.bernoulli",
}  # fmt: skip
"""Files that have functions which the framework has elsewhere."""
HELPERS = {
    "torch": """any_ arguments axes_back axes_of axis_of back_to call_forward check_device clamp_probs compiled drawn drawn_by
        drawn_seed dtype_of elements from_array install_methods integer make map_aggregate mark new_context np_dtype_of one_of
        operations option_per_group row run shape_of show_as standard_normal stream_of sum_rightmost tensor_repr tuple_of unary
        uniform_values CompressedTensor InternalMatch ReadyOp Recording RuleOptimizer SparseTensor""",
    "paddle": """arguments bernoulli_array coefficient_of fans first_of inside install_methods normal_array scope_name seeded
        summed summed_to uniform_array uniform_like Batch Draws GeneratorState RuleOptimizer""",
    "mindspore": """as_array binder flag generator install_methods number primitive_class rate_of rates_of set_rate EvaluationBase
        RuleOptimizer""",
}
"""What is this package's own in files that the framework has."""

# ------------------------------------------------------------------------------------------ pages


def _pages(dialect: str, modules: dict[str, list[list[str]]]) -> dict[str, str]:
    """The text of each page by its file's name: one for each module below the package that has enough names."""
    sections: dict[str, list[str]] = collections.defaultdict(list)
    for module, rows in modules.items():
        page = _page_of(dialect, module, modules)
        sections[page] += [*([] if module == page else [f"## {module}", ""]), *_table(rows)]
    titles = {SMALL: "Small modules"}
    return {page: "\n".join([f"# {titles.get(page, page)}", "", *lines, ""]) for page, lines in sections.items()}


def _page_of(dialect: str, module: str, modules: dict[str, list[list[str]]]) -> str:
    parts = module.split(".")
    while len(parts) > 2 and (len(parts) > 3 or _count(modules, ".".join(parts)) < NAMES_OF_A_PAGE):
        parts.pop()
    if len(parts) == 2 and _count(modules, ".".join(parts)) < NAMES_OF_A_PAGE:
        return SMALL if parts[1] != "Tensor" else module
    return ".".join(parts)


def _count(modules: dict[str, list[list[str]]], name: str) -> int:
    return sum(len(rows) for module, rows in modules.items() if f"{module}.".startswith(f"{name}."))


def _table(rows: list[list[str]]) -> list[str]:
    lines = [f"| **`{name}`** {_cell(arguments)} | {_text(said)} |" for name, arguments, said in rows]
    return [":::{table}", ":class: names", "", "| name and arguments | what it is |", "|---|---|", *lines, ":::", ""]


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
    # Outer modules before inner ones, and what only uses others' functions after these.
    order = sorted(stubs.modules, key=lambda m: (m.count("."), m in OVERLAPPING or m.startswith("paddle.fluid"), m))
    shown = [module for module in order if module not in INTERNAL_MODULES]
    found: dict[str, list[list[str]]] = {module: [] for module in shown}
    homes: dict[int, tuple[str, list[str]]] = {}
    for module in shown:
        for name, x in stubs.offered(module):
            if not callable(x):
                continue
            row = _row(name, x)
            home, first = homes.setdefault(id(x), (module, row))
            if home != module and module.count(".") == home.count(".") and getattr(x, "__module__", "") == module:
                found[home] = [r for r in found[home] if r is not first]
                homes[id(x)] = home, _ = module, row
            if home == module and not _internal(stubs, module, name, x):
                found[module].append(row)
    tensor = getattr(stubs.modules[dialect], "Tensor")  # noqa: B009 - the module is known at run time only
    methods = {n: inspect.getattr_static(tensor, n) for n in dir(tensor) if not n.startswith("_")}
    found[f"{dialect}.Tensor"] = [_row(name, getattr(x, "__func__", x)) for name, x in methods.items()]
    return {module: rows for module, rows in sorted(found.items()) if rows}


def _internal(stubs: Any, module: str, name: str, x: Any) -> bool:
    """Whether a file only uses what is documented elsewhere, or has it for this package's own ends."""
    package = stubs.modules[stubs.dialect]
    if name in HELPERS[stubs.dialect].split():
        return True
    if module in OVERLAPPING:
        return any(hasattr(place, name) for place in (package, package.Tensor, package.nn))
    deep = module.count(".") > 1 and not module.endswith((".functional", ".linalg"))
    return deep and not isinstance(x, type) and hasattr(package, name)


def _row(name: str, x: Any) -> list[str]:
    said = names.first_sentence(inspect.getdoc(x) if callable(x) or isinstance(x, property) else "")
    return [name, names.takes(x) if callable(x) else "", said]


def setup(app: Any) -> dict[str, Any]:
    """Have the pages written before Sphinx looks for pages."""
    app.connect("builder-inited", lambda app: write(Path(app.srcdir)))
    return {"parallel_read_safe": True}


if __name__ == "__main__":
    json.dump(listed(sys.argv[1]), sys.stdout)
