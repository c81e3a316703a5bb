"""Where a nan comes from: the first operation that made something not finite of what was finite, at the right line.

The programs in nan_programs have the nans that people meet; `# begins here` stands at the line that has to be named.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import retrograde as rg

PROGRAMS = Path(__file__).parent / "nan_programs"
NAMES = sorted(path.stem for path in PROGRAMS.glob("*.py"))
RUN = [sys.executable, "-m", "retrograde", "run"]

FOUND = {  # phase, operation, nan or inf, words of the remedy
    "angle_of_nothing": ("backward", "atan2_undefined", "nan", "the angle of (0, 0)"),
    "arc_cosine": ("backward", "acos", "inf", "clamp"),
    "compiled": ("forward", "log", "nan", "logarithm of a negative number"),
    "data": ("forward", "", "nan", "outside"),
    "equal_eigenvalues": ("backward", "eigh", "nan", "use the values alone"),
    "diverging": ("forward", "power_by", "inf", "learning rate"),
    "half_precision": ("forward", "multiply", "inf", "65504"),
    "log_of_softmax": ("forward", "log", "inf", "log_softmax"),
    "mask_by_multiplying": ("forward", "log", "inf", "clamp"),
    "masked_root": ("backward", "sqrt", "nan", "where(x > 0, x, 1)"),
    "masked_row": ("forward", "softmax", "nan", "masked"),
    "native": ("backward", "power_by", "inf", "infinite derivative"),
    "norm_at_zero": ("backward", "sqrt", "inf", "infinite derivative"),
    "overflow_of_exp": ("forward", "exp", "inf", "logsumexp"),
    "own_function": ("backward", "divide", "inf", "division by 0"),
    "per_sample": ("forward", "log", "inf", "clamp"),
    "second_derivative": ("backward", "power_by", "nan", "infinite derivative"),
    "spread_of_equal": ("backward", "sqrt", "nan", "infinite derivative"),
    "written_in_place": ("forward", "reciprocal", "inf", "division by 0"),
    "zero_over_zero": ("forward", "divide", "nan", "division by 0"),
}


@pytest.fixture(scope="module")
def answers():
    script = str(Path(__file__).parent / "nan_answers.py")
    run = subprocess.run([sys.executable, script, *NAMES], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr
    return json.loads(run.stdout)


@pytest.mark.parametrize("name", [n for n in NAMES if n != "finite"])
def test_the_line_where_it_begins_is_named(answers, name):
    answer = answers[name]
    assert "failed" not in answer, answer["failed"]
    lines = (PROGRAMS / f"{name}.py").read_text().splitlines()
    (line,) = [i for i, text in enumerate(lines, 1) if "# begins here" in text]
    assert answer["place"].endswith(f"{name}.py:{line}")
    phase, operation, made, words = FOUND[name]
    assert (answer["phase"], answer["operation"], answer["made"]) == (phase, operation, made)
    assert words in answer["remedy"]


def test_what_nothing_depends_on_is_no_finding(answers):
    assert answers["finite"] == {**answers["finite"], "found": False, "place": ""}


def test_operands_are_shown_as_they_were(answers):
    (operand,) = answers["overflow_of_exp"]["operands"]
    assert (operand["there"], operand["least"], operand["most"], operand["shape"]) == (90.0, 1.0, 90.0, [3])


def run(*arguments):
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run([*RUN, *arguments], capture_output=True, text=True, check=False, env=env, cwd=PROGRAMS)


def test_the_command_says_it_at_the_end_however_the_program_ends(tmp_path):
    said = run("--nan", "overflow_of_exp.py")
    assert said.returncode == 0
    assert said.stdout.startswith("tensor([")
    assert "inf begins at overflow_of_exp.py:4   powers = torch.exp(logits)" in said.stderr
    program = tmp_path / "raises.py"
    program.write_text("import torch\nx = torch.zeros(1).log()\nassert x.isfinite().all(), 'not finite'\n")
    said = run("--nan", "--json", str(program))
    assert said.returncode == 1
    assert "AssertionError: not finite" in said.stderr
    assert json.loads(said.stdout)["place"] == f"{program}:2"


@pytest.mark.parametrize("options", [("--nan", "--real"), ("--nan", "--compile"), ("--json",)])
def test_options_that_do_not_go_together(options):
    said = run(*options, "finite.py")
    assert said.returncode == 2
    assert "--nan" in said.stderr


# ------------------------------------------------------------------------------------------ a graph that is there


def leaf(*values):
    return rg.asarray(list(values), requires_grad=True)


def test_a_value_that_is_nan_is_followed_back():
    with rg.autograd.detect_anomaly():
        x = leaf(1.0, 0.0)
        y = x / x
        report = rg.explain_nan(rg.sum(y * 2.0))
    assert (report.operation, report.phase, report.made) == ("divide", "forward", "nan")
    assert report.place.endswith(f"test_nan.py:{test_a_value_that_is_nan_is_followed_back.__code__.co_firstlineno + 3}")
    assert "x / x" in str(report)


def test_a_finite_value_is_asked_for_its_gradients():
    x = leaf(4.0, 0.0)
    loss = rg.sum(rg.sqrt(x) * rg.asarray([1.0, 0.0]))
    report = rg.explain_nan(loss)
    assert (report.operation, report.phase) == ("sqrt", "backward")
    assert "detect_anomaly" in report.note
    assert x.grad is None
    loss.backward()  # the graph is as it was
    assert np.isnan(np.asarray(x.grad)[1])


def test_what_is_finite_and_what_has_no_history():
    assert not rg.explain_nan(rg.sum(leaf(1.0, 2.0) ** 2)).found
    report = rg.explain_nan(rg.asarray([float("nan")]))
    assert (report.found, report.operation) == (True, "")
    with pytest.raises(TypeError, match="explain_nan: wanted a tensor, got float"):
        rg.explain_nan(1.0)


def test_a_graph_that_a_backward_pass_has_freed_is_refused():
    x = leaf(1.0, 2.0)
    loss = rg.sum(x * x)
    loss.backward()
    with pytest.raises(rg.FreedGraphError, match="explain_nan"):
        rg.explain_nan(loss)


def test_an_operand_that_was_not_kept_is_said():
    x = leaf(1.0, 2.0)
    hidden = x + rg.asarray([float("nan"), 0.0])  # an addition keeps nothing
    report = rg.explain_nan(rg.sum(hidden * hidden))
    assert report.operation == "add"
    assert "not all operands" in report.note
