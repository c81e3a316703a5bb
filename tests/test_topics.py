"""The map of topics in docs/architecture.md: each topic has one file name in all three dialects, which define its names."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
DIALECTS = ROOT / "src" / "retrograde" / "dialects"
TENSORS = {"torch": "torch", "paddle": "paddle", "mindspore": "mindspore"}
LAYERS = {"torch": "torch/nn/functional", "paddle": "paddle/nn/functional", "mindspore": "mindspore"}


def tables() -> list[dict[str, list[str]]]:
    """The names of each file, table by table."""
    text = (ROOT / "docs" / "architecture.md").read_text()
    part = text.partition("## Where a topic is in the dialects")[2].partition("\n## ")[0]
    found: list[dict[str, list[str]]] = []
    for line in part.splitlines():
        if line == "|---|---|---|":
            found.append({})
        elif line.startswith("| `"):
            file, _, names = line.strip("| ").split(" | ")
            found[-1][file.strip("`")] = re.findall("`([^`]+)`", names)
    return found


def defined(file: Path) -> set[str]:
    """The names that a file defines, or registers by a text (`conv{}d` is one for each number of axes)."""
    names: set[str] = set()
    tree = ast.parse(file.read_text())
    texts = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            names.add(node.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in texts:
            names.update(re.sub(r"\{\w+\}", "{}", node.value).split())
        elif isinstance(node, ast.JoinedStr):  # f"conv{axes}d"
            names.add("".join(p.value if isinstance(p, ast.Constant) else "{}" for p in node.values))
        elif isinstance(node, ast.Assign):
            names.update(n.id for target in node.targets for n in ast.walk(target) if isinstance(n, ast.Name))
    return names


TENSOR_FILES, LAYER_FILES = tables()


@pytest.mark.parametrize("dialect", TENSORS)
@pytest.mark.parametrize(
    "file, names, folders",
    [(f, n, TENSORS) for f, n in TENSOR_FILES.items()] + [(f, n, LAYERS) for f, n in LAYER_FILES.items()],
)
def test_a_topic_is_in_its_file(dialect: str, file: str, names: list[str], folders: dict[str, str]) -> None:
    there = defined(DIALECTS / folders[dialect] / f"{file}.py")
    assert names
    assert not [n for n in names if n not in there]
