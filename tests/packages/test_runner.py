"""What `make packages` does without running a package: heads of programs, comparing outputs, the table."""

import ast
import math
import re
from pathlib import Path

import pytest

from packages import clock, run


@pytest.mark.parametrize("path", sorted(run.PROGRAMS.glob("*.py")), ids=lambda path: path.stem)
def test_a_program_says_what_it_needs(path: Path) -> None:
    """A head that can be read, and a program that knows of no retrograde."""
    run.read(path)
    assert "retrograde" not in path.read_text()


def test_rows_of_the_table_are_of_programs() -> None:
    """The table in the documents speaks of what is here."""
    rows = re.findall(r"^\| (.+?) \| .+? \| (.+?) \|", run.TABLE.read_text(), re.MULTILINE)[2:]
    assert rows
    assert set(rows) <= {(program.package, program.ran) for program in map(run.read, run.PROGRAMS.glob("*.py"))}


def test_a_run_of_one_program_keeps_the_other_rows() -> None:
    programs, before = [run.read(path) for path in sorted(run.PROGRAMS.glob("*.py"))], run.TABLE.read_text()
    one = next(program for program in programs if program.package == "einops")
    result = run.Result(one.name, one.package, one.ran, "0", "torch", run.Side("1", problem="Error: of old"), None, "today")
    after = run.written(before, [result], programs, {"torch": "0.1"})
    same = [row for row in run.kept(before) if row[0] != "einops"]
    assert [row for row in run.kept(after) if row[0] != "einops"] == same
    assert ("einops", "0", one.ran, "stops: Error: of old", "—", "today") in run.kept(after)
    assert "PyTorch 0.1, PaddlePaddle" in after


@pytest.mark.parametrize(
    "ours, theirs, worst",
    [
        ("loss 0.5 of 3\n", "loss 0.5 of 3\n", 0),
        ("a -1.0e-3\n", "a -0.001\n", 0),
        ("[2.0, 1e-9]\n", "[2.0, 2e-9]\n", 5e-10),
        ("[2.0, 1.0]\n", "[2.0, 1.1]\n", 0.05),
        ("nan inf -inf\n", "nan inf -inf\n", 0),
        ("nan\n", "1.0\n", math.inf),
        ("loss 1.0\n", "losses 1.0\n", math.inf),
        ("1.0\n1.0\n", "1.0\n", math.inf),
        ("(1.0)\n", "(1.0, 2.0)\n", math.inf),
    ],
)
def test_how_far_outputs_differ(ours: str, theirs: str, worst: float) -> None:
    assert run.difference(ours, theirs) == pytest.approx(worst)


@pytest.mark.parametrize(
    "head, reason",
    [
        ("import torch\n", "first line"),
        ('"""Thing: runs it."""\nimport torch\n', "no line"),
        ('"""Thing: runs it."""\n# packages: thing\n', "version of thing"),
        ('"""Thing: runs it."""\n# packages: thing==1\n# framework: jax\n', "jax"),
    ],
)
def test_a_head_that_says_too_little(tmp_path: Path, head: str, reason: str) -> None:
    program = tmp_path / "program.py"
    program.write_text(head)
    with pytest.raises(ValueError, match=reason):
        run.read(program)


def test_the_clock_starts_after_the_imports() -> None:
    imports, rest = clock.parts("import os\nos.x = 1\nfrom a import b\nb()\n\ndef f():\n    import c\n")
    assert [ast.unparse(part).splitlines() for part in (imports, rest)] == [
        ["import os", "os.x = 1", "from a import b"],
        ["b()", "", "def f():", "    import c"],
    ]


def test_a_program_is_run_and_timed(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text('"""Thing: adds."""\n# packages: thing==1\nimport torch\n\nprint(torch.ones(2).sum().item(), __name__)\n')
    side = run.run(run.read(program), None)
    assert (side.output, side.problem) == ("2.0 __main__\n", "")
    assert 0 <= side.seconds < 60
    program.write_text(program.read_text() + "torch.no_such_name\n")
    assert run.run(run.read(program), None).problem.startswith("AttributeError")
