"""`make packages`: programs that use other people's packages, on retrograde and on the framework; writes docs/packages.md.

    .venv-packages/bin/python -m tests.packages.run [--only NAMES] [--installed] [--show] [--no-table]

Runs in an environment of its own, into which it installs what the programs name. A program is a file of `programs/`:

    \"\"\"GPyTorch: regression with an exact Gaussian process, an RBF kernel, 30 steps of Adam.\"\"\"
    # packages: gpytorch==1.14, linear_operator==0.6
    # needs: scikit-learn, jaxtyping
    # framework: torch

The first line names the package and says what is run, for the table. `packages` are installed as they are, with
`pip install --no-deps`: they depend on the framework, which is not to come. `needs` are installed with what they depend on
(left out where nothing is needed; NumPy and SciPy are there). `framework` is torch where the line is left out. A line may be
repeated with more; `# note: ...` stands below the table and says why numbers differ. What comes after is usual use of the
package, 20 to 60 lines; it knows of no retrograde, draws its data from a seed, downloads nothing, takes seconds, and prints
numbers with at least six digits: losses, gradients, results.

The standard output of both sides has to agree: the words to the letter, the numbers to a part in a thousand (the table says
how far they differ). Times are processor time on one thread, imports left out.
"""

from __future__ import annotations

import argparse
import functools
import math
import os
import platform
import re
import subprocess
import sys
import textwrap
import time
from dataclasses import dataclass
from importlib import metadata
from pathlib import Path

from .clock import MARK

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAMS = HERE / "programs"
TABLE = ROOT / "docs" / "packages.md"
CLOCK = HERE / "clock.py"
FRAMEWORKS = {"torch": "PyTorch", "paddle": "PaddlePaddle", "mindspore": "MindSpore"}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:[eE][-+]?\d+)?|\.\d+(?:[eE][-+]?\d+)?|\binf\b|\bnan\b)")
TOLERANCE = 1e-3
LIMIT_S = 600


@dataclass
class Program:
    """A file of `programs/`, and what its head says."""

    path: Path
    package: str
    ran: str
    packages: list[str]
    needs: list[str]
    framework: str
    note: str

    @property
    def name(self) -> str:
        return self.path.stem


@dataclass
class Side:
    """What one run of a program printed and took; `problem` is why it has no result."""

    output: str = ""
    seconds: float = math.nan
    problem: str = ""


@dataclass
class Result:
    """A row of the table."""

    name: str
    package: str
    ran: str
    version: str
    framework: str
    ours: Side
    theirs: Side | None
    date: str


def read(path: Path) -> Program:
    """A program's head; raises ValueError where it is not as the top of this file says."""
    lines = path.read_text().splitlines()
    title = re.fullmatch(r'"""(.+?): (.+)\."""', lines[0] if lines else "")
    if title is None:
        raise ValueError(f'{path.name}: the first line is to be """PACKAGE: WHAT IS RUN."""')
    said: dict[str, list[str]] = {}
    for line in lines[1:]:
        entry = re.fullmatch(r"# (packages|needs|framework|note): (.+)", line)
        if entry is None:
            break
        parts = [entry[2]] if entry[1] == "note" else [part.strip() for part in entry[2].split(",")]
        said.setdefault(entry[1], []).extend(parts)
    if "packages" not in said:
        raise ValueError(f"{path.name}: no line '# packages: NAME==VERSION, ...' below the first")
    unpinned = [package for package in said["packages"] if "==" not in package]
    if unpinned:
        raise ValueError(f"{path.name}: name the version of {', '.join(unpinned)}, as in NAME==VERSION")
    (framework,) = said.get("framework", ["torch"])
    if framework not in FRAMEWORKS:
        raise ValueError(f"{path.name}: framework is one of {', '.join(FRAMEWORKS)}, not {framework!r}")
    return Program(path, title[1], title[2], said["packages"], said.get("needs", []), framework, " ".join(said.get("note", [])))


def install(programs: list[Program]) -> None:
    """Bring the packages and their other requirements into this interpreter's environment, the frameworks excepted."""
    if sys.prefix == sys.base_prefix:
        raise SystemExit("tests.packages.run installs into the environment that it runs in: make one for it (`make packages`)")
    pip = [sys.executable, "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    never = Path(sys.prefix) / "no-frameworks.txt"
    never.write_text("torch<0\npaddlepaddle<0\nmindspore<0\n")
    needs = sorted({need for program in programs for need in program.needs})
    packages = sorted({package for program in programs for package in program.packages})
    if needs:
        subprocess.run([*pip, "--constraint", str(never), *needs], check=True)
    subprocess.run([*pip, "--no-deps", *packages], check=True)


def run(program: Program, python: str | None) -> Side:
    """Run a program on the framework that `python` has, or, without it, on retrograde."""
    environment = {**os.environ, "PYTHONHASHSEED": "0", "PYTHONWARNINGS": "ignore", "MPLBACKEND": "agg"}
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "RETROGRADE_NUM_THREADS"), "1")
    if python is None:
        command = [sys.executable, "-m", "retrograde", "run"]
    else:
        command = [python]
        environment["PYTHONPATH"] = next(path for path in sys.path if path.endswith("site-packages"))
    command += [str(CLOCK), str(program.path)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=LIMIT_S, env=environment, cwd=sys.prefix, check=False
        )
    except subprocess.TimeoutExpired:
        return Side(problem=f"not done after {LIMIT_S} s")
    said = re.search(f"{MARK} ([0-9.]+)", done.stderr)
    if done.returncode or said is None:
        lines = done.stderr.strip().splitlines() or [f"ended with status {done.returncode}"]
        error = [line for line in lines if re.match(r"[\w.]*(Error|Exception|Warning|Exit)\b", line)]
        return Side(done.stdout, problem=(error or lines)[-1][:160])
    return Side(done.stdout, float(said[1]))


def compare(program: Program, python: str | None) -> Result:
    """Run a program on retrograde and, where `python` names one that has it, on the framework."""
    version = metadata.version(program.packages[0].partition("==")[0])
    ours, theirs = run(program, None), run(program, python) if python else None
    today = time.strftime("%Y-%m-%d")
    return Result(program.name, program.package, program.ran, version, program.framework, ours, theirs, today)


def difference(ours: str, theirs: str) -> float:
    """The largest relative difference between two outputs' numbers; infinite where anything else differs.

    A number is compared with the largest of its line, since a line is a tensor or a row of figures: its smallest entry has
    the rounding of the largest. What is below a part in a million counts as rounding of zero.
    """
    worst = 0.0
    mine, its = ours.splitlines(), theirs.splitlines()
    if len(mine) != len(its):
        return math.inf
    for one, other in zip(mine, its):
        if NUMBER.sub("#", one).split() != NUMBER.sub("#", other).split():
            return math.inf
        a, b = ([float(number) for number in NUMBER.findall(line)] for line in (one, other))
        scale = max((abs(y) for y in b if math.isfinite(y)), default=0.0)
        for x, y in zip(a, b):
            if x == y or (math.isnan(x) and math.isnan(y)):
                continue
            if not (math.isfinite(x) and math.isfinite(y)):
                return math.inf
            worst = max(worst, abs(x - y) / max(scale, 1e-3))
    return worst


def shortened(problem: str) -> str:
    """The beginning of an error's message."""
    return textwrap.shorten(problem, 90, placeholder=" ...")


def numbers(result: Result) -> str:
    """The table's words for how a program's numbers compare."""
    if result.ours.problem:
        return f"stops: {shortened(result.ours.problem)}"
    if result.theirs is None:
        return "runs; not compared"
    if result.theirs.problem:
        return f"runs; {FRAMEWORKS[result.framework]} stops: {shortened(result.theirs.problem)}"
    if result.ours.output == result.theirs.output:
        return "the same"
    worst = difference(result.ours.output, result.theirs.output)
    if worst == 0:
        return "the same"
    return f"the same to {worst:.0e}" if worst <= TOLERANCE else "differ" + (f" by {worst:.0e}" if math.isfinite(worst) else "")


GOOD = ("the same", "runs")
"""How the words begin where a program ran, and with the framework's numbers where there are any."""


def good(result: Result) -> bool:
    """Whether the program ran, and with the framework's numbers where there are any."""
    return numbers(result).startswith(GOOD)


def ratio(result: Result) -> str:
    """Our processor time over the framework's."""
    if result.theirs is None or not result.theirs.seconds > 0 or result.ours.problem:
        return "—"
    return f"{result.ours.seconds / result.theirs.seconds:.2f}"


def processor() -> str:
    """What this machine calls its processor."""
    try:
        return next(line.partition(":")[2].strip() for line in open("/proc/cpuinfo") if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or platform.machine()


def machine() -> str:
    """What the figures were measured on, in words."""
    software = f"Python {platform.python_version()}, NumPy {metadata.version('numpy')}"
    return f"{processor()}, {os.cpu_count()} cores, {platform.system()}, {software}"


Row = tuple[str, ...]
"""What the table says of a program: package, version, what was run, numbers, time, date."""


def row(result: Result) -> Row:
    """The table's row for a result."""
    return result.package, result.version, result.ran, numbers(result).replace("|", "/"), ratio(result), result.date


def kept(text: str) -> list[Row]:
    """The rows of a table that was written before."""
    lines = [line for line in text.splitlines() if line.startswith("| ")]
    return [tuple(line[2:-2].split(" | ")) for line in lines if not line.startswith("| package |")]


def written(before: str, results: list[Result], programs: list[Program], versions: dict[str, str]) -> str:
    """The page with these results in it, beside what it said before of other programs that are still there.

    versions: of the frameworks beside which the results came.
    """
    rows = {(package, ran): (package, version, ran, *rest) for package, version, ran, *rest in map(tuple, kept(before))}
    rows |= {(result.package, result.ran): row(result) for result in results}
    shown = [rows[key] for program in programs if (key := (program.package, program.ran)) in rows]
    came = sum(cells[3].startswith(GOOD) for cells in shown)
    earlier = {name: found[1] for name, title in FRAMEWORKS.items() if (found := re.search(rf"{title} (\S+?)[,.]?\s", before))}
    beside = ", ".join(f"{FRAMEWORKS[name]} {version}" for name, version in {**earlier, **versions}.items()) or "no framework"
    lines = "\n".join(f"| {' | '.join(cells)} |" for cells in shown)
    notes = {program.package: program.note for program in programs if program.note and (program.package, program.ran) in rows}
    below = "".join(f"\n{package}: {note}\n" for package, note in notes.items())
    return f"""\
# Packages that were run

Written by `make packages` (`tests/packages/run.py`): for each package a program of usual use, run unchanged on retrograde and on
the framework, beside {beside}. {came} of {len(shown)} run with the same numbers.
[Libraries on retrograde](libraries.md) says how to install a package without its framework;
[private names](private-names.md), what some of them reach for.

Numbers: what both sides print; "the same to 1e-06" is the largest difference of two numbers over the largest of the line.
Time: processor time of one run on one thread over the framework's, imports left out.
Machine: {machine()}.

| package | version | what was run | numbers | time over the framework's | date |
|---|---|---|---|---|---|
{lines}
{below}"""


def main() -> int:
    parser = argparse.ArgumentParser(description="Programs that use other people's packages, on retrograde and on the framework.")
    parser.add_argument("--only", default="", help="programs to run, separated by commas; the table keeps the other rows")
    parser.add_argument("--installed", action="store_true", help="what the programs need is there: install nothing")
    parser.add_argument("--show", action="store_true", help="print what the sides printed, where it differs")
    parser.add_argument("--no-table", action="store_true", help="leave docs/packages.md as it is")
    options = parser.parse_args()
    programs = [read(path) for path in sorted(PROGRAMS.glob("*.py"))]
    wanted = [name for name in options.only.split(",") if name]
    unknown = set(wanted) - {program.name for program in programs}
    if unknown:
        parser.error(f"no such program: {', '.join(sorted(unknown))}")
    chosen = [program for program in programs if not wanted or program.name in wanted]
    if not options.installed:
        install(chosen)
    pythons = {name: os.environ.get(f"RETROGRADE_{name.upper()}_PYTHON") for name in FRAMEWORKS}
    results = []
    for program in chosen:
        result = compare(program, pythons[program.framework])
        results.append(result)
        took = f"{result.ours.seconds:.2f} s, {ratio(result)} of {FRAMEWORKS[program.framework]}'s"
        print(f"{program.name:24} {numbers(result)}; {took}", flush=True)
        if options.show and not numbers(result).startswith("the same"):
            print(result.ours.output, "---", result.theirs.output if result.theirs else "", sep="\n")
        if not options.no_table:  # after each: the next one may take long, or be interrupted
            versions = {name: version(python, name) for name, python in pythons.items() if python}
            TABLE.write_text(written(TABLE.read_text(), results, programs, versions))
    return 0 if all(map(good, results)) else 1


@functools.cache
def version(python: str, framework: str) -> str:
    """The version of a framework that an interpreter has."""
    program = f"import {framework}; print({framework}.__version__)"
    return subprocess.run([python, "-c", program], capture_output=True, text=True, check=True).stdout.split()[-1]


if __name__ == "__main__":
    sys.exit(main())
