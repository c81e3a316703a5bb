"""docs/gradient-apis.md: each of its programs prints what the page says."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGE = Path(__file__).parent.parent / "docs" / "gradient-apis.md"
BLOCK = re.compile(
    r"^## (?P<title>[^\n]+)|^```python\n# (?P<dialect>torch|paddle|mindspore)[^\n]*\n(?P<code>.*?)^```", re.S | re.M
)

WORKER = """
import contextlib, io, json, sys, traceback, warnings
import retrograde
warnings.simplefilter("ignore")
retrograde.activate(sys.argv[1])
printed = []
for program in json.load(sys.stdin):
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(program, {"__name__": "__main__"})
        except Exception:
            traceback.print_exc(file=out)
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


def programs():
    """The programs of the page by dialect: (title of the section, code, what it is said to print)."""
    found = {"torch": [], "paddle": [], "mindspore": []}
    title = ""
    for block in BLOCK.finditer(PAGE.read_text(encoding="utf-8")):
        if block["title"]:
            title = block["title"]
            continue
        wanted = [line[2:].strip() for line in block["code"].splitlines() if line.startswith("#>")]
        found[block["dialect"]].append((title, block["code"], "\n".join(wanted)))
    return found


def test_the_page_has_programs_of_each_dialect():
    assert all(len(mine) >= 10 for mine in programs().values())


@pytest.mark.parametrize("dialect", ["torch", "paddle", "mindspore"])
def test_programs_print_what_the_page_says(dialect):
    mine = programs()[dialect]
    done = subprocess.run(
        [sys.executable, "-c", WORKER, dialect], input=json.dumps([code for _, code, _ in mine]), capture_output=True,
        text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    for (title, code, wanted), got in zip(mine, json.loads(done.stdout), strict=True):
        assert got.split() == wanted.split(), f"{title}\n{code}"
