"""Markdown pages, for tests: their blocks of code, headings and links, and what running a page from top to bottom prints."""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]

_FENCE = re.compile(r"^(?P<fence>`{3,})(?P<kind>[^\n`]*)\n(?P<text>.*?)^(?P=fence)[ ]*$", re.S | re.M)
_LINK = re.compile(r"!?\[(?:[^\[\]]|\[[^\]]*\])*\]\(([^()\s]+)(?:\s+\"[^\"]*\")?\)")
_COMPARED = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Block:
    """A fenced block: the word behind the fence, its text, and the line of the page at which that begins."""

    kind: str
    text: str
    line: int

    @property
    def file(self) -> str | None:
        """The name of the file that the block is, if its first line is `# name.py`."""
        named = re.match(r"# ([\w/]+\.py)\b", self.text)
        return named[1] if self.kind == "python" and named else None


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page, in order."""
    text = page.read_text(encoding="utf-8")
    return [Block(m["kind"].strip(), m["text"], text.count("\n", 0, m.start()) + 2) for m in _FENCE.finditer(text)]


def prose(page: Path) -> str:
    """A page without its blocks and code."""
    text = _FENCE.sub("", page.read_text(encoding="utf-8"))
    return re.sub(r"``.+?``|`[^`\n]*`", "code", text)


def links(page: Path) -> list[str]:
    """What a page links to, and the pictures that it shows."""
    return _LINK.findall(prose(page))


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub makes them."""
    found: set[str] = set()
    for title in re.findall(r"^#{1,6} (.+)$", _FENCE.sub("", page.read_text(encoding="utf-8")), re.M):
        said = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", title).replace("`", "")
        slug = re.sub(r"[^\w\- ]", "", said.strip().lower()).replace(" ", "-")
        count = sum(1 for a in found if re.fullmatch(rf"{re.escape(slug)}(-\d+)?", a))
        found.add(f"{slug}-{count}" if count else slug)
    return found


# ------------------------------------------------------------------------------------------ running a page

_WORKER = """
import contextlib, io, json, sys, traceback
program = {"__name__": "__main__"}
printed = []
for number, text in json.load(sys.stdin):
    with open(f"block_{number}.py", "w") as file:  # what is compiled reads its own source
        file.write(text)
    out = io.StringIO()
    with contextlib.redirect_stdout(out):
        try:
            exec(compile(text, f"block_{number}.py", "exec"), program)
        except Exception:
            traceback.print_exc(file=out)
    printed.append(out.getvalue())
json.dump(printed, sys.stdout)
"""


def run(page: Path, folder: Path) -> list[tuple[int, str, str]]:
    """Run a page in a folder: (line, what it says, what came) for each output that is another.

    Blocks of Python are one program, but for those that begin with `# name.py`, which are files; a block `output` is what the
    program has printed since the last one. In a block `console` lines that begin with `$` are run, and what stands below them is
    what they print. `...` in an output stands for anything.
    """
    found = blocks(page)
    for block in found:
        if block.file:
            (folder / block.file).write_text(block.text, encoding="utf-8")
    return [*_program(found, folder), *_commands(found, folder)]


def _program(found: list[Block], folder: Path) -> list[tuple[int, str, str]]:
    program = [(i, block) for i, block in enumerate(found) if block.kind == "python" and not block.file]
    if not program:
        return []
    given = json.dumps([(i, block.text) for i, block in program])
    done = subprocess.run(
        [sys.executable, "-c", _WORKER], input=given, capture_output=True, text=True, check=False, cwd=folder
    )
    assert done.returncode == 0, done.stderr
    printed = dict(zip((i for i, _ in program), json.loads(done.stdout), strict=True))
    said: list[tuple[int, str, str]] = []
    since = ""
    for i, block in enumerate(found):
        since += printed.get(i, "")
        if block.kind == "output":
            said.append((block.line, block.text, since))
            since = ""
        elif i in printed and not any(b.kind == "output" for b in found[i + 1 : _next(found, i)]):
            said.append((block.line, "", since))
            since = ""
    return [s for s in said if not _same(s[1], s[2])]


def _next(found: list[Block], i: int) -> int:
    """Where the next block of the program after block i stands, or the end."""
    return next((j for j in range(i + 1, len(found)) if found[j].kind == "python" and not found[j].file), len(found))


def _commands(found: list[Block], folder: Path) -> list[tuple[int, str, str]]:
    differing = []
    for block in found:
        if block.kind != "console":
            continue
        for command, wanted in re.findall(r"^\$ ([^\n]*)\n((?:(?!\$ )[^\n]*\n)*)", block.text, re.M):
            words = shlex.split(command)
            assert words[0] in ("retrograde", "python"), f"{page_line(block)}: only these are run, not {words[0]}"
            run_as = [sys.executable, *(["-m", "retrograde"] if words[0] == "retrograde" else []), *words[1:]]
            done = subprocess.run(run_as, capture_output=True, text=True, check=False, cwd=folder)
            if not _same(wanted, done.stdout + done.stderr):
                differing.append((block.line, wanted, done.stdout + done.stderr))
    return differing


def page_line(block: Block) -> str:
    return f"line {block.line}"


def _same(wanted: str, got: str) -> bool:
    return doctest.OutputChecker().check_output(wanted, got, _COMPARED)
