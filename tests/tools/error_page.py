"""docs/errors.md: mistakes, and what a user reads after each.

    python tests/tools/error_page.py        run them all and write what they end in into the page anew

A mistake of the page is a program, whose line at fault ends in `# here`, or a command line; what it ends in; and a line that says
by what words the operation is named and the remedy begins.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

PAGE = Path(__file__).parents[2] / "docs" / "errors.md"
_MISTAKE = re.compile(
    r"^### (?P<title>[^\n]+)\n\n"
    r"```(?P<kind>python|sh)\n(?P<program>.*?)```\n\n"
    r"```text\n(?P<ends>.*?)```\n\n"
    r"names `` ?(?P<names>.+?) ?``; remedy `` ?(?P<remedy>.+?) ?``\n",
    re.S | re.M,
)


@dataclass(frozen=True)
class Mistake:
    """A program or command line, what it ends in by the page, and the words by which operation and remedy are known."""

    title: str
    kind: str
    program: str
    ends: str
    names: str
    remedy: str

    @property
    def group(self) -> str:
        """The framework that the program imports, "native" or "command line"."""
        if self.kind == "sh":
            return "command line"
        found = re.search(r"^(?:import|from) (torch|paddle|mindspore)\b", self.program, re.M)
        return found[1] if found else "native"

    @property
    def line(self) -> int:
        """The number of the line at fault."""
        return next(i for i, text in enumerate(self.program.splitlines(), 1) if text.endswith("# here"))


def mistakes() -> list[Mistake]:
    """Those of the page, in its order."""
    return [Mistake(**found.groupdict()) for found in _MISTAKE.finditer(PAGE.read_text(encoding="utf-8"))]


def endings(given: Sequence[Mistake]) -> list[str]:
    """What each ends in: the program's last frame and the error, or what the command line writes."""
    found = {m: _commanded(m.program) for m in given if m.kind == "sh"}
    for group in sorted({m.group for m in given if m.kind == "python"}):
        mine = [m for m in given if m.group == group]
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run(
                [sys.executable, "-W", "ignore", __file__, "--run", group], cwd=folder, text=True, capture_output=True,
                check=True, input=json.dumps([m.program for m in mine]), env=_environment(),
            )  # fmt: skip
        found |= dict(zip(mine, json.loads(done.stdout.splitlines()[-1]), strict=True))
    return [found[m] for m in given]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "COLUMNS": "80"}


def _commanded(program: str) -> str:
    """What a command line of ours writes, with the files that are made by `cat` in it."""
    with tempfile.TemporaryDirectory() as folder:
        script = program.replace("retrograde ", f"{sys.executable} -m retrograde ")
        done = subprocess.run(
            ["sh", "-c", script], cwd=folder, capture_output=True, text=True, check=False,
            env=_environment(),
        )  # fmt: skip
    said = (done.stdout + done.stderr).replace(f"{folder}{os.sep}", "")
    return re.sub(r'  File ".*[/\\]retrograde[/\\].*\n(?:    .*\n)+', "", said)  # the package's lines, which move


def _run(group: str) -> None:
    """Run the programs that standard input has, each in a process of its own, and print what they end in."""
    import retrograde

    if group != "native":
        retrograde.activate(group)
        __import__(group)  # once, for the processes that are begun from here
    print(json.dumps([_ending(program) for program in json.load(sys.stdin)]))


def _ending(program: str) -> str:
    """What a program ends in, as the hook of `retrograde.activate` and `retrograde run` prepares it."""
    receiving, sending = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(receiving)
        with os.fdopen(sending, "w") as out:
            out.write(_report(program))
            out.flush()
            os._exit(0)
    os.close(sending)
    with os.fdopen(receiving) as coming:
        text = coming.read()
    os.waitpid(child, 0)
    return text


def _report(program: str) -> str:
    import traceback
    from types import ModuleType

    from retrograde import _activate, _traceback

    name = "mistake.py"
    Path(name).write_text(program, encoding="utf-8")
    main = ModuleType("__main__")
    main.__file__ = name
    sys.modules["__main__"] = main
    try:
        exec(compile(program, name, "exec", dont_inherit=True), main.__dict__)
    except BaseException as error:
        error.__traceback__ = error.__traceback__.tb_next if error.__traceback__ else None
        _activate.say_who_answers(error)
        _traceback.shorten(error)
        entries = traceback.extract_tb(error.__traceback__)
        last = [entry for entry in entries if entry.filename == name][-1]
        said = "".join(traceback.format_exception_only(error)).rstrip()
        # This file stands where a program that is run has nothing above it.
        said = re.sub(rf'  File "{re.escape(__file__)}".*\n    .*\n', "", said)
        return f'  File "{name}", line {last.lineno}, in {last.name}\n    {last.line}\n{said}\n'
    return "no error\n"


def write() -> None:
    """Put what the mistakes end in now into the page."""
    text = PAGE.read_text(encoding="utf-8")
    given = mistakes()
    for m, ends in zip(given, endings(given)):
        before = f"```{m.kind}\n{m.program}```\n\n```text\n{m.ends}```\n"
        assert text.count(before) == 1, m.title
        text = text.replace(before, f"```{m.kind}\n{m.program}```\n\n```text\n{ends}```\n")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--run"]:
        _run(sys.argv[2])
    else:
        write()
