"""docs/backends/writing-one.md: its backend computes, and runs as many primitives as the page says."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import documents
import pytest

pytest.importorskip("array_api_strict", reason="array-api-strict is not installed")

HERE = Path(__file__).parent
PAGE = HERE.parents[1] / "docs" / "backends" / "writing-one.md"
BLOCKS = documents.programs(PAGE)

# In a process of its own: the page's backend takes the place of the one that retrograde brings for the standard.
WORKER = """
import json, sys
blocks, here, step = json.load(sys.stdin)
program = {"__name__": "__main__"}
for block in blocks:
    exec(block, program)
sys.path.insert(0, here)
import test_backends as table
wrap = table.arrays_of("array_api_strict")
listed = table.expected_failures("array_api_strict")
found = {name: table.outcome(name, wrap, second=step == 1) for name in table.NAMES[::step]}
differing = {name: why for name, why in found.items() if bool(why) != (name in listed)}
json.dump([differing, len(listed), len(table.NAMES)], sys.stdout)
"""


def compared(step: int) -> tuple[dict[str, str], int, int]:
    """Of every `step`-th primitive those that differ from array_api_strict-xfails.txt, how many it has and how many there are."""
    given = json.dumps([BLOCKS, str(HERE), step])
    done = subprocess.run([sys.executable, "-c", WORKER], input=given, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    differing, listed, all_of = json.loads(done.stdout)
    return differing, listed, all_of


def test_the_page_s_backend() -> None:
    differing, listed, all_of = compared(4)
    assert not differing
    assert f"{all_of - listed} of the {all_of} primitives" in PAGE.read_text(encoding="utf-8")
    assert len(BLOCKS[0].splitlines()) <= 75


@pytest.mark.long
def test_every_primitive_on_the_page_s_backend() -> None:
    assert not compared(1)[0]
