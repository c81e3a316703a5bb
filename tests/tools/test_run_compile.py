"""`retrograde run --compile`: a program prints what it prints without, and its training step runs from a trace."""

import subprocess
import sys
import types
import warnings
from pathlib import Path

import numpy as np
import pytest

from retrograde.backend.jit import llvm
from retrograde.compile import jit, pipeline
from retrograde.compile.emit import shortcut
from retrograde.compile.programs import regions
from retrograde.compile.programs.regions import Program
from retrograde.dialects import torch

TRAINING = """
import torch
from torch import nn

torch.manual_seed(0)
net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
x, y = torch.randn(20, 3), torch.randn(20, 1)
seen = []
for step in range(STEPS):
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(net(x), y)
    EXTRA
    loss.backward()
    optimizer.step()
    seen.append(round(loss.item(), 3))
    if step % 20 == 0:
        print(step, f"{loss.item():.3f}")
print(seen[-3:], step)
"""


def program(steps: int, extra: str = "pass") -> str:
    return TRAINING.replace("STEPS", str(steps)).replace("EXTRA", extra)


def both_ways(folder: Path, text: str) -> subprocess.CompletedProcess:
    (folder / "program.py").write_text(text)
    command = [sys.executable, "-m", "retrograde", "run"]
    options = {"cwd": folder, "capture_output": True, "text": True, "timeout": 100}
    wanted = subprocess.run([*command, "program.py"], check=False, **options)
    got = subprocess.run([*command, "--compile", "program.py"], check=False, **options)
    assert (got.returncode, got.stdout) == (wanted.returncode, wanted.stdout), got.stderr
    return got


def test_a_training_step_is_compiled(tmp_path):
    report = both_ways(tmp_path, program(250)).stderr
    assert "retrograde: 1 segments" in report
    assert "time before" in report
    assert "after" in report
    assert "hits" in report


def test_effects_happen_each_time(tmp_path):
    text = "class Count:\n    n = 0\ncount = Count()\n" + program(250, "count.n += 1") + "print(count.n)\n"
    assert both_ways(tmp_path, text).stdout.endswith("250\n")


@pytest.mark.long
def test_an_error_is_that_of_the_program(tmp_path):
    got = both_ways(tmp_path, program(250, "x = x if step < 240 else x[:, :2]"))
    assert got.returncode == 1
    assert 'program.py", line 12' in got.stderr


def test_hooks_give_no_warnings_and_leave_names_as_they_are():
    text = "seen = []\nfor i in range(3):\n    x = sum([i]) + max(i, 1)\n    y = abs(x) + i\n    seen.append((x, y))\n"
    scope = {"__name__": "__main__"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        code = Program().code(text.encode(), "<text>", scope)
    exec(code, scope)
    assert scope["seen"] == [(1, 1), (2, 3), (4, 6)]


NESTED = """
seen = []
for step in range(20):
    x = torch.full((3,), step % 5 + 1.0)
    for k in range(3):
        y = torch.tanh(x) + torch.cos(x) * k
        y = torch.sin(y) + y
        y = torch.cos(y) + y
        y = torch.exp(-y * y)
        x = torch.sin(y) + y
    z = x * 2 + torch.tanh(x)
    w = z + torch.cos(z)
    seen.append(round(w.sum().item(), 3))
"""


def test_runs_inside_runs(monkeypatch):
    for name in ("PAYS", "ENOUGH", "LEAST", "TIMES", "TRACED"):
        monkeypatch.setattr(regions, name, 0)
    plain, hooked = {"torch": torch}, {"torch": torch}
    exec(NESTED, plain)
    running = Program()
    exec(running.code(NESTED, "<text>", hooked), hooked)
    assert hooked["seen"] == plain["seen"]
    assert sum(row["hits"] for row in running.report().to_dict()["segments"])


HOOKED = "for i in range(3):\n    x = sum([i]) + max(i, 1)\n    {}\n"


@pytest.mark.parametrize(
    "text", ["print(locals())", "import builtins; builtins.eval('x')", "from sys import _getframe", "f_(sys.settrace)"]
)
def test_code_that_looks_around_is_left_alone(text):
    assert Program().code(HOOKED.format(text), "<text>", {}) is None


def test_a_method_by_the_name_of_a_function_that_looks_around_is_none():
    assert Program().code(HOOKED.format("net.eval()"), "<text>", {}) is not None


def test_a_version_runs_as_numpy_until_machine_code_is_earned(monkeypatch):
    made = []
    inner = regions.pipeline.compiled
    monkeypatch.setattr(regions, "LOADED", 0.0)
    monkeypatch.setattr(regions, "TRANSLATED", 0.0)
    monkeypatch.setattr(regions.pipeline.records, "kept", lambda graph: None)
    monkeypatch.setattr(regions.pipeline, "compiled", lambda graph, *rest: made.append(graph) or inner(graph, *rest))
    for name in ("PAYS", "ENOUGH", "LEAST", "TIMES", "TRACED"):
        monkeypatch.setattr(regions, name, 0)
    plain, hooked = {"torch": torch}, {"torch": torch}
    exec(NESTED, plain)
    monkeypatch.setattr(regions._Closed, "costs", lambda version: 0.0 if version.ran >= 4 else 1e9)
    improve, guards = regions._Closed.improve, []

    def improved_with_guards(version):
        before = version._guard
        improve(version)
        guards.append(version._guard is not before)  # made there: the calls after it are timed

    monkeypatch.setattr(regions._Closed, "improve", improved_with_guards)
    running = Program()
    exec(running.code(NESTED, "<text>", hooked), hooked)
    assert hooked["seen"] == plain["seen"]
    assert made
    improved = [v for run in running.runs for region in run.regions for vs in region.versions.values() for v in vs if v.final]
    assert improved
    assert all(v.confirmed for v in improved)
    assert all(guards)


NOW_AND_THEN = """
seen = []
base = torch.tensor([0.1, 0.2, 0.3])
for step in range(300):
    x = base * step
    y = torch.tanh(x) + torch.cos(x)
    if step % 50 > 47:
        y = y * (1 + y.__array__().size)
    z = torch.sin(y) + y * 2
    seen.append(round(z.sum().item(), 3))
"""


def test_a_step_of_another_kind_now_and_then_does_not_speak_against_the_others(monkeypatch):
    for name in ("PAYS", "ENOUGH", "LEAST", "TIMES", "TRACED"):
        monkeypatch.setattr(regions, name, 0)
    monkeypatch.setattr(regions, "_now", float)  # nothing takes any time
    plain, hooked = {"torch": torch}, {"torch": torch}
    exec(NOW_AND_THEN, plain)
    running = Program()
    exec(running.code(NOW_AND_THEN, "<text>", hooked), hooked)
    assert hooked["seen"] == plain["seen"]
    region = max((region for run in running.runs for region in run.regions), key=lambda region: region.hits)
    assert region.hits > 100
    assert region.failed
    assert not region.reason


def regions_of(text, monkeypatch):
    """The regions of a program that is compiled whatever it costs, which prints what it prints without."""
    for name in ("PAYS", "ENOUGH", "LEAST", "TIMES", "TRACED"):
        monkeypatch.setattr(regions, name, 0)
    monkeypatch.setattr(regions, "_now", float)
    plain, hooked = {"torch": torch}, {"torch": torch}
    exec(text, plain)
    running = Program()
    exec(running.code(text, "<text>", hooked), hooked)
    assert hooked["seen"] == plain["seen"]
    return [region for run in running.runs for region in run.regions]


DECIDED = """
seen = []
base = torch.tensor([0.1, 0.2, 0.3])
limit = torch.tensor(LIMIT)
for step in range(200):
    x = torch.tanh(base * step)
    y = torch.sin(x) + (x if x.argmax() < limit else 2 * x) + torch.cos(x)
    z = y + torch.sin(y) * x[x.detach().abs() > -1]
    limit = 3 - limit
    seen.append(round(z.sum().item(), 3))
"""


def test_what_is_decided_on_elements_is_looked_at_by_each_step(monkeypatch):
    text = DECIDED.replace("LIMIT", "0").replace("3 - limit", "limit")
    region = max(regions_of(text, monkeypatch), key=lambda region: region.hits)
    assert region.hits > 150
    assert not region.astray


def test_decisions_that_come_out_another_way_are_left_out(monkeypatch):
    found = regions_of(DECIDED.replace("LIMIT", "0"), monkeypatch)
    astray = [region for region in found if region.astray]
    assert astray
    assert all(region.astray < 50 and not region.decides for region in astray)


SCHEDULE = """
seen = []
base, rate = torch.tensor([0.1, 0.2, 0.3]), [0.5]
for step in range(200):
    x = torch.tanh(base * rate[0])
    y = torch.sin(x) + torch.cos(x)
    if step in (70, 140):
        y = y * 2
    z = torch.sin(y) + y * 2
    seen.append(round(z.sum().item(), 3))
    if step in (80, 130):
        rate[0] *= 0.5
"""


def test_what_happens_now_and_then_is_not_worth_a_trace(monkeypatch):
    region = max(regions_of(SCHEDULE, monkeypatch), key=lambda region: region.hits)
    assert region.hits > 150
    assert region.traced <= 3


UNBOUND = """
def run(steps, other):
    base = torch.tensor([0.1, 0.2, 0.3])
    for step in range(steps):
        x = torch.tanh(base * step)
        if other is not None:
            t = torch.cos(x) + other
            x = x * t
        y = torch.sin(x) + torch.cos(x)
        seen.append(round(y.sum().item(), 3))
    try:
        seen.append(t.tolist())
    except UnboundLocalError:
        seen.append("t has no value")

seen = []
for other in (None, 1.5):
    run(60, other)
"""


def test_a_variable_may_have_a_value_in_one_branch_only(monkeypatch):
    region = max(regions_of(UNBOUND, monkeypatch), key=lambda region: region.hits)
    assert region.hits > 100


def test_guards_of_what_runs_as_numpy_do_not_load_llvm(monkeypatch):
    monkeypatch.setattr(regions.pipeline.records, "kept", lambda graph: None)
    guard = shortcut.guard
    monkeypatch.setattr(shortcut, "guard", None)  # called, it would fail
    monkeypatch.setattr(shortcut.llvm, "met", bool)  # nobody has asked LLVM here before
    assert max(region.hits for region in regions_of(NESTED, monkeypatch))
    monkeypatch.undo()
    asked = []
    guard([])  # which puts them on disk
    monkeypatch.setattr(regions.pipeline.records, "kept", lambda graph: None)
    monkeypatch.setattr(shortcut, "guard", lambda looks: asked.append(looks) or guard(looks))
    assert max(region.hits for region in regions_of(NESTED, monkeypatch))
    assert asked or not shortcut.at_hand()  # nobody links objects without LLVM here


@pytest.mark.long  # what pays is decided by the clock, which other tests' load disturbs
def test_what_a_run_has_shown_says_where_the_next_one_looks(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    text = program(2000).replace("range(2000)", "list(range(2000))")  # the number of turns is not known beforehand
    first, second = (both_ways(tmp_path, text).stderr for _ in range(2))
    assert "1 segments" in first
    assert "1 segments" in second
    hits = [int(text.split(" segments, ")[1].split(" hits")[0]) for text in (first, second)]
    assert hits[1] > max(hits[0], 1985)  # from the fourth step on


def test_a_run_that_found_nothing_to_gain_leaves_the_next_one_alone(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    for said in ("hits\n", "hits (an earlier run of this program has found nothing to gain)\n"):
        assert both_ways(tmp_path, "for i in range(3):\n    x = sum([i]) + max(i, 1)\n").stderr.endswith(said)


@pytest.mark.parametrize("ending", ["raise ValueError", pytest.param("import sys; sys.exit(3)", marks=pytest.mark.long)])
def test_a_run_that_fails_shows_nothing(tmp_path, monkeypatch, ending):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    (tmp_path / "cache").mkdir(mode=0o700)
    for _ in range(2):
        got = both_ways(tmp_path, f"for i in range(3):\n    x = sum([i]) + max(i, 1)\n{ending}\n")
        assert "an earlier run" not in got.stderr


def test_numpy_for_the_time_being_does_not_load_llvm(monkeypatch):
    monkeypatch.delenv("RETROGRADE_COMPILE", raising=False)
    monkeypatch.delenv("RETROGRADE_VERIFY", raising=False)
    graph = jit(lambda x: torch.tanh(x) * 2).lower(torch.ones(3)).graph
    monkeypatch.setattr(llvm, "met", bool)  # nobody has asked LLVM here before
    monkeypatch.setattr(llvm, "_host", None)
    monkeypatch.setattr(llvm, "available", None)  # calling one of these fails
    found, final = pipeline.at_hand(graph)
    assert not final
    monkeypatch.undo()
    np.testing.assert_allclose(found(np.ones(3, np.float32))[0], 2 * np.tanh(np.ones(3)), rtol=1e-6)


@pytest.mark.parametrize(("steady", "kept"), [(0.5, True), (0.97, False)])
def test_code_is_judged_by_what_it_takes_when_it_is_warm(steady, kept):
    version = types.SimpleNamespace(before=1.0, least=1e9, took=0.0, ran=0, hits=0, final=True, slow=False)
    gained = [regions._Closed.gains(version, took) for took in (9.0, *[steady] * 7)]
    assert gained == [*[True] * 7, kept]
