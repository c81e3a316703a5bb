"""The recorded corpora: what each program or op comes to, against the lists of known failures.

`tests/conformance` and `tests/opinfo` each have an `expected_failures.txt`: a line names what fails and why. Run as a
script, this file writes both lists anew, with the reasons that stand there kept.
"""

import importlib.util
import json
import subprocess
import sys
import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from types import ModuleType

CONFORMANCE = Path(__file__).parent / "conformance"
OPINFO = Path(__file__).parent / "opinfo"
CORPORA = ("torch", "torch-user", "paddle", "mindspore")
SECONDS_PER_PROGRAM = 60

Outcomes = dict[str, str | None]
"""What is wrong with each program or op, None where nothing is."""


def load_runner() -> ModuleType:
    """The conformance runner, `tests/conformance/run.py`, as a module."""
    spec = importlib.util.spec_from_file_location("conformance_run", CONFORMANCE / "run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def programs_of(corpus: str) -> list[dict]:
    """The programs of a conformance corpus, in the file's order."""
    with open(CONFORMANCE / f"{corpus}.jsonl") as file:
        return [json.loads(line) for line in file if line.strip()]


def run_programs(corpus: str, programs: list[dict]) -> Outcomes:
    """Run programs of a corpus with this interpreter's retrograde."""
    runner = load_runner()
    dialect = corpus.partition("-")[0]
    answers = runner.run(programs, sys.executable, False, SECONDS_PER_PROGRAM, dialect)
    nothing = {"stdout": "", "error": {"type": "NoAnswer", "message": "the worker ended before this program"}}
    outcomes: Outcomes = {}
    for program in programs:
        answer = answers.get(program["id"], nothing)
        right = runner.verdict(program, answer)
        outcomes[program["id"]] = None if right else _difference(program, answer)
    return outcomes


def _difference(program: dict, answer: dict) -> str:
    wanted, got = program.get("error"), answer.get("error")
    if (wanted or {}).get("type") != (got or {}).get("type"):
        ended = f"{got['type']}: {got['message']}" if got else "no exception"
        return f"ended in {ended}" + (f", wanted {wanted['type']}" if wanted else "")
    printed, recorded = (text.strip().splitlines() for text in (answer["stdout"], program["stdout"]))
    for line, wanted_line in zip(printed, recorded):
        if line.split() != wanted_line.split():
            return f"printed {line!r}, wanted {wanted_line!r}"
    return f"printed {len(printed)} lines, wanted {len(recorded)}"


def replay_ops() -> Outcomes:
    """Replay the samples of every op of the table."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        command = [sys.executable, str(OPINFO / "replay.py"), "--json", str(result)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
        if not result.exists():
            raise AssertionError(f"the replay did not run:\n{done.stdout}{done.stderr}")
        found = json.loads(result.read_text())
    return {name: None if outcome == "ok" else outcome for name, outcome in found.items()}


def expected_failures(folder: Path) -> dict[str, str]:
    """The list of known failures in a corpus's folder: what fails, and why."""
    expected = {}
    for line in (folder / "expected_failures.txt").read_text().splitlines():
        if line.strip() and not line.startswith("#"):
            name, _, reason = line.strip().partition(" ")
            expected[name] = reason.strip()
    return expected


def compare(outcomes: Outcomes, folder: Path) -> None:
    """Fail for what is wrong and not listed; warn of what is listed and right."""
    expected = expected_failures(folder)
    right = [name for name in outcomes if outcomes[name] is None and name in expected]
    if right:
        where = f"{folder.name}/expected_failures.txt"
        warnings.warn(f"right now, so to be taken out of tests/{where}: {', '.join(right)}", stacklevel=2)
    wrong = {name: problem for name, problem in outcomes.items() if problem is not None and name not in expected}
    if wrong:
        lines = "\n".join(f"{name}: {problem}" for name, problem in wrong.items())
        raise AssertionError(f"{len(wrong)} of {len(outcomes)} are wrong and were not before:\n{lines}")


def check_list(names: Iterable[str], folder: Path) -> None:
    """Fail for a listed failure that no corpus has, or that gives no reason."""
    expected = expected_failures(folder)
    unknown = set(expected) - set(names)
    assert not unknown, f"{folder.name}/expected_failures.txt lists what is not there: {sorted(unknown)}"
    unexplained = [name for name, reason in expected.items() if not reason]
    assert not unexplained, f"{folder.name}/expected_failures.txt gives no reason for {unexplained}"


def _write(folder: Path, outcomes: Outcomes) -> None:
    before = expected_failures(folder)
    wrong = {name: problem for name, problem in outcomes.items() if problem is not None}
    lines = ["# What fails today and why, one to a line; python tests/corpora.py writes it anew and keeps the reasons."]
    lines += [f"{name} {before.get(name) or ' '.join(why.split())[:200]}" for name, why in sorted(wrong.items())]
    (folder / "expected_failures.txt").write_text("\n".join(lines) + "\n")
    print(f"{folder.name}: {len(outcomes) - len(wrong)} of {len(outcomes)} right")


if __name__ == "__main__":
    if len(sys.argv) > 1:  # it writes files, so it does not guess what arguments might mean
        sys.exit(f"{sys.argv[0]} takes no arguments.\n\n{__doc__}")
    everything: Outcomes = {}
    for name in CORPORA:
        everything |= run_programs(name, programs_of(name))
    _write(CONFORMANCE, everything)
    _write(OPINFO, replay_ops())
