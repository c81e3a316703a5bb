"""`retrograde run --compile`: a program prints what it prints without, and its training step runs from a trace."""

import subprocess
import sys
import warnings
from pathlib import Path

import pytest

from retrograde.compile import regions
from retrograde.compile.regions import Program
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
    for name in ("PAYS", "ENOUGH", "LEAST"):
        monkeypatch.setattr(regions, name, 0)
    plain, hooked = {"torch": torch}, {"torch": torch}
    exec(NESTED, plain)
    running = Program()
    exec(running.code(NESTED, "<text>", hooked), hooked)
    assert hooked["seen"] == plain["seen"]
    assert sum(row["hits"] for row in running.report().to_dict()["segments"])


def test_code_that_looks_around_is_left_alone():
    assert Program().code("for i in range(3):\n    x = sum([i]) + max(i, 1)\n    print(locals())\n", "<text>", {}) is None
