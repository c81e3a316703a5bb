"""How often `retrograde diff` does what a program does before it computes anything, and that runs do not disturb each other."""

import json
import subprocess
import sys

import pytest

A = """
import torch
torch.manual_seed(0)
w = torch.rand(3, requires_grad=True)
(w * 2).sum().backward()
"""
B = """
import random, sys
random.seed(5)
{before}
with open(sys.argv[1], "a") as log:
    print("before", file=log)
import torch
torch.manual_seed(1)
w = torch.rand(3, requires_grad=True)
torch.zeros(2) + 1
with open(sys.argv[1], "a") as log:
    print("after", {after}, file=log)
(w * 2).sum().backward()
{end}
"""


@pytest.fixture
def log(tmp_path):
    def of(before="", after="0", end=""):
        (tmp_path / "a.py").write_text(A)
        (tmp_path / "b.py").write_text(B.format(before=before, after=after, end=end))
        command = [sys.executable, "-m", "retrograde", "diff", "--json", "--start-from", "A", "--args-b", tmp_path / "log",
                   tmp_path / "a.py", tmp_path / "b.py"]  # fmt: skip
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode == 0, run.stdout + run.stderr
        assert json.loads(run.stdout)["verdict"] == "same"
        return (tmp_path / "log").read_text().splitlines()

    return of


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="processes are not forked elsewhere")
def test_what_comes_before_the_first_computation_is_done_once(log):
    before, *after = log(after="random.random()")
    assert before == "before"
    assert len(after) == 2  # to see what B's parameters are, and with the values of A's
    assert len(set(after)) == 1, "Python draws other numbers in a fork"


@pytest.mark.parametrize(
    ("before", "after", "end"),
    [
        ("data = open(__file__)", "len(data.readlines())", ""),
        ("import threading, time; threading.Thread(target=time.sleep, args=(60,), daemon=True).start()", "0", ""),
        ("import tempfile, os; folder = tempfile.mkdtemp()", "len(os.listdir(folder))", "os.rmdir(folder)"),
    ],
    ids=["open file", "thread", "folder"],
)
def test_where_a_fork_would_not_be_another_run_programs_are_started_again(log, before, after, end):
    # A file would be read to its end by the first run, a thread is not there in a fork, a folder is gone after the first run.
    lines = log(before, after, end)
    assert [line.split()[0] for line in lines] == ["before", "after"] * 2
    assert lines[1] == lines[3]
