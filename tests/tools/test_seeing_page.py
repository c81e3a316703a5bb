"""docs/seeing.md: its programs and commands run."""

import re
import subprocess
import sys

import documents
import pytest
from tools.pages import retrograde

FILE = documents.ROOT / "docs" / "seeing.md"
PAGE = FILE.read_text(encoding="utf-8")
BLOCKS = documents.programs(FILE)
COMMANDS = re.findall(r"^    \$ retrograde (.+)$", PAGE, re.MULTILINE)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("seeing")
    for block in BLOCKS:
        if named := re.match(r"# (\w+\.py)\n", block):
            (folder / named[1]).write_text(block)
    return folder


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_runs(command, folder):
    if ".svg" in command:
        pytest.importorskip("py_mini_racer")
    done = retrograde(*command.split(), folder=folder)
    assert done.returncode == 0, done.stderr
    if made := re.search(r"(?:-o|--report) (\S+)", command):
        assert (folder / made[1]).stat().st_size > 1000


def test_the_nan_is_named(folder):
    assert "nan begins at nan.py:5" in retrograde("run", "--nan", "nan.py", folder=folder).stderr


def test_programs_print_what_the_page_says(folder):
    for block in BLOCKS:
        if block.startswith("# "):
            continue
        (folder / "program.py").write_text(block)
        done = subprocess.run([sys.executable, "program.py"], capture_output=True, text=True, check=False, cwd=folder)
        assert done.returncode == 0, done.stderr
        if "memory" in block:
            first, second = done.stdout.splitlines()[:2]
            assert f"    {first}\n    {second}\n" in PAGE
