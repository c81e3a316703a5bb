"""What a user reads when a program ends in an error: the program's frames, the last ones of the package, the lines at fault."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import retrograde as rg

NETWORK = """\
import torch
from torch import nn

net = nn.Sequential(nn.Linear(4, 8), nn.Sequential(nn.ReLU(), nn.Linear(9, 2)))
net(torch.rand(3, 4))
"""


def ended(program: str, folder: Path, **environment: str) -> tuple[str, list[str]]:
    """What a program writes when it ends in an error, and the files of the frames that are shown."""
    script = folder / "program.py"
    script.write_text(program)
    found = subprocess.run(
        [sys.executable, "-m", "retrograde", "run", str(script)], capture_output=True, text=True, check=False,
        env={**os.environ, **environment},
    )  # fmt: skip
    assert found.returncode == 1
    return found.stderr, [line.split('"')[1] for line in found.stderr.splitlines() if line.startswith('  File "')]


def test_at_most_two_frames_are_the_packages(tmp_path: Path) -> None:
    text, files = ended(NETWORK, tmp_path)
    assert files[0].endswith("program.py")
    assert sum("retrograde" in Path(name).parts for name in files) <= 2
    assert "net(torch.rand(3, 4))" in text
    assert text.splitlines()[-2].startswith("RuntimeError: linear: an input of shape [3, 8]")
    assert text.splitlines()[-1] == "(in 1.1 of Sequential: Linear(in_features=9, out_features=2, bias=True))"


def test_all_frames_on_request(tmp_path: Path) -> None:
    _, few = ended(NETWORK, tmp_path)
    _, all_ = ended(NETWORK, tmp_path, RETROGRADE_TRACEBACK="full")
    assert len(all_) > len(few) + 2


def test_the_frames_of_a_cause_are_shortened_too(tmp_path: Path) -> None:
    program = NETWORK.replace("net(torch", "try:\n    net(torch")
    program += "except RuntimeError as e:\n    raise ValueError('no') from e\n"
    text, files = ended(program, tmp_path)
    assert "direct cause" in text
    assert sum("retrograde" in Path(name).parts for name in files) <= 2


def test_frames_of_the_program_between_the_packages_stay(tmp_path: Path) -> None:
    program = """\
import torch
from torch import nn

class Own(nn.Module):
    def forward(self, x):
        return x @ torch.ones(7, 7)

nn.Sequential(Own())(torch.ones(2, 3))
"""
    text, _ = ended(program, tmp_path)
    assert "in forward" in text
    assert "return x @ torch.ones(7, 7)" in text
    assert "container.py" not in text


def test_anomaly_mode_names_what_changed_a_saved_value() -> None:
    x = rg.asarray([1.0, 2.0], requires_grad=True)
    with rg.autograd.detect_anomaly():
        y = rg.exp(x)
        loss = (y * y).sum()
        y += 1
        with pytest.raises(rg.MutationError) as caught:
            loss.backward()
    message = str(caught.value)
    assert "changed in place by `y += 1` (" in message
    assert f"{Path(__file__).name}:" in message
    assert "loss = (y * y).sum()" in message


def test_without_it_the_message_says_how_to_know() -> None:
    x = rg.asarray([1.0, 2.0], requires_grad=True)
    y = rg.exp(x)
    loss = (y * y).sum()
    y += 1
    with pytest.raises(rg.MutationError, match="detect_anomaly"):
        loss.backward()


def test_a_later_change_is_not_said_to_be_the_one_that_was_seen() -> None:
    x = rg.asarray([1.0, 2.0], requires_grad=True)
    with rg.no_grad():
        y = rg.exp(x)
    with rg.autograd.detect_anomaly():
        y += 1
    loss = (y * x).sum()
    y += 2
    with pytest.raises(rg.MutationError) as caught:
        loss.backward()
    assert "y += " not in str(caught.value)


IN_MODULE = """\
import torch

class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.w = torch.nn.Parameter(torch.ones(2))

    def forward(self, x):
        self.h = torch.exp(self.w * x)
        self.h[0] = 0.0
        return self.h.sum()

Net()(torch.ones(2)).backward()
"""
START = "import torch\n\nx = torch.ones(2, requires_grad=True)\ny = x * 1\nz = 0\n"
IN_LOOP = f"{START}for _ in range(2):\n    y += 1\n    z = z + y**2\nz.sum().backward()\n"
SEVERAL = START + "z = y**2\ny += 1\n" * 3 + "z.sum().backward()\n"
LAYER = """\
import torch
from torch import nn

nn.Sequential(nn.Linear(2, 2), nn.Sigmoid(), nn.ReLU(inplace=True))(torch.ones(2)).sum().backward()
"""


@pytest.mark.parametrize("program, said", [
    (IN_MODULE, "by the look of the source: `torch.exp(self.w * x)` (9), then `self.h[0] = 0.0` (10); "),
    (IN_LOOP, "by the look of the source: `y ** 2` (8), then `y += 1` (7); "),
    (SEVERAL, ""),
    (LAYER, "by the look of the source: `nn.ReLU(inplace=True)` (4) changes what it is given; "),
], ids=["module", "loop", "several", "layer"])  # fmt: skip
def test_the_source_is_asked_for_the_lines_of_a_change(program: str, said: str, tmp_path: Path) -> None:
    text, _ = ended(program, tmp_path)
    last = re.sub(r"\([^()]*program\.py:(\d+)\)", r"(\1)", text.splitlines()[-1])
    assert last.endswith(f"out of place (y = y + 1); {said}retrograde.autograd.detect_anomaly() names both lines for certain")


def test_what_the_package_says_better_is_not_shown_twice(tmp_path: Path) -> None:
    program = "import torch\n\ntorch.ones(3) + torch.ones(2)\n"
    text, files = ended(program, tmp_path)
    assert len(files) == 1
    assert "could not be broadcast" not in text
    assert "RuntimeError: `torch.ones(3) + torch.ones(2)`, of float32[3], float32[2]: the shapes do not broadcast" in text
    assert "could not be broadcast" in ended(program, tmp_path, RETROGRADE_TRACEBACK="full")[0]


def test_the_arguments_that_a_function_takes_are_named(tmp_path: Path) -> None:
    text, _ = ended("import torch\n\ntorch.ones(2, 3).sum(dimm=0)\n", tmp_path)
    assert "sum takes (input, dim=None, keepdim=False, dtype=None); for 'dimm' take dim" in text
    text, _ = ended("def f(a): ...\n\nf(b=1)\n", tmp_path)
    assert "takes" not in text
