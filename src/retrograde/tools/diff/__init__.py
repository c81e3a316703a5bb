"""`retrograde diff A.py B.py`: whether two programs compute the same, and if not, where they part.

Each program runs in a process of its own, under a Recorder (record.py) with the dialects active, or on the installed
framework (real.py); the records are aligned (align.py), judged by their results (judge.py), the first difference is
explained (explain.py), and B goes on from A's values to the next (onward.py). Here: the arguments, the two processes, the
answer's way out.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import importlib.util
import json
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .runs import Runs

if TYPE_CHECKING:
    from .answer import Answer

NAME = "diff"
HELP = "run two programs and say whether they compute the same gradients, or where they part"

FAILED = 2
"""The exit status where no comparison took place."""

_HERE = Path(__file__).parent


def configure(parser: argparse.ArgumentParser) -> None:
    """Declare the subcommand's arguments."""
    parser.epilog = "Exit status: 0 the same (also up to rounding), 1 different, 2 a program failed or was not found."
    parser.add_argument("a", metavar="A.py", help="a program")
    parser.add_argument("b", metavar="B.py", help="the program that should compute the same, in any dialect")
    parser.add_argument("--rtol", type=_not_negative, metavar="R",
                        help="relative difference that counts as rounding, of a tensor's largest element "
                        "(default 2e-6 for float32, 1e-10 for float64)")  # fmt: skip
    parser.add_argument("--map", action="append", default=[], metavar="NAME=NAME", type=_mapping,
                        help="a parameter of A and the one of B that it is; may be repeated")  # fmt: skip
    parser.add_argument("--start-from", choices=["A"], metavar="A",
                        help="give B the starting values of A, paired by --map, by name, else by order")  # fmt: skip
    parser.add_argument("--inside", action="append", default=[], metavar="PACKAGE",
                        help="an installed package whose lines count as the programs' own; may be repeated")  # fmt: skip
    parser.add_argument("--first", action="store_true", help="name the first difference only, and do not go on after it")
    parser.add_argument("--explain", action="store_true", help="show by which rules values and differences were found, and why "
                        "programs are the same for all inputs of these shapes")  # fmt: skip
    parser.add_argument("--json", action="store_true", help="print the answer as JSON")
    parser.add_argument("--memory", type=_not_negative, default=256, metavar="MIB",
                        help="how much of each program's values is kept whole (default 256); digests beyond")  # fmt: skip
    for side in "ab":
        parser.add_argument(f"--args-{side}", metavar="ARGUMENTS", type=_words, default=[],
                            help=f"arguments for {side.upper()}, in one string: --args-{side}='--epochs 2'")  # fmt: skip
    for side in "ab":
        parser.add_argument(f"--real-{side}", action="store_true",
                            help=f"run {side.upper()} on the installed framework; only gradients are compared")  # fmt: skip
        parser.add_argument(f"--python-{side}", metavar="PYTHON",
                            help=f"the interpreter in which the framework of --real-{side} is installed")  # fmt: skip


def _mapping(text: str) -> tuple[str, str]:
    left, equals, right = text.partition("=")
    if not (left and equals and right):
        raise argparse.ArgumentTypeError(f"wanted NAME_IN_A=NAME_IN_B, got {text!r}")
    return left.strip(), right.strip()


def _words(text: str) -> list[str]:
    try:
        return shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(f"{error} in {text!r}") from None


def _not_negative(text: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not number >= 0:
        raise argparse.ArgumentTypeError(f"wanted a number that is not negative, got {text!r}")
    return number


def split(arguments: Sequence[str]) -> tuple[list[str], list[str]]:
    """All arguments are the subcommand's own."""
    return list(arguments), []


def execute(options: argparse.Namespace, rest: list[str]) -> int:
    """Run both programs, compare their records and print the answer; gives the exit status."""
    for side in "ab":
        script = getattr(options, side)
        if not os.path.isfile(script):
            print(f"retrograde diff: there is no file {script!r}", file=sys.stderr)
            return FAILED
        if getattr(options, f"python_{side}") and not getattr(options, f"real_{side}"):
            print(f"retrograde diff: --python-{side} goes with --real-{side}", file=sys.stderr)
            return FAILED
    if options.start_from and (options.real_a or options.real_b):
        print("retrograde diff: --start-from needs both programs on retrograde, without --real-a and --real-b", file=sys.stderr)
        return FAILED
    for package in options.inside:
        if importlib.util.find_spec(package.partition(".")[0]) is None and not (options.python_a or options.python_b):
            print(f"retrograde diff: --inside: there is no package {package!r}", file=sys.stderr)
            return FAILED
    options.runs = {side: _runs_of(options, side) for side in "ab"}
    with tempfile.TemporaryDirectory(prefix="retrograde-diff-") as folder, contextlib.ExitStack() as processes:
        for runs in options.runs.values():
            processes.callback(runs.close)
        with _progress() as report:
            try:
                failure = _record_both(options, Path(folder), report, _WITHOUT_VALUES if options.start_from else "")
            except OSError as error:
                failure = f"retrograde diff: cannot start {error.filename}: {error.strerror}"
            if failure:
                print(failure, file=sys.stderr)
                return FAILED
            try:
                answer = _compared(options, Path(folder), report)
            except ValueError as error:
                print(f"retrograde diff: {error}", file=sys.stderr)
                return FAILED
        try:
            if options.json:
                print(json.dumps(answer.as_json(), indent=2), flush=True)
            else:
                from rich.console import Console  # 40 ms, which `--json` does without

                from .report import show

                show(answer, Console(highlight=False), options.explain)
        except BrokenPipeError:  # who reads the answer has seen enough, as `head` has; the exit status still says it
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1 if answer.difference is not None else 0


def _compared(options: argparse.Namespace, folder: Path, report: Callable[[str], None]) -> Answer:
    """The answer for the two records in a folder."""
    from .compare import compare
    from .record import Record

    remarks: list[str] = []

    def widened() -> tuple[Record, Record]:
        again = folder / "double"
        again.mkdir(exist_ok=True)
        failure = _record_both(options, again, lambda text: report(f"in double precision: {text}"), first=folder)
        if failure:
            raise ValueError(f"a program that ended well does not when it is run again: {failure}")
        for side in "ab":
            remarks.extend(f"{side.upper()}: {remark}" for remark in _ended(again / side)["remarks"])
        return Record.read(again / "a"), Record.read(again / "b")

    if options.start_from:
        _start_alike(options, folder, report)
    collecting = gc.isenabled()
    gc.disable()  # a long record is a million tuples, none of them garbage: looking at them takes three times the rest
    try:
        a, b = (Record.read(folder / side) for side in "ab")
        answer = compare(
            a, b, file_a=options.a, file_b=options.b, rtol=options.rtol, mapping=options.map,
            gradients_only=options.real_a or options.real_b, widened=widened, first_only=options.first,
            progress=lambda done, of: report(f"aligning {done:,} of {of:,}"),
        )  # fmt: skip
        answer.notes += remarks
        return answer
    finally:
        if collecting:
            gc.enable()


# ------------------------------------------------------------------------------------------ the two processes


def _start_alike(options: argparse.Namespace, folder: Path, report: Callable[[str], None]) -> None:
    """Run B again with A's starting values, where it has others, its values kept; raises ValueError where that cannot be."""
    from .given import give
    from .record import Record
    from .starts import starting_values

    of_a, found = starting_values(Record.read(folder / "a"), Record.read(folder / "b"), options.map)
    (folder / "double").mkdir(exist_ok=True)
    for path, starts in (
        (folder / "b-starts", found),
        (folder / "double" / "b-starts", found),  # a second run starts as the first one does,
        (folder / "double" / "a-starts", of_a),  # both from the same digits
    ):
        if found:
            give(path, folder / "a", starts)
    failure = _record(options, folder, report, ["b"])
    if failure:
        raise ValueError(failure)


_WITHOUT_VALUES = "b"
"""The side of which only what its leaves begin with is asked in the first run, since it is run again with other values."""

_TOGETHER = 2**30
"""The bytes that both programs may need in double precision to be run side by side; else they run one after the other."""


def _record_both(
    options: argparse.Namespace, folder: Path, report: Callable[[str], None], without: str = "", first: Path | None = None
) -> str:  # fmt: skip
    """Run both programs; gives what went wrong, "" if nothing.

    without: a side whose values are not kept.
    first: where the records of both lie, where they are run in double precision now.
    """
    together = first is None or 2 * sum(_ended(first / side)["peak"] for side in "ab") <= _TOGETHER
    for sides in ["ab"] if together else ["a", "b"]:
        failure = _record(options, folder, report, sides, without, "single" if first is None else "double")
        if failure:
            return failure
    return ""


def _record(
    options: argparse.Namespace, folder: Path, report: Callable[[str], None], sides: Sequence[str], without: str = "",
    precision: str = "single",
) -> str:  # fmt: skip
    """Run programs side by side."""
    runs: dict[str, Runs] = options.runs
    left = list(sides)
    while left:
        for side in left:
            out = folder / side
            shutil.rmtree(out, ignore_errors=True)
            out.mkdir()
            # In double precision, twice as much is kept.
            budget = str(int(options.memory * 2**20) * (2 if precision == "double" else 1)) if side not in without else "none"
            runs[side].start([str(out), budget, precision])
        for side in left:
            while not runs[side].ended(None if report is _unseen else 0.02):
                report("   ".join(f"{side.upper()} {_how_far(folder / side)}" for side in sides))
        # What a program has done at the end of one run may be in the way of the next, if that is a fork from before.
        left = [side for side in left if runs[side].forked and _failure(getattr(options, side), folder / side)]
        for side in left:
            runs[side].close()
    failures = [_failure(getattr(options, side), folder / side) for side in sides]
    return "\n".join(text for text in failures if text)


def _runs_of(options: argparse.Namespace, side: str) -> Runs:
    """The runs of one side's program."""
    script, real = getattr(options, side), getattr(options, f"real_{side}")
    given: list[str] = getattr(options, f"args_{side}")
    environment, inside = dict(os.environ), " ".join(options.inside)
    if not real:
        paths = [str(_HERE.parents[2]), environment.get("PYTHONPATH", "")]
        environment["PYTHONPATH"] = os.pathsep.join(path for path in paths if path)

    def command(run: Sequence[str], asked: int, told: int) -> list[str]:
        if real:
            return [getattr(options, f"python_{side}") or sys.executable, str(_HERE / "real.py"), run[0], inside, script, *given]
        module = f"{__name__}.program"
        return [sys.executable, "-m", module, str(asked), str(told), *run, inside, script, *given]

    return Runs(command, environment)


def _how_far(out: Path) -> str:
    try:
        events, line = (out / "progress").read_text().split()
    except (OSError, ValueError):
        return "starting" if not (out / "ended").exists() else "done"
    return "done" if (out / "ended").exists() else f"{int(events):,} events, line {line}"


def _ended(out: Path) -> dict[str, Any]:
    """What the process of one side has said at its end."""
    found: dict[str, Any] = json.loads((out / "ended").read_text(encoding="utf-8"))
    return found


def _failure(script: str, out: Path) -> str:
    """What to say of a program that did not end well."""
    said = (out / "errors").read_text(errors="replace")[-2000:].rstrip()
    try:
        ended = _ended(out)
    except (OSError, ValueError):
        ended = {"failure": said or "the process died"}
    reason = ended["failure"]
    if not reason:
        return ""
    if ended.get("exited") and said:
        reason += f", having said\n{said}"
    return f"retrograde diff: {script} failed, so there is nothing to compare\n{reason.rstrip()}"


def _unseen(text: str) -> None:
    """Where nobody looks at how far it is."""


@contextlib.contextmanager
def _progress() -> Iterator[Callable[[str], None]]:
    """A line on a terminal that says what is going on, once it takes longer than half a second."""
    if not sys.stderr.isatty():
        yield _unseen
        return
    from rich.console import Console

    begun = time.monotonic()
    status: Any = None

    def report(text: str) -> None:
        nonlocal status
        if status is None:
            if time.monotonic() - begun < 0.5:
                return
            status = Console(stderr=True).status(text)
            status.start()
        status.update(text)

    try:
        yield report
    finally:
        if status is not None:
            status.stop()
