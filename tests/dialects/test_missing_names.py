"""What a dialect answers for names that it has not: modules, tensors' attributes that the framework has, and typing errors."""

import subprocess
import sys

import pytest

import retrograde
from retrograde.dialects._shared.registry import near_names

CASES = {
    "torch": ("PyTorch", "torch.ones(2)", "to_sparse_bsr"),
    "paddle": ("PaddlePaddle", "paddle.ones([2])", "top_p_sampling"),
    "mindspore": ("MindSpore", "mindspore.Tensor([1.0, 1.0])", "index_copy_"),
}


def ends(tmp_path, dialect, statement):
    """The last lines on standard error of a program that ends in an exception."""
    program = tmp_path / "program.py"
    program.write_text(f"import {dialect}\n{statement}\n")
    command = [sys.executable, "-m", "retrograde", "run", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    return done.stderr


@pytest.mark.parametrize("dialect", CASES)
def test_a_name_that_the_framework_has_and_the_dialect_not(tmp_path, dialect):
    framework, tensor, name = CASES[dialect]
    said = ends(tmp_path, dialect, f"x = {tensor}\nassert not hasattr(x, {name!r}) and {name!r} not in dir(x)\nx.{name}()")
    assert f"AttributeError: retrograde's {dialect} dialect has no Tensor.{name}" in said
    assert f"not {framework}" in said


@pytest.mark.parametrize("dialect", CASES)
def test_a_typing_error_says_who_answers_and_what_is_near(tmp_path, dialect):
    framework, tensor, _ = CASES[dialect]
    said = ends(tmp_path, dialect, f"({tensor}).reshap(1, 2)")
    assert "has no attribute 'reshap'" in said
    assert f"retrograde's {dialect} dialect answering, not {framework}; near it are reshape" in said


@pytest.mark.parametrize("dialect", CASES)
def test_a_name_of_the_module(tmp_path, dialect):
    said = ends(tmp_path, dialect, f"{dialect}.no_such_thing")
    assert f"retrograde's {dialect} dialect has no {dialect}.no_such_thing" in said


@pytest.mark.parametrize(("dialect", "module", "name", "near"), [
    ("torch", "torch.nn", "Lineer", "Linear"), ("paddle", "paddle.nn", "Embeding", "Embedding"),
    ("mindspore", "mindspore.ops", "GradOperaton", "GradOperation"),
])  # fmt: skip
def test_a_name_that_cannot_be_imported_from_a_module(tmp_path, dialect, module, name, near):
    said = ends(tmp_path, dialect, f"from {module} import {name}")
    assert f"ImportError: cannot import name '{name}'" in said
    assert f"has no {module}.{name}; near it are {near}" in said


@pytest.mark.parametrize(("statement", "missing"), [
    ("from torchvision import transforms", "ModuleNotFoundError: No module named 'torchvision'"),
    ("import paddle.quantization", "ModuleNotFoundError: No module named 'paddle.quantization'"),
    ("import torch.quantization", "ModuleNotFoundError: No module named 'torch.quantization'"),
    ("from torch import quantization", "ImportError: cannot import name 'quantization' from 'torch'"),
])  # fmt: skip
def test_a_module_that_there_is_not(tmp_path, statement, missing):
    dialect = "paddle" if "paddle" in statement else "torch"
    last = ends(tmp_path, dialect, statement).splitlines()[-1]
    assert last.startswith(missing)
    assert f"{dialect!r} is retrograde's dialect" in last
    assert "retrograde run --real" in last
    assert "version" not in last or "'version'" in last  # in the list of what there is, and no more
    assert "near" not in last


def test_what_is_near():
    known = ["version", "annotations", "isin", "reshape", "BatchNorm2d", "log_softmax", "to_sparse_csr", "_reshape"]
    for slip, meant in (("reshap", "reshape"), ("batchnorm2d", "BatchNorm2d"), ("logsoftmax", "log_softmax"),
                        ("to_sparse_bsr", "to_sparse_csr"), ("vision", None), ("quantization", None)):  # fmt: skip
        assert near_names(slip, known) == ([meant] if meant else [])


def test_the_native_module():
    with pytest.raises(AttributeError, match="retrograde has no cumulative_sums; near it are cumulative_sum"):
        retrograde.cumulative_sums  # noqa: B018 - asking is what is tested
    assert not hasattr(retrograde, "quantization")
