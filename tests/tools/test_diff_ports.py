"""`retrograde diff` on ports: starting values from the other program, lines inside packages, one mistake in many layers."""

import json
import subprocess
import sys

import pytest

from retrograde.tools.diff import places

DIFF = [sys.executable, "-m", "retrograde", "diff"]

A = """
import torch
from torch import nn
torch.manual_seed(0)
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(6, eps=1e-6), nn.LayerNorm(6, eps=1e-6)
        self.up, self.down = nn.Linear(6, 6), nn.Linear(6, 6)
    def forward(self, x):
        h = self.norm1(x)
        h = self.up(h)
        h = nn.functional.gelu(h)
        return self.norm2(x + self.down(h))
net = nn.Sequential(*(Block() for _ in range(5)))
with torch.no_grad():
    for p in net.parameters():
        p.add_(0.1 * torch.randn_like(p))
x = 0.01 * torch.arange(24.0).reshape(4, 6).sin()
loss = net(x).pow(4).mean()
loss.backward()
"""
B = """
import mindspore as ms
from mindspore import nn, ops
ms.set_seed(1)
class Layer(nn.Cell):
    def __init__(self):
        super().__init__()
        self.second, self.first = nn.LayerNorm((6,), epsilon=1e-6), nn.LayerNorm((6,), epsilon=1e-6)
        self.out, self.into = nn.Dense(6, 6), nn.Dense(6, 6)
    def construct(self, x):
        h = self.first(x)
        h = self.into(h)
        h = ops.gelu(h, approximate="none")
        return self.second(x + self.out(h))
model = nn.SequentialCell(*(Layer() for _ in range(5)))
x = 0.01 * ops.sin(ops.arange(24).astype(ms.float32).reshape(4, 6))
loss, gradients = ms.value_and_grad(lambda x: (model(x) ** 4).mean(), None, model.trainable_params())(x)
"""


@pytest.fixture
def answer(tmp_path):
    def of(a, b, *options):
        for name, text in (("a.py", a), ("b.py", b)):
            (tmp_path / name).write_text(text)
        command = [*DIFF, "--json", *options, tmp_path / "a.py", tmp_path / "b.py"]
        run = subprocess.run(command, capture_output=True, text=True, check=False)
        assert run.returncode in (0, 1), run.stderr
        return json.loads(run.stdout)

    return of


def test_layers_of_one_shape_pair_by_what_they_come_behind(answer):
    # No name is the same, all weights have one shape, gradients arrive in opposite orders, B makes its layers in another order;
    # and starting values are given whole, whatever is kept of the others.
    a, b = (text.replace("24", "64").replace("6", "16").replace("164", "64") for text in (A, B))
    found = answer(a, b, "--start-from", "A", "--memory", "0")
    assert found["verdict"] in ("same", "same up to rounding"), found["difference"]
    assert len(found["gradients"]) == 40


def test_a_norm_that_is_spelled_out_has_the_parameters_of_the_one_that_is_not(answer):
    # Parameters are read through views here and there; a weight by another operation than its bias; scales have the same size.
    network = """
import torch
from torch import nn
torch.manual_seed({seed})
class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.{inner}, self.{scale} = nn.Linear(5, 5), nn.Parameter(torch.rand(5))
    def forward(self, x):
        return x + self.{scale}{view} * self.{inner}(x).tanh()
class Norm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.rand(5)), nn.Parameter(torch.rand(5))
    def forward(self, x):
        {norm}
net = nn.Sequential(*({layers}))
x = torch.linspace(-1, 1, 35).cos().reshape(7, 5)
loss = net(x).pow(2).mean()
loss.backward()
"""
    apart = """
        mean = x.mean(1, keepdim=True)
        variance = (x - mean).pow(2).mean(1, keepdim=True)
        x = (x - mean) / torch.sqrt(variance + 1e-5)
        return self.weight[None, :] * x + self.bias[None, :]"""
    whole = "return nn.functional.layer_norm(x, (5,), self.weight, self.bias, 1e-5)"
    a = network.format(seed=0, inner="inner", scale="gamma", view=".reshape(1, 5)", norm=whole,
                       layers="layer() for _ in range(3) for layer in (Scaled, Norm)")  # fmt: skip
    b = network.format(seed=1, inner="dense", scale="factor", view="", norm=apart,
                       layers="nn.Sequential(Scaled(), Norm()) for _ in range(3)")  # fmt: skip
    found = answer(a, b, "--start-from", "A")
    pairs = {(one["name_a"].split(".")[-1], one["name_b"].split(".")[-1]) for one in found["gradients"]}
    assert pairs == {("weight", "weight"), ("bias", "bias"), ("gamma", "factor")}
    assert found["verdict"] in ("same", "same up to rounding"), found["difference"]


def test_a_mistake_in_every_layer_is_one_difference_and_hides_no_other(answer):
    wrong = B.replace("self.second, self.first = nn.LayerNorm((6,), epsilon=1e-6)",
                      "self.second, self.first = nn.LayerNorm((6,))")  # fmt: skip
    wrong = wrong.replace('approximate="none"', 'approximate="tanh"')
    found = answer(A, wrong, "--start-from", "A")
    assert [(one["a"]["place"]["line"], one["b"]["place"]["line"]) for one in found["differences"]] == [(13, 13), (14, 14)]
    assert all(one["alone"] > 0 for one in found["differences"])
    # Both precisions start from the same numbers: what is no rounding stays as it is.
    assert found["precision"]["double"] == pytest.approx(found["precision"]["single"], rel=0.05)


def test_running_statistics_pair_by_what_they_are_computed_of(answer):
    network = """
import torch
from torch import nn
torch.manual_seed(0)
net = nn.Sequential({})
x = torch.randn(8, 4)
loss = net(x).pow(3).sum()
loss.backward()
"""
    layers = ["nn.BatchNorm1d(4)", "nn.Tanh()", "nn.BatchNorm1d(4)", "nn.Sigmoid()", "nn.BatchNorm1d(4)"]
    a = network.format(", ".join(layers))
    b = network.format(", ".join(["nn.BatchNorm1d(4)", *layers])).replace("= net(x)", "= (net[1:](x) + 0 * net[0](x.exp()))")
    found = answer(a, b)
    assert [one["reason"] for one in found["differences"] if "buffer" in one["shows_in"]] == []


def test_the_lines_of_a_package_are_named_on_request():
    code = """
import sys, rich.console, rich
from retrograde.tools.diff import places
assert places.is_library(rich.console.__file__)
places.watch(["rich", "no_such_package"])
assert not places.is_library(rich.console.__file__)
assert places.is_library(sys.modules["json"].__file__ if "json" in sys.modules else __import__("json").__file__)
"""
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr


def test_a_package_that_there_is_not(tmp_path):
    (tmp_path / "a.py").write_text("")
    run = subprocess.run([*DIFF, "--inside", "no_such_package", tmp_path / "a.py", tmp_path / "a.py"],
                         capture_output=True, text=True, check=False)  # fmt: skip
    assert run.returncode == 2
    assert "there is no package 'no_such_package'" in run.stderr


def test_files_of_packages_are_called_by_their_place_in_them():
    assert places.packaged(pytest.__file__) == "pytest/__init__.py"
    assert places.packaged(__file__) == ""
