"""docs/errors.md: each mistake ends in an error that names the file and line, the operation and the remedy."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from error_page import PAGE, Mistake, endings, mistakes

MISTAKES = mistakes()


def unsaid(m: Mistake, said: str) -> list[str]:
    """What an error does not name: the line, the operation, the remedy."""
    there = True
    if m.kind == "python":
        there = f'File "mistake.py", line {m.line},' in said or f"mistake.py:{m.line}" in said
        said = said.split("\n", 2)[2]  # without the line itself, which names the operation in any case
    return ["the line"] * (not there) + [words for words in (m.names, m.remedy) if words not in said]


def test_all_of_the_page_is_read() -> None:
    assert len(MISTAKES) == len(re.findall("^### ", PAGE.read_text(encoding="utf-8"), re.M)) >= 40


@pytest.mark.parametrize("group", ["native", "torch", "paddle", "mindspore", "command line"])
def test_each_names_the_line_the_operation_and_the_remedy(group: str) -> None:
    mine = [m for m in MISTAKES if m.group == group]
    found = dict(zip(mine, endings(mine), strict=True))
    assert mine
    assert {m.title: missing for m, said in found.items() if (missing := unsaid(m, said))} == {}
    if sys.version_info[:2] == (3, 11):  # others word their own errors otherwise
        assert {m.title: said for m, said in found.items()} == {m.title: m.ends for m in mine}, (
            "python tests/tools/error_page.py writes the page anew"
        )
