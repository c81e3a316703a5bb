"""docs/compatibility.md: its counts are those of the files."""

from pathlib import Path

import pytest
from corpora import CONFORMANCE, expected_failures, programs_of

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "compatibility.md").read_text(encoding="utf-8")


def rows(beginning: str) -> list[list[str]]:
    """The cells of the rows that begin so."""
    lines = [line for line in PAGE.splitlines() if line.startswith(f"| {beginning}")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def entries(path: Path) -> list[str]:
    """The lines of a list that are no comments."""
    return [line for line in path.read_text(encoding="utf-8").splitlines() if line.strip() and not line.startswith("#")]


@pytest.mark.parametrize(
    ("corpus", "beginning"),
    [
        ("torch", "PyTorch 2.13: {} programs about"), ("torch-user", "PyTorch 2.13: {} longer"),
        ("paddle", "PaddlePaddle 3.3: {} programs"), ("mindspore", "MindSpore 2.10: {} programs"),
    ],
)  # fmt: skip
def test_programs(corpus: str, beginning: str) -> None:
    names = [program["id"] for program in programs_of(corpus)]
    failing = set(expected_failures(CONFORMANCE)).intersection(names)
    ((_, same, *_),) = rows(beginning.format(len(names)))
    assert int(same) == len(names) - len(failing)


def test_operations() -> None:
    failing = entries(ROOT / "tests/opinfo/expected_failures.txt")
    ((_, same, *_),) = rows("PyTorch 2.13: 291 operations")
    assert same.startswith(f"{291 - len(failing)} ")


@pytest.mark.parametrize("framework", ["torch", "paddle", "mindspore"])
def test_calls(framework: str) -> None:
    """The table counts calls roundly and what differs to a tenth: both change with every call that is recorded."""
    calls = (ROOT / f"tests/operands/{framework}.jsonl").read_bytes().count(b"\n") - 1
    listed = len(entries(ROOT / f"tests/operands/{framework}_differences.txt"))
    name = {"torch": "PyTorch 2.13", "paddle": "PaddlePaddle 3.3", "mindspore": "MindSpore 2.10"}[framework]
    ((what, same, *_),) = rows(f"{name}: over ")
    assert 0.9 * calls <= int(what.split(" over ")[1].split()[0].replace(",", "")) <= calls
    assert int(same.split(" of ")[1].split()[0]) == pytest.approx(listed, rel=0.1)


def test_packages_and_the_standard() -> None:
    said = (ROOT / "docs" / "packages.md").read_text(encoding="utf-8")
    (count,) = {
        line.split(" run ")[0].split(". ")[-1] for line in said.splitlines() if " run with the same numbers" in line
    }
    assert f"{count} programs over other people's packages" in PAGE
    assert f"all but {len(entries(ROOT / 'tests/array_api/xfails.txt'))} special cases" in PAGE
