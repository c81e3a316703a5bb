"""docs/compiler.md: each of its programs prints what the page says."""

import subprocess
import sys

import documents
import pytest

from retrograde.compile.log import TOPICS
from retrograde.compile.pipeline import EMITTERS

FILE = documents.ROOT / "docs" / "compiler.md"
PAGE = FILE.read_text(encoding="utf-8")
PROGRAMS = documents.programs(FILE)


@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_a_program_prints_what_the_page_says(number, tmp_path):
    (tmp_path / "program.py").write_text(PROGRAMS[number])  # what is compiled reads its own source's lines
    done = subprocess.run([sys.executable, tmp_path / "program.py"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    wanted = [line[3:] for line in PROGRAMS[number].splitlines() if line.startswith("#>")]
    assert [line.strip() for line in done.stdout.splitlines()] == [line.strip() for line in wanted]


def test_the_page_names_every_topic_and_every_way_to_run():
    assert all(f"| `{topic}` |" in PAGE for topic in TOPICS)
    assert all(f"`{how}`" in PAGE for how in EMITTERS)
